"""One line of text for each kind of entry, and for each reading that stands."""

from __future__ import annotations

from collections.abc import Iterable

from evallib.entries import Difference, Reading, Resolution, Withdrawal
from evallib.records import whole_seconds
from evallib.standing import Stand
from evallib.store import LoggedEntry, by_time

__all__ = ["entry_line", "said_of", "state_of"]


def said_of(stands: Iterable[Stand], me: str = "") -> tuple[str, ...]:
    """What was read, one line per standing reading, oldest first; to `me`, their own readings are by "you"."""
    standing = [(by_time(logged), logged, stand) for stand in stands for logged in stand.entries]
    return tuple(
        f"{'you' if entry.author == me else entry.author}: {entry.reading} of {_what(entry.check)}"
        + _why(stand.cause(logged), stand.reason(logged))
        for _, logged, stand in sorted(standing, key=lambda one: one[0])
        if isinstance(entry := logged.entry, Reading)
    )


def state_of(stand: Stand | None, stale: Iterable[tuple[LoggedEntry, str]], me: str = "") -> tuple[str, ...]:
    """What must be known beside the readings of an item: that they differ, and which count no more, and why."""
    told = [f"disputed: {_differing(stand)}, and strict stands until that is resolved"] * bool(
        stand and stand.state == "disputed"
    )
    return (
        *told,
        *(
            f"not counted, {why}: {'you' if entry.author == me else entry.author}: {entry.reading}"
            for logged, why in stale
            if isinstance(entry := logged.entry, Reading)
        ),
    )


def _differing(stand: Stand | None) -> str:
    if stand and stand.forked:
        return f"{', '.join(stand.forked)} says two things at once"
    return "its readers differ"


def entry_line(logged: LoggedEntry, *, gone: bool = False) -> str:
    """Who said what, when, of which item; `gone` marks what was taken back."""
    entry = logged.entry
    withdrawn = "withdrawn: " if gone else ""
    return f"{withdrawn}{whole_seconds(entry.time)} {entry.author}: {_said(logged)}"


def _said(logged: LoggedEntry) -> str:
    entry = logged.entry
    if isinstance(entry, Reading):
        how = "blind" if entry.blind else "sighted"
        return f"{entry.reading} of {_what(entry.check)}, {how}{_why(entry.cause, entry.reason)}"
    if isinstance(entry, Difference):
        return f"agrees with strict: {entry.reason}" if entry.agrees else f"differs{_why(entry.cause, entry.reason)}"
    if isinstance(entry, Withdrawal):
        return f"takes {entry.withdraws} back: {entry.reason}"
    if isinstance(entry, Resolution):
        return f"resolves {_what(entry.check)} as {entry.reading}{_why(entry.cause, entry.reason)}"
    return entry.kind


def _what(check: str) -> str:
    return check or "the answer"


def _why(cause: str, reason: str) -> str:
    """Cause and reason after a reading; `unknown` says that there is no cause, and is not said."""
    return (f" ({cause})" if cause != "unknown" else "") + (f" {reason}" if reason else "")
