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
    "Suite": "evallib.suite",
    "load_suite": "evallib.suite",
}
"""Public name to the module that defines it."""

__all__ = ["Suite", "load_suite"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'evallib' has no attribute {name!r}; public names: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
