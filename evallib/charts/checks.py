"""Bars per check: how many of its verdicts passed, failed or could not be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evallib.charts.drawing import (
    BOLD,
    GREEN,
    GREY,
    VERMILLION,
    WIDTH,
    WORDS,
    About,
    AltairChart,
    finished,
    folded,
    marked,
    on_rows,
    plain_rows,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["check_bars"]

_STATES = {"passed": GREEN, "failed": VERMILLION, "not scored": GREY}
_KEY = "From the left: green passed, orange failed, grey could not be had. The mean is in the check's own units."
_LINE, _BAR, _GAP = 14, 12, 10
_ACROSS = WIDTH - 30


def check_bars(checks: pd.DataFrame, *, about: Sequence[About] = ()) -> AltairChart:
    """One bar per check and view, the share of its verdicts that passed first, each under its counts in words.

    Columns: view, label, check_id, passed, failed, not_scored, mean_raw, judged.
    """
    import altair as alt

    rows = marked(plain_rows(checks), about)
    views = list(dict.fromkeys(row["view"] for row in rows))
    panels = [_panel([row for row in rows if row["view"] == view], view, alone=len(views) == 1) for view in views]
    low = sorted((row for row in rows if row["passed"] + row["failed"]), key=_share)[:3]
    seen = "; ".join(f"{row['check_id']}: {row['passed']} of {row['passed'] + row['failed']} passed" for row in low)
    return finished(
        alt.vconcat(*panels, spacing=16), "Checks", about, [checks], seen=f"The lowest: {seen or 'none'}.", key=_KEY
    )


def _share(row: Mapping[str, Any]) -> float:
    passed: int = row["passed"]
    return passed / (passed + int(row["failed"]))


def _panel(rows: list[dict[str, Any]], view: str, *, alone: bool) -> AltairChart:
    import altair as alt

    placed, parts, at = [], [], 0.0
    for row in rows:
        lines = folded(_words(row), _ACROSS, 11)
        bar = at + _LINE * len(lines) + 2
        placed.append({**row, "words": "\n".join(lines), "at": at})
        parts += [{**row, **part, "bar": bar, "low": bar + _BAR} for part in _parts(row)]
        at = bar + _BAR + _GAP
    high = {"domain": [0, max(at, 1)], "reverse": True, "nice": False}
    y, bar_y = (alt.Y(f"{name}:Q", axis=None, scale=high) for name in ("at", "bar"))
    x = alt.X("start:Q", axis=None, scale={"domain": [0, 1], "nice": False})
    scale = {"domain": list(_STATES), "range": list(_STATES.values())}
    colour = alt.Color("state:N", scale=scale, legend=None)
    tooltip = [alt.Tooltip(name) for name in ("check_id:N", "state:N", "verdicts:Q")]
    bars = on_rows(parts).mark_rect().encode(x, bar_y, alt.X2("end:Q"), alt.Y2("low:Q"), colour, tooltip=tooltip)
    mark = on_rows(placed).mark_text(
        align="left", baseline="top", fontSize=11, lineBreak="\n", lineHeight=_LINE, **WORDS
    )
    title = (
        {}
        if alone
        else {"title": alt.TitleParams(folded(f"view {view}", _ACROSS, 12 * BOLD), fontSize=12, anchor="start")}
    )
    return alt.layer(bars, mark.encode(y, alt.Text("words:N"), x=alt.value(0))).properties(
        width=_ACROSS, height=at, view=alt.ViewConfig(stroke=None), **title
    )


def _words(row: Mapping[str, Any]) -> str:
    decided = row["passed"] + row["failed"]
    said = [f"{row['passed']} of {decided} passed" if decided else "no verdict"]
    said += [f"{row['failed']} failed"] if row["failed"] else []
    said += [f"{row['not_scored']} could not be had"] if row["not_scored"] else []
    said += [f"mean {row['mean_raw']:.3f}"] if row["mean_raw"] is not None else []
    return f"{row['check_id']}: {', '.join(said)}{'; ' + row['judged'] if row['judged'] else ''}"


def _parts(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of one bar that are there, from the left; a thousandth of the width stays free between them."""
    counts = {"passed": row["passed"], "failed": row["failed"], "not scored": row["not_scored"]}
    total, start, parts = sum(counts.values()), 0.0, []
    for state, count in counts.items():
        if count:
            end = start + count / total
            parts.append({"state": state, "verdicts": count, "start": start, "end": max(end - 0.004, start)})
            start = end
    return parts
