"""Small files in the shape of the ones other tools write, and where the real ones lie."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from evallib.importers.base import Imported
from evallib.records import Outcome
from evallib.scoring import fold_all

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"
SETS = ("ollama-berth-sre", "q35-new8-think-default-r3", "q35-new8-think-false-r3")
real = pytest.mark.skipif(not SHARED.is_dir(), reason="the real files of ../shared/data are absent")


def outcomes(run: Imported) -> list[Outcome]:
    return list(fold_all(run.samples, run.verdicts, "critical").values())


# Small files in the shape of the real ones.


def trial(task: int = 3, number: int = 0, reward: float = 1.0) -> dict:
    function = {"name": "find", "arguments": '{"id": 7}'}
    return {
        "task_id": task,
        "trial": number,
        "reward": reward,
        "info": {
            "task": {"instruction": "Ask for your booking.", "actions": []},
            "source": "user",
            "user_cost": 0.25,
            "reward_info": {"reward": reward},
        },
        "traj": [
            {"role": "system", "content": "policy"},
            {"role": "user", "content": "Where is it?"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}]},
            {"role": "tool", "tool_call_id": "c1", "content": "seat 4"},
            {"role": "assistant", "content": "Seat 4."},
            {"role": "user", "content": "Sure?"},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "###STOP###"},
        ],
    }


def record(scenario: str = "night", repeat: int = 1) -> dict:
    return {
        "runId": "demo-run",
        "scenario": scenario,
        "category": "control",
        "provider": "local",
        "model": "m:1",
        "repeat": repeat,
        "latencyMs": 1500,
        "tokens": {"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 1, "iterations": 3},
        "toolTrace": [{"seq": 1, "tool": "look", "resultPreview": "abc...", "resultBytes": 900}],
        "answer": "All is well.",
        "recordedIncidents": ["a note"],
        "checks": [
            {"id": "calm", "desc": "stays calm", "critical": True, "passed": True},
            {"id": "brief", "desc": "is brief", "critical": False, "passed": False, "detail": "9 calls"},
        ],
        "score": 0.5,
        "pass": True,
    }


def criteria() -> dict:
    checks = [
        {"id": "says", "kind": "global", "critical": True, "desc": "a non-empty answer", "patterns": None},
        {"id": "hidden", "kind": "global", "critical": True, "desc": "claims nothing", "patterns": None},
        {"id": "finds", "kind": "must_match", "critical": False, "desc": "finds it", "patterns": [r"\bseat \d"]},
        {"id": "calls", "kind": "tool_called", "critical": False, "desc": "looks", "tools": ["look"], "args": {"n": 1}},
        {"id": "few", "kind": "max_tool_calls", "critical": False, "desc": "few calls", "max": 2},
    ]
    turns = [
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": "There."},
        {"role": "user", "content": "Sure?"},
    ]
    night = {
        "id": "night",
        "title": "At night",
        "category": "control",
        "turns": turns,
        "criteria": {},
        "checks": checks,
    }
    return {"night": night, "_shared": {"id": "_shared", "prompt": "n/a", "criteria": {}, "checks": []}}


def write_tau(folder: Path, *trials: dict) -> Path:
    path = folder / "trials.json"
    path.write_text(json.dumps(trials), encoding="utf-8")
    return path


def write_berth(folder: Path, *records: dict) -> Path:
    path = folder / "results.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def write_criteria(folder: Path, value: dict) -> Path:
    path = folder / "checks.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def changed(value: dict, place: str, new: object) -> dict:
    """A copy of `value` with `new` at the dotted place, or without it when `new` is Ellipsis."""
    value = copy.deepcopy(value)
    *path, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    inner = value
    for part in path:
        inner = inner[part]
    if new is ...:
        del inner[last]
    else:
        inner[last] = new
    return value
