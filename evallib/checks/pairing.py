"""Which entities a text puts together: an incident and its severity in one sentence, or one under the other."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from evallib.checks.outline import outline
from evallib.checks.vocabulary import Entity, Mention

__all__ = ["Pair", "pairs_in_text"]

Pair = tuple[Entity, Entity]
_JOIN = re.compile(r"[\s*_`\"'()\[\]]*(?:(?:,|and|or|&|/|\+|as well as|both|also|the)[\s*_`\"'()\[\]]*)*")
_MARKS = r"[\s*_`\"'(]+"
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[\n;\u2014]")

_SO_IS = re.compile(
    r"\b(?:(?:so|as) (?:is|are|was|were|does|do|has|have|had)|the same (?:is true|goes|holds) (?:of|for))[\s*_`\"']*"
    r"(?:the )?\Z"
)
"""What says of one thing that it is as the one before it."""
_NEAR = 50
"""How many mentions away in one sentence an owner is looked for, so that reading stays linear."""
_DEEPEST = 20
"""How many labels up a list's owner is looked for."""


def pairs_in_text(
    text: str, mentions: Sequence[Mention], kinds: Sequence[tuple[str, str]]
) -> Iterator[tuple[Pair, Mention]]:
    """The pairs that folded `text` claims, sentence by sentence, each with the mention of its second entity.

    A sentence that goes on about the one entity before it ("It is SEV2", "Severity: SEV2") counts for that entity.
    """
    if not kinds or len(mentions) < 2:
        return
    starts = [0, *(hit.end() for hit in _SENTENCE.finditer(text))]
    parts = _told(text, mentions)
    for first, second in kinds:
        yield from _under(text, parts, first, second)
        heads = set(_heads(parts, second, first))
        speaks_on = re.compile(_SPEAKS_ON.format(first=_words(first), second=_words(second)))
        owners: list[Mention] = []
        grouped = groupby(
            (m for m in mentions if m.entity.kind in (first, second)), key=lambda m: bisect_right(starts, m.start) - 1
        )
        for nth, sentence in ((nth, list(group)) for nth, group in grouped):
            here = [one for one in sentence if one.entity.kind == first]
            if here:
                owners = here
                yield from _in_sentence(text, sentence, first)
            elif sentence[0].start in heads:
                owners = []  # "Severity SEV1:" over incidents speaks of those
            elif len({one.entity for one in owners}) == 1 and speaks_on.match(text, starts[nth]):
                yield from (((owners[0].entity, one.entity), one) for one in sentence)


@dataclass(frozen=True, slots=True)
class _Part:
    """A line or cell with the mentions in it, and the number of the one it stands under."""

    mentions: list[Mention]
    kinds: frozenset[str]
    above: int
    terse: bool

    def only(self, kind: str, other: str) -> list[Mention]:
        """Its mentions of `kind`; none where it names the other kind too."""
        if kind not in self.kinds or other in self.kinds:
            return []
        return [one for one in self.mentions if one.entity.kind == kind]


def _told(text: str, mentions: Sequence[Mention]) -> list[_Part]:
    if "\n" not in text:
        return []
    parts = outline(text)
    starts = [part.start for part in parts]
    held: list[list[Mention]] = [[] for _ in parts]
    for mention in mentions:
        held[bisect_right(starts, mention.start) - 1].append(mention)
    return [
        _Part(inside, frozenset(one.entity.kind for one in inside), part.above, part.terse)
        for inside, part in zip(held, parts, strict=True)
    ]


def _under(text: str, parts: Sequence[_Part], first: str, second: str) -> Iterator[tuple[Pair, Mention]]:
    """Each entity with that of the other kind which it is listed under: a severity's incidents, or the reverse."""
    for kind, other in ((first, second), (second, first)):
        labels: dict[int, list[Mention]] = {}
        for part in parts:
            here = part.only(kind, other) if part.terse else []
            head = _head(parts, part, kind, other) if here else -1
            if head >= 0 and head not in labels:
                owners = parts[head].only(other, kind)
                # A sentence about several is no label for them.
                labels[head] = owners if len(owners) == len(_joined(text, owners[:_NEAR])) else []
            for owner in labels.get(head, ()):
                for one in here:
                    pair = (one.entity, owner.entity) if kind == first else (owner.entity, one.entity)
                    yield pair, one


def _heads(parts: Sequence[_Part], kind: str, other: str) -> Iterator[int]:
    """Where the first mention stands of each part that names `kind` alone and has `other` listed under it."""
    for head in {_head(parts, part, other, kind) for part in parts if part.only(other, kind)}:
        if head >= 0 and (named := parts[head].only(kind, other)):
            yield named[0].start


def _head(parts: Sequence[_Part], part: _Part, kind: str, other: str) -> int:
    """The nearest part above that names one of the two kinds; -1 where there is none."""
    above = part.above
    for _ in range(_DEEPEST):
        if above < 0 or kind in parts[above].kinds or other in parts[above].kinds:
            return above
        above = parts[above].above
    return -1


_SPEAKS_ON = r"[\W_\d]*(?:(?:it|its|this|that|which|the (?:same )?{first})\b|(?:the |its )?(?:\w+ )?{second}\b)"


def _words(kind: str) -> str:
    return re.escape(re.sub(r"[\s_-]+", " ", kind.lower()))


def _in_sentence(text: str, mentions: Sequence[Mention], first: str) -> Iterator[tuple[Pair, Mention]]:
    """Each second entity with the first ones before it, or after it where the sentence begins with a second one.

    As many second ones in a row as there are first ones belong to them in that order.
    """
    forward = mentions[0].entity.kind != first
    rows = [list(group) for _, group in groupby(mentions, key=lambda mention: mention.entity.kind == first)]
    in_order = {}
    for one, after in pairwise(rows):
        if 1 < len(one) == len(after) and all(len(_joined(text, row)) == len(row) for row in (one, after)):
            in_order.update({second.start: owner for owner, second in _by_kind(one, after, first)})
    for nth, mention in enumerate(mentions):
        if mention.entity.kind == first:
            continue
        if mention.start in in_order:
            yield (in_order[mention.start].entity, mention.entity), mention
            continue
        before = _joined(text, [m for m in mentions[max(nth - _NEAR, 0) : nth] if m.entity.kind == first][::-1])
        after = _joined(text, [m for m in mentions[nth : nth + _NEAR] if m.entity.kind == first])
        forth = forward or any(m in after and _is_title(text, mention, m) for m in mentions[nth + 1 : nth + 2])
        for owner in (after or before) if forth else before:
            yield (owner.entity, mention.entity), mention
    for told, like in pairwise(mentions):
        if told.entity.kind != first == like.entity.kind and _SO_IS.search(text, told.end, like.start):
            yield (like.entity, told.entity), told


def _is_title(text: str, second: Mention, owner: Mention) -> bool:
    """Whether `second` stands before `owner` as its title: "the SEV1 INC-1", "SEV1 incident INC-1"."""
    between = re.sub(_MARKS, " ", text[second.end : owner.start]).strip()
    if between:
        return re.fullmatch(rf"{_words(owner.entity.kind)}s?", between) is not None
    return re.search(rf"\b(?:the|an?){_MARKS}\Z", text[max(second.start - 20, 0) : second.start]) is not None


def _by_kind(one: list[Mention], after: list[Mention], first: str) -> Iterator[tuple[Mention, Mention]]:
    """Both rows item by item, the first kind first."""
    owners, owned = (one, after) if one[0].entity.kind == first else (after, one)
    yield from zip(owners, owned, strict=True)


def _joined(text: str, owners: Sequence[Mention]) -> list[Mention]:
    """The nearest of the owners, and those joined to it by "and" and the like."""
    kept = list(owners[:1])
    for one in owners[1:]:
        left, right = sorted((kept[-1], one), key=lambda mention: mention.start)
        if not _JOIN.fullmatch(text[left.end : right.start]):
            break
        kept.append(one)
    return kept
