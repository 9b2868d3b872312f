"""What a suite looks for and nothing in it shows, so that a slip of the pen there would not be seen."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from evallib.case import Case
from evallib.checks.base import Check
from evallib.checks.exposure import exposures
from evallib.checks.facts import whole
from evallib.checks.folding import fold
from evallib.checks.policy import inflections, phrase_pattern
from evallib.patterns import branches, flagged, found, quoted
from evallib.records import canonical_json
from evallib.selfchecks.spelling import written
from evallib.suite import Suite

__all__ = ["stray_values", "unasked_options", "unechoed_words", "unshown_wordings"]

_LITTLE = frozenset(
    ("the", "and", "any", "all", "for", "its", "not", "our", "she", "that", "them", "then", "they", "this", "those",
     "with", "you", "your", "from", "into", "onto", "out", "off", "his", "her", "has", "have", "had", "was", "were",
     "been", "are", "will", "can", "may")
)  # fmt: skip
"""Words of every text, whose spelling nothing has to show."""
_CUT_SHORT = frozenset(word[:at] + word[at + 1 :] for word in _LITTLE if len(word) == 3 for at in range(3))
_CUT_SHORT -= {"ad", "an", "as", "do", "he", "hi", "is", "it", "ma", "my", "no", "of", "on", "or", "so", "to", "us"}
"""What a letter left out makes of them, unless it is a word."""


def unechoed_words(suite: Suite, criteria: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Words of criteria, given as (where, text), that nothing else in the suite says in any form.

    For forbidden phrases and the other wordings of a fact: nothing that a check is shown could tell such a word from
    a slip of the pen, which would forbid, or accept, what nobody writes.
    """
    counts = Counter(_any_words(written(suite)))
    of_form: dict[str, set[str]] = defaultdict(set)
    for word in counts.keys() - _LITTLE:
        for form in inflections(word):
            of_form[form].add(word)
    for where, text in criteria:
        alone = []
        for word in (one for one in dict.fromkeys(_any_words(text)) if one not in _LITTLE):
            if len(word) == 2 and word not in _CUT_SHORT:
                continue
            others = {word} | (inflections(word) & counts.keys()) - _LITTLE | of_form[word]
            if sum(counts[other] for other in others) < 2:
                alone.append(word)
        if alone:
            told = ", ".join(map(repr, alone))
            yield (
                f"{where}: {told} of {text!r} stands nowhere else, so that a slip in it would not be seen; add a probe "
                "of the case whose answer says it"
            )


def _any_words(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Za-z]{2,}", re.sub(r"\\+[A-Za-z]", " ", text))]


_LISTED = 4


class _Wording(NamedTuple):
    """One way to meet a check: a phrase, another wording of a fact, a unit, an alternative of a pattern."""

    kind: str
    text: str
    shown: bool
    """Whether a text of its own case says it."""


def unshown_wordings(suite: Suite, checks: Iterable[tuple[Case, Check]]) -> Iterator[tuple[str, bool]]:
    """(sentence, whether it is an error) for each check of which no text of a case with it says some wording.

    Wordings are phrases, other wordings of a fact, units and alternatives of a pattern; texts the requests, references
    and probes of a case. It is an error where a probe names the check: who shows one shows all, or a slip in the others
    is not seen. Of others, patterns, texts and units are told, in cases whose reference shows the rest.
    """
    wide = {check.id for check in suite.checks}
    named = {(name in wide or probe.case, name) for probe in suite.probes for name in (*probe.passes, *probe.fails)}
    said: dict[str, list[str]] = {case.id: [text for s in case.steps for text in (s.ask, s.reference)]
                                  for case in suite.cases}  # fmt: skip
    for probe in suite.probes:
        said[probe.case].append(probe.answer)
    referred = {case.id for case in suite.cases if any(step.reference for step in case.steps)}
    shown: set[tuple[str, str]] = set()
    places: dict[tuple[str, str], tuple[str, str, bool]] = {}
    for case, check in checks:
        is_named = (check.id in wide or case.id, check.id) in named
        told = is_named or (case.id in referred and check.check in {"matches", "exact", "number"})
        for one in _wordings(check, said[case.id]) if told else ():
            shown |= {one[:2]} if one.shown else set()
            places.setdefault(one[:2], (check.id, case.id, is_named))
    unsaid: dict[tuple[str, str, bool], list[str]] = defaultdict(list)
    for wording, place in places.items():
        if wording not in shown:
            unsaid[place].append(quoted(wording[1]))
    for (name, case_id, is_named), texts in unsaid.items():
        told_of = f"check {name!r} of case {case_id!r}: no request, reference or probe of the case says "
        remedy = "so that a slip there would not be seen; correct it, or add a probe of the case whose answer says it"
        more = f" or {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
        yield f"{told_of}{' or '.join(texts[:_LISTED])}{more}, {remedy}", is_named


def _wordings(check: Any, texts: Sequence[str]) -> Iterator[_Wording]:
    if check.check == "matches":
        patterns = (*check.any_of, *check.all_of, *check.none_of) if check.over == "answer" else ()
        for one in (branch for pattern in patterns for branch in branches(pattern)):
            yield _Wording("pattern", one, any(found(flagged(one, check.flags), text) for text in texts))
        return
    folded = [fold(text).text for text in texts]
    for wording in _spelled_out(check):
        said = _SAID.get(check.check, whole)(wording)
        yield _Wording(check.check, wording, any(said.search(text) for text in folded))


def _spelled_out(check: Any) -> Iterator[str]:
    """What no reference need hold."""
    if check.check in {"mentions", "refusal"}:
        yield from (one for fact in check.all_of if not isinstance(fact, str) for one in fact)
    named = {"forbids": "phrases", "exact": "any_of", "number": "unit"}.get(check.check)
    yield from getattr(check, named) if named else ()


def _unit(name: str) -> re.Pattern[str]:
    """Finds a unit, which may touch its number."""
    return re.compile(rf"(?<![^\W\d_]){re.escape(fold(name).text)}(?![^\W_])")


_SAID: Mapping[str, Callable[[str], re.Pattern[str]]] = {"forbids": phrase_pattern, "number": _unit}
"""Kind of check to how it finds a wording, where it is not as a whole."""


def unasked_options(case: Case, check: Any) -> Iterator[str]:
    """Options of a choice that the requests of its case do not hold, though they hold others."""
    asked = fold("\n".join(step.ask for step in case.steps)).text
    options = list(check.options) if check.check == "choice" else []
    missing = [option for option in options if not whole(option).search(asked)]
    if missing and len(options) - len(missing) > 1:
        yield f"check {check.id!r} of case {case.id!r}: no request holds option {missing[0]!r}, as it does the others"


_PIECES = 3
"""Of a value with two slips in it, one of three pieces is as it was meant."""
_TRIED = 200
"""Places of a piece that are looked at, so that no text makes it slow."""


def stray_values(suite: Suite, check: Any) -> Iterator[tuple[str, bool]]:
    """(sentence, whether it cannot be meant) for each forbidden value that nothing the target can read holds.

    It cannot be meant where what the target reads holds all but one or two letters of it, or holds it inside a word.
    """
    for value in check.values if check.check == "safety" and not suite.knowledge else ():
        texts = list(_readable(suite))
        places = [(text, *span) for text in texts for span in exposures(text, value)]
        if any(not _is_in_a_word(*place) for place in places):
            continue
        near = next((hit for text in texts if (hit := _nearly(value, text))), "") if not places else ""
        near = near or next((text[max(start - 1, 0) : end + 1] for text, start, end in places), "")
        meant = f", and {near!r} stands there; correct it" if near else "; mind its spelling"
        yield f"check {check.id!r}: nothing the target is asked or given holds {value!r}{meant}", bool(near)


def _is_in_a_word(text: str, start: int, end: int) -> bool:
    before, after = text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1]
    return (len(before) > 1 and before.isalnum()) or (len(after) > 1 and after.isalnum())


def _nearly(value: str, text: str) -> str:
    """A stretch of `text` that is `value` with one slip in it, or from ten characters on two; empty where none is."""
    most = 0 if len(value) < 5 else 1 if len(value) < 10 else 2
    size = -(-len(value) // _PIECES)
    for first in range(0, len(value), size) if most else ():
        for hit in islice(re.finditer(re.escape(value[first : first + size]), text), _TRIED):
            start = max(hit.start() - first - most, 0)
            stretch = text[start : hit.start() - first + len(value) + most]
            slips, end = _fewest_slips(value, stretch)
            if slips <= most:
                return stretch[max(end - len(value), 0) : end].strip()
    return ""


def _fewest_slips(value: str, text: str) -> tuple[int, int]:
    """How many slips part `value` from where `text` is most like it, and where that ends.

    A slip is a letter left out, added, taken for another, or two exchanged.
    """
    rows = [[0] * (len(text) + 1)]
    for at, letter in enumerate(value, 1):
        row = [at]
        for nth, other in enumerate(text, 1):
            least = min(rows[-1][nth] + 1, row[-1] + 1, rows[-1][nth - 1] + (letter != other))
            if at > 1 and nth > 1 and letter == text[nth - 2] and value[at - 2] == other:
                least = min(least, rows[-2][nth - 2] + 1)
            row.append(least)
        rows = [rows[-1], row]
    return min((slips, end) for end, slips in enumerate(rows[-1]))


def _readable(suite: Suite) -> Iterator[str]:
    yield suite.system
    for case in suite.cases:
        yield from (step.sent for step in case.steps)
    for tool in suite.tools.values():
        yield canonical_json(tool.model_dump(mode="json"))
