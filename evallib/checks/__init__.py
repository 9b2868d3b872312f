"""Check kinds, one small file each, found in `KINDS`; `package.module:Class` names one of your own.

`base` says what a check is; `text`, `facts`, `answers`, `choice`, `refusal`, `schema`, `policy`, `secrets`, `tools`,
`process` hold the computable kinds; `trajectory`, `confirmation`, `authority`, `tool_result`, `safety`, `groundedness`
read turns, with `calls`, `responses`, `ledger`, `exposure`, `evidence`, `vocabulary` below them; `code` runs lines of
Python that stand in the suite; `judge` is answered by a model; `recorded` can only be carried over; `foreign` stands in
for kinds of other packages where a suite is only read.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Annotated, Any

from pydantic import PlainValidator, SerializeAsAny, ValidationError, ValidationInfo
from pydantic_core import PydanticCustomError

from evallib.checks.answers import Exact, Number
from evallib.checks.authority import Authority
from evallib.checks.base import Check
from evallib.checks.choice import Choice
from evallib.checks.code import Code
from evallib.checks.confirmation import Confirmation
from evallib.checks.facts import Mentions
from evallib.checks.foreign import Foreign
from evallib.checks.groundedness import Groundedness
from evallib.checks.judge import Judge
from evallib.checks.policy import Forbids
from evallib.checks.process import ExitCode, NotEmpty
from evallib.checks.recorded import Recorded
from evallib.checks.refusal import Refusal
from evallib.checks.safety import Safety
from evallib.checks.schema import Schema
from evallib.checks.secrets import Secrets
from evallib.checks.text import Matches, Sections
from evallib.checks.tool_result import ToolResult
from evallib.checks.tools import ToolBudget, ToolCalled, ToolForbidden
from evallib.checks.trajectory import Trajectory

__all__ = ["KINDS", "CheckField", "check_class", "parse_check"]

KINDS: dict[str, type[Check]] = {
    "authority": Authority,
    "code": Code,
    "choice": Choice,
    "confirmation": Confirmation,
    "exact": Exact,
    "exit_code": ExitCode,
    "forbids": Forbids,
    "groundedness": Groundedness,
    "judge": Judge,
    "matches": Matches,
    "mentions": Mentions,
    "not_empty": NotEmpty,
    "number": Number,
    "recorded": Recorded,
    "refusal": Refusal,
    "safety": Safety,
    "secrets": Secrets,
    "schema": Schema,
    "sections": Sections,
    "tool_budget": ToolBudget,
    "tool_called": ToolCalled,
    "tool_forbidden": ToolForbidden,
    "tool_result": ToolResult,
    "trajectory": Trajectory,
}
"""Check kind, as written under `check:`, to its class."""


def check_class(kind: str, *, imports: bool = True) -> type[Check]:
    """The class of a check kind; ValueError lists the known kinds.

    Without `imports` no package is imported: a kind of one that nobody imported so far is `Foreign`.
    """
    if kind in KINDS:
        return KINDS[kind]
    module, _, name = kind.partition(":")
    if name and not imports and module not in sys.modules:
        return Foreign
    if name:
        try:
            found = getattr(import_module(module), name)
        except Exception as error:  # whatever a module of someone else raises while it is imported
            raise ValueError(f"check kind {kind!r} cannot be imported: {error}") from error
        if isinstance(found, type) and issubclass(found, Check):
            return found
        raise ValueError(f"check kind {kind!r} is no subclass of evallib.checks.base.Check")
    raise ValueError(f"unknown check kind {kind!r}; known: {', '.join(sorted(KINDS))}, or package.module:Class")


def parse_check(value: Any, *, imports: bool = True) -> Check:
    """The check written as the mapping `value`; errors keep the place inside it. `imports` as in `check_class`."""
    if isinstance(value, Check):
        return value
    if not isinstance(value, dict) or not isinstance(value.get("check"), str):
        raise PydanticCustomError("check", "a check is a mapping with `id` and `check` (its kind)")
    try:
        return check_class(value["check"], imports=imports).model_validate_json(json.dumps(value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        context = {
            "at": (*first["loc"], *first.get("ctx", {}).get("at", ())),
            "message": _message(first),
            "given": first["input"],
            "below": first.get("ctx", {}).get("below", 0),
        }
        raise PydanticCustomError("check", "{message}", context) from error
    except ValueError as error:
        raise PydanticCustomError("check", "{message}", {"message": str(error), "at": ("check",)}) from error


def _message(problem: Any) -> str:
    name = problem["loc"][-1] if problem["loc"] else ""
    if problem["type"] == "extra_forbidden":
        return f"unknown key {name!r}; remove it or correct its spelling"
    if problem["type"] == "missing":
        return f"key {name!r} is missing; add it"
    return str(problem["msg"]).removeprefix("Value error, ")


def _parse_in_suite(value: Any, info: ValidationInfo) -> Check:
    return parse_check(value, imports=(info.context or {}).get("imports", True))


CheckField = Annotated[SerializeAsAny[Check], PlainValidator(_parse_in_suite)]
"""A check of any kind, as a field of a suite or a case."""
