"""Standard errors, each held against right numbers and against the question it answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.errors import InputError
from evallib.statistics.bootstrap import case_bootstrap
from evallib.statistics.estimators import (
    Counts,
    case_values,
    over_cases,
    pass_at_k,
    pass_hat_k,
    wilson,
    wilson_interval,
    worth,
)
from evallib.statistics.spread import case_se, most_when_none, pooled_interval, pooled_se, rerun_interval, rerun_se
from tests.right_numbers import counts, right

AIRLINE = [Counts(4, c) for c, cases in enumerate((14, 12, 10, 4, 10)) for _ in range(cases)]
"""The published gpt-4o airline run of tau-bench: 50 cases by their passes."""
many_counts = st.lists(
    st.integers(2, 9).flatmap(lambda n: st.builds(Counts, st.just(n), st.integers(0, n))), min_size=2, max_size=40
)


def test_the_error_over_cases_equals_the_right_numbers() -> None:
    for vector in right("case_se"):
        estimator = pass_at_k if "pass@" in vector["name"] else pass_hat_k
        values = list(case_values(counts(vector), vector["inputs"]["k"], estimator).elements())
        assert case_se(values) == pytest.approx(vector["expected"], abs=1e-12)


def test_the_error_of_the_pooled_rate_is_clustered_by_case() -> None:
    for vector in right("clustered_se"):
        assert pooled_se(counts(vector)) == pytest.approx(vector["expected"], abs=1e-12)


def test_nothing_found_bounds_a_share() -> None:
    for vector in right("rule_of_three"):
        assert most_when_none(vector["inputs"]["n"], vector["inputs"]["alpha"]) == pytest.approx(
            vector["expected"], abs=1e-12
        )
    with pytest.raises(InputError, match="at least one"):
        most_when_none(0)


def test_a_case_bootstrap_comes_near_its_limit() -> None:
    for vector in right("bootstrap_limit"):
        estimator = pass_at_k if "pass@" in vector["name"] else pass_hat_k
        drawn = case_bootstrap(case_values(counts(vector), vector["inputs"]["k"], estimator))
        assert drawn.se == pytest.approx(vector["expected"], rel=0.03)


def test_a_re_run_of_the_published_run_moves_half_as_far_as_new_cases_would() -> None:
    """0.0522 and 0.0271, as the reference has them."""
    assert case_se([c / n for n, c in AIRLINE]) == pytest.approx(0.0522, abs=5e-5)
    assert rerun_se(AIRLINE) == pytest.approx(0.0271, abs=5e-5)


def test_the_re_run_error_is_what_re_runs_show() -> None:
    """Cases of known chances, asked again 4,000 times: their rates spread as far as one run says on average."""
    random, chances = np.random.default_rng(5), np.array([0.05, 0.2, 0.5, 0.5, 0.9, 0.97])
    runs = random.binomial(5, chances, (4000, len(chances)))
    squares = [rerun_se([Counts(5, int(c)) for c in run]) or 0.0 for run in runs]
    assert math.sqrt(float(np.mean(np.square(squares)))) == pytest.approx((runs / 5).mean(axis=1).std(), rel=0.03)


@given(many_counts)
def test_every_interval_holds_its_rate_and_has_width_inside_zero_to_one(cases: list[Counts]) -> None:
    macro = math.fsum(c / n for n, c in cases) / len(cases)
    micro = sum(c for _, c in cases) / sum(n for n, _ in cases)
    for rate, interval in ((macro, rerun_interval(cases)), (micro, pooled_interval(cases))):
        assert interval is not None
        assert 0 <= interval.lo <= rate + 1e-12
        assert rate - 1e-12 <= interval.hi <= 1
        assert interval.lo < interval.hi


@given(many_counts)
def test_a_re_run_is_never_said_to_move_farther_than_as_many_like_samples(cases: list[Counts]) -> None:
    interval, least = rerun_interval(cases), min(one.n for one in cases)
    assert interval is not None
    even = wilson_interval([0.0, 1.0], 2)  # the widest there is
    assert even is not None
    assert interval.hi - interval.lo <= even.hi - even.lo
    se = rerun_se(cases)
    assert se is not None
    assert se <= 0.5 / math.sqrt(len(cases) * (least - 1)) + 1e-12


def test_cases_of_one_rate_are_worth_their_number_however_their_rate_rounds() -> None:
    """1 of 5 in each of 5, 6 and 7 cases: a mean that rounds away from its values is no spread."""
    for cases in range(2, 61):
        for n, c in [(of, passes) for of in range(1, 9) for passes in range(of + 1)]:
            alike = [Counts(n, c)] * cases
            trials = wilson(c / n, worth(c / n, 0.0, cases, cases * n))
            for found in (over_cases(alike, 1, pass_at_k).interval, pooled_interval(alike)):
                assert found == pytest.approx(trials, abs=1e-12), (cases, n, c)
            for k in range(1, n + 1):
                for estimator in (pass_at_k, pass_hat_k):
                    value = estimator(n, c, k)
                    assert value is not None
                    trials = wilson(value, worth(value, 0.0, cases, cases))
                    assert over_cases(alike, k, estimator).interval == pytest.approx(trials, abs=1e-12), (cases, n, c)


@given(st.floats(0, 1), st.integers(2, 60), st.integers(1, 8))
def test_scores_that_are_all_the_same_are_worth_as_many_trials_as_cases(score: float, cases: int, n: int) -> None:
    found = wilson_interval([score] * cases, cases * n)
    assert found == pytest.approx(wilson(score, worth(score, 0.0, cases, cases)), abs=1e-12)


def test_one_case_or_one_sample_gives_no_interval() -> None:
    assert rerun_interval([Counts(5, 3)]) is None
    assert rerun_interval([Counts(5, 3), Counts(1, 1)]) is None
    assert (rerun_se([Counts(5, 3), Counts(1, 1)]), rerun_se([])) == (None, None)
    assert (pooled_interval([Counts(5, 3)]), pooled_se([Counts(5, 3)]), case_se([0.5])) == (None, None, None)


def test_cases_that_never_waver_still_leave_a_re_run_some_room() -> None:
    interval = rerun_interval([Counts(5, 5)] * 10 + [Counts(5, 0)] * 10)
    assert interval is not None
    assert 0.01 < interval.hi - interval.lo < 0.1


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=30), st.integers(0, 9))
def test_a_bootstrap_stays_among_its_values_repeats_with_its_seed_and_never_claims_certainty(
    values: list[float], seed: int
) -> None:
    drawn = case_bootstrap(values, seed=seed, resamples=200)
    assert drawn == case_bootstrap(values[::-1], seed=seed, resamples=200)
    assert (drawn.se is None) is (len(values) < 2)
    if drawn.interval is not None:
        assert min(values) <= drawn.interval.lo < drawn.interval.hi <= max(values)
    if len(set(values)) < 2:
        assert drawn.interval is None


def test_a_bootstrap_needs_a_seed_that_can_be_one() -> None:
    with pytest.raises(InputError, match="seed -1"):
        case_bootstrap([0.0, 1.0], seed=-1)
