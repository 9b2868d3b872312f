"""Checks of what the answer states: required facts, one exact answer, one number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator, Field, field_validator

from evallib.checks.base import Check, FromKey, Texts
from evallib.checks.folding import Folded, fold, merged, shown
from evallib.records import Sample, Verdict

__all__ = ["Exact", "Mentions", "Number", "whole"]

Fact = str | tuple[str, ...]
"""A text that must be there, or the variants of which one must."""


def _written_as_facts(value: object) -> object:
    """A list of texts and lists of variants as tuples, refused with the remedy where it holds anything else."""
    if isinstance(value, str) and not value.startswith("key."):
        raise ValueError(f"{value!r} must be a list, as in [{value!r}], or a reference like key.NAME")
    if not isinstance(value, list | tuple):
        return value
    facts = [tuple(fact) if isinstance(fact, list) else fact for fact in value]
    for text in (text for fact in facts for text in (fact if isinstance(fact, tuple) else (fact,))):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{text!r} is no text that can be required; write words, numbers in quotes")
    if () in facts:
        raise ValueError("an empty list of variants can never be found; write at least one")
    return tuple(facts)


class Mentions(Check):
    """Texts that must all be in the answer; the value is the share that is.

    Example: `{id: facts, check: mentions, all_of: [KB-2210, [proxy version, version of the proxy]]}`

    An item that is itself a list holds variants, any of which counts. Texts are found as whole words in any case,
    however blanks, dashes and quotes are typed, and never inside a longer identifier (KB-2210 is not in KB-22100).
    With `share: false` the value is 1 when all are there, else 0.
    """

    check: Literal["mentions"]
    all_of: Annotated[FromKey | tuple[Fact, ...], BeforeValidator(_written_as_facts)]
    share: bool = True

    def judge(self, sample: Sample) -> Verdict:
        """The share of the required texts that the answer holds."""
        facts = [(fact,) if isinstance(fact, str) else fact for fact in self.all_of]
        if not facts:
            return self.scored(sample, True, "nothing is required")
        answer = fold(sample.answer)
        spans = [_first_span(answer, variants) for variants in facts]
        missing = [" or ".join(map(repr, v)) for v, span in zip(facts, spans, strict=True) if span is None]
        found = len(facts) - len(missing)
        value = found / len(facts) if self.share else float(not missing)
        reason = f"{found} of {len(facts)} required texts are there"
        if missing:
            reason += f"; missing: {', '.join(missing)}"
        return self.scored(sample, value, reason, spans=merged(span for span in spans if span))


class Exact(Check):
    """The whole answer must be one of these texts, apart from case, outer blanks, mark-up and final punctuation.

    Example: `{id: capital, check: exact, any_of: [Paris]}`
    """

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
        given = _bare(sample.answer)
        if given and given in {_bare(text) for text in self.any_of}:
            return self.scored(sample, True, f"the answer is {shown(sample.answer)}")
        wanted = " or ".join(map(repr, self.any_of))
        answer = f"the answer is {shown(sample.answer)}" if given else "the answer is empty"
        return self.scored(sample, False, f"{answer}, expected {wanted}")


class Number(Check):
    """The last number in the answer must equal this one, within `tolerance`.

    Example: `{id: sum, check: number, equals: 4183}`

    `4,183` and `4 183` are read as 4183, `4.183` is not. A percentage counts only with `percent: true` (60 for 60 %),
    and an answer that offers several (`60 or 75`) has none.
    """

    check: Literal["number"]
    equals: float
    tolerance: float = Field(default=0.0, ge=0)
    percent: bool = False

    def judge(self, sample: Sample) -> Verdict:
        """Pass when the last number is the one expected."""
        numbers = _numbers(sample.answer)
        if not numbers:
            return self.scored(sample, False, f"no number in the answer, expected {self.equals:g}")
        last = numbers[-1]
        if last.alternative and last.value != numbers[-2].value:
            return self.scored(sample, False, f"the answer offers several numbers: {shown(last.alternative)}")
        if last.percent != self.percent:
            kind = "a percentage" if last.percent else "no percentage"
            return self.scored(sample, False, f"the last number, {last.text}, is {kind}: not compared")
        right = abs(last.value - self.equals) <= self.tolerance + 1e-12 * abs(self.equals)
        reason = f"the last number is {last.text}, expected {self.equals:g}"
        if self.tolerance:
            reason += f" within {self.tolerance:g}"
        if not right and "." in last.text and abs(_value(last.text.replace(".", "")) - self.equals) <= self.tolerance:
            reason += "; the dot is read as a decimal point"
        return self.scored(sample, right, reason, spans=last.span if right else ())


@lru_cache(maxsize=4096)
def whole(text: str) -> re.Pattern[str]:
    """Finds `text` in folded text as whole words: blanks may be any, mark-up may stand around words."""
    words = fold(text.strip()).text.split()
    body = r"[\s*_`\"]+".join(re.escape(word) for word in words)
    before = r"(?<![^\W_])(?<![^\W_][-_])(?<!\d[.,])" if words and words[0][0].isalnum() else ""
    after = r"(?![^\W_])(?![-_][^\W_])(?![.,]\d)" if words and words[-1][-1].isalnum() else ""
    return re.compile(before + body + after)


def _first_span(answer: Folded, variants: Sequence[str]) -> tuple[int, int] | None:
    for text in variants:
        hit = whole(text).search(answer.text)
        if hit:
            return answer.span(*hit.span())
    return None


def _bare(text: str) -> str:
    """`text` as it is compared: folded, one blank between words, no mark-up around it, no final punctuation."""
    line = " ".join(fold(text).text.casefold().split())
    return line.strip("*_`\"' ").rstrip(".!?,;: ").strip("*_`\"' ")


class _Figure(NamedTuple):
    text: str
    value: float
    percent: bool
    alternative: str
    """`60 or 75` when this number follows another one and an "or"; empty otherwise."""
    span: tuple[int, int]


_NUMBER = re.compile(
    r"(?<![\w.])(?:(?<![\d)\]])[-+])?"  # a sign, but not the minus of a difference or the dash of a range
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,3}(?: \d{3})+(?!\d)|\d{1,3}(?:_\d{3})+(?!\d)|\d+)"
    r"(?:\.\d+)?(?:e[-+]?\d+)?"
)


def _numbers(text: str) -> list[_Figure]:
    answer = fold(text)
    figures: list[_Figure] = []
    end = 0
    for hit in _NUMBER.finditer(answer.text):
        between = answer.text[end : hit.start()]
        either = bool(figures) and re.fullmatch(r"[\s%*_`]*or[\s*_`]*", between) is not None
        alternative = f"{figures[-1].text}{between}{hit[0]}" if either else ""
        value = _value(hit[0])
        percent = re.match(r"[*_`]*\s?(?:%|percent\b|per cent\b)", answer.text[hit.end() :]) is not None
        figures.append(_Figure(hit[0], value, percent, alternative, answer.span(*hit.span())))
        end = hit.end()
    return figures


def _value(text: str) -> float:
    return float(re.sub(r"[, _]", "", text))
