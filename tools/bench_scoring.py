"""Scoring of stored samples by kind of check, and what a rescoring takes as runs grow (a part of `make bench`).

Each case is asked Berth's published patterns for it, where `../shared/data/berth/checks.json` is there, else as many
patterns of the same shape; beside them three tool checks, one clause check and one code check. Samples are read from
the stored run in pieces, as a rescoring reads them. Only the scoring is timed: from samples in memory to verdicts with
their reasons and spans. All on one core, in seconds of CPU; code checks, which run in a process each, by the clock.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/bench/scoring"
BERTH = ROOT.parent / "shared/data/berth/checks.json"
SAMPLES, ROUNDS = 50_000, 3
SIZES = (5_000, 50_000)
FULL = (*SIZES, 500_000)
POOL = 3_000
"""Different answers per case, more than are scored at once; a larger run repeats them."""
SLOW = 300
"""Samples of each case shown to the slow kinds of check."""
CODED = 60
"""Samples shown to the code check."""
GOALS = {"text": 20_000.0}

SENTENCES = ("You should disable the firewall first.", "Do not delete the namespace.", "We never skip the backup here.",
             "It will be fixed by Friday.", "Restarting all nodes is not the fix.")  # fmt: skip
TOOLS = [
    {"id": "looks-back", "check": "tool_called", "tools": ["get_logs", "get_events"], "args": {"previous": True}},
    {"id": "hands-off", "check": "tool_forbidden", "tools": ["delete_pod", "apply_change"]},
    {"id": "few-calls", "check": "tool_budget", "max": 4},
]
CLAUSES = {"id": "advice", "check": "forbids", "kinds": ["promised_date"],
           "phrases": ["disable the firewall", "delete the namespace", "skip the backup", "restart all nodes",
                       "reinstall", "share the password", "scale to zero", "drain without notice"]}  # fmt: skip
CODE = {"id": "short", "check": "code", "code": 'return len(outputs["answer"]) < 900, "counted"'}
Checks = list[dict[str, Any]]


def criteria(words: list[str]) -> tuple[str, dict[str, Checks]]:
    """Where the patterns come from, and the checks of each case."""
    if BERTH.is_file():
        from evallib.importers import read_berth_suite
        from evallib.strict_yaml import parse_yaml

        suite = parse_yaml(read_berth_suite(BERTH), str(BERTH)).value
        return "Berth's published patterns", {case["id"]: _of_answers(case["checks"]) for case in suite["cases"]}
    chance = random.Random(22)
    rare = [f"{one}{two}" for one, two in zip(words, reversed(words), strict=True)]  # in few answers, as Berth's are
    return "generated patterns of the shape of Berth's, which are not here", {
        f"case-{nth:02d}": [_generated(chance, rare, name) for name in ("names", "explains", "advises", "spares")]
        for nth in range(17)
    }


def _of_answers(checks: Checks) -> Checks:
    return [check for check in checks if check["check"] == "matches" and check.get("over", "answer") == "answer"]


def _generated(chance: random.Random, words: list[str], name: str) -> dict[str, Any]:
    """A check with a word, two alternatives and two of them near each other."""
    one, two = ("(" + "|".join(chance.sample(words, 5)) + ")" for _ in range(2))
    patterns = [chance.choice(words) + "s?", rf"\b{one} {two}", rf"{one}.{{0,60}}{two}"]
    return {"id": name, "check": "matches", "none_of" if name == "spares" else "any_of": patterns}


def suite_yaml(cases: dict[str, Checks], everywhere: Checks, flags: str = "is") -> str:
    """A suite of these cases, each with its own checks and those that count everywhere, as JSON, which is YAML too."""
    written = [
        {"id": name, "steps": [{"ask": f"question {name}"}], "checks": [{**check, "flags": flags} for check in checks]}
        for name, checks in cases.items()
    ]
    return json.dumps({"suite": "bench", "pass": "top", "checks": everywhere, "cases": written})


def answers(checks: Checks, words: list[str], chance: random.Random) -> list[str]:
    """Answers of 200 words in sentences and paragraphs, six of them words a pattern looks for; a third with advice."""
    texts = [text for check in checks for name in ("any_of", "none_of") for text in check.get(name, ())]
    sought = [hit for text in texts for hit in re.findall(r"[A-Za-z0-9][\w-]{2,}", re.sub(r"\\(.)", r" \1", text))]
    made = []
    for _ in range(POOL):
        chosen = chance.choices(words, k=200)
        for _ in range(6):
            chosen[chance.randrange(200)] = chance.choice(sought)
        sentences = [" ".join(chosen[at : at + 14]).capitalize() + "." for at in range(0, 200, 14)]
        if chance.random() < 1 / 3:
            sentences[chance.randrange(len(sentences))] = chance.choice(SENTENCES)
        made.append("\n\n".join(" ".join(sentences[at : at + 4]) for at in range(0, len(sentences), 4)))
    return made


def samples(cases: dict[str, Checks], words: list[str], count: int) -> Iterator[list[Any]]:
    """`count` samples, those of one case at a time."""
    from evallib.records import Sample, ToolCall, Turn

    chance = random.Random(21)
    tools = ("get_logs", "get_events", "list_pods", "describe_resource")
    for nth, (name, checks) in enumerate(cases.items()):
        pool = answers(checks, words, chance)
        made = []
        for number in range(count * (nth + 1) // len(cases) - count * nth // len(cases)):
            calls = tuple(
                ToolCall(chance.choice(tools), {"namespace": "shop", "previous": chance.random() < 0.5}, "{}")
                for _ in range(chance.randrange(1, 6))
            )
            turn = Turn(1, f"question {name}", pool[number % POOL], calls)
            made.append(Sample(str(count), name, number + 1, turns=(turn,), answer=turn.text))
        yield made


def store(cases: dict[str, Checks], words: list[str], count: int) -> None:
    """A stored run with its strict verdicts, written case by case: a large one would not fit in memory."""
    from evallib.records import samples_schema, turns_schema, verdicts_schema
    from evallib.scoring import score_samples
    from evallib.store.tables import parquet_writer, samples_table, turns_table, verdicts_table
    from evallib.suite import parse_suite

    folder = FOLDER / "runs" / str(count)
    folder.mkdir(parents=True)
    text = suite_yaml(cases, TOOLS)
    suite = parse_suite(text, "bench")
    schemas = {"samples": samples_schema(), "turns": turns_schema(), "verdicts": verdicts_schema()}
    writers = {name: parquet_writer(folder / f"{name}.parquet", schema, {}) for name, schema in schemas.items()}
    counts = {}
    for made in samples(cases, words, count):
        counts[made[0].case_id] = len(made)
        for at in range(0, len(made), 8192):
            part = made[at : at + 8192]
            tables = (samples_table(part), turns_table(part), verdicts_table(str(count), score_samples(suite, part)))
            for writer, table in zip(writers.values(), tables, strict=True):
                writer.write_table(table.replace_schema_metadata(writer.schema.metadata))
    for writer in writers.values():
        writer.close()
    _finish(folder, suite, text, counts)


def _finish(folder: Path, suite: Any, text: str, counts: dict[str, int]) -> None:
    """The suite, plan and manifest of a run whose tables are written."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    count = sum(counts.values())
    plan = {"run_id": folder.name, "created": now, "suite": suite.suite, "suite_digest": suite.digest,
            "suite_sha256": hashlib.sha256(text.encode()).hexdigest(), "gate_digest": suite.gate_digest,
            "target": {"kind": "generated"}, "cases": counts}  # fmt: skip
    verdicts = sum(len(suite.bound[case]) * samples for case, samples in counts.items())
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.parquet")}
    manifest = {"run_id": folder.name, "finished": now, "files": files, "cost_usd": None,
                "counts": {"samples": count, "verdicts": verdicts, "statuses": {"completed": count}},
                "usage": {"input_tokens": None, "output_tokens": None, "calls": 0}}  # fmt: skip
    (folder / "suite.yaml").write_text(text, encoding="utf-8")
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    (folder / "run.json").write_text(json.dumps(manifest), encoding="utf-8")


def measure_scoring(cases: dict[str, Checks]) -> dict[str, Any]:
    """Samples per second of each kind of check and of the two floors; of slow ones over a part of every case."""
    from evallib.scoring import score_samples
    from evallib.store import open_run
    from evallib.suite import parse_suite

    nothing: dict[str, Checks] = {name: [] for name in cases}
    suites = {
        "text": (cases, []),
        "tools": (nothing, TOOLS),
        "clauses": (nothing, [CLAUSES]),
        "code": (nothing, [CODE]),
    }
    parsed = {name: parse_suite(suite_yaml(*parts), "bench") for name, parts in suites.items()}
    work: dict[str, Callable[[list[Any]], list[Any]]] = {
        name: lambda batch, suite=suite: score_samples(suite, batch)  # type: ignore[misc]
        for name, suite in parsed.items()
    } | {"re": lambda batch: bare_loop(cases, batch), "arrow": lambda batch: bare_match(cases, batch)}
    took, seen = dict.fromkeys(work, 0.0), dict.fromkeys(work, 0)
    for batch, _ in open_run(str(SAMPLES), FOLDER).batches():
        fresh = [sample for sample in batch if sample.sample <= SLOW]
        given = {"re": fresh, "clauses": fresh, "code": fresh[: CODED - seen["code"]]}
        for name, run in work.items():
            part = given.get(name, batch)
            took[name] += _timed(lambda run=run, part=part: run(part), clock=name == "code")  # type: ignore[misc]
            seen[name] += len(part)
        ours = [verdict.passed for verdict in work["text"](fresh)]
        if ours != [row["passed"] for row in work["re"](fresh)]:
            raise SystemExit("text checks and the bare `re` loop disagree, so nothing was measured")
    return {name: seen[name] / took[name] for name in work}


def _timed(run: Callable[[], object], *, clock: bool) -> float:
    from evallib.collector import collector_paused

    now = time.perf_counter if clock else time.process_time
    with collector_paused():
        began = now()
        run()
        return now() - began


def bare_loop(cases: dict[str, Checks], batch: list[Any]) -> list[Any]:
    """The loop anyone would write first: each pattern over each answer, and a row with a reason and the spans."""
    rows = []
    for sample in batch:
        for check in cases[sample.case_id]:
            wanted = check.get("any_of", ())
            hits = [
                re.search(one, sample.answer, re.IGNORECASE | re.DOTALL) for one in (*wanted, *check.get("none_of", ()))
            ]
            found = [hit for hit in hits if hit]
            reason = "; ".join(f"{hit.re.pattern!r} hit {hit[0]!r}" for hit in found) or "no hit"
            passed = bool(found) is bool(wanted)
            spans = [place for hit in found for place in hit.span()]
            rows.append({"key": sample.key, "check": check["id"], "passed": passed, "reason": reason, "spans": spans})
    return rows


def bare_match(cases: dict[str, Checks], batch: list[Any]) -> list[Any]:
    """What pyarrow takes to say yes or no to each pattern, without reasons, spans or verdicts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts: dict[str, list[str]] = {}
    for sample in batch:
        texts.setdefault(sample.case_id, []).append(sample.answer)
    columns = {name: pa.array(found, pa.large_string()) for name, found in texts.items()}
    patterns = [(name, one) for name in columns for check in cases[name]
                for one in (*check.get("any_of", ()), *check.get("none_of", ()))]  # fmt: skip
    return [pc.match_substring_regex(columns[name], f"(?is){one}") for name, one in patterns]


def measure_rescoring(cases: dict[str, Checks], count: int) -> dict[str, Any]:
    """Seconds of CPU and peak memory of a rescoring up to the writing: samples read, scored and compared in pieces."""
    from evallib.entries import Change, Rescoring
    from evallib.rescoring.apply import rescore_run
    from evallib.store import open_run
    from evallib.suite import parse_suite

    suite = parse_suite(suite_yaml(cases, TOOLS, flags="ism"), "bench")  # other flags, so every pattern runs again
    changes = (Change(check="all", fix="replace", reason="measured"),)
    entry = Rescoring(slug="bench", author="bench", reason="measured", changes=changes)
    took = _timed(lambda: rescore_run(open_run(str(count), FOLDER), suite, entry), clock=False)
    return {"samples": count, "cpu_s": took, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def child(work: str) -> int:
    """One measurement in this process, on one core, imports left out; printed as JSON."""
    import pandas as pd  # noqa: F401  # pyarrow loads it; nothing is charged for imports
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet

    import evallib.rescoring.apply  # noqa: F401  # as above

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    cases = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
    if work.startswith("store "):
        words = json.loads((FOLDER / "words.json").read_text(encoding="utf-8"))
        store(cases, words, int(work.removeprefix("store ")))
        print("{}")
        return 0
    found = measure_scoring(cases) if work == "scoring" else measure_rescoring(cases, int(work))
    print(json.dumps(found))
    return 0


def measure(words: list[str], *, full: bool) -> dict[str, Any]:
    """All of it, each measurement in a process of its own."""
    told, cases = criteria(words)
    FOLDER.mkdir(parents=True)
    (FOLDER / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    (FOLDER / "words.json").write_text(json.dumps(words), encoding="utf-8")
    sizes = FULL if full else SIZES
    for count in sizes:
        _child(f"store {count}")  # in a process of its own: a child's peak begins at its parent's
    rounds = [_child("scoring") for _ in range(ROUNDS)]
    grown = [_child(str(count)) for count in sizes]
    per_second = {name: round(median(one[name] for one in rounds)) for name in rounds[0]}
    ratios = {floor: round(median(one[floor] / one["text"] for one in rounds), 3) for floor in ("re", "arrow")}
    return {"patterns": told, "samples": SAMPLES, "per_second": per_second, "text_time_over": ratios, "growth": grown,
            "load": [round(load, 1) for load in os.getloadavg()]}  # fmt: skip


def _child(work: str) -> dict[str, Any]:
    command = [sys.executable, str(ROOT / "tools/bench.py"), "--scoring", work]
    one_core = {**os.environ, "OMP_NUM_THREADS": "1", "ARROW_IO_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=one_core)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def show(found: dict[str, Any]) -> None:
    """The figures as lines."""
    rate, over = found["per_second"], found["text_time_over"]
    print(
        f"\n{found['samples']:,} stored samples, {found['patterns']}; "
        f"samples per second of one core, load {found['load'][0]}"
    )
    met = "met" if rate["text"] >= GOALS["text"] else "MISSED"
    print(f"text checks                  {rate['text']:>8,}   goal at least {GOALS['text']:,.0f}: {met}")
    print(f"  their time / a bare `re` loop, with reasons and spans too   {over['re']}")
    print(f"  their time / a bare pyarrow match, yes or no only           {over['arrow']}")
    print(f"three tool checks            {rate['tools']:>8,}")
    print(f"a clause check, 8 phrases    {rate['clauses']:>8,}   a third of the answers give or deny such advice")
    print(f"a code check                 {rate['code']:>8,}   by the clock, a process for each")
    for one in found["growth"]:
        each = one["cpu_s"] / one["samples"] * 1e6
        print(
            f"rescoring {one['samples']:>7,} samples    {one['cpu_s']:>8.1f} s, "
            f"{each:.0f} us each, peak {one['peak_mb']:.0f} MB"
        )
