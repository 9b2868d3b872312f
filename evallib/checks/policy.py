"""The check of forbidden advice: phrases that an answer may name only to deny them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from os.path import commonprefix
from typing import ClassVar, Literal, NamedTuple, Self

from pydantic import model_validator

from evallib.checks.base import Check, Texts
from evallib.checks.clauses import Reading, read_clauses
from evallib.checks.folding import LETTER, fold, joins, merged, shown
from evallib.checks.promises import dates, is_promise
from evallib.records import Sample, Verdict

__all__ = ["Forbids", "inflections", "phrase_pattern"]

_PROMISE = "a promised date"


class _Said(NamedTuple):
    what: str
    start: int
    end: int
    denied: bool


class Forbids(Check):
    """Advice the answer must not give; naming it in a clause that denies it is allowed.

    Example: `{id: policy, check: forbids, phrases: [disable SELinux, reinstall], kinds: [promised_date]}`

    A phrase is found in any case and inflection (disabling, disabled), as whole words, around whom or what it is done
    to ("grant him admin rights", "run the shop as root"), never inside a hyphenated word (privileged is not in
    least-privileged). `by: anywhere` forbids it even where it is denied. `kinds` forbids what no phrase can spell:
    `promised_date` is a concrete date by which something will be delivered.
    """

    revision: ClassVar[int] = 9  # what is given after all is no longer denied ("it is risky, but do it")
    check: Literal["forbids"]
    phrases: Texts = ()
    kinds: tuple[Literal["promised_date"], ...] = ()
    by: Literal["clause", "anywhere"] = "clause"

    @model_validator(mode="after")
    def _phrases_hold_words(self) -> Self:
        if isinstance(self.phrases, tuple) and not all(phrase.strip() for phrase in self.phrases):
            raise ValueError("an empty phrase is in every answer; write what is forbidden")
        return self

    def judge(self, sample: Sample) -> Verdict:
        """Fail with the first clauses that say something forbidden."""
        folded = fold(sample.answer)
        named = list(self._named(folded.text))
        if not named:
            return self.scored(sample, True, self._absent())
        reading = read_clauses(sample.answer, folded, sorted(start for _, start, _ in named))
        said = list(_said(reading, named))
        wrong = [one for one in said if not (one.denied and self.by == "clause")]
        if wrong:
            how = " without denying it" if self.by == "clause" else ""
            told = "; ".join(f"{one.what} is said in {_quoted(reading, one)}{how}" for one in wrong[:3])
            return self.scored(sample, False, told, spans=merged(folded.span(one.start, one.end) for one in wrong))
        if said:
            told = "; ".join(f"{one.what} is only denied, in {_quoted(reading, one)}" for one in said[:3])
            return self.scored(sample, True, told)
        return self.scored(sample, True, self._absent())

    def _named(self, text: str) -> Iterator[tuple[str, int, int]]:
        """What folded text names that may be forbidden, and where."""
        for phrase in (one for one in self.phrases if _stem(one) in text):
            for hit in phrase_pattern(phrase).finditer(text):
                yield repr(phrase), *hit.span()
        if "promised_date" in self.kinds:
            for start, end in dates(text):
                yield _PROMISE, start, end

    def _absent(self) -> str:
        kinds = [*map(repr, self.phrases), *(_PROMISE for _ in self.kinds)]
        return f"does not say {' or '.join(kinds)}" if kinds else "nothing is forbidden"


def _said(reading: Reading, named: list[tuple[str, int, int]]) -> Iterator[_Said]:
    for what, start, end in named:
        if what != _PROMISE or is_promise(reading, start, end):
            yield _Said(what, start, end, reading.negates(start, end, advice=True))


def _quoted(reading: Reading, said: _Said) -> str:
    clause = reading.at(said.start)
    return shown(reading.text[clause.start : max(clause.end, said.end)].strip(" ,;:"))


_IRREGULAR = {
    "break": ("broke", "broken"), "build": ("built",), "do": ("does", "did", "done"), "drop": ("dropped", "dropping"),
    "give": ("gave", "given"), "go": ("went", "gone"), "leave": ("left",), "lose": ("lost",), "make": ("made",),
    "overwrite": ("overwrote", "overwritten"), "rebuild": ("rebuilt",), "run": ("ran",), "send": ("sent",),
    "take": ("took", "taken"), "tear": ("tore", "torn"), "throw": ("threw", "thrown"), "write": ("wrote", "written"),
}  # fmt: skip


_WHOM = "it|them|him|her|us|everyone|everybody|anyone|anybody"
_PREPOSITIONS = "as|at|away|back|by|down|for|from|in|into|off|on|onto|out|over|through|to|up|with|without"
_ARTICLES = ("the", "a", "an", "your", "our", "their", "my", "this", "that", "these", "those", "all", "any", "of")


@lru_cache(maxsize=4096)
def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """Finds `phrase` in folded text: whole words in any inflection, blanks, quotes or an article between them.

    An article inside the phrase may be another one, or none ("stop the pods" is in "stop all of your pods"). After its
    first word may stand whom it is done to, and before a preposition what: "run the container as root".
    """
    words = _words(phrase)
    # Bounded, so that no run of blanks makes the search slow.
    between = rf"[\s\"'`*_]{{1,60}}(?:(?:{'|'.join(_ARTICLES)})\s{{1,60}}[\"'`*_]{{0,9}}){{0,3}}"
    thing = rf"(?:{'|'.join(_ARTICLES)})(?:\s{{1,9}}[\w-]{{1,30}}){{1,3}}"
    objects = f"{_WHOM}|{thing}" if words[1:] and words[1] in _PREPOSITIONS.split("|") else _WHOM
    first, *more = map(_word, words)
    body = f"{first}{between}(?:(?:{objects}){between})?{between.join(more)}" if more else first
    before = rf"(?<!{LETTER})(?<!{LETTER}[-_.])" if joins(words[0][0]) else r"(?<!\S)"
    after = rf"(?!{LETTER})(?![-_.]{LETTER})" if joins(words[-1][-1]) else r"(?=[\s\"'`*_),;:.!?\]]|$)"
    first = "".join({re.escape(form[0]) for form in inflections(words[0])})  # asked first: it rules out most places
    return re.compile(f"(?=[{first}]){before}{body}{after}")


@lru_cache(maxsize=4096)
def _stem(phrase: str) -> str:
    """Letters that every wording of `phrase` holds: most texts lack them, which is found faster than by a pattern."""
    stems = (commonprefix(_forms(word)) for word in _words(phrase))  # noqa: RUF071  # of letters, no paths
    return max(stems, key=len)


def _words(phrase: str) -> list[str]:
    words = fold(phrase.strip()).text.split()
    return [word for nth, word in enumerate(words) if nth in {0, len(words) - 1} or word not in _ARTICLES]


def _word(word: str) -> str:
    forms = "|".join(map(re.escape, _forms(word)))
    return f"re-?(?:{forms})" if _may_be_hyphenated(word) else f"(?:{forms})"


def _forms(word: str) -> list[str]:
    """The inflected forms of `word`, without the "re" that a hyphen may part from the rest; no word has but itself."""
    if not word.isalpha():
        return [word]
    forms = sorted(inflections(word))
    return [form.removeprefix("re") for form in forms] if _may_be_hyphenated(word) else forms


def inflections(word: str) -> set[str]:
    """The forms of a verb or noun in lower case, `word` among them."""
    return {form for base in _bases(word) for form in _inflected(base)} | {word}


def _may_be_hyphenated(word: str) -> bool:
    return word.isalpha() and word.startswith("re") and len(word) > 4


def _bases(word: str) -> set[str]:
    """The words that `word` may be a form of: itself, and for an -ing form what it was made of."""
    if len(word) > 5 and word.endswith("ing"):
        stem = word[:-3]
        return {word, stem, stem + "e"} | ({stem[:-1]} if stem[-1] == stem[-2] else set())
    return {word}


def _inflected(base: str) -> set[str]:
    forms = {base, base + "s", *_IRREGULAR.get(base, ())}
    if len(base) < 3:
        return forms | {base + "es", base + "ing"}
    if base.endswith("e"):
        return forms | {base + "d", base[:-1] + "ing"}
    if base.endswith("y") and base[-2] not in "aeiou":
        return forms | {base[:-1] + "ies", base[:-1] + "ied", base + "ing"}
    double = base + base[-1] if re.search(r"[^aeiou][aeiou][bdgklmnprt]$", base) else base
    return forms | {base + "es", base + "ed", base + "ing", double + "ed", double + "ing"}
