"""Exact intervals of shares: right numbers, and the meaning of an exact interval worked out the long way."""

from __future__ import annotations

import math
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.errors import InputError
from evallib.statistics.estimators import clopper_pearson, jeffreys, of_finite, wilson
from tests.right_numbers import right


@pytest.mark.parametrize("estimator", [clopper_pearson, jeffreys])
def test_the_vectors_hold(estimator) -> None:
    for vector in right(estimator.__name__):
        given = vector["inputs"]
        found = estimator(given["x"], given["n"], given["alpha"])
        assert found == pytest.approx(vector["expected"], abs=1e-12)


@given(st.data())
def test_a_finite_interval_holds_exactly_the_shares_that_the_draw_does_not_refute(data) -> None:
    of = data.draw(st.integers(1, 25))
    drawn = data.draw(st.integers(1, of))
    found = data.draw(st.integers(0, drawn))

    def chance(have: int, counts: range) -> float:
        return sum(comb(have, i) * comb(of - have, drawn - i) for i in counts) / comb(of, drawn)

    kept = [
        have
        for have in range(found, of - drawn + found + 1)
        if chance(have, range(found, drawn + 1)) > 0.025 and chance(have, range(found + 1)) > 0.025
    ]
    assert of_finite(found, drawn, of) == (min(kept) / of, max(kept) / of)


@pytest.mark.parametrize(("mean", "n"), [(0.0, 0), (math.nan, 5), (1.5, 5), (-0.5, 5), (0.5, math.nan), (0.5, -1)])
def test_the_interval_of_what_is_no_share_is_refused(mean: float, n: float) -> None:
    with pytest.raises(InputError, match="cannot be; it lies between 0 and 1, of at least one"):
        wilson(mean, n)


def test_a_share_at_the_very_bound_is_left_out_at_either_end() -> None:
    """4 of 16 give 2 of 2 drawn with a chance of 6/120, one in twenty just so: it is refuted, as its mirror is."""
    assert of_finite(2, 2, 16, 0.05).lo == 5 / 16
    assert of_finite(0, 2, 16, 0.05).hi == 11 / 16


def test_reading_all_leaves_no_doubt_and_a_huge_population_is_the_binomial() -> None:
    assert of_finite(7, 23, 23) == (7 / 23, 7 / 23)
    assert of_finite(0, 60, 1_000_000) == pytest.approx(clopper_pearson(0, 60), abs=1e-4)


@pytest.mark.parametrize(("drawn", "bound"), [(20, 0.139), (30, 0.095), (60, 0.049), (100, 0.030), (300, 0.010)])
def test_a_clean_draw_bounds_the_false_ones_as_the_reference_lists(drawn: int, bound: float) -> None:
    assert of_finite(0, drawn, 1_000_000, 0.05).hi == pytest.approx(bound, abs=5e-4)


@pytest.mark.parametrize(("found", "of"), [(1, 0), (3, 2), (-1, 2)])
def test_a_share_that_cannot_be_is_refused(found: int, of: int) -> None:
    for estimator in (clopper_pearson, jeffreys):
        with pytest.raises(InputError, match="cannot be"):
            estimator(found, of)
    with pytest.raises(InputError):
        of_finite(1, 3, 2)
