"""What one reader was shown although they said nothing of it: kept with the drafts, in this checkout alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress

from evallib.desk.logbook import AnswerId
from evallib.errors import EvallibError
from evallib.store import Drafts

__all__ = ["Looks"]


class Looks:
    """The answers of some runs that an author opened sighted, and the runs of which they saw all that a draw holds.

    No entry of the log: it says what was on a screen and not what anybody thinks, and git does not carry it.
    """

    def __init__(self, drafts: Drafts, author: str, runs: Iterable[str]) -> None:
        self._drafts, self._author = drafts, author
        self._seen: dict[str, set[AnswerId]] = {run: set() for run in (runs if author else ())}
        self._drawn: dict[str, set[str]] = {run: set() for run in self._seen}
        for run in self._seen:
            self._take_in(run)

    def _take_in(self, run: str) -> None:
        """What is kept of a run, by this sitting or by another one since."""
        kept = self._drafts.read(self._name(run))
        seen = kept.get("sighted")
        self._seen[run] |= {AnswerId(run, *key) for key in (seen if isinstance(seen, list) else ()) if _is_key(key)}
        drawn = kept.get("drawn")
        self._drawn[run] |= set(map(str, drawn)) if isinstance(drawn, list) else set()

    def _name(self, run: str) -> tuple[object, ...]:
        return ("looks", self._author, run)

    def has_seen(self, answer: AnswerId) -> bool:
        """Whether the author was shown what strict says of an answer."""
        return answer in self._seen.get(answer.run, ())

    def note(self, answers: Iterable[AnswerId]) -> None:
        """Keep that the author is shown these answers sighted; of nobody nothing is kept."""
        of_run: dict[str, set[AnswerId]] = defaultdict(set)
        for answer in answers if self._author else ():
            of_run[answer.run].add(answer)
        for run, seen in of_run.items():
            if seen <= self._seen[run]:
                continue
            self._seen[run] |= seen
            self._keep(run)

    @property
    def draws(self) -> set[str]:
        """By what the author was shown all that a draw from one of the runs holds, and so what it does not hold."""
        return set().union(*self._drawn.values())

    def note_draw(self, runs: Iterable[str], unit: str) -> None:
        """Keep that the author is shown all that a draw from these runs holds; of nobody nothing is kept."""
        for run in self._drawn.keys() & set(runs):
            if unit not in self._drawn[run]:
                self._drawn[run].add(unit)
                self._keep(run)

    def _keep(self, run: str) -> None:
        self._take_in(run)
        kept = {"sighted": sorted(answer[1:] for answer in self._seen[run]), "drawn": sorted(self._drawn[run])}
        with suppress(EvallibError):  # a place that may not be written to is no reason not to read
            self._drafts.keep(self._name(run), kept)


def _is_key(key: object) -> bool:
    return isinstance(key, list) and [type(part) for part in key] == [str, int]
