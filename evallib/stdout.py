"""What goes to standard output: lines for a person, or one JSON object and nothing else."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["counted", "percent", "print_json", "print_lines", "signed", "visible", "visible_each"]

_HIDDEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
"""Unicode categories that show nothing or move what is shown: control, format, private, surrogate, separators."""
_BLANK = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\u2800\U00016fe4\U0001d159]"
)
"""Default_Ignorable_Code_Point (Unicode 15.1, DerivedCoreProperties), then three more that are drawn as nothing."""
_PICTURE = "[\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
_EMOJI = re.compile(
    f"{_PICTURE}\ufe0f?[\U0001f3fb-\U0001f3ff]?(?:\u200d{_PICTURE}\ufe0f?[\U0001f3fb-\U0001f3ff]?)*|[0-9#*]\ufe0f\u20e3"
)
"""One emoji: what joins or styles its parts changes what is seen, and stays."""


def visible(text: str) -> str:
    """The text with every character named that would hide, reorder or command; line breaks, tabs and emoji stay."""
    return text if text.isprintable() and not _BLANK.search(text) else "".join(visible_each(text))


def visible_each(text: str) -> Iterator[str]:
    """What each character of the text is shown as in its place; the first of a two-character line break as nothing."""
    emoji = {at for found in _EMOJI.finditer(text) for at in range(*found.span())}
    for at, c in enumerate(text):
        if text.startswith("\r\n", at):
            yield ""
        elif c in "\n\t" or at in emoji or not (unicodedata.category(c) in _HIDDEN or _BLANK.match(c)):
            yield c
        else:
            yield f"⟨U+{ord(c):04X}⟩"


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


def signed(value: float) -> str:
    """A difference with its sign and three digits, or the first that is not 0; what is less than 1e-9 is none."""
    digits = 3
    while digits < 9 and not round(value, digits):
        digits += 1
    return f"{value:+.{digits}f}" if round(value, digits) else "0.000"


def percent(share: float, digits: int = 1) -> str:
    """A share in words, as in `87.5 %`."""
    return f"{100 * share:.{digits}f} %"
