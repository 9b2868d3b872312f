"""What goes to standard output: lines for a person, or one JSON object and nothing else."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable
from typing import Any

__all__ = ["counted", "percent", "print_json", "print_lines", "visible"]

_HIDDEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
"""Unicode categories that show nothing or move what is shown: control, format, private, surrogate, separators."""


def visible(text: str) -> str:
    """The text with every character named that would hide, reorder or command; line breaks and tabs stay."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in _HIDDEN else f"⟨U+{ord(c):04X}⟩" for c in text)


def print_json(value: Any) -> None:
    """One JSON object; where the output's encoding is not UTF-8, in ASCII, which JSON can always be."""
    unicode = (sys.stdout.encoding or "").lower().replace("_", "-") in {"utf-8", "utf8"}
    print(json.dumps(value, indent=1, ensure_ascii=not unicode, allow_nan=False))


def print_lines(lines: Iterable[str]) -> None:
    """Lines for a terminal: names in them may come from anywhere."""
    for line in lines:
        print(visible(line))


def counted(count: int, one: str, more: str = "") -> str:
    """A count with its noun in words, as in `1 case` or `3 passes`; `more` where it is not `one` and an s."""
    return f"{count} {one if count == 1 else more or one + 's'}"


def percent(share: float, digits: int = 1) -> str:
    """A share in words, as in `87.5 %`."""
    return f"{100 * share:.{digits}f} %"
