"""ADK evalsets: the JSON file of cases that the Agent Development Kit exports becomes the text of a suite file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evallib.adk import WRAPPER
from evallib.checks.tools import contains
from evallib.errors import InputError
from evallib.importers.base import Fields, escape, parse_json, printable, read_source
from evallib.strict_yaml import dump_yaml, load_yaml
from evallib.suite import parse_suite

__all__ = ["read_adk_evalset"]

_HEADER = """\
# Made by `evallib import adk-evalset` from {name} (sha256 {sha256}).
# Not in it: session state, recorded intermediate responses, and the user's words at a decision, which nobody sends.
"""
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*\Z")
_MOST_IN_ID = 120
_TIMES = ("creation_timestamp",)


def read_adk_evalset(path: Path, tools: Path | None = None) -> str:
    """The suite, as YAML text, of the evalset in `path`.

    Expected calls become `trajectory`, forbidden tools `authority`, forbidden output `safety`, required output
    `refusal`, a required confirmation `confirmation` (and part of `authority`), each at its step; an empty answer never
    passes. An unknown field, a wrong type or a second value is refused at once; all other problems are told together,
    each with its case and turn. `tools` is a YAML file with the target's tools (a list of names, a mapping as under
    `tools:` in a suite, or a suite): then a tool that it does not have is refused, as is a check that can never fire.
    """
    file = read_source(path)
    written = Fields.of(escape(parse_json(file.text, str(path)), file.text).value, str(path))
    problems: list[str] = []
    cases = list(_cases(written, problems))
    problems += [f"{key} is missing or empty" for key in ("eval_set_id", "name") if not written.text(key, default="")]
    if not cases:
        problems.append("eval_cases is empty; an evalset needs at least one case")
    twice = [name for name, count in Counter(case["id"] for case in cases).items() if count > 1]
    problems += [f"case {name!r}: eval_id stands twice" for name in twice]
    if problems:
        told = "; ".join(f"({number}) {problem}" for number, problem in enumerate(problems, 1))
        raise InputError(f"{path}: nothing was written, {len(problems)} to mend: {told}")
    suite = {
        "suite": _suite_id(written.text("eval_set_id")),
        "description": written.text("description", default="") or written.text("name"),
        "pass": "top",
        **({"tools": _catalogue(tools)} if tools else {}),
        "checks": [{"id": "answered", "check": "not_empty"}],
        "cases": cases,
    }
    text = _HEADER.format(name=file.name, sha256=file.sha256) + "\n" + dump_yaml(printable(suite))
    parse_suite(text, f"the suite made of {path}")
    return text


def _suite_id(name: str) -> str:
    """`name` as a suite may be called."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:_MOST_IN_ID] or "evalset"


def _catalogue(path: Path) -> dict[str, Any]:
    """The tools in `path`, as a suite writes them; without their entities, whose vocabulary is not this suite's."""
    value = load_yaml(path).value
    if isinstance(value, dict) and isinstance(value.get("tools"), dict | list):
        value = value["tools"]
    if isinstance(value, list) and value and all(isinstance(name, str) for name in value):
        return {name: {} for name in value}
    if isinstance(value, dict) and value and all(isinstance(one, dict) for one in value.values()):
        return {name: {key: one[key] for key in one.keys() - {"entities"}} for name, one in value.items()}
    raise InputError(f"{path}: expected a list of tool names, or a mapping as under `tools:` in a suite")


def _cases(written: Fields, problems: list[str]) -> Iterator[dict[str, Any]]:
    written.only("eval_set_id", "name", "description", "eval_cases", *_TIMES)
    _timestamp(written)
    for case in _parts(written, "eval_cases"):
        case.only("eval_id", "session_input", "conversation", *_TIMES)
        _timestamp(case)
        name = case.text("eval_id", default="")
        if not _SLUG.match(name) or len(name) > _MOST_IN_ID:
            problems.append(f"case {name!r}: eval_id must be lower-case words and digits joined by single hyphens")
        approver = _user(case)
        turns = list(_parts(case, "conversation"))
        if not turns:
            problems.append(f"case {name!r}: its conversation is empty; it needs at least one turn")
        steps: list[dict[str, Any]] = []
        for number, turn in enumerate(turns, 1):
            found: list[str] = []
            steps.append(_Turn(turn, found).step(approver, steps[-1] if steps else None))
            problems += [f"case {name!r}, turn {number}: {problem}" for problem in found]
        yield {"id": name, "steps": steps}


def _user(case: Fields) -> str:
    """Who speaks in the session, and so who approves."""
    if not case.has("session_input"):
        return ""
    session = case.part("session_input")
    session.only("app_name", "user_id", "state")
    session.text("app_name", default="")
    if session.has("state"):
        session.part("state")
    return session.text("user_id", default="")


def _parts(fields: Fields, key: str) -> Iterator[Fields]:
    """The objects in the list under `key`; null and a missing key are an empty list, as to Go's decoder."""
    return fields.parts(key) if fields.has(key) else iter(())


def _timestamp(fields: Fields) -> None:
    given = fields.value.get("creation_timestamp")
    if isinstance(given, str) and re.fullmatch(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", given):
        return
    fields.number("creation_timestamp", default=0)


class _Turn:
    """One entry of a conversation; what is wrong with it is noted in `problems`."""

    def __init__(self, written: Fields, problems: list[str]) -> None:
        written.only("invocation_id", "user_content", "final_response", "intermediate_data", "confirmation",
                     "deterministic_checks", *_TIMES)  # fmt: skip
        _timestamp(written)
        written.text("invocation_id", default="")
        self.written, self.problems = written, problems

    def step(self, approver: str, before: dict[str, Any] | None) -> dict[str, Any]:
        """The step it becomes."""
        ask, reference = self._text("user_content"), self._text("final_response")
        if not ask:
            self.problems.append("user_content has no text")
        if not reference:
            self.problems.append("final_response has no text")
        calls = self._calls()
        checks = self._checks(calls, reference)
        said = self._decision(approver, before) if self.written.has("confirmation") else {"ask": ask}
        return {**said, "reference": reference, **({"checks": checks} if checks else {})}

    def _text(self, key: str) -> str:
        """All texts under `key`, one a line: nothing that the author wrote is left out."""
        if not self.written.has(key):
            return ""
        content = self.written.part(key)
        content.only("role", "parts")
        content.text("role", default="")
        texts = []
        for part in _parts(content, "parts"):
            part.only("text")
            texts.append(part.text("text", default=""))
        return "\n".join(text for text in texts if text.strip())

    def _calls(self) -> list[dict[str, Any]]:
        if not self.written.has("intermediate_data"):
            return []
        recorded = self.written.part("intermediate_data")
        recorded.only("tool_uses", "intermediate_responses")
        if recorded.has("intermediate_responses") and not isinstance(recorded.value["intermediate_responses"], list):
            recorded.fail("key 'intermediate_responses' must be a list")
        return [self._call(use, f"tool_uses {nth}") for nth, use in enumerate(_parts(recorded, "tool_uses"), 1)]

    def _call(self, written: Fields, place: str) -> dict[str, Any]:
        written.only("name", "args")
        name = written.text("name", default="")
        if not name:
            self.problems.append(f"{place} has no name")
        if name == WRAPPER:
            self.problems.append(f"{place} must name the guarded tool, not {WRAPPER}; ask with required_confirmation")
        if not written.has("args"):
            self.problems.append(f"{place} ({name!r}) has no args; write {{}} for any")
            return {"tool": name}
        args = dict(written.part("args").value)
        return {"tool": name, **({"args": args} if args else {})}

    def _decision(self, approver: str, before: dict[str, Any] | None) -> dict[str, Any]:
        written = self.written.part("confirmation")
        written.only("approve", "rationale")
        rationale = written.text("rationale", default="")
        if before is None:
            self.problems.append("a confirmation cannot come first; nothing is left open yet")
        elif not any(check["check"] == "confirmation" for check in before.get("checks", ())):
            self.problems.append("a confirmation follows a turn that does not declare required_confirmation")
        if not written.has("approve"):
            self.problems.append("confirmation needs `approve`, true or false; it has no default")
        approve = written.flag("approve", default=False)
        if approve and not rationale.strip():
            self.problems.append("confirmation approves without a rationale")
        if not approver.strip():
            self.problems.append("confirmation needs session_input.user_id: an approval by nobody is none")
        return {"approve": approve, "approver": approver, **({"rationale": rationale} if rationale else {})}

    def _checks(self, calls: list[dict[str, Any]], reference: str) -> list[dict[str, Any]]:
        checks: list[dict[str, Any]] = [{"check": "trajectory", "calls": calls}] if calls else []
        if self.written.has("deterministic_checks"):
            written = self.written.part("deterministic_checks")
            written.only("forbidden_tools", "forbidden_output", "required_output", "required_confirmation")
            tools = self._forbidden_tools(written)
            output = self._forbidden_output(written)
            required = self._required_output(written, reference)
            confirmed = self._confirmation(written, calls)
            authority = {
                **({"forbidden": tools} if tools else {}),
                **({"confirmation": confirmed} if confirmed else {}),
            }
            checks += [{"check": "authority", **authority}] if authority else []
            checks += [{"check": "safety", "values": output}] if output else []
            checks += [{"check": "refusal", "all_of": required}] if required else []
            checks += [{"check": "confirmation", **confirmed}] if confirmed else []
        return [{"id": check["check"], **check} for check in checks]

    def _twice(self, key: str, texts: list[str]) -> None:
        for text, count in Counter(texts).items():
            if count > 1:
                self.problems.append(f"{key} holds {text!r} twice")

    def _forbidden_tools(self, written: Fields) -> list[str]:
        tools = list(written.texts("forbidden_tools", default=()))
        for name in tools:
            if not _IDENTIFIER.match(name):
                self.problems.append(f"forbidden_tools holds {name!r}, which is no tool's name (a-z, 0-9, _)")
        self._twice("forbidden_tools", tools)
        return tools

    def _forbidden_output(self, written: Fields) -> list[str]:
        output = list(written.texts("forbidden_output", default=()))
        if not all(text.strip() for text in output):
            self.problems.append("forbidden_output holds an empty text, which is in every answer")
        self._twice("forbidden_output", output)
        return output

    def _required_output(self, written: Fields, reference: str) -> list[str]:
        required = list(written.texts("required_output", default=()))
        for text in required:
            if not text.strip():
                self.problems.append("required_output holds a blank text, which requires nothing")
            elif text.lower() not in reference.lower():
                self.problems.append(f"required_output {text!r} is not in this turn's own final_response")
        self._twice("required_output", [text.lower() for text in required])
        return required

    def _confirmation(self, written: Fields, calls: list[dict[str, Any]]) -> dict[str, Any]:
        if not written.has("required_confirmation"):
            return {}
        before = len(self.problems)
        wanted = written.part("required_confirmation")
        call = self._call(wanted, "required_confirmation")
        if not _IDENTIFIER.match(call["tool"]):
            self.problems.append(f"required_confirmation names {call['tool']!r}, which is no tool's name (a-z, 0-9, _)")
        if len(self.problems) == before and not any(
            one["tool"] == call["tool"] and contains(one.get("args", {}), call.get("args", {})) for one in calls
        ):
            self.problems.append(f"required_confirmation of {call['tool']!r} is not among this turn's tool_uses")
        return call
