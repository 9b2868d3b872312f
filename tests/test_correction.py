"""Corrected pass rates: the vectors of the reference, its simulated coverage, and the ends of the range."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.errors import InputError
from evallib.statistics.correction import (
    Labelled,
    Layer,
    observed_difference,
    ppi_interval,
    ppi_mean,
    rogan_gladen,
    rogan_gladen_interval,
    stratified_interval,
    stratified_rate,
    stratified_se,
)
from tests.right_numbers import right
from tests.sources import SHARED

CASES = SHARED.parent / "cases"


@st.composite
def layers(draw: st.DrawFn) -> list[Layer]:
    found = []
    for _ in range(draw(st.integers(2, 3))):
        of = draw(st.integers(1, 60))
        read = draw(st.integers(1, of))
        found.append(Layer(of, read, draw(st.integers(0, read)), draw(st.integers(0, of - read))))
    return found


@pytest.mark.skipif(not CASES.is_dir(), reason="the vectors of ../shared/cases are absent")
@pytest.mark.parametrize("group", ["rogan_gladen", "audit_stratified"])
def test_the_vectors_hold(group: str) -> None:
    vectors = [v for v in json.loads((CASES / "statistics.json").read_text())["vectors"] if v["group"] == group]
    assert vectors
    for vector in vectors:
        given, expected = vector["inputs"], vector["expected"]
        if group == "rogan_gladen":
            found = rogan_gladen(*(float(Fraction(given[name])) for name in ("p", "sens", "spec")))
            assert found == (None if expected is None else pytest.approx(expected, abs=1e-12))
        else:
            parts = [
                Layer(given["N_pass"], given["audited_pass"], given["true_in_pass"]),
                Layer(given["N_fail"], given["audited_fail"], given["true_in_fail"]),
            ]
            assert [stratified_rate(parts), stratified_se(parts)] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=30)
@given(layers())
def test_the_rate_lies_in_its_interval_and_both_in_nought_to_one(parts: list[Layer]) -> None:
    rate, interval = stratified_rate(parts), stratified_interval(parts)
    assert rate is not None
    assert interval is not None
    assert 0 <= interval.lo <= rate <= interval.hi <= 1
    assert interval.lo < interval.hi
    assert interval == stratified_interval(parts)


@settings(max_examples=30)
@given(layers())
def test_what_is_lost_only_widens_the_interval(parts: list[Layer]) -> None:
    without = [Layer(part.of, part.read, part.true) for part in parts]
    wide, narrow = stratified_interval(parts), stratified_interval(without)
    assert wide is not None
    assert narrow is not None
    assert wide.lo <= narrow.lo + 0.01  # both ends are drawn, so they hold to a little more than nothing
    assert wide.hi >= narrow.hi - 0.01


def test_an_audit_of_everything_is_the_plain_mean_without_error() -> None:
    parts = [Layer(30, 30, 27), Layer(10, 10, 2)]
    assert stratified_rate(parts) == pytest.approx(29 / 40)
    assert stratified_se(parts) == 0


def test_a_layer_that_nobody_read_leaves_nothing_to_estimate() -> None:
    parts = [Layer(30, 0, 0), Layer(10, 10, 2)]
    assert (stratified_rate(parts), stratified_se(parts), stratified_interval(parts)) == (None, None, None)
    assert stratified_rate([Layer(30, 30, 27), Layer(0, 0, 0)]) == pytest.approx(0.9)


def test_fewer_independent_things_make_a_wider_interval() -> None:
    parts = [Layer(300, 60, 54), Layer(100, 40, 6)]
    clustered, plain = stratified_interval(parts, size=20), stratified_interval(parts)
    assert clustered is not None
    assert plain is not None
    assert clustered.hi - clustered.lo > plain.hi - plain.lo


def test_nineteen_of_twenty_intervals_hold_the_true_rate() -> None:
    """The second row of the reference's simulation (0.952 there): 400 judged, 60 passes and 40 fails audited."""
    random, held = np.random.default_rng(3), 0
    for _ in range(80):
        true = random.random(400) < 0.9
        judged = np.where(true, random.random(400) < 0.95, random.random(400) > 0.7)
        parts = []
        for word, most in ((True, 60), (False, 40)):
            these = np.flatnonzero(judged == word)
            drawn = random.choice(these, min(most, len(these)), replace=False)
            parts.append(Layer(len(these), len(drawn), int(true[drawn].sum())))
        found = stratified_interval(parts)
        assert found is not None
        held += found.lo <= 0.9 <= found.hi
    assert held >= 70


@pytest.mark.parametrize("numbers", [(10, 11, 0, 0), (10, 5, 6, 0), (10, 5, 5, 6), (10, 5, -1, 0)])
def test_counts_that_cannot_be_are_refused(numbers: tuple[int, int, int, int]) -> None:
    with pytest.raises(InputError, match="cannot be"):
        Layer(*numbers)


def test_the_interval_of_a_corrected_rate_is_the_published_one() -> None:
    """The worked example of Lee et al. 2025: 0.4 passed, sensitivity 0.9 and specificity 0.7 on 200 labels each."""
    found = rogan_gladen_interval(0.4, 1000, Labelled(180, 200), Labelled(140, 200))
    assert found == pytest.approx((0.05635, 0.26273), abs=5e-6)


@given(st.floats(0, 1), st.integers(0, 40), st.integers(0, 40))
def test_a_corrected_rate_has_its_interval_in_nought_to_one_or_none(observed: float, right: int, wrong: int) -> None:
    found = rogan_gladen_interval(observed, 100, Labelled(right, 40), Labelled(wrong, 40))
    assert found is None or 0 <= found.lo < found.hi <= 1
    if right + wrong <= 40:
        assert found is None  # no better than chance


def test_counts_that_cannot_be_give_no_interval_of_a_corrected_rate() -> None:
    with pytest.raises(InputError, match="cannot be"):
        rogan_gladen_interval(0.4, 1000, Labelled(201, 200), Labelled(140, 200))


def test_labels_of_a_random_sample_move_the_judge_s_mean() -> None:
    for vector in right("ppi_mean"):
        labelled, rest = vector["inputs"]["labelled"], vector["inputs"]["unlabelled"]
        found = ppi_mean(rest["judge_mean"], labelled["human_mean"], labelled["judge_mean"])
        assert found == pytest.approx(vector["expected"], abs=1e-12)


def test_a_judge_that_errs_alike_on_two_agents_shrinks_their_difference() -> None:
    for vector in right("judge_attenuation"):
        a, b, sens, spec = (float(Fraction(vector["inputs"][name])) for name in ("true_a", "true_b", "sens", "spec"))
        assert [observed_difference(a - b, sens, spec)] == pytest.approx(vector["expected"], abs=1e-12)


def test_nineteen_of_twenty_prediction_powered_intervals_hold_the_true_rate() -> None:
    """The second row of the reference's simulation (0.946 there): 400 judged, 100 of them read at random."""
    random, held = np.random.default_rng(4), 0
    for _ in range(200):
        true = random.random(400) < 0.9
        judged = np.where(true, random.random(400) < 0.95, random.random(400) > 0.7)
        read = random.permutation(400) < 100
        pairs = list(zip(true[read].astype(float).tolist(), judged[read].astype(float).tolist(), strict=True))
        found = ppi_interval(judged[~read].astype(float).tolist(), pairs)
        assert found is not None
        held += found.lo <= 0.9 <= found.hi
    assert held >= 180
    assert ppi_interval([1.0, 1.0], [(1.0, 1.0), (1.0, 1.0)]) is None
    assert ppi_interval([1.0], [(1.0, 0.0), (0.0, 0.0)]) is None
