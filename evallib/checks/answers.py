"""Checks with one right answer: a text or a number."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from evallib.checks.base import Check, Texts
from evallib.checks.denial import Denials
from evallib.checks.extraction import NO_ANSWER, Region, marked_regions, spoken, unlabelled
from evallib.checks.folding import Folded, fold, shown
from evallib.checks.numbers import CURRENCY_SIGNS, Figure, figures
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

    revision: ClassVar[int] = 3  # underscores that are part of a name stay
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
    the number must carry one of these units; without it units are not read. Symbols differ by case (Mb, mB), words and
    currencies do not. A number that the answer denies, or only asks about, is not given.
    """

    revision: ClassVar[int] = 8  # a denial that is called wrong takes nothing back
    check: Literal["number"]
    equals: float
    tolerance: float = Field(default=0.0, ge=0)
    percent: bool | Literal["share"] = False
    unit: tuple[str, ...] = Field(default=(), exclude_if=_came_later)

    @field_validator("unit")
    @classmethod
    def _name_units(cls, units: tuple[str, ...]) -> tuple[str, ...]:
        if not all(
            re.fullmatch(rf"[^\W\d_]+(?:/[^\W\d_]+)?|\u00b0[^\W\d_]?|[{CURRENCY_SIGNS}]", unit) for unit in units
        ):
            raise ValueError("a unit is one word or sign, as in [ms], [km/h] or [EUR]; a percentage is `percent: true`")
        return units

    def judge(self, sample: Sample) -> Verdict:
        """Pass when the number given is the one expected."""
        said = spoken(sample.answer)
        folded = said.folded()
        named, given = _given(said.text, folded)
        if not given:
            why = said.problem or (
                "it gives none of its numbers as the answer" if named else "there is no number in it"
            )
            return self.scored(sample, False, f"{NO_ANSWER}: {why}; expected {self.equals:.15g}")
        spans = tuple(place for one in given for place in said.span(folded, one.start, one.end))
        if any(one.value != given[0].value for one in given):
            told = f"ambiguous: the answer offers several numbers: {_quoted(folded.text, given)}"
            return self.scored(sample, False, told, spans=spans)
        right, reason = self._compare(given[-1], self._written_units(said.text, folded, given[-1]))
        return self.scored(sample, right, reason, spans=spans[-2:] if right else ())

    def _written_units(self, raw: str, folded: Folded, figure: Figure) -> list[str]:
        """The unit after the number and the currency before it, in the letters of the answer."""
        spans = [at for at in (figure.unit_at, figure.before) if at[1]]
        return (
            [fold(raw[slice(*folded.span(*at))], lower=False).text.strip(" *_`") for at in spans] if self.unit else []
        )

    def _compare(self, figure: Figure, units: Sequence[str]) -> tuple[bool, str]:
        named = f"the last number, {figure.text},"
        if figure.percent != bool(self.percent) and self.percent != "share":
            return False, f"{named} is {'a' if figure.percent else 'no'} percentage: not compared"
        wanted = {_as_compared(unit) for unit in self.unit}
        if self.unit and wanted.isdisjoint(map(_as_compared, units)):
            has = f"has the unit {units[0]!r}" if figure.unit else "has no unit"
            return False, f"{named} {has}, expected {' or '.join(self.unit)}: not compared"
        power = -2 if self.percent == "share" and figure.percent else 0
        reason = f"the last number is {figure.text}, expected {self.equals:.15g}"
        if self.tolerance:
            reason += f" within {self.tolerance:.15g}"
        if self._near(figure.value, power):
            return True, reason
        if figure.other is not None and self._near(figure.other, power):
            return False, f"ambiguous: {figure.text} is {figure.value:.15g} or {figure.other:.15g}; {reason}"
        return False, reason

    def _near(self, value: float, power: int) -> bool:
        """Whether value times ten to the `power` is near enough; in decimals: floats make 0.4 - 0.3 more than 0.1."""
        if not (math.isfinite(value) and math.isfinite(self.equals)):
            return value == self.equals
        with localcontext(prec=700):  # all digits between the largest float and the smallest
            far = abs(Decimal(repr(value)).scaleb(power) - Decimal(repr(self.equals)))
            return far <= Decimal(repr(self.tolerance))


_SYMBOL = re.compile(
    r"(?:[pn\u00b5umckKMGTPE]|da|[kKMGTPE]i)?(?:b|B|bps|Bps|Hz|hz|HZ|Wh|wh|WH|W|w|V|v|Ah|ah|A|a|m|s|S|g|G|l|L|Pa|J|j|N|n|K|c|h)"
)
"""A unit in which the case of a letter tells powers of ten or bits and bytes apart."""


def _as_compared(unit: str) -> str:
    """A unit as it is compared: words and currencies in any case, symbols by letter but for the K of kilo."""
    parts = fold(unit, lower=False).text.split("/")
    return "/".join(re.sub(r"^K(?=\w)", "k", one) if _SYMBOL.fullmatch(one) else one.casefold() for one in parts)


_OR = re.compile(r"[^.!?\n\d=]{0,30}?\bor\b(?! (?:more|less|so|fewer|higher|lower|greater)\b)[^.!?\n\d=]{0,30}")
_SLASH = re.compile(r"[\s%*_`]*/[\s*_`]*")
_ARITHMETIC = re.compile(r"\s*(?:[-+*/^=\u00d7\u00f7\u00b7<>]|\\(?:times|cdot|div)\b|(?:plus|minus|times)\b)\s*[\d(]")
_EQUALS = re.compile(r"[\s*_`()$\\a-z/]{0,20}=[\s*_`()$]{0,9}")
_OPERATOR = re.compile(
    r"[\s*_`()$]{0,9}(?:[-+*/^x\u00d7\u00f7\u00b7]|\\(?:times|cdot|div)|plus|minus|times)[\s*_`()$]{0,9}"
)
_EXACTNESS = re.compile(r"(?:\u00b1|\+/-|\\pm)\s*[-+]?\Z")
_RANGE = re.compile(r"\s*(?:-{1,2}|\.{2,3}|\u2026|\u2014|to|through|until)\s*")
_DIRECT = re.compile(
    r"[\s*_`\"'($\\:~\u2248]*(?:(?:about|approximately|exactly|roughly|around|only|just)\s+|[a-z]\s*=\s*)?"
)


def _given(raw: str, folded: Folded) -> tuple[list[Figure], list[Figure]]:
    """All numbers of `folded`, and those that it gives as its answer: one, or several where it does not decide."""
    text, denials = folded.text, Denials(raw, folded, r"\d[\d.,]*")
    named = list(figures(text))
    regions = marked_regions(text)
    found = [one for at in regions for one in _in_region(text, at, denials)]
    return named, found or _last(text, named, denials)


def _in_region(text: str, region: Region, denials: Denials) -> list[Figure]:
    """Where a number comes first in what is marked, it is the answer; after a sum or words the last one is."""
    there = [_moved(one, region.start) for one in figures(text[region.start : region.end])]
    direct = _DIRECT.match(text, region.start, region.end)
    if there and direct and there[0].start == direct.end() and not _ARITHMETIC.match(text, there[0].end, region.end):
        first = _last(text, there[: 1 + _joined(text, there)], denials)
        if first:
            return first
    return _last(text, there, denials)


def _moved(one: Figure, by: int) -> Figure:
    unit_at, before = ((at[0] + by, at[1] + by) if at[1] else at for at in (one.unit_at, one.before))
    return one._replace(start=one.start + by, end=one.end + by, unit_at=unit_at, before=before)


def _last(text: str, numbers: Sequence[Figure], denials: Denials) -> list[Figure]:
    """What the numbers come to, without those that the text takes back and those that only say how exact one is."""
    left = list(numbers)
    while left:
        sides = _equation(text, left)
        given = _alternatives(text, sides or left)
        kept = [one for one in given if not (_EXACTNESS.search(text[max(one.start - 9, 0) : one.start])
                                             or denials.takes_back(one.start, one.end))]  # fmt: skip
        if kept:
            return kept
        while left and left[-1].start >= given[0].start:
            left.pop()
    return []


def _equation(text: str, numbers: Sequence[Figure]) -> list[Figure]:
    """The last side of an equation at the end of the numbers that is one number, as in "42 = 7 * 6"; else none."""
    sides = [[numbers[-1]]]
    for one, after in pairwise(reversed(numbers)):
        between = text[after.end : one.start]
        if _EQUALS.fullmatch(between):
            sides.append([after])
        elif _OPERATOR.fullmatch(between) or (between == "" and text[one.start] in "+-"):
            sides[-1].append(after)
        else:
            break
    plain = [side for side in sides if len(side) == 1]
    return plain[0] if len(sides) > 1 and plain else []


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
    """Whether two numbers are alternatives ("60 or 75", "1/2") or the ends of a range ("50-60")."""
    between = text[one.end : after.start]
    if _OR.fullmatch(between) or _SLASH.fullmatch(between):
        return True
    if one.unit and one.unit == after.unit:
        between = text[one.unit_at[1] : after.start] if one.unit_at[0] >= one.end else between
    before = text[max(one.start - 12, 0) : one.start].rstrip(" *_`$")
    if before.endswith("from"):
        return False  # what changed from 50 to 60 is 60
    return _RANGE.fullmatch(between.replace("%", "")) is not None or (
        before.endswith("between") and re.fullmatch(r"[\s*_`$%]*and[\s*_`$]*", between) is not None
    )


def _quoted(text: str, numbers: Sequence[Figure]) -> str:
    """The numbers as they stand, with what is between them where that is short."""
    first, last = numbers[0].start, numbers[-1].end
    return shown(text[first:last]) if last - first <= 60 else " and ".join(one.text for one in numbers)


def _bare(text: str) -> str:
    """`text` as it is compared: folded, one blank between words, no mark-up around it, no final punctuation."""
    line = " ".join(fold(text, lower=False).text.split())
    return fold(_unmarked(_unmarked(line).rstrip(".!?,;: "))).text.casefold()


_NAMED_SO = re.compile(r"__[a-z][a-z0-9_]*__|_+[^_](?:.*[^_])?|[^_](?:.*[^_])?_+", re.DOTALL)
"""What begins or ends in underscores without being emphasised by them: __init__, _private, class_."""


def _unmarked(line: str) -> str:
    """`line` without quotes and emphasis around it."""
    while True:
        inner = line.strip("*`\"' ")
        if inner.strip("_") and not _NAMED_SO.fullmatch(inner):
            inner = re.sub(r"\A(_+)(.*?)\1\Z", r"\2", inner, flags=re.DOTALL)
        if inner == line:
            return line
        line = inner
