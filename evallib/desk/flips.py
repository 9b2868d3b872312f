"""The reading queue of a preview: answers that would change sides, unread, among as many that would not."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evallib.desk.plans import FoundPlan, standing_plans
from evallib.desk.queue import seed_of
from evallib.entries import Plan, Reading, Stratum
from evallib.errors import InputError
from evallib.records import SampleKey
from evallib.rescoring.flips import Flip
from evallib.rescoring.impact import Impact, RunImpact
from evallib.reviewer import reviewer_name
from evallib.scoring import fold_all, outcome_word
from evallib.store import LoggedEntry
from evallib.suite import Suite

__all__ = ["FlipQueue", "queue_flips"]

_WORDS = ("fail", "pass")
_Pools = defaultdict[tuple[bool, str], list[SampleKey]]


@dataclass(frozen=True, slots=True)
class FlipQueue:
    """A plan of unread flips, and how many of its items are none."""

    plan: Plan
    flips: int
    controls: int
    """Answers that do not flip; fewer than the flips where the runs have no more that nobody read."""


def queue_flips(impact: Impact, log: Sequence[LoggedEntry], *, author: str) -> FlipQueue:
    """A plan that holds the unread flips of a preview and, of each run, as many answers that do not flip.

    These are drawn by the seed of the runs from answers that a check of the flips judges and that nobody read: half
    of them pass and half fail under either criteria, where there are so many, so that being asked tells neither what
    strict says nor whether it would change. A flip that an earlier preview's plan asks for is not asked again: what
    two draws have in common would be the flips. InputError where nothing is left to ask.
    """
    author = reviewer_name(author)
    asked = _asked(log)
    runs = [(one, keys) for one in impact.runs if (keys := _left(one, asked))]
    if not runs:
        raise InputError(_nothing(impact, asked))
    seed = seed_of([one.run for one, _ in runs])
    read = [(e.run, (e.case, e.sample)) for _, e in log if isinstance(e, Reading)]
    strata: list[Stratum] = []
    controls = 0
    for one, keys in runs:
        words = _words(one)
        draw = random.Random(f"{seed}/{one.run.id}/flips")  # noqa: S311  # a draw, no secret
        known = {key for run, key in (*read, *asked) if run == one.run.id}
        drawn = _controls(_pools(one, impact.suite, words, known), len(keys), draw)
        controls += len(drawn)
        strata += _strata(one.run.id, {*keys, *drawn}, words)
    ids = tuple(one.run.id for one, _ in runs)
    plan = Plan(
        author=author, runs=ids, seed=seed, strata=tuple(strata),
        after=sum(run in ids for run, _ in read), flips_of=impact.suite.digest,
    )  # fmt: skip
    return FlipQueue(plan, sum(len(keys) for _, keys in runs), controls)


def _asked(log: Sequence[LoggedEntry]) -> dict[tuple[str, SampleKey], FoundPlan]:
    """What the standing plans of earlier previews ask for."""
    found: dict[tuple[str, SampleKey], FoundPlan] = {}
    for one in standing_plans(log):
        for part in one.plan.strata if one.plan.flips_of else ():
            parted = (name.rpartition("/") for name in part.items)
            found |= {(part.run, (case, int(number))): one for case, _, number in parted}
    return found


def _left(one: RunImpact, asked: Mapping[tuple[str, SampleKey], FoundPlan]) -> list[SampleKey]:
    return [key for key in _unread(one.rescored.flips) if (one.run.id, key) not in asked]


def _unread(flips: Iterable[Flip]) -> list[SampleKey]:
    """Flips to pass or to fail that no reading speaks of; what became an error or has no verdict nobody can read."""
    return [
        (flip.case_id, flip.sample)
        for flip in flips
        if flip.read == "unread" and {flip.before, flip.after} <= {*_WORDS}
    ]


def _nothing(impact: Impact, asked: Mapping[tuple[str, SampleKey], FoundPlan]) -> str:
    waiting = {asked[one.run.id, key].id: None for one in impact.runs for key in _unread(one.rescored.flips)}
    if not waiting:
        return "there is no unread flip to pass or to fail, so nothing to queue"
    plan = next(iter(waiting))
    return f"every unread flip is asked for by plan {plan} already: read by it (evallib adjudicate --plan-id {plan})"


def _words(one: RunImpact) -> dict[SampleKey, str]:
    """What strict says of each answer."""
    outcomes = fold_all(one.run.samples, one.run.verdicts, one.run.suite.pass_rule)
    return {key: outcome_word(outcome.passed) for key, outcome in outcomes.items()}


def _pools(one: RunImpact, suite: Suite, words: Mapping[SampleKey, str], known: set[SampleKey]) -> _Pools:
    """The answers that neither flip nor are `known`, by whether a check of the flips judges them and strict's word."""
    checks = {check for flip in one.rescored.flips for check in flip.checks}
    turned = {(flip.case_id, flip.sample) for flip in one.rescored.flips}
    bound = {case: (*one.run.suite.bound[case], *suite.bound[case]) for case in one.passes}
    judged = {case for case, bounds in bound.items() if checks & {b.check.id for b in bounds}}
    pools: _Pools = defaultdict(list)
    for key in sorted(words.keys() - turned - known):
        pools[key[0] in judged, words[key]].append(key)
    return pools


def _controls(pools: _Pools, wanted: int, draw: random.Random) -> list[SampleKey]:
    """So many answers of the pools at random: those of the same checks first, of either word in turn."""
    for keys in pools.values():
        draw.shuffle(keys)
    drawn: list[SampleKey] = []
    for same in (True, False):
        fails, passes = (pools[same, word] for word in _WORDS)
        while len(drawn) < wanted and (fails or passes):
            from_passes = bool(passes) and (not fails or len(drawn) % 2 == 0)
            drawn.append((passes if from_passes else fails).pop())
    return drawn


def _strata(run: str, keys: Collection[SampleKey], words: Mapping[SampleKey, str]) -> list[Stratum]:
    of = list(words.values())
    return [
        Stratum(run=run, strict=word, of=of.count(word), items=tuple(f"{c}/{n}" for c, n in mine))  # type: ignore[arg-type]  # one of _WORDS
        for word in _WORDS
        if (mine := sorted(key for key in keys if words[key] == word))
    ]
