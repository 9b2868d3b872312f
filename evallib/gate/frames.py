"""Rows of the two frames as the rules read them, and the words in which every rule names what it looked at."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from evallib.gate.thresholds import TOLERANCE, reaches

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "JUDGED", "KEY", "Row", "Rule", "by_case", "key_of", "listed", "low_cases", "mean_of", "name_of", "plain_rows",
    "scored_rows", "shown",
]  # fmt: skip

_NAMED = 5
KEY = ("run_id", "case_id", "sample")
key_of = itemgetter(*KEY)
JUDGED = (*KEY, "check_id", "status", "value", "raw", "passed", "stochastic")
"""The columns of verdicts that rules read; `judge` where it is there."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the gate, whether it holds, and why in one sentence."""

    rule: str
    passed: bool
    reason: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    """What the rule looked at, in numbers; its keys stand beside the others in JSON."""

    def as_json(self) -> dict[str, Any]:
        """The row as `evallib gate --json` prints it."""
        return {"rule": self.rule, "passed": self.passed, "reason": self.reason, **self.detail}


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The frame's rows with every kind of missing value (NaN, pandas NA) as None."""
    names = [str(name) for name in frame]
    columns = [frame[name].astype(object).mask(frame[name].isna(), None).tolist() for name in frame]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def scored_rows(samples: Iterable[Row]) -> list[Row]:
    """The samples whose outcome could be had."""
    return [row for row in samples if row["status"] == "scored" and row["sample_status"] != "missing"]


def mean_of(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return math.fsum(values) / len(values) if values else None


def by_case(rows: Iterable[Row], column: str) -> dict[str, list[float]]:
    """Known values of `column` per case; a case without any stands with an empty list."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        found[str(row["case_id"])] += [] if row[column] is None else [float(row[column])]
    return found


def low_cases(means: Mapping[str, float | None], threshold: float) -> list[dict[str, Any]]:
    """The cases below a threshold, lowest first, as a rule's detail names them."""
    low = [(mean, case) for case, mean in means.items() if mean is not None and not reaches(mean, threshold)]
    return [{"case_id": case, "mean": mean} for mean, case in sorted(low)]


def shown(value: float, threshold: float, digits: int = 2) -> tuple[str, str]:
    """Both figures with as many digits as it takes to tell them apart."""
    while digits < 9 and abs(value - threshold) > TOLERANCE and f"{value:.{digits}f}" == f"{threshold:.{digits}f}":
        digits += 1
    return f"{value:.{digits}f}", f"{threshold:.{digits}f}" if digits > 3 else f"{threshold:.2f}"


def name_of(row: Row) -> str:
    """`case sample n`."""
    return f"{row['case_id']} sample {row['sample']}"


def listed(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
