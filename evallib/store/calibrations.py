"""Calibration records under `data/calibrations/`: one JSON file each, named by what was measured, never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evallib.errors import InputError
from evallib.store.files import files_below, write_new

__all__ = ["judge_key", "known_calibrations", "read_calibrations", "save_calibration"]


def save_calibration(data: Path, record: Mapping[str, Any]) -> Path:
    """Keep the record under its id; the same labels, verdicts and judge are the same record, which stays as it is."""
    path = data / "calibrations" / f"{record['id']}.json"
    if not path.exists():
        write_new(path, (json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
    return path


def judge_key(identity: Mapping[str, Any]) -> tuple[str, str, str]:
    """What makes a judge the one that was measured: model, prompt digest, and the endpoint or script that answers."""
    return str(identity.get("model", "")), str(identity.get("prompt", "")), str(_origin(identity))


def _origin(identity: Mapping[str, Any]) -> Any:
    return identity.get("url") or identity.get("script_digest") or ""


def read_calibrations(data: Path) -> list[dict[str, Any]]:
    """Every stored record, the largest first; InputError for a file that is none."""
    found = []
    for path in files_below(data / "calibrations", ".json"):
        try:
            record = json.loads(path.read_bytes())
            found.append((-int(record["n"]), str(record["id"]), {**record, "by": dict(record["by"])}))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: is no calibration record; restore or remove it") from error
    return [record for _, _, record in sorted(found, key=lambda one: one[:2])]


def known_calibrations(data: Path) -> dict[tuple[str, str, str], str]:
    """Judge (see `judge_key`) to the id of the record with most items that measured it."""
    found: dict[tuple[str, str, str], tuple[int, str]] = {}
    for record in read_calibrations(data):
        by, size = record["by"], (int(record["n"]), str(record["id"]))
        if by.get("model") and by.get("prompt"):
            key = judge_key(by)
            found[key] = max(size, found.get(key, size))
    return {key: name for key, (_, name) in found.items()}
