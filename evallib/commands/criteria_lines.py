"""What became of criteria, as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evallib.printing import table
from evallib.records import whole_seconds
from evallib.rescoring.ledger import REPLACE, Amendments, Predictions, caveats
from evallib.stdout import counted

__all__ = ["criteria_lines", "record_lines"]


def criteria_lines(found: Mapping[str, Any], records: Sequence[Predictions], ledger: Sequence[Amendments]) -> list[str]:
    """The rule, the locks, every rescoring by date, the record of each author, and the ledger of each check."""
    lines = [
        found["rule"]["said"],
        *(f"locked by {one['author']} ({one['id']}): {one['reason']}" for one in found["locks"]),
    ]
    lines += [] if found["locks"] else ["not locked"]
    if not found["rescorings"]:
        lines.append("no criterion of these runs was changed after their answers were read")
    for one in found["rescorings"]:
        lines += ["", *_rescoring_lines(one), *(f"  {said}" for said in caveats(one, found["rule"]["digest"]))]
    lines += ["", *record_lines(records, ledger)] if records or ledger else []
    return [" ".join(line.split("\n")) for line in lines]  # reasons may hold more than one line


def _rescoring_lines(one: Mapping[str, Any]) -> list[str]:
    """One rescoring: when, who and why, then a line for each change."""
    counts = f"{counted(one['flips'], 'flip')}: {one['expected']} expected, {one['unexpected']} unexpected"
    return [
        f"{whole_seconds(one['time'])}  {one['view']}  by {one['author']}: {one['reason']}",
        f"  {one['label']}",
        f"  {', '.join(one['runs'])}: {counts}, {one['missed']} missed, {one['reverse']} from pass to fail",
        *(f"  {_change(change)}" for change in one["changes"]),
    ]


def _change(change: Mapping[str, Any]) -> str:
    where = f" of {', '.join(change['cases'])}" if change["cases"] else ""
    call = " (a judgement call)" if change["judgement"] else ""
    return f"{change['fix']} {change['check']}{where}: {change['reason']}{call}"


def record_lines(records: Iterable[Predictions], ledger: Iterable[Amendments]) -> list[str]:
    """How each author's predictions came out, and how often each check was amended."""
    header = ["predictions by", "rescorings", "expected", "unexpected", "missed", "reverse", "after a preview"]
    rows = [[one.author, *map(str, one[1:])] for one in records]
    lines = table(header, rows) if rows else []
    header = ["check", "all changes", "changes since new or replaced", "right in other words, uncited", ""]
    rows = [
        [
            one.check,
            ", ".join(f"{count} {fix}" for fix, count in one.by_fix.items()) or "never",
            str(one.since_replaced),
            str(one.paraphrases),
            REPLACE if one.brittle else "",
        ]
        for one in ledger
    ]
    return [*lines, *([""] if lines and rows else []), *(table(header, rows) if rows else [])]
