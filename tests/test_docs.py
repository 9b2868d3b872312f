"""What README, CONTRIBUTING and the docs list is what there is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from evallib.calibration import LabelledAnswer, LabelledSet
from evallib.case import Case, Step
from evallib.checks import KINDS
from evallib.checks.base import Check, When
from evallib.cli import build_parser, main
from evallib.domain import EntityKind, Returns, Tool
from evallib.gate import Gate
from evallib.suite import Deadlines, Probe, Suite, load_suite
from evallib.targets import script

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FROM_THE_SUITE = {"aliases", "catalogue", "approving"}
"""Fields that the suite's own keys fill in; nobody writes them at a check."""


def section(name: str, title: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_the_docs_have_one_row_for_every_kind_with_its_keys() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \|[^|]*\| (?:`([\w ]+)`|none) \|$", section("docs/suites.md", "Check kinds"), re.MULTILINE
    )
    listed = {kind: set(keys.split()) for kind, keys in rows}
    assert len(rows) == len(listed)
    assert listed == {
        kind: {field.alias or name for name, field in made.model_fields.items()}
        - set(Check.model_fields)
        - FROM_THE_SUITE
        for kind, made in KINDS.items()
    }


def test_contributing_lists_the_layers_that_are_enforced() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = [contract["layers"] for contract in contracts if contract.get("containers") == ["evallib"]]
    listed: list[str] = []
    for line in re.findall(r"^    (\S.*|  \|.*)$", section("CONTRIBUTING.md", "Layers"), re.MULTILINE):
        row = re.split(r"\s{3,}", line.strip())[0]
        if row.startswith("|"):
            listed[-1] += f" {row}"
        else:
            listed.append(row)
    assert [set(row.split(" | ")) for row in listed] == [set(row.split(" | ")) for row in layers]


def documented() -> dict[str, set[str]]:
    """Command to the options that README's section on the command line gives it."""
    rows = re.findall(
        r"^    evallib ([a-z-]+)(.*(?:\n {12,}.*)*)", section("README.md", "The command line"), re.MULTILINE
    )
    return {name: set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", row)) for name, row in rows}


def test_readme_lists_every_command_and_option_and_no_other() -> None:
    (commands,) = [action.choices for action in build_parser()._actions if isinstance(action.choices, dict)]
    everywhere = {"-h", "--help", "--data", "--adjudications"}
    found = {name: {o for a in sub._actions for o in a.option_strings} - everywhere for name, sub in commands.items()}
    assert documented() == found


LEVELS: list[dict[str, type[BaseModel]]] = [
    {
        "suite": Suite, "case": Case, "step": Step, "check": Check, "when": When, "gate": Gate, "probe": Probe,
        "deadlines": Deadlines, "tool": Tool, "returns": Returns, "entity kind": EntityKind,
    },
    {"script": script.Script, "rule": script.Rule, "when": script.When, "answer": script.Answer},
]  # fmt: skip


def listed(table: str) -> dict[str, list[str]]:
    """Level to the keys that a table of the docs gives it; a row without a level goes on with the one above."""
    levels: dict[str, list[str]] = {}
    for level, keys in re.findall(r"^\| ([a-z ]*?) ?\| ((?:`\w+` ?)+)\|", table, re.MULTILINE):
        here = levels.setdefault(level or list(levels)[-1], [])
        here += re.findall(r"\w+", keys)
    return levels


def test_the_docs_list_every_key_of_a_suite_and_of_a_script_at_its_level() -> None:
    tables = re.findall(r"(?:^\|.*\n)+", section("docs/suites.md", "Writing a suite"), re.MULTILINE)
    for table, models in zip(tables, LEVELS, strict=True):
        there = {
            level: sorted(field.alias or name for name, field in model.model_fields.items())
            for level, model in models.items()
        }
        assert {level: sorted(keys) for level, keys in listed(table).items()} == there


def test_the_suite_of_the_docs_is_sound_and_runs_against_their_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    suite, played = re.findall(r"```yaml\n(.*?)```", section("docs/suites.md", "Writing a suite"), re.DOTALL)
    folder = tmp_path / "capitals"
    folder.mkdir()
    (folder / "suite.yaml").write_text(suite, encoding="utf-8")
    (folder / "script.yaml").write_text(played, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_suite(folder).suite == "capitals"
    assert main(["validate", "capitals", "--strict"]) == 0
    assert main(["run", "capitals", "--target", "scripted", "--samples", "2", "--run-id", "mine", "--exit-code"]) == 0
    capsys.readouterr()
    assert main(["show", "mine", "--case", "c-1"]) == 0
    shown = capsys.readouterr().out
    assert "It is Paris." in shown
    assert "Paris, on the Seine." in shown


def test_the_labelled_set_of_the_docs_measures_a_check_of_their_suite_and_every_key_of_it_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = section("docs/judging.md", "Does the judge agree with people")
    (labelled,) = re.findall(r"```yaml\n(.*?)```", part, re.DOTALL)
    suite, _ = re.findall(r"```yaml\n(.*?)```", section("docs/suites.md", "Writing a suite"), re.DOTALL)
    (tmp_path / "suite.yaml").write_text(suite, encoding="utf-8")
    (tmp_path / "labelled.yaml").write_text(labelled, encoding="utf-8")
    assert main(["calibrate", str(tmp_path), "--data", str(tmp_path / "data")]) == 0
    assert "check 'right' matched the human label 2 times out of 3" in capsys.readouterr().out
    keys = {*LabelledSet.model_fields, *LabelledAnswer.model_fields}
    assert set(re.findall(r"\b(\w+): ", labelled)) == keys


def test_readmes_change_of_a_criterion_flips_what_its_entry_expects_and_a_second_one_needs_another_slug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = README.split("    # 4. mend")[1].split("    # 5. ")[0]
    shell = f"set -e\nevallib() {{ '{sys.executable}' -m evallib \"$@\"; }}\n# {textwrap.dedent('    ' + steps)}"
    shutil.copytree(ROOT / "data" / "suites", tmp_path / "data" / "suites")
    monkeypatch.chdir(tmp_path)
    given = ["--target", "scripted", "--split", "validation", "--case", "t-017", "--samples", "5", "--run-id", "mine"]
    assert main(["run", "data/suites/tickets", *given]) == 0
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("3 flips: 3 to pass, 0 to fail; 3 read, 0 unread") == 1
    assert done.stdout.count("3 flips, 0 unexpected, 0 missed") == 1
    assert main(["rescore", "mine", "--suite", "corrected", "--entry", "entry.yaml"]) == 2
    assert "another slug" in capsys.readouterr().err


def test_a_rescoring_takes_the_name_of_a_suite_that_travels_with_evallib() -> None:
    given = build_parser().parse_args(["rescore", "mine", "--suite", "tickets", "--entry", "entry.yaml"])
    assert (given.suite / "suite.yaml").is_file()
