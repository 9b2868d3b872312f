"""The reviewer's sitting in a terminal: the same keys as in the notebook, for SSH, screen readers and scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evallib.entries import CAUSES, READINGS
from evallib.errors import EvallibError
from evallib.records import Verdict
from evallib.session import ReviewSession
from evallib.sheet import Sheet, visible, word

__all__ = ["adjudicate", "sheet_lines"]

_READING_KEYS = {name[0]: name for name in READINGS}
_CAUSES = [name for name in CAUSES if name != "unknown"]
_KEYS = "p pass  f fail  i infra  u unsure | j next  k previous | t tool calls  z take back  ? keys  q quit"
_HELP = """\
p f i u   read the answer as pass, fail, infrastructure, unsure; then say why strict and you differ, and the reason
          p CHECK reads one check alone, e.g. `p policy`
j k       next, previous            t   everything that is folded
z         take the last saved reading back; it stays in the log as withdrawn
q         quit; what was saved is on the disk"""


def adjudicate(session: ReviewSession, read: Callable[[str], str] = input, write: Callable[[str], None] = print) -> int:
    """Read the queue in the terminal until `q`, the end of the input or Ctrl+C; gives the number of readings saved."""
    before = len(session.entries)
    if not session.queue:
        write(f"Run {visible(session.run.id)}: nothing to read among {session.chosen}.")
        return 0
    try:
        _show(session, write)
        while _act(session, read(f"[{_KEYS}] ").strip(), read, write):
            pass
    except (EOFError, KeyboardInterrupt):
        write("")
    saved = len(session.entries) - before
    write(f"{saved} readings saved; {session.read} of {len(session.queue)} read.")
    return saved


def _act(session: ReviewSession, command: str, read: Callable[[str], str], write: Callable[[str], None]) -> bool:
    """Do one command; False ends the sitting."""
    key, _, about = command.partition(" ")
    try:
        if key in _READING_KEYS:
            _decide(session, _READING_KEYS[key], about.strip(), read, write)
        elif key == "z":
            session.undo()
            write("Taken back; the entry stays in the log as withdrawn.")
        elif key in {"j", "k", ""}:
            session.move(-1 if key == "k" else 1)
        elif key == "t":
            _write_all(write, _fold_lines(session.sheet()))
            return True
        elif key == "q":
            return False
        else:
            write(_HELP)
            return True
    except EvallibError as error:
        write(f"NOT SAVED: {visible(str(error))}")
        return True
    _show(session, write)
    return True


def _decide(
    session: ReviewSession, reading: str, check: str, read: Callable[[str], str], write: Callable[[str], None]
) -> None:
    case, sample = session.current
    listed = "  ".join(f"{number} {name}" for number, name in enumerate(_CAUSES, 1))
    cause = read(f"why strict and you differ ({listed}; Enter says nothing): ").strip()
    named = _CAUSES[int(cause) - 1] if cause.isdecimal() and 0 < int(cause) <= len(_CAUSES) else cause
    session.decide(reading, read("reason: "), cause=named, check=check)
    write(f"Recorded {reading} of {case} · {sample}. {session.read} of {len(session.queue)} read.")


def _show(session: ReviewSession, write: Callable[[str], None]) -> None:
    write(f"\n── {session.position + 1} of {len(session.queue)} ({session.chosen}) · run {visible(session.run.id)} ──")
    _write_all(write, sheet_lines(session.sheet()))


def _write_all(write: Callable[[str], None], lines: Iterator[str]) -> None:
    for line in lines:
        write(visible(line))


def sheet_lines(sheet: Sheet) -> Iterator[str]:
    """A sheet as lines of text; hits of failed checks stand between »these«."""
    yield f"{sheet.key[0]} · {sheet.key[1]}  {sheet.title}".rstrip()
    for text in sheet.asked:
        yield f"ASKED   {text}"
    yield "ANSWER"
    yield "".join(f"»{text}«" if checks else text for text, checks in sheet.answer) or "(the answer is empty)"
    yield f"STRICT  {word(sheet.outcome)}: {sheet.outcome.reason}"
    for verdict in sheet.against:
        yield _check_line(verdict, sheet.descriptions.get(verdict.check_id, ""))
    if sheet.folds:
        yield f"FOLDED  {len(sheet.folds)} tool calls and other records; t shows them"
    for line in sheet.said:
        yield f"READ    {line}"


def _check_line(verdict: Verdict, description: str) -> str:
    sign = "✗" if verdict.passed is False else "–"
    critical = ", critical" if verdict.critical else ""
    says = f" [{description}]" if description else ""
    return f"  {sign} {verdict.check_id}{critical}{says}: {verdict.reason}"


def _fold_lines(sheet: Sheet) -> Iterator[str]:
    for fold in sheet.folds:
        yield f"{fold.section.upper()}  {fold.line}"
        yield fold.text
    if not sheet.folds:
        yield "nothing is folded"
