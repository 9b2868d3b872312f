"""The command `rescore`: changed criteria applied, what they would do, or the flips nobody read as a reading plan."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from evallib.collector import collector_paused
from evallib.errors import InputError
from evallib.stdout import print_json, print_lines, visible

if TYPE_CHECKING:
    from evallib.judging import Jury
    from evallib.rescoring.apply import Rescored
    from evallib.rescoring.impact import Impact
    from evallib.store import LoggedEntry, Run

__all__ = ["rescore"]

Arguments = argparse.Namespace


def rescore(given: Arguments) -> int:
    """Apply changed criteria to stored runs, or show what they would do."""
    from evallib.panel import jury_for
    from evallib.printing import rescored_lines
    from evallib.rescoring.apply import rescore as apply
    from evallib.rescoring.rules import Acceptance
    from evallib.store import read_log

    _refuse_half_a_rescoring(given)
    runs = _open_runs(given)
    acceptance = None if given.override is None else Acceptance(given.override, given.by)
    asking = jury_for(given.judge, given.suite, given.data, jobs=given.judge_jobs, tell=_tell) if given.judge else None
    with asking or nullcontext() as jury:
        if given.preview:
            return _preview(given, runs, jury)
        rescored = apply(
            runs, given.suite, given.entry, given.adjudications,
            trust_code=given.trust_code, jury=jury, acceptance=acceptance,
        )  # fmt: skip
    if given.json:
        print_json(rescored.as_dict())
    else:
        print_lines(rescored_lines(rescored.as_dict()))
        print_lines(["", *_record(rescored, read_log(given.adjudications))])
    return 0


def _tell(line: str) -> None:
    print(f"evallib: {visible(line)}", file=sys.stderr)


def _refuse_half_a_rescoring(given: Arguments) -> None:
    if given.queue and not (given.preview and given.by.strip()):
        raise InputError("--queue writes a reading plan of a preview's unread flips: give --preview and --by NAME")
    if given.by and not given.queue and given.override is None:
        raise InputError(
            "--by says who accepts unread flips, with --override REASON, or who asks for their --queue; who changes "
            "criteria stands in the entry"
        )
    if given.preview and given.override is not None:
        raise InputError("a preview accepts nothing; leave --override out")
    if not given.preview and not given.run:
        raise InputError("name the runs to rescore; only a preview (--preview) looks at every run of the suite")
    if not given.preview and given.entry is None:
        raise InputError("a rescoring needs --entry FILE: author, fix, reason and the flips you expect; or --preview")


def _open_runs(given: Arguments) -> list[Run]:
    from evallib.store import open_run, refuse_repeated

    runs = [open_run(reference, given.data) for reference in given.run]
    refuse_repeated(runs)
    return runs


def _record(rescored: Rescored, log: Sequence[LoggedEntry]) -> list[str]:
    """How its author's predictions came out so far, and how often each check it changes was amended."""
    from evallib.commands.criteria_lines import record_lines
    from evallib.rescoring.ledger import amendments, predictions

    changed = {change.check for change in rescored.entry.changes}
    ledger = amendments([one.run for one in rescored.runs], log)
    records = [one for one in predictions(log) if one.author == rescored.entry.author]
    return record_lines(records, [one for one in ledger if one.check in changed])


@collector_paused()
def _preview(given: Arguments, runs: Sequence[Run], jury: Jury | None) -> int:
    """Show the impact on `runs`, or on every run of the suite where none is named; or write the queue."""
    from evallib.commands.preview_lines import preview_lines
    from evallib.rescoring.impact import preview as look

    where = runs or given.data, given.suite, given.entry, given.adjudications
    impact = look(*where, trust_code=given.trust_code, jury=jury, shown=not given.queue)
    if given.queue:
        return _queue(given, impact)
    if given.json:
        print_json(impact.as_dict())
    else:
        print_lines(preview_lines(impact))
    return 0


def _queue(given: Arguments, impact: Impact) -> int:
    """Write the plan; what flips is not shown, for whoever sees it is to read blind."""
    from evallib.commands.preview_lines import queue_lines
    from evallib.desk.flips import queue_flips
    from evallib.store import append_entry, read_log

    queue = queue_flips(impact, read_log(given.adjudications), author=given.by)
    id_ = append_entry(given.adjudications, queue.plan).id
    if given.json:
        print_json({"plan": id_, "runs": list(queue.plan.runs), "flips": queue.flips, "controls": queue.controls})
    else:
        print_lines(queue_lines(id_, queue))
    return 0
