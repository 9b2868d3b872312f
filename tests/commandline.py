"""A folder with a small suite and its script, as the command line is tried in it."""

from pathlib import Path

import pytest

from evallib.cli import main

SCRIPT = """\
script: sums
replies:
- when: {contains: ['two and two']}
  answers: [{text: It is four.}]
- when: {contains: ['two and three']}
  answers: [{text: I do not know.}]
"""


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main(arguments) == status, capsys.readouterr().err
    return capsys.readouterr().out


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
