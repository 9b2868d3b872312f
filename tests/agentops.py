"""The verdicts of another evaluation harness, where they lie beside this checkout, as inputs for our checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evallib.records import Sample, ToolCall, Turn

FILE = Path(__file__).resolve().parent.parent.parent / "shared" / "cases" / "agentops-verdicts.json"


def vectors(group: str) -> list[Any]:
    """The cases of one group; none where the file is absent."""
    return json.loads(FILE.read_text(encoding="utf-8"))["cases"][group] if FILE.is_file() else []


def sample_of(turn: dict[str, Any], question: str = "q") -> Sample:
    """One turn as the vectors write it: calls and responses apart, joined here by their order."""
    calls = [ToolCall(call["name"], call["args"]) for call in turn.get("tool_calls", [])]
    results = [ToolCall(one["name"], {}, json.dumps(one["response"])) for one in turn.get("tool_responses", [])]
    one = Turn(1, question, turn["text"], tool_calls=tuple(calls), results=tuple(results))
    return Sample("r", "c", 1, turns=(one,), answer=turn["text"])
