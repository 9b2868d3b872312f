"""What every chart shares: the picture itself, its title and caption, its colours.

What a figure must say about itself in short (view, suite, counts, criteria, "chosen after reading the answers") is
drawn in its title and stands in every row of its specification, so that a cropped or re-plotted figure still has it.
Its whole caption stands in the specification and in its words for those who cannot see it. Everything works offline.

A chart has no background, and its words no colour of their own: in JupyterLab they take the theme's, on a page the
page's, in a file of their own the reader's. What is not words has colours that hold 3:1 on white and on near black.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from evallib.caption import About, about, brief, joined
from evallib.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "BLUE", "BOLD", "GREEN", "GREY", "VERMILLION", "WIDTH", "WORDS", "About", "AltairChart", "Drawing", "Drawings",
    "about", "counting_axis", "finished", "folded", "marked", "on_rows", "plain_rows", "show", "spec_of", "state_of",
    "svg_of", "titled", "to_png", "to_svg",
]  # fmt: skip

AltairChart = Any
"""Any of altair's chart classes: layering and joining change the class, and share no useful base."""

# Okabe and Ito's colours, which colour-blind readers can tell apart; words and shapes repeat what they say.
BLUE, VERMILLION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#767676"
WIDTH = 440
"""Pixels of a whole chart: on a screen of 400 its smallest words are still 8 pixels high."""
WORDS: Mapping[str, Any] = {"style": "guide-label", "filled": False, "stroke": None}
"""What lets a text mark take the theme's colour for words, as axes do: Vega-Lite gives it no colour of its own."""
_INK, _INK_ON_DARK = "#1a1a1a", "#e4e8ed"
_EMS = {char: wide for wide, chars in (
    (0.3, "ijlIJ'"), (0.32, " .,"), (0.37, ":;/f-|"), (0.41, "()[]rt!"), (0.54, "csz?*_`"), (0.59, "kvxyFL"),
    (0.7, "ABCRUVXZ"), (0.79, "DGHNOQ&"), (0.86, "+<=>#~^wM"), (1.0, "mW@%"),
) for char in chars}  # fmt: skip
"""How wide characters of DejaVu Sans are, Debian's default and wider than most: pictures are measured in another font.
Those not named here are 0.64 wide, those of East Asia 1."""
BOLD = 1.12
"""How much wider bold words are."""
_PIECES = re.compile(r"\s*(?:[^\s-]*-+|[^\s-]+)")
_FOOT = 9.5
_PADDING = {"left": 10, "right": 16, "top": 10, "bottom": 10}
"""Pixels; room at the sides for labels that a browser draws wider than they were measured."""
_MIME = "application/vnd.vegalite.v5+json"
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.8.0.json"
_VEGA_LITE = "5.8"
"""JupyterLab 4.6 draws Vega-Lite 5 only; the picture is made with the same version, so that both look alike."""
_SVG = "http://www.w3.org/2000/svg"
_FOLLOW = (
    f".evallib-chart{{color:{_INK}}}"
    f"@media screen and (prefers-color-scheme:dark){{.evallib-chart{{color:{_INK_ON_DARK}}}}}"
)
"""For a picture in a file of its own; on a page the page says which colour words have."""


def counting_axis(most: int) -> dict[str, Any]:
    """An axis of counts up to `most`: whole numbers, each once, in steps of 1, 2 or 5 times a power of ten."""
    step = next(base * 10**power for power in count() for base in (1, 2, 5) if most <= 3 * base * 10**power)
    return {"values": list(range(0, most + 1, step)), "format": "d"}


def marked(rows: Sequence[Mapping[str, Any]], said: Sequence[About], view: str = "") -> list[dict[str, Any]]:
    """The rows with what their view must say; `view` names it where the rows do not."""
    known = {one.view: one.row() for one in said}
    return [{**known.get(str(row.get("view", view)), {}), **row} for row in rows]


@dataclass(frozen=True)
class Drawing:
    """A chart for a notebook: live in JupyterLab, a picture everywhere else, no request to any server."""

    chart: AltairChart

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        spec = spec_of(self.chart)
        return {_MIME: spec, "image/svg+xml": svg_of(spec), "text/plain": spec["description"]}


@dataclass(frozen=True)
class Drawings:
    """Several charts for a notebook, one below another; on a page they stand side by side where there is room."""

    drawings: tuple[Drawing, ...]

    def _ipython_display_(self) -> None:
        from IPython.display import display

        for one in self.drawings:
            display(one)  # type: ignore[no-untyped-call]  # IPython ships no types


def show(chart: AltairChart) -> Drawing:
    """What the last line of a notebook cell needs to show `chart` live and offline."""
    return Drawing(chart)


def to_svg(chart: AltairChart) -> str:
    """The chart as an SVG picture whose words take the colour of the page they stand on."""
    return svg_of(spec_of(chart))


def svg_of(spec: dict[str, Any]) -> str:
    """The picture of a specification that `spec_of` gave; see `to_svg`."""
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(_inked(spec, "transparent"), vl_version=_VEGA_LITE)
    ET.register_namespace("", _SVG)
    root = ET.fromstring(drawn)  # noqa: S314 - drawn by vl-convert; expat refuses entities that explode
    for element in root.iter():
        for name in ("fill", "stroke"):
            if element.get(name) == _INK:
                element.set(name, "currentColor")
    root.set("class", "marks evallib-chart")
    root.set("role", "img")
    root.set("aria-label", spec["description"])
    style = ET.Element(f"{{{_SVG}}}style")
    style.text = _FOLLOW
    root.insert(0, style)
    return ET.tostring(root, encoding="unicode")


def to_png(chart: AltairChart, path: Path, *, scale: float = 2) -> Path:
    """Write the chart as a PNG picture, dark on white, to `path`, which must not exist."""
    import vl_convert

    picture = vl_convert.vegalite_to_png(_inked(spec_of(chart), "white"), vl_version=_VEGA_LITE, scale=scale)
    try:
        with path.open("xb") as file:
            file.write(picture)
    except FileExistsError as error:
        raise InputError(f"picture {str(path)!r} exists already; name another file or remove it") from error
    return path


def spec_of(chart: AltairChart) -> dict[str, Any]:
    """The chart as the Vega-Lite specification that is drawn."""
    spec = json.loads(chart.to_json(validate=True))
    return {**spec, "$schema": _SCHEMA}


def _inked(spec: Mapping[str, Any], background: str) -> dict[str, Any]:
    """The specification with dark words, as a light theme would give them."""
    config = spec.get("config", {})
    words = {"style": {name: {"fill": _INK} for name in ("guide-label", "guide-title")}}
    title = {**config.get("title", {}), "color": _INK, "subtitleColor": _INK}
    return {**spec, "background": background, "config": {**config, **words, "title": title}}


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The frame's rows with plain values, None where undefined: the very numbers of `metrics`."""
    return [
        {str(name): None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


def on_rows(rows: Sequence[Mapping[str, Any]]) -> AltairChart:
    """An empty chart over these very rows: handed over as a frame, altair would convert them."""
    import altair as alt

    return alt.Chart(_kept_rows()(values=list(rows)))


@cache
def _kept_rows() -> Any:
    import altair as alt

    class KeptRows(alt.InlineData):
        """Rows that copies of a chart share: altair copies a chart with all it holds when it is laid into another."""

        def __deepcopy__(self, memo: object) -> Any:
            return self

    return KeptRows


def state_of(*, holds: bool) -> str:
    """The word beside a mark: the gate's own."""
    return "pass" if holds else "blocked"


def finished(
    chart: AltairChart,
    title: str,
    said: Sequence[About],
    frames: Sequence[pd.DataFrame],
    *,
    seen: str,
    key: str = "",
    width: int = WIDTH,
) -> AltairChart:
    """The chart, titled with the views and labels that its frames' rows carry.

    `seen` says in words what is to be seen; `key` what the marks mean.
    """
    labels = {view: label for frame in frames for view, label in zip(frame["view"], frame["label"], strict=True)}
    return titled(chart, title, {"views": list(labels), "labels": labels}, width, said=said, seen=seen, key=key)


def titled(
    chart: AltairChart,
    title: str,
    meta: Mapping[str, Any],
    width: int,
    *,
    said: Sequence[About] = (),
    seen: str = "",
    key: str = "",
) -> AltairChart:
    """The chart with its title, what its views say in short, and below it `key`, whose lines stay lines.

    The whole caption is in the specification's `usermeta` and `description`. `meta` names the views and each one's
    label, empty for strict.
    """
    import altair as alt

    post_hoc = [view for view, label in meta["labels"].items() if label]
    label = "; ".join(dict.fromkeys(meta["labels"][view] for view in post_hoc)) or None
    full = "\n".join(filter(None, [key, joined([one.caption for one in said if one.caption])]))
    kept = {**meta, "title": title, "caption": full, "post_hoc": post_hoc, "label": label}
    within = width - _PADDING["left"] - _PADDING["right"]
    known = {one.view: one for one in said}
    above = brief([known.get(view, About(view))._replace(label=label) for view, label in meta["labels"].items()])
    heading = alt.TitleParams(
        folded(title, within, 15 * BOLD),
        subtitle=[line for one in above for line in folded(one, within, 11)],
        anchor="start", fontSize=15, subtitleFontSize=11, subtitlePadding=5, offset=14,
    )  # fmt: skip
    lines = [line for one in key.split("\n") for line in folded(one, within, _FOOT)]
    foot = alt.TitleParams(
        lines, orient="bottom", anchor="start", fontSize=_FOOT, fontWeight="normal", offset=10, lineHeight=13
    )
    spoken = [f"{title}.", seen, *(f"{one}." for one in above), full.replace("\n", " ")]
    chart.title = heading  # set, here and below: each method of altair's that changes a chart first copies all of it
    drawn = alt.vconcat(chart)
    drawn.title = foot if lines else alt.Undefined
    drawn.usermeta = {"evallib": kept}
    drawn.description = " ".join(part for part in spoken if part)
    drawn.background, drawn.padding = "transparent", _PADDING
    axis = alt.AxisConfig(gridColor=GREY, gridOpacity=0.22, domainColor=GREY, tickColor=GREY, titleFontWeight="normal")
    drawn.config = alt.Config(view=alt.ViewConfig(stroke=GREY, strokeOpacity=0.35), axis=axis)
    return drawn


def folded(text: str, width: float, size: float) -> list[str]:
    """The text in lines of at most `width` pixels at a font of `size`, folded at blanks and after hyphens."""
    lines: list[str] = []
    line = ""
    for piece in _PIECES.findall(text):
        full = bool(line) and _wide(line + piece, size) > width
        lines += [line] * full
        line = piece.lstrip() if full else line + piece
        while _wide(line, size) > width and len(line) > 1:
            most = next(n for n in range(len(line) - 1, 0, -1) if n == 1 or _wide(line[:n], size) <= width)
            lines, line = [*lines, line[:most]], line[most:]
    return [*lines, line] if line else lines


def _wide(text: str, size: float) -> float:
    return size * sum(1.0 if char >= "\u2e80" else _EMS.get(char, 0.64) for char in text)
