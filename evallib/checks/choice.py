"""The check of a multiple-choice answer, and how an answer's letter is found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, Self

from pydantic import Field, model_validator

from evallib.checks.base import Check, FromKey
from evallib.checks.extraction import NO_ANSWER, marked_regions, spoken
from evallib.checks.facts import whole
from evallib.checks.folding import fold
from evallib.records import Sample, Verdict

__all__ = ["Choice"]

_OPEN = r"[\s*_`\"'(\[{$\\]"
_HEAD = rf"{_OPEN}*+(?:(?:option|choice|letter|answer|text|mathrm|mathbf)\b(?:{_OPEN}|:)*+)*"
"""What may stand before an option; marks are taken once and for all, so that a run of them is read once."""


class _Chosen(NamedTuple):
    option: str
    start: int
    end: int


class Choice(Check):
    r"""One option of a multiple-choice question must be chosen, however its letter is decorated.

    Example: `{id: pick, check: choice, equals: B, options: {A: Lima, B: Oslo, C: Rome}}`

    `A`, `(A)`, `**A**`, `A) Lima`, `Answer: **A**`, `\boxed{A}` and `option A` all choose A. What is marked as the
    answer counts, else a line that begins with an option, else a decorated or capital letter; where the options' texts
    are given (a mapping), the text itself. Several options are ambiguous and fail; none is no answer, and the reason
    says so.
    """

    check: Literal["choice"]
    equals: FromKey | str = Field(min_length=1)
    options: tuple[str, ...] | Mapping[str, str]

    @model_validator(mode="after")
    def _offer_it(self) -> Self:
        names = [fold(name).text.strip() for name in self.options]
        if len(names) < 2 or len(set(names)) < len(names) or not all(names):
            raise ValueError("`options` needs two or more different options, as in [A, B, C, D]")
        if not self.equals.startswith("key.") and self.equals not in self.options:
            raise ValueError(f"`equals` is {self.equals!r}, which is not among the options {', '.join(self.options)}")
        return self

    def judge(self, sample: Sample) -> Verdict:
        """Pass when the right option is the only one chosen."""
        said = spoken(sample.answer)
        folded = said.folded()
        chosen = self._chosen(said.text, folded.text)
        names = [name for name in self.options if any(one.option == name for one in chosen)]
        spans = tuple(place for one in chosen[:1] for place in said.span(folded, one.start, one.end))
        if not names:
            why = said.problem or f"none of the options {', '.join(self.options)} is chosen"
            return self.scored(sample, False, f"{NO_ANSWER}: {why}; expected {self.equals}")
        if len(names) > 1:
            told = f"ambiguous: the answer chooses {' and '.join(names)}; expected {self.equals}"
            return self.scored(sample, False, told, spans=spans)
        told = f"the answer chooses {names[0]}, expected {self.equals}"
        return self.scored(sample, names[0] == self.equals, told, spans=spans)

    def _chosen(self, raw: str, text: str) -> list[_Chosen]:
        """The options chosen, by the surest sign that there is."""
        names = {fold(name).text.strip(): name for name in self.options}
        marked, leading, decorated, standing = _patterns(tuple(names))
        regions = marked_regions(text)
        if regions:
            found = [one for at in regions for one in _leads(marked, text, at.start, at.end, names)]
            return found or [one for at in regions for one in self._written(text, at.start, at.end)]
        for hits in (
            [one for start, end in _lines(text) for one in _leads(leading, text, start, end, names)],
            _named(decorated.finditer(text), names),
            _named((hit for hit in standing.finditer(text) if _is_capital(raw, text, hit)), names),
        ):
            if hits:
                return hits
        return list(self._written(text, 0, len(text)))

    def _written(self, text: str, start: int, end: int) -> Iterator[_Chosen]:
        """Options named by their texts."""
        for name, written in self.options.items() if isinstance(self.options, Mapping) else ():
            for hit in whole(written).finditer(text, start, end):
                yield _Chosen(name, *hit.span())


@lru_cache(maxsize=256)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """How options are found: heading a marked place ("answer: a dog" has none), heading a line, decorated, alone."""
    option = f"(?P<option>{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?![\\w'])"
    closed = r"(?=\s*$|[)\].:}*_`\"'$,]|\s*[-\u2014]\s|\s+(?:or|and|is (?:the )?(?:right|correct|best|answer))\b)"
    right = r"is (?:the )?(?:right|correct|best|answer)"
    return (
        re.compile(rf"{_HEAD}{option}(?:(?<!\W[ai])|{closed}|(?=\s+(?:because|since|as)\\b))"),
        re.compile(rf"{_HEAD}{option}{closed}"),
        re.compile(rf"(?:\(|\[|\*\*|`|\b(?:option|choice)\s+[*_`\"'(\[]*){option}(?=[)\]*`\"']|\b(?<=\w))(?!\s*[-/]\w)"
                   rf"|(?<![\w'])(?P<right>{'|'.join(map(re.escape, names))})[)*_`]*\s+{right}\b"),
        re.compile(rf"(?<![\w'.-]){option}(?!-\w)"),
    )  # fmt: skip


_ALSO = re.compile(r"\s*+[)\].:}*_`\"'$]*+\s*+(?:,\s*(?:or|and)|,|/|&|\bor\b|\band\b)\s*(?:either\s+)?")


def _leads(pattern: re.Pattern[str], text: str, start: int, end: int, names: Mapping[str, str]) -> Iterator[_Chosen]:
    """The option that the text from `start` to `end` begins with, and those joined to it by "or" and "and"."""
    hit = pattern.match(text, start, end)
    while hit:
        yield _Chosen(names[hit["option"]], *hit.span("option"))
        joined = _ALSO.match(text, hit.end("option"), end)
        hit = pattern.match(text, joined.end(), end) if joined else None


def _named(hits: Iterable[re.Match[str]], names: Mapping[str, str]) -> list[_Chosen]:
    found = []
    for hit in hits:
        group = "right" if "right" in hit.re.groupindex and hit["right"] else "option"
        found.append(_Chosen(names[hit[group]], *hit.span(group)))
    return found


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            yield start, start + len(line.rstrip())
        start += len(line)


def _is_capital(raw: str, text: str, hit: re.Match[str]) -> bool:
    """Whether a letter that stands alone is written large and is no article or pronoun ("A dog", "I think")."""
    if len(raw) != len(text) or not raw[hit.start() : hit.end()].isupper():
        return False
    return hit["option"] not in {"a", "i"} or re.match(r"\s+\w", text[hit.end() : hit.end() + 4]) is None
