"""Frames of a gate's run, from scores and raw values in sight."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evallib.gate import Decision, Gate, Rule, decide

WEIGHTS = {"citation": 0.25, "facts": 0.25, "policy": 0.15, "format": 0.15, "quality": 0.20, "exit": 0.0}
TICKETS_GATE = Gate(
    mean=0.90,
    checks={"citation": 0.90, "facts": 0.90, "policy": 1.0, "format": 0.80, "quality": 4.0, "exit": 1.0},
    floor=0.70,
)
FULL = (1, 1, 1, 1, 5, 1)


def outcome(case: str, score: float | None = 1.0, **other: Any) -> dict[str, Any]:
    passed = None if score is None else score >= 1 - 1e-9
    return {
        "run_id": "r", "case_id": case, "sample": 1, "split": "validation", "required": False,
        "sample_status": "completed", "status": "scored", "passed": passed, "score": score, "view": "strict",
        "post_hoc": False, **other,
    }  # fmt: skip


def verdict(case: str, check: str, raw: float | None, **other: Any) -> dict[str, Any]:
    value = (raw - 1) / 4 if check == "quality" and raw is not None else raw
    return {
        "run_id": "r", "case_id": case, "sample": 1, "check_id": check, "status": "scored", "value": value, "raw": raw,
        "passed": value == 1, "weight": WEIGHTS.get(check, 1.0), "critical": False, "stochastic": check == "quality",
        **other,
    }  # fmt: skip


def graded(*rows: tuple[float, ...]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both frames of one run, from each ticket's raw values in the order of WEIGHTS."""
    verdicts = [
        verdict(f"v{n:02}", check, raw)
        for n, row in enumerate(rows, 1)
        for check, raw in zip(WEIGHTS, row, strict=True)
    ]
    frame = pd.DataFrame(verdicts)
    weighted = (frame["value"] * frame["weight"]).groupby(frame["case_id"]).sum()
    return pd.DataFrame([outcome(case, score) for case, score in weighted.items()]), frame


def scores(*values: float | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both frames of one run with one check that gave each case its score."""
    outcomes = [outcome(f"c{n:02}", value) for n, value in enumerate(values)]
    return pd.DataFrame(outcomes), pd.DataFrame([verdict(row["case_id"], "only", row["score"]) for row in outcomes])


def decided(gate: Gate | None, frames: tuple[pd.DataFrame, pd.DataFrame], **other: Any) -> Decision:
    return decide(gate, *frames, **{"complete": True, "whole_validation": True, **other})


def rule(decision: Decision, name: str) -> Rule:
    (found,) = [one for one in decision.rules if one.rule == name]
    return found
