"""The right numbers of ../shared, where they are at hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evallib.statistics.estimators import Counts
from tests.sources import SHARED

CASES = SHARED.parent / "cases"


def right(name: str) -> list[dict[str, Any]]:
    """Vectors of one group, never none; the test is skipped where they are absent."""
    path = CASES / "statistics.json"
    if not path.exists():
        pytest.skip("the right numbers of ../shared/cases are absent")
    found = [one for one in json.loads(path.read_text(encoding="utf-8"))["vectors"] if one["group"] == name]
    assert found
    return found


def counts(vector: dict[str, Any]) -> list[Counts]:
    """Samples and passes of each case of a vector."""
    return [Counts(n, c) for n, c in vector["inputs"]["cases"]]
