"""What the notebook on calibration shows: how far judges and checks say what people say, from the stored records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.calibration import calibrations_of
from evallib.caption import captioned, judge_words
from evallib.charts import Drawing, about, calibration_chart, show
from evallib.desk.tables import base_folder
from evallib.records import STRICT
from evallib.views.figures import Figures, load_figures

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CalibrationExhibits", "open_calibrations"]

_RATES = {
    "agreement": "agreement with people",
    "false_pass_of_judged_passes": "false passes, of what it passes",
    "false_fail_of_judged_fails": "false fails, of what it fails",
}
_COLUMNS = ["check", "rate", "kind", "value", "lo", "hi", "count", "of", "baseline", "by", "source", "id"]


@dataclass(frozen=True)
class CalibrationExhibits:
    """The stored calibrations of what a run was scored by. Frames hold untrusted text, so they are plain ones."""

    figures: Figures
    records: tuple[Mapping[str, Any], ...]

    def judges(self) -> pd.DataFrame:
        """One row per model-judged check of the run: who answered, and the calibration of it or `uncalibrated`."""
        checks = self._summary["by_check"]
        rows = [{"check": name, "answered by": judge_words(one)} for name, one in checks.items() if one["stochastic"]]
        return self._frame(rows, "No check of this run was answered by a model.")

    def sentences(self) -> pd.DataFrame:
        """What each calibration licenses, in its own words."""
        rows = [
            {"calibration": one["id"], "what it allows to be said": f"{one['sentence']} {one['balance']}."}
            for one in self.records
        ]
        return self._frame(rows, "Nothing was calibrated; see `evallib calibrate --help`.")

    def rates(self) -> pd.DataFrame:
        """One row per calibration and rate, with interval and counts: what `charts.calibration_chart` draws."""
        import pandas as pd

        return pd.DataFrame([row for one in self.records for row in _rate_rows(one)], columns=_COLUMNS)

    def chart(self) -> Drawing | pd.DataFrame:
        """Agreement and errors with their intervals, or that there is nothing to draw."""
        if not self.records:
            return self._frame([], "Nothing was calibrated, so there is nothing to draw.")
        return show(calibration_chart(self.rates(), about=about(self._summary)))

    def differences(self) -> pd.DataFrame:
        """One row per answer on which people and check differ, with the check's reason."""
        word = {True: "pass", False: "fail", None: "no verdict"}
        rows = [
            {
                "calibration": one["id"], "answer": item["id"], "kind": item["kind"], "people": word[item["label"]],
                "check": word[item["predicted"]], "reason": item["reason"],
            }
            for one in self.records
            for item in one["items"]
            if not item["matched"]
        ]  # fmt: skip
        nothing = "People and check differ on no answer." if self.records else "Nothing was calibrated."
        return self._frame(rows, nothing)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        return self.figures.summary()

    def _frame(self, rows: list[dict[str, Any]], none: str) -> pd.DataFrame:
        import pandas as pd

        return captioned(pd.DataFrame(rows or [{"nothing to show": none}]), [self._summary])


def _rate_rows(one: Mapping[str, Any]) -> Iterator[list[Any]]:
    by = one["by"].get("model") or "its criteria"
    for name, words in _RATES.items():
        rate, first = one[name], name == "agreement"
        lo, hi = rate["interval"] or (None, None)
        kind, baseline = ("agreement", one["majority_baseline"]) if first else ("error", None)
        yield [
            one["check"], words, kind, rate["value"], lo, hi, rate["count"], rate["of"], baseline, by, one["source"],
            one["id"],
        ]  # fmt: skip


def open_calibrations(run: str, *, data: str | Path, adjudications: str | Path) -> CalibrationExhibits:
    """The calibrations of a run's checks, judges and readings; relative folders count from `base_folder`."""
    base = base_folder(data)
    figures = load_figures([run], STRICT, base / data, base / adjudications)
    found = calibrations_of(figures.views[0].run, base / data, base / adjudications)
    return CalibrationExhibits(figures, tuple(found))
