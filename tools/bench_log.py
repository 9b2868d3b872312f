"""Reading a log of 10,000 entries (a part of `make bench`; alone: `python tools/bench_log.py`).

5,000 readings and their differences, a file each, in the bytes that the tool writes. Each start is a process of its
own, imports left out: cold, the files put out of the page cache before, and warm. By the clock and in seconds of CPU.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/bench/log"
ENTRIES, ROUNDS, GOAL_S = 10_000, 3, 2.0
SAID = (
    "says it in other words: 'never do this'; the pattern only knows \"do not\"",
    "the command stands in a quotation that the answer warns of, three lines before the advice that it really gives",
    "names the log file\nand the line in it",
)


def store() -> None:
    """The log, written without waiting for the disk."""
    from evallib.entries import Difference, Reading
    from evallib.store.log import entry_bytes, log_path

    def put(entry: Any) -> str:
        content = entry_bytes(entry)
        path = log_path(FOLDER, entry, content)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path.stem

    shutil.rmtree(FOLDER, ignore_errors=True)
    for number in range(ENTRIES // 2):
        at = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(minutes=90 * number)
        stamps = [(at + timedelta(seconds=s)).isoformat(timespec="microseconds") for s in (0, 7)]
        item = {"run": f"r-{number % 7}", "case": f"c-{number % 500:03d}", "sample": number % 9 + 1}
        author, word = ("Ann", "Bo")[number % 2], ("pass", "fail")[number % 2]
        reading = Reading(author=author, time=stamps[0], **item, reading=word, blind=True,
                          strict="fail: names a command; looked for 'kubectl delete', found it at 140",
                          answer_digest=f"{number:016x}", criteria_digest=f"{number * 7:016x}", rubric_digest="a1" * 8,
                          chosen="random strict pass (12 of 190, seed 7)", seconds=4 + number / 100)  # fmt: skip
        put(Difference(author=author, time=stamps[1], **item, about=put(reading), cause="paraphrase",
                       reason=f"{number}: {SAID[number % len(SAID)]}"))  # fmt: skip


def forget() -> None:
    """Put the files out of the page cache."""
    os.sync()
    for path in FOLDER.rglob("*.yaml"):
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def child() -> int:
    """One reading in this process, printed as JSON."""
    from evallib.store import read_log

    began, cpu = time.perf_counter(), time.process_time()
    count = len(read_log(FOLDER))
    print(json.dumps({"entries": count, "s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}))
    return 0


def measure() -> dict[str, Any]:
    """Medians of a cold and of a warm start."""
    store()
    found: dict[str, Any] = {"entries": ENTRIES, "load": round(os.getloadavg()[0], 1)}
    taken: dict[str, list[dict[str, float]]] = {"cold": [], "warm": []}
    command = [sys.executable, __file__, "--child"]
    for _ in range(ROUNDS):
        for start, rounds in taken.items():
            if start == "cold":
                forget()
            rounds.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    for start, rounds in taken.items():
        if {one["entries"] for one in rounds} != {ENTRIES}:
            raise SystemExit(f"entries are missing, so nothing was measured: {rounds}")
        found[start] = {key: round(median(one[key] for one in rounds), 2) for key in ("s", "cpu_s")}
    return found


def show(found: dict[str, Any]) -> None:
    """The figures as lines."""
    print(f"\na log of {found['entries']:,} entries read, load {found['load']}")
    for start, took in ((name, found[name]) for name in ("cold", "warm")):
        met = "met" if took["s"] <= GOAL_S else "MISSED"
        print(f"{start:<6} {took['s']:>8} s, {took['cpu_s']} s of CPU   goal at most {GOAL_S:g} s: {met}")


if __name__ == "__main__":
    sys.exit(child() if "--child" in sys.argv else show(measure()))
