"""What earlier rescorings showed of the flips that an entry expects: a prediction is made before one sees."""

from __future__ import annotations

from collections.abc import Sequence

from evallib.entries import Rescoring
from evallib.rescoring.changes import criteria_digests, decides_alike
from evallib.store import LoggedEntry, Run, StoredRescoring, standing_rescorings
from evallib.suite import Suite

__all__ = ["seen_in_rescorings"]


def seen_in_rescorings(runs: Sequence[Run], suite: Suite, entry: Rescoring, log: Sequence[LoggedEntry]) -> bool:
    """Whether standing rescorings showed what the entry expects.

    They did where one applied the same criteria to one of the runs, or where they had every flip that is expected.
    Criteria that decide as the run's own do flip nothing, and show nothing.
    """
    flips: set[tuple[object, ...]] = set()
    for run in runs:
        earlier = standing_rescorings(run, log)
        if earlier and not decides_alike(run, suite) and any(_same_criteria(run, suite, one) for one in earlier):
            return True
        rows = (row for one in earlier for row in one.entry.runs if row["run"] == run.id)
        flips |= {(run.id, flip["case_id"], flip["sample"], flip["to"]) for row in rows for flip in row["flips"]}
    here = {run.id for run in runs}
    expected = {(e.run, e.case, e.sample, e.to) for e in entry.expects if e.run in here}
    return bool(expected) and expected <= flips


def _same_criteria(run: Run, suite: Suite, earlier: StoredRescoring) -> bool:
    return criteria_digests([run], earlier.suite) == criteria_digests([run], suite)
