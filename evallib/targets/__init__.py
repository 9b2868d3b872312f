"""Targets, one small file per kind, found in `KINDS`.

`base` says what a target is and `opening` which one `kind[:address]` means; `chat` asks any OpenAI-compatible endpoint;
`scripted` starts `script_server`, which answers from a `script`, and asks it through `chat`; `knowledge` is the folder
a target may read, `played` gives what the suite's own tools give; `edge` makes storable
what any of them gives. A target of your own is written
`custom:package.module:NAME#ADDRESS`, where NAME(address, setting) gives an object with the methods of `base.Target`.
Names are loaded when first used: a scripted model's server needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evallib.targets.base import Setting, Target, TargetOptions, TargetOutput
    from evallib.targets.opening import KINDS, open_target

_HOMES = {
    "KINDS": "opening",
    "Setting": "base",
    "Target": "base",
    "TargetOptions": "base",
    "TargetOutput": "base",
    "open_target": "opening",
}
"""Public name to the module of this package that defines it."""

__all__ = ["KINDS", "Setting", "Target", "TargetOptions", "TargetOutput", "open_target"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; public names: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
