"""Calibration records under `data/calibrations/`: one JSON file each, named by what was measured, never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evallib.errors import InputError
from evallib.store.files import files_below, write_new

__all__ = ["known_calibrations", "save_calibration"]


def save_calibration(data: Path, record: Mapping[str, Any]) -> Path:
    """Keep the record under its id; the same labels, verdicts and judge are the same record, which stays as it is."""
    path = data / "calibrations" / f"{record['id']}.json"
    if not path.exists():
        write_new(path, (json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
    return path


def known_calibrations(data: Path) -> dict[tuple[str, str], str]:
    """(judge model, prompt digest) to the id of the record with most items that measured them."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for path in files_below(data / "calibrations", ".json"):
        try:
            record = json.loads(path.read_bytes())
            by, size = record["by"], (int(record["n"]), str(record["id"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: is no calibration record; restore or remove it") from error
        if by.get("model") and by.get("prompt"):
            key = (str(by["model"]), str(by["prompt"]))
            found[key] = max(size, found.get(key, size))
    return {key: name for key, (_, name) in found.items()}
