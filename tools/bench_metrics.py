"""All figures of 100,000 samples with ten checks each (a part of `make bench`; alone: `python tools/bench_metrics.py`).

20,000 cases x 5 samples under eight checks that pass or fail and two that grade in hundredths. `summarise` takes the
frames and gives every figure with its interval; beside it the bare pandas group-by of the same columns, which gives
means by case and by check and nothing else. Each is a process of its own, imports left out, once. A quarter of the
cases says how the time grows. Then the same run from the disk, its suite of 20,000 cases read and all files hashed.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/bench/metrics"
CASES, SAMPLES, CHECKS, GRADED = 20_000, 5, 10, 2
GOAL_S, GOAL_MB, GOAL_GROWTH = 5.0, 1000, 1.5


def frames(cases: int) -> tuple[Any, Any]:
    """Outcomes and verdicts of that many cases, columns as `evallib.views.load` gives them."""
    import numpy as np
    import pandas as pd

    random, rows = np.random.default_rng(20), cases * SAMPLES
    case = np.repeat([f"c-{number:05d}" for number in range(cases)], SAMPLES)
    sample = np.tile(np.arange(1, SAMPLES + 1), cases)
    chance = np.repeat(random.beta(2, 2, cases), SAMPLES)
    outcomes = pd.DataFrame(
        {
            "run_id": "bench", "case_id": case, "sample": sample, "split": "validation", "required": False,
            "tags": [[f"tag-{number % 7}"] for number in range(cases) for _ in range(SAMPLES)],
            "sample_status": "completed", "status": "scored", "passed": random.random(rows) < chance,
            "score": random.random(rows).round(2), "view": "strict", "post_hoc": False, "label": "",
            "trajectory": list(map(str, range(rows))), "draw": list(map(str, range(rows))),
        }
    )  # fmt: skip
    value = random.random((rows, CHECKS))
    value[:, GRADED:] = value[:, GRADED:] < chance[:, None]
    names = [f"check-{number}" for number in range(CHECKS)]
    verdicts = pd.DataFrame(
        {
            "run_id": "bench", "case_id": np.repeat(case, CHECKS), "sample": np.repeat(sample, CHECKS),
            "check_id": np.tile(names, rows), "status": "scored", "value": value.round(2).ravel(),
            "passed": (value >= 0.5).ravel(), "stochastic": False, "judge": "",
        }
    )  # fmt: skip
    return outcomes, verdicts.assign(raw=verdicts["value"])


def store() -> None:
    """The same run on the disk."""
    from evallib.records import Sample, Verdict
    from evallib.store import import_run

    outcomes, verdicts = frames(CASES)
    checks = [{"id": f"check-{number}", "check": "recorded", "critical": True} for number in range(CHECKS)]
    cases = [{"id": name, "steps": [{"ask": f"question {name}"}]} for name in outcomes["case_id"].unique()]
    suite = json.dumps({"suite": "bench", "pass": "critical", "recorded": True, "checks": checks, "cases": cases})
    keys = zip(outcomes["case_id"], outcomes["sample"].tolist(), strict=True)
    samples = [Sample("bench", case, number, answer=f"answer {case} {number}") for case, number in keys]
    columns = (verdicts[name].tolist() for name in ("case_id", "sample", "check_id", "value", "passed"))
    made = [
        Verdict(case, number, check, "scored", "as recorded", value, value, passed, critical=True, origin="recorded")
        for case, number, check, value, passed in zip(*columns, strict=True)
    ]
    shutil.rmtree(FOLDER, ignore_errors=True)
    import_run(FOLDER, "bench", suite, samples, made, target={"kind": "generated"}, source={})


def child(what: str, cases: int) -> int:
    """One measurement in this process, printed as JSON."""
    import pandas  # noqa: F401, ICN001  # no side is charged for imports
    import pyarrow.parquet  # noqa: F401  # as above
    import scipy.special  # noqa: F401  # as above

    from evallib.metrics import summarise
    from evallib.views.figures import load_figures

    if what == "store":
        store()
        return 0
    given = () if what == "stored" else frames(cases)
    began, cpu = time.perf_counter(), time.process_time()
    if what == "bare":
        rate = bare(*given)
    elif what == "metrics":
        rate = summarise(*given)["pass_rate"]
    else:
        rate = load_figures(["bench"], "strict", FOLDER, FOLDER / "log").summary()["pass_rate"]
    took = {"s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(took | {"rate": rate, "mb": peak}))
    return 0


def bare(outcomes: Any, verdicts: Any) -> float:
    """The group-by anyone would write first: means by case, and by check and case, and their means."""
    cases = outcomes.groupby("case_id")[["passed", "score"]].mean()
    checks = verdicts.groupby(["check_id", "case_id"])[["value", "raw", "passed"]].mean()
    checks.groupby("check_id").mean()
    return float(cases["passed"].mean())


def measure() -> dict[str, Any]:
    """Seconds, peak memory, growth, and the ratio to the bare group-by."""
    found: dict[str, Any] = {"load": round(os.getloadavg()[0], 1)}
    sizes = {"bare": CASES, "metrics": CASES, "quarter": CASES // 4, "store": CASES, "stored": CASES}
    for name, cases in sizes.items():  # storing too is a process of its own: a child's peak begins at its parent's
        command = [sys.executable, __file__, "--child", "metrics" if name == "quarter" else name, str(cases)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found[name] = json.loads(said or "{}")
    rates = [found[name]["rate"] for name in ("bare", "metrics")]
    if abs(rates[0] - rates[1]) > 1e-9:
        raise SystemExit(f"the two ways disagree, so nothing was measured: {rates}")
    found["ratio"] = round(found["metrics"]["cpu_s"] / found["bare"]["cpu_s"], 1)
    found["growth"] = round(found["metrics"]["cpu_s"] / found["quarter"]["cpu_s"] / 4, 2)
    return found


def show(found: dict[str, Any]) -> None:
    """The figures as lines."""
    print(f"\n{CASES * SAMPLES:,} samples with {CHECKS} checks each, load {found['load']}")
    for name, words in (
        ("bare", "bare group-by of the same columns"), ("metrics", "all figures with intervals, from frames"),
        ("stored", "the same from the disk, suite and all"),
    ):  # fmt: skip
        one = found[name]
        print(f"{words:<42} {one['s']:>6.2f} s, {one['cpu_s']:>5.2f} s of CPU, peak {one['mb']:.0f} MB")
    for key, value, goal in (
        ("seconds", found["metrics"]["s"], GOAL_S), ("peak memory, MB", found["metrics"]["mb"], GOAL_MB),
        ("from the disk, seconds of CPU", found["stored"]["cpu_s"], GOAL_S),
        ("from the disk, peak memory, MB", found["stored"]["mb"], GOAL_MB),
        ("time for four times the cases / 4", found["growth"], GOAL_GROWTH),
    ):  # fmt: skip
        print(f"{key:<42} {value:>6.4g}   goal at most {goal:g}: {'met' if value <= goal else 'MISSED'}")
    print(f"CPU against the bare group-by              {found['ratio']:>6}")


if __name__ == "__main__":
    sys.exit(child(sys.argv[2], int(sys.argv[3])) if "--child" in sys.argv else show(measure()))
