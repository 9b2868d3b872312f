"""Measure evallib on generated workloads (`make bench`); first 5,000 samples, 200-word answers, 5 patterns.

Rescoring against the bare `re` loop over the same Parquet column, each in a process of its own and in turn, imports
left out; both give a verdict with a reason for every sample and pattern, and the span of a hit. The ratio is the median
of five pairs, in seconds of CPU over all threads, which other work on the machine disturbs least. Then 5,000 scripted
samples through `evallib run`. Last, what `bench_scoring`, `bench_log`, `bench_review`, `bench_metrics`, `bench_report`,
`bench_preview` and `bench_coverage` measure.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import bench_coverage
import bench_log
import bench_metrics
import bench_preview
import bench_report
import bench_review
import bench_scoring

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/bench"
CASES, SAMPLES, WORDS, ROUNDS = 50, 100, 200, 5
GOALS = {"ratio": 1.0, "rescoring_mb": 400.0, "run_s": 10.0}

# A word, alternatives, two words near each other, a number with its unit, a phrase spelt in several ways.
PATTERNS = {
    "restarts": r"\brestart(ed|ing|s)?\b",
    "blames": r"\b(proxy|firewall|gateway|resolver|certificate)\b",
    "drains": r"\bdrain(ed|ing)?\b.{0,60}\bnodes?\b",
    "measures": r"\b[0-9]+(\.[0-9]+)? ?(ms|seconds|percent)\b",
    "apologises": r"\b(i am|i'm|we are|we're) (very |really )?sorry\b",
}
HITS = ("restarting", "the firewall", "drained the last two nodes", "240 ms", "we're really sorry")
VOCABULARY = """
about access account after again agent alert answer article balance before between bucket cache change check client
cluster command config container context copy count customer database date default delay deploy detail disk driver
error event export failure field filter folder format group handle header health host image index input instance issue
item job key label level limit list load lock log memory message method mode module monitor mount name network note
number object option order output owner package page path patch peer plan point policy pool port process profile queue
quota range rate reason record region release replica report request reset role route rule schedule schema scope
script search secret server service session setting shard signal size source stage state status step storage stream
subnet system table target task team template test thread ticket time token tool topic trace traffic type update
upload usage user value version view volume warning window worker zone and the with from that this when then must may
"""


def main() -> int:
    """All measurements, printed and written to build/bench/bench.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", choices=["rescore", "bare"], help=argparse.SUPPRESS)
    parser.add_argument("--scoring", help=argparse.SUPPRESS)
    parser.add_argument("--full", action="store_true", help="also rescore 500,000 samples, which takes minutes")
    given = parser.parse_args()
    if given.scoring:
        return bench_scoring.child(given.scoring)
    if given.one:
        print(json.dumps(_measured(rescore if given.one == "rescore" else bare_loop)))
        return 0
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    texts = answers()
    store_run(texts)
    taken = [(_child("bare"), _child("rescore")) for _ in range(ROUNDS)]
    found = _summed(taken) | {"run_s": run_scripted(texts)}
    _print(found)
    found["scoring"] = bench_scoring.measure(VOCABULARY.split(), full=given.full)
    bench_scoring.show(found["scoring"])
    found["log"] = bench_log.measure()
    bench_log.show(found["log"])
    found["review"] = bench_review.measure()
    bench_review.show(found["review"])
    found["metrics"] = bench_metrics.measure()
    bench_metrics.show(found["metrics"])
    found["report"] = bench_report.measure(VOCABULARY.split())
    bench_report.show(found["report"])
    found["preview"] = bench_preview.measure(VOCABULARY.split())
    bench_preview.show(found["preview"])
    simulated = bench_coverage.measure()
    bench_coverage.show(simulated)
    found["coverage"] = {name: simulated[name] for name in ("least", "met")}
    (FOLDER / "bench.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


def answers() -> list[str]:
    """The answers: words at random, and in about a third of them something a pattern looks for."""
    chance, known = random.Random(20), VOCABULARY.split()
    made = []
    for _ in range(CASES * SAMPLES):
        words = chance.choices(known, k=WORDS)
        for hit in HITS:
            if chance.random() < 0.35:
                words[chance.randrange(WORDS)] = hit
        made.append(" ".join(words))
    return made


def suite_yaml(patterns: dict[str, str]) -> str:
    """A suite of `CASES` cases with one `matches` check per pattern, written as JSON, which is YAML too."""
    checks = [{"id": name, "check": "matches", "any_of": [pattern]} for name, pattern in patterns.items()]
    cases = [{"id": f"c-{number:03d}", "steps": [{"ask": f"question {number:03d}"}]} for number in range(CASES)]
    return json.dumps({"suite": "bench", "pass": "top", "checks": checks, "cases": cases})


def store_run(texts: list[str]) -> None:
    """A stored run with its strict verdicts, by criteria that the rescoring changes in every pattern."""
    from evallib.records import Sample, Turn
    from evallib.scoring import score_samples
    from evallib.store import import_run
    from evallib.suite import parse_suite

    first = suite_yaml({name: pattern.replace(r"\b", "") for name, pattern in PATTERNS.items()})
    samples = [
        Sample("bench", f"c-{case:03d}", sample + 1, turns=(Turn(1, f"question {case:03d}", text),), answer=text)
        for case in range(CASES)
        for sample, text in enumerate(texts[case * SAMPLES : (case + 1) * SAMPLES])
    ]
    verdicts = score_samples(parse_suite(first, "bench"), samples)
    import_run(FOLDER / "data", "bench", first, samples, verdicts, target={"kind": "generated"}, source={})
    (FOLDER / "suite.yaml").write_text(suite_yaml(PATTERNS), encoding="utf-8")


def rescore() -> list[Any]:
    """What `evallib rescore` computes before it writes: the run read, every verdict, the flips."""
    from evallib.entries import Change, Rescoring
    from evallib.rescoring.apply import rescore_run
    from evallib.store import open_run
    from evallib.suite import load_suite

    changes = tuple(Change(check=name, fix="narrow", reason="whole words only") for name in PATTERNS)
    entry = Rescoring(slug="bench", author="bench", reason="whole words only", changes=changes)
    verdicts: list[Any] = []
    rescore_run(open_run("bench", FOLDER / "data"), load_suite(FOLDER / "suite.yaml"), entry, verdicts.extend)
    return verdicts


def bare_loop() -> list[Any]:
    """The loop anyone would write first: read the column, search each answer for each pattern, keep a row."""
    import pyarrow.parquet as pq

    compiled = {name: re.compile(pattern, re.IGNORECASE | re.DOTALL) for name, pattern in PATTERNS.items()}
    columns = ["case_id", "sample", "answer"]
    rows = []
    for stored in pq.read_table(FOLDER / "data/runs/bench/samples.parquet", columns=columns).to_pylist():
        for name, pattern in compiled.items():
            hit = pattern.search(stored["answer"])
            passed = hit is not None
            reason = f"found {pattern.pattern!r}: {hit[0]!r}" if hit else f"found no hit of {pattern.pattern!r}"
            row = {"case_id": stored["case_id"], "sample": stored["sample"], "check_id": name, "status": "scored"}
            row |= {"value": float(passed), "passed": passed, "reason": reason, "spans": hit.span() if hit else ()}
            rows.append(row)
    return rows


def _measured(work: Any) -> dict[str, Any]:
    import pandas as pd  # noqa: F401  # pyarrow loads it; no side is charged for imports
    import pyarrow.compute
    import pyarrow.parquet  # noqa: F401  # as above

    import evallib.checks.text
    import evallib.rescoring.apply  # noqa: F401  # as above

    began, cpu = time.perf_counter(), time.process_time()
    rows = work()
    took = {"s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}
    hits = [row for row in rows if (row["passed"] if isinstance(row, dict) else row.passed)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return took | {"peak_mb": peak, "verdicts": len(rows), "hits": len(hits)}


def _child(name: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", name]
    said: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return said


def _summed(taken: list[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    bare, ours = taken[0]
    if (bare["verdicts"], bare["hits"]) != (ours["verdicts"], ours["hits"]):
        raise SystemExit(f"the two ways disagree, so nothing was measured: {bare} against {ours}")
    return {
        "verdicts": ours["verdicts"],
        "hits": ours["hits"],
        "bare_loop_cpu_s": round(median(bare["cpu_s"] for bare, _ in taken), 3),
        "rescoring_cpu_s": round(median(ours["cpu_s"] for _, ours in taken), 3),
        "ratio": round(median(ours["cpu_s"] / bare["cpu_s"] for bare, ours in taken), 3),
        "ratio_wall": round(median(ours["s"] / bare["s"] for bare, ours in taken), 3),
        "bare_loop_mb": round(max(bare["peak_mb"] for bare, _ in taken)),
        "rescoring_mb": round(max(ours["peak_mb"] for _, ours in taken)),
        "host": {
            "cpu_count": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
        },
    }


def run_scripted(texts: list[str]) -> float:
    """Seconds for `evallib run` with a scripted target that answers at once, from start to exit."""
    folder = FOLDER / "scripted"
    folder.mkdir()
    (folder / "suite.yaml").write_text(suite_yaml(PATTERNS), encoding="utf-8")
    replies = [
        {
            "when": {"user": f"question {case:03d}"},
            "answers": [{"text": text} for text in texts[case * 4 : case * 4 + 4]],
        }
        for case in range(CASES)
    ]
    (folder / "script.yaml").write_text(json.dumps({"script": "bench", "replies": replies}), encoding="utf-8")
    command = [sys.executable, "-m", "evallib.cli", "run", str(folder), "--target", "scripted", "--run-id", "scripted"]
    command += ["--samples", str(SAMPLES), "--data", str(FOLDER / "data"), "--adjudications", str(FOLDER / "log")]
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return round(time.perf_counter() - began, 2)


def _print(found: dict[str, Any]) -> None:
    host = found["host"]
    print(f"{found['verdicts']} verdicts, {found['hits']} hits; {host['cpu_count']} cores, load {host['load']}")
    print(
        f"seconds of CPU: rescoring {found['rescoring_cpu_s']}, the bare `re` loop {found['bare_loop_cpu_s']} (medians)"
    )
    print(f"rescoring / bare loop by the clock: {found['ratio_wall']}")
    names = {"ratio": "rescoring / bare loop", "rescoring_mb": "peak memory, MB", "run_s": "5,000 scripted samples, s"}
    for key, goal in GOALS.items():
        print(f"{names[key]:<28} {found[key]:>8}   goal at most {goal:g}: {'met' if found[key] <= goal else 'MISSED'}")


if __name__ == "__main__":
    sys.exit(main())
