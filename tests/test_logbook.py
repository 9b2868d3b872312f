"""The log by answer: whatever is asked of one answer is what the fold of the whole log says of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.adjudication import make_difference, make_reading, strict_word
from evallib.desk.logbook import AnswerId, Logbook
from evallib.entries import Reading, Rubric, Withdrawal
from evallib.standing import Item, own_reading, standing_readings
from evallib.store import LoggedEntry
from tests.browser import small_run

AUTHORS = ("Ann", "Bo")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("data"))


acts = st.lists(
    st.tuples(
        st.sampled_from(["read", "read", "differ", "take back", "rubric"]),
        st.integers(0, 30),
        st.sampled_from(AUTHORS),
        st.sampled_from(["pass", "fail", "infra"]),
        st.sampled_from(["", "policy"]),
    ),
    max_size=14,
)


def entry_of(run, log, drawn):
    """The next entry of a made-up log, or None where there is nothing to differ from or to take back."""
    act, number, author, reading, check = drawn
    if act == "read":
        case, sample = list(run.by_key)[number % 4]
        before = own_reading(run, log, author, (case, sample, check)) if number % 2 else ""
        return make_reading(
            run, case, sample, check=check, reading=reading, author=author, blind=True, log=log, supersedes=before
        )
    if act == "rubric":
        return Rubric(author=author, suite="small", check=check, text=f"rubric {number % 3}", reason="clearer")
    mine = [e for e in log if e.entry.author == author and (act == "take back" or isinstance(e.entry, Reading))]
    if not mine:
        return None
    last = mine[number % len(mine)]
    if act == "take back":
        return Withdrawal(author=author, withdraws=last.id, reason="slipped")
    read = last.entry
    differs = read.reading != strict_word(run, read.case, read.sample, read.check)
    return make_difference(run, last, author=author, cause="other" if differs else "", reason="so")


def made(run, acts):
    log = []
    for number, act in enumerate(acts):
        entry = entry_of(run, log, act)
        if entry is not None:
            stamped = entry.model_copy(update={"time": f"2026-11-30T10:00:{number:02}+00:00"})
            log.append(LoggedEntry(f"e{number:02}", stamped))
    return log


@given(acts, st.integers(0, 14))
def test_asked_answer_by_answer_the_log_says_what_its_whole_fold_says(run, acts, read_first):
    log = made(run, acts)
    book = Logbook([run], log[:read_first])
    for key in run.by_key:
        book.stands(AnswerId(run.id, *key))  # what was folded early must not outlive a later entry
    for logged in log[read_first:]:
        book.add(logged)
    whole = standing_readings(run, log)
    for key in run.by_key:
        assert book.stands(AnswerId(run.id, *key)) == {i[2]: s for i, s in whole.by_item.items() if i[:2] == key}
        for check in ("", "policy"):
            item = Item(run.id, *key, check)
            stale = [e.entry for e in whole.stale if isinstance(e.entry, Reading)]
            assert book.is_stale(item) == any((e.case, e.sample, e.check) == item[1:] for e in stale)
            for author in AUTHORS:
                assert book.amended(item, author) == own_reading(run, log, author, item[1:])


def test_whoever_ever_said_anything_of_an_answer_has_seen_it(run):
    log = made(run, [("read", 0, "Ann", "pass", ""), ("take back", 0, "Ann", "pass", "")])
    book = Logbook([run], log)
    answer = AnswerId(run.id, "t-001", 1)
    assert book.stand(Item(*answer)) is None
    assert (book.has_seen(answer, "Ann"), book.has_seen(answer, "Bo")) == (True, False)
    assert [gone for _, gone in book.history(answer)] == [True, False]


def test_entries_of_other_runs_are_let_be(run):
    other = make_reading(run, "t-001", 1, reading="pass", author="Ann", blind=True).model_copy(
        update={"run": "elsewhere", "time": "2026-11-30T10:00:00+00:00"}
    )
    book = Logbook([run], [LoggedEntry("e0", other)])
    assert book.stands(AnswerId(run.id, "t-001", 1)) == {}
    assert not book.has_seen(AnswerId(run.id, "t-001", 1), "Ann")
