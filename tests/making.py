"""Small real runs for tests: a suite, hand-made samples, stored like any other."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from evallib.records import Sample
from evallib.scoring import score_samples
from evallib.store import Run, begin_run, finish_run
from evallib.suite import parse_suite

SUITE = """\
suite: small
pass: critical
checks:
- {id: says, check: mentions, all_of: key.facts, critical: true}
- {id: short, check: sections, headings: [], max_words: 5}
gate: {mean: 0.5, checks: {says: 0.5}}
cases:
- {id: c-1, steps: [{ask: What is two and two?}], key: {facts: [four]}}
- {id: c-2, steps: [{ask: What is two and three?}], key: {facts: [five]}}
"""


def code_suite(body: str, *more: str) -> str:
    """A suite of one case whose check `x` is the code `body`; `more` are lines that follow the check."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return (
        "suite: s\npass: critical\nchecks:\n- id: x\n  check: code\n  critical: true\n  code: |\n"
        + lines
        + "".join(f"{line}\n" for line in more)
        + "cases:\n- {id: c-1, steps: [{ask: two and two}], key: {facts: [four], n: 4}}\n"
    )


def stored_run(
    data: Path,
    answers: Mapping[str, Sequence[str]],
    *,
    run_id: str = "r-1",
    suite_text: str = SUITE,
    samples: Sequence[Sample] = (),
    planned: Mapping[str, object] | None = None,
) -> Run:
    """A complete run under `data` whose answers are given per case; `samples` are stored as they are, beside.

    `planned` stands in the plan over what this writes there.
    """
    suite = parse_suite(suite_text, "suite.yaml")
    made = [
        Sample(run_id, case, n, answer=text, exit_code=0)
        for case, texts in answers.items()
        for n, text in enumerate(texts, 1)
    ]
    made += samples
    counts: dict[str, int] = {}
    for sample in made:
        counts[sample.case_id] = max(counts.get(sample.case_id, 0), sample.sample)
    plan = {
        "run_id": run_id,
        "created": "2026-11-30T10:00:00.000+00:00",
        "suite": suite.suite,
        "suite_digest": suite.digest,
        "suite_sha256": hashlib.sha256(suite_text.encode()).hexdigest(),
        "gate_digest": suite.gate_digest,
        "target": {"kind": "by hand", "model": "nobody"},
        "judge": None,
        "cases": counts,
        "samples": max(counts.values()),
        "seed": 0,
        "split": "all",
        **(planned or {}),
    }
    run = begin_run(data, plan, suite_text.encode())
    return finish_run(run, made, score_samples(suite, made), {"seconds": 0.0})
