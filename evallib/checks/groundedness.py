"""The check that an answer names only what its evidence shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from evallib.checks.clauses import Reading, read_clauses
from evallib.checks.evidence import Facts, read_value, unpacked
from evallib.checks.extraction import Spoken, is_blank, spoken
from evallib.checks.folding import Folded, merged
from evallib.checks.pairing import pairs_in_text
from evallib.checks.responses import failure
from evallib.checks.turns import TurnCheck
from evallib.checks.vocabulary import Entity, Lexicon, Mention
from evallib.domain import Domain, EntityKind
from evallib.records import Sample, ToolCall, Turn, Verdict

__all__ = ["Groundedness"]

_DENIED_BEFORE = re.compile(
    r"\b(?:no|without|lack of|nonexistent|non-existent|unknown|fictitious|missing)(?: [\w-]+){0,4}\W*$"
)
_NONE = (
    r"(?:\b(?:no|none|zero|not any|nothing|neither|nor|without(?: any)?)|n't any?)"
    r"(?: (?!one\b)(?:of|at|with|rated|incidents?|tickets?|cases?|is|are|was|were|an?|any|open|other|more|"
    r"further|active|current|new|the|them|these|level|severity|priority)){0,5}\W*$"
)
_NONE_OTHER = re.compile(_NONE)
_NONE_SUCH = re.compile(
    _NONE + r"|(?:\b(?:is|are|was|were|be) (?:not|never|no longer)|\bnever (?:is|was|were)|\b(?:is|are|was|were)n't)"
    r"(?: an?)?\W*$"
)
_BUT = re.compile(r"[^.!?\n]{0,40}\b(?:besides|except|other than|apart from|but)\b")
"""An exception says of what it names that it is so."""
_EXCEPTED = re.compile(
    r"\b(?:no|none|nothing|not any|n't any?)\b[^.!?\n]{0,60}\b(?:besides|except(?: for)?|other than|apart from|but)"
    r"(?: [\w-]+){0,2}\W*$"
)
_DENIED_AFTER = re.compile(
    r"\W*(?:\w+\W+){0,3}?(?:is|was|be|seems|appears|looks)\b(?: \w+)? "
    r"(?:unknown|missing|non-?existent|absent|fictitious|invalid|unrecogni[sz]ed|made up|unavailable)\b"
)


class Groundedness(TurnCheck):
    """Every entity that the answer names stands in the question or in what the tools gave.

    Example: `{id: grounded, check: groundedness, evidence: turn}`

    What an entity is, the suite's `vocabulary` says; `Lexicon` says how names are found. Evidence is the step's
    question and the decoded results of its tool calls, with `evidence: conversation` those of earlier steps too. Calls'
    arguments are none, nor is what an error or a failed look-up only repeats of them.

    For each of the suite's `pairs`, as in [incident, severity], a sentence that claims INC-1 with SEV2 needs a result
    that puts both together: the same object, or the same line of text. The question grounds the mention of an entity,
    never such a claim about it. What the answer denies ("INC-1 is not SEV1") is no claim. A reserved name may be
    denied, or named because the question does; no result makes it real. An empty answer claims nothing, never passes.
    """

    revision: ClassVar[int] = 7  # a denial that is called wrong takes nothing back
    check: Literal["groundedness"]
    evidence: Literal["turn", "conversation"] = "turn"
    vocabulary: Mapping[str, EntityKind] = Field(default_factory=dict)
    """Taken from the suite where it is not given here, as are `pairs`."""
    pairs: tuple[tuple[str, str], ...] = ()

    def in_domain(self, domain: Domain) -> Self:
        """This check knowing the suite's entities; ValueError when there are none, for nothing could ever fail."""
        vocabulary = self.vocabulary or domain.vocabulary
        if not vocabulary:
            raise ValueError(
                "a groundedness check needs entities to look for; declare them in the suite's `vocabulary`"
            )
        return self.model_copy(update={"vocabulary": vocabulary, "pairs": self.pairs or domain.pairs})

    def judge_turn(self, turn: Turn, sample: Sample) -> Verdict:
        """Fail with every entity and every pair that the turn's evidence does not show."""
        if not self.vocabulary:
            return self.unscored(sample, "no vocabulary: nothing can be recognised")
        said = spoken(sample.answer)
        if said.problem:
            if not is_blank(sample.answer):
                return self.scored(sample, False, said.problem)
            return self.unscored(sample, "the answer is empty: no entity was claimed", applicable=False)
        lexicon = _lexicon(self)
        evidence = _Evidence(lexicon, self.pairs)
        known = (*sample.earlier, turn)
        for one in known if self.evidence == "conversation" else (turn,):
            evidence.add(one, known)
        claims = _claims(said, lexicon, self.pairs)
        loose = [one for one in claims.entities if not self._supported(one, claims, evidence)]
        unfounded = set(loose)
        apart = [pair for pair in claims.pairs if pair not in evidence.pairs and unfounded.isdisjoint(pair)]
        return self._verdict(sample, said, claims, evidence, loose, apart)

    def _supported(self, entity: Entity, claims: _Claims, evidence: _Evidence) -> bool:
        if entity in evidence.asked:
            return True
        if entity in evidence.lexicon.reserved:
            return claims.denies(entity)
        if any(entity.kind == second for _, second in self.pairs):
            return claims.excludes(entity) or entity in evidence.shown
        return entity in evidence.shown

    def _verdict(  # noqa: PLR0917  # all that was found
        self, sample: Sample, said: Spoken, claims: _Claims, evidence: _Evidence, loose: list[Entity],
        apart: list[tuple[Entity, Entity]],
    ) -> Verdict:  # fmt: skip
        if loose or apart:
            unfounded = set(loose)
            wrong = [m for m in claims.mentions if m.entity in unfounded]
            wrong += [claims.at[pair] for pair in apart if pair in claims.at]
            spans = merged(said.span(claims.folded, one.start, one.end) for one in wrong)
            told = ", ".join(claims.named(one) + _why(one, evidence) for one in loose)
            reasons = [f"in no evidence: {told}"] if loose else []
            reasons += [claims.apart(pair, evidence.pairs) for pair in apart]
            calls = evidence.calls(one for pair in apart for one in pair)
            return self.scored(sample, False, "; ".join(reasons), spans=spans, calls=calls)
        if not claims.entities:
            return self.scored(sample, True, "the answer names no entity of the vocabulary")
        told = f"all in the evidence: {', '.join(map(claims.named, claims.entities))}"
        told += "".join(f"; {claims.named(a)} with {claims.named(b)}" for a, b in claims.pairs)
        return self.scored(sample, True, told, calls=evidence.calls(claims.entities))


def _why(entity: Entity, evidence: _Evidence) -> str:
    if entity in evidence.repeated:
        return " (only repeated from a call's own arguments)"
    return f" ({entity.kind})"


@dataclass(slots=True)
class _Evidence:
    """What was asked and what the tools showed."""

    lexicon: Lexicon
    kinds: tuple[tuple[str, str], ...]
    asked: set[Entity] = field(default_factory=set)
    shown: dict[Entity, tuple[int, int]] = field(default_factory=dict)
    """Entity to the first call that showed it: step, place in that step's calls (0 where it answers no call)."""
    repeated: set[Entity] = field(default_factory=set)
    pairs: set[tuple[Entity, Entity]] = field(default_factory=set)

    def add(self, turn: Turn, turns: Sequence[Turn]) -> None:
        """The evidence of one turn; `turns` are those up to it, among whose calls a stray result has its own."""
        self.asked |= read_value(turn.request, self.lexicon, ()).entities
        for place, call in enumerate(turn.tool_calls, 1):
            self._call(turn.step, place, call, [call.arguments])
        for result in turn.results:
            self._call(turn.step, 0, result, _asked_for(result, turns))

    def _call(self, step: int, place: int, call: ToolCall, arguments: Sequence[Mapping[str, Any]]) -> None:
        asked = read_value(list(map(dict, arguments)), self.lexicon, ())
        told = call.error if call.result is None else call.result
        if told is None or (failure(call) and not arguments):  # what a failure repeats cannot be told then
            self.repeated |= asked.entities
            return
        facts = read_value(told, self.lexicon, self.kinds, asked=asked)
        shown = facts.entities - self.lexicon.reserved - (asked.entities if call.error is not None else frozenset())
        self.repeated |= asked.entities - shown
        for entity in shown:
            self.shown.setdefault(entity, (step, place))
        self.pairs |= {pair for pair in facts.pairs if shown.issuperset(pair)}

    def calls(self, entities: Iterable[Entity]) -> tuple[int, ...]:
        """Where the calls stand that showed these entities: step, place, step, place, ..."""
        places = {self.shown[one] for one in entities if one in self.shown}
        return tuple(number for place in sorted(places) if place[1] for number in place)


def _asked_for(result: ToolCall, turns: Sequence[Turn]) -> list[Mapping[str, Any]]:
    """The arguments that a result may only repeat: its own, its call's, else those of all calls that it may answer."""
    if result.arguments:
        return [result.arguments]
    calls = [call for turn in turns for call in (*turn.tool_calls, *turn.pending)]
    named = [call for call in calls if call.name == result.name] or calls
    return [call.arguments for call in [one for one in named if result.id and one.id == result.id] or named]


@dataclass(slots=True)
class _Claims:
    """What an answer names and puts together."""

    folded: Folded
    raw: str
    entities: list[Entity]
    pairs: list[tuple[Entity, Entity]]
    mentions: list[Mention]
    at: dict[tuple[Entity, Entity], Mention]
    reading: Reading
    first: dict[Entity, Mention]

    def denies(self, entity: Entity) -> bool:
        """Whether every mention of `entity` stands in a clause that denies it."""
        there = [one for one in self.mentions if one.entity == entity]
        return bool(there) and all(
            _denied(self.reading, one) and not _EXCEPTED.search(self.reading.text[max(one.start - 80, 0) : one.start])
            for one in there
        )

    def excludes(self, entity: Entity) -> bool:
        """Whether every mention says that nothing is so, as in "no SEV3 incidents": a value, and no invented name."""
        there = [one for one in self.mentions if one.entity == entity]
        text = self.reading.text
        return bool(there) and all(
            _NONE_SUCH.search(text[max(one.start - 60, 0) : one.start]) and not _is_excepted_from(text, one)
            for one in there
        )

    def named(self, entity: Entity) -> str:
        """The entity as the answer writes it."""
        one = self.first.get(entity)
        if one is None:
            return entity.name
        start, end = self.folded.span(one.start, one.end)
        return self.raw[start:end]

    def apart(self, pair: tuple[Entity, Entity], shown: Iterable[tuple[Entity, Entity]]) -> str:
        """Why a pair does not hold: what the evidence has instead."""
        first, second = pair
        others = ", ".join(sorted(b.name for a, b in shown if a == first and b.kind == second.kind))
        others = others.upper() if self.named(second).isupper() else others
        told = f"the evidence has {self.named(first)} with {others}" if others else "no result puts them together"
        return f"{self.named(first)} with {self.named(second)}: {told}"


def _claims(said: Spoken, lexicon: Lexicon, kinds: Sequence[tuple[str, str]]) -> _Claims:
    folded = said.folded()
    mentions = lexicon.find(folded.text)
    reading = read_clauses(said.text, folded)
    entities = [one.entity for one in mentions]
    first = {one.entity: one for one in reversed(mentions)}
    value: Any = unpacked(_unfenced(said.text))
    at: dict[tuple[Entity, Entity], Mention] = {}
    pairs: list[tuple[Entity, Entity]] = []
    if isinstance(value, str):
        for pair, mention in pairs_in_text(folded.text, mentions, kinds):
            if not _denied(reading, mention) or _is_excepted_from(folded.text, mention):
                at.setdefault(pair, mention)
        pairs = list(at)
    else:
        facts: Facts = read_value(value, lexicon, kinds)
        entities += sorted(facts.entities)
        pairs = sorted(facts.pairs)
    return _Claims(folded, said.text, list(dict.fromkeys(entities)), pairs, mentions, at, reading, first)


def _unfenced(text: str) -> str:
    hit = re.fullmatch(r"\s*(?:```|~~~)\w*\n(?P<inside>.*?)\n\s*(?:```|~~~)\s*", text, re.DOTALL)
    return hit["inside"] if hit else text


def _is_excepted_from(text: str, one: Mention) -> bool:
    """Whether "no SEV3 incidents besides ..." denies all but what it then names, and so asserts that."""
    before, after = text[max(one.start - 60, 0) : one.start], text[one.end : one.end + 60]
    return _NONE_OTHER.search(before) is not None and _BUT.match(after) is not None


def _denied(reading: Reading, mention: Mention) -> bool:
    if reading.negates(mention.start, mention.end):
        return True
    clause = reading.at(mention.start)
    before = reading.text[clause.start : mention.start]
    after = reading.text[mention.end : max(clause.end, mention.end)]
    return _DENIED_BEFORE.search(before[-80:]) is not None or _DENIED_AFTER.match(after[:80]) is not None


def _lexicon(check: Groundedness) -> Lexicon:
    return _made(json.dumps({kind: entry.model_dump(mode="json") for kind, entry in check.vocabulary.items()}))


@lru_cache(maxsize=64)
def _made(vocabulary_json: str) -> Lexicon:
    written = json.loads(vocabulary_json)
    return Lexicon({kind: EntityKind.model_validate_json(json.dumps(entry)) for kind, entry in written.items()})
