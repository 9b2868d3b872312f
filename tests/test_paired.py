"""Two runs on the same cases: published and computed figures, and identities that hold for any of them."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.errors import InputError
from evallib.statistics import paired
from evallib.statistics.paired import (
    benjamini_hochberg,
    cases_needed,
    cases_to_show,
    holm,
    mcnemar,
    mcnemar_mid_p,
    minimum_detectable,
    paired_difference,
    repeats_needed,
    sign_flip,
)

FILE = Path(__file__).resolve().parent.parent.parent / "shared" / "cases" / "statistics.json"
GROUPS = ("mcnemar_exact", "mcnemar_midp", "signflip_exact", "paired_difference", "mde", "multiplicity")


def shared_vectors() -> list[dict[str, Any]]:
    found = json.loads(FILE.read_text(encoding="utf-8"))["vectors"] if FILE.is_file() else []
    return [one for one in found if one["group"] in GROUPS]


def numbers(texts: list[str]) -> list[float]:
    return [float(Fraction(text)) for text in texts]


def computed(group: str, name: str, given: dict[str, Any]) -> list[float]:
    if group == "mcnemar_exact":
        return [mcnemar(given["b"], given["c"])]
    if group == "mcnemar_midp":
        return [mcnemar_mid_p(given["b"], given["c"])]
    if group == "signflip_exact":
        return [sign_flip(numbers(given["d"])).p]
    if group == "mde":
        return [minimum_detectable(given["se"], given["alpha"], given["power"])]
    if group == "multiplicity":
        return holm(given["p"]) if "Holm" in name else benjamini_hochberg(given["p"])
    a, b = numbers(given["a"]), numbers(given["b"])
    found = paired_difference([x - y for x, y in zip(a, b, strict=True)])
    return [found.mean, found.se or 0.0, *(found.interval or ())]


@pytest.mark.parametrize("vector", shared_vectors(), ids=lambda vector: vector["id"])
def test_the_shared_figures_to_their_tolerance(vector: dict[str, Any]) -> None:
    expected = vector["expected"] if isinstance(vector["expected"], list) else [vector["expected"]]
    found = computed(vector["group"], vector["name"], vector["inputs"])
    assert found == pytest.approx(expected, rel=1e-12, abs=vector["tol"])


def test_a_p_value_of_many_cases_keeps_its_digits() -> None:
    assert mcnemar(157, 44) == pytest.approx(4.366712112507856e-16, rel=1e-12)
    assert sign_flip([-1.0] * 157 + [1.0] * 44).p == pytest.approx(4.366712112507856e-16, rel=1e-9)


grid = st.lists(st.integers(-4, 4).map(lambda i: i / 4), min_size=1, max_size=9)


def all_flips(differences: list[float]) -> float:
    """The plain definition: every sign for every case."""
    seen = abs(math.fsum(differences)) - 1e-9
    sums = [
        abs(math.fsum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(one >= seen for one in sums) / len(sums)


@given(grid)
def test_the_sign_flip_is_the_count_over_every_flip(differences: list[float]) -> None:
    assert sign_flip(differences) == (pytest.approx(all_flips(differences), abs=1e-12), True)


@given(st.integers(0, 40), st.integers(0, 40))
def test_one_sample_per_case_makes_the_sign_flip_the_exact_test(only_a: int, only_b: int) -> None:
    assert sign_flip([-1.0] * only_a + [1.0] * only_b).p == pytest.approx(mcnemar(only_a, only_b), abs=1e-12)
    assert mcnemar_mid_p(only_a, only_b) <= mcnemar(only_a, only_b)


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_mid_p_counts_half_of_every_table_that_is_as_far_from_even(only_a: int, only_b: int) -> None:
    """Fagerland, Lydersen and Laake 2013: where both counts are the same it is 1 less half the chance of that table."""
    tosses, off = only_a + only_b, abs(only_a - only_b)
    seen = [(abs(tosses - 2 * heads), math.comb(tosses, heads)) for heads in range(tosses + 1)]
    ways = sum(way * (1.0 if apart > off else 0.5) for apart, way in seen if apart >= off)
    assert mcnemar_mid_p(only_a, only_b) == pytest.approx(ways / 2**tosses if tosses else 1.0, rel=1e-12)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=60))
def test_swapping_the_runs_mirrors_everything(differences: list[float]) -> None:
    forth, back = paired_difference(differences), paired_difference([-d for d in differences])
    assert forth.mean == -back.mean
    assert forth.se == back.se
    assert forth.interval is not None
    assert back.interval is not None
    assert forth.interval == pytest.approx((-back.interval[1], -back.interval[0]))
    assert sign_flip(differences).p == sign_flip([-d for d in differences]).p


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=60))
def test_the_interval_lies_between_minus_one_and_one_around_the_mean_and_has_width(differences: list[float]) -> None:
    found = paired_difference(differences)
    assert found.interval is not None
    low, high = found.interval
    assert -1 <= low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= high <= 1
    assert low < high


def test_cases_that_all_agree_do_not_prove_that_no_case_could_differ() -> None:
    found = paired_difference([0.0] * 10)
    assert (found.mean, found.se, found.interval) == (0.0, 0.0, pytest.approx((-0.2589, 0.2589), abs=1e-4))
    assert paired_difference([1.0] * 10).interval == pytest.approx((1 - 2 * 0.2589, 1.0), abs=1e-4)
    assert paired_difference([0.0] * 10, span=None).interval is None


def test_one_case_gives_a_difference_and_no_interval_and_none_is_refused() -> None:
    assert paired_difference([0.5]) == (0.5, None, None, 1)
    with pytest.raises(InputError, match="no case stands in both runs"):
        paired_difference([])


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("function", [paired_difference, sign_flip, holm, benjamini_hochberg])
def test_what_is_no_number_is_refused_and_shows_nothing(function: Any, wrong: float) -> None:
    with pytest.raises(InputError, match=r"cannot be a (difference|p value); leave out what is not known"):
        function([0.5, wrong, 0.25])


def test_too_many_sums_are_drawn_by_a_seed() -> None:
    differences = [math.sqrt(n) * (-1) ** (n % 3 == 0) for n in range(2, 60)]
    first, again, other = (sign_flip(differences, seed) for seed in (1, 1, 2))
    assert first == again
    assert not first.exact
    assert first.p == pytest.approx(other.p, abs=0.02)
    assert 1 / (paired.FLIPS + 1) <= first.p <= 1


def test_two_thousand_cases_of_five_samples_are_counted_through() -> None:
    """Sums lie on a grid, so that no flip need be drawn."""
    differences = [0.2] * 300 + [-0.2] * 260 + [0.4] * 100 + [-0.4] * 90 + [0.0] * 1250
    found = sign_flip(differences)
    assert found.exact
    variance = math.fsum(d * d for d in differences)
    assert found.p == pytest.approx(math.erfc(math.fsum(differences) / math.sqrt(2 * variance)), abs=0.01)


def test_cases_needed_grow_with_the_square_of_what_is_to_be_found() -> None:
    # Terminal-Bench: a paired SE of 0.0303 over 80 cases; 5 points need about 229 of them (sd 0.27)
    assert cases_needed(0.27 / math.sqrt(80), 80, 0.05) == 229
    assert cases_needed(0.03, 80, 0.02) == pytest.approx(4 * cases_needed(0.03, 80, 0.04), abs=4)
    with pytest.raises(InputError, match="difference of 0"):
        cases_needed(0.03, 80, 0.0)


def test_repeats_shrink_what_moves_within_a_case_and_nothing_else() -> None:
    alone = repeats_needed(0.10, (0.1, 0.1), (2, 2), 50, 0.10)
    assert alone == math.ceil(0.2 / (50 * (0.10 / 2.8015852) ** 2))
    assert repeats_needed(0.50, (0.1, 0.1), (2, 2), 50, 0.05) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrected_values_are_no_smaller_and_keep_their_order(ps: list[float]) -> None:
    for corrected in (holm(ps), benjamini_hochberg(ps)):
        assert all(p - 1e-12 <= c <= 1 for p, c in zip(ps, corrected, strict=True))
        by_p = sorted(range(len(ps)), key=lambda i: ps[i])
        assert [corrected[i] for i in by_p] == sorted(corrected)
    assert all(b <= h + 1e-12 for b, h in zip(benjamini_hochberg(ps), holm(ps), strict=True))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms())
def test_the_order_of_the_tests_changes_no_correction(ps: list[float], random: Any) -> None:
    order = list(range(len(ps)))
    random.shuffle(order)
    assert holm([ps[i] for i in order]) == [holm(ps)[i] for i in order]


@pytest.mark.parametrize("tests", [1, 2, 3, 4, 8, 40])
def test_the_fewest_cases_that_can_show_anything_come_just_below_the_level(tests: int) -> None:
    level = 0.05 / tests
    cases = cases_to_show(level)
    assert sign_flip([1.0] * cases).p < level <= sign_flip([1.0] * (cases - 1)).p
