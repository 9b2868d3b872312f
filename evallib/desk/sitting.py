"""What one reviewer may see of some runs: the queue, their place in it, the sheets; what is blind is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from evallib.adjudication import strict_word
from evallib.collector import collector_paused
from evallib.desk.history import entry_line, said_of, state_of
from evallib.desk.logbook import AnswerId, Logbook, answer_of
from evallib.desk.looks import Looks
from evallib.desk.plans import Asked, again_reading, asked_of, drawn_items, find_plan
from evallib.desk.queue import Query, Queue, Unit, arms, draw_seeds, drew_part, parse_query, queue_items, seed_of
from evallib.desk.sheet import Reveal, Sheet, make_sheet, word
from evallib.desk.word_diff import Piece, nearest, word_diff
from evallib.entries import Reading
from evallib.errors import EvallibError, InputError
from evallib.masking import Masks, masks_of
from evallib.records import Outcome, Sample, SampleKey, Verdict
from evallib.reviewer import reviewer_name
from evallib.scoring import fold, outcome_word
from evallib.standing import Item
from evallib.store import Arrivals, Drafts, LoggedEntry, Run, read_log, refuse_repeated

__all__ = ["NEWEST", "Covered", "Sitting"]

NEWEST = "newest"
"""Read by the newest plan of the runs, where one stands."""


class Covered(NamedTuple):
    """How much is read of one part of a queue; of a plan's, by whomever, and how much by two where two are to."""

    place: str
    check: str
    strict: str
    read: int
    of: int
    twice: int = 0
    of_twice: int = 0

    @property
    def words(self) -> str:
        """In words, as in `run-1, strict fail: 3 of 12`."""
        about = ", ".join(filter(None, (self.place, self.check, f"strict {self.strict}")))
        two = f", {self.twice} of {self.of_twice} by two" if self.of_twice else ""
        return f"{about}: {self.read} of {self.of}{two}"


class _Strict(NamedTuple):
    """What strict says of an item, as it is stored."""

    word: str
    failed: tuple[str, ...]
    reason: str


def _outcomes(run: Run) -> dict[SampleKey, Outcome]:
    verdicts = run.verdicts_of
    return {sample.key: fold(sample, verdicts[sample.key], run.suite.pass_rule) for sample in run.samples}


class Sitting:
    """One reviewer's queue over some runs, and what may be seen of each item.

    `plan` is the id of the plan to read by, NEWEST for the newest one of these runs where there is any.
    While `is_blind(item)`, nothing that this class gives out tells the strict verdict, others' readings, or the run.
    """

    @collector_paused()
    def __init__(  # noqa: PLR0913  # what makes a queue, each by its name
        self,
        runs: Sequence[Run],
        adjudications: Path,
        author: str,
        *,
        query: Query,
        blind: bool,
        unit: Unit,
        plan: str,
        seed: int | None,
    ) -> None:
        self.runs = {run.id: run for run in runs}
        refuse_repeated(runs)
        self.query, self.blind, self.unit = query, blind, unit
        log = read_log(adjudications)
        self._plan = find_plan(runs, log, "" if plan == NEWEST else plan, query.check) if plan else None
        self._seeds = {} if self._plan or not blind else draw_seeds(runs, log, seed)
        self._all = query.all
        self.seed = seed if seed is not None else self._plan.plan.seed if self._plan else seed_of(runs)
        self._drafts = Drafts(adjudications)
        self._log = Logbook(runs, log)
        self._arrivals = Arrivals(adjudications, log)
        self._strict = {run.id: _outcomes(run) for run in runs}
        self._arms = arms(runs, self.seed)
        self._asked: Asked | None = None
        self._skipped: dict[Item, None] = {}
        self._draw: frozenset[Item] = frozenset()
        """All that a draw holds that left passes out; empty where there is none, or it was noted that it was shown."""
        self._listed: set[Item] = set()
        """What the reviewer was shown to be in the queue."""
        self.position = 0
        self.author = author

    # who reads what

    @property
    def author(self) -> str:
        """The reviewer, empty for nobody. Another name makes another queue; InputError when it cannot be a name."""
        return self._author

    @author.setter
    def author(self, name: str) -> None:
        name = reviewer_name(name) if name.strip() else ""
        looks = Looks(self._drafts, name, self.runs)
        self._refuse_betraying_draw(name, looks)
        self._author, self._looks, self._listed = name, looks, set()
        self._line_up(self.query)
        self._resume()

    def _refuse_betraying_draw(self, name: str, looks: Looks) -> None:
        """Refuse who read of a draw, or was shown all of it, what tells with it which answers pass.

        That is the whole of the runs, because what was not drawn passes, and, by verdicts where the draw was by answers
        or the other way round, a second draw: what two draws have in common is more likely to fail.
        """
        if not self.blind or self._plan:
            return
        mine = {
            (entry.chosen, bool(entry.check))
            for _, entry in self._log.written
            if isinstance(entry, Reading) and entry.author == name and entry.run in self.runs
        }
        units = looks.draws | {"check" if of_check else "answer" for chosen, of_check in mine if drew_part(chosen)}
        told = f"{name!r} was shown a draw of these runs"
        if units and self._all:
            raise InputError(
                f"'all': {told}, and what was not drawn passes; leave `all` out, or read sighted (--sighted)"
            )
        if other := units - {self.unit}:
            by = {"answer": "whole answers", "check": "verdicts of a check"}
            raise InputError(
                f"{told} by {by[min(other)]}, and one by {by[self.unit]} beside it tells which answers pass; go on "
                "with the first, or read sighted (--sighted)"
            )

    def shown(self, items: Iterable[Item]) -> None:
        """Take note that the reviewer was shown that these items are in the queue."""
        self._listed.update(items)
        if self._draw and len(self._listed) >= len(self._draw) and self._draw <= self._listed:
            self._looks.note_draw((item.run for item in self._draw), self.unit)
            self._draw = frozenset()

    @collector_paused()
    def _line_up(self, query: Query) -> None:
        """Make the queue that `query` asks for; it stays the same until the next one is asked for."""
        if self._plan:
            self._asked = asked_of(self._plan, self.runs, self._log, self._author, datetime.now(UTC))
        made = self._queue_of(query, lambda item: self.stage(item) != "done")
        self.query, self._queue = query, made
        if not self.blind:
            self._looks.note(map(answer_of, made.items))
        drawn = self._whole(made)
        part = self.blind and not self._plan and any(map(drew_part, set(drawn.chosen.values())))
        self._draw = frozenset(drawn.items if part else ())
        whole = {*map(answer_of, drawn.items), *map(answer_of, made.items)}
        self._unseen = {answer for answer in whole if not self._has_seen(answer)}
        self._unseen |= {answer_of(item) for item in self._due if not self._again(item)[1]}
        self._place = {item: place for place, item in enumerate(made.items)}
        stages = {item: self.stage(item) for item in made.items}
        self._read = {item for item, stage in stages.items() if stage != "read"}
        self._done = {item for item, stage in stages.items() if stage == "done"}

    def _has_seen(self, answer: AnswerId) -> bool:
        return self._log.has_seen(answer, self._author) or self._looks.has_seen(answer)

    def _whole(self, made: Queue) -> Queue:
        """The queue without facets: what must stay blind while a part of it is looked at."""
        return self._queue_of(Query(all=self.query.all), lambda _: True) if self.query.words else made

    def _queue_of(self, query: Query, is_open: Callable[[Item], bool]) -> Queue:
        asked = self._asked.items if self._asked else None
        return queue_items(
            list(self.runs.values()), self._strict, self._log, query, author=self._author, blind=self.blind,
            unit=self.unit, seed=self.seed, seeds=self._seeds, is_open=is_open, asked=asked,
        )  # fmt: skip

    @property
    def queue(self) -> tuple[Item, ...]:
        """What is to be read, in order."""
        return self._queue.items

    def filter(self, words: str) -> None:
        """Make the queue of other words, and stay on the item where it is in it; InputError names a word that is none.

        Blind, the draw stays what it was opened with: facets only cut it. A refused query leaves the queue as it was.
        """
        here = self.queue[self.position] if self.queue else None
        query = parse_query(words)
        if self.blind and query.all and not self._all:
            raise InputError("'all': is chosen when the queue is opened; what it added now would be known to pass")
        self._line_up(replace(query, all=self._all) if self.blind else query)
        self.position = self._place[here] if here in self._place else self.next_open(-1)

    # where the reviewer is

    def _sitting(self) -> tuple[object, ...]:
        runs = sorted(self.runs)
        return ("position", self._author, runs, self.query.words, self.blind, self.unit, self.plan, self.seed)

    def _resume(self) -> None:
        """Go to where the same reviewer left the same queue, else to the first open item."""
        self.position = 0
        left = self._drafts.read(self._sitting()).get("item")
        if not isinstance(left, list) or [type(value) for value in left] != [str, str, int, str]:
            left = []
        here = Item(*left) if left else None
        self.position = self._place[here] if here in self._place else self.next_open(-1)

    def go(self, position: int) -> int:
        """Go to a place in the queue, or to the end that is nearer; a next session of the same queue begins there."""
        self.position = max(0, min(position, len(self.queue) - 1))
        if self.queue and self._author:
            with suppress(EvallibError):  # a place that is not kept is no reason to stop reading
                self._drafts.keep(self._sitting(), {"item": list(self.queue[self.position])})
        return self.position

    def next_open(self, position: int) -> int:
        """The next open place after `position`, else the first that was skipped, else where we are."""
        order = [*range(position + 1, len(self.queue)), *range(min(position + 1, len(self.queue)))]
        left = (place for place in order if self.queue[place] not in self._done)
        skipped = [self._place[item] for item in self._skipped if item in self._place and item not in self._done]
        fresh = next((place for place in left if self.queue[place] not in self._skipped), None)
        return fresh if fresh is not None else skipped[0] if skipped else max(0, position)

    def skip(self, item: Item) -> int:
        """Leave an item for the end of this sitting, and go to the next; gives the new position."""
        self._skipped.pop(item, None)
        self._skipped[item] = None
        return self.go(self.next_open(self._place.get(item, self.position)))

    # what is known of an item

    def stage(self, item: Item) -> str:
        """`read` until the reviewer's reading stands, `explain` until they said why it differs, then `done`."""
        own = self._own(item)
        if own is None or not isinstance(own.entry, Reading):
            return "read"
        stand, said = self._log.stand(item), own.entry
        explained = not said.blind or said.again or said.reading == "unsure" or (stand and own.id in stand.differences)
        return "done" if explained else "explain"

    def mark(self, item: Item) -> str:
        """The reviewer's own standing reading, `skip`, or nothing; never what strict says."""
        own = self._own(item)
        if own and isinstance(own.entry, Reading):
            return own.entry.reading
        return "skip" if item in self._skipped else ""

    def own(self, item: Item) -> dict[str, Any]:
        """The reviewer's own standing reading, with what was said of its difference; empty when there is none."""
        own, stand = self._own(item), self._log.stand(item)
        if own is None or stand is None or not isinstance(own.entry, Reading):
            return {}
        said = stand.differences.get(own.id, own).entry
        agrees = bool(getattr(said, "agrees", False))
        words = {"cause": stand.cause(own), "reason": stand.reason(own)}
        return {"id": own.id, "reading": own.entry.reading, **words, "agrees": agrees}

    def is_blind(self, item: Item) -> bool:
        """Whether what strict says is hidden from this reviewer: until they ever read the answer, or a check of it.

        Or opened it sighted in this checkout. What is to be read again is hidden again, until it is.
        """
        return self.blind and (answer_of(item) in self._unseen or not self._has_seen(answer_of(item)))

    @property
    def plan(self) -> str:
        """Id of the plan that is read by; empty when none is."""
        return self._plan.id if self._plan else ""

    @property
    def _due(self) -> frozenset[Item]:
        """What is to be read, or was read, a second time."""
        return self._asked.again if self._asked and self.blind else frozenset()

    def _again(self, item: Item) -> tuple[LoggedEntry | None, bool]:
        return again_reading(item, self._log, self._author, self._plan.plan.time if self._plan else "")

    def _own(self, item: Item) -> LoggedEntry | None:
        """The reviewer's own standing reading; of an item that is read a second time, the second."""
        return self._again(item)[0] if item in self._due else self._log.own(item, self._author)

    def agrees(self, item: Item, reading: str) -> bool:
        """Whether a reading says what strict says; InputError while that is hidden."""
        return reading == strict_word(self._seen_run(item), *item[1:])

    def _seen_run(self, item: Item) -> Run:
        if self.is_blind(item):
            raise InputError("this is hidden until you have read the answer")
        return self.runs[item.run]

    def sheet(self, item: Item, *, unmasked: bool = False) -> Sheet:
        """All there is to read of an item; while it is blind, nothing that is hidden is in it."""
        run = self.runs[item.run]
        masks = None if unmasked else masks_of(self._sample(item))
        reveal = None if self.is_blind(item) else self._reveal(item, masks)
        rubrics = self._log.rubrics(item.run)
        return make_sheet(
            self._sample(item), run.suite, rubrics.shown(item.case, item.check), check=item.check,
            place=self.place(item), masks=masks, reveal=reveal,
        )  # fmt: skip

    def place(self, item: Item) -> str:
        """The run of an item; its pseudonym while it, or any answer of the queue, is still to be read blind."""
        return self._arms[item.run] if self.is_blind(item) else self.run_name(item.run)

    def run_name(self, run: str) -> str:
        """A run's id; its pseudonym while any answer of the queue is still to be read blind."""
        return self._arms[run] if self.hidden else run

    @property
    def hidden(self) -> bool:
        """Whether runs and models go by pseudonyms: one name told would tell of every answer that is still blind."""
        return self.blind and bool(self._unseen)

    def _sample(self, item: Item) -> Sample:
        return self.runs[item.run].by_key[item.case, item.sample]

    def _reveal(self, item: Item, masks: Masks | None) -> Reveal:
        run, key = self.runs[item.run], (item.case, item.sample)
        hide = masks.mask if masks else str
        outcome = self._strict[item.run][key]
        verdicts = [v._replace(reason=hide(v.reason)) for v in run.verdicts_of[key] if item.check in {"", v.check_id}]
        against = [v for v in verdicts if v.passed is False or v.status == "not_scored"]
        against.sort(key=lambda v: v.check_id not in outcome.failed)
        state = state_of(self._log.stand(item), self._log.stale(item), self._author)
        said = said_of(self._log.stands(answer_of(item)).values(), self._author)
        return Reveal(
            strict_word(run, *item[1:]),
            replace(outcome, reason=hide(outcome.reason)),
            tuple(against),
            tuple(v for v in verdicts if v not in against),
            tuple(map(hide, (*state, *said))),
            "" if self.hidden else str(run.plan.get("target", {}).get("model") or ""),
        )

    def seen_log(self) -> list[LoggedEntry]:
        """What the log says of the answers of the runs that are not blind for this reviewer, and of their rubrics."""
        answers = (AnswerId(run.id, *key) for run in self.runs.values() for key in run.by_key)
        seen = (answer for answer in answers if not self.is_blind(Item(*answer)))
        return list({logged.id: logged for answer in seen for logged in self._log.log_of(answer)}.values())

    def strict_row(self, item: Item) -> tuple[str, str, str, str]:
        """Strict's word, the checks against an item, the reason, and what everybody read; InputError while hidden."""
        self._seen_run(item)
        hide = masks_of(self._sample(item)).mask
        read = hide("; ".join(said_of(self._log.stands(answer_of(item)).values())))
        strict = self._strict_of(item)
        return strict.word, ", ".join(strict.failed), hide(strict.reason), read

    def _strict_of(self, item: Item) -> _Strict:
        run = self._seen_run(item)
        if item.check:
            verdict = next(v for v in run.verdicts_of[item.case, item.sample] if v.check_id == item.check)
            return _Strict(outcome_word(verdict.passed), (), verdict.reason)
        outcome = self._strict[run.id][item.case, item.sample]
        return _Strict(word(outcome), outcome.failed, outcome.reason)

    def coverage(self) -> tuple[Covered, ...]:
        """How many items of the queue are read, by run, check and strict's word; empty while any of it is blind."""
        if self.hidden:
            return ()
        if self._plan:
            drawn = drawn_items(self._plan, self.runs, self._log)
            return tuple(
                Covered(one.run, one.check, one.strict, read, len(one.items), twice, len(one.twice))
                for one, read, twice in drawn
            )
        of = Counter(map(self._part, self.queue))
        read = Counter(map(self._part, self._read))
        return tuple(Covered(*part, read[part], count) for part, count in sorted(of.items()))

    def _part(self, item: Item) -> tuple[str, str, str]:
        return self.place(item), item.check, self._strict_of(item).word

    def find(self, item: Item, words: str) -> tuple[int, int]:
        """Where the answer of an item says `words`, in code points; InputError when it does not."""
        start = self._sample(item).answer.find(words) if words else -1
        if start < 0:
            raise InputError(f"the answer does not say {words!r}; cite it to the letter")
        return start, start + len(words)

    def next_check(self, item: Item) -> Item:
        """The next check of the same answer as an item, those against it first; after the last, the answer."""
        run = self._seen_run(item)
        verdicts: list[Verdict] = sorted(run.verdicts_of[item.case, item.sample], key=lambda v: v.passed is True)
        names = ["", *(v.check_id for v in verdicts if v.status != "not_applicable")]
        return item._replace(check=names[(names.index(item.check) + 1) % len(names)])

    def diff(self, item: Item) -> tuple[Piece, ...]:
        """The answer against the nearest strict pass of the same case, word by word; empty when there is none to show.

        A pass that is still blind for this reviewer is none to show.
        """
        self._seen_run(item)
        repeats = [
            Item(run.id, *key)
            for run in self.runs.values()
            for key, outcome in self._strict[run.id].items()
            if key[0] == item.case and outcome.passed and (run.id, *key) != item[:3]
        ]
        mine, seen = self._sample(item), [self._sample(one) for one in repeats if not self.is_blind(one)]
        other = nearest(mine.answer, (sample.answer for sample in seen))
        if other is None:
            return ()
        masks = masks_of(mine, *(sample for sample in seen if sample.answer == other))
        return word_diff(masks.mask(other), masks.mask(mine.answer))

    def history(self, item: Item) -> tuple[str, ...]:
        """Every entry about the answer of an item, withdrawn ones marked, one line each, oldest first."""
        self._seen_run(item)
        masks = masks_of(self._sample(item))
        return tuple(masks.mask(entry_line(e, gone=gone)) for e, gone in self._log.history(answer_of(item)))
