"""The fold of the log: order of files, withdrawals of withdrawals, amendments, forks, resolutions, stale readings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.adjudication import make_difference, make_reading, make_resolution
from evallib.entries import Reading, Rubric, Withdrawal
from evallib.errors import InputError
from evallib.standing import Rubrics, live_entries, own_reading, standing_readings
from evallib.store import LoggedEntry
from tests.browser import small_run

ITEM = ("t-001", 1, "")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("data"))


def logged(number: int, entry) -> LoggedEntry:
    return LoggedEntry(f"e{number}", entry.model_copy(update={"time": f"2026-11-30T10:{number:02}:00+00:00"}))


def read(run, number: int, reading: str, author: str = "Ann", **more) -> LoggedEntry:
    return logged(number, make_reading(run, "t-001", 1, reading=reading, author=author, blind=True, **more))


def take_back(number: int, id_: str, author: str = "Ann") -> LoggedEntry:
    return logged(number, Withdrawal(author=author, withdraws=id_, reason="slipped"))


def resolve(run, log, number: int, word: str, author: str = "Cy") -> LoggedEntry:
    made = make_resolution(run, ITEM, standing_readings(run, log), author=author, reading=word, reason="I see")
    return logged(number, made)


def stand(run, *log):
    return standing_readings(run, log).by_item.get(ITEM)


def test_a_withdrawal_that_is_withdrawn_restores_what_it_took_back(run):
    log = [read(run, 1, "pass"), take_back(2, "e1")]
    assert stand(run, *log) is None
    assert stand(run, *log, take_back(3, "e2")).state == "pass"


def test_a_chain_of_withdrawals_has_no_length_that_breaks_it(run):
    first = read(run, 0, "pass")
    log = [first]
    for number in range(3001):
        before = log[-1].id
        log.append(LoggedEntry(f"w{number:04}", take_back(1, before).entry))
    assert stand(run, *log) is None
    assert stand(run, *log[:-1]).state == "pass"


def test_nobody_withdraws_anothers_reading(run):
    assert stand(run, read(run, 1, "pass"), take_back(2, "e1", "Bo")).state == "pass"


def test_an_amendment_stands_also_when_what_it_amended_is_taken_back(run):
    log = [
        read(run, 1, "pass"),
        read(run, 2, "fail", supersedes="e1"),
        read(run, 3, "unsure", cause="other", supersedes="e2"),
    ]
    assert stand(run, *log, take_back(4, "e2")).state == "unsure"
    assert stand(run, *log, take_back(4, "e3")).state == "fail"


def test_one_reader_with_two_heads_is_a_fork_and_not_guessed(run):
    fork = stand(run, read(run, 1, "pass"), read(run, 2, "fail"))
    assert (fork.state, fork.forked) == ("disputed", ("Ann",))


@pytest.mark.parametrize("word", ["pass", "fail"])
def test_an_amendment_ends_a_fork_whichever_word_it_takes(run, word):
    log = [read(run, 1, "pass"), read(run, 2, "fail")]
    ended = read(run, 3, word, log=log, supersedes=own_reading(run, log, "Ann", ITEM))
    whole = stand(run, *log, ended)
    assert (whole.state, whole.forked, [e.id for e in whole.entries]) == (word, (), ["e3"])


def test_amendments_of_two_branches_are_a_fork_until_one_amends_both(run):
    first = read(run, 1, "infra")
    one, other = (read(run, n, word, log=[first], supersedes="e1") for n, word in ((2, "pass"), (3, "fail")))
    log = [first, one, other]
    assert stand(run, *log).forked == ("Ann",)
    both = read(run, 4, "pass", log=log, supersedes=own_reading(run, log, "Ann", ITEM))
    assert (both.entry.supersedes, both.entry.also_supersedes) == ("e3", ("e2",))
    assert stand(run, *log, both).state == "pass"


def test_an_amendment_leaves_a_second_look_alone(run):
    log = [read(run, 1, "pass"), read(run, 2, "fail", again=True)]
    assert read(run, 3, "fail", log=log, supersedes="e1").entry.also_supersedes == ()
    assert read(run, 3, "fail", log=log, supersedes="e2", again=True).entry.also_supersedes == ()


def test_a_resolution_stands_while_it_cites_every_reading(run):
    log = [read(run, 1, "pass"), read(run, 2, "fail", "Bo")]
    disputed = stand(run, *log)
    assert disputed.state == "disputed"
    resolution = resolve(run, log, 3, "fail")
    assert not resolution.entry.self_resolved
    assert stand(run, *log, resolution).state == "fail"
    assert stand(run, *log, resolution, read(run, 4, "pass", "Di")).state == "disputed"


def test_a_resolution_is_changed_by_a_later_one_of_its_author_or_of_another(run):
    log = [read(run, 1, "pass"), read(run, 2, "fail", "Bo")]
    for number, (word, author) in enumerate([("pass", "Cy"), ("fail", "Cy"), ("pass", "Di"), ("fail", "Cy")], 3):
        log.append(resolve(run, log, number, word, author))
        assert (stand(run, *log).state, stand(run, *log).resolution) == (word, log[-1])
    assert [e.entry.supersedes for e in log[2:]] == ["", "e3", "", "e4"]
    assert stand(run, *log, take_back(8, "e5", "Di"), take_back(9, "e6", "Cy")).state == "fail"


def test_resolutions_made_apart_that_differ_leave_it_open_until_one_cites_both(run):
    log = [read(run, 1, "pass"), read(run, 2, "fail", "Bo")]
    log += [resolve(run, log, 3, "pass", "Cy"), resolve(run, log, 4, "fail", "Di")]
    assert stand(run, *log).state == "disputed"
    last = resolve(run, log, 5, "fail", "Eve")
    assert set(last.entry.cites) == {"e1", "e2", "e3", "e4"}
    assert stand(run, *log, last).resolution == last
    assert stand(run, *log, last, read(run, 6, "pass", "Fay")).state == "disputed"


def test_readers_who_agree_have_nothing_to_resolve(run):
    with pytest.raises(InputError, match="nothing to resolve"):
        resolve(run, [read(run, 1, "fail")], 2, "fail")
    with pytest.raises(InputError, match="nobody's reading of it stands"):
        resolve(run, [], 2, "fail")


def test_another_rubric_makes_a_reading_stale(run):
    first = read(run, 1, "fail")
    text = Rubric(author="Ann", suite="small", check="policy", text="also in examples", reason="asked by Bo")
    log = [first, logged(2, text)]
    readings = standing_readings(run, log)
    assert ([e.id for e in readings.stale], readings.by_item) == (["e1"], {})
    again = make_reading(run, "t-001", 1, reading="fail", author="Ann", blind=True, log=log, supersedes="e1")
    assert stand(run, *log, logged(3, again)).state == "fail"


def test_the_newest_rubric_is_in_force_however_its_time_is_written(run):
    old = Rubric(author="Mal", suite="small", check="policy", text="old", reason="r", time="20261130T000000+00:00")
    new = old.model_copy(update={"text": "new", "time": "2026-11-30T10:00:00.000000+00:00"})
    other = old.model_copy(update={"text": "no time at all", "time": "soon"})
    log = [LoggedEntry("a", old), LoggedEntry("b", new), LoggedEntry("c", other)]
    assert Rubrics(run, live_entries(log)).text("t-001", "policy") == "new"


def test_a_difference_holds_cause_and_reason_of_its_reading(run):
    first = read(run, 1, "pass")
    said = make_difference(run, first, author="Ann", cause="negation-or-quoted", reason="it says do not")
    both = stand(run, first, logged(2, said))
    assert (both.cause(first), both.reason(first), said.agrees) == ("negation-or-quoted", "it says do not", False)


def test_nobody_hides_what_another_said_of_their_reading(run):
    first = read(run, 1, "pass")
    said = make_difference(run, first, author="Ann", cause="negation-or-quoted", reason="it says do not")
    forged = said.model_copy(update={"author": "Mal", "cause": "other", "reason": "mine"})
    both = stand(run, first, logged(2, said), logged(3, forged))
    assert (both.cause(first), both.reason(first)) == ("negation-or-quoted", "it says do not")


def test_an_agreement_needs_no_reason_and_says_so(run):
    said = make_difference(run, read(run, 1, "fail"), author="Ann")
    assert (said.agrees, said.cause, said.reason) == (True, "true-failure", "agrees")


@pytest.mark.parametrize(("cause", "reason"), [("", "why"), ("other", " "), ("true-failure", "why"), ("odd", "why")])
def test_a_difference_without_cause_or_reason_is_refused(run, cause, reason):
    with pytest.raises(InputError):
        make_difference(run, read(run, 1, "pass"), author="Ann", cause=cause, reason=reason)


@given(st.data())
def test_the_state_does_not_depend_on_the_order_of_the_files(run, data):
    log: list[LoggedEntry] = []
    for number in range(data.draw(st.integers(1, 8))):
        author = data.draw(st.sampled_from(["Ann", "Bo"]))
        mine = [e for e in log if e.entry.author == author]
        if mine and data.draw(st.booleans()):
            log.append(take_back(number, data.draw(st.sampled_from(mine)).id, author))
        else:
            earlier = [e.id for e in mine if isinstance(e.entry, Reading)]
            over = data.draw(st.sampled_from(["", *earlier]))
            word = data.draw(st.sampled_from(["pass", "fail"]))
            log.append(read(run, number, word, author, supersedes=over))
    assert standing_readings(run, data.draw(st.permutations(log))) == standing_readings(run, log)


@given(st.lists(st.integers(0, 5), max_size=6))
def test_undo_after_do_restores_what_stood(run, undone):
    """Taking back the last entry and then taking that back again leaves the same live readings."""
    log = [read(run, 1, "pass"), read(run, 2, "fail", "Bo")]
    for number, which in enumerate(undone, 3):
        log.append(take_back(number, log[which % len(log)].id, log[which % len(log)].entry.author))
    before = {e.id for e in live_entries(log) if isinstance(e.entry, Reading)}
    done = take_back(30, log[-1].id, log[-1].entry.author)
    log += [done, take_back(31, done.id, done.entry.author)]
    assert {e.id for e in live_entries(log) if isinstance(e.entry, Reading)} == before
