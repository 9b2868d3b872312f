"""Conversations: checks that read turn by turn, and checks asked of single steps; the lowest verdict decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import SerializeAsAny

from evallib.checks.base import Check
from evallib.checks.foreign import Foreign, verdicts_by
from evallib.domain import Domain
from evallib.records import Sample, Turn, Verdict

__all__ = ["OverSteps", "TurnCheck", "is_foreign", "lowest", "parts_of"]


class TurnCheck(Check):
    """A check that reads one turn; over a conversation its lowest verdict counts."""

    def judge(self, sample: Sample) -> Verdict:
        """The lowest verdict over the turns; a sample without turns is read as one turn of its answer."""
        turns = sample.turns or (Turn(1, "", sample.answer),)
        verdicts = [self.judge_turn(turn, sample.at(turn) if sample.turns else sample) for turn in turns]
        verdicts = [*(one._replace(spans=()) for one in verdicts[:-1]), verdicts[-1]]  # of other texts than the answer
        return lowest(verdicts, [f"step {turn.step}: " if len(turns) > 1 else "" for turn in turns])

    def judge_turn(self, turn: Turn, sample: Sample) -> Verdict:
        """The verdict on `turn`; `sample` is narrowed to it, so that its answer is this turn's final text."""
        raise NotImplementedError


class OverSteps(Check):
    """What a case expects of single steps under one check id; made by the suite, never written."""

    check: Literal["over_steps"] = "over_steps"
    parts: tuple[tuple[int, SerializeAsAny[Check]], ...]
    """(step, check) in order."""

    def criteria(self, *, decisive: bool = True) -> dict[str, Any]:
        """All that can change a verdict, with the revisions of the parts' kinds."""
        written, revisions = super().criteria(decisive=decisive), [check.revision for _, check in self.parts]
        return {**written, "revisions": revisions} if max(revisions) > 1 else written

    def __call__(self, samples: Sequence[Sample]) -> list[Verdict]:
        """Each part over all samples at once; then, for each sample, the lowest verdict."""
        columns = [self._at(step, check, samples) for step, check in self.parts]
        names = [f"step {step}: " for step, _ in self.parts]
        return [lowest(verdicts, names) for verdicts in zip(*columns, strict=True)]

    def _at(self, step: int, check: Check, samples: Sequence[Sample]) -> list[Verdict]:
        turns = [next((turn for turn in sample.turns if turn.step == step), None) for sample in samples]
        there = [sample.at(turn) for sample, turn in zip(samples, turns, strict=True) if turn]
        judged = iter(verdicts_by(check, there) if there else ())
        return [
            self._as_own(next(judged), last=turn is sample.turns[-1])
            if turn
            else self.scored(sample, False, "the conversation ended before it")
            for sample, turn in zip(samples, turns, strict=True)
        ]

    def _as_own(self, verdict: Verdict, *, last: bool) -> Verdict:
        """A part's verdict under this check's digest; spans count in the sample's final text only."""
        return verdict._replace(decides=self._decides, spans=verdict.spans if last else ())

    def bind(self, key: Mapping[str, Any]) -> OverSteps:
        """This check with every part made concrete from the case's answer key."""
        return self.model_copy(update={"parts": tuple((step, check.bind(key)) for step, check in self.parts)})

    def in_domain(self, domain: Domain) -> OverSteps:
        """This check with every part knowing the suite's domain."""
        return self.model_copy(update={"parts": tuple((step, check.in_domain(domain)) for step, check in self.parts)})

    def within(self, check_s: float) -> OverSteps:
        """This check with every part granted `check_s` seconds."""
        return self.model_copy(update={"parts": tuple((step, check.within(check_s)) for step, check in self.parts)})


def parts_of(check: Check) -> list[Check]:
    """What is asked of single steps under one check id, or the check itself."""
    return [part for _, part in check.parts] if isinstance(check, OverSteps) else [check]


def is_foreign(check: Check) -> bool:
    """Whether a part of it is of another package's kind that is not imported."""
    return any(isinstance(part, Foreign) for part in parts_of(check))


def lowest(verdicts: Iterable[Verdict], places: Sequence[str]) -> Verdict:
    """The verdict that decides: one that could not be had voids the rest, then the least value; ties keep the first.

    `places` are put before the reason. Verdicts that do not apply count only where no other is.
    """
    ranks = {"not_scored": 0, "scored": 1, "not_applicable": 2}
    found = list(zip(verdicts, places, strict=True))
    verdict, place = min(
        found, key=lambda one: (ranks[one[0].status], one[0].value if one[0].value is not None else 0.0)
    )
    if verdict.status == "scored" and verdict.passed and len(found) > 1:
        scored = [(one, at) for one, at in found if one.status == "scored"]
        return verdict._replace(
            reason="; ".join(f"{at}{one.reason}" for one, at in scored),
            spans=tuple(number for one, _ in scored for number in one.spans),
            calls=tuple(number for one, _ in scored for number in one.calls),
        )
    return verdict._replace(reason=f"{place}{verdict.reason}")
