"""The verdicts of one stored run under another suite: computed where criteria changed, carried over where not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evallib.checks.judge import Judge
from evallib.checks.turns import is_foreign
from evallib.collector import collector_paused
from evallib.entries import Rescoring
from evallib.errors import InputError
from evallib.judging import Jury
from evallib.records import ERROR_STATUSES, Sample, Verdict
from evallib.rescoring.flips import Batch, Flip, against_the_fix, find_flips, missed_flips, one_way_fixes, words_of
from evallib.rescoring.rejudging import rejudge
from evallib.rescoring.turned import Turned, deciding_changes, has_recorded, turned_verdicts
from evallib.scoring import score_samples
from evallib.store import Run
from evallib.suite import BoundCheck, Suite

__all__ = ["Kept", "RescoredBatch", "RescoredRun", "refuse_other_questions", "rescore_run", "rescored_batch"]

_COUNTS_FROM = Verdict._fields.index("critical")


@dataclass(frozen=True, slots=True)
class RescoredRun:
    """What became of one run under changed criteria."""

    run: Run
    suite: Suite
    """With the changed criteria."""
    recomputed: int
    carried: int
    flips: tuple[Flip, ...]
    missed: tuple[dict[str, Any], ...]
    """Expected flips that did not happen."""
    outdated: tuple[str, ...] = ()
    """Checks whose kind has judged otherwise since the run was made: nothing of theirs is carried over."""
    against: Verdict | None = None
    """The first verdict that turned against the kind of fix the entry names: a widening that fails, as it may be."""
    turned: tuple[Turned, ...] = ()
    """The verdicts that are others than before, whether their samples flipped or not."""
    unlisted: Turned | None = None
    """The first of them on a check that the entry does not list for its case."""
    strict: frozenset[tuple[str, str, bool]] = frozenset()
    """(check, case, passed) of the strict verdicts of checks that the entry lists, of all where they are recorded."""
    computed: frozenset[tuple[str, str, bool]] = frozenset()
    """The same of the verdicts that were computed in the place of recorded ones."""


def rescore_run(
    run: Run,
    suite: Suite,
    entry: Rescoring | None,
    keep: Callable[[list[Verdict]], object] = len,
    *,
    jury: Jury | None = None,
    kept: Kept | None = None,
    see: Callable[[Batch, Sequence[Flip]], object] = lambda _, __: None,
) -> RescoredRun:
    """The verdicts of `run` under `suite`: recomputed where criteria changed, carried over where they did not.

    `keep` is given the verdicts of some thousand samples at a time, in stored order; nothing else holds them. `see` is
    given all that is known of as many, and their flips. `kept` is what runs of one suite share.
    What a kind judged before its code changed its meaning (`Check.revision`) is recomputed too. Recorded checks and
    samples that ended in an error keep their verdicts. Judges: see `rejudging`. InputError when
    the suite lacks a case or asks something else.
    """
    expects = entry.expects if entry else ()
    expected: set[tuple[str, int, str]] = {(e.case, e.sample, e.to) for e in expects if e.run == run.id}
    flips: list[Flip] = []
    ways = one_way_fixes(entry, run.plan["cases"]) if entry else {}
    against: Verdict | None = None
    recomputed = carried = 0
    outdated: set[str] = set()
    turned: list[Turned] = []
    recorded = has_recorded(run)
    seen = _Seen(recorded, {change.check for change in entry.changes} if entry else set())
    for batch in _batches(run, suite, jury, kept or Kept(suite)):
        found = list(find_flips(run, suite, batch, expected))
        see(batch, found)
        turned += turned_verdicts(batch, recorded=recorded)
        seen.add(batch)
        flips += found
        outdated |= batch.outdated
        told_of = {key: way for key, way in ways.items() if key[0] not in outdated}
        against = against or against_the_fix(batch.before, batch.after, told_of)
        keep(batch.after)
        carried += batch.carried
        recomputed += len(batch.after) - batch.carried
        del batch
    missed = missed_flips(run, expects, flips)
    unlisted = _first_unlisted(turned, entry, suite, outdated) if entry else None
    late = tuple(sorted(outdated))
    return RescoredRun(
        run, suite, recomputed, carried, tuple(flips), missed, late, against, tuple(turned), unlisted,
        frozenset(seen.strict), frozenset(seen.computed),
    )  # fmt: skip


class _Seen:
    """Which verdicts there were: of recorded ones and of what is computed in their place, or of the listed checks."""

    def __init__(self, recorded: bool, listed: Collection[str]) -> None:  # noqa: FBT001  # the fact itself, no switch
        self._recorded, self._listed = recorded, listed
        self.strict: set[tuple[str, str, bool]] = set()
        self.computed: set[tuple[str, str, bool]] = set()

    def add(self, batch: Batch) -> None:
        """Look at some thousand samples."""
        for v in batch.before if self._recorded or self._listed else ():
            if v.passed is not None and (self._recorded or v.check_id in self._listed):
                self.strict.add((v.check_id, v.case_id, v.passed))
        for v in batch.after if self._recorded else ():
            if v.passed is not None and v.origin == "computed":
                self.computed.add((v.check_id, v.case_id, v.passed))


def _first_unlisted(turned: Sequence[Turned], entry: Rescoring, suite: Suite, outdated: set[str]) -> Turned | None:
    listed = deciding_changes(entry, suite)
    return next((t for t in turned if t.check not in outdated and (t.check, t.case_id) not in listed), None)


def _batches(run: Run, suite: Suite, jury: Jury | None, kept: Kept) -> Iterator[Batch]:
    refuse_other_questions(run, suite)
    kept_checks = kept.of(run)
    for samples, before in run.batches():
        with collector_paused():
            after, carried, late = rescored_batch(run, samples, before, suite, kept_checks, jury)
            strict, rescored = words_of(samples, before, run.suite.pass_rule), words_of(samples, after, suite.pass_rule)
            yield Batch(samples, before, after, strict, rescored, carried, late)
            del after, before, samples, strict, rescored


def _outdated(run: Run, verdicts: Sequence[Verdict]) -> set[tuple[str, int, str]]:
    """The computed verdicts that stand under another digest than the code gives the run's own criteria now."""
    today = {
        (case_id, bound.check.id): bound.decides
        for case_id in run.plan["cases"]
        for bound in run.suite.bound[case_id]
        if bound.check.computable and not is_foreign(bound.check)
    }
    late = (v for v in verdicts if v.decides != today.get((v.case_id, v.check_id), v.decides))
    return {(v.case_id, v.sample, v.check_id) for v in late}


class RescoredBatch(NamedTuple):
    """The verdicts on some samples, in their order."""

    verdicts: list[Verdict]
    carried: int
    """How many of them were carried over."""
    outdated: set[str]
    """As in `RescoredRun`."""


def rescored_batch(  # noqa: PLR0917  # one batch, and all that its verdicts hang on
    run: Run,
    samples: Sequence[Sample],
    before: Sequence[Verdict],
    suite: Suite,
    kept_checks: Mapping[str, list[BoundCheck]],
    jury: Jury | None = None,
    stands: Mapping[tuple[str, int, str], Verdict] | None = None,
) -> RescoredBatch:
    """The verdicts on some samples under `suite`; those in `stands` are taken as they are, nothing runs."""
    strict = {(v.case_id, v.sample, v.check_id): v for v in before}
    errored = {s.key for s in samples if s.status in ERROR_STATUSES}
    sound = [s for s in samples if s.key not in errored]
    carried = {key: v._replace(origin="carried") for key, v in strict.items() if key[:2] in errored}
    outdated = _outdated(run, before)
    for sample in sound:
        for bound in kept_checks[sample.case_id]:
            key = (*sample.key, bound.check.id)
            verdict = _carried(sample, bound, None if key in outdated else strict.get(key))
            if verdict is not None:
                carried[key] = verdict
    judged = rejudge(run, suite, sound, strict, jury)
    carried |= judged.carried
    verdicts = score_samples(suite, sound, judged.computed, carried={**carried, **(stands or {})})
    place = {sample.key: number for number, sample in enumerate(samples)}
    ordered = sorted(verdicts, key=lambda v: place[v.case_id, v.sample])
    return RescoredBatch(ordered, len(carried), {check_id for *_, check_id in outdated})


class Kept:
    """Per case the checks whose verdicts are carried over into `suite`: unchanged ones, and those nobody can compute.

    Found once for all runs that share one suite object.
    """

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._known: dict[tuple[int, str], list[BoundCheck]] = {}
        self._held: list[Suite] = []
        """Suites seen, so that no other object takes the place in memory that names one."""

    def of(self, run: Run) -> dict[str, list[BoundCheck]]:
        """Case id to its kept checks, for the cases of `run`."""
        self._held.append(run.suite)
        return {case_id: self._of_case(run, case_id) for case_id in run.plan["cases"]}

    def _of_case(self, run: Run, case_id: str) -> list[BoundCheck]:
        key = (id(run.suite), case_id)
        if key not in self._known:
            self._known[key] = [bound for bound in self._suite.bound[case_id] if _is_kept(run, case_id, bound)]
        return self._known[key]


def _is_kept(run: Run, case_id: str, bound: BoundCheck) -> bool:
    check = bound.check
    old = next((b.check for b in run.suite.bound[case_id] if b.check.id == check.id), None)
    if isinstance(check, Judge) or (old and is_foreign(old) and not is_foreign(check)):
        return False  # by which source the run was judged, only a kind that is imported tells
    return not check.computable or (old is not None and old.measures() == check.measures())


def _carried(sample: Sample, bound: BoundCheck, before: Verdict | None) -> Verdict | None:
    """The strict verdict under the new weight and criticality, or None when it has to be computed after all."""
    check = bound.check
    if check.computable and (before is None or before.status == "not_scored"):
        return None
    if before is None:
        reason = "the criteria are unpublished and the source recorded no verdict"
        return check.unscored(sample, reason)._replace(origin="carried")
    # Not `_replace`, which takes three times as long, and runs carry over millions.
    counts = (check.critical, check.weight, before.stochastic, "carried", bound.decides, before.judge)
    return Verdict._make(before[:_COUNTS_FROM] + counts)


def refuse_other_questions(run: Run, suite: Suite) -> None:
    """InputError when the suite lacks a case of the run, or asks something else in it."""
    for case_id in run.plan["cases"]:
        if case_id not in suite.by_id:
            raise InputError(f"suite {suite.suite!r} has no case {case_id!r}, which run {run.id!r} holds; add it back")
        asked, asks = run.suite.by_id[case_id].question, suite.by_id[case_id].question
        if asked and asks and asked != asks:
            raise InputError(
                f"case {case_id!r} asks something else than in run {run.id!r}; answers to another question cannot be "
                "rescored, run the suite again"
            )
