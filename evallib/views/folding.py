"""The outcomes of a stored run from its columns: samples whose verdicts are alike are folded once.

Runs of 100,000 samples have a million verdicts and few patterns of them. What `fold` says of a pattern holds for all
its samples; only the score is each sample's own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from evallib.checks.extraction import spoken
from evallib.records import Outcome, Sample, SampleKey, Verdict
from evallib.scoring import PassRule, fold, weighted_mean

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SAMPLE_COLUMNS", "TURN_COLUMNS", "VERDICT_COLUMNS", "FoldedSample", "fold_columns", "trajectories"]

Numbers = Any
"""A numpy array: numpy is imported where it is used, and types the products of its arrays as Any."""

SAMPLE_COLUMNS = ("case_id", "sample", "status", "error", "answer", "files", "recorded", "seed")
TURN_COLUMNS = ("case_id", "sample", "text", "tool_calls", "pending")
VERDICT_COLUMNS = (
    "case_id", "sample", "check_id", "status", "value", "raw", "passed", "reason", "critical", "weight", "stochastic",
    "origin", "decides", "judge",
)  # fmt: skip
_PATTERN = ("check_id", "status", "passed", "critical", "weight", "stochastic", "origin")
_MOST = 2**62
_CALL_ID = re.compile(r'"id":"[^"]*"')


class FoldedSample(NamedTuple):
    """A sample's own status, the outcome of its verdicts, and whether it passes by the deterministic ones alone."""

    status: str
    outcome: Outcome
    """Of the first sample that is alike: its key and score are not this one's."""
    score: float | None
    deterministic: bool | None


def fold_columns(samples: pa.Table, verdicts: pa.Table, rule: PassRule) -> dict[SampleKey, FoldedSample]:
    """What `scoring.fold_all` gives, by (case_id, sample); tables as stored, with the columns named above."""
    keys = list(zip(*(samples.column(name).to_pylist() for name in ("case_id", "sample")), strict=True))
    rows = _Rows(verdicts, keys)
    said = zip(keys, *(samples.column(name).to_pylist() for name in ("status", "error", "answer")), strict=True)
    known: dict[tuple[Any, ...], tuple[Outcome, bool | None]] = {}
    found = {}
    for (key, status, error, answer), (pattern, start, end) in zip(said, rows.patterns(), strict=True):
        alike = (pattern, status, error, _problem(answer))
        if alike not in known:
            sample, all_of = (
                Sample("", key[0], key[1], status=status, error=error, answer=answer),
                rows.verdicts(key, start, end),
            )
            sure = [verdict for verdict in all_of if not verdict.stochastic]
            outcome = fold(sample, all_of, rule)
            known[alike] = outcome, outcome.passed if len(sure) == len(all_of) else fold(sample, sure, rule).passed
        outcome, deterministic = known[alike]
        score = rows.score(start, end) if outcome.status == "scored" else None
        found[key] = FoldedSample(status, outcome, score, deterministic)
    return found


def _problem(answer: str) -> str:
    """Why nothing is said in an answer; most say something at once."""
    first = answer[:1]
    return "" if first.isascii() and first.isalnum() and "<" not in answer else spoken(answer).problem


class _Rows:
    """Verdicts as columns, those of one sample side by side and in stored order."""

    def __init__(self, table: pa.Table, keys: Sequence[SampleKey]) -> None:
        import numpy as np

        sample = _places(table, keys)
        order: Any = slice(None)  # as they are stored, unless somebody laid them otherwise
        if (sample < 0).any() or (sample[1:] < sample[:-1]).any():
            order = np.argsort(sample, kind="stable")
            order = order[sample[order] >= 0]
        self._ends = np.searchsorted(sample[order], np.arange(len(keys) + 1)).tolist()
        columns = {name: _coded(table.column(name)) for name in _PATTERN}
        self._columns = {name: (codes[order], names) for name, (codes, names) in columns.items()}
        value, weight = (table.column(name).to_numpy()[order].astype(float) for name in ("value", "weight"))
        codes, names = self._columns["status"]
        applies = np.array([name != "not_applicable" for name in names], dtype=bool)[codes]
        counts = ~np.isnan(value) & (weight > 0) & applies
        given = _coded(table.column("decides"))
        self._decides = np.array([bool(text) for text in given[1]], dtype=bool)[given[0][order]]
        self._pattern = _joint([*(codes for codes, _ in self._columns.values()), self._decides])
        self._weights, self._products = weight[counts].tolist(), (weight * value)[counts].tolist()
        self._counted = [0, *np.cumsum(counts).tolist()]

    def patterns(self) -> Iterator[tuple[bytes, int, int]]:
        """For each sample what is alike in its verdicts, and where they begin and end."""
        for start, end in pairwise(self._ends):
            yield self._pattern[start:end].tobytes(), start, end

    def score(self, start: int, end: int) -> float | None:
        """The weighted mean of the verdicts from `start` to `end`."""
        start, end = self._counted[start], self._counted[end]
        return weighted_mean(self._weights[start:end], self._products[start:end])

    def verdicts(self, key: SampleKey, start: int, end: int) -> list[Verdict]:
        """The verdicts from `start` to `end`, with all that the fold reads but their values."""
        fields = {name: [names[code] for code in codes[start:end]] for name, (codes, names) in self._columns.items()}
        return [
            Verdict(*key, reason="", decides="x" * bool(decides), **dict(zip(fields, row, strict=True)))
            for decides, *row in zip(self._decides[start:end], *fields.values(), strict=True)
        ]


def _places(table: pa.Table, keys: Sequence[SampleKey]) -> Numbers:
    """For each row the place of its sample among `keys`, or -1."""
    import numpy as np

    codes, names = _coded(table.column("case_id"))
    number = table.column("sample").to_numpy().astype("int64")
    cases = {name: place for place, name in enumerate(names)}
    size = int(max(number.max(initial=0), max((n for _, n in keys), default=0))) + 1
    known = np.array([cases.get(case, len(names)) * size + n for case, n in keys], dtype="int64")
    if not len(known):
        return np.full(len(number), -1)
    order = np.argsort(known, kind="stable")
    asked = codes * size + number
    found = order[np.minimum(np.searchsorted(known[order], asked), len(order) - 1)]
    return np.where(known[found] == asked, found, -1)


def _coded(column: pa.ChunkedArray) -> tuple[Numbers, list[Any]]:
    """The place of each value among those there are, None too, and those there are."""
    import numpy as np

    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(coded.indices).astype("int64"), coded.dictionary.to_pylist()


def _joint(columns: Sequence[Numbers]) -> Numbers:
    """One number for each row, the same where all columns are."""
    import numpy as np

    found, many = np.zeros(len(columns[0]), dtype="int64"), 1
    for codes in columns:
        size = int(codes.max(initial=0)) + 1
        if many * size >= _MOST:
            found = np.unique(found, return_inverse=True)[1]
            many = len(found)
        found, many = found * size + codes, many * size
    return found


def trajectories(samples: pa.Table, turns: pa.Table) -> Mapping[SampleKey, str]:
    """A digest of all that each sample put out: answer, files, notes, and each turn's text and calls with results.

    The ids of calls are no part of it: a provider draws them anew for the same answer.
    """
    found: dict[SampleKey, Any] = {}
    for case, sample, *said in zip(
        *(samples.column(name).to_pylist() for name in ("case_id", "sample", "answer", "files", "recorded")),
        strict=True,
    ):
        found[case, sample] = hashlib.blake2b("\x1f".join(said).encode(), digest_size=8)
    for case, sample, *said in zip(*(turns.column(name).to_pylist() for name in TURN_COLUMNS), strict=True):
        if (case, sample) in found:
            found[case, sample].update(_CALL_ID.sub("", "\x1e" + "\x1f".join(one or "" for one in said)).encode())
    return {key: one.hexdigest() for key, one in found.items()}
