"""The forest of a comparison: each figure's difference between two runs with its interval, around nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evallib.charts.drawing import (
    BLUE,
    GREY,
    VERMILLION,
    WIDTH,
    WORDS,
    About,
    AltairChart,
    finished,
    marked,
    on_rows,
    plain_rows,
)
from evallib.charts.ladder import placed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["forest_chart"]

_KINDS = {"higher": (BLUE, "triangle-right"), "lower": (VERMILLION, "triangle-left"), "not shown": (GREY, "circle")}
_KEY = (
    "Left of the grey tick B is lower, right of it higher. Blue and orange triangles: shown, p corrected by Holm below "
    "0.05; grey circles: not shown. Lines are 95 % intervals of each figure alone, as shares of its scale; "
    "they are no test, so one can clear the tick beside a grey circle."
)
_ACROSS = WIDTH - 30


def forest_chart(rows: pd.DataFrame, *, title: str, about: Sequence[About] = ()) -> AltairChart:
    """One figure below another: B minus A as a share of the figure's scale, its interval, and both figures in words.

    Columns: view, label, row, words, verdict, difference, lo, hi (None where there is none), all in one scale.
    """
    import altair as alt

    drawn, height = placed([{**row, "kind": _kind(row), "nothing": 0} for row in marked(plain_rows(rows), about)])
    most = _reach(drawn)
    high = {"domain": [0, height], "reverse": True, "nice": False}
    y, line = (alt.Y(f"{name}:Q", axis=None, scale=high) for name in ("at", "line"))
    scale = {"domain": [-most, most], "nice": False}
    x = alt.X("difference:Q", title="B minus A", scale=scale, axis={"format": "+.2~f", "tickCount": 5, "grid": False})
    names = list(_KINDS)
    colour = alt.Color("kind:N", scale={"domain": names, "range": [_KINDS[n][0] for n in names]}, legend=None)
    shape = alt.Shape("kind:N", scale={"domain": names, "range": [_KINDS[n][1] for n in names]}, legend=None)
    tooltip = [alt.Tooltip(name) for name in ("row:N", "words:N", "difference:Q", "lo:Q", "hi:Q")]
    base = on_rows(drawn)
    track = base.mark_rule(color=GREY, opacity=0.25, strokeWidth=6).encode(line, x=alt.value(0), x2=alt.value(_ACROSS))
    nothing = base.mark_tick(color=GREY, thickness=3, size=20, opacity=1).encode(alt.X("nothing:Q", scale=scale), line)
    ends = base.transform_filter("isValid(datum.lo)").mark_rule(strokeWidth=3, opacity=0.7)
    points = base.transform_filter("isValid(datum.difference)").mark_point(filled=True, size=95, opacity=1)
    words = base.mark_text(align="left", baseline="top", fontSize=11, lineBreak="\n", lineHeight=14, **WORDS)
    chart = alt.layer(
        track,
        nothing,
        ends.encode(alt.X("lo:Q", scale=scale), line, colour, x2="hi:Q"),
        points.encode(x, line, colour, shape, tooltip=tooltip),
        words.encode(y, alt.Text("words:N"), x=alt.value(0)),
    ).properties(width=_ACROSS, height=height, view=alt.ViewConfig(stroke=None))
    shown = [f"{row['row']} is {row['kind']} in B" for row in drawn if row["kind"] != "not shown"]
    return finished(chart, title, about, [rows], seen=f"Shown: {'; '.join(shown) or 'nothing'}.", key=_KEY)


def _kind(row: Mapping[str, Any]) -> str:
    return str(row["verdict"]) if row["verdict"] in _KINDS else "not shown"


def _reach(rows: Sequence[Mapping[str, Any]]) -> float:
    """How far the axis goes on both sides: to the farthest end, in steps of a tenth, and never past the scale."""
    ends = [abs(row[name]) for row in rows for name in ("difference", "lo", "hi") if row[name] is not None]
    return min(1.0, max(0.1, math.ceil(max(ends, default=0.0) * 10 - 1e-9) / 10))
