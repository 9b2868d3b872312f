"""Patterns of two word lists with counted characters between them, searched for without RE2.

RE2 keeps a state for every place where such a gap may have begun: `(add|fix).{0,80}(tag|image)` took it half of the
time of all text checks. Where both sides are plain words in ASCII, finding the words and counting is exact and shorter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

__all__ = ["LONGEST", "WordGap", "word_gap"]

_WORDS = r"[A-Za-z0-9 _/-]{1,30}"
_SIDE = rf"\({_WORDS}(?:\|{_WORDS})*\)|{_WORDS}"
_GAP = re.compile(rf"({_SIDE})\.\{{(\d{{1,3}}),(\d{{1,3}})\}}({_SIDE})")
LONGEST = 20_000
"""Characters of a text that is searched in this way; in a longer one RE2's time grows with the length alone."""


class WordGap(NamedTuple):
    """One of `before`, `least` to `most` characters, one of `after`; words in lower case, in the order written."""

    before: tuple[str, ...]
    least: int
    most: int
    after: tuple[str, ...]

    def first(self, text: str) -> tuple[int, int] | None:
        """Start and length of the hit that RE2 would give in `text`, which is in lower case; None where there is none.

        That is the leftmost start; there the first word before a gap that leads to any word, the longest such gap, and
        the first word behind it (as Perl does, and RE2 unless told otherwise).
        """
        for start, _, word in sorted(self._starts(text)):
            low, high = start + len(word) + self.least, start + len(word) + self.most
            places = [text.rfind(other, low, high + len(other)) for other in self.after]
            place = max(places)
            if place >= 0:
                return start, place + len(self.after[places.index(place)]) - start
        return None

    def _starts(self, text: str) -> Iterator[tuple[int, int, str]]:
        for order, word in enumerate(self.before):
            start = text.find(word)
            while start >= 0:
                yield start, order, word
                start = text.find(word, start + 1)


@lru_cache(maxsize=4096)
def word_gap(pattern: str, flags: str) -> WordGap | None:
    """`pattern` under RE2 `flags` as a gap between words; None where it is anything else."""
    found = _GAP.fullmatch(pattern)
    if not found or not {"i", "s"} <= set(flags) or int(found[2]) > int(found[3]):
        return None
    before, after = (tuple(found[side].strip("()").lower().split("|")) for side in (1, 4))
    return WordGap(before, int(found[2]), int(found[3]), after)
