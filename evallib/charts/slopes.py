"""Three views of each case: from the strict pass rate to the rescored one, and what people read as a tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evallib.charts.drawing import (
    BLUE,
    GREEN,
    GREY,
    VERMILLION,
    WIDTH,
    WORDS,
    About,
    AltairChart,
    folded,
    marked,
    on_rows,
    titled,
)

__all__ = ["slope_chart"]

_MOST = 40
"""Cases that somebody still compares."""
_LINE = 14
_GAP = 12
_ACROSS = WIDTH - 30
_KEY = (
    "Hollow grey circle: strict. Blue square: rescored. Green tick: what people read, the rest of the case as strict. "
    "Dashed vermillion: flips that nobody read; solid blue: every flip of the case was read."
)


def slope_chart(rows: Sequence[Mapping[str, Any]], *, about: Sequence[About], note: str = "") -> AltairChart:
    """One line per case: from its strict to its rescored pass rate, dashed where a flip was read by nobody.

    `rows` have `case_id`, `n`, `strict`, `rescored`, `read` (None where nobody read), `flips` and `unread`; `about` is
    what strict and the rescoring say of themselves. Of more than forty cases those that move most are drawn.
    """
    import altair as alt

    moved = sorted(rows, key=lambda row: (-abs(row["rescored"] - row["strict"]), row["case_id"]))
    drawn, height = _placed(marked(moved[:_MOST], about, about[-1].view))
    high = {"domain": [0, height], "reverse": True, "nice": False}
    top, line = (alt.Y(f"{name}:Q", axis=None, scale=high) for name in ("at", "line"))
    scale = {"domain": [0, 1], "nice": False}
    strict = alt.X("strict:Q", title="pass rate of the case", scale=scale, axis={"format": ".1f"})
    rescored, read = (alt.X(f"{name}:Q", scale=scale) for name in ("rescored", "read"))
    tooltip = [alt.Tooltip(name) for name in ("words:N", "strict:Q", "rescored:Q", "read:Q", "label:N")]
    base = on_rows(drawn)
    track = base.mark_rule(color=GREY, opacity=0.25, strokeWidth=5).encode(line, x=alt.value(0), x2=alt.value(_ACROSS))
    seen = base.transform_filter("datum.unread == 0").mark_rule(color=BLUE, strokeWidth=3)
    unseen = base.transform_filter("datum.unread > 0").mark_rule(color=VERMILLION, strokeWidth=3, strokeDash=[5, 4])
    ticks = base.transform_filter("isValid(datum.read)").mark_tick(color=GREEN, thickness=4, size=22, opacity=1)
    before = base.mark_point(shape="circle", size=110, strokeWidth=2.5, color=GREY, filled=False, opacity=1)
    after = base.mark_point(shape="square", size=60, color=BLUE, filled=True, opacity=1)
    words = base.mark_text(align="left", baseline="top", fontSize=11, lineBreak="\n", lineHeight=_LINE, **WORDS)
    layers = [
        track,
        seen.encode(strict, line, x2="rescored:Q"),
        unseen.encode(strict, line, x2="rescored:Q"),
        ticks.encode(read, line),
        before.encode(strict, line, tooltip=tooltip),
        after.encode(rescored, line, tooltip=tooltip),
        words.encode(top, alt.Text("words:N"), x=alt.value(0)),
    ]
    chart = alt.layer(*layers).properties(width=_ACROSS, height=height, view=alt.ViewConfig(stroke=None))
    more = f"The {_MOST} of {len(rows)} cases that move most." if len(rows) > _MOST else ""
    key = "\n".join(part for part in (_KEY, more, note) if part)
    meta = {"views": [one.view for one in about], "labels": {one.view: one.label for one in about}}
    said = ". ".join(row["words"].replace("\n", " ") for row in drawn)
    title = "Strict, rescored and read, case by case"
    return titled(chart, title, meta, WIDTH, said=about, seen=f"{said}.", key=key)


def _placed(rows: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], float]:
    """The rows with their words folded and the places of words and line, in pixels from above; and the whole height."""
    placed, at = [], 0.0
    for row in rows:
        lines = folded(_words(row), _ACROSS, 11)
        below = at + _LINE * len(lines) + 10
        placed.append({**row, "words": "\n".join(lines), "at": at, "line": below})
        at = below + _GAP
    return placed, max(at, 1.0)


def _words(row: Mapping[str, Any]) -> str:
    strict, rescored = (f"{row[name] * row['n']:.0f}" for name in ("strict", "rescored"))
    read = "nobody read it" if row["read"] is None else f"read {row['read'] * row['n']:.0f}"
    unread = f", {row['unread']} of {row['flips']} flips unread" if row["unread"] else ""
    return f"{row['case_id']}: strict {strict}, rescored {rescored} of {row['n']}, {read}{unread}"
