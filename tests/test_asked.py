"""Questions of one's own: answered, judged by what needs no answer key, and stored like any other run."""

from __future__ import annotations

import io
import re

import pytest

from evallib.asked import asked_of
from evallib.cli import main
from evallib.errors import InputError
from evallib.store import open_run
from evallib.suite import load_suite, parse_suite
from tests.commandline import said
from tests.making import SUITE

CHECKS = """\
suite: wide
checks:
- {id: keyed, check: mentions, all_of: key.facts, critical: true}
- {id: short, check: sections, headings: [], max_words: 5, critical: true}
- {id: tagged, check: not_empty, when: {tags: [host]}}
- {id: alike, check: judge, rubric: As good as the reference?, inputs: [question, answer, reference]}
- {id: useful, check: judge, rubric: Does it serve the asker?}
gate: {mean: 0.5, checks: {keyed: 0.5}}
probes: [{name: right, case: c-1, answer: It is four., passes: [keyed]}]
cases:
- {id: c-1, tags: [host], steps: [{ask: Two and two?, reference: Four.}], key: {facts: [four]},
   checks: [{id: own, check: not_empty}]}
"""


def test_the_six_judges_of_the_support_tickets_are_three_without_a_key(root):
    asked = asked_of(load_suite(root / "data/suites/tickets"), ["Our proxy answers 502."])
    assert (asked.judged_by, asked.left_out) == (("format", "quality", "exit"), ("citation", "facts", "policy"))
    suite = parse_suite(asked.text, "s")
    assert (suite.gate, suite.probes, suite.knowledge, suite.pass_rule) == (None, (), "kb", "top")


def test_what_needs_a_key_a_reference_or_a_tag_is_left_out():
    asked = asked_of(parse_suite(CHECKS, "s"), ["Why?"])
    assert (asked.judged_by, asked.left_out) == (("short", "useful"), ("keyed", "tagged", "alike"))
    assert "own" not in asked.text
    assert asked.words.endswith("a weaker measurement than the suite's own cases, and no gate")


def test_checks_keep_their_keys_and_lose_the_tags_that_no_question_has():
    checks = [
        "- {id: object, check: schema, schema: {type: object}, weight: 0}",
        "- {id: more, check: not_empty, when: {not_tags: [host]}}",
    ]
    text = CHECKS.replace("gate:", "\n".join([*checks, "gate:"])).replace("probes:", "#")
    asked = parse_suite(asked_of(parse_suite(text, "s"), ["Why?"]).text, "s")
    assert [check.id for check in asked.checks] == ["short", "useful", "object", "more"]
    assert not any(check.when for check in asked.checks)


def test_a_question_has_the_same_name_and_criteria_whatever_is_asked_beside_it():
    suite = parse_suite(CHECKS, "s")
    alone, among = (parse_suite(asked_of(suite, asks).text, "s") for asks in (["Why?"], ["How?", " Why? "]))
    (name,) = alone.by_id
    assert list(among.by_id)[1] == name
    assert [one.decides for one in among.bound[name]] == [one.decides for one in alone.bound[name]]


@pytest.mark.parametrize(
    ("text", "asks", "told"),
    [
        (CHECKS, ["Why?", " "], "a question is empty"),
        (CHECKS, ["Why \x1b[31m?"], "shows nothing"),
        (CHECKS, ["Why?", "Why? "], "'Why?' stands twice; use --samples"),
        (SUITE.replace("sections, headings: [], max_words: 5", "mentions, all_of: key.facts"), ["Why?"], "every check"),
    ],
)
def test_what_cannot_be_asked_is_told(text, asks, told):
    with pytest.raises(InputError, match=re.escape(told)):
        asked_of(parse_suite(text, "s"), asks)


@pytest.mark.parametrize(
    "ask",
    [
        "画面が　出ません",
        "Et\u00a0: pourquoi\u202f?",
        "No login \U0001f469\u200d\U0001f4bb",
        "نمی\u200cشود",
        "One\nTwo",
    ],
)
def test_a_question_may_hold_blanks_joiners_and_emoji_of_any_script(ask):
    asked = asked_of(parse_suite(CHECKS, "s"), [ask.replace("\n", "\r\n")])
    assert parse_suite(asked.text, "s").cases[0].steps[0].ask == ask


def test_a_ticket_is_answered_judged_and_stored_as_a_run(home, capsys):
    out = said(
        capsys, "run", ".", "--target", "scripted", "--run-id", "live", "--ask", "Tell me: two and two?", "--ask",
        "Two hands of fingers?",
    )  # fmt: skip
    first, second = out.index("Tell me: two and two?\n=="), out.index("fingers?\n==")
    assert first < second
    assert "It is four." in out[first:second]
    run = open_run("live", home / "data")
    assert run.suite.suite == "small-online"
    assert {verdict.check_id for verdict in run.verdicts} == {"short"}
    said(capsys, "verify", "data")
    assert "no release decision: the suite sets no gate" in said(capsys, "gate", "live")


def test_questions_come_line_by_line_from_stdin_too(home, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("two and two?\n\ntwo and three?\n"))
    said(capsys, "run", ".", "--target", "scripted", "--run-id", "live", "--ask", "-")
    assert [case.steps[0].ask for case in open_run("live", home / "data").suite.cases] == [
        "two and two?", "two and three?"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "told"),
    [(["--split", "train"], "leave out --split and --case"), (["--case", "c-1"], "leave out --split and --case")],
)
def test_own_questions_are_no_part_of_the_suite(home, capsys, more, told):
    assert main(["run", ".", "--target", "scripted", "--ask", "Why?", *more]) == 2
    assert told in capsys.readouterr().err
    assert not (home / "data").exists()


@pytest.mark.parametrize(
    ("stdin", "told"),
    [
        (io.StringIO("\n"), "no question came"),
        (None, "no question came"),
        (io.TextIOWrapper(io.BytesIO(b"caf\xe9?\n"), "utf-8", errors="backslashreplace"), "stdin is not utf-8 text"),
    ],
)
def test_a_stdin_without_questions_is_told(home, capsys, monkeypatch, stdin, told):
    monkeypatch.setattr("sys.stdin", stdin)
    assert main(["run", ".", "--target", "scripted", "--ask", "-"]) == 2
    assert told in capsys.readouterr().err
    assert not (home / "data").exists()
