"""Coefficients of agreement, of a check or judge with people and of people with each other: kappa, alpha, AC1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from evallib.errors import InputError
from evallib.statistics.estimators import Interval, wilson

__all__ = ["Agreement", "Coefficient", "Level", "coefficients", "cohen_kappa", "gwet_ac1", "krippendorff_alpha"]

Level = Literal["nominal", "ordinal", "interval"]
Numbers = Any
"""A numpy array: numpy is imported where it is used, and types the products of its arrays as Any."""
Units = Sequence[Sequence[Hashable]]
"""One row per item, one place per reader: the label, None where the reader said nothing."""

Table = Sequence[Sequence[int]]
"""Square counts: one rater's categories down, the other's across, in the same order."""
_RESAMPLES, _SEED = 4000, 20


def cohen_kappa(table: Table, weights: Literal["linear", "quadratic"] | None = None) -> float | None:
    """Cohen's kappa of two raters (Cohen 1960; weighted: 1968); None where chance alone explains everything."""
    size, total = _checked(table), sum(sum(row) for row in table)
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]

    def cost(i: int, j: int) -> int:
        return abs(i - j) if weights == "linear" else (i - j) * (i - j) if weights == "quadratic" else int(i != j)

    cells = [(i, j) for i in range(size) for j in range(size)]
    expected = sum(cost(i, j) * rows[i] * columns[j] for i, j in cells)  # over total squared
    if not total or not expected:
        return None
    observed = sum(cost(i, j) * table[i][j] for i, j in cells)
    return float(1 - total * observed / expected)


def gwet_ac1(table: Table) -> float | None:
    """Gwet's AC1 of two raters (Gwet 2008), which a rare category does not sink; None without items."""
    size, total = _checked(table), sum(sum(row) for row in table)
    if not total:
        return None
    shares = [(sum(table[k]) + sum(row[k] for row in table)) / (2 * total) for k in range(size)]
    chance = sum(share * (1 - share) for share in shares) / (size - 1)
    return (sum(table[k][k] for k in range(size)) / total - chance) / (1 - chance)


class Coefficient(NamedTuple):
    """One figure of agreement; `why` says what is missing where value or interval is None."""

    value: float | None
    interval: Interval | None
    why: str = ""


def krippendorff_alpha(units: Units, level: Level = "nominal") -> float | None:
    """Krippendorff's alpha of any number of readers with gaps (Krippendorff 2011, Computing alpha-reliability).

    None where no item has two readers, or only one label occurs: nothing is known then, so alpha is not 1.
    """
    items = _pairable(units)
    return _value(_alpha(_Patterns.of(items), level, _once(len(items)))) if items else None


def coefficients(units: Units, categories: Sequence[Hashable] = ()) -> dict[str, Coefficient]:
    """`agreement`, `kappa`, `alpha` and `ac1` of the items that have two readers, each with its 95 % interval.

    `categories` are labels that could have been given besides those that were; AC1 counts them. Intervals are
    percentiles over items drawn again with a fixed seed; that of the agreement is Wilson's, which has a width too
    where all agree.
    """
    items = _pairable(units)
    if not items:
        nothing = Coefficient(None, None, "no item has two readers")
        return dict.fromkeys(("agreement", "kappa", "alpha", "ac1"), nothing)
    counted = sorted(Counter(items).items(), key=repr)
    patterns = _Patterns.of([pattern for pattern, _ in counted])
    times = [count for _, count in counted]
    size = len({*categories, *patterns.labels})
    agreement = _value(_agreement(patterns, _as_row(times)))
    found = {
        "kappa": _resampled(lambda w: _kappa(patterns, w), times),
        "alpha": _resampled(lambda w: _alpha(patterns, "nominal", w), times),
        "ac1": _resampled(lambda w: _ac1(patterns, size, w), times),
    }
    if len(items[0]) != 2:
        found["kappa"] = Coefficient(None, None, "Cohen's kappa is of two readers; see alpha and the pairs")
    of = wilson(agreement, len(items)) if agreement is not None else None
    return {"agreement": Coefficient(agreement, of), **found}


def _pairable(units: Units) -> list[tuple[Hashable, ...]]:
    return [tuple(unit) for unit in units if sum(label is not None for label in unit) >= 2]


@dataclass(frozen=True, slots=True)
class _Patterns:
    """Distinct rows of labels. Weights beside them, one row per resample, say how often each was seen."""

    rows: Sequence[tuple[Hashable, ...]]
    labels: Sequence[Hashable]
    counts: Numbers
    """Patterns down, labels across: how many readers gave the label."""

    @classmethod
    def of(cls, rows: Sequence[tuple[Hashable, ...]]) -> _Patterns:
        import numpy as np

        used: set[Any] = {label for row in rows for label in row if label is not None}
        labels = sorted(used)
        return cls(rows, labels, np.array([[row.count(label) for label in labels] for row in rows], float))

    @property
    def readers(self) -> Numbers:
        """How many readers each pattern has, as a column."""
        return self.counts.sum(axis=1, keepdims=True)


def _agreement(patterns: _Patterns, weights: Numbers) -> Numbers:
    """Mean over items of the share of pairs of readers that agree (Fleiss 1971; with gaps: Gwet 2008)."""
    counts, readers = patterns.counts, patterns.readers
    same = (counts * (counts - 1) / (readers * (readers - 1))).sum(axis=1)
    return weights @ same / weights.sum(axis=1)


def _ac1(patterns: _Patterns, size: int, weights: Numbers) -> Numbers:
    """Gwet's AC1 of any number of readers (Gwet 2008, section 5), with `size` labels to choose from, at least two."""
    shares = weights @ (patterns.counts / patterns.readers) / weights.sum(axis=1, keepdims=True)
    chance = (shares * (1 - shares)).sum(axis=1) / (max(size, 2) - 1)
    return (_agreement(patterns, weights) - chance) / (1 - chance)


def _kappa(patterns: _Patterns, weights: Numbers) -> Numbers:
    """Cohen's kappa of the first two readers, for patterns that have both."""
    import numpy as np

    first, second = (
        weights @ np.array([[row[reader] == label for label in patterns.labels] for row in patterns.rows], float)
        for reader in (0, 1)
    )
    n = weights.sum(axis=1)
    left, observed = n * n - (first * second).sum(axis=1), n * n * (1 - _agreement(patterns, weights))
    return 1 - _divided(observed, left)


def _alpha(patterns: _Patterns, level: Level, weights: Numbers) -> Numbers:
    """One minus observed over expected distance, from Krippendorff's coincidences of pairs of labels."""
    import numpy as np

    counts = patterns.counts
    totals = weights @ counts
    pairs = np.einsum("rp,pc,pk->rck", weights, counts / (patterns.readers - 1), counts)
    if level == "nominal":
        distance = 1.0 - np.eye(len(patterns.labels))[None]
    else:
        place = np.array([patterns.labels], float) if level == "interval" else totals.cumsum(axis=1) - totals / 2
        distance = (place[:, :, None] - place[:, None, :]) ** 2
    expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2))
    return 1 - (totals.sum(axis=1) - 1) * _divided((pairs * distance).sum(axis=(1, 2)), expected)


def _divided(over: Numbers, under: Numbers) -> Numbers:
    """The quotient, nan where it is undefined."""
    import numpy as np

    return np.divide(over, under, out=np.full(under.shape, np.nan), where=under > 0)


def _as_row(times: Sequence[int]) -> Numbers:
    import numpy as np

    return np.array([times], float)


def _once(items: int) -> Numbers:
    return _as_row([1] * items)


def _value(found: Numbers) -> float | None:
    value = float(found[0])
    return None if math.isnan(value) else value


def _resampled(statistic: Callable[[Numbers], Numbers], times: Sequence[int]) -> Coefficient:
    """The statistic of the items, and its percentiles over items drawn again."""
    import numpy as np

    value, n = _value(statistic(_as_row(times))), sum(times)
    if value is None:
        return Coefficient(None, None, "only one label occurs, so chance explains everything")
    if n < 2:
        return Coefficient(value, None, "one item has no interval")
    drawn = np.random.default_rng(_SEED).multinomial(n, np.array(times) / n, _RESAMPLES).astype(float)
    found = statistic(drawn)
    interval = _percentiles(found[~np.isnan(found)].tolist())
    return Coefficient(value, interval, "" if interval else "drawing the items again does not move it")


def _percentiles(found: Sequence[float]) -> Interval | None:
    """The 95 % percentile interval; None where it has no width or most resamples were undefined."""
    import numpy as np

    if 2 * len(found) < _RESAMPLES or min(found) == max(found):
        return None
    low, high = (float(one) for one in np.percentile(found, [2.5, 97.5]))
    return Interval(low, high)


def _checked(table: Table) -> int:
    size = len(table)
    if size < 2 or any(len(row) != size for row in table) or any(count < 0 for row in table for count in row):
        raise InputError("a table of agreement is square, with at least two categories and no count below zero")
    return size


@dataclass(frozen=True, slots=True)
class Agreement:
    """A check's or judge's pass and fail beside a person's, over the same items."""

    both_pass: int
    false_pass: int
    """It passes what the person fails."""
    false_fail: int
    """It fails what the person passes."""
    both_fail: int

    @classmethod
    def of(cls, pairs: Sequence[tuple[bool, bool]]) -> Agreement:
        """From (label, predicted) pairs, True for pass."""
        return cls(*(pairs.count(pair) for pair in ((True, True), (False, True), (True, False), (False, False))))

    @property
    def n(self) -> int:
        """Items that have both."""
        return self.both_pass + self.false_pass + self.false_fail + self.both_fail

    @property
    def matches(self) -> int:
        """Items on which both agree."""
        return self.both_pass + self.both_fail

    @property
    def majority_baseline(self) -> float | None:
        """The agreement of something that gives the commoner label without looking."""
        passes = self.both_pass + self.false_fail
        return max(passes, self.n - passes) / self.n if self.n else None

    @property
    def table(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Labels down, predictions across, pass first."""
        return (self.both_pass, self.false_fail), (self.false_pass, self.both_fail)

    def as_dict(self) -> dict[str, Any]:
        """Every figure with its interval; rates name their denominators (statistics reference, section 2.1)."""
        judged_pass, judged_fail = self.both_pass + self.false_pass, self.false_fail + self.both_fail
        labelled_pass, labelled_fail = self.both_pass + self.false_fail, self.false_pass + self.both_fail
        return {
            "n": self.n,
            "matches": self.matches,
            "agreement": _rate(self.matches, self.n),
            "majority_baseline": self.majority_baseline,
            "labelled_pass": labelled_pass,
            "labelled_fail": labelled_fail,
            "false_pass": self.false_pass,
            "false_pass_of_judged_passes": _rate(self.false_pass, judged_pass),
            "false_pass_of_labelled_fails": _rate(self.false_pass, labelled_fail),
            "false_fail": self.false_fail,
            "false_fail_of_judged_fails": _rate(self.false_fail, judged_fail),
            "false_fail_of_labelled_passes": _rate(self.false_fail, labelled_pass),
            "kappa": self._coefficient(cohen_kappa),
            "ac1": self._coefficient(gwet_ac1),
        }

    def _coefficient(self, coefficient: Callable[[Table], float | None]) -> dict[str, Any]:
        interval = self._resampled(coefficient)
        return {"value": coefficient(self.table), "interval": list(interval) if interval else None}

    def _resampled(self, coefficient: Callable[[Table], float | None]) -> Interval | None:
        """The 95 % percentile interval over items drawn again; None where that has no width or is mostly undefined."""
        if self.n < 2:
            return None
        import numpy as np

        cells = np.array([self.both_pass, self.false_fail, self.false_pass, self.both_fail])
        drawn = np.random.default_rng(_SEED).multinomial(self.n, cells / self.n, _RESAMPLES).tolist()
        return _percentiles([v for a, b, c, d in drawn if (v := coefficient(((a, b), (c, d)))) is not None])


def _rate(count: int, of: int) -> dict[str, Any]:
    """A share with its count, its denominator and Wilson's 95 % interval; no value where there is nothing to share."""
    if not of:
        return {"value": None, "count": count, "of": of, "interval": None}
    return {"value": count / of, "count": count, "of": of, "interval": list(wilson(count / of, of))}
