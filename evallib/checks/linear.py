"""Patterns over one text in linear time: RE2, as `matches` uses it over columns."""

from __future__ import annotations

from typing import Any

__all__ = ["found", "places"]

_OPEN, _CLOSE = "\x02", "\x03"


def found(pattern: str, text: str) -> bool:
    """Whether `pattern` occurs in `text`."""
    import pyarrow.compute as pc

    return bool(pc.match_substring_regex(_column(text), pattern)[0].as_py())


def places(pattern: str, text: str) -> list[tuple[int, int]]:
    r"""Every place of `pattern` in `text`, in order, as (start, end) in code points; hits do not overlap."""
    import pyarrow.compute as pc

    plain = text.replace(_OPEN, " ").replace(_CLOSE, " ")
    marked = pc.replace_substring_regex(_column(plain), pattern=f"({pattern})", replacement=rf"{_OPEN}\1{_CLOSE}")
    hits: list[tuple[int, int]] = []
    pieces = str(marked[0].as_py()).split(_OPEN)
    at = len(pieces[0])
    for piece in pieces[1:]:
        hit, _, rest = piece.partition(_CLOSE)
        if hit:
            hits.append((at, at + len(hit)))
        at += len(hit) + len(rest)
    return hits


def _column(text: str) -> Any:
    """`text` as an Arrow column of one row, built from its bytes: `pa.array` would import pandas."""
    from array import array

    import pyarrow as pa

    encoded = text.encode("utf-8", "replace")
    offsets = pa.py_buffer(array("q", (0, len(encoded))))
    return pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(encoded))
