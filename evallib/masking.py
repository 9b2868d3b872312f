"""Credentials out of sight: found as the `secrets` check finds them, shown by their first characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from evallib.checks.folding import UNSEEN, fold, merged
from evallib.checks.leaks import leaks
from evallib.checks.placeholders import masked
from evallib.records import Sample, canonical_json

__all__ = ["Masks", "masks_of"]

_SHORTEST = 6
"""A shorter credential is masked where it is told to be one, and not wherever its characters stand."""


_SEEN = re.compile(f"[^{UNSEEN}]+")


class _Bare(NamedTuple):
    """A text without what shows nothing: a credential that is cut by it is still one to whoever copies it."""

    text: str
    origin: Sequence[int] | None = None
    """Per character its place in the original; None when nothing was left out."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that `start` to `end` is left of."""
        return (start, end) if self.origin is None else (self.origin[start], self.origin[end - 1] + 1)


def _bare(text: str) -> _Bare:
    seen = list(_SEEN.finditer(text))
    if sum(hit.end() - hit.start() for hit in seen) == len(text):
        return _Bare(text)
    return _Bare("".join(hit[0] for hit in seen), [at for hit in seen for at in range(*hit.span())])


@lru_cache(maxsize=64)  # one sheet asks for the same texts several times, and a long one takes a second
def _found(text: str) -> tuple[tuple[int, int], ...]:
    folded = fold(text, lower=False)
    return tuple(folded.span(leak.start, leak.end) for leak in leaks(folded.text, ("credential",)))


class Masks:
    """The credentials of some texts: each is masked wherever it stands, not only where its name stands before it."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        bare = (_bare(text).text for text in texts)
        values = {text[start:end] for text in bare for start, end in _found(text)}
        known = sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None
        self.used = False
        """Whether a credential was found since."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where credentials stand in `text`: (start, end) in code points, in order, none inside another."""
        bare = _bare(text)
        again = [hit.span() for hit in self._known.finditer(bare.text)] if self._known else []
        flat = merged(bare.span(*span) for span in (*_found(bare.text), *again))
        self.used = self.used or bool(flat)
        return list(zip(flat[::2], flat[1::2], strict=True))

    def mask(self, text: str) -> str:
        """`text` with at most the first four characters of each credential, and its length."""
        shown, done = [], 0
        for start, end in self.spans(text):
            shown += [text[done:start], masked(text[start:end])]
            done = end
        return "".join([*shown, text[done:]])


def masks_of(*samples: Sample) -> Masks:
    """The credentials of everything that is recorded of some samples."""
    return Masks(text for sample in samples for text in _texts(sample))


def _texts(sample: Sample) -> Iterator[str]:
    yield from (sample.answer, *sample.recorded, *sample.files.values())
    for turn in sample.turns:
        yield from (turn.request, turn.text)
        for call in (*turn.tool_calls, *turn.pending, *turn.results):
            yield canonical_json(dict(call.arguments))
            yield from ((call.error or ""), (call.result or ""))
