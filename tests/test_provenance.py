"""Where a run was made: the revision of the code that runs, dirty only when that code differs."""

import subprocess
from pathlib import Path

import pytest

from evallib import provenance


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git checkout that holds the package and its metadata."""
    (tmp_path / "evallib").mkdir()
    for name in ("evallib/__init__.py", "pyproject.toml", "constraints.txt", "README.md"):
        (tmp_path / name).write_text("one\n")
    who = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.setattr(provenance, "_PACKAGE", tmp_path / "evallib")
    return tmp_path


def test_data_and_documents_leave_the_code_clean(checkout: Path) -> None:
    (checkout / "data").mkdir()
    (checkout / "data/new.json").write_text("{}")
    (checkout / "README.md").write_text("two\n")
    assert provenance.build()["dirty"] is False


@pytest.mark.parametrize("name", ["evallib/__init__.py", "evallib/new.py", "pyproject.toml", "constraints.txt"])
def test_code_that_differs_is_dirty(checkout: Path, name: str) -> None:
    (checkout / name).write_text("two\n")
    assert provenance.build()["dirty"] is True


def test_a_package_that_the_checkout_does_not_hold_has_no_revision(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "_PACKAGE", checkout / "site-packages/evallib")
    assert provenance.build() == {}
