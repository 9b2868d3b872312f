"""What a reviewer reads of one item: plain text in pieces, nothing marked up, and nothing that is still hidden."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from evallib.checks.placeholders import masked
from evallib.desk.answer_key import fact_lines
from evallib.masking import Masks
from evallib.records import Outcome, Sample, ToolCall, Verdict, canonical_json
from evallib.standing import Item
from evallib.stdout import visible, visible_each
from evallib.suite import Suite

__all__ = ["Fold", "Reveal", "Segment", "Sheet", "cut", "make_sheet", "visible", "word"]


Hide = Callable[[str], str]


class Segment(NamedTuple):
    """A piece of the answer and the ids of the checks that hit it."""

    text: str
    failed: tuple[str, ...] = ()
    """Failed checks: what they found should not be there, or is all they found."""
    passed: tuple[str, ...] = ()
    """Passed checks: they asked for it."""
    start: int = 0
    """Where it begins in the stored answer, in code points."""
    length: int = 0
    """How long it is there; a masked piece shows fewer or more."""


class Fold(NamedTuple):
    """Something a reviewer opens when it is needed: one line, and what is behind it."""

    section: str
    line: str
    text: str
    checks: tuple[str, ...] = ()
    """Checks that this tool call decided; empty before the reveal."""


@dataclass(frozen=True, slots=True)
class Reveal:
    """What a blind reader learns once their reading is saved."""

    strict: str
    """What a reading must say to agree with strict: pass, fail or infra."""
    outcome: Outcome
    against: tuple[Verdict, ...]
    """Verdicts that failed or could not be had, those that decided first."""
    others: tuple[Verdict, ...]
    said: tuple[str, ...]
    """Everybody's standing readings, one line each."""
    model: str = ""
    """Empty while other answers of the same run are still to be read blind."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a reviewer reads of one item. `reveal` is None while it is blind for them, and then nothing tells of it."""

    place: str
    """The run, or its pseudonym."""
    case: str
    sample: int
    check: str
    """The verdict that is read; empty for the whole answer."""
    title: str
    asked: tuple[str, ...]
    answer: tuple[Segment, ...]
    """The whole answer; after the reveal cut where a hit of a check begins or ends."""
    folds: tuple[Fold, ...]
    facts: tuple[tuple[str, tuple[str, ...]], ...]
    """Name of each part of the answer key, and its facts, a line each."""
    rubric: tuple[tuple[str, str], ...]
    """Check id, empty for the whole answer, and what it is judged by."""
    masked: bool
    """Whether a credential was masked somewhere."""
    reveal: Reveal | None = None

    @property
    def name(self) -> str:
        """The item in a few words."""
        return Item(self.place, self.case, self.sample, self.check).name

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """The piece of the stored answer behind code points `start` to `end` of the shown one; None when empty."""
        places = [place for segment in self.answer for place in _places(segment)]
        inside = places[max(0, start) : max(0, end)]
        return (inside[0][0], inside[-1][1]) if inside else None


def _places(segment: Segment) -> Iterator[tuple[int, int]]:
    """For each shown character of a piece, where its original begins and ends in the answer."""
    if len(segment.text) != segment.length:  # masked: all of it, or nothing
        for _ in visible(segment.text):
            yield segment.start, segment.start + segment.length
        return
    for at, shown in enumerate(visible_each(segment.text), segment.start):
        for _ in shown:
            yield at, at + 1


def make_sheet(  # what a sheet is made of, each by its name
    sample: Sample,
    suite: Suite,
    rubric: Mapping[str, str],
    *,
    place: str,
    check: str = "",
    masks: Masks | None = None,
    reveal: Reveal | None = None,
) -> Sheet:
    """The sheet of one item; what `reveal` holds is marked in the answer and the calls, and nothing without it.

    `rubric` is what the item is judged by, by check id; credentials are shown unless there are `masks`.
    """
    case = suite.by_id[sample.case_id]
    hide = masks.mask if masks else _same
    verdicts = (*reveal.against, *reveal.others) if reveal else ()
    asked = tuple(turn.request for turn in sample.turns if turn.request) or tuple(step.sent for step in case.steps)
    return Sheet(
        place,
        sample.case_id,
        sample.sample,
        check,
        hide(case.title),
        tuple(map(hide, asked)),
        cut(sample.answer, verdicts, masks.spans(sample.answer) if masks else ()),
        tuple(_folds(sample, verdicts, hide)),
        tuple((name, tuple(map(hide, fact_lines(value)))) for name, value in case.key.items()),
        tuple((one, hide(text)) for one, text in rubric.items() if text),
        masks is not None and masks.used,
        reveal,
    )


def _same(text: str) -> str:
    return text


def _folds(sample: Sample, verdicts: Sequence[Verdict], hide: Hide) -> list[Fold]:
    turns = sample.turns
    decided: dict[tuple[int, int], list[str]] = {}
    for verdict in verdicts:
        for place in zip(verdict.calls[::2], verdict.calls[1::2], strict=True):
            decided.setdefault(place, []).append(verdict.check_id)
    folds = [
        _call("tool calls", call, hide, decided.get((turn.step, place), ()))
        for turn in turns
        for place, call in enumerate(turn.tool_calls, 1)
    ]
    folds += [_call("left open for a person", call, hide) for turn in turns for call in turn.pending]
    folds += [_call("results of earlier calls", call, hide) for turn in turns for call in turn.results]
    folds += [_folded("earlier turns", f"{t.step}. ", hide(t.text)) for t in turns[:-1] if t.text]
    folds += [_folded("recorded beside the answer", "", hide(text)) for text in sample.recorded]
    return folds + [_folded("files", f"{path}: ", hide(text)) for path, text in sample.files.items()]


def _folded(section: str, label: str, text: str) -> Fold:
    return Fold(section, label + _one_line(text, 110), text)


def _call(section: str, call: ToolCall, hide: Hide, checks: Sequence[str] = ()) -> Fold:
    came = f"✗ {call.error}" if call.error else "no reply" if call.result is None else call.result
    given = ", ".join(f"{name}={value}" for name, value in call.arguments.items())
    line = f"{call.name}({_one_line(hide(given), 70)}) → {_one_line(hide(came), 70)}"
    # apart, as they are stored: a long text that was searched once is not searched again
    text = f"{call.name} {hide(canonical_json(dict(call.arguments)))}\n\n{hide(call.error or call.result or '')}"
    return Fold(section, line, text, tuple(dict.fromkeys(checks)))


def _one_line(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def cut(text: str, verdicts: Iterable[Verdict] = (), secret: Sequence[tuple[int, int]] = ()) -> tuple[Segment, ...]:
    """The text in pieces, none lost, so that each hit of a verdict covers whole pieces.

    What is `secret` (start and end in code points) stays in one piece, masked, and hit by whatever touches it.
    """
    hits = [
        (*_around(max(0, start), min(len(text), end), secret), verdict)
        for verdict in verdicts
        for start, end in zip(verdict.spans[::2], verdict.spans[1::2], strict=True)
        if start < end
    ]
    edges = {0, len(text), *(edge for start, end, _ in hits if start < end for edge in (start, end))}
    places = sorted(edges | {edge for span in secret for edge in span})
    touching: list[list[Verdict]] = [[] for _ in places]
    for start, end, verdict in hits:
        for piece in range(bisect_left(places, start), bisect_left(places, end)):
            touching[piece].append(verdict)
    hidden = set(secret)
    pieces = []
    for (begin, stop), over in zip(pairwise(places), touching, strict=False):
        failed = dict.fromkeys(v.check_id for v in over if v.passed is not True)
        passed = dict.fromkeys(v.check_id for v in over if v.passed is True)
        shown = masked(text[begin:stop]) if (begin, stop) in hidden else text[begin:stop]
        pieces.append(Segment(shown, tuple(failed), tuple(passed), begin, stop - begin))
    return tuple(pieces)


def _around(start: int, end: int, secret: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """A hit made longer, so that it ends inside no secret."""
    touched = [span for span in secret if span[0] < end and start < span[1]]
    return min([start, *(s for s, _ in touched)]), max([end, *(e for _, e in touched)])


def word(outcome: Outcome) -> str:
    """An outcome in one word: pass, fail, error or not scored."""
    if outcome.status != "scored":
        return outcome.status.replace("_", " ")
    return "pass" if outcome.passed else "fail"
