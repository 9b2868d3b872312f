"""Entries in one line each: who said what, why only where somebody said why."""

from __future__ import annotations

import pytest

from evallib.desk.history import entry_line, said_of
from evallib.desk.session import ReviewSession
from evallib.entries import Resolution
from evallib.store import LoggedEntry
from tests.browser import small_run


@pytest.fixture
def run(tmp_path):
    return small_run(tmp_path)


def read_by(run, log, author, word, **why):
    session = ReviewSession([run], log, author, blind=False)
    session.decide(session.queue[0], word, **why)
    return session


def test_readings_that_stand_say_why_only_where_there_is_a_why(run, tmp_path):
    log = tmp_path / "log"
    blind = ReviewSession([run], log, "Bo")
    blind.decide(blind.queue[0]._replace(case="t-001", sample=1), "pass")
    read_by(run, log, "Ann", "pass", cause="paraphrase", reason="in other words")
    session = read_by(run, log, "Cy", "fail")
    stands = [session._log.stand(session.queue[0])]
    lines = ["Bo: pass of the answer", "Ann: pass of the answer (paraphrase) in other words"]
    assert said_of(stands) == (*lines, "Cy: fail of the answer (true-failure) agrees")
    assert said_of(stands, "Cy") == (*lines, "you: fail of the answer (true-failure) agrees")


def test_the_screen_says_you_and_a_table_the_name(run, tmp_path):
    session = read_by(run, tmp_path / "log", "Ann", "fail")
    item = session.queue[0]
    assert session.sheet(item).reveal.said == ("you: fail of the answer (true-failure) agrees",)
    assert session.strict_row(item)[3] == "Ann: fail of the answer (true-failure) agrees"
    other = ReviewSession([run], tmp_path / "log", "Bo", blind=False)
    assert other.sheet(item).reveal.said == ("Ann: fail of the answer (true-failure) agrees",)


def test_an_unknown_cause_is_not_said(run):
    entry = Resolution(
        author="Cy", time="2026-11-30T10:00:00+00:00", run=run.id, case="t-001", sample=1, cites=("a", "b"),
        reading="pass", reason="they agree now",
    )  # fmt: skip
    assert entry_line(LoggedEntry("e", entry)).endswith("Cy: resolves the answer as pass they agree now")
    caused = entry.model_copy(update={"cause": "too-narrow"})
    assert entry_line(LoggedEntry("e", caused)).endswith("as pass (too-narrow) they agree now")
