"""Rescoring: changed criteria applied to stored runs, written beside them with a dated entry; always post hoc."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from evallib.checks.foreign import Foreign
from evallib.checks.judge import Judge
from evallib.collector import collector_paused
from evallib.entries import Rescoring
from evallib.errors import InputError
from evallib.judging import Jury
from evallib.records import ERROR_STATUSES, POST_HOC_LABEL, PREDICTED_LATE, Outcome, Sample, SampleKey, Verdict, digest
from evallib.rescoring.entry import (
    criteria_digests,
    listed_changes,
    load_rescoring,
    refuse_invented,
    refuse_misnamed,
    refuse_unlisted,
)
from evallib.rescoring.rejudging import rejudge, to_be_asked
from evallib.scoring import fold_all, score_samples
from evallib.store import LoggedEntry, Run, publish_rescoring, read_log, standing_rescorings
from evallib.store.files import sha256_of
from evallib.store.log import now, preview_stamps, stamp_preview, view_name
from evallib.store.runs import StagedRescoring
from evallib.suite import BoundCheck, Suite, load_suite, parse_suite

__all__ = [
    "Flip", "Kept", "Rescored", "RescoredBatch", "RescoredRun", "changed_suite", "flips_of", "load_rescoring",
    "refusals", "refuse_other_questions", "rescore", "rescore_run", "rescored_batches",
]  # fmt: skip

_COUNTS_FROM = Verdict._fields.index("critical")


@dataclass(frozen=True, slots=True)
class Flip:
    """One sample whose outcome differs between strict and rescored."""

    run: str
    case_id: str
    sample: int
    before: str
    after: str
    checks: tuple[str, ...]
    """Checks whose verdict or criticality changed."""
    expected: bool

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
        }


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


class Rescored(NamedTuple):
    """All runs of one rescoring; `logged` is None for a preview."""

    entry: Rescoring
    runs: tuple[RescoredRun, ...]
    logged: LoggedEntry | None
    judge_calls: int = 0
    judge_replies_kept: int = 0
    """Votes read from replies that were had before."""
    would_refuse: tuple[str, ...] = ()
    """What the rescoring itself would say no to, in a preview; the first for each run and rule."""

    def as_dict(self) -> dict[str, Any]:
        """The object `rescore --json` prints."""
        flips = [flip.as_dict() for one in self.runs for flip in one.flips]
        here = {one.run.id for one in self.runs}
        return {
            "entry": self.logged.id if self.logged else None,
            "view": f"rescored:{view_name(self.entry)}" if self.logged else None,
            "preview": self.logged is None,
            "recomputed": sum(one.recomputed for one in self.runs),
            "carried": sum(one.carried for one in self.runs),
            "outdated": sorted({check for one in self.runs for check in one.outdated}),
            "judge_calls": self.judge_calls,
            "judge_replies_kept": self.judge_replies_kept,
            "flips": flips,
            "unexpected": [flip for flip in flips if not flip["expected"]],
            "missed": [missed for one in self.runs for missed in one.missed],
            "elsewhere": [e.model_dump() for e in self.entry.expects if e.run not in here],
            "reverse": [flip for flip in flips if flip["to"] == "fail"],
            "predicted_after_preview": self.entry.predicted_after_preview,
            "would_refuse": list(self.would_refuse),
            "post_hoc": True,
            "label": _label(self.entry),
        }


def _label(entry: Rescoring) -> str:
    """The words every figure of the rescoring carries."""
    return f"{POST_HOC_LABEL}; {PREDICTED_LATE}" if entry.predicted_after_preview else POST_HOC_LABEL


def rescore(
    runs: Sequence[Run],
    suite_path: Path,
    entry_path: Path,
    adjudications: Path,
    *,
    preview: bool = False,
    trust_code: bool = False,
    jury: Jury | None = None,
) -> Rescored:
    """Apply the suite in `suite_path` to stored runs under the entry in `entry_path`, all runs or none.

    A preview shows what would flip, says what the rescoring itself would refuse and refuses only what the entry
    misnames, and leaves a stamp of what it expected. `jury` answers judges that ask something else than in the run,
    or have another model or prompt.
    """
    suite, text = changed_suite(suite_path, trust_code=trust_code)
    written = load_rescoring(entry_path)
    for run in runs:
        refuse_other_questions(run, suite)
    log = read_log(adjudications)
    refuse_misnamed(entry_path, written, runs, suite, log)
    expects = digest([e.model_dump() for e in written.expects], 16)
    criteria = criteria_digests(runs, suite)
    refused = refusals(runs, suite, written, log, jury)
    if preview:
        said = tuple(dict.fromkeys(str(error) for error in refused))
        rescored = tuple(rescore_run(run, suite, written, jury=jury) for run in runs)
        stamp_preview(adjudications, suite.digest, written.slug, expects, criteria)
        return Rescored(written.model_copy(update={"time": now()}), rescored, None, *_asked(jury), said)
    for error in refused:
        raise error
    seen = preview_stamps(adjudications, suite.digest, written.slug, criteria)
    entry = written.model_copy(
        update={
            "time": now(),
            "written_digest": digest(written.model_dump(mode="json")),
            "suite_digest": suite.digest,
            "predicted_after_preview": any(stamp != expects for stamp in seen),
        }
    )
    return _written_beside(runs, suite, text, entry, adjudications, jury)


def changed_suite(suite_path: Path, *, trust_code: bool = False) -> tuple[Suite, bytes]:
    """The suite of changed criteria in a file or folder, and its very bytes."""
    suite_path = suite_path / "suite.yaml" if suite_path.is_dir() else suite_path
    load_suite(suite_path, trust_code=trust_code)  # says what is wrong with it, or that it is not there
    text = suite_path.read_bytes()
    return parse_suite(text.decode("utf-8"), str(suite_path)), text


def refusals(
    runs: Sequence[Run], suite: Suite, entry: Rescoring, log: Sequence[LoggedEntry], jury: Jury | None
) -> Iterator[InputError]:
    """What a rescoring is refused for: the first of each rule, run by run."""
    for run in runs:
        yield from _refusal(refuse_unlisted, run, suite, entry)
        yield from _refusal(_refuse_judges, run, suite, entry, jury)
        yield from _refusal(_refuse_done, run, entry.slug, log)
    yield from _refusal(refuse_invented, runs, suite, entry)


def _refusal(refuse: Callable[..., None], *given: object) -> Iterator[InputError]:
    try:
        refuse(*given)
    except InputError as error:
        yield error


def _refuse_done(run: Run, slug: str, log: Sequence[LoggedEntry]) -> None:
    name = f"{now()[:10]}-{slug}"
    for one in standing_rescorings(run, log):
        if one.name == name:
            raise InputError(
                f"{one.folder}: exists already and is never overwritten; give the entry another slug than {slug!r}"
            )


def _asked(jury: Jury | None) -> tuple[int, int]:
    return (0, 0) if jury is None else (jury.calls, jury.kept)


def _written_beside(  # noqa: PLR0917  # what is written, from what, and where
    runs: Sequence[Run], suite: Suite, text: bytes, entry: Rescoring, adjudications: Path, jury: Jury | None
) -> Rescored:
    name = view_name(entry)
    with ExitStack() as stack:
        staged: list[StagedRescoring] = []
        for run in runs:
            staged.append(StagedRescoring(run, name, _label(entry)))
            stack.callback(staged[-1].discard)
        rescored = tuple(rescore_run(one.run, suite, entry, one.write, jury=jury) for one in staged)
        rows = tuple(_entry_row(one, table.sha256(), text) for one, table in zip(rescored, staged, strict=True))
        entry = entry.model_copy(update={"runs": rows})
        return Rescored(entry, rescored, publish_rescoring(adjudications, entry, text, staged), *_asked(jury))


def _entry_row(one: RescoredRun, sha256: str, suite_text: bytes) -> Mapping[str, Any]:
    return {
        "run": one.run.id,
        "strict_sha256": sha256_of(one.run.folder / "verdicts.parquet"),
        "verdicts_sha256": sha256,
        "suite_sha256": hashlib.sha256(suite_text).hexdigest(),
        "recomputed": one.recomputed,
        "carried": one.carried,
        "outdated": list(one.outdated),
        "flips": [flip.as_dict() for flip in one.flips],
        "missed": list(one.missed),
    }


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
    expected: set[tuple[str, int, str]] = {(e.case, e.sample, e.to) for e in entry.expects if e.run == run.id}
    flips: list[Flip] = []
    recomputed = carried = 0
    outdated: set[str] = set()
    for batch in rescored_batches(run, suite, jury=jury):
        flips += flips_of(run, batch, expected)
        keep(batch.after)
        outdated |= batch.outdated
        carried += batch.carried
        recomputed += len(batch.after) - batch.carried
        del batch
    happened = {(f.case_id, f.sample, f.after) for f in flips}
    missed = [e for e in entry.expects if e.run == run.id and (e.case, e.sample, e.to) not in happened]
    told = tuple(e.model_dump() for e in missed)
    return RescoredRun(run, recomputed, carried, tuple(flips), told, tuple(sorted(outdated)))


@dataclass(frozen=True, slots=True)
class RescoredBatch:
    """Some samples of a run with their verdicts and outcomes, as strict has them and under the changed criteria."""

    samples: Sequence[Sample]
    before: Sequence[Verdict]
    after: list[Verdict]
    """In stored order."""
    strict: Mapping[SampleKey, Outcome]
    rescored: Mapping[SampleKey, Outcome]
    carried: int
    """How many of the verdicts were carried over."""
    outdated: set[str]
    """As in `RescoredRun`."""


def rescored_batches(
    run: Run, suite: Suite, *, jury: Jury | None = None, kept: Kept | None = None
) -> Iterator[RescoredBatch]:
    """The samples of `run` under `suite`, some thousand at a time; InputError as in `rescore_run`.

    `kept` knows what is carried over between runs of one suite, and is made where it is not given.
    """
    refuse_other_questions(run, suite)
    kept_checks = (kept or Kept(suite)).of(run)
    for samples, before in run.batches():
        with collector_paused():
            after, carried, late = _rescored(run, samples, before, suite, kept_checks, jury)
            strict, rescored = fold_all(samples, before, run.suite.pass_rule), fold_all(samples, after, suite.pass_rule)
            yield RescoredBatch(samples, before, after, strict, rescored, carried, late)
            del after, before, samples, strict, rescored


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
    # Not `_replace`, which takes twice as long, and runs carry over millions.
    counts = (check.critical, check.weight, before.stochastic)
    return Verdict._make((*before[:_COUNTS_FROM], *counts, "carried", bound.decides, before.judge))


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


def refuse_other_questions(run: Run, suite: Suite) -> None:
    """InputError when the suite lacks a case of the run, or asks something else in one."""
    for case_id in run.plan["cases"]:
        if case_id not in suite.by_id:
            raise InputError(f"suite {suite.suite!r} has no case {case_id!r}, which run {run.id!r} holds; add it back")
        asked, asks = run.suite.by_id[case_id].question, suite.by_id[case_id].question
        if asked and asks and asked != asks:
            raise InputError(
                f"case {case_id!r} asks something else than in run {run.id!r}; answers to another question cannot be "
                "rescored, run the suite again"
            )


def flips_of(run: Run, batch: RescoredBatch, expected: Collection[tuple[str, int, str]] = ()) -> Iterator[Flip]:
    """The samples of `batch` whose outcome differs, in stored order; `expected` holds (case, sample, to)."""
    turned = {key for key, old in batch.strict.items() if _word(old) != _word(batch.rescored[key])}
    both = ([v for v in one if (v.case_id, v.sample) in turned] for one in (batch.before, batch.after))
    changed = _changed_checks(*both)
    for key in (key for key in batch.strict if key in turned):
        word = _word(batch.rescored[key])
        checks = tuple(changed.get(key, ()))
        yield Flip(run.id, *key, _word(batch.strict[key]), word, checks, (*key, word) in expected)


def _word(outcome: Outcome) -> str:
    return "pass" if outcome.passed else "fail" if outcome.passed is False else outcome.status


def _changed_checks(before: Sequence[Verdict], after: Sequence[Verdict]) -> dict[SampleKey, list[str]]:
    old = {(v.case_id, v.sample, v.check_id): (v.passed, v.critical) for v in before}
    changed: dict[SampleKey, list[str]] = {}
    for case, sample, check in old.keys() - {(v.case_id, v.sample, v.check_id) for v in after}:
        changed.setdefault((case, sample), []).append(check)
    for v in after:
        if old.get((v.case_id, v.sample, v.check_id)) != (v.passed, v.critical):
            changed.setdefault((v.case_id, v.sample), []).append(v.check_id)
    return changed
