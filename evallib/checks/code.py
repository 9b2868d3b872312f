"""A few lines of Python in the suite file as a check; they run in a confined process, never in evallib's own."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any, Literal, NoReturn, Self

from pydantic import Field, PrivateAttr, field_validator, model_validator
from pydantic_core import PydanticCustomError

from evallib.checks.base import Check
from evallib.checks.code_worker import compiled
from evallib.checks.workers import OUTLIVED, Reply, evaluate
from evallib.records import Sample, Verdict, storable

__all__ = ["Code", "outlived", "outputs_of"]

_REFERENCE = re.compile(r"key\.([A-Za-z_][A-Za-z0-9_]*)\Z")
_ROUNDING = 1e-9
"""Share of the range by which a sum of floats may miss a bound and still be that bound."""


class Code(Check):
    """The body of a Python function of `outputs` and `arguments` that returns a score and a reason.

    Example: `{id: short, check: code, code: 'return 0 < len(outputs["answer"]) < 900, "counted"'}`

    It returns `(score, reason)`, `{'score': ..., 'reason': ...}` or the score alone; a score is True, False or a
    finite number in `range`. `outputs` holds files, answer, exit_code, tool_calls, turns, duration_s and usage (see
    `outputs_of`), never the answer key: what the code may know of it stands in `arguments` as `key.NAME`, at any depth.
    Each evaluation has a process, a folder and a copy of its input to itself, and a deadline (`deadlines: {check_s}`
    of the suite). Anything but a score is not_scored.
    """

    check: Literal["code"]
    code: str
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    range: tuple[float, float] = (0.0, 1.0)
    """Lowest and highest score; True is the highest, False the lowest."""
    pass_at: float | None = None
    """Score from which the verdict is a pass; the top of the range when absent."""
    memory_mb: int = Field(default=512, ge=64, le=65536)
    """MiB of address space."""
    _check_s: float = PrivateAttr(default=10.0)

    @field_validator("code")
    @classmethod
    def _is_a_body(cls, code: str) -> str:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                statements = ast.parse(code).body
                if statements:
                    compiled(code)
        except SyntaxError as error:
            _refuse(error.msg, error.lineno)
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            _refuse(str(error) or type(error).__name__, None)
        if all(isinstance(one, ast.Pass) or _is_constant(one) for one in statements):
            raise ValueError("the code does nothing; end it with a score and a reason, as in `return 1.0, 'ok'`")
        return code

    @model_validator(mode="after")
    def _range_rises(self) -> Self:
        low, high = self.range
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"range {list(self.range)} must rise, as in [0, 1]")
        if self.pass_at is not None and not low <= self.pass_at <= high:
            raise ValueError(f"pass_at {self.pass_at} lies outside the range {list(self.range)}")
        return self

    def bind(self, key: Mapping[str, Any]) -> Self:
        """This check with every `key.NAME` in `arguments`, at any depth, replaced from a case's answer key."""
        arguments = _bound(self.arguments, key)
        return self if arguments == self.arguments else self.model_copy(update={"arguments": arguments})

    def within(self, check_s: float) -> Self:
        """This check granted `check_s` seconds by the clock for each evaluation; they decide nothing."""
        granted = self.model_copy()
        granted._check_s = check_s  # noqa: SLF001  # a copy of this very object
        return granted

    def __call__(self, samples: Sequence[Sample]) -> list[Verdict]:
        """One verdict per sample, several evaluated at once."""
        replies = evaluate(lambda number: self._task(samples[number]), len(samples), self._check_s)
        return [self._verdict(sample, reply) for sample, reply in zip(samples, replies, strict=True)]

    def _task(self, sample: Sample) -> dict[str, Any]:
        outputs = outputs_of(sample)
        return {"code": self.code, "arguments": self.arguments, "outputs": outputs, "memory": self.memory_mb << 20}

    def _verdict(self, sample: Sample, reply: Reply) -> Verdict:
        if reply.value is None:
            return self.unscored(sample, storable(f"the code {reply.problem}"))
        low, high = self.range
        slack = _ROUNDING * (high - low)
        raw = (high if reply.value else low) if isinstance(reply.value, bool) else reply.value
        raw = next((bound for bound in self.range if abs(raw - bound) <= slack), raw)
        if not low <= raw <= high:
            return self.unscored(sample, f"the code returned {raw!r}, outside its range {low:g} to {high:g}")
        passed = raw >= (high if self.pass_at is None else self.pass_at) - slack
        reason = storable(reply.reason) if reply.reason.strip() else f"the code returned {reply.value}, and no reason"
        return self.scored(sample, (raw - low) / (high - low), reason, raw=raw, passed=passed)


def outlived(verdict: Verdict) -> bool:
    """Whether there is no verdict because the code ran past its deadline."""
    return verdict.status == "not_scored" and any(f"the code {words}" in verdict.reason for words in OUTLIVED)


def outputs_of(sample: Sample) -> dict[str, Any]:
    """What a code check may know of a sample: its `outputs`.

    `files` maps path to text; where the target wrote no `answer.md`, the final text stands in as that file, first.
    `turns` are the final texts of the turns.
    """
    files = dict(sample.files)
    if not any(PurePosixPath(path).name == "answer.md" for path in files):
        files = {"answer.md": sample.answer, **files}
    return {
        "files": files,
        "answer": sample.answer,
        "exit_code": sample.exit_code,
        "tool_calls": [
            {"name": call.name, "arguments": dict(call.arguments), "result": call.result, "error": call.error}
            for call in sample.tool_calls
        ],
        "turns": [turn.text for turn in sample.turns],
        "duration_s": sample.duration_s,
        "usage": asdict(sample.usage),
    }


def _refuse(problem: str, line: int | None) -> NoReturn:
    place = f"line {line} of the code" if line else "the code"
    raise PydanticCustomError("code", "{message}", {"message": f"{place} is not Python: {problem}", "below": line or 0})


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _bound(value: Any, key: Mapping[str, Any]) -> Any:
    if isinstance(value, str) and (reference := _REFERENCE.match(value)):
        return key[reference[1]]
    if isinstance(value, Mapping):
        return {name: _bound(inner, key) for name, inner in value.items()}
    return [_bound(inner, key) for inner in value] if isinstance(value, list | tuple) else value
