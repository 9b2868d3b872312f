"""What one reviewer says: two stages, each entry on the disk before the session moves on. It knows no screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any

from evallib.adjudication import explained, make_difference, make_reading, strict_word
from evallib.desk.logbook import answer_of
from evallib.desk.queue import EVERYTHING, Query, Unit
from evallib.desk.sitting import Sitting
from evallib.entries import CAUSES, Difference, Entry, Reading, Withdrawal
from evallib.errors import InputError
from evallib.masking import masks_of
from evallib.standing import Item
from evallib.store import LoggedEntry, Run, append_entry, locked

__all__ = ["CAUSE_KEYS", "ReviewSession", "canned"]

CAUSE_KEYS = dict(zip("1234567890x", CAUSES, strict=False))
"""Key to cause."""
_LONGEST_LOOK_S = 4 * 3600
"""A longer look was none, and is not stored."""
_PACE_OF = 20
"""Latest readings that the pace is taken from."""
_FEWEST_TIMED = 3
"""With fewer, nothing is said of a pace."""


def canned(cause: str) -> str:
    """The canned reason of a cause; empty where only the reviewer's own words say anything."""
    return "" if cause in {"other", "unknown"} else CAUSES.get(cause, "")


class ReviewSession(Sitting):
    """One reviewer's sitting. Entries are on the disk before the session moves on, and are never changed.

    An item is read in two stages: first the reading alone, which reveals what strict says; then why the two differ, or
    that they agree. A sighted item takes both in one entry. A message with a known `seq` is answered, not saved again.
    """

    def __init__(  # noqa: PLR0913  # what makes a queue, each by its name
        self,
        runs: Sequence[Run],
        adjudications: Path,
        author: str = "",
        *,
        query: Query = EVERYTHING,
        blind: bool = True,
        unit: Unit = "answer",
        plan: str = "",
        seed: int | None = None,
    ) -> None:
        self._adjudications = adjudications
        self._made: list[LoggedEntry] = []
        self._undone: list[tuple[LoggedEntry, LoggedEntry]] = []
        """Entries taken back, each with its withdrawal."""
        self._answered: dict[str, LoggedEntry] = {}
        self._seconds: list[float] = []
        self._warned: set[tuple[Item, str]] = set()
        """Reasons that hold a credential, and whose reader was told so."""
        super().__init__(runs, adjudications, author, query=query, blind=blind, unit=unit, plan=plan, seed=seed)

    def canned(self, cause: str) -> str:
        """The canned reason of a cause; empty where only the reviewer's own words say anything."""
        return canned(cause)

    def decide(  # noqa: PLR0913  # the parts of a reading, each by its name
        self,
        item: Item,
        reading: str,
        *,
        cause: str = "",
        reason: str = "",
        span: tuple[int, int] | None = None,
        canned: bool = False,
        seconds: float | None = None,
        seq: str = "",
    ) -> LoggedEntry:
        """Write a reading. A blind one reveals the item; after a sighted or an unsure one the next open item follows.

        A sighted reading that agrees with strict needs no reason, one that differs needs cause and reason. Reading an
        item again amends one's own reading. InputError says what is missing; then nothing is written.
        """
        if seq and seq in self._answered:
            return self._answered[seq]
        if seconds is not None and not 0 <= seconds <= _LONGEST_LOOK_S:
            seconds = None
        self._warn_of_credential(item, reason)
        with self._alone(item):
            more = {"span": span, "canned": canned, "seconds": seconds}
            logged = self._write(self._reading(item, reading, cause, reason, more), seq)
        if seconds is not None:
            self._seconds.append(seconds)
        if self.stage(item) == "done":
            self._move_on(item)
        return logged

    def _reading(self, item: Item, reading: str, cause: str, reason: str, more: Mapping[str, Any]) -> Reading:
        blind = self.is_blind(item)
        if not blind:
            strict = strict_word(self.runs[item.run], *item[1:])
            cause, reason = explained(reading, strict, cause, reason)
        return make_reading(
            self.runs[item.run], item.case, item.sample, check=item.check, reading=reading, author=self._author,
            cause=cause or "unknown", reason=reason, blind=blind, **more,
            chosen=self._queue.chosen.get(item, "by hand"), plan=self.plan if item in self._place else "",
            log=self._log.log_of(answer_of(item)), supersedes=self._amended(item), again=item in self._due,
        )  # fmt: skip

    def _warn_of_credential(self, item: Item, reason: str) -> None:
        """InputError the first time that a reason for an item would put a credential into the log."""
        shown = masks_of(self._sample(item)).mask(reason) if reason else ""
        if shown != reason and (item, reason) not in self._warned:
            self._warned.add((item, reason))
            raise InputError(
                f"your reason holds a credential ({shown!r} without it), and git keeps the log: say it in other words, "
                "or save the same words again to keep them"
            )

    @contextmanager
    def _alone(self, item: Item, *, judging: bool = True) -> Iterator[None]:
        """Look at the log and write to it while no other sitting on this machine writes about the item's run."""
        with ExitStack() as stack:
            with suppress(OSError):  # a disk without locks: two who write in the same moment are then told as a fork
                stack.enter_context(locked([self.runs[item.run].folder]))
            self._catch_up(item, judging=judging)
            yield

    def _amended(self, item: Item) -> str:
        """Id of the reading that the next one of an item amends: the reviewer's own; of a second one, the second."""
        if item not in self._due:
            return self._log.amended(item, self._author)
        own = self._own(item)
        return own.id if own else ""

    def explain(
        self, item: Item, *, cause: str = "", reason: str = "", canned: bool = False, seq: str = ""
    ) -> LoggedEntry:
        """Write why strict and one's own reading differ, or that they agree; then the next open item follows."""
        if seq and seq in self._answered:
            return self._answered[seq]
        self._warn_of_credential(item, reason)
        with self._alone(item):
            own = self._log.own(item, self._author)
            if own is None:
                raise InputError("there is no reading of yours to explain: read the answer first")
            stand = self._log.stand(item)
            earlier = stand.differences.get(own.id) if stand else None
            entry = make_difference(
                self.runs[item.run], own, author=self._author, cause=cause, reason=reason, canned=canned,
                supersedes=earlier.id if earlier else "",
            )  # fmt: skip
            logged = self._write(entry, seq)
        self._move_on(item)
        return logged

    def _catch_up(self, item: Item, *, judging: bool) -> None:
        """Take in what came into the log since; InputError when it changes what is about to be said of an item.

        Another rubric does so only where the item is judged.
        """
        if not (came := self._arrivals.new()):
            return
        rubric = self._log.rubrics(item.run).digest(item.case, item.check)
        about = [(logged, self._log.add(logged)) for logged in came]
        mine = {answer for logged, answer in about if answer and logged.entry.author == self._author}
        for one in self.queue:
            if answer_of(one) in mine:
                self._count(one)
        if answer_of(item) in mine:
            raise InputError("you said something of this answer in another sitting; see what stands, then say it again")
        if judging and self._log.rubrics(item.run).digest(item.case, item.check) != rubric:
            raise InputError("what this is judged by was changed meanwhile; see it (g), then say it again")

    def find_saved(self) -> None:
        """Count what is on the disk although an interrupt came before the session knew that."""
        for logged in self._arrivals.new():
            if self._log.add(logged) and logged.entry.author == self._author and isinstance(logged.entry, Reading):
                self._made.append(logged)
                self._counted(logged)

    def _move_on(self, item: Item) -> None:
        self._drafts.drop(self._draft_of(item))
        self.go(self.next_open(self._place.get(item, self.position)))

    def _write(self, entry: Entry, seq: str) -> LoggedEntry:
        logged = append_entry(self._adjudications, entry)
        self._log.add(logged)
        self._arrivals.know(logged)
        if not isinstance(entry, Withdrawal):
            self._made.append(logged)
            self._undone.clear()
        if seq:
            self._answered[seq] = logged
        return self._counted(logged)

    def _counted(self, logged: LoggedEntry) -> LoggedEntry:
        """Keep what is read and what is done in step with an entry that was written."""
        self._count(self.item_of(logged))
        return logged

    def _count(self, item: Item) -> None:
        self._unseen.discard(answer_of(item))
        for kept, belongs in ((self._read, self.stage(item) != "read"), (self._done, self.stage(item) == "done")):
            (kept.add if belongs and item in self._place else kept.discard)(item)

    def item_of(self, logged: LoggedEntry) -> Item:
        """The item that an entry of this sitting is about."""
        entry = self._meant(logged)
        return Item(entry.run, entry.case, entry.sample, entry.check)

    def about(self, logged: LoggedEntry) -> str:
        """In a few words what an entry of this sitting says; of a withdrawal, what it takes back or restores."""
        entry = self._meant(logged)
        what = entry.reading if isinstance(entry, Reading) else "agrees" if entry.agrees else entry.cause
        return f"{what}, of {self.item_of(logged).name}"

    def _meant(self, logged: LoggedEntry) -> Reading | Difference:
        entry = logged.entry
        while isinstance(entry, Withdrawal):
            entry = self._log.entry(entry.withdraws)
        assert isinstance(entry, Reading | Difference)  # a sitting writes no other
        return entry

    def undo(self, *, seq: str = "") -> LoggedEntry:
        """Withdraw the last entry of this sitting and go back to its item; the entry stays in the log."""
        if seq and seq in self._answered:
            return self._answered[seq]
        if not self._made or self._made[-1].entry.author != self._author:
            raise InputError("nothing was saved in this sitting; to change an older reading, go to it and amend (a)")
        withdrawal = self._take_back(self._made[-1], "taken back while reviewing", seq)
        self._undone.append((self._made.pop(), withdrawal))
        return withdrawal

    def redo(self, *, seq: str = "") -> LoggedEntry:
        """Withdraw the last withdrawal of this sitting, so that the entry it took back counts again."""
        if seq and seq in self._answered:
            return self._answered[seq]
        if not self._undone or self._undone[-1][1].entry.author != self._author:
            raise InputError("nothing was taken back in this sitting that could be restored")
        logged = self._take_back(self._undone[-1][1], "restored while reviewing", seq)
        self._made.append(self._undone.pop()[0])
        return logged

    def _take_back(self, entry: LoggedEntry, reason: str, seq: str) -> LoggedEntry:
        item = self.item_of(entry)
        with self._alone(item, judging=False):
            logged = self._write(Withdrawal(author=self._author, withdraws=entry.id, reason=reason), seq)
        if item in self._place:
            self.go(self._place[item])
        return logged

    # how far it is, and what is half said

    @property
    def saved(self) -> int:
        """How many readings of this sitting were not taken back."""
        return sum(isinstance(logged.entry, Reading) for logged in self._made)

    @property
    def progress(self) -> dict[str, Any]:
        """How many items are read of how many; the pace (median seconds of the latest), and the seconds left at it.

        Pace and seconds left are None before _FEWEST_TIMED readings were timed.
        """
        pace = median(self._seconds[-_PACE_OF:]) if len(self._seconds) >= _FEWEST_TIMED else None
        left = None if pace is None else pace * (len(self.queue) - len(self._done))
        return {"read": len(self._read), "of": len(self.queue), "pace_s": pace, "left_s": left}

    def _draft_of(self, item: Item) -> tuple[object, ...]:
        return ("draft", self._author, *item)

    def keep_draft(self, item: Item, draft: Mapping[str, Any]) -> None:
        """Keep what is half said of an item; it is dropped once something was saved of it."""
        own = self._own(item)
        self._drafts.keep(self._draft_of(item), {"draft": dict(draft), "on": own.id if own else ""})

    def draft(self, item: Item) -> dict[str, Any]:
        """What was half said of an item; empty when there is nothing, or something was saved of it since."""
        kept, own = self._drafts.read(self._draft_of(item)), self._own(item)
        draft = kept.get("draft")
        return draft if isinstance(draft, dict) and kept.get("on") == (own.id if own else "") else {}
