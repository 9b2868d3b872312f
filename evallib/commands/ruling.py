"""What `lock`, `close` and `criteria` do: hold criteria while runs are compared, and say how they changed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evallib._assets import suite_path
from evallib.errors import InputError
from evallib.stdout import print_json, print_lines

if TYPE_CHECKING:
    from evallib.store import Run

__all__ = ["close", "criteria", "lock"]


def lock(given: argparse.Namespace) -> int:
    """Write a lock over the runs that are named, and print its id."""
    from evallib.locks import make_lock
    from evallib.store import append_entry, open_run, read_log

    runs = [open_run(reference, given.data) for reference in given.run]
    entry = make_lock(runs, author=given.by, reason=given.reason)
    read_log(given.adjudications)  # a log that cannot be read is told before anything is added to it
    print_lines([append_entry(given.adjudications, entry).id])
    return 0


def close(given: argparse.Namespace) -> int:
    """Write the end of a lock, and print its id."""
    from evallib.locks import make_close
    from evallib.rule import load_rule
    from evallib.store import append_entry, read_log

    rule = load_rule(given.adjudications).rule
    entry = make_close(read_log(given.adjudications), given.lock, author=given.by, reason=given.reason, rule=rule)
    print_lines([append_entry(given.adjudications, entry).id])
    return 0


def criteria(given: argparse.Namespace) -> int:
    """Print how the criteria of a suite's runs, or of the runs that are named, changed after answers were read."""
    from evallib.commands.criteria_lines import criteria_lines
    from evallib.locks import covering
    from evallib.rescoring.ledger import amendments, dated_rescorings, predictions
    from evallib.rule import load_rule
    from evallib.store import read_log

    runs = _runs_meant(given)
    log, rule = read_log(given.adjudications), load_rule(given.adjudications)
    locks = {logged.id: logged.entry for run in runs for logged in covering(run, log, rule.rule)}
    records, ledger = predictions(log), amendments(runs, log)
    found = {
        "runs": [run.id for run in runs],
        "rule": {"said": rule.said(), "packaged": rule.packaged, "digest": rule.rule.digest},
        "locks": [
            {"id": id_, **lock.model_dump(mode="json", include={"author", "reason", "runs"})}
            for id_, lock in locks.items()
        ],
        "rescorings": dated_rescorings(log, [run.id for run in runs]),
        "predictions": [one._asdict() for one in records],
        "checks": [one.as_dict() for one in ledger],
    }
    if given.json:
        print_json(found)
    else:
        print_lines(criteria_lines(found, records, ledger))
    return 0


def _runs_meant(given: argparse.Namespace) -> list[Run]:
    """The runs that are named, and of each suite that is named the stored runs, each once."""
    from evallib.store import open_run, readable_runs
    from evallib.suite import load_suite

    found: dict[str, Run] = {}
    for name in given.subject:
        if (Path(name) / "plan.json").is_file() or (given.data / "runs" / name / "plan.json").is_file():
            runs = [open_run(name, given.data)]
        else:
            suite = load_suite(suite_path(name)).suite
            runs = [run for run in readable_runs(given.data) if run.complete and run.plan["suite"] == suite]
            if not runs:
                raise InputError(
                    f"{given.data}: holds no run of suite {suite!r}; name a run, or another folder with --data"
                )
        found.update((run.id, run) for run in runs)
    return list(found.values())
