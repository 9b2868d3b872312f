"""Metrics against right numbers, the articles' worked figures, and identities."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.errors import InputError
from evallib.metrics import curves, pass_at_k, pass_hat_k, passes_histogram, per_case, summarise
from evallib.records import POST_HOC_LABEL
from evallib.statistics.estimators import Counts, over_cases, wilson, wilson_interval
from tests.right_numbers import CASES, counts, right

OUTCOME: dict[str, Any] = {
    "run_id": "r", "case_id": "a", "sample": 1, "split": "validation", "required": False, "sample_status": "completed",
    "status": "scored", "passed": True, "score": 1.0, "view": "strict", "post_hoc": False,
}  # fmt: skip
VERDICT: dict[str, Any] = {
    "run_id": "r", "case_id": "a", "sample": 1, "check_id": "policy", "status": "scored", "value": 1.0, "raw": 1.0,
    "passed": True, "weight": 1.0, "critical": False, "stochastic": False, "judge": "",
}  # fmt: skip
NO_VERDICTS = pd.DataFrame(columns=list(VERDICT))


def outcomes(*cases: str, **common: Any) -> pd.DataFrame:
    """One text per case, a letter per sample: p passes, f fails, e a provider's error, n not scored, m missing."""
    statuses = {"e": ("provider_error", "error"), "n": ("completed", "not_scored"), "m": ("missing", "error")}
    rows = []
    for number, letters in enumerate(cases):
        for sample, letter in enumerate(letters, 1):
            status, folded = statuses.get(letter, ("completed", "scored"))
            passed = {"p": True, "f": False}.get(letter)
            row = {"case_id": f"c{number:02}", "sample": sample, "sample_status": status, "status": folded}
            rows.append(
                {**OUTCOME, **row, "passed": passed, "score": None if passed is None else float(passed), **common}
            )
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("group", "estimator"), [("pass_at_k", pass_at_k), ("pass_hat_k", pass_hat_k)])
def test_one_case_equals_the_right_numbers_in_full_precision(group: str, estimator: Any) -> None:
    for vector in right(group):
        expected = vector["expected"]
        assert estimator(**vector["inputs"]) == (
            None if expected is None else pytest.approx(expected, rel=1e-15, abs=0)
        )


@pytest.mark.parametrize(("group", "estimator"), [("macro_pass_at_k", pass_at_k), ("macro_pass_hat_k", pass_hat_k)])
def test_means_over_eligible_cases_equal_the_right_numbers(group: str, estimator: Any) -> None:
    for vector in right(group):
        estimate = over_cases(counts(vector), vector["inputs"]["k"], estimator)
        assert estimate.value == pytest.approx(vector["expected"], abs=1e-12)
        assert estimate.eligible == vector["inputs"]["eligible"]


def test_published_pass_hat_figures_follow_from_their_histograms() -> None:
    for vector in right("published_pass_hat"):
        n, histogram = vector["inputs"]["n"], vector["inputs"]["histogram_c0_to_c4"]
        cases = [Counts(n, c) for c, times in enumerate(histogram) for _ in range(times)]
        values = [over_cases(cases, k, pass_hat_k).value for k in range(1, n + 1)]
        assert values == pytest.approx(vector["expected"], abs=1e-12)


def test_pass_rate_pass_at_1_and_pass_hat_1_are_one_figure() -> None:
    for vector in right("identity"):
        cases = counts(vector)
        mine = [over_cases(cases, 1, one).value for one in (pass_at_k, pass_hat_k)]
        assert [*mine, math.fsum(c / n for n, c in cases) / len(cases)] == pytest.approx(vector["expected"], abs=1e-12)


def test_wrong_estimators_are_not_what_we_compute() -> None:
    (vector,) = right("wrong_estimators")
    mine = [over_cases(counts(vector), 4, one).value for one in (pass_hat_k, pass_at_k)]
    assert mine == pytest.approx([0.2, 0.72])
    assert not set(mine) & set(vector["expected"])


def test_wilson_equals_the_right_numbers() -> None:
    for vector in right("wilson"):
        x, n = vector["inputs"]["x"], vector["inputs"]["n"]
        assert wilson(x / n, n) == pytest.approx(vector["expected"], abs=1e-12)


def test_wilson_on_effective_cases_equals_the_right_numbers() -> None:
    for vector in right("neff_wilson"):
        estimator = pass_at_k if vector["inputs"]["metric"].startswith("pass@") else pass_hat_k
        estimate = over_cases(counts(vector), vector["inputs"]["k"], estimator)
        # The vectors were made with a t quantile that is off by 3e-9 (2.009575234 for 2.009575237 at 49 degrees of
        # freedom), so intervals agree to 1e-9 only; with the vectors' own effective size they agree in full.
        assert estimate.interval == pytest.approx(vector["expected"], abs=1e-9)
        assert wilson(estimate.value or 0.0, vector["inputs"]["n_eff_df"]) == pytest.approx(
            vector["expected"], abs=1e-12
        )


@pytest.mark.parametrize("index", range(2))
def test_the_articles_runs_give_its_three_numbers(index: int) -> None:
    path = CASES / "articles.json"
    if not path.exists():
        pytest.skip("the shared right numbers are not here")
    case = json.loads(path.read_text())["article_000"]["pass_metrics"]["cases"][index]
    n, passes = case["runs_per_ticket"], case["passes_per_ticket"]
    summary = summarise(outcomes(*("p" * c + "f" * (n - c) for c in passes)), NO_VERDICTS, range(1, n + 1))
    assert summary["pass_rate"] == pytest.approx(case["expect"]["pass_rate"], abs=1e-12)
    for k in range(1, n + 1):
        assert summary["pass_at"][str(k)] == pytest.approx(case["expect"][f"pass@{k}"], abs=1e-12)
        assert summary["pass_hat"][str(k)] == pytest.approx(case["expect"][f"pass^{k}"], abs=1e-12)


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_estimators_equal_counting_every_draw(triple: tuple[int, int, int]) -> None:
    n, c, k = triple
    draws = list(combinations([1] * c + [0] * (n - c), k))
    assert pass_at_k(n, c, k) == sum(map(any, draws)) / len(draws)
    assert pass_hat_k(n, c, k) == sum(map(all, draws)) / len(draws)
    assert pass_at_k(n, c, k) == pytest.approx(1 - (pass_hat_k(n, n - c, k) or 0.0), abs=1e-15)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.integers(0, 200))
def test_an_interval_holds_its_mean_and_has_width_inside_zero_to_one(values: list[float], more: int) -> None:
    interval = wilson_interval(values, len(values) + more)
    assert interval is not None
    assert 0 <= interval.lo <= math.fsum(values) / len(values) + 1e-12
    assert math.fsum(values) / len(values) - 1e-12 <= interval.hi <= 1
    assert interval.lo < interval.hi


@given(st.lists(st.integers(0, 12), min_size=2, max_size=40))
def test_no_interval_at_any_k_is_narrower_than_draws_that_share_no_sample_allow(passes: list[int]) -> None:
    cases = [Counts(12, c) for c in passes]
    for k in range(1, 13):
        value, interval, _ = over_cases(cases, k, pass_at_k)
        assert value is not None
        assert interval is not None
        least = wilson(value, len(cases) * 12 / k)
        assert interval.hi - interval.lo >= least.hi - least.lo - 1e-12


def test_the_interval_does_not_leap_from_one_k_to_the_next_where_nearly_every_draw_passes() -> None:
    cases = [Counts(80, 80)] * 28 + [Counts(80, 78), Counts(80, 70), Counts(80, 41), Counts(80, 40)]
    lows = [estimate.interval.lo for k in range(1, 81) if (estimate := over_cases(cases, k, pass_at_k)).interval]
    assert len(lows) == 80
    assert lows[39] < 0.95
    assert max(abs(a - b) for a, b in pairwise(lows)) < 0.06
    small = [over_cases([Counts(5, 5)] * 30 + [Counts(5, 1), Counts(5, 3)], k, pass_at_k).interval for k in (4, 5)]
    assert small[0] == pytest.approx(small[1], abs=0.03)


def test_there_is_no_interval_below_two_cases() -> None:
    assert wilson_interval([0.5], 10) is None
    assert summarise(outcomes("pf"), NO_VERDICTS)["pass_rate_interval"] is None


@pytest.mark.parametrize("triple", [(3, 4, 1), (3, -1, 1), (3, 1, 0), (-1, 0, 1)])
def test_impossible_counts_are_refused(triple: tuple[int, int, int]) -> None:
    for estimator in (pass_at_k, pass_hat_k):
        with pytest.raises(InputError):
            estimator(*triple)


def test_fewer_than_k_samples_is_undefined_and_never_zero_or_one() -> None:
    summary = summarise(outcomes("pp", "ff"), NO_VERDICTS, [2, 5])
    assert summary["pass_at"] == {"2": 0.5, "5": None}
    assert summary["pass_hat"] == {"2": 0.5, "5": None}
    assert summary["eligible_cases"] == {"2": 2, "5": 0}


def test_errors_count_as_fails_and_stand_beside_the_figures_without_them() -> None:
    summary = summarise(outcomes("p", "p", "p", "p", "p", "p", "p", "p", "e", "e"), NO_VERDICTS, [1])
    assert summary["pass_rate"] == 0.8
    assert (summary["planned"], summary["scored"], summary["errors"]) == (10, 8, 2)
    assert summary["without_errors"]["pass_rate"] == 1.0
    assert (summary["without_errors"]["cases"], summary["without_errors"]["samples"]) == (8, 8)
    assert summary["bounds"] == [0.8, 1.0]
    assert "8 scored, 2 without an outcome (2 provider error) counted as fails" in summary["caption"]


def test_a_survivor_of_errors_is_no_perfect_run() -> None:
    summary = summarise(outcomes("pee", "eee"), NO_VERDICTS, [1, 3])
    assert summary["pass_rate"] == pytest.approx(1 / 6)
    assert summary["pass_hat"]["3"] == 0.0
    assert summary["bounds"] == [pytest.approx(1 / 6), 1.0]
    assert summary["without_errors"]["eligible_cases"] == {"1": 1, "3": 0}
    assert summary["depends_on_errors"]
    assert "depends on the errors" in summary["caption"]


def test_every_kind_of_error_is_told_apart() -> None:
    frame = pd.concat([outcomes("penm"), outcomes("x", sample_status="completed", status="error", run_id="s")])
    summary = summarise(frame, NO_VERDICTS)
    assert summary["errors_by"] == {"infra": 1, "missing": 1, "not_scored": 1, "provider_error": 1}


def test_few_errors_among_many_cases_do_not_change_the_conclusion() -> None:
    assert not summarise(outcomes(*["pf"] * 19, "pe"), NO_VERDICTS)["depends_on_errors"]


def test_unequal_numbers_of_samples_weigh_cases_alike_and_print_the_pooled_rate() -> None:
    summary = summarise(outcomes("ppppp", "pppff", "pppp", "fff", "pf", "p"), NO_VERDICTS, [1, 3])
    assert summary["pass_rate"] == pytest.approx(41 / 60)
    assert summary["pass_rate_micro"] == 14 / 20
    assert summary["pass_at"] == {"1": pytest.approx(41 / 60), "3": 0.75}
    assert summary["eligible_cases"] == {"1": 6, "3": 4}
    assert "pass rate is 0.700" in summary["caption"]


def test_runs_named_together_are_pooled_by_case() -> None:
    frame = pd.concat([outcomes("p", "f"), outcomes("f", "f", run_id="s")])
    summary = summarise(frame, NO_VERDICTS, [2])
    assert (summary["runs"], summary["cases"], summary["planned"]) == (["r", "s"], 2, 4)
    assert (summary["pass_at"], summary["pass_hat"]) == ({"2": 0.5}, {"2": 0.0})


def test_a_sample_that_stands_twice_is_refused() -> None:
    frame = outcomes("p")
    with pytest.raises(InputError, match=r"case_id 'c00', sample 1 stands twice"):
        summarise(pd.concat([frame, frame]), NO_VERDICTS)


def test_views_are_never_mixed() -> None:
    frame = pd.concat([outcomes("p"), outcomes("p", view="read", run_id="s")])
    with pytest.raises(InputError, match="views 'read', 'strict'"):
        summarise(frame, NO_VERDICTS)


@pytest.mark.parametrize("row", [{"passed": None}, {"score": 1.5}, {"score": -0.1}])
def test_an_impossible_outcome_is_named(row: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="case 'a', sample 1"):
        summarise(pd.DataFrame([{**OUTCOME, **row}]), NO_VERDICTS)


def test_no_sample_gives_no_value() -> None:
    with pytest.raises(InputError, match="no planned sample"):
        summarise(pd.DataFrame(columns=list(OUTCOME)), NO_VERDICTS)


@pytest.mark.parametrize("view", ["rescored:2026-11-30-x", "read"])
def test_a_figure_chosen_after_reading_says_so_even_when_the_column_forgot(view: str) -> None:
    frame = outcomes("pf", "pp", view=view)
    summary = summarise(frame, NO_VERDICTS)
    assert summary["post_hoc"]
    assert POST_HOC_LABEL in summary["caption"].lower()
    assert curves(frame)["post_hoc"].all()
    assert per_case(frame)["post_hoc"].all()


def test_the_score_is_a_mean_of_case_means_and_counts_what_was_left_out() -> None:
    frame = outcomes("ppp", "f", "e")
    summary = summarise(frame, NO_VERDICTS)
    assert (summary["score_mean"], summary["score_cases"], summary["score_left_out"]) == (0.5, 2, 1)


def test_checks_are_averaged_over_cases_and_keep_what_could_not_be_had() -> None:
    frame = outcomes("ppp", "p", "p")
    verdicts = pd.DataFrame(
        [
            *({**VERDICT, "case_id": "c00", "sample": n} for n in (1, 2, 3)),
            {**VERDICT, "case_id": "c01", "value": 0.0, "raw": 0.0, "passed": False},
            {**VERDICT, "case_id": "c02", "status": "not_scored", "value": None, "raw": None, "passed": None},
            {**VERDICT, "case_id": "elsewhere"},
        ]
    )
    policy = summarise(frame, verdicts)["by_check"]["policy"]
    assert (policy["mean_raw"], policy["mean_value"], policy["cases"]) == (0.5, 0.5, 2)
    assert (policy["n"], policy["passed"], policy["failed"], policy["not_scored"]) == (5, 3, 1, 1)
    assert (policy["stochastic"], policy["calibration"]) == (False, None)


def test_a_judge_is_named_and_called_uncalibrated() -> None:
    judge = json.dumps({"model": "m-1", "votes": 3})
    verdicts = pd.DataFrame([{**VERDICT, "case_id": "c00", "raw": 5.0, "stochastic": True, "judge": judge}])
    check = summarise(outcomes("p"), verdicts)["by_check"]["policy"]
    assert (check["judge"], check["calibration"], check["mean_raw"]) == (["m-1"], "uncalibrated", 5.0)


def test_input_frames_stay_as_they_were() -> None:
    frame, verdicts = outcomes("pe", "fp"), pd.DataFrame([{**VERDICT, "case_id": "c00"}])
    before = frame.copy(deep=True), verdicts.copy(deep=True)
    summarise(frame, verdicts)
    for function in (per_case, curves, passes_histogram):
        function(frame)
    pd.testing.assert_frame_equal(frame, before[0])
    pd.testing.assert_frame_equal(verdicts, before[1])


@settings(max_examples=12, deadline=None)
@given(st.lists(st.text("pfe", min_size=1, max_size=5), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_order_of_rows_never_matters_and_curves_move_one_way(cases: list[str], random: Any) -> None:
    frame = outcomes(*cases)
    rows: Sequence[int] = random.sample(range(len(frame)), len(frame))
    summary = summarise(frame, NO_VERDICTS)
    assert summarise(frame.iloc[rows], NO_VERDICTS) == summary
    at, hat = list(summary["pass_at"].values()), list(summary["pass_hat"].values())
    assert at[0] == hat[0] == summary["pass_rate"] == summary["bounds"][0]
    assert at == sorted(at, key=float) or len(set(map(len, cases))) > 1
    assert summary["bounds"][0] <= summary["bounds"][1]


def test_frames_from_arrow_and_from_pandas_give_the_same() -> None:
    frame = outcomes("pe", "fp")
    assert summarise(frame.convert_dtypes(dtype_backend="pyarrow"), NO_VERDICTS) == summarise(frame, NO_VERDICTS)


def test_the_cases_behind_the_curves_are_counted_by_passes() -> None:
    frame = outcomes("pp", "pf", "ff", "fp")
    assert passes_histogram(frame)["cases"].tolist() == [1, 2, 1]
    assert per_case(frame)["pass_hat_n"].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert per_case(frame)["pass_rate"].tolist() == [1.0, 0.5, 0.0, 0.5]


def test_curves_equal_the_summary() -> None:
    frame = outcomes("ppf", "pff", "ppp", "fff")
    summary, drawn = summarise(frame, NO_VERDICTS), curves(frame)
    for metric, name in (("pass@k", "pass_at"), ("pass^k", "pass_hat")):
        one = drawn[drawn["metric"] == metric]
        assert dict(zip(one["k"].astype(str), one["value"], strict=True)) == summary[name]  # type: ignore[literal-required]
        assert [list(pair) for pair in zip(one["lo"], one["hi"], strict=True)] == list(
            summary[f"{name}_interval"].values()
        )  # type: ignore[literal-required]
