"""An answer cut into clauses, each with what the clauses around it do to it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evallib.checks.blocks import Block, blocks, line_breaks
from evallib.checks.folding import Folded
from evallib.checks.negation import (
    BLANK,
    adjacent,
    asks_for,
    denied_after,
    denied_before,
    denies_commands,
    excepts,
    is_never_too_much,
    is_universal,
    leaves_out,
    without_idioms,
    without_inversion,
)
from evallib.checks.rejection import (
    announces,
    dangles,
    halts,
    is_label,
    loses,
    rejects_previous,
    reports,
    says_no,
    scorns,
    tempts,
    wonders,
)

__all__ = ["LONGEST", "Clause", "Reading", "read_clauses"]

Lead = Literal["sentence", "colon", "pause", "comma", "turn", "aside"]
"""What parts a clause from the one before it."""

_SUBJECT = r"(?:you|we|i|they|he|she|it|please|just|simply|instead|only)"
_CUT = re.compile(
    r"(?=[^\w\s]|\b\w)(?:"  # a mark or a word begins here: asked once, and not again by every alternative
    r"(?P<sentence>(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<![.!?\u2026])[.!?\u2026]{1,20}[\"')\]*_`~]{0,9}(?=\s|$))"
    r"|(?P<colon>:(?=[\s*_`\"]|$))"
    r"|(?P<pause>;|\u2014|(?<=\s)-{1,3}(?=\s)|[()\[\]|])"
    r"|(?P<comma>,(?=[\s\"*_`]|$))"
    r"|(?P<turn>(?<!anything )(?<!everything )(?<!all )\bbut\b"
    r"|\b(?:otherwise|therefore|hence|thus|whereas)\b|\bhowever\b(?!\s{1,9}(?:\w{1,30}ly\s)?\w{3,30}\s(?:it|that"
    r"|this|he|she|the|your)\b)|\band then\b|\bthen\b"
    r"|(?<!do )(?<!doing )(?<!not )\bso\b(?= \w)|\binstead\b(?! of)|(?<=, )yet\b"
    rf"|\band\b(?=\s{{1,9}}{_SUBJECT}\b)"
    r"|\band\b(?=\s{1,9}(?:should|must|can|may|will|needs?|has to|have to|could|works?)\b(?! not|n't)))"
    r"|(?P<aside>\b(?:if|unless|(?<!\bnot )until|because|since|when|whenever|once|while|although|though|except"
    r"|other than|apart from|besides)\b|(?<!stop )(?<!stopped )(?<!stops )\bshort of\b"
    r"|\b(?:before|after)\b(?=\s{1,9}(?:you|we|i|they|he|she|it|the|\w{2,30}ing)\b)))"
)
_NOMINAL_BEFORE = re.compile(r"\b(?:the|a|an|this|that|any|of|by|with|from|full|complete|for)\s*[\"'`*_]*$")
_PRONOUN = re.compile(r"(?:you|we|i|they|he|she|it|please|just)\b")
_ALTERNATIVE = re.compile(r"\b(?:or|nor)\b(?! (?:it|you|we|they|he|she|else|the)\b)")
_EMPHASIS = re.compile(r"(?<![^\W_])_{1,9}|_{1,9}(?![^\W_])")
_STRUCK = re.compile(r"~~[^~\n]{1,2000}~~")
_MARK_UP = re.compile(r"[\s*_`\"]+")
LONGEST = 500
"""Characters no clause passes: a longer run of words is cut, so that reading a text stays linear in its length."""
_HOW_LONG = re.compile(r"(?:until|before|while)\b")
_MEMBERS = 30
_ANSWERS = 6


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
        """The clause's words on one line, without mark-up or punctuation around them."""
        return _MARK_UP.sub(" ", self.text).strip(" :,.!?-'()~")


class _Phrase(NamedTuple):
    """A phrase in its clauses: the text around it, idioms blanked, and whether it can be a subject."""

    plain: str
    start: int
    end: int
    nominal: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """All clauses of a text, in order."""

    text: str
    clauses: tuple[Clause, ...]
    kinds: tuple[str, ...]
    """The kind of each block."""
    struck: tuple[tuple[int, int], ...] = ()
    """Stretches that mark-up strikes through."""

    def at(self, position: int) -> Clause:
        """The clause that holds `position`."""
        return self.clauses[self._index(position)]

    def around(self, clause: Clause) -> tuple[Clause | None, Clause | None]:
        """The clauses right before and after `clause`."""
        index = self._index(clause.start)
        before = self.clauses[index - 1] if index else None
        return before, self.clauses[index + 1] if index + 1 < len(self.clauses) else None

    def negates(self, start: int, end: int) -> bool:
        """Whether the phrase from `start` to `end` is denied: by its clause, or by one that bears on it."""
        index = self._index(start)
        clause = self.clauses[index]
        nth = bisect_right(self.struck, (start, len(self.text))) - 1
        if clause.carried or (nth >= 0 and end <= self.struck[nth][1]):
            return True
        # The phrase may run over the end of its clause, as in a command broken by a line end.
        last = self._index(max(end - 1, start))
        phrase = self._phrase(clause, self.clauses[last], start, end)
        denied = (_denied(phrase) and not self._is_asked_for(last, phrase)) or self._denied_past_an_aside(
            last, phrase, clause
        )
        if clause.asked and scorns(phrase.plain[: phrase.start], next((one.words for one in self._answers(last)), "")):
            return True
        if clause.asked:
            return denied is not any(says_no(answer.words) for answer in self._answers(last)) or (
                not denied and self._rejected(index, last, phrase)
            )
        if wonders(phrase.plain[: phrase.start]) and any(says_no(answer.words) for answer in self._answers(last)):
            return True
        return denied or self._turned_away(index, last, phrase) or self._rejected(index, last, phrase)

    def _is_asked_for(self, last: int, phrase: _Phrase) -> bool:
        """Whether the clause after it says that nothing goes without it."""
        ahead = self.clauses[last + 1 : last + 2]
        return any(one.lead == "comma" and asks_for(phrase.plain, one.words) for one in ahead)

    def _turned_away(self, index: int, last: int, phrase: _Phrase) -> bool:
        """Whether the sentence around turns from what it names: "tempting to ..., but", "stop before you ..."."""
        after = self.clauses[last + 1 : last + 2]
        if any(one.lead != "sentence" and tempts(phrase.plain[: phrase.start], one.words) for one in after):
            return True
        clause = self.clauses[index]
        ahead = self.clauses[last + 1 : last + 3]
        ends = len(ahead) == 1 or (len(ahead) == 2 and ahead[1].lead == "sentence")
        if ahead and ends and ahead[0].lead == "comma" and loses(clause.words, ahead[0].words):
            return True
        return clause.lead == "aside" and index > 0 and halts(self.clauses[index - 1].words, clause.words)

    def _phrase(self, first: Clause, last: Clause, start: int, end: int) -> _Phrase:
        text = self.text[first.start : last.end]
        place, stop = start - first.start, end - first.start
        plain = without_idioms(text)
        if BLANK in plain[place:stop]:  # words of the phrase belong to no idiom ("do not skip tests")
            plain = without_idioms(text[:place] + BLANK * (stop - place) + text[stop:])
        if first.asked:
            plain = without_inversion(plain)
        words = self.text[start:end].split(maxsplit=1)
        nominal = words[0].endswith("ing") or _NOMINAL_BEFORE.search(plain[max(place - 20, 0) : place]) is not None
        return _Phrase(plain, place, stop, nominal)

    def _denied_past_an_aside(self, last: int, phrase: _Phrase, clause: Clause) -> bool:
        """Whether the predicate after an aside denies a subject: "disabling it, however tempting, is wrong"."""
        alone = clause.lead == "comma" and phrase.end - phrase.start >= len(clause.words)  # the phrase is the aside
        if not (phrase.nominal or alone):
            return False
        ahead = self.clauses[last + 1 : last + 5]
        for nth, one in enumerate(ahead):
            if one.lead == "sentence":
                return False
            if (nth or alone) and one.lead in {"comma", "pause"}:
                return denied_after(f" {without_idioms(one.text)}", nominal=True, at_once=True)
        return False

    def _rejected(self, index: int, last: int, phrase: _Phrase) -> bool:
        """Whether what follows takes back what was said: "That is wrong", "I did not"."""
        clause = self.clauses[index]
        before = phrase.plain[: phrase.start]
        reported = clause.asked or self.kinds[clause.block] == "cell" or reports(before) or self._attributed(last)
        command = not phrase.nominal and not before.strip(" *_`\"'-#>")
        candidates = self._answers(last) if reported else self._answers(last)[:1]
        return any(rejects_previous(answer.words, reported=reported, command=command) for answer in candidates)

    def _attributed(self, last: int) -> bool:
        """Whether the clause after a quotation names who said it: "...", the mail says."""
        ahead = self.clauses[last + 1 : last + 2]
        return any(clause.lead == "comma" and reports(clause.words) and len(clause.words) < 40 for clause in ahead)

    def _answers(self, last: int) -> list[Clause]:
        """The clauses after `last` that may be about it: the rest of its sentence, and the next one's first."""
        found: list[Clause] = []
        here = self.clauses[last]
        for nth in range(last + 1, min(last + 1 + _ANSWERS, len(self.clauses))):
            clause = self.clauses[nth]
            if clause.opens or not self._adjoins(here, clause):
                break
            following = self.clauses[nth + 1] if nth + 1 < len(self.clauses) else None
            if following and following.lead == "colon" and is_label(clause.words):
                continue
            found.append(clause)
            if clause.lead == "sentence" or (found and clause.lead == "colon" and clause.block != here.block):
                break
        return found

    def _adjoins(self, here: Clause, clause: Clause) -> bool:
        """Whether `clause` can answer `here`: same block or row, or the paragraph right after."""
        if here.block == clause.block:
            return True
        kinds = {self.kinds[here.block], self.kinds[clause.block]}
        return kinds == {"cell"} or (self.kinds[clause.block] == "text" and clause.block - here.block == 1)

    def _index(self, position: int) -> int:
        return max(bisect_right(self.clauses, position, key=lambda clause: clause.start) - 1, 0)


def _denied(phrase: _Phrase) -> bool:
    plain, start, end, nominal = phrase
    before, after = plain[:start], plain[end:]
    if is_never_too_much(before, after) or (leaves_out(before) and denied_after(after, nominal=True)):
        return False
    return adjacent(before) or denied_before(plain, start, nominal=nominal) or denied_after(after, nominal=nominal)


def read_clauses(raw: str, folded: Folded, named: Sequence[int] | None = None) -> Reading:
    """The clauses of `folded`, a folding of `raw`, with the negations that reach into them from outside.

    With `named`, positions in ascending order, only the sentences that hold one are read for such negations.
    """
    text = _without_emphasis(folded.text)
    clauses: list[Clause] = []
    kinds: list[str] = []
    inherited = False  # a line such as "Do not:" waits for its list
    columns: dict[int, bool] = {}
    for block in blocks(text):
        inherited = inherited and (block.kind in {"item", "code"} or not clauses or clauses[-1].opens)
        if block.kind == "item" and clauses and kinds[-1] == "text" and dangles(clauses[-1].words):
            inherited = clauses[-1].opens = True
        carried = block.crossed or (
            columns.get(block.column, False) if block.kind == "cell" and block.row else inherited
        )
        own = list(
            _read_block(text, block, line_breaks(raw, folded, block), number=len(kinds), carried=carried, named=named)
        )
        clauses.extend(own)
        kinds.append(block.kind)
        if own and block.kind == "cell" and not block.row:
            columns[block.column] = own[-1].opens = announces(own[-1].words)
        elif own and _waits(text, block) and announces(_announcing(own)):
            inherited = own[-1].opens = True
    if not clauses:
        clauses, kinds = [Clause(0, len(text), "sentence", text[:LONGEST], 0)], ["text"]
    return Reading(text, tuple(clauses), tuple(kinds), tuple(hit.span() for hit in _STRUCK.finditer(text)))


def _without_emphasis(text: str) -> str:
    """`text` with blanks for underscores around words: to a pattern they would be letters."""
    return _EMPHASIS.sub(lambda hit: " " * len(hit[0]), text) if "_" in text else text


def _announcing(own: Sequence[Clause]) -> str:
    """The words that end a line above a list, without how long they hold: "skip these until May:"."""
    timed = len(own) > 1 and own[-1].lead == "aside" and _HOW_LONG.match(own[-1].words)
    return own[-2 if timed else -1].words


def _waits(text: str, block: Block) -> bool:
    """Whether a block announces what is below it: a heading, or a line that ends in a colon."""
    return block.kind == "heading" or text[max(block.start, block.end - 40) : block.end].rstrip("\n *_`").endswith(":")


def _read_block(
    text: str, block: Block, breaks: list[int], *, number: int, carried: bool, named: Sequence[int] | None
) -> Iterator[Clause]:
    for sentence in _sentences(text, block, breaks, number):
        if named is None or _holds(named, sentence[0].start, sentence[-1].end):
            _carry(sentence, inherited=carried)
        yield from sentence


def _holds(named: Sequence[int], start: int, end: int) -> bool:
    nth = bisect_left(named, start)
    return nth < len(named) and named[nth] < end


def _sentences(text: str, block: Block, breaks: list[int], number: int) -> Iterator[list[Clause]]:
    """The clauses of a block, sentence by sentence."""
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


def _carry(sentence: list[Clause], *, inherited: bool) -> None:
    """Mark the clauses that a negation in an earlier clause of the sentence, or in the line above, reaches."""
    carry = inherited
    commas = 2  # of an aside after the negation, met so far: "do not, whatever they say then, ..."
    for index, clause in enumerate(sentence):
        commas += clause.lead in {"comma", "pause"} or (clause.lead == "aside" and not commas)
        if clause.lead == "turn" and not commas and clause.words.startswith("however"):
            commas = 1  # "do not, however, ...": no turn, for the negation still lacks its verb
        elif clause.lead == "turn" and commas != 1:
            carry = False
        spared = (
            clause.lead == "aside" and index > 0 and excepts(clause.words) and is_universal(sentence[index - 1].text)
        )
        clause.carried = clause.carried or carry or spared
        following = sentence[index + 1].lead if index + 1 < len(sentence) else ""
        if announces(clause.words) if following == "colon" else dangles(clause.words):
            carry, commas = True, 0
        elif denies_commands(clause.text, clause.words):
            for member in _alternatives(sentence, index):
                member.carried = True


def _alternatives(sentence: list[Clause], index: int) -> list[Clause]:
    """The rest of a list under one negation, "never a, b, or c": clauses up to the one that holds or / nor."""
    members: list[Clause] = []
    for clause in sentence[index + 1 : index + 1 + _MEMBERS]:
        words = clause.words
        if clause.lead != "comma" or _PRONOUN.match(words) or len(words.split()) > 10:
            return []
        members.append(clause)
        if _ALTERNATIVE.search(words):
            return members
    return []
