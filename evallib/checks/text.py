"""Checks of the answer's wording: patterns, sections, exact answers, numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from evallib.checks.base import Check, Texts
from evallib.checks.batch import Batch, TextColumn
from evallib.checks.folding import merged, shown
from evallib.records import Sample, Verdict

__all__ = ["Matches", "Sections", "refuse_broken"]

_GROUP = re.compile(
    r"\\Q.*?(?:\\E|\Z)"  # quoted text
    r"|\\."  # an escaped character
    r"|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]"  # a character class
    r"|\((?:\?P?<\w+>|(?!\?))",  # a group that captures opens
    re.DOTALL,
)
_NAMED = 5
"""How many patterns a reason names."""


class _Hit(NamedTuple):
    pattern: str
    text: str
    start: int
    end: int


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
        column = batch.answers if self.over == "answer" else batch.recorded
        found = {pattern: self._hits(column, pattern) for pattern in dict.fromkeys(self._patterns())}
        touched = {row for hits in found.values() for row in hits}
        untouched, score = self._read({}), self.scorer()
        verdicts = []
        for row, sample in enumerate(batch):
            if self.over == "recorded" and not sample.recorded:
                verdicts.append(self._nothing_recorded(sample))
            elif row in touched:
                hits = {pattern: rows[row] for pattern, rows in found.items() if row in rows}
                spans = merged((hit.start, hit.end) for hit in hits.values()) if self.over == "answer" else ()
                verdicts.append(score(sample, *self._read(hits), spans=spans))
            else:
                verdicts.append(score(sample, *untouched))
        return verdicts

    def _patterns(self) -> Iterator[str]:
        for patterns in (self.any_of, self.all_of, self.none_of):
            yield from patterns

    def _hits(self, column: TextColumn, pattern: str) -> dict[int, _Hit]:
        """The first hit of `pattern` for each sample that has one."""
        import pyarrow.compute as pc

        flagged = _flagged(pattern, self.flags)
        positions = pc.indices_nonzero(pc.match_substring_regex(column.arrow, flagged))
        if not len(positions):
            return {}
        spans = pc.extract_regex_span(column.arrow.take(positions), f"(?P<evallib_hit>{_ungrouped(flagged)})")
        bounds = pc.struct_field(spans, "evallib_hit").flatten().to_pylist()
        hits: dict[int, _Hit] = {}
        for nth, position in enumerate(positions.to_pylist()):
            start, end = column.span(position, bounds[2 * nth], bounds[2 * nth + 1])
            hits.setdefault(column.owners[position], _Hit(pattern, column.texts[position][start:end], start, end))
        return hits

    def _read(self, hits: Mapping[str, _Hit]) -> tuple[bool, str]:
        """Whether a sample with these hits passes, and why."""
        wrong = [f"must not occur: {_told(hits[p])}" for p in self.none_of if p in hits]
        if self.any_of and not any(p in hits for p in self.any_of):
            wrong.append(f"found no hit of any of {_listed(self.any_of)}")
        missing = [p for p in self.all_of if p not in hits]
        if missing:
            wrong.append(f"found no hit of {_listed(missing)}")
        if wrong:
            return False, "; ".join(wrong)
        right = [f"found {_told(hits[p])}" for p in (*self.any_of, *self.all_of) if p in hits]
        if self.none_of:
            right.append(f"found no hit of {_listed(self.none_of)}, as it must be")
        return True, "; ".join(right)

    def _nothing_recorded(self, sample: Sample) -> Verdict:
        if self.any_of or self.all_of:
            wanted = _listed((*self.any_of, *self.all_of))
            return self.scored(sample, False, f"nothing was recorded, so no hit of {wanted}")
        return self.scored(sample, True, "nothing was recorded, so nothing forbidden was")


def _flagged(pattern: str, flags: str) -> str:
    return f"(?{flags}){pattern}" if flags else pattern


def _ungrouped(pattern: str) -> str:
    """`pattern` with groups that capture nothing: Arrow wants every capturing group named, and each costs time."""
    return _GROUP.sub(lambda token: "(?:" if token[0][0] == "(" else token[0], pattern)


def _told(hit: _Hit) -> str:
    return f"{hit.pattern!r} hit {shown(hit.text)}"


def _listed(patterns: Sequence[str]) -> str:
    more = f" and {len(patterns) - _NAMED} more" if len(patterns) > _NAMED else ""
    return ", ".join(map(repr, patterns[:_NAMED])) + more


_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")


def refuse_broken(pattern: str, flags: str = "is") -> None:
    """ValueError with the remedy when RE2 cannot run `pattern`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pattern.strip():
        raise ValueError("an empty pattern hits every answer; write what must be found")
    if _BYTE.search(pattern):
        raise ValueError(rf"pattern {pattern!r} holds \C, a single byte of a character; write `.` with the flag s")
    try:
        pc.match_substring_regex(pa.nulls(1, pa.string()), _flagged(pattern, flags))
    except pa.ArrowInvalid as error:
        complaint = str(error).removeprefix("Invalid regular expression: ").replace(f"(?{flags})", "", 1)
        raise ValueError(f"pattern {pattern!r} is not RE2 syntax ({complaint}){_remedy(complaint)}") from error


def _remedy(complaint: str) -> str:
    if re.search(r"\(\?<?[=!]", complaint):
        return "; RE2 has no look-around: write two checks (any_of and none_of), or a code check"
    if re.search(r"invalid escape sequence: \\[1-9]|\(\?P=", complaint):
        return "; RE2 has no back-references: write the alternatives out, or a code check"
    if complaint.endswith(r"\Z"):
        return r"; the end of the text is \z"
    return "; correct it, or escape the character with a backslash"


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
