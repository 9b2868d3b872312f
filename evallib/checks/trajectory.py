"""Trajectory: the calls that must be made, among any others, in the order they are listed or in a partial one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import field_validator, model_validator

from evallib.checks.calls import ExpectedCall, listed
from evallib.checks.tools import ToolCheck, in_words, spelled
from evallib.records import Sample, ToolCall, Verdict

__all__ = ["RequiredCall", "Trajectory"]

_MOST_IN_PARTIAL_ORDER = 16
Order = Sequence[int]
"""Per required call the set of those that must come before it, as bits."""


class RequiredCall(ExpectedCall):
    """A call that must be made."""

    id: str = ""
    """A name for `after` to refer to."""
    after: tuple[str, ...] = ()
    """Ids of required calls that must be made earlier; only with `ordered: false`."""


class _Made(NamedTuple):
    """One call that was made."""

    step: int
    place: int
    call: ToolCall


class Trajectory(ToolCheck):
    """The calls are made in this order, each by a call of its own; others may come between.

    Example: `{id: path, check: trajectory, calls: [{tool: get_ticket, args: {id: T-4}}, {tool: get_host}]}`

    With `ordered: false` only what `after` says counts: `{tool: restart, after: [ticket, host]}` leaves it free which
    of the two reads, named by their `id`, came first. Arguments agree as in `tool_called`, or by a call's own rules:
    `exact: [ARG]`, `ignore: [ARG]`, `within: {ARG: 0.5}`. In a conversation all steps are read as one.
    """

    revision: ClassVar[int] = 2  # exact arguments are equal throughout
    check: Literal["trajectory"]
    calls: Annotated[tuple[RequiredCall, ...] | str, listed(RequiredCall)]
    ordered: bool = True

    @field_validator("calls")
    @classmethod
    def _refer_to_what_is_there(cls, calls: Any) -> Any:
        if isinstance(calls, str):
            return calls
        names = [call.id for call in calls if call.id]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise ValueError(f"call id {twice!r} stands twice; `after` could not tell them apart")
        unknown = [name for call in calls for name in call.after if name not in names]
        if unknown:
            raise ValueError(f"`after` names {unknown[0]!r}, which is the id of no call here")
        return calls

    @model_validator(mode="after")
    def _order_can_be_kept(self) -> Trajectory:
        calls = self.required
        if self.ordered and any(call.after for call in calls):
            raise ValueError("`after` needs `ordered: false`; otherwise the list itself is the order")
        if not self.ordered and len(calls) > _MOST_IN_PARTIAL_ORDER:
            raise ValueError(f"`ordered: false` takes at most {_MOST_IN_PARTIAL_ORDER} calls, here are {len(calls)}")
        if not self.ordered and _has_circle(_order(calls)):
            raise ValueError("the calls wait for each other in a circle; mend `after`")
        return self

    @property
    def required(self) -> tuple[RequiredCall, ...]:
        """The required calls, once bound."""
        return () if isinstance(self.calls, str) else self.calls

    def named_tools(self) -> tuple[str, ...]:
        """The tools of the required calls."""
        return tuple(call.tool for call in self.required)

    def judge(self, sample: Sample) -> Verdict:
        """Pass where every required call finds one of its own; else fail with the first that finds none."""
        if not self.required:
            return self.unscored(sample, "no call is required", applicable=False)
        made = [_Made(t.step, place, call) for t in sample.turns for place, call in enumerate(t.tool_calls, 1)]
        order = [(1 << nth) >> 1 for nth in range(len(self.required))] if self.ordered else _order(self.required)
        found = _embed(len(made), order, lambda place, nth: self._fits(made[place].call, self.required[nth]))
        if len(found) == len(self.required):
            places = [made[found[nth]] for nth in range(len(self.required))]
            told = ", ".join(f"{call.tool} at {_at(one)}" for call, one in zip(self.required, places, strict=True))
            calls = tuple(number for one in places for number in (one.step, one.place))
            return self.scored(sample, True, f"required calls were made: {told}", calls=calls)
        return self._failed(sample, made, found)

    def _fits(self, call: ToolCall, wanted: RequiredCall) -> bool:
        return self.is_tool(call.name, wanted.tool) and wanted.fits(call.arguments)

    def _failed(self, sample: Sample, made: list[_Made], found: dict[int, int]) -> Verdict:
        nth = next(nth for nth in range(len(self.required)) if nth not in found)
        wanted = self.required[nth]
        told = f"required call {nth + 1} of {len(self.required)}, {wanted}, was not made"
        named = [one for one in made if self.is_tool(one.call.name, wanted.tool)]
        if not named:
            names = ", ".join(dict.fromkeys(one.call.name for one in made)) or "nothing"
            return self.scored(sample, False, f"{told}: called was {names}")
        fitting = [one for one in named if wanted.fits(one.call.arguments)]
        near = min(fitting or named, key=lambda one: len(wanted.misses(one.call.arguments)))
        if not fitting:
            why = f"nearest is {spelled(near.call)} at {_at(near)}, off in {_off(wanted, near.call)}"
        elif near in [made[taken] for taken in found.values()]:
            told, why = told + " again", f"the call at {_at(near)} already counts for another required call"
        else:
            told, why = told + " in its order", f"it was made at {_at(near)}, too early"
        return self.scored(sample, False, f"{told}: {why}", calls=(near.step, near.place))


def _embed(made: int, order: Order, fits: Callable[[int, int], bool]) -> dict[int, int]:
    """Required call to made call, as many as can be; `fits(made, required)`, each made call taken once.

    Every set of required calls that can have been met so far is kept. One that can take the present call is kept
    only with it taken: more met is never worse. So a whole embedding is found where there is one.
    """
    fits = cache(fits)
    reached: dict[int, dict[int, int]] = {0: {}}
    for place in range(made):
        grown: dict[int, dict[int, int]] = {}
        for met, taken in reached.items():
            free = [nth for nth, waits in enumerate(order) if not met >> nth & 1 and waits & ~met == 0]
            able = [nth for nth in free if fits(place, nth)]
            for nth in able:
                grown.setdefault(met | 1 << nth, {**taken, nth: place})
            if not able:
                grown.setdefault(met, taken)
        reached = grown
    return max(reached.values(), key=len)


def _order(calls: Sequence[RequiredCall]) -> list[int]:
    names = {call.id: nth for nth, call in enumerate(calls) if call.id}
    return [sum({1 << names[name] for name in call.after}) for call in calls]


def _has_circle(order: Order) -> bool:
    met, before = 0, -1
    while met != before:
        before = met
        met |= sum(1 << nth for nth, waits in enumerate(order) if not met >> nth & 1 and waits & ~met == 0)
    return met != (1 << len(order)) - 1


def _at(one: _Made) -> str:
    return f"step {one.step}, call {one.place}"


def _off(wanted: ExpectedCall, call: ToolCall) -> str:
    return ", ".join(
        f"{name} ({in_words(call.arguments[name]) if name in call.arguments else 'absent'})"
        for name in wanted.misses(call.arguments)
    )
