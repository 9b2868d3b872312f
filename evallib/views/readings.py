"""Every reading of some runs as one table, for notebooks and for files: those that stand and those that do not."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.entries import Difference, Reading
from evallib.errors import InputError
from evallib.masking import masks_of
from evallib.records import POST_HOC_LABEL, Sample
from evallib.standing import Stand, live_entries, standing_readings
from evallib.store import LoggedEntry, Run, by_time
from evallib.store.files import write_new
from evallib.store.tables import parquet_bytes
from evallib.views.load import READ, open_view

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["COLUMNS", "export_readings", "readings_frame"]

COLUMNS = {
    "run": "string",
    "case": "string",
    "sample": "int64",
    "check": "string",  # empty for the whole answer
    "status": "string",  # standing, stale, again, superseded, withdrawn, unknown
    "stands": "string?",  # what holds of the item, of a standing reading: pass, fail, infra, unsure, disputed
    "strict": "string",  # in words, when it was read
    "reading": "string",
    "cause": "string",  # of the difference where there is one, like reason and canned
    "reason": "string",
    "agrees": "bool?",  # with strict, by the difference
    "canned": "bool",
    "author": "string",
    "time": "string",
    "blind": "bool",
    "forked": "bool?",  # whether its author says two things at once
    "resolution": "string?",  # what holds by the resolution that stands, with its author and reason
    "resolved_by": "string?",
    "resolution_reason": "string?",
    "span_start": "int64?",  # the piece of the answer that is cited, in code points
    "span_end": "int64?",
    "chosen": "string",
    "plan": "string",
    "again": "bool",
    "seconds": "double?",
    "source": "string",
    "answer_digest": "string",
    "criteria_digest": "string",
    "rubric_digest": "string",
    "id": "string",
    "difference": "string?",  # id, like supersedes
    "supersedes": "string",
    "samples": "int64",  # of the run, like the next five: how much of it was read
    "read": "int64",
    "strict_failures": "int64",
    "strict_failures_read": "int64",
    "strict_passes": "int64",
    "strict_passes_read": "int64",
    "label": "string",
}
"""Column to Arrow type; one that may be empty ends in a question mark."""
_COVERAGE = ("samples", "read", "strict_failures", "strict_failures_read", "strict_passes", "strict_passes_read")
_FORMULA = tuple("=+-@＝＋－＠")
"""What spreadsheets take for the beginning of a formula, full-width forms included."""
_BLANK = "".join(chr(c) for c in range(0x3001) if chr(c).isspace()) + '"'
_PARTED = re.compile(rf"""([;\t\r\n])(?=[\s"]*[{re.escape("".join(_FORMULA))}'])""")
"""Where a spreadsheet that parts cells at semicolons, and so does not see the quotes, would find a formula begin."""
_ENDINGS = (".csv", ".jsonl", ".parquet")


def readings_frame(runs: Sequence[Run], log: Sequence[LoggedEntry]) -> pd.DataFrame:
    """One row per reading of `runs`, run after run and oldest first, with the columns of `COLUMNS`."""
    import pandas as pd

    kinds = {"int64?": "Int64", "bool?": "boolean", "double?": "Float64", "int64": "int64", "bool": "bool"}
    frame = pd.DataFrame(_rows(runs, log), columns=list(COLUMNS))
    return frame.astype({name: kinds[kind] for name, kind in COLUMNS.items() if kind in kinds})


def export_readings(runs: Sequence[Run], log: Sequence[LoggedEntry], path: Path) -> int:
    """Write every reading of `runs` to a new file, as CSV, JSON lines or Parquet by its ending; gives their number.

    A CSV is for spreadsheets: what one would run as a formula, where it parts cells at semicolons too, has an
    apostrophe before it. The others hold texts as they are. InputError for another ending, and where the file exists.
    """
    if path.suffix not in _ENDINGS:
        raise InputError(f"--export {path}: end the name in one of {', '.join(_ENDINGS)}")
    if path.exists():
        raise InputError(f"{path}: exists already and is never overwritten")
    rows = list(_rows(runs, log))
    written = {".csv": _csv, ".jsonl": _json_lines, ".parquet": _parquet}[path.suffix]
    write_new(path, written(rows))
    return len(rows)


def _rows(runs: Sequence[Run], log: Sequence[LoggedEntry]) -> Iterator[dict[str, Any]]:
    live = live_entries(log)
    ids = {logged.id for logged in live}
    ordered = sorted(log, key=lambda logged: (logged.id in ids, by_time(logged)))
    said = {(e.entry.about, e.entry.author): e for e in ordered if isinstance(e.entry, Difference)}  # live ones last
    for run in runs:
        readings = standing_readings(run, log)
        stands = {logged.id: stand for stand in readings.by_item.values() for logged in stand.entries}
        known = {e.id: "stale" for e in readings.stale} | {e.id: "unknown" for e in readings.unknown}
        coverage = open_view(run, READ, log).readings
        read = {name: coverage[name] for name in _COVERAGE}
        for logged in sorted(log, key=by_time):
            entry = logged.entry
            if not isinstance(entry, Reading) or entry.run != run.id:
                continue
            stand = stands.get(logged.id)
            status = "standing" if stand else known.get(logged.id) or _gone(logged, ids)
            about = stand.differences.get(logged.id) if stand else said.get((logged.id, entry.author))
            row = _row(logged.id, entry, about) | _stand_row(entry, stand) | read | {"status": status}
            yield row | _masked(row, run.by_key.get((entry.case, entry.sample)))


def _masked(row: Mapping[str, Any], sample: Sample | None) -> dict[str, str]:
    """The texts of a row that may quote a credential, as they may leave the log."""
    masks = masks_of(*filter(None, [sample]))
    return {name: masks.mask(row[name]) for name in ("strict", "reason", "resolution_reason") if row[name]}


def _gone(logged: LoggedEntry, live: set[str]) -> str:
    """Why a reading that is neither standing nor stale does not count."""
    if logged.id not in live:
        return "withdrawn"
    return "again" if isinstance(logged.entry, Reading) and logged.entry.again else "superseded"


def _row(id_: str, entry: Reading, about: LoggedEntry | None) -> dict[str, Any]:
    span = entry.span or (None, None)
    difference = about.entry if about and isinstance(about.entry, Difference) else None
    words = difference or entry
    return {
        **{name: getattr(entry, name, None) for name in COLUMNS},
        "id": id_,
        "cause": words.cause,
        "reason": words.reason,
        "canned": words.canned,
        "agrees": difference.agrees if difference else None,
        "difference": about.id if about and difference else None,
        "span_start": span[0],
        "span_end": span[1],
        "label": POST_HOC_LABEL,
    }


def _stand_row(entry: Reading, stand: Stand | None) -> dict[str, Any]:
    resolution = stand.resolution.entry if stand and stand.resolution else None
    return {
        "stands": stand.state if stand else None,
        "forked": entry.author in stand.forked if stand else None,
        "resolution": getattr(resolution, "reading", None),
        "resolved_by": getattr(resolution, "author", None),
        "resolution_reason": getattr(resolution, "reason", None),
    }


def _csv(rows: Sequence[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(row[name]) for name in COLUMNS] for row in rows)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    begins = value.lstrip(_BLANK).startswith((*_FORMULA, "'")) or value[:1] in {"\t", "\r", "\n"}
    return "'" * begins + _PARTED.sub(r"\1'", value)


def _json_lines(rows: Sequence[dict[str, Any]]) -> bytes:
    """In ASCII: whoever splits lines at other separators than the line feed must find the same lines."""
    return "".join(json.dumps({name: row[name] for name in COLUMNS}) + "\n" for row in rows).encode()


def _parquet(rows: Sequence[dict[str, Any]]) -> bytes:
    import pyarrow as pa

    return parquet_bytes(pa.Table.from_pylist(list(rows), schema=_schema()), {"label": POST_HOC_LABEL})


def _schema() -> pa.Schema:
    import pyarrow as pa

    kinds = {"string": pa.string(), "int64": pa.int64(), "bool": pa.bool_(), "double": pa.float64()}
    return pa.schema([
        pa.field(name, kinds[kind.rstrip("?")], nullable=kind.endswith("?")) for name, kind in COLUMNS.items()
    ])  # fmt: skip
