"""Checks with one right answer: a text or a number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from evallib.checks.base import Check, Texts
from evallib.checks.extraction import NO_ANSWER, Region, marked_regions, spoken, unlabelled
from evallib.checks.folding import fold, shown
from evallib.checks.numbers import Figure, figures
from evallib.records import Sample, Verdict

__all__ = ["Exact", "Number"]


def _came_later(value: object) -> bool:
    """Whether a key that came later was left out: then it must not change the digest of older checks."""
    return value in ("", (), None)


class Exact(Check):
    """The whole answer must be one of these texts, apart from case, outer blanks, mark-up and final punctuation.

    Example: `{id: capital, check: exact, any_of: [Paris]}`

    Thought parts do not count, nor does a label such as `Answer:` where the answer is that one line.
    """

    revision: ClassVar[int] = 2  # thought parts and labels are left out
    check: Literal["exact"]
    any_of: Texts

    @field_validator("any_of")
    @classmethod
    def _name_an_answer(cls, texts: Texts) -> Texts:
        if not texts or not all(map(_bare, texts)):
            raise ValueError("an exact check needs answers of at least one letter or digit; write the right answer")
        return texts

    def judge(self, sample: Sample) -> Verdict:
        """Pass when the answer is one of the texts."""
        said = spoken(sample.answer)
        wanted = " or ".join(map(repr, self.any_of))
        given = _bare(unlabelled(said.text))
        if not given:
            return self.scored(sample, False, f"{NO_ANSWER}: {said.problem or 'no word in it'}; expected {wanted}")
        right = given in {_bare(text) for text in self.any_of}
        reason = f"the answer is {shown(said.text)}"
        return self.scored(sample, right, reason if right else f"{reason}, expected {wanted}")


class Number(Check):
    r"""The number that the answer ends in must equal this one, within `tolerance`.

    Example: `{id: sum, check: number, equals: 4183}`

    The answer is the number marked as such (`Answer: 12`, `\boxed{12}`, `#### 12`), else the last number. `4,183`,
    `4 183`, `4'183` and `4.183,0` are read as 4183; `4.183` is 4.183, and where 4183 was expected it fails as
    ambiguous, never as merely wrong. An answer that offers several numbers (`60 or 75`, `1/2`) has none. A percentage
    counts only with `percent: true` (60 for 60 %) or `percent: share` (0.6 for 60 % and for 0.6). With `unit: [ms]`
    the number must carry one of these units; without it units are not read.
    """

    revision: ClassVar[int] = 2  # thought parts are left out, marked answers found, ambiguous numbers refused
    check: Literal["number"]
    equals: float
    tolerance: float = Field(default=0.0, ge=0)
    percent: bool | Literal["share"] = False
    unit: tuple[str, ...] = Field(default=(), exclude_if=_came_later)

    @field_validator("unit")
    @classmethod
    def _name_units(cls, units: tuple[str, ...]) -> tuple[str, ...]:
        if not all(re.fullmatch(r"[^\W\d_]+(?:/[^\W\d_]+)?|\u00b0[^\W\d_]?|[$\u20ac\u00a3]", unit) for unit in units):
            raise ValueError("a unit is one word or sign, as in [ms], [km/h] or [EUR]; a percentage is `percent: true`")
        return units

    def judge(self, sample: Sample) -> Verdict:
        """Pass when the number given is the one expected."""
        said = spoken(sample.answer)
        folded = said.folded()
        given = _given(folded.text)
        if not given:
            why = said.problem or "there is no number in it"
            return self.scored(sample, False, f"{NO_ANSWER}: {why}; expected {self.equals:.15g}")
        spans = tuple(place for one in given for place in said.span(folded, one.start, one.end))
        if any(one.value != given[0].value for one in given):
            told = f"ambiguous: the answer offers several numbers: {_quoted(folded.text, given)}"
            return self.scored(sample, False, told, spans=spans)
        right, reason = self._compare(given[-1])
        return self.scored(sample, right, reason, spans=spans[-2:] if right else ())

    def _compare(self, figure: Figure) -> tuple[bool, str]:
        named = f"the last number, {figure.text},"
        if figure.percent != bool(self.percent) and self.percent != "share":
            return False, f"{named} is {'a' if figure.percent else 'no'} percentage: not compared"
        if self.unit and figure.unit not in {fold(unit).text for unit in self.unit}:
            has = f"has the unit {figure.unit!r}" if figure.unit else "has no unit"
            return False, f"{named} {has}, expected {' or '.join(self.unit)}: not compared"
        factor = 0.01 if self.percent == "share" and figure.percent else 1.0
        reason = f"the last number is {figure.text}, expected {self.equals:.15g}"
        if self.tolerance:
            reason += f" within {self.tolerance:.15g}"
        if self._near(figure.value * factor):
            return True, reason
        if figure.other is not None and self._near(figure.other * factor):
            return False, f"ambiguous: {figure.text} is {figure.value:.15g} or {figure.other:.15g}; {reason}"
        return False, reason

    def _near(self, value: float) -> bool:
        return abs(value - self.equals) <= self.tolerance + 1e-14 * abs(self.equals)


_OR = re.compile(r"[^.!?\n\d=]{0,30}?\bor\b(?! (?:more|less|so|fewer|higher|lower|greater)\b)[^.!?\n\d=]{0,30}")
_SLASH = re.compile(r"[\s%*_`]*/[\s*_`]*")
_ARITHMETIC = re.compile(r"\s*(?:[-+*/^=\u00d7\u00f7\u00b7<>]|\\(?:times|cdot|div)\b|(?:plus|minus|times)\b)\s*[\d(]")
_DIRECT = re.compile(
    r"[\s*_`\"'($\\:~\u2248]*(?:(?:about|approximately|exactly|roughly|around|only|just)\s+|[a-z]\s*=\s*)?"
)


def _given(text: str) -> list[Figure]:
    """The numbers that folded `text` gives as its answer: one, or several where it does not decide."""
    regions = marked_regions(text)
    if not regions:
        return _alternatives(text, list(figures(text)))
    found = [one for at in regions for one in _in_region(text, at)]
    return found or _alternatives(text, list(figures(text)))


def _in_region(text: str, region: Region) -> list[Figure]:
    """Where a number comes first in what is marked, it is the answer; after a sum or words the last one is."""
    there = [
        one._replace(start=one.start + region.start, end=one.end + region.start)
        for one in figures(text[region.start : region.end])
    ]
    direct = _DIRECT.match(text, region.start, region.end)
    if there and direct and there[0].start == direct.end() and not _ARITHMETIC.match(text, there[0].end, region.end):
        return _alternatives(text, there[: 1 + _joined(text, there)])
    return _alternatives(text, there)


def _joined(text: str, numbers: Sequence[Figure]) -> int:
    """How many of the numbers after the first are other answers to the same question."""
    count = 0
    for one, after in pairwise(numbers):
        if not _offers(text, one, after):
            break
        count += 1
    return count


def _alternatives(text: str, numbers: Sequence[Figure]) -> list[Figure]:
    """The last number, and those right before it that it is an alternative to."""
    first = len(numbers) - 1
    while first > 0 and _offers(text, numbers[first - 1], numbers[first]):
        first -= 1
    return list(numbers[max(first, 0) :])


def _offers(text: str, one: Figure, after: Figure) -> bool:
    between = text[one.end : after.start]
    return (_OR.fullmatch(between) or _SLASH.fullmatch(between)) is not None


def _quoted(text: str, numbers: Sequence[Figure]) -> str:
    """The numbers as they stand, with what is between them where that is short."""
    first, last = numbers[0].start, numbers[-1].end
    return shown(text[first:last]) if last - first <= 60 else " and ".join(one.text for one in numbers)


def _bare(text: str) -> str:
    """`text` as it is compared: folded, one blank between words, no mark-up around it, no final punctuation."""
    line = " ".join(fold(text).text.casefold().split())
    return line.strip("*_`\"' ").rstrip(".!?,;: ").strip("*_`\"' ")
