"""The notebooks themselves: what their cells may hold, and that plain papermill runs them."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import nbformat
import papermill
import pytest

from evallib.report import notebook_parameters
from tests.making import stored_run

PATHS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))
by_name = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def test_there_are_five():
    assert [path.stem for path in PATHS] == ["adjudicate", "gate", "reliability", "rescore", "run"]


@by_name
def test_parameters_are_literals_and_end_with_interactive(path):
    parameters = notebook_parameters(nbformat.read(path, as_version=4))
    assert list(parameters)[:3] == ["run", "data", "adjudications"]
    assert list(parameters)[-1] == "interactive"
    assert parameters["interactive"] is None


@by_name
def test_evallib_is_imported_in_the_second_cell_and_nothing_is_defined(path):
    code = [ast.parse("".join(cell["source"])) for cell in _code(path)]
    assert "evallib" in ast.unparse(code[1].body[0])
    assert len(code) <= 10
    forbidden = (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.Lambda, ast.ListComp)
    assert not [node for cell in code for node in ast.walk(cell) if isinstance(node, forbidden)]


def test_plain_papermill_runs_the_gate_notebook(tmp_path):
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["six"]})
    source = next(path for path in PATHS if path.stem == "gate")
    given = {"run": "r-1", "data": str(tmp_path / "data"), "adjudications": str(tmp_path / "adjudications")}
    more = {"progress_bar": False, "start_timeout": 300, "iopub_timeout": 300}
    done = papermill.execute_notebook(source, tmp_path / "out.ipynb", parameters=given, **more)
    said = json.dumps([cell.get("outputs", []) for cell in done.cells])
    assert "run r-1, view strict" in said
    assert "image/svg+xml" in said


def _code(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]
