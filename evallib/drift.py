"""How far tokens and cost of a run moved from the one before it, where both asked the same of the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from evallib.costs import costs_of
from evallib.prices import PriceTable
from evallib.store import Run, readable_runs

__all__ = ["MOST", "Drift", "drift_of"]

MOST = 0.25
"""A larger share is worth a warning."""
_ALIKE = ("suite_digest", "target", "cases", "judges", "judge")
"""What two plans must share before tokens are held against each other: criteria, target with all that identifies it,
cases and repeats, and who judged."""


class Drift(NamedTuple):
    """The change of tokens and of cost per sample as shares, 0.25 for 25 % more; None where either is unknown."""

    previous: str
    tokens: float | None
    cost: float | None

    def warnings(self) -> list[str]:
        """One sentence for each that moved by more than a quarter, up or down."""
        moved = {"tokens": self.tokens, "cost": self.cost}
        return [
            f"{name} per sample moved {share:+.0%} from run {self.previous}"
            for name, share in moved.items()
            if share is not None and round(abs(share), 9) > MOST  # 5 of 4 tokens over 3 samples are no more
        ]


def drift_of(run: Run, data: Path, prices: PriceTable | None = None) -> Drift | None:
    """Against the last complete run before it that was alike; None where there is none. Nothing is gated by it."""
    earlier = [
        other
        for other in readable_runs(data)
        if other.id != run.id
        and other.complete
        and all(other.plan.get(name) == run.plan.get(name) for name in _ALIKE)
        and other.plan["created"] < run.plan["created"]
    ]
    before = max(earlier, key=lambda other: str(other.plan["created"]), default=None)
    if before is None:
        return None
    both = [replace(one, for_aggregates=True) if one.sealed else one for one in (run, before)]  # a mean is no answer
    costs = [costs_of([one], prices).target.per_sample if prices else None for one in both]
    return Drift(before.id, _change(_tokens_per_sample(run), _tokens_per_sample(before)), _change(*costs))


def _change(now: float | None, then: float | None) -> float | None:
    return now / then - 1 if now is not None and then else None


def _tokens_per_sample(run: Run) -> float | None:
    usage, count = run.manifest["usage"], run.manifest["counts"]["samples"]
    if usage["input_tokens"] is None or usage["output_tokens"] is None or not count:
        return None
    return float(usage["input_tokens"] + usage["output_tokens"]) / int(count)
