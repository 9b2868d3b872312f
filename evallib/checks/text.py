"""Checks of the answer's wording: patterns, sections, exact answers, numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from evallib.checks.base import Check, Texts
from evallib.checks.batch import Batch, TextColumn, whole_numbers
from evallib.checks.folding import merged, shown
from evallib.checks.gaps import LONGEST, word_gap
from evallib.patterns import TO_END, flagged, from_end, loosened, quoted, refuse_broken, ungrouped
from evallib.records import Sample, Verdict

__all__ = ["Matches", "Sections"]

_NAMED = 5
"""How many patterns a reason names."""


class _Hit(NamedTuple):
    pattern: str
    told: str
    """The pattern and what it hit, as a reason tells it."""


class Matches(Check):
    r"""Patterns in RE2 syntax that the answer must, or must not, hold.

    Example: `{id: asks-version, check: matches, any_of: ['which version'], none_of: ['rm -rf']}`

    `any_of` wants one hit, `all_of` a hit of each, `none_of` no hit at all; all that are given must hold. Letters
    match in any case and `.` matches a line break unless `flags` says otherwise. `over: recorded` reads what the
    target stored outside its answer instead. `\b`, `\w` and `\d` know ASCII letters and digits only, as RE2 does.
    """

    check: Literal["matches"]
    any_of: Texts = ()
    all_of: Texts = ()
    none_of: Texts = ()
    over: Literal["answer", "recorded"] = "answer"
    flags: str = Field(default="is", pattern=r"^[ims]*$")
    """RE2 flags: i ignores case, m lets ^ and $ match at lines, s lets . match a line break."""

    @field_validator("any_of", "all_of", "none_of")
    @classmethod
    def _compile(cls, patterns: Texts) -> Texts:
        for pattern in patterns if isinstance(patterns, tuple) else ():
            refuse_broken(pattern)
        return patterns

    @model_validator(mode="after")
    def _ask_something(self) -> Self:
        if not (self.any_of or self.all_of or self.none_of):
            raise ValueError("a `matches` check needs at least one pattern in any_of, all_of or none_of")
        return self

    def __call__(self, samples: Sequence[Sample]) -> list[Verdict]:
        """One verdict per sample; each pattern runs over the whole column at once."""
        batch = Batch.of(samples)
        columns = batch.answers if self.over == "answer" else batch.recorded
        found: dict[int, list[_Hit]] = defaultdict(list)
        spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for pattern in dict.fromkeys(self._patterns()):
            for column in columns:
                for row, hit, span in self._hits(column, pattern):
                    hits = found[row]
                    if not hits or hits[-1].pattern != pattern:  # of several recorded texts, the first with a hit
                        hits.append(hit)
                        spans[row].append(span)
        if self.over == "answer":
            return self._of_answers(batch, found, spans)
        return [
            self.scored(sample, *self._read(found.get(row, ()))) if sample.recorded else self._nothing_recorded(sample)
            for row, sample in enumerate(batch)
        ]

    def _of_answers(
        self, batch: Batch, found: Mapping[int, Sequence[_Hit]], spans: Mapping[int, Sequence[tuple[int, int]]]
    ) -> list[Verdict]:
        """The verdicts on answers: alike but for their sample, save those of a hit; in tuples, for their number."""
        missed = self.scored(Sample("", "", 0), *self._read(()))
        alike, named, rest = missed[2:], missed[2:4], missed[9:]
        rows = [key + alike for key in batch.keys]
        read: dict[tuple[_Hit, ...], tuple[Any, ...]] = {}
        for row, hits in found.items():
            same = tuple(hits)
            middle = read.get(same)
            if middle is None:  # many answers are hit in the same words
                passed, reason = self._read(hits)
                middle = read[same] = (*named, reason, float(passed), float(passed), passed)
            places = spans[row]
            rows[row] = (*batch.keys[row], *middle, places[0] if len(places) == 1 else merged(places), *rest)
        return list(map(tuple.__new__, repeat(Verdict), rows))

    def sought(self) -> tuple[str, ...]:
        """Its patterns as it first searches the answers for them."""
        return tuple(map(self._loosened, self._patterns())) if self.over == "answer" else ()

    def _loosened(self, pattern: str) -> str:
        return loosened(flagged(pattern, self.flags))

    def _patterns(self) -> Iterator[str]:
        for patterns in (self.any_of, self.all_of, self.none_of):
            yield from patterns

    def _hits(self, column: TextColumn, pattern: str) -> Iterator[tuple[int, _Hit, tuple[int, int]]]:
        """The row of the sample, the first hit of `pattern` and its span, for each text that has one."""
        named = quoted(pattern)
        tellings: dict[str, _Hit] = {}
        for position, first, length in self._places(column, pattern):
            start, end = span = column.span(position, first, length)
            words = column.texts[position][start:end]
            hit = tellings.get(words)
            if hit is None:  # a pattern hits the same few words again and again
                hit = tellings[words] = _Hit(pattern, f"{named} hit {shown(words)}")
            yield column.owners[position], hit, span

    def _places(self, column: TextColumn, pattern: str) -> Iterator[tuple[int, int, int]]:
        """Position, first byte and length of the first hit of `pattern` for each text that has one."""
        import pyarrow.compute as pc

        positions = column.holding(self._loosened(pattern))
        gap = word_gap(pattern, self.flags) if column.is_ascii and len(positions) else None
        if gap and all(len(column.texts[position]) <= LONGEST for position in whole_numbers(positions)):
            for position in whole_numbers(positions):
                if hit := gap.first(column.texts[position].lower()):
                    yield position, *hit
        elif len(positions):
            search = flagged(pattern, self.flags)
            texts = column.arrow(search).take(positions)
            rest = TO_END if from_end(pattern, self.flags, texts) else ""
            spans = pc.extract_regex_span(texts, f"(?P<evallib_hit>{ungrouped(search)}){rest}")
            positions, spans = positions.filter(spans.is_valid()), spans.drop_null()
            bounds = whole_numbers(pc.struct_field(spans, "evallib_hit").flatten())
            yield from zip(whole_numbers(positions), bounds[::2], bounds[1::2], strict=True)

    def _read(self, found: Sequence[_Hit]) -> tuple[bool, str]:
        """Whether a sample with these hits passes, and why."""
        hits = dict(found)
        wrong = [f"must not occur: {hits[p]}" for p in self.none_of if p in hits]
        if self.any_of and hits.keys().isdisjoint(self.any_of):
            wrong.append(f"found no hit of any of {_listed(self.any_of)}")
        missing = tuple(p for p in self.all_of if p not in hits)
        if missing:
            wrong.append(f"found no hit of {_listed(missing)}")
        if wrong:
            return False, "; ".join(wrong)
        right = [f"found {hits[p]}" for p in (*self.any_of, *self.all_of) if p in hits]
        if self.none_of:
            right.append(f"found no hit of {_listed(self.none_of)}, as it must be")
        return True, "; ".join(right)

    def _nothing_recorded(self, sample: Sample) -> Verdict:
        if self.any_of or self.all_of:
            wanted = _listed((*self.any_of, *self.all_of))
            return self.scored(sample, False, f"nothing was recorded, so no hit of {wanted}")
        return self.scored(sample, True, "nothing was recorded, so nothing forbidden was")


@lru_cache
def _listed(patterns: tuple[str, ...]) -> str:
    more = f" and {len(patterns) - _NAMED} more" if len(patterns) > _NAMED else ""
    return ", ".join(map(quoted, patterns[:_NAMED])) + more


class Sections(Check):
    """Headings the answer must have and words it may not exceed; each is an equal share of the value.

    Example: `{id: format, check: sections, headings: [summary, steps, next], max_words: 250}`

    A heading is a line of one to three # and the name, in any case; `# Next steps` counts for `next`, not for `steps`.
    """

    check: Literal["sections"]
    headings: Texts
    max_words: int = Field(ge=1)

    def judge(self, sample: Sample) -> Verdict:
        """The share of headings found and limit kept."""
        missing = [name for name in self.headings if not _heading(name).search(sample.answer)]
        words = len(sample.answer.split())
        notes = [f"no {name!r} section" for name in missing]
        if not 0 < words <= self.max_words:
            notes.append(f"{words} words")
        parts = len(self.headings) + 1
        value = (parts - len(notes)) / parts
        return self.scored(sample, value, ", ".join(notes) or "ok", raw=round(value, 3))


def _heading(name: str) -> re.Pattern[str]:
    return re.compile(rf"^#{{1,3}}\s*{re.escape(name)}\b", re.IGNORECASE | re.MULTILINE)
