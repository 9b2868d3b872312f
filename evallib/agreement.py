"""How well a check or a judge agrees with people: counts, rates with named denominators, kappa and AC1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evallib.errors import InputError
from evallib.estimators import Interval, wilson

__all__ = ["Agreement", "cohen_kappa", "gwet_ac1"]

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
        found = [value for a, b, c, d in drawn if (value := coefficient(((a, b), (c, d)))) is not None]
        if 2 * len(found) < _RESAMPLES or min(found) == max(found):
            return None
        low, high = (float(one) for one in np.percentile(found, [2.5, 97.5]))
        return Interval(low, high)


def _rate(count: int, of: int) -> dict[str, Any]:
    """A share with its count, its denominator and Wilson's 95 % interval; no value where there is nothing to share."""
    if not of:
        return {"value": None, "count": count, "of": of, "interval": None}
    return {"value": count / of, "count": count, "of": of, "interval": list(wilson(count / of, of))}
