"""Deterministic scoring gives the same sorted verdicts in any order of samples and with any number of jobs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.checks import KINDS
from evallib.cli import main
from evallib.records import Sample, ToolCall, Turn, Verdict
from evallib.scoring import score_samples
from evallib.store import open_run
from evallib.suite import Suite, load_suite, parse_suite
from evallib.targets import open_target

SUITES = Path(__file__).resolve().parent.parent / "data" / "suites"
REST = """\
suite: rest
pass: top
checks:
- {id: leaks, check: secrets}
- {id: few, check: tool_budget, max: 1}
- {id: called, check: tool_called, tools: [look], args: {at: a}}
- {id: letter, check: choice, options: [A, B], equals: A}
- id: long
  check: code
  code: |
    return len(outputs["answer"]) > 3, f"{len(outputs['answer'])} letters"
cases:
- {id: c-1, steps: [{ask: Which letter?}]}
- {id: c-2, steps: [{ask: And which here?}]}
"""
"""The kinds that no suite of ours uses."""
ANSWERS = ("Answer: A", "B", "", "(A), by mail to ann.lee@corp-mail.net", "A or B", "Answer: A")


class Scored(NamedTuple):
    suite: Suite
    samples: list[Sample]
    verdicts: list[Verdict]


@cache
def scored(name: str) -> Scored:
    """A suite with samples of every case, and what scoring says of them in their own order."""
    suite = parse_suite(REST, "rest.yaml") if name == "rest" else load_suite(SUITES / name)
    samples = list(by_hand(suite)) if name == "rest" else walked(suite, SUITES / name)
    return Scored(suite, samples, score_samples(suite, samples))


def by_hand(suite: Suite) -> list[Sample]:
    calls = [tuple(ToolCall("look", {"at": at}, "seen") for at in places) for places in ("", "a", "b", "ab", "aa", "a")]
    return [
        Sample("r", case.id, n, turns=(Turn(1, "?", text, made),), answer=text, exit_code=0)
        for case in suite.cases
        for n, (text, made) in enumerate(zip(ANSWERS, calls, strict=True), 1)
    ]


def walked(suite: Suite, folder: Path) -> list[Sample]:
    scripts = sorted(folder.glob("script*.yaml"))
    made = []
    for script in scripts:
        with open_target(f"scripted:{script}", suite, folder) as target:
            for case in suite.cases:
                for seed in (1, 2):
                    steps = tuple(step.for_target() for step in case.steps)
                    done = target.run(steps, seed=seed, deadlines=suite.deadlines)
                    made.append(Sample("r", case.id, 0, turns=done.turns, answer=done.answer, exit_code=done.exit_code))
    return [Sample(**{**fields(one), "sample": n}) for n, one in enumerate(made, 1)]


def fields(sample: Sample) -> dict[str, object]:
    return {name: getattr(sample, name) for name in Sample.__dataclass_fields__}


NAMES = ("basics", "operations", "rest", "tickets")


def test_every_kind_that_computes_is_among_them() -> None:
    used = {
        check.check
        for name in NAMES
        for bounds in scored(name).suite.bound.values()
        for bound in bounds
        for check in (part for _, part in getattr(bound.check, "parts", ((0, bound.check),)))
    }
    assert {kind for kind, made in KINDS.items() if made.computable} <= used


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_verdicts_hang_on_no_order_and_on_no_company(name: str, data: st.DataObject) -> None:
    suite, samples, verdicts = scored(name)
    chosen = data.draw(st.permutations(samples))
    assert score_samples(suite, chosen) == verdicts
    cut = data.draw(st.integers(0, len(chosen)))
    apart = [*score_samples(suite, chosen[:cut]), *score_samples(suite, chosen[cut:])]
    assert sorted(apart, key=repr) == sorted(verdicts, key=repr)


@pytest.mark.parametrize("name", ["basics", "operations", "tickets"])
def test_one_job_and_eight_store_the_same_bytes(name: str, tmp_path: Path) -> None:
    for jobs in ("1", "8"):
        options = ["--samples", "3", "--no-judges", "--run-id", "r", "--jobs", jobs, "--data", str(tmp_path / jobs)]
        assert main(["run", str(SUITES / name), "--target", "scripted", *options]) == 0
    one, eight = (open_run("r", tmp_path / jobs).folder / "verdicts.parquet" for jobs in ("1", "8"))
    assert one.read_bytes() == eight.read_bytes()
