"""Flips: which outcomes differ between strict and rescored, which checks did it, and what people read there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from evallib.adjudication import read_state
from evallib.checks.extraction import spoken
from evallib.entries import Expectation, Rescoring
from evallib.records import Outcome, Sample, SampleKey, Verdict
from evallib.scoring import fold
from evallib.standing import Readings, Stand
from evallib.store import Run
from evallib.suite import Suite

__all__ = [
    "Batch", "Flip", "ReadWord", "Turn", "against_the_fix", "find_flips", "held_against_readings", "missed_flips",
    "one_way_fixes", "words_of",
]  # fmt: skip

_DECIDING = itemgetter(*map(Verdict._fields.index, ("status", "passed", "critical", "origin", "decides")))
"""Of a verdict all that `fold` looks at, but for the score."""
ReadWord = Literal["read", "unread", "contradicted", "disputed"]


class Turn(NamedTuple):
    """One check that changed in a sample that flipped."""

    check: str
    now: Literal["pass", "fail", ""]
    """What its verdict now is; empty where it has none any more, or only counts otherwise."""
    counts: bool
    """Whether it may decide the outcome: it was or is critical, or every check counts."""


@dataclass(frozen=True, slots=True)
class Flip:
    """One sample whose outcome differs between strict and rescored."""

    run: str
    case_id: str
    sample: int
    before: str
    after: str
    turns: tuple[Turn, ...]
    """Checks whose verdict or criticality changed."""
    expected: bool
    read: ReadWord | Literal[""] = ""
    """`read` where people say what it now is, `contradicted` where they say otherwise; empty before one looked."""
    readings: tuple[str, ...] = ()
    """Ids of the readings that say so."""

    @property
    def checks(self) -> tuple[str, ...]:
        """Ids of the checks whose verdict or criticality changed."""
        return tuple(turn.check for turn in self.turns)

    @property
    def named(self) -> str:
        """The flip in a few words."""
        return f"sample {self.sample} of case {self.case_id!r} of run {self.run!r}"

    def as_dict(self) -> dict[str, Any]:
        """The flip as `rescore --json` and the entry show it."""
        return {
            "run": self.run,
            "case_id": self.case_id,
            "sample": self.sample,
            "from": self.before,
            "to": self.after,
            "checks": list(self.checks),
            "expected": self.expected,
            "read": self.read,
            "readings": list(self.readings),
        }


@dataclass(frozen=True, slots=True)
class Batch:
    """Some samples of a run with their verdicts and what they amount to, by strict and under changed criteria."""

    samples: Sequence[Sample]
    before: Sequence[Verdict]
    after: list[Verdict]
    """In stored order."""
    strict: Mapping[SampleKey, str]
    """As `words_of` has them."""
    rescored: Mapping[SampleKey, str]
    carried: int
    """How many of the verdicts `after` were carried over."""
    outdated: set[str]
    """Checks whose kind has judged otherwise since the run was made."""


def find_flips(run: Run, suite: Suite, batch: Batch, expected: Collection[tuple[str, int, str]] = ()) -> Iterator[Flip]:
    """The flips in `batch`, in stored order; `expected` are (case, sample, word it becomes)."""
    turned = {key for key, old in batch.strict.items() if old != batch.rescored[key]}
    if not turned:
        return
    old, new = ([v for v in one if (v.case_id, v.sample) in turned] for one in (batch.before, batch.after))
    turns = _turns(old, new, all_count="top" in {run.suite.pass_rule, suite.pass_rule})
    for key in (key for key in batch.strict if key in turned):
        word = batch.rescored[key]
        yield Flip(run.id, *key, batch.strict[key], word, tuple(turns.get(key, ())), (*key, word) in expected)


def missed_flips(run: Run, expects: Iterable[Expectation], flips: Iterable[Flip]) -> tuple[dict[str, Any], ...]:
    """What is expected of `run` and is not among its flips."""
    happened = {(flip.case_id, flip.sample, flip.after) for flip in flips}
    mine = (e for e in expects if e.run == run.id)
    return tuple(e.model_dump() for e in mine if (e.case, e.sample, e.to) not in happened)


def words_of(
    samples: Sequence[Sample], verdicts: Iterable[Verdict], pass_rule: Literal["critical", "top"]
) -> dict[SampleKey, str]:
    """What each sample amounts to, in the order of `samples`: pass, fail, error or not_scored.

    Samples whose verdicts decide alike are folded once: of a run's many samples few are unlike.
    """
    grouped: dict[SampleKey, list[Verdict]] = {sample.key: [] for sample in samples}
    for verdict in verdicts:
        grouped[verdict.case_id, verdict.sample].append(verdict)
    known: dict[tuple[Any, ...], str] = {}
    found = {}
    for sample in samples:
        mine = grouped[sample.key]
        alike = (sample.status, spoken(sample.answer).problem, *map(_DECIDING, mine))
        if alike not in known:
            known[alike] = _word(fold(sample, mine, pass_rule))
        found[sample.key] = known[alike]
    return found


def _word(outcome: Outcome) -> str:
    return "pass" if outcome.passed else "fail" if outcome.passed is False else outcome.status


def _turns(before: Sequence[Verdict], after: Sequence[Verdict], *, all_count: bool) -> dict[SampleKey, list[Turn]]:
    old = {(v.case_id, v.sample, v.check_id): v for v in before}
    turns: dict[SampleKey, list[Turn]] = {}
    for key in old.keys() - {(v.case_id, v.sample, v.check_id) for v in after}:
        turns.setdefault(key[:2], []).append(Turn(key[2], "", all_count or old[key].critical))
    for v in after:
        was = old.get((v.case_id, v.sample, v.check_id))
        if was is None or (was.passed, was.critical) != (v.passed, v.critical):
            same = was is not None and was.passed == v.passed
            now: Literal["pass", "fail", ""] = "" if same or v.passed is None else "pass" if v.passed else "fail"
            counts = all_count or v.critical or (was is not None and was.critical)
            turns.setdefault((v.case_id, v.sample), []).append(Turn(v.check_id, now, counts))
    return turns


def one_way_fixes(entry: Rescoring, cases: Iterable[str]) -> dict[tuple[str, str], str]:
    """(check, case) to `widen` or `narrow`, where the entry lists that and not the other way too.

    To `keep` where it lists nothing that changes what the check says of an answer.
    """
    named = list(cases)
    ways: dict[tuple[str, str], set[str]] = {}
    for change in entry.changes:
        for case in change.cases or named:
            ways.setdefault((change.check, case), set()).add(change.fix)
    both, any_way = {"widen", "narrow"}, {"scope", "key", "replace", "drop"}
    return {
        key: (both & fixes or {"keep"}).pop()
        for key, fixes in ways.items()
        if len(both & fixes) < 2 and not fixes & any_way
    }


def against_the_fix(
    before: Sequence[Verdict], after: Sequence[Verdict], ways: Mapping[tuple[str, str], str]
) -> Verdict | None:
    """The first verdict that turned against the way the entry names: to fail by a widening, or at all by a weight."""
    old = {
        (v.case_id, v.sample, v.check_id): v.passed
        for v in before
        if (v.check_id, v.case_id) in ways and v.passed is not None
    }
    for v in after if old else ():
        was = old.get((v.case_id, v.sample, v.check_id))
        turned = was is not None and v.passed is not None and v.passed != was
        if turned and ways[v.check_id, v.case_id] != ("widen" if v.passed else "narrow"):
            return v
    return None


def held_against_readings(run: Run, suite: Suite, flips: Sequence[Flip], readings: Readings) -> tuple[Flip, ...]:
    """The flips with what people read of them.

    A flip is read when a standing reading of the answer, or one of each check that flipped it, says what it now is.
    Unsure and stale readings say nothing; an infrastructure failure says otherwise; where readers differ it is
    disputed.
    """
    return tuple(_held(run, suite, flip, readings) for flip in flips)


def _held(run: Run, suite: Suite, flip: Flip, readings: Readings) -> Flip:
    key = (flip.case_id, flip.sample)
    whole = readings.by_item.get((*key, ""))
    if whole is not None and whole.state != "unsure":
        return replace(flip, read=_compared(read_state(run, key, readings), flip.after), readings=_ids([whole]))
    deciding = [
        (readings.by_item.get((*key, turn.check)), turn.now or flip.after) for turn in flip.turns if turn.counts
    ]
    words: list[ReadWord] = [_compared(stand.state, want) if stand else "unread" for stand, want in deciding]
    against = _read_otherwise(suite, flip, readings)
    words += ["contradicted"] * len(against)
    order: tuple[ReadWord, ...] = ("contradicted", "disputed", "unread")
    word = next((one for one in order if one in words), "read" if words else "unread")
    if word == "read":  # the other checks of the answer may have been read too
        word = _compared(read_state(run, key, readings), flip.after)
    return replace(flip, read=word, readings=_ids([stand for stand, _ in deciding if stand] + against))


def _read_otherwise(suite: Suite, flip: Flip, readings: Readings) -> list[Stand]:
    """Readings of checks that did not change which speak against it: infrastructure, or a fail that decides."""
    key = (flip.case_id, flip.sample)
    others = [bound.check for bound in suite.bound[flip.case_id] if bound.check.id not in flip.checks]
    stands = [(check, readings.by_item.get((*key, check.id))) for check in others]
    decides = {check.id for check in others if check.critical or suite.pass_rule == "top"}
    return [
        stand
        for check, stand in stands
        if stand
        and (stand.state == "infra" or (stand.state == "fail" and flip.after == "pass" and check.id in decides))
    ]


def _compared(state: str, want: str) -> ReadWord:
    if state == "disputed":
        return "disputed"
    return "read" if {"infra": "error"}.get(state, state) == want else "unread" if state == "unsure" else "contradicted"


def _ids(stands: Iterable[Stand]) -> tuple[str, ...]:
    return tuple(logged.id for stand in stands for logged in stand.entries)
