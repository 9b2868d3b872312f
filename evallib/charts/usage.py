"""The chart of latency and cost: how the samples of a run spread over seconds, tokens and money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evallib.charts.drawing import (
    BLUE,
    VERMILLION,
    WIDTH,
    WORDS,
    About,
    AltairChart,
    counting_axis,
    finished,
    folded,
    marked,
    on_rows,
    plain_rows,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["usage_chart"]

_ACROSS = WIDTH - 80
_KEY = "Blue line: median. Orange dashed line: 95 % of the samples lie at or below it."


def usage_chart(bins: pd.DataFrame, points: pd.DataFrame, *, about: Sequence[About] = ()) -> AltairChart:
    """Samples over each quantity, with the median and the 95th percentile; frames as `spending` gives them."""
    import altair as alt

    rows, ends = marked(plain_rows(bins), about), marked(plain_rows(points), about)
    panels = [_panel([row for row in rows if row["quantity"] == one["quantity"]], one) for one in ends]
    seen = " ".join(f"{_words(one)}." for one in ends)
    return finished(
        alt.vconcat(*panels, spacing=16), "Latency and cost per sample", about, [bins, points], seen=seen, key=_KEY
    )


def _words(one: Mapping[str, Any]) -> str:
    if not one["known"]:
        return f"{one['quantity']}: unknown for all {one['samples']} samples"
    unknown = one["samples"] - one["known"]
    left = f", unknown for {unknown} of {one['samples']} samples" if unknown else ""
    ends = f"median {_plain(one['median'])}, 95 % {_plain(one['p95'])}, most {_plain(one['most'])}"
    return f"{one['quantity']}: {ends}, in all {_plain(one['total'])}{left}"


def _plain(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _panel(rows: list[dict[str, Any]], one: Mapping[str, Any]) -> AltairChart:
    import altair as alt

    title = alt.TitleParams(
        folded(_words(one), _ACROSS, 11.5), fontSize=11.5, fontWeight="normal", anchor="start", frame="group"
    )
    if not rows:
        nothing = on_rows([{**one, "words": ""}]).mark_text(align="left", fontSize=11, **WORDS)
        empty = nothing.encode(alt.Text("words:N"), x=alt.value(0), y=alt.value(0))
        return empty.properties(width=_ACROSS, height=1, title=title, view=alt.ViewConfig(stroke=None))
    scale = {"domain": [min(0.0, rows[0]["lo"]), rows[-1]["hi"]], "nice": False}
    x = alt.X("lo:Q", title=one["quantity"], scale=scale)
    y = alt.Y("samples:Q", title="samples", axis=counting_axis(max(row["samples"] for row in rows)))
    bars = on_rows(rows).mark_rect(color=BLUE, opacity=0.4).encode(x, y, alt.X2("hi:Q"), alt.Y2Datum(0))
    lines = [
        on_rows([dict(one)])
        .mark_rule(color=colour, strokeWidth=2, strokeDash=dash)
        .encode(alt.X(f"{name}:Q", scale=scale))
        for name, colour, dash in (("median", BLUE, [1, 0]), ("p95", VERMILLION, [5, 3]))
    ]
    return alt.layer(bars, *lines).properties(width=_ACROSS, height=80, title=title)
