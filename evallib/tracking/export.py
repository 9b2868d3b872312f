"""The export itself: what is missing in MLflow is written, what is there is left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from evallib.scoring import fold_all
from evallib.store import LoggedEntry, Run
from evallib.tracking.assessments import Said, long_reasons
from evallib.tracking.page import draw_page, find_experiment, find_run, write_page
from evallib.tracking.place import check_uri, opened, shown
from evallib.tracking.texts import RUN_TAG, milliseconds
from evallib.tracking.traces import TracePlan

if TYPE_CHECKING:
    from mlflow.entities import Assessment, TraceInfo
    from mlflow.tracing.client import TracingClient

__all__ = ["Tracked", "track"]

_BATCH = 50
"""Traces whose spans travel together: fewer than 20 cost time, more than 100 gain nothing."""
_PER_PAGE = 500


@dataclass(frozen=True, slots=True)
class Tracked:
    """What stands in MLflow after an export, and how much of it this export added."""

    uri: str
    experiment: str
    mlflow_run: str
    traces: int
    assessments: int
    new_traces: int
    new_assessments: int
    not_scored: int
    """Verdicts that could not be had; they stand in MLflow as errors."""
    left_out: tuple[str, ...] = ()
    """Readings that were not exported, one sentence each."""

    def as_json(self) -> dict[str, Any]:
        """The object that `evallib track --json` prints."""
        return {**asdict(self), "left_out": list(self.left_out)}

    def lines(self) -> list[str]:
        """What was done, in words."""
        lines = [
            f"MLflow at {self.uri}: experiment {self.experiment}, run {self.mlflow_run}",
            f"  traces: {self.traces}, of them {self.new_traces} new",
            f"  assessments: {self.assessments}, of them {self.new_assessments} new",
        ]
        if self.not_scored:
            lines.append(f"  {self.not_scored} verdicts could not be had; they are assessments with an error")
        return [*lines, *(f"  left out: {sentence}" for sentence in self.left_out)]


def track(
    run: Run, *, summary: Mapping[str, Any], decision: Mapping[str, Any] | None, log: Sequence[LoggedEntry], uri: str
) -> Tracked:
    """Export `run` to the MLflow at `uri`; what is there already stays as it is.

    `summary` is what `metrics --json` prints and `decision` what `gate --json` prints; each names its view. Environment
    variables that turn telemetry off and keep retries few are set where the user has not set them.
    """
    check_uri(uri)
    page, said = draw_page(run, summary, decision, log), Said.of(run, log)
    outcomes = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    plans = [TracePlan(run, sample, outcomes[sample.key]) for sample in run.samples]
    with opened(uri) as (client, tracing):
        experiment = find_experiment(client, run.suite.suite, uri)
        mlflow_run = find_run(client, experiment, run)
        mirror = _Mirror(tracing, experiment, mlflow_run.info.run_id, said)
        there = mirror.there()
        new_traces, new_assessments = mirror.add_traces([plan for plan in plans if plan.id not in there])
        for plan in plans:
            if plan.id in there:
                new_assessments += mirror.complete(plan, there[plan.id])
        write_page(client, mlflow_run, page, milliseconds(run.manifest["finished"]))
    return Tracked(
        uri=shown(uri),
        experiment=run.suite.suite,
        mlflow_run=mlflow_run.info.run_id,
        traces=new_traces + len(there),
        assessments=new_assessments + sum(len(info.assessments) for info in there.values()),
        new_traces=new_traces,
        new_assessments=new_assessments,
        not_scored=sum(verdict.status == "not_scored" for verdict in run.verdicts),
        left_out=said.left_out,
    )


@dataclass(frozen=True, slots=True)
class _Mirror:
    """The traces of one run in MLflow."""

    tracing: TracingClient
    experiment: str
    mlflow_run: str
    said: Said

    def there(self) -> dict[str, TraceInfo]:
        """The run's traces that MLflow holds, with their assessments, by id."""
        found: dict[str, TraceInfo] = {}
        token = None
        while True:
            part = self.tracing.search_traces(
                locations=[self.experiment],
                filter_string=f"request_metadata.`{RUN_TAG}` = '{self.said.run.id}'",
                max_results=_PER_PAGE,
                page_token=token,
                include_spans=False,
            )
            found |= {trace.info.trace_id: trace.info for trace in part}
            token = part.token
            if not token:
                return found

    def add_traces(self, plans: Sequence[TracePlan]) -> tuple[int, int]:
        """Write traces that are not there yet; how many traces and assessments that made."""
        assessments = 0
        for start in range(0, len(plans), _BATCH):
            batch = plans[start : start + _BATCH]
            for plan in batch:
                made = self.said.assessments(plan.sample.key, plan.id, self.mlflow_run)
                self.tracing.start_trace(plan.info(self.experiment, self.mlflow_run, made))
                assessments += len(made)
            self._add_spans(batch)
        return len(plans), assessments

    def _add_spans(self, plans: Sequence[TracePlan]) -> None:
        spans = [s for p in plans for s in p.spans(long_reasons(self.said.verdicts.get(p.sample.key, ())))]
        self.tracing.log_spans(self.experiment, spans)

    def complete(self, plan: TracePlan, info: TraceInfo) -> int:
        """Add what a trace that is there lacks; how many assessments that were.

        It is never started again: that would make assessments valid that people overrode in MLflow. Nothing of ours
        overrides or updates another assessment: that would lose what stood before.
        """
        if "mlflow.trace.spansLocation" not in info.tags:  # an export was killed between a trace and its spans
            self._add_spans([plan])
        there = list(info.assessments)
        added = self._add_missing(plan, there)
        for withdrawal in self.said.taken_back(there):
            self.tracing.log_assessment(plan.id, withdrawal)
            added += 1
        return added

    def _add_missing(self, plan: TracePlan, there: list[Assessment]) -> int:
        known = {assessment.assessment_id for assessment in there}
        if known.issuperset(self.said.ids(plan.sample.key)):
            return 0
        made = self.said.assessments(plan.sample.key, plan.id, self.mlflow_run)
        missing = [assessment for assessment in made if assessment.assessment_id not in known]
        for assessment in missing:
            self.tracing.log_assessment(plan.id, assessment)
        return len(missing)
