"""Estimators of pass@k and pass^k in exact integers, and the intervals of shares and of means over cases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain, repeat
from statistics import NormalDist
from typing import NamedTuple, TypeVar

from evallib.errors import InputError

__all__ = [
    "Counts", "Estimate", "Interval", "case_values", "clopper_pearson", "effective_size", "jeffreys", "of_finite",
    "over_cases", "pass_at_k", "pass_hat_k", "wilson", "wilson_interval", "worth",
]  # fmt: skip

_Z = NormalDist().inv_cdf(0.975)
_ROUNDING = 1e-12
T = TypeVar("T")


class Interval(NamedTuple):
    """A 95 % interval over cases: how far the figure would move on other cases like these."""

    lo: float
    hi: float


class Counts(NamedTuple):
    """One case: `n` samples, `c` of them passed."""

    n: int
    c: int


class Estimate(NamedTuple):
    """A mean over the cases that have at least k samples; None where no case has."""

    value: float | None
    interval: Interval | None
    eligible: int


_ways = lru_cache(maxsize=4096)(math.comb)  # cases share their n, and so the number of ways to draw k of them


@lru_cache(maxsize=65536)
def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Chance that at least one of k samples drawn from n (c of them passes) passes; None when n < k.

    Chen et al. 2021, arXiv 2107.03374: 1 - C(n-c,k)/C(n,k), here in integers with one rounding.
    """
    _check_counts(n, c, k)
    if n < k:
        return None
    every = _ways(n, k)
    return (every - _ways(n - c, k)) / every


@lru_cache(maxsize=65536)
def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Chance that all of k samples drawn from n (c of them passes) pass; None when n < k.

    Yao et al. 2024, arXiv 2406.12045: C(c,k)/C(n,k), and not (c/n)^k.
    """
    _check_counts(n, c, k)
    return _ways(c, k) / _ways(n, k) if n >= k else None


def _check_counts(n: int, c: int, k: int) -> None:
    if k < 1:
        raise InputError(f"k is {k!r}; pass@k and pass^k need a whole number of at least 1")
    if not 0 <= c <= n:
        raise InputError(f"{c!r} passes of {n!r} samples cannot be; passes lie between 0 and the number of samples")


def wilson(mean: float, n: float, z: float = _Z) -> Interval:
    """Wilson's 95 % interval of a share `mean` on `n` (also fractional) independent trials."""
    if not (n > 0 and -_ROUNDING <= mean <= 1 + _ROUNDING):
        raise InputError(f"a share of {mean!r} of {n!r} trials cannot be; it lies between 0 and 1, of at least one")
    middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    # Rounding must not push the end of a share that is 0 or 1 inside (0, 1).
    return Interval(0.0 if mean == 0 else max(0.0, middle - half), 1.0 if mean == 1 else min(1.0, middle + half))


def wilson_interval(case_values: Iterable[float], draws: float) -> Interval | None:
    """Wilson on effective cases: the interval of the mean of per-case values in [0, 1]; None below two cases.

    The effective size m(1-m)/SE^2 lies between the number of cases and of `draws` that share no sample, and is then
    shrunk by (z/t)^2 for the estimated standard error (statistics reference, 1.6). Never zero width, never outside
    [0, 1]. How often it holds the truth is simulated in docs/coverage.md.
    """
    tally = _tally(case_values)
    return wilson(_mean(tally), effective_size(tally, draws)) if tally.total() > 1 else None


def effective_size(case_values: Iterable[float], draws: float) -> float:
    """How many independent trials the per-case values in [0, 1] are worth; `wilson_interval` says how. Two or more."""
    tally = _tally(case_values)
    mean, cases = _mean(tally), tally.total()
    square = math.fsum(chain.from_iterable(repeat((value - mean) ** 2, times) for value, times in tally.items()))
    return worth(mean, square / (cases - 1) / cases, cases, draws)


def _tally(values: Iterable[T]) -> Counter[T]:
    """How often each stands there: cases are many, and what they can be is little."""
    return values if isinstance(values, Counter) else Counter(values)


def _mean(tally: Counter[float]) -> float:
    return math.fsum(chain.from_iterable(repeat(value, times) for value, times in tally.items())) / tally.total()


def worth(mean: float, square_error: float, cases: int, draws: float) -> float:
    """The effective size of a mean with that squared standard error, estimated from so many cases.

    Where the `draws` hold less than one that comes out otherwise than the rest, they are worth more than the cases
    in that proportion only: so the size falls to the number of cases as the mean nears 0 or 1, and not at a leap.
    Values that rounding alone tells apart do not spread, and are worth as many trials as there are cases.
    """
    size = mean * (1 - mean) / square_error if square_error * cases > _ROUNDING**2 else cases
    most = cases + max(draws - cases, 0) * min(1.0, draws * min(mean, 1 - mean))
    return min(max(size, cases), most) * (_Z / _quantile_of_t(cases - 1)) ** 2


@lru_cache(maxsize=4096)
def _quantile_of_t(freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))


def clopper_pearson(found: int, of: int, alpha: float = 0.05) -> Interval:
    """The exact interval of a share: `found` of `of` independent trials (Clopper and Pearson 1934)."""
    _check_share(found, of)
    from scipy.special import betaincinv

    low = float(betaincinv(found, of - found + 1, alpha / 2)) if found else 0.0
    high = float(betaincinv(found + 1, of - found, 1 - alpha / 2)) if found < of else 1.0
    return Interval(low, high)


def jeffreys(found: int, of: int, alpha: float = 0.05) -> Interval:
    """Jeffreys' interval of a share, with the ends 0 and 1 kept (Brown, Cai and DasGupta 2001)."""
    _check_share(found, of)
    from scipy.special import betaincinv

    a, b = found + 0.5, of - found + 0.5
    low = float(betaincinv(a, b, alpha / 2)) if found else 0.0
    return Interval(low, float(betaincinv(a, b, 1 - alpha / 2)) if found < of else 1.0)


def of_finite(found: int, drawn: int, of: int, tail: float = 0.025) -> Interval:
    """The exact interval of a share of `of` things when `drawn` of them were drawn at random and `found` have it.

    The hypergeometric tails inverted, in whole numbers (Buonaccorsi 1987): drawing all leaves no width. `tail` is the
    chance left outside at each end; 0.05 gives a one-sided 95 % bound.
    """
    _check_share(found, drawn)
    if drawn > of:
        raise InputError(f"{drawn!r} drawn of {of!r} cannot be")
    least, most, every = found, of - (drawn - found), math.comb(of, drawn)

    def at_most(have: int, last: int) -> float:
        first = max(0, drawn - (of - have))
        ways = one = math.comb(have, first) * math.comb(of - have, drawn - first) if first <= last else 0
        for i in range(first, min(last, have, drawn)):
            one = one * (have - i) * (drawn - i) // ((i + 1) * (of - have - drawn + i + 1))
            ways += one
        return ways / every

    low = _first(least, most, lambda have: at_most(of - have, drawn - found) > tail)
    high = most - _first(0, most - least, lambda fewer: at_most(most - fewer, found) > tail)
    return Interval(low / of, high / of)


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first number from `low` for which a condition holds that holds for `high` and stays once it does."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _check_share(found: int, of: int) -> None:
    if of < 1 or not 0 <= found <= of:
        raise InputError(f"{found!r} found of {of!r} cannot be; a share needs at least one trial")


def over_cases(
    counts: Iterable[Counts], k: int, estimator: Callable[[int, int, int], float | None], *, copies: bool = False
) -> Estimate:
    """The mean of `estimator` over the cases with at least k samples, with interval and number of such cases.

    n samples hold n/k draws of k that share none, and a case is worth no more trials than those: the mean over every
    draw of k is a mean, over orders of the samples, of means over n/k such draws, and so varies at most as they do
    (Hoeffding's bound for U-statistics). Its estimate from the cases alone goes to 0 with k where nearly every draw
    passes: with all n for a bound whatever the k, intervals at 1 < k < n held the truth in as few as 86 % of simulated
    runs (docs/coverage.md). With `copies` the samples of a case repeat one another, and it is worth one draw.
    """
    tally = _tally(counts)
    values = case_values(tally, k, estimator)
    if not values:
        return Estimate(None, None, 0)
    cases = values.total()
    draws = cases if copies else sum(one.n * times for one, times in tally.items() if one.n >= k) / k
    return Estimate(_mean(values), wilson_interval(values, draws), cases)


def case_values(counts: Iterable[Counts], k: int, estimator: Callable[[int, int, int], float | None]) -> Counter[float]:
    """The values of `estimator` for the cases with at least k samples, and how many cases have each."""
    found: Counter[float] = Counter()
    for one, times in _tally(counts).items():
        value = estimator(one.n, one.c, k)
        if value is not None:
            found[value] += times
    return found
