"""What people said of an answer that changes sides: whether their readings support the flip, contradict it, or are none."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

from evallib.records import SampleKey
from evallib.standing import Readings, Stand

__all__ = ["Support", "support_of"]


class Support(NamedTuple):
    """Where the readings of a flip stand."""

    state: Literal["supported", "contradicted", "unread"]
    """`unread` also where what stands is stale, unsure, disputed, an infrastructure failure, or of other checks."""
    readings: tuple[str, ...] = ()
    """Ids of the readings that say so."""


UNREAD = Support("unread")


def support_of(key: SampleKey, to: str, moved: Collection[str], readings: Readings) -> Support:
    """What the readings of answer `key` say of its flip to `to` (pass or fail), which the checks `moved` brought about.

    A reading of the answer decides. Where none does, the flip is supported by readings of every moved check that say
    what it now is, and contradicted by one that says the opposite. A check that only counts for more or less than
    before moved nothing: it takes a reading of the answer.
    """
    opposite = {"pass": "fail", "fail": "pass"}.get(to)
    whole = readings.by_item.get((*key, ""))
    if whole is not None and whole.state in {to, opposite}:
        return Support("supported" if whole.state == to else "contradicted", _ids(whole))
    stands = [stand for check in sorted(moved) if (stand := readings.by_item.get((*key, check)))]
    against = tuple(id_ for stand in stands if stand.state == opposite for id_ in _ids(stand))
    if against:
        return Support("contradicted", against)
    if stands and len(stands) == len(moved) and all(stand.state == to for stand in stands):
        return Support("supported", tuple(id_ for stand in stands for id_ in _ids(stand)))
    return UNREAD


def _ids(stand: Stand) -> tuple[str, ...]:
    return tuple(logged.id for logged in stand.entries)
