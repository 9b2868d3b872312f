"""The demonstration: the whole loop on the suite of article 1, into one folder, fresh each time."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evallib._assets import recorded_run, suite_dir
from evallib.adjudication import make_reading
from evallib.caption import joined
from evallib.errors import InputError
from evallib.panel import open_panel
from evallib.printing import progress_bar, rescored_lines, views_table
from evallib.rescoring.apply import load_rescoring, rescore
from evallib.runner import RunOptions, run_suite
from evallib.stdout import counted
from evallib.store import LoggedEntry, Run, append_entry, open_run
from evallib.strict_yaml import load_yaml
from evallib.suite import load_suite
from evallib.targets import open_target
from evallib.targets.base import TargetOptions
from evallib.views.figures import Figures, load_views

__all__ = ["clear", "run_demo"]

_MARK = ".evallib-demo"
_RUN, _RECORDED = "demo-tickets", "basics-smollm2"
_READER = "demo reader (scripted)"


def run_demo(out: Path) -> int:
    """Run, store, score, gate, read, rescore, chart and report; prints what was made and what to open."""
    began = time.monotonic()
    clear(out)
    data, adjudications = out / "data", out / "adjudications"
    run = _run_tickets(data)
    print(f"1. ran {run.id}: {len(run.samples)} samples of {len(run.plan['cases'])} cases, scripted agent")
    recorded = _bring_recorded(data)
    model = recorded.plan["target"].get("model", "a local model")
    print(f"   beside it {recorded.id}: {len(recorded.samples)} samples recorded from a real model ({model})")
    read = _read(run, adjudications)
    print(f"2. {counted(len(read), 'reading')} by {_READER!r} in {adjudications}")
    _rescore(run, adjudications, out / "entry.yaml", read)
    views = load_views(run.id, data, adjudications)
    views += load_views(recorded.id, data, adjudications)
    print("\nThe views side by side:")
    said = (joined([one.caption for one in views if one.views[0].run.id == each]) for each in (run.id, recorded.id))
    _print([*views_table([figures.summary() for figures in views]), *said])
    print("\nThe gate over the strict view:")
    _print(views[0].decision().lines())
    _report(out, data, adjudications, views)
    print("\nRead the failing answers yourself:  make lab   (it opens copies of the notebooks, in build/lab)")
    print(f"The demo took {time.monotonic() - began:.0f} s.")
    return 0


def clear(out: Path) -> None:
    """Make `out` an empty demo folder; InputError when it holds something that no demo made."""
    if out.exists() and any(out.iterdir()) and not (out / _MARK).exists():
        raise InputError(f"{out}: is no demo folder and not empty; choose another with --out")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / _MARK).write_text("made by `evallib demo`, which empties this folder each time\n", encoding="utf-8")


def _run_tickets(data: Path) -> Run:
    folder = suite_dir("tickets")
    suite = load_suite(folder)
    with open_target("scripted", suite, folder, TargetOptions()) as target:
        panel = open_panel(None, suite, folder, target)
        options = RunOptions(run_id=_RUN, samples=5, jobs=8, split="validation")
        return run_suite(folder / "suite.yaml", target, options, data, judge=panel, progress=progress_bar)


def _bring_recorded(data: Path) -> Run:
    shutil.copytree(recorded_run(_RECORDED), data / "runs" / _RECORDED)
    return open_run(_RECORDED, data)


def _read(run: Run, adjudications: Path) -> list[LoggedEntry]:
    readings: list[dict[str, Any]] = load_yaml(suite_dir("tickets") / "demo" / "readings.yaml").value
    return [append_entry(adjudications, make_reading(run, author=_READER, **reading)) for reading in readings]


def _rescore(run: Run, adjudications: Path, entry: Path, read: Sequence[LoggedEntry]) -> None:
    """Apply the corrected suite; the entry that is written cites the readings which license its change."""
    folder = suite_dir("tickets") / "demo"
    (change,) = load_rescoring(folder / "entry.yaml").changes
    items = (change.check, *change.cases)
    cited = [
        logged.id for logged in read if (getattr(logged.entry, "check", ""), getattr(logged.entry, "case", "")) == items
    ]
    written = (folder / "entry.yaml").read_text(encoding="utf-8")
    entry.write_text(written + "readings:\n" + "".join(f"  - {id_}\n" for id_ in cited), encoding="utf-8")
    rescored = rescore([run], folder / "suite-v2.yaml", entry, adjudications)
    print("3. " + "\n   ".join(rescored_lines(rescored.as_dict())))


def _report(out: Path, data: Path, adjudications: Path, views: list[Figures]) -> None:
    from evallib.report import ReportOrder, build_report

    print("\nReports (self-contained, open in a browser):")
    for run_id in dict.fromkeys(figures.views[0].run.id for figures in views):
        print(f"  {build_report(ReportOrder(run_id, data, adjudications, out / 'report'))}")


def _print(lines: list[str]) -> None:
    print("\n".join(lines))
