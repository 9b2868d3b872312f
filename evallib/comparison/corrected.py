"""The paired figures corrected for one another, with what each licenses saying and what would settle it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evallib.comparison.rows import LEVEL, Row
from evallib.statistics.paired import cases_needed, cases_to_show, holm, minimum_detectable, repeats_needed
from evallib.stdout import counted, signed

__all__ = ["corrected_rows"]


def corrected_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows with p values corrected for every comparison by Holm, and with what each licenses saying so.

    Rows with the same difference in every case are one comparison, and a row in which no case differs is none: it
    could not have been shown.
    """
    told = _told_apart(rows)
    tested = [row for row in told if row.counts]
    corrected = {
        row.moves: p for row, p in zip(tested, holm([row.p for row in tested if row.p is not None]), strict=True)
    }
    found = [replace(row, p_corrected=None if row.p is None else corrected.get(row.moves, 1.0)) for row in told]
    settled = [_settled(_with_detectable(row, len(tested)), len(tested)) for row in found]
    return [replace(row, says=_says(row, len(tested))) for row in settled]


def _told_apart(rows: Sequence[Row]) -> list[Row]:
    """The rows, each naming the first whose differences it repeats."""
    first: dict[tuple[tuple[str, float], ...], int] = {}
    for at, row in enumerate(rows):
        if row.p is not None and row.moved:
            first.setdefault(row.moves, at)
    at_first = [first.get(row.moves, at) for at, row in enumerate(rows)]
    return [
        row if of == at else replace(row, same_as=rows[of].row)
        for at, (row, of) in enumerate(zip(rows, at_first, strict=True))
    ]


def _with_detectable(row: Row, tests: int) -> Row:
    """The row with the least difference that would be found, or why there is none."""
    if row.p is None or not row.se:
        return replace(row, why_none="the differences of the cases do not spread" if row.p is not None else row.word)
    level = LEVEL / max(tests, 1)
    if not row.shown and row.cases < cases_to_show(level):
        of = f"among {tests} comparisons" if tests > 1 else "at this level"
        return replace(row, why_none=f"with {counted(row.cases, 'case')} nothing can be shown {of}")
    return replace(row, detectable=minimum_detectable(row.se, level))


def _settled(row: Row, tests: int) -> Row:
    """The row with how many cases, or samples of each, would show a difference as large as the one seen.

    However large, it is not shown before so many cases differ that no fewer flips than one in 1 / level match it; and
    where there are fewer cases than that, no number of samples of each would do.
    """
    if row.shown or not row.se or not row.difference:
        return row
    level = LEVEL / max(tests, 1)
    flips = cases_to_show(level)
    few = -(-row.cases * flips // (len(row.rose) + len(row.fell)))
    cases = max(row.cases + 1, few, cases_needed(row.se, row.cases, row.difference, level))
    if row.cases < flips:
        return replace(row, cases_to_settle=cases, only_cases=True)
    repeats = None
    if row.within is not None and any(row.within):
        repeats = repeats_needed(row.variance, row.within, row.repeats, row.cases, row.difference, alpha=level)
    only, enough = row.within is not None and repeats is None, repeats is not None and repeats <= min(row.repeats)
    return replace(row, cases_to_settle=cases, repeats_to_settle=None if enough else repeats, only_cases=only)


def _says(row: Row, tests: int) -> str:
    if row.same_as:
        return f"{row.word}; in every case the same difference as {row.same_as}, and counted with it"
    if row.difference is None or row.p is None:
        return row.word
    among = f" among {tests} comparisons" if tests > 1 else ""
    odds = _at_odds(row, among)
    if row.shown:
        return f"{row.word} in B{odds}"
    if not row.se:
        left = f"of other cases like these up to {1 - 0.05 ** (1 / row.cases):.0%} could do otherwise"
        return f"{'all cases differ alike, not shown' + among if row.moved else row.word}; {left}{odds}"
    said = _not_shown(row, among)
    if not row.difference:
        return said
    takes = f"takes about {row.cases_to_settle:,} cases{_or_repeats(row)}"
    return f"{said}; to settle {_size(row.difference)}{among} {takes}{odds}"


def _not_shown(row: Row, among: str) -> str:
    if row.detectable is None:
        return f"not shown; {row.why_none}"
    if abs(row.difference or 0.0) < row.detectable:
        return f"not shown; {_size(row.detectable)} or more would be found four times in five{among}"
    return f"not shown{among}"


def _size(difference: float) -> str:
    return signed(abs(difference)).removeprefix("+")


def _at_odds(row: Row, among: str) -> str:
    """Why the interval seems to say otherwise than the word, where it does: the test and its correction decide."""
    if not row.at_odds:
        return ""
    if row.shown:
        return f"; its interval holds 0 by another method: the {_test(row)} decides, p below {LEVEL}{among}"
    if (row.p or 0.0) < LEVEL:
        alone = f"p, {row.p:.3f} alone, is {row.p_corrected:.3f} corrected"
        return f"; its interval leaves out 0, but is of this row alone: {alone}"
    return f"; its interval leaves out 0 by another method: the {_test(row)} decides, p {row.p:.3f}"


def _test(row: Row) -> str:
    return row.test.partition(",")[0]


def _or_repeats(row: Row) -> str:
    if row.only_cases:
        return "; no number of repeats of these cases would"
    if row.within is None:
        return " (what repeats would do, single samples cannot tell)"
    if row.repeats_to_settle is None:
        return ""
    return f" or {row.repeats_to_settle:,} sample{'s' * (row.repeats_to_settle != 1)} of each of these cases"
