"""Who reads: one spelling of a person's name, wherever it is typed."""

from __future__ import annotations

import re
import unicodedata

from evallib.checks.folding import UNSEEN
from evallib.errors import InputError

__all__ = ["reviewer_name"]

_UNSEEN = re.compile(f"[{UNSEEN}]")


def reviewer_name(typed: str) -> str:
    """The name as every entry has it: composed (NFC), single blanks between its words.

    Two spellings that look the same would be two people. InputError when it is empty, or holds a character that shows
    nothing, or bytes that are no UTF-8.
    """
    name = " ".join(unicodedata.normalize("NFC", typed).split())
    if not name:
        raise InputError("an entry needs the person who says it; give --by")
    for character in name:
        if _UNSEEN.match(character) or not character.isprintable():
            raise InputError(
                f"the name {typed!a} holds U+{ord(character):04X}, which shows nothing; give --by without it"
            )
    return name
