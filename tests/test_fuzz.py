"""Any answer at all: no check raises, and none lets an empty answer pass."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.checks import KINDS, Check, parse_check
from evallib.records import Sample, ToolCall, Turn, Verdict
from evallib.scoring import fold_all

# One small example of every kind that can be computed here; a kind without one fails the test below.
EXAMPLES: dict[str, dict[str, Any]] = {
    "authority": {"forbidden": ["delete_volume"]},
    "choice": {"equals": "B", "options": {"A": "Lima", "B": "Oslo"}},
    "code": {"code": 'return 0 < len(outputs["answer"]) < 900, "counted"'},
    "confirmation": {"tool": "restart", "args": {"name": "checkout"}},
    "exact": {"any_of": ["Paris"]},
    "exit_code": {},
    "forbids": {"phrases": ["disable SELinux", "reinstall"], "kinds": ["promised_date"]},
    "groundedness": {"vocabulary": {"article": {"names": ["look"], "pattern": "KB-[0-9]+"}}},
    "matches": {"any_of": ["which version"], "none_of": ["rm -rf", r"(a+)+$"]},
    "mentions": {"all_of": ["KB-2210", ["Café", "coffee house"]]},
    "not_empty": {},
    "number": {"equals": 4183},
    "refusal": {"all_of": [["not", "never"]], "no_calls_of": ["erase"]},
    "schema": {"schema": {"type": "object", "required": ["id"]}},
    "secrets": {"arguments": True},
    "safety": {"values": ["dana@corp.example", "tok-5512"], "tools": ["send_mail"]},
    "sections": {"headings": ["summary", "next"], "max_words": 250},
    "tool_budget": {"max": 6},
    "tool_called": {"tools": ["look"]},
    "tool_forbidden": {"tools": ["erase"]},
    "tool_result": {"tool": "look", "result": {"audit": {"approver": "dana"}}},
    "trajectory": {"calls": [{"tool": "look", "args": {"id": "T-4"}}]},
}
# Answered by a model, carried over from elsewhere, or run in a process of their own.
APART = {kind for kind, found in KINDS.items() if found.stochastic or not found.computable}

LINES = [
    "Do not disable SELinux.", "# Summary", "- KB-2210", "```", "~~~", "| a | b |", "|---|", "**", ">", "\u2022 \u274c",
    "https://jane:hunter22@acme.io", "password: h7kQz29w", "by Friday", "4,183", "<think>", "[x](y)", "~~reinstall~~",
]  # fmt: skip
SOUP = st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=12)), max_size=40).map("\n".join)
ODD = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x00\x0b\x1c\x1e\x1f\x85\u2028\ud800\udfff\u202e\u200d\ufeff\u0301\u00a0\u0130\u1e9e\U0001f6ab"),
    ),
    max_size=200,
)  # fmt: skip
ANSWERS = st.one_of(SOUP, ODD)
BLANK = [
    "", " ", "\n\t \r\n", "\u00a0\u2003", "\u200b\ufeff", "\x00", "\u2060", "\u200e\u202e\ufe0f", "\u2800 \u3164",
    "<think></think>", "<think>I would say four", "<think>a</think>\u200b", "&nbsp;&#8203;", "<b> </b><!-- four -->",
]  # fmt: skip


def checks() -> list[Check]:
    return [parse_check({"id": kind, "check": kind, **example}) for kind, example in EXAMPLES.items()]


def judged(check: Check, answer: str) -> Verdict:
    turn = Turn(1, "Hello?", answer, (ToolCall("look", {"at": answer, answer: [answer]}),))
    (verdict,) = check([Sample("r", "c", 1, answer=answer, turns=(turn,), exit_code=0)])
    return verdict


@pytest.mark.parametrize("kind", sorted(set(KINDS) - APART))
def test_every_kind_has_an_example_here(kind):
    assert kind in EXAMPLES, f"give {kind!r} a small example in EXAMPLES, so that it is fuzzed"


@pytest.mark.parametrize("kind", EXAMPLES)
@given(answer=ANSWERS)
def test_no_answer_makes_a_check_raise(kind, answer):
    verdict = judged(parse_check({"id": kind, "check": kind, **EXAMPLES[kind]}), answer)
    assert verdict.reason
    assert (verdict.status == "scored") is (verdict.value is not None)
    places = verdict.spans
    assert all(0 <= start < end <= len(answer) for start, end in zip(places[::2], places[1::2], strict=True))


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("blank", BLANK, ids=ascii)
def test_no_check_lets_a_blank_answer_pass(kind, blank):
    sample = Sample("r", "c", 1, answer=blank, exit_code=0)
    verdicts = parse_check({"id": kind, "check": kind, **EXAMPLES[kind]})([sample])
    (outcome,) = fold_all([sample], verdicts, "critical").values()
    assert outcome.passed is not True


def test_all_checks_together_let_no_blank_answer_pass():
    for blank in BLANK:
        sample = Sample("r", "c", 1, answer=blank, exit_code=0)
        verdicts = [verdict for check in checks() for verdict in check([sample])]
        (outcome,) = fold_all([sample], verdicts, "top").values()
        assert outcome.passed is not True


LONG = ["a", "x ", "never, ", "\ud800", "\x00", "e\u0301", "not disable SELinux ", "@", "password=", "+1 ", "| ", "\n"]


@pytest.mark.parametrize("kind", EXAMPLES)
@settings(max_examples=1)
@given(data=st.data())
def test_a_line_of_a_megabyte_is_read(kind, data):
    check = parse_check({"id": kind, "check": kind, **EXAMPLES[kind]})
    piece = data.draw(st.sampled_from(LONG))
    assert judged(check, (piece * 1_000_000)[:1_000_000]).reason


PATTERNS = [r"(a+)+$", r"(a|a)*b", r"(.*)(.*)(.*)x", r"([a-z]+)*\d", r"(a{1,30}){1,30}z", r"^(\w+\s?)*$"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_run_in_re2_whose_time_is_linear_in_the_answer(pattern):
    """Each of these would keep a backtracking engine busy for ages on so long a line."""
    check = parse_check({"id": "m", "check": "matches", "none_of": [pattern]})
    assert judged(check, "a" * 100_000 + "!").reason
