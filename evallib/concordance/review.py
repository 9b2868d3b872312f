"""What is known of the readings of some runs: how readers agree, where they differ, and what reading found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evallib.concordance.audit import Audit, audit_run
from evallib.concordance.concord import Concord, concords
from evallib.concordance.disputes import Dispute, disputes
from evallib.entries import Reading
from evallib.store import LoggedEntry, Run

__all__ = ["Review", "review"]


@dataclass(frozen=True, slots=True)
class Review:
    """Agreement, disputes and audits of one or several runs."""

    runs: tuple[str, ...]
    readers: tuple[str, ...]
    """Everyone with an entry that reads one of the runs."""
    agreement: tuple[Concord, ...]
    disputes: tuple[Dispute, ...]
    audits: tuple[Audit, ...]

    @property
    def open_disputes(self) -> int:
        """Disputes that no resolution settles; there strict stands."""
        return sum(one.resolution is None for one in self.disputes)

    def sentences(self) -> list[str]:
        """One sentence for each number: what it licenses, and what it does not."""
        said = [one.sentence() for one in self.agreement] or [self._nothing_shared()]
        if self.disputes:
            said.append(
                f"Items on which readers differ: {len(self.disputes)}, of them {self.open_disputes} unresolved."
            )
        for one in self.audits:
            run = f"{one.run}: " if len(self.runs) > 1 else ""
            about = f"check {one.check!r}: " if one.check else ""
            said += [run + one.sentence(), *(f"{run}{about}{s.sentence()}" for s in one.strata if s.of)]
        return said

    def _nothing_shared(self) -> str:
        who = f" (readings by {', '.join(self.readers)})" if self.readers else ""
        return f"Agreement is not estimable: no item was read blind by two people{who}."

    def as_dict(self) -> dict[str, Any]:
        """The object `evallib agreement --json` prints."""
        return {
            "runs": list(self.runs),
            "readers": list(self.readers),
            "agreement": [one.as_dict() for one in self.agreement],
            "disputes": [one.as_dict() for one in self.disputes],
            "open_disputes": self.open_disputes,
            "audit": [one.as_dict() for one in self.audits],
            "sentences": self.sentences(),
        }


def review(runs: Sequence[Run], log: Sequence[LoggedEntry]) -> Review:
    """Agreement over all runs together, audits run by run: each run is an arm of its own."""
    ids = tuple(run.id for run in runs)
    readers = sorted({entry.author for _, entry in log if isinstance(entry, Reading) and entry.run in ids})
    return Review(
        runs=ids,
        readers=tuple(readers),
        agreement=tuple(concords(runs, log)),
        disputes=tuple(disputes(runs, log)),
        audits=tuple(one for run in runs for one in audit_run(run, log)),
    )
