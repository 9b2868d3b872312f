"""The check of an answer that must be one JSON value of a declared shape."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator

from evallib.checks.base import Check
from evallib.checks.extraction import Spoken, spoken
from evallib.checks.folding import merged, shown
from evallib.checks.json_schema import Path, problems, refuse_broken_schema, spelled_path
from evallib.domain import Domain, EntityKind, names_in
from evallib.records import Sample, Verdict
from evallib.strict_json import DECODER, StrictJSONError

__all__ = ["Schema"]

_NAMED = 50


class Schema(Check):
    """The answer is exactly one JSON value that fits a JSON Schema.

    Example: `{id: report, check: schema, schema: {type: object, required: [id], properties: {id: {type: string}}}}`

    Code fences, prose around the value, a second value, a key that stands twice, NaN and infinities are refused;
    thought parts do not count. The schema stands in the suite (draft 2020-12 unless its `$schema` names another) and
    is checked when the suite is loaded; `$ref` may point inside it only, patterns are RE2 syntax, a `format` is asked
    for (date, date-time, time, email, ipv4, ipv6, uuid); others, and misspelt keywords, are refused.
    `entities: {affected_services: service}` also wants the texts under these keys, at any depth, to be names that the
    suite's vocabulary holds for that kind.
    """

    revision: ClassVar[int] = 3  # a number is a name of `entities` too
    check: Literal["schema"]
    schema_: Mapping[str, Any] = Field(alias="schema")
    entities: Mapping[str, str] = Field(default_factory=dict)
    vocabulary: Mapping[str, EntityKind] = Field(default_factory=dict)
    """Taken from the suite where it is not given here."""

    @field_validator("schema_")
    @classmethod
    def _is_a_schema(cls, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        refuse_broken_schema(schema)
        return schema

    def in_domain(self, domain: Domain) -> Self:
        """This check knowing the kinds of entities it names; ValueError for one that the suite does not declare."""
        known = {**domain.vocabulary, **self.vocabulary}
        for key, kind in self.entities.items():
            if kind not in known:
                raise ValueError(f"`entities` says {key!r} names a {kind!r}, a kind that `vocabulary` does not have")
        used = {kind: known[kind] for kind in self.entities.values()}
        return self.model_copy(update={"vocabulary": used}) if used else self

    def judge(self, sample: Sample) -> Verdict:
        """Fail with what keeps the answer from being one JSON value, else with every place that does not fit."""
        said = spoken(sample.answer)
        if said.problem:
            return self.scored(sample, False, said.problem)
        try:
            value = _one_value(said.text.strip())
        except _NotOneValueError as error:
            return self.scored(sample, False, f"not exactly one JSON value: {error}", spans=_span(said, error))
        wrong = [*problems(self.schema_, value), *self._unknown(value)]
        if wrong:
            told = "; ".join(one for _, one in wrong[:_NAMED])
            more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
            where = _places(said.text, [path for path, _ in wrong[:_NAMED]])
            return self.scored(sample, False, told + more, spans=merged(said.place(*one) for one in where))
        return self.scored(sample, True, "one JSON value that fits the schema")

    def _unknown(self, value: Any) -> Iterator[tuple[Path, str]]:
        """Where a name under a key of `entities` is none that the vocabulary holds, each with a sentence."""
        pending: list[tuple[Path, Any]] = [((), value)]
        while pending:
            place, inner = pending.pop()
            if isinstance(inner, list):
                pending += [((*place, n), one) for n, one in enumerate(inner)]
            for key, one in inner.items() if isinstance(inner, dict) else ():
                here = (*place, key)
                pending.append((here, one))
                kind = self.entities.get(key)
                for name in names_in(one) if kind else ():
                    if not self.vocabulary[str(kind)].exists(name):
                        yield here, f"{spelled_path(here)}: {shown(name)} is no {kind} of the vocabulary"


def _places(text: str, paths: Sequence[Path]) -> Iterator[tuple[int, int]]:
    """Where in `text`, which is one JSON value, the part at each of the paths stands."""
    inside = cache(lambda start: {key: span for key, *span in _parts(text, start)})
    for path in paths:
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        for step in path:
            start, end = inside(start).get(step, (start, end))
        yield start, end


def _parts(text: str, at: int) -> Iterator[tuple[str | int, int, int]]:
    """Key or place, start and end of every part of the object or list that begins at `at`."""
    is_list, nth = text[at] == "[", 0
    at = _member(text, at + 1)
    while text[at] not in "]}":
        key: str | int = nth
        if not is_list:
            key, at = DECODER.raw_decode(text, at)
            at = _member(text, at)
        _, end = DECODER.raw_decode(text, at)
        yield key, at, end
        at, nth = _member(text, end), nth + 1


def _member(text: str, at: int) -> int:
    """Where the next key, value or closing bracket stands from `at` on."""
    while text[at] in " \t\r\n,:":
        at += 1
    return at


class _NotOneValueError(ValueError):
    """Why a text is not one JSON value, and where that shows."""

    def __init__(self, problem: str, position: int = 0) -> None:
        super().__init__(problem)
        self.position = position


def _one_value(text: str) -> Any:
    if text.startswith(("```", "~~~")):
        raise _NotOneValueError("a code fence stands around it")
    try:
        value, end = DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        raise _NotOneValueError(f"{error.msg} at character {error.pos + 1}", error.pos) from error
    except RecursionError as error:
        raise _NotOneValueError("nested too deep to be read") from error
    except StrictJSONError as error:
        raise _NotOneValueError(str(error)) from error
    except ValueError as error:
        raise _NotOneValueError("a number has too many digits") from error
    rest = text[end:].strip()
    if rest:
        raise _NotOneValueError(f"after the value stands {shown(rest, 60)}", end)
    return value


def _span(said: Spoken, error: _NotOneValueError) -> tuple[int, ...]:
    """From where it goes wrong to the end of the answer."""
    start = len(said.text) - len(said.text.lstrip()) + error.position
    end = len(said.text.rstrip())
    return said.place(start, end) if start < end else ()
