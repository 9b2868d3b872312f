"""The edge of a target: whatever it gives or raises becomes something a run can store, or a sample's status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, get_args

from evallib.case import Step
from evallib.errors import EvallibError, InfrastructureError, InputError
from evallib.records import SampleStatus, ToolCall, Turn, Usage, json_problem, storable
from evallib.suite import Deadlines
from evallib.targets.base import ESCAPED, Target, TargetOutput

__all__ = ["identify", "make_ready", "run_target"]

_MOST = 2**63 - 1
_MOST_COUNTED = 2**40
"""Of tokens or calls in one turn: what is summed over a whole run still fits its column."""
_SAID = 500

_Kind = TypeVar("_Kind")


def run_target(target: Target, steps: tuple[Step, ...], *, seed: int, deadlines: Deadlines) -> TargetOutput:
    """One sample's output, storable; an exception and a wrong output are the status `harness_error`."""
    try:
        return _Reader().output(target.run(steps, seed=seed, deadlines=deadlines))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # its trouble is a status, not the run's end
        return TargetOutput(status="harness_error", error=_said(error))


def make_ready(target: Target) -> None:
    """Call the target's `preflight`; whatever else it raises is an InfrastructureError."""
    try:
        target.preflight()
    except EvallibError:
        raise
    except Exception as error:
        raise InfrastructureError(f"the target could not be made ready: {_said(error)}") from error


def identify(target: Target) -> dict[str, Any]:
    """The target's `identity`; InputError when it is no JSON object."""
    try:
        identity: object = target.identity()
    except EvallibError:
        raise
    except Exception as error:
        raise InputError(f"the target cannot say its identity: {_said(error)}") from error
    problem = json_problem(identity) if isinstance(identity, dict) else "is no dict"
    if problem or escape_json(identity) != identity:
        raise InputError(f"the target's identity {problem or 'holds a NUL or lone surrogate'}; give JSON values only")
    return dict(identity) if isinstance(identity, dict) else {}


def escape_json(value: Any) -> Any:
    """`value` with every text in it escaped, keys too."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable(key): escape_json(inner) for key, inner in value.items()}
    return [escape_json(inner) for inner in value] if isinstance(value, list | tuple) else value


def _said(error: BaseException) -> str:
    return storable(" ".join(f"{type(error).__name__}: {error}".split()))[:_SAID]


class _Reader:
    """Reads one output by what it is, whatever its author's annotations say; TypeError or ValueError says why not."""

    def __init__(self) -> None:
        self.escaped = False

    def output(self, given: object) -> TargetOutput:
        """`given` with its texts escaped, and flagged where that changed one."""
        one = self.kind(given, TargetOutput, "the target's output")
        if one.status not in get_args(SampleStatus):
            raise ValueError(f"status {one.status!r} is unknown; known: {', '.join(get_args(SampleStatus))}")
        files = self.kind(one.files, Mapping, "`files`")  # type: ignore[type-abstract]  # only asked by isinstance
        turns = tuple(self.turn(turn) for turn in self.several(one.turns, "`turns`"))
        if len({turn.step for turn in turns}) < len(turns):
            raise ValueError("two turns have the same `step`")
        read = TargetOutput(
            one.status, self.text(one.error, "`error`"), turns,
            {self.text(name, "a file's name"): self.text(text, f"file {name!r}") for name, text in files.items()},
            self.text(one.answer, "`answer`"),
            None if one.exit_code is None else self.whole(one.exit_code, "`exit_code`", -_MOST, _MOST),
            self.texts(one.flags, "`flags`"), self.usage(one.usage), self.texts(one.recorded, "`recorded`"),
        )  # fmt: skip
        return replace(read, flags=tuple(sorted({*read.flags, ESCAPED}))) if self.escaped else read

    def turn(self, given: object) -> Turn:
        one = self.kind(given, Turn, "a turn")
        return Turn(
            self.whole(one.step, "a turn's `step`", 1, 2**31 - 1),
            self.text(one.request, "a turn's `request`"), self.text(one.text, "a turn's `text`"),
            self.calls(one.tool_calls), self.calls(one.results), self.calls(one.pending),
            self.texts(one.partials, "`partials`"), self.usage(one.usage),
            self.number(one.duration_s, "a turn's `duration_s`"),
        )  # fmt: skip

    def calls(self, given: object) -> tuple[ToolCall, ...]:
        return tuple(self.call(call) for call in self.several(given, "a turn's calls"))

    def call(self, given: object) -> ToolCall:
        one = self.kind(given, ToolCall, "a tool call")
        problem = json_problem(self.kind(one.arguments, Mapping, "`arguments`"))  # type: ignore[type-abstract]  # as above
        if problem:
            raise ValueError(f"the arguments of tool {one.name!r}: the value {problem}")
        arguments = escape_json(one.arguments)
        self.escaped = self.escaped or arguments != _plain(one.arguments)
        result, error = (
            None if text is None else self.text(text, "a tool's result") for text in (one.result, one.error)
        )
        return ToolCall(
            self.text(one.name, "a tool's name"), arguments, result, error, self.text(one.id, "a call's id")
        )

    def usage(self, given: object) -> Usage:
        one = self.kind(given, Usage, "`usage`")
        tokens_in, tokens_out, cached = (
            None if count is None else self.whole(count, "a count of tokens", 0, _MOST_COUNTED)
            for count in (one.input_tokens, one.output_tokens, one.cached_tokens)
        )
        cost = None if one.cost_usd is None else self.number(one.cost_usd, "`cost_usd`")
        calls = self.whole(one.calls, "`calls`", 0, _MOST_COUNTED)
        return Usage(tokens_in, tokens_out, calls, cost, cached)

    def text(self, given: object, what: str) -> str:
        text = self.kind(given, str, what)
        escaped = storable(text)
        self.escaped = self.escaped or escaped != text
        return escaped

    def texts(self, given: object, what: str) -> tuple[str, ...]:
        return tuple(self.text(one, f"a text in {what}") for one in self.several(given, what))

    def several(self, given: object, what: str) -> Iterable[object]:
        if not isinstance(given, list | tuple):
            raise TypeError(f"{what} must be a tuple, and is {type(given).__name__}")
        return given

    def whole(self, given: object, what: str, least: int, most: int) -> int:
        number = self.kind(given, int, what)
        if isinstance(given, bool) or not least <= number <= most:
            raise ValueError(f"{what} must be a whole number from {least} to {most}")
        return number

    def number(self, given: object, what: str) -> float:
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= _MOST:
            raise ValueError(f"{what} must be a finite number from 0")
        return float(given)

    def kind(self, given: object, kind: type[_Kind], what: str) -> _Kind:
        if not isinstance(given, kind):
            raise TypeError(f"{what} must be {kind.__name__}, and is {type(given).__name__}")
        return given


def _plain(value: Any) -> Any:
    """`value` as JSON reads it back: mappings are dicts, tuples are lists."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value
