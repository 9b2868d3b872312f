"""What ADK (Google's agent framework) puts on the wire, and how one turn of it becomes ours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from evallib.records import ToolCall, Turn

__all__ = ["WRAPPER", "fold_turn", "placeholder"]

WRAPPER = "adk_request_confirmation"
"""The call by which ADK asks a person to confirm another one; it is no tool of the agent."""

Wire = Mapping[str, Any]


def placeholder(tool: str) -> str:
    """The sentence ADK gives as the error of a guarded call that waits for a person."""
    return f'error tool "{tool}" requires confirmation, please approve or reject'


def fold_turn(wire: Wire, *, step: int = 1, request: str = "") -> Turn:
    """One turn of ADK as a Turn; nothing of what the agent did is lost but the wrapper's own name.

    `wire` has `text`, `tool_calls` [{name, args, call_id}], `tool_responses` [{name, response, call_id}],
    `awaiting_confirmation` (the wrapper call that waits, absent where none does) and, where it was streamed, `events`
    as they came, of which the texts and calls marked `partial` are kept as text; ids may be missing.

    - A wrapper is left out of the calls; the guarded call inside it becomes one of `pending`. ADK remembers the last
      wrapper only: while it waits, every other wrapper that nobody answered is pending too.
    - A response goes to the call of its name and id, without ids to the first call of its name still unanswered;
      any other one becomes one of `results`.
    - `{"error": TEXT}` and nothing else is the call's error; all else is its result, as JSON.
    """
    calls = [_call(one) for one in _objects(wire, "tool_calls") if one.get("name") != WRAPPER]
    strays = []
    for response in _objects(wire, "tool_responses"):
        if response.get("name") == WRAPPER:
            continue
        answered = _answered(response)
        place = _place(answered, calls)
        if place is None:
            strays.append(answered)
        else:
            calls[place] = replace(calls[place], result=answered.result, error=answered.error)
    text, pieces = str(wire.get("text") or ""), tuple(_partials(wire))
    return Turn(step, request, text, tuple(calls), tuple(strays), tuple(_pending(wire)), pieces)


def _partials(wire: Wire) -> Iterator[str]:
    """The streamed texts in order; behind them, so that they stay whole, what calls in streamed parts were given."""
    calls = []
    for event in _objects(wire, "events"):
        content = event.get("content")
        if event.get("partial") is True and isinstance(content, Mapping):
            parts = list(_objects(content, "parts"))
            yield "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
            calls += [part.get("functionCall") or part.get("function_call") for part in parts]
    given = [_given(call) for call in calls if isinstance(call, Mapping)]
    yield from (json.dumps(one, ensure_ascii=False) for one in given if one)


def _given(call: Wire) -> Wire:
    """All of a call but its name and id, in which nothing is given away; of a wrapper, of the call inside it."""
    arguments = call.get("args")
    inner = arguments.get("originalFunctionCall") if isinstance(arguments, Mapping) else None
    asked = inner if call.get("name") == WRAPPER and isinstance(inner, Mapping) else call
    return {key: value for key, value in asked.items() if key not in {"id", "name", "call_id"}}


def _objects(wire: Wire, key: str) -> Iterator[Wire]:
    return (one for one in wire.get(key) or () if isinstance(one, Mapping))


def _id(value: Wire) -> str:
    """The id of a call, which events name `id` and folded turns `call_id`."""
    found = value.get("call_id") or value.get("id")
    return found if isinstance(found, str) else ""


def _call(value: Wire) -> ToolCall:
    arguments = value.get("args")
    if not isinstance(arguments, Mapping):
        arguments = {} if arguments is None else {"unparsed": arguments}
    return ToolCall(str(value.get("name") or ""), dict(arguments), id=_id(value))


def _answered(value: Wire) -> ToolCall:
    name, body = str(value.get("name") or ""), value.get("response")
    body = {} if body is None else body
    if isinstance(body, Mapping) and set(body) == {"error"} and isinstance(body["error"], str):
        return ToolCall(name, error=body["error"], id=_id(value))
    return ToolCall(name, result=json.dumps(body, ensure_ascii=False), id=_id(value))


def _place(answered: ToolCall, calls: Iterable[ToolCall]) -> int | None:
    """Which of the calls a response answers."""
    waiting = [
        (place, call)
        for place, call in enumerate(calls)
        if call.name == answered.name and call.result is None and call.error is None
    ]
    same = [place for place, call in waiting if call.id == answered.id]
    loose = [place for place, call in waiting if not (call.id and answered.id)]
    return next(iter(same or loose), None)


def _pending(wire: Wire) -> Iterator[ToolCall]:
    """The guarded calls a person is asked about."""
    waits = wire.get("awaiting_confirmation")
    if not isinstance(waits, Mapping):
        return
    answers = {_id(one) for one in _objects(wire, "tool_responses") if one.get("name") == WRAPPER}
    asked = [one for one in _objects(wire, "tool_calls") if one.get("name") == WRAPPER]
    waiting = [one for one in asked if one == waits or (_id(one) and _id(one) == _id(waits))]
    for wrapper in asked:
        if wrapper in waiting[:1]:
            yield _guarded(waits)
        elif _id(wrapper) not in answers:
            yield _guarded(wrapper)
    if not waiting:
        yield _guarded(waits)


def _guarded(wrapper: Wire) -> ToolCall:
    """The call inside a wrapper; a call of the wrapper's own name where it holds none, which matches nothing."""
    arguments = wrapper.get("args")
    original = arguments.get("originalFunctionCall") if isinstance(arguments, Mapping) else None
    if isinstance(original, Mapping) and original.get("name") and isinstance(original.get("args"), Mapping | None):
        return _call(original)
    return _call({**wrapper, "name": WRAPPER})
