"""Agreement with people: figures of the literature, named denominators, and what stays undefined."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.agreement import Agreement, cohen_kappa, gwet_ac1
from evallib.errors import InputError
from tests.sources import SHARED

CASES = SHARED.parent / "cases"
counts = st.integers(0, 40)


def test_kappa_and_ac1_of_the_literature() -> None:
    assert cohen_kappa([[40, 9], [6, 45]]) == pytest.approx(0.700, abs=5e-4)
    assert cohen_kappa([[118, 5], [2, 0]]) == pytest.approx(-0.0234, abs=5e-5)
    assert gwet_ac1([[118, 5], [2, 0]]) == pytest.approx(0.9408, abs=5e-5)
    assert cohen_kappa([[7, 0], [0, 0]]) is None
    assert cohen_kappa([[2, 1, 0], [0, 2, 0], [0, 0, 2]], "linear") == pytest.approx(36 / 43)


@pytest.mark.skipif(not CASES.is_dir(), reason="the vectors of ../shared/cases are absent")
@pytest.mark.parametrize("group", ["cohen_kappa", "gwet_ac1", "judge_rates"])
def test_the_vectors_hold(group: str) -> None:
    vectors = [v for v in json.loads((CASES / "statistics.json").read_text())["vectors"] if v["group"] == group]
    assert vectors
    for vector in vectors:
        given = vector["inputs"]
        if group == "judge_rates":
            figures = Agreement(given["TP"], given["FP"], given["FN"], given["TN"]).as_dict()
            names = ("false_pass_of_judged_passes", "false_pass_of_labelled_fails", "false_fail_of_labelled_passes")
            rates = [figures[name]["value"] for name in (*names, "agreement")]
            found = [*rates, figures["majority_baseline"], figures["kappa"]["value"]]
        elif group == "cohen_kappa":
            found = cohen_kappa(given["table"], given.get("weights"))
        else:
            found = gwet_ac1(given["table"])
        assert found == (None if vector["expected"] is None else pytest.approx(vector["expected"], abs=1e-12))


@pytest.mark.skipif(not CASES.is_dir(), reason="the vectors of ../shared/cases are absent")
def test_the_published_calibrations_hold() -> None:
    vectors = json.loads((CASES / "agentops-verdicts.json").read_text())["cases"]["calibration"]
    for vector in vectors:
        expected = vector["expected"]
        labels, predicted = vector["input"]["expected_pass"], vector["input"]["predicted_pass"]
        figures = Agreement.of(list(zip(labels, predicted, strict=True))).as_dict()
        assert {name: figures[name] for name in ("matches", "false_pass", "false_fail", "majority_baseline")} == {
            name: expected[name] for name in ("matches", "false_pass", "false_fail", "majority_baseline")
        }
        assert (figures["n"], figures["agreement"]["value"]) == (expected["total"], expected["agreement"])


@given(counts, counts, counts, counts)
def test_kappa_is_what_its_definition_says_in_exact_fractions(a: int, b: int, c: int, d: int) -> None:
    n = a + b + c + d
    kappa = cohen_kappa([[a, b], [c, d]])
    chance = Fraction((a + b) * (a + c) + (c + d) * (b + d), n * n) if n else Fraction(1)
    if chance == 1:
        assert kappa is None
    else:
        assert kappa == pytest.approx(float((Fraction(a + d, n) - chance) / (1 - chance)), abs=1e-12)


@given(counts, counts, counts, counts)
def test_swapping_the_raters_changes_no_coefficient(a: int, b: int, c: int, d: int) -> None:
    for coefficient in (cohen_kappa, gwet_ac1):
        one, other = coefficient([[a, b], [c, d]]), coefficient([[a, c], [b, d]])
        assert one == (None if other is None else pytest.approx(other))


def test_a_perfect_dozen_claims_no_certainty() -> None:
    figures = Agreement(4, 0, 0, 8).as_dict()
    assert figures["agreement"]["value"] == 1.0
    assert figures["agreement"]["interval"][0] == pytest.approx(0.757, abs=1e-3)
    assert (figures["kappa"]["value"], figures["ac1"]["value"]) == (1.0, 1.0)
    assert figures["kappa"]["interval"] is None


def test_intervals_hold_their_figure_and_are_the_same_each_time() -> None:
    one, again = Agreement(54, 6, 6, 34).as_dict(), Agreement(54, 6, 6, 34).as_dict()
    assert one == again
    low, high = one["kappa"]["interval"]
    assert low < one["kappa"]["value"] < high


def test_nothing_has_no_rate() -> None:
    figures = Agreement(0, 0, 0, 0).as_dict()
    assert figures["agreement"] == {"value": None, "count": 0, "of": 0, "interval": None}
    assert (figures["majority_baseline"], figures["kappa"]["value"], figures["ac1"]["value"]) == (None, None, None)


@pytest.mark.parametrize("table", [[[1]], [[1, 2]], [[1, -1], [0, 0]]])
def test_what_is_no_table_is_refused(table: list[list[int]]) -> None:
    with pytest.raises(InputError, match="square"):
        cohen_kappa(table)
