"""Post-conditions: what a tool gave back, as proof that an approved write really ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from evallib.checks.calls import ExpectedCall
from evallib.checks.extraction import is_blank
from evallib.checks.folding import fold, shown
from evallib.checks.lookups import is_failure, sign_of_failure
from evallib.checks.responses import decoded, failure, is_open, origin, responses
from evallib.checks.tools import ToolCheck, contains
from evallib.records import Sample, ToolCall, Verdict, canonical_json

__all__ = ["ToolResult"]


class _Given(NamedTuple):
    """One response of the tool."""

    step: int
    place: int
    call: ToolCall

    @property
    def at(self) -> str:
        return f"step {self.step}, " + (f"call {self.place}" if self.place else "a result of an earlier call")


class ToolResult(ToolCheck):
    """The tool gave back at least this.

    Example: `{id: audited, check: tool_result, tool: restart_service, result: {audit: {approver: dana}}}`

    `result` is held against the JSON of the response as arguments are in `tool_called`; a text against the whole text.
    Results that answer a call of an earlier step count, as that of a write approved only now. One that says the call
    still waits for a person never does; one that tells of an error, in a status or a message too, does only with
    `no_error: false`. Without `result` any that is not empty will do.
    """

    revision: ClassVar[int] = 3  # a response that waits may have `detail: null`
    check: Literal["tool_result"]
    tool: str = Field(min_length=1)
    args: Mapping[str, Any] = Field(default_factory=dict)
    """What the call that gave it has at least."""
    result: Any = None
    """What it holds at least; without it, any that is not empty will do."""
    at_least: int = Field(default=1, ge=1)
    """So many responses."""
    no_error: bool = True

    def named_tools(self) -> tuple[str, ...]:
        """The tool."""
        return (self.tool,)

    def judge(self, sample: Sample) -> Verdict:
        """Pass with the responses that fit, fail with why the nearest does not."""
        wanted = ExpectedCall(tool=self.tool, args=self.args)
        given = list(self._given(sample, wanted))
        reasons = [(one, self._wrong(one.call)) for one in given]
        fitting = [one for one, wrong in reasons if not wrong]
        if len(fitting) >= self.at_least:
            told = f"{self.tool} gave back what it must, at {'; '.join(one.at for one in fitting)}"
            return self.scored(sample, True, told, calls=_places(fitting))
        count = f"{len(fitting)} of {self.at_least} responses of {wanted} fit"
        if not given:
            return self.scored(sample, False, f"{count}: none came back")
        told = "; ".join(f"{one.at} {wrong}" for one, wrong in reasons if wrong) or "no other came back"
        return self.scored(sample, False, f"{count}: {told}", calls=_places([one for one, wrong in reasons if wrong]))

    def _given(self, sample: Sample, wanted: ExpectedCall) -> Iterator[_Given]:
        names = self.aliases.get(self.tool, ())
        for nth, turn in enumerate(sample.turns):
            before = (*sample.earlier, *sample.turns[: nth + 1])
            for place, call in responses(turn):
                asked = call if place else origin(call, before, (self.tool, *names)) or call
                if self.is_tool(call.name, self.tool) and wanted.fits(asked.arguments):
                    yield _Given(turn.step, place, call)

    def _wrong(self, response: ToolCall) -> str:
        """Why this response does not count; empty where it does."""
        if is_open(response):
            return "still waits for a person"
        failed = failure(response)
        if failed and self.no_error:
            return f"came back with the error {shown(failed, 120)}"
        if self.no_error and response.error is None:
            unsaid = self._tells_of_failure(response.result or "")
            if unsaid:
                return unsaid
        body = decoded(response.result) if response.error is None else {"error": response.error}
        if self.result is not None and not contains(body, self.result):
            came = response.result if response.error is None else response.error
            return f"gave {shown(came or '', 120)}, which lacks {_lacking(body, self.result)}"
        return ""

    def _tells_of_failure(self, text: str) -> str:
        """Why a result is none though it names no `error`; empty where it is one, or `result` asks for that."""
        body = decoded(text)
        if isinstance(body, Mapping):
            asked = self.result if isinstance(self.result, Mapping) else {}
            left = {key: value for key, value in body.items() if key not in {*asked, "found", "exists"}}
            return f"says that it failed: {shown(text, 120)}" if sign_of_failure(left) else ""
        if self.result is not None:
            return ""
        if body is None or (isinstance(body, str) and is_blank(body)):
            return "gave nothing back"
        failed = isinstance(body, str) and is_failure(fold(body).text)
        return f"says that it failed: {shown(text, 120)}" if failed else ""


def _lacking(body: object, wanted: object, path: str = "") -> str:
    """The first part of `wanted` that `body` does not hold, with where it should stand."""
    if isinstance(wanted, Mapping) and isinstance(body, Mapping):
        for key, value in wanted.items():
            if not contains(body, {key: value}):
                return _lacking(body[key], value, f"{path}{key}.") if key in body else _lack(f"{path}{key}.", value)
    return _lack(path, wanted)


def _lack(path: str, value: object) -> str:
    spelled = canonical_json(value)
    return f"{path[:-1]}: {spelled}" if path else spelled


def _places(given: list[_Given]) -> tuple[int, ...]:
    return tuple(number for one in given if one.place for number in (one.step, one.place))
