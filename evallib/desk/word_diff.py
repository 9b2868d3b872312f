"""Two texts side by side, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

__all__ = ["Piece", "nearest", "word_diff"]

_MOST_WORDS = 2000
"""Of one text; what follows is compared as one piece, because the comparison grows with the square of the words."""


class Piece(NamedTuple):
    """A stretch of words that both texts have, or only one of them."""

    op: Literal["same", "less", "more"]
    """`less`: only the first text has it; `more`: only the second."""
    text: str


def _words(text: str) -> list[str]:
    words = re.findall(r"\w+|\s+|[^\w\s]", text)
    return [*words[:_MOST_WORDS], *(["".join(words[_MOST_WORDS:])] if len(words) > _MOST_WORDS else [])]


def nearest(text: str, others: Iterable[str]) -> str | None:
    """The one of `others` that shares most words with `text`, the first of equals; None when there are none."""
    mine = _words(text)
    matcher: SequenceMatcher[str] = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(mine)
    best, most = None, -1.0
    for other in dict.fromkeys(others):
        matcher.set_seq1(_words(other))
        if (ratio := matcher.quick_ratio()) > most:
            best, most = other, ratio
    return best


def word_diff(first: str, second: str) -> tuple[Piece, ...]:
    """What makes `second` of `first`: what both have, what is gone, what came, in reading order."""
    before, after = _words(first), _words(second)
    pieces: list[Piece] = []
    for op, i, j, m, n in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if op == "equal":
            pieces.append(Piece("same", "".join(before[i:j])))
            continue
        pieces += [Piece("less", "".join(before[i:j]))] if i < j else []
        pieces += [Piece("more", "".join(after[m:n]))] if m < n else []
    return tuple(pieces)
