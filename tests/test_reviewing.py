"""`evallib adjudicate`: the queue of several runs, one reading, one resolution, one rubric in one go."""

from __future__ import annotations

import io

import pytest

from evallib.cli import main
from evallib.entries import Reading, Resolution, Rubric, Withdrawal
from evallib.standing import standing_readings
from evallib.store import open_run, read_log
from tests.making import stored_run


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored_run(tmp_path / "data", {"c-1": ["four", "no"], "c-2": ["no"]})
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["five"]}, run_id="r-2")
    return tmp_path


def call(monkeypatch, *arguments, typed=""):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    return main(["adjudicate", *arguments])


def log(home):
    return [entry for _, entry in read_log(home / "adjudications")]


def test_several_runs_are_read_blind_in_one_queue(home, monkeypatch, capsys):
    assert call(monkeypatch, "r-1", "r-2", "--by", "Ann", typed="-\n0\nq\n") == 0
    said = capsys.readouterr().out
    assert "Item 1 of 5, blind" in said
    assert "arm " in said
    assert "r-2," not in said
    ((entry),) = log(home)
    assert (entry.reading, entry.blind, entry.author) == ("unsure", True, "Ann")


def test_sighted_and_by_facets(home, monkeypatch, capsys):
    given = ["r-1", "r-2", "--by", "Ann", "--sighted", "--only", "strict=fail", "case=c-2"]
    assert call(monkeypatch, *given, typed="f\n\nq\n") == 0
    assert "Item 1 of 1, sighted" in capsys.readouterr().out
    assert [(e.run, e.case, e.blind, e.chosen) for e in log(home)] == [
        ("r-1", "c-2", False, "by query: strict=fail case=c-2")
    ]


def test_the_verdicts_of_one_check_can_be_the_queue(home, monkeypatch, capsys):
    assert call(monkeypatch, "r-1", "--by", "Ann", "--check", "says", "--seed", "3", typed="f\n\nq\n") == 0
    assert {entry.check for entry in log(home)} == {"says"}
    assert "seed 3" in log(home)[0].chosen or log(home)[0].chosen == "every strict failure"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["r-1", "--by", "Ann", "--only", "strict=fail"], "must not know"),
        (["r-1", "--by", "Ann", "--sighted", "--only", "nonsense"], "is no word of a query"),
        (["r-1", "--by", "Ann", "--sighted", "--check", "tone"], "there is no such check; there are: says, short"),
        (["r-1", "c-1", "1", "--by", "Ann"], "one reading needs CASE, SAMPLE, --reading"),
        (["r-1", "--by", "Ann", "--reading", "pass"], "one reading needs CASE, SAMPLE"),
        (["r-1", "r-1", "--by", "Ann"], "named twice"),
        (["r-1", "--by", "Ann", "--resolve", "c-1", "one", "--reading", "pass"], "a number from 1"),
        (["r-1", "--by", "Ann", "--resolve", "c-1", "1", "--reading", "pass"], "nobody's reading of it stands"),
        (["r-1", "--by", "Ann", "--rubric", "Is it four?"], "needs a text and a reason"),
        (["r-1", "--by", "Ann", "--rubric", "x", "--reason", "y", "--check", "tone"], "has no check 'tone'"),
    ],
)
def test_what_cannot_be_meant_is_refused(home, monkeypatch, capsys, given, said):
    assert call(monkeypatch, *given) == 2
    assert said in capsys.readouterr().err
    assert log(home) == []


def test_a_dispute_is_resolved_by_an_entry_that_cites_both(home, monkeypatch, capsys):
    one = ["r-1", "c-1", "1", "--reason", "so"]
    assert call(monkeypatch, *one, "--by", "Ann", "--reading", "pass") == 0
    assert call(monkeypatch, *one, "--by", "Bo", "--reading", "fail", "--cause", "too-broad") == 0
    run = open_run("r-1", home / "data")
    assert standing_readings(run, read_log(home / "adjudications")).by_item["c-1", 1, ""].state == "disputed"
    given = ["r-1", "--by", "Cy", "--resolve", "c-1", "1", "--reading", "fail", "--reason", "it says four of six"]
    assert call(monkeypatch, *given) == 0
    entry = log(home)[-1]
    assert isinstance(entry, Resolution)
    assert (len(entry.cites), entry.self_resolved) == (2, False)
    assert standing_readings(run, read_log(home / "adjudications")).by_item["c-1", 1, ""].state == "fail"


def test_an_entry_of_ones_own_is_taken_back_outside_a_sitting(home, monkeypatch, capsys):
    one = ["r-1", "c-1", "1", "--reason", "so"]
    assert call(monkeypatch, *one, "--by", "Ann", "--reading", "pass") == 0
    id_ = capsys.readouterr().out.strip()
    take_back = ["r-1", "--withdraw", id_, "--by", "Ann", "--reason", "wrong answer"]
    assert call(monkeypatch, *take_back) == 0
    entry = log(home)[-1]
    assert isinstance(entry, Withdrawal)
    assert (entry.withdraws, entry.reason, entry.author) == (id_, "wrong answer", "Ann")
    assert standing_readings(open_run("r-1", home / "data"), read_log(home / "adjudications")).by_item == {}
    for given, said in [
        (take_back, "was taken back already"),
        (["r-1", "--withdraw", id_, "--by", "Bo", "--reason", "r"], "is by 'Ann': nobody but its author"),
        (["r-1", "--withdraw", "gone", "--by", "Ann", "--reason", "r"], "no entry 'gone'"),
        (["r-1", "--withdraw", id_, "--by", "Ann"], "needs a reason"),
        (["r-1", "--withdraw", id_, "--by", "Ann", "--reason", "r", "--reading", "pass"], "--withdraw takes only"),
    ]:
        assert call(monkeypatch, *given) == 2
        assert said in capsys.readouterr().err
    assert len(log(home)) == 2


def test_a_rubric_makes_the_readings_under_the_earlier_one_stale(home, monkeypatch, capsys):
    assert call(monkeypatch, "r-1", "c-1", "1", "--by", "Ann", "--reading", "pass", "--reason", "so") == 0
    given = ["r-1", "--by", "Ann", "--check", "says", "--rubric", "Does it say four?", "--reason", "clearer"]
    assert call(monkeypatch, *given) == 0
    reading, rubric = log(home)
    assert isinstance(reading, Reading)
    assert isinstance(rubric, Rubric)
    assert (rubric.suite, rubric.check, rubric.text) == ("small", "says", "Does it say four?")
    readings = standing_readings(open_run("r-1", home / "data"), read_log(home / "adjudications"))
    assert (len(readings.by_item), len(readings.stale)) == (0, 1)


def test_a_name_has_one_spelling_in_the_queue_and_in_one_go(home, monkeypatch):
    assert call(monkeypatch, "r-1", "--by", "Ann\u00a0Lee", typed="f\nq\n") == 0
    (first,) = log(home)
    item = [first.case, str(first.sample)]
    given = ["--reading", "fail", "--reason", "still", "--by", " Ann  Lee"]
    assert call(monkeypatch, "r-1", *item, *given) == 0
    assert {entry.author for entry in log(home)} == {"Ann Lee"}
    assert log(home)[1].supersedes


@pytest.mark.parametrize("name", ["Jo\u200bx", "\udcff"])
def test_a_name_with_what_shows_nothing_is_refused_at_the_start(home, monkeypatch, capsys, name):
    assert call(monkeypatch, "r-1", "--by", name, typed="f\nq\n") == 2
    assert "which shows nothing" in capsys.readouterr().err
    assert log(home) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("fail", "say why, with a cause"),
        ("fail --cause true-failure", "says that strict is right"),
        ("unsure", "say why, with a cause"),
        ("pass --cause too-narrow", "strict and your reading agree"),
        ("maybe", "reading 'maybe': say one of pass"),
        ("fail --cause mood", "cause 'mood': say one of true-failure"),
    ],
)
def test_a_reading_in_one_go_says_no_less_than_one_of_the_queue(home, monkeypatch, capsys, words, said):
    one = ["r-1", "c-1", "1", "--by", "Ann", "--reason", "so", "--reading", *words.split()]
    assert call(monkeypatch, *one) == 2
    assert said in capsys.readouterr().err
    assert log(home) == []


def test_a_reading_in_one_go_that_agrees_has_the_cause_that_follows(home, monkeypatch):
    one = ["--by", "Ann", "--reason", "so"]
    assert call(monkeypatch, "r-1", "c-1", "1", *one, "--reading", "pass") == 0
    assert call(monkeypatch, "r-1", "c-1", "2", *one, "--reading", "fail") == 0
    assert call(monkeypatch, "r-1", "c-2", "1", *one, "--reading", "unsure", "--cause", "cannot-judge") == 0
    assert [e.cause for e in log(home)] == ["unknown", "true-failure", "cannot-judge"]


def test_a_rubric_says_beforehand_how_many_readings_become_stale(home, monkeypatch, capsys):
    one = ["--by", "Ann", "--check", "says", "--reason", "clearer"]
    assert call(monkeypatch, "r-1", "c-1", "1", *one, "--reading", "pass") == 0
    capsys.readouterr()
    assert call(monkeypatch, "r-1", *one, "--rubric", "Does it say four?") == 0
    told, id_ = capsys.readouterr().out.splitlines()
    assert told.startswith("1 reading of r-1 becomes stale")
    assert "rubric" in id_
    assert call(monkeypatch, "r-1", *one, "--rubric", "Does it say five?") == 0
    assert "stale" not in capsys.readouterr().out
