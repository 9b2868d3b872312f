"""Which entities a text puts together: an incident and its severity in one sentence."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from evallib.checks.vocabulary import Entity, Mention

__all__ = ["Pair", "pairs_in_text"]

Pair = tuple[Entity, Entity]
_JOIN = re.compile(r"[\s*_`\"'()\[\]]*(?:(?:,|and|or|&|/|\+|as well as|both|also|the)[\s*_`\"'()\[\]]*)*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[\n;\u2014]")

_NEAR = 50
"""How many mentions away in one sentence an owner is looked for, so that reading stays linear."""


def pairs_in_text(
    text: str, mentions: Sequence[Mention], kinds: Sequence[tuple[str, str]]
) -> Iterator[tuple[Pair, Mention]]:
    """The pairs that folded `text` claims, sentence by sentence, each with the mention of its second entity.

    A sentence that goes on about the one entity before it ("It is SEV2", "Severity: SEV2") counts for that entity.
    """
    if not kinds or len(mentions) < 2:
        return
    starts = [0, *(hit.end() for hit in _SENTENCE.finditer(text))]
    for first, second in kinds:
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
            elif len({one.entity for one in owners}) == 1 and speaks_on.match(text, starts[nth]):
                yield from (((owners[0].entity, one.entity), one) for one in sentence)


_SPEAKS_ON = r"[\W_\d]*(?:(?:it|its|this|that|which|the (?:same )?{first})\b|(?:the |its )?(?:\w+ )?{second}\b)"


def _words(kind: str) -> str:
    return re.escape(re.sub(r"[\s_-]+", " ", kind.lower()))


def _in_sentence(text: str, mentions: Sequence[Mention], first: str) -> Iterator[tuple[Pair, Mention]]:
    """Each second entity with the first ones before it, or after it where the sentence begins with a second one."""
    forward = mentions[0].entity.kind != first
    for nth, mention in enumerate(mentions):
        if mention.entity.kind == first:
            continue
        before = _joined(text, [m for m in mentions[max(nth - _NEAR, 0) : nth] if m.entity.kind == first][::-1])
        after = _joined(text, [m for m in mentions[nth : nth + _NEAR] if m.entity.kind == first])
        for owner in (after or before) if forward else before:
            yield (owner.entity, mention.entity), mention


def _joined(text: str, owners: Sequence[Mention]) -> list[Mention]:
    """The nearest of the owners, and those joined to it by "and" and the like."""
    kept = list(owners[:1])
    for one in owners[1:]:
        left, right = sorted((kept[-1], one), key=lambda mention: mention.start)
        if not _JOIN.fullmatch(text[left.end : right.start]):
            break
        kept.append(one)
    return kept
