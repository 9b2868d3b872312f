"""The page of one MLflow run: its params, metrics and tags, and the experiment it stands in."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evallib.errors import InputError
from evallib.metrics import summarise
from evallib.records import POST_HOC_LABEL, STRICT, canonical_json, digest
from evallib.store import LoggedEntry, Run, standing_rescorings
from evallib.tracking.place import sqlite_path
from evallib.tracking.texts import RUN_TAG, cut, milliseconds
from evallib.views.load import open_view, outcomes_frame, verdicts_frame
from evallib.views.origin import origin_of

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run as MlflowRun

__all__ = ["Page", "draw_page", "find_experiment", "find_run", "write_page"]

_MANIFEST = "evallib.manifest"
_PARAM, _TAG = 6_000, 5_000
"""Characters; MLflow allows 6,000 and 8,000."""


class Page(NamedTuple):
    """What the page of a run says, all of it as MLflow stores it."""

    params: dict[str, str]
    metrics: dict[str, float]
    tags: dict[str, str]


def draw_page(
    run: Run, summary: Mapping[str, Any], decision: Mapping[str, Any] | None, log: Sequence[LoggedEntry]
) -> Page:
    """The page of `run`: figures of the summarised view under their plain names when that is strict, else prefixed."""
    manifest, view = run.manifest, str(summary["view"])
    usage = {**manifest["usage"], "cost_usd": manifest["cost_usd"]}
    metrics = {name: float(value) for name, value in usage.items() if value is not None}
    metrics |= _figures(summary, "" if view == STRICT else f"{view.replace(':', '.')}.")
    tags = {
        RUN_TAG: run.id,
        "evallib.suite": run.suite.suite,
        "evallib.view": view,
        "evallib.post_hoc": "true" if summary["post_hoc"] else "false",
        "evallib.label": _label(summary),
        "mlflow.note.content": str(summary.get("caption", "")),
        **_gate_tags(decision),
    }
    for rescoring in standing_rescorings(run, log):
        rescored = open_view(run, f"rescored:{rescoring.name}", log)
        prefix = f"rescored.{rescoring.name}"
        figures = summarise(outcomes_frame(rescored), verdicts_frame(rescored), origin=origin_of([rescored]))
        metrics |= _figures(figures, f"{prefix}.")
        tags |= {f"evallib.{prefix}.post_hoc": "true", f"evallib.{prefix}.label": rescored.label}
        tags[f"evallib.{prefix}.caption"] = figures["caption"]
    return Page(_params(run), metrics, {name: cut(text, _TAG) for name, text in tags.items() if text})


def _label(said: Mapping[str, Any]) -> str:
    """The words that figures or a decision carry; the usual ones where a post-hoc one brings none."""
    return str(said.get("label") or (POST_HOC_LABEL if said.get("post_hoc") else ""))


def _params(run: Run) -> dict[str, str]:
    """Everything the plan decided, nested values flattened by one level."""
    plan = {**run.plan, "cases": len(run.plan["cases"]), "samples": _samples_per_case(run)}
    flat: dict[str, Any] = {}
    for name, value in plan.items():
        flat |= {f"{name}.{key}": each for key, each in value.items()} if isinstance(value, dict) else {name: value}
    texts = {name: value if isinstance(value, str) else canonical_json(value) for name, value in flat.items()}
    return {name: cut(text, _PARAM) for name, text in texts.items() if text and text != "null"}


def _samples_per_case(run: Run) -> str:
    counts = set(run.plan["cases"].values()) or {0}
    return str(max(counts)) if len(counts) == 1 else f"{min(counts)}-{max(counts)}"


def _figures(summary: Mapping[str, Any], prefix: str) -> dict[str, float]:
    """One metric per figure; what is undefined has none. Checks are in their raw units, like the gate's thresholds."""
    named = {name: summary.get(name) for name in ("pass_rate", "score_mean", "planned", "scored", "errors", "cases")}
    for name in ("pass_at", "pass_hat"):
        named |= {f"{name}.{k}": value for k, value in summary.get(name, {}).items()}
    named |= {f"check.{check}": each["mean_raw"] for check, each in summary.get("by_check", {}).items()}
    return {f"{prefix}{name}": float(value) for name, value in named.items() if value is not None}


def _gate_tags(decision: Mapping[str, Any] | None) -> dict[str, str]:
    if decision is None:
        return {}
    tags = {
        "evallib.gate": str(decision["decision"]),
        "evallib.gate.view": str(decision["view"]),
        "evallib.gate.label": _label(decision),
        "evallib.gate.release": decision.get("release_decision") or f"none: {decision.get('why_no_release')}",
    }
    for rule in decision["rules"]:
        word = "pass" if rule["passed"] else "blocked"
        tags[f"evallib.gate.rule.{rule['rule']}"] = f"{word}: {rule['reason']}"
    return tags


def find_experiment(client: MlflowClient, name: str, uri: str) -> str:
    """The id of the experiment called `name`, created where it is missing."""
    found = client.get_experiment_by_name(name)
    if found is None:
        database = sqlite_path(uri) if uri.startswith("sqlite") else None
        # said outright, for MLflow's default is a folder below wherever the command happens to run
        location = (database.absolute().parent / "mlflow-artifacts" / name).as_uri() if database else None
        return str(client.create_experiment(name, artifact_location=location))
    if found.lifecycle_stage != "active":
        raise InputError(f"MLflow experiment {name!r} is deleted; restore it with `mlflow experiments restore`")
    return str(found.experiment_id)


def find_run(client: MlflowClient, experiment: str, run: Run) -> MlflowRun:
    """The MLflow run of this run, found by its tag or created; another run of the same id is refused."""
    everywhere = [str(each.experiment_id) for each in client.search_experiments()]
    identity = digest(run.manifest, 32)
    found = client.search_runs(everywhere, f"tags.`{RUN_TAG}` = '{run.id}'", order_by=["attribute.start_time ASC"])
    for mlflow_run in found:
        if mlflow_run.data.tags.get(_MANIFEST) == identity:
            return mlflow_run
    if found:
        raise InputError(
            f"MLflow holds another run of the id {run.id!r}, made from other files; "
            f"export to another --uri, or delete run {found[0].info.run_id} there"
        )
    tags = {RUN_TAG: run.id, _MANIFEST: identity}
    began = milliseconds(run.plan["created"])
    return client.create_run(experiment, start_time=began, tags=tags, run_name=run.id)


def write_page(client: MlflowClient, mlflow_run: MlflowRun, page: Page, at: int) -> None:
    """Write what differs; the end of the MLflow run comes last and says that the export was whole."""
    from mlflow.entities import Metric, Param, RunTag

    run_id, there = mlflow_run.info.run_id, mlflow_run.data
    now = round(time.time() * 1000)  # of two values at one time MLflow shows the larger, so a changed one is later
    metrics = [
        Metric(k, v, now if k in there.metrics else at, 0) for k, v in page.metrics.items() if there.metrics.get(k) != v
    ]
    params = [Param(k, v) for k, v in page.params.items() if k not in there.params]
    tags = [RunTag(k, v) for k, v in page.tags.items() if there.tags.get(k) != v]
    for start in range(0, max(len(metrics), len(params), len(tags)), 100):
        part = slice(start, start + 100)
        client.log_batch(run_id, metrics=metrics[part], params=params[part], tags=tags[part])
    for name in there.tags:  # of an earlier gate or view
        if name.startswith("evallib.") and name not in {_MANIFEST, *page.tags}:
            client.delete_tag(run_id, name)
    if mlflow_run.info.status != "FINISHED":
        client.set_terminated(run_id, "FINISHED", end_time=at)
