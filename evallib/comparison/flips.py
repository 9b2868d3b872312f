"""The cases that moved between two runs, in both directions: never only a mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evallib.comparison.rows import Row, passes_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Flip", "case_flips"]


@dataclass(frozen=True, slots=True)
class Flip:
    """One case that passes more often, or less often, in B."""

    case_id: str
    a: tuple[int, int]
    """Passes and planned samples in A; errors are no passes."""
    b: tuple[int, int]
    errors: tuple[int, int]
    """Samples without an outcome in A and in B."""
    required: bool
    by: str
    """`errors` where the share of passes does not move so without them, `rules` where it does without model verdicts,
    else `model`."""
    checks: tuple[str, ...]
    """Ids of the checks whose figure moved the same way."""

    @property
    def rose(self) -> bool:
        """Whether it passes more often in B."""
        return self.b[0] * self.a[1] > self.a[0] * self.b[1]

    @property
    def word(self) -> str:
        """How it moved: between always, sometimes and never."""
        before, after = (_how_often(*one) for one in (self.a, self.b))
        return f"{before} -> {after}" if before != after else f"{before}, {'more' if self.rose else 'less'} often"

    def as_json(self) -> dict[str, Any]:
        """The flip as `evallib compare --json` prints it."""
        return {
            "case_id": self.case_id,
            "a": {"passes": self.a[0], "samples": self.a[1], "errors": self.errors[0]},
            "b": {"passes": self.b[0], "samples": self.b[1], "errors": self.errors[1]},
            "required": self.required,
            "change": self.word,
            "by": self.by,
            "checks": list(self.checks),
        }


def _how_often(passes: int, samples: int) -> str:
    return "never" if not passes else "always" if passes == samples else "sometimes"


def case_flips(a: pd.DataFrame, b: pd.DataFrame, rows: list[Row]) -> list[Flip]:
    """Every shared case whose share of passes differs, those that fell first, the farthest first.

    A case that passed never and now sometimes has risen: flaky is no regression from nothing.
    """
    first, second = _counts(a), _counts(b)
    both = first.add_suffix("_a").join(second.add_suffix("_b"), how="inner")
    share = both["passed_b"] / both["n_b"] - both["passed_a"] / both["n_a"]
    rules = both["rules_b"] / both["n_b"] - both["rules_a"] / both["n_a"]
    scored = both["passed_b"] / both["scored_b"] - both["passed_a"] / both["scored_a"]  # nan where nothing is scored
    moved = both.assign(by_rules=rules * share > 0, by_scored=scored * share > 0)[share.abs() > 1e-12]
    checks = _checks_of(rows)
    flips = [_flip(str(case), row, checks) for case, row in zip(moved.index, moved.to_dict("records"), strict=True)]
    return sorted(flips, key=lambda f: (f.rose, -abs(f.b[0] / f.b[1] - f.a[0] / f.a[1]), f.case_id))


def _checks_of(rows: list[Row]) -> dict[tuple[str, bool], list[str]]:
    """(case, whether it rose) to the checks that moved so."""
    found: dict[tuple[str, bool], list[str]] = {}
    for row in rows:
        for rose, cases in ((True, row.rose), (False, row.fell)):
            for case in cases if row.kind == "check" else ():
                found.setdefault((case, rose), []).append(row.row)
    return found


def _counts(outcomes: pd.DataFrame) -> pd.DataFrame:
    planned = passes_of(outcomes)
    by_rules = planned["passed_deterministic" if "passed_deterministic" in planned else "passed"]
    planned = planned.assign(rules=planned["scored"] & by_rules.astype("boolean").fillna(value=False).astype(bool))
    grouped = planned.groupby("case_id", sort=True)
    counts = grouped[["passed", "rules", "scored"]].sum()
    return counts.assign(n=grouped.size(), required=grouped["required"].any())


def _flip(case: str, row: Mapping[Any, Any], checks: Mapping[tuple[str, bool], list[str]]) -> Flip:
    a, b = (int(row["passed_a"]), int(row["n_a"])), (int(row["passed_b"]), int(row["n_b"]))
    rose = b[0] * a[1] > a[0] * b[1]
    errors = (a[1] - int(row["scored_a"]), b[1] - int(row["scored_b"]))
    required = bool(row["required_a"] or row["required_b"])
    by = "errors" if not row["by_scored"] else "rules" if row["by_rules"] else "model"
    return Flip(case, a, b, errors, required, by, tuple(checks.get((case, rose), ())))
