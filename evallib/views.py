"""A run under one named view (`strict`, `rescored:<entry>`, `read`), as the frames that metrics and gate take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evallib.adjudication import read_outcomes
from evallib.concordance.audit import audit
from evallib.concordance.selection import Selection
from evallib.coverage import Part, coverage, read_shares
from evallib.entries import Reading, Rescoring
from evallib.errors import InputError
from evallib.records import POST_HOC_LABEL, STRICT, Outcome, SampleKey, Verdict
from evallib.rescoring.entry import rescoring_label
from evallib.scoring import fold, fold_all
from evallib.standing import Readings, standing_readings
from evallib.store import LoggedEntry, Run, standing_rescorings
from evallib.suite import Suite

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["READ", "View", "open_view", "outcomes_frame", "verdicts_frame", "view_label", "view_names"]

READ = "read"


@dataclass(frozen=True)
class View:
    """One run under one view: the outcomes and verdicts that every figure of it is made of."""

    run: Run
    name: str
    suite: Suite
    """The suite whose criteria stand: the run's own, or that of the rescoring."""
    outcomes: dict[SampleKey, Outcome]
    verdicts: list[Verdict]
    states: Mapping[SampleKey, str]
    """What readings said of a sample; only in the read view."""
    readings: dict[str, Any]
    """How much was read, how it was chosen, and whether blind; empty outside the read view."""
    corrected: Mapping[str, Any] = field(default_factory=dict)
    """The strict pass rate and the one corrected by reading, as `Audit.as_dict` has them; only in the read view."""
    rescoring: Rescoring | None = None
    """The entry of a rescored view."""
    parts: tuple[Part, ...] = ()
    """The same by check and strict verdict; empty outside the read view."""

    @property
    def post_hoc(self) -> bool:
        """Whether its figures were chosen after reading the answers."""
        return self.name != STRICT

    @property
    def predicted_late(self) -> bool:
        """Whether a rescoring's expected flips were edited after a preview."""
        return self.rescoring is not None and self.rescoring.predicted_after_preview

    @property
    def label(self) -> str:
        """The words every figure of this view carries."""
        return view_label(self)

    @property
    def left_out_judges(self) -> list[str]:
        """Ids of the model judges that the run was told to leave out, in the suite's order."""
        if self.run.plan.get("judges", True):
            return []
        judges = {b.check.id for bounds in self.suite.bound.values() for b in bounds if b.check.stochastic}
        return [name for name in self.suite.check_ids() if name in judges]

    @property
    def complete(self) -> bool:
        """Whether every planned sample is there."""
        return set(self.run.planned) == set(self.outcomes)

    @property
    def whole_validation(self) -> bool:
        """Whether the run holds every validation case of its suite and no other."""
        return set(self.run.plan["cases"]) == {c.id for c in self.suite.cases if c.split == "validation"}


def view_label(*views: View) -> str:
    """The words every figure of one view of some runs carries; in the read view with how much of them was read."""
    entry = views[0].rescoring
    words = [rescoring_label(entry)] if entry else [POST_HOC_LABEL] * views[0].post_hoc
    parts = [part for view in views for part in view.parts]
    return "; ".join([*words, read_shares(parts)] if parts else words)


def view_names(run: Run, log: Sequence[LoggedEntry]) -> list[str]:
    """The views this run has: strict, each rescoring, and read where somebody read it."""
    read = any(isinstance(e, Reading) and e.run == run.id for _, e in log)
    return [STRICT, *(f"rescored:{r.name}" for r in standing_rescorings(run, log)), *([READ] if read else [])]


def open_view(run: Run, name: str, log: Sequence[LoggedEntry]) -> View:
    """The run under the view called `name`; InputError lists the views there are."""
    if name == STRICT:
        outcomes = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
        return View(run, STRICT, run.suite, outcomes, run.verdicts, {}, {})
    if name == READ:
        return _read_view(run, log)
    kind, _, entry = name.partition(":")
    standing = standing_rescorings(run, log)
    if kind != "rescored" or not (entry or standing):
        raise InputError(f"run {run.id!r} has no view {name!r}; its views: {', '.join(view_names(run, log))}")
    named = [one for one in standing if entry in (one.name, one.name[11:])] if entry else standing[-1:]
    rescoring = named[0] if len(named) == 1 else run.rescoring(entry)
    if rescoring not in standing:
        raise InputError(
            f"{rescoring.folder}: is an unfinished rescoring and no view: its entry is not in the log; run the same "
            "rescoring again, or name the log with --adjudications"
        )
    verdicts = rescoring.verdicts(run.id)
    outcomes = fold_all(run.samples, verdicts, rescoring.suite.pass_rule)
    name = f"rescored:{rescoring.name}"
    return View(run, name, rescoring.suite, outcomes, verdicts, {}, {}, rescoring=rescoring.entry)


def _read_view(run: Run, log: Sequence[LoggedEntry]) -> View:
    strict = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    readings = standing_readings(run, log)
    read = read_outcomes(run, strict, readings)
    outcomes = {key: one.outcome for key, one in read.items()}
    states = {key: one.state for key, one in read.items() if one.state}
    verdicts = [verdict for one in read.values() for verdict in one.verdicts]
    corrected = audit(run, readings, Selection(run, log), strict).as_dict()
    parts = coverage(run, strict, readings)
    counts = _counts(strict, states, readings) | {"run": run.id, "parts": [part.as_dict() for part in parts]}
    return View(run, READ, run.suite, outcomes, verdicts, states, counts, corrected, parts=parts)


def _counts(strict: Mapping[SampleKey, Outcome], states: Mapping[SampleKey, str], readings: Readings) -> dict[str, Any]:
    """Samples that readings speak of, in whole or by a check, and what stands open; errors count as failures."""
    entries = [e.entry for stand in readings.by_item.values() for e in stand.entries if isinstance(e.entry, Reading)]
    failing = {key for key, outcome in strict.items() if not outcome.passed}
    passing = set(strict) - failing
    chosen = sorted({entry.chosen for entry in entries})
    return {
        "samples": len(strict),
        "read": len(states),
        "strict_failures": len(failing),
        "strict_failures_read": len(failing & set(states)),
        "strict_passes": len(passing),
        "strict_passes_read": len(passing & set(states)),
        "unsure": sum(state == "unsure" for state in states.values()),
        "disputed": sum(state == "disputed" for state in states.values()),
        "stale": len(readings.stale),
        "unknown": len(readings.unknown),
        "blind": sum(entry.blind for entry in entries),
        "readings": len(entries),
        "readers": sorted({entry.author for entry in entries}),
        "chosen": chosen,
    }


def outcomes_frame(view: View) -> pd.DataFrame:
    """One row per planned sample: the columns `metrics` documents, plus `reading`, `reason` and `answer`."""
    import pandas as pd

    samples = {sample.key: sample for sample in view.run.samples}
    deterministic = _without_judges(view)
    rows = []
    for key in view.run.planned:
        case, sample, outcome = view.suite.by_id[key[0]], samples.get(key), view.outcomes.get(key)
        rows.append(
            {
                "run_id": view.run.id,
                "case_id": key[0],
                "sample": key[1],
                "split": case.split,
                "required": case.required,
                "sample_status": sample.status if sample else "missing",
                "status": outcome.status if outcome else "error",
                "passed": outcome.passed if outcome else None,
                "passed_deterministic": deterministic.get(key),
                "score": outcome.score if outcome else None,
                "failed": ", ".join(outcome.failed) if outcome else "",
                "reason": outcome.reason if outcome else "the sample is missing",
                "reading": view.states.get(key, ""),
                "view": view.name,
                "post_hoc": view.post_hoc,
                "label": view.label,
            }
        )
    frame = pd.DataFrame(rows)
    return frame.astype({"passed": "boolean", "passed_deterministic": "boolean", "score": "Float64"})


def _without_judges(view: View) -> dict[SampleKey, bool | None]:
    """Whether each sample passes by its deterministic verdicts alone: judges never decide a required case.

    A person's reading does: where it replaced an outcome, that stands.
    """
    grouped: dict[SampleKey, list[Verdict]] = {}
    for verdict in view.verdicts:
        if not verdict.stochastic:
            grouped.setdefault((verdict.case_id, verdict.sample), []).append(verdict)
    folded = {s.key: fold(s, grouped.get(s.key, []), view.suite.pass_rule).passed for s in view.run.samples}
    read = {key: view.outcomes[key].passed for key, state in view.states.items() if state in {"pass", "fail", "infra"}}
    return folded | read


def verdicts_frame(view: View) -> pd.DataFrame:
    """One row per verdict of the view, with its run and view."""
    import pandas as pd

    columns = (
        "case_id", "sample", "check_id", "status", "value", "raw", "passed", "weight", "critical", "stochastic",
        "origin", "reason", "judge",
    )  # fmt: skip
    frame = pd.DataFrame({name: [getattr(v, name) for v in view.verdicts] for name in columns})
    frame.insert(0, "run_id", view.run.id)
    frame = frame.assign(view=view.name, post_hoc=view.post_hoc, label=view.label)
    return frame.astype({"passed": "boolean", "value": "Float64", "raw": "Float64"})
