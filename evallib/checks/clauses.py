"""An answer cut into clauses, each with what the clauses around it do to it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evallib.checks.folding import Folded
from evallib.checks.negation import (
    BLANK,
    adjacent,
    cues,
    dangles,
    denied_after,
    is_conditional,
    rejects_previous,
    without_idioms,
)

__all__ = ["Clause", "Reading", "read_clauses"]

Lead = Literal["sentence", "colon", "pause", "comma", "turn", "aside"]
"""What parts a clause from the one before it."""
BlockKind = Literal["text", "item", "code", "heading"]

_FENCE = re.compile(r"\s*(?:```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\d+[.)])\s+")
_HEADING = re.compile(r"\s*#{1,6}\s*")
_COMMENT = re.compile(r"\s*(?:#+|//|--)\s*")
_CUT = re.compile(
    r"(?P<sentence>(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<![.!?\u2026])[.!?\u2026]++[\"')\]*_`]*+(?=\s|$)|\x1e)"
    r"|(?P<colon>:(?=[\s*_`\"]|$))"
    r"|(?P<pause>;|\u2014|(?<=\s)-{1,3}(?=\s)|[()\[\]|])"
    r"|(?P<comma>,(?=[\s\"*_`]|$))"
    r"|(?P<turn>\b(?:but|otherwise|however|therefore|hence|thus|whereas)\b|(?<!and )\bthen\b"
    r"|(?<!do )(?<!doing )(?<!not )\bso\b(?= \w)|\binstead\b(?! of)"
    r"|\band\b(?=\s+(?:you|we|i|they|he|she|it|please|just|simply|instead|only)\b)"
    r"|\band\b(?=\s+(?:should|must|can|may|will|needs?|has to|have to|could)\b(?! not|n't)))"
    r"|(?P<aside>\b(?:if|unless|until|because|since|when|whenever|once|while|although|though|except|other than"
    r"|apart from|besides|short of)\b)"
)
_OPEN_WORD = re.compile(r"(?:\b(?:not|never|to|the|a|an|of|or|and|nor|for|on|in|with|by|your|without)|n't|[,(/-])\s*$")
_NOMINAL_BEFORE = re.compile(r"\b(?:the|a|an|this|that|any|of|by|with|from|full|complete|for)\s*[\"'`*_]*$")
_OTHER_VERB = re.compile(r"\w{3,}ing\b(?!.*\bto\b)")
_PRONOUN = re.compile(r"(?:you|we|i|they|he|she|it|please|just)\b")
_LONGEST = 500


class _Block(NamedTuple):
    kind: BlockKind
    start: int
    end: int


@dataclass(slots=True)
class Clause:
    """One clause: its place in the folded text, and whether it stands under a negation from outside."""

    start: int
    end: int
    lead: Lead
    text: str
    carried: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """All clauses of a text, in order."""

    text: str
    clauses: tuple[Clause, ...]

    def at(self, position: int) -> Clause:
        """The clause that holds `position`."""
        return self.clauses[self._index(position)]

    def negates(self, start: int, end: int) -> bool:
        """Whether the phrase from `start` to `end` is denied: by its clause, or by one that bears on it."""
        index = self._index(start)
        clause = self.clauses[index]
        if clause.carried:
            return True
        # The phrase may run over the end of its clause, as in a command broken by a line end.
        last = self._index(max(end - 1, start))
        plain = _plain(self.text[clause.start : self.clauses[last].end], start - clause.start, end - clause.start)
        before, after = plain[: start - clause.start], plain[end - clause.start :]
        nominal = self.text[start:end].split()[0].endswith("ing") or _NOMINAL_BEFORE.search(before[-20:]) is not None
        if (
            adjacent(before)
            or _denied_before(plain, len(before), nominal=nominal)
            or denied_after(after, nominal=nominal)
        ):
            return True
        return any(rejects_previous(_words(following)) for following in self.clauses[last + 1 : last + 2])

    def _index(self, position: int) -> int:
        return max(bisect_right(self.clauses, position, key=lambda clause: clause.start) - 1, 0)


def read_clauses(raw: str, folded: Folded) -> Reading:
    """The clauses of `folded`, a folding of `raw`, with the negations that reach into them from outside."""
    text = folded.text
    clauses: list[Clause] = []
    inherited = False  # a line such as "Do not:" waits for its list
    for block in _blocks(text):
        sentences = list(_sentences(text, block, _line_breaks(raw, folded, block)))
        inherited = inherited and (block.kind in {"item", "code"} or not clauses or _open_ended(clauses[-1]))
        for sentence in sentences:
            _carry(sentence, inherited=inherited)
            clauses.extend(sentence)
        if clauses and _open_ended(clauses[-1]) and (block.kind == "heading" or _ends_in_colon(text, block)):
            inherited = True
    return Reading(text, tuple(clauses) or (Clause(0, len(text), "sentence", text),))


def _blocks(text: str) -> Iterator[_Block]:
    """Paragraphs, list items, headings and lines of code, in order."""
    open_block: _Block | None = None
    fenced = False
    for start, end in _lines(text):
        line = text[start:end]
        if _FENCE.match(line):
            if open_block:
                yield open_block
            open_block, fenced = None, not fenced
            continue
        kind, marker = _kind(line, fenced=fenced)
        joined: tuple[BlockKind, ...] = ("text", "item") if line[:1].isspace() else ("text",)
        if open_block and kind == "text" and open_block.kind in joined and line.strip():
            open_block = open_block._replace(end=end)
            continue
        if open_block:
            yield open_block
        open_block = _Block(kind, start + marker, end) if line.strip() else None
    if open_block:
        yield open_block


def _kind(line: str, *, fenced: bool) -> tuple[BlockKind, int]:
    """The kind of block a line opens, and the length of its marker."""
    markers: tuple[tuple[BlockKind, re.Pattern[str]], ...] = (("heading", _HEADING), ("item", _ITEM))
    if fenced:
        markers = (("code", _COMMENT),)
    for kind, pattern in markers:
        hit = pattern.match(line)
        if hit:
            return kind, hit.end()
    return ("code" if fenced else "text"), 0


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def _line_breaks(raw: str, folded: Folded, block: _Block) -> set[int]:
    """Line ends inside a block after which a capitalised word starts a sentence that lacks a full stop before it."""
    breaks = set()
    for hit in re.finditer(r"\n\s*(?=\w)", folded.text[block.start : block.end]):
        place = folded.span(block.start + hit.end(), block.start + hit.end())[0]
        before = folded.text[max(block.start, block.start + hit.start() - 20) : block.start + hit.start()]
        if raw[place : place + 1].isupper() and raw[place + 1 : place + 2].islower() and not _OPEN_WORD.search(before):
            breaks.add(block.start + hit.start())
    return breaks


def _sentences(text: str, block: _Block, breaks: set[int]) -> Iterator[list[Clause]]:
    """The clauses of a block, sentence by sentence."""
    body = "".join("\x1e" if block.start + n in breaks else c for n, c in enumerate(text[block.start : block.end]))
    sentence: list[Clause] = []
    start, lead = 0, "sentence"
    for hit in [*_CUT.finditer(body), None]:
        end = hit.start() if hit else len(body)
        if body[start:end].strip():
            sentence.extend(_clauses(text, block.start + start, block.start + end, lead))
        if hit is None:
            break
        lead = str(hit.lastgroup)
        start = hit.start() if lead in {"turn", "aside"} else hit.end()
        if lead == "sentence" and sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _clauses(text: str, start: int, end: int, lead: str) -> Iterator[Clause]:
    """The clause from `start` to `end`; a run of words longer than any clause is cut, so that reading stays linear."""
    for at in range(start, end, _LONGEST):
        stop = min(at + _LONGEST, end)
        yield Clause(at, stop, lead, text[at:stop])  # type: ignore[arg-type]  # group names of _CUT are leads


def _carry(sentence: list[Clause], *, inherited: bool) -> None:
    """Mark the clauses that a negation in an earlier clause of the sentence, or in the line above, reaches."""
    carry = inherited
    for index, clause in enumerate(sentence):
        if clause.lead == "turn":
            carry = False
        clause.carried = clause.carried or carry
        if dangles(_words(clause)):
            carry = True
        elif _denies_commands(clause):
            for member in _alternatives(sentence, index):
                member.carried = True


def _alternatives(sentence: list[Clause], index: int) -> list[Clause]:
    """The rest of a list under one negation, "never a, b, or c": clauses up to the one that begins with or / nor."""
    members: list[Clause] = []
    for clause in sentence[index + 1 :]:
        words = _words(clause)
        if clause.lead != "comma" or _PRONOUN.match(words) or len(words.split()) > 8:
            return []
        members.append(clause)
        if re.match(r"(?:or|nor)\b", words):
            return members
    return []


def _denies_commands(clause: Clause) -> bool:
    found = cues(without_idioms(clause.text))
    return any(cue.kind != "declarative" for cue in found) and not is_conditional(_words(clause))


def _plain(clause: str, start: int, end: int) -> str:
    """`clause` without idioms; words of the phrase from `start` to `end` belong to none ("do not skip tests")."""
    plain = without_idioms(clause)
    if BLANK in plain[start:end]:
        plain = without_idioms(clause[:start] + BLANK * (end - start) + clause[end:])
    return plain


def _denied_before(clause: str, phrase_at: int, *, nominal: bool) -> bool:
    """Whether a cue before `phrase_at` reaches the phrase that starts there."""
    for cue in cues(clause):
        if cue.end > phrase_at:
            break
        gap = clause[cue.end : phrase_at]
        joined = re.search(r"\b(?:and|or)\b", gap) is not None
        if cue.kind == "declarative" and (joined or (is_conditional(clause.strip()) and re.search(r"\w", gap))):
            continue
        if cue.kind == "object" and not nominal and not joined and _OTHER_VERB.search(gap):
            continue
        return True
    return False


def _open_ended(clause: Clause) -> bool:
    return dangles(_words(clause))


def _ends_in_colon(text: str, block: _Block) -> bool:
    return text[block.start : block.end].rstrip("\n *_`").endswith(":")


def _words(clause: Clause) -> str:
    """The clause's words on one line, without mark-up or punctuation around them."""
    return re.sub(r"[\s*_`\"]+", " ", clause.text).strip(" :,.!?-'()")
