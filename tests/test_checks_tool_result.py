"""Post-conditions: what a tool gave back proves that a write ran, for whom, and how often."""

from __future__ import annotations

import json

import pytest

from evallib.adk import placeholder
from evallib.domain import Domain
from evallib.records import Sample, ToolCall, Turn, Verdict
from evallib.scoring import score_samples
from evallib.suite import parse_suite
from tests.vectors import judge

AUDIT = json.dumps({"status": "restarted", "audit": {"approver": "dana", "at": "12:00"}})
ASKS = Turn(
    1, "Restart.", "Shall I?", (ToolCall("restart", {"name": "api"}, '{"status": "awaiting_approval"}', id="w1"),),
    pending=(ToolCall("restart", {"name": "api"}, id="w1"),),
)  # fmt: skip
RAN = Turn(2, "{}", "Done.", results=(ToolCall("restart", result=AUDIT, id="w1"),))
BY_DANA = {"tool": "restart", "args": {"name": "api"}, "result": {"audit": {"approver": "dana"}}}


def proof(*turns: Turn, **keys: object) -> Verdict:
    return judge("tool_result", {"tool": "restart", **keys}, *turns)


def gave(text: str | None, error: str | None = None) -> Turn:
    return Turn(1, "q", "a", (ToolCall("other"), ToolCall("restart", {"name": "api"}, text, error)))


def test_an_approved_write_that_ran_shows_its_approver():
    verdict = judge("tool_result", BY_DANA, ASKS, RAN)
    assert verdict.passed is True
    assert verdict.reason == "restart gave back what it must, at step 2, a result of an earlier call"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({**BY_DANA, "result": {"audit": {"approver": "kim"}}}, 'which lacks audit.approver: "kim"'),
        ({**BY_DANA, "result": {"audit": {"reason": "x"}}}, 'which lacks audit.reason: "x"'),
        ({**BY_DANA, "args": {"name": "db"}}, "none came back"),
        ({**BY_DANA, "at_least": 2}, '1 of 2 responses of restart("name":"api") fit: step 1, call 1 still waits'),
        ({"tool": "get"}, "0 of 1 responses of get() fit: none came back"),
    ],
)
def test_a_fail_says_what_is_lacking(keys, said):
    verdict = judge("tool_result", keys, ASKS, RAN)
    assert verdict.passed is False
    assert said in verdict.reason


def test_a_call_that_only_waits_proves_nothing():
    assert proof(ASKS).passed is False
    assert proof(gave(None, placeholder("restart")), no_error=False).passed is False


@pytest.mark.parametrize(
    ("turn", "keys", "held"),
    [
        (gave("plain text"), {}, True),
        (gave("plain text"), {"result": "plain text"}, True),
        (gave("plain text"), {"result": "plain"}, False),
        (gave('{"n": 2, "ok": true}'), {"result": {"n": 2.0, "ok": True}}, True),
        (gave('{"ok": 1}'), {"result": {"ok": True}}, False),
        (gave('{"rows": [{"a": 1, "b": 2}]}'), {"result": {"rows": [{"a": 1}]}}, True),
        (gave('{"a": 1, "a": 2}'), {"result": {"a": 2}}, False),
        (gave(None, "no such service"), {}, False),
        (gave(None, "no such service"), {"no_error": False}, True),
        (gave(None, "no such service"), {"no_error": False, "result": {"error": "no such service"}}, True),
        (gave('{"error": "no such service"}'), {}, False),
        (gave('{"error": null, "ok": true}'), {}, True),
        (gave(None), {}, False),
        (gave(""), {}, False),
        (gave("null"), {}, False),
        (gave(" \u200b"), {}, False),
        (gave("Error: boom"), {}, False),
        (gave("Failed to restart: timeout"), {}, False),
        (gave("Error: boom"), {"no_error": False}, True),
        (gave("Error: boom"), {"result": "Error: boom"}, True),
        (gave('{"status": "error", "message": "boom"}'), {}, False),
        (gave('{"status": "error", "n": 1}'), {"result": {"n": 1}}, False),
        (gave('{"status": "error", "n": 1}'), {"result": {"status": "error"}}, True),
        (gave('{"ok": false}'), {}, False),
        (gave('{"success": false, "n": 1}'), {}, False),
        (gave('{"code": 503}'), {}, False),
        (gave('{"found": false}'), {}, True),
        (gave('{"status": "done", "error": ""}'), {}, True),
        (gave("{}"), {}, True),
    ],
)
def test_results_are_read_as_json_and_errors_are_none(turn, keys, held):
    assert proof(turn, **keys).passed is held


def test_the_call_is_named():
    assert proof(gave("ok")).calls == (1, 2)
    assert proof(gave(None, "no")).calls == (1, 2)


def test_another_name_of_the_tool_counts():
    domain = Domain(aliases={"restart_service": ("restart",)})
    assert judge("tool_result", {**BY_DANA, "tool": "restart_service"}, ASKS, RAN, domain=domain).passed is True


def test_at_a_step_the_arguments_of_the_earlier_call_are_known():
    suite = parse_suite(
        "suite: s\npass: top\ncases:\n- id: c\n  steps:\n"
        "  - {ask: Restart., checks: [{id: asks, check: confirmation, tool: restart}]}\n"
        "  - approve: true\n    approver: dana\n    rationale: it hangs\n"
        "    checks: [{id: ran, check: tool_result, tool: restart, args: {name: api}, result: {status: restarted}}]\n",
        "s",
    )
    found = score_samples(suite, [Sample("r", "c", 1, turns=(ASKS, RAN), answer="Done.")])
    assert {verdict.check_id: verdict.passed for verdict in found} == {"asks": True, "ran": True}
