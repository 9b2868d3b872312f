"""What goes to standard output: lines for a person, or one JSON object and nothing else."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

__all__ = ["print_json", "print_lines"]


def print_json(value: Any) -> None:
    """One JSON object; where the output's encoding is not UTF-8, in ASCII, which JSON can always be."""
    unicode = (sys.stdout.encoding or "").lower().replace("_", "-") in {"utf-8", "utf8"}
    print(json.dumps(value, indent=1, ensure_ascii=not unicode, allow_nan=False))


def print_lines(lines: Iterable[str]) -> None:
    """Lines as they are."""
    for line in lines:
        print(line)
