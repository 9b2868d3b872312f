"""What one reader opened sighted although they said nothing of it: kept with the drafts, in this checkout alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress

from evallib.desk.logbook import AnswerId
from evallib.errors import EvallibError
from evallib.store import Drafts

__all__ = ["Looks"]


class Looks:
    """The answers of some runs that an author opened sighted.

    No entry of the log: it says what was on a screen and not what anybody thinks, and git does not carry it.
    """

    def __init__(self, drafts: Drafts, author: str, runs: Iterable[str]) -> None:
        self._drafts, self._author = drafts, author
        self._seen = {run: self._kept(run) for run in (runs if author else ())}

    def _name(self, run: str) -> tuple[object, ...]:
        return ("looks", self._author, run)

    def _kept(self, run: str) -> set[AnswerId]:
        kept = self._drafts.read(self._name(run)).get("sighted")
        return {AnswerId(run, *key) for key in (kept if isinstance(kept, list) else ()) if _is_key(key)}

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
            with suppress(EvallibError):  # a place that may not be written to is no reason not to read
                self._drafts.keep(self._name(run), {"sighted": sorted(answer[1:] for answer in self._seen[run])})


def _is_key(key: object) -> bool:
    return isinstance(key, list) and [type(part) for part in key] == [str, int]
