"""What a reviewer has half said, and where they were: kept beside the log, never part of it, never in git."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evallib.records import digest
from evallib.store.files import disk_errors

__all__ = ["Drafts"]


class Drafts:
    """Small JSON objects under `adjudications/.drafts`, one file each, replaced whole.

    A draft that cannot be read counts as none: it is a convenience, and the log does not depend on it.
    """

    def __init__(self, adjudications: Path) -> None:
        self._folder = adjudications / ".drafts"

    def _path(self, name: tuple[object, ...]) -> Path:
        return self._folder / f"{digest(list(name), 24)}.json"

    def keep(self, name: tuple[object, ...], draft: Mapping[str, Any]) -> None:
        """Put `draft` in the place of what was kept under `name`, whole or not at all."""
        path = self._path(name)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        with disk_errors(path):
            self._folder.mkdir(parents=True, exist_ok=True)
            ignoring = self._folder / ".gitignore"
            if not ignoring.exists():
                ignoring.write_text("*\n", encoding="utf-8")
            try:
                temporary.write_text(json.dumps(dict(draft), ensure_ascii=True), encoding="utf-8")
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)

    def read(self, name: tuple[object, ...]) -> dict[str, Any]:
        """What is kept under `name`; empty when there is nothing."""
        with contextlib.suppress(OSError, ValueError, RecursionError):
            found = json.loads(self._path(name).read_text(encoding="utf-8"))
            if isinstance(found, dict):
                return found
        return {}

    def drop(self, name: tuple[object, ...]) -> None:
        """Forget what is kept under `name`."""
        with contextlib.suppress(OSError):
            self._path(name).unlink(missing_ok=True)
