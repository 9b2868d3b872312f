"""Patterns compiled when they are first asked: a command that reads no clauses does not wait a tenth of a second."""

from __future__ import annotations

import re
from typing import Any, cast

__all__ = ["at_words", "later"]

_ASKED = ("finditer", "fullmatch", "match", "search", "split", "sub", "pattern", "flags")


class _Later:
    """Becomes its pattern with the first question put to it; after that it costs nothing."""

    def __init__(self, source: str, flags: int) -> None:
        self._given = source, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._given)
        vars(self).update({one: getattr(compiled, one) for one in _ASKED})
        return getattr(compiled, name)


def later(source: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, as `re.compile` gives it, but for when."""
    return cast("re.Pattern[str]", _Later(source, flags))


def at_words(source: str) -> re.Pattern[str]:
    """The pattern, tried only at the start and where a word or "n't" begins, not by each alternative at each letter."""
    return later(rf"(?=\b\w|n't\b|^)(?:{source})")
