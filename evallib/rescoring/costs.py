"""What changed checks cost: CPU time on stored answers, and how it grows with one long line."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from evallib.checks.base import Check
from evallib.checks.batch import Batch
from evallib.checks.foreign import verdicts_by
from evallib.records import Sample
from evallib.suite import BoundCheck

__all__ = ["Cost", "Trial"]

_MOST = 1000
"""Stored answers that one check is tried on."""
_FEWEST = 200
"""Fewer are given again and again, so that what a batch costs by itself is not taken for theirs."""
_CODED = 20
"""As above, of a check of code: each takes a process."""
_LINES = (12_500, 25_000, 50_000, 100_000)
"""Characters of the long lines; each is twice the one before, so that the growth can be told."""
_SLOW_S = 1.0
"""Of 1,000 answers, or of one long line."""
_LINEAR = 3.0
"""Twice the text takes twice the time, noise aside; four times is quadratic."""
_TOLD_S = 0.02
"""Shorter times say nothing of growth."""


class Cost(NamedTuple):
    """What one changed check takes."""

    check: str
    answers: int
    """Stored answers that it was tried on."""
    per_1000_s: float
    """Seconds of CPU for 1,000 answers; by the clock for code, which runs in a process of its own."""
    line: int | None
    """Characters of the longest line that was tried; None for code."""
    line_s: float | None
    growth: float | None
    """Its time over that of half the line; None where both are too short to tell."""

    @property
    def slow(self) -> bool:
        """Whether it holds up a run, or grows faster than the text."""
        grows = self.growth is not None and self.growth > _LINEAR
        return grows or self.per_1000_s > _SLOW_S or (self.line_s or 0) > _SLOW_S

    def as_dict(self) -> dict[str, Any]:
        """The object `rescore --preview --json` prints."""
        return {**self._asdict(), "slow": self.slow}


@dataclass
class Trial:
    """Stored answers put by for the changed checks, up to a thousand for each check id."""

    now: Callable[[], float] = time.process_time
    """Seconds so far; code checks, which run in a process of their own, go by the clock on the wall."""
    answers: dict[str, dict[str, tuple[Check, list[Sample]]]] = field(default_factory=lambda: defaultdict(dict))
    """Check id to the digests of its forms, each with the form and its answers: a key makes one of every case."""
    _counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, changed: Mapping[str, Sequence[BoundCheck]], samples: Sequence[Sample]) -> None:
        """Put by what is still wanted of `samples` for the checks that changed in their cases."""
        for sample in samples:
            for check, decides in changed.get(sample.case_id, ()):
                if self._counts[check.id] < _MOST:
                    self._counts[check.id] += 1
                    self.answers[check.id].setdefault(decides, (check, []))[1].append(sample)

    def costs(self) -> tuple[Cost, ...]:
        """The cost of every changed check, in the order of their ids."""
        return tuple(self._cost(name, list(self.answers[name].values())) for name in sorted(self.answers))

    def _cost(self, name: str, forms: Sequence[tuple[Check, list[Sample]]]) -> Cost:
        coded = any(check.check == "code" for check, _ in forms)
        forms = [(check, samples[:_CODED]) for check, samples in forms[:1]] if coded else forms
        now = time.perf_counter if coded else self.now
        for check, samples in forms:
            verdicts_by(check, samples[:1])  # what is made once, such as a compiled pattern, is no answer's cost
        count = sum(len(samples) for _, samples in forms)
        times = 1 if coded else math.ceil(_FEWEST / count)
        took = sum(_seconds(check, samples * times, now) for check, samples in forms) / times
        line, line_s, growth = (None, None, None) if coded else _long_line(*forms[0], now)
        return Cost(name, count, took / count * 1000, line, line_s, growth)


def _long_line(check: Check, samples: Sequence[Sample], now: Callable[[], float]) -> tuple[int, float, float | None]:
    """The longest line tried, its seconds, and the growth; a check that is slow already is given no longer one."""
    words = " ".join(" ".join(sample.answer.split()) for sample in samples).strip() or "word "
    text = words * (_LINES[-1] // len(words) + 1)
    before = took = 0.0
    for size in _LINES:
        before, took = took, min(_seconds(check, [_as_answer(samples[0], text[:size])], now) for _ in range(2))
        if took > _SLOW_S:
            break
    return size, took, took / before if before and took > _TOLD_S else None


def _as_answer(sample: Sample, text: str) -> Sample:
    turns = (*sample.turns[:-1], replace(sample.turns[-1], text=text)) if sample.turns else ()
    return replace(sample, answer=text, turns=turns)


def _seconds(check: Check, samples: Sequence[Sample], now: Callable[[], float]) -> float:
    began = now()
    verdicts_by(check, Batch(samples))
    return now() - began
