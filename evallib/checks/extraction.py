"""What an answer finally says: thought parts taken out, and the place marked as the answer found."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from evallib.checks.folding import UNSEEN, Folded, fold
from evallib.checks.rendering import rendered

__all__ = ["NO_ANSWER", "Region", "Spoken", "is_blank", "marked_regions", "spoken", "unlabelled"]

NO_ANSWER = "no answer found"
"""Begins the reason where nothing could be read, which is not the same as a wrong answer."""

# A tag in backticks is spoken about, not used.
_TAG = re.compile(r"(?<!`)<(?P<close>/)?\s*(?:think|thinking|thought|reasoning)\s*>(?!`)", re.IGNORECASE)
_LABEL = re.compile(
    r"^[ \t>#*_`\-]*(?:(?:my|the|your|final|correct|right|best)[ \t]+)*(?:answer|choice|solution)"
    r"[*_`]*[ \t]*(?::|=|\bis\b:?)[*_`]*[ \t]*",
    re.MULTILINE,
)
_INLINE = re.compile(r"\b(?:final |correct |right |best )?answer(?: is|:)[*_`:]*\s+")
_HASHES = re.compile(r"^####[ \t]+", re.MULTILINE)
_BOXED = re.compile(r"\\boxed\s*\{")
_MOST_MARKS = 20
"""Of many marks the last are read: each is searched again, and two that differ are enough to be ambiguous."""
_VISIBLE = re.compile(rf"[^\s{UNSEEN}]")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")


@dataclass(frozen=True, slots=True)
class Spoken:
    """An answer without its thought parts, and the way back to the places in the answer."""

    text: str
    starts: tuple[int, ...] = (0,)
    """Where each kept piece begins in `text`."""
    offsets: tuple[int, ...] = (0,)
    """What to add to a place in that piece to find it in the answer."""
    problem: str = ""
    """Why there is no answer at all; `text` is empty then."""

    def folded(self) -> Folded:
        """The text folded for comparison; places in it go back to the answer through `span`."""
        return fold(self.text)

    def span(self, folded: Folded, start: int, end: int) -> tuple[int, int]:
        """The span of the answer that `start` to `end` of `folded`, a folding of this text, came from."""
        return self.place(*folded.span(start, end))

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The span of the answer that `start` to `end` of this text came from."""
        return self._place(start), self._place(max(end - 1, start)) + (end > start)

    def _place(self, position: int) -> int:
        return position + self.offsets[max(bisect_right(self.starts, position) - 1, 0)]


class Region(NamedTuple):
    """A part of a folded text that is marked as the answer."""

    start: int
    end: int


def spoken(answer: str) -> Spoken:
    """`answer` without thought parts (`<think>...</think>` and the like); text before and after them stays.

    A thought that never closes means that no answer was given: what stands before it may be a draft too. A closing
    tag alone ends a thought that the chat template opened. Used by `exact`, `number`, `choice`, `mentions`,
    `refusal`, `schema` and `groundedness`; `matches`, `forbids` and `sections` read every character.
    """
    if "<" not in answer:
        return Spoken(answer, problem="the answer is empty" if is_blank(answer) else "")
    kept: list[tuple[int, int]] = []
    depth, since = 0, 0
    for tag in _TAG.finditer(answer):
        if tag["close"]:
            depth = max(depth - 1, 0)
            if not depth:
                since = tag.end()
                if not kept:
                    kept = [(since, since)]
        else:
            if not depth:
                kept.append((since, tag.start()))
            depth += 1
    if depth:
        return Spoken("", problem="the answer ends in a thought that never closes")
    kept.append((since, len(answer)))
    pieces = [(start, end) for start, end in kept if end > start]
    starts, offsets, length = [], [], 0
    for start, end in pieces:
        starts.append(length)
        offsets.append(start - length)
        length += end - start
    text = "".join(answer[start:end] for start, end in pieces)
    problem = "the answer is empty after its thoughts" if is_blank(text) else ""
    return Spoken(text, tuple(starts) or (0,), tuple(offsets) or (0,), problem)


def is_blank(text: str) -> bool:
    """Whether a reader sees nothing of `text`: blanks, unseen characters, empty tags, entities of a blank."""
    seen = _VISIBLE.search(text)
    if seen is None or seen[0] not in "<&":
        return seen is None
    page = rendered(text)
    return page is not None and _VISIBLE.search(page.text) is None


def marked_regions(text: str) -> list[Region]:
    r"""The parts of folded `text` that are marked as the answer, in order.

    Marks are `answer:` at the head of a line, `\boxed{}` and `####`; where there is none of them, the last "the answer
    is" inside a sentence counts. An empty list means that the whole text is to be read.
    """
    hits = [(hit.end(), _line_end) for pattern in (_LABEL, _HASHES) for hit in pattern.finditer(text)]
    hits += [(hit.end(), _brace_end) for hit in _BOXED.finditer(text)]
    last = sorted(hits, key=lambda hit: hit[0])[-_MOST_MARKS:]
    found = [Region(start, end(text, start)) for start, end in last if text[start : end(text, start)].strip()]
    if found:
        return _innermost(found)
    inline = [Region(hit.end(), _sentence_end(text, hit.end())) for hit in _INLINE.finditer(text)]
    return [region for region in inline[-1:] if text[region.start : region.end].strip()]


def unlabelled(text: str) -> str:
    """`text` without the label in front, where it is one line that is marked as the answer as a whole."""
    line = text.strip()
    folded = fold(line)
    if "\n" in line or len(folded.text) != len(line):
        return text
    for region in marked_regions(folded.text):
        around = folded.text[: region.start], folded.text[region.end :]
        label = _LABEL.fullmatch(around[0]) or _BOXED.fullmatch(around[0].strip(" $*_`"))
        if label and not around[1].strip(" }$*_`."):
            return line[region.start : region.end]
    return text


def _innermost(regions: list[Region]) -> list[Region]:
    """The regions, given by start, without those that hold another: a box counts, not the line around it."""
    kept: list[Region] = []
    for region in regions:
        if kept and region.end <= kept[-1].end and region.start < kept[-1].end:
            kept[-1] = region
        else:
            kept.append(region)
    return kept


def _line_end(text: str, start: int) -> int:
    """The end of the line, or of the next line that holds anything when the mark stands alone."""
    while start < len(text) and text[start] in " \t\n*_`":
        start += 1
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _sentence_end(text: str, start: int) -> int:
    hit = _SENTENCE_END.search(text, start)
    return hit.start() if hit else len(text)


def _brace_end(text: str, start: int) -> int:
    depth = 1
    for place in range(start, min(len(text), start + 1000)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return place
    return min(len(text), start + 1000)
