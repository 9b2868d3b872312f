"""Where what travels with evallib lies: the working folder first, then the checkout, then the wheel."""

from __future__ import annotations

from pathlib import Path

from evallib.errors import InputError

__all__ = ["notebook", "recorded_run", "rule_file", "suite_dir", "suite_path"]

_PACKAGE = Path(__file__).resolve().parent


def notebook(name: str) -> Path:
    """The notebook called `name`, with or without `.ipynb`; `./notebooks` wins where it has it."""
    file = name if name.endswith(".ipynb") else f"{name}.ipynb"
    return _find("notebook", file, "notebooks", "_notebooks")


def suite_dir(name: str) -> Path:
    """The folder of the suite called `name`; `./data/suites` wins where it has it."""
    return _find("suite", name, "data/suites", "_suites")


def suite_path(text: str) -> Path:
    """The path that `text` writes, or the folder of a suite called so where nothing lies at that path.

    InputError lists the suites there are where `text` can only be the name of one.
    """
    path = Path(text)
    named = path.name == text and path.suffix not in {".yaml", ".yml"}
    return suite_dir(text) if named and not path.exists() else path


def recorded_run(name: str) -> Path:
    """The folder of a run that travels with evallib; `./data/runs` wins where it has it."""
    return _find("recorded run", name, "data/runs", "_runs")


def rule_file() -> Path:
    """The written rule that comes with evallib: it holds for a log that has none of its own."""
    checkout = _PACKAGE.parent / "adjudications" / "RULE.yaml"
    return checkout if checkout.exists() else _PACKAGE / "_rule" / "RULE.yaml"


def _find(what: str, name: str, folder: str, packaged: str) -> Path:
    places = (Path(folder), _PACKAGE.parent / folder, _PACKAGE / packaged)
    if name and Path(name).name == name:
        for place in places:
            if (place / name).exists():
                return place / name
    known = sorted({Path(entry.name).stem for place in places if place.is_dir() for entry in place.iterdir()})
    listed = ", ".join(one for one in known if not one.startswith(".")) or "none"
    raise InputError(f"no {what} is called {name!r} in ./{folder} or in evallib itself; known: {listed}")
