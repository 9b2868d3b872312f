"""Credentials out of sight: found as the `secrets` check finds them, shown by their first characters."""

from __future__ import annotations

from evallib.checks.folding import fold
from evallib.checks.leaks import leaks
from evallib.checks.placeholders import masked

__all__ = ["credentials", "mask"]


def credentials(text: str) -> list[tuple[int, int]]:
    """Where credentials stand in `text`: (start, end) in code points, in order, none inside another."""
    folded = fold(text, lower=False)
    return [folded.span(leak.start, leak.end) for leak in leaks(folded.text, ("credential",))]


def mask(text: str) -> str:
    """`text` with at most the first four characters of each credential, and its length."""
    shown, done = [], 0
    for start, end in credentials(text):
        shown += [text[done:start], masked(text[start:end])]
        done = end
    return "".join([*shown, text[done:]])
