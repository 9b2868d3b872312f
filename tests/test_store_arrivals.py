"""Entries that came into the log while a sitting is open."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from functools import partial

import pytest

from evallib.adjudication import make_reading, make_rubric
from evallib.desk.session import ReviewSession
from evallib.desk.terminal import adjudicate
from evallib.entries import Reading
from evallib.errors import InputError
from evallib.standing import standing_readings
from evallib.store import Arrivals, append_entry, read_log
from tests.readers import mixed_run


@pytest.fixture
def run(tmp_path):
    return mixed_run(tmp_path / "data")


def reading(run, sample, author="Ann"):
    return make_reading(run, "c-1", sample, reading="pass", author=author, blind=True)


def test_what_came_is_given_once_and_what_is_known_never(run, tmp_path):
    log = tmp_path / "log"
    arrivals = Arrivals(log, [])
    assert arrivals.new() == []
    first, second = append_entry(log, reading(run, 1)), append_entry(log, reading(run, 2))
    arrivals.know(second)
    assert arrivals.new() == [first]
    assert arrivals.new() == []
    assert Arrivals(log, read_log(log)).new() == []


def test_a_folder_that_changed_long_ago_is_looked_at_again_once_it_changes(run, tmp_path):
    log = tmp_path / "log"
    first = append_entry(log, reading(run, 1))
    (path,) = log.rglob("*.yaml")
    os.utime(path.parent, (1e9, 1e9))
    arrivals = Arrivals(log, [])
    assert arrivals.new() == [first]
    second = append_entry(log, reading(run, 2))
    assert arrivals.new() == [second]


def test_a_file_that_is_no_entry_stops_nobody_from_saving(run, tmp_path):
    session = ReviewSession([run], tmp_path / "log", "Ann")
    append_entry(tmp_path / "log", reading(run, 1, "Bo"))
    (path,) = (tmp_path / "log").rglob("*.yaml")
    (path.parent / "torn.yaml").write_text("<<<<<<< HEAD\n")
    session.decide(session.queue[0], "pass")
    assert len(list((tmp_path / "log").rglob("*.yaml"))) == 3


def test_two_sittings_of_one_reader_make_no_second_blind_reading(run, tmp_path):
    one, two = (ReviewSession([run], tmp_path / "log", "Ann") for _ in range(2))
    item = one.queue[0]
    one.decide(item, "pass")
    with pytest.raises(InputError, match="in another sitting"):
        two.decide(item, "fail")
    assert (two.stage(item), two.mark(item), two.is_blind(item)) == ("explain", "pass", False)
    assert two.progress["read"] == 1
    two.decide(item, "fail", cause="other", reason="a slip")
    (stand,) = standing_readings(run, read_log(tmp_path / "log")).by_item.values()
    assert [e.entry.reading for e in stand.entries] == ["fail"]
    assert [e.entry.blind for e in read_log(tmp_path / "log")] == [True, False]


def race(acts):
    """Do all at once, in threads; the refusals."""
    start, refused = threading.Barrier(len(acts)), []

    def do(act):
        start.wait()
        try:
            act()
        except InputError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=do, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return refused


def test_two_sittings_of_one_reader_that_save_in_one_moment_leave_one_reading(run, tmp_path):
    one, two, three = (ReviewSession([run], tmp_path / "log", "Ann") for _ in range(3))
    for item in one.queue:
        refused = race([partial(s.decide, item, word) for s, word in ((one, "pass"), (two, "fail"), (three, "infra"))])
        assert len(refused) == 2
        assert all("in another sitting" in said for said in refused)
        assert {one.mark(item), two.mark(item), three.mark(item)} <= {"pass", "fail", "infra", ""}
    log = read_log(tmp_path / "log")
    assert len(log) == len(one.queue)
    stands = standing_readings(run, log).by_item.values()
    assert {(len(stand.entries), stand.forked) for stand in stands} == {(1, ())}


def test_commands_of_one_reader_in_one_moment_amend_one_another(run, tmp_path):
    folders = ["--data", str(run.folder.parent.parent), "--adjudications", str(tmp_path / "log")]
    said = ["adjudicate", run.id, "c-1", "1", "--by", "Ann", "--reason", "read", "--cause", "cannot-judge", *folders]
    command = [sys.executable, "-m", "evallib", *said, "--reading", "unsure"]
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [one.wait() for one in started] == [0, 0, 0]
    log = read_log(tmp_path / "log")
    (stand,) = standing_readings(run, log).by_item.values()
    assert (len(log), len(stand.entries)) == (3, 1)


def test_undo_and_redo_look_first_whether_the_reading_was_changed_elsewhere(run, tmp_path):
    one = ReviewSession([run], tmp_path / "log", "Ann")
    item = one.queue[0]
    one.decide(item, "unsure", cause="cannot-judge")
    two = ReviewSession([run], tmp_path / "log", "Ann")
    two.decide(item, "fail" if two.agrees(item, "fail") else "pass")
    with pytest.raises(InputError, match="in another sitting"):
        one.undo()
    assert one.mark(item) == two.mark(item)
    assert len(read_log(tmp_path / "log")) == 2
    two.undo()
    with pytest.raises(InputError, match="in another sitting"):
        one.undo()
    one.undo()
    assert one.mark(item) == ""
    for sitting in (two, one):
        with pytest.raises(InputError, match="in another sitting"):
            sitting.redo()
        if sitting is two:
            two.redo()
    assert one.mark(item) == two.mark(item) != ""


def test_what_others_say_meanwhile_stops_no_undo(run, tmp_path):
    one = ReviewSession([run], tmp_path / "log", "Ann")
    one.decide(one.queue[0], "pass")
    append_entry(tmp_path / "log", make_rubric(run.suite, author="Bo", text="Is it four?", reason="clearer"))
    ReviewSession([run], tmp_path / "log", "Bo").decide(one.queue[0], "fail")
    one.undo()
    assert one.mark(one.queue[0]) == ""


def test_what_others_read_meanwhile_stops_nobody(run, tmp_path):
    session = ReviewSession([run], tmp_path / "log", "Ann")
    item = session.queue[0]
    ReviewSession([run], tmp_path / "log", "Bo").decide(item, "pass")
    session.decide(item, "pass")
    assert "Bo: pass" in " ".join(session.sheet(item).reveal.said)


def test_a_rubric_that_came_meanwhile_is_shown_before_the_reading(run, tmp_path):
    session = ReviewSession([run], tmp_path / "log", "Ann")
    item = session.queue[0]
    append_entry(tmp_path / "log", make_rubric(run.suite, author="Bo", text="Is it four?", reason="clearer"))
    with pytest.raises(InputError, match="judged by was changed"):
        session.decide(item, "pass")
    assert "Is it four?" in repr(session.sheet(item).rubric)
    session.decide(item, "pass")
    assert not standing_readings(run, read_log(tmp_path / "log")).stale


def test_the_terminal_shows_what_stands_now(run, tmp_path):
    log = tmp_path / "log"
    session = ReviewSession([run], log, "Ann")
    said = []

    class Keys:
        pressed = iter(["p", "q"])

        def key(self, prompt):
            return next(self.pressed)

    ReviewSession([run], log, "Ann").decide(session.queue[0], "pass")
    adjudicate(session, Keys(), said.append)
    assert [type(e) for _, e in read_log(log)] == [Reading]
    told = next(place for place, line in enumerate(said) if line.startswith("NOT SAVED"))
    assert any("sighted, pass" in line for line in said[told:])
    assert any("agree" in line or "differ" in line for line in said[told:])
