"""What a preview takes over 100 stored runs of 500 samples (a part of `make bench`; alone: `tools/bench_preview.py`).

50 cases of 10 samples a run, 200-word answers with tool calls, eight checks of each; ten readings of each run. One
check is widened for every case and another is made uncritical, under an entry. One core, from start to exit.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/bench/preview"
RUNS, CASES, SAMPLES, WORDS, READ, ROUNDS = 100, 50, 10, 200, 10, 3
GOAL_S = 10.0
HITS = ("restarting", "the firewall", "drained the last two nodes", "240 ms", "we're really sorry", "the load balancer")
TOOLS = [
    {"id": "looks-back", "check": "tool_called", "tools": ["get_logs", "get_events"], "args": {"previous": True}},
    {"id": "hands-off", "check": "tool_forbidden", "tools": ["delete_pod", "apply_change"], "critical": True},
    {"id": "few-calls", "check": "tool_budget", "max": 4},
]
PATTERNS = {
    "restarts": r"\brestart(ed|ing|s)?\b",
    "blames": r"\b(proxy|firewall|gateway)\b",
    "drains": r"\bdrain(ed|ing)?\b.{0,60}\bnodes?\b",
    "measures": r"\b[0-9]+(\.[0-9]+)? ?(ms|seconds|percent)\b",
    "apologises": r"\b(i am|i'm|we are|we're) (very |really )?sorry\b",
}
CRITICAL = {"restarts", "blames"}


def suite_yaml(patterns: dict[str, str], critical: set[str]) -> str:
    """The suite with these patterns, of which some are critical, as JSON, which is YAML too."""
    checks: list[dict[str, Any]] = [
        {"id": name, "check": "matches", "any_of": [pattern], "critical": name in critical}
        for name, pattern in patterns.items()
    ]
    cases = [{"id": f"c-{number:03d}", "steps": [{"ask": f"question {number:03d}"}]} for number in range(CASES)]
    return json.dumps({"suite": "bench", "pass": "critical", "checks": [*checks, *TOOLS], "cases": cases})


ENTRY = {
    "kind": "rescoring", "slug": "bench", "author": "Ann", "reason": "more of the same is right",
    "changes": [{"check": "blames", "fix": "widen", "reason": "two more words"},
                {"check": "restarts", "fix": "criticality", "reason": "nobody asked for it"}],
    "expects": [],
}  # fmt: skip


def changed_yaml() -> str:
    """The suite under the changed criteria."""
    wider = PATTERNS | {"blames": r"\b(proxy|firewall|gateway|load balancer|resolver)\b"}
    return suite_yaml(wider, CRITICAL - {"restarts"})


def answers(chance: random.Random, words: list[str]) -> list[str]:
    """An answer per sample of a run: words at random, and in most of them what a pattern looks for."""
    made = []
    for _ in range(CASES * SAMPLES):
        chosen = chance.choices(words, k=WORDS)
        for hit in HITS:
            if chance.random() < 0.97:
                chosen[chance.randrange(WORDS)] = hit
        made.append(" ".join(chosen))
    return made


def store_run(number: int, words: list[str], suite: Any, text: str) -> None:
    """One stored run, and the readings of some of its failures."""
    from evallib.adjudication import make_reading
    from evallib.records import Sample, ToolCall, Turn
    from evallib.scoring import fold_all, score_samples
    from evallib.store import append_entry, import_run

    chance, name = random.Random(number), f"r-{number:03d}"
    tools = ("get_logs", "get_events", "list_pods", "describe_resource")
    samples = []
    for at, answer in enumerate(answers(chance, words)):
        case = f"{at // SAMPLES:03d}"
        calls = tuple(
            ToolCall(chance.choice(tools), {"namespace": "shop", "previous": chance.random() < 0.5}, "{}")
            for _ in range(chance.randrange(1, 6))
        )
        turn = Turn(1, f"question {case}", answer, calls)
        samples.append(Sample(name, f"c-{case}", at % SAMPLES + 1, turns=(turn,), answer=answer))
    verdicts = score_samples(suite, samples)
    run = import_run(FOLDER / "data", name, text, samples, verdicts, target={"kind": "generated"}, source={})
    failed = [key for key, one in fold_all(samples, verdicts, "critical").items() if not one.passed]
    for case_id, sample in chance.sample(failed, READ):
        reading = make_reading(run, case_id, sample, reading="pass", author="Ann", reason="right in other words",
                               cause="paraphrase")  # fmt: skip
        append_entry(FOLDER / "log", reading)


def store(words: list[str]) -> None:
    """All runs, their log, and the changed suite."""
    from evallib.suite import parse_suite

    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    text = suite_yaml(PATTERNS, CRITICAL)
    suite = parse_suite(text, "bench")
    for number in range(RUNS):
        store_run(number, words, suite, text)
    (FOLDER / "suite.yaml").write_text(changed_yaml(), encoding="utf-8")
    (FOLDER / "entry.yaml").write_text(json.dumps(ENTRY), encoding="utf-8")


def preview() -> dict[str, Any]:
    """One preview of all runs under an entry, in a process of its own on one core."""
    given = {"suite": FOLDER / "suite.yaml", "entry": FOLDER / "entry.yaml", "data": FOLDER / "data",
             "adjudications": FOLDER / "log"}  # fmt: skip
    command = [sys.executable, "-m", "evallib.cli", "rescore", "--preview", "--json"]
    command += [word for name, path in given.items() for word in (f"--{name}", str(path))]
    one_core = {**os.environ, "OMP_NUM_THREADS": "1", "ARROW_IO_THREADS": "1"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env=one_core,
        preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),  # one thread here
    )  # fmt: skip
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    said = json.loads(done.stdout)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"s": took, "cpu_s": cpu, "flips": len(said["flips"]), "peak_mb": after.ru_maxrss / 1024}


def measure(words: list[str]) -> dict[str, Any]:
    """Medians over some previews."""
    store(words)
    taken = [preview() for _ in range(ROUNDS)]
    if len({one["flips"] for one in taken}) != 1 or not taken[0]["flips"]:
        raise SystemExit(f"previews of the same runs differ, so nothing was measured: {taken}")
    found = {name: round(median(one[name] for one in taken), 2) for name in taken[0]}
    return {"runs": RUNS, "samples": CASES * SAMPLES, "load": round(os.getloadavg()[0], 1), **found}


def show(found: dict[str, Any]) -> None:
    """The figures as lines."""
    print(f"\na preview of {found['runs']} runs of {found['samples']} samples, {found['flips']:.0f} flips, "
          f"one core, load {found['load']}")  # fmt: skip
    met = "met" if found["s"] <= GOAL_S else "MISSED"
    print(f"from start to exit {found['s']} s, {found['cpu_s']} s of CPU   goal at most {GOAL_S:g} s: {met}")


if __name__ == "__main__":
    show(measure([f"{one}{two}" for one in ("log", "node", "pod", "disk", "key") for two in "abcdefghijklmnopqrst"]))
