"""The gate of the first article, and what must never pass it."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from evallib.errors import InputError
from evallib.gate import Gate
from evallib.records import POST_HOC_LABEL
from evallib.store import open_run
from evallib.suite import parse_suite
from evallib.views.load import open_view
from tests.gates import FULL, TICKETS_GATE, WEIGHTS, decided, graded, outcome, rule, scores, verdict
from tests.making import SUITE, stored_run


def test_the_brain_with_a_mean_of_0910_is_blocked_by_two_rules() -> None:
    decision = decided(TICKETS_GATE, graded(*[FULL] * 5, (1, 1, 1, 1, 4, 1), *[FULL] * 3, (0, 0, 0, 1, 1, 1)))
    assert (decision.decision, decision.release_decision) == ("blocked", "blocked")
    mean, checks, floor = (rule(decision, name) for name in ("mean", "checks", "floor"))
    assert (mean.passed, mean.reason) == (True, "the mean is 0.910, at least 0.90")
    assert not checks.passed
    assert (
        checks.reason
        == "5 of 6 checks at their threshold; policy passed 9 of 10 cases: 0.90, below its 1.00 (lowest: v10 at 0.00)"
    )
    assert not floor.passed
    assert floor.reason == "1 of 10 samples below 0.70: v10 sample 1 at 0.15"
    assert [row["mean"] for row in checks.detail["checks"]] == pytest.approx([0.9, 0.9, 0.9, 1.0, 4.5, 1.0])
    assert rule(decision, "coverage").passed


def test_an_empty_answer_passes_a_softer_third_rule_but_not_the_floor() -> None:
    frames = graded(*[FULL] * 9, (0, 0, 1, 0, 1, 1))
    decision = decided(TICKETS_GATE, frames)
    assert rule(decision, "mean").reason == "the mean is 0.915, at least 0.90"
    assert rule(decision, "checks").passed
    assert sum(frames[0]["score"] >= 0.90) >= 9
    assert not rule(decision, "floor").passed
    assert decision.decision == "blocked"


def test_twelve_words_are_blocked_on_all_three_rules() -> None:
    sums = {"citation": 3, "facts": 12, "policy": 21, "format": 5.1, "quality": 57.9, "exit": 30}
    rows = [tuple(total / 30 for total in sums.values())] * 29
    decision = decided(TICKETS_GATE, graded(*rows, rows[0]))
    checks = rule(decision, "checks")
    assert checks.reason.startswith("1 of 6 checks at their threshold; citation has a mean of 0.10")
    assert [row["check"] for row in checks.detail["checks"] if not row["passed"]] == [
        "citation",
        "facts",
        "policy",
        "format",
        "quality",
    ]
    assert not any(rule(decision, name).passed for name in ("mean", "checks", "floor"))
    assert rule(decision, "mean").reason.startswith("the mean is 0.302, below its 0.90 (lowest: v01 ")


def test_a_baseline_is_no_rule_of_the_gate() -> None:
    with pytest.raises(ValidationError, match="baseline"):
        Gate.model_validate({"baseline": "v0"})


def test_a_row_per_check_shows_the_policy_falling_while_the_mean_rises() -> None:
    before = decided(TICKETS_GATE, graded(*[(1, 0, 1, 1, 5, 1)] * 7, *[(1, 0, 0, 1, 5, 1)] * 3))
    after = decided(TICKETS_GATE, graded(*[(1, 1, 1, 1, 5, 1)] * 5, *[(1, 0, 0, 1, 5, 1)] * 5))
    policy = [rule(one, "checks").detail["checks"][2]["mean"] for one in (before, after)]
    assert rule(after, "mean").detail["mean"] > rule(before, "mean").detail["mean"]
    assert policy == pytest.approx([0.7, 0.5])


def test_training_cases_get_a_decision_that_is_no_release_decision() -> None:
    decision = decided(TICKETS_GATE, graded(*[FULL] * 3), whole_validation=False)
    assert (decision.decision, decision.release_decision) == ("pass", None)
    assert decision.why_no_release == "the run is not the whole validation split"


def test_a_run_that_holds_more_than_the_validation_split_says_that_it_does() -> None:
    decision = decided(TICKETS_GATE, graded(*[FULL] * 3), whole_validation=False, beside=2)
    assert decision.why_no_release == "the run holds 2 cases beside the validation split"


def test_cases_beside_the_validation_split_are_counted_only_where_the_whole_split_is_there(tmp_path: Path) -> None:
    asks = "steps: [{ask: Q?}], key: {facts: [four]}"
    cases = "".join(f"- {{id: {name}, split: {split}, {asks}}}\n" for name, split in SPLITS)
    suite = f"{SUITE.partition('- {id: c-1')[0]}{cases}"
    beside = {}
    for names in ("abtu", "abt", "at", "ab", "tu"):
        stored_run(tmp_path, {name: ["four"] for name in names}, run_id=names, suite_text=suite)
        beside[names] = open_view(open_run(names, tmp_path), "strict", []).beside
    assert beside == {"abtu": 2, "abt": 1, "at": 0, "ab": 0, "tu": 0}


SPLITS = [("a", "validation"), ("b", "validation"), ("t", "train"), ("u", "train")]


@pytest.mark.parametrize(
    ("left_out", "which"), [((), "all its verdicts"), (("quality",), "its verdicts without a judge")]
)
def test_one_planned_sample_is_spoken_of_as_one(left_out: tuple[str, ...], which: str) -> None:
    told = rule(decided(None, graded(FULL), left_out=left_out), "coverage").reason
    assert told.startswith(f"the one planned sample and {which} are scored")


def test_nine_of_ten_scored_is_blocked() -> None:
    outcomes, verdicts = graded(*[FULL] * 9)
    missing = pd.DataFrame([outcome("v10", None, status="error", sample_status="missing")])
    decision = decided(TICKETS_GATE, (pd.concat([outcomes, missing.astype({"score": float})]), verdicts))
    assert decision.decision == "blocked"
    assert rule(decision, "coverage").reason.startswith("9 of 10 planned samples are scored")


def test_ten_planned_and_one_scored_is_blocked_without_any_threshold() -> None:
    missing = [outcome(f"c{n}", None, status="error", sample_status="missing") for n in range(9)]
    frames = pd.DataFrame([outcome("c9"), *missing]), pd.DataFrame([verdict("c9", "only", 1.0)])
    for gate in (None, Gate()):
        assert decided(gate, frames).decision == "blocked"
    assert rule(decided(None, frames), "coverage").reason.startswith("1 of 10 planned samples are scored")


def test_a_verdict_that_could_not_be_had_is_never_averaged_away() -> None:
    outcomes, verdicts = graded(*[FULL] * 10)
    crashed = (verdicts["case_id"] == "v04") & (verdicts["check_id"] == "policy")
    verdicts.loc[crashed, ["status", "value", "raw"]] = ["not_scored", math.nan, math.nan]
    decision = decided(TICKETS_GATE, (outcomes, verdicts))
    assert decision.decision == "blocked"
    assert "policy has 1 verdict that could not be had" in rule(decision, "checks").reason
    assert rule(decision, "coverage").reason == "1 verdict could not be had: v04 sample 1 policy"


def test_a_verdict_that_was_never_written_is_missed_when_the_checks_are_named() -> None:
    outcomes, verdicts = graded(*[FULL] * 2)
    verdicts = verdicts[(verdicts["case_id"] != "v02") | (verdicts["check_id"] != "policy")]
    decision = decided(TICKETS_GATE, (outcomes, verdicts), checks_of={"v01": [*WEIGHTS], "v02": [*WEIGHTS]})
    assert rule(decision, "coverage").reason == "1 verdict was never written: v02 sample 1 policy"


@pytest.mark.parametrize("undefined", [None, math.nan])
def test_an_undefined_score_never_passes(undefined: float | None) -> None:
    decision = decided(Gate(mean=0.0, floor=0.0), scores(1.0, undefined))
    assert not rule(decision, "mean").passed
    assert not rule(decision, "floor").passed
    assert decision.decision == "blocked"


@pytest.mark.parametrize("off", [7.0, -1.0, math.inf])
def test_a_score_off_the_scale_is_blocked(off: float) -> None:
    decision = decided(Gate(), scores(1.0, off))
    assert "score lies off the scale" in rule(decision, "coverage").reason
    assert "verdict lies off the scale" in rule(decision, "coverage").reason


@pytest.mark.parametrize(("values", "threshold"), [([0.85] * 10, 0.85), ([0.9] * 30, 0.9), ([1.0] * 9 + [0.0], 0.9)])
def test_equality_passes_whatever_the_rounding(values: list[float], threshold: float) -> None:
    decision = decided(Gate(mean=threshold, checks={"only": threshold}, floor=min(values)), scores(*values))
    assert decision.decision == "pass"


def test_a_figure_just_below_its_threshold_is_shown_apart_from_it() -> None:
    decision = decided(Gate(mean=0.9, checks={"only": 0.9}), scores(*[0.8999999] * 3))
    assert rule(decision, "mean").reason.startswith("the mean is 0.8999999, below its 0.9000000 (")
    assert "0.8999999 over 3 cases, below its 0.9000000" in rule(decision, "checks").reason


def test_a_threshold_for_an_unknown_check_is_refused_when_the_suite_is_loaded() -> None:
    text = """
suite: s
checks: [{id: q, check: judge, rubric: good, critical: true}]
gate: {checks: {qualty: 4.0}}
cases: [{id: a, steps: [{ask: hello}]}]
"""
    with pytest.raises(InputError, match="'qualty', which does not exist"):
        parse_suite(text, "s.yaml")


def test_a_check_without_any_verdict_is_blocked() -> None:
    assert rule(decided(Gate(checks={"gone": 0.0}), scores(1.0)), "checks").reason.endswith("gone has no verdict")


def test_no_sample_at_all_is_blocked() -> None:
    decision = decided(
        TICKETS_GATE, (pd.DataFrame(columns=list(outcome("x"))), pd.DataFrame(columns=list(verdict("x", "y", 1))))
    )
    assert (decision.decision, decision.release_decision) == ("blocked", None)
    assert rule(decision, "coverage").reason == "no sample was planned, so nothing was measured"


def test_checks_that_ran_on_nothing_are_blocked() -> None:
    empty = pd.DataFrame([verdict("a", "only", None, status="not_applicable")])
    decision = decided(Gate(), (pd.DataFrame([outcome("a")]), empty))
    assert rule(decision, "coverage").reason == "1 sample was measured by no check: a sample 1"


def test_survivors_of_infrastructure_errors_are_blocked() -> None:
    rows = [
        outcome("a"),
        *(outcome(c, None, sample=s, status="error", sample_status="harness_error") for c, s in [("a", 2), ("b", 1)]),
    ]
    decision = decided(Gate(pass_rate=0.5), (pd.DataFrame(rows), pd.DataFrame([verdict("a", "only", 1.0)])))
    assert rule(decision, "coverage").reason.startswith("1 of 3 planned samples are scored")
    assert (
        rule(decision, "pass_rate").reason
        == "1 of 3 planned samples passed: 0.25 as a mean over cases, below its 0.50 (lowest: b at 0.00)"
    )


def test_a_sample_or_verdict_that_stands_twice_is_refused() -> None:
    """Two passes of one sample would lift a case over its threshold."""
    outcomes, verdicts = scores(1.0, 0.0)
    for pair, told in (
        ((pd.concat([outcomes, outcomes.head(1)]), verdicts), "case 'c00', sample 1 stands twice"),
        ((outcomes, pd.concat([verdicts, verdicts.head(1)])), "case 'c00', sample 1, check 'only' stands twice"),
    ):
        with pytest.raises(InputError, match=told):
            decided(Gate(pass_rate=0.5), pair)


def test_a_required_case_passes_in_every_sample_or_blocks_a_fine_rate() -> None:
    rows = [outcome("a", score, sample=n, required=True) for n, score in enumerate((1.0, 0.0), 1)]
    decision = decided(
        Gate(pass_rate=0.5),
        (pd.DataFrame(rows), pd.DataFrame([verdict("a", "only", 1.0), verdict("a", "only", 0.0, sample=2)])),
    )
    assert rule(decision, "pass_rate").passed
    assert rule(decision, "required").reason == "0 of 1 required case passed in every sample; not: a sample 2"
    assert decision.decision == "blocked"


@pytest.mark.parametrize(("deterministic", "expected"), [(True, True), (False, False), (None, False)])
def test_a_judge_neither_fails_nor_passes_a_required_case(deterministic: bool | None, expected: bool) -> None:
    row = outcome("a", 0.5 if deterministic else 1.0, required=True, passed_deterministic=deterministic)
    decision = decided(Gate(), (pd.DataFrame([row]), pd.DataFrame([verdict("a", "only", 1.0)])))
    assert rule(decision, "required").passed is expected
    assert not expected or rule(decision, "required").reason.startswith("the only required case passed in every sample")


def test_a_case_is_weighed_once_however_often_it_was_sampled() -> None:
    rows = [*(outcome("a", 1.0, sample=n) for n in (1, 2, 3)), outcome("b", 0.0)]
    verdicts = [*(verdict("a", "only", 1.0, sample=n) for n in (1, 2, 3)), verdict("b", "only", 0.0)]
    decision = decided(
        Gate(mean=0.5, checks={"only": 0.5}, pass_rate=0.5), (pd.DataFrame(rows), pd.DataFrame(verdicts))
    )
    assert decision.decision == "pass"
    assert rule(decision, "mean").detail["mean"] == 0.5


def test_the_floor_is_over_every_sample_and_not_over_case_means() -> None:
    rows = [outcome("a", 1.0), outcome("a", 0.4, sample=2)]
    verdicts = [verdict("a", "only", 1.0), verdict("a", "only", 0.4, sample=2)]
    decision = decided(Gate(mean=0.7, floor=0.7), (pd.DataFrame(rows), pd.DataFrame(verdicts)))
    assert rule(decision, "mean").passed
    assert rule(decision, "floor").detail["below"] == [{"case_id": "a", "sample": 2, "score": 0.4}]


@pytest.mark.parametrize("view", ["rescored:2026-11-30-x", "read"])
def test_a_view_chosen_after_reading_decides_no_release_and_says_so(view: str) -> None:
    frames = pd.DataFrame([outcome("a", view=view)]), pd.DataFrame([verdict("a", "only", 1.0)])
    decision = decided(Gate(mean=0.5), frames)
    assert (decision.decision, decision.release_decision, decision.post_hoc) == ("pass", None, True)
    assert decision.as_json()["label"] == POST_HOC_LABEL
    assert POST_HOC_LABEL in decision.why_no_release
    assert POST_HOC_LABEL in decision.lines()[0]


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"complete": False}, "the run is not complete"),
        ({"chosen_after": True}, "the thresholds were chosen after the result"),
    ],
)
def test_what_is_not_a_release_says_why(flags: dict[str, bool], why: str) -> None:
    decision = decided(Gate(mean=0.5), scores(1.0), **flags)
    assert (decision.release_decision, decision.why_no_release) == (None, why)
    assert decision.as_json()["chosen_after_result"] is flags.get("chosen_after", False)


def test_an_incomplete_run_is_blocked_although_all_it_has_is_fine() -> None:
    assert rule(decided(Gate(), scores(1.0), complete=False), "coverage").reason == "the run is not complete"


def test_without_a_gate_coverage_alone_decides_and_a_row_says_so() -> None:
    decision = decided(None, scores(0.0))
    assert (decision.decision, decision.release_decision) == ("pass", None)
    assert rule(decision, "no_gate").reason == "the suite sets no gate, so coverage alone decides"


def test_a_gate_without_a_threshold_decides_no_release() -> None:
    for gate, decides in ((Gate(), False), (Gate(coverage=1.0), True), (Gate(errors=0.1), True)):
        decision = decided(gate, scores(0.0, 0.0))
        told = "" if decides else "the gate sets no threshold"
        assert (decision.decision, decision.release_decision) == ("pass", "pass" if decides else None)
        assert decision.why_no_release == told
    required = decided(Gate(), (scores(1.0)[0].assign(required=True), scores(1.0)[1]))
    assert required.release_decision == "pass"


def test_two_runs_or_views_in_one_frame_are_refused() -> None:
    verdicts = pd.DataFrame([verdict("a", "only", 1.0)])
    for other in ({"run_id": "s"}, {"view": "read"}):
        with pytest.raises(InputError, match="a gate decides one"):
            decided(Gate(), (pd.DataFrame([outcome("a"), outcome("b", **other)]), verdicts))


def test_a_judges_figure_says_who_judged_and_whether_that_was_calibrated() -> None:
    gate = Gate(checks={"quality": 4.0, "policy": 1.0})
    frame, marks = graded(FULL, (1, 1, 1, 1, 4, 1))
    marks = marks.assign(judge=['{"model": "m-7"}' if judged else "" for judged in marks["stochastic"]])
    decision = decided(gate, (frame, marks))
    rows = {row["check"]: (row["judge"], row["calibration"]) for row in rule(decision, "checks").detail["checks"]}
    assert rows == {"quality": (["m-7"], "uncalibrated"), "policy": ([], None)}
    (line,) = [line for line in decision.lines() if line.strip().startswith("quality: mean")]
    assert line.endswith("(judged by m-7, uncalibrated)")


def test_the_last_line_says_which_decision_it_is() -> None:
    assert decided(Gate(mean=0.5), graded(FULL)).lines()[-1].strip() == "this is the release decision: pass"
    assert "a case without `split` is one" in decided(Gate(mean=0.5), graded(FULL)).lines()[-2]


def test_the_coverage_rule_says_what_was_scored_and_which_judges_were_left_out() -> None:
    samples, verdicts = graded(FULL, FULL)
    asked = verdicts["check_id"] == "quality"
    verdicts["status"] = verdicts["status"].mask(asked, "not_applicable")
    verdicts[["value", "raw", "passed"]] = verdicts[["value", "raw", "passed"]].astype(object).mask(asked, None)
    coverage = rule(decided(Gate(mean=0.5), (samples, verdicts), left_out=["quality"]), "coverage")
    assert coverage.reason == (
        "all 2 planned samples and their verdicts without a judge are scored; "
        "left out of this run: judge quality (2 verdicts)"
    )
    assert coverage.detail["judges_left_out"] == ["quality"]


def test_a_problem_of_coverage_stands_before_the_judges_left_out() -> None:
    decision = decided(None, scores(1.0), complete=False, left_out=["quality", "tone"])
    told = "the run is not complete; left out of this run: judges quality, tone (0 verdicts)"
    assert rule(decision, "coverage").reason == told


@pytest.mark.parametrize("passed", [True, False])
def test_the_required_rule_names_the_judges_that_do_not_decide_it(passed: bool) -> None:
    samples, verdicts = graded(FULL, FULL)
    first = samples["case_id"] == "v01"
    samples = samples.assign(required=first, passed_deterministic=passed)
    reason = rule(decided(Gate(), (samples, verdicts)), "required").reason
    assert reason.endswith("; judges never decide a required case, so left out here: quality")
    others = verdicts[(verdicts["check_id"] != "quality") | (verdicts["case_id"] != "v01")]
    assert "judge" not in rule(decided(Gate(), (samples, others)), "required").reason, "none was asked of it"


def test_the_json_holds_the_contract_and_leaves_the_frames_as_they_were() -> None:
    frames = graded(*[FULL] * 2)
    before = [frame.copy(deep=True) for frame in frames]
    printed = decided(TICKETS_GATE, frames).as_json()
    assert {"run", "view", "decision", "release_decision", "rules"} <= printed.keys()
    assert all({"rule", "passed", "reason"} <= row.keys() for row in printed["rules"])
    assert printed["release_decision"] == "pass"
    for frame, old in zip(frames, before, strict=True):
        pd.testing.assert_frame_equal(frame, old)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 1))
def test_a_floor_that_holds_implies_the_same_mean(values: list[float], threshold: float) -> None:
    decision = decided(Gate(mean=threshold, floor=threshold), scores(*values))
    assert rule(decision, "mean").passed or not rule(decision, "floor").passed
    assert (decision.decision == "pass") is (min(values) >= threshold - 1e-9)
