"""The tools a suite declares, played: what a call gives is looked up in the declaration, nothing outside is touched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from evallib.case import Step
from evallib.checks.json_schema import problems, refuse_broken_schema
from evallib.checks.tools import contains
from evallib.domain import Returns, Tool
from evallib.errors import InputError
from evallib.records import ToolCall, digest
from evallib.targets.knowledge import Looked

__all__ = ["AWAITING", "PLACE", "Play", "PlayedTools"]

AWAITING = "awaiting_approval"
"""The status a guarded write gives at its call: it was proposed, and has not run."""
PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""Where a text of `returns` is filled in."""


class PlayedTools:
    """The declared tools as a model is offered them: for a whole run, without state.

    InputError where the schema of an argument is none.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.tools = dict(tools)
        _refuse_broken_schemas(self.tools)
        self.specs = tuple(_spec(name, tool) for name, tool in self.tools.items())

    @property
    def digest(self) -> str:
        """Digest (16 hex) of all that can change what a tool gives; empty without tools."""
        return digest({name: tool.model_dump(mode="json") for name, tool in self.tools.items()}, 16) if self else ""

    def __bool__(self) -> bool:
        return bool(self.tools)

    def begin(self) -> Play:
        """A world in which nothing has happened yet; one for each sample."""
        return Play(self.tools)


class Play:
    """One sample's world: which calls ran, and what the next one gives."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._ran: list[tuple[str, Mapping[str, Any]]] = []

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def call(self, name: str, arguments: Mapping[str, Any]) -> Looked:
        """What a model's call gives; a guarded write is only proposed by it."""
        tool = self._tools.get(name)
        if tool is None:
            return Looked(error=f"unknown tool {name!r}; known: {', '.join(self._tools)}")
        problem = next(_problems(tool, arguments), None)
        if problem:
            return Looked(error=f"tool {name!r} was not run: {problem}")
        if tool.guarded:
            detail = f"{name} waits for a person's approval; nothing was changed"
            return Looked(json.dumps({"status": AWAITING, "detail": detail}), pending=True)
        return self._run(name, arguments, {})

    def decide(self, call: ToolCall, decision: Step) -> ToolCall:
        """What became of a proposed call: approved it runs now, with an audit row; refused it ends in an error."""
        said = {"approver": decision.approver, "rationale": decision.rationale}
        if decision.approve:
            gave = self._run(call.name, call.arguments, said)
        else:
            gave = Looked(error=": ".join(filter(None, [f"refused by {decision.approver}", decision.rationale])))
        return ToolCall(call.name, call.arguments, gave.result, gave.error, call.id)

    def _run(self, name: str, arguments: Mapping[str, Any], decision: Mapping[str, str]) -> Looked:
        tool = self._tools[name]
        whole = {**_defaults(tool), **arguments}
        returns = self._fitting(tool, whole)
        if returns is None:
            return Looked(error=f"tool {name!r} has nothing for {json.dumps(dict(arguments), ensure_ascii=False)}")
        known = {**whole, **decision}
        if returns.error:
            return Looked(error=_filled(returns.error, known))
        self._ran.append((name, whole))
        result = _filled(returns.result, known)
        if decision:
            audit = {"tool": name, "arguments": dict(arguments), **decision}
            body = result if isinstance(result, dict) else {"status": "done"} if result is None else {"result": result}
            result = {"audit": audit, **body}
        return Looked(json.dumps(result, ensure_ascii=False))

    def _fitting(self, tool: Tool, arguments: Mapping[str, Any]) -> Returns | None:
        if not tool.returns:
            return Returns()
        return next(
            (
                returns
                for returns in tool.returns
                if contains(arguments, returns.when) and (not returns.after or self._happened(returns.after, arguments))
            ),
            None,
        )

    def _happened(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Whether the tool ran before, on what this call is about: arguments both have must agree."""
        return any(
            ran == name and all(given[key] == arguments[key] for key in given.keys() & arguments.keys())
            for ran, given in self._ran
        )


def _refuse_broken_schemas(tools: Mapping[str, Tool]) -> None:
    for name, tool in tools.items():
        for argument, schema in tool.arguments.items():
            try:
                if schema:  # an empty one takes any value
                    refuse_broken_schema(schema)
            except ValueError as error:
                raise InputError(f"tool {name!r}, argument {argument!r}: {error}") from error


def _spec(name: str, tool: Tool) -> dict[str, Any]:
    required = [argument for argument, schema in tool.arguments.items() if "default" not in schema]
    properties = {argument: dict(schema) for argument, schema in tool.arguments.items()}
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": tool.description, "parameters": parameters}}


def _defaults(tool: Tool) -> dict[str, Any]:
    return {argument: schema["default"] for argument, schema in tool.arguments.items() if "default" in schema}


def _problems(tool: Tool, arguments: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a call's arguments; nothing is where the tool declares none."""
    if not tool.arguments:
        return
    for argument in arguments:
        if argument not in tool.arguments:
            yield f"it takes no argument {argument!r}; it takes {', '.join(tool.arguments)}"
    for argument, schema in tool.arguments.items():
        if argument in arguments:
            for _, problem in problems(schema, arguments[argument]) if schema else ():
                yield f"argument {argument!r}: {problem.removeprefix('the value: ')}"
        elif "default" not in schema:
            yield f"argument {argument!r} is missing"


def _filled(value: Any, known: Mapping[str, Any]) -> Any:
    """`value` with `{name}` in its texts replaced by what is known under that name."""

    def known_text(hit: re.Match[str]) -> str:
        found = known.get(hit[1], hit[0])
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)

    if isinstance(value, str):
        return PLACE.sub(known_text, value)
    if isinstance(value, Mapping):
        return {key: _filled(inner, known) for key, inner in value.items()}
    return [_filled(inner, known) for inner in value] if isinstance(value, list | tuple) else value
