"""The reliability chart: pass@k against pass^k over k, meeting at the pass rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evallib.charts.drawing import (
    BLUE,
    BOLD,
    GREY,
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

__all__ = ["reliability_chart"]

_LINEAR = 16
"""Up to this k the axis is linear."""
_ACROSS = 285
"""Pixels of a plot; the words beside the ends of its lines take the rest."""
_METRICS = ["pass@k", "pass^k"]
_TOOLTIP = {"view": "N", "metric": "N", "k": "Q", "value": "Q", "lo": "Q", "hi": "Q", "eligible": "Q", "cases": "Q"}
_KEY = "Blue, dashed, circles: pass@k. Orange, solid, squares: pass^k. Upright: 95 % interval. Grey: pass rate."


def reliability_chart(
    curves: pd.DataFrame,
    histogram: pd.DataFrame,
    *,
    about: Sequence[About] = (),
    title: str = "Reliability over repeated samples",
    columns: int = 1,
    most: int = 0,
) -> AltairChart:
    """pass@k against pass^k over k, meeting at the pass rate; one panel per view, cases by passes beneath it.

    Both frames come from `metrics.curves` and `metrics.passes_histogram`, or are several of those one below another.
    `columns` panels stand side by side. Their scale of cases goes up to `most`, or as far as it must.
    """
    import altair as alt

    views = list(dict.fromkeys(curves["view"]))
    most = most or max(plain_rows(histogram), key=lambda row: row["cases"], default={"cases": 1})["cases"]
    drawn, seen = [], []
    for view in views:
        one = marked(plain_rows(curves[curves["view"] == view]), about)
        counts = marked(plain_rows(histogram[histogram["view"] == view]), about)
        head = _view_lines(view, one) if len(views) > 1 else []
        drawn.append(alt.vconcat(_curve_panel(one, head), _histogram_panel(counts, most), spacing=12))
        seen.append(_seen(one, view))
    chart = alt.concat(*drawn, columns=columns, spacing=26)
    width = WIDTH * min(columns, len(views))
    return finished(chart, title, about, [curves, histogram], seen=" ".join(seen), key=_KEY, width=width)


def _seen(rows: list[dict[str, Any]], view: str) -> str:
    """The ends of both curves in words."""
    said = []
    for metric in _METRICS:
        known = [row for row in rows if row["metric"] == metric and row["value"] is not None]
        if known:
            first, last = known[0], known[-1]
            said.append(f"{metric} is {first['value']:.3f} at k={first['k']} and {last['value']:.3f} at k={last['k']}")
    return f"View {view}: {'; '.join(said) or 'no value'}."


def _curve_panel(rows: list[dict[str, Any]], head: list[str]) -> AltairChart:
    import altair as alt

    ks = sorted({row["k"] for row in rows})
    x = _k_axis(ks)
    y = alt.Y("value:Q", title="mean over cases", scale={"domain": [0, 1], "nice": False}, axis={"format": ".1f"})
    colour = alt.Color("metric:N", scale={"domain": _METRICS, "range": [BLUE, VERMILLION]}, legend=None)
    dash = alt.StrokeDash("metric:N", scale={"domain": _METRICS, "range": [[6, 4], [1, 0]]}, legend=None)
    shape = alt.Shape("metric:N", scale={"domain": _METRICS, "range": ["circle", "square"]}, legend=None)
    tooltip = [alt.Tooltip(f"{name}:{kind}") for name, kind in _TOOLTIP.items()]
    base = on_rows(rows)
    bars = [
        base.transform_filter(f"datum.metric === '{metric}' && isValid(datum.lo)")
        .mark_rule(xOffset=offset, strokeWidth=2, opacity=0.5)
        .encode(x, alt.Y("lo:Q"), alt.Y2("hi:Q"), colour)
        for metric, offset in zip(_METRICS, (-3, 3), strict=True)
    ]
    lines = base.mark_line(strokeWidth=2).encode(x, y, colour, dash)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x, y, colour, shape, tooltip=tooltip)
    title = {"title": alt.TitleParams(head, fontSize=12, anchor="start")} if head else {}
    return alt.layer(*_rate_and_labels(rows, ks), *bars, lines, points).properties(width=_ACROSS, height=200, **title)


def _k_domain(ks: Sequence[int]) -> list[float]:
    return [ks[0] - 0.3, ks[-1] + 0.3] if ks[-1] <= _LINEAR else [ks[0] / 1.15, ks[-1] * 1.15]


def _k_axis(ks: Sequence[int]) -> AltairChart:
    """Whole k only; doubling distances where there are many, so that the small k stay apart."""
    import altair as alt

    if ks[-1] <= _LINEAR:
        scale = {"domain": _k_domain(ks), "nice": False, "zero": False}
        return alt.X("k:Q", title="k samples", axis={"values": list(ks), "format": "d"}, scale=scale)
    scale = {"type": "log", "base": 2, "domain": _k_domain(ks), "nice": False}
    marks = [k for k in ks if k in {1, 2, 4} or k >= 10]
    return alt.X("k:Q", title="k samples (doubling scale)", axis={"values": marks, "format": "d"}, scale=scale)


def _view_lines(view: str, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    labels = dict.fromkeys(part for row in rows for part in row["label"].split("; ") if part)
    return [line for one in (f"view {view}", *labels) for line in folded(one, _ACROSS + 110, 12 * BOLD)]


def _rate_and_labels(rows: list[dict[str, Any]], ks: list[int]) -> list[AltairChart]:
    """The pass rate as a rule, and words beside the ends of all three lines, pushed apart where they would touch."""
    import altair as alt

    rate = next((row["value"] for row in rows if row["k"] == 1 and row["value"] is not None), None)
    defined = [row for row in rows if row["value"] is not None]
    last = [max((r for r in defined if r["metric"] == m), key=lambda r: r["k"], default=None) for m in _METRICS]
    ends = [(row["value"], f"{row['metric'][:-1]}{row['k']}  {row['value']:.3f}") for row in last if row]
    if rate is not None:
        ends.insert(1, (rate, f"pass rate  {rate:.3f}"))
    places = _spread([value for value, _ in ends], 0.08)
    said = ("view", "post_hoc", "label", "suite", "counts", "criteria")  # a row cut out of the picture still says it
    of = {name: rows[0][name] for name in said if name in rows[0]}
    words = [{"k": _k_domain(ks)[1], "at": at, "words": text, **of} for at, (_, text) in zip(places, ends, strict=True)]
    text = on_rows(words).mark_text(align="left", dx=6, fontSize=11, **WORDS)
    drawn = [text.encode(_k_axis(ks), alt.Y("at:Q"), alt.Text("words:N"))]
    if rate is not None:
        rule = on_rows([{"pass_rate": rate, **of}]).mark_rule(color=GREY, strokeWidth=1.2)
        drawn.insert(0, rule.encode(alt.Y("pass_rate:Q")))
    return drawn


def _spread(values: Sequence[float], gap: float) -> list[float]:
    """Places near `values`, given from high to low, that keep a distance of `gap` inside 0 to 1."""
    places = list(values)
    for i in range(1, len(places)):
        places[i] = min(places[i], places[i - 1] - gap)
    for i in range(len(places) - 1, -1, -1):
        places[i] = max(places[i], (places[i + 1] + gap) if i + 1 < len(places) else 0.0)
    return places


def _histogram_panel(rows: list[dict[str, Any]], most: int) -> AltairChart:
    """Cases by passes; `most` cases, of any view, are the top of the scale that all panels share."""
    import altair as alt

    uneven = len({row["n"] for row in rows}) > 1
    named = [{**row, "passed": f"{row['passes']}/{row['n']}" if uneven else str(row["passes"])} for row in rows]
    title = "passes of samples" if uneven else f"passes of {rows[0]['n']} samples"
    x = alt.X("passed:N", title=title, sort=[row["passed"] for row in named], axis={"labelAngle": 0})
    y = alt.Y("cases:Q", title="cases", axis=counting_axis(most), scale={"domain": [0, most * 1.3]})
    base = on_rows(named).encode(x, y)
    counts = base.mark_text(dy=-6, fontSize=10, **WORDS).encode(alt.Text("cases:Q"))
    return alt.layer(base.mark_bar(color=GREY, opacity=0.75), counts).properties(width=_ACROSS, height=56)
