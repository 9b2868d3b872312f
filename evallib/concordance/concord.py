"""How well readers agree, on what each said first and blind: per check, of readings and of causes, and with oneself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

from evallib.entries import Difference, Reading
from evallib.standing import Item, Rubrics, fit, live_entries
from evallib.statistics.agreement import Coefficient, coefficients
from evallib.stdout import counted, percent
from evallib.store import LoggedEntry, Run, by_time

__all__ = ["Concord", "FirstReadings", "concords", "first_readings", "in_order"]

_LEAST = {"reading": ("pass", "fail"), "cause": ()}
"""Labels that AC1 counts though nobody gave them: a reader always had these two to choose from."""
_FIRST, _AGAIN = "first", "again"


class FirstReadings(NamedTuple):
    """Per item and reader the earliest blind reading, whatever was amended later.

    One that was taken back gives way to a later blind one only: its reader had been told what strict says.
    """

    first: Mapping[Item, Mapping[str, str]]
    """Item to reader to the word of the reading."""
    causes: Mapping[Item, Mapping[str, str]]
    """The cause of that reading, as its reader said after the reveal; absent where none was said."""
    again: Mapping[Item, Mapping[str, str]]
    """The same reader's earliest second look at an item read before."""
    taken_back: Collection[tuple[Item, str]] = frozenset()
    """Item and reader of the first readings that count though they were taken back."""


def first_readings(runs: Sequence[Run], log: Sequence[LoggedEntry]) -> FirstReadings:
    """The original readings of `runs`: agreement is never computed on what was said after discussion.

    Sighted readings never count, nor those of another answer or under another rubric (statistics reference, 2.4).
    """
    live = live_entries(log)
    said: dict[tuple[str, str], LoggedEntry] = {}
    for logged in live:
        if isinstance(logged.entry, Difference):
            said.setdefault((logged.entry.about, logged.entry.author), logged)
    first: dict[Item, dict[str, str]] = defaultdict(dict)
    causes: dict[Item, dict[str, str]] = defaultdict(dict)
    again: dict[Item, dict[str, str]] = defaultdict(dict)
    taken_back: set[tuple[Item, str]] = set()
    by_id = {run.id: (run, Rubrics(run, live)) for run in runs}
    ids = {logged.id for logged in live}
    for logged in (*live, *sorted((one for one in log if one.id not in ids), key=by_time)):
        entry = logged.entry
        if not isinstance(entry, Reading) or not entry.blind or entry.run not in by_id:
            continue
        item = Item(entry.run, entry.case, entry.sample, entry.check)
        kept = again if entry.again else first
        if entry.author in kept[item] or fit(*by_id[entry.run], entry) != "same":
            continue
        kept[item][entry.author] = entry.reading
        if logged.id not in ids and not entry.again:
            taken_back.add((item, entry.author))
        if not entry.again and (cause := _cause(logged, said.get((logged.id, entry.author)))) != "unknown":
            causes[item][entry.author] = cause
    return FirstReadings(first, causes, again, taken_back)


def _cause(logged: LoggedEntry, said: LoggedEntry | None) -> str:
    """Of the difference where the same reader stated one, else of the reading itself."""
    entry = (said or logged).entry
    return entry.cause if isinstance(entry, Reading | Difference) else "unknown"


@dataclass(frozen=True, slots=True)
class Concord:
    """What some readers say of the items of one check that at least two of them read."""

    what: Literal["reading", "cause", "again"]
    """`again`: one reader, first look against second."""
    check: str
    """Empty for whole answers."""
    readers: tuple[str, ...]
    items: int
    cases: int
    """Samples of one case are alike; the intervals take items as independent."""
    alone: int
    """Items that only one of the readers read, and that say nothing here."""
    coefficients: Mapping[str, Coefficient]
    marginals: Mapping[str, Mapping[str, int]]
    """Reader to label to how often it was given, over the items."""
    taken_back: int = 0
    """Labels that count though their readers took them back, having been told what strict says."""

    @property
    def prevalence(self) -> dict[str, float]:
        """Label to its share of all labels: where one is rare, kappa sinks though readers agree."""
        counts = Counter[str]()
        for given in self.marginals.values():
            counts.update(given)
        return {label: count / counts.total() for label, count in sorted(counts.items())}

    @property
    def _items(self) -> str:
        verdicts = f"{counted(self.items, 'verdict')} of check {self.check!r}"
        return verdicts if self.check else counted(self.items, "whole answer")

    def sentence(self) -> str:
        """The one sentence that the numbers license."""
        agreement = self.coefficients["agreement"]
        low, high = agreement.interval or (0.0, 1.0)
        rate = f"{percent(agreement.value or 0)}, 95 % interval {percent(low)} to {percent(high)}"
        of = f"{self._items} of {counted(self.cases, 'case')}"
        if self.what == "again":
            words = f"{self.readers[0]} read {of} twice, blind, and said the same again of them"
        elif len(self.readers) > 2:
            words = f"Any two of {len(self.readers)} readers who read the same of {of} blind gave the same {self.what}"
        else:
            words = f"{' and '.join(self.readers)} read {of} blind and gave the same {self.what}"
        shares = ", ".join(f"{label} {percent(share, 0)}" for label, share in self.prevalence.items())
        back = f"; {self.taken_back} of them taken back after the reveal, and counted" if self.taken_back else ""
        alike = "; samples of one case are alike, so the interval may be too narrow" if self.cases < self.items else ""
        return f"{words} in {rate}{alike}; of their labels: {shares}{back}."

    def as_dict(self) -> dict[str, Any]:
        """What `evallib agreement --json` prints of it."""
        return {
            "what": self.what,
            "check": self.check,
            "readers": list(self.readers),
            "n": self.items,
            "cases": self.cases,
            "read_by_one": self.alone,
            "taken_back": self.taken_back,
            **{
                name: {"value": one.value, "interval": list(one.interval) if one.interval else None, "why": one.why}
                for name, one in self.coefficients.items()
            },
            "marginals": {reader: dict(counts) for reader, counts in self.marginals.items()},
            "prevalence": self.prevalence,
            "sentence": self.sentence(),
        }


def concords(runs: Sequence[Run], log: Sequence[LoggedEntry]) -> list[Concord]:
    """One row per check and kind of label that two readers share, then their pairs where there are more than two.

    Readers' agreement with themselves comes last. Items of several runs are pooled.
    """
    found = first_readings(runs, log)
    rows: list[Concord] = []
    parts: tuple[tuple[Literal["reading", "cause"], Mapping[Item, Mapping[str, str]]], ...]
    parts = (("reading", found.first), ("cause", found.causes))
    for what, labels in parts:
        for check, items in in_order(runs, labels):
            for row in _of_check(what, check, {item: labels[item] for item in items}):
                back = sum(
                    reader in row.readers and item.check == check and len(set(row.readers) & set(labels[item])) > 1
                    for item, reader in (found.taken_back if what == "reading" else ())
                )
                rows.append(replace(row, taken_back=back))
    for reader in sorted({reader for given in found.again.values() for reader in given}):
        twice = {
            item: {_FIRST: found.first[item][reader], _AGAIN: given[reader]}
            for item, given in found.again.items()
            if reader in given and reader in found.first.get(item, {})
        }
        for check, items in in_order(runs, twice):
            row = _concord("again", check, (_FIRST, _AGAIN), {item: twice[item] for item in items})
            rows.append(replace(row, readers=(reader,)))
    return rows


def in_order(runs: Sequence[Run], items: Iterable[Item]) -> list[tuple[str, list[Item]]]:
    """The items by check: whole answers, then checks as their suites list them."""
    grouped: dict[str, list[Item]] = defaultdict(list)
    for item in sorted(items):
        grouped[item.check].append(item)
    listed = ["", *dict.fromkeys(check for run in runs for check in run.suite.check_ids())]
    return [(check, grouped[check]) for check in listed if check in grouped]


def _of_check(what: Literal["reading", "cause"], check: str, labels: Mapping[Item, Mapping[str, str]]) -> list[Concord]:
    shared = {reader for given in labels.values() if len(given) > 1 for reader in given}
    readers = tuple(sorted(shared))
    if not readers:
        return []
    rows = [_concord(what, check, readers, labels)]
    if len(readers) > 2:
        pairs = (_concord(what, check, pair, labels) for pair in combinations(readers, 2))
        rows += [pair for pair in pairs if pair.items]
    return rows


def _concord(
    what: Literal["reading", "cause", "again"],
    check: str,
    readers: tuple[str, ...],
    labels: Mapping[Item, Mapping[str, str]],
) -> Concord:
    units = {item: [given.get(reader) for reader in readers] for item, given in labels.items()}
    read = {item: sum(label is not None for label in unit) for item, unit in units.items()}
    both = [item for item in units if read[item] > 1]
    marginals = {
        reader: dict(Counter(label for item in both if (label := labels[item].get(reader)) is not None))
        for reader in readers
    }
    least = _LEAST["cause" if what == "cause" else "reading"]
    return Concord(
        what=what,
        check=check,
        readers=readers,
        items=len(both),
        cases=len({(item.run, item.case) for item in both}),
        alone=sum(count == 1 for count in read.values()),
        coefficients=coefficients([units[item] for item in both], least),
        marginals=marginals,
    )
