"""Rescoring: changed criteria applied to stored runs, written beside them with a dated entry; always post hoc."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from evallib.collector import collector_paused
from evallib.entries import Rescoring, read_entry
from evallib.errors import InputError
from evallib.records import ERROR_STATUSES, POST_HOC_LABEL, Outcome, Sample, SampleKey, Verdict, digest
from evallib.scoring import fold_all, score_samples
from evallib.store import LoggedEntry, Run, publish_rescoring
from evallib.store.files import sha256_of
from evallib.store.log import now, preview_stamps, stamp_preview
from evallib.store.runs import rescoring_tables
from evallib.strict_yaml import load_yaml
from evallib.suite import BoundCheck, Suite, load_suite, parse_suite

__all__ = ["Flip", "Rescored", "RescoredRun", "load_rescoring", "rescore", "rescore_run"]


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
    """One run under changed criteria, not yet written."""

    run: Run
    verdicts: list[Verdict]
    recomputed: int
    carried: int
    flips: tuple[Flip, ...]
    missed: tuple[dict[str, Any], ...]
    """Expected flips that did not happen."""


class Rescored(NamedTuple):
    """All runs of one rescoring; `logged` is None for a preview."""

    entry: Rescoring
    runs: tuple[RescoredRun, ...]
    logged: LoggedEntry | None

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
            "flips": flips,
            "unexpected": [flip for flip in flips if not flip["expected"]],
            "missed": [missed for one in self.runs for missed in one.missed],
            "elsewhere": [e.model_dump() for e in self.entry.expects if e.run not in here],
            "reverse": [flip for flip in flips if flip["to"] == "fail"],
            "predicted_after_preview": self.entry.predicted_after_preview,
            "post_hoc": True,
            "label": POST_HOC_LABEL,
        }


def load_rescoring(path: Path) -> Rescoring:
    """The rescoring entry its author wrote; InputError when it is another kind or holds what the tool stamps."""
    document = load_yaml(path)
    entry = read_entry(document)
    if not isinstance(entry, Rescoring):
        raise InputError(f"{path}: is a {entry.kind}, expected `kind: rescoring`")
    stamped = {"time", "written_digest", "suite_digest", "runs", "predicted_after_preview"} & set(document.value)
    if stamped:
        raise InputError(f"{path}: {min(stamped)!r} is stamped by the tool; remove it")
    return entry


def view_name(entry: Rescoring) -> str:
    """`<YYYY-MM-DD>-<slug>`: the folder of a rescoring and the name of its view."""
    return f"{datetime.fromisoformat(entry.time).astimezone(UTC):%Y-%m-%d}-{entry.slug}"


def rescore(
    runs: Sequence[Run], suite_path: Path, entry_path: Path, adjudications: Path, *, preview: bool = False
) -> Rescored:
    """Apply the suite in `suite_path` to stored runs under the entry in `entry_path`, all runs or none.

    A preview shows what would flip, refuses nothing the entry lacks, and leaves a stamp of what it expected.
    """
    suite_path = suite_path / "suite.yaml" if suite_path.is_dir() else suite_path
    load_suite(suite_path)  # says what is wrong with it, or that it is not there
    text = suite_path.read_bytes()
    suite = parse_suite(text.decode("utf-8"), str(suite_path))
    written = load_rescoring(entry_path)
    expects = digest([e.model_dump() for e in written.expects], 16)
    rescored = tuple(rescore_run(run, suite, written) for run in runs)
    if preview:
        stamp_preview(adjudications, suite.digest, written.slug, expects)
        return Rescored(written.model_copy(update={"time": now()}), rescored, None)
    for run in runs:
        _refuse_unlisted(run, suite, written)
    seen = preview_stamps(adjudications, suite.digest, written.slug)
    entry = written.model_copy(
        update={
            "time": now(),
            "written_digest": digest(written.model_dump(mode="json")),
            "suite_digest": suite.digest,
            "predicted_after_preview": any(stamp != expects for stamp in seen),
        }
    )
    name = view_name(entry)
    tables = {one.run.id: (one.run, rescoring_tables(one.run, f"rescored:{name}", one.verdicts)) for one in rescored}
    rows = tuple(_entry_row(one, tables[one.run.id][1], text) for one in rescored)
    entry = entry.model_copy(update={"runs": rows})
    return Rescored(entry, rescored, publish_rescoring(adjudications, entry, name, text, tables))


def _entry_row(one: RescoredRun, table: bytes, suite_text: bytes) -> Mapping[str, Any]:
    return {
        "run": one.run.id,
        "strict_sha256": sha256_of(one.run.folder / "verdicts.parquet"),
        "verdicts_sha256": hashlib.sha256(table).hexdigest(),
        "suite_sha256": hashlib.sha256(suite_text).hexdigest(),
        "recomputed": one.recomputed,
        "carried": one.carried,
        "flips": [flip.as_dict() for flip in one.flips],
        "missed": list(one.missed),
    }


@collector_paused()
def rescore_run(run: Run, suite: Suite, entry: Rescoring) -> RescoredRun:
    """The verdicts of `run` under `suite`: recomputed where criteria changed, carried over where they did not.

    Recorded checks and samples that ended in an error keep their verdicts. InputError when the suite lacks a case,
    asks something else, or changes a judge, whose answer only the judge can give.
    """
    _refuse_other_questions(run, suite)
    strict = {(v.case_id, v.sample, v.check_id): v for v in run.verdicts}
    samples = [s for s in run.samples if s.status not in ERROR_STATUSES]
    errored = {s.key for s in run.samples if s.status in ERROR_STATUSES}
    by_case: dict[str, list[Sample]] = {}
    for sample in samples:
        by_case.setdefault(sample.case_id, []).append(sample)
    carried = {key: replace(v, origin="carried") for key, v in strict.items() if key[:2] in errored}
    for case_id, kept_checks in _kept_checks(run, suite).items():
        for sample in by_case.get(case_id, ()):
            for bound in kept_checks:
                verdict = _carried(sample, bound, strict.get((*sample.key, bound.check.id)))
                if verdict is not None:
                    carried[(*sample.key, bound.check.id)] = verdict
    verdicts = score_samples(suite, samples, carried=carried)
    flips = _flips(run, suite, verdicts, entry)
    happened = {(f.case_id, f.sample, f.after) for f in flips}
    missed = [e for e in entry.expects if e.run == run.id and (e.case, e.sample, e.to) not in happened]
    return RescoredRun(
        run, verdicts, len(verdicts) - len(carried), len(carried), flips, tuple(e.model_dump() for e in missed)
    )


def _kept_checks(run: Run, suite: Suite) -> dict[str, list[BoundCheck]]:
    """Per case the checks whose verdicts are carried over: unchanged ones, and those nobody can compute."""
    return {
        case_id: [bound for bound in suite.bound[case_id] if _is_kept(run, case_id, bound)]
        for case_id in run.plan["cases"]
    }


def _is_kept(run: Run, case_id: str, bound: BoundCheck) -> bool:
    check = bound.check
    old = next((b.check for b in run.suite.bound[case_id] if b.check.id == check.id), None)
    unchanged = old is not None and old.measures() == check.measures()
    if not check.computable and check.check != "recorded" and not unchanged:
        raise InputError(
            f"check {check.id!r} of case {case_id!r} is answered by a model and its question changed; "
            "only a new run can answer it"
        )
    return unchanged or not check.computable


def _carried(sample: Sample, bound: BoundCheck, before: Verdict | None) -> Verdict | None:
    """The strict verdict under the new weight and criticality, or None when it has to be computed after all."""
    check = bound.check
    if check.computable and (before is None or before.status == "not_scored"):
        return None
    if before is None:
        reason = "the criteria are unpublished and the source recorded no verdict"
        return replace(check.unscored(sample, reason), origin="carried")
    return replace(before, critical=check.critical, weight=check.weight, origin="carried", decides=bound.decides)


def _refuse_other_questions(run: Run, suite: Suite) -> None:
    for case_id in run.plan["cases"]:
        if case_id not in suite.by_id:
            raise InputError(f"suite {suite.suite!r} has no case {case_id!r}, which run {run.id!r} holds; add it back")
        asked, asks = run.suite.by_id[case_id].question, suite.by_id[case_id].question
        if asked and asks and asked != asks:
            raise InputError(
                f"case {case_id!r} asks something else than in run {run.id!r}; answers to another question cannot be "
                "rescored, run the suite again"
            )


def _refuse_unlisted(run: Run, suite: Suite, entry: Rescoring) -> None:
    """Every criterion that differs must be a change the entry names; what was never published cannot be compared."""
    listed = {(change.check, case) for change in entry.changes for case in (change.cases or suite.by_id)}
    known = set(suite.check_ids()) | set(run.suite.check_ids())
    other_rule = not run.suite.recorded and run.suite.pass_rule != suite.pass_rule
    if other_rule and not any(change.fix == "pass-rule" for change in entry.changes):
        raise InputError(
            f"the new suite changes the pass rule from {run.suite.pass_rule!r} to {suite.pass_rule!r}, which the entry "
            "does not list; add a change with `fix: pass-rule` and its reason"
        )
    for change in entry.changes:
        if change.check not in known:
            raise InputError(f"the entry names check {change.check!r}, which neither suite has; correct the entry")
    for case_id in run.plan["cases"]:
        old = {b.check.id: b for b in run.suite.bound[case_id] if b.check.check != "recorded"}
        new = {b.check.id: b for b in suite.bound[case_id]}
        if not old:
            continue
        for name in {**old, **new}:
            same = name in old and name in new and old[name].check.criteria() == new[name].check.criteria()
            if not same and (name, case_id) not in listed:
                raise InputError(
                    f"the new suite changes check {name!r} of case {case_id!r}, which the entry does not list; "
                    "add it under `changes` with its reason"
                )


def _flips(run: Run, suite: Suite, verdicts: Sequence[Verdict], entry: Rescoring) -> tuple[Flip, ...]:
    strict = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    after = fold_all(run.samples, verdicts, suite.pass_rule)
    expected = {(e.case, e.sample, e.to) for e in entry.expects if e.run == run.id}
    changed = _changed_checks(run.verdicts, verdicts)
    flips = []
    for key, old in strict.items():
        before, now_ = _word(old), _word(after[key])
        if before != now_:
            checks = tuple(changed.get(key, ()))
            flips.append(Flip(run.id, *key, before, now_, checks, (*key, now_) in expected))
    return tuple(flips)


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
