"""An answer key in words for people: one line per fact, and no quotes where none are needed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evallib.records import canonical_json

__all__ = ["fact_lines"]

_NONE = "(none)"
_PLAIN = re.compile(r"[^\W\d_]([\w .-]*\w)?")
_LITERALS = {"true", "false", "null"}


def fact_lines(value: Any) -> tuple[str, ...]:
    """One part of an answer key: a text as it is, a list with one line per fact, its variants joined by " / ".

    What else is nested stands in brackets as JSON has it, short of the quotes. A text keeps its quotes where it would
    be taken for something else: `a / b`, several lines, blanks at an end.
    """
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence):
        return tuple(map(_fact, value)) or (_NONE,)
    return (_nested(value),)


def _fact(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Sequence) and value and all(isinstance(variant, str) for variant in value):
        return " / ".join(map(_text, value))
    return _nested(value)


def _text(text: str) -> str:
    plain = text.strip().splitlines() == [text] and " / " not in f" {text} " and text[0] not in '"[{' and text != _NONE
    return text if plain else _quoted(text)


def _nested(value: Any) -> str:
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and value not in _LITERALS else _quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_nested(name)}: {_nested(held)}" for name, held in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_nested, value)) + "]"
    return canonical_json(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
