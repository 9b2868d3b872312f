"""The entry of a rescoring as its author wrote it: read, and refused where it does not tell what changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evallib.checks.base import Check
from evallib.checks.foreign import Foreign
from evallib.checks.judge import Judge
from evallib.checks.recorded import Recorded
from evallib.entries import Change, Expectation, Rescoring, read_entry
from evallib.errors import InputError
from evallib.records import digest
from evallib.store import LoggedEntry, Run
from evallib.strict_yaml import Document, Location, load_yaml
from evallib.suite import Suite

__all__ = [
    "criteria_digests",
    "listed_changes",
    "load_rescoring",
    "refuse_invented",
    "refuse_misnamed",
    "refuse_unlisted",
]

_STAMPED = {"time", "written_digest", "suite_digest", "runs", "predicted_after_preview"}


def load_rescoring(path: Path) -> Rescoring:
    """The rescoring entry its author wrote; InputError when it is another kind or holds what the tool stamps."""
    document = load_yaml(path)
    entry = read_entry(document)
    if not isinstance(entry, Rescoring):
        raise InputError(f"{path}: is a {entry.kind}, expected `kind: rescoring`")
    stamped = _STAMPED & set(document.value)
    if stamped:
        raise InputError(f"{path}: {min(stamped)!r} is stamped by the tool; remove it")
    return entry


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is wrong with an entry, and where in it."""

    at: Location
    said: str


def refuse_misnamed(
    path: Path, entry: Rescoring, runs: Sequence[Run], suite: Suite, log: Sequence[LoggedEntry]
) -> None:
    """InputError for the first blank reason, unknown case, sample or reading, or two predictions that contradict.

    What is expected of a run that is not among `runs` is no mistake: one entry may serve several rescorings.
    """
    found = (_blank(entry), _cases(entry, runs, suite), _readings(entry, log), _expectations(entry, runs))
    for problem in (problem for each in found for problem in each):
        document: Document = load_yaml(path)
        raise InputError(f"{document.where(problem.at)}: {problem.said}")


def _blank(entry: Rescoring) -> Iterator[_Problem]:
    if not entry.author.strip():
        yield _Problem(("author",), "the author is blank; say who decided")
    if not entry.reason.strip():
        yield _Problem(("reason",), "the reason is blank; say why the criteria change")
    for number, change in enumerate(entry.changes):
        if not change.reason.strip():
            yield _Problem(("changes", number, "reason"), f"the reason for {change.check!r} is blank; say why")


def _cases(entry: Rescoring, runs: Sequence[Run], suite: Suite) -> Iterator[_Problem]:
    known = dict.fromkeys([*suite.by_id, *(name for run in runs for name in run.suite.by_id)])
    for number, change in enumerate(entry.changes):
        for place, name in enumerate(change.cases):
            if name not in known:
                yield _Problem(("changes", number, "cases", place), f"no case {name!r}; there are {_named(known)}")


def _readings(entry: Rescoring, log: Sequence[LoggedEntry]) -> Iterator[_Problem]:
    known = [logged.id for logged in log if logged.entry.kind == "reading"]
    for number, name in enumerate(entry.readings):
        if name not in known:
            yield _Problem(("readings", number), f"no reading {name!r} in the log; there are {_named(known)}")


def _expectations(entry: Rescoring, runs: Sequence[Run]) -> Iterator[_Problem]:
    by_id = {run.id: run for run in runs}
    said: dict[tuple[str, str, int], Expectation] = {}
    for number, one in enumerate(entry.expects):
        at: Location = ("expects", number)
        cases = by_id[one.run].plan["cases"] if one.run in by_id else None
        if cases is not None and one.case not in cases:
            yield _Problem((*at, "case"), f"run {one.run!r} has no case {one.case!r}; there are {_named(cases)}")
        elif cases is not None and one.sample > cases[one.case]:
            yield _Problem(
                (*at, "sample"),
                f"case {one.case!r} of run {one.run!r} has no sample {one.sample}; it has 1 to {cases[one.case]}",
            )
        if said.setdefault((one.run, one.case, one.sample), one).to != one.to:
            yield _Problem(at, f"expects sample {one.sample} of case {one.case!r} to pass and to fail; keep one")


def _named(names: Collection[str]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return (", ".join(list(names)[:8]) or "none") + more


def criteria_digests(runs: Sequence[Run], suite: Suite) -> list[str]:
    """Digest (16 hex) per run of the checks that `suite` sets its cases, and of nothing else the suite says.

    Two suites with one digest flip the same samples, whatever they are called.
    """
    known: dict[tuple[str, ...], str] = {}
    for cases in (tuple(run.plan["cases"]) for run in runs):
        if cases not in known:
            checks = {name: [b.check.criteria() for b in suite.bound[name]] for name in cases}
            known[cases] = digest([suite.pass_rule, checks], 16)
    return [known[tuple(run.plan["cases"])] for run in runs]


def listed_changes(entry: Rescoring, suite: Suite) -> set[tuple[str, str]]:
    """(check, case) of every change the entry names; without cases it is of all."""
    return {(change.check, case) for change in entry.changes for case in (change.cases or suite.by_id)}


def refuse_unlisted(run: Run, suite: Suite, entry: Rescoring) -> None:
    """Every criterion that differs must be a change the entry names; what was never published cannot be compared."""
    listed = listed_changes(entry, suite)
    known = set(suite.check_ids()) | set(run.suite.check_ids())
    other_rule = not run.suite.recorded and run.suite.pass_rule != suite.pass_rule
    if other_rule and not any(change.fix == "pass-rule" for change in entry.changes):
        raise InputError(
            f"the new suite changes the pass rule from {run.suite.pass_rule!r} to {suite.pass_rule!r}, which the entry "
            "does not list; add a change with `fix: pass-rule` and its reason"
        )
    for change in entry.changes:
        if change.check not in known:
            raise InputError(f"the entry names check {change.check!r}, which neither suite has; correct the entry")
    for case_id in run.plan["cases"]:
        old = {b.check.id: b for b in run.suite.bound[case_id] if b.check.check != "recorded"}
        new = {b.check.id: b for b in suite.bound[case_id]}
        if not old:
            continue
        for name in {**old, **new}:
            same = name in old and name in new and old[name].check.criteria() == new[name].check.criteria()
            if not same and (name, case_id) not in listed:
                raise InputError(
                    f"the new suite changes check {name!r} of case {case_id!r}, which the entry does not list; "
                    "add it under `changes` with its reason"
                )


def refuse_invented(runs: Sequence[Run], suite: Suite, entry: Rescoring) -> None:
    """Every change the entry names must be one: of what both suites say of a check in some case of some run.

    Where a run's own criteria were never published (`recorded`), or a judge is asked anew, nothing can be told.
    """
    for change in entry.changes:
        if change.fix not in {"pass-rule", "description"} and not any(_may_change(r, suite, change) for r in runs):
            where = f" of {', '.join(map(repr, change.cases))}" if change.cases else ""
            raise InputError(
                f"the entry says that check {change.check!r}{where} changes ({change.fix}), and both suites say the "
                "same of it; take the change out of `changes`, or change the suite"
            )


def _may_change(run: Run, suite: Suite, change: Change) -> bool:
    for case_id in change.cases or run.plan["cases"]:
        if case_id not in run.suite.by_id or case_id not in suite.by_id:
            return True
        old, new = (_one_check(one, case_id, change.check) for one in (run.suite, suite))
        untold = {type(one) for one in (old, new)} & {Recorded, Foreign} or isinstance(new, Judge)
        if untold or (old is None) != (new is None):
            return True
        if old is not None and new is not None and old.criteria() != new.criteria():
            return True
    return False


def _one_check(suite: Suite, case_id: str, name: str) -> Check | None:
    return next((b.check for b in suite.bound[case_id] if b.check.id == name), None)
