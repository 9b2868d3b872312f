"""The command `adjudicate`: the queue in the terminal, or one entry in one go."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evallib.errors import InputError
from evallib.reviewer import reviewer_name
from evallib.stdout import counted, print_lines

if TYPE_CHECKING:
    from evallib.desk.queue import Query
    from evallib.entries import Entry
    from evallib.store import LoggedEntry, Run

__all__ = ["adjudicate"]

Arguments = argparse.Namespace


def adjudicate(given: Arguments) -> int:
    """Read the queue of some runs; or store one entry, such as a resolution; or write out every reading."""
    from evallib.store import append_entry, locked, open_run, read_log

    runs = [open_run(reference, given.data) for reference in given.run]
    if given.export:
        return _export(given, runs)
    if not given.by.strip():
        raise InputError("say who reads: --by NAME")
    given.by = reviewer_name(given.by)
    if given.plan:
        return _plan(given, runs)
    _refuse_plan_words(given)
    say = _said(given)
    if say is None:
        return _queue(given, runs)
    if say is not _rubric and len(runs) != 1:
        raise InputError("one entry is about one run: name one RUN")
    with locked([run.folder for run in runs]):  # what another sitting of the same person says comes before or after
        print(append_entry(given.adjudications, say(given, runs, read_log(given.adjudications))).id)
    return 0


def _said(given: Arguments) -> Callable[[Arguments, Sequence[Run], Sequence[LoggedEntry]], Entry] | None:
    """What makes the one entry that is asked for; None where the queue is."""
    if given.withdraw:
        return _withdrawal
    return (
        _rubric if given.rubric is not None else _resolution if given.resolve else _reading if given.reading else None
    )


def _export(given: Arguments, runs: Sequence[Run]) -> int:
    from evallib.store import read_log
    from evallib.views.readings import export_readings

    count = export_readings(runs, read_log(given.adjudications), given.export)
    print_lines([f"{counted(count, 'reading')} of {counted(len(runs), 'run')} in {given.export}"])
    return 0


_PLAN_WORDS = ("passes", "twice", "again", "each_check", "supersede")


def _refuse_plan_words(given: Arguments) -> None:
    for name in _PLAN_WORDS:
        if getattr(given, name) not in {None, False, ""}:
            raise InputError(f"--{name.replace('_', '-')} says how a plan is drawn: give --plan with it")


def _plan(given: Arguments, runs: Sequence[Run]) -> int:
    from evallib.desk.plans import draw_plan
    from evallib.printing import plan_lines
    from evallib.store import append_entry, read_log

    if (
        given.case is not None
        or given.reading
        or given.resolve
        or given.rubric is not None
        or given.plan_id
        or given.withdraw
    ):
        raise InputError("--plan only draws what is to be read: give runs, --by and how to draw, and read afterwards")
    if given.sighted or given.only or given.reason:
        raise InputError("--plan draws the same for every reader: --sighted, --only and --reason are for reading")
    every = dict.fromkeys(check for run in runs for check in run.suite.check_ids())
    checks = (given.check,) if given.check else tuple(every) if given.each_check else ("",)
    numbers = {name: value for name in ("passes", "twice", "again") if (value := getattr(given, name)) is not None}
    log = read_log(given.adjudications)
    plan = draw_plan(runs, log, author=given.by, checks=checks, seed=given.seed, reason=given.supersede, **numbers)
    print_lines(plan_lines(append_entry(given.adjudications, plan).id, plan))
    return 0


def _queue(given: Arguments, runs: Sequence[Run]) -> int:
    from evallib.desk.keyboard import open_keyboard
    from evallib.desk.queue import parse_query
    from evallib.desk.session import ReviewSession
    from evallib.desk.terminal import adjudicate as review

    if given.case is not None or given.reason:
        raise InputError("one reading needs CASE, SAMPLE, --reading and --reason; leave them out to read the queue")
    query = parse_query(given.only)
    query = replace(query, check=(given.check,)) if given.check else query
    session = ReviewSession(
        runs, given.adjudications, given.by, query=query, blind=not given.sighted,
        unit="check" if given.check else "answer", seed=given.seed, plan=_plan_to_read(given, query),
    )  # fmt: skip
    if session.plan:
        print_lines([f"Reading by plan {session.plan}."])
    with open_keyboard() as keys:
        review(session, keys)
    return 0


def _plan_to_read(given: Arguments, query: Query) -> str:
    """The plan that is named; else the newest one, unless another draw, or no draw, is asked for."""
    from evallib.desk.sitting import NEWEST

    other = given.sighted or given.seed is not None or query.all
    return given.plan_id or ("" if other else NEWEST)


def _reading(given: Arguments, runs: Sequence[Run], log: Sequence[LoggedEntry]) -> Entry:
    from evallib.adjudication import explained, make_reading, strict_word
    from evallib.standing import own_reading

    if given.case is None:
        raise InputError("one reading needs CASE, SAMPLE, --reading and --reason; leave them out to read the queue")
    (run,) = runs
    strict = strict_word(run, given.case, given.sample, given.check)
    cause, _ = explained(given.reading, strict, given.cause, given.reason)
    return make_reading(
        run, given.case, given.sample, reading=given.reading, reason=given.reason, author=given.by, check=given.check,
        cause=cause, log=log, supersedes=own_reading(run, log, given.by, (given.case, given.sample, given.check)),
    )  # fmt: skip


def _resolution(given: Arguments, runs: Sequence[Run], log: Sequence[LoggedEntry]) -> Entry:
    from evallib.adjudication import make_resolution
    from evallib.standing import standing_readings

    (run,), (case, number) = runs, given.resolve
    if not number.isdecimal():
        raise InputError(f"--resolve {case} {number}: say CASE and SAMPLE, a number from 1")
    item = (case, int(number), given.check)
    return make_resolution(
        run, item, standing_readings(run, log), author=given.by, reading=given.reading or "", reason=given.reason,
        cause=given.cause,
    )  # fmt: skip


def _withdrawal(given: Arguments, runs: Sequence[Run], log: Sequence[LoggedEntry]) -> Entry:
    from evallib.adjudication import make_withdrawal

    del runs
    if given.case is not None or given.reading or given.resolve or given.rubric is not None:
        raise InputError("--withdraw takes only --by and --reason: what is said instead is an entry of its own")
    return make_withdrawal(log, given.withdraw, author=given.by, reason=given.reason)


def _rubric(given: Arguments, runs: Sequence[Run], log: Sequence[LoggedEntry]) -> Entry:
    from evallib.adjudication import make_rubric

    if len({run.suite.suite for run in runs}) > 1:
        raise InputError("a rubric is of one suite, and these runs are of several: name runs of one")
    rubric = make_rubric(runs[0].suite, author=given.by, text=given.rubric, reason=given.reason, check=given.check)
    _tell_stale(runs, log, rubric)
    return rubric


def _tell_stale(runs: Sequence[Run], log: Sequence[LoggedEntry], rubric: Entry) -> None:
    """How many readings of each run count no more once `rubric` stands, and the way back."""
    from evallib.standing import standing_readings
    from evallib.store import LoggedEntry
    from evallib.store.log import now

    after = [*log, LoggedEntry("~", rubric.model_copy(update={"time": now()}))]
    for run in runs:
        more = len(standing_readings(run, after).stale) - len(standing_readings(run, log).stale)
        if more > 0:
            said = f"{more} readings of {run.id} become stale" if more > 1 else f"1 reading of {run.id} becomes stale"
            print_lines([f"{said}: made under another rubric, not counted; withdrawing this entry brings them back"])
