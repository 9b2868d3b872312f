"""The desk as a notebook opens it: where it finds runs and log, and what its tables show to whom."""

from __future__ import annotations

import pytest

from evallib.desk.tables import open_session, queue_frame, seen_readings
from evallib.errors import InputError
from evallib.store import read_log
from tests.browser import small_run


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    small_run(folder)
    small_run(folder, "second")
    return folder


@pytest.fixture
def opened(data, tmp_path):
    def open_it(query="", run="small"):
        return open_session(run, data=data, adjudications=tmp_path / "log", query=query)

    return open_it


def test_sighted_the_queue_is_a_plain_table_of_strict_s_words(opened):
    frame = queue_frame(opened("sighted strict=fail"))
    assert list(frame.columns) == ["run", "case_id", "sample", "strict", "failed", "reason", "read"]
    assert frame["failed"].tolist() == ["policy", "facts", "facts"]
    assert set(frame["reason"]) == {""}, "the names of the failed checks are said once"
    assert set(frame["run"]) == {"small"}


def test_blind_the_table_shows_nothing_of_what_its_reviewer_has_not_read(opened):
    opened("as=r2").decide(opened("as=r2").queue[0], "fail")
    session = opened("as=r1")
    frame = queue_frame(session)
    assert set(frame[["strict", "failed", "reason", "read"]].to_numpy().ravel()) == {""}
    assert set(frame["run"]) == {"arm A"}
    assert seen_readings(session).empty
    session.decide(session.queue[0], "fail")
    assert queue_frame(session)["strict"].tolist()[0] in {"pass", "fail"}
    assert set(seen_readings(session)["author"]) <= {"r1", "r2"}
    assert len(seen_readings(session)) == (2 if session.queue[0] == opened("as=r2").queue[0] else 1)


def test_a_table_of_nobody_is_blind_too_unless_it_is_opened_sighted(opened):
    session = opened("as=r1")
    session.decide(session.queue[0], "fail")
    assert set(queue_frame(opened())["strict"]) == {""}
    assert seen_readings(opened()).empty
    assert seen_readings(opened("sighted"))["author"].tolist() == ["r1"]


def test_readings_are_shown_with_cause_label_and_whole_seconds(opened):
    session = opened("as=r1 sighted")
    session.decide(session.queue[0], "pass", cause="paraphrase", reason="in other words")
    (row,) = seen_readings(session).to_dict("records")
    said = row["reading (chosen after reading the answers)"]
    assert (row["strict"], said, row["cause"]) == ("fail: failed policy", "pass", "paraphrase")
    assert row["reason"] == "in other words"
    assert "." not in row["time"]


def test_several_runs_are_one_queue(opened):
    assert len(opened("as=r1", run="small, second").queue) == 8
    assert set(queue_frame(opened(run=["small", "second"]))["run"]) == {"arm A", "arm B"}


@pytest.mark.parametrize("run", ["small,second", " small , second ", "small, second,"])
def test_the_runs_of_one_parameter_stand_between_commas(opened, run):
    assert list(opened(run=run).runs) == ["small", "second"]


def test_a_run_named_by_its_folder_may_have_a_comma_in_its_path(data, opened, tmp_path):
    (tmp_path / "mine, yours").symlink_to(data)
    assert list(opened(run=str(tmp_path / "mine, yours/runs/small")).runs) == ["small"]


def test_no_run_is_refused(opened):
    with pytest.raises(InputError, match="name a run"):
        opened(run=" , ")


def test_a_query_says_who_reads_how_and_what(opened):
    session = opened("sighted 'as=Ann Lee' strict=fail case=t-001")
    assert (session.author, session.blind, session.query.words) == ("Ann Lee", False, "strict=fail case=t-001")
    assert (opened().author, opened().blind, opened().query.words) == ("", True, "")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("as=r1 as=r2", "one person reads"),
        ("as=", "as=: name who reads"),
        ("'as=r1", "close the quote"),
        ("colour=red", "as=NAME sighted"),
        ("sighted=yes", "as=NAME sighted"),
    ],
)
def test_a_query_that_means_nothing_is_refused(opened, query, said):
    with pytest.raises(InputError, match=said):
        opened(query)


def test_a_notebook_in_a_folder_below_finds_the_same_run_and_log(data, tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "build").symlink_to(data)
    monkeypatch.chdir(tmp_path / "notebooks")
    session = open_session("small", data="build", adjudications="log", query="as=r1")
    session.decide(session.queue[0], "pass")
    assert len(read_log(tmp_path / "log")) == 1


def test_the_readings_shown_are_those_that_stand_and_tell_nothing_of_the_rest(opened):
    for word in ("fail", "pass"):
        session = opened("as=r1")
        session.decide(session.queue[0], word, cause="other", reason="on second thoughts")
    frame = seen_readings(session)
    said = frame["reading (chosen after reading the answers)"]
    assert said.tolist() == ["pass"], "an amended reading stands in the amending one's place"
    assert "run" not in frame, "there is one, and its name would say which arm it is"
    assert not {"strict_failures", "read", "samples"} & set(frame.columns)
