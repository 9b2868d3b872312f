"""Checks of the tool calls: one that must be made, tools that must not be used, how many calls are too many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from evallib.adk import WRAPPER
from evallib.checks.base import Check, Texts
from evallib.domain import Domain
from evallib.records import Sample, ToolCall, Verdict, canonical_json
from evallib.stdout import counted

__all__ = ["ToolBudget", "ToolCalled", "ToolCheck", "ToolForbidden", "contains", "in_words", "spelled"]


class ToolCheck(Check):
    """A check that speaks of tools, and knows the other names they go by."""

    aliases: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tool name to other names that count as that tool."""

    @model_validator(mode="after")
    def _name_what_is_guarded(self) -> Self:
        if WRAPPER in self.named_tools():
            raise ValueError(f"name the guarded tool, not {WRAPPER}, which only asks for its confirmation")
        return self

    def named_tools(self) -> tuple[str, ...]:
        """Every tool it speaks of, by the name written in the suite."""
        raise NotImplementedError

    def in_domain(self, domain: Domain) -> Self:
        """This check accepting the other names of its tools as well."""
        aliases = domain.aliases
        known = {tool: tuple(dict.fromkeys((*self.aliases.get(tool, ()), *aliases[tool])))
                 for tool in self.named_tools() if tool in aliases}  # fmt: skip
        return self.model_copy(update={"aliases": {**self.aliases, **known}}) if known else self

    def is_tool(self, name: str, tool: str) -> bool:
        """Whether `name` is that tool, or another name of it."""
        return name == tool or name in self.aliases.get(tool, ())


class _NamesTools(ToolCheck):
    tools: Texts

    @field_validator("tools")
    @classmethod
    def _name_a_tool(cls, tools: Texts) -> Texts:
        if not tools:
            raise ValueError("an empty list of tools decides nothing; name a tool")
        return tools

    def named_tools(self) -> tuple[str, ...]:
        return tuple(self.tools)

    def accepted(self) -> set[str]:
        """The names of the tools, and their other names."""
        return {name for tool in self.tools for name in (tool, *self.aliases.get(tool, ()))}


class ToolCalled(_NamesTools):
    """One of the tools was called with at least these arguments.

    Example: `{id: looks-back, check: tool_called, tools: [get_logs], args: {previous: true}}`

    Arguments the check does not name are free; those it names must agree in value and type (true is not 1, 1 is not
    "1"), objects inside them again by the keys named. An empty text is also met by an argument left out.
    """

    revision: ClassVar[int] = 2  # an empty text is met by an argument left out
    check: Literal["tool_called"]
    args: Mapping[str, Any] = Field(default_factory=dict)

    def judge(self, sample: Sample) -> Verdict:
        """Pass with the first call that fits, fail with the nearest one."""
        calls = sample.tool_calls
        accepted = self.accepted()
        named = [(nth, call) for nth, call in enumerate(calls, 1) if call.name in accepted]
        for nth, call in named:
            if contains(call.arguments, self.args):
                told = f"call {nth} of {len(calls)} is {spelled(call)}"
                return self.scored(sample, True, told, calls=_place(sample, nth))
        wanted = " or ".join(self.tools) + (f" with {canonical_json(self.args)}" if self.args else "")
        return self.scored(sample, False, f"no call of {wanted}: {self._nearest(calls, named)}")

    def _nearest(self, calls: tuple[ToolCall, ...], named: list[tuple[int, ToolCall]]) -> str:
        if not calls:
            return "no tool was called"
        if not named:
            return f"called were {', '.join(dict.fromkeys(call.name for call in calls))}"
        nth, call = max(named, key=lambda one: sum(_agrees(one[1], key, value) for key, value in self.args.items()))
        off = [key for key, value in self.args.items() if not _agrees(call, key, value)]
        given = (f"{key} {in_words(call.arguments[key])}" if key in call.arguments else f"no {key}" for key in off)
        return f"nearest is call {nth}, {call.name} with {', '.join(given)}"


class ToolForbidden(_NamesTools):
    """None of the tools was called.

    Example: `{id: hands-off, check: tool_forbidden, tools: [apply_remediation]}`
    """

    revision: ClassVar[int] = 2  # an empty text is met by an argument left out
    check: Literal["tool_forbidden"]

    def judge(self, sample: Sample) -> Verdict:
        """Fail with the first forbidden call."""
        calls, accepted = sample.tool_calls, self.accepted()
        for nth, call in enumerate(calls, 1):
            if call.name in accepted:
                told = f"call {nth} of {len(calls)} is the forbidden {spelled(call)}"
                return self.scored(sample, False, told, calls=_place(sample, nth))
        return self.scored(sample, True, f"no call of {', '.join(self.tools)} among {counted(len(calls), 'call')}")


class ToolBudget(Check):
    """At most so many tool calls.

    Example: `{id: few-calls, check: tool_budget, max: 6}`
    """

    check: Literal["tool_budget"]
    max: int = Field(ge=0)

    def judge(self, sample: Sample) -> Verdict:
        """Pass while the calls are within the budget."""
        count = len(sample.tool_calls)
        return self.scored(sample, count <= self.max, f"{counted(count, 'call')}, at most {self.max}")


def contains(given: object, wanted: object) -> bool:
    """Whether `given` holds all of `wanted`: objects by the keys named, lists item by item, values with their type.

    A wanted empty text is also met by a key left out. Numbers agree by value, 2 with 2.0, in every digit.
    """
    if isinstance(wanted, Mapping):
        return isinstance(given, Mapping) and all(
            contains(given[key], value) if key in given else value == "" for key, value in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return (
            isinstance(given, list | tuple)
            and len(given) == len(wanted)
            and all(contains(one, other) for one, other in zip(given, wanted, strict=True))
        )
    if isinstance(given, bool) or isinstance(wanted, bool):
        return given is wanted
    return given == wanted


def _place(sample: Sample, nth: int) -> tuple[int, int]:
    """(step, place in it) of the `nth` call of a sample, from 1."""
    places = [(turn.step, place) for turn in sample.turns for place, _ in enumerate(turn.tool_calls, 1)]
    return places[nth - 1]


def _agrees(call: ToolCall, key: str, value: object) -> bool:
    return contains(call.arguments, {key: value})


def in_words(value: object) -> str:
    """What a target sent, as a reason shows it: its JSON, or as Python spells it where it is none, as NaN."""
    try:
        return canonical_json(value)
    except (ValueError, TypeError, RecursionError):
        return repr(value)


def spelled(call: ToolCall) -> str:
    """The call as a reason shows it, cut where it is long."""
    text = f"{call.name}({in_words(dict(call.arguments))[1:-1]})"
    return text if len(text) <= 160 else f"{text[:155]} ...)"
