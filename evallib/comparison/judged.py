"""What a judge that errs does to a difference between two runs, where people measured how it errs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evallib.comparison.rows import Row
from evallib.statistics.correction import observed_difference

__all__ = ["attenuations"]

_ERRORS = ("false_fail_of_labelled_passes", "false_pass_of_labelled_fails")


def attenuations(rows: Sequence[Row], calibrations: Iterable[Mapping[str, Any]]) -> list[str]:
    """For each row of a judge with one calibration: how much of a true difference it shows, when it errs alike on both.

    Sensitivity and specificity are those of the calibration's labelled answers.
    """
    known = {str(record["id"]): record for record in calibrations}
    said = []
    for row in rows:
        record = known.get(row.calibration)
        errors = [] if record is None else [record[name]["value"] for name in _ERRORS]
        if errors and None not in errors:
            share = observed_difference(1.0, 1 - errors[0], 1 - errors[1])
            shows = f"its judge shows {share:.2f} of a true difference, erring alike on both"
            said.append(f"{row.row}: by {row.calibration} {shows}")
    return said
