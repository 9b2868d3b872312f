"""The chart of strict pass rates beside those corrected by reading: it draws what `audit` computed."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from evallib.charts.drawing import BLUE, GREY, INK, AltairChart, on_rows, titled
from evallib.concordance.audit import Audit, Rate
from evallib.records import POST_HOC_LABEL, STRICT

__all__ = ["rate_chart"]

_CORRECTED = "corrected"
_WIDTH = 460
_ACROSS = 26
_DRAWN = "isValid(datum.value) || isValid(datum.lo)"


def rate_chart(audits: Sequence[Audit]) -> AltairChart:
    """One row per check: the strict rate over the corrected one, each with its interval, or why there is none."""
    import altair as alt

    rows = [row for one in audits for row in _rows(one)]
    order = list(dict.fromkeys(row["of"] for row in rows))
    y = alt.Y("of:N", sort=order, title=None, axis=alt.Axis(labelLimit=200, labelFontSize=12, ticks=False))
    x = alt.X("value:Q", title="pass rate", scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(format=".1f"))
    kinds = [STRICT, _CORRECTED]
    colour = alt.Color("rate:N", scale=alt.Scale(domain=kinds, range=[GREY, BLUE]), legend=None)
    shape = alt.Shape("rate:N", scale=alt.Scale(domain=kinds, range=["circle", "square"]), legend=None)
    tooltip = [alt.Tooltip(f"{name}") for name in ("of:N", "rate:N", "value:Q", "lo:Q", "hi:Q", "n:Q", "why:N")]
    layers: list[AltairChart] = []
    for kind, offset in zip(kinds, (-9, 9), strict=True):
        words: dict[str, Any] = {
            "align": "left",
            "dx": 8,
            "fontSize": 11,
            "color": INK,
            "yOffset": offset,
            "lineBreak": "\n",
        }
        base = on_rows([row for row in rows if row["rate"] == kind])
        had = base.transform_filter("isValid(datum.value)")
        ends = base.transform_filter("isValid(datum.lo)")
        layers += [
            ends.mark_rule(strokeWidth=2.5, opacity=0.6, yOffset=offset).encode(alt.X("lo:Q"), y, colour, x2="hi:Q"),
            had.mark_point(filled=True, size=75, opacity=1, yOffset=offset).encode(
                x, y, colour, shape, tooltip=tooltip
            ),
            # Words stand beside the plot where anything is drawn in it, else in it.
            base.transform_filter(_DRAWN).mark_text(**words).encode(y, text="said:N", x=alt.value(_WIDTH)),
            base.transform_filter(f"!({_DRAWN})").mark_text(**words).encode(y, text="said:N", x=alt.value(0)),
        ]
    drawn = alt.layer(*layers).properties(width=_WIDTH, height=alt.Step(52))
    caption = f"Grey circle: strict. Blue square: corrected by what was read. {audits[0].sentence()}"
    title = f"Pass rate, strict and corrected by reading (run {audits[0].run})"
    meta = {"views": [STRICT, _CORRECTED], "labels": {STRICT: "", _CORRECTED: POST_HOC_LABEL}}
    return titled(drawn, title, caption, meta, _WIDTH + 150)


def _rows(one: Audit) -> list[dict[str, Any]]:
    total = sum(stratum.of for stratum in one.strata)
    return [_row(one, STRICT, one.strict, total), _row(one, _CORRECTED, one.corrected, one.n)]


def _row(one: Audit, kind: str, rate: Rate, n: int) -> dict[str, Any]:
    low, high = rate.interval or (None, None)
    said = f"{kind} {rate.value:.3f}, n {n}" if rate.value is not None else f"{kind}: {rate.why}"
    if rate.value is None and rate.interval:  # beside the plot there is room for little
        said = "\n".join(textwrap.wrap(said, _ACROSS))
    label = POST_HOC_LABEL if kind == _CORRECTED else ""
    return {
        "of": one.check or "whole answers", "rate": kind, "value": rate.value, "lo": low, "hi": high, "n": n,
        "why": rate.why, "said": said, "label": label,
    }  # fmt: skip
