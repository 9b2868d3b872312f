"""A run and readers for the tests of agreement and audit: entries with times of their own, in a plain list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evallib.adjudication import make_reading
from evallib.entries import Entry
from evallib.store import LoggedEntry, Run
from tests.making import stored_run

EVERY = "every strict failure"


class Log(list[LoggedEntry]):
    """A log that is written to as the tests go: entry after entry, a second apart."""

    def add(self, entry: Entry) -> LoggedEntry:
        """The entry, stamped, at the end of the log."""
        number = len(self)
        time = f"2026-11-30T{10 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}+00:00"
        logged = LoggedEntry(f"e{number:05}", entry.model_copy(update={"time": time}))
        self.append(logged)
        return logged

    def read(self, run: Run, key: tuple[str, int], reading: str, author: str = "Ann", **more: Any) -> LoggedEntry:
        """A reading of an answer, blind unless said otherwise."""
        if reading == "unsure":
            more.setdefault("cause", "cannot-judge")
        return self.add(make_reading(run, *key, **{"reading": reading, "author": author, "blind": True, **more}))


def mixed_run(data: Path, passes: int = 12, fails: int = 4, run_id: str = "r-1") -> Run:
    """Two cases with as many samples each; `passes` of all pass the strict view, in turns."""
    words = ["four five"] * passes + ["six"] * fails
    return stored_run(data, {"c-1": words[::2], "c-2": words[1::2]}, run_id=run_id)


def keys(run: Run, answer: str) -> list[tuple[str, int]]:
    """The samples with that answer, in stored order."""
    return [sample.key for sample in run.samples if sample.answer == answer]


def strict_passes(run: Run) -> list[tuple[str, int]]:
    """The samples of `mixed_run` that pass the strict view."""
    return keys(run, "four five")


def strict_fails(run: Run) -> list[tuple[str, int]]:
    """The samples of `mixed_run` that fail the strict view."""
    return keys(run, "six")


def random_pass(drawn: int, of: int, seed: int = 5) -> str:
    """How the log says that an item is a random strict pass."""
    return f"random strict pass ({drawn} of {of}, seed {seed})"
