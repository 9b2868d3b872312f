"""What one reviewer may see of some runs, however much they have read."""

from __future__ import annotations

import gc
import json
import sys

import pytest

from evallib.adjudication import make_reading, make_rubric
from evallib.desk.session import ReviewSession
from evallib.store import append_entry
from tests.browser import many_run


def calls_of(work):
    """How many functions ran in `work`."""
    count = 0

    def seen(_, event, __):
        nonlocal count
        count += event == "call"

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_opening_a_queue_costs_each_of_ones_own_entries_the_same(tmp_path):
    run, log = many_run(tmp_path, 60), tmp_path / "log"
    counts = []
    for tenth in range(3):
        for number in range(20 * tenth + 1, 20 * tenth + 21):
            append_entry(log, make_reading(run, "t-001", number, reading="pass", author="r1", blind=True))
        counts.append(calls_of(lambda: ReviewSession([run], log, "r1")))
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    assert 0 < second < 1.1 * first
    assert first / 20 < 90, "calls for each entry, reading its file included"


def said(run, log, author="r1", **more):
    session = ReviewSession([run], log, author, blind=False, **more)
    item = next(item for item in session.queue if item.sample == 1)
    return session.sheet(item).reveal.said


def test_once_revealed_a_dispute_and_a_fork_are_told_first(tmp_path):
    run, log = many_run(tmp_path, 2), tmp_path / "log"
    append_entry(log, make_reading(run, "t-001", 1, reading="pass", author="Ann", reason="so"))
    assert said(run, log) == ("Ann: pass of the answer so",)
    append_entry(log, make_reading(run, "t-001", 1, reading="fail", author="Ann", reason="no"))
    assert said(run, log)[0] == "disputed: Ann says two things at once, and strict stands until that is resolved"
    append_entry(log, make_reading(run, "t-001", 2, reading="pass", author="Ann", reason="so"))
    append_entry(log, make_reading(run, "t-001", 2, reading="fail", author="Bo", reason="no"))
    session = ReviewSession([run], log, "r1", blind=False)
    lines = session.sheet(next(item for item in session.queue if item.sample == 2)).reveal.said
    assert lines[0] == "disputed: its readers differ, and strict stands until that is resolved"
    assert len(lines) == 3


def test_once_revealed_a_reading_that_counts_no_more_is_told_with_the_reason(tmp_path):
    run, log = many_run(tmp_path, 2), tmp_path / "log"
    append_entry(log, make_reading(run, "t-001", 1, reading="fail", author="r1", reason="so"))
    append_entry(log, make_rubric(run.suite, author="Bo", text="Is it short?", reason="clearer"))
    assert said(run, log) == ("not counted, its rubric was replaced: you: fail",)
    assert said(run, log, "Bo") == ("not counted, its rubric was replaced: r1: fail",)


@pytest.mark.parametrize("left", [[[1], {}, 3, 4], ["r", "c", [1], ""], ["r", "c"], "here", {"run": 1}, None])
def test_a_place_that_is_none_begins_at_the_start(tmp_path, left):
    run, log = many_run(tmp_path, 6), tmp_path / "log"
    ReviewSession([run], log, "r1").go(3)
    (kept,) = (log / ".drafts").glob("*.json")
    kept.write_text(json.dumps({"item": left}))
    assert ReviewSession([run], log, "r1").position == 0


def test_the_garbage_collector_rests_while_a_queue_is_made_and_no_longer(tmp_path):
    session = ReviewSession([many_run(tmp_path, 60)], tmp_path / "log", "r1")
    began = []

    def seen(phase, _):
        began.append(phase)

    before = gc.get_threshold()
    gc.callbacks.append(seen)
    gc.set_threshold(5)
    try:
        session.filter("")
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(seen)
    assert began.count("start") < 20
    assert gc.isenabled()
