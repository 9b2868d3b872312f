"""What can mean nothing is refused in one sentence, and which log belongs to a run."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from evallib.cli import main
from tests.commandline import files, said
from tests.making import SUITE, stored_run

NONSENSE = [
    (("run", ".", "--target", "scripted", "--max-tokens", "0"), "--max-tokens 0: must be at least 1"),
    (("run", ".", "--target", "scripted", "--judge", "zz"), "--judge 'zz' names nobody who can answer"),
    (
        ("run", ".", "--target", "scripted", "--no-judges", "--judge", "scripted"),
        "--no-judges leaves out the judges that --judge names; leave one of the two out",
    ),
    (("metrics", "r-1", "--k", "1,,2"), "--k '1,,2': write whole numbers"),
    (("compare", "r-1", "--views", "strict,strict"), "--views 'strict,strict': name each view once"),
    (("gate", "r-1", "--gate", "gate.yaml"), "line 1 (checks.says): check 'says' gives 0 to 1, so a threshold of 7"),
]


@pytest.mark.parametrize(("arguments", "sentence"), NONSENSE, ids=lambda one: str(one)[:40])
def test_what_can_mean_nothing_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    stored_run(home / "data", {"c-1": ["four"], "c-2": ["five"]})
    (home / "gate.yaml").write_text("checks: {says: 7}\n")
    before = files(home)
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err
    assert files(home) == before


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("ask: What is two and two?", "ask: ' '", "line 8 (cases.0.steps): a request is blank"),
        (
            "id: short,",
            "id: short, when: {tags: [zz]},",
            "(checks.1.when.tags): check 'short' is for cases tagged 'zz'",
        ),
        ("checks: {says: 0.5}", "checks: {says: -5}", "(gate.checks.says): check 'says' gives 0 to 1"),
    ],
)
def test_a_suite_that_can_mean_nothing_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, sentence: str
) -> None:
    Path("suite.yaml").write_text(SUITE.replace(old, new))
    assert main(["validate", "."]) == 2
    assert sentence in capsys.readouterr().err


def test_a_stored_suite_of_before_is_still_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored_run(home / "data", {"c-1": ["four"], "c-2": ["five"]})
    text = (run.folder / "suite.yaml").read_text().replace("checks: {says: 0.5}", "checks: {says: 7}")
    (run.folder / "suite.yaml").write_text(text)
    for name in ("plan.json", "run.json"):
        told = json.loads((run.folder / name).read_text())
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        (told if name == "plan.json" else told["files"])[("suite_sha256", "suite.yaml")[name == "run.json"]] = sha256
        (run.folder / name).write_text(json.dumps(told))
    assert "four" in said(capsys, "show", "r-1", "--case", "c-1")


# -- where the log is --------------------------------------------------------------------------------------------------


def read_elsewhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A run in another folder with a log beside its data folder, read once; gives the run's folder."""
    run = stored_run(folder / "data", {"c-1": ["no"], "c-2": ["no"]})
    reading = [
        "--by",
        "Ann",
        "--reading",
        "pass",
        "--cause",
        "other",
        "--reason",
        "fine",
        "--adjudications",
        str(folder / "adjudications"),
    ]
    said(capsys, "adjudicate", str(run.folder), "c-1", "1", *reading)
    return str(run.folder)


def test_the_log_beside_a_runs_data_folder_is_found(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = read_elsewhere(home / "build", capsys)
    assert "Ann" in said(capsys, "show", run, "--readings")
    assert "read  " in said(capsys, "compare", run)
    assert json.loads(said(capsys, "metrics", run, "--view", "read", "--json"))["pass_rate"] == 0.5
    assert "1 entry in build/adjudications/entries" in said(capsys, "verify", "build/data")
    assert "read  " in said(capsys, "compare", "r-1", "--data", "build/data")
    said(
        capsys,
        "adjudicate",
        run,
        "c-2",
        "1",
        "--by",
        "Ann",
        "--reading",
        "fail",
        "--reason",
        "it is wrong",
    )
    assert len(list((home / "build/adjudications").rglob("*reading*.yaml"))) == 2
    assert not (home / "adjudications").exists()


def test_without_a_log_beside_the_run_it_is_here(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored_run(home / "build/data", {"c-1": ["no"]})
    said(
        capsys,
        "adjudicate",
        str(run.folder),
        "c-1",
        "1",
        "--by",
        "Ann",
        "--reading",
        "pass",
        "--cause",
        "other",
        "--reason",
        "fine",
    )
    assert list((home / "adjudications").rglob("*.yaml"))


def test_runs_with_logs_of_their_own_need_one_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [read_elsewhere(home / name, capsys) for name in ("one", "two")]
    assert main(["metrics", *folders]) == 2
    assert "name one: --adjudications" in capsys.readouterr().err


def test_a_folder_that_may_not_be_entered_is_status_2(home: Path) -> None:
    run = stored_run(home / "data", {"c-1": ["four"], "c-2": ["five"]})
    closed = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        shutil.copytree(run.folder, closed / "data" / "runs" / "r-1")
        for folder in (closed, closed / "data", closed / "data" / "runs"):
            folder.chmod(0o755)
        (closed / "data" / "runs" / "r-1").chmod(0)
        code = "import os, sys, evallib.commands, evallib.demo, evallib.exhibits.run; from evallib.cli import main\n"
        code += "os.getuid() or os.setuid(65534)\nsys.exit(main(sys.argv[1:]))"
        root = str(Path(__file__).resolve().parent.parent)
        for arguments in (["metrics", "r-1"], ["metrics", "nosuch"], ["demo"]):
            found = subprocess.run(
                [sys.executable, "-c", code, *arguments],
                cwd=closed, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": root},
            )  # fmt: skip
            (closed).chmod(0o555)
            assert (found.returncode, found.stderr.count("\n")) == (2, 1), found.stderr
            assert "--data" not in found.stderr
    finally:
        closed.chmod(0o755)
        (closed / "data" / "runs" / "r-1").chmod(0o755)
        shutil.rmtree(closed)
