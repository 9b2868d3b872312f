"""Which line of a text stands under which: lists under their label, items under items, cells under their column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Part", "outline"]

_LINE = re.compile(
    r"(?P<indent>[ \t]*)(?P<quote>(?:>[ \t]?)*)(?P<mark>(?P<heading>#{1,6})\s|(?:[-*+\u2022]|\d{1,9}[.)])\s+)?"
)
_RULE = re.compile(r"[\s|:+-]*")
_BOLD = re.compile(r"\W*(?:\*\*|__)[^*_]+(?:\*\*|__)\W*")
_SENTENCE_ENDS = re.compile(r"[.!?][\"')*_`]*\s*$")
_FEW_WORDS = 8
"""A line of so many words and no full stop is a name or a value, no statement."""


class Part(NamedTuple):
    """A line, or a table's cell, by its place in the text."""

    start: int
    end: int
    above: int = -1
    """Number of the part that it stands under; -1 where there is none."""
    terse: bool = True
    """A name or a value, or an item of a list: it is said of what it stands under."""


class _Line(NamedTuple):
    number: int
    indent: int
    heading: int
    """1 to 6; 0 for any other line."""
    item: bool
    label: bool
    """It announces what follows: it ends in a colon, or is all bold."""
    short: bool
    block: int
    """Lines without a blank line between them share it."""


def outline(text: str) -> list[Part]:
    """The lines of `text` in order, each row of a table as its cells."""
    parts: list[Part] = []
    open_: list[_Line] = []
    columns: list[int] = []
    block = 0
    for start, end in _lines(text):
        words = text[start:end]
        if not words.strip():
            block += 1
            columns = []
        elif words.count("|") > 1:
            columns = _row(text, start, end, parts, columns)
        else:
            columns = []
            line = _read(words, len(parts), block)
            while open_ and not _holds(open_[-1], line):
                open_.pop()
            terse = line.item or line.short or bool(open_ and line.indent > open_[-1].indent)
            parts.append(Part(start, end, open_[-1].number if open_ else -1, terse))
            open_.append(line)
    return parts


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line.rstrip())
        start += len(line)


def _row(text: str, start: int, end: int, parts: list[Part], columns: list[int]) -> list[int]:
    """Add the cells of a row, each under the first of its column; gives the columns of the table."""
    if _RULE.fullmatch(text, start, end):
        return columns
    at, first = start + text[start:end].startswith("|"), len(parts)
    for nth, cell in enumerate(text[at:end].split("|")):
        parts.append(Part(at, at + len(cell), columns[nth] if nth < len(columns) else -1))
        at += len(cell) + 1
    return columns or list(range(first, len(parts)))


def _read(words: str, number: int, block: int) -> _Line:
    hit = _LINE.match(words)
    assert hit is not None  # every part of it may be empty
    body = words[hit.end() :]
    short = len(body.split(maxsplit=_FEW_WORDS)) <= _FEW_WORDS and not _SENTENCE_ENDS.search(body[-9:])
    label = body.rstrip(" *_`").endswith(":") or _BOLD.fullmatch(body[:200]) is not None
    indent = len(hit["indent"].expandtabs(4))
    item = hit["mark"] is not None and hit["heading"] is None
    return _Line(number, indent, len(hit["heading"] or ""), item, label, short, block)


def _holds(above: _Line, line: _Line) -> bool:
    """Whether `line` stands under `above`."""
    if above.heading or line.heading:
        return bool(above.heading) and (not line.heading or line.heading > above.heading)
    if line.indent > above.indent:
        return True
    if above.item or line.indent < above.indent:
        return False
    if line.item:
        return above.label or (above.short and line.block == above.block)
    return above.label and not line.label and line.block == above.block
