"""Record the suite `basics` with a real model, or ask some samples of the recorded run again (`--check N`).

Recording takes place in build/record, can be stopped and started again, and is put into data/runs/ once the answers
vary: at least eight cases that pass sometimes, and no case that always gives the same text.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evallib.records import Sample
from evallib.scoring import fold_all
from evallib.store import Run, open_run
from evallib.targets import TargetOptions, open_target

ROOT = Path(__file__).resolve().parent.parent
RUN_ID = "basics-smollm2"
DATA, RECORDING = ROOT / "data", ROOT / "build/record"
PORT = 18135  # always the same, because the address belongs to the target's identity, and a stopped recording goes on
SAMPLES, TEMPERATURE, MAX_TOKENS = 8, 0.8, 64


def main() -> int:
    """Record, or check; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=int, metavar="N", help="ask N stored samples again and compare the texts")
    parser.add_argument("--seed", type=int, default=0, help="seed of the recorded run (default 0)")
    options = parser.parse_args()
    return record(options.seed) if options.check is None else check(options.check)


def record(seed: int) -> int:
    """Run `basics` through the chat target and put the run in its place."""
    place = DATA / "runs" / RUN_ID
    if place.exists():
        print(f"{place.relative_to(ROOT)} exists; a recorded run is never replaced. Move it away to record another")
        return 2
    with serve_model() as served:
        status = subprocess.run(_command(served, seed), check=False).returncode
    if status:
        return status
    recorded = RECORDING / "runs" / RUN_ID
    run = Run(recorded)
    sometimes, repeated = variability(run)
    print(
        f"{len(sometimes)} of {len(run.plan['cases'])} cases pass sometimes; always the same text: {repeated or 'none'}"
    )
    if len(sometimes) < 8 or repeated:
        print(f"not what a recorded run is for; it stays in {recorded.relative_to(ROOT)}: change the suite or the seed")
        return 1
    shutil.copytree(recorded, place)
    print(f"recorded in {place.relative_to(ROOT)}")
    return 0


def _command(served: dict[str, Any], seed: int) -> list[str]:
    labels = [f"{key}={served[key]}" for key in ("weights_sha256", "weights", "engine")]
    command = [sys.executable, "-m", "evallib.cli", "run", str(DATA / "suites/basics")]
    command += ["--target", f"chat:{served['url']}#{served['model']}", "--samples", str(SAMPLES), "--jobs", "1"]
    command += ["--temperature", str(TEMPERATURE), "--max-tokens", str(MAX_TOKENS), "--seed", str(seed)]
    command += [
        "--run-id",
        RUN_ID,
        "--data",
        str(RECORDING),
        *(word for label in labels for word in ("--label", label)),
    ]
    return [*command, "--resume"] if (RECORDING / "runs" / RUN_ID).exists() else command


def variability(run: Run) -> tuple[list[str], list[str]]:
    """The cases that pass in some samples but not in all, and the cases whose answers are all the same text."""
    passes: dict[str, list[bool]] = defaultdict(list)
    texts: dict[str, list[str]] = defaultdict(list)
    outcomes = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    for sample in run.samples:
        passes[sample.case_id].append(bool(outcomes[sample.key].passed))
        texts[sample.case_id].append(sample.answer)
    sometimes = [case for case, passed in passes.items() if any(passed) and not all(passed)]
    return sometimes, [case for case, answers in texts.items() if len(set(answers)) == 1]


def check(count: int) -> int:
    """Ask `count` stored samples again, spread over the run, and compare the texts byte by byte."""
    run = open_run(RUN_ID, DATA)
    stored = run.samples[:: max(1, len(run.samples) // max(1, count))][:count]
    with serve_model() as served:
        if served["weights_sha256"] != run.plan["labels"]["weights_sha256"]:
            print("the weights are not the recorded ones; nothing can be compared")
            return 1
        different = [sample for sample in stored if _ask_again(run, sample, served) != sample.answer]
    for sample in different:
        print(f"differs: case {sample.case_id}, sample {sample.sample}, seed {sample.seed}")
    print(f"{len(stored) - len(different)} of {len(stored)} answers are equal, byte by byte")
    return _explain(run) if different else 0


def _ask_again(run: Run, sample: Sample, served: dict[str, Any]) -> str:
    said = run.plan["target"]["parameters"]
    options = TargetOptions(
        temperature=said["temperature"], max_tokens=said["max_tokens"], deadlines=run.suite.deadlines
    )
    address = f"chat:{served['url']}#{served['model']}"
    with open_target(address, run.suite, DATA / "suites/basics", options) as target:
        steps = run.suite.by_id[sample.case_id].steps
        return target.run(steps, seed=sample.seed or 0, deadlines=run.suite.deadlines).answer


def _explain(run: Run) -> int:
    """Why texts may differ here: another processor or engine is an explanation, the same one is not."""
    here = {"cpu": _cpu(), "engine": _engine()}
    then = {"cpu": run.plan["host"]["cpu"], "engine": run.plan["labels"]["engine"]}
    changed = [name for name in here if here[name] != then[name]]
    for name in changed:
        print(
            f"the {name} is {here[name]!r}, recorded with {then[name]!r}: rounding differs, and with it sampled words"
        )
    return 0 if changed else 1


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def _engine() -> str:
    from importlib.metadata import version

    return f"xllamacpp {version('xllamacpp')}"


@contextlib.contextmanager
def serve_model() -> Iterator[dict[str, Any]]:
    """The model's server while the block runs: what it said about itself."""
    script = Path(__file__).with_name("serve_model.py")
    command = [sys.executable, str(script), "--port", str(PORT)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise SystemExit(_no_server(process.wait()))
            yield json.loads(line)
        finally:
            process.stdin.close()


def _no_server(status: int) -> str:
    if status == -4:  # SIGILL
        return f"this processor ({_cpu()}, {os.uname().machine}) lacks instructions that the engine was built for"
    return f"the model's server did not start (exit status {status}); is port {PORT} taken, or a package missing?"


if __name__ == "__main__":
    sys.exit(main())
