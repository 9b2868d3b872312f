"""Berth evaluation runs: one `results.jsonl`, one record a line with answer, tool trace and recorded checks."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evallib.errors import InputError
from evallib.importers.base import (
    Fields,
    Imported,
    SourceFile,
    escape,
    identifier,
    parse_json,
    read_source,
    recorded_suite,
)
from evallib.importers.berth_suite import Questions, read_berth_questions
from evallib.records import Sample, ToolCall, Turn, Usage, Verdict

__all__ = ["read_berth"]

_FORMAT = "berth"


def read_berth(path: Path, questions: Path | None = None) -> Imported:
    """The run in a results file, or in `results.jsonl` of a folder: case = scenario, sample = repeat.

    Records do not say what was asked; `questions` is a file of Berth's criteria, which does.
    """
    asked = read_berth_questions(questions) if questions else None
    file = read_source(path, inside="results.jsonl")
    records = list(_records(file))
    first = records[0].fields
    _refuse_mixtures(records)
    set_name = identifier(first, "runId")
    places = {name: index for index, name in enumerate(dict.fromkeys(one.case_id for one in records))}
    records.sort(key=lambda one: (places[one.case_id], one.repeat))
    target = {"kind": "import", "format": _FORMAT, **{key: first.value.get(key) for key in _TARGET}}
    return Imported(
        recorded_suite(set_name, f"Berth result set {set_name}, verdicts as recorded", _cases(records, asked)),
        tuple(_sample(record) for record in records),
        tuple(verdict for record in records for verdict in record.verdicts),
        target,
        {**file.identity(_FORMAT, set_name), **_origin(asked)},
    )


_TARGET = ("model", "provider", "settings")


@dataclass(frozen=True, slots=True)
class _Record:
    """One checked line of the file."""

    fields: Fields
    line: int
    case_id: str
    repeat: int
    category: str
    error: str
    calls: tuple[ToolCall, ...]
    verdicts: tuple[Verdict, ...]
    descriptions: tuple[str, ...]
    """Of the checks, in the order of the verdicts."""
    flags: tuple[str, ...]


def _records(file: SourceFile) -> Iterator[_Record]:
    if file.text.lstrip()[:1] != "{":
        hint = "; it looks like `tau-bench`" if '"traj"' in file.text else ""
        raise InputError(f"{file.path}: Berth writes one JSON object a line, and this begins otherwise{hint}")
    if file.text.lstrip()[:2] in {"{\n", "{\r"}:
        raise InputError(f"{file.path}: Berth writes one JSON object a line; a file of criteria is `berth-suite`")
    # Only line feeds end a record: an answer may hold other line separators.
    for line, text in enumerate(file.text.split("\n"), 1):
        if text.strip():
            where = f"{file.path}, line {line}"
            clean, changed = escape(parse_json(text, where), text)
            yield _record(Fields.of(clean, where), line, ("escaped",) if changed else ())


def _record(fields: Fields, line: int, flags: tuple[str, ...]) -> _Record:
    case_id, repeat = identifier(fields, "scenario"), fields.whole("repeat", least=1, most=2**31 - 1)
    for key in ("runId", "model", "provider", "answer"):
        fields.text(key)
    fields.text("settings", default="")
    verdicts, descriptions = _verdicts(fields, case_id, repeat)
    error = fields.text("error", default="")
    _refuse_contradiction(fields, verdicts, error)
    calls, remarks = _tool_calls(fields)
    category = fields.text("category", default="")
    return _Record(fields, line, case_id, repeat, category, error, calls, verdicts, descriptions, (*flags, *remarks))


def _verdicts(fields: Fields, case_id: str, repeat: int) -> tuple[tuple[Verdict, ...], tuple[str, ...]]:
    verdicts: list[Verdict] = []
    descriptions = []
    for check in fields.parts("checks"):
        name, passed, description = identifier(check, "id"), check.flag("passed"), check.text("desc")
        if any(name == verdict.check_id for verdict in verdicts):
            check.fail(f"check {name!r} stands twice in this record; keep one")
        reason = f"recorded: {check.text('detail', default='') or description}"
        value = float(passed)
        verdicts.append(
            Verdict(case_id, repeat, name, "scored", reason, value, value, passed,
                    critical=check.flag("critical"), origin="recorded")
        )  # fmt: skip
        descriptions.append(description)
    return tuple(verdicts), tuple(descriptions)


def _refuse_contradiction(fields: Fields, verdicts: tuple[Verdict, ...], error: str) -> None:
    """Recorded pass and score must be the fold of the recorded checks, or our strict view would differ from theirs."""
    critical = [verdict for verdict in verdicts if verdict.critical]
    if not critical:
        fields.fail("the record has no critical check, so nothing decides whether it passed")
    passed, recorded = all(verdict.passed for verdict in critical), fields.flag("pass")
    if passed is not recorded:
        failed = ", ".join(verdict.check_id for verdict in critical if not verdict.passed) or "none"
        fields.fail(f"'pass' is {recorded} and the failed critical checks are: {failed}; the record contradicts itself")
    score, told = sum(bool(verdict.passed) for verdict in verdicts) / len(verdicts), fields.number("score")
    if not math.isclose(score, told, abs_tol=1e-6):
        fields.fail(f"'score' is {told} and its checks give {score:.6g}; the record contradicts itself")
    if error and recorded:
        fields.fail("the record holds an error and yet 'pass' is true; the record contradicts itself")


def _tool_calls(fields: Fields) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
    """The calls of the trace, and flags: `no_trace` when there is none, `cut_results` when results are previews."""
    if "toolTrace" not in fields.value:
        fields.fail("key 'toolTrace' is missing; expected a list of tool calls, or null when none was kept")
    if not fields.has("toolTrace"):
        return (), ("no_trace",)
    calls, cut = [], False
    for call in fields.parts("toolTrace"):
        arguments = dict(call.part("args").value) if call.has("args") else {}
        preview = call.text("resultPreview") if call.has("resultPreview") else None
        error = call.text("error") if call.has("error") else None
        calls.append(ToolCall(call.text("tool"), arguments, preview, error))
        cut = cut or call.whole("resultBytes", default=0) > len((preview or "").encode())
    return tuple(calls), ("cut_results",) if cut else ()


def _refuse_mixtures(records: list[_Record]) -> None:
    first, seen = records[0].fields, dict[tuple[str, int], int]()
    critical: dict[tuple[str, str], bool] = {}
    for one in records:
        for key in ("runId", *_TARGET):
            here, there = one.fields.value.get(key), first.value.get(key)
            if here != there:
                one.fields.fail(f"{key!r} is {here!r}, in the first record {there!r}; one file is one run of one model")
        earlier = seen.setdefault((one.case_id, one.repeat), one.line)
        if earlier != one.line:
            one.fields.fail(f"repeat {one.repeat} of {one.case_id!r} stands on line {earlier} already; keep one")
        for verdict in one.verdicts:
            if critical.setdefault((one.case_id, verdict.check_id), verdict.critical) is not verdict.critical:
                one.fields.fail(f"check {verdict.check_id!r} is not critical in every repeat; these are two criteria")


def _origin(asked: Questions | None) -> dict[str, Any]:
    """Which file the questions are from, for the `source` of the import."""
    return {"questions": {"path": asked.file.name, "sha256": asked.file.sha256}} if asked else {}


def _cases(records: list[_Record], asked: Questions | None) -> list[dict[str, Any]]:
    """One case per scenario with the union of its records' checks; those of errored records come last."""
    cases: dict[str, dict[str, Any]] = {one.case_id: {"id": one.case_id} for one in records}
    if asked is not None:
        if unasked := [name for name in cases if name not in asked.steps]:
            raise InputError(
                f"{asked.file.path}: holds no scenario {unasked[0]!r}, which the records answer; name the file of "
                "their criteria, or leave --questions out"
            )
        cases = {name: {**case, "steps": asked.steps[name]} for name, case in cases.items()}
    for one in records:
        if one.category:
            cases[one.case_id]["tags"] = [one.category]
    checks: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in cases}
    for one in sorted(records, key=lambda record: bool(record.error)):
        for verdict, description in zip(one.verdicts, one.descriptions, strict=True):
            check = {"id": verdict.check_id, "check": "recorded", "description": description}
            critical = {"critical": True} if verdict.critical else {}
            checks[one.case_id].setdefault(verdict.check_id, {**check, **critical})
    return [{**case, "checks": list(checks[name].values())} for name, case in cases.items()]


def _sample(record: _Record) -> Sample:
    fields, tokens = record.fields, record.fields.part("tokens")
    answer = fields.text("answer")
    usage = Usage(tokens.whole("input"), tokens.whole("output"), tokens.whole("iterations"))
    duration = _seconds(fields)
    status: Literal["completed", "provider_error"] = "provider_error" if record.error else "completed"
    source = {
        "set": fields.text("runId"),
        "line": record.line,
        "repeat": record.repeat,
        "category": record.category,
        "tokens": dict(tokens.value),
    }
    turn = Turn(1, "", answer, record.calls, usage=usage, duration_s=duration)
    return Sample(
        "", record.case_id, record.repeat, status, record.error, (turn,),
        answer=answer,
        recorded=fields.texts("recordedIncidents", default=()),
        flags=record.flags,
        duration_s=duration,
        usage=usage,
        source=json.dumps(source, ensure_ascii=False),
    )  # fmt: skip


def _seconds(fields: Fields) -> float:
    milliseconds = fields.number("latencyMs")
    if milliseconds < 0:
        fields.fail(f"key 'latencyMs' is {milliseconds}; a duration is not negative")
    return milliseconds / 1000
