"""Verdicts that turned: where strict and rescored differ in one check of one sample, flip or no flip."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from evallib.entries import Change, Rescoring
from evallib.records import Verdict
from evallib.rescoring.flips import Batch, Flip
from evallib.store import Run
from evallib.suite import Suite

__all__ = [
    "Turned", "deciding_changes", "has_recorded", "still_turned", "turned_verdicts", "unlisted_words", "untested",
]  # fmt: skip

_COUNTS_OTHERWISE = {"criticality": {False}, "drop": {False}, "weight": {True, False}}
"""By fix the verdicts that it bears on though none of them turns."""


_Scored = tuple[str, str, bool]
"""Check, case, and whether a verdict of strict is a pass."""


class Turned(NamedTuple):
    """One verdict that is another than before."""

    case_id: str
    sample: int
    check: str
    before: str
    """pass, fail, none (it had no verdict), or `not there`; with `, not critical` or its weight where that differs."""
    after: str


def has_recorded(run: Run) -> bool:
    """Whether some criteria of the run were never published, so that only its verdicts tell what changed."""
    return any(bound.check.check == "recorded" for bounds in run.suite.bound.values() for bound in bounds)


def turned_verdicts(batch: Batch, *, recorded: bool) -> Iterator[Turned]:
    """The verdicts of a batch that turned; of `recorded` ones also what is gone, or counts otherwise.

    Where criteria are published, those two are seen in the criteria.
    """
    fresh = [v for v in batch.after if recorded or v.origin != "carried"]
    wanted = {v.check_id for v in fresh}
    before = {_key(v): v for v in batch.before if recorded or v.check_id in wanted}
    for v in fresh:
        was = before.pop(_key(v), None)
        if was is None or (was.status, was.passed) != (v.status, v.passed):
            yield Turned(*_key(v), _word(was), _word(v))
        elif recorded and was.critical != v.critical:
            yield Turned(*_key(v), *(f"{_word(one)}, {'' if one.critical else 'not '}critical" for one in (was, v)))
        elif recorded and was.weight != v.weight:
            yield Turned(*_key(v), *(f"{_word(one)}, weight {one.weight:g}" for one in (was, v)))
    for was in before.values() if recorded else ():
        yield Turned(*_key(was), _word(was), _word(None))


def _key(v: Verdict) -> tuple[str, int, str]:
    return v.case_id, v.sample, v.check_id


def _word(v: Verdict | None) -> str:
    return "not there" if v is None else {True: "pass", False: "fail", None: "none"}[v.passed]


def deciding_changes(entry: Rescoring, suite: Suite) -> set[tuple[str, str]]:
    """(check, case) of every change the entry names that may turn a verdict: of more than a description."""
    deciding = (change for change in entry.changes if change.fix not in {"description", "pass-rule"})
    return {(change.check, case) for change in deciding for case in (change.cases or suite.by_id)}


def unlisted_words(one: Turned, run: str) -> str:
    """That a verdict turned on a check which the entry does not list."""
    return (
        f"the verdict of check {one.check!r} on sample {one.sample} of case {one.case_id!r} of run {run!r} turns "
        f"({one.before} -> {one.after}), which the entry does not list; add the check under `changes` with its reason"
    )


def still_turned(run: str, turned: Iterable[Turned], flips: Sequence[Flip]) -> list[dict[str, Any]]:
    """The verdicts that turned in samples which did not flip, by case, check and turn, with their samples."""
    flipped = {(flip.case_id, flip.sample) for flip in flips}
    found: dict[tuple[str, str, str, str], list[int]] = {}
    for one in turned:
        if (one.case_id, one.sample) not in flipped:
            found.setdefault((one.case_id, one.check, one.before, one.after), []).append(one.sample)
    return [
        {"run": run, "case_id": case, "check": check, "from": was, "to": now, "samples": samples}
        for (case, check, was, now), samples in found.items()
    ]


def untested(
    entry: Rescoring, suite: Suite, cases: Collection[str], turned: Iterable[Turned], before: Collection[_Scored]
) -> list[str]:
    """The changes that neither a stored answer nor a probe exercises, in words, by case where the entry names cases.

    A stored one does where its verdict turns, or where what merely counts otherwise bears on it.
    """
    moved = {(one.check, one.case_id) for one in turned}
    moved |= {(name, probe.case) for probe in suite.probes for name in (*probe.passes, *probe.fails)}

    def tested(change: Change, case: str) -> bool:
        counts = _COUNTS_OTHERWISE.get(change.fix, set())
        return (change.check, case) in moved or any((change.check, case, passed) in before for passed in counts)

    found = []
    for change in (one for one in entry.changes if one.fix not in {"description", "pass-rule"}):
        here = [case for case in change.cases if case in cases]
        still = [case for case in here if not tested(change, case)]
        if still or not (change.cases or any(tested(change, case) for case in cases)):
            found.append(f"{change.fix} {change.check}" + f" of {', '.join(still)}" * bool(still))
    return found
