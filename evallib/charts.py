"""Charts of one or several views: they draw numbers that `metrics` and `gate` computed, and compute none.

What a figure must say about itself (view, counts, error policy, "chosen after reading the answers") is drawn inside
it and stands in its specification, so that a cropped or re-plotted figure still has it. Everything works offline.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.errors import InputError
from evallib.gate import Decision

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "BLUE", "GREY", "INK", "Drawing", "case_tiles", "gate_chart", "on_rows", "reliability_chart", "show", "titled",
    "to_png", "to_svg",
]  # fmt: skip

AltairChart = Any
"""Any of altair's chart classes: layering and joining change the class, and share no useful base."""

# Okabe and Ito's colours, which colour-blind readers can tell apart; words and shapes repeat what they say.
BLUE, _VERMILLION, _GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#767676", "#1a1a1a"
_RELEASE = "This is the release decision."
_MOST_MARKS = 12
"""More checks than this make marks that nobody can tell apart."""
_WORDS_ACROSS = 44
"""Characters beside a bar, so that they stay inside the picture in any font."""
_WIDE = 7.0
"""Pixels of a character of the caption in DejaVu Sans, Debian's default; the picture is measured in a narrower font."""
_PADDING = {"left": 30, "right": 40, "top": 12, "bottom": 12}
"""Pixels; room at the sides for labels that a browser draws wider than they were measured."""
_LINEAR = 16
"""Up to this k the axis is linear."""
_METRICS = ["pass@k", "pass^k"]
_MIME = "application/vnd.vegalite.v5+json"
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.8.0.json"
_VEGA_LITE = "5.8"
"""JupyterLab 4.6 draws Vega-Lite 5 only; the picture is made with the same version, so that both look alike."""


@dataclass(frozen=True)
class Drawing:
    """A chart for a notebook: live in JupyterLab, a picture everywhere else, no request to any server."""

    chart: AltairChart

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        spec = _spec(self.chart)
        return {_MIME: spec, "image/svg+xml": _svg(spec), "text/plain": _said(spec)}


def show(chart: AltairChart) -> Drawing:
    """What the last line of a notebook cell needs to show `chart` live and offline."""
    return Drawing(chart)


def to_svg(chart: AltairChart) -> str:
    """The chart as an SVG picture."""
    return _svg(_spec(chart))


def _svg(spec: dict[str, Any]) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE))


def to_png(chart: AltairChart, path: Path, *, scale: float = 2) -> Path:
    """Write the chart as a PNG picture to `path`, which must not exist."""
    import vl_convert

    picture = vl_convert.vegalite_to_png(_spec(chart), vl_version=_VEGA_LITE, scale=scale)
    try:
        with path.open("xb") as file:
            file.write(picture)
    except FileExistsError as error:
        raise InputError(f"picture {str(path)!r} exists already; name another file or remove it") from error
    return path


def _spec(chart: AltairChart) -> dict[str, Any]:
    spec = json.loads(chart.to_json(validate=True))
    return {**spec, "$schema": _SCHEMA}


def _said(spec: Mapping[str, Any]) -> str:
    meta = spec["usermeta"]["evallib"]
    caption = meta["caption"].replace("\n", " ")
    return " | ".join(text for text in (meta["title"], caption, *_label_lines(meta["labels"])) if text)


def _label_lines(labels: Mapping[str, str]) -> list[str]:
    """One line per label, with the views that carry it."""
    views = {label: [view for view, said in labels.items() if said == label] for label in labels.values() if label}
    return [f"{label[0].upper()}{label[1:]}: {', '.join(names)}" for label, names in views.items()]


def reliability_chart(
    curves: pd.DataFrame,
    histogram: pd.DataFrame,
    *,
    caption: str = "",
    title: str = "Reliability over repeated samples",
) -> AltairChart:
    """pass@k against pass^k over k, meeting at the pass rate; one panel per view, cases by passes beneath it.

    Both frames come from `metrics.curves` and `metrics.passes_histogram`, or are several of those one below another.
    """
    import altair as alt

    views = list(dict.fromkeys(curves["view"]))
    width = {1: 420, 2: 310}.get(len(views), 240)
    most = max(_rows(histogram), key=lambda row: row["cases"], default={"cases": 1})["cases"]
    columns = []
    for view in views:
        one, counts = _rows(curves[curves["view"] == view]), _rows(histogram[histogram["view"] == view])
        columns.append(alt.vconcat(_curve_panel(one, view, width), _histogram_panel(counts, width, most), spacing=14))
    chart = alt.hconcat(*columns, spacing=26)
    return _finished(chart, title, caption, [curves, histogram], width * len(views) + 110 * len(views))


def gate_chart(decision: Decision, *, caption: str = "") -> AltairChart:
    """The decision, its rules with their reasons, and each check's mean against its threshold."""
    import altair as alt

    rules = [{"rule": r.rule, "state": _state(holds=r.passed), "reason": r.reason} for r in decision.rules]
    parts = [_rules_panel(rules)]
    parts += [_checks_panel(r.detail["checks"]) for r in decision.rules if "checks" in r.detail]
    title = f"Gate: {decision.decision} (run {decision.run}, view {decision.view})"
    why = f"This is no release decision: {decision.why_no_release}." if decision.why_no_release else _RELEASE
    meta = {"views": [decision.view], "labels": {decision.view: decision.label}}
    return titled(alt.vconcat(*parts, spacing=18), title, f"{why}\n{caption}".strip(), meta, 760)


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
    tiles = [_tile(row, places[row["case_id"]], floor) for row in _rows(cases)]
    drawable = _rows(marks) if len(checks) <= _MOST_MARKS else []
    dots = [_dot(row, places[row["case_id"]], checks) for row in drawable if row["case_id"] in places]
    drawn = alt.hconcat(_tiles_panel(tiles, dots, across))
    said = "\n".join(part for part in (_tiles_legend(checks, floor, tiles), caption) if part)
    return _finished(drawn, "Cases", said, [cases, marks], max(420, across * 92))


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


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The frame's rows with plain values, None where undefined: the very numbers of `metrics`."""
    return [
        {str(name): None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


def on_rows(rows: Sequence[Mapping[str, Any]]) -> AltairChart:
    """An empty chart over these very rows: handed over as a frame, altair would convert them."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(rows)))


def _state(*, holds: bool) -> str:
    return "pass" if holds else "blocked"


def _finished(chart: AltairChart, title: str, caption: str, frames: Sequence[pd.DataFrame], width: int) -> AltairChart:
    labels = {view: said for frame in frames for view, said in zip(frame["view"], frame["label"], strict=True)}
    return titled(chart, title, caption, {"views": list(labels), "labels": labels}, width)


def titled(chart: AltairChart, title: str, caption: str, meta: Mapping[str, Any], width: int) -> AltairChart:
    """The chart with title and caption drawn inside it, and both in the specification's `usermeta`.

    Lines of the caption stay lines. `meta` names the views and each one's label, empty for strict.
    """
    import altair as alt

    post_hoc = [view for view, label in meta["labels"].items() if label]
    label = "; ".join(dict.fromkeys(meta["labels"][view] for view in post_hoc)) or None
    said = {**meta, "title": title, "caption": caption, "post_hoc": post_hoc, "label": label}
    across = max(40, int(width / _WIDE))
    wrapped = [line for part in caption.split("\n") for line in textwrap.wrap(part, across)]
    lines = [*_label_lines(meta["labels"]), *wrapped]
    heading = alt.TitleParams(
        title,
        subtitle=lines,
        anchor="start",
        fontSize=15,
        subtitleFontSize=11,
        color=INK,
        subtitleColor=INK,
        offset=12,
    )
    drawn = chart.properties(title=heading, usermeta={"evallib": said}, background="white", padding=_PADDING)
    return (
        drawn.configure_view(stroke="#d0d0d0")
        .configure_axis(labelColor=INK, titleColor=INK, gridColor="#ececec", titleFontWeight="normal")
        .configure_title(color=INK)
    )


def _curve_panel(rows: list[dict[str, Any]], view: str, width: int) -> AltairChart:
    import altair as alt

    ks = sorted({row["k"] for row in rows})
    x = _k_axis(ks)
    y = alt.Y(
        "value:Q", title="mean over cases", scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(format=".1f")
    )
    colour = alt.Color("metric:N", scale=alt.Scale(domain=_METRICS, range=[BLUE, _VERMILLION]), legend=None)
    dash = alt.StrokeDash("metric:N", scale=alt.Scale(domain=_METRICS, range=[[6, 4], [1, 0]]), legend=None)
    shape = alt.Shape("metric:N", scale=alt.Scale(domain=_METRICS, range=["circle", "square"]), legend=None)
    tooltip = [alt.Tooltip(f"{name}:{kind}") for name, kind in _TOOLTIP.items()]
    base = on_rows(rows)
    bars = [
        base.transform_filter(f"datum.metric === '{metric}' && isValid(datum.lo)")
        .mark_rule(xOffset=offset, strokeWidth=2, opacity=0.45)
        .encode(x, alt.Y("lo:Q"), alt.Y2("hi:Q"), colour)
        for metric, offset in zip(_METRICS, (-3, 3), strict=True)
    ]
    lines = base.mark_line(strokeWidth=2).encode(x, y, colour, dash)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x, y, colour, shape, tooltip=tooltip)
    label = alt.TitleParams(_view_lines(view, rows), fontSize=12, anchor="start")
    return alt.layer(*_rate_and_labels(rows, ks), *bars, lines, points).properties(width=width, height=260, title=label)


def _k_domain(ks: Sequence[int]) -> list[float]:
    return [ks[0] - 0.3, ks[-1] + 0.3] if ks[-1] <= _LINEAR else [ks[0] / 1.15, ks[-1] * 1.15]


def _k_axis(ks: Sequence[int]) -> AltairChart:
    """Whole k only; doubling distances where there are many, so that the small k stay apart."""
    import altair as alt

    if ks[-1] <= _LINEAR:
        scale = alt.Scale(domain=_k_domain(ks), nice=False, zero=False)
        return alt.X("k:Q", title="k samples", axis=alt.Axis(values=list(ks), format="d"), scale=scale)
    scale = alt.Scale(type="log", base=2, domain=_k_domain(ks), nice=False)
    marked = [k for k in ks if k in {1, 2, 4} or k >= 10]
    return alt.X("k:Q", title="k samples (doubling scale)", axis=alt.Axis(values=marked, format="d"), scale=scale)


_TOOLTIP = {"view": "N", "metric": "N", "k": "Q", "value": "Q", "lo": "Q", "hi": "Q", "eligible": "Q", "cases": "Q"}


def _view_lines(view: str, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    labels = dict.fromkeys(part for row in rows for part in row["label"].split("; ") if part)
    return [f"view {view.replace(':', ': ', 1)}", *labels]


def _rate_and_labels(rows: list[dict[str, Any]], ks: list[int]) -> list[AltairChart]:
    """The pass rate as a rule, and words beside the ends of all three lines, pushed apart where they would touch."""
    import altair as alt

    rate = next((row["value"] for row in rows if row["k"] == 1 and row["value"] is not None), None)
    defined = [row for row in rows if row["value"] is not None]
    last = [max((r for r in defined if r["metric"] == m), key=lambda r: r["k"], default=None) for m in _METRICS]
    ends = [(row["value"], f"{row['metric'][:-1]}{row['k']}  {row['value']:.3f}") for row in last if row]
    if rate is not None:
        ends.insert(1, (rate, f"pass rate  {rate:.3f}"))
    places = _spread([value for value, _ in ends], 0.062)
    words = [{"k": _k_domain(ks)[1], "at": at, "words": text} for at, (_, text) in zip(places, ends, strict=True)]
    text = on_rows(words).mark_text(align="left", dx=6, fontSize=11, color=INK)
    drawn = [text.encode(_k_axis(ks), alt.Y("at:Q"), alt.Text("words:N"))]
    if rate is not None:
        rule = on_rows([{"pass_rate": rate}]).mark_rule(color=GREY, strokeWidth=1.2)
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


def _histogram_panel(rows: list[dict[str, Any]], width: int, most: int) -> AltairChart:
    """Cases by passes; `most` cases, of any view, are the top of the scale that all panels share."""
    import altair as alt

    uneven = len({row["n"] for row in rows}) > 1
    named = [{**row, "label": f"{row['passes']}/{row['n']}" if uneven else str(row["passes"])} for row in rows]
    title = "passes of samples" if uneven else f"passes of {rows[0]['n']} samples"
    x = alt.X("label:N", title=title, sort=[row["label"] for row in named], axis=alt.Axis(labelAngle=0))
    ticks = list(range(0, most + 1, max(1, math.ceil(most / 3))))
    y = alt.Y(
        "cases:Q", title="cases", axis=alt.Axis(values=ticks, format="d"), scale=alt.Scale(domain=[0, most * 1.3])
    )
    base = on_rows(named).encode(x, y)
    counts = base.mark_text(dy=-6, fontSize=10, color=INK).encode(alt.Text("cases:Q"))
    return alt.layer(base.mark_bar(color="#9a9a9a"), counts).properties(width=width, height=70)


def _state_encodings() -> tuple[Any, Any]:
    import altair as alt

    domain = ["pass", "blocked"]
    colour = alt.Color("state:N", scale=alt.Scale(domain=domain, range=[_GREEN, _VERMILLION]), legend=None)
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
    state = _state(holds=check["passed"])
    shown = "no mean" if mean is None else f"{mean:.3f}"
    unit = " (its own units)" if check["unit"] == "raw" else ""
    words = f"{state}: {shown}, threshold {threshold:.2f}{unit}"
    if check["stochastic"]:
        judged = f"judged by {', '.join(check['judge']) or 'nobody'}, {check['calibration']}"
        words = "\n".join([words, *textwrap.wrap(judged, _WORDS_ACROSS)])
    place = {"place": None if mean is None else mean / top, "least": threshold / top, "start": 0, "end": 1}
    return {"check": check["check"], "mean": mean, "threshold": threshold, "state": state, "words": words, **place}


def _tile(row: Mapping[str, Any], place: tuple[int, int], floor: float | None) -> dict[str, Any]:
    down, across = place
    score = row["score_mean"]
    below = score is None or (floor is not None and row["score_min"] is not None and row["score_min"] < floor - 1e-9)
    shown = "no score" if score is None else f"{score:.2f}"
    box = {"x": across + 0.04, "x2": across + 0.96, "y": down + 0.06, "y2": down + 0.94}
    under = "below" if below and score is not None else ""
    lines = {"middle": across + 0.5, "top": down + 0.22, "centre": down + 0.44, "under_at": down + 0.62}
    return {**row, **box, **lines, "shown": shown, "below": under, "state": _state(holds=not below)}


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
    rim = alt.Stroke(
        "state:N", scale=alt.Scale(domain=["pass", "blocked"], range=["#b8b8b8", _VERMILLION]), legend=None
    )
    boxes = base.mark_rect(cornerRadius=5).encode(x, y, alt.X2("x2:Q"), alt.Y2("y2:Q"), fill, rim)
    names = base.mark_text(fontSize=10, color=INK, limit=70).encode(middle, top, alt.Text("case_id:N"))
    scores = base.mark_text(fontSize=12, fontWeight="bold", color=INK).encode(middle, centre, alt.Text("shown:N"))
    below = base.mark_text(fontSize=10, color=INK).encode(middle, under, alt.Text("below:N"))
    domain = ["full", "less", "not had"]
    colour = alt.Color("state:N", scale=alt.Scale(domain=domain, range=[_GREEN, _VERMILLION, GREY]), legend=None)
    shape = alt.Shape("state:N", scale=alt.Scale(domain=domain, range=["circle", "cross", "diamond"]), legend=None)
    tooltip = [alt.Tooltip(name) for name in ("case_id:N", "check_id:N", "mean_value:Q", "state:N")]
    marks = on_rows(dots).mark_point(filled=True, size=48, opacity=1)
    layers = (boxes, names, scores, below, marks.encode(x, y, colour, shape, tooltip=tooltip))
    return (
        alt.layer(*layers)
        .resolve_scale(color="independent", shape="independent")
        .properties(width=92 * across, height=82 * down)
    )
