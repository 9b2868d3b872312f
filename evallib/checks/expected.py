"""What a check expects of tools, held against what the suite declares of its domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evallib.checks.base import Check
from evallib.checks.calls import ExpectedCall
from evallib.checks.tools import ToolCheck
from evallib.domain import Domain

__all__ = ["domain_problems", "expected_calls"]


def domain_problems(check: Check, domain: Domain) -> Iterator[str]:
    """One sentence, with its remedy, per unknown tool or entity that `check` (bound) speaks of.

    Tools are looked up only where the suite declares `tools`; entities only in arguments whose tool says what they
    name. A check that waits for a tool that there is not, or forbids one, could never fire.
    """
    if domain.tools and isinstance(check, ToolCheck):
        known = {*domain.tools, *domain.aliases, *(name for names in domain.aliases.values() for name in names)}
        for tool in dict.fromkeys(check.named_tools()):
            if tool not in known:
                names = ", ".join(sorted(domain.tools))
                yield f"it names tool {tool!r}, which `tools` does not declare; correct or declare it (known: {names})"
    for tool, arguments in expected_calls(check):
        for problem in domain.unknown_arguments(tool, arguments):
            yield f"{problem}; correct its spelling, or declare it"
        for problem in domain.unknown_entities(tool, arguments):
            yield f"{problem}; correct it, or add it to the `vocabulary` (`reserved` for one that must not exist)"


def expected_calls(check: Check) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Tool and arguments of every call the check waits for."""
    written = {name: getattr(check, name) for name in type(check).model_fields}
    tools = written.get("tools", ()) if isinstance(written.get("tools"), tuple) else ()
    for tool in (*tools, *([written["tool"]] if isinstance(written.get("tool"), str) else ())):
        if isinstance(written.get("args"), Mapping):
            yield tool, written["args"]
    for value in written.values():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, ExpectedCall):
                yield one.tool, one.args
