"""A sample with one thing about it changed: another text, other calls, none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Any

from evallib.checks.json_schema import problems
from evallib.domain import Tool
from evallib.patterns import flagged, found
from evallib.records import Sample, ToolCall, Turn
from evallib.suite import Suite

__all__ = [
    "Made", "adding", "calling", "completed", "example", "mapped", "otherwise", "saying", "without", "without_tools",
]  # fmt: skip

Made = Iterator[tuple[str, Sample, bool]]
"""Mutation, sample, and whether the check it was made for must pass it."""


def saying(sample: Sample, text: str) -> Sample:
    """The sample with another final text."""
    turns = (*sample.turns[:-1], replace(sample.turns[-1], text=text)) if sample.turns else ()
    return replace(sample, answer=text, turns=turns, files={})


def adding(sample: Sample, text: str) -> Sample:
    """The sample whose final text goes on."""
    return saying(sample, f"{sample.answer.rstrip()}\n\n{text}\n")


def calling(sample: Sample, *calls: ToolCall, partial: str = "") -> Sample:
    """The sample with more calls in its last turn, or with a piece of streamed text."""
    last = sample.turns[-1] if sample.turns else Turn(1, "", sample.answer)
    partials = (*last.partials, partial) if partial else last.partials
    last = replace(last, tool_calls=(*last.tool_calls, *calls), partials=partials)
    return replace(sample, turns=(*sample.turns[:-1], last))


def without_tools(sample: Sample) -> Sample:
    """The sample without any call."""
    turns = tuple(replace(turn, tool_calls=(), results=(), pending=()) for turn in sample.turns)
    return replace(sample, turns=turns)


def mapped(sample: Sample, change: Callable[[ToolCall], ToolCall | None]) -> Sample:
    """The sample with each call made, left open or answered as `change` gives it; None leaves it out."""

    def each(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        return tuple(new for call in calls if (new := change(call)) is not None)

    turns = (replace(t, tool_calls=each(t.tool_calls), results=each(t.results), pending=each(t.pending))
             for t in sample.turns)  # fmt: skip
    return replace(sample, turns=tuple(turns))


def completed(suite: Suite, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call with those that the tool cannot do without, where something plain is one."""
    tool, made = suite.tools.get(name, Tool()), dict(arguments)
    for argument, schema in tool.arguments.items():
        if argument not in made and "default" not in schema:
            kind = suite.vocabulary.get(tool.entities.get(argument, ""))
            value = _plain(schema, kind.names if kind else ())
            made |= {} if value is None else {argument: value}
    return made


def _plain(schema: Mapping[str, Any], first: tuple[str, ...]) -> Any:
    """A value that the schema takes; None where none of the plain ones is."""
    pattern = schema.get("pattern")
    tried = [*first, schema.get("const"), *schema.get("enum", ()), example(pattern) if pattern else None, "some text",
             "some text" * int(schema.get("minLength", 0)), schema.get("minimum"), 1, True, [], {}]  # fmt: skip
    return next((value for value in tried if value is not None and not (schema and problems(schema, value))), None)


def otherwise(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1_000_003
    return f"other-{value}" if isinstance(value, str) else "other"


@lru_cache(maxsize=1024)  # the suite's checks are the same in every case
def example(pattern: str) -> str | None:
    """A text that `pattern` finds a hit in; None where only RE2 can read it, not the generator."""
    from rstr import Rstr

    for attempt in range(5):
        try:
            made = str(Rstr(Random(attempt)).xeger(re.sub(r"\(\?[ims]+\)|[*+](?![*+])", _shorter, pattern)))  # noqa: S311  # an example, no secret
            text = made.translate({11: " "})  # RE2 has no vertical tab among its blanks
            if found(flagged(pattern, "is"), text):
                return text
        except (re.error, ValueError, KeyError, OverflowError, RecursionError):
            return None
    return None


def _shorter(hit: re.Match[str]) -> str:
    return {"*": "{0,2}", "+": "{1,2}"}.get(hit[0], "")


def without(pattern: str, text: str) -> str | None:
    """The text without any hit of `pattern`; None where Python reads the pattern otherwise, or there is none."""
    try:
        cut = re.sub(pattern, " such ", text, flags=re.IGNORECASE | re.DOTALL)
        return None if cut == text or re.search(pattern, cut, re.IGNORECASE | re.DOTALL) else cut
    except (re.error, RecursionError):
        return None
