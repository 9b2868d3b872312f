"""A sheet as lines of text, each with a word that says what it is: for terminals, and for ears."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evallib.desk.sheet import Reveal, Segment, Sheet, word
from evallib.desk.word_diff import Piece
from evallib.records import Verdict

__all__ = ["diff_line", "fold_lines", "reveal_lines", "rubric_lines", "sheet_lines"]


def sheet_lines(sheet: Sheet) -> Iterator[str]:
    """What was asked, what was answered, and what it is judged against.

    Once revealed, hits of failed checks stand between »these« and hits of passed ones between ⟦these⟧.
    """
    yield f"{sheet.place}, {sheet.name}  {sheet.title}".rstrip()
    for text in sheet.asked:
        yield f"ASKED   {text}"
    yield "ANSWER"
    yield "".join(map(_piece, sheet.answer)) or "(the answer is empty)"
    if sheet.folds:
        yield f"FOLDED  tool calls and other records, {len(sheet.folds)} in all; t shows them"
    for name, facts in sheet.facts:
        yield from (f"KEY     {name}: {fact}" for fact in facts)
    if sheet.rubric:
        name, text = sheet.rubric[0]
        yield f"JUDGE   {f'{name}: ' if name else ''}{text}" + (" (g shows all)" if len(sheet.rubric) > 1 else "")
    if sheet.masked:
        yield "MASKED  credentials; m shows them"
    if sheet.reveal:
        yield from reveal_lines(sheet.reveal)


def _piece(piece: Segment) -> str:
    if piece.failed:
        return f"»{piece.text}«"
    return f"⟦{piece.text}⟧" if piece.passed else piece.text


def reveal_lines(reveal: Reveal) -> Iterator[str]:
    """What strict says and why, and what everybody read."""
    model = f" ({reveal.model})" if reveal.model else ""
    yield f"STRICT  {word(reveal.outcome)}: {reveal.outcome.reason}{model}"
    for verdict in reveal.against:
        yield _check_line(verdict)
    for line in reveal.said:
        yield f"READ    {line}"


def _check_line(verdict: Verdict) -> str:
    sign = {True: "✓", False: "✗", None: "–"}[verdict.passed]
    critical = ", critical" if verdict.critical else ""
    return f"  {sign} {verdict.check_id}{critical}: {verdict.reason}"


def rubric_lines(sheet: Sheet) -> Iterator[str]:
    """What the item is judged by, check by check; once revealed, with the verdicts of all of them."""
    for name, text in sheet.rubric:
        yield f"JUDGE   {name or 'the answer'}: {text}"
    for verdict in sheet.reveal.others if sheet.reveal else ():
        yield _check_line(verdict)


def fold_lines(sheet: Sheet) -> Iterator[str]:
    """Everything that is folded; once revealed, the calls that decided a check name it."""
    for fold in sheet.folds:
        decided = f" (decided {', '.join(fold.checks)})" if fold.checks else ""
        yield f"{fold.section.upper()}  {fold.line}{decided}"
        yield fold.text
    if not sheet.folds:
        yield "nothing is folded"


def diff_line(pieces: Iterable[Piece]) -> str:
    """The answer against a passing one: [-only there-] {+only here+}."""
    signs = {"same": "{}", "less": "[-{}-]", "more": "{{+{}+}}"}
    return "".join(signs[piece.op].format(piece.text) for piece in pieces)
