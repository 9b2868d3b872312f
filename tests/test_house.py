"""The house rules that are about code: layers, exports, a light import, stripped notebooks, a complete wheel."""

from __future__ import annotations

import importlib
import itertools
import json
import pkgutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import evallib
from evallib import _assets
from evallib.errors import InputError

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(evallib.__path__, "evallib.")
    if not module.name.rpartition(".")[2].startswith("_")  # `_assets`; a `__main__` would run
)
HEAVY = (
    "IPython",
    "altair",
    "httpx",
    "ipywidgets",
    "jupyterlab",
    "mlflow",
    "nbformat",
    "pandas",
    "papermill",
    "pyarrow",
)


def _python(code: str, cwd: Path | None = None) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd or ROOT, capture_output=True, text=True, check=True)
    return done.stdout


# what imports what


def test_imports_point_downwards_only():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("statement", ["import evallib", "from evallib import load_suite", "import evallib.cli"])
def test_a_light_import_loads_nothing_heavy(statement):
    loaded = json.loads(_python(f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"))
    assert "evallib" in loaded
    assert not set(HEAVY) & set(loaded)


def test_import_evallib_costs_under_half_a_second_of_cpu():
    assert float(_python("import time; import evallib; print(time.process_time())")) < 0.5


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_every_name_that_it_lists(name):
    module = importlib.import_module(name)
    assert [public for public in module.__all__ if not hasattr(module, public)] == []


def test_every_public_name_of_evallib_is_there_and_no_other():
    assert evallib.__all__ == sorted(evallib._HOMES)
    assert dir(evallib) == evallib.__all__
    for name in evallib.__all__:
        assert getattr(evallib, name).__module__.startswith("evallib")
    with pytest.raises(AttributeError, match="public names: "):
        evallib.no_such_name  # noqa: B018 - looking it up is the test


# notebooks


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_short_and_stripped(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert 2 <= len(code) <= 10
    assert "parameters" in code[0]["metadata"].get("tags", [])
    for cell in code:
        lines = "".join(cell["source"]).splitlines()
        assert len(lines) <= 5
        assert not [line for line in lines if line.lstrip().startswith(("def ", "class ", "for ", "while ", "#"))]
        assert (cell["outputs"], cell["execution_count"]) == ([], None)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_sentence_stands_above_each_code_cell(path):
    kinds = [cell["cell_type"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    assert kinds[0] == "markdown"
    assert not [pair for pair in itertools.pairwise(kinds) if pair == ("code", "code")]


# where notebooks, suites and the recorded run are found


def test_the_working_folder_wins_over_what_evallib_brings(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/adjudicate.ipynb").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert _assets.notebook("adjudicate").resolve() == tmp_path / "notebooks/adjudicate.ipynb"
    assert _assets.suite_dir("basics") == ROOT / "data/suites/basics"
    assert _assets.suite_path("basics") == ROOT / "data/suites/basics"
    assert _assets.suite_path("no/such.yaml") == Path("no/such.yaml")


@pytest.mark.parametrize("name", ["nowhere", "../suites/basics", ""])
def test_an_unknown_suite_is_refused_with_the_known_ones(name):
    with pytest.raises(InputError, match=r"no suite is called .* known: .*basics"):
        _assets.suite_dir(name)


def test_the_wheel_carries_notebooks_suites_and_the_recorded_run(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"evallib/_notebooks/{path.name}" for path in NOTEBOOKS} <= names
    assert "evallib-0.1.0.data/scripts/evallib-evaluate" in names
    assert "evallib/_rule/RULE.yaml" in names
    assert {f"evallib/_suites/{suite}/suite.yaml" for suite in ("basics", "operations", "tickets")} <= names
    assert "evallib/_runs/basics-smollm2/run.json" in names
    assert not [name for name in names if name.startswith(("tests/", "tools/", "data/", "notebooks/"))]
