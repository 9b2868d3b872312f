"""The figures that a bundle quotes: every view of every run, each with its label and the entries it rests on."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evallib.charts.drawing import AltairChart, Drawing
from evallib.exhibits.rows import flat_figures
from evallib.exhibits.run import Exhibits, open_exhibits
from evallib.records import STRICT
from evallib.standing import standing_readings
from evallib.store import LoggedEntry, Run, standing_rescorings
from evallib.views.figures import Figures
from evallib.views.load import READ

__all__ = ["drawings", "figure_rows", "figures_csv", "figures_json", "quoted_figures", "said_by"]

_COLUMNS = ("run", "view", "post_hoc", "label", "figure", "value")


def quoted_figures(run: str, data: Path, adjudications: Path, log: Sequence[LoggedEntry]) -> list[dict[str, Any]]:
    """One mapping per view of the run: what `metrics --json` and `gate --json` print, and the ids it cites."""
    exhibits = open_exhibits(run, data=data.resolve(), adjudications=adjudications.resolve())
    return [_quoted(exhibits.run, figures, log) for figures in exhibits.views]


def _quoted(run: Run, figures: Figures, log: Sequence[LoggedEntry]) -> dict[str, Any]:
    return {
        "run": run.id,
        "view": figures.view,
        "post_hoc": figures.view != STRICT,
        "label": figures.label,
        "cites": said_by(run, figures.view, log),
        # Prices are no part of a bundle: nobody could prove what was made of them.
        "metrics": {name: value for name, value in figures.summary().items() if name != "cost"},
        "gate": figures.decision().as_json(),
    }


def said_by(run: Run, view: str, log: Sequence[LoggedEntry]) -> list[str]:
    """Ids of the entries without which the view's figures would be others or could not be had, sorted."""
    if view == STRICT:
        return []
    if view == READ:
        stands = standing_readings(run, log).by_item.values()
        found = [[*stand.entries, *stand.differences.values(), *stand.resolutions] for stand in stands]
        return sorted({logged.id for each in found for logged in each})
    rescoring = next(one for one in standing_rescorings(run, log) if f"rescored:{one.name}" == view)
    twins = [logged for logged in log if logged.entry == rescoring.entry]
    return sorted({*(logged.id for logged in twins), *rescoring.entry.readings})


def figures_json(quoted: Sequence[Mapping[str, Any]]) -> bytes:
    """The figures as one JSON text."""
    return (json.dumps({"figures": list(quoted)}, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def figures_csv(quoted: Sequence[Mapping[str, Any]]) -> bytes:
    """The figures one a row, each row with its run, view and label; values are JSON."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in quoted:
        head = [one["run"], one["view"], json.dumps(one["post_hoc"]), one["label"]]
        parts = {"metrics": one["metrics"], "gate": one["gate"]}
        writer.writerows([*head, name, text] for name, text in flat_figures(parts))
    return sink.getvalue().encode()


def figure_rows(run: str, data: Path, adjudications: Path) -> list[list[str]]:
    """The rows of the table that holds all figures of a run: name of the figure, then a value for each view."""
    exhibits = open_exhibits(run, data=data.resolve(), adjudications=adjudications.resolve())
    return [[str(cell) for cell in row] for row in exhibits.figures().itertuples(index=False)]


def drawings(run: str, data: Path, adjudications: Path) -> Iterator[tuple[str, AltairChart]]:
    """(name, chart) of each chart of a run."""
    exhibits = open_exhibits(run, data=data.resolve(), adjudications=adjudications.resolve())
    for name, drawing in _drawings(exhibits):
        yield name, drawing.chart


def _drawings(exhibits: Exhibits) -> Iterator[tuple[str, Drawing]]:
    yield "reliability", exhibits.reliability()
    for figures in exhibits.views:
        view = figures.view.replace(":", "-")
        yield f"tiles-{view}", exhibits.tiles(figures.view)
        if figures.suite.gate:
            yield f"gate-{view}", exhibits.gate(figures.view)
