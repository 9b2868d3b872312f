"""Verdicts and readings as MLflow assessments with ids of ours."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evallib.entries import Reading, Withdrawal
from evallib.records import SampleKey, Verdict, digest
from evallib.standing import standing_readings
from evallib.store import LoggedEntry, Run
from evallib.tracking.texts import RATIONALE_BYTES, RUN_TAG, cut, cut_bytes, milliseconds, plain

if TYPE_CHECKING:
    from mlflow.entities import Assessment, Feedback

__all__ = ["Said", "long_reasons", "overridden", "reading_id", "verdict_id"]

ANSWER = "answer as a whole"
"""Name of an assessment that reads the answer and no single check; no check can be called so."""
_ENTRY, _CHECK = "evallib.entry", "evallib.check"
_NAME, _ERROR, _JUDGE = 250, 2_000, 16_000
"""Characters of a name, of an error beside its whole rationale, and of a judge's description."""


def verdict_id(run_id: str, verdict: Verdict) -> str:
    """The id of a verdict's assessment: the same for every export of it."""
    return f"a-{digest(['verdict', run_id, verdict.case_id, verdict.sample, verdict.check_id], 32)}"


def reading_id(entry_id: str) -> str:
    """The id of the assessment of a log entry."""
    return f"a-{digest(['entry', entry_id], 32)}"


def long_reasons(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Reasons too long for an assessment, by the span attribute that holds them whole."""
    whole = {f"evallib.reason.{v.check_id}": v.reason for v in verdicts}
    return {name: reason for name, reason in whole.items() if len(plain(reason).encode()) > RATIONALE_BYTES}


@dataclass(frozen=True, slots=True)
class Said:
    """What stands of one run: its strict verdicts, its standing readings, and what was taken back."""

    run: Run
    verdicts: Mapping[SampleKey, Sequence[Verdict]]
    readings: Mapping[SampleKey, Sequence[LoggedEntry]]
    withdrawals: Mapping[str, LoggedEntry]
    """By the id of the entry that was withdrawn."""
    earlier: Mapping[str, str]
    """Entry id to the id of the entry it supersedes."""
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, run: Run, log: Sequence[LoggedEntry]) -> Said:
        """What stands of `run` according to its verdicts and the log."""
        verdicts: dict[SampleKey, list[Verdict]] = defaultdict(list)
        readings: dict[SampleKey, list[LoggedEntry]] = defaultdict(list)
        for verdict in run.verdicts:
            verdicts[(verdict.case_id, verdict.sample)].append(verdict)
        standing = standing_readings(run, log)
        for (case, sample, _), stand in standing.by_item.items():
            readings[(case, sample)].extend(stand.entries)
        left_out = [f"reading {e.id}: the answer it read is not the one stored" for e in standing.stale]
        left_out += [f"reading {e.id}: the run has no such sample or check" for e in standing.unknown]
        return cls(
            run,
            verdicts,
            readings,
            {e.entry.withdraws: e for e in log if isinstance(e.entry, Withdrawal)},
            {e.id: e.entry.supersedes for e in log if isinstance(e.entry, Reading) and e.entry.supersedes},
            tuple(left_out),
        )

    def ids(self, key: SampleKey) -> list[str]:
        """Ids of all assessments that a sample's trace is to have."""
        verdicts = [verdict_id(self.run.id, verdict) for verdict in self.verdicts.get(key, ())]
        return verdicts + [reading_id(logged.id) for logged in self.readings.get(key, ())]

    def assessments(self, key: SampleKey, trace_id: str, mlflow_run: str) -> list[Assessment]:
        """All assessments that a sample's trace is to have, verdicts first."""
        made = [_of_verdict(self.run, verdict) for verdict in self.verdicts.get(key, ())]
        made += [_of_reading(logged) for logged in self.readings.get(key, ())]
        for feedback in made:
            feedback.trace_id, feedback.run_id = trace_id, mlflow_run
            feedback.metadata = {
                RUN_TAG: self.run.id,
                "mlflow.assessment.sourceRunId": mlflow_run,
                **(feedback.metadata or {}),
            }
        return list(made)

    def taken_back(self, there: Iterable[Assessment]) -> list[Assessment]:
        """Assessments that make withdrawn readings invalid: MLflow marks one invalid only when another overrides it."""
        made: list[Assessment] = []
        for old in there:
            withdrawal = self.withdrawals.get((old.metadata or {}).get(_ENTRY, ""))
            if withdrawal is not None and old.valid is not False:
                feedback = _of_withdrawal(withdrawal, old.name)
                feedback.trace_id, feedback.overrides = old.trace_id, old.assessment_id
                feedback.metadata = {RUN_TAG: self.run.id, _ENTRY: withdrawal.id}
                made.append(feedback)
        return made


def overridden(said: Said, new: Assessment, there: Iterable[Assessment]) -> str | None:
    """Id of the assessment that a new one replaces: of an entry it amends, or of the same reader's earlier word.

    An assessment that another has overridden already is left: who differs then is a matter of adjudication.
    """
    metadata = new.metadata or {}
    amends, entry = set(), said.earlier.get(metadata.get(_ENTRY, ""), "")
    while entry and entry not in amends:
        amends.add(entry)
        entry = said.earlier.get(entry, "")
    standing = {logged.id for each in said.readings.values() for logged in each}
    replaced = None
    for old in there:
        theirs = old.metadata or {}
        if old.valid is False or _CHECK not in theirs or theirs.get(_ENTRY, "") in {"", *standing}:
            continue
        if theirs[_ENTRY] in amends:
            return str(old.assessment_id)
        if old.source.source_id == new.source.source_id and theirs[_CHECK] == metadata.get(_CHECK):
            replaced = str(old.assessment_id)
    return replaced


def _feedback(identity: str, name: str, value: Any, *, at: int, source: tuple[str, str], rationale: str) -> Feedback:
    from mlflow.entities import AssessmentSource, Feedback

    feedback = Feedback(
        name=cut(name, _NAME),
        value=value,
        source=AssessmentSource(source_type=source[0], source_id=cut(plain(source[1]), _NAME)),
        rationale=rationale,
        create_time_ms=at,
        last_update_time_ms=at,
    )
    feedback.assessment_id = identity
    return feedback


def _of_verdict(run: Run, verdict: Verdict) -> Feedback:
    reason = cut_bytes(verdict.reason, f"whole in the trace's first span, attribute evallib.reason.{verdict.check_id}")
    value = verdict.passed if verdict.status == "scored" else None if verdict.status == "not_scored" else verdict.status
    at = milliseconds(run.manifest["finished"])
    feedback = _feedback(
        verdict_id(run.id, verdict), verdict.check_id, value, at=at, source=_source(verdict), rationale=reason
    )
    if verdict.status == "not_scored":
        feedback = _with_error(feedback, "NOT_SCORED", cut(plain(verdict.reason), _ERROR))
    facts = {
        "value": verdict.value, "raw": verdict.raw, "status": verdict.status, "origin": verdict.origin,
        "critical": verdict.critical, "weight": verdict.weight, "decides": verdict.decides,
        "judge": cut(plain(verdict.judge), _JUDGE),
    }  # fmt: skip
    feedback.metadata = {"evallib.view": "strict"}
    feedback.metadata |= {f"evallib.{name}": _word(value) for name, value in facts.items() if value not in {None, ""}}
    return feedback


def _source(verdict: Verdict) -> tuple[str, str]:
    """Type and name of who gave a verdict: our code, or a model with what is known of it."""
    if not verdict.judge and not verdict.stochastic:
        return "CODE", f"evallib check {verdict.check_id}"
    try:
        described = json.loads(verdict.judge or "{}")
    except ValueError:
        return "LLM_JUDGE", verdict.judge
    model = described.get("model") if isinstance(described, dict) else None
    return "LLM_JUDGE", str(model or verdict.judge or "a model that the source does not name")


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _of_reading(logged: LoggedEntry) -> Feedback:
    entry = logged.entry
    if not isinstance(entry, Reading):
        raise TypeError(f"entry {logged.id} is a {entry.kind}, not a reading")
    value = {"pass": True, "fail": False}.get(entry.reading, entry.reading)
    rationale = cut_bytes(entry.reason, f"whole in the log entry {logged.id}")
    at = milliseconds(entry.time)
    feedback = _feedback(
        reading_id(logged.id), entry.check or ANSWER, value, at=at, source=("HUMAN", entry.author), rationale=rationale
    )
    facts = {
        "entry": logged.id, "check": entry.check, "reading": entry.reading, "cause": entry.cause,
        "blind": entry.blind, "chosen": entry.chosen, "source": entry.source, "supersedes": entry.supersedes,
    }  # fmt: skip
    feedback.metadata = {f"evallib.{name}": plain(_word(value)) for name, value in facts.items()}
    return feedback


def _of_withdrawal(logged: LoggedEntry, name: str) -> Feedback:
    entry = logged.entry
    if not isinstance(entry, Withdrawal):
        raise TypeError(f"entry {logged.id} is a {entry.kind}, not a withdrawal")
    rationale = cut_bytes(entry.reason, f"whole in the log entry {logged.id}")
    at = milliseconds(entry.time)
    feedback = _feedback(reading_id(logged.id), name, None, at=at, source=("HUMAN", entry.author), rationale=rationale)
    return _with_error(feedback, "WITHDRAWN", "this reading was withdrawn")


def _with_error(feedback: Feedback, code: str, message: str) -> Feedback:
    from mlflow.entities import AssessmentError

    error = AssessmentError(error_code=code, error_message=message)
    feedback.error = error
    if feedback.feedback is not None:
        feedback.feedback.error = error
    return feedback
