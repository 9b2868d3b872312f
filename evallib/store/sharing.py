"""What many runs need once: a suite that they hold copies of, and a run with a part of its samples in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evallib.records import Sample, SampleKey, Verdict, samples_schema, turns_schema, verdicts_schema
from evallib.store.runs import Run
from evallib.store.tables import samples_from, verdicts_from
from evallib.suite import Suite

__all__ = ["part_of", "share_suite", "some_of"]


def share_suite(run: Run, known: dict[str, Suite]) -> None:
    """Let `run` take its suite from `known` (sha256 to suite) where another holds the same bytes, else add it there.

    The copy of each run is hashed all the same; InputError as when it is read.
    """
    sha256 = str(run.plan["suite_sha256"])
    if sha256 in known:
        run.suite_file()
        vars(run)["suite"] = run.checked_suite(known[sha256])
    known[sha256] = run.suite


def part_of(run: Run, samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> Run:
    """The run as if it had these samples and strict verdicts alone, which are not read again."""
    part = Run(run.folder)
    vars(part).update({name: vars(run)[name] for name in ("plan", "manifest", "suite") if name in vars(run)})
    vars(part).update(samples=list(samples), verdicts=list(verdicts))
    return part


def some_of(run: Run, keys: Collection[SampleKey]) -> Run:
    """The run as if it had these samples alone: nothing is made of the rows of others."""
    import pyarrow as pa

    tables = []
    for name, schema in (("samples", samples_schema()), ("turns", turns_schema()), ("verdicts", verdicts_schema())):
        whole = run.columns(name, schema.names)
        rows = zip(whole.column("case_id").to_pylist(), whole.column("sample").to_pylist(), strict=True)
        tables.append(whole.filter(pa.array([key in keys for key in rows], pa.bool_())))
    samples, turns, verdicts = tables
    return part_of(run, samples_from(samples, [turns]), verdicts_from(verdicts))
