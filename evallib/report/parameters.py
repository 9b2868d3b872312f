"""Parameters of notebooks: their names and types, read from the cell that sets them, and what somebody gave."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evallib.errors import InputError

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["OURS", "Literal", "notebook_parameters", "refuse_unknown", "typed"]

OURS = ("run", "run_b", "data", "adjudications")
"""Set by the report itself."""
Literal = str | int | float | bool | list[str] | None
_WORDS: dict[str, Literal] = {"true": True, "false": False, "none": None}


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


def refuse_unknown(given: Mapping[str, str], known: Mapping[str, Mapping[str, Literal]]) -> None:
    """InputError for a parameter that no notebook has, or that is the report's own."""
    for name in given:
        if name in OURS:
            raise InputError(f"parameter {name!r} is set by the report itself; name the run, --data or --adjudications")
        if not any(name in parameters for parameters in known.values()):
            there = "; ".join(f"{nb}: {', '.join(p for p in ps if p not in OURS)}" for nb, ps in known.items())
            raise InputError(f"no notebook of this report has a parameter {name!r}; there are {there}")


def typed(name: str, given: str, default: Literal) -> Literal:
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
