"""Two runs compared, as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from evallib.comparison.compare import Comparison
from evallib.comparison.flips import Flip
from evallib.comparison.rows import Row
from evallib.printing import interval, number, p_words, shortened, table
from evallib.stdout import counted, signed, visible

__all__ = ["comparison_lines"]

_NAMED = 40


def comparison_lines(found: Comparison) -> list[str]:
    """What B changed: the conclusion, a row per figure, every case that moved, what else differs, and the captions."""
    label = f" ({found.label})" if found.label else ""
    lines = [f"A {found.a}, B {found.b}, view {found.view}{label}: {counted(len(found.shared), 'shared case')}"]
    lines += [found.lock] * bool(found.lock)
    for name, only in (("A", found.only_a), ("B", found.only_b)):
        lines += [f"only in {name}, not compared: {_some(only)}"] * bool(only)
    lines += [f"  {one}" for one in found.sentences]
    lines += ["", *_row_lines(found.paired.rows), "", *_flip_lines(found.paired.flips), "", *_context_lines(found), ""]
    captions = [f"{name}: {said}" for name, said in zip("AB", found.captions, strict=True)]
    return [visible(line) for line in (*lines, *captions)]


def _row_lines(rows: Sequence[Row]) -> list[str]:
    """A row per figure; of checks those that moved, the others by name; then what would settle what is not shown."""
    told = [row for row in rows if row.kind != "check" or row.moved]
    header = ["", "A", "B", "B - A, 95 %", "p", "p (Holm)", "rose", "fell", "", ""]
    lines = table(header, map(_row, told))
    same = [row.row for row in rows if row not in told and row.difference is not None]
    lines += [f"{counted(len(same), 'check')} the same in every case: {_some(same)}"] * bool(same)
    tests, others = (sum(row.p is not None and row.counts is one for row in rows) for one in (True, False))
    names = ", ".join(dict.fromkeys(row.test for row in rows if row.test)) or "no test"
    again = f"; {counted(others, 'row')} not counted, with no difference or those of another row" if others else ""
    lines.append(f"{counted(tests, 'comparison')}, p corrected for all by Holm{again}; {names}")
    return [
        *lines,
        *(
            f"  {row.row}: {row.says}"
            for row in told
            if (row.cases_to_settle or row.at_odds) and row.kind != "pass_rate"
        ),
    ]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _row(row: Row) -> list[str]:
    moved = "—" if row.difference is None else signed(row.difference) + interval(row.interval)
    counts = [str(len(row.rose)), str(len(row.fell))]
    return [
        row.row,
        number(row.a),
        number(row.b),
        moved,
        p_words(row.p),
        p_words(row.p_corrected),
        *counts,
        row.word,
        row.judge,
    ]


def _flip_lines(flips: Sequence[Flip]) -> list[str]:
    if not flips:
        return ["no case passes more or less often in B"]
    rows = [
        ["rose" if f.rose else "fell", f.case_id + " (required)" * f.required, "/".join(map(str, f.a)),
         "/".join(map(str, f.b)), f.word, f"by {f.by}", ", ".join(f.checks)]
        for f in flips
    ]  # fmt: skip
    return table(["", "case", "A", "B", "", "", "checks that moved with it"], rows)


def _context_lines(found: Comparison) -> list[str]:
    rows = [[one.what, shortened(one.a), shortened(one.b)] for one in found.contexts]
    lines = table(["what differs", "A", "B"], rows) if rows else ["the two plans differ in nothing"]
    lines += found.costs.lines()
    return [*lines, *(f"stale build: {one}" for one in found.stale), *(f"note: {one}" for one in found.notes)]
