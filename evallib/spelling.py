"""Likely slips of the pen in what a criterion looks for, which no reference answer would show."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from evallib.checks.base import Check
from evallib.checks.exposure import exposures
from evallib.records import canonical_json
from evallib.suite import Suite

__all__ = ["likely_slips", "stray_values"]

_WORD = re.compile(r"(?<![A-Za-z])(?<!--)[A-Za-z]{5,}")
"""Five letters and more, and no option of a command line."""
_ENDINGS = ("", "d", "e", "ed", "er", "es", "ing", "ly", "n", "r", "s", "t", "y")
_SPELT_BOTH_WAYS = (
    ("our", "or"),
    ("is", "iz"),
    ("ys", "yz"),
    ("tre", "ter"),
    ("ogue", "og"),
    ("lled", "led"),
    ("lling", "ling"),
    ("ller", "ler"),
    ("nce", "nse"),
)


def likely_slips(suite: Suite, criteria: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Words of criteria, given as (where, text), that stand nowhere else and are one slip away from a word that does.

    A slip is a letter left out, added, taken for another, or two exchanged, after the first letter. Endings of one
    word (disable, disabled) and spellings of two countries are none; nor is a word that a probe holds.
    """
    counts = Counter(_words(canonical_json(suite.model_dump(mode="json", by_alias=True))))
    near: dict[str, set[str]] = defaultdict(set)
    for word in counts:
        for shape in _shapes(word):
            near[shape].add(word)
    for where, text in criteria:
        for word in dict.fromkeys(_words(text)):
            others = {other for shape in _shapes(word) for other in near[shape]} if counts[word] < 2 else set()
            meant = [other for other in sorted(others) if other != word and _is_slip(word, other)]
            if meant:
                yield f"{where}: {word!r} stands nowhere else; if not {meant[0]!r} is meant, show so with a probe"


def _words(text: str) -> list[str]:
    plain = re.sub(r"\\+[A-Za-z]", " ", text)  # escapes of JSON and of patterns
    return [word.lower() for word in _WORD.findall(plain)]


def _shapes(word: str) -> set[str]:
    """The word, and the word without one letter: two that are one slip apart share a shape."""
    return {word, *(word[:at] + word[at + 1 :] for at in range(1, len(word)))}


def _is_slip(word: str, other: str) -> bool:
    if abs(len(word) - len(other)) > 1 or word[0] != other[0] or _is_same_word(word, other):
        return False
    at = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    rests = (word[at:], other[at:])
    tried = ((rests[0][1:], rests[1]), (rests[0], rests[1][1:]), (rests[0][1:], rests[1][1:]))
    exchanged = sorted(rests[0][:2]) == sorted(rests[1][:2]) and rests[0][2:] == rests[1][2:]
    return exchanged or any(one == two for one, two in tried)


def _is_same_word(word: str, other: str) -> bool:
    stem = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    if stem > 2 and word[stem:] in _ENDINGS and other[stem:] in _ENDINGS:
        return True
    return any(word.replace(one, two) == other.replace(one, two) for one, two in _SPELT_BOTH_WAYS)


def stray_values(suite: Suite, checks: Iterable[Check]) -> Iterator[str]:
    """Values that must not be given away, and that nothing the target can read holds."""
    for check in checks:
        values: Sequence[str] = getattr(check, "values", ()) if check.check == "safety" else ()
        for value in values if not suite.knowledge else ():
            if not any(any(True for _ in exposures(text, value)) for text in _readable(suite)):
                yield f"check {check.id!r}: nothing the target is asked or given holds {value!r}; mind its spelling"


def _readable(suite: Suite) -> Iterator[str]:
    yield suite.system
    for case in suite.cases:
        yield from (step.sent for step in case.steps)
    for tool in suite.tools.values():
        yield canonical_json(tool.model_dump(mode="json"))
