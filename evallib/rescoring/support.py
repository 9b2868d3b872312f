"""Whether what people read supports a flip, contradicts it, or is none."""

from __future__ import annotations

from collections.abc import Mapping
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
_OPPOSITE = {"pass": "fail", "fail": "pass"}


def support_of(key: SampleKey, to: str, decided: Mapping[str, str], readings: Readings) -> Support:
    """What the readings of answer `key` say of its flip to `to`, pass or fail.

    A reading of the answer counts alone. Where there is none, those of the checks that `decided` it count (check to
    the word that its verdict is now): the flip is supported where every one of them was read so, and contradicted
    where one was read otherwise. A check that merely counts for more or less than before decides by no new word, so
    that its flips take a reading of the answer.
    """
    whole = readings.by_item.get((*key, ""))
    if whole is not None and whole.state in _OPPOSITE and to in _OPPOSITE:
        return Support("supported" if whole.state == to else "contradicted", _ids(whole))
    stands = {check: stand for check in sorted(decided) if (stand := readings.by_item.get((*key, check)))}
    against = tuple(
        id_ for check, stand in stands.items() if _OPPOSITE.get(stand.state) == decided[check] for id_ in _ids(stand)
    )
    if against:
        return Support("contradicted", against)
    if decided and len(stands) == len(decided) and all(stands[check].state == decided[check] for check in decided):
        return Support("supported", tuple(id_ for stand in stands.values() for id_ in _ids(stand)))
    return UNREAD


def _ids(stand: Stand) -> tuple[str, ...]:
    return tuple(logged.id for logged in stand.entries)
