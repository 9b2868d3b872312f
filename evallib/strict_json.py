"""JSON read strictly: no key twice in one object, and no number that JSON does not know."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

__all__ = ["DECODER", "StrictJSONError", "read_json"]


class StrictJSONError(ValueError):
    """Why JSON that Python would read is refused."""


def read_json(text: str) -> Any:
    """The one JSON value of `text`.

    Raises StrictJSONError, json.JSONDecodeError, ValueError (a number of too many digits) or RecursionError.
    """
    return DECODER.decode(text)


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        names = [name for name, _ in pairs]
        again = next(name for name in built if names.count(name) > 1)
        raise StrictJSONError(f"key {again!r} stands twice in one object")
    return built


def _no_number(name: str) -> NoReturn:
    raise StrictJSONError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _no_number(digits[:40])


DECODER = json.JSONDecoder(object_pairs_hook=_mapping, parse_constant=_no_number, parse_float=_finite)
