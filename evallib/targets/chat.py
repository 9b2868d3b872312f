"""The chat target: a conversation with any OpenAI-compatible endpoint, one user message per step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

from evallib.endpoint import BadReply, Endpoint, ModelTimeout, ProviderError, Reply, ToolRequest
from evallib.errors import InputError
from evallib.records import SampleStatus, ToolCall, Turn, Usage, digest
from evallib.suite import Deadlines, Step
from evallib.targets.base import ESCAPED, TRUNCATED, Setting, Target, TargetOutput, escape
from evallib.targets.knowledge import Knowledge, Looked

__all__ = ["MAX_ROUNDS", "ChatTarget", "open_chat"]

MAX_ROUNDS = 8
"""Rounds of tool calls granted to one turn."""
_KEPT = 4000
_TIMED_OUT = 124


def open_chat(address: str, setting: Setting) -> Target:
    """The chat target at `URL#MODEL`."""
    url, _, model = address.rpartition("#")
    if not url or not model:
        raise InputError(
            f"target 'chat:{address}' must be written chat:URL#MODEL, as in chat:http://127.0.0.1:8000/v1#m"
        )
    return ChatTarget(Endpoint(url, model, call_s=setting.options.deadlines.call_s), setting)


class ChatTarget(Target):
    """One model behind one endpoint, with the suite's system prompt and, where it has one, its knowledge folder."""

    def __init__(self, endpoint: Endpoint, setting: Setting) -> None:
        self.endpoint = endpoint
        self.system, self.options = setting.system, setting.options
        self.knowledge = Knowledge(setting.knowledge) if setting.knowledge else None

    @property
    def url(self) -> str:
        """Where the model is asked."""
        return self.endpoint.url

    def identity(self) -> dict[str, Any]:
        """What tells this target from another; without the API key."""
        return {"kind": "chat", "url": self.url, "model": self.endpoint.model, **self.parameters()}

    def parameters(self) -> dict[str, Any]:
        """The part of the identity that is not the model's: what it is told and how it is asked."""
        return {
            "parameters": {"temperature": self.options.temperature, "max_tokens": self.options.max_tokens},
            "system": digest(self.system, 16) if self.system else "",
            "knowledge": self.knowledge.digest if self.knowledge else "",
        }

    def preflight(self) -> None:
        """Make sure that something answers at the URL."""
        self.endpoint.check()

    def run(self, steps: tuple[Step, ...], *, seed: int, deadlines: Deadlines) -> TargetOutput:
        """One conversation: every step a user message, all in one history."""
        talk = _Conversation(self, seed, deadlines)
        status, error, exit_code = talk.hold([step.sent for step in steps])
        usage = sum((turn.usage for turn in talk.turns), Usage())
        answer = talk.turns[-1].text if talk.turns else ""
        return TargetOutput(
            status, error, tuple(talk.turns), answer=answer, exit_code=exit_code,
            flags=tuple(sorted(talk.flags)), usage=usage,
        )  # fmt: skip

    def close(self) -> None:
        """Close the connections."""
        self.endpoint.close()


class _TooManyRoundsError(Exception):
    """The model kept asking for tools."""


class _Conversation:
    """One sample: the growing history, and what is kept of it."""

    def __init__(self, target: ChatTarget, seed: int, deadlines: Deadlines) -> None:
        self.target, self.seed, self.deadlines = target, seed, deadlines
        self.messages: list[dict[str, Any]] = []
        if target.system:
            self.messages.append({"role": "system", "content": target.system})
        self.turns: list[Turn] = []
        self.flags: set[str] = set()

    def hold(self, asks: Sequence[str]) -> tuple[SampleStatus, str, int | None]:
        """All turns in order; how it ended: status, reason, exit code."""
        for number, ask in enumerate(asks, 1):
            try:
                self.turn(number, ask)
            except ModelTimeout as error:
                return "timed_out", f"step {number}: {error}", _TIMED_OUT
            except _TooManyRoundsError as error:
                return "crashed", f"step {number}: {error}", 1
            except ProviderError as error:
                return ("provider_error" if error.retriable else "harness_error"), f"step {number}: {error}", None
            except BadReply as error:
                return "harness_error", f"step {number}: {error}", None
        return "completed", "", 0

    def turn(self, number: int, ask: str) -> None:
        """One step; what happened is kept also when it fails."""
        self.messages.append({"role": "user", "content": ask})
        started = monotonic()
        calls: list[ToolCall] = []
        usage, text = Usage(), ""
        try:
            for rounds in range(MAX_ROUNDS + 1):
                reply = self.ask(started)
                usage += reply.usage
                if not reply.tool_calls:
                    text = self.clean(reply.text)
                    self.messages.append({"role": "assistant", "content": text})
                    return
                if rounds < MAX_ROUNDS:
                    self.answer_tools(reply, calls)
            raise _TooManyRoundsError(f"the model still asked for tools after {MAX_ROUNDS} rounds")
        finally:
            took = monotonic() - started
            self.turns.append(Turn(number, self.clean(ask), text, tuple(calls), usage=usage, duration_s=took))

    def ask(self, started: float) -> Reply:
        """One model call within what is left of the turn."""
        left = self.deadlines.turn_s - (monotonic() - started)
        if left <= 0:
            raise ModelTimeout(f"the turn did not end within {self.deadlines.turn_s:g} s")
        options, knowledge = self.target.options, self.target.knowledge
        try:
            reply = self.target.endpoint.ask(
                self.messages, temperature=options.temperature, seed=self.seed, max_tokens=options.max_tokens,
                tools=knowledge.TOOLS if knowledge else None, timeout_s=min(left, self.deadlines.call_s),
            )  # fmt: skip
        except ModelTimeout as error:
            if left > self.deadlines.call_s:
                raise
            raise ModelTimeout(f"the turn did not end within {self.deadlines.turn_s:g} s") from error
        if reply.finish_reason == "length":
            self.flags.add(TRUNCATED)
        return reply

    def answer_tools(self, reply: Reply, calls: list[ToolCall]) -> None:
        """Answer one round of tool calls: in the history for the model, in `calls` for the record."""
        asked = [_echo(request) for request in reply.tool_calls]
        self.messages.append({"role": "assistant", "content": self.clean(reply.text) or None, "tool_calls": asked})
        for request in reply.tool_calls:
            looked = self.look_up(request)
            content = looked.result if looked.error is None else f"error: {looked.error}"
            self.messages.append({"role": "tool", "tool_call_id": request.id, "content": content})
            calls.append(
                ToolCall(
                    self.clean(request.name),
                    self.clean_json(_arguments(request)),
                    self.kept(looked.result),
                    self.kept(looked.error),
                )
            )

    def look_up(self, request: ToolRequest) -> Looked:
        if isinstance(request.arguments, str):
            return Looked(error="the arguments are not a JSON object")
        if self.target.knowledge is None:
            return Looked(error=f"unknown tool {request.name!r}; none was offered")
        return self.target.knowledge.call(request.name, request.arguments)

    def kept(self, text: str | None) -> str | None:
        """A tool's result as the record keeps it: long ones cut, with a mark."""
        if text is None or len(text) <= _KEPT:
            return None if text is None else self.clean(text)
        return self.clean(text[:_KEPT]) + f"… [cut: {len(text)} characters in all]"

    def clean(self, text: str) -> str:
        """`text` as a table can hold it, flagged when that changed it."""
        cleaned = escape(text)
        if cleaned is not text and cleaned != text:
            self.flags.add(ESCAPED)
        return cleaned

    def clean_json(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, Mapping):
            return {self.clean(key): self.clean_json(inner) for key, inner in value.items()}
        return [self.clean_json(inner) for inner in value] if isinstance(value, list) else value


def _arguments(request: ToolRequest) -> dict[str, Any]:
    return {"unparsed": request.arguments} if isinstance(request.arguments, str) else request.arguments


def _echo(request: ToolRequest) -> dict[str, Any]:
    raw = request.arguments if isinstance(request.arguments, str) else json.dumps(request.arguments)
    return {"id": request.id, "type": "function", "function": {"name": request.name, "arguments": raw}}
