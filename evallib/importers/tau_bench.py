"""tau-bench trajectories: one JSON list of trials, each with a reward and the OpenAI chat messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evallib.errors import InputError
from evallib.importers.base import Fields, Imported, SourceFile, escape, parse_json, read_source, recorded_suite
from evallib.records import Sample, ToolCall, Turn, Usage, Verdict

__all__ = ["read_tau_bench"]

_FORMAT = "tau-bench"
_CHECK = {
    "id": "reward",
    "check": "recorded",
    "description": "the environment's reward is 1: its final state and the outputs are as expected",
    "critical": True,
}
_TOLERANCE = 1e-6
"""A trial passes when its reward is 1 within this (tau-bench `run.py`, is_successful)."""
_CUT = "cut at the step limit: the environment was not done and graded nothing"


def read_tau_bench(path: Path) -> Imported:
    """The run in a trajectories file: case `task-N`, sample trial + 1, one recorded check `reward`."""
    file = read_source(path)
    trials = sorted(_trials(file), key=lambda trial: (trial.task, trial.number))
    _refuse_doubles(trials)
    set_name = file.name.removesuffix(path.suffix)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", set_name).strip("-._")[:100] or _FORMAT
    return Imported(
        recorded_suite(name, f"tau-bench trajectories of {file.name}, verdicts as recorded", _cases(trials)),
        tuple(_sample(trial, set_name) for trial in trials),
        tuple(_verdict(trial) for trial in trials),
        {"kind": "import", "format": _FORMAT, "model": None, "settings": None, "set": set_name},
        file.identity(_FORMAT, set_name),
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    """One checked record of the file."""

    fields: Fields
    task: int
    number: int
    reward: float
    instruction: str
    graded: bool
    error: str
    """What broke the trial from outside, where tau-bench noted an exception."""
    turns: tuple[Turn, ...]
    unanswered: str
    """The last user message when nothing follows it; it often only says that the user is done."""
    flags: tuple[str, ...]

    @property
    def case_id(self) -> str:
        return f"task-{self.task}"


def _trials(file: SourceFile) -> Iterator[_Trial]:
    if file.text.lstrip()[:1] != "[":
        hint = "; it looks like lines of `berth`" if '"toolTrace"' in file.text else ""
        raise InputError(f"{file.path}: tau-bench writes one JSON list of trials, and this is none{hint}")
    records = parse_json(file.text, str(file.path))
    if not records:
        raise InputError(f"{file.path}: the list of trials is empty; fetch the original file again")
    for index, record in enumerate(records):
        clean, changed = escape(record, file.text)
        yield _trial(Fields.of(clean, f"{file.path}, record {index}"), ("escaped",) if changed else ())


def _trial(fields: Fields, flags: tuple[str, ...]) -> _Trial:
    task, number = fields.whole("task_id"), fields.whole("trial", most=2**31 - 2)
    fields = replace(fields, where=f"{fields.where} (task_id {task}, trial {number})")
    reward, info = fields.number("reward"), fields.part("info")
    if not 0 <= reward <= 1 + _TOLERANCE:
        fields.fail(f"reward is {reward}; expected 0 to 1")
    if info.has("error"):
        if reward > 0:
            fields.fail(f"the trial ended in an error and has reward {reward}; one of the two is wrong")
        broken = info.text("error")
        return _Trial(
            fields, task, number, reward, "", graded=False, error=broken, turns=(), unanswered="", flags=flags
        )
    graded = _graded(info, reward)
    talk = _Conversation()
    for message in fields.parts("traj"):
        talk.add(message)
    turns, unanswered, unread = talk.finish(fields)
    instruction = info.part("task").text("instruction")
    return _Trial(fields, task, number, reward, instruction, graded, "", turns, unanswered, (*flags, *unread))


def _graded(info: Fields, reward: float) -> bool:
    """Whether the environment graded the trial; the two places of the reward must agree."""
    if "reward_info" not in info.value:
        info.fail("key 'reward_info' is missing; expected an object, or null for a trial cut at the step limit")
    if not info.has("reward_info"):
        if reward > 0:
            info.fail(f"reward_info is null, so nothing was graded, and yet the reward is {reward}")
        return False
    inner = info.part("reward_info").number("reward")
    if abs(inner - reward) > _TOLERANCE:
        info.fail(f"reward_info says {inner}, the record says {reward}; one of the two is wrong")
    return True


@dataclass(slots=True)
class _Exchange:
    """One user message and what the agent did until the next."""

    request: str
    texts: list[str] = field(default_factory=list)
    calls: list[tuple[str, ToolCall]] = field(default_factory=list)
    """With the id by which a tool message answers."""
    answers: int = 0
    """Assistant messages, which is the number of model calls that are visible."""


@dataclass(slots=True)
class _Conversation:
    """Turns the chat messages of a trial into exchanges."""

    exchanges: list[_Exchange] = field(default_factory=list)
    unread: bool = False

    def add(self, message: Fields) -> None:
        role = message.text("role")
        if role == "user":
            self.exchanges.append(_Exchange(message.text("content")))
        elif role == "assistant":
            self._assistant(message)
        elif role == "tool":
            self._tool(message)
        elif role != "system":
            message.fail(f"role is {role!r}; expected system, user, assistant or tool")

    def _current(self, message: Fields) -> _Exchange:
        if not self.exchanges:
            message.fail("the agent acts before any user message; the trajectory's beginning is missing")
        return self.exchanges[-1]

    def _assistant(self, message: Fields) -> None:
        exchange = self._current(message)
        exchange.answers += 1
        text = message.text("content", default="")
        if text.strip():
            exchange.texts.append(text)
        for call in message.parts("tool_calls") if message.has("tool_calls") else ():
            function = call.part("function")
            arguments = self._arguments(function.text("arguments", default="{}"))
            exchange.calls.append((call.text("id"), ToolCall(function.text("name"), arguments)))

    def _arguments(self, written: str) -> dict[str, Any]:
        """The model writes arguments as text; what is no JSON object is its own doing and kept as written."""
        try:
            found = parse_json(written, "arguments")
        except InputError:
            found = None
        if isinstance(found, dict):
            return dict(escape(found, written).value)
        self.unread = True
        return {"arguments": written}

    def _tool(self, message: Fields) -> None:
        exchange, wanted = self._current(message), message.text("tool_call_id")
        for index, (call_id, call) in enumerate(exchange.calls):
            if call_id == wanted and call.result is None:
                exchange.calls[index] = (call_id, replace(call, result=message.text("content", default="")))
                return
        message.fail(f"tool_call_id {wanted!r} answers no open tool call of this turn")

    def finish(self, fields: Fields) -> tuple[tuple[Turn, ...], str, tuple[str, ...]]:
        """The turns, the last user message if nothing follows it, and flags."""
        if not self.exchanges:
            fields.fail("traj holds no user message; the trajectory is missing")
        unanswered = "" if self.exchanges[-1].answers else self.exchanges.pop().request
        turns = tuple(
            Turn(step, one.request, "\n\n".join(one.texts), tuple(call for _, call in one.calls),
                 usage=Usage(calls=one.answers))
            for step, one in enumerate(self.exchanges, 1)
        )  # fmt: skip
        return turns, unanswered, ("unparsed_arguments",) if self.unread else ()


def _refuse_doubles(trials: list[_Trial]) -> None:
    instructions: dict[int, str] = {}
    for before, trial in zip([None, *trials], trials, strict=False):
        if before and (before.task, before.number) == (trial.task, trial.number):
            trial.fields.fail("this trial of this task stands twice in the file; keep one")
        known = instructions.setdefault(trial.task, trial.instruction) or trial.instruction
        instructions[trial.task] = known
        if trial.instruction and trial.instruction != known:
            trial.fields.fail("its task has another instruction than in an earlier trial; these are two runs")


def _cases(trials: list[_Trial]) -> list[dict[str, Any]]:
    asked: dict[str, str] = {}
    for trial in trials:
        asked[trial.case_id] = asked.get(trial.case_id) or trial.instruction
    return [
        {"id": case_id, **({"steps": [{"ask": ask}]} if ask else {}), "checks": [_CHECK]}
        for case_id, ask in asked.items()
    ]


def _sample(trial: _Trial, set_name: str) -> Sample:
    info = trial.fields.value["info"]
    source = {
        "set": set_name,
        "task_id": trial.task,
        "trial": trial.number,
        "ended_by": info.get("source"),
        "user_simulator_cost_usd": info.get("user_cost"),  # not the agent's cost
        "unanswered": trial.unanswered,
    }
    status, error = ("harness_error", trial.error) if trial.error else ("completed", "")
    if not trial.error and not trial.graded:
        status, error = "timed_out", _CUT
    return Sample(
        "", trial.case_id, trial.number + 1, status, error, trial.turns,  # type: ignore[arg-type]  # a literal above
        answer=next((turn.text for turn in reversed(trial.turns) if turn.text), ""),
        flags=trial.flags,
        usage=Usage(calls=sum(turn.usage.calls for turn in trial.turns)),
        source=json.dumps(source, ensure_ascii=False),
    )  # fmt: skip


def _verdict(trial: _Trial) -> Verdict:
    passed = abs(trial.reward - 1) <= _TOLERANCE
    reason = f"recorded: reward {trial.reward:g}"
    if trial.error:
        reason = f"recorded: reward {trial.reward:g} after an error"
    elif not trial.graded:
        reason = f"recorded: reward {trial.reward:g}, {_CUT}"
    return Verdict(
        trial.case_id, trial.number + 1, str(_CHECK["id"]), "scored", reason, float(passed),
        float(trial.reward), passed, critical=True, origin="recorded",
    )  # fmt: skip
