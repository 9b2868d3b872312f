"""One line of text for each kind of entry."""

from __future__ import annotations

from evallib.entries import Difference, Reading, Resolution, Withdrawal
from evallib.records import whole_seconds
from evallib.store import LoggedEntry

__all__ = ["entry_line"]


def entry_line(logged: LoggedEntry, *, gone: bool = False) -> str:
    """Who said what, when, of which item; `gone` marks what was taken back."""
    entry = logged.entry
    withdrawn = "withdrawn: " if gone else ""
    return f"{withdrawn}{whole_seconds(entry.time)} {entry.author}: {_said(logged)}"


def _said(logged: LoggedEntry) -> str:
    entry = logged.entry
    if isinstance(entry, Reading):
        how = "blind" if entry.blind else "sighted"
        cause = f" ({entry.cause})" if entry.cause != "unknown" else ""
        return f"{entry.reading} of {entry.check or 'the answer'}, {how}{cause} {entry.reason}".rstrip()
    if isinstance(entry, Difference):
        return f"agrees with strict: {entry.reason}" if entry.agrees else f"differs ({entry.cause}) {entry.reason}"
    if isinstance(entry, Withdrawal):
        return f"takes {entry.withdraws} back: {entry.reason}"
    if isinstance(entry, Resolution):
        return f"resolves {entry.check or 'the answer'} as {entry.reading} ({entry.cause}) {entry.reason}"
    return entry.kind
