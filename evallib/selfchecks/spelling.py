"""Likely slips of the pen in what a criterion looks for, which no reference answer would show."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from evallib.records import canonical_json
from evallib.suite import Suite

__all__ = [
    "compounds", "is_one_slip_off", "likely_slips", "misspelt_declarations", "misspelt_names", "rare", "written",
]  # fmt: skip

_WORD = re.compile(r"(?<![A-Za-z])(?<!--)[A-Za-z]{5,}")
"""Five letters and more, and no option of a command line."""
_COMPOUND = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9]+(?:[-_.]?[A-Za-z0-9]+)*")
"""A word with signs inside it too, as in seat-map."""
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

    A slip is a letter left out, added, taken for another, or two exchanged, after the first letter, and a sign left
    out (seatmap, seat-map). Endings of one word (disable, disabled) and spellings of two countries are none; nor is a
    word that a probe holds, or two that one check looks for (woman, women).
    """
    said = written(suite)
    counts = Counter(_words(said))
    joined = {_squeezed(word): word for word in compounds(said) if not word.isalpha()}
    near: dict[str, set[str]] = defaultdict(set)
    for word in counts:
        for shape in _shapes(word):
            near[shape].add(word)
    own: dict[str, Counter[str]] = defaultdict(Counter)
    for where, text in criteria:
        own[where].update(_words(text))
    for where, text in criteria:
        for word in dict.fromkeys(_words(text)):
            others = {other for shape in _shapes(word) for other in near[shape]} if counts[word] < 2 else set()
            others = {other for other in others if counts[other] > own[where][other]}
            meant = [other for other in sorted(others) if other != word and _is_slip(word, other)]
            meant += [joined[word]] if counts[word] < 2 and word in joined else []
            if meant:
                yield f"{where}: {word!r} stands nowhere else; if not {meant[0]!r} is meant, show so with a probe"


def misspelt_declarations(suite: Suite, criteria: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Names of the vocabulary, tools and arguments that stand nowhere else, beside something one slip away."""
    names = _declared(suite)
    counts = Counter(compounds(written(suite))) if names else Counter[str]()
    # What a probe says is meant as it stands, and what stands once, in a criterion, may be the slip.
    said = Counter(compounds(written(suite.model_copy(update={"probes": ()})))) if names else Counter[str]()
    sought = {word for _, text in criteria for word in compounds(text)}
    spoken_of = {word for word, times in said.items() if word not in names and (times > 1 or word not in sought)}
    for name, (where, kind) in names.items():
        meant = [word for word in sorted(spoken_of) if is_one_slip_off(word, name)] if counts[name] < 2 else []
        if meant:
            yield (
                f"{where}: the {kind} {name!r} stands nowhere else, and the suite speaks of {meant[0]!r}; correct "
                "it, or show with a probe that it is meant"
            )


def _declared(suite: Suite) -> dict[str, tuple[str, str]]:
    """Name in lower case to where it is declared, and what it is."""
    found = {argument.lower(): ("tools", f"argument of {tool!r}") for tool, one in suite.tools.items()
             for argument in one.arguments}  # fmt: skip
    found |= {tool.lower(): ("tools", "tool") for tool in suite.tools}
    for kind, one in suite.vocabulary.items():
        found |= {name.lower(): ("vocabulary", kind) for name in (*one.names, *one.reserved)}
    return found


def is_one_slip_off(word: str, name: str) -> bool:
    """Whether a slip, of any letter where the name has signs in it, makes `name` of `word`; other digits do not."""
    return len(name) > 4 and _is_slip_in(word, name, anywhere=not name.isalpha())


def _is_slip_in(word: str, name: str, *, anywhere: bool = True) -> bool:
    return _unnumbered(word) != _unnumbered(name) and _is_slip(word, name, anywhere=anywhere)


def _unnumbered(name: str) -> str:
    """The name with nothing that counts in it: other digits make another name, and so do letters that stand alone."""
    return re.sub(r"\d|(?<![^\W_])[A-Za-z](?![^\W_])", "0", name)


def rare(uses: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Names used once, of three letters and more, each with another that a slip parts it from.

    That one is used more often, or from five letters on, once as well.
    """
    for name in (name for name, times in uses.items() if times == 1 and len(name) > 2):
        others = [one for one in uses if uses[one] > 1 or (one < name and len(one) > 4)]
        meant = next((one for one in sorted(others) if _is_slip_in(one, name)), "")
        if meant:
            yield name, meant


def misspelt_names(suite: Suite, criteria: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Words of criteria that no target could write, for they are a name of the `vocabulary` with a slip in it.

    The slip is a sign between the parts left out or taken for another, or a letter of a name of several parts; other
    digits are another name, and what stands elsewhere in the suite, as in a probe, is meant.
    """
    names = {name.lower() for kind in suite.vocabulary.values() for name in (*kind.names, *kind.reserved)}
    counts = Counter(compounds(written(suite))) if names else Counter[str]()
    for where, text in criteria if names else ():
        for word in dict.fromkeys(compounds(text)):
            meant = [name for name in sorted(names - {word}) if counts[word] < 2 and _is_misspelt(word, name)]
            if meant and word not in names:
                yield (
                    f"{where}: {word!r} stands nowhere else, and the vocabulary has {meant[0]!r}; correct it, or show "
                    "with a probe that it is meant"
                )


def _is_misspelt(word: str, name: str) -> bool:
    if len(word) < 5 or name.isalpha() or _unnumbered(word) == _unnumbered(name):
        return False
    return _squeezed(word) == _squeezed(name) or (not word.isalpha() and _is_slip(word, name))


def _squeezed(word: str) -> str:
    return re.sub(r"[-_.]", "", word)


def written(suite: Suite) -> str:
    """All that stands in a suite, as one text."""
    return canonical_json(suite.model_dump(mode="json", by_alias=True))


def compounds(text: str) -> list[str]:
    """The words of a text in lower case, those with signs inside them whole."""
    return [word.lower() for word in _COMPOUND.findall(re.sub(r"\\+[A-Za-z]", " ", text))]


def _words(text: str) -> list[str]:
    plain = re.sub(r"\\+[A-Za-z]", " ", text)  # escapes of JSON and of patterns
    return [word.lower() for word in _WORD.findall(plain)]


def _shapes(word: str) -> set[str]:
    """The word, and the word without one letter: two that are one slip apart share a shape."""
    return {word, *(word[:at] + word[at + 1 :] for at in range(1, len(word)))}


def _is_slip(word: str, other: str, *, anywhere: bool = False) -> bool:
    same = {word, f"{word}s"} & {other, f"{other}s"} if anywhere else _is_same_word(word, other)
    if abs(len(word) - len(other)) > 1 or same or not (anywhere or word[0] == other[0]):
        return False
    at = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    rests = (word[at:], other[at:])
    if len(word) == len(other) < 6 and rests[0][1:] == rests[1][1:]:
        return False  # five letters, one of them another: bring and being are two words
    tried = ((rests[0][1:], rests[1]), (rests[0], rests[1][1:]), (rests[0][1:], rests[1][1:]))
    exchanged = sorted(rests[0][:2]) == sorted(rests[1][:2]) and rests[0][2:] == rests[1][2:]
    return exchanged or any(one == two for one, two in tried)


def _is_same_word(word: str, other: str) -> bool:
    stem = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    if stem > 2 and word[stem:] in _ENDINGS and other[stem:] in _ENDINGS:
        return True
    return any(word.replace(one, two) == other.replace(one, two) for one, two in _SPELT_BOTH_WAYS)
