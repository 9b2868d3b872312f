"""Values that a text gives to the name of a secret: after a colon or "is", below it, in a table's cell, in a tag."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from evallib.checks.later import later
from evallib.checks.placeholders import is_common, is_mixed, is_passphrase, is_placeholder, is_random, is_strong

__all__ = ["PATTERNS", "GivenValue", "given_values"]


class GivenValue(NamedTuple):
    """A secret value, where it starts, and the name it is given to."""

    name: str
    start: int
    value: str


_NAME = (
    r"(?P<name>(?P<word>pass(?:[ _-]?phrase|word|wd|code)?|pwd|pw|secret|token|(?:seed|recovery)[ _-]phrase|"
    r"credentials?|(?:api|access|private|secret|signing|encryption|account|auth|master|shared|license)[ _-]?key|apikey)"
    r"s?(?:[_-](?:prod|dev|test|live|staging|old|new|value|\d{1,2}))?)"
)
_VALUE = r"(?P<quote>[\"'`*]{0,4})(?P<value>[^\s\"'`]{4,300})"
PATTERNS: dict[str, re.Pattern[str]] = {
    "assigned": later(
        rf"{_NAME}[\"'`*\]]{{0,4}}(?P<sep>[ \t]{{0,3}}(?:=>|->|:=|==?|:|\u2192)[*_]{{0,3}}[ \t]{{0,3}}"
        r"|[ \t]{1,2}(?:is|was|set to|of|:|=)(?: now| still| currently)?[: ][ \t]{0,2}|(?<=--password)[ =]"
        rf"|(?<=--token)[ =]){_VALUE}",
        re.IGNORECASE,
    ),
    "described": later(
        rf"\b{_NAME} (?:(?:for|of|to|on|in|at) [^\n,;:|=.?!]{{1,60}}? )?"
        r"(?:(?:is|was|has been)(?: now| still| currently)?(?: (?:re)?set to| changed to| updated to)?:? |(?=[\"'`]))"
        rf"{_VALUE}",
        re.IGNORECASE,
    ),
    "below": later(
        rf"(?:^|\n)[ \t>#*_|-]{{0,8}}(?:[\w-]{{1,20}}:? ){{0,3}}[\w.-]{{0,40}}?{_NAME}[*_`\"]{{0,3}}[ \t]{{0,3}}:?[*"
        rf"_`]{{0,3}}[ \t]{{0,3}}"
        r"(?:\n[ \t>]{0,8}(?:(?:```|~~~)\w{0,10}|[-*+](?=[ \t])|value[ \t]{0,3}[:=])?[ \t]{0,3}){1,3}"
        rf"{_VALUE}[\"'`*]{{0,4}}[ \t]{{0,3}}(?=\n|$)",
        re.IGNORECASE,
    ),
    "tag": later(
        rf"<(?:[\w-]{{1,20}}[_:.-])?{_NAME}(?:\s[^<>\n]{{0,80}})?>\s{{0,9}}(?P<quote>)(?P<value>[^<>\s]{{4,300}})"
        rf"\s{{0,9}}</",
        re.IGNORECASE,
    ),
    "row": later(
        rf"{_NAME}[*_`\"]{{0,3}}[ \t]{{0,40}}(?:\||</t[dh]>\s{{0,20}}<t[dh](?:\s[^<>\n]{{0,80}})?>)[ \t]{{0,40}}"
        r"(?P<quote>[\"'`*]{0,4})(?P<value>[^\s|<>\"'`]{4,300})[\"'`*]{0,4}[ \t]{0,40}(?=\||<|\n|$)",
        re.IGNORECASE,
    ),
    "passphrase": later(
        r"\b(?P<name>(?P<word>pass[ _-]?phrase|(?:seed|recovery)[ _-]phrase))s?[\"'`*]{0,3}(?:[*_]{0,3}:[*_]{0,3}"
        r"| is:?)[ \t]{0,3}"
        r"(?P<quote>[\"'`*]{0,4})(?P<value>[a-z]{3,12}(?:[ -][a-z]{3,12}){2,23})(?=[\"'`*.!]{0,4}[ \t]{0,3}(?:\n|$))",
        re.IGNORECASE,
    ),
}
"""How a value is given to a name, by the way it is done."""
_ANY = later(_NAME, re.IGNORECASE)
_COLUMN = later(rf"(?:^|[^a-z]){_NAME}$", re.IGNORECASE)
_RULE = later(r"[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*")
_LOGIN_BEFORE = later(
    r"\b(?:user(?:[ _-]?name)?|login|account|e-?mail)[\"'`*]{0,4}[ \t]{0,3}[:=][*_]{0,3}[ \t]{0,3}[\"'`*]{0,4}[^"
    r"\s\"'`*]{2,60}"
    r"[\"'`*]{0,4}[\s,;/-]{1,6}(?:and )?(?:the )?[*_#>\"'` \t]{0,6}$",
    re.IGNORECASE,
)
_MEASURE = later(r"\d{1,4}[-+]?[a-z]+\+?", re.IGNORECASE)
_WIDEST = 2000


def given_values(text: str) -> Iterator[GivenValue]:
    """Every value given to a name of a secret that looks like a real one, in the order of the ways to give it."""
    if not _ANY.search(text):
        return
    for hit in PATTERNS["assigned"].finditer(text):
        value = _value(hit)
        if not _inside_a_word(text, hit) and _is_secret(text, hit, value):
            yield GivenValue(hit["name"], hit.start("value"), value)
    for way in ("described", "below", "tag", "row"):
        for hit in PATTERNS[way].finditer(text):
            value = _value(hit)
            if not _inside_a_word(text, hit) and _stands_out(hit["word"].lower(), value, way):
                yield GivenValue(hit["name"], hit.start("value"), value)
    for hit in PATTERNS["passphrase"].finditer(text):
        if is_passphrase(hit["value"]):
            yield GivenValue(hit["name"], hit.start("value"), hit["value"])
    yield from _in_columns(text)


def _value(hit: re.Match[str]) -> str:
    return hit["value"].rstrip(".,;:)]}>*|")


def _inside_a_word(text: str, hit: re.Match[str]) -> bool:
    """Whether the name is part of another word, as in "compass"."""
    word = hit["word"]
    before = text[hit.start("word") - 1 : hit.start("word")]
    return before.isalpha() and len(word) < 6 and not (word[0].isupper() and before.islower())


def _is_secret(text: str, hit: re.Match[str], value: str) -> bool:
    """Whether a value right after a name is a secret, by its shape and by how it is given."""
    word = hit["word"].lower()
    assigned = bool(hit["quote"]) or "=" in hit["sep"]
    prose = not assigned and re.match(r"[ \t]+[a-z(]", text[hit.end() : hit.end() + 4]) is not None
    if len(value) < 4 or is_placeholder(value) or is_placeholder(hit["value"]):
        return False
    if not word.startswith(("pass", "pwd", "pw")):
        return is_random(value)
    if prose:
        return is_strong(value)
    letters = sum(character.isalpha() for character in value)
    mixed = 0 < letters < len(value) and not re.fullmatch(r"[A-Za-z]+(?:[-_./][A-Za-z]+)*", value)
    if len(value) >= 6 and (mixed or value.isdigit() or assigned):
        return True
    at_end = re.match(r"[\"'`*.,;)]{0,4}[ \t]{0,3}(?:\n|$)", text[hit.end() : hit.end() + 10]) is not None
    named = is_common(value) or _LOGIN_BEFORE.search(text[max(0, hit.start() - 160) : hit.start()]) is not None
    return at_end and len(value) >= 6 and ":" in hit["sep"] and named


def _stands_out(word: str, value: str, way: str) -> bool:
    """Whether a value that is only near a name could hardly be anything but a secret."""
    if len(value) < 6 or is_placeholder(value):
        return False
    if not word.startswith(("pass", "pwd", "pw")):
        return is_random(value)
    if way == "tag":
        return True
    parts = re.split(r"[-_./:+=]+", value)
    mixed = way != "described" and any(map(is_mixed, parts)) and not _MEASURE.fullmatch(value)
    return mixed or is_strong(value) or is_common(value)


def _in_columns(text: str) -> Iterator[GivenValue]:
    """Cells below the name of a secret in a table, with bars at its sides or without."""
    heads: list[tuple[int, re.Match[str]]] = []
    before, at = "", 0
    for line in text.splitlines(keepends=True):
        if len(line) > _WIDEST or "|" not in line:
            heads = []
        elif _RULE.fullmatch(line.rstrip()):
            heads = [(nth, hit) for nth, (_, cell) in enumerate(_cells(before)) if (hit := _COLUMN.search(cell))]
        elif heads:
            cells = list(_cells(line))
            for nth, head in heads:
                start, value = cells[nth] if nth < len(cells) else (0, "")
                if " " not in value and _stands_out(head["word"].lower(), value, "column"):
                    yield GivenValue(head["name"], at + start, value)
        before = line if len(line) <= _WIDEST else ""
        at += len(line)


def _cells(line: str) -> Iterator[tuple[int, str]]:
    """The cells of a row, without mark-up around them, each with its place in the line."""
    at = 0
    for nth, cell in enumerate(line.split("|")):
        bare = cell.strip(" \t\n*_`\"'")
        if nth or bare:
            yield at + (cell.index(bare) if bare else 0), bare
        at += len(cell) + 1
