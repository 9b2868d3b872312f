"""What a blind reader could put together from several queues of the same runs: no more than from one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.desk.queue import parse_query
from evallib.desk.session import ReviewSession
from evallib.desk.tables import queue_frame
from evallib.desk.terminal import adjudicate
from evallib.errors import InputError
from evallib.store import read_log
from evallib.widgets import ReviewWidget
from tests.readers import mixed_run
from tests.test_queue import made
from tests.test_widgets import listening, tell


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    return [mixed_run(data, 24, 4, "run-of-alpha"), made(data, "run-of-beta", 3, 27)]


def read_all(session, count=None):
    for item in session.queue[:count]:
        session.decide(item, "unsure", cause="other")


@given(st.lists(st.sampled_from(["case=c-1", "case=c-2", "case=t-001", "open", "by=mine", "case=t-002 open", ""])))
@settings(max_examples=20)
def test_no_facet_of_a_blind_queue_shows_what_is_not_in_the_draw(runs, tmp_path_factory, asked):
    session = ReviewSession(runs, tmp_path_factory.mktemp("log"), "Ann")
    drawn = set(session.queue)
    for words in asked:
        session.filter(words)
        assert set(session.queue) <= drawn


def test_all_is_chosen_when_the_queue_is_opened_and_kept(runs, tmp_path):
    session = ReviewSession(runs, tmp_path, "Ann")
    before = session.queue
    with pytest.raises(InputError, match="'all': is chosen when"):
        session.filter("case=c-1 all")
    assert session.queue == before
    whole = ReviewSession(runs, tmp_path, "Ann", query=parse_query("all"))
    whole.filter("case=c-1")
    assert len(whole.queue) == 14
    whole.filter("")
    assert len(whole.queue) == 58


def test_who_has_read_a_draw_is_not_asked_blind_for_the_rest_which_passes(runs, tmp_path):
    session = ReviewSession(runs, tmp_path, "Ann")
    read_all(session)
    with pytest.raises(InputError, match="what was not drawn passes"):
        ReviewSession(runs, tmp_path, "Ann", query=parse_query("all"))
    assert len(ReviewSession(runs, tmp_path, "Bo", query=parse_query("all")).queue) == 58
    assert len(ReviewSession(runs, tmp_path, "Ann", query=parse_query("all"), blind=False).queue) == 58


def show_by(face, session):
    if face == "table":
        queue_frame(session)
    elif face == "screen":
        tell(listening(ReviewWidget(session)), "look", rows=[0, len(session.queue)])
    else:
        typed = iter(["j"] * (len(session.queue) - 1) + ["q"])
        adjudicate(session, SimpleNamespace(key=lambda _: next(typed)), [].append)


@pytest.mark.parametrize("face", ["table", "screen", "terminal"])
def test_who_was_shown_a_whole_draw_is_not_asked_blind_for_the_rest_which_passes(runs, tmp_path, face):
    show_by(face, ReviewSession(runs, tmp_path, "Ann"))
    with pytest.raises(InputError, match="what was not drawn passes"):
        ReviewSession(runs, tmp_path, "Ann", query=parse_query("all"))
    assert len(ReviewSession(runs, tmp_path, "Bo", query=parse_query("all")).queue) == 58
    opened = ReviewSession(runs, tmp_path, "Ann", query=parse_query("all"), blind=False)
    assert not opened.is_blind(opened.queue[0])
    with pytest.raises(InputError, match="what was not drawn passes"):
        ReviewSession(runs, tmp_path, "Ann", query=parse_query("all"))


@pytest.mark.parametrize(("first", "then"), [("answer", "check"), ("check", "answer")])
@pytest.mark.parametrize("said", [True, False])
def test_who_knows_a_draw_is_shown_no_second_one_by_the_other_unit(runs, tmp_path, first, then, said):
    session = ReviewSession(runs, tmp_path, "Ann", unit=first)
    read_all(session, 9) if said else queue_frame(session)
    with pytest.raises(InputError, match=r"'Ann' was shown a draw of these runs by .* beside it tells which answers"):
        ReviewSession(runs, tmp_path, "Ann", unit=then)
    assert ReviewSession(runs, tmp_path, "Bo", unit=then).queue
    assert ReviewSession(runs, tmp_path, "Ann", unit=then, blind=False).queue
    assert ReviewSession(runs, tmp_path, "Ann", unit=first).queue == session.queue


def test_no_sitting_forgets_what_another_one_showed(runs, tmp_path):
    earlier = ReviewSession(runs, tmp_path, "Ann", query=parse_query("strict=fail"), blind=False)
    later = ReviewSession(runs, tmp_path, "Ann", query=parse_query("case=c-1 strict=pass"), blind=False)
    queue_frame(ReviewSession(runs, tmp_path, "Ann"))
    earlier.filter("strict=error")
    earlier.filter("case=c-2 strict=pass")
    session = ReviewSession(runs, tmp_path, "Ann")
    assert not any(map(session.is_blind, (*earlier.queue, *later.queue)))
    with pytest.raises(InputError, match="what was not drawn passes"):
        ReviewSession(runs, tmp_path, "Ann", query=parse_query("all"))


def test_who_was_shown_a_part_of_a_draw_may_still_read_all(runs, tmp_path):
    queue_frame(ReviewSession(runs, tmp_path, "Ann", query=parse_query("case=c-1")))
    queue_frame(ReviewSession(runs, tmp_path))
    assert len(ReviewSession(runs, tmp_path, "Ann", query=parse_query("all")).queue) == 58


def test_who_opened_answers_sighted_and_said_nothing_is_not_blind_for_them(runs, tmp_path):
    run, log = runs[0], tmp_path / "log"
    looked = ReviewSession([run], log, "Ann", query=parse_query("strict=fail"), blind=False).queue
    assert len(looked) == 4
    for session in (ReviewSession([run], log, "Ann"), ReviewSession([run], log, "Ann")):
        assert {item for item in session.queue if not session.is_blind(item)} == set(looked)
    assert all(session.is_blind(item) for session in [ReviewSession([run], log, "Bo")] for item in session.queue)
    assert all(session.is_blind(item) for session in [ReviewSession([run], log)] for item in session.queue)
    made = session.decide(looked[0], "fail", reason="it says six").entry
    assert (made.blind, made.cause) == (False, "true-failure")


def test_facets_and_a_name_typed_later_are_looks_too_and_nobody_s_leave_none(runs, tmp_path):
    session = ReviewSession(runs, tmp_path, query=parse_query("strict=fail"), blind=False)
    assert not list(tmp_path.rglob("*"))
    session.author = "Ann"
    failed = set(session.queue)
    session.filter("strict=pass case=c-1")
    passed = set(session.queue)
    later = ReviewSession(runs, tmp_path, "Ann", query=parse_query("all"))
    assert {item for item in later.queue if not later.is_blind(item)} == failed | passed
    assert later.hidden


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sighted": 3}', '{"sighted": [1, ["c-1"], ["c-1", "2"], {}]}'])
def test_a_trace_that_cannot_be_read_is_none(runs, tmp_path, text):
    ReviewSession(runs[:1], tmp_path, "Ann", query=parse_query("strict=fail"), blind=False)
    for path in (tmp_path / ".drafts").glob("*.json"):
        path.write_text(text)
    session = ReviewSession(runs[:1], tmp_path, "Ann")
    assert all(map(session.is_blind, session.queue))


def test_another_seed_is_refused_once_somebody_read_by_one(runs, tmp_path):
    first = ReviewSession(runs, tmp_path, "Ann", seed=5)
    read_all(first)
    with pytest.raises(InputError, match="by a draw of seed 5"):
        ReviewSession(runs, tmp_path, "Bo", seed=6)
    assert set(ReviewSession(runs, tmp_path, "Bo").queue) == set(first.queue)
    assert set(ReviewSession(runs[:1], tmp_path, "Bo", seed=5).queue) < set(first.queue)
    assert len(ReviewSession(runs, tmp_path, "Bo", seed=6, blind=False).queue) == 58


def test_no_blind_item_has_the_name_of_its_run(runs, tmp_path):
    read_all(ReviewSession(runs, tmp_path, "Ann"))
    session = ReviewSession(runs, tmp_path, "Ann", query=parse_query("case=c-1"))
    every = ReviewSession(runs, tmp_path, "Ann", blind=False).queue
    blind = [item for item in every if session.is_blind(item)]
    assert blind
    assert {session.sheet(item).place for item in blind} <= {"arm A", "arm B"}


def test_quitting_says_how_far_it_is_whatever_was_read_before(runs, tmp_path):
    read_all(ReviewSession(runs, tmp_path, "Ann"))
    for words in ("case=c-1", "case=t-001 case=c-2", "open", ""):
        session = ReviewSession(runs, tmp_path, "Ann", query=parse_query(words))
        said = []

        class Keys:
            def key(self, prompt):
                return "q"

        adjudicate(session, Keys(), said.append)
        assert "read" in said[-1] or "Nothing to read" in said[-1]
    assert read_log(tmp_path)
