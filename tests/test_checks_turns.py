"""Conversations: what a step expects, and the lowest verdict over the turns."""

from __future__ import annotations

import pytest

from evallib.checks import parse_check
from evallib.checks.turns import lowest
from evallib.errors import InputError
from evallib.records import Sample, ToolCall, Turn
from evallib.scoring import score_samples
from evallib.suite import parse_suite

SUITE = """\
suite: talk
pass: top
cases:
  - id: c-1
    steps:
      - ask: Restart it.
        checks: [{id: says, check: matches, any_of: [wait]}, {id: calm, check: matches, none_of: [panic]}]
      - ask: And now?
        checks: [{id: says, check: matches, any_of: [done]}]
"""


def sample(*texts: str) -> Sample:
    turns = tuple(Turn(step, "q", text) for step, text in enumerate(texts, 1))
    return Sample("r", "c-1", 1, turns=turns, answer=texts[-1])


def verdicts(*texts: str) -> dict[str, tuple[bool | None, str]]:
    found = score_samples(parse_suite(SUITE, "talk"), [sample(*texts)])
    return {v.check_id: (v.passed, v.reason) for v in found}


def test_what_steps_expect_under_one_id_is_one_verdict_and_the_lowest() -> None:
    assert verdicts("please wait", "done")["says"][0] is True
    passed, reason = verdicts("please wait", "not yet")["says"]
    assert passed is False
    assert reason.startswith("step 2: ")
    assert verdicts("no", "done")["says"][1].startswith("step 1: ")


def test_a_step_that_never_came_fails_what_was_expected_of_it() -> None:
    passed, reason = verdicts("please wait")["says"]
    assert (passed, reason) == (False, "step 2: the conversation ended before it")


def test_a_check_of_one_step_reads_that_turn_alone() -> None:
    assert verdicts("please wait", "panic: done")["calm"][0] is True


def test_spans_point_into_the_final_text_only() -> None:
    found = score_samples(parse_suite(SUITE, "talk"), [sample("panic, wait", "done")])
    assert {v.check_id: v.spans for v in found} == {"says": (0, 4), "calm": ()}
    check = parse_check({"id": "g", "check": "groundedness", "vocabulary": {"host": {"pattern": "h-[0-9]+"}}})
    (early,), (late,) = check([sample("Take h-1.", "ok")]), check([sample("ok", "Take h-1.")])
    assert (early.spans, late.spans) == ((), (5, 8))
    assert early.reason == "step 1: in no evidence: h-1 (host)"


def test_a_pass_names_the_calls_of_every_step() -> None:
    check = parse_check({"id": "g", "check": "groundedness", "vocabulary": {"host": {"pattern": "h-[0-9]+"}}})
    turns = tuple(Turn(n, "q", f"Take h-{n}.", (ToolCall("find", {}, f'"h-{n}"'),)) for n in (1, 2))
    (found,) = check([Sample("r", "c-1", 1, turns=turns, answer="Take h-2.")])
    assert (found.passed, found.calls, found.spans) == (True, (1, 1, 2, 1), ())


def test_a_verdict_that_could_not_be_had_is_the_lowest() -> None:
    (check,) = [b.check for b in parse_suite(SUITE, "t").bound["c-1"] if b.check.id == "calm"]
    one = sample("a")
    voided = lowest([check.scored(one, False, "no"), check.unscored(one, "lost")], ["step 1: ", "step 2: "])
    assert (voided.status, voided.reason) == ("not_scored", "step 2: lost")
    aside = lowest([check.unscored(one, "-", applicable=False), check.scored(one, True, "yes")], ["", ""])
    assert aside.status == "scored"


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("[{approve: true, approver: dana, rationale: ok}]", "decides what no step left open"),
        ("[{ask: a}, {approve: true, approver: dana, rationale: ok}]", "decides what no step left open"),
        ("[{ask: a, approve: true}]", "either a request"),
        ("[{ask: a}, {approver: dana}]", "either a request"),
        ("[{ask: a}, {approve: true, rationale: ok}]", "needs its `approver`"),
        ("[{ask: a}, {approve: true, approver: dana}]", "needs a `rationale`"),
        ("[{ask: a, checks: [{id: x, check: not_empty}, {id: x, check: not_empty}]}]", "has check 'x' twice"),
        (
            "[{ask: a, checks: [{id: x, check: not_empty}]}, {ask: b, checks: [{id: x, check: not_empty, weight: 2}]}]",
            "another weight",
        ),
        ("[{ask: a, checks: [{id: x, check: judge, rubric: r}]}]", "reads a whole conversation"),
    ],
)
def test_steps_that_cannot_be_meant_are_refused(steps: str, said: str) -> None:
    text = f"suite: t\npass: top\nchecks: [{{id: w, check: not_empty}}]\ncases: [{{id: c, steps: {steps}}}]\n"
    with pytest.raises(InputError, match=said):
        parse_suite(text, "t")


def test_a_target_is_given_nothing_but_the_request() -> None:
    step = parse_suite(SUITE, "talk").cases[0].steps[0].for_target()
    assert (step.ask, step.reference, step.checks) == ("Restart it.", "", ())
