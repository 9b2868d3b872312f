"""The notebooks themselves: what their cells may hold, and that plain papermill runs them."""

from __future__ import annotations

import ast
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from evallib.report import NOTEBOOKS, notebook_parameters
from tests.making import SUITE, stored_run

ROOT = Path(__file__).resolve().parent.parent
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
by_name = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def test_every_notebook_has_its_place_in_the_report():
    assert {path.stem for path in PATHS} == set(NOTEBOOKS)


@by_name
def test_parameters_are_literals_and_end_with_interactive(path):
    parameters = notebook_parameters(nbformat.read(path, as_version=4))
    runs = ["run_a", "run_b"] if path.stem == "compare" else ["run"]
    assert list(parameters)[: len(runs) + 2] == [*runs, "data", "adjudications"]
    assert {parameters[name] for name in (*runs, "data")} == {"demo-tickets", "build/demo/data"}
    assert list(parameters)[-1] == "interactive"
    assert parameters["interactive"] is None


@by_name
def test_evallib_is_imported_in_the_second_cell_and_nothing_is_defined(path):
    code = [ast.parse("".join(cell["source"])) for cell in _code(path)]
    assert "evallib" in ast.unparse(code[1].body[0])
    assert len(code) <= 10
    forbidden = (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.Lambda, ast.ListComp)
    assert not [node for cell in code for node in ast.walk(cell) if isinstance(node, forbidden)]


def test_plain_papermill_runs_the_gate_notebook_as_the_readme_prints_it(tmp_path):
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["six"]}, run_id="mine")
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (printed,) = [line.strip() for line in readme.splitlines() if line.strip().startswith("papermill ")]
    command = [sys.executable, "-m", *shlex.split(printed), "--no-progress-bar"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    said = json.dumps([cell.get("outputs", []) for cell in cells])
    assert "run mine, view strict" in said
    assert "image/svg+xml" in said


def test_the_rescore_notebook_previews_a_named_suite_headless_and_rescores_nothing(tmp_path):
    run = stored_run(tmp_path / "data", {"c-1": ["four", "it is 4"], "c-2": ["six"]}, run_id="mine")
    (tmp_path / "new.yaml").write_text(SUITE.replace("{facts: [four]}", "{facts: [[four, '4']]}"))
    given = {"run": "mine", "data": "data", "adjudications": "log", "change": "new.yaml"}
    words = [word for name, value in given.items() for word in ("-p", name, value)]
    command = [sys.executable, "-m", "papermill", str(ROOT / "notebooks/rescore.ipynb"), "out.ipynb", *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, "--no-progress-bar"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.dumps([cell.get("outputs", []) for cell in nbformat.read(tmp_path / "out.ipynb", as_version=4).cells])
    assert "preview (chosen after reading the answers)" in said
    assert "1 of 1 flips unread" in said
    assert "image/svg+xml" in said
    assert not run.rescorings


def _code(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]
