"""The shipped table of coverage: what it says is met, and how a cell comes about."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from evallib.statistics.estimators import Counts, Interval, over_cases, pass_hat_k

TOOLS = Path(__file__).resolve().parent.parent / "tools"


@pytest.fixture
def bench_coverage(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    import bench_coverage

    yield bench_coverage
    sys.modules.pop("bench_coverage")


def test_the_default_holds_the_truth_in_92_of_100_ordinary_runs(bench_coverage) -> None:
    document = bench_coverage.DOCUMENT.read_text(encoding="utf-8")
    ordinary = document.split("## Ordinary settings")[1].split("\n## ")[0]
    rows = [line.split("|")[3:6] for line in ordinary.splitlines() if re.match(r"\| (even|split|easy)", line)]
    shares = [float(cell.split("(")[0]) for row in rows for cell in row]
    assert len(shares) == 36
    assert min(shares) >= bench_coverage.GOAL
    assert f"the least here is {min(shares):.3f}" in " ".join(document.split())


def test_a_row_of_the_table_comes_out_again(bench_coverage) -> None:
    mix = bench_coverage.ORDINARY[0]
    figure = bench_coverage.Figure("pass^", 4)
    held = bench_coverage.default(mix, 10, 4, (figure,))[figure]["default"]
    row = next(
        line for line in bench_coverage.DOCUMENT.read_text().splitlines() if line.startswith(f"| {mix.name} | 10 |")
    )
    assert str(held) == row.split("|")[4].strip()


def test_more_samples_of_few_cases_are_shown_to_help_nothing(bench_coverage) -> None:
    lower = bench_coverage.DOCUMENT.read_text(encoding="utf-8").split("## Where it is lower")[1].split("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.split("|")[2:5]]
        for line in lower.split("More samples per case")[1].splitlines()[5:]
    ]
    shares = {(int(cases), int(n)): float(cell.split(" ")[0]) for cases, n, cell in filter(None, cells)}
    assert set(shares) == {(cases, n) for cases in bench_coverage.CASES for n in (8, 20)}
    assert shares[10, 20] < shares[10, 8] < bench_coverage.GOAL, "as the sentence above the rows says"
    figure = bench_coverage.Figure("pass^", 1)
    held = bench_coverage.default(bench_coverage.RARE, 10, 20, (figure,))[figure]["default"]
    assert f"{held.share:.3f}" == f"{shares[10, 20]:.3f}"


def test_an_interval_that_is_not_there_holds_nothing(bench_coverage) -> None:
    assert bench_coverage.held([(Interval(0.2, 0.6), 0.5), (None, 0.5), (Interval(0.6, 0.8), 0.5)]).share == 1 / 3


def test_the_truth_of_a_mix_is_its_mean_over_cases(bench_coverage) -> None:
    mix = bench_coverage.two("x", 0.25, 1.0, 0.5)
    assert bench_coverage.Figure("pass^", 2).truth(mix) == 0.25 + 0.75 * 0.25
    assert bench_coverage.Figure("pass@", 2).truth(mix) == 1 - 0.75 * 0.25
    counts = [Counts(2, 2)] * 1 + [Counts(2, 1)] * 3
    assert over_cases(counts, 2, pass_hat_k).value == 0.25
