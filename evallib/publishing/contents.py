"""What belongs to some runs: the entries that speak of them, the stamps of previews, the calibrations they name."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evallib.entries import Rescoring
from evallib.locks import covering
from evallib.rescoring.looks import flip_names
from evallib.rule import Rule
from evallib.store import LoggedEntry, Run
from evallib.store.files import files_below
from evallib.store.log import stamp_of

__all__ = ["calibration_files", "concerning", "elsewhere", "preview_files"]


def concerning(runs: Sequence[Run], log: Sequence[LoggedEntry], rule: Rule) -> list[LoggedEntry]:
    """The entries about the runs or their suites, all that these name, and what takes any of them back; oldest first.

    Locks that hold a run are there too, whatever runs they name.
    An entry that spans more runs than these is there whole, with the readings that it cites.
    """
    ids, suites = {run.id for run in runs}, {run.plan["suite"] for run in runs}
    known = {logged.id for logged in log}
    names = {logged.id: _strings(logged.entry.model_dump(mode="json")) & known for logged in log}
    chosen = {logged.id for logged in log if _about(logged.entry, ids, suites)}
    chosen |= {logged.id for run in runs for logged in covering(run, log, rule)}
    alone = {logged.id for logged in log if not _about(logged.entry)}
    while True:
        grown = chosen | {name for id_ in chosen for name in names[id_]} | {id_ for id_ in alone if names[id_] & chosen}
        if grown == chosen:
            return [logged for logged in log if logged.id in chosen]
        chosen = grown


def _about(entry: Any, ids: Collection[str] | None = None, suites: Collection[str] = ()) -> bool:
    """Whether an entry speaks of one of the runs or suites; without any, whether it speaks of runs or suites at all."""
    of = [
        getattr(entry, "run", ""),
        *(one if isinstance(one, str) else one["run"] for one in getattr(entry, "runs", ())),
    ]
    suite = getattr(entry, "suite", "")
    return any(of) or bool(suite) if ids is None else bool(set(of) & set(ids)) or suite in suites


def _strings(value: object) -> set[str]:
    if isinstance(value, str):
        return {value}
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return {text for one in inner for text in _strings(one)}


def elsewhere(runs: Sequence[Run], entries: Sequence[LoggedEntry]) -> list[str]:
    """Ids of other runs that a rescoring of these was applied to as well, sorted."""
    rows = [row for _, entry in entries if isinstance(entry, Rescoring) for row in entry.runs]
    return sorted({str(row["run"]) for row in rows} - {run.id for run in runs})


def preview_files(adjudications: Path, entries: Sequence[LoggedEntry], runs: Sequence[Run]) -> Iterator[Path]:
    """The stamps of previews of the rescorings among the entries: by slug, by suite, or by a flip that they expect."""
    made = [entry for _, entry in entries if isinstance(entry, Rescoring)]
    slugs, suites = {entry.slug for entry in made}, {entry.suite_digest for entry in made}
    expected = flip_names(runs, ((e.run, e.case, e.sample, e.to) for entry in made for e in entry.expects))
    for path in files_below(adjudications / "previews", ".yaml"):
        stamp = stamp_of(path)
        if stamp.slug in slugs or stamp.suite in suites or expected & (stamp.shown | stamp.foretold):
            yield path


def calibration_files(data: Path, runs: Sequence[Run]) -> Iterator[Path]:
    """The calibration records that verdicts of the runs name."""
    texts = {verdict.judge for run in runs for verdict in run.verdicts if verdict.judge}
    texts |= {v.judge for run in runs for one in run.rescorings for v in one.verdicts(run.id) if v.judge}
    named = {str(json.loads(text).get("calibration") or "") for text in texts}
    for path in files_below(data / "calibrations", ".json"):
        if path.stem in named:
            yield path
