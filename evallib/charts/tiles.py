"""Case tiles: one per case, with its mean score and a mark per check."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evallib.charts.drawing import GREEN, GREY, INK, VERMILLION, AltairChart, finished, on_rows, plain_rows, state_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["case_tiles"]

_MOST_MARKS = 12
"""More checks than this make marks that nobody can tell apart."""


def case_tiles(
    cases: pd.DataFrame, marks: pd.DataFrame, *, floor: float | None = None, caption: str = ""
) -> AltairChart:
    """One tile per case with its mean score and a mark per check; tiles with a sample below `floor` stand out.

    The frames come from `metrics.per_case` and `metrics.per_case_check`.
    """
    import altair as alt

    across = 5 if len(cases) <= 10 else 10
    places = {case: divmod(index, across) for index, case in enumerate(cases["case_id"])}
    checks = list(dict.fromkeys(marks["check_id"]))
    tiles = [_tile(row, places[row["case_id"]], floor) for row in plain_rows(cases)]
    drawable = plain_rows(marks) if len(checks) <= _MOST_MARKS else []
    dots = [_dot(row, places[row["case_id"]], checks) for row in drawable if row["case_id"] in places]
    drawn = alt.hconcat(_tiles_panel(tiles, dots, across))
    said = "\n".join(part for part in (_tiles_legend(checks, floor, tiles), caption) if part)
    return finished(drawn, "Cases", said, [cases, marks], max(420, across * 92))


def _tiles_legend(checks: Sequence[str], floor: float | None, tiles: Iterable[Mapping[str, Any]]) -> str:
    """What the words and marks of the tiles mean."""
    parts = ["Each tile: the case's mean score."]
    if floor is not None and any(tile["below"] for tile in tiles):
        parts.append(f"below: a sample under the floor of {floor:.2f}.")
    if len(checks) > _MOST_MARKS:
        parts.append(f"No marks are drawn for {len(checks)} checks; the table of checks has them.")
    elif checks:
        parts.append(
            f"Marks from left to right: {', '.join(checks)}. Circle: full marks; cross: less; diamond: not had."
        )
    return " ".join(parts)


def _tile(row: Mapping[str, Any], place: tuple[int, int], floor: float | None) -> dict[str, Any]:
    down, across = place
    score = row["score_mean"]
    below = score is None or (floor is not None and row["score_min"] is not None and row["score_min"] < floor - 1e-9)
    shown = "no score" if score is None else f"{score:.2f}"
    box = {"x": across + 0.04, "x2": across + 0.96, "y": down + 0.06, "y2": down + 0.94}
    under = "below" if below and score is not None else ""
    lines = {"middle": across + 0.5, "top": down + 0.22, "centre": down + 0.44, "under_at": down + 0.62}
    return {**row, **box, **lines, "shown": shown, "below": under, "state": state_of(holds=not below)}


def _dot(row: Mapping[str, Any], place: tuple[int, int], checks: Sequence[str]) -> dict[str, Any]:
    down, across = place
    step = 0.8 / max(len(checks), 1)
    at = across + 0.1 + step * (checks.index(row["check_id"]) + 0.5)
    value = row["mean_value"]
    state = "not had" if value is None or row["not_scored"] else "full" if value >= 1 - 1e-9 else "less"
    return {**row, "x": at, "y": down + 0.82, "state": state}


def _tiles_panel(tiles: list[dict[str, Any]], dots: list[dict[str, Any]], across: int) -> AltairChart:
    import altair as alt

    down = math.ceil(len(tiles) / across)
    wide, high = alt.Scale(domain=[0, across], nice=False), alt.Scale(domain=[0, down], reverse=True, nice=False)
    # Every layer must leave out the axis: Vega-Lite 5 fails where one layer has none and another the usual one.
    x, middle = (alt.X(f"{name}:Q", axis=None, scale=wide) for name in ("x", "middle"))
    lines = ("y", "top", "centre", "under_at")
    y, top, centre, under = (alt.Y(f"{name}:Q", axis=None, scale=high) for name in lines)
    base = on_rows(tiles)
    fill = alt.Fill("state:N", scale=alt.Scale(domain=["pass", "blocked"], range=["#f4f6f5", "#fbe3d4"]), legend=None)
    rim = alt.Stroke("state:N", scale=alt.Scale(domain=["pass", "blocked"], range=["#b8b8b8", VERMILLION]), legend=None)
    boxes = base.mark_rect(cornerRadius=5).encode(x, y, alt.X2("x2:Q"), alt.Y2("y2:Q"), fill, rim)
    names = base.mark_text(fontSize=10, color=INK, limit=70).encode(middle, top, alt.Text("case_id:N"))
    scores = base.mark_text(fontSize=12, fontWeight="bold", color=INK).encode(middle, centre, alt.Text("shown:N"))
    below = base.mark_text(fontSize=10, color=INK).encode(middle, under, alt.Text("below:N"))
    domain = ["full", "less", "not had"]
    colour = alt.Color("state:N", scale=alt.Scale(domain=domain, range=[GREEN, VERMILLION, GREY]), legend=None)
    shape = alt.Shape("state:N", scale=alt.Scale(domain=domain, range=["circle", "cross", "diamond"]), legend=None)
    tooltip = [alt.Tooltip(name) for name in ("case_id:N", "check_id:N", "mean_value:Q", "state:N")]
    marks = on_rows(dots).mark_point(filled=True, size=48, opacity=1)
    layers = (boxes, names, scores, below, marks.encode(x, y, colour, shape, tooltip=tooltip))
    return (
        alt.layer(*layers)
        .resolve_scale(color="independent", shape="independent")
        .properties(width=92 * across, height=82 * down)
    )
