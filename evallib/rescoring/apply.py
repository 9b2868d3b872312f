"""Rescoring: changed criteria applied to stored runs, written beside them with a dated entry; always post hoc."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from evallib.entries import Change, Lock, Override, Reading, Rescoring, Resolution
from evallib.errors import InputError
from evallib.judging import Jury
from evallib.locks import standing_locks
from evallib.records import Verdict, digest
from evallib.rescoring.changes import (
    became,
    listed_changes,
    refuse_invented,
    refuse_misnamed_fix,
    refuse_unlisted,
    reworded,
)
from evallib.rescoring.entry import load_rescoring, refuse_misnamed, rescoring_label
from evallib.rescoring.flips import Flip, held_against_readings
from evallib.rescoring.lessons import Tried, tried
from evallib.rescoring.licences import licensed_by_own_reading_only, refuse_unlicensed
from evallib.rescoring.looks import leave_stamp, predicted_late
from evallib.rescoring.recomputing import RescoredRun, refuse_other_questions, rescore_run
from evallib.rescoring.rejudging import to_be_asked
from evallib.rescoring.rules import (
    Acceptance,
    against_words,
    flip_problems,
    make_override,
    refusal,
    refuse_author,
    refuse_locked,
    refuse_twins,
    refuse_without_prediction,
    turned_against,
    unread_words,
)
from evallib.rescoring.turned import still_turned, unlisted_words, untested
from evallib.reviewer import reviewer_name
from evallib.rule import Rule, RuleInForce, load_rule
from evallib.standing import standing_readings
from evallib.store import LoggedEntry, Run, publish_rescoring, read_log, standing_rescorings
from evallib.store.files import sha256_of
from evallib.store.log import entry_bytes, log_path, logs_of, now, view_name
from evallib.store.staged import StagedRescoring
from evallib.suite import Suite, load_suite, parse_suite

__all__ = [
    "Rescored", "RescoredRun", "Session", "by_reviewer", "changed_suite", "load_rescoring", "rescore", "rescore_run",
    "said_against", "stamp", "told",
]  # fmt: skip

_NO_ENTRY = "no entry: name author, fix, reason and the flips you expect in a file (--entry)"


class Rescored(NamedTuple):
    """All runs of one rescoring."""

    entry: Rescoring
    runs: tuple[RescoredRun, ...]
    logged: LoggedEntry
    judge_calls: int = 0
    judge_replies_kept: int = 0
    """Votes read from replies that were had before."""
    rule: str = ""
    """Which written rule allowed it, in a sentence."""
    regressions: Mapping[str, Any] | None = None
    """What the changed suite says of the answers beside it that people read; None where none are there."""

    def as_dict(self) -> dict[str, Any]:
        """The object `rescore --json` prints."""
        return {
            "entry": self.logged.id,
            "view": f"rescored:{view_name(self.entry)}",
            "preview": False,
            **told(self.entry, self.runs),
            "judge_calls": self.judge_calls,
            "judge_replies_kept": self.judge_replies_kept,
            "predicted_after_preview": self.entry.predicted_after_preview,
            "override": self.entry.override or None,
            "judgement_calls": self.entry.judgement_calls,
            "own_readings_only": self.entry.own_readings_only,
            "rule": self.rule,
            "would_refuse": [],
            "regressions": self.regressions,
            "post_hoc": True,
            "label": rescoring_label(self.entry),
        }


def told(entry: Rescoring | None, runs: Sequence[RescoredRun]) -> dict[str, Any]:
    """Counts and flips of a rescoring or of its preview; without an entry nothing was expected or not."""
    flips = [flip.as_dict() for one in runs for flip in one.flips]
    here = {one.run.id for one in runs}
    expects = entry.expects if entry else ()
    return {
        "recomputed": sum(one.recomputed for one in runs),
        "carried": sum(one.carried for one in runs),
        "outdated": sorted({check for one in runs for check in one.outdated}),
        "flips": flips if entry else [{**flip, "expected": None} for flip in flips],
        "unpublished": [one.run.id for one in runs if one.run.suite.recorded],
        "turned_without_flip": [t for one in runs for t in still_turned(one.run.id, one.turned, one.flips)],
        "in_no_flip": _in_no_flip(entry, runs) if entry else [],
        "untested": _untested(entry, runs) if entry else [],
        "reworded": sorted({name for one in runs for name in reworded(one.run, one.suite, entry)}) if entry else [],
        "never_failed": _never_failed(runs),
        "unexpected": [flip for flip in flips if not flip["expected"]] if entry else [],
        "missed": [missed for one in runs for missed in one.missed],
        "elsewhere": [e.model_dump() for e in expects if e.run not in here],
        "reverse": [flip for flip in flips if flip["to"] == "fail"],
        "unread": [flip for flip in flips if flip["read"] == "unread"],
    }


def _never_failed(runs: Sequence[RescoredRun]) -> list[dict[str, str]]:
    """What is computed in the place of recorded verdicts and failed no answer, before or after: it may be weaker."""
    failed = {seen[:2] for one in runs for seen in one.strict | one.computed if not seen[2]}
    computed = {seen[:2] for one in runs for seen in one.computed}
    return [
        {"case_id": case, "check": check} for case, check in sorted((case, name) for name, case in computed - failed)
    ]


def _untested(entry: Rescoring, runs: Sequence[RescoredRun]) -> list[str]:
    """The changes of which nothing that is at hand shows what they do, in words."""
    cases = {case for one in runs for case in one.run.plan["cases"]}
    turned, before = [t for one in runs for t in one.turned], {v for one in runs for v in one.strict}
    return untested(entry, runs[0].suite, cases, turned, before) if runs else []


def _in_no_flip(entry: Rescoring, runs: Sequence[RescoredRun]) -> list[dict[str, str]]:
    """The changes of checks that no flip comes from: of a description alone, or of what decides nothing there."""
    moved = {(check, flip.case_id) for one in runs for flip in one.flips for check in flip.checks}
    cases = {case for one in runs for case in one.run.plan["cases"]}

    def flips_nothing(change: Change) -> bool:
        return change.fix == "description" or not any((change.check, case) in moved for case in change.cases or cases)

    still = (change for change in entry.changes if change.fix != "pass-rule" and flips_nothing(change))
    return [{"check": change.check, "fix": change.fix} for change in still]


def changed_suite(suite_path: Path, *, trust_code: bool = False) -> tuple[Suite, bytes]:
    """The suite of changed criteria in a file or folder, and its very bytes."""
    suite_path = suite_path / "suite.yaml" if suite_path.is_dir() else suite_path
    load_suite(suite_path, trust_code=trust_code)  # says what is wrong with it, or that it is not there
    text = suite_path.read_bytes()
    return parse_suite(text.decode("utf-8"), str(suite_path)), text


def by_reviewer(entry: Rescoring) -> Rescoring:
    """The entry with its author's name in the one spelling."""
    return entry.model_copy(update={"author": reviewer_name(entry.author)})


def rescore(  # what is rescored, by whose word, and who answers
    runs: Sequence[Run],
    suite_path: Path,
    entry_path: Path,
    adjudications: Path,
    *,
    trust_code: bool = False,
    jury: Jury | None = None,
    acceptance: Acceptance | None = None,
) -> Rescored:
    """Apply the suite in `suite_path` to stored runs under the entry in `entry_path`, all runs or none.

    InputError for what the written rule of the log forbids (`rules`, `licences`), and for a flip that nobody read
    unless `acceptance` says who answers for it. `jury` answers judges that ask something else than in the run, or
    have another model or prompt. What would flip is for `impact.preview` to say.
    """
    suite, text = changed_suite(suite_path, trust_code=trust_code)
    written = load_rescoring(entry_path)
    for run in runs:
        refuse_other_questions(run, suite)
    log = read_log(adjudications)
    refuse_misnamed(entry_path, written, runs, suite, log)
    written = by_reviewer(written)
    read = tried(suite_path, suite, log, runs)
    at = Session(runs, suite, text, adjudications, log, load_rule(adjudications), jury, read, acceptance is not None)
    for error in _refusals(at, written):
        raise error
    entry = _stamped(at, written)
    if acceptance is None:
        return _written_beside(at, entry)
    rescored = tuple(at.computed(run, entry) for run in runs)
    asked = _asked(jury)
    _refuse_told(at, entry, rescored)
    override = make_override(runs, _unread(rescored), entry, at.rule, acceptance)
    accepted = {"unread": len(override.flips), "unread_accepted_by": override.author}
    named = {"override": log_path(adjudications, override, entry_bytes(override)).stem}
    done = _written_beside(at, entry.model_copy(update=accepted | named), override)
    return done._replace(judge_calls=asked[0], judge_replies_kept=asked[1])


@dataclass(frozen=True, slots=True)
class Session:
    """One rescoring, or a preview of it, under way: what is rescored, by which criteria, and under which rule."""

    runs: Sequence[Run]
    suite: Suite
    text: bytes
    adjudications: Path
    log: Sequence[LoggedEntry]
    in_force: RuleInForce
    jury: Jury | None
    read: Tried
    accepted: bool = False
    """Whether somebody answers for the flips that nobody read."""

    @property
    def rule(self) -> Rule:
        """What holds for the log."""
        return self.in_force.rule

    def computed(self, run: Run, entry: Rescoring, keep: Callable[[list[Verdict]], object] = len) -> RescoredRun:
        """The run under the new criteria, its flips held against what people read."""
        found = rescore_run(run, self.suite, entry, keep, jury=self.jury)
        if not found.flips:
            return found
        return replace(
            found, flips=held_against_readings(run, self.suite, found.flips, standing_readings(run, self.log))
        )


def said_against(at: Session, entry: Rescoring | None, rescored: Sequence[RescoredRun]) -> tuple[str, ...]:
    """What a rescoring of computed runs would be refused for, in words, each once; first that there is no entry."""
    told: list[InputError] = []
    if entry is None:
        told.append(InputError(_NO_ENTRY))
        told += (error for run in _held_apart(at) for error in refusal(refuse_locked, run, at.log, at.rule))
        told += map(InputError, (*at.read.refused, *at.read.unkept))
    else:
        told += (*_refusals(at, entry), *_flip_refusals(at, entry, rescored))
    if unread := _unread(rescored):
        told.append(InputError(unread_words(unread)))
    return tuple(dict.fromkeys(str(error) for error in told))


def stamp(at: Session, entry: Rescoring | None, rescored: Sequence[RescoredRun]) -> None:
    """Leave a stamp that flips were seen, and what the entry, where there was one, expected then."""
    flips = [flip for one in rescored for flip in one.flips]
    leave_stamp(at.runs, at.suite, entry, flips, logs_of(at.runs, at.adjudications))


def _stamped(at: Session, written: Rescoring) -> Rescoring:
    return written.model_copy(
        update={
            "time": now(),
            "written_digest": digest(written.model_dump(mode="json")),
            "suite_digest": at.suite.digest,
            "rule_digest": at.rule.digest,
            "became": became(at.suite, written),
            "own_readings_only": licensed_by_own_reading_only(at.runs, written, at.log, at.rule),
            "predicted_after_preview": predicted_late(at.runs, at.suite, written, at.log, at.adjudications),
        }
    )


def _refusals(at: Session, entry: Rescoring) -> Iterator[InputError]:
    """What a rescoring is refused for before it is computed: the first of each rule, run by run."""
    yield from refusal(refuse_author, entry, at.rule)
    yield from refusal(refuse_without_prediction, at.runs, at.suite, entry)
    yield from refusal(refuse_twins, at.runs)
    for run in _held_apart(at):
        yield from refusal(refuse_locked, run, at.log, at.rule)
    for run in _first_of_each(at.runs):
        yield from refusal(refuse_unlisted, run, at.suite, entry)
        yield from refusal(refuse_misnamed_fix, run, at.suite, entry)
    for run in at.runs:
        yield from refusal(_refuse_judges, run, at.suite, entry, at.jury)
        yield from refusal(_refuse_done, run, entry.slug, at.log)
    yield from refusal(refuse_invented, at.runs, at.suite, entry)
    yield from refusal(refuse_unlicensed, at.runs, entry, at.log, at.rule)
    yield from map(InputError, at.read.refused)


def _first_of_each(runs: Iterable[Run]) -> list[Run]:
    """The first of all runs of the same suite and cases: what differs from a changed suite, differs alike in them."""
    found: dict[tuple[str, ...], Run] = {}
    for run in runs:
        found.setdefault((str(run.plan["suite_sha256"]), *run.plan["cases"]), run)
    return list(found.values())


def _held_apart(at: Session) -> list[Run]:
    """The runs among which a lock that holds any holds one: those that a lock names, and the first of each suite."""
    named = {run for one in standing_locks(at.log, at.rule) if isinstance(one.entry, Lock) for run in one.entry.runs}
    first = {run.id for run in _first_of_each(at.runs)}
    return [run for run in at.runs if run.id in named | first]


def _flip_refusals(at: Session, entry: Rescoring, rescored: Sequence[RescoredRun]) -> Iterator[InputError]:
    """What a rescoring is refused for once it is computed, but for unread flips: the first of each run."""
    read: dict[str, set[str]] = {}
    for reading in (e for _, e in at.log if isinstance(e, Reading | Resolution) and e.check):
        read.setdefault(reading.run, set()).add(reading.check)
    for one in rescored:
        if (verdict := one.against) is not None:
            yield InputError(against_words(verdict, one.run.id, entry))
        problem = next(flip_problems(one.flips, entry, at.suite, one.outdated), None)
        if problem is not None:
            yield problem
        elif one.unlisted is not None:
            yield InputError(unlisted_words(one.unlisted, one.run.id))
        elif against := turned_against(one.run, one.turned, at.log, read.get(one.run.id, ())):
            yield against
    yield from map(InputError, at.read.unkept)


def _refuse_told(at: Session, entry: Rescoring, rescored: Sequence[RescoredRun]) -> None:
    """Raise what a computed rescoring is refused for; flips that it names were seen, so it stamps as a preview does.

    With an override to come unread flips are for that to say.
    """
    told = next(_flip_refusals(at, entry, rescored), None)
    unread = _unread(rescored)
    if told is None and not at.accepted and len(unread) > entry.unread:
        told = InputError(unread_words(unread))
    if told is not None:
        stamp(at, entry, rescored)
        raise told


def _unread(rescored: Sequence[RescoredRun]) -> list[Flip]:
    return [flip for one in rescored for flip in one.flips if flip.read == "unread"]


def _refuse_done(run: Run, slug: str, log: Sequence[LoggedEntry]) -> None:
    name = f"{now()[:10]}-{slug}"
    for one in standing_rescorings(run, log):
        if one.name == name:
            raise InputError(
                f"{one.folder}: exists already and is never overwritten; give the entry another slug than {slug!r}"
            )


def _asked(jury: Jury | None) -> tuple[int, int]:
    return (0, 0) if jury is None else (jury.calls, jury.kept)


def _written_beside(at: Session, entry: Rescoring, override: Override | None = None) -> Rescored:
    name = view_name(entry)
    with ExitStack() as stack:
        staged: list[StagedRescoring] = []
        for run in at.runs:
            staged.append(StagedRescoring(run, name, rescoring_label(entry)))
            stack.callback(staged[-1].discard)
        rescored = tuple(at.computed(one.run, entry, one.write) for one in staged)
        _refuse_told(at, entry, rescored)
        kept = {"suite.yaml": at.text, "RULE.yaml": at.in_force.path.read_bytes()}
        rows = tuple(_entry_row(one, table.sha256(), kept) for one, table in zip(rescored, staged, strict=True))
        entry = entry.model_copy(update={"runs": rows, "untested": tuple(_untested(entry, rescored))})
        logged = publish_rescoring(at.adjudications, entry, kept, staged, override=override)
        flips = [flip for one in rescored for flip in one.flips]
        leave_stamp(at.runs, at.suite, entry, flips, logs_of(at.runs, at.adjudications)[1:])
        return Rescored(entry, rescored, logged, *_asked(at.jury), at.in_force.said(), regressions=at.read.told)


def _entry_row(one: RescoredRun, sha256: str, kept: Mapping[str, bytes]) -> Mapping[str, Any]:
    return {
        "run": one.run.id,
        "strict_sha256": sha256_of(one.run.folder / "verdicts.parquet"),
        "verdicts_sha256": sha256,
        "suite_sha256": hashlib.sha256(kept["suite.yaml"]).hexdigest(),
        "rule_sha256": hashlib.sha256(kept["RULE.yaml"]).hexdigest(),
        "recomputed": one.recomputed,
        "carried": one.carried,
        "outdated": list(one.outdated),
        "flips": [flip.as_dict() for flip in one.flips],
        "missed": list(one.missed),
    }


def _refuse_judges(run: Run, suite: Suite, entry: Rescoring, jury: Jury | None) -> None:
    """A judge that has to be asked anew needs someone who answers, and is a change the entry must list."""
    listed = listed_changes(entry, suite)
    for check, case_id in to_be_asked(run, suite, jury):
        if jury is None:
            raise InputError(
                f"judge {check!r} of case {case_id!r} asks something else than in run {run.id!r}, or was not there; "
                "name who answers with --judge, or run the suite again"
            )
        if (check, case_id) not in listed:
            raise InputError(
                f"judge {check!r} of case {case_id!r} would be asked anew (another model, prompt or key, or no votes "
                "before), which the entry does not list; add it under `changes` with its reason"
            )
