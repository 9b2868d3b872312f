"""Reports: the notebooks executed over one run, joined into one HTML page that works offline, and files for CI."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from evallib._assets import notebook
from evallib.calibration import calibrations_of
from evallib.caption import joined, short
from evallib.errors import IncompleteError, InfrastructureError, InputError
from evallib.gate import Decision
from evallib.prices import PRICES
from evallib.printing import corrected_words, interval, number
from evallib.report.junit import junit_xml
from evallib.report.kernel import execute, one_kernel, read_notebook
from evallib.report.markdown import markdown_summary
from evallib.report.page import Section, ViewLine, html_page
from evallib.report.parameters import Literal, notebook_parameters, refuse_unknown, typed
from evallib.report.unfinished import unfinished_files, unfinished_words
from evallib.store import Run, open_run
from evallib.store.files import replace_file
from evallib.story import notices
from evallib.views.figures import Figures, load_views
from evallib.views.load import READ, View

if TYPE_CHECKING:
    from jupyter_client.manager import AsyncKernelManager
    from nbformat import NotebookNode

__all__ = ["NOTEBOOKS", "ReportOrder", "build_report", "refuse_report", "report_files"]

NOTEBOOKS = ("report", "run", "reliability", "gate", "compare", "rescore", "adjudicate", "agreement", "calibrate")
"""What a report holds, in reading order, unless notebooks are named."""
_SHOWN: dict[str, Literal] = {"query": "sighted strict=fail strict=error"}
"""How a report shows the queue unless told otherwise: it is for readers of figures, and nobody reads blind from it."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """One notebook that is going to be executed."""

    name: str
    source: NotebookNode
    parameters: Mapping[str, Literal]
    copy: Path


@dataclass(frozen=True, slots=True)
class ReportOrder:
    """Which run a report is about, where it lies, where the report goes, and what is to be in it."""

    reference: str
    """The run: its id or folder."""
    data: Path
    adjudications: Path
    out: Path
    notebooks: Sequence[str] = ()
    """By name; those that have something to show unless some are named."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    cell_seconds: int = 600
    """How long one cell may take."""
    prices: Path | None = None
    """A table of prices; that of the data folder, where there is one, unless another is named."""

    def opened(self) -> list[Figures]:
        """The views of the run, strict first."""
        return load_views(self.reference, self.data, self.adjudications, prices=self.prices)


def build_report(order: ReportOrder, kernel: AsyncKernelManager | None = None) -> Path:
    """Execute notebooks over a run and join them into `<out>/<run id>.html`, replacing an older report of that run.

    Beside it lie a summary (`.md`), one test per case (`.junit.xml`) and all figures (`.json`), also where a notebook
    could not be finished, and then they say why; the executed copies lie in `<out>/<run id>/`, the unfinished too.
    Parameters that no notebook has, or of another type, are refused before anything is executed. IncompleteError for a
    run that has not ended: its report says on top how much is there. `kernel` is one that several reports share.
    """
    if not (unfinished := open_run(order.reference, order.data)).complete:
        _write_unfinished(unfinished, order.out)
    opened = order.opened()
    run, out = opened[0].views[0].run, order.out
    planned = _planned(order, opened)
    path = out / f"{run.id}.html"
    with _writing(out), _taken_back(out / run.id):
        for old in report_files(path):  # whatever stops this one, nobody takes them for it
            old.unlink(missing_ok=True)
        try:
            with _priced(order.prices), contextlib.nullcontext(kernel) if kernel else one_kernel() as shared:
                sections = list(_executed(planned, run.id, order.cell_seconds, shared))
        except InfrastructureError as error:
            _write_for_ci(opened, out, failed=f"The report failed, and there is no page: {error}")
            raise
        _write_for_ci(opened, out)
        lines = [_view_line(figures) for figures in opened]
        minded, of = notices(opened[0].views[0]), joined([short(figures.summary()) for figures in opened])
        decided = _decided(opened[0].decision())
        page = html_page(run.id, lines, sections, decision=decided, notices=minded, caption=of)
        replace_file(path, page.encode())
        return path


def report_files(page: Path) -> list[Path]:
    """The page and what lies beside it."""
    return [page, *(page.with_name(f"{page.stem}.{end}") for end in ("md", "junit.xml", "json"))]


def _write_for_ci(opened: Sequence[Figures], out: Path, *, failed: str = "") -> None:
    """The summary, the tests and the figures, each whole or not at all; `failed`: why there is no page."""
    name = opened[0].views[0].run.id
    replace_file(out / f"{name}.md", markdown_summary(opened, failed).encode())
    replace_file(out / f"{name}.junit.xml", junit_xml(opened[0], failed).encode())
    figures = json.dumps(_figures(opened, failed), indent=1, ensure_ascii=False, allow_nan=False)
    replace_file(out / f"{name}.json", f"{figures}\n".encode())


def _write_unfinished(run: Run, out: Path) -> NoReturn:
    """Say in every file that there is nothing to report yet; the caller learns it as an IncompleteError."""
    page = out / f"{run.id}.html"
    with _writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for path, text in zip(report_files(page), unfinished_files(run), strict=True):
            replace_file(path, text.encode())
    raise IncompleteError(f"run {run.id!r}: {unfinished_words(run)} {page} says so")


def _figures(opened: Sequence[Figures], failed: str) -> dict[str, Any]:
    """What `metrics --json` and `gate --json` print of strict, then of every later view."""
    both = [{"metrics": one.summary(), "gate": one.decision().as_json()} for one in opened]
    view = opened[0].views[0]
    minded = [*([failed] if failed else []), *notices(view)]
    return {"run": view.run.id, "notices": minded, **both[0], "later_views": both[1:]}


def refuse_report(order: ReportOrder) -> None:
    """InputError for what `build_report` would refuse before it executes anything."""
    if not open_run(order.reference, order.data).complete:
        return  # its report says so, and says nothing else
    _planned(order, order.opened())


def _planned(order: ReportOrder, opened: Sequence[Figures]) -> list[_Planned]:
    views = [figures.views[0] for figures in opened]
    run, data, log = views[0].run, order.data, order.adjudications
    this = _name(run, data)
    # The notebook that compares calls the run of the report `run_b`; `run_a`, the one before it, is given.
    ours = {"run": this, "run_b": this, "data": str(data.resolve()), "adjudications": str(log.resolve())}
    names = order.notebooks or _worthwhile(views, order)
    return _plan(names, order.out / run.id, ours, order.parameters)


@contextlib.contextmanager
def _priced(prices: Path | None) -> Iterator[None]:
    """The notebooks' kernel takes prices from this file, as whoever starts it by hand may ask with the same name."""
    before = os.environ.get(PRICES)
    try:
        if prices:
            os.environ[PRICES] = str(prices.resolve())
        yield
    finally:
        os.environ.pop(PRICES, None)
        os.environ |= {PRICES: before} if before else {}


@contextlib.contextmanager
def _taken_back(folder: Path) -> Iterator[None]:
    """The folder of the executed copies; gone again, where this made it, when a notebook refuses its parameters."""
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except InputError:
        if made:
            shutil.rmtree(folder, ignore_errors=True)
        for place in made[1:]:
            place.rmdir()
        raise


def _decided(decision: Decision) -> tuple[str, str]:
    """The word of the gate, and whether it decides a release and by which rules."""
    blocked = ", ".join(rule.rule for rule in decision.rules if not rule.passed)
    kind = f"no release decision: {decision.why_no_release}" if decision.why_no_release else "the release decision"
    return decision.decision, f"{f'by {blocked}; ' if blocked else ''}{kind}"


def _view_line(figures: Figures) -> ViewLine:
    """One view: pass rate with interval and counts, and what the gate says of it."""
    summary, rate = figures.summary(), figures.summary()["pass_rate_interval"]
    k = list(summary["pass_at"])[-1]
    cells = {
        "pass rate, 95 %": f"{number(summary['pass_rate'])}{interval(rate)}",
        "samples passed": f"{round(summary['pass_rate_micro'] * summary['planned'])} of {summary['planned']}",
        "without outcome": str(summary["errors"]),
        f"pass@{k}": f"{number(summary['pass_at'][k])}{interval(summary['pass_at_interval'][k])}",
        f"pass^{k}": f"{number(summary['pass_hat'][k])}{interval(summary['pass_hat_interval'][k])}",
        "mean score": f"{number(summary['score_mean'])}{interval(summary['score_mean_interval'])}",
        "gate": figures.decision().decision,
    }
    remark = f"corrected by reading: {corrected_words(summary['corrected'])}" if "corrected" in summary else ""
    return ViewLine(figures.view, figures.label, cells, remark, [summary["pass_rate"], *(rate or ())])


def _name(run: Run, data: Path) -> str:
    """The id where the run lies under `data`, else its folder: another folder's path is nobody's business."""
    inside = run.folder.resolve() == (data / "runs" / run.id).resolve()
    return run.id if inside else str(run.folder.resolve())


def _worthwhile(views: Sequence[View], order: ReportOrder) -> list[str]:
    """Rescorings, readings, calibrations and another run are shown where there are any: an empty table says nothing."""
    names = [view.name for view in views]
    left_out = {"rescore"} if not any(name.startswith("rescored:") for name in names) else set()
    if READ not in names:
        left_out |= {"adjudicate", "agreement"}
    if not calibrations_of(views[0].run, order.data, order.adjudications):
        left_out.add("calibrate")
    if not _asked_to_compare(order.parameters):
        left_out.add("compare")
    return [name for name in NOTEBOOKS if name not in left_out]


def _asked_to_compare(given: Mapping[str, str]) -> bool:
    """Whether a parameter was given that the notebook which compares has and no other: it needs a second run."""
    known: dict[str, set[str]] = {}
    for name in NOTEBOOKS:
        with contextlib.suppress(InputError):
            known[name] = set(notebook_parameters(read_notebook(notebook(name))))
    others = set().union(*(found for name, found in known.items() if name != "compare"))
    return bool(set(given) & (known.get("compare", set()) - others))


def _plan(names: Sequence[str], folder: Path, ours: Mapping[str, str], given: Mapping[str, str]) -> list[_Planned]:
    """What to execute with which parameters; InputError for a parameter that no notebook has."""
    paths = {Path(name).stem: notebook(name) for name in dict.fromkeys(names)}
    sources = {name: read_notebook(path) for name, path in paths.items()}
    known = {name: notebook_parameters(source) for name, source in sources.items()}
    refuse_unknown(given, known)
    planned = []
    for name, source in sources.items():
        copy = folder / f"{name}.ipynb"
        if copy.resolve() == paths[name].resolve():
            raise InputError(f"{copy}: the executed copy would overwrite the notebook itself; choose another --out")
        wanted = {one: typed(one, given[one], default) for one, default in known[name].items() if one in given}
        placed = {one: value for one, value in ours.items() if one in known[name]}
        shown = {one: value for one, value in _SHOWN.items() if one in known[name]}
        planned.append(_Planned(name, source, {**shown, **wanted, **placed}, copy))
    return planned


def _executed(
    planned: Sequence[_Planned], run: str, cell_seconds: int, kernel: AsyncKernelManager
) -> Iterator[Section]:
    for place, one in enumerate(planned, 1):
        sys.stderr.write(f"report of {run}: {one.name} ({place} of {len(planned)})\n")
        yield Section(one.name, execute(one.source, one.copy, one.parameters, kernel=kernel, seconds=cell_seconds))


@contextlib.contextmanager
def _writing(out: Path) -> Iterator[None]:
    """Turns what the disk says into one sentence: a missing right is the caller's (2), the rest is trouble (3)."""
    try:
        yield
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise InputError(f"{error.filename or out}: may not write here; choose another folder with --out") from error
    except OSError as error:
        raise InfrastructureError(f"{out}: the report cannot be written: {error.strerror or error}") from error
