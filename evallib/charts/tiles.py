"""Case tiles: one per case, with its mean score and a mark per check."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evallib.charts.drawing import (
    GREEN,
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
    state_of,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["case_tiles"]

_MOST_MARKS = 12
"""More checks than this make marks that nobody can tell apart."""
_ACROSS = 5
"""Tiles in a row, as in the first article."""
_TILE = (WIDTH - 20) // _ACROSS


def case_tiles(
    cases: pd.DataFrame,
    marks: pd.DataFrame,
    *,
    floor: float | None = None,
    about: Sequence[About] = (),
    note: str = "",
) -> AltairChart:
    """One tile per case with its mean score and a mark per check; tiles with a sample below `floor` stand out.

    The frames come from `metrics.per_case` and `metrics.per_case_check`. `note` says which cases these are.
    """
    import altair as alt

    places = {case: divmod(index, _ACROSS) for index, case in enumerate(cases["case_id"])}
    checks = list(dict.fromkeys(marks["check_id"]))
    tiles = [_tile(row, places[row["case_id"]], floor) for row in marked(plain_rows(cases), about)]
    drawable = marked(plain_rows(marks), about) if len(checks) <= _MOST_MARKS else []
    dots = [_dot(row, places[row["case_id"]], checks) for row in drawable if row["case_id"] in places]
    drawn = alt.hconcat(_tiles_panel(tiles, dots))
    key = "\n".join(part for part in (note, _key(checks, floor, tiles)) if part)
    return finished(drawn, "Cases", about, [cases, marks], seen=_seen(tiles), key=key)


def _seen(tiles: Sequence[Mapping[str, Any]]) -> str:
    """The five lowest cases in words."""
    low = sorted(tiles, key=lambda tile: -1 if tile["score_mean"] is None else tile["score_mean"])[:5]
    named = ", ".join(f"{tile['case_id']} {tile['shown']}" for tile in low)
    below = sum(tile["below"] == "below" for tile in tiles)
    return f"{len(tiles)} tiles, {below} with a sample below the floor; the lowest: {named}."


def _key(checks: Sequence[str], floor: float | None, tiles: Iterable[Mapping[str, Any]]) -> str:
    """What the words and marks of the tiles mean."""
    parts = ["Each tile: the case's mean score."]
    if floor is not None and any(tile["below"] for tile in tiles):
        parts.append(f"below: a sample under the floor of {floor:.2f}.")
    if len(checks) > _MOST_MARKS:
        parts.append(f"No marks are drawn for {len(checks)} checks; the table of checks has them.")
    elif checks:
        parts.append(
            f"Marks in reading order: {', '.join(checks)}. Green circle: full marks; orange cross: less; grey diamond: "
            "not had."
        )
    return " ".join(parts)


def _tile(row: Mapping[str, Any], place: tuple[int, int], floor: float | None) -> dict[str, Any]:
    down, across = place
    score = row["score_mean"]
    below = score is None or (floor is not None and row["score_min"] is not None and row["score_min"] < floor - 1e-9)
    shown = "no score" if score is None else f"{score:.2f}"
    box = {"x": across + 0.04, "x2": across + 0.96, "y": down + 0.05, "y2": down + 0.95}
    under = "below" if below and score is not None else ""
    lines = {"middle": across + 0.5, "top": down + 0.16, "centre": down + 0.34, "under": down + 0.51}
    state = state_of(holds=not below)
    return {**row, **box, **lines, "shown": shown, "below": under, "state": state}


def _dot(row: Mapping[str, Any], place: tuple[int, int], checks: Sequence[str]) -> dict[str, Any]:
    """Two rows of marks below the words: of six checks three and three, as in the first article."""
    down, across = place
    in_row = len(checks) if len(checks) <= 3 else max(3, math.ceil(len(checks) / 2))
    line, column = divmod(checks.index(row["check_id"]), in_row)
    value = row["mean_value"]
    state = "not had" if value is None or row["not_scored"] else "full" if value >= 1 - 1e-9 else "less"
    x = across + 0.14 + 0.72 / in_row * (column + 0.5)
    return {**row, "x": x, "y": down + 0.68 + 0.17 * line, "state": state}


def _tiles_panel(tiles: list[dict[str, Any]], dots: list[dict[str, Any]]) -> AltairChart:
    import altair as alt

    down = math.ceil(len(tiles) / _ACROSS)
    wide, high = {"domain": [0, _ACROSS], "nice": False}, {"domain": [0, down], "reverse": True, "nice": False}
    # Every layer must leave out the axis: Vega-Lite 5 fails where one layer has none and another the usual one.
    x, middle = (alt.X(f"{name}:Q", axis=None, scale=wide) for name in ("x", "middle"))
    y, top, centre, under = (alt.Y(f"{n}:Q", axis=None, scale=high) for n in ("y", "top", "centre", "under"))
    base = on_rows(tiles)
    states = {"domain": ["pass", "blocked"], "range": [GREY, VERMILLION]}
    fill, rim = alt.Fill("state:N", scale=states, legend=None), alt.Stroke("state:N", scale=states, legend=None)
    boxes = base.mark_rect(cornerRadius=5, fillOpacity=0.13, strokeOpacity=0.8).encode(
        x, y, alt.X2("x2:Q"), alt.Y2("y2:Q"), fill, rim
    )
    names = base.mark_text(fontSize=10, limit=_TILE - 10, **WORDS).encode(middle, top, alt.Text("case_id:N"))
    scores = base.mark_text(fontSize=13, fontWeight="bold", **WORDS).encode(middle, centre, alt.Text("shown:N"))
    below = base.mark_text(fontSize=10, **WORDS).encode(middle, under, alt.Text("below:N"))
    domain = ["full", "less", "not had"]
    colour = alt.Color("state:N", scale={"domain": domain, "range": [GREEN, VERMILLION, GREY]}, legend=None)
    shape = alt.Shape("state:N", scale={"domain": domain, "range": ["circle", "cross", "diamond"]}, legend=None)
    tooltip = [alt.Tooltip(name) for name in ("case_id:N", "check_id:N", "mean_value:Q", "state:N")]
    drawn = on_rows(dots).mark_point(filled=True, size=58, opacity=1)
    layers = (boxes, names, scores, below, drawn.encode(x, y, colour, shape, tooltip=tooltip))
    return (
        alt.layer(*layers)
        .resolve_scale(color="independent", shape="independent", fill="independent", stroke="independent")
        .properties(width=_TILE * _ACROSS, height=92 * down, view=alt.ViewConfig(stroke=None))
    )
