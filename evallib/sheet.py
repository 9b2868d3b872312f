"""What a reviewer reads of one sample: as plain text in pieces, nothing hidden, nothing marked up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from evallib.entries import Reading
from evallib.records import Outcome, Sample, SampleKey, ToolCall, Verdict, canonical_json
from evallib.stdout import visible
from evallib.store import LoggedEntry
from evallib.suite import Suite

__all__ = ["Fold", "Segment", "Sheet", "cut", "make_sheet", "visible", "word"]


class Segment(NamedTuple):
    """A piece of the answer and the ids of the checks that hit it."""

    text: str
    checks: tuple[str, ...] = ()


class Fold(NamedTuple):
    """Something a reviewer opens when it is needed: one line, and what is behind it."""

    section: str
    line: str
    text: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a reviewer reads of one sample."""

    key: SampleKey
    title: str
    asked: tuple[str, ...]
    answer: tuple[Segment, ...]
    """The whole answer, cut where a hit of a failed check begins or ends."""
    outcome: Outcome
    against: tuple[Verdict, ...]
    """Verdicts that failed or could not be had, those that decided first."""
    others: tuple[Verdict, ...]
    descriptions: dict[str, str]
    """Check id to what its suite says of it."""
    folds: tuple[Fold, ...]
    readings: tuple[LoggedEntry, ...]
    """What stands in the log about this sample, anybody's."""

    @property
    def said(self) -> tuple[str, ...]:
        """What was read before, one line per reading."""
        return tuple(
            f"{e.author}: {e.reading} of {e.check or 'the answer'} ({e.cause}) {e.reason}"
            for _, e in self.readings
            if isinstance(e, Reading)
        )


def make_sheet(
    sample: Sample, verdicts: Sequence[Verdict], outcome: Outcome, suite: Suite, readings: tuple[LoggedEntry, ...]
) -> Sheet:
    """The sheet of one sample under the suite that scored it, with the readings that stand."""
    against = [v for v in verdicts if v.passed is False or v.status == "not_scored"]
    against.sort(key=lambda v: v.check_id not in outcome.failed)
    case = suite.by_id[sample.case_id]
    hits = [(start, end, v.check_id) for v in against for start, end in zip(v.spans[::2], v.spans[1::2], strict=True)]
    return Sheet(
        sample.key,
        case.title,
        tuple(turn.request for turn in sample.turns if turn.request) or tuple(step.sent for step in case.steps),
        cut(sample.answer, hits),
        outcome,
        tuple(against),
        tuple(v for v in verdicts if v not in against),
        {bound.check.id: bound.check.description for bound in suite.bound[sample.case_id]},
        tuple(_folds(sample)),
        readings,
    )


def _folds(sample: Sample) -> list[Fold]:
    folds = [Fold("tool calls", _call_line(call), _call_text(call)) for call in sample.tool_calls]
    turns = sample.turns
    folds += [Fold("left open for a person", _call_line(c), _call_text(c)) for t in turns for c in t.pending]
    folds += [Fold("results of earlier calls", _call_line(c), _call_text(c)) for t in turns for c in t.results]
    folds += [_folded("earlier turns", f"{t.step}. ", t.text) for t in turns[:-1] if t.text]
    folds += [_folded("recorded beside the answer", "", text) for text in sample.recorded]
    return folds + [_folded("files", f"{path}: ", text) for path, text in sample.files.items()]


def _folded(section: str, label: str, text: str) -> Fold:
    return Fold(section, label + _one_line(text, 110), text)


def _call_line(call: ToolCall) -> str:
    came = f"✗ {call.error}" if call.error else "no reply" if call.result is None else call.result
    given = ", ".join(f"{name}={value}" for name, value in call.arguments.items())
    return f"{call.name}({_one_line(given, 70)}) → {_one_line(came, 70)}"


def _call_text(call: ToolCall) -> str:
    return f"{call.name} {canonical_json(dict(call.arguments))}\n\n{call.error or call.result or ''}"


def _one_line(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def cut(text: str, hits: Iterable[tuple[int, int, str]]) -> tuple[Segment, ...]:
    """The text in pieces, none lost, so that each (start, end, check id) in code points covers whole pieces."""
    inside = [(max(0, start), min(len(text), end), check) for start, end, check in hits]
    edges = sorted({0, len(text), *(edge for start, end, _ in inside if start < end for edge in (start, end))})
    pieces = []
    for begin, stop in pairwise(edges):
        checks = dict.fromkeys(check for start, end, check in inside if start <= begin and stop <= end)
        pieces.append(Segment(text[begin:stop], tuple(checks)))
    return tuple(pieces)


def word(outcome: Outcome) -> str:
    """An outcome in one word: pass, fail, error or not scored."""
    if outcome.status != "scored":
        return outcome.status.replace("_", " ")
    return "pass" if outcome.passed else "fail"
