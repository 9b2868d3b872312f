"""The reviewer's desk as a notebook opens it: a sitting over stored runs, and plain tables of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evallib.desk.queue import Query, parse_query, split_words
from evallib.desk.session import ReviewSession
from evallib.desk.sitting import NEWEST
from evallib.errors import InputError
from evallib.records import POST_HOC_LABEL, whole_seconds
from evallib.store import open_run
from evallib.views.readings import readings_frame

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["base_folder", "open_session", "queue_frame", "seen_readings"]

_SEEN = ["run", "case", "sample", "check", "strict", "reading", "cause", "reason", "author", "blind", "time"]
"""Columns that say nothing of answers that were not read: none of how much of a run failed."""


def base_folder(data: str | Path) -> Path:
    """Where a notebook's relative folders count from: here, or the folder above that has the runs of `data`.

    Jupyter starts a notebook in the notebook's own folder, papermill where it was called: both must find the same run.
    """
    here = Path.cwd()
    return next((place for place in (here, *here.parents) if (place / data / "runs").is_dir()), here)


def open_session(
    run: str | Sequence[str], *, data: str | Path, adjudications: str | Path, query: str = ""
) -> ReviewSession:
    """A sitting over stored runs; relative folders count from `base_folder`.

    `run` is one run or several, with a comma between two. `query` says who reads (`as=Ann`), whether they see what
    strict says (`sighted`, else blind), and what of the runs (`case=t-001 open`, as `parse_query` has it). A blind
    sitting reads by the newest plan of these runs, where one was drawn, unless it asks for `all`. The tables of a blind
    sitting hide what its reader must not know, headless too: an executed notebook can be read by who reads on. A page
    that is to show strict's words is opened sighted.
    """
    base = base_folder(data)
    author, sighted, facets = _parted(query)
    opened = [open_run(one, base / data) for one in _named(run)]
    plan = "" if sighted or facets.all else NEWEST
    return ReviewSession(opened, base / adjudications, author, query=facets, blind=not sighted, plan=plan)


def _named(run: str | Sequence[str]) -> Sequence[str]:
    """The runs that are named; a folder is one, whatever its path."""
    if not isinstance(run, str) or Path(run).is_dir():
        return run if not isinstance(run, str) else [run]
    if not (named := [one.strip() for one in run.split(",") if one.strip()]):
        raise InputError(f"run {run!r}: name a run, or several with a comma between two")
    return named


def _parted(query: str) -> tuple[str, bool, Query]:
    """Who reads, whether sighted, and the facets."""
    words = split_words(query)
    names = {word.removeprefix("as=") for word in words if word.startswith("as=")}
    if "" in names:
        raise InputError("as=: name who reads, as in as=Ann")
    if len(names) > 1:
        raise InputError(f"{query!r}: one person reads; name one with as=")
    try:
        facets = parse_query([word for word in words if word != "sighted" and not word.startswith("as=")])
    except InputError as error:
        raise InputError(f"{error}; and, of the whole sitting, as=NAME sighted") from error
    return "".join(names), "sighted" in words, facets


def queue_frame(session: ReviewSession) -> pd.DataFrame:
    """The queue as a plain frame, one row per item; what strict says and what was read only where it is not blind.

    `check` is there where verdicts are read; `reason` says more than the names of the failed checks, or nothing.
    """
    import pandas as pd

    session.shown(session.queue)
    columns = ["run", "case_id", "sample", "check", "strict", "failed", "reason", "read"]
    rows = []
    for item in session.queue:
        row = [session.place(item), *item[1:]]
        strict, failed, reason, read = ("", "", "", "") if session.is_blind(item) else session.strict_row(item)
        rows.append([*row, strict, failed, "" if reason == f"failed {failed}" else reason, read])
    frame = pd.DataFrame(rows, columns=columns)
    return frame if frame["check"].any() else frame.drop(columns="check")


def seen_readings(session: ReviewSession) -> pd.DataFrame:
    """The standing readings of the runs as a plain frame, strict's words beside the reader's, whose column is labelled.

    Of answers that are still blind for the session's reviewer it shows none.
    """
    frame = readings_frame(list(session.runs.values()), session.seen_log())
    shown = frame.loc[frame["status"] == "standing", _SEEN].reset_index(drop=True)
    places = {run: session.run_name(run) for run in session.runs}
    shown = shown.assign(run=shown["run"].map(places), time=shown["time"].map(whole_seconds))
    return shown.drop(columns=["run"] * (len(places) == 1)).rename(columns={"reading": f"reading ({POST_HOC_LABEL})"})
