"""What README and CONTRIBUTING list is what there is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from evallib.checks import KINDS
from evallib.checks.base import Check
from evallib.cli import build_parser

ROOT = Path(__file__).resolve().parent.parent
FROM_THE_SUITE = {"aliases", "catalogue", "approving"}
"""Fields that the suite's own keys fill in; nobody writes them at a check."""


def section(name: str, title: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_readme_has_one_row_for_every_kind_with_its_keys() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \|[^|]*\| (?:`([\w ]+)`|none) \|$", section("README.md", "Check kinds"), re.MULTILINE
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
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
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
