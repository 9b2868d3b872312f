"""Where a text gives a value away, however it is split: blanks, line breaks, unseen characters, other Unicode forms."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from evallib.checks.folding import UNSEEN, Folded, compose, composed

__all__ = ["exposures", "squeezed"]

_DROPPED = re.compile(rf"[\s{UNSEEN}]+")
_UNSEEN_ONLY = re.compile(f"[{UNSEEN}]+")
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d", "-"))


def squeezed(text: str) -> str:
    """`text` without blanks and unseen characters, composed (NFC), every dash a hyphen."""
    return compose(_DROPPED.sub("", text).translate(_DASHES))


def exposures(text: str, value: str, *, ignore_case: bool = False) -> Iterator[tuple[int, int]]:
    """The spans of `text` that give `value` away, also as part of something longer.

    Blanks that the value does not have may split it, or be missing. A value of letters and digits alone is then only
    found where no other letter or digit touches it: "music at" does not give "cat" away, "c at" does.
    """
    wanted = squeezed(value)
    if not wanted:
        return
    folded, starts = _bare(text)
    plain, words = wanted.isalnum(), _words(value)
    pattern = re.compile(re.escape(wanted), re.IGNORECASE if ignore_case else 0)
    hit = pattern.search(folded.text)
    while hit:
        first, last = folded.span(*hit.span())
        start, end = _original(starts, first), _original(starts, last - 1) + 1
        touched = text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()
        counts = not (plain and touched) or _words(text[start:end]) == words
        if counts:
            yield start, end
        # one that does not count may overlap one that does
        hit = pattern.search(folded.text, hit.end() if counts else hit.start() + 1)


@lru_cache(maxsize=4)
def _bare(text: str) -> tuple[Folded, list[tuple[int, int]]]:
    """`text` without what is dropped, composed; and where each piece of it begins: before composing, and in `text`."""
    pieces, starts, length, at = [], [], 0, 0
    for hit in (*_DROPPED.finditer(text), None):
        piece = text[at : hit.start() if hit else len(text)]
        if piece:
            starts.append((length, at))
            pieces.append(piece)
            length += len(piece)
        at = hit.end() if hit else at
    return composed("".join(pieces).translate(_DASHES)), starts


def _original(starts: list[tuple[int, int]], at: int) -> int:
    there, here = starts[bisect_right(starts, at, key=lambda one: one[0]) - 1]
    return here + at - there


def _words(text: str) -> list[int]:
    """How many seen characters stand between the blanks of `text`."""
    return [len(compose(word)) for word in _UNSEEN_ONLY.sub("", text).split()]
