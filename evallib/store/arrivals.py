"""What came into the log since it was read: from another sitting, or by git."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from itertools import filterfalse
from pathlib import Path

from evallib.errors import InputError
from evallib.store.log import LoggedEntry, entry_of

__all__ = ["Arrivals"]

_SETTLED_NS = 2_000_000_000
"""A folder that changed later than this ago may change again without another time: file systems count coarsely."""


class Arrivals:
    """Looks for new files by name alone, and only in folders that changed, so that every write can look first."""

    def __init__(self, adjudications: Path, log: Iterable[LoggedEntry]) -> None:
        self._root = adjudications / "entries"
        self._known = {f"{logged.id}.yaml" for logged in log}
        self._looked: dict[Path, tuple[int, list[Path]]] = {}
        """Folder to when it had changed, zero for just now, and to the folders in it."""

    def know(self, logged: LoggedEntry) -> None:
        """Count an entry as read."""
        self._known.add(f"{logged.id}.yaml")

    def new(self) -> list[LoggedEntry]:
        """The entries that came since the last call, oldest first; what is no entry is told by who reads the log."""
        came = []
        for path in self._names(self._root):
            with contextlib.suppress(OSError, InputError):
                came.append(LoggedEntry(path.stem, entry_of(path)))
                self._known.add(path.name)
        return sorted(came, key=lambda logged: (logged.entry.time, logged.id))

    def _names(self, folder: Path) -> list[Path]:
        try:
            changed = folder.stat().st_mtime_ns
            found, inside = [], self._looked.get(folder, (0, []))[1]
            if self._looked.get(folder, (0, []))[0] != changed:
                # names alone, one by one: 10,000 take 4 ms to list, and a path or another set of them as much again
                names = list(filterfalse(self._known.__contains__, os.listdir(folder)))  # noqa: PTH208
                found = [folder / name for name in names if name.endswith(".yaml") and name[0] != "."]
                inside = [folder / name for name in names if "." not in name and (folder / name).is_dir()]
                self._looked[folder] = (changed if time.time_ns() - changed > _SETTLED_NS else 0, inside)
        except OSError:
            return []
        return found + [path for one in inside for path in self._names(one)]
