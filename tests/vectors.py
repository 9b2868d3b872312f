"""The right verdicts on single turns, from ../shared; quirks of the harness they came from by their better verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evallib.checks import parse_check
from evallib.domain import Domain
from evallib.records import Sample, Turn, Verdict

Vector = Mapping[str, Any]


def vectors(shared: Path, group: str) -> list[Vector]:
    """The cases of a group; never none."""
    found = json.loads((shared / "cases" / "agentops-verdicts.json").read_text(encoding="utf-8"))["cases"][group]
    assert found
    return found


def wanted(vector: Vector) -> bool | None:
    """The right verdict; None where none may be given."""
    if vector["parity"] == "core":
        expected = vector["expected"]
        return expected["passed"] if expected["emitted"] else None
    if "not_applicable" in vector["better"]:
        return None
    said = re.findall(r"\b(pass|fail)s?$", vector["better"])
    return said == ["pass"] if said else not vector["expected"]["passed"]


def judge(kind: str, keys: Mapping[str, Any], *turns: Turn, domain: Domain | None = None) -> Verdict:
    """The verdict of one check on one sample of these turns."""
    check = parse_check({"id": "x", "check": kind, **keys}).in_domain(domain or Domain())
    (verdict,) = check([Sample("r", "c", 1, turns=turns, answer=turns[-1].text if turns else "")])
    return verdict
