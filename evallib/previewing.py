"""The command `rescore --preview`: what changed criteria would do, or the unread flips as a reading plan."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evallib.stdout import print_json, print_lines

if TYPE_CHECKING:
    from evallib.judging import Jury
    from evallib.rescoring.impact import Impact
    from evallib.store import Run

__all__ = ["preview"]

Arguments = argparse.Namespace


def preview(given: Arguments, runs: Sequence[Run], jury: Jury | None) -> int:
    """Show the impact on `runs`, or on every run of the suite where none is named; or write the queue."""
    from evallib.preview_lines import preview_lines
    from evallib.rescoring.impact import preview as look

    impact = look(
        runs or given.data, given.suite, given.entry, given.adjudications, trust_code=given.trust_code, jury=jury
    )
    if given.queue:
        return _queue(given, impact)
    if given.json:
        print_json(impact.as_dict())
    else:
        print_lines(preview_lines(impact))
    return 0


def _queue(given: Arguments, impact: Impact) -> int:
    """Write the plan; what flips is not shown, for whoever sees it is to read blind."""
    from evallib.desk.flips import queue_flips
    from evallib.preview_lines import queue_lines
    from evallib.store import append_entry, read_log

    queue = queue_flips(impact, read_log(given.adjudications), author=given.by)
    id_ = append_entry(given.adjudications, queue.plan).id
    if given.json:
        print_json({"plan": id_, "runs": list(queue.plan.runs), "flips": queue.flips, "controls": queue.controls})
    else:
        print_lines(queue_lines(id_, queue))
    return 0
