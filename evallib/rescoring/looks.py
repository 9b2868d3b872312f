"""What was seen of flips before an entry foretold them: stamps of previews and refusals, and earlier rescorings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from evallib.entries import Rescoring, moment
from evallib.records import digest
from evallib.rescoring.changes import criteria_digests, decides_alike, recording
from evallib.rescoring.flips import Flip
from evallib.store import LoggedEntry, Run, StoredRescoring, standing_rescorings
from evallib.store.log import Stamp, logs_of, now, preview_stamps, stamp_preview
from evallib.suite import Suite

__all__ = ["flip_names", "leave_stamp", "predicted_late"]

_LATEST = datetime.max.replace(tzinfo=UTC)
_Named = tuple[str, str, int, str]
"""Run, case, sample, and what it becomes."""


class _Look(NamedTuple):
    """What was expected when flips were seen, and which were."""

    time: str
    foretold: frozenset[str]
    shown: frozenset[str]


def flip_names(runs: Iterable[Run], flips: Iterable[_Named]) -> frozenset[str]:
    """Digests (12 hex) of those flips that are of these runs."""
    known = {run.id: recording(run) for run in runs}
    return frozenset(digest([known[run], *rest], 12) for run, *rest in flips if run in known)


def leave_stamp(
    runs: Sequence[Run], suite: Suite, entry: Rescoring | None, flips: Iterable[Flip], logs: Iterable[Path]
) -> None:
    """Leave a stamp in each log that flips were seen, and what the entry, where there was one, expected then."""
    shown = flip_names(runs, ((f.run, f.case_id, f.sample, f.after) for f in flips))
    slug, expects = (entry.slug, _expected(entry)) if entry else ("", digest([], 16))
    criteria = tuple(dict.fromkeys(criteria_digests(runs, suite)))
    foretold = flip_names(runs, _expectations(entry)) if entry else frozenset()
    for log in logs:
        stamp_preview(log, Stamp(slug, suite.digest, criteria, expects, now(), foretold, shown))


def predicted_late(
    runs: Sequence[Run], suite: Suite, entry: Rescoring, log: Sequence[LoggedEntry], adjudications: Path
) -> bool:
    """Whether what the entry expects may have been copied from what somebody saw.

    It may where a look at these criteria, or under this slug, was under other expectations; where a flip that it
    expects was shown, by whatever criteria, before any entry expected it; where it leaves out what such a look showed
    not to happen; and as `_seen_in_rescorings` says.
    """
    made = moment(entry.time) if entry.time else _LATEST  # what came after a stored entry was no look before it
    stamps = [s for one in logs_of(runs, adjudications) for s in preview_stamps(one) if moment(s.time) < made]
    log = [logged for logged in log if moment(logged.entry.time) < made]
    criteria, expects = set(criteria_digests(runs, suite)), _expected(entry)
    alike = (s for s in stamps if s.slug == entry.slug or _of_these(s, criteria, suite))
    if any(stamp.expects != expects for stamp in alike) or _seen_in_rescorings(runs, suite, entry, log):
        return True
    mine = flip_names(runs, _expectations(entry))
    looks = [*(_Look(s.time, s.foretold, s.shown) for s in stamps), *_rescored(runs, made)]
    return _shown_first(mine, looks) or any(one.foretold & mine and one.foretold - one.shown - mine for one in looks)


def _of_these(stamp: Stamp, criteria: set[str], suite: Suite) -> bool:
    """Whether these criteria were looked at.

    One suite may set other runs other cases, and a preview of those showed nothing of these: the suite's digest tells
    only where a stamp names no criteria.
    """
    return stamp.suite == suite.digest if stamp.criteria is None else not criteria.isdisjoint(stamp.criteria)


def _shown_first(mine: frozenset[str], looks: Iterable[_Look]) -> bool:
    foretold: set[str] = set()
    for one in sorted(looks, key=lambda look: moment(look.time)):
        foretold |= one.foretold
        if one.shown & mine - foretold:
            return True
    return False


def _rescored(runs: Sequence[Run], before: datetime) -> Iterator[_Look]:
    """What rescorings of these runs showed, those without an entry in the log too: it may stand in another."""
    for entry in (one.entry for run in runs for one in run.rescorings if moment(one.entry.time) < before):
        flips = [flip for row in entry.runs for flip in row["flips"]]
        yield _Look(entry.time, flip_names(runs, _expectations(entry)), flip_names(runs, map(_named, flips)))


def _named(flip: Mapping[str, object]) -> _Named:
    return str(flip["run"]), str(flip["case_id"]), int(str(flip["sample"])), str(flip["to"])


def _expectations(entry: Rescoring) -> Iterator[_Named]:
    yield from ((e.run, e.case, e.sample, e.to) for e in entry.expects)


def _expected(entry: Rescoring) -> str:
    return digest([e.model_dump() for e in entry.expects], 16)


def _seen_in_rescorings(runs: Sequence[Run], suite: Suite, entry: Rescoring, log: Sequence[LoggedEntry]) -> bool:
    """Whether standing rescorings showed what the entry expects.

    They did where one applied the same criteria to one of the runs, or where they had every flip that is expected.
    Criteria that decide as the run's own do flip nothing, and show nothing.
    """
    flips: set[_Named] = set()
    for run in runs:
        earlier = standing_rescorings(run, log)
        if earlier and not decides_alike(run, suite) and any(_same_criteria(run, suite, one) for one in earlier):
            return True
        rows = (row for one in earlier for row in one.entry.runs if row["run"] == run.id)
        flips |= {_named(flip) for row in rows for flip in row["flips"]}
    here = {run.id for run in runs}
    expected = {one for one in _expectations(entry) if one[0] in here}
    return bool(expected) and expected <= flips


def _same_criteria(run: Run, suite: Suite, earlier: StoredRescoring) -> bool:
    return criteria_digests([run], earlier.suite) == criteria_digests([run], suite)
