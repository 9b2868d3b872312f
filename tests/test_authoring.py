"""`validate` names what a suite gets wrong with status 2; `calibrate` measures and never judges the measure."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from evallib.cli import main
from evallib.report.markdown import escaped, markdown_summary
from evallib.store.plans import unproven_words
from evallib.story import notices
from evallib.views.figures import load_views
from tests.making import SUITE

SUITES = Path(__file__).resolve().parent.parent / "data/suites"
Capture = pytest.CaptureFixture[str]

TYPOS = {
    "a required fact": ("tickets", "facts: [is-default-class, provis", "facts: [is-defalt-class, provis", "facts"),
    "an article id": ("tickets", "articles: [KB-2290]", "articles: [KB-2209]", "citation"),
    "a key": ("tickets", "forbidden: [delete the old claims", "forbiden: [delete the old claims", "forbidden"),
    "a heading": ("tickets", "headings: [summary, steps, next]", "headings: [sumary, steps, next]", "format"),
    "a kind": ("tickets", "check: sections", "check: section", "'section'"),
    "a reference to the key": ("tickets", "all_of: key.articles", "all_of: key.artciles", "artciles"),
    "a kind of promise": ("tickets", "kinds: [promised_date]", "kinds: [promised_dates]", "promised_date"),
    "a threshold": ("tickets", "quality: 4.0", "quality: 40.0", "quality"),
    "a pattern": ("basics", r"['\bjupiter\b']", r"['\bjuptier\b']", "right"),
    "a number": ("basics", "equals: 17", "equals: 71", "right"),
    "a tool": ("operations", "calls: [{tool: show_incident, args: {incident: LB-204}}]",
               "calls: [{tool: show_incidnet}]", "show_incidnet"),
    "an argument": ("operations", "{tool: show_incident, args: {incident: LB-204}}",
                    "{tool: show_incident, args: {incidnet: LB-204}}", "incidnet"),
    "an entity": ("operations", "{tool: past_notes, args: {incident: LB-204}}",
                  "{tool: past_notes, args: {incident: LB-240}}", "LB-240"),
    "a tool that must not be used": ("operations", "tools: [bounce_service]", "tools: [bounce_servcie]",
                                     "bounce_servcie"),
    "a state that a tool gives": ("operations", "result: {state: up}", "result: {state: pu}", "verified"),
    "an approver": ("operations", f"approver: Tomasz Achterberg\n{' ' * 16}rationale",
                    f"approver: Tomas\n{' ' * 16}rationale", "ran"),
    "a value that must not be given away": ("operations", "values: [jana.kolar@", "values: [jana.kolra@", "jana.kolra"),
    "a guard": ("operations", "guarded: true\n    returns: [{result: {status: closed",
                "returns: [{result: {status: closed", "close_incident"),
    "a schema": ("operations", "severity: {const: P1}", "severity: {const: P2}", "report"),
    "a tag": ("operations", "weight: 0, critical: true}", "weight: 0, critical: true, when: {tags: [reed]}}",
              "answered"),
}  # fmt: skip


def validated(capsys: Capture, path: Path, *more: str, status: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["validate", str(path), *more]) == status
    read = capsys.readouterr()
    return read.out, read.err


@pytest.mark.parametrize("name", TYPOS)
def test_a_typo_is_status_2_and_named(tmp_path: Path, capsys: Capture, name: str) -> None:
    suite, right, wrong, told = TYPOS[name]
    text = (SUITES / suite / "suite.yaml").read_text()
    assert right in text
    path = tmp_path / "suite.yaml"
    path.write_text(text.replace(right, wrong, 1))
    _, error = validated(capsys, path, status=2)
    assert told in error
    assert (error.count("\n"), str(path) in error) == (1, True), "one sentence that names the file"


@pytest.mark.parametrize("more", [[], ["--strict"]])
def test_the_first_problem_is_told_once_in_a_terminal_and_in_a_pipe_in_both(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(
        SUITE if more else SUITE.replace("check: mentions, all_of: key.facts", "check: 'tests.always:Passes'")
    )
    first = "no right answer is known" if more else "'says' passed everything it was shown"
    assert [text.count(first) for text in validated(capsys, path, *more, status=2)] == [1, 1]
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    out, error = validated(capsys, path, *more, status=2)
    assert [text.count(first) for text in (out, error)] == [0, 1]


@pytest.mark.parametrize("kind", ["Passes", "Fails"])
def test_a_check_that_does_not_look_is_status_2_and_named(tmp_path: Path, capsys: Capture, kind: str) -> None:
    path = tmp_path / "suite.yaml"
    text = SUITE.replace("check: mentions, all_of: key.facts", f"check: 'tests.always:{kind}'")
    path.write_text(text.replace("two?}", "two?, reference: four}"))
    assert "check 'says'" in validated(capsys, path, status=2)[1]
    path.write_text(SUITE)
    assert validated(capsys, path)[1] == ""


def test_a_knowledge_folder_that_is_not_there_is_told(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(f"knowledge: kbb\n{SUITE}")
    told = f"{tmp_path / 'kbb'}: no such folder; `knowledge` names"
    assert told in validated(capsys, path)[0]
    (tmp_path / "plan.json").write_text("{}")
    assert told not in validated(capsys, path)[0], "a run folder holds the suite alone"


def test_what_the_self_check_warns_of_counts_for_strict(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    out, _ = validated(capsys, tmp_path)
    assert "warning: check 'says' of case 'c-1' (and 1 more case): no right answer is known" in out
    assert "no right answer is known" in validated(capsys, tmp_path, "--strict", status=2)[1]


def test_totals_are_told_so_that_no_case_vanishes_unseen(capsys: Capture) -> None:
    out, _ = validated(capsys, SUITES / "operations", "--json")
    totals = json.loads(out)
    assert {name: totals[name] for name in ("suite", "cases", "required", "problems", "warnings")} == {
        "suite": "operations", "cases": 16, "required": 5, "problems": [], "warnings": []
    }  # fmt: skip
    assert totals["shown"] > 400
    assert "16 cases (16 validation; 5 required)" in validated(capsys, SUITES / "operations")[0]


def test_a_prompt_that_holds_answers_is_a_warning(tmp_path: Path, capsys: Capture) -> None:
    prompt = tmp_path / "agent.md"
    prompt.write_text("LB-204 is a P2 on seat-map: seat plans of long trains load slowly.")
    out, _ = validated(capsys, SUITES / "operations", "--prompt", str(prompt))
    assert "case 'o-001', step 1: the agent's own prompt holds its reference answer" in out
    validated(capsys, SUITES / "operations", "--prompt", str(prompt), "--strict", status=2)
    missing = str(tmp_path / "none.md")
    assert "none.md: cannot be read" in validated(capsys, SUITES / "operations", "--prompt", missing, status=2)[1]


def test_the_self_check_stands_in_the_plan_before_the_first_answer(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "script.yaml").write_text("script: s\nreplies: []\ndefault: {text: four}\n")
    arguments = ["--target", "scripted", "--run-id", "r", "--data", str(tmp_path / "data")]
    assert main(["run", str(tmp_path), *arguments]) == 0
    stood = json.loads((tmp_path / "data/runs/r/plan.json").read_text())["self_check"]
    assert (stood["failures"], stood["unproven"], stood["shown"] > 5) == (0, [], True)


UNPROVEN = "1 check was not proven by the self-check: 'hours'"


def test_a_run_with_an_unproven_check_says_so_before_it_asks_and_beside_its_gate(
    tmp_path: Path, capsys: Capture
) -> None:
    hours = "- {id: hours, check: 'tests.always:Passes'}\ngate:"
    (tmp_path / "suite.yaml").write_text(SUITE.replace("gate:", hours))
    (tmp_path / "script.yaml").write_text("script: s\nreplies: []\ndefault: {text: four}\n")
    places = ["--data", str(tmp_path / "data"), "--adjudications", str(tmp_path / "log")]
    assert main(["run", str(tmp_path), "--target", "scripted", "--run-id", "r", *places]) == 0
    out, told = capsys.readouterr()
    assert told.startswith(f"evallib: {UNPROVEN}; `evallib validate` says more\n")
    assert f"  {UNPROVEN}\n" in out
    (strict,) = load_views("r", tmp_path / "data", tmp_path / "log")
    assert strict.decision().as_json()["unproven"] == UNPROVEN
    assert f"> **{escaped(UNPROVEN)}.**" in markdown_summary([strict])
    assert notices(strict.views[0]) == [f"{UNPROVEN}."]


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({}, ""),
        ({"self_check": {"unproven": []}}, ""),
        (
            {"self_check": {"unproven": ["case 'c-1' cannot fail: no", "check 'x' of case 'c-1', step 2 had no"]}},
            "2 checks or cases were not proven by the self-check: case 'c-1', 'x' of case 'c-1', step 2",
        ),
        (
            {"self_check": {"unproven": [f"check 'x-{n}' passed everything" for n in range(7)]}},
            "7 checks were not proven by the self-check: 'x-0', 'x-1', 'x-2', 'x-3', 'x-4', and 2 more",
        ),
        (
            {"self_check": {"unproven": ["check 'x' passed everything"]}, "seal": {"id": "s"}},
            "1 check was not proven by the self-check",
        ),
    ],
)
def test_what_a_plan_says_unproven_is_one_sentence_and_of_a_sealed_suite_a_count(
    plan: dict[str, object], said: str
) -> None:
    assert unproven_words(plan) == said


def test_a_suite_that_fails_its_self_check_gets_no_run(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE.replace("two?}", "two?, reference: fuor}"))
    (tmp_path / "script.yaml").write_text("script: s\nreplies: []\ndefault: {text: four}\n")
    assert main(["run", str(tmp_path), "--target", "scripted", "--data", str(tmp_path / "data")]) == 2
    assert "fails the reference answer" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", [["validate"], ["run", "--target", "scripted"], ["calibrate"]])
def test_a_suite_that_is_not_there_is_told_with_those_that_are(capsys: Capture, command: list[str]) -> None:
    assert main([command[0], "nosuch", *command[1:]]) == 2
    error = capsys.readouterr().err
    assert "no suite is called 'nosuch'" in error
    assert all(name in error for name in ("basics", "operations", "tickets"))
    assert ("no run is called 'nosuch'" in error) is (command == ["calibrate"])


def test_a_file_that_is_not_there_is_told_as_a_file(capsys: Capture) -> None:
    for path in ("no/such", "nosuch.yaml"):
        assert main(["validate", path]) == 2
        assert capsys.readouterr().err == f"evallib: {path}: no such file\n"
