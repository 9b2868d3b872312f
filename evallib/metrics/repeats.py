"""Samples that are copies of one another: how many repeats of a case are repeats, and what then stands withheld."""

from __future__ import annotations

from typing import TypedDict

from evallib.metrics.planned import Planned
from evallib.records import ERROR_STATUSES
from evallib.stdout import counted

__all__ = ["Repeats", "are_copies", "repeats", "repeats_sentence"]

_NO_CHANCE = 5
"""Samples of a run that all repeat those of others: fewer may do so by chance."""


class Repeats(TypedDict):
    """How the samples of a case differ, of those that answered at all."""

    cases: int
    """Cases with two or more such samples."""
    identical: int
    """Those of them in which every sample put out the very same."""
    copies: int
    """Samples that repeat the draw (the seed, or temperature 0) and the output of another sample of their case.

    A run that repeats others in every place repeats their draws, whatever seed it names: a cache gave them.
    """
    samples: int
    distinct: int
    """Samples, and how many they are when the same output in one case counts once."""


def repeats(planned: Planned) -> Repeats | None:
    """How many repeats there truly are; None where the frame does not hold what the samples put out (`trajectory`).

    The column `draw` says what made a sample random, as its seed; samples without one are never copies for sure.
    """
    frame = planned.frame
    if "trajectory" not in frame.columns:
        return None
    there = frame.assign(case=planned.case)[~frame["sample_status"].isin([*ERROR_STATUSES, "missing"])]
    there = there[there["trajectory"] != ""]
    drawn = there[there["draw"] != ""] if "draw" in there.columns else there.iloc[:0]
    again = there.duplicated(["case", "sample", "trajectory"]).groupby(there["run_id"])
    whole = again.transform("all") & (again.transform("size") >= _NO_CHANCE)
    samples = there.groupby("case").size()
    distinct = there.drop_duplicates(["case", "trajectory"]).groupby("case").size()
    return Repeats(
        cases=int((samples > 1).sum()),
        identical=int(((samples > 1) & (distinct == 1)).sum()),
        copies=int(
            (drawn.duplicated(["case", "draw", "trajectory"]).reindex(there.index, fill_value=False) | whole).sum()
        ),
        samples=len(there),
        distinct=int(distinct.sum()),
    )


def are_copies(found: Repeats | None) -> bool:
    """Whether the samples say nothing of how the same case varies: all repeat one another, or some are copies."""
    return found is not None and (found["copies"] > 0 or 0 < found["cases"] == found["identical"])


def repeats_sentence(found: Repeats | None) -> str:
    """What is to be said of repeats that are none; empty where every case's samples differ."""
    if found is None or not (found["identical"] or found["copies"]):
        return ""
    cases = counted(found["cases"], "case")
    if not are_copies(found):
        return f"In {found['identical']} of {cases} every sample gave the same answer."
    if found["copies"]:
        verb = "repeats" if found["copies"] == 1 else "repeat"
        what = f"{counted(found['copies'], 'sample')} {verb} the draw and the answer of another sample of the case"
    else:
        what = f"In {'the one case' if found['cases'] == 1 else f'all {cases}'} every sample gave the same answer"
    return (
        f"{what}: {found['distinct']} distinct of {counted(found['samples'], 'sample')}, so pass@k and pass^k at k > 1 "
        "say less than their k, and no interval of a re-run is given."
    )
