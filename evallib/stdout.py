"""What goes to standard output: lines for a person, or one JSON object and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

__all__ = ["print_json", "print_lines"]


def print_json(value: Any) -> None:
    """One JSON object."""
    print(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def print_lines(lines: Iterable[str]) -> None:
    """Lines as they are."""
    for line in lines:
        print(line)
