"""Berth's published criteria: `checks.json` becomes the text of a suite file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from evallib.errors import InputError
from evallib.importers.base import Fields, SourceFile, escape, identifier, parse_json, printable, read_source
from evallib.strict_yaml import dump_yaml
from evallib.suite import parse_suite

__all__ = ["Questions", "read_berth_questions", "read_berth_suite"]

_HEADER = """\
# Made by `evallib import berth-suite` from {name} (sha256 {sha256}).
# Source: github cloudguys-io/berth, folder `evals/`. Licence: CC BY 4.0.
# Attribution: "Berth AI SRE evaluation data, round eval-2026-10".
# Checks of kind `recorded` have no published criteria: a rescoring carries their recorded verdicts over.
"""
_ENTRY_KEYS = (
    "id", "title", "category", "description", "prompt", "turns", "criteria", "checks", "source", "canaries",
)  # fmt: skip
_CHECK_KEYS = ("id", "kind", "critical", "desc")
_NOT_EMPTY = re.compile(r"\bnon-?empty\b|\bnot (?:be )?empty\b", re.IGNORECASE)
_MERGED_TOOLS = {"describe_resource": ["get_resource"]}
"""Berth merged two tools: its older traces call the one on the left by the names on the right."""


class Questions(NamedTuple):
    """What scenarios ask, as they were published: records of a run do not say it."""

    file: SourceFile
    steps: dict[str, list[dict[str, str]]]
    """By scenario."""


def read_berth_questions(path: Path) -> Questions:
    """What the scenarios of Berth's criteria in `path` ask."""
    file, criteria = _read(path)
    asking = ((name, criteria.part(name)) for name in criteria.value)
    steps = {name: _steps(entry) for name, entry in asking if any(entry.parts("checks"))}
    return Questions(file, steps)


def _read(path: Path) -> tuple[SourceFile, Fields]:
    file = read_source(path)
    criteria = Fields.of(escape(parse_json(file.text, str(path)), file.text).value, str(path))
    if "runId" in criteria.value:
        raise InputError(f"{path}: a record of a run, not criteria; use `evallib import berth`")
    return file, criteria


def read_berth_suite(path: Path) -> str:
    """The suite, as YAML text, of the criteria in `path`: one case per scenario that has checks."""
    file, criteria = _read(path)
    cases = [case for name in criteria.value if (case := _case(name, criteria.part(name))) is not None]
    if not cases:
        raise InputError(f"{path}: holds no scenario with checks; expected Berth's checks.json")
    used = {tool for case in cases for check in case["checks"] for tool in check.get("tools", ())}
    aliases = {tool: names for tool, names in _MERGED_TOOLS.items() if tool in used}
    suite: dict[str, Any] = {
        "suite": "berth",
        "description": "Berth AI SRE evaluation, published criteria",
        "pass": "critical",
        **({"aliases": aliases} if aliases else {}),
        "cases": cases,
    }
    text = _HEADER.format(name=file.name, sha256=file.sha256) + "\n" + dump_yaml(printable(suite))
    parse_suite(text, f"the suite made of {path}")
    return text


def _case(name: str, entry: Fields) -> dict[str, Any] | None:
    """One scenario as a case; None for an entry without checks, which is shared scenery and asks nothing."""
    entry.only(*_ENTRY_KEYS)
    if entry.text("id") != name:
        entry.fail(f"its id is {entry.text('id')!r}; expected the entry's own name")
    checks = [_check(check) for check in entry.parts("checks")]
    if not checks:
        return None
    category, about = entry.text("category", default=""), entry.text("description", default="")
    return {
        "id": identifier(entry, "id"),
        "title": entry.text("title", default=""),
        **({"tags": [category]} if category else {}),
        "steps": _steps(entry),
        **({"key": {"about": about}} if about else {}),
        "checks": checks,
    }


def _steps(entry: Fields) -> list[dict[str, str]]:
    """What the user asks; an assistant's text between two requests becomes the earlier one's reference."""
    if entry.has("prompt") == entry.has("turns"):
        entry.fail("a scenario has either 'prompt' or 'turns'")
    if entry.has("prompt"):
        return [{"ask": entry.text("prompt")}]
    steps: list[dict[str, str]] = []
    for turn in entry.parts("turns"):
        turn.only("role", "content")
        role, content = turn.text("role"), turn.text("content")
        if role == "user":
            steps.append({"ask": content})
        elif role == "assistant" and steps and "reference" not in steps[-1]:
            steps[-1]["reference"] = content
        else:
            turn.fail(f"role {role!r} is not expected here; turns alternate, and the user begins")
    if not steps or "reference" in steps[-1]:
        entry.fail("'turns' must end with a request of the user")
    return steps


def _check(check: Fields) -> dict[str, Any]:
    kind = check.text("kind")
    if kind not in _KINDS:
        check.fail(f"unknown kind of check {kind!r}; this importer knows {', '.join(_KINDS)}")
    keys, translate = _KINDS[kind]
    check.only(*_CHECK_KEYS, *keys)
    critical = {"critical": True} if check.flag("critical") else {}
    written = translate(check)
    return {"id": identifier(check, "id"), "check": written.pop("check"), "description": check.text("desc"),
            **critical, **written}  # fmt: skip


def _filled(check: Fields, key: str) -> list[str]:
    found = list(check.texts(key))
    if not found or not all(found):
        check.fail(f"{key!r} is empty or holds an empty text, which would decide nothing; add one")
    return found


def _global(check: Fields) -> dict[str, Any]:
    if check.has("patterns"):
        check.fail("a global check with patterns does not say whether they must match; expected null")
    return {"check": "not_empty" if _NOT_EMPTY.search(check.text("desc")) else "recorded"}


def _tool_called(check: Fields) -> dict[str, Any]:
    arguments = {"args": dict(check.part("args").value)} if check.has("args") else {}
    return {"check": "tool_called", "tools": _filled(check, "tools"), **arguments}


_KINDS: dict[str, tuple[tuple[str, ...], Any]] = {
    "global": (("patterns",), _global),
    "must_match": (("patterns",), lambda check: {"check": "matches", "any_of": _filled(check, "patterns")}),
    "must_not_match": (("patterns",), lambda check: {"check": "matches", "none_of": _filled(check, "patterns")}),
    "recorded_must_not_match": (
        ("patterns",),
        lambda check: {"check": "matches", "over": "recorded", "none_of": _filled(check, "patterns")},
    ),
    "tool_called": (("tools", "args"), _tool_called),
    "tool_forbidden": (("tools",), lambda check: {"check": "tool_forbidden", "tools": _filled(check, "tools")}),
    "max_tool_calls": (("max",), lambda check: {"check": "tool_budget", "max": check.whole("max")}),
}
"""Kind of check to its own keys and its translation."""
