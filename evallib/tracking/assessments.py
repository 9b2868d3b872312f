"""Verdicts and entries of the log as MLflow assessments with ids of ours, one each, never overridden or updated."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evallib.entries import Difference, Reading, Resolution, Withdrawal
from evallib.records import SampleKey, Verdict, digest
from evallib.standing import Stand, live_entries, standing_readings
from evallib.store import LoggedEntry, Run
from evallib.tracking.texts import RATIONALE_BYTES, RUN_TAG, cut, cut_bytes, milliseconds, plain

if TYPE_CHECKING:
    from mlflow.entities import Assessment, Feedback

__all__ = ["Said", "entry_id", "long_reasons", "verdict_id"]

ANSWER = "answer as a whole"
"""Name of an assessment that reads the answer and no single check; no check can be called so."""
_ENTRY = "evallib.entry"
_SUFFIX = {
    "difference": " (difference)", "resolution": " (resolution)", "withdrawal": " (withdrawn)",
    "superseded": " (superseded)",
}  # fmt: skip
"""What follows the name of an assessment that is no reading, so that filters by name find readings only."""
_NAME, _ERROR, _JUDGE = 250, 2_000, 16_000
"""Characters of a name, of an error beside its whole rationale, and of a judge's description."""


def verdict_id(run_id: str, verdict: Verdict) -> str:
    """The id of a verdict's assessment: the same for every export of it."""
    return f"a-{digest(['verdict', run_id, verdict.case_id, verdict.sample, verdict.check_id], 32)}"


def entry_id(logged_id: str) -> str:
    """The id of the assessment of a log entry."""
    return f"a-{digest(['entry', logged_id], 32)}"


def long_reasons(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Reasons too long for an assessment, by the span attribute that holds them whole."""
    whole = {f"evallib.reason.{v.check_id}": v.reason for v in verdicts}
    return {name: reason for name, reason in whole.items() if len(plain(reason).encode()) > RATIONALE_BYTES}


@dataclass(frozen=True, slots=True)
class Said:
    """What stands of one run: its strict verdicts, what people said of them, and what was taken back."""

    run: Run
    verdicts: Mapping[SampleKey, Sequence[Verdict]]
    entries: Mapping[SampleKey, Sequence[LoggedEntry]]
    """Standing readings with their differences, and the resolutions that hold."""
    withdrawals: Mapping[str, LoggedEntry]
    """By the id of the entry that was withdrawn."""
    superseded: Mapping[str, LoggedEntry]
    """By the id of the entry that a later one of the same author stands in for."""
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, run: Run, log: Sequence[LoggedEntry]) -> Said:
        """What stands of `run` according to its verdicts and the log."""
        verdicts: dict[SampleKey, list[Verdict]] = defaultdict(list)
        entries: dict[SampleKey, list[LoggedEntry]] = defaultdict(list)
        for verdict in run.verdicts:
            verdicts[(verdict.case_id, verdict.sample)].append(verdict)
        standing = standing_readings(run, log)
        for (case, sample, _), stand in standing.by_item.items():
            entries[(case, sample)].extend(_of_stand(stand))
        left_out = [f"reading {e.id}: the answer or rubric it was read by is another now" for e in standing.stale]
        left_out += [f"reading {e.id}: the run has no such sample or check" for e in standing.unknown]
        live = live_entries(log)
        withdrawals = {e.entry.withdraws: e for e in live if isinstance(e.entry, Withdrawal)}
        return cls(run, verdicts, entries, withdrawals, _superseded(live), tuple(left_out))

    def ids(self, key: SampleKey) -> list[str]:
        """Ids of all assessments that a sample's trace is to have."""
        verdicts = [verdict_id(self.run.id, verdict) for verdict in self.verdicts.get(key, ())]
        return verdicts + [entry_id(logged.id) for logged in self.entries.get(key, ())]

    def assessments(self, key: SampleKey, trace_id: str, mlflow_run: str) -> list[Assessment]:
        """All assessments that a sample's trace is to have, verdicts first."""
        made = [_of_verdict(self.run, verdict) for verdict in self.verdicts.get(key, ())]
        made += [_of_entry(logged) for logged in self.entries.get(key, ())]
        for feedback in made:
            feedback.trace_id, feedback.run_id = trace_id, mlflow_run
            feedback.metadata = {
                RUN_TAG: self.run.id,
                "mlflow.assessment.sourceRunId": mlflow_run,
                **(feedback.metadata or {}),
            }
        return list(made)

    def taken_back(self, there: Iterable[Assessment]) -> list[Assessment]:
        """Assessments that say of exported entries that they were withdrawn or amended, where none does so far.

        MLflow goes on showing what they are about as it was: to mark that one as invalid would be to change it.
        """
        known = {old.assessment_id for old in there}
        made: list[Assessment] = []
        for old in there:
            id_ = (old.metadata or {}).get(_ENTRY, "")
            marks = []
            if (withdrawal := self.withdrawals.get(id_)) is not None:
                marks.append(_of_withdrawal(withdrawal, old.name.removesuffix(_SUFFIX["withdrawal"])))
            if (later := self.superseded.get(id_)) is not None:
                marks.append(_of_superseded(id_, later, old.name))
            for feedback in marks:
                if feedback.assessment_id not in known:
                    feedback.trace_id = old.trace_id
                    feedback.metadata = {RUN_TAG: self.run.id, **(feedback.metadata or {})}
                    made.append(feedback)
        return made


def _superseded(live: Sequence[LoggedEntry]) -> dict[str, LoggedEntry]:
    """The id of each entry that was amended, and of what was said of an amended reading, to what stands in for it."""
    authors = {logged.id: logged.entry.author for logged in live}
    later: dict[str, LoggedEntry] = {}
    for logged in live:
        entry = logged.entry
        before = [getattr(entry, "supersedes", ""), *getattr(entry, "also_supersedes", ())]
        later |= {id_: logged for id_ in before if authors.get(id_) == entry.author}
    about = {e.id: e.entry.about for e in live if isinstance(e.entry, Difference)}
    return later | {id_: later[read] for id_, read in about.items() if read in later and id_ not in later}


def _of_stand(stand: Stand) -> Iterable[LoggedEntry]:
    for logged in stand.entries:
        yield logged
        if logged.id in stand.differences:
            yield stand.differences[logged.id]
    if stand.resolution is not None:
        yield stand.resolution


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


def _of_entry(logged: LoggedEntry) -> Feedback:
    entry = logged.entry
    if isinstance(entry, Reading):
        value: Any = {"pass": True, "fail": False}.get(entry.reading, entry.reading)
        names = ["reading", "cause", "blind", "chosen", "plan", "canned", "source", "supersedes"]
    elif isinstance(entry, Difference):
        value = "agrees" if entry.agrees else entry.cause
        names = ["about", "agrees", "cause", "canned", "supersedes"]
    elif isinstance(entry, Resolution):
        value = {"pass": True, "fail": False}.get(entry.reading, entry.reading)
        names = ["reading", "cause", "self_resolved", "supersedes"]
    else:
        raise TypeError(f"entry {logged.id} is a {entry.kind}, which says nothing of an item")
    feedback = _said(logged, f"{entry.check or ANSWER}{_SUFFIX.get(entry.kind, '')}", value, entry.reason)
    facts = {"entry": logged.id, "kind": entry.kind, "check": entry.check} | {n: getattr(entry, n) for n in names}
    if isinstance(entry, Resolution):
        facts["cites"] = " ".join(entry.cites)
    feedback.metadata = {f"evallib.{name}": plain(_word(fact)) for name, fact in facts.items()}
    return feedback


def _of_withdrawal(logged: LoggedEntry, name: str) -> Feedback:
    entry = logged.entry
    if not isinstance(entry, Withdrawal):
        raise TypeError(f"entry {logged.id} is a {entry.kind}, not a withdrawal")
    feedback = _said(logged, f"{name}{_SUFFIX['withdrawal']}", "withdrawn", entry.reason)
    feedback.metadata = {_ENTRY: logged.id, "evallib.kind": entry.kind, "evallib.withdraws": entry.withdraws}
    return feedback


def _of_superseded(id_: str, later: LoggedEntry, name: str) -> Feedback:
    """That the author of an entry says something else now; named by both, for each may be amended again."""
    feedback = _said(later, f"{name}{_SUFFIX['superseded']}", "superseded", f"its author amended it: {later.id}")
    feedback.assessment_id = entry_id(f"{id_} superseded by {later.id}")
    feedback.metadata = {
        "evallib.kind": "superseded", "evallib.supersedes": id_, "evallib.superseded_by": later.id,
    }  # fmt: skip
    return feedback


def _said(logged: LoggedEntry, name: str, value: object, reason: str) -> Feedback:
    """An assessment by the person who wrote the entry."""
    rationale, at = cut_bytes(reason, f"whole in the log entry {logged.id}"), milliseconds(logged.entry.time)
    source = ("HUMAN", logged.entry.author)
    return _feedback(entry_id(logged.id), name, value, at=at, source=source, rationale=rationale)


def _with_error(feedback: Feedback, code: str, message: str) -> Feedback:
    from mlflow.entities import AssessmentError

    error = AssessmentError(error_code=code, error_message=message)
    feedback.error = error
    if feedback.feedback is not None:
        feedback.feedback.error = error
    return feedback
