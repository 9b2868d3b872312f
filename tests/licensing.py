"""Readings that license a change of criteria and read its flips, as people write them before a rescoring."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from evallib.adjudication import make_reading
from evallib.entries import Reading
from evallib.store import Run, append_entry, read_log

__all__ = ["citing", "read_each"]


def read_each(
    log: Path, runs: Iterable[Run], items: Sequence[tuple[str, int, str]], *, cause: str = "too-narrow", **more: Any
) -> list[str]:
    """Ids of one reading by r2 of each (case, sample, word) of each run; each is written once."""
    given = {"author": "r2", "reason": "as one reads it", **more}
    ids = []
    for run in runs:
        entries = read_log(log)
        for case, sample, word in items:
            made = make_reading(run, case, sample, reading=word, cause=cause, log=entries, **given)
            same = [
                e.id
                for e in entries
                if isinstance(e.entry, Reading) and e.entry.model_copy(update={"time": ""}) == made
            ]
            ids += same or [append_entry(log, made).id]
    return ids


def citing(entry: str, ids: Iterable[str]) -> str:
    """The entry with the readings it cites."""
    return f"{entry}readings: [{', '.join(ids)}]\n"
