"""Where readers differ: what each said and why, and what was resolved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evallib.adjudication import ReadOutcome, read_outcomes, settles
from evallib.entries import Reading, Resolution
from evallib.masking import masks_of
from evallib.records import SampleKey
from evallib.scoring import fold_all
from evallib.standing import Item, Readings, Stand, standing_readings
from evallib.store import LoggedEntry, Run

__all__ = ["Dispute", "Said", "disputes"]


@dataclass(frozen=True, slots=True)
class Said:
    """One reader's standing word."""

    id: str
    reader: str
    check: str
    reading: str
    cause: str
    reason: str
    blind: bool

    @classmethod
    def of(cls, stand: Stand, hide: Callable[[str], str] = str) -> list[Said]:
        """Every standing reading of an item, oldest first; `hide` masks what a reason may quote."""
        said = [(e, e.entry, hide(stand.reason(e))) for e in stand.entries]
        return [
            cls(e.id, entry.author, entry.check, entry.reading, stand.cause(e), why, entry.blind)
            for e, entry, why in said
            if isinstance(entry, Reading)
        ]


@dataclass(frozen=True, slots=True)
class Dispute:
    """An item on which standing readings differ."""

    item: Item
    said: tuple[Said, ...]
    resolution: LoggedEntry | None
    """What holds; None while it is open, and strict stands."""
    forked: tuple[str, ...] = ()
    """Readers with two standing words of which neither amends the other."""
    across: bool = False
    """Whether one reader's word on the answer differs from what another's readings of its checks make of it."""

    def as_dict(self) -> dict[str, Any]:
        """What `evallib agreement --json` prints of it."""
        held = self.resolution.entry if self.resolution else None
        resolved = None
        if isinstance(held, Resolution):
            resolved = {
                "id": self.resolution.id if self.resolution else "",
                "by": held.author,
                "reading": held.reading,
                "cause": held.cause,
                "reason": held.reason,
                "self_resolved": held.self_resolved,
            }
        return {
            **self.item._asdict(),
            "resolved": resolved is not None,
            "resolution": resolved,
            "forked": list(self.forked),
            "answer_against_checks": self.across,
            "said": [
                {"id": s.id, "reader": s.reader, "check": s.check, "reading": s.reading, "cause": s.cause,
                 "reason": s.reason, "blind": s.blind} for s in self.said
            ],
        }  # fmt: skip


def disputes(runs: Sequence[Run], log: Sequence[LoggedEntry]) -> list[Dispute]:
    """Every item of `runs` whose standing readings differ, the open ones first."""
    found = [one for run in runs for one in _of_run(run, standing_readings(run, log))]
    return sorted(found, key=lambda one: (one.resolution is not None, one.item))


def _of_run(run: Run, readings: Readings) -> Iterable[Dispute]:
    open_samples = set()
    by_answer: dict[SampleKey, list[Stand]] = defaultdict(list)
    for (case, sample, _), stand in readings.by_item.items():
        by_answer[case, sample].append(stand)
    for (case, sample, check), stand in readings.by_item.items():
        if stand.state == "disputed":
            open_samples.add((case, sample))
        if stand.state == "disputed" or stand.resolution is not None:
            whole = not check and settles(stand, (one for one in by_answer[case, sample] if one is not stand))
            told = by_answer[case, sample] if whole else [stand]
            hide = masks_of(run.by_key[case, sample]).mask
            said = tuple(one for one_stand in told for one in Said.of(one_stand, hide))
            item, held = Item(run.id, case, sample, check), _masked(stand.resolution, hide)
            yield Dispute(item, said, held, stand.forked, across=whole and not stand.differ)
    strict = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    outcomes: Mapping[SampleKey, ReadOutcome] = read_outcomes(run, strict, readings)
    for key, read in outcomes.items():
        if read.state == "disputed" and key not in open_samples:
            hide = masks_of(run.by_key[key]).mask
            said = tuple(one for stand in by_answer[key] for one in Said.of(stand, hide))
            yield Dispute(Item(run.id, *key), said, None, across=True)


def _masked(resolution: LoggedEntry | None, hide: Callable[[str], str]) -> LoggedEntry | None:
    """A resolution as it may be shown."""
    if resolution is None or not isinstance(held := resolution.entry, Resolution):
        return resolution
    return resolution._replace(entry=held.model_copy(update={"reason": hide(held.reason)}))
