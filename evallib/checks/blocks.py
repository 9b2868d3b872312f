"""A text cut into blocks as mark-up shows them: paragraphs, list items, headings, table cells, lines of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from evallib.checks.folding import Folded

__all__ = ["Block", "BlockKind", "blocks", "line_breaks"]

BlockKind = Literal["text", "item", "code", "heading", "cell"]

_NO_MARKS = "\u274c\u2717\u2718\u2716\u26d4\u20e0\U0001f6ab\U0001f44e"
_YES_MARKS = "\u2705\u2713\u2714\U0001f44d"
_FENCE = re.compile(r"\s*(?:```|~~~)")
_ITEM = re.compile(
    rf"\s*(?:(?:(?:[-*+\u2022]|\d{{1,9}}[.)])\s+)(?P<mark>[{_NO_MARKS}{_YES_MARKS}])?|(?P<bare>[{_NO_MARKS}{_YES_MARKS}]))"
    r"\ufe0f?\s*"
)
_HEADING_MARK = re.compile(r"\s*#{1,6}\s*")
_COMMENT = re.compile(r"\s*(?:#+|//|--)\s*")
_RULE = re.compile(r"[\s|:+-]+")
_LINE_END = re.compile(r"\n[^\S\n]*(?=\w)")
_OPEN_WORD = re.compile(r"(?:\b(?:not|never|to|the|a|an|of|or|and|nor|for|on|in|with|by|your|without)|n't|[,(/-])\s*$")


class Block(NamedTuple):
    """A stretch of text that mark-up keeps together."""

    kind: BlockKind
    start: int
    end: int
    crossed: bool = False
    """Under a mark that means no, such as a cross at the start of its line."""
    row: int = 0
    column: int = 0
    """Place of a table's cell; row 0 holds the names of the columns."""


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text, in order."""
    pending: Block | None = None
    fenced, row = False, 0
    for start, end in _lines(text):
        line = text[start:end]
        fence = _FENCE.match(line) is not None
        cells = not fenced and line.lstrip().startswith("|")
        if pending and not fence and not cells and _goes_on(pending, line, fenced=fenced):
            pending = pending._replace(end=end)
            continue
        if pending:
            yield pending
        pending = None
        if cells:
            yield from _cells(text, start, end, row)
            row += 1
            continue
        row = 0
        if fence:
            fenced = not fenced
        elif line.strip():
            pending = _opened(line, start, end, fenced=fenced)
    if pending:
        yield pending


def line_breaks(raw: str, folded: Folded, block: Block) -> list[int]:
    """Line ends inside a block after which a capitalised word starts a sentence that lacks a full stop before it."""
    found = []
    for hit in _LINE_END.finditer(folded.text, block.start, block.end):
        first = folded.span(hit.end(), hit.end())[0]
        before = folded.text[max(block.start, hit.start() - 20) : hit.start()]
        if raw[first : first + 1].isupper() and raw[first + 1 : first + 2].islower() and not _OPEN_WORD.search(before):
            found.append(hit.start())
    return found


def _goes_on(block: Block, line: str, *, fenced: bool) -> bool:
    """Whether `line` is more of `block`: a paragraph's next line, or an indented one under a list item."""
    joined = ("text", "item") if line[:1].isspace() else ("text",)
    plain = not fenced and not _HEADING_MARK.match(line) and not _ITEM.match(line)
    return plain and block.kind in joined and bool(line.strip())


def _opened(line: str, start: int, end: int, *, fenced: bool) -> Block:
    """The block that `line` opens, without its marker."""
    if fenced:
        comment = _COMMENT.match(line)
        return Block("code", start + (comment.end() if comment else 0), end)
    heading = _HEADING_MARK.match(line)
    if heading:
        return Block("heading", start + heading.end(), end)
    item = _ITEM.match(line)
    if item:
        mark = item["mark"] or item["bare"] or ""
        return Block("item", start + item.end(), end, crossed=bool(mark) and mark in _NO_MARKS)
    return Block("text", start, end)


def _cells(text: str, start: int, end: int, row: int) -> Iterator[Block]:
    """The cells of one row of a table; a rule under the heading has none."""
    if _RULE.fullmatch(text, start, end):
        return
    at = text.index("|", start, end) + 1
    column = 0
    while at < end:
        stop = text.find("|", at, end)
        stop = end if stop < 0 else stop
        first = text[at : min(stop, at + 40)].lstrip()[:1]
        if first.strip():
            yield Block("cell", at, stop, crossed=first in _NO_MARKS, row=row, column=column)
        at, column = stop + 1, column + 1


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)
