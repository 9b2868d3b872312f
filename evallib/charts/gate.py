"""The gate's chart: its decision, its rules with their reasons, each check against its threshold."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evallib.charts.drawing import (
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
    state_of,
    titled,
)
from evallib.gate import Decision

__all__ = ["gate_chart"]

_RELEASE = "This is the release decision."
_LINE = 15
"""Pixels of a line of words."""
_BAR = 14
"""Pixels from one row's bar to the next row's words."""
_ACROSS = WIDTH - 30


def gate_chart(decision: Decision, *, about: Sequence[About] = ()) -> AltairChart:
    """The decision, its rules with their reasons, and each check's mean against its threshold."""
    import altair as alt

    rules = [{"rule": r.rule, "state": state_of(holds=r.passed), "reason": r.reason} for r in decision.rules]
    said = about or [About(decision.view, decision.label, caption=decision.caption)]
    parts = [_rules_panel(marked(rules, said, decision.view))]
    parts += [
        _checks_panel(marked([_check_row(check) for check in r.detail["checks"]], said, decision.view))
        for r in decision.rules
        if "checks" in r.detail
    ]
    title = f"Gate: {decision.decision} (run {decision.run}, view {decision.view})"
    why = f"This is no release decision: {decision.why_no_release}." if decision.why_no_release else _RELEASE
    meta = {"views": [decision.view], "labels": {decision.view: decision.label}}
    seen = "; ".join(f"{row['rule']} {row['state']}: {_clause(row['reason'])}" for row in rules)
    drawn = alt.vconcat(*parts, spacing=16)
    return titled(drawn, title, meta, WIDTH, said=said, seen=f"Rules: {seen}.", key=why)


def _clause(reason: str) -> str:
    """The first clause of a reason: which samples and checks, the decision in words says in full."""
    return re.split(r"[:;] | \((?=lowest)", reason, maxsplit=1)[0]


def _encodings() -> tuple[Any, Any]:
    import altair as alt

    domain = ["pass", "blocked"]
    colour = alt.Color("state:N", scale={"domain": domain, "range": [GREEN, VERMILLION]}, legend=None)
    shape = alt.Shape("state:N", scale={"domain": domain, "range": ["circle", "cross"]}, legend=None)
    return colour, shape


def _rules_panel(rules: list[dict[str, Any]]) -> AltairChart:
    """One rule below another: mark, name, and the first clause of its reason."""
    import altair as alt

    rows, at = [], 0.0
    for row in rules:
        lines = folded(f"{row['rule']}: {row['state']}: {_clause(row['reason'])}", _ACROSS - 24, 11)
        rows.append({**row, "words": "\n".join(lines), "at": at + _LINE / 2})
        at += _LINE * len(lines) + 6
    colour, shape = _encodings()
    y = alt.Y("at:Q", axis=None, scale={"domain": [0, at], "reverse": True, "nice": False})
    base = on_rows(rows).encode(y)
    points = base.mark_point(filled=True, size=80, opacity=1).encode(colour, shape, x=alt.value(8))
    mark = base.mark_text(align="left", baseline="middle", fontSize=11, lineBreak="\n", lineHeight=_LINE, **WORDS)
    words = mark.encode(alt.Text("words:N"), x=alt.value(22))
    return alt.layer(points, words).properties(width=_ACROSS, height=at, view=alt.ViewConfig(stroke=None))


def _checks_panel(checks: list[dict[str, Any]]) -> AltairChart:
    """Each check on its own scale, from 0 to the least whole number that holds mean and threshold."""
    import altair as alt

    rows, at = [], 0.0
    for row in checks:
        lines = folded(row["words"], _ACROSS, 11)
        rows.append({**row, "words": "\n".join(lines), "at": at, "bar": at + _LINE * len(lines) + 3})
        at += _LINE * len(lines) + 8 + _BAR
    colour, shape = _encodings()
    scale = {"domain": [0, max(at, 1)], "reverse": True, "nice": False}
    y, bar = (alt.Y(f"{name}:Q", axis=None, scale=scale) for name in ("at", "bar"))
    x, start, tick = (alt.X(f"{n}:Q", axis=None, scale={"domain": [0, 1]}) for n in ("place", "start", "least"))
    base = on_rows(rows)
    track = base.mark_bar(color=GREY, opacity=0.18, height=8).encode(start, alt.X2("end:Q"), bar)
    bars = base.mark_bar(height=8, opacity=0.7).encode(start, alt.X2("place:Q"), bar, colour)
    least = base.mark_tick(color=GREY, thickness=3, size=18, opacity=1).encode(tick, bar)
    points = base.mark_point(filled=True, size=70, opacity=1).encode(x, bar, colour, shape)
    mark = base.mark_text(align="left", baseline="top", fontSize=11, lineBreak="\n", lineHeight=_LINE, **WORDS)
    words = mark.encode(y, alt.Text("words:N"), x=alt.value(0))
    title = alt.TitleParams(
        ["Mean of each check against its threshold", "(grey tick), each on its own scale"],
        fontSize=12, anchor="start", offset=8,
    )  # fmt: skip
    return alt.layer(track, bars, least, points, words).properties(
        width=_ACROSS, height=at, title=title, view=alt.ViewConfig(stroke=None)
    )


def _check_row(check: Mapping[str, Any]) -> dict[str, Any]:
    mean, threshold = check["mean"], check["threshold"]
    top = max(1.0, float(math.ceil(max(mean or 0.0, threshold))))
    state = state_of(holds=check["passed"])
    shown = "no mean" if mean is None else f"{mean:.3f}"
    unit = " (its own units)" if check["unit"] == "raw" else ""
    words = f"{check['check']}: {state}: {shown}, threshold {threshold:.2f}{unit}"
    if check["stochastic"]:
        words += f"; judged by {', '.join(check['judge']) or 'nobody'}, {check['calibration']}"
    place = {"place": None if mean is None else mean / top, "least": threshold / top, "start": 0, "end": 1}
    return {"check": check["check"], "mean": mean, "threshold": threshold, "state": state, "words": words, **place}
