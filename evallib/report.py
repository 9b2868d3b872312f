"""Reports: the notebooks executed over one run, joined into one HTML page that works offline."""

from __future__ import annotations

import ast
import contextlib
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evallib._assets import notebook
from evallib.errors import InfrastructureError, InputError
from evallib.figures import Figures, load_views
from evallib.html_page import Section, ViewLine, html_page
from evallib.printing import corrected_words, interval, number
from evallib.store import Run
from evallib.views import READ, View

if TYPE_CHECKING:
    from jupyter_client.manager import AsyncKernelManager
    from nbformat import NotebookNode

__all__ = ["ReportOrder", "build_report", "execute", "notebook_parameters", "refuse_report"]

NOTEBOOKS = ("run", "reliability", "gate", "rescore", "adjudicate", "agreement")
"""What a report holds, in reading order, unless notebooks are named."""
_OURS = ("run", "data", "adjudications")
_SHOWN: dict[str, Literal] = {"query": "sighted strict=fail strict=error"}
"""How a report shows the queue unless told otherwise: it is for readers of figures, and nobody reads blind from it."""
_PATIENCE = 300
"""Seconds for a kernel to start, or to hand over a cell's last words: a busy machine is slow, not broken."""
_INPUT_ERRORS = frozenset({"InputError", "IncompleteError"})

Literal = str | int | float | bool | list[str] | None


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

    def opened(self) -> list[Figures]:
        """The views of the run, strict first."""
        return load_views(self.reference, self.data, self.adjudications)


def build_report(order: ReportOrder) -> Path:
    """Execute notebooks over a run and join them into `<out>/<run id>.html`, replacing an older report of that run.

    The executed copies lie in `<out>/<run id>/`. Parameters that no notebook has, or of another type, are refused
    before anything is executed.
    """
    opened = order.opened()
    run, out = opened[0].views[0].run, order.out
    planned = _planned(order, opened)
    with _writing(out), _taken_back(out / run.id):
        sections = list(_executed(planned, run.id))
        lines = [_view_line(figures) for figures in opened]
        return _replace(out / f"{run.id}.html", html_page(run.id, lines, sections))


def refuse_report(order: ReportOrder) -> None:
    """InputError for what `build_report` would refuse before it executes anything."""
    _planned(order, order.opened())


def _planned(order: ReportOrder, opened: Sequence[Figures]) -> list[_Planned]:
    views = [figures.views[0] for figures in opened]
    run, data, log = views[0].run, order.data, order.adjudications
    ours = {"run": _name(run, data), "data": str(data.resolve()), "adjudications": str(log.resolve())}
    return _plan(order.notebooks or _worthwhile(views), order.out / run.id, ours, order.parameters)


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


def _view_line(figures: Figures) -> ViewLine:
    """The headline of one view: pass rate with interval and counts, and what the gate says of it."""
    summary, decision = figures.summary(), figures.decision()
    passed = round(summary["pass_rate_micro"] * summary["planned"])
    rate = f"pass rate {number(summary['pass_rate'])}{interval(summary['pass_rate_interval'])}"
    label = figures.label
    why = "" if label else f": {decision.why_no_release}"
    kind = "the release decision" if decision.release_decision else f"no release decision{why}"
    errors = f", errors: {summary['errors']}" if summary["errors"] else ""
    if "corrected" in summary:
        rate += f" (corrected by reading: {corrected_words(summary['corrected'])})"
    said = f"{rate}, {passed} of {summary['planned']} samples passed{errors}; gate {decision.decision} ({kind})"
    return ViewLine(figures.view, said, label)


def _name(run: Run, data: Path) -> str:
    """The id where the run lies under `data`, else its folder: another folder's path is nobody's business."""
    inside = run.folder.resolve() == (data / "runs" / run.id).resolve()
    return run.id if inside else str(run.folder.resolve())


def _worthwhile(views: Sequence[View]) -> list[str]:
    """Rescoring and readings are shown where there are any: an empty table says nothing."""
    names = [view.name for view in views]
    left_out = {"rescore"} if not any(name.startswith("rescored:") for name in names) else set()
    if READ not in names:
        left_out |= {"adjudicate", "agreement"}
    return [name for name in NOTEBOOKS if name not in left_out]


def _plan(names: Sequence[str], folder: Path, ours: Mapping[str, str], given: Mapping[str, str]) -> list[_Planned]:
    """What to execute with which parameters; InputError for a parameter that no notebook has."""
    paths = {Path(name).stem: notebook(name) for name in dict.fromkeys(names)}
    sources = {name: _nbformat().read(path, as_version=4) for name, path in paths.items()}
    known = {name: notebook_parameters(source) for name, source in sources.items()}
    _refuse_unknown(given, known)
    planned = []
    for name, source in sources.items():
        copy = folder / f"{name}.ipynb"
        if copy.resolve() == paths[name].resolve():
            raise InputError(f"{copy}: the executed copy would overwrite the notebook itself; choose another --out")
        typed = {one: _typed(one, given[one], default) for one, default in known[name].items() if one in given}
        placed = {one: value for one, value in ours.items() if one in known[name]}
        shown = {one: value for one, value in _SHOWN.items() if one in known[name]}
        planned.append(_Planned(name, source, {**shown, **typed, **placed}, copy))
    return planned


def _refuse_unknown(given: Mapping[str, str], known: Mapping[str, Mapping[str, Literal]]) -> None:
    for name in given:
        if name in _OURS:
            raise InputError(f"parameter {name!r} is set by the report itself; name the run, --data or --adjudications")
        if not any(name in parameters for parameters in known.values()):
            there = "; ".join(f"{nb}: {', '.join(p for p in ps if p not in _OURS)}" for nb, ps in known.items())
            raise InputError(f"no notebook of this report has a parameter {name!r}; there are {there}")


def notebook_parameters(source: NotebookNode) -> dict[str, Literal]:
    """Names and defaults in the cell tagged `parameters`, in order.

    Read from the code: papermill infers types from annotations only, and checks neither names nor types.
    """
    cell = next((c for c in source.cells if "parameters" in c.metadata.get("tags", [])), None)
    if cell is None:
        return {}
    found: dict[str, Literal] = {}
    for line in ast.parse(cell.source).body:
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            found[line.targets[0].id] = ast.literal_eval(line.value)
    return found


_WORDS: dict[str, Literal] = {"true": True, "false": False, "none": None}


def _typed(name: str, given: str, default: Literal) -> Literal:
    """The text as the type of the parameter's default; InputError where it is none."""
    if isinstance(default, str):
        return given
    if isinstance(default, list):
        return given.split()
    if default is None or isinstance(default, bool):
        allowed = ("true", "false") if isinstance(default, bool) else tuple(_WORDS)
        if given.lower() not in allowed:
            raise InputError(f"parameter {name!r} is {given!r}; expected {' or '.join(allowed)}")
        return _WORDS[given.lower()]
    kind = type(default)
    try:
        return kind(given)
    except ValueError as error:
        wanted = "a whole number" if kind is int else "a number"
        raise InputError(f"parameter {name!r} is {given!r}; expected {wanted}, as in {name}={default}") from error


def _executed(planned: Sequence[_Planned], run: str) -> Iterator[Section]:
    with _kernel() as kernel:
        for place, one in enumerate(planned, 1):
            sys.stderr.write(f"report of {run}: {one.name} ({place} of {len(planned)})\n")
            yield Section(one.name, execute(one.source, one.copy, one.parameters, kernel=kernel))


@contextlib.contextmanager
def _kernel() -> Iterator[AsyncKernelManager]:
    """One kernel of this very interpreter for all notebooks of a report: each start costs seconds of imports.

    A kernel of the same name may be installed for another interpreter, so no installed one is looked at.
    """
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_core.utils import run_sync

    class Kernel(AsyncKernelManager):
        """Keeps the clients papermill asks for: of a kernel that is not its own, papermill closes none."""

        def client(self, **given: Any) -> Any:
            clients.append(super().client(**given))
            return clients[-1]

    clients: list[Any] = []
    manager = Kernel(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    try:
        yield manager
    finally:
        for client in clients:
            client.stop_channels()
        if manager.has_kernel:
            run_sync(manager.shutdown_kernel)(now=True)


def execute(
    source: NotebookNode, copy: Path, parameters: Mapping[str, Literal], *, kernel: AsyncKernelManager
) -> NotebookNode:
    """The notebook executed headless in `kernel`, also written to `copy`, without any widget's state.

    Names of a notebook before it are cleared. That the last cell was reached is proven by a word it has to say:
    a kernel that was killed leaves a notebook that calls itself completed.
    """
    import papermill
    from papermill.exceptions import PapermillExecutionError

    word = secrets.token_hex(8)
    try:
        done = papermill.execute_notebook(
            _between(source, word),
            str(copy),
            parameters=dict(parameters),
            kernel_name="python3",
            km=kernel,
            progress_bar=False,
            store_widget_state=False,  # answers would be in it
            request_save_on_cell_execute=False,
            extra_arguments=["--log-level=ERROR"],
            start_timeout=_PATIENCE,
            iopub_timeout=_PATIENCE,
        )
    except PapermillExecutionError as error:
        if error.ename in _INPUT_ERRORS:
            raise InputError(error.evalue) from error
        raise InfrastructureError(
            f"notebook {copy.stem!r} stopped with {error.ename}: {error.evalue}; see {copy}"
        ) from error
    except RuntimeError as error:
        raise InfrastructureError(f"notebook {copy.stem!r} was not finished: {error}; see {copy}") from error
    last = done.cells[-1]
    if last.source != _saying(word) or word not in str(last.outputs):
        raise InfrastructureError(f"notebook {copy.stem!r} did not reach its end; its kernel was killed; see {copy}")
    done.cells = done.cells[1:-1]
    _write(copy, done)
    return cast("NotebookNode", done)


def _nbformat() -> Any:
    """The module without its types: half of it has none."""
    import nbformat

    return nbformat


def _between(source: NotebookNode, word: str) -> NotebookNode:
    """A copy with a clean start, and an end that says it was reached."""
    between: NotebookNode = _nbformat().from_dict(source)
    new_cell = _nbformat().v4.new_code_cell
    first, last = new_cell("get_ipython().run_line_magic('reset', '-f')"), new_cell(_saying(word))
    between.cells = [first, *between.cells, last]
    return between


def _saying(word: str) -> str:
    return f"print({word!r})"


def _write(copy: Path, done: NotebookNode) -> None:
    done.metadata.papermill.pop("input_path", None)  # here the whole notebook, not its path
    _replace(copy, _nbformat().writes(done) + "\n")


def _replace(path: Path, text: str) -> Path:
    """Write the file whole or not at all; reports are derived, so an older one gives way."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


@contextlib.contextmanager
def _writing(out: Path) -> Iterator[None]:
    """Turns what the disk says into one sentence: a missing right is the caller's (2), the rest is trouble (3)."""
    try:
        yield
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise InputError(f"{error.filename or out}: may not write here; choose another folder with --out") from error
    except OSError as error:
        raise InfrastructureError(f"{out}: the report cannot be written: {error.strerror or error}") from error
