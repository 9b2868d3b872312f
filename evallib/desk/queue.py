"""What is to be read, and in which order: a pure query over runs, their strict verdicts and the log."""

from __future__ import annotations

import hashlib
import random
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

from evallib.desk.logbook import Logbook, answer_of
from evallib.entries import CAUSES, Reading
from evallib.errors import InputError
from evallib.records import Outcome, SampleKey, digest
from evallib.scoring import fold_all, outcome_word
from evallib.standing import Item, Stand
from evallib.store import LoggedEntry, Run, standing_rescorings

__all__ = [
    "EVERYTHING", "FEWEST_PASSES", "Query", "Queue", "Unit", "arms", "draw_seeds", "drew_part", "parse_query",
    "queue_items", "seed_of", "split_words",
]  # fmt: skip

Unit = Literal["answer", "check"]
Strict = Mapping[str, Mapping[SampleKey, Outcome]]
"""Run id to its strict outcomes, in stored order."""
FEWEST_PASSES = 5
"""Strict passes that a blind queue holds of each run (and check) at least, also where nothing failed."""

_DRAWN = re.compile(r"random strict pass \((?P<drawn>\d+) of (?P<of>\d+)\b.*, seed (?P<seed>-?\d+)\)")
"""What the log says of a pass that was drawn."""

_WORDS: Mapping[str, tuple[str, ...]] = {
    "strict": ("pass", "fail", "error"),
    "check": (),
    "case": (),
    "model": (),
    "run": (),
    "cause": tuple(CAUSES),
    "by": ("mine", "theirs", "none"),
}
"""Facet to the values it takes; empty where the runs say."""
_FLAGS = ("disputed", "flip", "stale", "open", "all")


@dataclass(frozen=True, slots=True)
class Query:
    """Facets that an item must have: one of the values named of each. An empty query asks for nothing."""

    strict: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    """Of an answer: the check stands against it. Of a verdict: it is the check's."""
    case: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    cause: tuple[str, ...] = ()
    """Of a standing reading, as its reader said after the reveal."""
    by: tuple[str, ...] = ()
    """`mine`, `theirs` or `none`: whose readings stand."""
    disputed: bool = False
    flip: bool = False
    """A standing rescoring says something else than strict."""
    stale: bool = False
    """Somebody read it when its answer or rubric was another."""
    open: bool = False
    """The reviewer has not done with it."""
    all: bool = False
    """In a blind queue: every item in place of a draw of the passes; chosen when the queue is opened."""

    @property
    def words(self) -> str:
        """The query as it is written: `name=value` words."""
        named = [shlex.quote(f"{name}={value}") for name in _WORDS for value in getattr(self, name)]
        return " ".join([*named, *(name for name in _FLAGS if getattr(self, name))])


EVERYTHING = Query()


def parse_query(words: str | Sequence[str]) -> Query:
    """The query of words like `strict=fail check=policy open`; InputError names the word that is none."""
    found: dict[str, list[str]] = defaultdict(list)
    for word in split_words(words):
        name, _, value = word.partition("=")
        if name in _FLAGS and "=" not in word:
            found[name].append("yes")
        elif name in _WORDS and value and value in (_WORDS[name] or (value,)):
            found[name].append(value)
        elif _WORDS.get(name):
            raise InputError(f"{word!r}: say {name}= and one of {', '.join(_WORDS[name])}")
        else:
            known = " ".join([*(f"{name}=…" for name in _WORDS), *_FLAGS])
            raise InputError(f"{word!r}: is no word of a query; there are: {known}")
    facets: dict[str, Any] = {name: tuple(dict.fromkeys(found[name])) for name in _WORDS}
    return Query(**facets | {name: bool(found[name]) for name in _FLAGS})


def split_words(words: str | Sequence[str]) -> list[str]:
    """The words of a query, without their quotes; InputError where a quote is left open."""
    if not isinstance(words, str):
        return [word for word in words if word]
    try:
        return shlex.split(words)
    except ValueError as error:
        raise InputError(f"{words!r}: {error}; close the quote") from error


class _Row(NamedTuple):
    """One item that could be read, and what strict says of it."""

    item: Item
    strict: str


@dataclass(frozen=True)
class Queue:
    """The items to read, in order, and how each came to be there."""

    items: tuple[Item, ...] = ()
    chosen: Mapping[Item, str] = field(default_factory=dict)


def queue_items(  # noqa: PLR0913  # what a query is about, each by its name
    runs: Sequence[Run],
    strict: Strict,
    log: Logbook,
    query: Query = EVERYTHING,
    *,
    author: str = "",
    blind: bool = True,
    unit: Unit = "answer",
    seed: int | None = None,
    seeds: Mapping[str, int] | None = None,
    is_open: Callable[[Item], bool] = lambda _: True,
    asked: Mapping[Item, str] | None = None,
) -> Queue:
    """The items that `query` asks for, over the `strict` outcomes of `runs` and what the log says.

    Sighted, in stored order. Blind, shuffled by the seed and the author: every strict failure of each run (of each
    run and check, when verdicts are read), and strict passes drawn at random (`_passes`). The draw knows the seed of
    its run alone (`seeds`, as `draw_seeds` gives them), so that two readers of the same runs read the same answers,
    each in an order of their own, and that no other query of the same runs draws others: facets cut the one draw.
    Where a plan was drawn, `asked` holds its items for this reader and how each was chosen, in place of a draw.
    InputError when a blind query would betray what is hidden, or names what the runs do not have.
    """
    if blind:
        _refuse_betrayal(query, unit)
    _refuse_unknown(runs, query)
    units: tuple[Unit, ...] = (unit,) if asked is None else ("answer", "check")
    rows = [row for run in runs for one in units for row in _rows(run, strict[run.id], one)]
    rows = rows if asked is None else [row for row in rows if row.item in asked]
    facets = _Facets(runs, strict, log, query, author)
    given, seed = seed, seed_of(runs) if seed is None else seed
    if not blind:
        kept = [row for row in rows if facets.fits(row) and (not query.open or is_open(row.item))]
        said = f"by query: {query.words}" if query.words else "every answer"
        chosen = asked or {row.item: _sighted(row, query, said) for row in kept}
        return Queue(tuple(row.item for row in kept), chosen)
    seeds = seeds or {run.id: seed_of([run]) if given is None else given for run in runs}
    drawing = asked if asked is not None else dict(_draw(rows, query, seeds))
    chosen = {row.item: drawing[row.item] for row in rows if row.item in drawing and facets.of_case(row)}
    drawn = [item for item in chosen if facets.of_log(item) and (not query.open or is_open(item))]
    if asked is None:
        random.Random(f"{seed}/{author}").shuffle(drawn)  # noqa: S311  # an order, no secret
    else:  # what others have read meanwhile leaves the queue, and must not change the order of the rest
        drawn.sort(key=lambda item: hashlib.sha256(f"{seed}/{author}/{item}".encode()).digest())
    return Queue(tuple(drawn), chosen)


def _sighted(row: _Row, query: Query, said: str) -> str:
    """How a sighted item was chosen; strict failures that were asked for without more are all of them."""
    whole = query == Query(strict=query.strict)
    return f"every strict {_plain(row.strict)}" if whole and row.strict in query.strict else said


def _plain(strict: str) -> str:
    return {"fail": "failure"}.get(strict, strict)


def _rows(run: Run, outcomes: Mapping[SampleKey, Outcome], unit: Unit) -> Iterator[_Row]:
    if unit == "answer":
        for key, outcome in outcomes.items():
            yield _Row(Item(run.id, *key), outcome_word(outcome.passed))
        return
    for verdict in run.verdicts:
        if verdict.status != "not_applicable":
            item = Item(run.id, verdict.case_id, verdict.sample, verdict.check_id)
            yield _Row(item, outcome_word(verdict.passed))


def _draw(rows: Iterable[_Row], query: Query, seeds: Mapping[str, int]) -> Iterator[tuple[Item, str]]:
    """The items of a blind queue and how each was chosen, by run and check."""
    strata: dict[tuple[str, str], list[_Row]] = defaultdict(list)
    for row in rows:
        strata[row.item.run, row.item.check].append(row)
    for stratum, inside in strata.items():
        passing = [row.item for row in inside if row.strict == "pass"]
        failing = [row for row in inside if row.strict != "pass"]
        yield from ((row.item, f"every strict {_plain(row.strict)}") for row in failing)
        seed, name = seeds[stratum[0]], "/".join(stratum)
        wanted = len(passing) if query.all else min(len(passing), _passes(len(failing), f"{seed}/{name}/passes"))
        drawn = random.Random(f"{seed}/{name}").sample(passing, wanted)  # noqa: S311  # a draw, no secret
        said = f"random strict pass ({wanted} of {len(passing)}, seed {seed})"
        yield from ((item, said) for item in drawn)


def _passes(failures: int, seed: str) -> int:
    """How many passes are drawn beside so many failures: as many to half as many again, at least FEWEST_PASSES.

    A fixed share would tell, by how many items an arm has, how many of them failed.
    """
    fewest = max(failures, FEWEST_PASSES)
    return fewest + random.Random(seed).randint(0, fewest // 2)  # noqa: S311  # a draw, no secret


def draw_seeds(runs: Sequence[Run], log: Iterable[LoggedEntry], seed: int | None = None) -> dict[str, int]:
    """Run id to the seed that its passes are drawn by: the one that it was first read by, else `seed`, else its own.

    What two draws of a run have in common is its failures. So InputError when the run was read by another than `seed`.
    """
    used: dict[str, int] = {}
    plans: dict[str, str] = {}
    for _, entry in log:
        if isinstance(entry, Reading) and (said := _DRAWN.match(entry.chosen)):
            used.setdefault(entry.run, int(said["seed"]))
        if isinstance(entry, Reading) and entry.plan:
            plans[entry.run] = entry.plan
    for run in runs:
        if seed is not None and run.id in plans:
            raise InputError(
                f"--seed {seed}: run {run.id!r} is read by plan {plans[run.id]}, and a draw beside it tells which "
                "answers pass; leave --seed out, or read sighted (--sighted)"
            )
        if seed is not None and used.get(run.id, seed) != seed:
            raise InputError(
                f"--seed {seed}: run {run.id!r} was read by a draw of seed {used[run.id]}, and two draws together "
                "tell which answers pass; leave --seed out, or read sighted (--sighted)"
            )
    return {run.id: used.get(run.id, seed_of([run]) if seed is None else seed) for run in runs}


def drew_part(chosen: str) -> bool:
    """Whether a pass was drawn from more, by how it was chosen: its reader may know that what was not drawn passes."""
    said = _DRAWN.match(chosen)
    return said is not None and int(said["drawn"]) < int(said["of"])


def seed_of(runs: Sequence[Run]) -> int:
    """The seed of a queue over `runs` unless one is given: the same for everybody."""
    return int(digest(sorted(run.id for run in runs), 8), 16)


def arms(runs: Sequence[Run], seed: int) -> dict[str, str]:
    """Run id to its pseudonym in a blind queue: arm A, arm B, …, in an order that only the seed knows."""
    ids = sorted(run.id for run in runs)
    random.Random(f"{seed}/arms").shuffle(ids)  # noqa: S311  # an order, no secret
    return {run: f"arm {_letters(number)}" for number, run in enumerate(ids)}


def _letters(number: int) -> str:
    return (_letters(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)


def _refuse_betrayal(query: Query, unit: Unit) -> None:
    betraying = Query(
        strict=query.strict,
        check=query.check if unit == "answer" else (),
        model=query.model,
        run=query.run,
        cause=query.cause,
        by=tuple(who for who in query.by if who != "mine"),
        disputed=query.disputed,
        flip=query.flip,
        stale=query.stale,
    )
    if betraying != Query():
        raise InputError(
            f"{betraying.words!r} would say what a blind reader must not know; use case=, by=mine, open and all, "
            "or read sighted (--sighted)"
        )


def _refuse_unknown(runs: Sequence[Run], query: Query) -> None:
    known = {
        "check": {name for run in runs for name in run.suite.check_ids()},
        "case": {case for run in runs for case in run.plan["cases"]},
        "model": {_model(run) for run in runs},
        "run": {run.id for run in runs},
    }
    for name, values in known.items():
        for value in getattr(query, name):
            if value not in values:
                raise InputError(f"'{name}={value}': there is no such {name}; there are: {', '.join(sorted(values))}")


def _model(run: Run) -> str:
    return str(run.plan.get("target", {}).get("model") or "unnamed")


class _Facets:
    """Whether an item has the facets of a query."""

    def __init__(  # the things a query is about
        self,
        runs: Sequence[Run],
        strict: Strict,
        log: Logbook,
        query: Query,
        author: str,
    ) -> None:
        self._log, self._query, self._author, self._strict = log, query, author, strict
        self._runs = {run.id: run for run in runs}
        self._flips = cache(self._flipped)

    def fits(self, row: _Row) -> bool:
        """Whether an item has every facet that is asked for."""
        query, item = self._query, row.item
        return (
            (not query.strict or row.strict in query.strict)
            and (not query.run or item.run in query.run)
            and (not query.model or _model(self._runs[item.run]) in query.model)
            and self.of_case(row)
            and self.of_log(item)
            and (not query.flip or item[1:] in self._flips(item.run))
        )

    def of_case(self, row: _Row) -> bool:
        """Whether an item is of a case and check that is asked for."""
        query, item = self._query, row.item
        if query.case and item.case not in query.case:
            return False
        if not query.check or item.check:
            return not query.check or item.check in query.check
        verdicts = self._runs[item.run].verdicts_of[item.case, item.sample]
        against = (v for v in verdicts if v.passed is not True and v.status != "not_applicable")
        return any(v.check_id in query.check for v in against)

    def of_log(self, item: Item) -> bool:
        """Whether the log says of an item what is asked for."""
        query = self._query
        if query.stale and not self._log.is_stale(item):
            return False
        if not (query.by or query.cause or query.disputed):
            return True
        stands = self._stands(item)
        authors = {e.entry.author for stand in stands for e in stand.entries}
        whose = {"mine": self._author in authors, "theirs": bool(authors - {self._author}), "none": not authors}
        causes = {stand.cause(e) for stand in stands for e in stand.entries}
        return (
            (not query.by or any(whose[who] for who in query.by))
            and (not query.cause or bool(causes & set(query.cause)))
            and (not query.disputed or any(stand.state == "disputed" for stand in stands))
        )

    def _stands(self, item: Item) -> list[Stand]:
        """What was read of an item: of an answer also what was read of its checks."""
        stands = self._log.stands(answer_of(item))
        if not item.check:
            return list(stands.values())
        return [stands[item.check]] if item.check in stands else []

    def _flipped(self, run_id: str) -> set[tuple[str, int, str]]:
        """(case, sample, check) of what a standing rescoring of the run says otherwise; check is empty for answers."""
        run = self._runs[run_id]
        strict = self._strict[run_id]
        before = {(v.case_id, v.sample, v.check_id): v.passed for v in run.verdicts}
        flips: set[tuple[str, int, str]] = set()
        for rescoring in standing_rescorings(run, self._log.written):
            verdicts = rescoring.verdicts(run_id)
            after = fold_all(run.samples, verdicts, rescoring.suite.pass_rule)
            flips |= {(*key, "") for key, outcome in after.items() if outcome.passed != strict[key].passed}
            flips |= {
                key for v in verdicts if before.get(key := (v.case_id, v.sample, v.check_id), v.passed) != v.passed
            }
        return flips
