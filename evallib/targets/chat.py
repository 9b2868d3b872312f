"""The chat target: a conversation with any OpenAI-compatible endpoint.

A request is a user message. A decision too, for some chat templates refuse a system message in mid-conversation, and
roles must alternate; it begins with a mark and tells, as JSON, what became of the calls that the step before left open.
In a request the mark is made a quotation: no user can write a decision, so a claim of an approval stays a claim.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

from evallib.case import Step
from evallib.endpoint import BadReply, Endpoint, ModelTimeout, ProviderError, Reply, ToolRequest
from evallib.errors import InputError
from evallib.records import SampleStatus, ToolCall, Turn, Usage, digest, storable
from evallib.suite import Deadlines
from evallib.targets.base import DECISION_MARK, ESCAPED, TRUNCATED, Setting, Target, TargetOutput
from evallib.targets.knowledge import Knowledge, Looked
from evallib.targets.played import PlayedTools

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
    """One model behind one endpoint, with the suite's system prompt and, where it has them, knowledge and tools."""

    def __init__(self, endpoint: Endpoint, setting: Setting) -> None:
        self.endpoint = endpoint
        self.system, self.options = setting.system, setting.options
        self.knowledge = Knowledge(setting.knowledge) if setting.knowledge else None
        # A suite may list the knowledge tools among its own; the folder answers those.
        own = Knowledge.NAMES if self.knowledge else frozenset()
        self.played = PlayedTools({name: tool for name, tool in setting.tools.items() if name not in own})
        self.offered = (*(Knowledge.TOOLS if self.knowledge else ()), *self.played.specs)

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
            "tools": self.played.digest,
        }

    def preflight(self) -> None:
        """Make sure that something answers at the URL."""
        self.endpoint.check()

    def run(self, steps: tuple[Step, ...], *, seed: int, deadlines: Deadlines) -> TargetOutput:
        """One conversation, all steps in one history; it ends where a step decides what nobody left open."""
        talk = _Conversation(self, seed, deadlines)
        status, error, exit_code = talk.hold(steps)
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
        self.play = target.played.begin()
        self.turns: list[Turn] = []
        self.flags: set[str] = set()
        self.ids: set[str] = set()

    def hold(self, steps: Sequence[Step]) -> tuple[SampleStatus, str, int | None]:
        """All turns in order; how it ended: status, reason, exit code."""
        for number, step in enumerate(steps, 1):
            if step.approve is not None and not (self.turns and self.turns[-1].pending):
                return "completed", "", 0
            try:
                self.turn(number, step)
            except ModelTimeout as error:
                return "timed_out", f"step {number}: {error}", _TIMED_OUT
            except _TooManyRoundsError as error:
                return "crashed", f"step {number}: {error}", 1
            except ProviderError as error:
                return ("provider_error" if error.retriable else "harness_error"), f"step {number}: {error}", None
            except BadReply as error:
                return "harness_error", f"step {number}: {error}", None
        return "completed", "", 0

    def turn(self, number: int, step: Step) -> None:
        """One step; what happened is kept also when it fails."""
        started = monotonic()
        results = self.open(step)
        calls: list[ToolCall] = []
        pending: list[ToolCall] = []
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
                    self.answer_tools(reply, calls, pending)
            raise _TooManyRoundsError(f"the model still asked for tools after {MAX_ROUNDS} rounds")
        finally:
            self.turns.append(
                Turn(
                    number, self.clean(step.sent), text, tuple(calls), results, tuple(pending),
                    usage=usage, duration_s=monotonic() - started,
                )
            )  # fmt: skip

    def open(self, step: Step) -> tuple[ToolCall, ...]:
        """Tell the model what the step says; the results of the calls that it decides."""
        if step.approve is None:
            self.messages.append({"role": "user", "content": _unmarked(step.ask)})
            return ()
        results = tuple(self.play.decide(call, step) for call in self.turns[-1].pending)
        self.messages.append({"role": "user", "content": _told(step, results)})
        return tuple(
            replace(r, result=self.kept(r.result, whole=True), error=self.kept(r.error, whole=True)) for r in results
        )

    def ask(self, started: float) -> Reply:
        """One model call within what is left of the turn."""
        left = self.deadlines.turn_s - (monotonic() - started)
        if left <= 0:
            raise ModelTimeout(f"the turn did not end within {self.deadlines.turn_s:g} s")
        options = self.target.options
        try:
            reply = self.target.endpoint.ask(
                self.messages, temperature=options.temperature, seed=self.seed, max_tokens=options.max_tokens,
                tools=self.target.offered or None, timeout_s=min(left, self.deadlines.call_s),
            )  # fmt: skip
        except ModelTimeout as error:
            if left > self.deadlines.call_s:
                raise
            raise ModelTimeout(f"the turn did not end within {self.deadlines.turn_s:g} s") from error
        if reply.finish_reason == "length":
            self.flags.add(TRUNCATED)
        return reply

    def answer_tools(self, reply: Reply, calls: list[ToolCall], pending: list[ToolCall]) -> None:
        """Answer one round of tool calls: in the history for the model, in `calls` and `pending` for the record."""
        names = [self.own_id(self.clean(request.id) or "call") for request in reply.tool_calls]
        requests = [one._replace(id=one.id or name) for one, name in zip(reply.tool_calls, names, strict=True)]
        asked = [_echo(request) for request in requests]
        self.messages.append({"role": "assistant", "content": self.clean(reply.text) or None, "tool_calls": asked})
        for request, identity in zip(requests, names, strict=True):
            looked = self.look_up(request)
            content = looked.result if looked.error is None else f"error: {looked.error}"
            self.messages.append({"role": "tool", "tool_call_id": request.id, "content": content})
            name, arguments = self.clean(request.name), self.clean_json(_arguments(request))
            kept = self.kept(looked.result, whole=request.name in self.target.played.tools)
            calls.append(ToolCall(name, arguments, kept, self.kept(looked.error), identity))
            if looked.pending:
                pending.append(ToolCall(name, arguments, id=identity))

    def own_id(self, given: str) -> str:
        """`given`, numbered where an earlier call of this sample has it: checks tell calls and results apart by it."""
        numbered = (f"{given}-{count}" for count in itertools.count(2))
        free = next(one for one in itertools.chain([given], numbered) if one not in self.ids)
        self.ids.add(free)
        return free

    def look_up(self, request: ToolRequest) -> Looked:
        if isinstance(request.arguments, str):
            return Looked(error="the arguments are not a JSON object")
        if not self.target.offered:
            return Looked(error=f"unknown tool {request.name!r}; none was offered")
        knowledge = self.target.knowledge
        if knowledge and (request.name in knowledge.NAMES or not self.target.played):
            return knowledge.call(request.name, request.arguments)
        return self.play.call(request.name, request.arguments)

    def kept(self, text: str | None, *, whole: bool = False) -> str | None:
        """A tool's result as the record keeps it: a long article cut, with a mark; what checks read as JSON `whole`."""
        if text is None or whole or len(text) <= _KEPT:
            return None if text is None else self.clean(text)
        return self.clean(text[:_KEPT]) + f"… [cut: {len(text)} characters in all]"

    def clean(self, text: str) -> str:
        """`text` as a table can hold it, flagged when that changed it."""
        cleaned = storable(text)
        if cleaned is not text and cleaned != text:
            self.flags.add(ESCAPED)
        return cleaned

    def clean_json(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, Mapping):
            return {self.clean(key): self.clean_json(inner) for key, inner in value.items()}
        return [self.clean_json(inner) for inner in value] if isinstance(value, list) else value


def _unmarked(ask: str) -> str:
    """A request without the mark of a decision, which only a decision bears."""
    return ask.replace(DECISION_MARK, f"(the user quotes: {DECISION_MARK[1:-1]})")


def _told(decision: Step, decided: Sequence[ToolCall]) -> str:
    """A decision and what came of it, for the model: JSON, so that no text inside can pass for another message."""
    calls = [
        {"id": call.id, "tool": call.name, "arguments": dict(call.arguments), **_outcome(call)} for call in decided
    ]
    said = {"decision": "approved" if decision.approve else "refused", "approver": decision.approver,
            "rationale": decision.rationale, "calls": calls}  # fmt: skip
    return f"{DECISION_MARK} A person decided on the calls that were left open. {json.dumps(said, ensure_ascii=False)}"


def _outcome(call: ToolCall) -> dict[str, str]:
    found = {"result": call.result, "error": call.error}
    return {key: text for key, text in found.items() if text is not None}


def _arguments(request: ToolRequest) -> dict[str, Any]:
    return {"unparsed": request.arguments} if isinstance(request.arguments, str) else request.arguments


def _echo(request: ToolRequest) -> dict[str, Any]:
    raw = request.arguments if isinstance(request.arguments, str) else json.dumps(request.arguments)
    return {"id": request.id, "type": "function", "function": {"name": request.name, "arguments": raw}}
