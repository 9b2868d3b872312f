"""The rules about repeats, errors and coverage: what they ask, what they put up with, what they refuse."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evallib.errors import InputError
from evallib.gate import TOLERANCE, Gate
from evallib.gate.thresholds import reaches
from evallib.records import digest
from evallib.statistics.estimators import Counts, over_cases, pass_hat_k
from evallib.strict_yaml import parse_yaml, read_as
from evallib.suite import parse_suite
from evallib.views.figures import load_gate
from tests.gates import decided, outcome, rule, scores, verdict
from tests.making import SUITE

Frames = tuple[pd.DataFrame, pd.DataFrame]


def repeated(**passes: str) -> Frames:
    """Both frames from one letter per sample of each case: `p` passes, `f` fails, `e` is an error of the provider."""
    rows, verdicts = [], []
    for case, letters in passes.items():
        for n, letter in enumerate(letters, 1):
            if letter == "e":
                rows.append(outcome(case, None, sample=n, status="error", sample_status="provider_error"))
                continue
            score = float(letter == "p")
            rows.append(outcome(case, score, sample=n))
            verdicts.append(verdict(case, "only", score, sample=n))
    return pd.DataFrame(rows), pd.DataFrame(verdicts, columns=list(verdict("c", "only", 1.0)))


def gate_of(text: str) -> Gate:
    return read_as(Gate, parse_yaml(text, "gate.yaml"))


# pass^k


def test_pass_hat_is_held_against_its_least_with_errors_as_fails() -> None:
    frames = repeated(a="ppppp", b="ppppf", c="ppppe")
    found = rule(decided(gate_of("pass_hat: {1: 0.8, 2: 0.8}"), frames), "pass_hat")
    assert not found.passed
    assert found.reason == (
        "pass^1 is 0.87 over 3 cases, at least 0.80; "
        "pass^2 is 0.73 over 3 cases, below its 0.80 (lowest: b at 0.60, c at 0.60)"
    )
    assert [(row["k"], row["passed"]) for row in found.detail["pass_hat"]] == [(1, True), (2, False)]


def test_a_k_above_the_samples_is_never_at_its_threshold() -> None:
    found = rule(decided(gate_of("pass_hat: {5: 0.0}"), repeated(a="ppp", b="pp")), "pass_hat")
    assert (found.passed, found.reason) == (
        False, "pass^5 needs 5 samples of every case, and no case has more than 3: not reachable in this run",
    )  # fmt: skip
    assert found.detail["pass_hat"][0]["value"] is None


def test_cases_with_too_few_samples_are_not_left_out_of_a_pass_hat_in_silence() -> None:
    found = rule(decided(gate_of("pass_hat: {3: 0.5}"), repeated(a="ppp", b="pp")), "pass_hat")
    assert (found.passed, found.reason) == (False, "pass^3 needs 3 samples of every case: b has 2")


@given(st.lists(st.text("pfe", min_size=3, max_size=5), min_size=1, max_size=6), st.integers(1, 3))
def test_the_figure_is_the_estimators(letters: list[str], k: int) -> None:
    frames = repeated(**{f"c{n}": each for n, each in enumerate(letters)})
    row = rule(decided(Gate(pass_hat={k: 0.5}), frames), "pass_hat").detail["pass_hat"][0]
    expected = over_cases([Counts(len(each), each.count("p")) for each in letters], k, pass_hat_k)
    assert row["value"] == pytest.approx(expected.value)
    assert row["passed"] is reaches(expected.value, 0.5)


# errors and coverage


def test_a_share_of_errors_up_to_its_limit_is_borne_and_named() -> None:
    frames = repeated(a="pppppppppp", b="pppppppppe")
    decision = decided(gate_of("{errors: 0.05, mean: 0.9, floor: 0.9, checks: {only: 0.9}}"), frames)
    assert decision.decision == "pass"
    assert rule(decision, "errors").reason == (
        "1 of 20 planned samples are errors: 0.05, at most 0.05 (b sample 10 provider_error)"
    )
    assert rule(decision, "errors").detail["kinds"] == {"provider_error": 1}
    assert rule(decision, "coverage").reason == (
        "19 of 20 planned samples are scored: 0.95, at least 0.95; not b sample 10"
    )
    assert rule(decision, "mean").reason == "the mean is 1.000 over 19 of 20 samples, at least 0.90"


def test_a_verdict_that_could_not_be_had_is_no_error_and_is_counted_apart() -> None:
    frame, judged = repeated(a="pppppppppp", b="pppppppppe")
    last = (frame["case_id"] == "a") & (frame["sample"] == 10)
    frame = frame.assign(status=frame["status"].mask(last, "not_scored"), passed=frame["passed"].mask(last, None))
    reason = rule(decided(gate_of("{errors: 0.05}"), (frame, judged)), "errors").reason
    assert reason == (
        "1 of 20 planned samples are errors: 0.05, at most 0.05 (b sample 10 provider_error); "
        "1 more without an outcome, for want of a verdict, is no error"
    )


def test_one_error_more_blocks_every_rule_that_could_not_see_it() -> None:
    decision = decided(gate_of("{errors: 0.05, mean: 0.5, floor: 0.5}"), repeated(a="pppppppp", b="ppppppppee"))
    assert {one.rule for one in decision.rules if not one.passed} == {"errors", "coverage", "mean", "floor"}
    assert "above 0.05 (b sample 9 provider_error, b sample 10 provider_error)" in rule(decision, "errors").reason


def test_errors_borne_still_count_as_fails_in_the_pass_rate() -> None:
    decision = decided(gate_of("{errors: 0.5, pass_rate: 0.9}"), repeated(a="pe", b="pp"))
    assert rule(decision, "coverage").passed
    assert rule(decision, "pass_rate").reason == (
        "3 of 4 planned samples passed: 0.75, below its 0.90 (lowest: a at 0.50)"
    )


def test_without_a_word_on_coverage_every_sample_must_be_scored() -> None:
    assert decided(gate_of("{mean: 0.1}"), repeated(a="p" * 99 + "e")).decision == "blocked"


def test_coverage_puts_up_with_verdicts_that_could_not_be_had_but_only_of_samples_left_out() -> None:
    outcomes, verdicts = scores(1.0, 1.0, 1.0, 1.0)
    lost = outcomes["case_id"] == "c03"
    outcomes["status"] = outcomes["status"].mask(lost, "not_scored")
    outcomes[["passed", "score"]] = outcomes[["passed", "score"]].astype(object).mask(lost, None)
    verdicts["status"] = verdicts["status"].mask(lost, "not_scored")
    verdicts[["value", "raw"]] = verdicts[["value", "raw"]].mask(lost)
    gate = gate_of("{coverage: 0.75, checks: {only: 1.0}}")
    assert decided(gate, (outcomes, verdicts)).decision == "pass"
    extra = pd.DataFrame([verdict("c00", "other", None, status="not_scored")])
    decision = decided(gate, (outcomes, pd.concat([verdicts, extra.astype(verdicts.dtypes)])))
    assert rule(decision, "coverage").reason == "1 verdict could not be had: c00 sample 1 other"


def test_a_sample_that_is_not_there_at_all_is_never_excused() -> None:
    gone = outcome("b", None, status="error", sample_status="missing")
    frames = pd.DataFrame([outcome("a"), gone]), pd.DataFrame([verdict("a", "only", 1.0)])
    assert rule(decided(gate_of("{coverage: 0.1, errors: 0.9}"), frames), "coverage").reason == (
        "1 of 2 planned samples are scored; 1 planned sample is not scored: b sample 1"
    )


def test_errors_of_required_cases_are_never_borne() -> None:
    rows = [outcome("a", required=True), outcome("a", None, sample=2, required=True, status="error",
                                                 sample_status="provider_error")]  # fmt: skip
    decision = decided(gate_of("{errors: 0.5}"), (pd.DataFrame(rows), pd.DataFrame([verdict("a", "only", 1.0)])))
    assert not rule(decision, "required").passed


# what is written


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{pass_hat: {0: 0.5}}", "gate.yaml, line 1"),
        ("{pass_hat: {2: 1.5}}", "1.5 must be at most 1"),
        ("{pass_hat: {two: 0.5}}", "gate.yaml, line 1"),
        ("{errors: 1}", "1 must be below 1"),
        ("{errors: .nan}", "must be a number"),
        ("{coverage: 0}", "0 must be above 0"),
        ("mean: 0.5\ncoverge: 0.9", "gate.yaml, line 2 (coverge): unknown key 'coverge'"),
    ],
)
def test_what_no_run_could_meet_or_miss_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        gate_of(text)
    assert said in str(refused.value)


def test_a_gate_file_with_a_k_that_the_run_cannot_have_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "gate.yaml"
    path.write_text("gate:\n  mean: 0.5\n  pass_hat:\n    5: 0.5\n")
    suite = parse_suite(SUITE, "suite.yaml")
    assert load_gate(path, suite, most_samples=5).pass_hat == {5: 0.5}
    with pytest.raises(InputError, match=r"line 4 .gate.pass_hat.5.: pass.5 needs 5 .* not reachable"):
        load_gate(path, suite, most_samples=3)


def test_rules_that_came_later_leave_the_digest_of_other_gates_alone() -> None:
    written = {"mean": 0.9, "checks": {}, "floor": None, "required": "all_samples", "pass_rate": None}
    assert Gate(mean=0.9).model_dump(mode="json") == written
    assert digest(Gate(errors=0.0).model_dump(mode="json")) != digest(Gate().model_dump(mode="json"))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_what_is_no_figure_is_at_no_threshold(value: float | None) -> None:
    assert not reaches(value, 0.0)


def test_equality_passes_within_the_tolerance_that_the_decision_states() -> None:
    assert reaches(0.9 - TOLERANCE / 2, 0.9)
    assert not reaches(0.9 - 2 * TOLERANCE, 0.9)
    assert decided(Gate(), scores(1.0)).as_json()["tolerance"] == TOLERANCE


def test_every_blocked_reason_names_case_and_figure() -> None:
    gate = gate_of("{mean: 1, floor: 1, pass_rate: 1, pass_hat: {2: 1}, checks: {only: 1}}")
    decision = decided(gate, repeated(first="pp", second="pf"))
    for one in decision.rules:
        assert one.passed or ("second" in one.reason and any(c.isdigit() for c in one.reason)), one


def test_a_gate_in_python_is_held_to_the_same_bounds() -> None:
    with pytest.raises(ValidationError):
        Gate(pass_hat={0: 0.5})
