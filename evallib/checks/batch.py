"""Samples judged together: columns that several checks share are built once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, overload

from evallib.checks.folding import compose, composed_span
from evallib.records import Sample, SampleKey

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Batch", "TextColumn", "whole_numbers"]


class Batch(Sequence[Sample]):
    """A sequence of samples that remembers its text columns.

    Hand one batch to several checks and the answers are turned into an Arrow column once; any other sequence of
    samples works too, at the cost of building the column again for every check.
    """

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._samples = tuple(samples)

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
    def answers(self) -> TextColumn:
        """The answers, one row per sample."""
        return TextColumn(tuple(sample.answer for sample in self._samples), tuple(range(len(self))))

    @cached_property
    def recorded(self) -> TextColumn:
        """Every text recorded outside the answers; `owners` says whose it is."""
        owners = tuple(row for row, sample in enumerate(self._samples) for _ in sample.recorded)
        return TextColumn(tuple(text for sample in self._samples for text in sample.recorded), owners)


@dataclass(frozen=True)
class TextColumn:
    """Texts as an Arrow column, and the row of the sample that owns each."""

    texts: tuple[str, ...]
    owners: tuple[int, ...]

    @cached_property
    def arrow(self) -> pa.LargeStringArray:
        """The texts, composed (NFC), as Arrow strings."""
        import pyarrow as pa

        # Built from buffers: `pa.array` would import pandas, which takes longer than all patterns together. A lone
        # surrogate is escaped at a target's edge; should one come by another way, one `?` stands for it.
        encoded = [compose(text).encode("utf-8", "replace") for text in self.texts]
        offsets = array("q", accumulate(map(len, encoded), initial=0))
        return pa.LargeStringArray.from_buffers(len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))

    def span(self, position: int, start: int, length: int) -> tuple[int, int]:
        """Code points in the text at `position` for `length` bytes of its Arrow string from byte `start`."""
        text = self.texts[position]
        if text.isascii():
            return start, start + length
        encoded = compose(text).encode("utf-8", "replace")
        first = len(encoded[:start].decode())
        return composed_span(text, first, first + len(encoded[start : start + length].decode()))


def whole_numbers(column: pa.Int64Array | pa.UInt64Array) -> list[int]:
    """A column of 64 bits without nulls as a list, read from its buffer: Arrow would make an object of each first."""
    end = column.offset + len(column)
    return memoryview(column.buffers()[1]).cast("q")[column.offset : end].tolist()
