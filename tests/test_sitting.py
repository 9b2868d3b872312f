"""What one reviewer may see of some runs, however much they have read."""

from __future__ import annotations

import gc
import json
import sys

import pytest

from evallib.adjudication import make_reading
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
