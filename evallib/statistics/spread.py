"""Standard errors of a pass rate, each under the name of its question, and the intervals that follow.

Over new cases like these (`case_se`), over new samples of these very cases (`rerun_se`), and of the rate pooled over
samples (`pooled_se`). The first is what a figure of evallib carries; the second is smaller and never stands for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from evallib.errors import InputError
from evallib.statistics.estimators import Counts, Interval, wilson, worth

__all__ = ["case_se", "most_when_none", "pooled_interval", "pooled_se", "rerun_interval", "rerun_se"]


def case_se(values: Sequence[float]) -> float | None:
    """The standard error of a mean of per-case values over cases like these: sd / sqrt(cases); None below two."""
    cases = len(values)
    if cases < 2:
        return None
    mean = math.fsum(values) / cases
    return math.sqrt(math.fsum([(v - mean) ** 2 for v in values]) / (cases - 1) / cases)


def pooled_se(counts: Iterable[Counts]) -> float | None:
    """The standard error of the rate pooled over samples, clustered by case, with G/(G-1); None below two cases.

    The pooled rate is a ratio: sqrt(sum over cases of (c - m n)^2 * G/(G-1)) / N (Miller 2024, arXiv 2411.00640).
    """
    tally = Counter(counts)
    cases, samples, passes = _totals(tally)
    if cases < 2 or not samples:
        return None
    rate = passes / samples
    square = math.fsum((c - rate * n) ** 2 * times for (n, c), times in tally.items())
    return math.sqrt(square * cases / (cases - 1)) / samples


def pooled_interval(counts: Iterable[Counts], *, copies: bool = False) -> Interval | None:
    """Wilson on effective cases around the rate pooled over samples; None below two cases.

    With `copies` the samples of a case repeat one another, and it is worth one draw.
    """
    tally = Counter(counts)
    se, (cases, samples, passes) = pooled_se(tally), _totals(tally)
    if se is None:
        return None
    rate = passes / samples
    return wilson(rate, worth(rate, se * se, cases, cases if copies else samples))


def rerun_se(counts: Iterable[Counts]) -> float | None:
    """The standard error of the mean over these very cases, asked again: sqrt(sum of p(1-p)/(n-1)) / cases.

    As Terminal-Bench 2.0 prints it (statistics reference, 1.6). None where a case has fewer than two samples.
    """
    tally = Counter(counts)
    if not tally or min(one.n for one in tally) < 2:
        return None
    square = math.fsum(c * (n - c) / (n * n * (n - 1)) * times for (n, c), times in tally.items())
    return math.sqrt(square) / tally.total()


def rerun_interval(counts: Iterable[Counts]) -> Interval | None:
    """The 95 % interval of the rate that these very cases would have if they were asked without end.

    Wilson on m(1-m)/SE^2 trials. A sum over unlike cases spreads less than that many like draws (Hoeffding 1956), so
    it is never on fewer trials than there are samples; and so that a run in which every case always came out the same
    keeps a width, one sample that comes out otherwise is added to the variance. Simulated in docs/coverage.md. Two
    runs of the cases differ by the square root of two more. None below two cases, and where `rerun_se` has none.
    """
    tally = Counter(counts)
    se = rerun_se(tally)
    if se is None or tally.total() < 2:
        return None
    cases, least = tally.total(), min(one.n for one in tally)
    mean = math.fsum(c / n * times for (n, c), times in tally.items()) / cases
    one_more = 1 / (cases * least)
    return wilson(mean, max(cases * least, mean * (1 - mean) / (se * se + one_more * one_more)))


def most_when_none(trials: int, alpha: float = 0.05) -> float:
    """The one-sided bound of a share of which `trials` independent trials found none: 1 - alpha^(1/n), about 3/n."""
    if trials < 1:
        raise InputError(f"{trials!r} trials cannot be; a share needs at least one")
    return float(1 - alpha ** (1 / trials))


def _totals(tally: Counter[Counts]) -> tuple[int, int, int]:
    """Cases, samples, passes."""
    samples, passes = (sum(one[place] * times for one, times in tally.items()) for place in (0, 1))
    return tally.total(), samples, passes
