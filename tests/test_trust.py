"""A suite one names may run code; a copy that came with a run may not, and reading a run executes nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evallib.cli import main
from tests.making import code_suite, stored_run

MARKS = "open('{0}', 'w').close()\nreturn bool(outputs['answer']), 'ran'"


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """The folder of a run and a rescoring whose suites would leave a file `ran` beside it."""
    text = code_suite(MARKS.format(tmp_path / "ran"))
    folder = stored_run(tmp_path / "data", {"c-1": ["four"]}, suite_text=text).folder
    (folder / "rescored" / "x").mkdir(parents=True)
    (folder / "rescored" / "x" / "suite.yaml").write_text(text)
    (tmp_path / "script.yaml").write_text("script: s\nreplies:\n- {when: {}, answers: [{text: four}]}\n")
    (tmp_path / "entry.yaml").write_text(
        "kind: rescoring\nslug: x\nauthor: a\nreason: because\nchanges: []\nexpects: []\n"
    )
    assert (tmp_path / "ran").exists()  # the suite was one's own when the run was scored
    (tmp_path / "ran").unlink()
    return folder


def commands(tmp_path: Path, suite: Path) -> list[list[str]]:
    stored = ["--data", str(tmp_path / "data"), "--adjudications", str(tmp_path / "log")]
    script = f"scripted:{tmp_path / 'script.yaml'}"
    return [
        ["validate", str(suite)],
        ["run", str(suite), "--target", script, "--run-id", "r-2", *stored],
        ["rescore", "r-1", "--suite", str(suite), "--entry", str(tmp_path / "entry.yaml"), "--preview", *stored],
    ]


@pytest.mark.parametrize("which", ["suite.yaml", ".", "rescored/x/suite.yaml", "link"])
def test_a_copy_in_a_run_folder_runs_no_code_unless_it_is_trusted(
    copies: Path, tmp_path: Path, which: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link.yaml").symlink_to(copies / "suite.yaml")
    suite = tmp_path / "link.yaml" if which == "link" else copies / which
    for command in commands(tmp_path, suite):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert "check 'x' runs code" in said
        assert "--trust-code" in said
        assert said.count("\n") == 1
    assert not (tmp_path / "ran").exists()
    assert [main([*command, "--trust-code"]) for command in commands(tmp_path, suite)[:2]] == [0, 0]
    assert (tmp_path / "ran").exists()


def test_a_copy_elsewhere_is_ones_own_and_a_copy_without_code_is_harmless(copies: Path, tmp_path: Path) -> None:
    own = tmp_path / "suite.yaml"
    own.write_bytes((copies / "suite.yaml").read_bytes())
    assert main(["validate", str(own)]) == 0
    harmless = stored_run(tmp_path / "other", {"c-1": ["four"]}).folder
    assert main(["validate", str(harmless)]) == 0


def test_reading_a_run_runs_nothing(copies: Path, tmp_path: Path) -> None:
    stored = ["--data", str(tmp_path / "data"), "--adjudications", str(tmp_path / "log")]
    (copies / "rescored" / "x" / "suite.yaml").unlink()
    (copies / "rescored" / "x").rmdir()
    reading = ["adjudicate", "r-1", "c-1", "1", "--by", "Ann", "--reading", "fail"]
    reading += ["--cause", "other", "--reason", "It says too little."]
    for command in (["show", "r-1"], ["metrics", "r-1"], ["gate", "r-1"], reading, ["compare", "r-1"]):
        assert main([*command, *stored]) == 0
    assert main(["metrics", "r-1", "--view", "read", *stored]) == 0
    assert main(["verify", str(copies), *stored]) == 0
    assert main(["report", "r-1", "--notebook", "gate", "--out", str(tmp_path / "report"), *stored]) == 0
    assert not (tmp_path / "ran").exists()


def test_a_stored_suite_imports_no_package(tmp_path: Path) -> None:
    (tmp_path / "ours_for_code.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
        "from evallib.checks.base import Texts\nfrom evallib.checks.process import NotEmpty\n"
        "class Mine(NotEmpty):\n    check: str\n    extra: Texts = ()\n"
    )
    text = code_suite("return 1").replace(
        "- id: x\n  check: code\n  critical: true\n  code: |\n    return 1\n",
        ("- {id: x, check: 'ours_for_code:Mine', critical: true, extra: key.facts}\n"),
    )
    (tmp_path / "s.yaml").write_text(text)
    (tmp_path / "script.yaml").write_text("script: s\nreplies:\n- {when: {}, answers: [{text: four}]}\n")
    stored = ["--data", str(tmp_path / "data"), "--adjudications", str(tmp_path / "log")]

    def evallib(*command: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "ran").unlink(missing_ok=True)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        return subprocess.run(
            [sys.executable, "-m", "evallib.cli", *command], env=environment, capture_output=True, text=True
        )

    made = evallib("run", str(tmp_path / "s.yaml"), "--target", "scripted", "--run-id", "r", *stored)
    assert (made.returncode, (tmp_path / "ran").exists()) == (0, True), made.stderr
    for command in ("show", "metrics", "gate", "compare"):
        read = evallib(command, "r", *stored)
        assert (read.returncode, (tmp_path / "ran").exists()) == (0, False), read.stderr
    refused = evallib("validate", str(tmp_path / "data" / "runs" / "r"))
    assert (refused.returncode, (tmp_path / "ran").exists()) == (2, False)
    assert "--trust-code" in refused.stderr
    assert evallib("validate", str(tmp_path / "data" / "runs" / "r"), "--trust-code").returncode == 0
