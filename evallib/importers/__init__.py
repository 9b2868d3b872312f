"""Importers, one small file per format, found in `IMPORTERS`; `package.module:function` names one of your own.

`tau_bench` and `berth` give runs; `adk_evalset` and `berth_suite` give the text of a suite, `berth_readings`
published readings.
`base` holds what they share: the `Imported` run and the strict reading of foreign files.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from evallib.errors import InputError
from evallib.importers.adk_evalset import read_adk_evalset
from evallib.importers.base import Imported
from evallib.importers.berth import read_berth
from evallib.importers.berth_readings import PublishedReading, read_berth_readings
from evallib.importers.berth_suite import read_berth_suite
from evallib.importers.tau_bench import read_tau_bench

__all__ = [
    "FORMATS",
    "IMPORTERS",
    "Imported",
    "PublishedReading",
    "import_run",
    "importer_for",
    "read_adk_evalset",
    "read_berth",
    "read_berth_readings",
    "read_berth_suite",
]

IMPORTERS: dict[str, Callable[[Path], Imported]] = {
    "berth": read_berth,
    "tau-bench": read_tau_bench,
}
"""Format name to the function that reads a run."""

FORMATS = (*IMPORTERS, "adk-evalset", "berth-suite", "berth-readings")
"""Every name that `evallib import` knows."""


def importer_for(format_name: str) -> Callable[[Path], object]:
    """The importer of runs called `format_name`; InputError lists the known formats."""
    if format_name in IMPORTERS:
        return IMPORTERS[format_name]
    module, _, name = format_name.partition(":")
    if not name:
        raise InputError(f"unknown format {format_name!r}; known: {', '.join(FORMATS)}, or package.module:function")
    try:
        found: Callable[[Path], object] = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"format {format_name!r} cannot be imported: {error}") from error
    if not callable(found):
        raise InputError(f"format {format_name!r} is no function; it must take a path and return an Imported")
    return found


def import_run(format_name: str, path: Path) -> Imported:
    """The run in `path`, read by the importer called `format_name`."""
    imported = importer_for(format_name)(path)
    if not isinstance(imported, Imported):
        kind = type(imported).__name__
        raise InputError(f"format {format_name!r} returned {kind}, expected evallib.importers.Imported")
    return imported
