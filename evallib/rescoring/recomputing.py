"""The verdicts of one stored run under another suite: computed where criteria changed, carried over where not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evallib.checks.foreign import Foreign
from evallib.checks.judge import Judge
from evallib.collector import collector_paused
from evallib.entries import Rescoring
from evallib.errors import InputError
from evallib.judging import Jury
from evallib.records import ERROR_STATUSES, Sample, Verdict
from evallib.rescoring.flips import Flip, against_the_fix, find_flips, one_way_fixes
from evallib.rescoring.rejudging import rejudge
from evallib.scoring import score_samples
from evallib.store import Run
from evallib.suite import BoundCheck, Suite

__all__ = ["RescoredRun", "refuse_other_questions", "rescore_run"]


@dataclass(frozen=True, slots=True)
class RescoredRun:
    """What became of one run under changed criteria."""

    run: Run
    recomputed: int
    carried: int
    flips: tuple[Flip, ...]
    missed: tuple[dict[str, Any], ...]
    """Expected flips that did not happen."""
    outdated: tuple[str, ...] = ()
    """Checks whose kind has judged otherwise since the run was made: nothing of theirs is carried over."""
    against: Verdict | None = None
    """The first verdict that turned against the kind of fix the entry names: a widening that fails, as it may be."""


def rescore_run(
    run: Run,
    suite: Suite,
    entry: Rescoring,
    keep: Callable[[list[Verdict]], object] = len,
    *,
    jury: Jury | None = None,
) -> RescoredRun:
    """The verdicts of `run` under `suite`: recomputed where criteria changed, carried over where they did not.

    `keep` is given the verdicts of some thousand samples at a time, in stored order; nothing else holds them.
    What a kind judged before its code changed its meaning (`Check.revision`) is recomputed too. Recorded checks and
    samples that ended in an error keep their verdicts. Judges: see `rejudging`. InputError when
    the suite lacks a case or asks something else.
    """
    refuse_other_questions(run, suite)
    kept_checks = _kept_checks(run, suite)
    expected: set[tuple[str, int, str]] = {(e.case, e.sample, e.to) for e in entry.expects if e.run == run.id}
    flips: list[Flip] = []
    ways = one_way_fixes(entry, run.plan["cases"])
    against: Verdict | None = None
    recomputed = carried = 0
    outdated: set[str] = set()
    for samples, before in run.batches():
        with collector_paused():
            after, count, late = _rescored(run, samples, before, suite, kept_checks, jury)
            flips += find_flips(run, suite, samples, before, after, expected)
            outdated |= late
            told_of = {key: way for key, way in ways.items() if key[0] not in outdated}
            against = against or against_the_fix(before, after, told_of)
            keep(after)
            carried += count
            recomputed += len(after) - count
            del after, before, samples
    happened = {(f.case_id, f.sample, f.after) for f in flips}
    missed = [e for e in entry.expects if e.run == run.id and (e.case, e.sample, e.to) not in happened]
    told = tuple(e.model_dump() for e in missed)
    return RescoredRun(run, recomputed, carried, tuple(flips), told, tuple(sorted(outdated)), against)


def _outdated(run: Run, verdicts: Sequence[Verdict]) -> set[tuple[str, int, str]]:
    """The computed verdicts that stand under another digest than the code gives the run's own criteria now."""
    today = {
        (case_id, bound.check.id): bound.decides
        for case_id in run.plan["cases"]
        for bound in run.suite.bound[case_id]
        if bound.check.computable and not isinstance(bound.check, Foreign)
    }
    late = (v for v in verdicts if v.decides != today.get((v.case_id, v.check_id), v.decides))
    return {(v.case_id, v.sample, v.check_id) for v in late}


class _Batch(NamedTuple):
    """The verdicts on some samples, in their order."""

    verdicts: list[Verdict]
    carried: int
    """How many of them were carried over."""
    outdated: set[str]
    """As in `RescoredRun`."""


def _rescored(  # noqa: PLR0917  # one batch, and all that its verdicts hang on
    run: Run,
    samples: Sequence[Sample],
    before: Sequence[Verdict],
    suite: Suite,
    kept_checks: Mapping[str, list[BoundCheck]],
    jury: Jury | None,
) -> _Batch:
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
    verdicts = score_samples(suite, sound, judged.computed, carried=carried)
    place = {sample.key: number for number, sample in enumerate(samples)}
    ordered = sorted(verdicts, key=lambda v: place[v.case_id, v.sample])
    return _Batch(ordered, len(carried), {check_id for *_, check_id in outdated})


def _kept_checks(run: Run, suite: Suite) -> dict[str, list[BoundCheck]]:
    """Per case the checks whose verdicts are carried over: unchanged ones, and those nobody can compute."""
    return {
        case_id: [bound for bound in suite.bound[case_id] if _is_kept(run, case_id, bound)]
        for case_id in run.plan["cases"]
    }


def _is_kept(run: Run, case_id: str, bound: BoundCheck) -> bool:
    check = bound.check
    if isinstance(check, Judge):
        return False
    old = next((b.check for b in run.suite.bound[case_id] if b.check.id == check.id), None)
    return not check.computable or (old is not None and old.measures() == check.measures())


def _carried(sample: Sample, bound: BoundCheck, before: Verdict | None) -> Verdict | None:
    """The strict verdict under the new weight and criticality, or None when it has to be computed after all."""
    check = bound.check
    if check.computable and (before is None or before.status == "not_scored"):
        return None
    if before is None:
        reason = "the criteria are unpublished and the source recorded no verdict"
        return check.unscored(sample, reason)._replace(origin="carried")
    return before._replace(critical=check.critical, weight=check.weight, origin="carried", decides=bound.decides)


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
