"""The script that CI calls: run for real on the scripted target, with its exit status and all that it leaves."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.commandline import SCRIPT
from tests.making import SUITE

ROOT = Path(__file__).resolve().parent.parent
SHELL_SCRIPT = ROOT / "ci/evaluate.sh"


@pytest.fixture
def evaluate(tmp_path):
    """Runs the script in a folder that holds a suite and its script, and gives what became of it."""
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite/suite.yaml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "suite/script.yaml").write_text(SCRIPT, encoding="utf-8")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "evallib").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evallib "$@"\n', encoding="utf-8")
    (tools / "evallib").chmod(0o755)

    def run(*arguments, **more):
        told = {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "GITHUB_STEP_SUMMARY": ""}
        return subprocess.run(
            ["sh", str(SHELL_SCRIPT), *arguments],
            cwd=tmp_path, env={**os.environ, **told, **more}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


def test_a_gate_that_passes_leaves_page_summary_tests_and_figures(evaluate, tmp_path):
    done = evaluate("suite", "--samples", "2", GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"))
    assert done.returncode == 0, done.stderr
    kept = tmp_path / "build/evaluation/report"
    assert {path.name for path in kept.iterdir()} == {"ci", "ci.html", "ci.md", "ci.junit.xml", "ci.json"}
    assert ET.parse(kept / "ci.junit.xml").getroot().get("tests") == "2"
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == (kept / "ci.md").read_text(encoding="utf-8")
    assert "decision" in (kept / "ci.md").read_text(encoding="utf-8")


def test_a_gate_that_blocks_is_status_1_and_leaves_the_same_files(evaluate, tmp_path):
    path = tmp_path / "suite/suite.yaml"
    path.write_text(SUITE.replace("{mean: 0.5,", "{mean: 0.9,"), encoding="utf-8")
    done = evaluate("suite", EVALLIB_RUN_ID="mine", EVALLIB_OUT="kept")
    assert done.returncode == 1, done.stderr
    assert "blocked" in (tmp_path / "kept/report/mine.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [((), "name a suite"), (("suite", "--samples", "0"), "samples"), (("nosuch",), "nosuch")],
)
def test_wrong_input_is_status_2_with_one_sentence_and_nothing_written(evaluate, tmp_path, arguments, said):
    done = evaluate(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "build/evaluation/report").exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--run-id", "other"), "EVALLIB_RUN_ID"),
        (("--run-id=other",), "EVALLIB_RUN_ID"),
        (("--run-i", "other"), "EVALLIB_RUN_ID"),
        (("--data", "elsewhere"), "EVALLIB_OUT"),
        (("--dat=elsewhere",), "EVALLIB_OUT"),
        (("--adjudications", "elsewhere"), "EVALLIB_OUT"),
        (("--json",), "EVALLIB_OUT"),
        (("--exit-code",), "EVALLIB_OUT"),
    ],
)
def test_an_option_that_would_make_it_gate_another_run_is_refused(evaluate, tmp_path, options, named):
    done = evaluate("suite", *options)
    assert done.returncode == 2
    assert named in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "build").exists()


def test_a_second_build_never_shows_what_the_first_found(evaluate, tmp_path):
    report = tmp_path / "build/evaluation/report"
    assert evaluate("suite").returncode == 0
    found = {path.relative_to(report): path.read_bytes() for path in report.rglob("*") if path.is_file()}
    for more in ((), ("--resume",), ("--help",)):
        for name, content in found.items():  # as the first build left them
            (report / name).parent.mkdir(parents=True, exist_ok=True)
            (report / name).write_bytes(content)
        done = evaluate("suite", *more)
        assert done.returncode == 2
        assert "EVALLIB_RUN_ID" in done.stderr
        assert [path for path in report.rglob("*") if path.is_file()] == []
        assert (tmp_path / "build/evaluation/data/runs/ci/run.json").exists()


def test_a_call_that_makes_no_run_never_ends_0(evaluate):
    done = evaluate("suite", "--help")
    assert done.returncode == 2
    assert "no run was made" in done.stderr


def test_a_run_that_was_cut_short_is_reported_as_incomplete_and_needs_resume_or_another_name(evaluate, tmp_path):
    done = evaluate("suite", "--samples", "300", "--jobs", "1", "--run-timeout", "0.001")
    assert done.returncode == 4, done.stderr
    assert "incomplete" in (tmp_path / "build/evaluation/report/ci.md").read_text(encoding="utf-8")
    again = evaluate("suite", "--samples", "300")
    assert again.returncode == 2
    assert "--resume" in again.stderr
    assert "EVALLIB_RUN_ID" in again.stderr
    assert evaluate("suite", "--samples", "300", "--resume").returncode == 0


def test_a_name_that_leads_out_of_the_folder_removes_nothing(evaluate, tmp_path):
    kept = tmp_path / "build/evaluation/kept.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}", encoding="utf-8")
    done = evaluate("suite", EVALLIB_RUN_ID="../kept")
    assert done.returncode == 2
    assert "EVALLIB_RUN_ID" in done.stderr
    assert kept.exists()


def test_the_workflow_only_calls_the_script_and_is_an_example():
    workflow = yaml.safe_load((ROOT / "ci/github-actions.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert [command for command in commands if "pip install" not in command] == [
        "evallib-evaluate evals/tickets --split validation --samples 3"
    ]
    assert not list((ROOT / ".github").rglob("*.yml"))


def test_the_script_is_on_the_path_of_whoever_installs_evallib():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    scripts = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-scripts"]
    assert scripts == {"ci/evaluate.sh": "evallib-evaluate"}
    assert os.access(SHELL_SCRIPT, os.X_OK)
