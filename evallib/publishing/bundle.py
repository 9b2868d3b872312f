"""Puts everything that is published of some runs into one new folder, whole or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from evallib.charts.drawing import spec_of, svg_of
from evallib.errors import InputError
from evallib.provenance import versions
from evallib.publishing.contents import calibration_files, concerning, preview_files
from evallib.publishing.parts import FACTS, MANIFEST, derived, facts_of, manifest_text
from evallib.publishing.proof import prove
from evallib.publishing.quoted import drawings
from evallib.rule import FILE as RULE
from evallib.rule import load_rule
from evallib.store import (
    LoggedEntry,
    Run,
    list_runs,
    open_run,
    read_log,
    refuse_repeated,
    standing_rescorings,
)
from evallib.store.files import publish_folder, staging_folder, write_new

__all__ = ["make_bundle"]

_ATTRIBUTES = b"* -text\n"
"""With other line ends nothing fits its hash."""


def make_bundle(runs: Sequence[str], out: Path, data: Path, adjudications: Path, *, pages: bool = True) -> Path:
    """Write the bundle of the runs to the new folder `out`; `pages` leaves the HTML reports out when false.

    Everything derived is made from the copies in the bundle, and the bundle is proven before it gets its name.
    InputError when a run is incomplete or changed, or `out` is there already.
    """
    opened = [open_run(reference, data) for reference in runs]
    _refuse(opened, out)
    log = concerning(opened, read_log(adjudications), load_rule(adjudications).rule)
    with staging_folder(out) as staged:
        _copy(opened, log, staged, data, adjudications)
        left_out = _left_out(opened, data)
        _derive(staged, [run.id for run in opened], left_out, pages=pages)
        proof = prove(staged, redraw=False)  # they were drawn just now
        if proof.problems:
            raise InputError(f"{proof.problems[0].replace(str(staged), str(out))}; nothing was published")
        if out.exists():
            out.rmdir()
        publish_folder(staged, out)
    return out


def _refuse(runs: Sequence[Run], out: Path) -> None:
    refuse_repeated(runs)
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise InputError(f"{out}: exists already and is never overwritten; name a new folder with --bundle")
    for run in runs:
        _ = run.manifest  # of an incomplete run nothing is published


def _copy(runs: Sequence[Run], log: Sequence[LoggedEntry], staged: Path, data: Path, adjudications: Path) -> None:
    for run in runs:
        place = staged / "data" / "runs" / run.id
        for name in dict.fromkeys(("plan.json", "suite.yaml", *run.manifest["files"], "run.json")):
            if Path(name).name != name:
                raise InputError(
                    f"{run.folder / 'run.json'}: names the file {name!r}, which is not in the run's folder"
                )
            _copied(run.folder / name, place / name)
        for one in standing_rescorings(run, log):
            shutil.copytree(one.folder, place / "rescored" / one.name)
    for path in calibration_files(data, runs):
        _copied(path, staged / "data" / "calibrations" / path.name)
    wanted = {logged.id for logged in log}
    entries = [path for path in (adjudications / "entries").rglob("*.yaml") if path.stem in wanted]
    (staged / "adjudications" / "entries").mkdir(parents=True, exist_ok=True)
    for path in (*entries, *preview_files(adjudications, log, runs)):
        _copied(path, staged / "adjudications" / path.relative_to(adjudications))
    _copied(load_rule(adjudications).path, staged / "adjudications" / RULE)


def _copied(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)


def _left_out(runs: Sequence[Run], data: Path) -> list[str]:
    """Complete runs of the same suites that lie beside the published ones."""
    ids, suites = {run.id for run in runs}, {run.plan["suite"] for run in runs}
    return [run.id for run in list_runs(data) if run.plan["suite"] in suites and run.id not in ids]


def _derive(staged: Path, runs: Sequence[str], left_out: Sequence[str], *, pages: bool) -> None:
    made = {"evallib": versions()["evallib"], "made": datetime.now(UTC).isoformat(timespec="seconds")}
    facts = {**made, **facts_of(staged, runs), "left_out": list(left_out)}
    write_new(staged / FACTS, (json.dumps(facts, indent=1, ensure_ascii=False) + "\n").encode())
    for name, content in derived(staged, facts).items():
        write_new(staged / name, content)
    for run in runs:
        for name, chart in drawings(run, staged / "data", staged / "adjudications"):
            spec = spec_of(chart)
            text = json.dumps(spec, ensure_ascii=False)
            write_new(staged / "figures" / run / f"{name}.json", f"{text}\n".encode())
            write_new(staged / "figures" / run / f"{name}.svg", svg_of(spec).encode())
    if pages:
        _pages(staged, runs)
    write_new(staged / ".gitattributes", _ATTRIBUTES)
    write_new(staged / MANIFEST, manifest_text(staged).encode())


def _pages(staged: Path, runs: Sequence[str]) -> None:
    from evallib.report import ReportOrder, build_report
    from evallib.report.kernel import one_kernel

    with one_kernel() as kernel:
        for run in runs:
            build_report(ReportOrder(run, staged / "data", staged / "adjudications", staged / "report"), kernel)
            shutil.rmtree(staged / "report" / run)  # the executed copies name this machine's folders
