"""One sample as one MLflow trace: the sample, its turns and their tool calls as spans."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from evallib.records import Outcome, Sample, canonical_json, digest
from evallib.store import Run
from evallib.tracking.texts import RUN_TAG, cut, milliseconds, plain

if TYPE_CHECKING:
    from mlflow.entities import Assessment, Span, TraceInfo

__all__ = ["TracePlan"]

_PREVIEW, _TAG = 1_000, 5_000
"""Characters shown in lists, and in a tag (MLflow allows 8,000)."""


class _SpanPlan(NamedTuple):
    path: str
    """Empty for the sample, `1` for its first turn, `1.2` for that turn's second tool call."""
    name: str
    kind: str
    start: int
    end: int
    inputs: Any
    outputs: Any
    error: str = ""
    more: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class TracePlan:
    """One sample as MLflow is to hold it."""

    run: Run
    sample: Sample
    outcome: Outcome

    @property
    def id(self) -> str:
        """The same for every export of this sample."""
        return f"tr-{digest([self.run.id, *self.sample.key], 32)}"

    @property
    def began(self) -> int:
        """Milliseconds since 1970; an import that does not say when its samples ran took place when it was made."""
        return milliseconds(self.sample.started or self.run.plan["created"])

    @property
    def requests(self) -> list[str]:
        """What was asked, step by step."""
        return [turn.request for turn in self.sample.turns]

    def info(self, experiment: str, mlflow_run: str, assessments: list[Assessment]) -> TraceInfo:
        """The trace with the assessments it begins with."""
        from mlflow.entities import TraceInfo, TraceLocation, TraceState

        sample, outcome = self.sample, self.outcome
        ours = {RUN_TAG: self.run.id, "evallib.case_id": sample.case_id, "evallib.sample": str(sample.sample)}
        verdict = {True: "pass", False: "fail", None: outcome.status}[outcome.passed]
        return TraceInfo(
            trace_id=self.id,
            trace_location=TraceLocation.from_experiment_id(experiment),
            request_time=self.began,
            execution_duration=round(sample.duration_s * 1000),
            state=TraceState.OK if sample.status == "completed" else TraceState.ERROR,
            request_preview=cut(plain("\n".join(self.requests)), _PREVIEW),
            response_preview=cut(plain(sample.answer), _PREVIEW),
            client_request_id=f"{self.run.id}/{sample.case_id}/{sample.sample}",
            trace_metadata={**ours, "mlflow.sourceRun": mlflow_run, **_usage_metadata(sample)},
            tags={
                "mlflow.traceName": sample.case_id,
                "evallib.status": sample.status,
                "evallib.strict": verdict,
                "evallib.strict.reason": cut(plain(outcome.reason), _TAG),
            },
            assessments=assessments,
        )

    def spans(self, long_reasons: Mapping[str, str]) -> list[Span]:
        """The sample, its turns and their tool calls as finished spans."""
        return [self._span(plan) for plan in self._span_plans(long_reasons)]

    def _span_plans(self, long_reasons: Mapping[str, str]) -> Iterator[_SpanPlan]:
        sample, start = self.sample, self.began * 1_000_000
        inputs, outputs, end = {"requests": self.requests}, {"answer": sample.answer}, start + _ns(sample.duration_s)
        yield _SpanPlan("", sample.case_id, "AGENT", start, end, inputs, outputs, sample.error, long_reasons)
        for number, turn in enumerate(sample.turns, 1):
            stop = start + _ns(turn.duration_s)
            pending = {"pending": [{"name": c.name, "arguments": dict(c.arguments)} for c in turn.pending]}
            pending = pending if turn.pending else {}
            said = {"text": turn.text, **pending}
            yield _SpanPlan(f"{number}", f"turn {turn.step}", "CHAIN", start, stop, {"request": turn.request}, said)
            for at, call in enumerate(turn.tool_calls, 1):  # the record has their order and no times
                arguments, error = dict(call.arguments), call.error or ""
                yield _SpanPlan(
                    f"{number}.{at}", call.name, "TOOL", start + at, start + at, arguments, call.result, error
                )
            start = stop

    def _span(self, plan: _SpanPlan) -> Span:
        from mlflow.entities import Span

        attributes = {
            "mlflow.traceRequestId": self.id,
            "mlflow.spanType": plan.kind,
            "mlflow.spanInputs": plan.inputs,
            "mlflow.spanOutputs": plan.outputs,
            **plan.more,
        }
        return Span.from_dict(
            {
                "trace_id": _base64(self.id[3:]),
                "span_id": self._span_id(plan.path),
                "parent_span_id": self._span_id(plan.path.rpartition(".")[0]) if plan.path else None,
                "name": plan.name,
                "start_time_unix_nano": plan.start,
                "end_time_unix_nano": plan.end,
                "status": {"code": f"STATUS_CODE_{'ERROR' if plan.error else 'OK'}", "message": plain(plan.error)},
                "attributes": {key: plain(json.dumps(value, ensure_ascii=False)) for key, value in attributes.items()},
                "events": [],
            }
        )

    def _span_id(self, path: str) -> str:
        return _base64(digest([self.id, path], 16))


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def _base64(hexadecimal: str) -> str:
    return base64.b64encode(bytes.fromhex(hexadecimal)).decode()


def _usage_metadata(sample: Sample) -> dict[str, str]:
    usage, found = sample.usage, {}
    if usage.input_tokens is not None and usage.output_tokens is not None:
        total = usage.input_tokens + usage.output_tokens
        tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "total_tokens": total}
        found["mlflow.trace.tokenUsage"] = canonical_json(tokens)
    if usage.cost_usd is not None:
        found["mlflow.trace.cost"] = canonical_json({"total_cost": usage.cost_usd})
    return found
