"""What came back from tools: read as JSON, told apart from "still waiting", and led back to the call it answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from evallib.adk import placeholder
from evallib.records import ToolCall, Turn
from evallib.strict_json import read_json

__all__ = ["Response", "decoded", "failure", "is_open", "origin", "responses"]


class Response(NamedTuple):
    """One response of a turn."""

    place: int
    """Place of the call it stands at, from 1; 0 where it answers no call of this turn."""
    call: ToolCall
    """Name, id, and what came back."""


def responses(turn: Turn) -> Iterator[Response]:
    """Every response of a turn: those at its calls, then those that answer none of them."""
    for place, call in enumerate(turn.tool_calls, 1):
        if call.result is not None or call.error is not None:
            yield Response(place, call)
    for result in turn.results:
        yield Response(0, result)


def decoded(text: str | None) -> Any:
    """The JSON value in `text`, or the text itself where it is not strictly JSON: no NaN, no key twice."""
    if text is None:
        return None
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return text


def is_open(response: ToolCall) -> bool:
    """Whether a response says that the call waits for a person, and nothing more.

    Two shapes count: ADK's placeholder sentence as the error and nothing beside it; and an object with `status`
    "awaiting_approval" and at most a `detail` in words. Anything else may tell of something that was done.
    """
    if response.error is not None:
        return response.result is None and response.error == placeholder(response.name)
    body = decoded(response.result)
    if not isinstance(body, dict):
        return False
    if set(body) == {"error"}:
        return bool(body["error"] == placeholder(response.name))
    return (
        body.get("status") == "awaiting_approval"
        and set(body) <= {"status", "detail"}
        and isinstance(body.get("detail"), str | None)
    )


def failure(response: ToolCall) -> str:
    """The error a response tells of, as text; empty where it tells of none.

    An `error` in a JSON object is one as well, unless it is null, false or empty.
    """
    if response.error is not None:
        return response.error or "an error without words"
    body = decoded(response.result)
    told = body.get("error") if isinstance(body, dict) else None
    return "" if not told else told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)


def origin(result: ToolCall, turns: Sequence[Turn], same_tool: Iterable[str]) -> ToolCall | None:
    """The call that a stray result answers: itself where it brings the arguments along, else one of `turns`.

    That is the last one with its id; without ids, the last one left open. None where there is none.
    """
    if result.arguments:
        return result
    names = {result.name, *same_tool}
    before = [call for turn in turns for call in (*turn.tool_calls, *turn.pending) if call.name in names]
    if result.id and any(call.id for call in before):
        return next((call for call in reversed(before) if call.id == result.id), None)
    left = [call for turn in turns for call in turn.pending if call.name in names]
    return left[-1] if left else None
