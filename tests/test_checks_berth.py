"""The published criteria of Berth, in our check kinds, give the published verdicts."""

from __future__ import annotations

import json
from collections import Counter

from evallib.checks import parse_check
from evallib.domain import Domain
from evallib.records import Sample, ToolCall, Turn

KEYS = {
    "must_match": lambda check: {"check": "matches", "any_of": check["patterns"]},
    "must_not_match": lambda check: {"check": "matches", "none_of": check["patterns"]},
    "recorded_must_not_match": lambda check: {"check": "matches", "none_of": check["patterns"], "over": "recorded"},
    "tool_called": lambda check: {"check": "tool_called", "tools": check["tools"], "args": check.get("args", {})},
    "tool_forbidden": lambda check: {"check": "tool_forbidden", "tools": check["tools"]},
    "max_tool_calls": lambda check: {"check": "tool_budget", "max": check["max"]},
}


def test_every_published_verdict_with_published_criteria_is_reproduced(shared):
    criteria = json.loads((shared / "data" / "berth" / "checks.json").read_text())
    counts: Counter[bool | str] = Counter()
    for path in sorted((shared / "data" / "berth").glob("*/rescored.jsonl")):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            known = {check["id"]: check for check in criteria[record["scenario"]]["checks"]}
            for recorded in record["checks"]:
                check = known.get(recorded["id"], {"kind": "unknown"})
                keys = KEYS[check["kind"]](check) if check["kind"] in KEYS else None
                if recorded["id"] == "non-empty-answer":
                    keys = {"check": "not_empty"}
                if keys is None:
                    counts["carried"] += 1
                    continue
                bound = parse_check({"id": "c", **keys}).in_domain(
                    Domain(aliases={"describe_resource": ("get_resource",)})
                )
                counts[bound([_sample(record)])[0].passed is recorded["passed"]] += 1
    assert counts == {True: 402, "carried": 167}


def _sample(record) -> Sample:
    calls = tuple(ToolCall(call["tool"], call.get("args") or {}) for call in record["toolTrace"] or ())
    recorded = tuple(one if isinstance(one, str) else json.dumps(one) for one in record.get("recordedIncidents") or ())
    turns = (Turn(1, "", record["answer"], calls),)
    return Sample("r", "c", record["repeat"], answer=record["answer"], turns=turns, recorded=recorded)
