"""A text cut into blocks as mark-up shows them (paragraphs, items, cells, lines of code), and those into clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from evallib.checks.folding import Folded

__all__ = ["LONGEST", "Block", "BlockKind", "Clause", "blocks", "line_breaks", "sentences"]

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


Lead = Literal["sentence", "colon", "pause", "comma", "turn", "aside"]
"""What parts a clause from the one before it."""

_SUBJECT = r"(?:you|we|i|they|he|she|it|please|just|simply|instead|only)"
_CUT = re.compile(
    r"(?=[^\w\s]|\b\w)(?:"  # a mark or a word begins here: asked once, and not again by every alternative
    r"(?P<sentence>(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<![.!?\u2026])[.!?\u2026]{1,20}[\"')\]*_`~]{0,9}(?=\s|$))"
    r"|(?P<colon>:(?=[\s*_`\"]|$))|(?P<pause>;|\u2014|(?<=\s)-{1,3}(?=\s)|[()\[\]|])|(?P<comma>,(?=[\s\"*_`]|$))"
    r"|(?P<turn>(?<!anything )(?<!everything )(?<!all )\bbut\b(?: then\b)?"
    r"|\b(?:otherwise|therefore|hence|thus|whereas)\b|\bhowever\b(?!\s{1,9}(?:\w{1,30}ly\s)?\w{3,30}\s(?:it|that"
    r"|this|he|she|the|your)\b)|\band then\b|\bthen\b"
    r"|(?<!do )(?<!doing )(?<!not )\bso\b(?= \w)|\binstead\b(?! of)|(?<=, )yet\b"
    rf"|\band\b(?=\s{{1,9}}{_SUBJECT}\b)"
    r"|\band\b(?=\s{1,9}(?:should|must|can|may|will|needs?|has to|have to|could|works?)\b(?! not|n't)))"
    r"|(?P<aside>\b(?:if|unless|(?<!\bnot )until|because|since|when|whenever|(?<!\bat )(?<!\bthis )once|while"
    r"|although|though|except|other than|apart from|besides)\b|(?<!stop )(?<!stopped )(?<!stops )\bshort of\b"
    r"|\b(?:before|after)\b(?=\s{1,9}(?:you|we|i|they|he|she|it|the|\w{2,30}ing)\b)))"
)
_MARK_UP = re.compile(r"[\s*_`\"]+")
_IN_FULL = {"'ve": " have", "'ll": " will", "'re": " are", "'d": " would", "'m": " am", "'s": " is"}
_CONTRACTED = re.compile(r"(?<=\w)'(?:ve|ll|re|d|m)\b|(?:(?<=\bit)|(?<=\bthat)|(?<=\bthere)|(?<=\bhe)|(?<=\bshe))'s\b")
LONGEST = 500
"""Characters no clause passes: a longer run of words is cut, so that reading a text stays linear in its length."""


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


@dataclass(slots=True)
class Clause:
    """One clause: its place in the folded text, and whether it stands under a negation from outside."""

    start: int
    end: int
    lead: Lead
    text: str
    block: int
    carried: bool = False
    asked: bool = False
    """Part of a question."""
    opens: bool = False
    """Waits for a list below it, as "Do not:" does."""

    @property
    def words(self) -> str:
        """The clause's words on one line, without mark-up or punctuation around them, contractions written out."""
        return _words(self.text)


@lru_cache(maxsize=1024)
def _words(text: str) -> str:
    words = _MARK_UP.sub(" ", text).strip(" :,.!?-'()~")
    return _CONTRACTED.sub(lambda hit: _IN_FULL[hit[0]], words) if "'" in words else words


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


def sentences(text: str, block: Block, breaks: Sequence[int], number: int) -> Iterator[list[Clause]]:
    """The clauses of a block, sentence by sentence; `breaks` are line ends that part sentences too."""
    start = block.start
    for stop in [*breaks, block.end]:
        yield from _between(text, start, stop, number)
        start = stop


def _between(text: str, start: int, stop: int, number: int) -> Iterator[list[Clause]]:
    sentence: list[Clause] = []
    lead = "sentence"
    for hit in _CUT.finditer(text, start, stop):
        sentence.extend(_clauses(text, start, hit.start(), lead, number))
        lead = str(hit.lastgroup)
        start = hit.start() if lead in {"turn", "aside"} else hit.end()
        if lead == "sentence" and sentence:
            if "?" in hit[0]:
                _ask(sentence)
            yield sentence
            sentence = []
    sentence.extend(_clauses(text, start, stop, lead, number))
    if sentence:
        yield sentence


def _ask(sentence: list[Clause]) -> None:
    for clause in sentence:
        clause.asked = True


def _clauses(text: str, start: int, end: int, lead: str, number: int) -> Iterator[Clause]:
    """The clause from `start` to `end`, none where no word is; a run of words longer than any clause is cut."""
    for at in range(start, end, LONGEST):
        stop = min(at + LONGEST, end)
        words = text[at:stop]
        if words.strip(" \n\t*_`\"'~"):
            yield Clause(at, stop, lead, words, number)  # type: ignore[arg-type]  # group names of _CUT are leads
