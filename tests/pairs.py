"""Two runs as frames, made of one letter per sample, and what comes of comparing them."""

from __future__ import annotations

import pandas as pd

from evallib.comparison.compare import Paired, compare_frames
from evallib.comparison.flips import Flip
from evallib.comparison.rows import Row
from tests.gates import outcome, verdict

Frames = tuple[pd.DataFrame, pd.DataFrame]
COLUMNS = list(verdict("c", "x", 1.0))


def frames(run: str, letters: dict[str, str], **checks: dict[str, str]) -> Frames:
    """Both frames of a run from one letter per sample: `p` passes, `f` fails, `e` is a provider's error.

    `letters` speak of the one critical check `right`, each of `checks` of another by its name.
    """
    rows, verdicts = [], []
    for case, said in letters.items():
        for n, letter in enumerate(said, 1):
            here = {"run_id": run, "sample": n}
            if letter == "e":
                rows.append(outcome(case, None, **here, status="error", sample_status="provider_error"))
                continue
            passed = letter == "p"
            each = {"right": passed, **{name: of[case][n - 1] == "p" for name, of in checks.items()}}
            rows.append(outcome(case, sum(each.values()) / len(each), **here) | {"passed": passed})
            for name, value in each.items():
                verdicts.append(verdict(case, name, float(value), **here, critical=name == "right", passed=value))
    return pd.DataFrame(rows), pd.DataFrame(verdicts, columns=[*COLUMNS])


def compared(a: Frames, b: Frames, spans: dict[str, float | None] | None = None) -> Paired:
    return compare_frames((a[0], b[0]), (a[1], b[1]), spans or {})


def row(found: Paired, name: str) -> Row:
    (one,) = [one for one in found.rows if one.row == name]
    return one


def flip(found: Paired, case: str) -> Flip:
    (one,) = [one for one in found.flips if one.case_id == case]
    return one
