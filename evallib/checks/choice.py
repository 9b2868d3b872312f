"""The check of a multiple-choice answer, and how an answer's letter is found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from evallib.checks.base import Check, FromKey
from evallib.checks.denial import Denials
from evallib.checks.extraction import NO_ANSWER, marked_regions, spoken
from evallib.checks.facts import whole
from evallib.checks.folding import Folded, fold
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
    are given (a mapping), the text itself. An option that the answer denies, excludes or only asks about is not chosen.
    Several options are ambiguous and fail, as does a letter with the text of another; none is no answer, and the reason
    says so.
    """

    revision: ClassVar[int] = 5  # a denial that is called wrong takes nothing back
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
        chosen = self._chosen(said.text, folded)
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

    def _chosen(self, raw: str, folded: Folded) -> list[_Chosen]:
        """The options chosen, by the surest sign that there is, without those that the answer takes back."""
        names = {fold(name).text.strip(): name for name in self.options}
        denials = Denials(raw, folded, "|".join(map(re.escape, names)))
        for hits in self._signs(raw, folded.text, names):
            given = [one for one in hits if not denials.takes_back(one.start, one.end)]
            if given:
                return [*given, *self._named_otherwise(folded.text, given)]
        return []

    def _signs(self, raw: str, text: str, names: Mapping[str, str]) -> Iterator[list[_Chosen]]:
        """Options as each sign shows them, the surest sign first."""
        marked, leading, decorated, standing = _patterns(tuple(names))
        regions = marked_regions(text)
        if regions:
            yield [one for at in regions for one in _leads(marked, text, at.start, at.end, names)]
            yield [one for at in regions for one in self._written(text, at.start, at.end)]
            return
        judged = self._judged(text, names)
        wrong = {one.option for one, right in judged if not right}
        yield [one for one, right in judged if right]
        for hits in (
            (one for start, end in _lines(text) for one in _leads(leading, text, start, end, names)),
            _named(decorated.finditer(text), names),
            _named((hit for hit in standing.finditer(text) if _is_capital(raw, text, hit)), names),
            self._written(text, 0, len(text)),
        ):
            yield [one for one in hits if one.option not in wrong]

    def _judged(self, text: str, names: Mapping[str, str]) -> list[tuple[_Chosen, bool]]:
        """Options that the answer goes through one by one ("A: wrong. B: right."), each with whether it is right.

        A single "B: no" may as well name B by its text, so that it takes two of them.
        """
        found = []
        for hit in _judging(tuple(names)).finditer(text):
            option = names[hit["option"]]
            if isinstance(self.options, Mapping) and _begins(self.options[option], text, hit.start("said")):
                continue
            plain = bool(hit["correct"] or hit["wrong"])
            found.append((_Chosen(option, *hit.span("option")), hit["right"] is not None, plain))
        several = len({one.option for one, _, _ in found}) > 1
        return [(one, right) for one, right, plain in found if several or plain]

    def _named_otherwise(self, text: str, given: list[_Chosen]) -> Iterator[_Chosen]:
        """The option whose text stands right after another one's letter, as in "B) Lima" where Lima is A."""
        if not isinstance(self.options, Mapping):
            return
        for one in given:
            between = _AFTER_LETTER.match(text, one.end)
            at = between.end() if between else one.end
            fits = [name for name, written in self.options.items() if _begins(written, text, at)]
            if fits and one.option not in fits:
                yield _Chosen(fits[0], at, at)

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
        re.compile(rf"{_HEAD}{option}(?:(?<!\W[ai])|{closed}|(?=\s+(?:because|since|as)\b))"),
        re.compile(rf"{_HEAD}{option}{closed}"),
        re.compile(rf"(?:\(|\[|\*\*|`|\b(?:option|choice)\s+[*_`\"'(\[]*){option}(?=[)\]*`\"']|\b(?<=\w))(?!\s*[-/]\w)"
                   rf"|(?<![\w'])(?P<right>{'|'.join(map(re.escape, names))})[)*_`]*\s+{right}\b"),
        re.compile(rf"(?<![\w'.-]){option}(?!-\w)"),
    )  # fmt: skip


_AFTER_LETTER = re.compile(r"[\s)\]}.:,=*_`\"'($-]*")


@lru_cache(maxsize=256)
def _judging(names: tuple[str, ...]) -> re.Pattern[str]:
    """How an answer says of an option that it is right or wrong; `correct` and `wrong` are hardly its text."""
    option = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(
        rf"(?<![\w'])(?P<option>{option})(?![\w'])[)\]*_`\"']*\s*"
        r"(?:[:=\u2014-]|->|\u2192|\bis\b|(?<=[)\]])|(?<=[)\]]\s)|(?=[\u2713-\u274c(]))\s*(?P<said>[*_`\"'(]*"
        r"(?:(?P<right>(?:the )?(?P<correct>right|correct)|true|yes|yep|\u2713|\u2714|\u2705)"
        r"|(?P<wrong>wrong|incorrect)|false|no|nope|\u2717|\u2718|\u2716|\u274c))(?:(?<!\w)|(?=[\s*_`\"')]*(?:[.,;\n]|$|[a-z0-9][):])))"
    )


def _begins(written: str, text: str, at: int) -> bool:
    """Whether an option's text stands in folded `text` at `at`."""
    return whole(written).match(text, at) is not None


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
    return (
        hit["option"] not in {"a", "i"}
        or re.match(r"\s+(?!(?:or|nor|and)\b)\w", text[hit.end() : hit.end() + 6]) is None
    )
