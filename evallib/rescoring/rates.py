"""Pass rate, pass@k and pass^k before and after changed criteria, from the passes of each case."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from evallib.metrics import usual_ks
from evallib.statistics.estimators import Counts, pass_at_k, pass_hat_k

__all__ = ["CasePasses", "both_rates", "pooled"]

_Estimator = Callable[[int, int, int], float | None]
"""pass@k or pass^k of n samples of which c pass; defined here for every case, as k goes up to what all of them have."""


class CasePasses(NamedTuple):
    """One case of a run, or of several runs pooled; an error is no pass."""

    planned: int
    strict: int
    """Samples that pass under the run's own criteria."""
    rescored: int
    """Samples that pass under the changed ones."""


def pooled(runs: Iterable[Mapping[str, CasePasses]]) -> dict[str, CasePasses]:
    """Case id to its samples and passes over all runs."""
    found: dict[str, CasePasses] = {}
    for run in runs:
        for case_id, one in run.items():
            found[case_id] = CasePasses(*map(sum, zip(one, found.get(case_id, (0, 0, 0)), strict=True)))
    return found


def both_rates(cases: Mapping[str, CasePasses], *, every_k: bool) -> dict[str, Any]:
    """The figures under both criteria, each as [strict, rescored].

    They are means over cases with errors counted as fails, as `metrics` has them, which gives intervals too: none here,
    where both numbers are of the same answers. k goes up to the samples that every case has, or is that number alone.
    """
    counts = [
        [Counts(one.planned, one.strict) for one in cases.values()],
        [Counts(one.planned, one.rescored) for one in cases.values()],
    ]
    ks = usual_ks(min(c.planned for c in cases.values()))
    ks = ks if every_k else ks[-1:]
    return {
        "cases": len(cases),
        "planned": sum(c.planned for c in cases.values()),
        "passed": [sum(c.strict for c in cases.values()), sum(c.rescored for c in cases.values())],
        "pass_rate": _by_k(counts, [1], pass_at_k)["1"],
        "pass_at": _by_k(counts, ks, pass_at_k),
        "pass_hat": _by_k(counts, ks, pass_hat_k),
    }


def _by_k(counts: Sequence[Sequence[Counts]], ks: Sequence[int], estimator: _Estimator) -> dict[str, list[float]]:
    return {str(k): [_mean([estimator(n, c, k) or 0.0 for n, c in one]) for one in counts] for k in ks}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
