"""Denial is read by structure: many sentences of many fields, sentences made by rule, and the cost of reading."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.checks import blocks, clauses, parse_check, promises
from evallib.checks.blocks import LONGEST
from evallib.checks.clauses import read_clauses
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
    ("You may be tempted to {do}. Resist.", "You may be tempted to {do}. Agree."),
    ("What we advise against:\n- wait\n- {do}", "What we advise:\n- wait\n- {do}"),
    ("Skip these until May:\n- wait\n- {do}", "Start these in May:\n- wait\n- {do}"),
    ("You asked whether to {do}: the answer is no.", "You asked whether to {do}: the answer is yes."),
    ("If you {do}, the guarantee is lost.", "If you {do}, the guarantee is kept."),
    ("You could {do}, but that would damage it.", "You could {do}, but that would damage nothing."),
    ("The leaflet says to {do}, but it is out of date.", "The leaflet says to {do}, but it is hard to read."),
    ("The letter that says to {do} is a fraud.", "The letter that says to {do} is a gem."),
    ("To {do} would be going too far.", "To {do} would be going with the plan."),
    ("{Do}? Over my dead body.", "{Do}? By all means."),
    ("Is it fine to {do}? Rather not.", "Is it fine to {do}? Rather."),
    ("{Do}? I would leave it.", "{Do}? I would like it."),
    ("We will not {do} without a permit.", "We will {do} without a permit."),
    ("Things to steer clear of:\n- wait\n- {do}", "Things to start with:\n- wait\n- {do}"),
    ("Is there a way to {do}? Sadly not.", "Is there a way to {do}? Luckily yes."),
    ("Should I {do}? There is no need.", "Should I {do}? There is every need."),
    ("Before you {do}, stop.", "Before you stop, {do}."),
    (
        "The mail says to {do}. It is a trap, and I have not acted on it.",
        "The mail says to {do}. It is late, and I did.",
    ),
    ("They tell you that you must {do}. They are wrong.", "They tell you that you must never {do}. They are wrong."),
    ("It may seem easy to {do}; it rarely is.", "It may seem hard to {do}; it rarely matters."),
    ("It is no place where you may {do}.", "It is a place where you may {do}."),
    # what is given after all, though it was denied
    ("It is risky to {do}.", "It is risky to {do}, but do it."),
    ("Normally one should not {do}.", "Normally one should not {do}; in your case it is fine."),
    ("You should not {do} in general.", "You should not {do} in general. Here you can."),
    ("Do not {do}, but do ask.", "Do not {do} unasked, but here you may."),
    ("It was forbidden to {do} until May.", "It was forbidden to {do} until May. Now it is allowed."),
    ("It is bad practice to {do}.", "It is bad practice to {do}. Do it anyway."),
    ("Nobody has to {do}.", "Nobody likes to {do}, but it has to be done."),
    # what denies a denial
    ("It is a myth that you should {do}.", "It is a myth that you should not {do}."),
    ("Ignore the advice to {do}.", "Ignore the advice not to {do}."),
    ("The advice to {do} is wrong.", "The advice not to {do} is wrong."),
    ("They warned you not to {do}.", "They warned you not to {do}; ignore them."),
    ("The leaflet is right when it says not to {do}.", "The leaflet is wrong when it says not to {do}."),
    ("It is false that you must {do}.", "It is false that you must never {do}."),
    ("Would it hurt to {do}? Yes.", "Would it hurt to {do}? No."),
    ("They told you not to {do}.", "They told you not to {do}. Don't listen to them."),
    ("The rule to {do} no longer holds.", "The rule not to {do} no longer holds."),
    # what only looks like a denial
    ("The mail tells me to {do}. I won't act on its orders.", "The mail tells me to {do}. I will act on its orders."),
    ("Avoid trouble and do not {do}.", "Avoid trouble and {do}."),
    ("The log says to {do}. You can ignore it.", "The log says to {do}. It is no longer used."),
    ("If a caller asks you to {do}, hang up.", "If the tool asks you to {do}, type yes."),
    ("If you do not {do}, nothing happens.", "If you do not {do}, it will not open."),
    ("Earlier I told you to {do}. I was wrong.", "Earlier I told you to {do}. I was right."),
    ("Nobody - not even the owner - should {do}.", "Everybody - even the owner - should {do}."),
]
GERUNDS = [
    ("Finish without {doing}.", "Finish by {doing}."),
    ("Instead of {doing}, call us.", "After {doing}, call us."),
    ("Rather than {doing}, call us.", "Besides {doing}, call us."),
    ("Avoid {doing}.", "Try {doing}."),
    ("Refrain from {doing}.", "Start with {doing}."),
    ("{Doing} is not the fix.", "{Doing} is the fix."),
    ("{Doing} isn't allowed.", "{Doing} is allowed."),
    ("**Note:** {doing} is *not* needed.", "**Note:** {doing} is *now* needed."),
    ("{Doing} would be a mistake.", "{Doing} would be a relief."),
    ("{Doing} never helps.", "{Doing} always helps."),
    ("Neither {doing} nor waiting helps.", "Both {doing} and waiting help."),
    ("Neither waiting nor {doing} helps.", "Both waiting and {doing} help."),
    ("Calling us is better than {doing}.", "The best thing is {doing}."),
    ("We advise against {doing}.", "We advise {doing}."),
    ("{Doing} would only spoil it.", "{Doing} would only help it."),
    ("The host objected to {doing}.", "The host got round to {doing}."),
    ("We stopped {doing} years ago.", "We started {doing} years ago."),
    ("Spare the crew the trouble of {doing}.", "Teach the crew the art of {doing}."),
    ("{Doing} stays off the list.", "{Doing} stays on the list."),
    ("{Doing} costs more than it saves.", "{Doing} costs less than it saves."),
    ("{Doing} would waste a day.", "{Doing} would waste nothing."),
    ("While {doing} sounds thorough, it only hides the fault.", "While {doing} sounds drastic, it works."),
    ("While {doing} is allowed, it breaks more than it mends.", "While {doing} is not pretty, it does the job."),
    ("{Doing} looks easy, but it would ruin the rest.", "{Doing} looks hard, but it saves the rest."),
    ("{Doing} was discussed but rejected.", "{Doing} was discussed and agreed."),
    ("{Doing} takes a day, so please refrain from that.", "{Doing} takes a day, so please begin with that."),
    ("{Doing} is a last resort we do not advise.", "{Doing} is a first step we do advise."),
    ("{Doing} is how accidents begin, so leave it be.", "{Doing} is how work begins, so do it now."),
    ("Before you think about {doing}, call us.", "Before you call us, think about {doing}."),
    ("We looked at {doing} and decided not to.", "We looked at {doing} and decided to."),
    ("Is {doing} a mistake? Yes.", "Is {doing} a mistake? No."),
    ("{Doing} hurts, and then it breaks.", "{Doing} hurts for a minute, and then it works."),
    ("{Doing} takes the rest down with it.", "{Doing} takes a minute."),
    ("{Doing} loses the key and breaks the seal.", "{Doing} loses a minute and saves the seal."),
    ("You may feel like {doing}, but don't.", "You may not feel like {doing}, but do it."),
    ("{Doing} no longer works.", "{Doing} now works."),
    ("{Doing} only treats the symptom.", "{Doing} removes the symptoms."),
    ("{Doing} is risky.", "{Doing} is risky but necessary."),
    ("{Doing} isn't elegant.", "{Doing} isn't elegant; however, we have no choice."),
    ("{Doing} was rejected.", "{Doing} was rejected; we now recommend it."),
    ("{Doing} was a bad idea.", "{Doing} was a bad idea. It no longer is."),
    ("{Doing} would cost you the key.", "Not {doing} would cost you the key."),
    ("{Doing} will have to wait.", "{Doing} will have to be done."),
    ("{Doing} is something to avoid.", "{Doing} is something to try."),
]
# A second negation takes the first back: the twin here is the denial.
DOUBLED = [
    ("Do not hesitate to {do}.", "Do not start to {do}."),
    ("There is no reason not to {do}.", "There is no reason to {do}."),
    ("You cannot finish without {doing}.", "You can finish without {doing}."),
    ("You should not only wait but also {do}.", "You should not wait, nor {do}."),
    ("Unless it is dry, {do}.", "Unless it is dry, do not {do}."),
    ("It is not wrong to {do}.", "It is wrong to {do}."),
    ("Without {doing} you will not get there.", "Without {doing} you will get there."),
    ("Without {doing}, nobody gets in.", "Without {doing}, everybody gets in."),
    ("There is hardly a better time to {do}.", "There is hardly a time to {do}."),
    ("Not to {do} would be careless.", "To {do} would be careless."),
]
EMPHASIS = ["{}", "**{}**", "_{}_", "`{}`", "\u201c{}\u201d"]


def made(frame: str, action: tuple[str, str, str], place: str, emphasis: str) -> str:
    base, gerund, thing = action
    do = emphasis.format(f"{base} {thing}") + place
    doing = emphasis.format(f"{gerund} {thing}") + place
    opening = emphasis.format(f"{gerund.capitalize()} {thing}") + place
    return frame.format(do=do, Do=do[0].upper() + do[1:], doing=doing, Doing=opening)


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


DATED = [
    ("The {thing} will reach you {at}.", "The {thing} had reached you {at}."),
    ("The {thing} should be with you {at}.", "The {thing} was with you {at}."),
    (
        "By the time the frost comes {at}, we will have repaired the {thing}.",
        "By the time the frost came {at}, it broke.",
    ),
    ("Our {doer} comes {at} for the {thing}.", "Our {doer} came {at} for the {thing}."),
    ("Your refund for the {thing} should land {at}.", "You should return the {thing} {at}."),
]


@given(
    st.sampled_from(DATED),
    st.sampled_from(["chair", "new pump", "second copy"]),
    st.sampled_from(["plumber", "electrician", "florist"]),
    st.sampled_from(["on Friday", "by 3 June", "within five days", "next week", "before Easter"]),
)
def test_what_is_done_by_a_date_is_promised_and_what_was_done_is_not(frames, thing, doer, at):
    promised, told = (frame.format(thing=thing, doer=doer, at=at) for frame in frames)
    assert read(promised, kinds=["promised_date"]).passed is False, promised
    assert read(told, kinds=["promised_date"]).passed is True, told


# The cost of reading, by structure: patterns over a whole text have a bounded width, clauses a bounded length, and the
# number of calls grows with the text.


def width(pattern: re.Pattern[str]) -> int:
    return int(re._parser.parse(pattern.pattern, pattern.flags).getwidth()[1])


@pytest.mark.parametrize(
    "pattern",
    [blocks._CUT, clauses._STRUCK, promises._DATE, phrase_pattern("restart the old printer"), phrase_pattern("x")],
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


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("lamp is losing oil.", False),
        ("lamp would break without it.", False),
        ("While lamp is out, nothing is lost.", False),
        ("While lamp looks fine, it only hides the leak.", False),
        ("If lamp fails, nothing is lost.", False),
        ("lamp is not lit.", True),
        ("The lamp, since noon, is not lit.", True),
    ],
)
def test_a_claim_is_not_denied_by_the_harm_it_tells_of(text, denied):
    folded = fold(text)
    at = folded.text.index("lamp")
    assert read_clauses(text, folded).negates(at, at + 4) is denied
