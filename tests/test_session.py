"""A reviewer's sitting, with no screen at all: the queue, decisions on the disk, amendments, withdrawals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.entries import Reading, Withdrawal
from evallib.errors import InputError
from evallib.session import ReviewSession, open_session, queue_frame, readings_frame
from evallib.sheet import cut, visible
from evallib.store import open_run, read_log
from evallib.terminal import adjudicate
from evallib.views import open_view
from tests.browser import PAYLOAD, small_run


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    small_run(folder)
    return folder


@pytest.fixture
def run(data):
    return open_run("small", data)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "adjudications"


@pytest.fixture
def session(run, log):
    return ReviewSession(run, log, "r1")


def states(run, log):
    return open_view(run, "read", read_log(log)).states


# the queue


def test_the_queue_holds_what_did_not_pass_and_on_request_all(run, log):
    assert ReviewSession(run, log, "r1").queue == (("t-001", 1), ("t-001", 2), ("t-002", 1))
    assert len(ReviewSession(run, log, "r1", failing_only=False).queue) == 4


def test_moving_stops_at_the_ends_and_visits_what_was_read(session):
    session.decide("fail", "it names the command")
    assert (session.move(-1), session.move(-1), session.move(9)) == (0, 0, 2)


def test_a_new_sitting_begins_at_the_first_unread_sample(session, run, log):
    session.decide("fail", "it names the command")
    assert ReviewSession(run, log, "r1").current == ("t-001", 2)
    assert ReviewSession(run, log, "r2").current == ("t-001", 1)


# deciding


def test_a_decision_is_on_the_disk_before_the_session_moves_on(session, log):
    logged = session.decide("fail", " it tells the user to switch SELinux off ")
    ((stored, entry),) = read_log(log)
    assert (stored, session.current) == (logged.id, ("t-001", 2))
    assert (entry.case, entry.sample, entry.reading, entry.cause) == ("t-001", 1, "fail", "true-failure")
    assert entry.reason == "it tells the user to switch SELinux off"
    assert (entry.author, entry.blind, entry.chosen) == ("r1", False, "strict failures")


def test_a_repeated_message_is_not_saved_twice(session, log):
    first = session.decide("pass", "it is right", seq="a-1", key=("t-001", 1))
    assert session.decide("pass", "it is right", seq="a-1", key=("t-001", 1)) == first
    session.undo(seq="a-2")
    session.undo(seq="a-2")
    assert [type(entry) for _, entry in read_log(log)] == [Reading, Withdrawal]


@pytest.mark.parametrize(
    ("reading", "reason", "author"), [("pass", " ", "r1"), ("pass", "fine", " "), ("maybe", "fine", "r1")]
)
def test_a_decision_without_reading_reason_or_reviewer_is_refused_and_stays(run, log, reading, reason, author):
    session = ReviewSession(run, log, author)
    with pytest.raises(InputError):
        session.decide(reading, reason)
    assert (session.position, read_log(log)) == (0, [])


def test_a_refused_disk_keeps_the_place(run, tmp_path):
    (tmp_path / "adjudications").write_text("a file where the log should be")
    session = ReviewSession(run, tmp_path / "adjudications", "r1")
    with pytest.raises(InputError, match="is a file, not a folder"):
        session.decide("pass", "it is right")
    assert (session.position, session.read) == (0, 0)


def test_deciding_again_amends_ones_own_reading_and_not_anothers(session, run, log):
    first = session.decide("pass", "it is right", key=("t-001", 1))
    other = ReviewSession(run, log, "r2")
    assert other.decide("fail", "it is wrong", key=("t-001", 1)).entry.supersedes == ""
    again = session.decide("fail", "on second thought it is wrong", key=("t-001", 1))
    assert again.entry.supersedes == first.id
    assert states(run, log) == {("t-001", 1): "fail"}
    assert len(read_log(log)) == 3


def test_one_check_can_be_read_alone(session, run, log):
    session.decide("pass", "the log is named in other words", check="facts", cause="paraphrase", key=("t-002", 1))
    assert states(run, log) == {("t-002", 1): "pass"}
    assert session.state(("t-002", 1)) == "pass"


def test_taking_back_withdraws_and_returns_to_the_sample(session, run, log):
    session.decide("pass", "it is right")
    session.undo()
    assert (session.current, session.state(("t-001", 1))) == (("t-001", 1), "")
    assert [type(entry) for _, entry in read_log(log)] == [Reading, Withdrawal]
    with pytest.raises(InputError, match="nothing was saved in this sitting"):
        session.undo()


def test_taking_an_amendment_back_leaves_the_first_reading_standing(session, run, log):
    session.decide("pass", "it is right", key=("t-001", 1))
    session.decide("fail", "or not", key=("t-001", 1))
    session.undo()
    assert session.state(("t-001", 1)) == "pass"
    assert states(run, log) == {("t-001", 1): "pass"}


# what is read


def test_a_sheet_shows_the_hit_of_the_failed_check_and_the_calls_in_one_line(session):
    sheet = session.sheet()
    assert [(text, checks) for text, checks in sheet.answer if checks] == [("setenforce 0", ("policy",))]
    assert "".join(text for text, _ in sheet.answer) == "Do not run setenforce 0; read the audit log."
    assert [verdict.check_id for verdict in sheet.against] == ["policy"]
    (call,) = sheet.folds
    assert call.line.startswith("get_log(unit=web) → denied ")
    assert "\n" not in call.line
    assert PAYLOAD in call.text


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(-2, 70), st.integers(-2, 70), st.sampled_from("abc"))))
def test_cutting_loses_no_character_and_marks_exactly_the_hits(text, hits):
    pieces = cut(text, hits)
    assert "".join(piece.text for piece in pieces) == text
    marked = [set(piece.checks) for piece in pieces for _ in piece.text]
    assert marked == [{c for start, end, c in hits if start <= i < end} for i in range(len(text))]


def test_characters_that_hide_or_reorder_are_named():
    assert visible("a\x1b[2Jb\u202ec\u200bd\r\n\te") == "a⟨U+001B⟩[2Jb⟨U+202E⟩c⟨U+200B⟩d\n\te"
    assert visible("Grüße, 漢字 ✓") == "Grüße, 漢字 ✓"


# tables and the terminal


def test_the_queue_is_a_plain_table(session):
    frame = queue_frame(session)
    assert list(frame.columns) == ["case_id", "sample", "strict", "failed", "reason", "read"]
    assert frame["failed"].tolist() == ["policy", "facts", "facts"]
    assert readings_frame(session).empty
    session.decide("pass", "it is right")
    assert readings_frame(session)[["case", "reading", "author"]].values.tolist() == [["t-001", "pass", "r1"]]


def test_the_headless_queue_shows_what_everybody_read(session, data, log):
    session.decide("pass", "it is right")
    session.author = "r2"
    session.decide("fail", "it is wrong", check="facts", key=("t-002", 1))
    nobody = open_session(session.run.id, data=data, adjudications=log)
    assert queue_frame(nobody)["read"].tolist() == ["pass by r1", "", "fail of facts by r2"]


def test_readings_are_shown_with_their_label_and_whole_seconds(session):
    session.decide("pass", "it is right")
    (row,) = readings_frame(session).to_dict("records")
    assert row["label"] == "chosen after reading the answers"
    assert "." not in row["time"]


def test_a_notebook_in_a_folder_below_finds_the_same_run_and_log(data, tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "build").symlink_to(data)
    monkeypatch.chdir(tmp_path / "notebooks")
    session = open_session("small", data="build", adjudications="log", author="r1")
    session.decide("pass", "it is right")
    assert len(read_log(tmp_path / "log")) == 1


def typed(*lines):
    given = iter(lines)

    def read(prompt):
        try:
            return next(given)
        except StopIteration:
            raise EOFError from None

    return read


def test_the_terminal_takes_the_same_keys(session, run, log):
    said = []
    saved = adjudicate(
        session, typed("p", "4", "the word is quoted", "f facts", "", "not named", "z", "?", "q"), said.append
    )
    first, second, third = (entry for _, entry in read_log(log))
    assert (first.reading, first.cause, first.reason) == ("pass", "negation-or-quoted", "the word is quoted")
    assert (second.check, second.cause, third.withdraws) == ("facts", "true-failure", read_log(log)[1].id)
    assert saved == 1
    assert said[-1] == "1 readings saved; 1 of 3 read."


def test_the_terminal_says_what_was_not_saved_and_prints_no_escape_sequence(run, log, tmp_path):
    said = []
    session = ReviewSession(run, log, "r1")
    assert adjudicate(session, typed("p", "", " ", "x", "k", "t"), said.append) == 0
    assert any(line.startswith("NOT SAVED: a sighted reading needs a reason") for line in said)
    assert not [line for line in said if "\x1b" in line]
    assert read_log(log) == []
