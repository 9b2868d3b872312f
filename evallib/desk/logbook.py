"""The log by answer, so that asking about one answer, or adding an entry, costs no walk through all of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from evallib.entries import Difference, Entry, Reading, Resolution, Rubric, Withdrawal
from evallib.standing import Item, Rubrics, Stand, live_entries, own_reading, standing_readings, why_stale
from evallib.store import LoggedEntry, Run, by_time

__all__ = ["AnswerId", "Logbook", "answer_of"]


class AnswerId(NamedTuple):
    """One answer of a stored run."""

    run: str
    case: str
    sample: int


def answer_of(item: Item) -> AnswerId:
    """The answer that an item is of."""
    return AnswerId(item.run, item.case, item.sample)


class _Folded(NamedTuple):
    stands: Mapping[str, Stand]
    """Check id, empty for the whole answer, to where its readings stand."""
    stale: tuple[LoggedEntry, ...] = ()


_UNREAD = _Folded({})


class Logbook:
    """What the log says of the answers of some runs; each answer is folded when asked for, and anew after an entry."""

    def __init__(self, runs: Sequence[Run], log: Sequence[LoggedEntry]) -> None:
        self._runs = {run.id: run for run in runs}
        self._written: dict[str, LoggedEntry] = {}
        self._entries: dict[AnswerId, list[LoggedEntry]] = defaultdict(list)
        self._rubrics: list[LoggedEntry] = []
        """Rubrics, and what was said to take them back."""
        self._seen: set[tuple[str, AnswerId]] = set()
        self._written.update((logged.id, logged) for logged in log)
        for logged in log:
            self._file(logged)
        self._folded: dict[AnswerId, _Folded] = {}
        self._in_force: dict[str, Rubrics] = {}

    def _fold(self, answer: AnswerId) -> _Folded:
        """Where the readings of an answer stand, folded when it is first asked for."""
        if answer not in self._entries:
            return _UNREAD
        if answer not in self._folded:
            readings = standing_readings(self._runs[answer.run], self._entries[answer], self.rubrics(answer.run))
            stands = {check: stand for (_, _, check), stand in readings.by_item.items()}
            self._folded[answer] = _Folded(stands, readings.stale)
        return self._folded[answer]

    def _about(self, logged: LoggedEntry) -> AnswerId | Rubric | None:
        """The answer an entry is about, through withdrawals of withdrawals; or the rubric."""
        entry, passed = logged.entry, {logged.id}
        while isinstance(entry, Withdrawal) and entry.withdraws in self._written and entry.withdraws not in passed:
            passed.add(entry.withdraws)
            entry = self._written[entry.withdraws].entry
        if isinstance(entry, Reading | Difference | Resolution) and entry.run in self._runs:
            return AnswerId(entry.run, entry.case, entry.sample)
        return entry if isinstance(entry, Rubric) else None

    def _file(self, logged: LoggedEntry) -> AnswerId | None:
        about = self._about(logged)
        if isinstance(about, Rubric):
            self._rubrics.append(logged)
        elif about:
            self._entries[about].append(logged)
            self._seen.add((logged.entry.author, about))
            return about
        return None

    def add(self, logged: LoggedEntry) -> AnswerId | None:
        """Take in an entry that was written now; gives the answer it is about, None when it is about none of these."""
        self._written[logged.id] = logged
        if (about := self._file(logged)) is not None:
            self._folded.pop(about, None)
        elif isinstance(self._about(logged), Rubric):  # any reading may be stale now
            self._folded.clear()
            self._in_force.clear()
        return about

    @property
    def written(self) -> list[LoggedEntry]:
        """The whole log."""
        return list(self._written.values())

    def entry(self, id_: str) -> Entry:
        """The entry of that id."""
        return self._written[id_].entry

    def rubrics(self, run: str) -> Rubrics:
        """What the answers of a run are judged by now."""
        if run not in self._in_force:
            self._in_force[run] = Rubrics(self._runs[run], live_entries(self._rubrics))
        return self._in_force[run]

    def log_of(self, answer: AnswerId) -> list[LoggedEntry]:
        """All that the log says of an answer and of what it is judged by."""
        return [*self._rubrics, *self._entries.get(answer, ())]

    def stand(self, item: Item) -> Stand | None:
        """Where the readings of an item stand; None when nobody's does."""
        return self._fold(answer_of(item)).stands.get(item.check)

    def stands(self, answer: AnswerId) -> Mapping[str, Stand]:
        """Check id, empty for the whole answer, to where its readings stand."""
        return self._fold(answer).stands

    def is_stale(self, item: Item) -> bool:
        """Whether somebody read the item in another answer's or rubric's words."""
        return bool(self.stale(item))

    def stale(self, item: Item) -> list[tuple[LoggedEntry, str]]:
        """The readings of an item that count no more, each with the reason."""
        run = self._runs[item.run]
        return [
            (logged, why_stale(run, entry))
            for logged in self._fold(answer_of(item)).stale
            if isinstance(entry := logged.entry, Reading) and entry.check == item.check
        ]

    def own(self, item: Item, author: str) -> LoggedEntry | None:
        """The author's newest standing reading of an item."""
        if not self.has_seen(answer_of(item), author):
            return None
        stand = self.stand(item)
        mine = [e for e in stand.entries if e.entry.author == author] if stand else []
        return mine[-1] if mine else None

    def amended(self, item: Item, author: str) -> str:
        """Id of the reading that a next one by `author` amends, a stale one too; else empty."""
        return own_reading(self._runs[item.run], self.log_of(answer_of(item)), author, item[1:])

    def has_seen(self, answer: AnswerId, author: str) -> bool:
        """Whether `author` ever said something of an answer, and so was told what strict says."""
        return (author, answer) in self._seen

    def history(self, answer: AnswerId) -> Iterable[tuple[LoggedEntry, bool]]:
        """Every entry about an answer, oldest first, and whether it was taken back."""
        entries = sorted(self._entries.get(answer, ()), key=by_time)
        live = {logged.id for logged in live_entries(entries)}
        return [(logged, logged.id not in live) for logged in entries]
