"""The changelog of criteria: per check what was changed, when, by whom, why, and what flipped; as plain Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evallib.entries import Change, Rescoring
from evallib.records import POST_HOC_LABEL, whole_seconds
from evallib.rescoring.changes import UNPUBLISHED
from evallib.rescoring.entry import rescoring_label
from evallib.stdout import counted
from evallib.store import LoggedEntry, Run, standing_rescorings
from evallib.store.log import view_name

__all__ = ["criteria_changelog", "quiet"]

_MARKUP = re.compile(r"([\\`*_\[\]<>&#|!~])")


def quiet(text: str) -> str:
    """A text that somebody wrote, on one line, with all that Markdown or HTML could act on spelled out."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split())).replace("<", "&lt;").replace("\\&lt;", "&lt;")


def criteria_changelog(
    runs: Sequence[Run], entries: Sequence[LoggedEntry], held_against: Mapping[str, Sequence[str]]
) -> str:
    """Every change of a criterion that the runs' figures know of: by check, the oldest first.

    `held_against` is entry id to what is to be held against that rescoring, as `caveats` words it.
    """
    ids = {run.id for run in runs}
    made = [(id_, e) for id_, e in entries if isinstance(e, Rescoring) and any(row["run"] in ids for row in e.runs)]
    checks = dict.fromkeys(change.check for _, entry in made for change in entry.changes)
    lines = ["# Changelog of criteria", "", *_before(runs), *_unpublished(runs, entries)]
    for check in sorted(checks):
        lines += [f"## {quiet(check)}", ""]
        for id_, entry in made:
            lines += [line for change in entry.changes if change.check == check for line in _told(change, entry, id_)]
        lines.append("")
    if not checks:
        lines += ["No criterion was changed after an answer was read.", ""]
    lines += ["## Rescorings", "", *(line for id_, entry in made for line in _rescoring(id_, entry, held_against))]
    return "\n".join([*lines, ""])


def _before(runs: Sequence[Run]) -> Iterator[str]:
    """What suites say of themselves: changes before any answer was read."""
    said = {(run.suite.suite, one.date, one.note) for run in runs for one in run.suite.changelog}
    if said:
        yield from ("Before any answer was read:", "")
        yield from (f"- {quiet(date)} · {quiet(suite)}: {quiet(note)}" for suite, date, note in sorted(said))
        yield ""


def _unpublished(runs: Sequence[Run], entries: Sequence[LoggedEntry]) -> Iterator[str]:
    """Of which runs nobody can say what the criteria were that are changed here, and which checks may be weaker."""
    recorded = [run for run in runs if run.suite.recorded]
    if recorded:
        names = ", ".join(f"`{run.id}`" for run in recorded)
        yield f"The recorded verdicts of {names} came from criteria that {UNPUBLISHED}."
        yield from _never_failed(recorded, entries)
        yield ""


def _never_failed(recorded: Sequence[Run], entries: Sequence[LoggedEntry]) -> Iterator[str]:
    computed, failed = set(), set()
    for run in recorded:
        rescored = [v for one in standing_rescorings(run, entries) for v in one.verdicts(run.id)]
        computed |= {(v.case_id, v.check_id) for v in rescored if v.origin == "computed" and v.passed is not None}
        failed |= {(v.case_id, v.check_id) for v in (*run.verdicts, *rescored) if v.passed is False}
    if never := computed - failed:
        names = ", ".join(map(quiet, sorted({check for _, check in never})))
        checks = f"{counted(len(computed), 'check')} of a case"
        yield (
            f"In their place {checks} are computed now; {len(never)} failed no answer, so that nobody can see whether "
            f"they were weakened: {names}."
        )


def _told(change: Change, entry: Rescoring, id_: str) -> Iterator[str]:
    cases = ", ".join(map(quiet, change.cases)) or "all cases"
    judgement = "; a judgement call, which a colleague might decide otherwise" if change.judgement else ""
    yield f"- {whole_seconds(entry.time)} · {change.fix} · {cases} · by {quiet(entry.author)}: {quiet(change.reason)}"
    yield f"  ({POST_HOC_LABEL}{judgement}; view `rescored:{view_name(entry)}`, entry `{id_}`)"


def _rescoring(id_: str, entry: Rescoring, held_against: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f"- `{id_}` · {quiet(entry.author)}: {quiet(entry.reason)} ({quiet(rescoring_label(entry))})"
    for row in entry.runs:
        yield f"  - {quiet(str(row['run']))}: {_flips(row)}"
    yield f"  - licensed by {', '.join(f'`{one}`' for one in entry.readings) or 'no reading that it names'}"
    yield from (f"  - {quiet(said)}" for said in held_against.get(id_, ()))


def _flips(row: Mapping[str, Any]) -> str:
    flips = row["flips"]
    unexpected = sum(not flip["expected"] for flip in flips)
    reverse = sum(flip["to"] == "fail" for flip in flips)
    words = f"{counted(len(flips), 'flip')}, {unexpected} unexpected, {len(row['missed'])} missed, {reverse} reverse"
    named = "; ".join(f"{quiet(f['case_id'])} {f['sample']} {f['from']} to {f['to']}" for f in flips)
    return f"{words} ({named})" if named else words
