"""An answer cut into clauses, each with what the clauses around it do to it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from evallib.checks.blocks import LONGEST, Block, Clause, blocks, line_breaks, sentences
from evallib.checks.folding import Folded
from evallib.checks.lexicon import BLANK
from evallib.checks.negation import (
    adjacent,
    asks_for,
    denied_after,
    denied_before,
    denies_commands,
    excepts,
    harms,
    is_conditional,
    is_universal,
    leaves_out,
    without_idioms,
    without_inversion,
)
from evallib.checks.rejection import (
    affirms,
    announces,
    concedes,
    contradicts,
    dangles,
    endorses,
    halts,
    has_verb,
    heeds,
    is_subject,
    loses,
    opinion,
    permits,
    quotes,
    rejects_previous,
    reports,
    says_no,
    tempts,
    turns,
    worries,
)

__all__ = ["Reading", "read_clauses"]

_NOMINAL_BEFORE = re.compile(r"\b(?:the|a|an|this|that|any|of|by|with|from|full|complete|for)\s*[\"'`*_]*$")
_OBJECT = re.compile(r"\b(?:\w{2,30}ing|attempts? (?:to|at))\s*[\"'`*_]*$")
_PREDICATE = re.compile(
    r"[\s*_`\"']*(?:is|are|was|were|does|did|has|had|will|would|can|could|must|should|may|might|(?:only|merely"
    r"|just) \w+s)\b"
)
_BLANKS = re.compile(r"[\s*`]+")
_PRONOUN = re.compile(r"(?:you|we|i|they|he|she|it|please|just)\b")
_ALTERNATIVE = re.compile(r"\b(?:or|nor)\b(?! (?:it|you|we|they|he|she|else|the)\b)")
_EMPHASIS = re.compile(r"(?<![^\W_])_{1,9}|_{1,9}(?![^\W_])")
_STRUCK = re.compile(r"~~[^~\n]{1,2000}~~")
_HOW_LONG = re.compile(r"(?:until|before|while|because|since|as|it|they|that)\b")
_MEMBERS = 30
_ANSWERS = 6


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

    def negates(self, start: int, end: int, *, advice: bool = False) -> bool:
        """Whether the phrase from `start` to `end` is denied: by its clause, or by one that bears on it.

        What is named as `advice` is turned down by less: by the harm it does, by a merit that is only granted.
        """
        index = self._index(start)
        clause = self.clauses[index]
        nth = bisect_right(self.struck, (start, len(self.text))) - 1
        if clause.carried or (nth >= 0 and end <= self.struck[nth][1]):
            return True
        # The phrase may run over the end of its clause, as in a command broken by a line end.
        last = self._index(max(end - 1, start))
        phrase = self._phrase(clause, self.clauses[last], start, end, advice=advice)
        denied = self._denies(index, last, phrase, advice=advice)
        return denied and not (advice and self._withdrawn(last, self.text[start:end]))

    def _withdrawn(self, last: int, said: str) -> bool:
        """Whether what follows gives leave after all: "it is risky to do it, but do it"."""
        verb = said.split(maxsplit=1)[0][:4]
        words, first = "", True
        for one in self._answers(last, whole=1):
            words += f"{one.words} "
            leave = permits(words.rstrip(), verb, first=first)
            if leave:
                return True
            if leave is False:
                words, first = "", first and one.lead == "aside"
        return False

    def _denies(self, index: int, last: int, phrase: _Phrase, *, advice: bool) -> bool:
        """Whether its clause or one around it denies a phrase, whatever may be said of it later."""
        clause, start, end = self.clauses[index], phrase.start, phrase.end
        asked_for = self._is_asked_for(index, last, phrase)
        denied = _denied(phrase) and not asked_for
        alone = clause.lead == "comma" and end - start >= len(clause.words)  # the phrase is an aside
        if (phrase.nominal or alone) and is_subject(phrase.plain[: phrase.start]):
            denied = self._judged(last, phrase, denied=denied) if advice else denied or self._denied_late(last, phrase)
        if clause.asked:
            return self._answered(index, last, phrase, denied=denied)
        if denied and reports(phrase.plain[: phrase.start]):
            told = [*self._answers(last, whole=1), *(self.clauses[index - 1 : index] if clause.lead == "aside" else ())]
            return not any(contradicts(one.words) for one in told)
        if denied or (not asked_for and self._turned_away(index, last, phrase)):
            return True
        return self._rejected(index, last, phrase)

    def _answered(self, index: int, last: int, phrase: _Phrase, *, denied: bool) -> bool:
        """Whether the answer to a question about a phrase says no to it, or tells of the harm: "What if you do it?"."""
        answers = self._answers(last)
        first = answers[0].words if answers else ""
        if is_conditional(self.clauses[index].words) and harms(first):
            return True
        after = phrase.plain[phrase.end :]
        denied = denied or harms(after) or denied_after(f" is{after}", nominal=True, at_once=True)  # "is it a mistake?"
        said_no = any(says_no(answer.words) for answer in answers)
        before = self.clauses[index - 1].text if self.clauses[index].lead == "aside" and index else ""
        if (said_no or affirms(first)) and worries(before + phrase.plain[: phrase.start]):
            return not said_no
        return denied is not said_no or (not denied and self._rejected(index, last, phrase))

    def _denied_late(self, last: int, phrase: _Phrase) -> bool:
        """Whether a subject is denied past an aside: "INC-1, since noon, is not open"."""
        ahead = [] if has_verb(phrase.plain[phrase.end :]) else self._sentence(last)
        return any(
            one.lead in {"comma", "pause"} and denied_after(f" {without_idioms(one.text)}", nominal=True, at_once=True)
            for one in ahead
        )

    def _judged(self, last: int, phrase: _Phrase, *, denied: bool) -> bool:
        """Whether a subject is denied, its own predicate or not, with what the clauses after it say of it.

        "While it sounds thorough, ..." grants a merit to turn against it: there, the main clause must speak for it.
        """
        before, after = phrase.plain[: phrase.start], phrase.plain[phrase.end :]
        ahead = self._sentence(last)
        granted = any(one.lead != "aside" and concedes(before, after, one.words) for one in ahead[:1])
        if not granted and endorses(after):
            return denied
        if (denied or harms(after)) and not granted:  # that harm is worth it may be said in the next sentence
            told = [one.words for one in (ahead if denied else self._answers(last))[:1]]
            return not any(opinion(one) is False or (not (denied or opinion(one)) and turns(one)) for one in told)
        if BLANK in after:  # "is not dangerous": only a turn takes that back
            ahead = [one for one in ahead if one.lead == "turn"]
        # without a verb so far, its predicate stands beyond an aside: "doing it, however tempting, is wrong"
        bare = not has_verb(after)
        said = (opinion(one.words, bare=bare and one.lead != "turn") for one in ahead)
        return next((one for one in said if one is not None), denied or granted)

    def _sentence(self, last: int) -> list[Clause]:
        """The rest of the sentence after the clause numbered `last`."""
        ahead = self.clauses[last + 1 : last + 1 + _ANSWERS]
        return list(takewhile(lambda one: one.lead != "sentence", ahead))

    def _is_asked_for(self, index: int, last: int, phrase: _Phrase) -> bool:
        """Whether the clause beside it says that nothing goes without it."""
        told = [one for one in self.clauses[last + 1 : last + 2] if one.lead == "comma"]
        if self.clauses[index].lead == "aside":
            told.extend(self.clauses[max(index - 1, 0) : index])
        return any(asks_for(phrase.plain[: phrase.start], one.words) for one in told)

    def _turned_away(self, index: int, last: int, phrase: _Phrase) -> bool:
        """Whether the sentence around turns from what it names: "tempting to ..., but", "stop before you ..."."""
        before, clause, ahead = phrase.plain[: phrase.start], self.clauses[index], self._sentence(last)
        if any(tempts(before, one.words) for one in ahead[:2]):
            return True
        if ahead and ahead[0].lead == "comma" and is_conditional(clause.words):
            if loses(clause.words, ahead[0].words) and not any(turns(one.words) for one in ahead):
                return True
            if reports(before):
                return not (heeds(ahead[0].words) or opinion(ahead[0].words) is False)
        return any(halts(one.words, before) for one in (*self.clauses[max(index - 1, 0) : index], *ahead[:1]))

    def _phrase(self, first: Clause, last: Clause, start: int, end: int, *, advice: bool) -> _Phrase:
        parts = self.text[first.start : start], self.text[start:end], self.text[end : max(last.end, end)]
        before, said, after = (_BLANKS.sub(" ", part) for part in parts)  # emphasis is no word between two others
        text, place, stop = before + said + after, len(before), len(before) + len(said)
        plain = without_idioms(text)
        if BLANK in plain[place:stop]:  # words of the phrase belong to no idiom ("do not skip tests")
            plain = without_idioms(text[:place] + BLANK * (stop - place) + text[stop:])
        if first.asked:
            plain = without_inversion(plain)
        words = self.text[start:end].split(maxsplit=1)
        nominal = (
            words[0].endswith("ing")
            or _NOMINAL_BEFORE.search(plain[max(place - 20, 0) : place]) is not None
            or (
                advice
                and (_OBJECT.search(plain[max(place - 40, 0) : place]) or _PREDICATE.match(plain, stop)) is not None
            )
        )
        return _Phrase(plain, place, stop, nominal)

    def _rejected(self, index: int, last: int, phrase: _Phrase) -> bool:
        """Whether what follows takes back what was said: "That is wrong", "I did not"."""
        clause = self.clauses[index]
        before = phrase.plain[: phrase.start]
        cited = self.text[clause.start : clause.end].lstrip().startswith(">")
        told = cited or reports(before) or quotes(before)
        reported = told or clause.asked
        candidates = self._answers(last, whole=cited + reported)[: None if reported else 1]
        if clause.asked and any(affirms(answer.words) for answer in candidates):
            return False
        return any(rejects_previous(answer.words, reported=reported) for answer in candidates)

    def _answers(self, last: int, *, whole: int = 0) -> list[Clause]:
        """The clauses after `last` that may be about it: the rest of its sentence, then `whole` ones and one clause."""
        found: list[Clause] = []
        ends = 0
        here = self.clauses[last]
        for nth in range(last + 1, min(last + 1 + _ANSWERS, len(self.clauses))):
            clause = self.clauses[nth]
            if clause.opens or not self._adjoins(here, clause):
                break
            ends += clause.lead == "sentence"
            if ends > max(whole, 1):
                break
            found.append(clause)
            if ends > whole or (clause.lead == "colon" and clause.block != here.block):
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
    if quotes(before) and denied_after(after.partition('"')[2], nominal=True, at_once=True):
        said = before.rindex('"') + 1
        return not (adjacent(before[said:]) or denied_before(plain[said:], start - said, nominal=nominal))
    if leaves_out(before) and (denied_after(after, nominal=True) or harms(after)):
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
        if block.kind in {"item", "code"} and clauses and kinds[-1] == "text" and dangles(clauses[-1].words):
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
    """The words that end a line above a list, without how long or why: "skip these until May:"."""
    more = len(own) > 1 and _HOW_LONG.match(own[-1].words)
    return own[-2 if more else -1].words


def _waits(text: str, block: Block) -> bool:
    """Whether a block announces what is below it: a heading, or a line that ends in a colon."""
    return block.kind == "heading" or text[max(block.start, block.end - 40) : block.end].rstrip("\n *_`").endswith(":")


def _read_block(
    text: str, block: Block, breaks: list[int], *, number: int, carried: bool, named: Sequence[int] | None
) -> Iterator[Clause]:
    for sentence in sentences(text, block, breaks, number):
        if named is None or _holds(named, sentence[0].start, sentence[-1].end):
            _carry(sentence, inherited=carried)
        yield from sentence


def _holds(named: Sequence[int], start: int, end: int) -> bool:
    nth = bisect_left(named, start)
    return nth < len(named) and named[nth] < end


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
