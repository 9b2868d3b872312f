"""The gate's chart: its decision, its rules with their reasons, each check against its threshold."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from evallib.charts.drawing import GREEN, INK, VERMILLION, AltairChart, on_rows, state_of, titled
from evallib.gate import Decision

__all__ = ["gate_chart"]

_RELEASE = "This is the release decision."
_WORDS_ACROSS = 44
"""Characters beside a bar, so that they stay inside the picture in any font."""


def gate_chart(decision: Decision, *, caption: str = "") -> AltairChart:
    """The decision, its rules with their reasons, and each check's mean against its threshold."""
    import altair as alt

    rules = [{"rule": r.rule, "state": state_of(holds=r.passed), "reason": r.reason} for r in decision.rules]
    parts = [_rules_panel(rules)]
    parts += [_checks_panel(r.detail["checks"]) for r in decision.rules if "checks" in r.detail]
    title = f"Gate: {decision.decision} (run {decision.run}, view {decision.view})"
    why = f"This is no release decision: {decision.why_no_release}." if decision.why_no_release else _RELEASE
    meta = {"views": [decision.view], "labels": {decision.view: decision.label}}
    return titled(alt.vconcat(*parts, spacing=18), title, f"{why}\n{caption}".strip(), meta, 760)


def _state_encodings() -> tuple[Any, Any]:
    import altair as alt

    domain = ["pass", "blocked"]
    colour = alt.Color("state:N", scale=alt.Scale(domain=domain, range=[GREEN, VERMILLION]), legend=None)
    shape = alt.Shape("state:N", scale=alt.Scale(domain=domain, range=["circle", "cross"]), legend=None)
    return colour, shape


def _rules_panel(rules: list[dict[str, Any]]) -> AltairChart:
    import altair as alt

    colour, shape = _state_encodings()
    # The first clause: which samples and checks, the decision in words says in full.
    said = [re.split(r"[:;] ", row["reason"], maxsplit=1)[0] for row in rules]
    rows = [{**row, "words": f"{row['state']}: {one}", "x": 0} for row, one in zip(rules, said, strict=True)]
    y = alt.Y("rule:N", title=None, sort=[row["rule"] for row in rows], axis=alt.Axis(ticks=False, domain=False))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    base = on_rows(rows).encode(x, y)
    points = base.mark_point(filled=True, size=90, opacity=1, xOffset=10).encode(colour, shape)
    words = base.mark_text(align="left", dx=24, fontSize=11, color=INK, limit=640).encode(alt.Text("words:N"))
    return alt.layer(points, words).properties(width=660, height=24 * len(rows))


def _checks_panel(checks: Sequence[Mapping[str, Any]]) -> AltairChart:
    """Each check on its own scale, from 0 to the least whole number that holds mean and threshold."""
    import altair as alt

    colour, shape = _state_encodings()
    rows = [_check_row(check) for check in checks]
    y = alt.Y("check:N", title=None, sort=[row["check"] for row in rows], axis=alt.Axis(ticks=False, domain=False))
    scale = alt.Scale(domain=[0, 1])
    x, start, end, tick = (alt.X(f"{n}:Q", axis=None, scale=scale) for n in ("place", "start", "end", "least"))
    base = on_rows(rows).encode(y)
    track = base.mark_bar(color="#ececec", height=12).encode(start, alt.X2("end:Q"))
    bars = base.mark_bar(height=12, opacity=0.55).encode(x, colour)
    least = base.mark_tick(color=INK, thickness=2, size=20).encode(tick)
    points = base.mark_point(filled=True, size=80, opacity=1).encode(x, colour, shape)
    most = max((row["words"].count("\n") + 1 for row in rows), default=1)
    mark = base.mark_text(align="left", baseline="middle", dx=10, fontSize=11, lineBreak="\n", color=INK)
    words = mark.encode(end, alt.Text("words:N"))
    title = alt.TitleParams(
        "Mean of each check against its threshold (black tick), each on its own scale", fontSize=12, anchor="start"
    )
    return alt.layer(track, bars, least, points, words).properties(
        width=360, height=(12 + 14 * most) * len(rows), title=title
    )


def _check_row(check: Mapping[str, Any]) -> dict[str, Any]:
    mean, threshold = check["mean"], check["threshold"]
    top = max(1.0, float(math.ceil(max(mean or 0.0, threshold))))
    state = state_of(holds=check["passed"])
    shown = "no mean" if mean is None else f"{mean:.3f}"
    unit = " (its own units)" if check["unit"] == "raw" else ""
    words = f"{state}: {shown}, threshold {threshold:.2f}{unit}"
    if check["stochastic"]:
        judged = f"judged by {', '.join(check['judge']) or 'nobody'}, {check['calibration']}"
        words = "\n".join([words, *textwrap.wrap(judged, _WORDS_ACROSS)])
    place = {"place": None if mean is None else mean / top, "least": threshold / top, "start": 0, "end": 1}
    return {"check": check["check"], "mean": mean, "threshold": threshold, "state": state, "words": words, **place}
