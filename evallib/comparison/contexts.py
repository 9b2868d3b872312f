"""What else differs between two runs than the answers: target, judge, seed, build, machine, repeats; and copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.locks import lock_words
from evallib.metrics.planned import plan
from evallib.metrics.repeats import repeats, repeats_sentence
from evallib.provenance import build
from evallib.records import canonical_json
from evallib.rule import load_rule
from evallib.stdout import counted
from evallib.store import Run, read_log

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Difference",
    "copied_answers",
    "differences",
    "locked_words",
    "repeated_answers",
    "stale_build",
    "unequal_for_cost",
]

_ASKED = ("target", "judge", "judges", "seed", "samples", "split", "build", "host", "versions", "labels", "deadlines",
          "imported")  # fmt: skip
_COSTS = (
    "target.kind",
    "target.url",
    "target.model",
    "target.parameters",
    "judge",
    "judges",
    "samples per case",
    "shared",
)
"""What must be the same before tokens and cost are held against each other: a prompt or a build is what is compared."""
_UNKNOWN = "not recorded"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same in both runs, in words."""

    what: str
    a: str
    b: str

    def as_json(self) -> dict[str, str]:
        """The row as `evallib compare --json` prints it."""
        return {"what": self.what, "a": self.a, "b": self.b}


def differences(a: Run, b: Run, shared: Sequence[str]) -> list[Difference]:
    """Everything that the two plans say differently, leaf by leaf, and how often the shared cases were planned."""
    first, second = (
        {name: said for part in _ASKED for name, said in _leaves(part, run.plan.get(part))} for run in (a, b)
    )
    found = []
    for name in sorted({*first, *second}, key=lambda one: (_ASKED.index(one.split(".")[0]), one)):
        left, right = first.get(name, _UNKNOWN), second.get(name, _UNKNOWN)
        if left != right:
            found.append(Difference(name, left, right))
    counts = [_counts(run, shared) for run in (a, b)]
    if counts[0] != counts[1]:
        found.append(Difference("samples per case", *counts))
    only = [len(run.plan["cases"]) - len(shared) for run in (a, b)]
    if any(only):
        found.append(Difference("cases of its own", *map(str, only)))
    return found


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}", inner)
    elif value is not None:
        yield name, value if isinstance(value, str) else canonical_json(value)


def _counts(run: Run, shared: Sequence[str]) -> str:
    counts = sorted({run.plan["cases"][case] for case in shared})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def unequal_for_cost(found: Sequence[Difference]) -> list[str]:
    """Names of the differences that tokens and cost follow from whatever the agent does."""
    return [one.what for one in found if any(one.what == name or one.what.startswith(f"{name}.") for name in _COSTS)]


def stale_build(run: Run) -> str:
    """Which other code made the run than what is checked out here; empty where it is the same, or nobody can tell."""
    made, here = run.plan.get("build") or {}, build()
    if not made.get("revision") or not here:
        return ""
    changed = " with uncommitted changes" if made.get("dirty") else ""
    if made["revision"] != here["revision"]:
        return f"run {run.id} was made by revision {made['revision'][:12]}{changed}; here is {here['revision'][:12]}"
    if bool(made.get("dirty")) != here["dirty"]:
        return f"run {run.id} was made by this revision{changed or ', and here are uncommitted changes'}"
    return ""


def locked_words(a: Run, b: Run, log: Path) -> str:
    """Whether these runs' criteria are locked, said once where it is the same of both."""
    entries, rule = read_log(log), load_rule(log).rule
    first, second = (lock_words(run, entries, rule) for run in (a, b))
    return f"A and B {first}" if first == second else f"A {first}; B {second}"


def repeated_answers(run: str, outcomes: pd.DataFrame) -> str:
    """What is to be said of repeats of a run that are none; empty where every case's samples differ."""
    said = repeats_sentence(repeats(plan(outcomes)))
    return f"run {run}: {said}" if said else ""


def copied_answers(a: pd.DataFrame, b: pd.DataFrame) -> str:
    """How many samples of B put out the very same as those of A; empty where fewer than half did."""
    key = ["case_id", "sample"]
    both = a[[*key, "trajectory"]].merge(b[[*key, "trajectory"]], on=key, suffixes=("", "_b"))
    same = int(((both["trajectory"] == both["trajectory_b"]) & (both["trajectory"] != "")).sum())
    if not same or 2 * same < len(both):
        return ""
    return f"{same} of {counted(len(both), 'shared sample')} put out the very same in both runs"
