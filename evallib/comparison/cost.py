"""Tokens and cost of two runs, per sample of their shared cases, and held against each other only in equal contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evallib.comparison.contexts import Difference, unequal_for_cost
from evallib.costs import Costs, costs_of
from evallib.prices import PriceTable
from evallib.store import Run

__all__ = ["PairedCosts", "paired_costs"]


@dataclass(frozen=True, slots=True)
class PairedCosts:
    """What both runs took on their shared cases."""

    a: Costs
    b: Costs
    why_not: str
    """Why the two are not held against each other; empty where they are."""

    def change(self, name: str) -> float | None:
        """How far `tokens_per_sample` or `per_sample` of the target moved, as a share; None where nobody can say."""
        then, now = (getattr(one.target, name) for one in (self.a, self.b))
        return None if self.why_not or now is None or not then else now / then - 1

    def as_json(self) -> dict[str, Any]:
        """The object that stands as `cost` in `compare --json`."""
        return {
            "a": self.a.as_json(),
            "b": self.b.as_json(),
            "why_not_compared": self.why_not or None,
            "tokens_change": self.change("tokens_per_sample"),
            "cost_change": self.change("per_sample"),
        }

    def lines(self) -> list[str]:
        """Both in words, and how far they moved or why nobody says."""
        lines = [f"{name}: {_tokens(one)}; {one.line()}" for name, one in (("A", self.a), ("B", self.b))]
        moved = {"tokens": self.change("tokens_per_sample"), "cost": self.change("per_sample")}
        told = [f"{name} per sample {share:+z.0%}" for name, share in moved.items() if share is not None]
        return [*lines, self.why_not or ", ".join(told)] if self.why_not or told else lines


def _tokens(costs: Costs) -> str:
    tokens = costs.target.tokens_per_sample
    return "tokens a sample unknown" if tokens is None else f"{tokens:,.0f} tokens a sample"


def paired_costs(
    a: Run, b: Run, shared: Sequence[str], found: Sequence[Difference], prices: PriceTable | None
) -> PairedCosts:
    """The costs of both runs on `shared` cases; `found` is how their contexts differ."""
    unequal = unequal_for_cost(found)
    why = (
        f"tokens and cost are not held against each other, because these differ: {', '.join(unequal)}"
        if unequal
        else ""
    )
    return PairedCosts(costs_of([a], prices, shared), costs_of([b], prices, shared), why)
