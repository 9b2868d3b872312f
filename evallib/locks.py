"""Locks: while a comparison stands, nobody changes the criteria of its runs, or of a run that shares them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evallib.entries import Close, Lock, Rescoring, entry_text, moment, says_nothing
from evallib.errors import InputError
from evallib.records import digest
from evallib.reviewer import reviewer_name
from evallib.rule import Rule
from evallib.store import LoggedEntry, Run, by_time, refuse_repeated

__all__ = ["covering", "lock_words", "made_inside", "make_close", "make_lock", "shared_criteria", "standing_locks"]


class _Ways(NamedTuple):
    """What one case is known by: digests (16 hex)."""

    held: frozenset[str]
    """That a lock of its run holds."""
    wanted: frozenset[str]
    """Of which a lock that holds it has one."""


def shared_criteria(run: Run) -> dict[str, _Ways]:
    """Case id to digests of its question and of all that decides it; they meet wherever these are the same.

    A case without a recorded question stands for itself by its id, also beside the same records with their questions.
    How evallib's own code came to judge since, and what a check is described as, makes no other criteria.
    """
    suite = run.suite
    found = {}
    for case_id in run.plan["cases"]:
        criteria = sorted((b.check.id, _decisive(b.check.criteria())) for b in suite.bound[case_id])
        asked = suite.by_id[case_id].question
        by_question, by_id, asked_by_id = (
            digest([known, suite.pass_rule, criteria], 16) for known in (asked, case_id, f"asked: {case_id}")
        )
        if not asked:
            found[case_id] = _Ways(frozenset({by_id}), frozenset({by_id, asked_by_id}))
        elif suite.recorded:
            found[case_id] = _Ways(frozenset({by_question, asked_by_id}), frozenset({by_question, by_id}))
        else:
            found[case_id] = _Ways(frozenset({by_question}), frozenset({by_question}))
    return found


def _decisive(criteria: dict[str, object]) -> str:
    return digest({name: value for name, value in criteria.items() if name != "revision"}, 16)


def standing_locks(log: Iterable[LoggedEntry], rule: Rule) -> list[LoggedEntry]:
    """The locks that nobody closed who may, oldest first. A lock cannot be withdrawn, and neither can its close."""
    entries = sorted({logged.id: logged for logged in log}.values(), key=by_time)
    closers: dict[str, set[str]] = {}
    for _, entry in entries:
        if isinstance(entry, Close):
            closers.setdefault(entry.closes, set()).add(entry.author)
    return [
        LoggedEntry(id_, lock)
        for id_, lock in entries
        if isinstance(lock, Lock) and not any(rule.closes(name, lock.author) for name in closers.get(id_, ()))
    ]


def covering(run: Run, log: Iterable[LoggedEntry], rule: Rule) -> list[LoggedEntry]:
    """The standing locks that hold `run`: they name it, or a case of it has the criteria of a case of theirs."""
    standing = standing_locks(log, rule)
    own = {one for ways in shared_criteria(run).values() for one in ways.wanted} if standing else set()
    return [one for one in standing if isinstance(one.entry, Lock) and _covers(one.entry, run.id, own)]


def _covers(lock: Lock, run_id: str, criteria: set[str]) -> bool:
    return run_id in lock.runs or any(not criteria.isdisjoint(locked) for locked in lock.criteria.values())


def made_inside(entry: Rescoring, log: Iterable[LoggedEntry]) -> list[str]:
    """Ids of the locks that held its runs when a rescoring was made, as it may be under another log."""
    before = [(id_, one) for id_, one in log if moment(one.time) < moment(entry.time)]
    closed = {one.closes for _, one in before if isinstance(one, Close)}
    runs = {str(row["run"]) for row in entry.runs}
    return sorted(id_ for id_, one in before if isinstance(one, Lock) and runs & set(one.runs) and id_ not in closed)


def lock_words(run: Run, log: Iterable[LoggedEntry], rule: Rule) -> str:
    """`locked by Ann (ID): reason` for the first lock that holds `run`; `not locked` otherwise."""
    for logged in covering(run, log, rule):
        if isinstance(logged.entry, Lock):
            return f"locked by {logged.entry.author} ({logged.id}): {' '.join(logged.entry.reason.split())}"
    return "not locked"


def make_lock(runs: Sequence[Run], *, author: str, reason: str) -> Lock:
    """A lock over `runs`; InputError when author or reason is missing, or a run is named twice."""
    _refuse_blank("lock", reason)
    author = reviewer_name(author)
    refuse_repeated(runs)
    found: dict[str, set[str]] = {}
    for run in runs:
        for case_id, ways in shared_criteria(run).items():
            found.setdefault(case_id, set()).update(ways.held)
    criteria = {case_id: tuple(sorted(each)) for case_id, each in sorted(found.items())}
    return Lock(author=author, runs=tuple(run.id for run in runs), criteria=criteria, reason=entry_text(reason.strip()))


def make_close(log: Sequence[LoggedEntry], lock: str, *, author: str, reason: str, rule: Rule) -> Close:
    """The end of the lock with the id `lock`.

    InputError when author or reason is missing, the log has no such lock, it is closed already, or the author is
    neither who locked nor somebody whom the rule names.
    """
    _refuse_blank("close", reason)
    author = reviewer_name(author)
    standing = {logged.id: logged.entry for logged in standing_locks(log, rule)}
    named = {logged.id: logged.entry for logged in log}.get(lock)
    if not isinstance(named, Lock):
        there = ", ".join(standing) or "none"
        raise InputError(f"the log has no lock {lock!r}; the locks that stand: {there}")
    if lock not in standing:
        raise InputError(f"lock {lock!r} was closed already")
    if not rule.closes(author, named.author):
        also = "" if rule.authors == "anyone" else f", or one of those whom the rule names ({', '.join(rule.authors)})"
        raise InputError(f"lock {lock!r} is by {named.author!r}: nobody but {named.author}{also} closes it")
    return Close(author=author, closes=lock, reason=entry_text(reason.strip()))


def _refuse_blank(what: str, reason: str) -> None:
    if says_nothing(reason):
        raise InputError(f"a {what} needs a reason; give --reason")
