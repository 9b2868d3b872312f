"""Whether a published row of pass^1..n can come from any set of so many cases and samples, and from which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count, islice
from math import ceil, comb, floor
from typing import NamedTuple

from evallib.errors import InputError

__all__ = ["attainable"]

_PRINTED = re.compile(r"(\d*\.\d+|\d+\.?)\s*(%?)\Z", re.ASCII)


_PATIENCE = 300_000
"""Beginnings of a histogram looked at before a row is told to be too coarse; some seconds."""


class _Range(NamedTuple):
    """Whole numbers from `least` to `most`."""

    least: int
    most: int


def attainable(cases: int, samples: int, row: Sequence[str], *, most: int = 100_000) -> list[tuple[int, ...]]:
    """Every histogram that gives the row `pass^1, ..., pass^n` as printed: cases with 0, 1, ... n passes.

    None at all means that no set of `cases` with `samples` each can give the row. The figures are texts, for their last
    digit says how they were rounded ("0.420" is 0.4195 to 0.4205, both ends included, as tools round halves either
    way). Zeros that a tool left out at the end belong there again: "0.42" is 0.415 to 0.425. A row with a percent sign,
    or with a figure above 1, is read as percentages. A row of few digits over many samples fits very many histograms:
    the first `most` of them are given.

    pass^k times cases times C(n,k) is the whole number S_k of draws that pass, and S_k is the sum of C(c,k) over the
    cases; so S_1..S_n and the number of cases determine the histogram (binomial inversion).
    """
    _refuse_absurd(cases, samples, row)
    sums = [_Range(cases, cases), *_draws(cases, samples, row)]
    if any(one.least > one.most for one in sums):
        return []
    return sorted(islice(_histograms(samples, cases, sums, (), count(1)), most))


def _refuse_absurd(cases: int, samples: int, row: Sequence[str]) -> None:
    if cases < 1 or samples < 1:
        raise InputError(f"{cases!r} cases x {samples!r} samples: a row needs at least one of each")
    if isinstance(row, str) or len(row) != samples:
        raise InputError(
            f"a row of {samples} samples per case has {samples} figures, pass^1 to pass^{samples}, each a text as "
            f"printed; this has {1 if isinstance(row, str) else len(row)}"
        )


def _draws(cases: int, samples: int, row: Sequence[str]) -> Iterator[_Range]:
    """For each k the whole numbers of draws of k that all pass which the printed figure allows."""
    printed = [_read(text) for text in row]
    percent = any(sign for _, _, sign in printed) or any(value > 1 for value, _, _ in printed)
    for k, (value, unit, _) in enumerate(printed, 1):
        every = Fraction(cases * comb(samples, k), 100 if percent else 1)
        if value > (100 if percent else 1):
            raise InputError(f"figure {row[k - 1]!r} is more than all; a row holds shares or percentages")
        low, high = value - unit / 2, value + unit / 2
        yield _Range(max(0, ceil(low * every)), min(cases * comb(samples, k), floor(high * every)))


def _read(text: str) -> tuple[Fraction, Fraction, str]:
    """The figure, the worth of its last digit, and its percent sign."""
    found = _PRINTED.match(str(text).strip())
    if not found or not isinstance(text, str):
        raise InputError(f"figure {text!r}: write each as it was printed, as a text, as in '0.420' or '42.0%'")
    digits = len(found[1].partition(".")[2])
    return Fraction(found[1].rstrip(".")), Fraction(1, 10**digits), found[2]


def _histograms(
    at: int, cases: int, sums: Sequence[_Range], above: tuple[int, ...], looked: Iterator[int]
) -> Iterator[tuple[int, ...]]:
    """Histograms of `cases` with at most `at` passes each whose sums of C(c,k), k = 0..at, lie in `sums`.

    `above` holds what was chosen for more passes. The number of cases with exactly `at` is the last sum itself.
    """
    if next(looked) > _PATIENCE:
        raise InputError(
            f"the row has too few digits for its samples: {_PATIENCE:,} beginnings of a histogram were looked at, and "
            "more are left"
        )
    if at == 0:
        yield (cases, *above)
        return
    for chosen in range(max(0, sums[at].least), min(cases, sums[at].most) + 1):
        rest = [_Range(one.least - chosen * comb(at, k), one.most - chosen * comb(at, k)) for k, one in enumerate(sums)]
        left = _narrowed(at - 1, cases - chosen, rest[:at])
        if left:
            yield from _histograms(at - 1, cases - chosen, left, (chosen, *above), looked)


def _narrowed(at: int, cases: int, sums: list[_Range]) -> list[_Range] | None:
    """The sums that `cases` with at most `at` passes each can have at all; None where one has none left.

    Seen as a function of C(c,k), C(c,k+1) is convex over the whole numbers c: so its sum lies above the line through
    two neighbours c = m and m + 1, whose slope is (m-k+1)/k, and below the line from 0 to c = at.
    """
    found = [_Range(cases, cases)]
    for k in range(1, at + 1):
        least, most = max(0, sums[k].least), min(sums[k].most, found[k - 1].most * (at - k + 1) // k)
        if k > 1 and cases:
            least = max(least, _least(cases, k - 1, found[k - 1].least))
        if least > most:
            return None
        found.append(_Range(least, most))
    return found


def _least(cases: int, k: int, draws: int) -> int:
    """The least sum of C(c,k+1) over cases whose C(c,k) sum up to `draws`."""
    m = k - 1
    while comb(m + 1, k) * cases <= draws:
        m += 1
    return comb(m, k + 1) * cases + -(-(draws - comb(m, k) * cases) * (m - k + 1) // k)
