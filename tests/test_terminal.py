"""The sitting in a terminal: the notebook's keys, one to a line or single ones, and words for ears."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from evallib.adjudication import strict_word
from evallib.desk.keyboard import Lines, open_keyboard
from evallib.desk.queue import parse_query
from evallib.desk.session import ReviewSession
from evallib.desk.terminal import adjudicate
from evallib.entries import Difference, Reading, Withdrawal
from evallib.errors import InputError
from evallib.standing import Item
from evallib.store import read_log
from tests.browser import small_run

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("data"))


@pytest.fixture
def log(tmp_path):
    return tmp_path / "adjudications"


def typed(*lines):
    left = iter(lines)

    def read(_):
        try:
            line = next(left)
        except StopIteration:
            raise EOFError from None
        if isinstance(line, BaseException):
            raise line
        return line

    return Lines(read)


def reading(run, log, *lines, **more):
    said = []
    session = ReviewSession([run], log, "r1", **more)
    saved = adjudicate(session, typed(*lines), said.append)
    return session, saved, "\n".join(said)


def reading_order(run, log):
    return [(item, strict_word(run, *item[1:])) for item in ReviewSession([run], log, "r1").queue]


def first_is_failed(run, log):
    session = ReviewSession([run], log, "r1")
    return session.queue[0] != Item("small", "t-002", 2)


def test_two_keys_for_an_agreement_and_three_and_a_reason_for_a_difference(run, log):
    assert first_is_failed(run, log)
    session, saved, said = reading(run, log, "f", "", "i", "9", "the disk was full", "q")
    first, agreed, second, differs = (entry for _, entry in read_log(log))
    assert (first.reading, first.blind, agreed.agrees) == ("fail", True, True)
    assert (second.reading, differs.cause, differs.reason) == ("infra", "other", "the disk was full")
    assert first.seconds is not None
    assert (saved, session.position) == (2, 2)
    assert "You agree: press Enter." in said
    assert "You differ: strict says " in said
    assert said.endswith("2 readings saved; 2 of 4 read.")


def test_the_ready_made_reason_is_one_more_key(run, log):
    reading(run, log, "p", "4", ".", "q")
    entry = read_log(log)[1].entry
    assert (entry.cause, entry.canned, entry.reason) == (
        "negation-or-quoted", True, "the word is there, the claim is not"
    )  # fmt: skip


def test_before_the_reading_nothing_says_what_strict_said(run, log):
    _, _, said = reading(run, log, "j", "j", "j", "g", "t", "d", "h", "c", "?", "q")
    for hidden in ("STRICT", "✗", "✓", "»", "small", "forbidden phrase"):
        assert hidden not in said
    assert said.count("NOT DONE: this is hidden until you have read the answer") == 3
    assert "NOT SAVED" not in said


def test_unsure_asks_for_a_cause_and_goes_on(run, log):
    session, _, _ = reading(run, log, "-", "0", "q")
    assert (read_log(log)[0].entry.cause, session.position) == ("cannot-judge", 1)


def test_sighted_both_come_in_one_entry(run, log):
    words = {"blind": False, "query": parse_query("strict=fail")}
    _, saved, said = reading(run, log, "f", "", "p", "3", "in other words", "q", **words)
    assert [(e.reading, e.cause, e.reason, e.blind) for _, e in read_log(log)] == [
        ("fail", "true-failure", "agrees", False),
        ("pass", "paraphrase", "in other words", False),
    ]
    assert saved == 2
    assert "STRICT  fail" in said


def test_take_back_restore_and_amend(run, log):
    session, saved, _ = reading(run, log, "f", "", "u", "u", "U", "a", "f", "or is it", "k", "q")
    assert [type(entry) for _, entry in read_log(log)] == [
        Reading, Difference, Withdrawal, Withdrawal, Withdrawal, Reading
    ]  # fmt: skip
    assert read_log(log)[-1].entry.supersedes == read_log(log)[0].id
    assert (saved, session.progress["read"]) == (2, 1)


def test_a_key_in_the_wrong_place_saves_nothing_and_says_why(run, log):
    _, saved, said = reading(run, log, "", "4", "r", "a", "x", "p4", "\x7f", "q")
    assert (saved, read_log(log)) == (0, [])
    assert "NOT SAVED: read it first" in said
    assert "NOT SAVED: a cause comes after the reading" in said
    assert "f i     read it as" in said
    _, _, said = reading(run, log, "f", "p", "-", "q")
    assert said.count("you have read it; press a to amend") == 2
    assert len(read_log(log)) == 1


def test_what_is_missing_is_said_and_asked_again(run, log):
    _, _, said = reading(run, log, "p", "", "4", "", "4", "it is quoted", "q")
    assert said.count("NOT SAVED: strict and your reading differ") == 2
    assert read_log(log)[1].entry.reason == "it is quoted"


def test_a_sitting_that_ended_after_the_reveal_goes_on_with_its_question(run, log):
    reading(run, log, "i", "q")
    session, _, said = reading(run, log, "9", "the disk was full", "q")
    assert "You differ: strict says " in said
    assert (session.progress["read"], len(read_log(log)), session.position) == (1, 2, 1)


def test_once_all_is_read_the_end_says_how_much_of_what(run, log):
    _, _, said = reading(run, log, *["-", "0"] * 4, "q")
    assert "Read of small, strict fail: 3 of 3.\nRead of small, strict pass: 1 of 1.\n" in said
    _, _, said = reading(run, log / "another", "-", "0", "q")
    assert "Read of" not in said


def test_each_prompt_names_the_keys_that_do_something_then(run, log):
    prompts = []

    class Keys(Lines):
        def key(self, prompt):
            prompts.append(prompt)
            return super().key(prompt)

    for item, word in reading_order(run, log)[:2]:
        says = {"pass": "p", "fail": "f"}[word]
        for key, hint in ((says, "[Enter you agree  r with a reason |"), ("fp"[says == "f"], "[why: 1-9 0 x |")):
            session = ReviewSession([run], log / f"{item}{key}", "r1")
            session.go(session.queue.index(item))
            left = iter([key, "q"])
            adjudicate(session, Keys(lambda _, left=left: next(left)), [].append)
            assert prompts[-1].startswith(hint)
            assert prompts[-2].startswith("[p pass  f fail")


def test_what_was_skipped_taken_back_or_is_left_is_said(run, log):
    session, _, said = reading(run, log, "s", "-", "0", "u", "U", "n", "q")
    first, second = session.queue[:2]
    assert f"Skipped {first.name}: it comes again at the end." in said
    assert f"Taken back: unsure, of {second.name}; the entry stays in the log as withdrawn. 0 of 4 read." in said
    assert f"Restored: unsure, of {second.name}. 1 of 4 read." in said
    assert "Nothing is open" not in said
    _, _, said = reading(run, log, *["-", "0"] * 3, "n", "q")
    assert "Nothing is open here; q ends. 4 of 4 read." in said


def test_skip_facets_history_checks_and_citation(run, log):
    lines = ["s", "/", "case=t-002", "/", "nonsense", "e", "All", "f", "h", "c", "m", "d", "q"]
    session, _, said = reading(run, log, *lines)
    assert read_log(log)[0].entry.span == (0, 3)
    assert "NOT DONE: 'nonsense': is no word of a query" in said
    assert ", blind" in said
    assert {item.case for item in session.queue} == {"t-002"}
    _, _, said = reading(run, log, "/", "by=mine case=t-001", "q", query=parse_query("open"))
    assert "the queue stays as it was" in said


def test_an_interrupt_ends_the_sitting_and_what_was_saved_is_on_the_disk(run, log):
    _, saved, said = reading(run, log, "p", "4", KeyboardInterrupt())
    assert (saved, len(read_log(log))) == (1, 1)
    assert said.endswith("1 reading saved; 1 of 4 read.")


def test_a_reading_that_was_on_the_disk_when_it_was_interrupted_is_counted(run, log, monkeypatch):
    link = os.link

    def interrupted(source, target):
        link(source, target)
        if "entries" in str(target):
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", interrupted)
    _, saved, said = reading(run, log, "p", "q")
    assert (saved, len(read_log(log))) == (1, 1)
    assert said.endswith("1 reading saved; 1 of 4 read.")


def test_a_half_typed_reason_is_a_draft_that_the_next_sitting_offers(run, log):
    place = next(n for n, (_, word) in enumerate(reading_order(run, log)) if word == "fail")
    to_it = ["j"] * place
    _, saved, _ = reading(run, log, *to_it, "p", "4", KeyboardInterrupt("half a rea"))
    assert saved == 1
    session, _, said = reading(run, log, "4", "", "q")
    assert "DRAFT   half a rea" in said
    assert "differs" in " ".join(session.history(session.queue[place]))
    assert [e.reason for _, e in read_log(log)] == ["", "half a rea"]
    assert "DRAFT" not in reading(run, log, "k", "q")[2]


def test_a_reason_that_was_refused_needs_no_second_typing(run, log):
    place = next(n for n, (_, word) in enumerate(reading_order(run, log)) if word == "fail")
    _, _, said = reading(run, log, *["j"] * place, "p", "4", "it gives password: tr0ub4dor-and-3", "4", "", "q")
    assert "NOT SAVED: your reason holds a credential" in said
    assert read_log(log)[-1].entry.reason == "it gives password: tr0ub4dor-and-3"


def test_a_queue_without_items_says_so(run, log):
    _, saved, said = reading(run, log, query=parse_query("by=mine"))
    assert (saved, said) == (0, "Nothing to read: by=mine.")


def test_no_escape_sequence_of_an_answer_reaches_the_terminal(tmp_path, log):
    from evallib.records import Sample
    from evallib.store import import_run
    from tests.browser import SUITE

    sample = Sample("esc", "t-001", 1, answer="\x1b[2J gone \u202e", files={"a\x1b]0;x\x07": "\x1b[31m"})
    run = import_run(tmp_path, "esc", SUITE, [sample], [], target={}, source={})
    _, _, said = reading(run, log, "p", "9", "\x1b[31mred", "t", "h", "k", "q")
    assert "⟨U+001B⟩[2J gone ⟨U+202E⟩" in said
    assert not set(said) & set("\x1b\x07\u202e")


# a real terminal


class Teletype:
    """`evallib adjudicate` on a pseudo-terminal."""

    def __init__(self, data, log):
        self._ours, theirs = pty.openpty()
        code = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); from evallib.cli import console; console()"
        command = [sys.executable, "-c", code, "adjudicate", "small", "--by", "r1"]
        self.process = subprocess.Popen(
            [*command, "--data", str(data), "--adjudications", str(log)],
            stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True, start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        os.close(theirs)
        self.said = ""

    def wait_for(self, text, patience=180):
        until = time.monotonic() + patience
        while text not in self.said and time.monotonic() < until:
            if select.select([self._ours], [], [], 0.2)[0]:
                try:
                    self.said += os.read(self._ours, 65536).decode("utf-8", "replace")
                except OSError:
                    break
        assert text in self.said, self.said[-2000:]

    def type(self, text):
        os.write(self._ours, text.encode())

    def end(self):
        """Wait for the end of the process; gives the flags it leaves the terminal with."""
        self.process.wait(180)
        flags = termios.tcgetattr(self._ours)[3]
        os.close(self._ours)
        return flags


def test_in_a_terminal_one_key_is_enough_and_keys_typed_ahead_are_not_lost(run, log):
    teletype = Teletype(run.folder.parent.parent, log)
    teletype.wait_for("Item 1 of 4")
    teletype.type("i9the disk – was full\nf")
    teletype.wait_for("2 of 4 read.")
    teletype.type("u\x1b[Bq")
    teletype.wait_for("1 reading saved; 1 of 4 read.")
    teletype.end()
    entries = [entry for _, entry in read_log(log)]
    assert [type(entry) for entry in entries] == [Reading, Difference, Reading, Withdrawal]
    assert (entries[0].reading, entries[1].reason) == ("infra", "the disk – was full")
    assert teletype.process.returncode == 0


def test_no_part_of_a_longer_key_is_a_key_of_its_own(run, log):
    """F1 to F5, Delete, Ctrl+Up, Alt+p and F1 of the Linux console, then j: only j does something."""
    teletype = Teletype(run.folder.parent.parent, log)
    teletype.wait_for("Item 1 of 4")
    teletype.type("f")
    teletype.wait_for("1 of 4 read.")
    for key in ("\x1b[15~", "\x1bOP", "\x1b[3~", "\x1b[1;5A", "\x1bp", "\x1b[[A", "\x1b[24;2~"):
        teletype.said = ""
        teletype.type(key)
        teletype.wait_for("what was saved is on the disk")
        assert "Reason" not in teletype.said
    teletype.type("\x1b[Bq")
    teletype.wait_for("1 reading saved; 1 of 4 read.")
    teletype.end()
    assert [type(entry) for _, entry in read_log(log)] == [Reading]


def test_ctrl_c_leaves_a_terminal_as_it_was(run, log):
    teletype = Teletype(run.folder.parent.parent, log)
    teletype.wait_for("Item 1 of 4")
    teletype.type("f")
    teletype.wait_for("1 of 4 read.")
    teletype.wait_for("u take back")
    os.killpg(teletype.process.pid, 2)
    teletype.wait_for("1 reading saved")
    flags = teletype.end()
    assert flags & termios.ICANON
    assert flags & termios.ECHO
    assert len(read_log(log)) == 1


def test_a_terminal_is_set_for_a_line_before_its_prompt_can_be_seen(monkeypatch):
    """Else what is typed at once, with Ctrl+C, is thrown away by a terminal that still gives single keys."""
    ours, theirs = pty.openpty()
    flags = []
    with os.fdopen(theirs) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with open_keyboard() as keys:
            monkeypatch.setattr("builtins.print", lambda *_, **__: flags.append(termios.tcgetattr(theirs)[3]))
            os.write(ours, b"the disk\n")
            assert keys.line("Reason: ") == "the disk"
    os.close(ours)
    assert [bool(flags[0] & each) for each in (termios.ICANON, termios.ECHO, termios.NOFLSH)] == [True] * 3


@pytest.fixture
def terminal(monkeypatch):
    """The keyboard of a pseudo-terminal, and its other end."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with open_keyboard() as keys:
            yield keys, ours
    os.close(ours)


@pytest.mark.parametrize(
    ("sent", "line"),
    [
        (b"the dixk\x7f\x7fsk\n", "the disk"),  # typed ahead, so that the terminal did not mend it
        ("fü\x7full\x17the\x15\x08é\n".encode(), "é"),
        (b"the\x1b[D\x1bOC\x1b[1;5D disk\x00\x07\n", "the disk"),
        (b"\x1b[200~the disk\nwas full\x1b[201~ again\n", "the disk was full again"),
        (b"\x1b[200~the disk\r\n  was full\r\n\x1b[201~\n", "the disk was full"),
    ],
)
def test_a_line_holds_what_was_meant_however_it_came(terminal, sent, line):
    keys, ours = terminal
    os.write(ours, b"4" + sent + b"j")
    assert (keys.key(""), keys.line(""), keys.key("")) == ("4", line, "j")


def test_what_is_pasted_where_a_key_is_asked_for_is_no_key(terminal):
    keys, ours = terminal
    os.write(ours, b"\x1b[200~pff\ni\x1b[201~\x1b~j")
    assert (keys.key(""), keys.key(""), keys.key("")) == ("esc", "esc", "j")


def test_after_a_stop_the_terminal_gives_single_keys_again(terminal):
    flags = termios.tcgetattr(sys.stdin)
    flags[3] |= termios.ICANON  # as the shell sets it for itself
    termios.tcsetattr(sys.stdin, termios.TCSANOW, flags)
    os.kill(os.getpid(), signal.SIGCONT)
    assert not termios.tcgetattr(sys.stdin)[3] & termios.ICANON


def test_a_line_that_the_terminal_cut_is_refused(terminal):
    keys, ours = terminal
    os.write(ours, b"x" * 4095 + b"\n")
    with pytest.raises(InputError, match="longer than a terminal takes"):
        keys.line("")


def test_ctrl_c_keeps_what_was_typed_of_a_reason(run, log):
    place = next(n for n, (_, word) in enumerate(reading_order(run, log)) if word == "fail")
    teletype = Teletype(run.folder.parent.parent, log)
    teletype.wait_for("Item 1 of 4")
    teletype.type("j" * place + "p4")
    teletype.wait_for("Reason")
    teletype.type("the dixk\x7f\x7fsk – was fu\x03")
    teletype.wait_for("1 reading saved")
    assert teletype.end() & termios.ECHO
    session = ReviewSession([run], log, "r1")
    assert session.draft(session.queue[place])["reason"] == "the disk – was fu"
