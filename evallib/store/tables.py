"""Rows and back: samples, turns and verdicts as Arrow tables with declared columns, and as journal lines."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evallib.errors import InputError
from evallib.records import (
    SCHEMA_VERSION,
    Sample,
    SampleKey,
    ToolCall,
    Turn,
    Usage,
    Verdict,
    canonical_json,
    samples_schema,
    turns_schema,
    verdicts_schema,
)
from evallib.store.files import sha256_of

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = [
    "RowsByKey",
    "decode_sample",
    "decode_verdict",
    "encode_sample",
    "encode_verdict",
    "parquet_bytes",
    "parquet_writer",
    "read_table",
    "samples_from",
    "samples_table",
    "sealed_by",
    "stream_table",
    "turns_table",
    "verdicts_from",
    "verdicts_table",
]

Row = dict[str, Any]
ROW_GROUP = 8192
"""Rows that are compressed together."""
BATCH = 2048
"""Rows in memory at a time where a table is streamed."""
_USAGE = ("input_tokens", "output_tokens", "calls", "cost_usd", "cached_tokens")
_CAME_LATER = {"calls": {b"1"}, "cached_tokens": {b"1", b"2"}}
"""Column to the schema versions that did not have it."""


def _usage_row(usage: Usage) -> Row:
    return {name: getattr(usage, name) for name in _USAGE}


def _usage_from(row: Mapping[str, Any]) -> Usage:
    cached = row.get("cached_tokens")  # a journal may be older than the column
    return Usage(row["input_tokens"], row["output_tokens"], row["calls"], row["cost_usd"], cached)


def _call_row(call: ToolCall) -> Row:
    row = {"name": call.name, "arguments": dict(call.arguments), "result": call.result, "error": call.error}
    return {**row, "id": call.id} if call.id else row


def _calls_from(text: str | None) -> tuple[tuple[ToolCall, ...], tuple[ToolCall, ...]]:
    """The calls in a column's text, and those of its results that answer none of them."""
    if text in (None, "[]"):
        return (), ()
    calls: list[ToolCall] = []
    strays: list[ToolCall] = []
    for row in json.loads(text):
        call = ToolCall(row["name"], row["arguments"], row["result"], row["error"], row.get("id", ""))
        (strays if row.get("stray") else calls).append(call)
    return tuple(calls), tuple(strays)


def _turn_row(turn: Turn) -> Row:
    return {
        "step": turn.step,
        "request": turn.request,
        "text": turn.text,
        "tool_calls": canonical_json(
            [*map(_call_row, turn.tool_calls), *({**_call_row(result), "stray": True} for result in turn.results)]
        ),
        "pending": canonical_json([_call_row(call) for call in turn.pending]) if turn.pending else None,
        "partials": canonical_json(list(turn.partials)),
        "duration_s": turn.duration_s,
        **_usage_row(turn.usage),
    }


def _turn_from(row: Mapping[str, Any]) -> Turn:
    calls, results = _calls_from(row["tool_calls"])
    return Turn(
        step=row["step"],
        request=row["request"],
        text=row["text"],
        tool_calls=calls,
        results=results,
        pending=_calls_from(row["pending"])[0],
        partials=() if row["partials"] == "[]" else tuple(json.loads(row["partials"])),
        usage=_usage_from(row),
        duration_s=row["duration_s"],
    )


_PLAIN = ("run_id", "case_id", "sample", "status", "error", "answer", "exit_code", "seed", "duration_s", "source")


def _sample_row(sample: Sample) -> Row:
    return {
        **{name: getattr(sample, name) for name in _PLAIN},
        "files": canonical_json(dict(sample.files)),
        "recorded": canonical_json(list(sample.recorded)),
        "flags": canonical_json(list(sample.flags)),
        "started": sample.started or None,
        **_usage_row(sample.usage),
    }


def _sample_from(row: Mapping[str, Any], turns: Iterable[Mapping[str, Any]]) -> Sample:
    started = row["started"]
    return Sample(
        **{name: row[name] for name in _PLAIN},
        turns=tuple(_turn_from(turn) for turn in turns),
        files={} if row["files"] == "{}" else json.loads(row["files"]),
        recorded=() if row["recorded"] == "[]" else tuple(json.loads(row["recorded"])),
        flags=() if row["flags"] == "[]" else tuple(json.loads(row["flags"])),
        started="" if started is None else started if isinstance(started, str) else started.isoformat(),
        usage=_usage_from(row),
    )


def encode_sample(sample: Sample) -> Row:
    """The sample with its turns as one JSON-ready mapping (a journal line)."""
    return {**_sample_row(sample), "turns": [_turn_row(turn) for turn in sample.turns]}


def decode_sample(row: Row) -> Sample:
    """The sample that `encode_sample` wrote."""
    return _sample_from(row, row["turns"])


_LISTS = ("spans", "calls")


def encode_verdict(verdict: Verdict) -> Row:
    """The verdict as one JSON-ready mapping."""
    return verdict._asdict()


def decode_verdict(row: Mapping[str, Any]) -> Verdict:
    """The verdict that `encode_verdict` or a verdicts table holds."""
    lists: Row = {name: tuple(row.get(name) or ()) for name in _LISTS}
    return Verdict(**lists, **{name: row[name] for name in Verdict._fields if name not in lists})


def samples_table(samples: Sequence[Sample]) -> pa.Table:
    """`samples` as an Arrow table with the declared columns, checked."""
    rows = [_sample_row(sample) for sample in samples]
    for row in rows:
        row["started"] = datetime.fromisoformat(row["started"]).astimezone(UTC) if row["started"] else None
    return _checked(rows, samples_schema(), ("run_id", "case_id", "sample"))


def turns_table(samples: Sequence[Sample]) -> pa.Table:
    """The turns of `samples` as an Arrow table with the declared columns, checked."""
    rows = [
        {"run_id": s.run_id, "case_id": s.case_id, "sample": s.sample, **_turn_row(turn)}
        for s in samples
        for turn in s.turns
    ]
    return _checked(rows, turns_schema(), ("run_id", "case_id", "sample", "step"))


def verdicts_table(run_id: str, verdicts: Sequence[Verdict]) -> pa.Table:
    """`verdicts` of one run as an Arrow table with the declared columns, checked."""
    import pyarrow as pa

    schema = verdicts_schema()
    columns: dict[str, Any] = {name: [getattr(v, name) for v in verdicts] for name in Verdict._fields}
    columns["run_id"] = pa.repeat(run_id, len(verdicts))
    table = pa.table([pa.array(columns[f.name], f.type) for f in schema], schema=schema)
    keys = list(zip(columns["case_id"], columns["sample"], columns["check_id"], strict=True))
    _refuse_nulls(table)
    _refuse_duplicates(keys)
    return table


def _checked(rows: list[Row], schema: pa.Schema, key: tuple[str, ...]) -> pa.Table:
    import pyarrow as pa

    names = set(schema.names)
    for row in rows:
        if row.keys() != names:
            raise InputError(f"a stored row has columns {sorted(row.keys() ^ names)} too many or too few")
    table = pa.table([pa.array([row[f.name] for row in rows], f.type) for f in schema], schema=schema)
    _refuse_nulls(table)
    _refuse_duplicates([tuple(row[name] for name in key) for row in rows])
    return table


def _refuse_nulls(table: pa.Table) -> None:
    for field, column in zip(table.schema, table.columns, strict=True):
        if not field.nullable and column.null_count:
            raise InputError(f"column {field.name!r} has {column.null_count} empty values; it may have none")


def _refuse_duplicates(keys: list[tuple[Any, ...]]) -> None:
    if len(set(keys)) != len(keys):
        twice = next(key for key, count in Counter(keys).items() if count > 1)
        raise InputError(f"row {twice!r} stands twice; (case, sample) and check must be unique in a run")


def parquet_bytes(table: pa.Table, metadata: Mapping[str, str]) -> bytes:
    """The table as a Parquet file in memory, with `metadata` and the schema version in its schema."""
    sink = io.BytesIO()
    with parquet_writer(sink, table.schema, metadata) as writer:
        writer.write_table(table.replace_schema_metadata(writer.schema.metadata), ROW_GROUP)
    return sink.getvalue()


def parquet_writer(sink: Any, schema: pa.Schema, metadata: Mapping[str, str]) -> pq.ParquetWriter:
    """A writer of tables with that schema, `metadata` and the schema version; its file is whole once it is closed."""
    import pyarrow.parquet as pq

    return pq.ParquetWriter(
        sink, schema.with_metadata({"evallib_schema": SCHEMA_VERSION, **metadata}), compression="zstd"
    )


def stream_table(path: Path, schema: pa.Schema, sha256: str) -> Iterator[pa.Table]:
    """What `read_table` gives, in pieces of at most `BATCH` rows, of which one at a time is in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if sha256_of(path) != sha256:
            raise InputError(f"{path}: is damaged or was changed after it was written; restore it (see evallib verify)")
        with pq.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(BATCH):
                yield _as_declared(pa.Table.from_batches([batch]), path, schema, file.schema_arrow.metadata)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: cannot be read as Parquet; restore it (see evallib verify)") from error


def sealed_by(path: Path) -> str:
    """Id of the seal that a table names; empty where it names none, or is none: reading it will say so."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return ((pq.read_schema(path).metadata or {}).get(b"seal") or b"").decode()
    except (pa.ArrowInvalid, OSError, ValueError):
        return ""


class RowsByKey:
    """A stream of tables, taken from the front for some samples at a time."""

    def __init__(self, tables: Iterator[pa.Table]) -> None:
        self._tables, self._rest = tables, cast("pa.Table | None", None)

    def take(self, keys: Collection[SampleKey]) -> Iterator[pa.Table]:
        """The rows of the samples `keys`, which must stand next in the stream."""
        while True:
            if self._rest is None or not len(self._rest):
                self._rest = next(self._tables, None)
                if self._rest is None:
                    return
            names = zip(*(self._rest.column(name).to_pylist() for name in ("case_id", "sample")), strict=True)
            end = next((row for row, key in enumerate(names) if key not in keys), len(self._rest))
            taken, self._rest = self._rest.slice(0, end), self._rest.slice(end)
            yield taken
            if len(self._rest):
                return

    def rest(self) -> Iterator[pa.Table]:
        """What no sample took."""
        yield from () if self._rest is None else (self._rest,)
        yield from self._tables


def read_table(path: Path, schema: pa.Schema, sha256: str, columns: Sequence[str] | None = None) -> pa.Table:
    """The table in `path`, or these columns of it; InputError when it is missing, changed or damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); restore it from where it was copied") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError(f"{path}: is damaged or was changed after it was written; restore it (see evallib verify)")
    try:
        with pq.ParquetFile(io.BytesIO(content), pre_buffer=False) as file:
            # Without threads: a process that gives up its rights then has none to lose.
            table = file.read(columns=columns and list(columns), use_threads=False)
            declared = table if columns is None else file.schema_arrow.empty_table()
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: is no readable Parquet file; restore it (see evallib verify)") from error
    whole = _as_declared(declared, path, schema, table.schema.metadata)
    if columns is None:
        return whole
    for name in columns:
        if name not in table.schema.names:  # it came later than this file
            field = schema.field(name)
            table = table.append_column(field, pa.nulls(len(table), field.type))
    return table


def _as_declared(table: pa.Table, path: Path, schema: pa.Schema, metadata: Mapping[bytes, bytes] | None) -> pa.Table:
    version = (metadata or {}).get(b"evallib_schema", b"")
    for name, without in _CAME_LATER.items():
        if version in without and name in schema.names and name not in table.schema.names:
            table = _with_column(table, name, schema)
    if table.schema.names != schema.names:
        raise InputError(f"{path}: its columns are not those of schema version {SCHEMA_VERSION}")
    return table


def _with_column(table: pa.Table, name: str, schema: pa.Schema) -> pa.Table:
    """A table of an earlier schema version in the present columns: what it did not tell is unknown, or none."""
    import pyarrow as pa

    at = schema.get_field_index(name)
    field = schema.field(at)
    if at > table.num_columns or not (field.nullable or pa.types.is_list(field.type)):
        return table
    blank: list[Any] = [None if field.nullable else []] * len(table)
    return table.add_column(at, field, pa.array(blank, field.type))


def samples_from(samples: pa.Table, turns: Iterable[pa.Table]) -> list[Sample]:
    """Samples with their turns, in stored order."""
    grouped: dict[SampleKey, list[Row]] = defaultdict(list)
    for row in (row for table in turns for row in table.to_pylist()):
        grouped[(row["case_id"], row["sample"])].append(row)
    return [_sample_from(row, grouped.get((row["case_id"], row["sample"]), ())) for row in samples.to_pylist()]


def verdicts_from(table: pa.Table) -> list[Verdict]:
    """Verdicts in stored order."""
    columns = [
        _tuples(table.column(name)) if name in _LISTS else table.column(name).to_pylist() for name in Verdict._fields
    ]
    return list(map(Verdict._make, zip(*columns, strict=True)))


def _tuples(column: pa.ChunkedArray) -> list[tuple[int, ...]]:
    """Lists of numbers as tuples; most are empty, and making a list of each takes five times as long."""
    found: list[tuple[int, ...]] = []
    for chunk in column.chunks:
        ends, numbers = chunk.offsets.to_pylist(), chunk.values.to_pylist()
        found += [tuple(numbers[start:end]) if end > start else () for start, end in itertools.pairwise(ends)]
    return found
