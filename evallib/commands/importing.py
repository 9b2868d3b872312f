"""The `import` command: runs, suites and readings that other tools recorded."""

from __future__ import annotations

import argparse

from evallib.errors import InputError
from evallib.stdout import counted, print_lines

__all__ = ["import_"]

Arguments = argparse.Namespace


def import_(given: Arguments) -> int:
    """Bring in runs, a suite, or readings that other tools recorded."""
    from evallib.importers import import_run, read_berth
    from evallib.store import import_run as store_run

    if given.questions and given.format != "berth":
        raise InputError(
            f"--questions is of `berth`, whose records do not say what was asked; leave it out of {given.format}"
        )
    if given.format in ("adk-evalset", "berth-suite"):
        return _import_suite(given)
    if given.format == "berth-readings":
        return _import_readings(given)
    found = read_berth(given.path, given.questions) if given.questions else import_run(given.format, given.path)
    run_id = given.run_id or str(found.source["set"])
    stored = store_run(
        given.data,
        run_id,
        found.suite_yaml,
        found.samples,
        found.verdicts,
        target=found.target,
        source=found.source,
        skipped=found.skipped,
    )
    cases = len({sample.case_id for sample in found.samples})
    verdicts = counted(len(found.verdicts), "recorded verdict")
    counts = f"{counted(len(found.samples), 'sample')} of {counted(cases, 'case')}, {verdicts}"
    skipped = [f"  skipped: {' '.join(line.split())}" for line in found.skipped]
    print_lines([f"run {stored.id} in {stored.folder}: {counts}", *skipped])
    return 0


def _import_suite(given: Arguments) -> int:
    from evallib.importers import read_adk_evalset, read_berth_suite
    from evallib.store.files import write_new
    from evallib.suite import parse_suite

    if given.out is None:
        raise InputError(f"{given.format} writes a suite file; name it with --out FILE")
    if given.out.is_dir():
        raise InputError(f"--out {given.out}: is a folder; name a file in it")
    adk = given.format == "adk-evalset"
    text = read_adk_evalset(given.path, given.tools) if adk else read_berth_suite(given.path)
    suite = parse_suite(text, str(given.out))
    write_new(given.out, text.encode())
    counts = f"{counted(len(suite.cases), 'case')}, {counted(len(suite.check_ids()), 'check')}"
    print_lines([f"suite {suite.suite} in {given.out}: {counts}"])
    return 0


def _import_readings(given: Arguments) -> int:
    from evallib.adjudication import attach_published
    from evallib.entries import Reading
    from evallib.importers import read_berth_readings
    from evallib.store import read_log, readable_runs

    published = read_berth_readings(given.path)
    attached = attach_published(
        readable_runs(given.data), published, read_log(given.adjudications), given.adjudications, given.path.name
    )
    new, known, absent = attached
    to = ", ".join(dict.fromkeys(entry.run for _, entry in new if isinstance(entry, Reading)))
    counts = f"{len(new)} attached, {len(known)} already there, {len(absent)} of runs not present"
    print_lines([
        f"{counted(len(published), 'reading')}: {counts}",
        *([f"  attached to {to}"] if to else []),
        *(f"  not present: {one.set} {one.scenario} {one.repeat} ({one.reading})" for one in absent),
    ])  # fmt: skip
    return 0
