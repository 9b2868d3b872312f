"""How items came to be read: which of them a census or a seeded random draw chose, and which a person's eye."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evallib.entries import Plan, Reading, moment
from evallib.records import SampleKey
from evallib.standing import Item, Rubrics, fit, live_entries
from evallib.store import LoggedEntry, Run

__all__ = ["Drawn", "Selection", "Strict"]

Strict = Literal["pass", "fail", "error"]
_STRICT = r"strict (pass(?:es)?|fail(?:ure)?s?|errors?)"
_EVERY = re.compile(rf"every {_STRICT}")
_RANDOM = re.compile(rf"random {_STRICT} \((\d+) of (\d+), seed (-?\d+)\)")


@dataclass(frozen=True, slots=True)
class Drawn:
    """What of one stratum was chosen by a rule that betrays nothing of the answers."""

    items: frozenset[SampleKey]
    """Drawn and read."""
    unread: int
    """Drawn and not read, or read only before the draw."""
    how: str
    """The rules in words, empty where there is none."""


class Selection:
    """The rules by which items of one run were chosen, as its log tells them."""

    def __init__(self, run: Run, log: Sequence[LoggedEntry]) -> None:
        live = live_entries(log)
        rubrics = Rubrics(run, live)
        self._run = run
        self._words: dict[str, set[Item]] = defaultdict(set)
        """Words of `Reading.chosen` to every item of any run read by them."""
        self._by_item: dict[tuple[str, int, str], list[Reading]] = defaultdict(list)
        self._plans: dict[str, Plan] = {e.id: e.entry for e in live if isinstance(e.entry, Plan)}
        self._replaced = {id_ for plan in self._plans.values() for id_ in plan.replaces}
        for _, entry in live:
            if isinstance(entry, Reading) and not entry.again:
                self._words[entry.chosen].add(Item(entry.run, entry.case, entry.sample, entry.check))
                if entry.run == run.id and fit(run, rubrics, entry) == "same":
                    self._by_item[entry.case, entry.sample, entry.check].append(entry)

    @property
    def checks(self) -> set[str]:
        """The checks any reading is of; empty text for whole answers."""
        return {check for _, _, check in self._by_item}

    def words(self, keys: Collection[SampleKey], check: str) -> str:
        """How these items were chosen, as their readers' entries say."""
        said = {entry.chosen for key in keys for entry in self._by_item.get((*key, check), ())}
        return "; ".join(sorted(said))

    def drawn(self, stratum: Collection[SampleKey], strict: Strict, check: str) -> Drawn:
        """What of a stratum was drawn: by a plan, by the words of its readings, or because all of it was read.

        Draws of several people may overlap; their union is a random draw too. A draw from fewer items than the
        stratum has is of some other, smaller thing, and is none of this one.
        """
        read = {key for key in stratum if (*key, check) in self._by_item}
        if read and read == set(stratum):
            return Drawn(frozenset(read), 0, "a census")
        planned, left, rules = self._by_plans(read, set(stratum), strict, check)
        worded: set[SampleKey] = set()
        told = (entry for key in read for entry in self._by_item[*key, check])
        for word in sorted({entry.chosen for entry in told if entry.plan not in self._plans}):
            rule = _rule(word, strict, len(stratum))
            if rule is None:
                continue
            mine = {key for key in read if any(e.chosen == word for e in self._by_item[*key, check])}
            if rule.drawn == len(stratum):
                mine = read
            worded |= mine
            left += max(0, rule.drawn - (len(mine) if rule.of == len(stratum) else len(self._words[word])))
            rules.append(word)
        items = planned | worded
        return Drawn(frozenset(items), min(left, len(stratum) - len(items)), "; ".join(rules))

    def _by_plans(
        self, read: set[SampleKey], stratum: set[SampleKey], strict: Strict, check: str
    ) -> tuple[set[SampleKey], int, list[str]]:
        """Items read because a plan drew them, how many it drew that were not, and the plans in words."""
        items: set[SampleKey] = set()
        lost: set[SampleKey] = set()
        rules = []
        begun = {entry.plan for entries in self._by_item.values() for entry in entries}
        for id_, plan in self._plans.items():
            if (
                plan.flips_of or id_ in self._replaced - begun
            ):  # nothing came of it, so it was not replaced for what did
                continue
            for part in plan.strata:
                if (part.run, part.check, part.strict) != (self._run.id, check, strict) or part.of < len(stratum):
                    continue
                drawn = {key for key in stratum if f"{key[0]}/{key[1]}" in part.items}
                after = {key for key in drawn & read if self._since(key, check, id_, plan)}
                items, lost = items | after, lost | (drawn - after)
                rules.append(f"plan {id_} ({len(part.items)} of {part.of}, seed {plan.seed})")
        return items, len(lost - items), rules

    def _since(self, key: SampleKey, check: str, id_: str, plan: Plan) -> bool:
        """Whether a reading of the item was made after the plan: who read before could have chosen the seed."""
        return any(entry.plan == id_ or moment(entry.time) >= moment(plan.time) for entry in self._by_item[*key, check])


class _Rule(NamedTuple):
    drawn: int
    of: int
    """More than a stratum has where the draw was from several runs or checks at once."""


def _rule(word: str, strict: Strict, stratum: int) -> _Rule | None:
    """The rule in `word` where it is one that drew from all of this stratum, else None."""
    every, random = _EVERY.fullmatch(word), _RANDOM.fullmatch(word)
    if every:
        return _Rule(stratum, stratum) if every[1].startswith(strict) else None
    if random and random[1].startswith(strict) and int(random[3]) >= stratum:
        return _Rule(int(random[2]), int(random[3]))
    return None
