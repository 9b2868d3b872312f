"""A run whose JSON files were damaged is told in one sentence, and is no trouble to the runs beside it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evallib.cli import main
from evallib.drift import drift_of
from evallib.errors import InputError
from evallib.store import begin_run, open_run, readable_runs
from evallib.store.plans import read_manifest, read_plan
from tests.making import stored_run

Capture = pytest.CaptureFixture[str]
Damage = Callable[[dict[str, Any]], object]

DAMAGE: dict[str, tuple[str, Damage]] = {
    "plan empty": ("plan.json", lambda plan: plan.clear()),
    "plan without cases": ("plan.json", lambda plan: plan.pop("cases")),
    "plan with a list of cases": ("plan.json", lambda plan: plan.update(cases=["c-1"])),
    "plan with a count of none": ("plan.json", lambda plan: plan["cases"].update({"c-1": 0})),
    "plan with a count as text": ("plan.json", lambda plan: plan["cases"].update({"c-1": "2"})),
    "plan of an unknown case": ("plan.json", lambda plan: plan["cases"].update({"c-9": 1})),
    "plan with an id as number": ("plan.json", lambda plan: plan.update(run_id=7)),
    "plan with another kind of target": ("plan.json", lambda plan: plan.update(target=None)),
    "plan without a time": ("plan.json", lambda plan: plan.update(created="yesterday")),
    "manifest empty": ("run.json", lambda manifest: manifest.clear()),
    "manifest without files": ("run.json", lambda manifest: manifest.pop("files")),
    "manifest with a list of files": ("run.json", lambda manifest: manifest.update(files=[])),
    "manifest without a table": ("run.json", lambda manifest: manifest["files"].pop("turns.parquet")),
    "manifest with a number for a hash": ("run.json", lambda manifest: manifest["files"].update({"plan.json": 1})),
    "manifest without usage": ("run.json", lambda manifest: manifest.update(usage=None)),
    "manifest without counts": ("run.json", lambda manifest: manifest.update(counts=3)),
}
COMMANDS = (
    ["metrics", "r-1"],
    ["metrics", "r-1", "--view", "read"],
    ["show", "r-1"],
    ["gate", "r-1"],
    ["compare", "r-1"],
    ["verify", "r-1"],
    ["verify", "data"],
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    stored_run(tmp_path / "data", {"c-1": ["four"]})
    stored_run(tmp_path / "data", {"c-1": ["four"]}, run_id="r-2")
    return tmp_path


def damage(home: Path, name: str) -> None:
    file, change = DAMAGE[name]
    path = home / "data" / "runs" / "r-1" / file
    value = json.loads(path.read_bytes())
    change(value)
    path.write_text(json.dumps(value))


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_run_is_one_sentence_with_status_2(home: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    damage(home, name)
    for arguments in COMMANDS:
        capsys.readouterr()
        assert main(arguments) == 2, arguments
        said = capsys.readouterr()
        assert said.err.count("\n") == 1
        assert DAMAGE[name][0] in said.err + said.out, "names the file"


@pytest.mark.parametrize("name", DAMAGE)
def test_other_runs_are_not_held_up_by_a_damaged_one(home: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    damage(home, name)
    assert main(["metrics", "r-2"]) == 0
    assert main(["metrics", "nobody"]) == 2
    assert "runs there: r-1, r-2" in capsys.readouterr().err
    last = stored_run(home / "data", {"c-1": ["four"]}, run_id="r-3")
    drift_of(last, home / "data")


def test_readable_runs_leave_the_damaged_out(home: Path) -> None:
    damage(home, "manifest empty")
    assert [run.id for run in readable_runs(home / "data")] == ["r-2"]


@pytest.mark.parametrize("text", ["[]", "null", "{", "[" * 100_000, "\xff", '{"run_id": ' + "9" * 5000 + "}"])
def test_a_file_that_is_no_json_object_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_bytes(text.encode("latin-1"))
    for read in (read_plan, read_manifest):
        with pytest.raises(InputError, match=r"x\.json"):
            read(tmp_path / "x.json")


def test_a_key_is_named_with_what_is_wrong(home: Path) -> None:
    damage(home, "plan with a count of none")
    with pytest.raises(InputError, match=r"plan\.json: key 'cases\.c-1' is wrong \(0 must be at least 1\)"):
        read_plan(home / "data" / "runs" / "r-1" / "plan.json")


def test_a_folder_called_otherwise_than_its_run_is_refused_and_told_by_verify(home: Path, capsys: Capture) -> None:
    (home / "data/runs/r-1").rename(home / "data/runs/r-9")
    told = "data/runs/r-9/plan.json: is the plan of run 'r-1', not of 'r-9'; give the folder its own name again"
    for arguments in (["metrics", "r-9"], ["show", "data/runs/r-9"], ["gate", "r-9"]):
        capsys.readouterr()
        assert main(arguments) == 2
        assert capsys.readouterr().err == f"evallib: {told}\n"
    assert main(["verify", "data"]) == 2
    assert told in capsys.readouterr().out
    assert [run.folder.name for run in readable_runs(home / "data")] == ["r-2"]


def test_a_run_is_opened_from_inside_its_folder_and_through_a_link(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "latest").symlink_to(home / "data/runs/r-1")
    assert open_run("latest", home / "data").id == "r-1"
    monkeypatch.chdir(home / "data/runs/r-1")
    assert open_run(".", home / "data").id == "r-1"


def test_a_plan_of_absurdly_many_samples_is_refused(home: Path) -> None:
    path = home / "data/runs/r-1/plan.json"
    plan = json.loads(path.read_text())
    path.write_text(json.dumps({**plan, "cases": {"c-1": 2_000_000_000}}))
    with pytest.raises(InputError, match=r"plan\.json: plans 2000000000 samples, more than the 2000000 that"):
        read_plan(path)
    with pytest.raises(InputError, match="plans 3000000 samples"):
        begin_run(home / "other", {**plan, "cases": {"c-1": 1_500_000, "c-2": 1_500_000}}, b"")
    assert not (home / "other").exists()
