"""Rates with their intervals, one below another, each under its words: it fits a narrow screen whatever the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evallib.charts.drawing import GREY, WIDTH, WORDS, AltairChart, folded, on_rows

__all__ = ["ladder", "placed"]

_LINE = 14
_GAP = 12
_ACROSS = WIDTH - 30


def ladder(rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, tuple[str, str]], axis: str) -> AltairChart:
    """Rows with `words`, `kind`, `value`, `lo`, `hi` (None where there is none), and perhaps a `baseline`.

    `kinds` gives each kind's colour and shape; `axis` names what goes from 0 to 1.
    """
    import altair as alt

    drawn, height = placed(rows)
    high = {"domain": [0, height], "reverse": True, "nice": False}
    y, line = (alt.Y(f"{name}:Q", axis=None, scale=high) for name in ("at", "line"))
    scale = {"domain": [0, 1], "nice": False}
    x = alt.X("value:Q", title=axis, scale=scale, axis={"format": ".1f"})
    names = list(kinds)
    colour = alt.Color("kind:N", scale={"domain": names, "range": [kinds[n][0] for n in names]}, legend=None)
    shape = alt.Shape("kind:N", scale={"domain": names, "range": [kinds[n][1] for n in names]}, legend=None)
    tooltip = [alt.Tooltip(name) for name in ("words:N", "value:Q", "lo:Q", "hi:Q")]
    base = on_rows(drawn)
    track = base.mark_rule(color=GREY, opacity=0.25, strokeWidth=6).encode(line, x=alt.value(0), x2=alt.value(_ACROSS))
    ends = base.transform_filter("isValid(datum.lo)").mark_rule(strokeWidth=3, opacity=0.7)
    points = base.transform_filter("isValid(datum.value)").mark_point(filled=True, size=85, opacity=1)
    least = base.transform_filter("isValid(datum.baseline)").mark_tick(color=GREY, thickness=3, size=16, opacity=1)
    words = base.mark_text(align="left", baseline="top", fontSize=11, lineBreak="\n", lineHeight=_LINE, **WORDS)
    layers = [
        track,
        ends.encode(alt.X("lo:Q", scale=scale), line, colour, x2="hi:Q"),
        least.encode(alt.X("baseline:Q", scale=scale), line),
        points.encode(x, line, colour, shape, tooltip=tooltip),
        words.encode(y, alt.Text("words:N"), x=alt.value(0)),
    ]
    return alt.layer(*layers).properties(width=_ACROSS, height=height, view=alt.ViewConfig(stroke=None))


def placed(rows: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], float]:
    """The rows with their words folded and the places of words and line, in pixels from above; and the whole height."""
    found, at = [], 0.0
    for row in rows:
        lines = [line for one in row["words"].split("\n") for line in folded(one, _ACROSS, 11)]
        below = at + _LINE * len(lines) + 8
        found.append({"baseline": None, **row, "words": "\n".join(lines), "at": at, "line": below})
        at = below + _GAP
    return found, max(at, 1.0)
