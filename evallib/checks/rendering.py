"""A text as a reader gets it: mark-up inside words taken away and encodings undone, with the way back to its places."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache
from urllib.parse import unquote

from evallib.checks.folding import Folded

__all__ = ["rendered"]

_PAIRED = (
    re.compile(r"(?<!\*)(\*{1,3})(?![\s*])([^*\n]{1,200})(?<!\s)\1(?!\*)"),
    re.compile(r"(?<![^\W_])(_{1,3})(?![\s_])([^_\n]{1,200})(?<!\s)\1(?![^\W])"),
    re.compile(r"(?<!~)(~{2})(?![\s~])([^~\n]{1,200})(?<!\s)\1(?!~)"),
    re.compile(r"(?<!`)(`{1,3})(?!`)([^`\n]{1,200})\1(?!`)"),
)
"""Emphasis and code as CommonMark pairs them; a longer run of signs is a mask, and a sign alone is itself."""
_DROPPED = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var|wbr)"
    r"(?:\s[^<>\n]{0,200})?/?>"
    r"|<!--[^\n]{0,200}?-->|\\(?=[!-/:-@\[-`{-~])",
    re.IGNORECASE,
)
_ENCODED = re.compile(
    r"&(?:#\d{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{1,31};)|(?:%[0-9A-Fa-f]{2}){1,40}"
    r"|[^\x00-\x7f]"
)
_MAY_CHANGE = re.compile(r"[&%*_~`<\\]|[^\x00-\x7f]")


@lru_cache(maxsize=8)
def rendered(text: str) -> Folded | None:
    """`text` without emphasis and inline tags, with entities and encodings undone; None where that changes nothing.

    Compatibility forms, such as fullwidth letters, are made plain character by character (NFKC).
    """
    if not _MAY_CHANGE.search(text):
        return None
    dropped = _dropped(text)
    pieces: list[tuple[int, str]] = []
    at = 0
    for start, end, plain in sorted([*((*span, "") for span in dropped), *_decoded(text)]):
        if start < at:
            continue
        pieces += [(at, text[at:start]), (start, plain)]
        at = end
    pieces.append((at, text[at:]))
    made = "".join(plain for _, plain in pieces)
    if made == text:
        return None
    return Folded(made, _origin(text, pieces))


def _origin(text: str, pieces: list[tuple[int, str]]) -> tuple[int, ...]:
    """Per character its place; what stands for something encoded comes from where that begins."""
    ends = [start for start, _ in pieces[1:]] + [len(text)]
    places: list[int] = []
    for (start, plain), end in zip(pieces, ends, strict=True):
        places += range(start, end) if len(plain) == end - start else [start] * len(plain)
    return (*places, len(text))


def _dropped(text: str) -> list[tuple[int, int]]:
    """Spans of signs that only mark something up."""
    found = [hit.span() for hit in _DROPPED.finditer(text)]
    for pattern in _PAIRED:
        for hit in pattern.finditer(text):
            if hit[1][0] == "`" or _is_emphasis(text, hit):
                found += [hit.span(1), (hit.end(2), hit.end())]
    return found


def _is_emphasis(text: str, hit: re.Match[str]) -> bool:
    """Whether a pair of runs emphasises (CommonMark 6.2); inside words a run of three, or one past a blank, masks."""
    before, after = text[hit.start() - 1 : hit.start()], text[hit.end() : hit.end() + 1]
    if (before.isalnum() and len(hit[1]) > 2) or (before.isalnum() and after.isalnum() and " " in hit[2]):
        return False
    return _flanks(before, hit[2][0]) and _flanks(after, hit[2][-1])


def _flanks(outer: str, inner: str) -> bool:
    return inner.isalnum() or not outer.isalnum()


def _decoded(text: str) -> list[tuple[int, int, str]]:
    """Spans of what is encoded, each with what it stands for."""
    found = []
    for hit in _ENCODED.finditer(text):
        plain = _plain(hit[0])
        if plain != hit[0] and not any(
            unicodedata.category(one) in {"Cc", "Cs"} and not one.isspace() for one in plain
        ):
            found.append((*hit.span(), plain))
    return found


def _plain(written: str) -> str:
    if written[0] == "&":
        return html.unescape(written)
    if written[0] == "%":
        return unquote(written, errors="replace")
    plain = unicodedata.normalize("NFKC", written)
    return written if plain in {"..", "..."} else plain  # an ellipsis leaves something out; three dots need not
