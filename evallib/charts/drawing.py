"""What every chart shares: the picture itself, its title and caption, its colours.

What a figure must say about itself (view, counts, error policy, "chosen after reading the answers") is drawn inside
it and stands in its specification, so that a cropped or re-plotted figure still has it. Everything works offline.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "BLUE", "GREEN", "GREY", "INK", "VERMILLION", "AltairChart", "Drawing", "finished", "on_rows", "plain_rows", "show",
    "state_of", "titled", "to_png", "to_svg",
]  # fmt: skip

AltairChart = Any
"""Any of altair's chart classes: layering and joining change the class, and share no useful base."""

# Okabe and Ito's colours, which colour-blind readers can tell apart; words and shapes repeat what they say.
BLUE, VERMILLION, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#767676", "#1a1a1a"
_WIDE = 7.0
"""Pixels of a character of the caption in DejaVu Sans, Debian's default; the picture is measured in a narrower font."""
_PADDING = {"left": 30, "right": 40, "top": 12, "bottom": 12}
"""Pixels; room at the sides for labels that a browser draws wider than they were measured."""
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


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The frame's rows with plain values, None where undefined: the very numbers of `metrics`."""
    return [
        {str(name): None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


def on_rows(rows: Sequence[Mapping[str, Any]]) -> AltairChart:
    """An empty chart over these very rows: handed over as a frame, altair would convert them."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(rows)))


def state_of(*, holds: bool) -> str:
    """The word beside a mark: the gate's own."""
    return "pass" if holds else "blocked"


def finished(chart: AltairChart, title: str, caption: str, frames: Sequence[pd.DataFrame], width: int) -> AltairChart:
    """The chart, titled with the views and labels that its frames' rows carry."""
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
