"""The case bootstrap: whole cases drawn again, each with all its samples, from a seed that is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from evallib.errors import InputError
from evallib.statistics.estimators import Interval

__all__ = ["RESAMPLES", "SEED", "Bootstrap", "case_bootstrap"]

RESAMPLES, SEED = 10_000, 20


class Bootstrap(NamedTuple):
    """What drawing the cases again gives; the interval is None where it has no width, for that is no certainty."""

    interval: Interval | None
    se: float | None


def case_bootstrap(values: Iterable[float], *, seed: int = SEED, resamples: int = RESAMPLES) -> Bootstrap:
    """The 95 % percentile interval and the standard error of the mean of per-case values (Efron 1979).

    Nothing is drawn inside a case: its value holds what its samples say already. Below two cases there is neither. A
    second method only: near 0 and 1 it holds the truth far too seldom (docs/coverage.md).
    """
    if seed < 0 or resamples < 2:
        raise InputError(f"seed {seed!r} and {resamples!r} resamples: a seed is 0 or more, resamples two or more")
    tally = Counter(values)  # how often each value is drawn is all that counts, however many cases there are
    cases, distinct = tally.total(), sorted(tally)
    if cases < 2:
        return Bootstrap(None, None)
    import numpy as np

    shares = np.array([tally[value] for value in distinct]) / cases
    drawn = np.random.default_rng(seed).multinomial(cases, shares / shares.sum(), resamples)
    means = np.clip(drawn @ np.array(distinct, float) / cases, distinct[0], distinct[-1])
    low, high = (float(end) for end in np.percentile(means, [2.5, 97.5]))
    return Bootstrap(Interval(low, high) if low < high else None, float(means.std()))
