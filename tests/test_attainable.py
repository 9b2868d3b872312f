"""Which histograms a published row can come from: the tables of the reference, and rows made from known histograms."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.errors import InputError
from evallib.metrics import attainable
from tests.right_numbers import right

PUBLISHED = {
    (50, ".365 .217 .160 .140"): [(17, 11, 11, 4, 7)],
    (50, ".325 .233 .185 .160"): [(26, 4, 7, 5, 8)],
    (50, ".225 .140 .110 .100"): [(30, 7, 6, 2, 5)],
    (115, ".604 .491 .430 .383"): [(22, 18, 9, 22, 44)],
    (114, "79.61 67.40 58.77 51.75"): [(3, 9, 11, 32, 59)],
    (114, "95.83 91.96 88.38 85.09"): [(0, 0, 2, 15, 97)],
    (114, "97.81% 95.76% 93.86% 92.11%"): [(0, 0, 1, 8, 105)],
    (50, ".460 .326 .263 .225"): [],
    (50, ".360 .224 .169 .139"): [],
    (115, ".692 .576 .509 .462"): [],
    (115, ".626 .506 .435 .387"): [],
    (97, "9.79 7.22 5.67 3.09"): [],
    (97, "31.19 21.47 16.19 13.40"): [],
}
"""Rows of the tau-bench README and the tau-2 leaderboard, and the only histogram that fits, or none."""


def row_of(histogram: tuple[int, ...], digits: int) -> list[str]:
    """The row as a table would print it, halves rounded to even."""
    cases, n = sum(histogram), len(histogram) - 1
    sums = [sum(times * comb(c, k) for c, times in enumerate(histogram)) for k in range(1, n + 1)]
    shares = [Fraction(found, cases * comb(n, k)) for k, found in enumerate(sums, 1)]
    return [f"{float(round(share, digits)):.{digits}f}" for share in shares]


def test_the_published_row_has_exactly_one_histogram() -> None:
    assert attainable(50, 4, ("0.420", "0.273", "0.220", "0.200")) == [(14, 12, 10, 4, 10)]


@pytest.mark.parametrize(("cases", "row"), PUBLISHED)
def test_published_tables_invert_as_the_reference_lists(cases: int, row: str) -> None:
    assert attainable(cases, 4, row.split()) == PUBLISHED[cases, row]


def test_the_vectors_invert_to_their_histograms() -> None:
    for vector in right("published_pass_hat"):
        given = vector["inputs"]
        row = [f"{figure:.3f}" for figure in given["published"]]
        assert attainable(given["T"], given["n"], row) == [tuple(given["histogram_c0_to_c4"])]


@given(st.lists(st.integers(0, 12), min_size=2, max_size=6).filter(any), st.integers(3, 5))
def test_a_histogram_is_found_again_from_its_row(histogram: list[int], digits: int) -> None:
    found = attainable(sum(histogram), len(histogram) - 1, row_of(tuple(histogram), digits))
    assert tuple(histogram) in found
    assert found == sorted(set(found))
    for one in found:
        assert sum(one) == sum(histogram)
        assert min(one) >= 0


@given(st.lists(st.integers(0, 3), min_size=2, max_size=5).filter(any), st.integers(1, 2))
def test_every_histogram_there_is_was_found(histogram: list[int], digits: int) -> None:
    """Against trying every histogram of so few cases."""
    cases, n = sum(histogram), len(histogram) - 1
    row = row_of(tuple(histogram), digits)
    half = Fraction(1, 2 * 10**digits)

    def fits(one: tuple[int, ...]) -> bool:
        sums = (sum(times * comb(c, k) for c, times in enumerate(one)) for k in range(1, n + 1))
        wanted = zip(sums, row, strict=True)
        return all(abs(Fraction(s, cases * comb(n, k)) - Fraction(t)) <= half for k, (s, t) in enumerate(wanted, 1))

    def every(left: int, bins: int) -> list[tuple[int, ...]]:
        if bins == 1:
            return [(left,)]
        return [(first, *rest) for first in range(left + 1) for rest in every(left - first, bins - 1)]

    if comb(cases + n, n) <= 3000:
        assert attainable(cases, n, row) == [one for one in every(cases, n + 1) if fits(one)]


def test_200_cases_of_8_samples_are_no_matter() -> None:
    row = row_of((10, 15, 22, 28, 40, 35, 25, 15, 10), 4)
    assert (10, 15, 22, 28, 40, 35, 25, 15, 10) in attainable(200, 8, row)
    assert attainable(200, 8, [*row[:2], "0.9", *row[3:]]) == []


def test_of_very_many_histograms_the_first_are_given() -> None:
    assert len(attainable(200, 8, row_of((10, 15, 22, 28, 40, 35, 25, 15, 10), 2), most=50)) == 50


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("0.4", "0.2"), "has 4 figures"),
        ("0.4", "each a text"),
        (("0.4", "0.2", "x", "0.1"), "figure 'x'"),
        ((0.4, 0.3, 0.2, 0.1), "as a text"),
        (("-0.4", "0.3", "0.2", "0.1"), "figure '-0.4'"),
        (("142.0", "30.0", "20.0", "10.0"), "more than all"),
    ],
)
def test_a_row_that_is_none_is_told_what_is_wrong(row: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        attainable(50, 4, row)


def test_a_row_of_no_cases_is_refused() -> None:
    with pytest.raises(InputError, match="at least one of each"):
        attainable(0, 4, ("0.4",) * 4)
