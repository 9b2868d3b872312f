"""Two runs on the same cases: the paired difference, its tests, what could have been found, and many tests at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from evallib.errors import InputError

__all__ = [
    "FLIPS", "PairedDifference", "Tested", "benjamini_hochberg", "cases_needed", "cases_to_show", "holm", "mcnemar",
    "mcnemar_mid_p", "minimum_detectable", "paired_difference", "repeats_needed", "sign_flip",
]  # fmt: skip

FLIPS = 20_000
"""Random sign flips where there are too many to go through all."""
_MOST_SUMS = 2**20
_NORMAL = NormalDist()


class PairedDifference(NamedTuple):
    """The mean of B minus A over cases, its standard error, and its 95 % interval; None below two cases."""

    mean: float
    se: float | None
    interval: tuple[float, float] | None
    cases: int


class Tested(NamedTuple):
    """A two-sided p value, and whether it is exact or from seeded random flips."""

    p: float
    exact: bool


def paired_difference(differences: Sequence[float], span: float | None = 1.0) -> PairedDifference:
    """The mean per-case difference with Student's t interval on cases - 1 degrees of freedom (Miller 2024, 2411.00640).

    `span` is the most two values can lie apart: the interval ends there. Where all differences are the same, t has no
    width; then the interval holds what is left when the largest share of other cases that could have stayed unseen
    (one-sided 95 %, Clopper and Pearson) differs by as much as can be. Without a span that is not known.
    """
    cases = len(differences)
    if not cases:
        raise InputError("no case stands in both runs, so there is no difference to take")
    _refuse_unknown(differences, "a difference", math.inf)
    mean = math.fsum(differences) / cases
    if cases < 2:
        return PairedDifference(mean, None, None, cases)
    se = math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (cases - 1) / cases)
    if max(differences) - min(differences) <= 1e-12 * max(1.0, abs(mean)):
        unseen = 1 - 0.05 ** (1 / cases)
        ends = None if span is None else (mean - unseen * (span + mean), mean + unseen * (span - mean))
        return PairedDifference(mean, 0.0, ends, cases)
    from scipy.special import stdtrit

    half = float(stdtrit(cases - 1, 0.975)) * se
    most = math.inf if span is None else span
    return PairedDifference(mean, se, (max(-most, mean - half), min(most, mean + half)), cases)


def sign_flip(differences: Sequence[float], seed: int = 0) -> Tested:
    """The chance of a mean as far from 0 when each case's difference has either sign alike; ties count (Fisher 1935).

    Exact as long as the sums that can come out are few enough to hold: always up to 20 cases that differ, and far
    beyond where the differences have few sizes, as pass rates have. Else `FLIPS` flips, with (hits + 1) / (flips + 1).
    """
    _refuse_unknown(differences, "a difference", math.inf)
    sizes = Counter(round(abs(d), 12) for d in differences)  # what rounding alone tells apart is one size
    del sizes[0.0]
    if not sizes:
        return Tested(1.0, exact=True)
    observed = abs(math.fsum(differences))
    edge = observed - 1e-9 * math.fsum(size * count for size, count in sizes.items())
    exact = _tail(sizes, edge)
    return Tested(_drawn_tail(sizes, edge, seed), exact=False) if exact is None else Tested(min(1.0, exact), exact=True)


def _refuse_unknown(values: Sequence[float], what: str, most: float = 1.0) -> None:
    """InputError for what is no number: it would be smaller than any, and so shown."""
    wrong = next((value for value in values if not math.isfinite(value) or abs(value) > most), None)
    if wrong is not None:
        raise InputError(f"{wrong!r} cannot be {what}; leave out what is not known")


def _tail(sizes: Counter[float], edge: float) -> float | None:
    """The share of all sign flips whose sum is at least `edge` from 0; None when they are too many."""
    import numpy as np
    from scipy.special import gammaln

    grain = 1e-10 * math.fsum(size * count for size, count in sizes.items())
    sums, chances = np.zeros(1), np.ones(1)
    for size, count in sizes.items():
        if len(sums) * (count + 1) > _MOST_SUMS:
            return None
        plus = np.arange(count + 1)
        ways = np.exp(gammaln(count + 1) - gammaln(plus + 1) - gammaln(count - plus + 1) - count * math.log(2))
        sums = (sums[:, None] + size * (2 * plus - count)[None, :]).ravel()
        chances = (chances[:, None] * ways[None, :]).ravel()
        # Sums that rounding alone tells apart are one: else a grid of few sums would double with every case.
        order = np.argsort(sums, kind="stable")
        first = np.flatnonzero(np.diff(sums[order], prepend=-math.inf) > grain)
        sums, chances = sums[order][first], np.add.reduceat(chances[order], first)
    return float(math.fsum(chances[np.abs(sums) >= edge]))


def _drawn_tail(sizes: Counter[float], edge: float, seed: int) -> float:
    import numpy as np

    draw = np.random.default_rng(seed)
    sums = np.zeros(FLIPS)
    for size, count in sizes.items():
        sums += size * (2 * draw.binomial(count, 0.5, FLIPS) - count)
    return (int(np.count_nonzero(np.abs(sums) >= edge)) + 1) / (FLIPS + 1)


def mcnemar(only_a: int, only_b: int) -> float:
    """Exact two-sided p of one sample per case: `only_a` cases pass in A alone, `only_b` in B alone (McNemar 1947).

    The binomial tails in whole numbers; the same as `sign_flip` of these differences. 1 where no case differs.
    """
    below, _, every = _binomial(only_a, only_b)
    return min(1.0, 2 * below / every)


def mcnemar_mid_p(only_a: int, only_b: int) -> float:
    """The same with half the chance of tables as uneven as the one seen: less conservative (Fagerland et al. 2013).

    Two tables are so uneven, and one where the counts are the same.
    """
    below, here, every = _binomial(only_a, only_b)
    halves = 2 * (2 * below - here) - here * (only_a == only_b)
    return halves / (2 * every) if only_a + only_b else 1.0


def _binomial(only_a: int, only_b: int) -> tuple[int, int, int]:
    """Ways to draw at most the smaller count, just it, and any, of as many coin tosses as cases differ."""
    if min(only_a, only_b) < 0:
        raise InputError(f"{only_a!r} and {only_b!r} cannot be counts of cases; counts begin at 0")
    tosses, least = only_a + only_b, min(only_a, only_b)
    here = below = 1
    for i in range(least):
        here = here * (tosses - i) // (i + 1)
        below += here
    return below, here, 2**tosses


def minimum_detectable(se: float, alpha: float = 0.05, power: float = 0.8) -> float:
    """The least true difference that a two-sided test at `alpha` finds with chance `power`: (z + z) x SE (Miller 2024).

    2.80 standard errors of the difference for 5 % and 80 %.
    """
    return (_NORMAL.inv_cdf(1 - alpha / 2) + _NORMAL.inv_cdf(power)) * se


def cases_to_show(alpha: float) -> int:
    """The fewest cases with which a sign flip can come below `alpha`: its least p is 2 / 2^cases, all one way."""
    return math.floor(math.log2(2 / alpha)) + 1


def cases_needed(se: float, cases: int, difference: float, alpha: float = 0.05) -> int:
    """How many cases like these it takes to find a true `difference` with 80 % chance at `alpha` (Miller 2024).

    The standard error falls with the root of the cases.
    """
    if not difference:
        raise InputError("no number of cases shows a difference of 0")
    return max(2, math.ceil(cases * (minimum_detectable(se, alpha) / abs(difference)) ** 2 - 1e-9))


def repeats_needed(
    variance: float,
    within: tuple[float, float],
    repeats: tuple[float, float],
    cases: int,
    difference: float,
    *,
    alpha: float = 0.05,
) -> int | None:
    """How many samples of each of these cases, in each run, find a true `difference`; None when no number does.

    `variance` is that of the per-case differences, `within` one sample's in A and B on a re-run of its case, `repeats`
    the samples per case. Var(d) = between + within_A / n_A + within_B / n_B (Miller 2024): repeats shrink the last two.
    """
    between = max(0.0, variance - within[0] / repeats[0] - within[1] / repeats[1])
    room = cases * (abs(difference) / minimum_detectable(1.0, alpha)) ** 2 - between
    return max(1, math.ceil(math.fsum(within) / room - 1e-9)) if room > 0 else None


def holm(ps: Sequence[float]) -> list[float]:
    """Each p corrected for all of them, in the given order: any false finding has a chance of 5 % (Holm 1979)."""
    _refuse_unknown(ps, "a p value")
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    corrected, least = [0.0] * len(ps), 0.0
    for rank, at in enumerate(order):
        least = max(least, min(1.0, (len(ps) - rank) * ps[at]))
        corrected[at] = least
    return corrected


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Each p corrected so that of the findings 5 % are false on average: to explore (Benjamini and Hochberg 1995)."""
    _refuse_unknown(ps, "a p value")
    order = sorted(range(len(ps)), key=lambda i: ps[i], reverse=True)
    corrected, most = [0.0] * len(ps), 1.0
    for fewer, at in enumerate(order):
        most = min(most, len(ps) / (len(ps) - fewer) * ps[at])
        corrected[at] = most
    return corrected
