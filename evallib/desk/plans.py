"""Reading plans: what is to be read of some runs, drawn before anybody reads, and what they ask of a reader."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from evallib.desk.logbook import Logbook, answer_of
from evallib.desk.queue import seed_of
from evallib.entries import Plan, Reading, Stratum, moment
from evallib.errors import InputError
from evallib.records import SampleKey
from evallib.reviewer import reviewer_name
from evallib.scoring import fold_all, outcome_word
from evallib.standing import Item, live_entries
from evallib.statistics.estimators import clopper_pearson
from evallib.store import LoggedEntry, Run, refuse_repeated

__all__ = [
    "Asked",
    "Drawn",
    "again_reading",
    "asked_of",
    "clean_bound",
    "draw_plan",
    "drawn_items",
    "find_plan",
    "standing_plans",
]


class FoundPlan(NamedTuple):
    """A plan with its id, which is its file name."""

    id: str
    plan: Plan


def draw_plan(  # noqa: PLR0913  # the parts of a plan, each by its name
    runs: Sequence[Run],
    log: Sequence[LoggedEntry],
    *,
    author: str,
    checks: Collection[str] = ("",),
    seed: int | None = None,
    passes: int = 60,
    twice: float = 0.1,
    again: float = 0.05,
    reason: str = "",
) -> Plan:
    """A plan of whole answers (check ""), or of the verdicts of `checks`: every one that is no strict pass, and a draw.

    Of each run and check `passes` strict passes are drawn and up to a quarter more, by the seed: how many answers a run
    has in the queue must not tell which run it is. Of each stratum the share `twice` is for two
    readers, and the share `again` for its own reader a second time, both rounded up. 60 passes are the least of which
    none false bounds the false ones below 5 % (statistics reference, 2.3). InputError where a plan of the same items
    stands and no `reason` says why this one replaces it, or a number means nothing.
    """
    _refuse_nonsense(runs, checks, passes, {"--twice": twice, "--again": again})
    author = reviewer_name(author)
    seed = seed_of(runs) if seed is None else seed
    runs = sorted(runs, key=lambda run: run.id)
    strata = tuple(
        _stratum(run.id, check, strict, keys, seed=seed, passes=passes, shares=(twice, again))
        for run in runs
        for check in checks
        for strict, keys in _by_word(run, check)
    )
    if not strata:
        raise InputError(f"{', '.join(run.id for run in runs)}: there is nothing to read")
    earlier = _overlapping(log, strata)
    if earlier and not reason.strip():
        raise InputError(
            f"plan {earlier[0].id} of {earlier[0].plan.author!r} stands for the same items: a second draw could be "
            "chosen by what it holds; read that one, or say why another replaces it (--supersede REASON)"
        )
    ids = tuple(run.id for run in runs)
    return Plan(
        author=author, runs=ids, seed=seed, passes=passes, twice_share=twice, again_share=again, strata=strata,
        after=sum(isinstance(e, Reading) and e.run in ids for _, e in live_entries(log)),
        replaces=tuple(one.id for one in earlier), reason=reason.strip() if earlier else "",
    )  # fmt: skip


def _refuse_nonsense(runs: Sequence[Run], checks: Collection[str], passes: int, shares: Mapping[str, float]) -> None:
    refuse_repeated(runs)
    if passes < 1:
        raise InputError(f"--passes {passes}: draw at least 1; where only failures are read, reading is not blind")
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise InputError(f"{name} {share}: is a share, from 0 to 1")
    known = dict.fromkeys(check for run in runs for check in run.suite.check_ids())
    for check in checks:
        if check and check not in known:
            raise InputError(f"the runs have no check {check!r}; their checks: {', '.join(known)}")


def _by_word(run: Run, check: str) -> Iterator[tuple[str, list[SampleKey]]]:
    """What strict says, failures first, and the answers, or the verdicts of a check, of which it says so."""
    if check:
        verdicts = [v for v in run.verdicts if v.check_id == check and v.status != "not_applicable"]
        words = [((v.case_id, v.sample), outcome_word(v.passed)) for v in verdicts]
    else:
        outcomes = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
        words = [(key, outcome_word(outcome.passed)) for key, outcome in outcomes.items()]
    for strict in ("fail", "pass", "error"):
        if keys := [key for key, word in words if word == strict]:
            yield strict, keys


def _stratum(  # what a stratum is of, then how it is drawn
    run: str, check: str, strict: str, keys: Sequence[SampleKey], *, seed: int, passes: int, shares: tuple[float, float]
) -> Stratum:
    draw = random.Random(f"{seed}/{run}/{check}/{strict}")  # noqa: S311  # a draw, no secret
    ordered = sorted(keys)
    wanted = passes + random.Random(f"{seed}/{run}/{check}/passes").randint(0, passes // 4)  # noqa: S311
    items = sorted(_spread(ordered, wanted, draw)) if strict == "pass" and len(keys) > wanted else ordered
    twice, again = (sorted(_spread(items, math.ceil(share * len(items) - 1e-9), draw)) for share in shares)
    return Stratum(
        run=run, check=check, strict=strict, of=len(keys),  # type: ignore[arg-type]  # a word of outcome_word
        items=tuple(map(_name, items)), twice=tuple(map(_name, twice)), again=tuple(map(_name, again)),
    )  # fmt: skip


def _spread(keys: Sequence[SampleKey], wanted: int, draw: random.Random) -> list[SampleKey]:
    """Draw `wanted` of the keys, each with the same chance, and of each case its share rounded up at most.

    A systematic draw: cases in random order, the samples of each in random order, then every N/n-th from a random
    start. Repeats of one case are alike, so they must not crowd the draw (statistics reference, 2.3); and no sample
    is likelier than another, so that the share of the drawn is the share of all.
    """
    by_case: dict[str, list[SampleKey]] = defaultdict(list)
    for key in keys:
        by_case[key[0]].append(key)
    cases = list(by_case.values())
    draw.shuffle(cases)
    for case in cases:
        draw.shuffle(case)
    row = [key for case in cases for key in case]
    start = draw.randrange(len(row)) if row else 0
    return [row[(start + place * len(row)) // wanted] for place in range(wanted)]


def _name(key: SampleKey) -> str:
    return f"{key[0]}/{key[1]}"


def _items(stratum: Stratum, names: Sequence[str]) -> list[Item]:
    parted = (name.rpartition("/") for name in names)
    return [Item(stratum.run, case, int(number), stratum.check) for case, _, number in parted if number.isdecimal()]


def clean_bound(drawn: int, of: int) -> float:
    """What share of `of` may be false at most when none of the `drawn` is: one-sided, 95 %; 0 where all were drawn."""
    return clopper_pearson(0, drawn, 0.1).hi if drawn < of else 0.0


# which plan is read by


def standing_plans(log: Sequence[LoggedEntry]) -> list[FoundPlan]:
    """The plans that were neither taken back nor replaced, oldest first."""
    plans = [FoundPlan(id_, entry) for id_, entry in live_entries(log) if isinstance(entry, Plan)]
    replaced = {id_ for _, plan in plans for id_ in plan.replaces}
    return [one for one in plans if one.id not in replaced]


def _overlapping(log: Sequence[LoggedEntry], strata: Sequence[Stratum]) -> list[FoundPlan]:
    """The standing plans that draw of the same run and check; one of a preview's flips draws of nothing."""
    parts = {(one.run, one.check) for one in strata}
    drawn = (one for one in standing_plans(log) if not one.plan.flips_of)
    return [one for one in drawn if any((part.run, part.check) in parts for part in one.plan.strata)]


def find_plan(
    runs: Sequence[Run], log: Sequence[LoggedEntry], plan_id: str = "", checks: Collection[str] = ()
) -> FoundPlan | None:
    """The standing plan called `plan_id`, or the newest one that covers all of the runs; None where none does.

    Where `checks` are asked for, the newest is one of theirs. InputError when the named one is no plan, no longer
    stands, or is not of all these runs.
    """
    standing = standing_plans(log)
    ids = {run.id for run in runs}
    if not plan_id:
        of = set(checks)
        fitting = (one for one in reversed(standing) if of <= {stratum.check for stratum in one.plan.strata})
        return next((one for one in fitting if ids <= set(one.plan.runs)), None)
    found = next((one for one in standing if one.id == plan_id), None)
    if found is None:
        gone = any(logged.id == plan_id and isinstance(logged.entry, Plan) for logged in log)
        why = "was replaced or taken back" if gone else "is no plan in the log"
        raise InputError(f"--plan-id {plan_id!r}: {why}; there stand: {', '.join(e.id for e in standing) or 'none'}")
    if other := sorted(ids - set(found.plan.runs)):
        raise InputError(f"plan {plan_id} is not of run {other[0]!r}; it is of {', '.join(found.plan.runs)}")
    return found


# what a plan asks of a reader


class Asked(NamedTuple):
    """What a plan asks one reader to read now."""

    items: Mapping[Item, str]
    """Item to how it was chosen; what the reader has read is among them."""
    again: frozenset[Item]
    """Those that the reader read long enough ago and is to read once more, blind, or has read once more."""


class Drawn(NamedTuple):
    """How far one stratum of a plan is read."""

    stratum: Stratum
    read: int
    """Of the drawn items, those that somebody read by the plan."""
    twice: int
    """Of those for two readers, those that two people read."""


def asked_of(found: FoundPlan, runs: Collection[str], log: Logbook, author: str, now: datetime) -> Asked:
    """What the plan asks of `author`: what too few people have read, what they read themselves, and what is due again.

    A reading counts when it was made by the plan or after it was drawn: whoever read before could have chosen a seed
    by what it draws, so what only they read is asked of others.
    """
    plan = found.plan
    asked: dict[Item, str] = {}
    due: set[Item] = set()
    since = now - timedelta(days=plan.again_days)
    for stratum in (one for one in plan.strata if one.run in runs):
        said, twice, again = _chosen(stratum, plan), set(stratum.twice), set(stratum.again)
        for name, item in zip(stratum.items, _items(stratum, stratum.items), strict=True):
            read = _read_by(item, found, log)
            others = len(read.keys() - {author})
            mine = read.get(author)
            early = mine is None and log.own(item, author) is not None
            if mine or (not early and others < 1 + (name in twice)):
                asked[item] = said
            if mine and name in again and mine.blind and moment(mine.time) <= since:
                due.add(item)
    return Asked(asked, frozenset(due))


def drawn_items(found: FoundPlan, runs: Collection[str], log: Logbook) -> Iterator[Drawn]:
    """How far each stratum of the plan is read, by whomever."""
    for stratum in (one for one in found.plan.strata if one.run in runs):
        read = {item: len(_read_by(item, found, log)) for item in _items(stratum, stratum.items)}
        twice = sum(read[item] > 1 for item in _items(stratum, stratum.twice))
        yield Drawn(stratum, sum(map(bool, read.values())), twice)


def _read_by(item: Item, found: FoundPlan, log: Logbook) -> dict[str, Reading]:
    """Reader to their newest standing reading of an item that the plan may count."""
    stand = log.stand(item)
    readings = stand.readings if stand else []
    return {one.author: one for one in readings if one.plan == found.id or moment(one.time) >= moment(found.plan.time)}


def _chosen(stratum: Stratum, plan: Plan) -> str:
    if plan.flips_of:
        return f"preview queue (seed {plan.seed})"  # not which part of it: no share may be estimated from it
    if stratum.strict == "pass":
        return f"random strict pass ({len(stratum.items)} of {stratum.of}, seed {plan.seed})"
    return f"every strict {'failure' if stratum.strict == 'fail' else stratum.strict}"


def again_reading(item: Item, log: Logbook, author: str, since: str) -> tuple[LoggedEntry | None, bool]:
    """The author's second reading of an item, if it stands; and whether there ever was one since that time."""
    said = [
        (logged, gone)
        for logged, gone in log.history(answer_of(item))
        if isinstance(e := logged.entry, Reading)
        and (e.again, e.author, e.check) == (True, author, item.check)
        and moment(e.time) >= moment(since)
    ]
    live = [logged for logged, gone in said if not gone]
    return (live[-1] if live else None), bool(said)
