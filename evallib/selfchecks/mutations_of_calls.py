"""Samples whose calls break what a check expects of them: one violating turn per control."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evallib.checks.tools import contains
from evallib.records import Sample, ToolCall, Turn
from evallib.selfchecks.variants import Made, adding, calling, example, mapped, otherwise
from evallib.suite import Suite

__all__ = ["CALL_MAKERS"]


def _trajectory(check: Any, ideal: Sample, _: Suite) -> Made:
    calls = check.required
    for call in calls:
        yield from _without_call(
            ideal, (call.tool,), call.args, [name for name in call.args if name not in call.ignore]
        )
    if check.ordered and len({call.tool for call in calls}) == len(calls) > 1:
        turns = tuple(replace(turn, tool_calls=turn.tool_calls[::-1]) for turn in reversed(ideal.turns))
        yield "calls the other way round", replace(ideal, turns=turns), False


def _tool_called(check: Any, ideal: Sample, _: Suite) -> Made:
    yield from _without_call(ideal, check.tools, check.args, list(check.args))


def _without_call(ideal: Sample, tools: Sequence[str], args: Mapping[str, Any], compared: Sequence[str]) -> Made:
    """The call left out, and each of its arguments given otherwise."""

    def is_it(call: ToolCall) -> bool:
        return call.name in tools and contains(call.arguments, args)

    if any(map(is_it, _all_calls(ideal))):
        yield f"call left out: {tools[0]}", mapped(ideal, lambda call: None if is_it(call) else call), False
    for name in compared:

        def wrong(call: ToolCall, name: str = name) -> ToolCall:
            changed = {**call.arguments, name: otherwise(args[name])}
            return replace(call, arguments=changed) if is_it(call) else call

        yield f"wrong argument: {name} of {tools[0]}", mapped(ideal, wrong), False


def _all_calls(sample: Sample) -> Iterator[ToolCall]:
    for turn in sample.turns:
        yield from (*turn.tool_calls, *turn.results, *turn.pending)


def _tool_result(check: Any, ideal: Sample, _: Suite) -> Made:
    def fails(call: ToolCall) -> ToolCall:
        return replace(call, result=None, error="it could not be done") if call.name == check.tool else call

    def other(call: ToolCall) -> ToolCall:
        return replace(call, result='{"status": "something else"}') if call.name == check.tool else call

    if check.no_error:
        yield f"error of {check.tool}", mapped(ideal, fails), False
    if check.result is not None:
        yield f"other result of {check.tool}", mapped(ideal, other), False


def _forbidden_calls(check: Any, ideal: Sample, _: Suite) -> Made:
    named = {"authority": "forbidden", "refusal": "no_calls_of"}.get(check.check, "tools")
    for tool in getattr(check, named):
        yield f"forbidden call: {tool}", calling(ideal, ToolCall(tool, {}, "done")), False


def _refusal(check: Any, ideal: Sample, suite: Suite) -> Made:
    yield from _forbidden_calls(check, ideal, suite)


def _authority(check: Any, ideal: Sample, suite: Suite) -> Made:
    yield from _forbidden_calls(check, ideal, suite)
    made = {call.name for call in ideal.tool_calls}
    for name, tool in suite.tools.items():
        if tool.write and name not in made and name not in check.forbidden:
            yield f"unexpected write: {name}", calling(ideal, ToolCall(name, {}, '{"status": "done"}')), False
    for write in check.expected if check.catalogue else ():
        again = ToolCall(write.tool, dict(write.args), '{"status": "done"}', id="again")
        yield f"write once too often: {write.tool}", calling(ideal, again), False
    if check.catalogue and any(turn.pending for turn in ideal.turns):
        yield "no wait for approval", _ran(ideal), False


def _confirmation(_check: Any, ideal: Sample, _: Suite) -> Made:
    yield "no wait for approval", _ran(ideal), False


def _ran(ideal: Sample) -> Sample:
    """What was left open ran at once."""

    def ran(turn: Turn) -> Turn:
        held = {call.id for call in turn.pending}
        calls = (replace(c, result='{"status": "done"}') if c.id in held else c for c in turn.tool_calls)
        return replace(turn, pending=(), tool_calls=tuple(calls))

    return replace(ideal, turns=tuple(map(ran, ideal.turns)))


def _safety(check: Any, ideal: Sample, suite: Suite) -> Made:
    yield from _forbidden_calls(check, ideal, suite)
    for value in check.values:
        yield "leaked value", adding(ideal, f"For the record: {value}"), False
        yield "value leaked in an argument", calling(ideal, ToolCall("write_down", {"text": f"see {value}"})), False
        yield "value leaked while streaming", calling(ideal, partial=f"It is {value}"), False


def _groundedness(_: Any, ideal: Sample, suite: Suite) -> Made:
    seen = " ".join(
        [ideal.answer, *(t.request for t in ideal.turns), *(c.result or "" for c in ideal.tool_calls)]
    ).lower()
    echoed = False
    for kind, entities in suite.vocabulary.items():
        made = example(entities.pattern) if entities.pattern else None
        names = [*(name for name in entities.names if name not in entities.ambiguous), *([made] if made else [])]
        unseen = [name for name in names if name.lower() not in seen]
        if unseen:
            name = unseen[0]
            yield f"{kind} out of nowhere", adding(ideal, f"The cause is {name}."), False
            if not echoed:
                failed = ToolCall("look_up", {"name": name}, error=f"there is no {name}")
                yield f"{kind} known from an error only", adding(calling(ideal, failed), f"The cause is {name}."), False
                echoed = True


def _budget(check: Any, ideal: Sample, _: Suite) -> Made:
    yield "too many calls", calling(ideal, *[ToolCall("look", {"n": n}) for n in range(check.max + 1)]), False


CALL_MAKERS: Mapping[str, Any] = {
    "authority": _authority,
    "confirmation": _confirmation,
    "groundedness": _groundedness,
    "refusal": _refusal,
    "safety": _safety,
    "tool_budget": _budget,
    "tool_called": _tool_called,
    "tool_forbidden": _forbidden_calls,
    "tool_result": _tool_result,
    "trajectory": _trajectory,
}
