"""Whether an answer that names an option or a number gives it, or denies, excludes or only asks about it."""

from __future__ import annotations

import re
from functools import lru_cache

from evallib.checks.clauses import read_clauses
from evallib.checks.folding import Folded
from evallib.checks.negation import cues, denied_after, without_idioms

__all__ = ["Denials"]

_BETWEEN = (
    r"be|been|being|is|are|was|were|'s|'re|would|could|can|should|might|may|must|equals?|equal|the|an?|to|of|it|its|that|"
    r"this|think|believe|say|said|mean|claim|choose|pick|select|go|with|take|recommend|support|favou?r|suggest|prefer|"
    r"option|choice|letter|answer|number|value|total|result|sum|count|solution|correct|right|best|exactly|about|around|"
    r"approximately|roughly|even|just|simply|necessarily|really|likely|probably|either|both|and|or|nor|as|for|on|at"
)
_WORDS = re.compile(rf"(?:\b(?:{_BETWEEN})\b|[\W_])*")
"""What may stand between a negation and what it denies."""
_EXCLUDES = re.compile(
    r"\b(?:except(?: for)?|other than|apart from|besides|excluding|doubt(?:s|ed)?|unlikely|rul(?:e|es|ed|ing) out|"
    r"eliminat\w+|discard\w*|reject\w*|exclud\w+|avoid\w*|dismiss\w*|cross(?:ed|es|ing)? out|far from|anything but|"
    r"everything but|all but|wrong to|mistake to)\b"
)
_MAY_DENY = re.compile(
    r"n't\b|\bn(?:ot|o|or|one|ever|either)\b|\bcannot\b|\?|\b(?:but|except|other|apart|besides|doubt|unlikely|rul|elimin|"
    r"discard|reject|exclud|avoid|dismiss|cross|far from|instead|rather|wrong|incorrect|false|out|mistake|skip|"
    r"(?:do|ca|wo|is|does|was|should|would)nt\b)|\b(?:too|beware|bad|bogus|nonsense)\b"
)
_CONFIRMED = re.compile(r"[\s\"'*_`)]*(?:yes|yep|yeah|right|correct|indeed|exactly|sure|certainly|definitely)\b")
_TAG = re.compile(r",\s*(?:right|ok(?:ay)?|correct|yes|no|isn't it|is it not)[\s*_`\"']*\Z")
_FURTHEST = 80
"""Characters between a negation and what it denies."""


class Denials:
    """What a text takes back of what it names; `joined` is a pattern for other things of the same sort."""

    def __init__(self, raw: str, folded: Folded, joined: str) -> None:
        self._reading = read_clauses(raw, folded) if _MAY_DENY.search(folded.text) else None
        self._more = re.compile(rf"(?:[\s*_`\"'(),/&]|\b(?:and|or|nor|both)\b|(?<!\w)(?:{joined})(?!\w))*")

    def takes_back(self, start: int, end: int) -> bool:
        """Whether what stands from `start` to `end` of the folded text is denied, excluded or only asked about."""
        if self._reading is None:
            return False
        text, clause = self._reading.text, self._reading.at(start)
        if clause.carried or (clause.asked and self._only_asks(end)):
            return True
        place = start - clause.start
        if any(self._reaches(clause.text, stop, place) for stop in _denying(clause.text)):
            return True
        rest = self._more.match(text, end, end + _FURTHEST)
        at = rest.end() if rest else end
        return denied_after(f" {text[at : at + _FURTHEST]}", nominal=True, at_once=True)

    def _reaches(self, clause: str, stop: int, place: int) -> bool:
        if not 0 <= place - stop <= _FURTHEST:
            return False
        gap = clause[stop:place]
        at = 0
        while at < len(gap):
            hit = self._more.match(gap, at)
            other = _WORDS.match(gap, hit.end() if hit else at)
            reached = other.end() if other else at
            if reached == at:
                return False
            at = reached
        return True

    def _only_asks(self, end: int) -> bool:
        """Whether the question around is left open: no "yes" after it, no mere "right?" at its end."""
        text = self._reading.text if self._reading else ""
        mark = text.find("?", end)
        return mark >= 0 and not (_TAG.search(text[end:mark][-_FURTHEST:]) or _CONFIRMED.match(text, mark + 1))


@lru_cache(maxsize=1024)
def _denying(clause: str) -> tuple[int, ...]:
    """Where the words of a clause end that deny or exclude what follows them."""
    plain = without_idioms(clause)
    return tuple(cue.end for cue in cues(plain)) + tuple(hit.end() for hit in _EXCLUDES.finditer(plain))
