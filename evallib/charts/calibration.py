"""The calibration chart: how often a check or judge says what people say, beside the baseline that says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evallib.charts.drawing import BLUE, VERMILLION, WIDTH, About, AltairChart, plain_rows, titled
from evallib.charts.ladder import ladder
from evallib.records import STRICT

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["calibration_chart"]

_KINDS = {"agreement": (BLUE, "circle"), "error": (VERMILLION, "triangle-up")}
_KEY = (
    "Blue circle: agreement. Orange triangle: errors, of what the check itself passes or fails. Line: 95 % interval. "
    "Grey tick: the majority baseline, which always giving the commoner label would reach. Agreement is not accuracy: "
    "the labels are people's readings."
)


def calibration_chart(rates: pd.DataFrame, *, about: Sequence[About] = ()) -> AltairChart:
    """Agreement and errors of each calibration with intervals; the frame is `calibration_exhibits.rates`'s.

    `about` is what the strict view says of itself.
    """
    rows = [{**row, "words": _words(row)} for row in plain_rows(rates)]
    drawn = ladder(rows, _KINDS, "share")
    meta = {"views": [STRICT], "labels": {STRICT: ""}}
    seen = " ".join(f"{row['words']}." for row in rows)
    title = "Judges and checks held against people"
    return titled(drawn, title, meta, WIDTH, said=about, seen=seen.replace("\n", " "), key=_KEY)


def _words(row: Mapping[str, Any]) -> str:
    shown = "undefined" if row["value"] is None else f"{row['value']:.3f}"
    ends = f" [{row['lo']:.3f}, {row['hi']:.3f}]" if row["lo"] is not None else ""
    counts = f"{row['count']} of {row['of']}"
    said = f"{row['check']}, {row['rate']}: {shown}{ends}, {counts}"
    if row["kind"] != "agreement":
        return said
    baseline = "" if row["baseline"] is None else f"; baseline {row['baseline']:.3f}"
    return f"{said}{baseline}\nby {row['by']}, on {row['source']}"
