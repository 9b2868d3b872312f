"""The files of the checkout: small, alike, and free of anything about the machine they were written on."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINES, FUNCTION_LINES = 450, 60


def _tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


FILES = _tracked()
PYTHON = [path for path in FILES if path.suffix == ".py"]
TEXTS = [path for path in FILES if path.suffix not in {".parquet", ".png", ".gif", ".jpg", ".webp"}]


def _named(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: str(path.relative_to(ROOT)))


def test_the_checkout_was_found():
    assert ROOT / "pyproject.toml" in FILES
    assert ROOT / "evallib/__init__.py" in PYTHON


@_named(PYTHON)
def test_a_python_file_is_short_and_so_are_its_functions(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES
    long = [
        f"{node.name}: {length} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION_LINES
    ]
    assert not long


def test_only_recorded_runs_and_pictures_are_big():
    big = [
        f"{name}: {size} bytes"
        for path in FILES
        if (size := path.stat().st_size) > _limit(name := str(path.relative_to(ROOT)))
    ]
    assert not big


def _limit(name: str) -> int:
    return 1_000_000 if name.startswith(("data/runs/", "docs/")) else 100_000


# Written in pieces, so that this file does not find itself.
_FORBIDDEN = {
    "a package index": "|".join(("py" + "pi[.]org", "python" + "hosted", "regis" + "try[.]npm", "deb" + "[.]debian")),
    "a path of one machine": "|".join(
        ("/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/[a-z]", "/tm" + "p/w/", "C:" + r"\\Users")
    ),
}


@pytest.mark.parametrize("what", _FORBIDDEN)
def test_no_file_names(what):
    pattern = re.compile(_FORBIDDEN[what])
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in TEXTS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found


def test_the_lock_names_versions_and_nothing_else():
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert len(lines) > 100
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line) for line in lines)
