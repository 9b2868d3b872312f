"""evallib: run and score agent evaluations, read the verdicts you doubt, rescore beside the original, report.

`suite` is what is reviewed, `targets` reach what is under test, `store` keeps what it answered; `checks`, `scoring`
and `rescoring` say how good that was, `adjudication` what people made of it; `views`, `metrics`, `gate`, `charts` and
`report` show it. Names are loaded when they are first used, so that importing evallib costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Figures": "evallib.views.figures",
    "ReportOrder": "evallib.report",
    "Run": "evallib.store",
    "RunOptions": "evallib.runner",
    "Suite": "evallib.suite",
    "View": "evallib.views.load",
    "append_entry": "evallib.store",
    "build_report": "evallib.report",
    "decide": "evallib.gate",
    "load_figures": "evallib.views.figures",
    "load_suite": "evallib.suite",
    "load_views": "evallib.views.figures",
    "make_reading": "evallib.adjudication",
    "open_exhibits": "evallib.exhibits.run",
    "open_run": "evallib.store",
    "open_session": "evallib.desk.tables",
    "open_target": "evallib.targets",
    "open_view": "evallib.views.load",
    "outcomes_frame": "evallib.views.load",
    "read_log": "evallib.store",
    "rescore": "evallib.rescoring.apply",
    "run_suite": "evallib.runner",
    "score_samples": "evallib.scoring",
    "summarise": "evallib.metrics",
    "track": "evallib.tracking",
    "verdicts_frame": "evallib.views.load",
    "verify_run": "evallib.store",
}
"""Public name to the module that defines it."""

__all__ = [
    "Figures",
    "ReportOrder",
    "Run",
    "RunOptions",
    "Suite",
    "View",
    "append_entry",
    "build_report",
    "decide",
    "load_figures",
    "load_suite",
    "load_views",
    "make_reading",
    "open_exhibits",
    "open_run",
    "open_session",
    "open_target",
    "open_view",
    "outcomes_frame",
    "read_log",
    "rescore",
    "run_suite",
    "score_samples",
    "summarise",
    "track",
    "verdicts_frame",
    "verify_run",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'evallib' has no attribute {name!r}; public names: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
