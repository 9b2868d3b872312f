"""Samples judged together: columns that several checks share are built once."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, overload

from evallib.checks.folding import compose, composed_span
from evallib.records import Sample, SampleKey

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Batch", "TextColumn", "whole_numbers"]


_ASKED = 32
"""Texts that tell which patterns are rare."""
_TOGETHER = 4_000
"""Characters of patterns searched at once. Of several times as many RE2 keeps too few states, and searches slowly."""
_ALONE = re.compile(r"[*+{]|\\[pP]")
"""In a pattern that repeats, or names a class of Unicode: with others it comes to more states than RE2 keeps."""
_CODED = re.compile(r"\\[x4-7]")
r"""Begins what may be no byte: \x{2014}, or \400 in octal."""


class Batch(Sequence[Sample]):
    """A sequence of samples that remembers its text columns.

    Hand one batch to several checks and the answers are turned into Arrow columns once; any other sequence of samples
    works too, at the cost of building them again for every check. `sought` are patterns the checks will search for.
    """

    def __init__(self, samples: Iterable[Sample], sought: Iterable[str] = ()) -> None:
        self._samples = tuple(samples)
        self._sought = tuple(dict.fromkeys(sought))

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Batch:
        """`samples` itself when it is a batch already."""
        return samples if isinstance(samples, cls) else cls(samples)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | Sequence[Sample]:
        return self._samples[index]

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)

    @cached_property
    def keys(self) -> list[SampleKey]:
        """Case and number of each sample, as verdicts begin."""
        return [sample.key for sample in self._samples]

    @cached_property
    def answers(self) -> tuple[TextColumn, ...]:
        """The answers, those of ASCII apart from the others; `owners` says whose each is."""
        sorts: dict[bool, list[int]] = {}
        for row, sample in enumerate(self._samples):
            sorts.setdefault(sample.answer.isascii(), []).append(row)
        return tuple(
            TextColumn(tuple(self._samples[row].answer for row in rows), tuple(rows), self._sought)
            for rows in sorts.values()
        )

    @cached_property
    def recorded(self) -> tuple[TextColumn, ...]:
        """Every text recorded outside the answers; `owners` says whose it is."""
        owners = tuple(row for row, sample in enumerate(self._samples) for _ in sample.recorded)
        return (TextColumn(tuple(text for sample in self._samples for text in sample.recorded), owners),)


@dataclass(frozen=True)
class TextColumn:
    """Texts as an Arrow column, and the row of the sample that owns each."""

    texts: tuple[str, ...]
    owners: tuple[int, ...]
    sought: tuple[str, ...] = ()
    """Patterns that will be searched for."""

    @cached_property
    def is_ascii(self) -> bool:
        """Whether every text is ASCII."""
        return all(map(str.isascii, self.texts))

    def holding(self, pattern: str) -> pa.UInt64Array:
        """The positions of the texts that hold `pattern`, in ascending order."""
        few, texts = self._rare.get(pattern), self.arrow(pattern)
        if few is None:
            return _holding(texts, pattern)
        return few.take(_holding(texts.take(few), pattern)) if len(few) else few

    @cached_property
    def _rare(self) -> dict[str, pa.UInt64Array]:
        """The patterns sought that few of many texts hold, each with the positions of those that hold any of them.

        One pass finds many of these; a pass for each pattern took a tenth of all scoring.
        """
        if len(self.texts) < 8 * _ASKED:
            return {}
        rare = [
            one
            for one in self.sought
            if len(one) < _TOGETHER and not _ALONE.search(one) and not len(_holding(self.arrow(one)[:_ASKED], one))
        ]
        found: dict[str, pa.UInt64Array] = {}
        ends = accumulate(map(len, rare))
        for _, parcel in groupby(rare, lambda _: next(ends) // _TOGETHER):
            some = list(parcel)
            either = "|".join(f"(?:{one})" for one in some)
            found |= dict.fromkeys(some, _holding(self.arrow(either), either))
        return found

    def arrow(self, pattern: str) -> pa.LargeBinaryArray | pa.LargeStringArray:
        """The texts, composed (NFC), as `pattern` is searched for in them soonest.

        In binary RE2 reads a byte for a character, which is the same where texts and pattern are ASCII, and a quarter
        faster where a pattern counts characters.
        """
        import pyarrow as pa

        in_bytes = self.is_ascii and pattern.isascii() and not _CODED.search(pattern)
        return self._encoded if in_bytes else self._encoded.view(pa.large_string())

    @cached_property
    def _encoded(self) -> pa.LargeBinaryArray:
        import pyarrow as pa

        # Built from buffers: `pa.array` would import pandas, which takes longer than all patterns together. A lone
        # surrogate is escaped at a target's edge; should one come by another way, one `?` stands for it.
        encoded = [compose(text).encode("utf-8", "replace") for text in self.texts]
        offsets = array("q", accumulate(map(len, encoded), initial=0))
        return pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), len(encoded), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
        )

    def span(self, position: int, start: int, length: int) -> tuple[int, int]:
        """Code points in the text at `position` for `length` bytes of its Arrow string from byte `start`."""
        if self.is_ascii:
            return start, start + length
        text = self.texts[position]
        encoded = compose(text).encode("utf-8", "replace")
        first = len(encoded[:start].decode(errors="ignore"))  # \B fits between the bytes of a character too
        return composed_span(text, first, first + len(encoded[start : start + length].decode()))


def _holding(texts: pa.LargeBinaryArray | pa.LargeStringArray, pattern: str) -> pa.UInt64Array:
    import pyarrow.compute as pc

    return pc.indices_nonzero(pc.match_substring_regex(texts, pattern))


def whole_numbers(column: pa.Int64Array | pa.UInt64Array) -> list[int]:
    """A column of 64 bits without nulls as a list, read from its buffer: Arrow would make an object of each first."""
    end = column.offset + len(column)
    return memoryview(column.buffers()[1]).cast("q")[column.offset : end].tolist()
