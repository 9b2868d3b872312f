"""Agreement is of what readers said first and blind: amendments, second looks, sighted and withdrawn readings."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.adjudication import make_difference
from evallib.concordance.concord import concords, first_readings
from evallib.entries import Rubric, Withdrawal
from evallib.standing import Item
from tests.readers import Log, mixed_run, strict_fails, strict_passes

ITEM = Item("r-1", "c-1", 1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return mixed_run(tmp_path_factory.mktemp("data"))


@pytest.fixture
def log():
    return Log()


def test_an_amendment_after_the_reveal_changes_no_agreement(run, log):
    first = log.read(run, ("c-1", 1), "fail")
    log.read(run, ("c-1", 1), "pass", supersedes=first.id, blind=False, reason="I had overlooked a line")
    assert first_readings([run], log).first == {ITEM: {"Ann": "fail"}}


def test_sighted_readings_never_count(run, log):
    log.read(run, ("c-1", 1), "fail", blind=False, reason="as strict says")
    assert not first_readings([run], log).first


def test_a_withdrawn_reading_gives_way_to_the_next_blind_one(run, log):
    first = log.read(run, ("c-1", 1), "fail")
    log.add(Withdrawal(author="Ann", withdraws=first.id, reason="slipped"))
    log.read(run, ("c-1", 1), "pass")
    assert first_readings([run], log).first[ITEM] == {"Ann": "pass"}


@pytest.mark.parametrize("explained", [True, False])
def test_a_reading_that_was_taken_back_once_strict_was_seen_still_counts(run, log, explained):
    """Whoever saw what strict says and then takes a blind reading back must not raise the agreement by it."""
    first = log.read(run, ("c-1", 1), "fail")
    said = log.add(make_difference(run, first, author="Ann", cause="too-broad", reason="so"))
    if explained:
        log.add(Withdrawal(author="Ann", withdraws=said.id, reason="slipped"))
        log.add(Withdrawal(author="Ann", withdraws=first.id, reason="slipped"))
    else:
        log.add(Withdrawal(author="Ann", withdraws=first.id, reason="slipped"))
    log.read(run, ("c-1", 1), "pass", blind=False, reason="as strict says")
    assert first_readings([run], log).first == {ITEM: {"Ann": "fail"}}
    log.read(run, ("c-1", 1), "pass", "Bo")
    (row,) = concords([run], log)[:1]
    assert (row.taken_back, row.coefficients["agreement"].value) == (1, 0)
    assert "; 1 of them taken back after the reveal, and counted" in row.sentence()


def test_readings_under_another_rubric_are_not_compared(run, log):
    log.read(run, ("c-1", 1), "fail")
    log.add(Rubric(author="Ann", suite="small", text="Is it right?", reason="it was unclear"))
    log.read(run, ("c-1", 1), "pass", "Bo", log=log)
    assert first_readings([run], log).first[ITEM] == {"Bo": "pass"}


def test_two_readers_have_agreement_kappa_alpha_and_ac1_together(run, log):
    for place, key in enumerate(strict_passes(run) + strict_fails(run)):
        log.read(run, key, "pass" if place < 10 else "fail")
        log.read(run, key, "pass" if place < 9 else "fail", "Bo")
    (row,) = concords([run], log)
    assert (row.what, row.check, row.readers, row.items, row.cases, row.alone) == (
        "reading",
        "",
        ("Ann", "Bo"),
        16,
        2,
        0,
    )
    assert row.coefficients["agreement"].value == pytest.approx(15 / 16)
    assert all(row.coefficients[name].interval for name in ("agreement", "kappa", "alpha", "ac1"))
    assert row.marginals == {"Ann": {"pass": 10, "fail": 6}, "Bo": {"pass": 9, "fail": 7}}
    assert "Ann and Bo read 16 whole answers of 2 cases blind and gave the same reading in 93.8 %" in row.sentence()


def test_samples_of_one_case_are_told_to_be_alike(run, log):
    for place, key in enumerate(strict_passes(run)):
        log.read(run, key, "pass" if place < 10 else "fail")
        log.read(run, key, "pass", "Bo")
        (row,) = concords([run], log)
        alike = "samples of one case are alike, so the interval may be too narrow" in row.sentence()
        assert alike is (row.cases < row.items), row.sentence()
    assert alike


def test_unsure_is_a_label_and_readers_of_other_items_are_no_gap_of_these(run, log):
    one, two, *_ = strict_passes(run)
    log.read(run, one, "unsure")
    log.read(run, one, "pass", "Bo")
    log.read(run, two, "pass", "Cy")
    (row,) = concords([run], log)
    assert (row.readers, row.items, row.alone) == (("Ann", "Bo"), 1, 0)
    assert row.prevalence == {"pass": 0.5, "unsure": 0.5}


def test_more_than_two_readers_have_a_row_for_each_pair(run, log):
    for key in strict_passes(run)[:3]:
        for reader in ("Ann", "Bo", "Cy"):
            log.read(run, key, "pass", reader)
    rows = concords([run], log)
    assert [row.readers for row in rows] == [("Ann", "Bo", "Cy"), ("Ann", "Bo"), ("Ann", "Cy"), ("Bo", "Cy")]
    assert rows[0].coefficients["kappa"].value is None
    assert "two readers" in rows[0].coefficients["kappa"].why
    assert "one label" in rows[1].coefficients["kappa"].why


def test_causes_are_those_of_the_differences_and_have_a_row_of_their_own(run, log):
    for key in strict_fails(run)[:2]:
        for reader, cause in (("Ann", "too-narrow"), ("Bo", "paraphrase")):
            read = log.read(run, key, "pass", reader)
            log.add(make_difference(run, read, author=reader, cause=cause, reason="six is right"))
    reading, cause = concords([run], log)
    assert (reading.what, reading.coefficients["agreement"].value) == ("reading", 1)
    assert (cause.what, cause.items, cause.coefficients["agreement"].value) == ("cause", 2, 0)


def test_a_cause_that_another_gave_hides_none(run, log):
    first = log.read(run, ("c-1", 1), "fail")
    said = make_difference(run, first, author="Ann", cause="too-broad", reason="so")
    log.add(said.model_copy(update={"author": "Mal", "cause": "other"}))
    log.add(said)
    assert first_readings([run], log).causes == {ITEM: {"Ann": "too-broad"}}


def test_a_second_look_is_the_reader_with_themselves(run, log):
    for place, key in enumerate(strict_passes(run)[:4]):
        log.read(run, key, "pass")
        log.read(run, key, "pass" if place else "fail", again=True)
    (row,) = concords([run], log)
    assert (row.what, row.readers, row.items) == ("again", ("Ann",), 4)
    assert row.coefficients["agreement"].value == pytest.approx(3 / 4)
    assert "twice" in row.sentence()


def test_checks_have_rows_apart_from_answers(run, log):
    for reader in ("Ann", "Bo"):
        log.read(run, ("c-1", 1), "pass", reader, check="says")
        log.read(run, ("c-1", 1), "pass", reader)
    assert [row.check for row in concords([run], log)] == ["", "says"]


@settings(max_examples=25)
@given(st.data())
def test_the_order_of_the_entries_changes_nothing(run, data):
    log = Log()
    for _ in range(data.draw(st.integers(1, 8))):
        key = data.draw(st.sampled_from(strict_passes(run)[:2]))
        log.read(run, key, data.draw(st.sampled_from(["pass", "fail"])), data.draw(st.sampled_from(["Ann", "Bo"])))
    mixed = data.draw(st.permutations(log))
    assert [row.as_dict() for row in concords([run], mixed)] == [row.as_dict() for row in concords([run], log)]
