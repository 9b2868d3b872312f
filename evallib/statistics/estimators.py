"""Estimators of pass@k and pass^k in exact integers, and the intervals of shares and of means over cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

from evallib.errors import InputError

__all__ = [
    "Counts", "Estimate", "Interval", "clopper_pearson", "effective_size", "jeffreys", "of_finite", "over_cases",
    "pass_at_k", "pass_hat_k", "wilson", "wilson_interval",
]  # fmt: skip

_Z = NormalDist().inv_cdf(0.975)


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


@lru_cache(maxsize=65536)
def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Chance that at least one of k samples drawn from n (c of them passes) passes; None when n < k.

    Chen et al. 2021, arXiv 2107.03374: 1 - C(n-c,k)/C(n,k), here in integers with one rounding.
    """
    _check_counts(n, c, k)
    if n < k:
        return None
    every = math.comb(n, k)
    return (every - math.comb(n - c, k)) / every


@lru_cache(maxsize=65536)
def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Chance that all of k samples drawn from n (c of them passes) pass; None when n < k.

    Yao et al. 2024, arXiv 2406.12045: C(c,k)/C(n,k), and not (c/n)^k.
    """
    _check_counts(n, c, k)
    return math.comb(c, k) / math.comb(n, k) if n >= k else None


def _check_counts(n: int, c: int, k: int) -> None:
    if k < 1:
        raise InputError(f"k is {k!r}; pass@k and pass^k need a whole number of at least 1")
    if not 0 <= c <= n:
        raise InputError(f"{c!r} passes of {n!r} samples cannot be; passes lie between 0 and the number of samples")


def wilson(mean: float, n: float, z: float = _Z) -> Interval:
    """Wilson's 95 % interval of a share `mean` on `n` (also fractional) independent trials."""
    middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    # Rounding must not push the end of a share that is 0 or 1 inside (0, 1).
    return Interval(0.0 if mean == 0 else max(0.0, middle - half), 1.0 if mean == 1 else min(1.0, middle + half))


def wilson_interval(case_values: Sequence[float], draws: float) -> Interval | None:
    """Wilson on effective cases: the interval of the mean of per-case values in [0, 1]; None below two cases.

    The effective size m(1-m)/SE^2 lies between the number of cases and of `draws` that share no sample, and is then
    shrunk by (z/t)^2 for the estimated standard error. Never zero width, never outside [0, 1].
    """
    if len(case_values) < 2:
        return None
    return wilson(math.fsum(case_values) / len(case_values), effective_size(case_values, draws))


def effective_size(case_values: Sequence[float], draws: float) -> float:
    """How many independent trials the per-case values in [0, 1] are worth; `wilson_interval` says how. Two or more.

    Where the `draws` hold less than one that comes out otherwise than the rest, they are worth more than the cases
    in that proportion only: so the size falls to the number of cases as the mean nears 0 or 1, and not at a leap.
    """
    from scipy.special import stdtrit

    cases = len(case_values)
    mean = math.fsum(case_values) / cases
    square_error = math.fsum((v - mean) ** 2 for v in case_values) / (cases - 1) / cases
    size = mean * (1 - mean) / square_error if square_error > 0 else cases
    most = cases + max(draws - cases, 0) * min(1.0, draws * min(mean, 1 - mean))
    size = min(max(size, cases), most)
    return float(size * (_Z / float(stdtrit(cases - 1, 0.975))) ** 2)


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

    low = _first(least, most, lambda have: 1 - at_most(have, found - 1) > tail)
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


def over_cases(counts: Iterable[Counts], k: int, estimator: Callable[[int, int, int], float | None]) -> Estimate:
    """The mean of `estimator` over the cases with at least k samples, with interval and number of such cases.

    n samples hold n/k draws of k that share none, and a case is worth no more trials than those: the variance of the
    mean over every draw of k is at most k/n of one draw's (Hoeffding 1948, 5.13), and its estimate from the cases
    alone goes to 0 with k where nearly every draw passes.
    """
    able = [one for one in counts if one.n >= k]
    values = [value for n, c in able if (value := estimator(n, c, k)) is not None]
    if not values:
        return Estimate(None, None, 0)
    draws = sum(one.n for one in able) / k
    return Estimate(math.fsum(values) / len(values), wilson_interval(values, draws), len(values))
