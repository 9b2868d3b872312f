"""Texts made comparable: case, Unicode spellings of dashes, quotes and blanks, with the way back to the original."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise

__all__ = ["LETTER", "UNSEEN", "Folded", "compose", "composed", "composed_span", "fold", "joins", "merged", "shown"]

_DASHES = "\u2010\u2011\u2012\u2013\u2212\ufe58\ufe63\uff0d"  # not the em dash: it parts clauses
_SINGLE = "\u2018\u2019\u201a\u201b\u02bc\u02b9\u2032\uff07"
_DOUBLE = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\uff02"
_BLANKS = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_WIDE = {chr(0xFF01 + nth): chr(0x21 + nth) for nth in range(94)}
"""Full-width forms of ASCII, as East Asian keyboards give them."""
# Format characters (soft hyphen, zero widths, direction marks, tags), variation selectors, fillers, controls.
UNSEEN = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Members of a character class: what shows nothing, beside blanks."""
_JOINERS = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_RUNS_ON = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, kana, Hangul, Han: what is written there stands beside a name without a blank."""
LETTER = rf"[^\W_{_RUNS_ON}]"
"""A letter or digit that makes what it touches one word."""
_TOUCHING = re.compile(LETTER)
_SPELLINGS = str.maketrans(
    {
        **_WIDE,
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_SINGLE, "'"),
        **dict.fromkeys(_DOUBLE, '"'),
        **dict.fromkeys(_BLANKS, " "),
        **dict.fromkeys(_JOINERS, None),
    }
)


@dataclass(frozen=True, slots=True)
class Folded:
    """A text folded for comparison, and where each of its characters came from."""

    text: str
    origin: tuple[int, ...] | None = None
    """Per character, and once for the end, its position in the original; None when nothing moved."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that folds to `start` to `end`."""
        if self.origin is None:
            return start, end
        return self.origin[start], max(self.origin[end], self.origin[start])


def fold(text: str, *, lower: bool = True) -> Folded:
    """`text` in lower case, composed (NFC), with plain dashes, quotes, blanks and widths, without unseen characters."""
    if text.isascii():
        return Folded(text.lower() if lower else text)
    if unicodedata.is_normalized("NFC", text):
        plain = _spelled(text, lower=lower)
        if len(plain) == len(text):  # nothing moved
            return Folded(plain)
    pieces = _clusters(text)
    folded = [_spelled(compose(piece), lower=lower) for piece in pieces]
    starts = (0, *accumulate(len(piece) for piece in pieces))
    origin = [starts[nth] for nth, piece in enumerate(folded) for _ in piece]
    return Folded("".join(folded), (*origin, len(text)))


def composed(text: str) -> Folded:
    """`text` composed (NFC) and otherwise as it is."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return Folded(text)
    pieces = _clusters(text)
    starts = (0, *accumulate(len(piece) for piece in pieces))
    made = [compose(piece) for piece in pieces]
    origin = [starts[nth] for nth, piece in enumerate(made) for _ in piece]
    return Folded("".join(made), (*origin, len(text)))


def _spelled(text: str, *, lower: bool) -> str:
    plain = text.translate(_SPELLINGS)
    # A sigma is lowered by its place in the word; one form, so that a piece is spelt like the whole.
    return plain.lower().replace("\u03c2", "\u03c3") if lower else plain


def joins(character: str) -> bool:
    """Whether a character is a letter or digit that makes what it touches one word; False of none."""
    return character.isalnum() and (character.isascii() or _TOUCHING.match(character) is not None)


def compose(text: str) -> str:
    """`text` with every composed character as one code point (NFC)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def composed_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of `text` that composes to the code points `start` to `end` of its NFC form."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return start, end
    pieces = _clusters(text)
    starts = (0, *accumulate(len(piece) for piece in pieces))
    composed = (0, *accumulate(len(compose(piece)) for piece in pieces))
    first = starts[min(bisect_right(composed, start) - 1, len(pieces))]
    if end <= start:
        return first, first
    return first, starts[bisect_right(composed, end - 1)]


def _clusters(text: str) -> list[str]:
    """`text` cut before every character that no composition joins to the one before it."""
    # Hangul vowels and final consonants compose too, though they count as no combining characters.
    joined = (place and (unicodedata.combining(c) or "\u1161" <= c <= "\u11c2") for place, c in enumerate(text))
    starts = [place for place, joins in enumerate(joined) if not joins]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def merged(spans: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """The spans in order, those that overlap made one, as start, end, start, end, ..."""
    flat: list[int] = []
    for start, end in sorted(spans):
        if flat and start < flat[-1]:
            flat[-1] = max(flat[-1], end)
        else:
            flat += (start, end)
    return tuple(flat)


def shown(text: str, limit: int = 80) -> str:
    """`text` on one line in quotes, cut in the middle beyond `limit`; what no file can hold is spelled out."""
    line = " ".join(text.split())
    if len(line) > limit:
        half = (limit - 5) // 2
        line = f"{line[:half]} ... {line[-half:]}"
    line = line.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
    return f'"{line}"'
