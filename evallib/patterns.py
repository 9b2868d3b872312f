"""Patterns that a suite gives, in RE2 syntax: refused where RE2 cannot run them, and searched for in linear time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "TO_END",
    "branches",
    "flagged",
    "found",
    "from_end",
    "is_whole",
    "loosened",
    "places",
    "quoted",
    "refuse_broken",
    "ungrouped",
]

_LITERAL = (
    r"\\Q.*?(?:\\E|\Z)"  # quoted text
    r"|\\."  # an escaped character
    r"|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]"  # a character class
)
_GROUP = re.compile(_LITERAL + r"|\((?:\?P?<\w+>|(?!\?))", re.DOTALL)
"""A group that captures opens, or what only looks like it."""
_GAP = re.compile(_LITERAL + r"|\.\{\d+(?:,\d*)?\}\??", re.DOTALL)
"""So many characters of any kind, or what only looks like it."""

_TOKEN = re.compile(_LITERAL + r"|\(\?[a-zA-Z-]+\)|\((?:\?P?<\w+>|\?[a-zA-Z-]*:)?|.", re.DOTALL)

_OPEN, _CLOSE = "\x02", "\x03"


def found(pattern: str, text: str) -> bool:
    """Whether `pattern` occurs in `text`."""
    import pyarrow.compute as pc

    return bool(pc.match_substring_regex(_column(text), pattern)[0].as_py())


def is_whole(pattern: str, text: str) -> bool:
    """Whether `pattern` fits all of `text`, in any case."""
    return found(rf"\A(?i:{pattern})\z", text)


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


def flagged(pattern: str, flags: str) -> str:
    """`pattern` under RE2 `flags`."""
    return f"(?{flags}){pattern}" if flags else pattern


def ungrouped(pattern: str) -> str:
    """`pattern` with groups that capture nothing: Arrow wants every capturing group named, and each costs time."""
    return _GROUP.sub(lambda token: "(?:" if token[0][0] == "(" else token[0], pattern)


def loosened(pattern: str) -> str:
    """A pattern that hits wherever `pattern` does, and perhaps elsewhere: RE2 counts gaps such as `.{0,80}` slowly."""
    return _GAP.sub(lambda token: ".*" if token[0][0] == "." else token[0], pattern)


def branches(pattern: str) -> list[str]:
    """For each alternative in `pattern`, the pattern with that one alone in its group; else `pattern` itself."""
    open_: list[list[int]] = [[0]]
    """Per group that is open, where its content begins and where each alternative ended."""
    found: list[str] = []
    for token in _TOKEN.finditer(f"{pattern})"):
        if token[0][0] == "(" and not token[0].endswith(")"):
            open_.append([token.end()])
        elif token[0] == "|" and open_:
            open_[-1].append(token.start())
        elif token[0] == ")" and open_:
            first, *bars = open_.pop()
            starts, ends = [first, *(bar + 1 for bar in bars)], [*bars, token.start()]
            if bars:
                found += [
                    pattern[:first] + pattern[a:b] + pattern[ends[-1] :] for a, b in zip(starts, ends, strict=True)
                ]
    return found or [pattern]


TO_END = r"(?s:.*)\z"
"""Behind a pattern: RE2 then searches backwards from the end of the text, and gives the same hit."""
_TRIED = 32
"""Texts in which the two sides of a gap are counted."""


def from_end(pattern: str, flags: str, texts: pa.LargeStringArray) -> bool:
    """Whether RE2 finds `pattern` sooner with TO_END: what follows its counted gaps is rarer than what precedes them.

    RE2 keeps track of every place where a gap may have begun, which made one of Berth's patterns ten times as slow.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    gaps = [token for token in _GAP.finditer(pattern) if token[0][0] == "."]
    if not gaps:
        return False
    sides = (pattern[: gaps[0].start()], pattern[gaps[-1].end() :])
    try:
        before, after = (
            pc.sum(pc.count_substring_regex(texts[:_TRIED], flagged(side, flags))).as_py() for side in sides
        )
    except pa.ArrowInvalid:  # the gap stands inside a group
        return False
    return bool(before > 2 * after)


_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")


def quoted(pattern: str) -> str:
    """`pattern` in quotes as its author wrote it, but for a NUL, which no file can hold."""
    spelled = pattern.replace("\0", "\\0")
    return f"'{spelled}'"


def refuse_broken(pattern: str, flags: str = "is") -> None:
    """ValueError with the remedy when RE2 cannot run `pattern`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pattern.strip():
        raise ValueError("an empty pattern hits every answer; write what must be found")
    if _BYTE.search(pattern):
        raise ValueError(rf"pattern {pattern!r} holds \C, a single byte of a character; write `.` with the flag s")
    quotes = [token[0] for token in _GROUP.finditer(pattern) if token[0].startswith(r"\Q")]
    if quotes and not quotes[-1].endswith(r"\E"):
        raise ValueError(rf"pattern {pattern!r} opens \Q and does not close it; write \E behind the quoted text")
    try:
        pc.match_substring_regex(pa.nulls(1, pa.string()), flagged(pattern, flags))
    except pa.ArrowInvalid as error:
        complaint = str(error).removeprefix("Invalid regular expression: ").replace(f"(?{flags})", "", 1)
        raise ValueError(f"pattern {pattern!r} is not RE2 syntax ({complaint}){_remedy(complaint)}") from error


def _remedy(complaint: str) -> str:
    if re.search(r"\(\?<?[=!]", complaint):
        return "; RE2 has no look-around: write two checks (any_of and none_of), or a code check"
    if re.search(r"invalid escape sequence: \\[1-9]|\(\?P=", complaint):
        return "; RE2 has no back-references: write the alternatives out, or a code check"
    if complaint.endswith(r"\Z"):
        return r"; the end of the text is \z"
    return "; correct it, or escape the character with a backslash"


def _column(text: str) -> Any:
    """`text` as an Arrow column of one row, built from its bytes: `pa.array` would import pandas."""
    from array import array

    import pyarrow as pa

    encoded = text.encode("utf-8", "replace")
    offsets = pa.py_buffer(array("q", (0, len(encoded))))
    return pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(encoded))
