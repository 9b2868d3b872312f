"""Entities of a declared vocabulary found in text: names as whole words, ids by pattern, ambiguous words by wording."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from evallib.checks.folding import LETTER, fold, joins
from evallib.domain import EntityKind
from evallib.patterns import places, ungrouped

__all__ = ["Entity", "Lexicon", "Mention"]

_QUOTES = "[\"'`*_]*"
_STATES = (
    r"up(?! to)|down|degraded|healthy|unhealthy|fail(?:ing|ed)|slow|available|unavailable|offline|online|affected|"
    r"impacted|broken|overloaded|saturated|throttled|(?:un)?responsive|operational|running|stopped|restart(?:ed|ing)|"
    r"recover(?:ing|ed)|(?:un)?stable|flapping|crash(?:ing|ed)|erroring|timing out|out of memory|unreachable|reachable|"
    r"blocked|stuck|lagging|impaired|disrupted|restored|active|inactive|disabled|enabled|open|closed|resolved|ok|okay"
)
_SYMPTOMS = (
    r"errors?|latency|failures?|timeouts?|outages?|incidents?|crashes|problems?|issues?|alerts?|downtime|backlogs?|"
    r"queues?|load|traffic|lag|throughput"
)
_BE = r"(?:is|was|are|were|remain(?:s|ed)|stay(?:s|ed)|appear(?:s|ed)|look(?:s|ed)|seem(?:s|ed)|went|goes|became)"
_HAVE = (
    r"(?:has|had|have|reports?|reported|shows?|showed|sees|saw|suffers?|suffered|experienc(?:es|ed)|hit|hits"
    r"|(?:is|are|was|were)\s(?:\w+\s)?(?:having|reporting|showing|seeing|suffering|experiencing|hitting))"
)
_CELL = r"(?=[^\S\n]*(?:[|,.;)\n]|\Z))"
"""What follows a word that is all of a cell, or of what stands after a colon."""


class Entity(NamedTuple):
    """One entity: its kind in the vocabulary, and its name in folded spelling."""

    kind: str
    name: str


class Mention(NamedTuple):
    """Where folded text names an entity."""

    entity: Entity
    start: int
    end: int


class Lexicon:
    """A vocabulary made ready to be looked for in folded text.

    A name is not found inside a longer one (billing is not in billing-archive). An id found by pattern may be followed
    by a hyphen and a word (INC-7-related), not by a digit. An ambiguous name counts only where the wording claims the
    entity: beside the word for its kind ("cache service", "service: cache"), with a state ("cache is down", "is cache
    down"), with a symptom ("cache had errors"), or as a whole value of its own, as in `{"service": "cache"}`.
    """

    def __init__(self, vocabulary: Mapping[str, EntityKind]) -> None:
        self.kinds = dict(vocabulary)
        self.reserved = {Entity(kind, _name(one)) for kind, entry in vocabulary.items() for one in entry.reserved}
        self._named: dict[str, list[Entity]] = {}
        for kind, entry in vocabulary.items():
            for name in (*entry.names, *entry.reserved):
                self._named.setdefault(_name(name), []).append(Entity(kind, _name(name)))
        self._ambiguous = {kind: tuple(map(_name, entry.ambiguous)) for kind, entry in vocabulary.items()}
        self._names = {kind: _names(entry) for kind, entry in vocabulary.items()}
        self._ids = {
            kind: rf"(?i:\b(?:{ungrouped(entry.pattern)})\b)" for kind, entry in vocabulary.items() if entry.pattern
        }

    def find(self, text: str) -> list[Mention]:
        """Every mention in folded `text`, in order."""
        found = [mention for kind in self.kinds for mention in self._of_kind(kind, text)]
        return sorted(set(found), key=lambda one: (one.start, -one.end, one.entity))

    def named(self, text: str) -> list[Entity]:
        """The entities whose name is all of folded `text`, ambiguous ones too."""
        name = " ".join(text.split())
        return self._named.get(name, [])

    def _of_kind(self, kind: str, text: str) -> Iterator[Mention]:
        ambiguous = self._ambiguous[kind]
        loose = kind in self._ids
        found = _whole_names(self._names[kind], text, loose=loose)
        # Ids are looked for by themselves: a name that an id goes on from (LB-2 in LB-20) must not hide it.
        found += [hit for hit in places(self._ids[kind], text) if _is_whole(text, *hit, loose=True)] if loose else []
        for start, end in _outermost(found):
            name = " ".join(text[start:end].split())
            if name not in ambiguous:
                yield Mention(Entity(kind, name), start, end)
        for start, end in _claimed(kind, ambiguous, text) if ambiguous else ():
            yield Mention(Entity(kind, " ".join(text[start:end].split())), start, end)


def _name(name: str) -> str:
    return " ".join(fold(name).text.split())


def _names(kind: EntityKind) -> tuple[str, ...]:
    """The names of a kind to look for, longest first; ambiguous names are looked for by their wording."""
    ambiguous = set(map(_name, kind.ambiguous))
    names = {_name(one) for one in (*kind.names, *kind.reserved)} - ambiguous
    return tuple(sorted(names, key=lambda one: (-len(one), one)))


def _whole_names(names: tuple[str, ...], text: str, *, loose: bool) -> list[tuple[int, int]]:
    """Where folded `text` holds one of `names` as a whole."""
    if not names:
        return []
    hits = places(f"(?i:{'|'.join(_spaced(name, _escaped) for name in names)})", text)
    if all(_is_whole(text, *hit, loose=loose) for hit in hits):
        return hits
    # What is no whole name may hide one: "desk lamp" in "desk lamps" hides "desk". This asks of each alternative.
    return [hit.span() for hit in _bounded(names, loose=loose).finditer(text)]


@lru_cache(maxsize=256)
def _bounded(names: tuple[str, ...], *, loose: bool) -> re.Pattern[str]:
    """The same question as `_is_whole`, asked inside the search."""
    before = rf"(?<!{LETTER})(?<!{LETTER}_)" + ("" if loose else rf"(?<!{LETTER}-)")
    after = rf"(?!{LETTER})(?!_{LETTER})" + (r"(?!-\d)" if loose else rf"(?!-{LETTER})")
    parts = [
        (before if joins(name[0]) else "") + _spaced(name, re.escape) + (after if joins(name[-1]) else "")
        for name in names
    ]
    return re.compile("|".join(parts))


def _spaced(name: str, escaped: Callable[[str], str]) -> str:
    return r"\s+".join(map(escaped, name.split()))


def _outermost(hits: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The hits that stand in no other: an id in a longer name is that name, and the other way round."""
    reach = -1
    for start, end in sorted(set(hits), key=lambda hit: (hit[0], -hit[1])):
        if end > reach:
            yield start, end
            reach = end


def _escaped(word: str) -> str:
    """`word` for RE2, which takes a backslash before punctuation only."""
    return re.sub(r"[^\w]", lambda hit: f"\\{hit[0]}" if hit[0].isascii() else hit[0], word)


def _is_whole(text: str, start: int, end: int, *, loose: bool) -> bool:
    """Whether what stands around `start` to `end` does not make it part of a longer name."""
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    if joins(text[start]) and before:
        inside = joins(before[-1]) or (before[-1] == "_" and len(before) > 1 and joins(before[0]))
        if inside or (before[-1] == "-" and not loose and len(before) > 1 and joins(before[0])):
            return False
    if not joins(text[end - 1]) or not after:
        return True
    if joins(after[0]) or (after[0] == "_" and joins(after[1:])):
        return False
    return not (after[0] == "-" and (after[1:].isdigit() or (not loose and joins(after[1:]))))


def _claimed(kind: str, ambiguous: tuple[str, ...], text: str) -> Iterable[tuple[int, int]]:
    """Where the wording claims one of the ambiguous names to be an entity of this kind."""
    if not any(name in text for name in ambiguous):
        return set()
    found = {hit.span("name") for pattern in _claims(kind, ambiguous) for hit in pattern.finditer(text)}
    return [(start, end) for start, end in found if _is_whole(text, start, end, loose=False)]


@lru_cache(maxsize=256)
def _claims(kind: str, ambiguous: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    noun = r"[\s_-]".join(map(re.escape, re.split(r"[\s_-]+", kind.lower())))
    words = (r"\s+".join(map(re.escape, name.split())) for name in sorted(ambiguous, key=len, reverse=True))
    name = f"(?P<name>{'|'.join(words)})"
    also = r"(?:(?:,|,? and|,? or) (?:the )?[\w-]+){0,4}"
    return tuple(
        re.compile(pattern)
        for pattern in (
            rf"\b{name}{_QUOTES}{also}\s{_QUOTES}{noun}s?\b",
            rf"\b{noun}s?{_QUOTES}\s?(?:named|called|known as|[:=])?\s?[\"'`*_(\[]*{name}\b",
            rf"\b{noun}s{_QUOTES}\s?[:=]\s?(?:[\w\"'`*_-]+(?:,|,? and|,? or)\s){{1,9}}{_QUOTES}{name}\b",
            rf"\b{name}{_QUOTES}\s(?:{_BE}(?:n't)?|(?:has|had)(?:n't)? been)(?:\s\w+){{0,2}}\s(?:{_STATES})\b",
            rf"\b{name}{_QUOTES}\s?[:|=]\s?{_QUOTES}(?:{_STATES}|{_SYMPTOMS})\b{_QUOTES}{_CELL}",
            rf"\b(?:is|was|has|did|does)\s(?:the\s)?{name}(?:\s\w+){{0,2}}\s(?:{_STATES}|{_SYMPTOMS})\b",
            rf"\b{name}{_QUOTES}\s{_HAVE}(?:\s\w+){{0,2}}\s(?:{_SYMPTOMS})\b",
        )
    )
