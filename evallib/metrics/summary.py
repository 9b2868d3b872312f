"""All figures of one or several runs of one suite under one view."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict

from evallib.caption import Origin, caption
from evallib.metrics.cases import usual_ks, wavering
from evallib.metrics.checks import CheckSummary, by_check
from evallib.metrics.planned import Planned, plan
from evallib.metrics.repeats import Repeats, are_copies, repeats, repeats_sentence
from evallib.metrics.slices import Slice, by_split, by_tag
from evallib.records import ERROR_STATUSES
from evallib.statistics.bootstrap import RESAMPLES, case_bootstrap
from evallib.statistics.estimators import (
    Counts,
    Estimate,
    Interval,
    case_values,
    over_cases,
    pass_at_k,
    pass_hat_k,
    wilson_interval,
)
from evallib.statistics.spread import pooled_interval, rerun_interval, rerun_se

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Bootstrapped", "Rerun", "Summary", "WithoutErrors", "summarise"]

_NEW_CASES = "other cases like these: 95 %, Wilson on effective cases"
_RERUN = "these very cases, asked again without end: 95 %, from how the samples of one case differ"
_BOOTSTRAP = "other cases like these: 95 %, percentiles of cases drawn again"
_ESTIMATORS = {"pass_at": pass_at_k, "pass_hat": pass_hat_k}
Ends = list[float] | None


class WithoutErrors(TypedDict):
    """The same figures with errors left out, on their own counts."""

    pass_rate: float | None
    pass_rate_interval: Ends
    pass_rate_micro: float | None
    cases: int
    samples: int
    pass_at: dict[str, float | None]
    pass_at_interval: dict[str, Ends]
    pass_hat: dict[str, float | None]
    pass_hat_interval: dict[str, Ends]
    eligible_cases: dict[str, int]


class Rerun(TypedDict):
    """How far the pass rate of these very cases would move if they were asked again: another question, less wide."""

    interval_of: str
    pass_rate_interval: Ends
    pass_rate_se: float | None
    why_none: str | None


class Bootstrapped(TypedDict):
    """Intervals over other cases by the case bootstrap; none where it has no width."""

    interval_of: str
    seed: int
    resamples: int
    pass_rate_interval: Ends
    pass_rate_se: float | None
    pass_at_interval: dict[str, Ends]
    pass_hat_interval: dict[str, Ends]
    score_mean_interval: Ends


class Summary(TypedDict):
    """What `evallib metrics --json` prints."""

    runs: list[str]
    view: str
    post_hoc: bool
    label: str | None
    caption: str
    origin: dict[str, Any] | None
    cases: int
    samples_per_case: list[int]
    planned: int
    scored: int
    errors: int
    errors_by: dict[str, int]
    pass_rate: float
    pass_rate_interval: Ends
    interval_of: str
    """What every interval here is about that does not say otherwise."""
    rerun: Rerun
    pass_rate_micro: float
    pass_rate_micro_interval: Ends
    without_errors: WithoutErrors
    bounds: list[float]
    depends_on_errors: bool
    pass_at: dict[str, float | None]
    pass_at_interval: dict[str, Ends]
    pass_at_bounds: dict[str, list[float] | None]
    pass_hat: dict[str, float | None]
    pass_hat_interval: dict[str, Ends]
    pass_hat_bounds: dict[str, list[float] | None]
    eligible_cases: dict[str, int]
    score_mean: float | None
    score_mean_interval: Ends
    score_cases: int
    score_left_out: int
    flaky: int
    flaky_cases: list[str]
    repeats: Repeats | None
    by_split: dict[str, Slice]
    by_tag: dict[str, Slice]
    by_check: dict[str, CheckSummary]
    bootstrap: NotRequired[Bootstrapped]


def summarise(
    outcomes: pd.DataFrame,
    verdicts: pd.DataFrame,
    ks: Sequence[int] = (),
    *,
    origin: Origin | None = None,
    bootstrap: int | None = None,
) -> Summary:
    """All figures of one or several runs of one suite under one view.

    `outcomes` has one row per planned sample. `ks` defaults to every k up to ten, then doubling, up to the samples that
    every case has. Verdicts of other samples are left out. `origin` is what the caption says of where they come from,
    `bootstrap` is a seed: with one, the case bootstrap's intervals stand beside the others. The columns `tags`,
    `trajectory` and `draw` of `outcomes` may be absent.
    """
    planned = plan(outcomes)
    ks = tuple(ks) or usual_ks(int(planned.samples.min()))
    repeated = repeats(planned)
    summary = _all_figures(planned, verdicts, ks, repeated)
    summary["origin"] = origin.as_dict() if origin else None
    if bootstrap is not None:
        summary["bootstrap"] = _bootstrapped(planned, ks, bootstrap)
    summary["caption"] = caption(summary, origin, repeats_sentence(repeated))
    return summary


def _all_figures(planned: Planned, verdicts: pd.DataFrame, ks: Sequence[int], repeated: Repeats | None) -> Summary:
    copies = are_copies(repeated)
    counts, score = planned.counts, _score(planned, copies=copies)
    rate, most = (over_cases(each, 1, pass_at_k, copies=copies) for each in (counts, planned.counts_at_best))
    bounds = [float(one.value or 0) for one in (rate, most)]
    figures, best = _figures(counts, ks, copies=copies), _figures(planned.counts_at_best, ks, copies=copies)
    flaky = [name for name, wavers in zip(planned.cases, wavering(planned).tolist(), strict=True) if wavers]
    micro = pooled_interval(counts, copies=copies)
    return Summary(
        runs=sorted(planned.frame["run_id"].unique()),
        view=planned.view,
        post_hoc=planned.post_hoc,
        label=planned.label or None,
        caption="",
        origin=None,
        cases=len(planned.cases),
        samples_per_case=[int(planned.samples.min()), int(planned.samples.max())],
        planned=len(planned.frame),
        scored=int(planned.scored.sum()),
        errors=len(planned.frame) - int(planned.scored.sum()),
        errors_by=_errors_by(planned),
        pass_rate=bounds[0],
        pass_rate_interval=_ends(rate.interval),
        interval_of=_NEW_CASES,
        rerun=_rerun(planned, copies=copies),
        pass_rate_micro=int(planned.passes.sum()) / len(planned.frame),
        pass_rate_micro_interval=_ends(micro),
        without_errors=_without_errors(planned, ks, copies=copies),
        bounds=bounds,
        depends_on_errors=_depends_on_errors(bounds, rate.interval),
        pass_at=figures.pass_at,
        pass_at_interval=figures.pass_at_interval,
        pass_at_bounds=_bounds(figures.pass_at, best.pass_at),
        pass_hat=figures.pass_hat,
        pass_hat_interval=figures.pass_hat_interval,
        pass_hat_bounds=_bounds(figures.pass_hat, best.pass_hat),
        eligible_cases=figures.eligible_cases,
        score_mean=score.value,
        score_mean_interval=_ends(score.interval),
        score_cases=score.eligible,
        score_left_out=int(planned.frame["score"].isna().sum()),
        flaky=len(flaky),
        flaky_cases=flaky,
        repeats=repeated,
        by_split=by_split(planned, copies=copies),
        by_tag=by_tag(planned, copies=copies),
        by_check=by_check(planned, verdicts, copies=copies),
    )


class _Figures(NamedTuple):
    pass_at: dict[str, float | None]
    pass_at_interval: dict[str, Ends]
    pass_hat: dict[str, float | None]
    pass_hat_interval: dict[str, Ends]
    eligible_cases: dict[str, int]


def _figures(counts: Counter[Counts], ks: Sequence[int], *, copies: bool) -> _Figures:
    at, hat = (
        {str(k): over_cases(counts, k, estimator, copies=copies) for k in ks} for estimator in _ESTIMATORS.values()
    )
    return _Figures(
        {k: one.value for k, one in at.items()},
        {k: _ends(one.interval) for k, one in at.items()},
        {k: one.value for k, one in hat.items()},
        {k: _ends(one.interval) for k, one in hat.items()},
        {k: one.eligible for k, one in at.items()},
    )


def _without_errors(planned: Planned, ks: Sequence[int], *, copies: bool) -> WithoutErrors:
    counts = planned.counts_without_errors
    rate, figures = over_cases(counts, 1, pass_at_k, copies=copies), _figures(counts, ks, copies=copies)
    samples = int(planned.scored.sum())
    return WithoutErrors(
        pass_rate=rate.value,
        pass_rate_interval=_ends(rate.interval),
        pass_rate_micro=int(planned.passes.sum()) / samples if samples else None,
        cases=counts.total(),
        samples=samples,
        pass_at=figures.pass_at,
        pass_at_interval=figures.pass_at_interval,
        pass_hat=figures.pass_hat,
        pass_hat_interval=figures.pass_hat_interval,
        eligible_cases=figures.eligible_cases,
    )


def _rerun(planned: Planned, *, copies: bool) -> Rerun:
    """The interval of a re-run, or why there is none: copies of one sample do not say how a case varies."""
    counts = planned.counts
    why = None
    if copies:
        why = "the samples of a case are copies of one another"
    elif not planned.scored.any():
        why = "no sample was scored"
    elif len(planned.cases) < 2:
        why = "one case has no interval"
    elif min(one.n for one in counts) < 2:
        why = "a case with one sample does not say how it varies"
    interval, se = (None, None) if why else (rerun_interval(counts), rerun_se(counts))
    return Rerun(interval_of=_RERUN, pass_rate_interval=_ends(interval), pass_rate_se=se, why_none=why)


def _bootstrapped(planned: Planned, ks: Sequence[int], seed: int) -> Bootstrapped:
    rate = case_bootstrap(case_values(planned.counts, 1, pass_at_k), seed=seed)
    at, hat = (
        {str(k): _ends(case_bootstrap(case_values(planned.counts, k, one), seed=seed).interval) for k in ks}
        for one in _ESTIMATORS.values()
    )
    return Bootstrapped(
        interval_of=_BOOTSTRAP,
        seed=seed,
        resamples=RESAMPLES,
        pass_rate_interval=_ends(rate.interval),
        pass_rate_se=rate.se,
        pass_at_interval=at,
        pass_hat_interval=hat,
        score_mean_interval=_ends(case_bootstrap(_scores(planned), seed=seed).interval),
    )


def _bounds(worst: dict[str, float | None], best: dict[str, float | None]) -> dict[str, list[float] | None]:
    """Each figure with all errors failed and with all passed."""
    pairs = {k: (low, best[k]) for k, low in worst.items()}
    return {k: None if low is None or high is None else [low, high] for k, (low, high) in pairs.items()}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _ends(interval: Interval | None) -> Ends:
    return list(interval) if interval else None


def _scores(planned: Planned) -> list[float]:
    return [score for score in planned.scores.tolist() if not math.isnan(score)]


def _score(planned: Planned, *, copies: bool) -> Estimate:
    means = _scores(planned)
    draws = len(means) if copies else int(planned.frame["score"].notna().sum())
    return Estimate(_mean(means) if means else None, wilson_interval(means, draws), len(means))


def _errors_by(planned: Planned) -> dict[str, int]:
    """Errors by kind: the sample's own status, `not_scored` for a verdict not had, `infra` for a reading."""
    wrong = planned.frame[~planned.frame["scored"]]
    kinds = Counter(
        str(sample) if sample in {*ERROR_STATUSES, "missing"} else "infra" if status == "error" else "not_scored"
        for sample, status in zip(wrong["sample_status"], wrong["status"], strict=True)
    )
    return dict(sorted(kinds.items()))


def _depends_on_errors(bounds: list[float], interval: Interval | None) -> bool:
    """Whether the errors could move the rate by more than half its interval; without an interval, at all."""
    half = (interval.hi - interval.lo) / 2 if interval else 0.0
    return bounds[1] - bounds[0] > half
