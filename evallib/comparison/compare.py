"""Two runs compared: refused, or every paired figure with what it licenses, the flips, and what else differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evallib.comparison.contexts import (
    Difference,
    copied_answers,
    differences,
    repeated_answers,
    stale_build,
)
from evallib.comparison.corrected import corrected_rows
from evallib.comparison.cost import PairedCosts, paired_costs
from evallib.comparison.flips import Flip, case_flips
from evallib.comparison.judged import attenuations
from evallib.comparison.refusals import refuse_frames, refuse_other_criteria
from evallib.comparison.rows import Row, paired_rows, passes_of, without_errors
from evallib.errors import InputError
from evallib.metrics import order_words
from evallib.sense import raw_range
from evallib.stdout import counted, signed
from evallib.views.coverage import unequal_words
from evallib.views.figures import Figures, refuse_other_judges

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "compare_frames", "compare_runs", "sentences"]

POLICY = "errors count as fails over the planned samples"


@dataclass(frozen=True, slots=True)
class Paired:
    """What the frames of two runs give, over their shared cases."""

    rows: list[Row]
    without_errors: Row | None
    """The pass rate without errors; None where there are none."""
    errors: tuple[int, int]
    bounds: tuple[float, float]
    """The difference of pass rates when errors of B fail and A's pass, and the other way round."""
    flips: list[Flip]
    order: str = ""
    """That the two error policies order the runs differently, where they do."""

    @property
    def pass_rate(self) -> Row:
        """The first row."""
        return self.rows[0]

    @property
    def depends_on_errors(self) -> bool:
        """Whether the conclusion changes when errors are left out, or could with how they would have ended."""
        return any(self.errors) and (
            bool(self.order)
            or self.without_errors is None
            or _conclusion(self.without_errors) != _conclusion(self.pass_rate)
            or (self.bounds[0] < 0 < self.bounds[1])
        )


def _conclusion(row: Row) -> tuple[int, bool]:
    """The sign of a difference, and whether its interval leaves out 0."""
    sign = 0 if not row.difference else 1 if row.difference > 0 else -1
    return sign, row.interval is not None and not row.interval[0] <= 0 <= row.interval[1]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything `evallib compare A B` says."""

    a: str
    b: str
    view: str
    label: str
    """The words every figure of the view carries; empty for strict."""
    shared: list[str]
    only_a: list[str]
    only_b: list[str]
    paired: Paired
    contexts: list[Difference]
    costs: PairedCosts
    stale: list[str]
    notes: list[str]
    captions: tuple[str, str]
    lock: str
    """What is said of a lock on these runs; empty where nothing is."""

    @property
    def sentences(self) -> list[str]:
        """The conclusion in words: how the rate moved, which checks moved against it, and which cases."""
        return sentences(self.paired)

    def as_json(self) -> dict[str, Any]:
        """The object that `evallib compare A B --json` prints."""
        paired = self.paired
        return {
            "a": self.a,
            "b": self.b,
            "view": self.view,
            "post_hoc": bool(self.label),
            "label": self.label or None,
            "lock": self.lock or None,
            "policy": POLICY,
            "shared_cases": self.shared,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "comparisons": sum(row.counts for row in paired.rows),
            "correction": "Holm",
            "rows": [row.as_json() for row in paired.rows],
            "errors": {"a": paired.errors[0], "b": paired.errors[1]},
            "without_errors": None if paired.without_errors is None else paired.without_errors.as_json(),
            "bounds": list(paired.bounds),
            "depends_on_errors": paired.depends_on_errors,
            "fell": [flip.as_json() for flip in paired.flips if not flip.rose],
            "rose": [flip.as_json() for flip in paired.flips if flip.rose],
            "contexts": [one.as_json() for one in self.contexts],
            "cost": self.costs.as_json(),
            "stale_builds": self.stale,
            "notes": self.notes,
            "says": self.sentences,
            "captions": list(self.captions),
        }


def sentences(paired: Paired) -> list[str]:
    """How the rate moved, which checks moved against it, and what the errors leave open."""
    return [*_moved(paired), *_mixed(paired.rows), *_error_words(paired)]


def _moved(paired: Paired) -> list[str]:
    row = paired.pass_rate
    fell = [flip for flip in paired.flips if not flip.rose]
    rules, models, errors = (sum(flip.by == by for flip in fell) for by in ("rules", "model", "errors"))
    steady = row.cases - len(paired.flips)
    lost = f", {errors} by errors alone" if errors else ""
    by = f" ({rules} by rules, {models} by a model's verdict alone{lost})" if fell else ""
    moved = (
        f"{len(paired.flips) - len(fell)} of {counted(row.cases, 'case')} rose, {len(fell)} fell{by}, {steady} stayed"
    )
    required = [flip.case_id for flip in fell if flip.required]
    worse = [f"required cases that fell: {', '.join(required)}"] if required else []
    return [f"pass rate: {row.says}; {moved}", *worse]


def _mixed(rows: list[Row]) -> list[str]:
    """A mean that rose does not hide a check that fell."""
    rose = [row for row in rows if row.kind != "check" and (row.difference or 0) > 1e-12]
    fell = [row for row in rows if row.kind == "check" and (row.difference or 0) < -1e-12]
    if not rose or not fell:
        return []
    means = " and the ".join(f"{row.row} rose{_how_far(row, len(row.rose))}" for row in rose)
    return [f"the {means} while checks fell: {', '.join(row.row + _how_far(row, len(row.fell)) for row in fell)}"]


def _how_far(row: Row, moved: int) -> str:
    """How far a mean moved, in how many cases, and whether that is shown."""
    word = "shown" if row.shown else "not shown" if row.p is not None else row.word
    return f" {signed(row.difference or 0.0)} ({moved} of {counted(row.cases, 'case')}, {word})"


def _error_words(paired: Paired) -> list[str]:
    if not any(paired.errors):
        return []
    low, high = paired.bounds
    ends = f"however they had ended, the difference lies between {signed(low)} and {signed(high)}"
    said = [f"errors: {paired.errors[0]} in A, {paired.errors[1]} in B; counted as fails; {ends}"]
    without = paired.without_errors
    if without is None or without.difference is None:
        said.append("without errors no case is left to compare")
    else:
        said.append(
            f"without errors the difference is {signed(without.difference)} over {counted(without.cases, 'case')}"
        )
    said += [paired.order] * bool(paired.order)
    return [*said, "the conclusion depends on the errors"] if paired.depends_on_errors else said


def compare_frames(
    outcomes: tuple[pd.DataFrame, pd.DataFrame],
    verdicts: tuple[pd.DataFrame, pd.DataFrame],
    spans: Mapping[str, float | None],
) -> Paired:
    """The paired figures of two runs' frames, as `views` gives them; cases in one alone are left out.

    InputError where no case is shared, or a sample contradicts itself.
    """
    shared = set(outcomes[0]["case_id"]) & set(outcomes[1]["case_id"])
    if not shared:
        raise InputError("the two runs share no case, so there is nothing to compare")
    a, b = (one[one["case_id"].isin(shared)] for one in outcomes)
    va, vb = (one[one["case_id"].isin(shared)] for one in verdicts)
    refuse_frames((a, va), (b, vb))
    rows = corrected_rows(paired_rows((a, b), (va, vb), spans))
    missing = tuple(int((~passes_of(one)["scored"]).sum()) for one in (a, b))
    without = without_errors((a, b)) if any(missing) else None
    low, high = _mean_bounds(b)[0] - _mean_bounds(a)[1], _mean_bounds(b)[1] - _mean_bounds(a)[0]
    order = order_words(*map(_policies, (a, b)))
    return Paired(rows, without, (missing[0], missing[1]), (low, high), case_flips(a, b, rows), order)


def _policies(outcomes: pd.DataFrame) -> dict[str, Any]:
    """The macro pass rate of a run's shared cases under both error policies, as `metrics` gives it."""
    planned = passes_of(outcomes)
    rates = (one.groupby("case_id")["passed"].mean() for one in (planned, planned[planned["scored"]]))
    rate, without = (None if one.empty else float(one.mean()) for one in rates)
    missing = int((~planned["scored"]).sum())
    counts = {"runs": [str(outcomes["run_id"].iloc[0])], "errors": missing, "planned": len(planned)}
    return {**counts, "pass_rate": rate, "without_errors": {"pass_rate": without}}


def _mean_bounds(outcomes: pd.DataFrame) -> tuple[float, float]:
    """The macro pass rate when every error fails, and when every one passes."""
    planned = passes_of(outcomes)
    by_case = planned.assign(most=planned["passed"] | ~planned["scored"]).groupby("case_id")[["passed", "most"]].mean()
    return float(by_case["passed"].mean()), float(by_case["most"].mean())


def compare_runs(
    a: Figures,
    b: Figures,
    *,
    calibrations: Iterable[Mapping[str, Any]] = (),
    lock: str = "",
) -> Comparison:
    """Run B against run A under one view, on the cases that both hold; InputError where they cannot be compared.

    Each holds one run. `calibrations` are the records of how judges err; `lock` says whether these runs are locked.
    """
    (first,), (second,) = a.views, b.views
    planned = [list(view.run.plan["cases"]) for view in (first, second)]
    shared = [case for case in planned[0] if case in second.run.plan["cases"]]
    refuse_other_criteria(first, second, shared)
    refuse_other_judges((first, second), shared)
    paired = compare_frames((a.outcomes, b.outcomes), (a.verdicts, b.verdicts), _spans(a))
    runs = (first.run, second.run)
    contexts = differences(*runs, shared)
    return Comparison(
        a=first.run.id,
        b=second.run.id,
        view=a.view,
        label=a.label or b.label,
        shared=shared,
        only_a=[case for case in planned[0] if case not in shared],
        only_b=[case for case in planned[1] if case not in shared],
        paired=paired,
        contexts=contexts,
        costs=paired_costs(*runs, shared, contexts, a.prices),
        stale=list(filter(None, (stale_build(run) for run in dict.fromkeys(runs)))),
        notes=[*_notes(a, b, shared), *attenuations(paired.rows, calibrations)],
        captions=(a.caption, b.caption),
        lock=lock,
    )


def _spans(figures: Figures) -> dict[str, float | None]:
    """Check to how far two of its raw values can lie apart; None where only another package, or an import, knows."""
    found: dict[str, float | None] = {}
    for bounds in figures.suite.bound.values():
        for check in (one.check for one in bounds):
            reach = raw_range(check)
            span = None if reach is None else reach[1] - reach[0]
            known = found.get(check.id, span)
            found[check.id] = None if span is None or known is None else max(span, known)
    return found


def _notes(a: Figures, b: Figures, shared: list[str]) -> list[str]:
    """What a reader must know of the two runs before any figure."""
    first, second = a.views[0].run, b.views[0].run
    frames = {one.views[0].run.id: one.outcomes[one.outcomes["case_id"].isin(shared)] for one in (a, b)}
    notes = [repeated_answers(run, frame) for run, frame in frames.items()]
    notes.append("A and B are the same run" if first == second else copied_answers(*frames.values()))
    notes.append(unequal_words((*a.parts, *b.parts)) if first != second else "")
    if any(not verdict.decides for figures in (a, b) for verdict in figures.views[0].verdicts):
        notes.append("some verdicts were recorded elsewhere, under criteria that nobody can compare here")
    left = {view.run.id: view.judges(shared)[1] for view in (a.views[0], b.views[0]) if view.without_judges}
    notes += [
        f"run {run} was made without its model judges: {', '.join(names)}" for run, names in left.items() if names
    ]
    return [note for note in notes if note]
