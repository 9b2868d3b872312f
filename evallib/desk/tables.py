"""The reviewer's desk as a notebook opens it: a sitting over stored runs, and plain tables of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evallib.desk.queue import parse_query
from evallib.desk.session import ReviewSession
from evallib.desk.sitting import NEWEST
from evallib.readings_table import readings_frame
from evallib.records import whole_seconds
from evallib.store import open_run

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["base_folder", "open_session", "queue_frame", "seen_readings"]

_SEEN = ["run", "case", "sample", "check", "strict", "reading", "cause", "reason", "author", "blind", "time", "label"]
"""Columns that say nothing of answers that were not read: none of how much of a run failed."""


def base_folder(data: str | Path) -> Path:
    """Where a notebook's relative folders count from: here, or the folder above that has the runs of `data`.

    Jupyter starts a notebook in the notebook's own folder, papermill where it was called: both must find the same run.
    """
    here = Path.cwd()
    return next((place for place in (here, *here.parents) if (place / data / "runs").is_dir()), here)


def open_session(  # the parameters of a notebook, each by its name
    runs: str | Sequence[str],
    *,
    data: str | Path,
    adjudications: str | Path,
    author: str = "",
    sighted: bool = False,
    only: str = "",
) -> ReviewSession:
    """A sitting over stored runs, blind unless `sighted`; relative folders count from `base_folder`.

    `only` are the words of a query. A blind sitting reads by the newest plan of these runs, where one was drawn, unless
    it asks for `all`. The tables of a blind sitting hide what its reader must not know, headless too:
    an executed notebook can be read by who reads on. A page that is to show strict's words is opened sighted.
    """
    base = base_folder(data)
    opened = [open_run(run, base / data) for run in ([runs] if isinstance(runs, str) else runs)]
    query = parse_query(only)
    plan = "" if sighted or query.all else NEWEST
    return ReviewSession(opened, base / adjudications, author, query=query, blind=not sighted, plan=plan)


def queue_frame(session: ReviewSession) -> pd.DataFrame:
    """The queue as a plain frame, one row per item; what strict says and what was read only where it is not blind.

    `check` is there where verdicts are read; `reason` says more than the names of the failed checks, or nothing.
    """
    import pandas as pd

    columns = ["run", "case_id", "sample", "check", "strict", "failed", "reason", "read"]
    rows = []
    for item in session.queue:
        row = [session.place(item), *item[1:]]
        strict, failed, reason, read = ("", "", "", "") if session.is_blind(item) else session.strict_row(item)
        rows.append([*row, strict, failed, "" if reason == f"failed {failed}" else reason, read])
    frame = pd.DataFrame(rows, columns=columns)
    return frame if frame["check"].any() else frame.drop(columns="check")


def seen_readings(session: ReviewSession) -> pd.DataFrame:
    """The standing readings of the runs as a plain frame, strict's words beside the reader's, with the label.

    Of answers that are still blind for the session's reviewer it shows none.
    """
    frame = readings_frame(list(session.runs.values()), session.seen_log())
    shown = frame.loc[frame["status"] == "standing", _SEEN].reset_index(drop=True)
    places = {run: session.run_name(run) for run in session.runs}
    return shown.assign(run=shown["run"].map(places), time=shown["time"].map(whole_seconds))
