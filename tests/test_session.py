"""A reviewer's sitting, with no screen at all: two stages, undo and redo, skip, resume, what stays hidden."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.desk.queue import parse_query
from evallib.desk.session import CAUSE_KEYS, ReviewSession
from evallib.entries import Difference, Reading, Withdrawal
from evallib.errors import InputError
from evallib.standing import Item, standing_readings
from evallib.store import open_run, read_log
from evallib.views.load import open_view
from tests.browser import small_run
from tests.test_queue import made

FAILED = Item("small", "t-001", 1)
OTHER = Item("small", "t-001", 2)
PASSED = Item("small", "t-002", 2)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    small_run(folder)
    return folder


@pytest.fixture(scope="module")
def run(data):
    return open_run("small", data)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "adjudications"


@pytest.fixture
def session(run, log):
    return ReviewSession([run], log, "r1")


def states(run, log):
    return open_view(run, "read", read_log(log)).states


def kinds(log):
    return [type(entry) for _, entry in read_log(log)]


# two stages


def test_an_agreement_is_a_reading_and_one_more_word(session, run, log):
    session.decide(FAILED, "fail", seconds=12.5)
    assert session.stage(FAILED) == "explain"
    session.explain(FAILED)
    (_, reading), (_, difference) = read_log(log)
    assert (reading.reading, reading.blind, reading.cause, reading.reason) == ("fail", True, "unknown", "")
    assert (reading.strict, reading.seconds, reading.chosen) == ("fail: failed policy", 12.5, "every strict failure")
    assert (difference.agrees, difference.cause, difference.reason) == (True, "true-failure", "agrees")
    assert session.stage(FAILED) == "done"


def test_a_difference_needs_a_cause_and_a_reason_and_keeps_them(session, log):
    session.decide(FAILED, "pass")
    for words in ({}, {"cause": "negation-or-quoted"}, {"reason": "it is quoted"}):
        with pytest.raises(InputError, match="say why"):
            session.explain(FAILED, **words)
    assert kinds(log) == [Reading]
    session.explain(FAILED, cause="negation-or-quoted", reason=" it is quoted ")
    difference = read_log(log)[1].entry
    assert (difference.agrees, difference.cause, difference.reason) == (False, "negation-or-quoted", "it is quoted")
    assert difference.about == read_log(log)[0].id


def test_a_ready_made_reason_is_stored_as_one(session, log):
    session.decide(FAILED, "pass")
    session.explain(FAILED, cause=CAUSE_KEYS["4"], reason=session.canned(CAUSE_KEYS["4"]), canned=True)
    assert (read_log(log)[1].entry.canned, read_log(log)[1].entry.reason) == (
        True,
        "the word is there, the claim is not",
    )
    assert (session.canned("other"), CAUSE_KEYS["0"], CAUSE_KEYS["x"]) == ("", "cannot-judge", "missing-criterion")


def test_an_unsure_reading_needs_a_cause_and_nothing_after(session, log):
    with pytest.raises(InputError, match="unsure reading needs a cause"):
        session.decide(FAILED, "unsure")
    session.decide(FAILED, "unsure", cause="cannot-judge")
    assert (session.stage(FAILED), session.mark(FAILED), kinds(log)) == ("done", "unsure", [Reading])


def test_a_sighted_reading_takes_both_in_one_entry(run, log):
    session = ReviewSession([run], log, "r1", blind=False)
    with pytest.raises(InputError, match="say why"):
        session.decide(FAILED, "pass", reason="it is quoted")
    session.decide(FAILED, "pass", cause="negation-or-quoted", reason="it is quoted")
    session.decide(OTHER, "fail")
    first, second = (entry for _, entry in read_log(log))
    assert (first.blind, first.cause, first.reason, session.stage(FAILED)) == (
        False,
        "negation-or-quoted",
        "it is quoted",
        "done",
    )
    assert (second.cause, second.reason) == ("true-failure", "agrees")


@pytest.mark.parametrize(("reading", "author"), [("pass", " "), ("maybe", "r1")])
def test_a_decision_without_a_reading_or_a_reviewer_is_refused_and_stays(run, log, reading, author):
    session = ReviewSession([run], log, author)
    with pytest.raises(InputError):
        session.decide(session.queue[0], reading)
    assert (session.position, read_log(log), session.stage(session.queue[0])) == (0, [], "read")


def test_a_repeated_message_is_not_saved_twice(session, log):
    first = session.decide(FAILED, "pass", seq="a-1")
    assert session.decide(FAILED, "pass", seq="a-1") == first
    why = {"cause": "other", "reason": "so", "seq": "a-2"}
    assert session.explain(FAILED, **why) == session.explain(FAILED, **why)
    assert session.undo(seq="a-3") == session.undo(seq="a-3")
    assert session.redo(seq="a-4") == session.redo(seq="a-4")
    assert kinds(log) == [Reading, Difference, Withdrawal, Withdrawal]


def test_a_refused_disk_keeps_the_place(run, tmp_path):
    (tmp_path / "adjudications").write_text("a file where the log should be")
    session = ReviewSession([run], tmp_path / "adjudications", "r1")
    with pytest.raises(InputError, match="is a file, not a folder"):
        session.decide(session.queue[0], "pass")
    assert (session.position, session.progress["read"]) == (0, 0)
    assert session.go(2) == 2, "a place that cannot be kept is no reason to stop"


# the place in the queue


def test_the_next_open_item_follows_once_an_item_is_done(session):
    first, second = session.queue[:2]
    session.decide(first, "infra")
    assert session.position == 0, "the reveal is to be read"
    session.explain(first, cause="other", reason="the disk was full")
    assert session.position == 1
    session.decide(second, "unsure", cause="other")
    assert session.position == 2


def test_skipped_items_come_at_the_end_and_in_their_order(session):
    first, second, third, fourth = session.queue
    assert [session.skip(item) for item in (first, second)] == [1, 2]
    for item in (third, fourth):
        session.decide(item, "unsure", cause="other")
    assert (session.position, session.mark(first), session.mark(third)) == (0, "skip", "unsure")
    session.skip(first)
    assert session.position == 1, "what was skipped last comes last"
    session.decide(second, "unsure", cause="other")
    session.decide(first, "unsure", cause="other")
    assert (session.mark(first), session.next_open(3)) == ("unsure", 3)


def test_moving_stops_at_the_ends(session):
    assert (session.go(-3), session.go(99)) == (0, 3)


def test_a_next_sitting_of_the_same_queue_begins_where_the_last_ended(session, run, log):
    session.go(2)
    assert ReviewSession([run], log, "r1").position == 2
    assert ReviewSession([run], log, "r2").position == 0
    assert ReviewSession([run], log, "r1", blind=False).position == 0


def test_without_a_kept_place_a_sitting_begins_at_the_first_open_item(session, run, log):
    session.decide(session.queue[0], "unsure", cause="other")
    for kept in (log / ".drafts").glob("*.json"):
        kept.write_text("{ torn")
    assert ReviewSession([run], log, "r1").position == 1


def test_another_query_keeps_the_item_and_a_wrong_one_keeps_the_queue(session):
    here = session.queue[session.go(2)]
    session.filter(f"case={here.case}")
    assert (session.queue[session.position], len(session.queue)) == (here, 2)
    with pytest.raises(InputError, match="'strikt=fail'"):
        session.filter("strikt=fail")
    assert (session.query, len(session.queue)) == (parse_query(f"case={here.case}"), 2)
    session.filter("")
    assert len(session.queue) == 4


def test_the_open_ones_are_those_that_this_reviewer_has_not_done(session, run, log):
    session.decide(FAILED, "unsure", cause="other")
    session.decide(PASSED, "pass")
    session.filter("open")
    assert FAILED not in session.queue
    assert PASSED in session.queue
    assert len(ReviewSession([run], log, "r2", query=parse_query("open")).queue) == 4


def test_the_pace_is_the_median_and_tells_what_is_left(session):
    assert session.progress == {"read": 0, "of": 4, "pace_s": None, "left_s": None}
    for item, seconds in zip(session.queue, (10, 90, 20), strict=False):
        assert (session.progress["pace_s"], session.progress["left_s"]) == (None, None), "too few to tell"
        session.decide(item, "unsure", cause="other", seconds=seconds)
    assert session.progress == {"read": 3, "of": 4, "pace_s": 20, "left_s": 20}


@pytest.mark.parametrize("seconds", [-1, float("nan"), 1e9])
def test_a_time_that_nobody_looked_is_not_stored(session, log, seconds):
    session.decide(FAILED, "fail", seconds=seconds)
    assert (read_log(log)[0].entry.seconds, session.progress["pace_s"]) == (None, None)


# undo, redo, amend


def test_undo_goes_back_entry_by_entry_and_redo_restores_them(session, run, log):
    session.decide(FAILED, "fail")
    session.explain(FAILED)
    session.undo()
    assert (session.stage(FAILED), session.queue[session.position]) == ("explain", FAILED)
    session.undo()
    assert (session.stage(FAILED), session.mark(FAILED), states(run, log)) == ("read", "", {})
    with pytest.raises(InputError, match="nothing was saved in this sitting"):
        session.undo()
    session.redo()
    session.redo()
    assert (session.stage(FAILED), states(run, log)) == ("done", {("t-001", 1): "fail"})
    with pytest.raises(InputError, match="could be restored"):
        session.redo()


def test_a_new_entry_ends_what_could_be_restored(session):
    session.decide(FAILED, "fail")
    session.undo()
    session.decide(FAILED, "fail")
    with pytest.raises(InputError, match="could be restored"):
        session.redo()


def test_reading_again_amends_ones_own_reading_sighted_and_not_anothers(session, run, log):
    first = session.decide(FAILED, "pass")
    other = ReviewSession([run], log, "r2")
    assert other.decide(FAILED, "fail").entry.supersedes == ""
    with pytest.raises(InputError, match="say why"):
        session.decide(FAILED, "infra")
    again = session.decide(FAILED, "fail", reason="on second thought it is wrong")
    assert (again.entry.supersedes, again.entry.blind, session.stage(FAILED)) == (first.id, False, "done")
    assert states(run, log) == {("t-001", 1): "fail"}
    session.undo()
    assert (session.mark(FAILED), session.stage(FAILED)) == ("pass", "explain")


def test_explaining_again_amends_the_difference(session, run, log):
    session.decide(FAILED, "pass")
    first = session.explain(FAILED, cause="other", reason="so")
    second = session.explain(FAILED, cause="paraphrase", reason="in other words")
    assert second.entry.supersedes == first.id
    (stand,) = standing_readings(run, read_log(log)).by_item.values()
    assert [stand.cause(entry) for entry in stand.entries] == ["paraphrase"]


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["decide", "explain", "undo", "redo", "skip", "filter"]),
        st.integers(0, 3),
        st.sampled_from(["pass", "fail", "infra", "unsure"]),
        st.sampled_from(["r1", "r2"]),
    ),
    max_size=12,
)


@given(ACTS)
def test_the_sitting_and_a_fresh_fold_of_the_log_never_differ(run, tmp_path_factory, acts):
    log = tmp_path_factory.mktemp("log")
    sittings = {author: ReviewSession([run], log, author) for author in ("r1", "r2")}
    files: set[str] = set()
    for act, place, reading, author in acts:
        session = sittings[author]
        item = session.queue[place % len(session.queue)] if session.queue else FAILED
        calls = {
            "decide": lambda: session.decide(item, reading, cause="other", reason="so"),  # noqa: B023
            "explain": lambda: session.explain(item, cause="other", reason="so"),  # noqa: B023
            "undo": session.undo, "redo": session.redo,
            "skip": lambda: session.skip(item),  # noqa: B023
            "filter": lambda: session.filter("open" if place % 2 else ""),  # noqa: B023
        }  # fmt: skip
        with contextlib.suppress(InputError):
            calls[act]()
        now = {path.name for path in (log / "entries").rglob("*")}
        assert files <= now, "no act removes a file"
        files = now
        fresh = ReviewSession([run], log, author, query=session.query)
        everything = ReviewSession([run], log, author).queue
        assert [session.stage(i) for i in everything] == [fresh.stage(i) for i in everything]
        assert [session.is_blind(i) for i in everything] == [fresh.is_blind(i) for i in everything]
        assert session.progress["read"] == sum(bool(session.own(i)) for i in session.queue)


# what stays hidden


def told(session):
    """Everything that a face of the session may show without a reading."""
    sheets = [repr(session.sheet(item)) for item in session.queue]
    marks = [session.mark(item) + session.stage(item) + session.place(item) for item in session.queue]
    return " ".join([*sheets, *marks, json.dumps(session.progress)])


def test_a_blind_sheet_holds_nothing_that_is_hidden(tmp_path):
    runs = [made(tmp_path, "run-of-alpha", 3, 3, "alpha-1"), made(tmp_path, "run-of-beta", 3, 3, "beta-2")]
    other = ReviewSession(runs, tmp_path / "log", "someone else")
    other.decide(other.queue[0], "unsure", cause="other", reason="their words")
    session = ReviewSession(runs, tmp_path / "log", "r1")
    said = told(session)
    for hidden in ("alpha", "beta", "someone else", "their words", "failed", "passed=True", "Verdict", "Outcome"):
        assert hidden not in said.replace("failed=()", "").replace("passed=()", "")
    assert all(session.sheet(item).reveal is None for item in session.queue)
    for look in (session.diff, session.history, session.next_check, session.strict_row):
        with pytest.raises(InputError, match="hidden until you have read"):
            look(session.queue[0])
    with pytest.raises(InputError, match="hidden until"):
        session.agrees(session.queue[0], "pass")
    assert session.seen_log() == []


def test_the_reveal_comes_with_the_reading_and_stays(session, run, log):
    session.decide(FAILED, "pass")
    reveal = session.sheet(FAILED).reveal
    assert (reveal.strict, [v.check_id for v in reveal.against], reveal.said) == (
        "fail",
        ["policy"],
        ("you: pass of the answer",),
    )
    session.undo()
    assert not session.is_blind(FAILED)
    assert session.decide(FAILED, "fail", reason="it is").entry.blind is False
    assert ReviewSession([run], log, "r1").is_blind(FAILED) is False
    assert ReviewSession([run], log, "r2").is_blind(FAILED) is True


def test_reading_one_check_reveals_its_answer(run, log):
    session = ReviewSession([run], log, "r1", unit="check")
    first = session.queue[0]
    session.decide(first, "pass")
    assert not session.is_blind(first._replace(check=""))
    assert session.is_blind(next(item for item in session.queue if item[:3] != first[:3]))


def test_runs_keep_their_pseudonyms_until_the_whole_queue_is_read(tmp_path):
    runs = [made(tmp_path, "run-of-alpha", 1, 1, "alpha-1"), made(tmp_path, "run-of-beta", 1, 1, "beta-2")]
    session = ReviewSession(runs, tmp_path / "log", "r1")
    (part,) = {item.case for item in session.queue[:1]}
    session.filter(f"case={part}")
    for item in session.queue:
        session.decide(item, "unsure", cause="other")
    assert {session.place(item) for item in session.queue} == {"arm A", "arm B"}, "a part of the queue is not all"
    assert session.sheet(session.queue[0]).reveal.model == ""
    session.filter("")
    for item in session.queue:
        if session.stage(item) == "read":
            session.decide(item, "unsure", cause="other")
    assert {session.place(item) for item in session.queue} == {"run-of-alpha", "run-of-beta"}
    assert {session.sheet(item).reveal.model for item in session.queue} == {"alpha-1", "beta-2"}


def test_the_diff_shows_no_pass_that_is_still_blind(run, log):
    session = ReviewSession([run], log, "r1")
    item = Item("small", "t-002", 1)
    session.decide(item, "fail")
    assert session.diff(item) == ()
    session.decide(PASSED, "pass")
    assert [(p.op, p.text) for p in session.diff(item)] == [
        ("same", "All "), ("less", "12 pods run"), ("more", "good"), ("same", ".")
    ]  # fmt: skip
    assert session.diff(PASSED) == ()


def test_the_history_tells_every_entry_and_marks_what_was_taken_back(session):
    session.decide(FAILED, "pass")
    session.undo()
    session.decide(FAILED, "fail", reason="no: it is")
    first, second, third = session.history(FAILED)
    assert first.startswith("withdrawn: ")
    assert first.endswith("r1: pass of the answer, blind")
    assert "taken back while reviewing" in second
    assert third.endswith("fail of the answer, sighted (true-failure) no: it is")


def test_the_checks_of_an_answer_can_be_read_one_by_one(session, run, log):
    session.decide(FAILED, "pass")
    check = session.next_check(FAILED)
    assert check.check == "policy", "what stands against it comes first"
    assert [session.next_check(check).check, session.next_check(session.next_check(check)).check] == ["facts", ""]
    session.decide(check, "pass", cause="negation-or-quoted", reason="it warns of the command")
    assert read_log(log)[-1].entry.chosen == "by hand"
    assert standing_readings(run, read_log(log)).by_item["t-001", 1, "policy"].state == "pass"


# what is half said


def test_a_draft_is_kept_until_something_is_saved_of_its_item(session, run, log):
    session.keep_draft(FAILED, {"cause": "other", "reason": "I th"})
    again = ReviewSession([run], log, "r1")
    assert again.draft(FAILED) == {"cause": "other", "reason": "I th"}
    assert (again.draft(OTHER), ReviewSession([run], log, "r2").draft(FAILED)) == ({}, {})
    again.decide(FAILED, "pass")
    assert again.draft(FAILED) == {}
    again.keep_draft(FAILED, {"reason": "be"})
    again.explain(FAILED, cause="other", reason="because")
    assert again.draft(FAILED) == {}
    again.undo()
    assert again.draft(FAILED) == {}


def test_drafts_are_no_part_of_the_log_and_stay_out_of_git(session, log):
    session.keep_draft(FAILED, {"reason": "half"})
    assert read_log(log) == []
    assert (log / ".drafts/.gitignore").read_text() == "*\n"


def test_a_citation_is_stored_in_code_points(session, log):
    span = session.find(FAILED, "setenforce 0")
    session.decide(FAILED, "fail", span=span)
    assert (span, read_log(log)[0].entry.span) == ((11, 23), (11, 23))
    with pytest.raises(InputError, match="does not say"):
        session.find(FAILED, "setenforce 1")


def test_the_same_run_twice_is_refused(run, log):
    with pytest.raises(InputError, match="named twice"):
        ReviewSession([run, run], log, "r1")
