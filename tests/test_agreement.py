"""Agreement with people: figures of the literature, named denominators, and what stays undefined."""

from __future__ import annotations

import json
import math
import warnings
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evallib.errors import InputError
from evallib.statistics.agreement import Agreement, coefficients, cohen_kappa, gwet_ac1, krippendorff_alpha
from tests.sources import SHARED

CASES = SHARED.parent / "cases"
counts = st.integers(0, 40)
LABELS = ["pass", "fail", "infra", "unsure"]
pairs = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=25)
many = st.lists(st.lists(st.sampled_from([*LABELS, None]), min_size=4, max_size=4), min_size=1, max_size=12)


def square(units: list[tuple[str, str]]) -> list[list[int]]:
    return [[units.count((a, b)) for b in LABELS] for a in LABELS]


def test_kappa_and_ac1_of_the_literature() -> None:
    assert cohen_kappa([[40, 9], [6, 45]]) == pytest.approx(0.700, abs=5e-4)
    assert cohen_kappa([[118, 5], [2, 0]]) == pytest.approx(-0.0234, abs=5e-5)
    assert gwet_ac1([[118, 5], [2, 0]]) == pytest.approx(0.9408, abs=5e-5)
    assert cohen_kappa([[7, 0], [0, 0]]) is None
    assert cohen_kappa([[2, 1, 0], [0, 2, 0], [0, 0, 2]], "linear") == pytest.approx(36 / 43)


@pytest.mark.skipif(not CASES.is_dir(), reason="the vectors of ../shared/cases are absent")
@pytest.mark.parametrize("group", ["cohen_kappa", "gwet_ac1", "judge_rates", "krippendorff_alpha"])
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
        elif group == "krippendorff_alpha":
            found = krippendorff_alpha(given["units"], given["level"])
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


@settings(max_examples=30)
@given(pairs)
def test_kappa_of_readers_equals_that_of_scikit_learn(units: list[tuple[str, str]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    kappa = coefficients(units)["kappa"].value
    assert kappa == (None if (whole := cohen_kappa(square(units))) is None else pytest.approx(whole))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns and gives nan where only one label occurs
        theirs = cohen_kappa_score([a for a, _ in units], [b for _, b in units])
    assert kappa == (None if math.isnan(theirs) else pytest.approx(theirs))


@settings(max_examples=30)
@given(pairs)
def test_ac1_of_two_readers_is_that_of_their_table(units: list[tuple[str, str]]) -> None:
    assert coefficients(units, LABELS)["ac1"].value == pytest.approx(gwet_ac1(square(units)))


@given(many)
def test_alpha_is_what_the_matrix_of_coincidences_says(units: list[list[str | None]]) -> None:
    """Krippendorff 2011, step by step and in exact fractions: every ordered pair of labels of one item."""
    said = [[label for label in unit if label is not None] for unit in units]
    said = [unit for unit in said if len(unit) > 1]
    coincidences = {(a, b): Fraction(0) for a in LABELS for b in LABELS}
    for unit in said:
        for a, b in permutations(unit, 2):
            coincidences[a, b] += Fraction(1, len(unit) - 1)
    margins = {a: sum(coincidences[a, b] for b in LABELS) for a in LABELS}
    n = sum(margins.values())
    expected = sum(margins[a] * margins[b] for a in LABELS for b in LABELS if a != b)
    alpha = krippendorff_alpha(units)
    if not expected:
        assert alpha is None
    else:
        observed = sum(count for (a, b), count in coincidences.items() if a != b)
        assert alpha == pytest.approx(float(1 - (n - 1) * observed / expected), abs=1e-12)


@settings(max_examples=30)
@given(many)
def test_perfect_agreement_is_one_and_one_label_alone_is_nothing(units: list[list[str | None]]) -> None:
    same = [[None if label is None else next(x for x in unit if x) for label in unit] for unit in units]
    assume(any(sum(label is not None for label in unit) > 1 for unit in same))
    found = coefficients(same)
    assert found["agreement"].value == pytest.approx(1)
    assert found["ac1"].value == pytest.approx(1)
    used = {label for unit in same if sum(x is not None for x in unit) > 1 for label in unit if label}
    if len(used) > 1:
        assert found["alpha"].value == pytest.approx(1)
    else:
        assert found["alpha"] == (None, None, "only one label occurs, so chance explains everything")


@settings(max_examples=30)
@given(many, st.permutations(LABELS), st.permutations(range(4)))
def test_no_coefficient_depends_on_names_of_labels_or_order_of_readers(
    units: list[list[str | None]], labels: list[str], order: list[int]
) -> None:
    new = dict(zip(LABELS, labels, strict=True))
    other = [[None if unit[i] is None else new[unit[i]] for i in order] for unit in units]
    for name, one in coefficients(units).items():
        again = coefficients(other)[name].value
        assert one.value == (None if again is None else pytest.approx(again))


@settings(max_examples=30)
@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_the_items_changes_nothing_not_even_an_interval(units: list[tuple[str, str]], random) -> None:
    mixed = random.sample(units, len(units))
    assert coefficients(mixed) == coefficients(units)


def test_rare_labels_sink_kappa_and_not_ac1() -> None:
    units = [("pass", "pass")] * 118 + [("pass", "fail")] * 5 + [("fail", "pass")] * 2
    found = coefficients(units, ("pass", "fail"))
    assert found["agreement"].value == pytest.approx(0.944)
    assert found["kappa"].value == pytest.approx(-0.0234, abs=5e-5)
    assert found["ac1"].value == pytest.approx(0.9408, abs=5e-5)
    for one in found.values():
        assert one.interval is not None
        assert one.value is not None
        assert one.interval.lo <= one.value <= one.interval.hi


def test_gaps_are_left_out_and_three_readers_have_no_kappa() -> None:
    found = coefficients([("pass", None, None), ("pass", "pass", None), ("fail", "fail", "pass"), (None, None, None)])
    assert found["agreement"].value == pytest.approx((1 + 1 / 3) / 2)
    assert found["kappa"].value is None
    assert "two readers" in found["kappa"].why
    assert found["alpha"].value is not None


def test_without_a_shared_item_everything_is_undefined_with_the_reason() -> None:
    for units in ([], [("pass", None), (None, "fail")]):
        found = coefficients(units)
        assert {(one.value, one.interval, one.why) for one in found.values()} == {
            (None, None, "no item has two readers")
        }
