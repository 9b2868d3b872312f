"""Reports of a run: one HTML page out of its notebooks, and the files that CI reads.

`build` plans and writes, `parameters` checks what notebooks are given, `kernel` executes them headless (the only user
of papermill); `page` is the HTML, `markdown` the summary, `junit` a test per case.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evallib.report.build import NOTEBOOKS, ReportOrder, build_report, refuse_report, report_files
    from evallib.report.parameters import notebook_parameters

_HOMES = {
    "NOTEBOOKS": "build",
    "ReportOrder": "build",
    "build_report": "build",
    "notebook_parameters": "parameters",
    "refuse_report": "build",
    "report_files": "build",
}
"""Public name to the module of this package that defines it."""

__all__ = ["NOTEBOOKS", "ReportOrder", "build_report", "notebook_parameters", "refuse_report", "report_files"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; public names: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
