"""Runs on disk: begun with a plan, finished with a manifest, rescored beside, never changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from evallib.entries import Rescoring, read_entry
from evallib.errors import IncompleteError, InputError
from evallib.records import (
    STRICT,
    Sample,
    SampleKey,
    Usage,
    Verdict,
    samples_schema,
    turns_schema,
    verdicts_schema,
)
from evallib.store.files import disk_errors, publish_folder, sha256_of, staging_folder, write_new
from evallib.store.journal import read_journal
from evallib.store.plans import read_manifest, read_plan, refuse_absurd
from evallib.store.tables import (
    RowsByKey,
    parquet_bytes,
    read_table,
    samples_from,
    samples_table,
    sealed_by,
    stream_table,
    turns_table,
    verdicts_from,
    verdicts_table,
)
from evallib.strict_yaml import load_yaml
from evallib.suite import Suite, parse_suite, read_suite

__all__ = [
    "Run",
    "StoredRescoring",
    "begin_run",
    "finish_run",
    "import_run",
    "list_runs",
    "open_run",
    "readable_runs",
    "refuse_finished",
    "run_folder",
]

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}\Z")
TABLES = ("samples.parquet", "turns.parquet", "verdicts.parquet")


@dataclass(frozen=True)
class StoredRescoring:
    """Changed criteria applied to a run: a folder beside the original tables."""

    folder: Path

    @property
    def name(self) -> str:
        """`<date>-<slug>`, as in the view `rescored:<name>`."""
        return self.folder.name

    @cached_property
    def entry(self) -> Rescoring:
        """The dated entry, the same bytes as in the log."""
        entry = read_entry(load_yaml(self.folder / "entry.yaml"))
        if not isinstance(entry, Rescoring):
            raise InputError(f"{self.folder / 'entry.yaml'}: is a {entry.kind}, expected a rescoring")
        return entry

    @cached_property
    def suite(self) -> Suite:
        """The suite with the changed criteria."""
        path = self.folder / "suite.yaml"
        known = {str(row["suite_sha256"]) for row in self.entry.runs}
        if not path.is_file() or {sha256_of(path)} != known:
            raise InputError(f"{path}: is missing or was changed after the rescoring; restore it (see evallib verify)")
        return read_suite(path)

    def verdicts(self, run_id: str) -> list[Verdict]:
        """The rescored verdicts, checked against the entry's sha256."""
        return verdicts_from(self.verdict_columns(run_id))

    def verdict_columns(self, run_id: str, columns: Sequence[str] | None = None) -> Any:
        """The same as an Arrow table, or some columns of it: nothing is made of each row."""
        sha256 = next((str(row["verdicts_sha256"]) for row in self.entry.runs if row["run"] == run_id), "")
        return read_table(self.folder / "verdicts.parquet", verdicts_schema(), sha256, columns)


@dataclass(frozen=True)
class Run:
    """A run on disk. Reading is lazy and checks each file against the manifest."""

    folder: Path
    for_aggregates: bool = False
    """Whether it was opened for rates alone: of a sealed holdout nothing else is read."""

    @property
    def id(self) -> str:
        """The run's id, which names its folder when it is made."""
        return str(self.plan["run_id"])

    @cached_property
    def plan(self) -> dict[str, Any]:
        """What was decided before the first sample."""
        return read_plan(self.folder / "plan.json")

    @property
    def sealed(self) -> str:
        """Id of the seal of its suite; empty for a suite that everybody may see."""
        seal = self.plan.get("seal")
        return str(seal["id"]) if isinstance(seal, dict) and seal.get("id") else ""

    @property
    def complete(self) -> bool:
        """Whether the manifest was written, which happens last."""
        return (self.folder / "run.json").exists()

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Counts, usage, times and the sha256 of every file; IncompleteError when the run has not ended."""
        if not self.complete:
            raise IncompleteError(
                f"run {self.id!r} is incomplete; continue it with `evallib run ... --run-id {self.id} --resume`"
            )
        return read_manifest(self.folder / "run.json")

    @cached_property
    def suite(self) -> Suite:
        """The suite that ran, from the byte copy in the folder."""
        return self.checked_suite(read_suite(self.suite_file()))

    def suite_file(self) -> Path:
        """The byte copy of the suite, hashed again; InputError where it was changed, or the run is sealed."""
        self._refuse_sealed()
        path = self.folder / "suite.yaml"
        if not path.is_file() or sha256_of(path) != self.plan["suite_sha256"]:
            raise InputError(f"{path}: is missing or was changed after the run began; restore it")
        return path

    def checked_suite(self, suite: Suite) -> Suite:
        """`suite`, which must have every planned case."""
        unknown = [case_id for case_id in self.plan["cases"] if case_id not in suite.by_id]
        if unknown:
            raise InputError(f"{self.folder / 'plan.json'}: plans case {unknown[0]!r}, which its suite does not have")
        return suite

    @cached_property
    def samples(self) -> list[Sample]:
        """Samples with their turns, in stored order."""
        return samples_from(
            self._table("samples.parquet", samples_schema()), [self._table("turns.parquet", turns_schema())]
        )

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """The strict verdicts, in stored order."""
        return verdicts_from(self._table("verdicts.parquet", verdicts_schema()))

    def columns(self, table: str, names: Sequence[str]) -> Any:
        """Columns of `samples`, `turns` or `verdicts` as an Arrow table, in stored order: nothing is made of a row."""
        schema = {"samples": samples_schema, "turns": turns_schema, "verdicts": verdicts_schema}[table]()
        return self._table(f"{table}.parquet", schema, names)

    @cached_property
    def by_key(self) -> dict[SampleKey, Sample]:
        """The samples by (case_id, sample)."""
        return {sample.key: sample for sample in self.samples}

    @cached_property
    def verdicts_of(self) -> dict[SampleKey, list[Verdict]]:
        """The strict verdicts of each sample, in stored order; a sample without any is there with none."""
        grouped: dict[SampleKey, list[Verdict]] = {key: [] for key in self.by_key}
        for verdict in self.verdicts:
            grouped.setdefault((verdict.case_id, verdict.sample), []).append(verdict)
        return grouped

    def batches(self) -> Iterator[tuple[list[Sample], list[Verdict]]]:
        """Samples and their strict verdicts, some thousand samples at a time: memory does not grow with the run."""
        tables = (("turns.parquet", turns_schema()), ("verdicts.parquet", verdicts_schema()))
        turns, verdicts = (RowsByKey(self._stream(name, schema)) for name, schema in tables)
        for piece in self._stream("samples.parquet", samples_schema()):
            keys = set(zip(piece.column("case_id").to_pylist(), piece.column("sample").to_pylist(), strict=True))
            samples = samples_from(piece, turns.take(keys))
            yield samples, [verdict for table in verdicts.take(keys) for verdict in verdicts_from(table)]
        if any(len(table) for rows in (turns, verdicts) for table in rows.rest()):
            raise InputError(f"{self.folder}: its tables hold rows of no sample, or in another order than its samples")

    @property
    def planned(self) -> list[tuple[str, int]]:
        """(case_id, sample) of every planned sample."""
        return [(case, n) for case, count in self.plan["cases"].items() for n in range(1, count + 1)]

    @property
    def rescorings(self) -> list[StoredRescoring]:
        """Rescoring folders beside this run, oldest first; `standing_rescorings` says which of them are finished."""
        folder = self.folder / "rescored"
        found = sorted(p for p in folder.iterdir() if p.is_dir() and p.name[0] != ".") if folder.is_dir() else []
        return sorted((StoredRescoring(path) for path in found), key=lambda one: one.entry.time)

    def rescoring(self, name: str) -> StoredRescoring:
        """The rescoring called `name`: its folder name or its slug; InputError lists what there is."""
        found = [r for r in self.rescorings if r.name == name or r.name[11:] == name]
        if len(found) == 1:
            return found[0]
        names = ", ".join(r.name for r in self.rescorings) or "none"
        raise InputError(f"run {self.id!r}: {len(found)} rescorings are called {name!r}; there are: {names}")

    def _stream(self, name: str, schema: Any) -> Iterator[Any]:
        self._refuse_sealed(name)
        return stream_table(self.folder / name, schema, self.manifest["files"][name])

    def _table(self, name: str, schema: Any, columns: Sequence[str] | None = None) -> Any:
        self._refuse_sealed(name)
        return read_table(self.folder / name, schema, self.manifest["files"][name], columns)

    def _refuse_sealed(self, table: str = "") -> None:
        """The one door to suite, answers and verdicts: InputError for a sealed run, unless it was opened for rates.

        The tables say so themselves, so that a plan that was edited opens nothing.
        """
        if self.sealed:
            if not self.for_aggregates:
                raise InputError(
                    f"run {self.id!r} is of a sealed holdout: its questions, answers and verdicts are shown to nobody; "
                    "`evallib metrics` and `evallib gate` give its rates"
                )
        elif table and sealed_by(self.folder / table):
            raise InputError(f"{self.folder / 'plan.json'}: names no seal, and {table} does; restore the plan")


def _json_bytes(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def run_folder(data: Path, run_id: str) -> Path:
    """Where a run of that id lives under `data`; InputError when the id cannot be a folder name."""
    if not RUN_ID.match(run_id):
        raise InputError(f"run id {run_id!r}: use letters, digits, dots, dashes and underscores, at most 120")
    return data / "runs" / run_id


def open_run(reference: str | Path, data: Path, *, for_aggregates: bool = False) -> Run:
    """The run of that id under `data`, or in that folder; InputError names what is there."""
    path = Path(reference)
    if (path / "plan.json").is_file():
        return Run(path, for_aggregates)
    if len(path.parts) > 1 or not RUN_ID.match(str(reference)):
        raise InputError(f"{reference}: no run folder there (it would hold plan.json)")
    folder = run_folder(data, str(reference))
    if not (folder / "plan.json").is_file():
        known = ", ".join(run.folder.name for run in list_runs(data)) or "none"
        raise InputError(f"no run {str(reference)!r} under {data / 'runs'}; runs there: {known}")
    return Run(folder, for_aggregates)


def refuse_repeated(runs: Sequence[Run]) -> None:
    """InputError when one run is named twice: it would be counted, locked or read twice."""
    if len({run.id for run in runs}) < len(runs):
        raise InputError("the same run is named twice; name each run once")


def list_runs(data: Path) -> list[Run]:
    """All runs under `data`, by folder name."""
    folder = data / "runs"
    if not folder.is_dir():
        return []
    return [Run(p) for p in sorted(folder.iterdir()) if p.name[0] != "." and (p / "plan.json").is_file()]


def readable_runs(data: Path) -> list[Run]:
    """The runs under `data` whose plan and, of complete ones, manifest can be read: the others are theirs to mend."""
    return [run for run in list_runs(data) if _readable(run)]


def _readable(run: Run) -> bool:
    try:
        return bool(run.plan) and (not run.complete or bool(run.manifest))
    except InputError:
        return False


def begin_run(data: Path, plan: Mapping[str, Any], suite_text: bytes) -> Run:
    """Create the folder of a run with its plan and suite, both or neither; a taken id is refused."""
    final = run_folder(data, plan["run_id"])
    refuse_absurd(plan.get("cases", {}), f"run {plan['run_id']!r}")
    if final.exists():
        raise InputError(f"run {plan['run_id']!r} exists already in {final}; choose another --run-id, or add --resume")
    with staging_folder(final) as staged:
        write_new(staged / "plan.json", _json_bytes(plan))
        write_new(staged / "suite.yaml", suite_text)
        publish_folder(staged, final)
    return Run(final)


def refuse_finished(run: Run) -> None:
    """InputError when the manifest of `run` is there: a finished run is never written to."""
    if run.complete:
        raise InputError(f"run {run.id!r} is complete already; choose another --run-id for a new one")


def finish_run(run: Run, samples: Sequence[Sample], verdicts: Sequence[Verdict], extra: Mapping[str, Any]) -> Run:
    """Write the tables, then the manifest, then drop the journal. Repeating it after a kill gives the same files.

    The run given back knows what it wrote, and reads it no second time.
    """
    refuse_finished(run)
    with disk_errors(run.folder):
        for name in TABLES:  # left by a kill during an earlier attempt: without a manifest they do not count
            (run.folder / name).unlink(missing_ok=True)
        for leftover in run.folder.glob(".*.tmp"):
            leftover.unlink()
    hashes = _write_tables(run.folder, run.id, samples, verdicts, run.sealed)
    manifest = _manifest(run.plan, samples, verdicts, hashes, extra)
    write_new(run.folder / "run.json", _json_bytes(manifest))
    (run.folder / "journal.jsonl").unlink(missing_ok=True)
    finished = Run(run.folder)
    if not run.sealed:
        vars(finished).update(samples=list(samples), verdicts=list(verdicts))
    return finished


def _write_tables(
    folder: Path, run_id: str, samples: Sequence[Sample], verdicts: Sequence[Verdict], seal: str = ""
) -> dict[str, str]:
    stamped = {"run_id": run_id, "view": STRICT, "post_hoc": "false"} | ({"seal": seal} if seal else {})
    tables = (samples_table(samples), turns_table(samples), verdicts_table(run_id, verdicts))
    for name, table in zip(TABLES, tables, strict=True):
        write_new(folder / name, parquet_bytes(table, stamped))
    return {
        path.name: sha256_of(path) for path in sorted(folder.iterdir()) if path.suffix in {".parquet", ".yaml", ".json"}
    }


def _manifest(
    plan: Mapping[str, Any],
    samples: Sequence[Sample],
    verdicts: Sequence[Verdict],
    hashes: Mapping[str, str],
    extra: Mapping[str, Any],
) -> dict[str, Any]:
    usage = sum((sample.usage for sample in samples), Usage())
    statuses: dict[str, int] = {}
    for sample in samples:
        statuses[sample.status] = statuses.get(sample.status, 0) + 1
    return {
        "run_id": plan["run_id"],
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "counts": {"samples": len(samples), "verdicts": len(verdicts), "statuses": statuses},
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "calls": usage.calls},
        "cost_usd": usage.cost_usd,
        **extra,
        "files": dict(hashes),
    }


def import_run(  # noqa: PLR0913  # the parts of an import, each by its name
    data: Path,
    run_id: str,
    suite_yaml: str,
    samples: Sequence[Sample],
    verdicts: Sequence[Verdict],
    *,
    target: Mapping[str, Any],
    source: Mapping[str, Any],
    skipped: Sequence[str] = (),
) -> Run:
    """Store what an importer read as a complete run, whole or not at all."""
    import hashlib

    final = run_folder(data, run_id)
    if final.exists():
        raise InputError(f"run {run_id!r} exists already in {final}; choose another --run-id")
    suite = parse_suite(suite_yaml, "the importer's suite")
    counts: dict[str, int] = {}
    for sample in samples:
        counts[sample.case_id] = max(counts.get(sample.case_id, 0), sample.sample)
    refuse_absurd(counts, f"import of {run_id!r}")
    plan = {
        "run_id": run_id,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "imported": True,
        "suite": suite.suite,
        "suite_digest": suite.digest,
        "suite_sha256": hashlib.sha256(suite_yaml.encode()).hexdigest(),
        "gate_digest": suite.gate_digest,
        "target": dict(target),
        "cases": counts,
        "source": dict(source),
    }
    stamped = [replace(sample, run_id=run_id) for sample in samples]
    with staging_folder(final) as staged:
        write_new(staged / "plan.json", _json_bytes(plan))
        write_new(staged / "suite.yaml", suite_yaml.encode())
        hashes = _write_tables(staged, run_id, stamped, verdicts)
        extra = {"source": dict(source), "skipped": list(skipped)}
        write_new(staged / "run.json", _json_bytes(_manifest(plan, stamped, verdicts, hashes, extra)))
        publish_folder(staged, final)
    return Run(final)


def unfinished(run: Run) -> tuple[list[Sample], list[Verdict]]:
    """What the journal of an incomplete run holds: finished samples and their judge verdicts."""
    return read_journal(run.folder / "journal.jsonl")
