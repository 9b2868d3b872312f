"""How long the samples of a run took, and what they used: one row per sample, and how they spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evallib.prices import PriceTable, sample_cost, uncounted
from evallib.records import STRICT, Sample

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["percentile", "spending", "spread_bins", "spread_points"]

_BINS = 20


def spending(samples: Sequence[Sample], model: str = "", prices: PriceTable | None = None) -> pd.DataFrame:
    """One row per sample: seconds, tokens in and out together, and cost; None where nobody said.

    The cost is what the source says, else what the tokens of `model` come to by the table of prices, as in `costs`.
    It says the same of every view, so it carries the name of the first.
    """
    import pandas as pd

    price = prices.price_of(model) if prices else None
    currency = prices.currency if prices else "USD"
    rows = [
        [
            one.run_id, one.case_id, one.sample, one.status, one.duration_s, _tokens(one),
            sample_cost(one.usage, price, currency, vague=any(map(uncounted, (turn.usage for turn in one.turns)))),
        ]
        for one in samples
    ]  # fmt: skip
    quantities = ("seconds", "tokens", f"cost in {currency}")
    frame = pd.DataFrame(rows, columns=["run_id", "case_id", "sample", "sample_status", *quantities])
    known = frame.astype(dict.fromkeys(quantities, "float64"))
    return known.assign(view=STRICT, post_hoc=False, label="")


def _quantities(frame: pd.DataFrame) -> list[str]:
    """What is looked at, of each sample."""
    return [name for name in map(str, frame) if name in {"seconds", "tokens"} or name.startswith("cost in ")]


def _tokens(one: Sample) -> int | None:
    said = [n for n in (one.usage.input_tokens, one.usage.output_tokens) if n is not None]
    return sum(said) if said else None


def percentile(values: Sequence[float], share: float) -> float | None:
    """The least of the values that at least `share` of them do not exceed; None of none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def spread_points(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per quantity: samples, those it is known of, median, 95th percentile, most, and all together."""
    import pandas as pd

    rows = [
        {**_said(frame), "quantity": name, **_points(frame[name].dropna().tolist(), len(frame))}
        for name in _quantities(frame)
    ]
    return pd.DataFrame(rows)


def _points(values: Sequence[float], samples: int) -> dict[str, Any]:
    return {
        "samples": samples, "known": len(values), "median": percentile(values, 0.5), "p95": percentile(values, 0.95),
        "most": max(values, default=None), "total": math.fsum(values) if values else None,
    }  # fmt: skip


def spread_bins(frame: pd.DataFrame) -> pd.DataFrame:
    """Samples in up to twenty equal steps of each quantity; `hi` belongs to the next step, but for the last."""
    import pandas as pd

    rows = [
        {**_said(frame), "quantity": name, "lo": lo, "hi": hi, "samples": count}
        for name in _quantities(frame)
        for lo, hi, count in _steps(frame[name].dropna().tolist())
    ]
    return pd.DataFrame(rows, columns=["view", "post_hoc", "label", "quantity", "lo", "hi", "samples"])


def _said(frame: pd.DataFrame) -> dict[str, Any]:
    first = frame[["view", "post_hoc", "label"]].head(1).to_dict("records")
    return {str(name): value for row in first for name, value in row.items()}


def _steps(values: Sequence[float]) -> list[tuple[float, float, int]]:
    if not values:
        return []
    low, high = min(values), max(values)
    if high <= low:
        return [(low, low + (abs(low) or 1.0) / _BINS, len(values))]
    width = (high - low) / _BINS
    places = [min(int((value - low) / width), _BINS - 1) for value in values]
    edges = [*(low + place * width for place in range(_BINS)), high]
    return [(edges[place], edges[place + 1], places.count(place)) for place in range(_BINS)]
