"""The report of 10,000 samples: the page with all its notebooks, summary, tests and figures, from start to exit."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/bench-report"
CASES, SAMPLES, WORDS = 1000, 10, 200
GOAL_S = 60.0
CHECKS = ("restart", "firewall", "drain", "seconds", "sorry")


def measure(words: Sequence[str]) -> dict[str, Any]:
    """Seconds by the clock and of CPU, peak memory in MB, and the page's size in MB."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    _store(words)
    command = [sys.executable, "-m", "evallib", "report", "many", "--data", str(FOLDER / "data"), "--out", str(FOLDER)]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=True)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "samples": CASES * SAMPLES,
        "s": round(took, 1),
        "cpu_s": round(spent, 1),
        "peak_mb": round(after.ru_maxrss / 1024),
        "page_mb": round((FOLDER / "many.html").stat().st_size / 1e6, 2),
        "load": round(os.getloadavg()[0], 1),
    }


def _store(words: Sequence[str]) -> None:
    from evallib.records import Sample, Turn, Usage
    from evallib.scoring import score_samples
    from evallib.store import import_run
    from evallib.suite import parse_suite

    chance = random.Random(20)
    checks = [{"id": name, "check": "mentions", "all_of": [name], "critical": name == CHECKS[0]} for name in CHECKS]
    cases = [{"id": f"c-{number:04d}", "steps": [{"ask": f"question {number}"}]} for number in range(CASES)]
    suite = json.dumps({"suite": "many", "pass": "critical", "checks": checks, "cases": cases, "gate": {"mean": 0.5}})
    samples = []
    for case in cases:
        for number in range(1, SAMPLES + 1):
            found = [name for name in CHECKS if chance.random() < 0.6]
            text = " ".join([*chance.choices(words, k=WORDS), *found])
            turn = Turn(1, case["steps"][0]["ask"], text)
            spent = {"duration_s": chance.random(), "usage": Usage(200, chance.randrange(100, 400), 1)}
            samples.append(Sample("many", case["id"], number, turns=(turn,), answer=text, **spent))
    verdicts = score_samples(parse_suite(suite, "bench"), samples)
    import_run(FOLDER / "data", "many", suite, samples, verdicts, target={"kind": "generated"}, source={})


def show(found: dict[str, Any]) -> None:
    """The figures as lines."""
    print(f"\nthe report of {found['samples']:,} samples, load {found['load']}")
    met = "met" if found["s"] <= GOAL_S else "MISSED"
    print(f"from start to exit {found['s']} s, {found['cpu_s']} s of CPU   goal at most {GOAL_S:g} s: {met}")
    print(f"peak memory {found['peak_mb']} MB, page {found['page_mb']} MB   goal below 3 MB")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    from bench import VOCABULARY

    show(measure(VOCABULARY.split()))
