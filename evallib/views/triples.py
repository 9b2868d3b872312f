"""Strict, reading and rescored side by side, never merged, and one word for how the three stand to one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from evallib.standing import Readings
from evallib.views.load import View

__all__ = ["Triple", "TripleState", "readings_of", "state_of_three", "triples", "words_of"]

TripleState = Literal[
    "agreed-pass", "agreed-fail", "false-fail", "false-pass", "fixed", "still-wrong", "over-fixed", "unread-flip", ""
]
Key = tuple[str, int, str]
"""(case_id, sample, check_id); the check is empty for the whole answer."""
_SETTLED = ("pass", "fail")


class Triple(NamedTuple):
    """One answer, or one verdict on it, as three sides have it."""

    case_id: str
    sample: int
    check: str
    strict: str
    read: str
    """Empty where nobody's reading stands."""
    rescored: str
    """Empty where there is no rescoring."""
    state: TripleState


def state_of_three(strict: str, read: str, rescored: str) -> TripleState:
    """How the three stand to one another; empty where they do not tell: nothing was read, and nothing flips.

    `fixed`: strict was wrong by the reading, and the rescoring is right. `still-wrong`: strict was wrong, and the
    rescoring is as wrong. `over-fixed`: strict was right, and the rescoring is wrong. `false-fail` and `false-pass`:
    strict was wrong, and nothing was rescored. An unsure, disputed or infrastructure reading counts as none.
    """
    if read not in _SETTLED:
        return "unread-flip" if rescored and rescored != strict else ""
    if strict == read:
        agreed: TripleState = "agreed-pass" if read == "pass" else "agreed-fail"
        return agreed if rescored in {"", read} else "over-fixed"
    if not rescored:
        return "false-fail" if read == "pass" else "false-pass"
    return "fixed" if rescored == read else "still-wrong"


def readings_of(view: View, readings: Readings) -> dict[Key, str]:
    """What people say of every answer and verdict that was read; of an answer also by readings of its checks.

    `view` is the read view, which folds them.
    """
    said: dict[Key, str] = {(*key, ""): state for key, state in view.states.items()}
    return said | {key: stand.state for key, stand in readings.by_item.items() if key[2]}


def words_of(view: View) -> dict[Key, str]:
    """What a view says of every answer and of every verdict that applies, in one word."""
    words = {(*key, ""): _word(outcome.passed, outcome.status) for key, outcome in view.outcomes.items()}
    for verdict in view.verdicts:
        if verdict.status != "not_applicable":
            words[verdict.case_id, verdict.sample, verdict.check_id] = _word(verdict.passed, verdict.status)
    return words


def _word(passed: bool | None, status: str) -> str:  # noqa: FBT001  # the verdict itself, no switch
    return status.replace("_", " ") if passed is None else "pass" if passed else "fail"


def triples(
    strict: Mapping[Key, str], rescored: Mapping[Key, str] | None, read_as: Mapping[Key, str]
) -> Iterator[Triple]:
    """Everything that was read or that flips, in the order of `strict`; the rescoring may be None.

    The flip of a check nobody read is left out where its answer was read as a whole.
    """
    for key, word in strict.items():
        read = read_as.get(key, "")
        other = "" if rescored is None else rescored.get(key, "gone")
        state = state_of_three(word, read, other)
        told = state == "unread-flip" and key[2] and read_as.get((*key[:2], "")) in _SETTLED
        if (state or read) and not told:
            yield Triple(*key, word, read, other, state)
