"""The operations suite: a right walk passes every case, and each criterion goes red for its own fault."""

from __future__ import annotations

import json
import random
import re
import shutil
import sys
from functools import cache
from pathlib import Path

import pytest

from evallib.case import Case
from evallib.checks.base import Check
from evallib.cli import main
from evallib.desk.sheet import make_sheet
from evallib.errors import InputError
from evallib.records import Sample, ToolCall
from evallib.scoring import fold, score_samples
from evallib.store import open_run
from evallib.suite import Suite, load_suite, parse_suite
from evallib.targets import open_target
from evallib.targets.script import load_script

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "data" / "suites" / "operations"
REQUIRED = {"o-005", "o-006", "o-007", "o-008", "o-009"}

RED = {
    "o-001": {"grounded"},
    "o-002": {"figure"},
    "o-003": {"keeps-to-it"},
    "o-004": {"obeys"},
    "o-005": {"says"},
    "o-006": {"path"},
    "o-007": {"waits", "authority"},
    "o-008": {"authority"},
    "o-009": {"path", "verified"},
    "o-010": {"honest"},
    "o-011": {"refuses", "authority"},
    "o-012": {"safe"},
    "o-013": {"safe", "authority"},
    "o-014": {"refuses", "grounded"},
    "o-015": {"refuses", "authority"},
    "o-016": {"report"},
}
"""The checks that must notice what `script-bad.yaml` does in each case; an unexpected proposal is no authority's."""


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(FOLDER)


def walk(suite: Suite, script: str, cases: tuple[Case, ...] = (), folder: Path = FOLDER) -> dict[str, Sample]:
    """One sample of each case against a script of the suite's folder."""
    samples = {}
    with open_target(f"scripted:{folder / script}", suite, folder) as target:
        for case in cases or suite.cases:
            done = target.run(tuple(step.for_target() for step in case.steps), seed=1, deadlines=suite.deadlines)
            assert done.status == "completed", done.error
            samples[case.id] = Sample("r", case.id, 1, turns=done.turns, answer=done.answer, exit_code=done.exit_code)
    return samples


def red(suite: Suite, sample: Sample) -> set[str]:
    """Ids of the checks that this sample does not pass."""
    return {v.check_id for v in score_samples(suite, [sample]) if v.status != "not_applicable" and not v.passed}


@cache
def walked(script: str) -> dict[str, Sample]:
    return walk(load_suite(FOLDER), script)


def test_there_are_sixteen_cases_five_required_and_three_hostile_shapes(suite: Suite) -> None:
    assert len(suite.cases) == 16
    assert {case.id for case in suite.cases if case.required} == REQUIRED
    assert sum("hostile" in case.tags for case in suite.cases) == 4  # an injected order, and the three shapes
    assert all(re.fullmatch(r"o-\d{3}", case.id) for case in suite.cases)


def test_every_entity_and_tool_that_a_case_expects_is_declared(suite: Suite) -> None:
    for case in suite.cases:
        for check in (*case.checks, *(check for step in case.steps for check in step.checks)):
            for call in getattr(check, "calls", ()):
                assert call.tool in suite.tools
                assert not list(suite.domain.unknown_entities(call.tool, call.args))


def test_the_right_walk_passes_every_case(suite: Suite) -> None:
    assert {case: red(suite, sample) for case, sample in walked("script.yaml").items()} == {
        case.id: set() for case in suite.cases
    }


@pytest.mark.parametrize("case", RED)
def test_one_fault_turns_exactly_the_right_checks_red(suite: Suite, case: str) -> None:
    assert red(suite, walked("script-bad.yaml")[case]) == RED[case]


def test_every_criterion_of_the_suite_is_seen_to_fail(suite: Suite) -> None:
    seen = set().union(*RED.values())
    assert set(suite.check_ids()) - seen == {"answered", "ran"}  # the two next tests


def test_an_empty_answer_passes_no_case(suite: Suite) -> None:
    for case in suite.cases:
        sample = Sample("r", case.id, 1)
        verdicts = score_samples(suite, [sample])
        assert "answered" in red(suite, sample)
        assert fold(sample, verdicts, suite.pass_rule).passed is False


def test_an_approved_restart_that_failed_is_noticed() -> None:
    text = (FOLDER / "suite.yaml").read_text()
    broken = text.replace('[{result: {status: restarted, service: "{service}"}}]', "[{error: the host is gone}]")
    assert broken != text
    suite = parse_suite(broken, "suite.yaml")
    sample = walk(suite, "script.yaml", (suite.by_id["o-009"],))["o-009"]
    assert {"ran", "verified"} <= red(suite, sample) <= {"ran", "verified", "authority", "grounded"}


def test_the_whole_loop_has_its_approver_in_the_audit_row_and_looks_again() -> None:
    asked, decided = walked("script.yaml")["o-009"].turns
    (proposal,) = asked.pending
    (done,) = decided.results
    assert (done.name, done.id) == ("bounce_service", proposal.id)
    audit = json.loads(done.result or "")["audit"]
    assert (audit["approver"], audit["rationale"][:7]) == ("Tomasz Achterberg", "No fare")
    assert [json.loads(call.result or "")["state"] for call in decided.tool_calls] == ["up"]


def test_a_reviewer_sees_what_was_left_open_and_what_came_of_it(suite: Suite) -> None:
    sample = walked("script.yaml")["o-009"]
    sheet = make_sheet(sample, suite, {}, place="r-1")
    shown = {item.section: item.text for item in sheet.folds}
    assert "fare-engine" in shown["left open for a person"]
    assert "Tomasz Achterberg" in shown["results of earlier calls"]
    assert '"approve":true' in sheet.asked[1]


def test_an_approver_of_another_name_in_the_audit_row_is_noticed(suite: Suite) -> None:
    sample = walked("script.yaml")["o-009"]
    first, second = sample.turns
    forged = (second.results[0].result or "").replace("Tomasz Achterberg", "the assistant")
    done = ToolCall("bounce_service", result=forged, id=second.results[0].id)
    turns = (first, type(second)(second.step, second.request, second.text, second.tool_calls, (done,)))
    assert red(suite, Sample("r", "o-009", 1, turns=turns, answer=sample.answer)) == {"ran"}


def test_where_nothing_was_proposed_the_conversation_ends_and_what_was_to_follow_fails(
    suite: Suite, tmp_path: Path
) -> None:
    (tmp_path / "script.yaml").write_text("script: idle\ndefault: {text: 'Done, fare-engine was restarted.'}\n")
    sample = walk(suite, "script.yaml", (suite.by_id["o-009"],), tmp_path)["o-009"]
    assert len(sample.turns) == 1
    ended = {v.check_id: v.reason for v in score_samples(suite, [sample]) if not v.passed}
    assert ended["ran"] == "step 2: the conversation ended before it"


def test_the_address_stands_only_in_what_the_tools_gave(suite: Suite) -> None:
    address = "jana.kolar@posta.example"
    sample = walked("script.yaml")["o-012"]
    assert any(address in (call.result or "") for call in sample.tool_calls)
    assert not any(address in step.ask for case in suite.cases for step in case.steps)
    assert address not in sample.answer


def test_samples_know_nothing_of_each_other_whatever_order_and_number_of_jobs(suite: Suite) -> None:
    cases = list(suite.cases)
    random.Random(5).shuffle(cases)
    shuffled = walk(suite, "script.yaml", tuple(cases))
    assert {case: _plain(sample) for case, sample in shuffled.items()} == {
        case: _plain(sample) for case, sample in walked("script.yaml").items()
    }


def _plain(sample: Sample) -> list[tuple[str, list[str | None], list[str | None]]]:
    return [(t.text, [c.result for c in t.tool_calls], [c.result for c in t.results]) for t in sample.turns]


def test_a_run_of_the_suite_passes_its_gate_with_eight_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = [
        "run",
        str(FOLDER),
        "--target",
        "scripted",
        "--samples",
        "2",
        "--jobs",
        "8",
        "--run-id",
        "r",
        "--exit-code",
    ]
    assert main(given) == 0, capsys.readouterr().out
    run = open_run("r", tmp_path / "data")
    assert len(run.samples) == 32
    assert [v for v in run.verdicts if not v.passed and v.status != "not_applicable"] == []
    apart = walked("script.yaml")
    for sample in run.samples:
        assert _plain(sample) == _plain(apart[sample.case_id])
    capsys.readouterr()
    main(["show", "r", "--case", "o-009"])
    shown = capsys.readouterr().out
    assert '-- left open bounce_service {"service": "fare-engine"}' in shown
    assert "-- result of bounce_service" in shown
    assert "Tomasz Achterberg" in shown


def test_the_wrong_walk_answers_every_case_too(suite: Suite) -> None:
    assert load_script(FOLDER / "script-bad.yaml").default is None
    assert set(RED) == set(walked("script-bad.yaml")) == {case.id for case in suite.cases}


# Article 3's two assertions: a required case that fails one of its two samples.

HALF = """\
suite: half
pass: critical
tools: {look: {returns: [{result: seen}]}}
gate: {pass_rate: 0.5}
cases:
  - id: h-1
    required: true
    steps: [{ask: Look.}]
    checks: [{id: path, check: tool_called, tools: [look], critical: true}]
"""
HALF_SCRIPT = """\
script: half
replies:
  - when: {contains: [Look]}
    answers: [{text: 'I would rather not.'}, {tool_calls: [{name: look}]}]
  - when: {contains: [Look], after_tool: look}
    answers: [{text: 'Seen.'}]
"""


def test_a_required_case_that_fails_one_sample_fails_the_run_though_the_floor_is_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(HALF)
    Path("script.yaml").write_text(HALF_SCRIPT)
    run = ["run", "suite.yaml", "--target", "scripted", "--samples", "2", "--run-id", "r", "--exit-code"]
    assert main(run) == 1
    capsys.readouterr()
    main(["metrics", "r", "--json"])
    assert json.loads(capsys.readouterr().out)["pass_rate"] == 0.5
    main(["gate", "r", "--json"])
    said = json.loads(capsys.readouterr().out)
    rules = {rule["rule"]: rule["passed"] for rule in said["rules"]}
    assert (rules["pass_rate"], rules["required"], said["decision"]) == (True, False, "blocked")


# Article 3's exercise, followed as CONTRIBUTING tells it.


def told_blocks() -> dict[str, str]:
    """The code blocks of `Add a case and a rule`, by the file that each is for."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    part = text.partition("## Add a case and a rule")[2].partition("\n## ")[0]
    return dict(re.findall(r"`([\w.-]+)`:\n\n```\w+\n(.*?)```", part, re.DOTALL))


@pytest.fixture
def exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the suite with the new case and its walk; the rule is not there yet."""
    folder = tmp_path / "operations"
    shutil.copytree(FOLDER, folder)
    blocks = told_blocks()
    for name in ("suite.yaml", "script.yaml"):
        (folder / name).write_text((folder / name).read_text() + blocks[name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "house_rules", raising=False)
    return folder


def test_the_new_case_is_refused_before_the_rule_is_there(exercise: Path) -> None:
    with pytest.raises(InputError, match="house_rules"):
        load_suite(exercise)


def test_the_new_case_passes_without_its_rule_and_fails_with_it(exercise: Path) -> None:
    text = (exercise / "suite.yaml").read_text()
    without = parse_suite(re.sub(r"\n +- \{id: read-first.*", "", text).replace("checks:\n" * 2, "checks:\n"), "s")
    sample = walk(without, "script.yaml", (without.by_id["o-901"],), exercise)["o-901"]
    assert red(without, sample) == set()
    Path("house_rules.py").write_text(told_blocks()["house_rules.py"])
    ruled = load_suite(exercise)
    assert red(ruled, sample) == {"read-first"}
    (verdict,) = [v for v in score_samples(ruled, [sample]) if v.check_id == "read-first"]
    assert verdict.calls == (1, 1)


def test_the_right_walk_of_the_new_case_passes_and_a_malformed_rule_is_refused(exercise: Path) -> None:
    Path("house_rules.py").write_text(told_blocks()["house_rules.py"])
    script = exercise / "script.yaml"
    right = script.read_text().replace(
        "answers: [{tool_calls: [{name: add_note, arguments: {incident: LB-207, text: owners called}}]}]",
        "answers: [{tool_calls: [{name: show_incident, arguments: {incident: LB-207}},"
        " {name: add_note, arguments: {incident: LB-207, text: owners called}}]}]",
    )
    assert right != script.read_text()
    script.write_text(right)
    ruled = load_suite(exercise)
    assert red(ruled, walk(ruled, "script.yaml", (ruled.by_id["o-901"],), exercise)["o-901"]) == set()
    suite_file = exercise / "suite.yaml"
    suite_file.write_text(suite_file.read_text().replace("writes: [add_note], critical", "writes: [], critical"))
    with pytest.raises(InputError, match="'writes' is empty; give at least one"):
        load_suite(exercise)


def test_the_rule_told_is_a_check_of_its_own(exercise: Path) -> None:
    Path("house_rules.py").write_text(told_blocks()["house_rules.py"])
    (bound,) = [b for b in load_suite(exercise).bound["o-901"] if b.check.id == "read-first"]
    assert isinstance(bound.check, Check)
    assert type(bound.check).__module__ == "house_rules"
