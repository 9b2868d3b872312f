"""What the notebook that compares shows of two runs: plain frames, plain text and the forest, each naming its view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.caption import captioned, counts_words, joined
from evallib.charts import About, Drawing, about, forest_chart, show
from evallib.comparison.compare import Comparison, compare_runs
from evallib.comparison.contexts import locked_words
from evallib.comparison.rows import Row
from evallib.desk.tables import base_folder
from evallib.display import set_display
from evallib.printing import interval, number, p_words, shortened
from evallib.records import STRICT
from evallib.stdout import counted, signed
from evallib.store.calibrations import read_calibrations
from evallib.views.figures import Figures, load_figures

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ComparisonExhibits", "open_comparison", "set_display"]


@dataclass(frozen=True)
class ComparisonExhibits:
    """Run B against run A, ready to be shown."""

    a: Figures
    b: Figures
    found: Comparison

    def said(self) -> str:
        """The conclusion in words, one sentence a line, then what a reader must know of the two runs."""
        head = f"A {self.found.a}, B {self.found.b}, view {self._view}: {len(self.found.shared)} shared cases"
        notes = [*(f"stale build: {one}" for one in self.found.stale), *(f"note: {one}" for one in self.found.notes)]
        return "\n".join([head, *filter(None, [self.found.lock]), *self.found.sentences, *notes])

    def rows(self) -> pd.DataFrame:
        """One row per figure: both means, the paired difference, its test, and the cases that moved."""
        columns = ["figure", "A", "B", "B - A, 95 %", "p", "p (Holm)", "rose", "fell", "in B", "says"]
        return self._frame(columns, ([*_figures(row), row.says] for row in self.found.paired.rows))

    def forest(self) -> Drawing:
        """Each figure's difference with its interval, as shares of its scale, around nothing."""
        import pandas as pd

        label = self.found.label
        rows = [{"view": self.found.view, "label": label, **one} for one in map(_drawn, self._moved)]
        names = ["view", "label", "row", "words", "verdict", "difference", "lo", "hi"]
        title = f"{self.found.b} against {self.found.a}"
        return show(forest_chart(pd.DataFrame(rows, columns=names), title=title, about=[self._about]))

    def flips(self) -> pd.DataFrame:
        """Every case that passes more or less often in B, those that fell first."""
        columns = ["", "case", "required", "A", "B", "how", "by", "checks that moved with it"]
        rows = (
            ["rose" if f.rose else "fell", f.case_id, "yes" if f.required else "", f"{f.a[0]} of {f.a[1]}",
             f"{f.b[0]} of {f.b[1]}", f.word, f.by, ", ".join(f.checks)]
            for f in self.found.paired.flips
        )  # fmt: skip
        return self._frame(columns, rows)

    def contexts(self) -> pd.DataFrame:
        """Everything else that differs between the two runs."""
        rows = ([one.what, shortened(one.a), shortened(one.b)] for one in self.found.contexts)
        return self._frame(["what differs", "A", "B"], rows)

    def alone(self) -> pd.DataFrame:
        """The cases that only one run has; they stand in no figure."""
        pairs = (("A", self.found.only_a), ("B", self.found.only_b))
        return self._frame(["only in", "case"], ([name, case] for name, only in pairs for case in only))

    def costs(self) -> str:
        """Tokens and cost per sample of both, and how far they moved or why nobody says."""
        return "\n".join(self.found.costs.lines())

    @property
    def _view(self) -> str:
        return f"{self.found.view} ({self.found.label})" if self.found.label else self.found.view

    @property
    def _moved(self) -> list[Row]:
        return [row for row in self.found.paired.rows if row.kind != "check" or row.moved]

    @cached_property
    def _about(self) -> About:
        summaries = [figures.summary() for figures in (self.a, self.b)]
        names = (f"A {self.found.a}", f"B {self.found.b}")
        each = (f"{name}: {counts_words(one)}" for name, one in zip(names, summaries, strict=True))
        counts = "; ".join([counted(len(self.found.shared), "shared case"), *each])
        criteria = " and ".join(dict.fromkeys(str(one["origin"]["criteria"]) for one in summaries))
        suite = " and ".join(dict.fromkeys(one.suite for one in about(*summaries)))
        return About(self.found.view, self.found.label, counts, criteria, joined(self.found.captions), suite)

    def _frame(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
        import pandas as pd

        return captioned(pd.DataFrame(list(rows), columns=list(columns)), said=[self._about])


def _figures(row: Row) -> list[Any]:
    moved = "—" if row.difference is None else signed(row.difference) + interval(row.interval)
    counts = [len(row.rose), len(row.fell)]
    name = f"{row.row} ({row.judge})" if row.judge else row.row
    return [name, number(row.a), number(row.b), moved, p_words(row.p), p_words(row.p_corrected), *counts, row.word]


def _drawn(row: Row) -> dict[str, Any]:
    """A row of the forest, in shares of the figure's scale; one whose scale is not known is told in words alone."""
    name, a, b, moved, _, corrected, rose, fell, word = _figures(row)
    words = f"{name}: {a} -> {b}, {moved}; {word}{f' (Holm p {corrected})' if row.p is not None else ''}; "
    drawn = {"row": row.row, "words": f"{words}{rose} rose, {fell} fell", "verdict": row.word}
    if row.span is None or row.difference is None:
        return {**drawn, "difference": None, "lo": None, "hi": None}
    low, high = row.interval or (None, None)
    ends = {"lo": None if low is None else low / row.span, "hi": None if high is None else high / row.span}
    return {**drawn, "difference": row.difference / row.span, **ends}


def open_comparison(
    run_a: str,
    run_b: str,
    *,
    data: str | Path,
    adjudications: str | Path,
    view: str = STRICT,
    prices: str = "",
) -> ComparisonExhibits:
    """Two stored runs to show side by side; relative folders count from `base_folder`.

    InputError where they cannot be compared. Prices are those of the data folder unless a file is named.
    """
    base = base_folder(data)
    folder, log = base / data, base / adjudications
    table = base / prices if prices else None
    a, b = (load_figures([one], view, folder, log, prices=table) for one in (run_a, run_b))
    lock = locked_words(a.views[0].run, b.views[0].run, log)
    found = compare_runs(a, b, calibrations=read_calibrations(folder), lock=lock)
    return ComparisonExhibits(a, b, found)
