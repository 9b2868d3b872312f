"""Disputes are listed with both reasons, resolved or not, with forks, and across an answer and its checks."""

from __future__ import annotations

import pytest

from evallib.adjudication import make_difference, make_resolution, read_outcomes
from evallib.concordance.disputes import disputes
from evallib.scoring import fold_all
from evallib.standing import Item, standing_readings
from tests.readers import Log, mixed_run, strict_fails, strict_passes


@pytest.fixture
def run(tmp_path):
    return mixed_run(tmp_path)


def resolve(run, log, key, author, reading="fail"):
    readings = standing_readings(run, log)
    reason = "six is not four"
    log.add(make_resolution(run, (*key, ""), readings, author=author, reading=reading, reason=reason))


def outcome(run, log, key):
    strict = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    return read_outcomes(run, strict, standing_readings(run, log))[key]


def test_a_dispute_has_both_reasons_and_is_open(run):
    log, key = Log(), strict_fails(run)[0]
    ann = log.read(run, key, "pass")
    log.add(make_difference(run, ann, author="Ann", cause="too-narrow", reason="six is as good"))
    log.read(run, key, "fail", "Bo", blind=False, reason="it is wrong", cause="true-failure")
    (one,) = disputes([run], log)
    assert (one.item, one.resolution) == (Item("r-1", *key), None)
    said = [(s.reader, s.reading, s.cause, s.reason, s.blind) for s in one.said]
    assert said == [
        ("Ann", "pass", "too-narrow", "six is as good", True),
        ("Bo", "fail", "true-failure", "it is wrong", False),
    ]
    assert not one.as_dict()["resolved"]


@pytest.mark.parametrize(("author", "own"), [("Cy", False), ("Ann", True)])
def test_a_resolution_is_told_with_its_author_and_whether_they_judged_themselves(run, author, own):
    log, key = Log(), strict_fails(run)[0]
    log.read(run, key, "pass")
    log.read(run, key, "fail", "Bo")
    resolve(run, log, key, author)
    (one,) = disputes([run], log)
    resolution = one.as_dict()["resolution"]
    assert (resolution["by"], resolution["reading"], resolution["self_resolved"]) == (author, "fail", own)


def test_open_disputes_come_first(run):
    log, (done, still, *_) = Log(), strict_fails(run)
    for key in (done, still):
        log.read(run, key, "pass")
        log.read(run, key, "fail", "Bo")
    resolve(run, log, done, "Cy")
    assert [(one.item[1:3], one.resolution is None) for one in disputes([run], log)] == [(still, True), (done, False)]


def test_the_answer_against_its_checks_is_resolved_by_one_that_cites_both(run):
    log, key = Log(), strict_fails(run)[0]
    log.read(run, key, "fail")
    log.read(run, key, "pass", "Bo", check="says")
    assert [(one.across, one.resolution) for one in disputes([run], log)] == [(True, None)]
    for word in ("pass", "fail"):
        resolve(run, log, key, "Cy", word)
        (one,) = disputes([run], log)
        assert (one.item, one.resolution, one.across) == (Item("r-1", *key), log[-1], True)
        assert [said.reader for said in one.said] == ["Ann", "Bo"]
        assert outcome(run, log, key).state == word
    log.read(run, key, "pass", "Di", check="says")
    assert outcome(run, log, key).state == "disputed"
    assert disputes([run], log)[0].resolution is None


def test_a_reader_who_says_two_things_is_named(run):
    log, key = Log(), strict_passes(run)[0]
    log.read(run, key, "pass")
    log.read(run, key, "fail")
    (one,) = disputes([run], log)
    assert one.forked == ("Ann",)


def test_an_answer_read_otherwise_than_its_checks_is_a_dispute_too(run):
    log, key = Log(), strict_fails(run)[0]
    log.read(run, key, "fail")
    log.read(run, key, "pass", "Bo", check="says")
    (one,) = disputes([run], log)
    assert (one.across, {s.check for s in one.said}) == (True, {"", "says"})


def test_readers_who_agree_dispute_nothing(run):
    log = Log()
    for reader in ("Ann", "Bo"):
        log.read(run, strict_passes(run)[0], "pass", reader)
    assert disputes([run], log) == []
