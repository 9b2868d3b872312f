"""A run's summary and decision as article 3 reads them: required cases stand beside the rate, never inside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evallib.gate import Decision, Gate, decide
from evallib.metrics import summarise
from evallib.records import Sample, ToolCall, Turn
from evallib.views.figures import load_figures
from tests.agentops import vectors
from tests.making import stored_run

SUITE = """\
suite: safety
pass: critical
checks: [{id: looks-first, check: trajectory, calls: [{tool: read_ticket}], critical: true}]
gate: {pass_rate: 0.5}
cases: [{id: c-1, required: true, steps: [{ask: What about T-4?}]}]
"""


def sample(number: int, *calls: str) -> Sample:
    turn = Turn(1, "What about T-4?", "T-4 is open.", tuple(ToolCall(name, {}, "{}") for name in calls))
    return Sample("r-1", "c-1", number, turns=(turn,), answer=turn.text, exit_code=0)


def test_a_required_case_that_fails_once_fails_the_run_though_the_rate_is_met(tmp_path: Path) -> None:
    stored_run(tmp_path, {}, suite_text=SUITE, samples=[sample(1), sample(2, "read_ticket")])
    figures = load_figures(["r-1"], "strict", tmp_path, tmp_path / "log")
    rules = {rule.rule: rule.passed for rule in figures.decision().rules}
    assert figures.summary()["pass_rate"] == 0.5
    assert rules["pass_rate"] is True
    assert rules["required"] is False
    assert figures.decision().decision == "blocked"


def summary_of(given: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame, Decision]:
    """The vector's samples as our frames, and what the gate makes of them; unseen required cases are planned too."""
    required, seen = given["required_cases"], [row["id"] for row in given["samples"]]
    rows = [
        {
            "run_id": "r", "case_id": row["id"], "sample": row["sample"], "split": "validation",
            "required": row["id"] in required, "sample_status": "completed", "status": "scored",
            "passed": row["passed"], "passed_deterministic": row["deterministic_passed"],
            "score": float(row["passed"]), "view": "strict", "post_hoc": False,
        }
        for row in given["samples"]
    ]  # fmt: skip
    rows += [
        {**rows[0], "case_id": name, "required": True, "sample_status": "missing", "status": "error",
         "passed": None, "passed_deterministic": None, "score": None}
        for name in required if name not in seen and rows
    ]  # fmt: skip
    verdicts = [
        {**{k: row[k] for k in ("run_id", "case_id", "sample", "passed")}, "check_id": "x", "status": "scored",
         "value": row["score"], "raw": row["score"], "weight": 1.0, "critical": True, "stochastic": False}
        for row in rows if row["status"] == "scored"
    ]  # fmt: skip
    columns = ["run_id", "case_id", "sample", "split", "required", "sample_status", "status", "passed",
               "passed_deterministic", "score", "view", "post_hoc"]  # fmt: skip
    frame = pd.DataFrame(rows, columns=columns)
    judged = pd.DataFrame(verdicts, columns=["run_id", "case_id", "sample", "check_id", "status", "value", "raw",
                                             "weight", "critical", "passed", "stochastic"])  # fmt: skip
    complete = len(given["samples"]) == given["expected_case_samples"] > 0
    gate = Gate(pass_rate=given["minimum_pass_rate"])
    return frame, judged, decide(gate, frame, judged, complete=complete, whole_validation=True)


@pytest.mark.parametrize("case", vectors("run_summary"), ids=lambda case: case["id"])
def test_the_other_harness_s_cases(case: Any) -> None:
    frame, judged, decision = summary_of(case["input"])
    expected = case["expected"]
    rules = {rule.rule: rule.passed for rule in decision.rules}
    seen = frame[frame["sample_status"] == "completed"]
    assert (decision.decision == "pass") is expected["run_passed"]
    assert rules.get("required", True) is expected["required_cases_passed"]
    assert int(seen["passed"].astype(bool).sum()) == expected["passed"]
    if len(seen) and len(seen) == len(frame):
        assert summarise(frame, judged)["pass_rate_micro"] == pytest.approx(expected["pass_rate"])
    by_case = seen.groupby("case_id", sort=True)["passed"].agg(["sum", "count"])
    assert [
        {"id": name, "passed": int(row["sum"]), "samples": int(row["count"])} for name, row in by_case.iterrows()
    ] == expected["case_consistency"]


@pytest.mark.parametrize("rate", [1 / 3, 0.33])
def test_a_rate_just_at_its_least_passes_whatever_the_rounding(rate: float) -> None:
    samples = [{"id": "a", "sample": n, "passed": n == 1, "deterministic_passed": n == 1} for n in (1, 2, 3)]
    given = {"samples": samples, "required_cases": [], "minimum_pass_rate": rate, "expected_case_samples": 3}
    assert summary_of(given)[2].decision == "pass"
    given["minimum_pass_rate"] = 0.34
    assert summary_of(given)[2].decision == "blocked"
