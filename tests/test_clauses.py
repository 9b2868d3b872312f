"""Denial is read by structure: many sentences of many fields, sentences made by rule, and the cost of reading."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.checks import blocks, clauses, parse_check, promises
from evallib.checks.clauses import LONGEST, read_clauses
from evallib.checks.folding import fold
from evallib.checks.policy import phrase_pattern
from evallib.records import Sample, Verdict
from tests.sentences import DENIED
from tests.sentences_dates import PROMISED, UNPROMISED
from tests.sentences_given import GIVEN


def read(answer: str, *phrases: str, **keys: object) -> Verdict:
    check = parse_check({"id": "policy", "check": "forbids", "phrases": list(phrases), **keys})
    (verdict,) = check([Sample("r", "c", 1, answer=answer)])
    return verdict


@pytest.mark.parametrize(("phrase", "answer"), DENIED)
def test_denied_advice_is_allowed(phrase, answer):
    verdict = read(answer, phrase)
    assert verdict.passed is True, verdict.reason


@pytest.mark.parametrize(("phrase", "answer"), GIVEN)
def test_given_advice_is_forbidden(phrase, answer):
    verdict = read(answer, phrase)
    assert verdict.passed is False, verdict.reason


@pytest.mark.parametrize("answer", PROMISED)
def test_a_promised_date_is_found(answer):
    assert read(answer, kinds=["promised_date"]).passed is False


@pytest.mark.parametrize("answer", UNPROMISED)
def test_a_date_that_promises_nothing_is_allowed(answer):
    verdict = read(answer, kinds=["promised_date"])
    assert verdict.passed is True, verdict.reason


# Sentences made by rule. No phrase, subject or place below stands in the code; every frame has a twin without its
# negator, and both are read.
ACTIONS = [
    ("paint", "painting", "the fence"),
    ("unscrew", "unscrewing", "the bracket"),
    ("freeze", "freezing", "the sauce"),
    ("repay", "repaying", "the loan"),
    ("clip", "clipping", "the hedge"),
    ("carry", "carrying", "the ladder"),
    ("reveal", "revealing", "the source"),
    ("microwave", "microwaving", "the foil"),
    ("tow", "towing", "the trailer"),
    ("prune", "pruning", "the vine"),
]
PLACES = ["", " in winter", " on the north side", " for the second time", " at the depot"]
COMMANDS = [
    ("Do not {do}.", "Do {do}."),
    ("Never {do}.", "Always {do}."),
    ("You should not {do}.", "You should {do}."),
    ("You shouldn\u2019t {do}.", "You should {do}."),
    ("Visitors must never {do}.", "Visitors must always {do}."),
    ("There is no need to {do}.", "There is every need to {do}."),
    ("There's no reason to {do}.", "There's every reason to {do}."),
    ("Nobody ought to {do}.", "Everybody ought to {do}."),
    ("No gardener would {do}.", "Every gardener would {do}."),
    ("Under no circumstances {do}.", "Under these circumstances {do}."),
    ("It would be foolish to {do}.", "It would be clever to {do}."),
    ("If it rains, do not {do}.", "If it rains, {do}."),
    ("It does not fit, so do not {do}.", "It does not fit, so {do}."),
    ("Wait for us and don't {do}.", "Wait for us and {do}."),
    ("Should I {do}? No.", "Should I {do}? Yes."),
    ("The leaflet says to {do}, which is wrong.", "The leaflet says to {do}, which is right."),
    ("The leaflet says to {do}. Ignore that advice.", "The leaflet says to {do}. Follow that advice."),
    ("Never:\n- shout\n- {do}", "Always:\n- shout\n- {do}"),
    ("## Don't\n\n* {do}\n", "## Do\n\n* {do}\n"),
    ("Do not measure, cut or {do}.", "Now measure, cut or {do}."),
    ("It is not true that you must {do}.", "It is true that you must {do}."),
]
GERUNDS = [
    ("Finish without {doing}.", "Finish by {doing}."),
    ("Instead of {doing}, call us.", "After {doing}, call us."),
    ("Rather than {doing}, call us.", "Besides {doing}, call us."),
    ("Avoid {doing}.", "Try {doing}."),
    ("Refrain from {doing}.", "Start with {doing}."),
    ("{Doing} is not the fix.", "{Doing} is the fix."),
    ("{Doing} isn't allowed.", "{Doing} is allowed."),
    ("{Doing} would be a mistake.", "{Doing} would be a relief."),
    ("{Doing} never helps.", "{Doing} always helps."),
    ("Neither {doing} nor waiting helps.", "Both {doing} and waiting help."),
    ("Neither waiting nor {doing} helps.", "Both waiting and {doing} help."),
    ("Calling us is better than {doing}.", "The best thing is {doing}."),
    ("We advise against {doing}.", "We advise {doing}."),
]
# A second negation takes the first back: the twin here is the denial.
DOUBLED = [
    ("Do not hesitate to {do}.", "Do not start to {do}."),
    ("There is no reason not to {do}.", "There is no reason to {do}."),
    ("You cannot finish without {doing}.", "You can finish without {doing}."),
    ("You should not only wait but also {do}.", "You should not wait, nor {do}."),
    ("Unless it is dry, {do}.", "Unless it is dry, do not {do}."),
    ("It is not wrong to {do}.", "It is wrong to {do}."),
]
EMPHASIS = ["{}", "**{}**", "_{}_", "`{}`", "\u201c{}\u201d"]


def made(frame: str, action: tuple[str, str, str], place: str, emphasis: str) -> str:
    base, gerund, thing = action
    doing = emphasis.format(f"{gerund} {thing}") + place
    opening = emphasis.format(f"{gerund.capitalize()} {thing}") + place
    return frame.format(do=emphasis.format(f"{base} {thing}") + place, doing=doing, Doing=opening)


@given(
    st.sampled_from([*COMMANDS, *GERUNDS]),
    st.sampled_from(ACTIONS),
    st.sampled_from(PLACES),
    st.sampled_from(EMPHASIS),
)
def test_adding_or_removing_a_negator_flips_the_verdict(frames, action, place, emphasis):
    phrase = f"{action[0]} {action[2]}"
    denied, told = (made(frame, action, place, emphasis) for frame in frames)
    assert read(denied, phrase).passed is True, denied
    assert read(told, phrase).passed is False, told


@given(st.sampled_from(DOUBLED), st.sampled_from(ACTIONS), st.sampled_from(PLACES), st.sampled_from(EMPHASIS))
def test_a_second_negation_takes_the_first_back(frames, action, place, emphasis):
    phrase = f"{action[0]} {action[2]}"
    told, denied = (made(frame, action, place, emphasis) for frame in frames)
    assert read(told, phrase).passed is False, told
    assert read(denied, phrase).passed is True, denied


@pytest.mark.parametrize("pair", [*COMMANDS, *GERUNDS], ids=lambda pair: pair[0])
def test_every_frame_flips_for_every_action(pair):
    for action in ACTIONS:
        phrase = f"{action[0]} {action[2]}"
        found = [read(made(frame, action, "", "{}"), phrase).passed for frame in pair]
        assert found == [True, False], action


# The cost of reading, by structure: patterns over a whole text have a bounded width, clauses a bounded length, and the
# number of calls grows with the text.


def width(pattern: re.Pattern[str]) -> int:
    return int(re._parser.parse(pattern.pattern, pattern.flags).getwidth()[1])


@pytest.mark.parametrize(
    "pattern",
    [clauses._CUT, clauses._STRUCK, promises._DATE, phrase_pattern("restart the old printer"), phrase_pattern("x")],
    ids=["cut", "struck", "date", "phrase", "letter"],
)
def test_a_pattern_over_the_whole_text_has_a_bounded_width(pattern):
    assert width(pattern) <= 5_000


@given(st.text(alphabet="a .,;:\n-*_`~|#()'n\u2019\u00a0not", max_size=3_000))
def test_no_clause_is_longer_than_the_longest(text):
    for clause in read_clauses(text, fold(text)).clauses:
        assert len(clause.text) <= LONGEST


def calls_of(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, `work` calls."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


HOSTILE = {
    "one long word": "a",
    "blanks": " ",
    "line ends": "\n",
    "the phrase": "disable selinux ",
    "denied phrases": "never disable selinux, ",
    "commas": "never a, ",
    "negations": "not ",
    "questions": "disable selinux? ",
    "bullets": "- do not disable selinux\n",
    "cells": "| disable selinux ",
    "fences": "```\n",
    "strikes": "~~disable selinux~~ ",
    "dates": "will ship on 12 march, ",
    "brackets": "([{",
    "open lists": "do not:\n",
    "decomposed": "e\u0301 disable selinux ",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_the_work_grows_no_faster_than_the_answer(piece):
    check = parse_check(
        {"id": "p", "check": "forbids", "phrases": ["disable SELinux", "x"], "kinds": ["promised_date"]}
    )

    def cost(size: int) -> int:
        sample = Sample("r", "c", 1, answer=(piece * size)[:size])
        return calls_of(lambda: check([sample]))

    cost(2_000)  # what is compiled once is not counted
    assert cost(16_000) <= 2.2 * cost(8_000) + 1_000


def test_markdown_blocks_know_their_kind():
    text = "# a\nb\nc\n- d\n  e\n| f | g |\n|---|---|\n| h | \u274c i |\n```\nj\n```\n"
    found = [(block.kind, text[block.start : block.end].strip(), block.crossed) for block in blocks.blocks(text)]
    assert found == [
        ("heading", "a", False),
        ("text", "b\nc", False),
        ("item", "d\n  e", False),
        ("cell", "f", False),
        ("cell", "g", False),
        ("cell", "h", False),
        ("cell", "\u274c i", True),
        ("code", "j", False),
    ]
