"""The check of required facts, and how a required text is found: as whole words, however it is typed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import BeforeValidator

from evallib.checks.base import Check, FromKey
from evallib.checks.extraction import spoken
from evallib.checks.folding import LETTER, fold, joins, merged
from evallib.records import Sample, Verdict

__all__ = ["Facts", "Found", "Mentions", "find", "whole"]

Fact = str | tuple[str, ...]
"""A text that must be there, or the variants of which one must."""


def _written_as_facts(value: object) -> object:
    """A list of texts and lists of variants as tuples, refused with the remedy where it holds anything else."""
    if not isinstance(value, list | tuple) and not (isinstance(value, str) and value.startswith("key.")):
        raise ValueError(f"{value!r} must be a list, as in [{str(value)!r}], or a reference like key.NAME")
    if isinstance(value, str):
        return value
    facts = [tuple(fact) if isinstance(fact, list) else fact for fact in value]
    for text in (text for fact in facts for text in (fact if isinstance(fact, tuple) else (fact,))):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{text!r} is no text that can be required; write words, numbers in quotes")
    if () in facts:
        raise ValueError("an empty list of variants can never be found; write at least one")
    return tuple(facts)


Facts = Annotated[FromKey | tuple[Fact, ...], BeforeValidator(_written_as_facts)]
"""Required texts, or a reference to them in the case's answer key."""


class Mentions(Check):
    """Texts that must all be in the answer; the value is the share that is.

    Example: `{id: facts, check: mentions, all_of: [KB-2210, [proxy version, version of the proxy]]}`

    An item that is itself a list holds variants, any of which counts. Texts are found as whole words in any case,
    however blanks, dashes and quotes are typed, and never inside a longer identifier or path (KB-2210 is not in
    KB-22100, /etc/fstab not in /etc/fstab.bak).
    With `share: false` the value is 1 when all are there, else 0.
    """

    revision: ClassVar[int] = 4  # beside letters of scripts that part no words
    check: Literal["mentions"]
    all_of: Facts
    share: bool = True

    def judge(self, sample: Sample) -> Verdict:
        """The share of the required texts that the answer holds."""
        if not self.all_of:
            return self.scored(sample, True, "nothing is required")
        found = find(self.all_of, sample.answer)
        count = len(self.all_of) - len(found.missing)
        value = count / len(self.all_of) if self.share else float(not found.missing)
        reason = f"{count} of {len(self.all_of)} required texts are there"
        if found.missing:
            reason += f"; missing: {', '.join(found.missing)}"
        return self.scored(sample, value, reason, spans=found.spans)


class Found(NamedTuple):
    """Which of the required texts an answer lacks, and where the others stand."""

    missing: list[str]
    """Each as a reason names it: 'one' or 'other variant'."""
    spans: tuple[int, ...]


def find(facts: Iterable[str | tuple[str, ...]], answer: str) -> Found:
    """Look for each of `facts` (a text, or variants of one) in `answer` as whole words, outside thought parts."""
    said = spoken(answer)
    folded = said.folded()
    missing, spans = [], []
    for fact in facts:
        variants = (fact,) if isinstance(fact, str) else fact
        hit = next((hit for text in variants if (hit := _search(text, folded.text))), None)
        if hit:
            spans.append(said.span(folded, *hit.span()))
        else:
            missing.append(" or ".join(map(repr, variants)))
    return Found(missing, merged(spans))


def _search(text: str, folded: str) -> re.Match[str] | None:
    """Where `text` stands in a folded text; one without its first word is told faster than by the pattern."""
    return whole(text).search(folded) if _first_word(text) in folded else None


@lru_cache(maxsize=4096)
def _first_word(text: str) -> str:
    return fold(text.strip()).text.split()[0]


_PATH = re.compile(r"(?:~|\.{1,2})?/[^\W\d_.]|[a-z]:\\\w", re.IGNORECASE)
_JOINERS = "+#@./\\~_-"
"""Signs that join letters and digits into one name, as in C++14 and ASP.NET."""


@lru_cache(maxsize=4096)
def whole(text: str) -> re.Pattern[str]:
    """Finds `text` in folded text as whole words: blanks may be any, mark-up may stand around words."""
    words = fold(text.strip()).text.split()
    body = r"[*_`\"]*\s[\s*_`\"]*".join(re.escape(word) for word in words)
    return re.compile(_before(words[0]) + body + _after(words[-1]) if words else body)


def _before(word: str) -> str:
    """What must not stand before `word`, for it would be the end of a longer name."""
    if joins(word[0]):
        return rf"(?<!{LETTER})(?<!{LETTER}[-_])(?<!\d[.,])" + (rf"(?<!{LETTER}\.)" if _is_dotted(word) else "")
    if _PATH.match(word):  # a path of a file is none of another folder, though one of a URL has its host before it
        return r"(?:(?<![\w.~-])|(?<=:\d\d)|(?<=:\d{3})|(?<=:\d{4})|(?<=:\d{5})|(?<=\.[a-z]{2})|(?<=\.[a-z]{3}))"
    return rf"(?<!{LETTER})" if word[0] in _JOINERS and word[0] != "/" else ""


def _after(word: str) -> str:
    """What must not stand after `word`, for it would be the start of a longer name."""
    if joins(word[-1]):
        longer = rf"(?!\.{LETTER})" if _is_dotted(word) else ""
        return rf"(?!{LETTER})(?![-_]{LETTER})(?![.,]\d)" + longer + (rf"(?!/{LETTER})" if _PATH.match(word) else "")
    return rf"(?!{LETTER})" if word[-1] in _JOINERS else ""


def _is_dotted(word: str) -> bool:
    """Whether a dot and a letter after `word` make it another name: of a file, a host, a package."""
    return "/" in word or re.search(r"[^\W\d_]\.[^\W\d_]|^\.\w", word) is not None
