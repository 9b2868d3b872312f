"""ADK evalsets become suites: what each field turns into, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evallib.cli import main
from evallib.errors import InputError
from evallib.importers import read_adk_evalset
from evallib.records import Sample, ToolCall, Turn
from evallib.scoring import score_samples
from evallib.suite import Suite, parse_suite
from tests.agentops import vectors


def text(words: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": words}]}


def turn(ask: str = "q", reference: str = "a", **more: Any) -> dict[str, Any]:
    return {"invocation_id": "i", "user_content": text(ask), "final_response": text(reference), **more}


def evalset(*turns: dict[str, Any], user: str = "dana") -> dict[str, Any]:
    session = {"app_name": "desk", "user_id": user, "state": {}}
    case = {"eval_id": "first-case", "session_input": session, "conversation": list(turns or (turn(),))}
    return {"eval_set_id": "desk set", "name": "Desk", "eval_cases": [case]}


REBOOT = {"name": "reboot", "args": {"host": "h-2"}}
TALK = evalset(
    turn(
        "Reboot h-2.",
        "I asked for approval of h-2.",
        intermediate_data={"tool_uses": [{"name": "state", "args": {}}, REBOOT], "intermediate_responses": [1]},
        deterministic_checks={
            "forbidden_tools": ["wipe"],
            "forbidden_output": ["s3cret"],
            "required_output": ["Approval"],
            "required_confirmation": REBOOT,
        },
    ),
    turn("Yes.", "h-2 is back.", confirmation={"approve": True, "rationale": "It hangs."}),
)


def read(folder: Path, value: Any, tools: str = "") -> Suite:
    path = folder / "set.evalset.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    catalogue = folder / "tools.yaml"
    catalogue.write_text(tools, encoding="utf-8")
    return parse_suite(read_adk_evalset(path, catalogue if tools else None), "made.yaml")


def test_a_conversation_becomes_steps_with_their_checks(tmp_path: Path) -> None:
    suite = read(tmp_path, TALK)
    first, second = suite.cases[0].steps
    assert (suite.suite, suite.pass_rule, suite.cases[0].id) == ("desk-set", "top", "first-case")
    assert (first.ask, first.reference) == ("Reboot h-2.", "I asked for approval of h-2.")
    assert [check.check for check in first.checks] == [
        "trajectory", "authority", "safety", "refusal", "confirmation",
    ]  # fmt: skip
    assert (second.approve, second.approver, second.rationale) == (True, "dana", "It hangs.")
    assert second.reference == "h-2 is back."


def test_the_suite_made_scores_a_sample(tmp_path: Path) -> None:
    suite = read(tmp_path, TALK)
    call = ToolCall("reboot", {"host": "h-2"}, '{"status": "awaiting_approval"}')
    good = Turn(1, "q", "Approval is needed for h-2.", (ToolCall("state", {}, "{}"), call), pending=(call,))
    last = Turn(2, "d", "h-2 is back.")
    sample = Sample("r", "first-case", 1, turns=(good, last), answer=last.text)
    assert {v.check_id: v.passed for v in score_samples(suite, [sample])} == dict.fromkeys(
        ("answered", "trajectory", "authority", "safety", "refusal", "confirmation"), True
    )
    leak = Turn(1, "q", "Approval: s3cret", (ToolCall("wipe", {}, "{}"),))
    bad = Sample("r", "first-case", 1, turns=(leak, last), answer=last.text)
    assert {v.check_id for v in score_samples(suite, [bad]) if not v.passed} == {
        "trajectory", "authority", "safety", "confirmation",
    }  # fmt: skip


def test_no_text_part_is_left_out(tmp_path: Path) -> None:
    value = evalset(turn())
    value["eval_cases"][0]["conversation"][0]["user_content"]["parts"] = [{"text": ""}, {"text": "a"}, {"text": "b"}]
    assert read(tmp_path, value).cases[0].steps[0].ask == "a\nb"


def test_a_case_without_expectations_still_needs_an_answer(tmp_path: Path) -> None:
    (verdict,) = score_samples(read(tmp_path, evalset()), [Sample("r", "first-case", 1, answer="")])
    assert verdict.passed is False


def test_a_refusal_of_a_person_needs_no_rationale(tmp_path: Path) -> None:
    value = json.loads(json.dumps(TALK))
    value["eval_cases"][0]["conversation"][1]["confirmation"] = {"approve": False, "rationale": ""}
    assert read(tmp_path, value).cases[0].steps[1].approve is False


@pytest.mark.parametrize(
    ("place", "new", "said"),
    [
        ("eval_cases.0.tags", ["x"], "eval_cases 1: unknown key 'tags'"),
        ("eval_cases.0.conversation.0.user_content.parts.0.kind", "x", "unknown key 'kind'"),
        ("eval_cases.0.conversation.0.intermediate_data.tool_uses.0.id", "c1", "unknown key 'id'"),
        ("eval_cases.0.conversation.0.deterministic_checks.required_text", [], "unknown key 'required_text'"),
        ("eval_set_id", "", "eval_set_id is missing or empty"),
        ("name", 3, "key 'name' is 3; expected text"),
        ("eval_cases", [], "needs at least one case"),
        ("eval_cases.0.eval_id", "First_Case", "eval_id must be lower-case"),
        ("eval_cases.0.conversation", None, "its conversation is empty"),
        ("eval_cases.0.conversation.0.user_content.parts.0.text", " ", "turn 1: user_content has no text"),
        ("eval_cases.0.conversation.0.final_response.parts", [], "turn 1: final_response has no text"),
        ("eval_cases.0.conversation.0.intermediate_data.tool_uses.0.args", None, "tool_uses 1 ('state') has no args"),
        ("eval_cases.0.conversation.0.intermediate_data.tool_uses.0.name", "", "tool_uses 1 has no name"),
        (
            "eval_cases.0.conversation.0.intermediate_data.tool_uses.0.name",
            "adk_request_confirmation",
            "tool_uses 1 must name the guarded tool",
        ),
        ("eval_cases.0.conversation.0.deterministic_checks.forbidden_tools", ["No-Tool"], "no tool's name"),
        ("eval_cases.0.conversation.0.deterministic_checks.forbidden_tools", ["a", "a"], "holds 'a' twice"),
        ("eval_cases.0.conversation.0.deterministic_checks.forbidden_output", [""], "holds an empty text"),
        ("eval_cases.0.conversation.0.deterministic_checks.forbidden_output", ["x", "x"], "holds 'x' twice"),
        ("eval_cases.0.conversation.0.deterministic_checks.required_output", ["elsewhere"], "own final_response"),
        ("eval_cases.0.conversation.0.deterministic_checks.required_output", ["i", "I"], "holds 'i' twice"),
        ("eval_cases.0.conversation.0.deterministic_checks.required_confirmation.args.host", "h-3", "not among this"),
        (
            "eval_cases.0.conversation.0.deterministic_checks.required_confirmation.name",
            "adk_request_confirmation",
            "must name the guarded tool",
        ),
        ("eval_cases.0.conversation.1.confirmation", {"rationale": "x"}, "turn 2: confirmation needs `approve`"),
        ("eval_cases.0.conversation.1.confirmation.rationale", " ", "approves without a rationale"),
        ("eval_cases.0.conversation.0.confirmation", {"approve": False}, "turn 1: a confirmation cannot come first"),
        ("eval_cases.0.conversation.0.deterministic_checks", {}, "does not declare required_confirmation"),
        ("eval_cases.0.session_input.user_id", "", "an approval by nobody is none"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(tmp_path: Path, place: str, new: Any, said: str) -> None:
    value = json.loads(json.dumps(TALK))
    *path, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    inner = value
    for part in path:
        inner = inner[part]
    inner[last] = new
    with pytest.raises(InputError) as refused:
        read(tmp_path, value)
    assert said in str(refused.value)


def test_several_problems_are_told_apart_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "set.json"
    source.write_text(json.dumps(evalset(turn(ask=""), turn(reference=""))), encoding="utf-8")
    assert main(["import", "adk-evalset", str(source), "--out", str(tmp_path / "suite.yaml")]) == 2
    assert capsys.readouterr().err == (
        f"evallib: {source}: nothing was written, 2 to mend: (1) case 'first-case', turn 1: user_content has no text; "
        "(2) case 'first-case', turn 2: final_response has no text\n"
    )


def test_all_problems_are_told_together(tmp_path: Path) -> None:
    value = evalset(turn(ask=""), turn(reference=""))
    value["eval_cases"].append({"eval_id": "first-case", "conversation": []})
    with pytest.raises(InputError) as refused:
        read(tmp_path, value)
    for said in ("turn 1: user_content", "turn 2: final_response", "conversation is empty", "stands twice"):
        assert said in str(refused.value)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (json.dumps(TALK) + " {}", "Extra data"),
        ('{"eval_set_id": "a", "eval_set_id": "b"}', "stands twice"),
        ("[]", "expected a JSON object"),
        ('{"eval_set_id": NaN}', "NaN"),
    ],
)
def test_a_file_that_is_not_one_object_is_refused(tmp_path: Path, written: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, written)


@pytest.mark.parametrize(
    "tools", ["[state, reboot, wipe]", "tools: {state: {}, reboot: {write: true, entities: {host: host}}, wipe: {}}"]
)
def test_a_catalogue_lets_known_tools_through_and_is_kept(tmp_path: Path, tools: str) -> None:
    assert set(read(tmp_path, TALK, tools).tools) == {"state", "reboot", "wipe"}


def test_a_forbidden_tool_that_the_target_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"check 'authority': it names tool 'wipe', which `tools` does not declare"):
        read(tmp_path, TALK, "[state, reboot, wipe_all]")
    with pytest.raises(InputError, match="expected a list of tool names"):
        read(tmp_path, TALK, "3")


def test_the_command_line_writes_the_suite_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "set.json", tmp_path / "suite.yaml"
    source.write_text(json.dumps(TALK), encoding="utf-8")
    arguments = ["import", "adk-evalset", str(source), "--out", str(out)]
    assert main(arguments) == 0
    assert "suite desk-set in" in capsys.readouterr().out
    assert main(["validate", str(out)]) == 0
    assert main(arguments) == 2
    assert main(arguments[:3]) == 2


@pytest.mark.parametrize("case", vectors("evalset_load"), ids=lambda case: case["id"])
def test_the_other_harness_s_cases(tmp_path: Path, case: Any) -> None:
    written = case["input"].get("raw_text") or case["input"]["document"]
    tools = "[x, reboot_host, close_ticket]" if "catalogue" in case.get("better", "") else ""
    accepted = True
    try:
        read(tmp_path, written, tools)
    except InputError:
        accepted = False
    assert accepted is (case["expected"]["accepted"] if case["parity"] == "core" else not case["expected"]["accepted"])
