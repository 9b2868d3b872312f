"""Notebooks executed headless in one kernel: whatever stops one is a failure with its cause."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evallib.errors import InfrastructureError, InputError
from evallib.report.parameters import Literal
from evallib.store.files import replace_file

if TYPE_CHECKING:
    from jupyter_client.manager import AsyncKernelManager
    from nbformat import NotebookNode

__all__ = ["execute", "one_kernel", "read_notebook"]

_PATIENCE = 300
"""Seconds for a kernel to start, or to hand over a cell's last words: a busy machine is slow, not broken."""
_CLEAN = """\
get_ipython().run_line_magic('reset', '-f')
__import__('sys').modules.setdefault('rfc3987_syntax', None)"""
"""A clean start; and the optional grammar of jsonschema, 1.6 s at the import of altair, is left out as in `cli`."""
_INPUT_ERRORS = frozenset({"InputError", "IncompleteError"})


@contextlib.contextmanager
def one_kernel() -> Iterator[AsyncKernelManager]:
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
    source: NotebookNode, copy: Path, parameters: Mapping[str, Literal], *, kernel: AsyncKernelManager, seconds: int
) -> NotebookNode:
    """The notebook executed headless in `kernel`, also written to `copy`, without any widget's state.

    Names of a notebook before it are cleared. That the last cell was reached is proven by a word it has to say:
    a kernel that was killed leaves a notebook that calls itself completed.
    """
    import papermill
    from nbclient.exceptions import CellTimeoutError
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
            request_save_on_cell_execute=True,  # what stops a notebook leaves what it had reached
            extra_arguments=["--log-level=ERROR"],
            start_timeout=_PATIENCE,
            iopub_timeout=_PATIENCE,
            execution_timeout=seconds,
        )
    except PapermillExecutionError as error:
        if error.ename in _INPUT_ERRORS:
            raise InputError(error.evalue) from error
        raise InfrastructureError(
            f"notebook {copy.stem!r} stopped with {error.ename}: {error.evalue}; see {copy}"
        ) from error
    except CellTimeoutError as error:
        raise InfrastructureError(
            f"notebook {copy.stem!r} has a cell that took more than {seconds} s; see {copy}"
        ) from error
    except RuntimeError as error:
        raise InfrastructureError(f"notebook {copy.stem!r} was not finished: {error}; see {copy}") from error
    last = done.cells[-1]
    if last.source != _saying(word) or word not in str(last.outputs):
        raise InfrastructureError(f"notebook {copy.stem!r} did not reach its end; its kernel was killed; see {copy}")
    done.cells = done.cells[1:-1]
    _write(copy, done)
    return cast("NotebookNode", done)


def read_notebook(path: Path) -> NotebookNode:
    """The notebook in a file."""
    return cast("NotebookNode", _nbformat().read(path, as_version=4))


def _nbformat() -> Any:
    """The module without its types: half of it has none."""
    import nbformat

    return nbformat


def _between(source: NotebookNode, word: str) -> NotebookNode:
    """A copy with a clean start, and an end that says it was reached."""
    between: NotebookNode = _nbformat().from_dict(source)
    new_cell = _nbformat().v4.new_code_cell
    first, last = new_cell(_CLEAN), new_cell(_saying(word))
    between.cells = [first, *between.cells, last]
    return between


def _saying(word: str) -> str:
    return f"print({word!r})"


def _write(copy: Path, done: NotebookNode) -> None:
    done.metadata.papermill.pop("input_path", None)  # here the whole notebook, not its path
    replace_file(copy, f"{_nbformat().writes(done)}\n".encode())
