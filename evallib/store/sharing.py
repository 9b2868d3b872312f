"""What many runs need once: a suite that they hold copies of, and a run with a part of its samples in memory."""

from __future__ import annotations

from collections.abc import Sequence

from evallib.records import Sample, Verdict
from evallib.store.runs import Run
from evallib.suite import Suite

__all__ = ["part_of", "share_suite"]


def share_suite(run: Run, known: dict[str, Suite]) -> None:
    """Let `run` take its suite from `known` (sha256 to suite) where another holds the same bytes, else add it there.

    The copy of each run is hashed all the same; InputError as when it is read.
    """
    sha256 = str(run.plan["suite_sha256"])
    if sha256 in known:
        run.suite_file()
        vars(run)["suite"] = run.checked_suite(known[sha256])
    known[sha256] = run.suite


def part_of(run: Run, samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> Run:
    """The run as if it had these samples and strict verdicts alone, which are not read again."""
    part = Run(run.folder)
    vars(part).update({name: vars(run)[name] for name in ("plan", "manifest", "suite") if name in vars(run)})
    vars(part).update(samples=list(samples), verdicts=list(verdicts))
    return part
