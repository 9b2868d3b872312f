"""Verdicts fold into one outcome; what could not be had is never a grade."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.records import Sample, Verdict
from evallib.scoring import fold, fold_all, probe_failures, score_samples, sort_verdicts
from evallib.suite import parse_suite

SAMPLE = Sample("r", "c-1", 1, answer="four")
SUITE = """
suite: small
pass: top
checks:
- {id: says, check: mentions, all_of: key.facts, weight: 3}
- {id: short, check: sections, headings: [], max_words: 3}
- {id: exit, check: exit_code, weight: 0}
cases:
- {id: c-1, steps: [{ask: two and two}], key: {facts: [four]}}
- {id: c-2, steps: [{ask: two and three}], key: {facts: [five]}}
probes:
- {name: good, case: c-1, answer: four}
- {name: bad, case: c-1, answer: five, fails: [says]}
"""


def verdict(check: str, passed: bool | None, **more: object) -> Verdict:
    status = "scored" if passed is not None else "not_scored"
    value = None if passed is None else float(passed)
    return Verdict("c-1", 1, check, status, "why", value, value, passed)._replace(**more)  # type: ignore[arg-type]


def test_the_score_is_the_weighted_mean_of_scored_verdicts() -> None:
    outcome = fold(SAMPLE, [verdict("a", True, weight=3.0), verdict("b", False)], "top")
    assert (outcome.score, outcome.passed, outcome.failed) == (0.75, False, ("b",))


def test_critical_decides_by_critical_checks_alone() -> None:
    verdicts = [verdict("a", True, critical=True), verdict("b", False)]
    assert fold(SAMPLE, verdicts, "critical").passed is True
    assert fold(SAMPLE, verdicts, "top").passed is False


def test_a_verdict_that_could_not_be_had_voids_the_outcome() -> None:
    outcome = fold(SAMPLE, [verdict("a", True), verdict("b", None)], "top")
    assert (outcome.status, outcome.passed, outcome.score) == ("not_scored", None, None)


def test_a_verdict_that_does_not_apply_leaves_the_fold() -> None:
    away = verdict("b", None)._replace(status="not_applicable")
    assert fold(SAMPLE, [verdict("a", True), away], "top").passed is True
    assert fold(SAMPLE, [away], "top").passed is False


def test_an_empty_answer_never_passes() -> None:
    for blank in (" \n", "\u200b", "\x00", "<think></think>", "<think>I would say four"):
        assert fold(replace(SAMPLE, answer=blank), [verdict("a", True)], "top").passed is False


def test_an_empty_answer_fails_also_where_its_verdicts_were_carried_over() -> None:
    carried = verdict("a", True, origin="carried", decides="d")
    assert fold(replace(SAMPLE, answer=""), [carried], "top").passed is False
    recorded = verdict("a", True, origin="recorded")
    assert fold(replace(SAMPLE, answer=""), [recorded], "top").passed is True, "what a source recorded stands"


def test_an_error_is_a_status_and_no_score() -> None:
    outcome = fold(replace(SAMPLE, status="provider_error", error="503"), [verdict("a", False)], "top")
    assert (outcome.status, outcome.passed, outcome.score) == ("error", None, None)


def test_without_a_deciding_check_nothing_passes() -> None:
    assert fold(SAMPLE, [verdict("a", True)], "critical").passed is False


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.25, 1.0])), min_size=1, max_size=6), st.randoms())
def test_the_order_of_verdicts_changes_nothing(rows: list[tuple[bool, float]], random: object) -> None:
    verdicts = [verdict(f"k{i}", passed, weight=weight) for i, (passed, weight) in enumerate(rows)]
    shuffled = list(verdicts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = fold(SAMPLE, verdicts, "top"), fold(SAMPLE, shuffled, "top")
    assert (one.score, one.passed, set(one.failed)) == (other.score, other.passed, set(other.failed))


def test_scoring_gives_the_same_sorted_verdicts_in_any_order() -> None:
    suite = parse_suite(SUITE, "s.yaml")
    samples = [
        Sample("r", case, n, answer=text, exit_code=0)
        for case, n, text in [("c-1", 1, "four"), ("c-1", 2, "no"), ("c-2", 1, "five")]
    ]
    expected = score_samples(suite, samples)
    assert [v.check_id for v in expected[:3]] == ["says", "short", "exit"]
    for shuffled in permutations(samples):
        assert score_samples(suite, list(shuffled)) == expected


def test_a_sample_that_ended_in_an_error_gets_no_verdict() -> None:
    suite = parse_suite(SUITE, "s.yaml")
    failed = Sample("r", "c-1", 1, status="harness_error", error="no space", answer="four")
    assert {v.status for v in score_samples(suite, [failed])} == {"not_scored"}


def test_outcomes_are_keyed_by_case_and_sample() -> None:
    suite = parse_suite(SUITE, "s.yaml")
    samples = [Sample("r", "c-1", n, answer="four", exit_code=0) for n in (1, 2)]
    assert set(fold_all(samples, score_samples(suite, samples), "top")) == {("c-1", 1), ("c-1", 2)}


def test_the_self_check_tells_a_judge_that_lets_a_bad_answer_pass() -> None:
    assert probe_failures(parse_suite(SUITE, "s.yaml")) == []
    (said,) = probe_failures(parse_suite(SUITE.replace("answer: five", "answer: four or five"), "s.yaml"))
    assert "'bad'" in said
    assert "passes" in said


@pytest.mark.parametrize("kind", ["judge"])
def test_a_judge_nobody_asked_is_not_scored(kind: str) -> None:
    text = SUITE.replace("{id: exit, check: exit_code, weight: 0}", f"{{id: q, check: {kind}, rubric: be kind}}")
    suite = parse_suite(text, "s.yaml")
    (last,) = [v for v in score_samples(suite, [SAMPLE]) if v.check_id == "q"]
    assert (last.status, last.value) == ("not_scored", None)
    assert "--judge" in last.reason


PLACES = st.tuples(st.sampled_from(["one", "two", "gone"]), st.integers(1, 4), st.sampled_from(["b", "a", "z", "y"]))
ORDERED = """
suite: s
pass: top
checks: [{id: b, check: not_empty}, {id: a, check: not_empty}]
cases: [{id: two, steps: [{ask: q}]}, {id: one, steps: [{ask: q}]}]
"""


@given(st.lists(PLACES, max_size=12))
def test_verdicts_stand_by_case_sample_and_check_and_what_the_suite_lacks_keeps_its_order_behind(places):
    suite = parse_suite(ORDERED, "s.yaml")
    given_order = [Verdict(case, number, check, "scored", f"{nth}") for nth, (case, number, check) in enumerate(places)]
    cases, checks = {"two": 0, "one": 1}, {"b": 0, "a": 1}
    expected = sorted(
        given_order,
        key=lambda v: (cases.get(v.case_id, 9), v.sample, checks.get(v.check_id, 9) if v.case_id in cases else 0),
    )
    assert sort_verdicts(suite, given_order) == expected
