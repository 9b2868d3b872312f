"""A run under one named view (`strict`, `rescored:<entry>`, `read`), as the frames that metrics and gate take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evallib.adjudication import ReadOutcome, read_outcomes
from evallib.collector import collector_paused
from evallib.concordance.audit import audit
from evallib.concordance.selection import Selection
from evallib.entries import Reading, Rescoring
from evallib.errors import InputError
from evallib.records import POST_HOC_LABEL, STRICT, Outcome, SampleKey, Verdict, digest
from evallib.rescoring.entry import rescoring_label
from evallib.scoring import fold, fold_all
from evallib.standing import Readings, standing_readings
from evallib.store import LoggedEntry, Run, StoredRescoring, standing_rescorings
from evallib.store.plans import unproven_words
from evallib.suite import Suite
from evallib.views.coverage import Part, coverage, read_shares
from evallib.views.folding import (
    SAMPLE_COLUMNS,
    TURN_COLUMNS,
    VERDICT_COLUMNS,
    FoldedSample,
    fold_columns,
    trajectories,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["READ", "View", "open_view", "outcomes_frame", "verdicts_frame", "view_label", "view_names"]

READ = "read"


@dataclass(frozen=True)
class View:
    """One run under one view: the outcomes and verdicts that every figure of it is made of."""

    run: Run
    name: str
    suite: Suite
    """The suite whose criteria stand: the run's own, or that of the rescoring."""
    stored: StoredRescoring | None = None
    """The rescoring whose verdicts stand in a rescored view."""
    read: Mapping[SampleKey, ReadOutcome] = field(default_factory=dict)
    """What readings made of each sample; empty outside the read view."""
    readings: dict[str, Any] = field(default_factory=dict)
    """How much was read, how it was chosen, and whether blind; empty outside the read view."""
    corrected: Mapping[str, Any] = field(default_factory=dict)
    """The strict pass rate and the one corrected by reading, as `Audit.as_dict` has them; only in the read view."""
    parts: tuple[Part, ...] = ()
    """The same by check and strict verdict; empty outside the read view."""

    @cached_property
    def outcomes(self) -> dict[SampleKey, Outcome]:
        """The outcome of every sample there is."""
        if self.read:
            return {key: one.outcome for key, one in self.read.items()}
        return fold_all(self.run.samples, self.verdicts, self.suite.pass_rule)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """Every verdict, in stored order."""
        if self.read:
            return [verdict for one in self.read.values() for verdict in one.verdicts]
        return self.run.verdicts if self.stored is None else self.stored.verdicts(self.run.id)

    @cached_property
    def columns(self) -> pa.Table:
        """The verdicts as they are stored, no reading among them, as an Arrow table."""
        if self.stored is None:
            return self.run.columns("verdicts", VERDICT_COLUMNS)
        return self.stored.verdict_columns(self.run.id, VERDICT_COLUMNS)

    def criteria(self) -> list[tuple[str, str, str]]:
        """Each (case, check, digest of what decides it) there is, sorted; readings are no criteria."""
        names = ["case_id", "check_id", "decides"]
        alike = self.columns.select(names).group_by(names, use_threads=False).aggregate([])
        return sorted(zip(*(alike.column(name).to_pylist() for name in names), strict=True))

    @cached_property
    def samples(self) -> pa.Table:
        """What of the samples figures need, as an Arrow table."""
        return self.run.columns("samples", SAMPLE_COLUMNS)

    @property
    def states(self) -> Mapping[SampleKey, str]:
        """What readings said of a sample; only in the read view."""
        return {key: one.state for key, one in self.read.items() if one.state}

    @property
    def rescoring(self) -> Rescoring | None:
        """The entry of a rescored view."""
        return self.stored.entry if self.stored else None

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
        """Ids of the model judges of its cases that the run was told to leave out, in the suite's order."""
        return self.judges(self.run.plan["cases"])[1] if self.without_judges else []

    @property
    def without_judges(self) -> bool:
        """Whether the run was told to leave its model judges out."""
        return not self.run.plan.get("judges", True)

    def judges(self, cases: Iterable[str]) -> tuple[list[str], list[str]]:
        """Ids of the model judges of `cases`: those that are asked, and those that nobody asked, as the run was told.

        What a run left out, a rescoring may ask.
        """
        named = {b.check.id: None for case in cases for b in self.suite.bound[case] if b.check.stochastic}
        if not self.without_judges or not named:
            return list(named), []
        rows = self.columns.select(["check_id", "status"]).to_pylist() if self.stored else []
        asked = {row["check_id"] for row in rows if row["status"] == "scored"}
        return [name for name in named if name in asked], [name for name in named if name not in asked]

    @property
    def unproven(self) -> str:
        """Which checks the self-check before the run could not prove; a rescoring's own criteria are not meant."""
        return "" if self.rescoring else unproven_words(self.run.plan)

    @property
    def complete(self) -> bool:
        """Whether every planned sample is there."""
        there = zip(*(self.samples.column(name).to_pylist() for name in ("case_id", "sample")), strict=True)
        return set(self.run.planned) == set(there)

    @property
    def whole_validation(self) -> bool:
        """Whether the run holds every validation case of its suite and no other."""
        return set(self.run.plan["cases"]) == self._validation

    @property
    def beside(self) -> int:
        """How many cases it holds beside the whole validation split; 0 where it lacks one of that, or there is none."""
        cases = set(self.run.plan["cases"])
        return len(cases - self._validation) if self._validation and cases >= self._validation else 0

    @property
    def _validation(self) -> set[str]:
        return {case.id for case in self.suite.cases if case.split == "validation"}


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
        return View(run, STRICT, run.suite)
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
    return View(run, f"rescored:{rescoring.name}", rescoring.suite, rescoring)


def _read_view(run: Run, log: Sequence[LoggedEntry]) -> View:
    strict = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    readings = standing_readings(run, log)
    read = read_outcomes(run, strict, readings)
    states = {key: one.state for key, one in read.items() if one.state}
    corrected = audit(run, readings, Selection(run, log), strict).as_dict()
    parts = coverage(run, strict, readings)
    counts = _counts(strict, states, readings) | {"run": run.id, "parts": [part.as_dict() for part in parts]}
    return View(run, READ, run.suite, None, read, counts, corrected, parts)


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


@collector_paused()
def outcomes_frame(view: View) -> pd.DataFrame:
    """One row per planned sample: the columns `metrics` documents, and `reading`, `failed` and `reason`.

    `trajectory` is a digest of all that the sample put out, and `draw` says what made it random.
    """
    import pandas as pd

    folded = _folded(view)
    put_out = trajectories(view.samples, view.run.columns("turns", TURN_COLUMNS))
    draws, states, keys = _draws(view), view.states, view.run.planned
    cases = [view.suite.by_id[case_id] for case_id, _ in keys]
    found = [folded.get(key, _MISSING) for key in keys]
    outcomes = [one.outcome for one in found]
    frame = pd.DataFrame(
        {
            "case_id": [case_id for case_id, _ in keys], "sample": [number for _, number in keys],
            "split": [case.split for case in cases], "required": [case.required for case in cases],
            "tags": [list(case.tags) for case in cases], "sample_status": [one.status for one in found],
            "status": [one.status for one in outcomes], "passed": [one.passed for one in outcomes],
            "passed_deterministic": [one.deterministic for one in found], "score": [one.score for one in found],
            "failed": [", ".join(one.failed) for one in outcomes], "reason": [one.reason for one in outcomes],
            "reading": [states.get(key, "") for key in keys], "trajectory": [put_out.get(key, "") for key in keys],
            "draw": [draws.get(key, "") for key in keys],
        }
    )  # fmt: skip
    frame.insert(0, "run_id", view.run.id)
    frame = frame.assign(view=view.name, post_hoc=view.post_hoc, label=view.label)
    return frame.astype({"passed": "boolean", "passed_deterministic": "boolean", "score": "Float64"})


_MISSING = FoldedSample("missing", Outcome("", 0, "error", None, None, (), "the sample is missing"), None, None)


def _folded(view: View) -> Mapping[SampleKey, FoldedSample]:
    """The outcome of each sample, and whether it passes by its deterministic verdicts alone.

    Judges never decide a required case. A person's reading does: where it replaced an outcome, that stands.
    """
    if not view.read:
        return fold_columns(view.samples, view.columns, view.suite.pass_rule)
    found = {}
    for sample in view.run.samples:
        one = view.read[sample.key]
        sure = fold(sample, [v for v in one.verdicts if not v.stochastic], view.suite.pass_rule).passed
        decided = one.outcome.passed if one.state in {"pass", "fail", "infra"} else sure
        found[sample.key] = FoldedSample(sample.status, one.outcome, one.outcome.score, decided)
    return found


def _draws(view: View) -> Mapping[SampleKey, str]:
    """What made each sample random: its target and seed, or its target where the temperature is 0; else nothing."""
    target = view.run.plan.get("target") or {}
    cold = (target.get("parameters") or {}).get("temperature") == 0
    named = digest(target, 8)
    keys = zip(*(view.samples.column(name).to_pylist() for name in ("case_id", "sample")), strict=True)
    seeds = view.samples.column("seed")
    if not cold and seeds.null_count == len(seeds):
        return {}
    drawn = ("temperature 0" if cold else seed for seed in seeds.to_pylist())
    return {key: "" if seed is None else f"{named} {seed}" for key, seed in zip(keys, drawn, strict=True)}


def verdicts_frame(view: View) -> pd.DataFrame:
    """One row per verdict of the view, with its run and view."""
    import pandas as pd

    columns = (
        "case_id", "sample", "check_id", "status", "value", "raw", "passed", "weight", "critical", "stochastic",
        "origin", "reason", "judge",
    )  # fmt: skip
    if view.read:
        frame = pd.DataFrame({name: [getattr(v, name) for v in view.verdicts] for name in columns})
    else:
        frame = view.columns.select(columns).to_pandas()
    frame.insert(0, "run_id", view.run.id)
    frame = frame.assign(view=view.name, post_hoc=view.post_hoc, label=view.label)
    return frame.astype({"passed": "boolean", "value": "Float64", "raw": "Float64"})
