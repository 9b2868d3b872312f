"""Which suite files may run code: a suite someone names is trusted, a copy that lies in a run folder is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from evallib.errors import InputError
from evallib.strict_yaml import load_yaml

__all__ = ["refuse_run_copy", "runs_code"]


def refuse_run_copy(path: Path) -> None:
    """InputError when the file `path` lies in a run folder and would run code: whoever sent the run chose that code."""
    if not any(_in_run_folder(place) for place in (path.absolute(), path.resolve())):
        return
    name = next(runs_code(load_yaml(path).value), None)
    if name is not None:
        raise InputError(
            f"{path}: this copy of a suite lies in a run folder and its check {name!r} runs code; read the code and "
            "add --trust-code, or name the suite itself"
        )


def runs_code(value: Any) -> Iterator[str]:
    """Ids of the checks that run code, in a suite as YAML: kind `code`, and kinds of other packages."""
    if isinstance(value, dict):
        kind = value.get("check")
        if isinstance(kind, str) and (kind == "code" or ":" in kind):
            yield str(value.get("id", kind))
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from runs_code(one)


def _in_run_folder(path: Path) -> bool:
    """Beside plan.json, or in a rescoring beside it."""
    folder = path.parent
    run = folder.parent.parent if folder.parent.name == "rescored" else folder
    with suppress(OSError):  # a folder one may not look into: reading the suite will say so
        return (run / "plan.json").exists()
    return False
