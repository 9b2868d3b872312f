"""Check kinds, one small file each, found in `KINDS`; `package.module:Class` names one of your own.

`base` says what a check is; `text`, `facts`, `answers`, `choice`, `refusal`, `schema`, `policy`, `secrets`, `tools`,
`process` hold the computable kinds; `trajectory`, `confirmation`, `authority`, `tool_result`, `safety`, `groundedness`
read turns, with `calls`, `responses`, `ledger`, `exposure`, `evidence`, `vocabulary` below them; `code` runs lines of
Python that stand in the suite; `judge` is answered by a model; `recorded` can only be carried over; `foreign` asks
kinds of other packages, and stands in for them where a suite is only read.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Annotated, Any

from pydantic import PlainValidator, SerializeAsAny, ValidationError, ValidationInfo

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
from evallib.strict_yaml import Problem, problem_of, unknown_key

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
_REMEDY = "; run evallib where Python finds it, as with PYTHONPATH=. in the folder that holds it, or install it"


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
            remedy = _REMEDY if isinstance(error, ModuleNotFoundError) else ""
            raise ValueError(f"check kind {kind!r} cannot be imported: {error}{remedy}") from error
        if isinstance(found, type) and issubclass(found, Check):
            return found
        raise ValueError(f"check kind {kind!r} is no subclass of evallib.checks.base.Check")
    raise ValueError(f"unknown check kind {kind!r}; known: {', '.join(sorted(KINDS))}, or package.module:Class")


def parse_check(value: Any, *, imports: bool = True) -> Check:
    """The check written as the mapping `value`; errors keep the place inside it. `imports` as in `check_class`."""
    if isinstance(value, Check):
        return value
    if not isinstance(value, dict) or not isinstance(value.get("check"), str):
        raise _no_check(value).inside()
    try:
        return check_class(value["check"], imports=imports).model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise problem_of(error).inside() from error
    except ValueError as error:
        raise Problem(("check",), str(error)).inside() from error


def _no_check(value: Any) -> Problem:
    """What is wrong with `value`, which does not name the kind of check it is."""
    if not isinstance(value, dict):
        return Problem((), f"{value!r} must be a mapping with `id` and `check` (its kind)")
    if "check" in value:
        return Problem(("check",), f"{value['check']!r} must be the name of a check's kind")
    meant = next((key for key in value if "did you mean" in unknown_key(key, ["check"])), "")
    said = unknown_key(meant, ["check"]) if meant else "key 'check' (the check's kind) is missing; add it"
    return Problem((meant,) if meant else (), said)


def _parse_in_suite(value: Any, info: ValidationInfo) -> Check:
    return parse_check(value, imports=(info.context or {}).get("imports", True))


CheckField = Annotated[SerializeAsAny[Check], PlainValidator(_parse_in_suite)]
"""A check of any kind, as a field of a suite or a case."""
