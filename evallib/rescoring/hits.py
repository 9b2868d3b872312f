"""Pieces of an answer that changed checks find now and did not find before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evallib.checks.folding import merged
from evallib.masking import masks_of
from evallib.records import Sample, Verdict

__all__ = ["Hit", "new_hits"]

_AROUND = 30
_LONGEST = 80
_MOST = 5


class Hit(NamedTuple):
    """A piece of an answer that a check finds now and did not find before."""

    check: str
    start: int
    """In code points of the answer; `end` exclusive."""
    end: int
    text: str
    """The piece between « and », with a few characters around it: untrusted, in one line, credentials masked."""


def new_hits(sample: Sample, before: Sequence[Verdict], after: Sequence[Verdict]) -> tuple[Hit, ...]:
    """What the verdicts `after` on a sample hit that those `before` did not: the first five."""
    old = {(v.check_id, *span) for v in before for span in _pairs(v.spans)}
    places = [(v.check_id, *span) for v in after for span in _pairs(v.spans)]
    new = [place for place in places if place not in old][:_MOST]
    if not new:
        return ()
    secret = masks_of(sample).spans(sample.answer)
    return tuple(Hit(check, start, end, _told(sample.answer, start, end, secret)) for check, start, end in new)


def _pairs(spans: Sequence[int]) -> Iterator[tuple[int, int]]:
    yield from zip(spans[::2], spans[1::2], strict=True)


def _told(answer: str, start: int, end: int, secret: Sequence[tuple[int, int]]) -> str:
    """The piece and what stands around it; each credential that it touches is one mark."""
    pieces = (
        _plain(answer, max(0, start - _AROUND), start, secret),
        f"«{_cut(_plain(answer, start, end, secret))}»",
        _plain(answer, end, min(len(answer), end + _AROUND), secret),
    )
    return "".join(pieces).strip()


def _plain(answer: str, start: int, end: int, secret: Sequence[tuple[int, int]]) -> str:
    inside = [(max(start, a), min(end, b)) for a, b in secret if a < end and b > start]
    flat, shown, at = merged(inside), [], start
    for a, b in zip(flat[::2], flat[1::2], strict=True):
        shown += [answer[at:a], "[masked]"]
        at = b
    return _one_line("".join([*shown, answer[at:end]]))


def _one_line(text: str) -> str:
    """`text` with every run of blanks as one, so that both ends keep theirs."""
    lead, trail = (" " if text[:1].isspace() else ""), (" " if text[-1:].isspace() else "")
    return f"{lead}{' '.join(text.split())}{trail}" if text.strip() else " " * bool(text)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"
