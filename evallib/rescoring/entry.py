"""The entry of a rescoring as its author wrote it: read, and refused where it does not tell what changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evallib.entries import Expectation, Rescoring, read_entry, says_nothing
from evallib.errors import InputError
from evallib.records import POST_HOC_LABEL, PREDICTED_LATE
from evallib.reviewer import reviewer_name
from evallib.stdout import counted
from evallib.store import LoggedEntry, Run
from evallib.strict_yaml import Document, Location, load_yaml
from evallib.suite import Suite

__all__ = [
    "load_rescoring",
    "refuse_misnamed",
    "rescoring_label",
]

_STAMPED = {
    "time", "written_digest", "suite_digest", "runs", "predicted_after_preview", "rule_digest", "own_readings_only",
    "override", "unread", "unread_accepted_by", "untested", "became",
}  # fmt: skip


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


def rescoring_label(entry: Rescoring) -> str:
    """The words every figure of the rescoring carries."""
    words = [POST_HOC_LABEL, *[PREDICTED_LATE] * entry.predicted_after_preview]
    if entry.judgement_calls:
        words.append(counted(entry.judgement_calls, "judgement call"))
    if entry.unread:
        words.append(f"{counted(entry.unread, 'flip')} unread, accepted by {entry.unread_accepted_by}")
    return "; ".join(words)


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
    else:
        yield from _misspelled(entry.author)
    if says_nothing(entry.reason):
        yield _Problem(("reason",), "the reason is blank; say why the criteria change")
    for number, change in enumerate(entry.changes):
        if says_nothing(change.reason):
            yield _Problem(("changes", number, "reason"), f"the reason for {change.check!r} is blank; say why")


def _misspelled(author: str) -> Iterator[_Problem]:
    try:
        reviewer_name(author)
    except InputError as error:
        yield _Problem(("author",), str(error).replace("; give --by without it", "; write it without"))


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
