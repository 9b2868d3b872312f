"""Pass rate, pass@k and pass^k with intervals over cases: frame in, frame out.

The unit is the case: every headline figure is a mean over cases of a per-case value, and samples are nested in
cases. Errors are no third kind of fail: the headline counts them as fails over the planned samples, and the same
figures without them, their count and the bounds stand beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from evallib.caption import Origin, caption
from evallib.errors import InputError
from evallib.records import ERROR_STATUSES, POST_HOC_LABEL, STRICT, judged_by
from evallib.statistics.estimators import Counts, Estimate, Interval, over_cases, pass_at_k, pass_hat_k, wilson_interval

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CheckSummary",
    "Summary",
    "WithoutErrors",
    "curves",
    "ks_up_to",
    "over_cases",
    "pass_at_k",
    "pass_hat_k",
    "passes_histogram",
    "per_case",
    "per_case_check",
    "summarise",
    "usual_ks",
    "wilson_interval",
]

_KEY = ["run_id", "case_id", "sample"]
_OUTCOME_COLUMNS = (*_KEY, "split", "required", "sample_status", "status", "passed", "score", "view", "post_hoc")
_VERDICT_COLUMNS = (*_KEY, "check_id", "status", "value", "raw", "passed", "stochastic")


class WithoutErrors(TypedDict):
    """The same figures with errors left out, on their own counts."""

    pass_rate: float | None
    pass_rate_interval: list[float] | None
    cases: int
    samples: int
    pass_at: dict[str, float | None]
    pass_hat: dict[str, float | None]
    eligible_cases: dict[str, int]


class CheckSummary(TypedDict):
    """One check over all its verdicts; means are over per-case means of scored verdicts."""

    mean_raw: float | None
    mean_value: float | None
    cases: int
    n: int
    passed: int
    failed: int
    not_scored: int
    not_applicable: int
    stochastic: bool
    judge: list[str]
    calibration: str | None


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
    pass_rate_interval: list[float] | None
    pass_rate_micro: float
    without_errors: WithoutErrors
    bounds: list[float]
    depends_on_errors: bool
    pass_at: dict[str, float | None]
    pass_at_interval: dict[str, list[float] | None]
    pass_hat: dict[str, float | None]
    pass_hat_interval: dict[str, list[float] | None]
    eligible_cases: dict[str, int]
    score_mean: float | None
    score_cases: int
    score_left_out: int
    by_check: dict[str, CheckSummary]


def usual_ks(outcomes: pd.DataFrame) -> tuple[int, ...]:
    """Every k up to ten, then doubling, up to the samples that every case has."""
    return ks_up_to(int(outcomes.groupby("case_id").size().min()) if len(outcomes) else 0)


def ks_up_to(least: int) -> tuple[int, ...]:
    """Every k up to ten, then doubling, up to `least`."""
    ks = [*range(1, min(least, 10) + 1)]
    while ks and ks[-1] * 2 < least:
        ks.append(ks[-1] * 2)
    return tuple(sorted({*ks, least})) if least else ()


def summarise(
    outcomes: pd.DataFrame,
    verdicts: pd.DataFrame,
    ks: Sequence[int] = (),
    *,
    origin: Origin | None = None,
) -> Summary:
    """All figures of one or several runs of one suite under one view.

    `outcomes` has one row per planned sample. `ks` defaults to `usual_ks`. Verdicts of other samples are left out.
    `origin` is what the caption says of where they come from.
    """
    planned = _planned(outcomes)
    ks = tuple(ks) or usual_ks(planned)
    counts = _counts(planned)
    rate, figures = over_cases(counts, 1, pass_at_k), _figures(counts, ks)
    bounds = [_mean([c / n for n, c in counts]), _mean(_case_shares(planned["success"] | ~planned["scored"], planned))]
    score = _score(planned)
    summary = Summary(
        runs=sorted(planned["run_id"].unique()),
        view=str(planned["view"].iloc[0]),
        post_hoc=_post_hoc(planned),
        label=_label(planned) or None,
        caption="",
        origin=origin.as_dict() if origin else None,
        cases=len(counts),
        samples_per_case=[min(n for n, _ in counts), max(n for n, _ in counts)],
        planned=len(planned),
        scored=int(planned["scored"].sum()),
        errors=int((~planned["scored"]).sum()),
        errors_by=_errors_by(planned),
        pass_rate=bounds[0],
        pass_rate_interval=_ends(rate.interval),
        pass_rate_micro=int(planned["success"].sum()) / len(planned),
        without_errors=_without_errors(planned, ks),
        bounds=bounds,
        depends_on_errors=_depends_on_errors(bounds, rate.interval),
        pass_at=figures.pass_at,
        pass_at_interval=figures.pass_at_interval,
        pass_hat=figures.pass_hat,
        pass_hat_interval=figures.pass_hat_interval,
        eligible_cases=figures.eligible_cases,
        score_mean=score.value,
        score_cases=score.eligible,
        score_left_out=int(planned["score"].isna().sum()),
        by_check=_by_check(_of_samples(verdicts, planned)),
    )
    summary["caption"] = caption(summary, origin)
    return summary


def per_case(outcomes: pd.DataFrame) -> pd.DataFrame:
    """One row per case: samples, passes, errors, pass rate, pass@n, pass^n, mean and least score."""
    import pandas as pd

    planned = _planned(outcomes)
    rows = []
    for case_id, group in planned.groupby("case_id", sort=True):
        n, c = len(group), int(group["success"].sum())
        scores = [float(s) for s in group["score"].dropna()]
        rows.append(
            {
                "view": group["view"].iloc[0], "post_hoc": _post_hoc(planned), "label": _label(planned),
                "case_id": case_id,
                "split": group["split"].iloc[0], "required": bool(group["required"].any()),
                "n": n, "passes": c, "errors": int((~group["scored"]).sum()), "pass_rate": c / n,
                "pass_at_n": pass_at_k(n, c, n), "pass_hat_n": pass_hat_k(n, c, n),
                "score_mean": _mean(scores) if scores else None, "score_min": min(scores, default=None),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def curves(outcomes: pd.DataFrame, ks: Sequence[int] = ()) -> pd.DataFrame:
    """pass@k and pass^k over k with interval and eligible cases: one row per k and metric, for one view."""
    import pandas as pd

    planned = _planned(outcomes)
    counts = _counts(planned)
    rows = []
    for k in tuple(ks) or usual_ks(planned):
        for metric, estimator in (("pass@k", pass_at_k), ("pass^k", pass_hat_k)):
            value, interval, eligible = over_cases(counts, k, estimator)
            lo, hi = interval or (None, None)
            rows.append(
                {
                    "view": planned["view"].iloc[0], "post_hoc": _post_hoc(planned), "label": _label(planned),
                    "k": k, "metric": metric,
                    "value": value, "lo": lo, "hi": hi, "eligible": eligible, "cases": len(counts),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def passes_histogram(outcomes: pd.DataFrame) -> pd.DataFrame:
    """How many cases have 0, 1, ... n passes: what lies behind both curves. One row per (n, passes)."""
    import pandas as pd

    planned = _planned(outcomes)
    counts = _counts(planned)
    said = {"view": planned["view"].iloc[0], "post_hoc": _post_hoc(planned), "label": _label(planned)}
    rows = [
        {**said, "n": n, "passes": c, "cases": counts.count(Counts(n, c))}
        for n in sorted({one.n for one in counts})
        for c in range(n + 1)
    ]
    return pd.DataFrame(rows)


def per_case_check(outcomes: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row per case and check: mean value and raw mean of the scored verdicts, and how many could not be had."""
    import pandas as pd

    planned = _planned(outcomes)
    said = {"view": planned["view"].iloc[0], "post_hoc": _post_hoc(planned), "label": _label(planned)}
    rows = []
    for (case_id, check_id), group in _of_samples(verdicts, planned).groupby(["case_id", "check_id"], sort=False):
        scored = group[group["status"] == "scored"]
        rows.append(
            {
                **said, "case_id": case_id, "check_id": check_id,
                "mean_value": _mean_of_cases(scored, "value"), "mean_raw": _mean_of_cases(scored, "raw"),
                "n": len(group), "not_scored": int((group["status"] == "not_scored").sum()),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _planned(outcomes: pd.DataFrame) -> pd.DataFrame:
    """A checked copy with `scored` and `success` as plain booleans."""
    _need_columns(outcomes, _OUTCOME_COLUMNS, "outcomes")
    if outcomes.empty:
        raise InputError("there is no planned sample to summarise; name a run with at least one case and sample")
    views = sorted(outcomes["view"].unique())
    if len(views) > 1:
        raise InputError(f"views {', '.join(map(repr, views))} stand in one frame; views are never mixed, take one")
    _refuse_twice(outcomes, _KEY)
    planned = outcomes.sort_values(_KEY, kind="stable").reset_index(drop=True)
    planned["scored"] = (planned["status"] == "scored") & (planned["sample_status"] != "missing")
    passed = planned["passed"].astype("boolean")
    _refuse_first(planned[planned["scored"] & passed.isna()], "is scored but neither passed nor failed")
    planned["success"] = planned["scored"].astype(bool) & passed.fillna(value=False).astype(bool)
    planned["score"] = planned["score"].astype("float64").where(planned["scored"])
    _refuse_first(planned[(planned["score"] < 0) | (planned["score"] > 1)], "has a score outside 0 to 1")
    return planned


def _of_samples(verdicts: pd.DataFrame, planned: pd.DataFrame) -> pd.DataFrame:
    _need_columns(verdicts, _VERDICT_COLUMNS, "verdicts")
    _refuse_twice(verdicts, [*_KEY, "check_id"])
    return verdicts.merge(planned[_KEY], on=_KEY)


def _need_columns(frame: pd.DataFrame, columns: Sequence[str], name: str) -> None:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InputError(f"frame {name!r} lacks the column {missing[0]!r}; it needs {', '.join(columns)}")


def _refuse_twice(frame: pd.DataFrame, key: list[str]) -> None:
    twice = frame[frame.duplicated(key)]
    if len(twice):
        found = ", ".join(f"{name} {twice[name].tolist()[0]!r}" for name in key)
        raise InputError(f"{found} stands twice; each must stand once, or passes would be counted double")


def _refuse_first(wrong: pd.DataFrame, what: str) -> None:
    if len(wrong):
        run, case, sample = (wrong[name].tolist()[0] for name in _KEY)
        raise InputError(f"run {run!r}, case {case!r}, sample {sample} {what}; score it again or correct its record")


def _post_hoc(planned: pd.DataFrame) -> bool:
    return bool(planned["post_hoc"].astype("boolean").fillna(value=False).any()) or planned["view"].iloc[0] != STRICT


def _label(planned: pd.DataFrame) -> str:
    """The words every figure of the view carries, as the frame has them; empty for strict."""
    if not _post_hoc(planned):
        return ""
    said = planned["label"].iloc[0] if "label" in planned.columns else ""
    return str(said) or POST_HOC_LABEL


def _counts(planned: pd.DataFrame) -> list[Counts]:
    grouped = planned.groupby("case_id", sort=True)["success"]
    return [Counts(int(n), int(c)) for n, c in zip(grouped.size(), grouped.sum(), strict=True)]


class _Figures(NamedTuple):
    pass_at: dict[str, float | None]
    pass_at_interval: dict[str, list[float] | None]
    pass_hat: dict[str, float | None]
    pass_hat_interval: dict[str, list[float] | None]
    eligible_cases: dict[str, int]


def _figures(counts: list[Counts], ks: Sequence[int]) -> _Figures:
    at = {str(k): over_cases(counts, k, pass_at_k) for k in ks}
    hat = {str(k): over_cases(counts, k, pass_hat_k) for k in ks}
    return _Figures(
        {k: one.value for k, one in at.items()},
        {k: _ends(one.interval) for k, one in at.items()},
        {k: one.value for k, one in hat.items()},
        {k: _ends(one.interval) for k, one in hat.items()},
        {k: one.eligible for k, one in at.items()},
    )


def _without_errors(planned: pd.DataFrame, ks: Sequence[int]) -> WithoutErrors:
    scored = planned[planned["scored"]]
    counts = _counts(scored)
    rate, figures = over_cases(counts, 1, pass_at_k), _figures(counts, ks)
    return WithoutErrors(
        pass_rate=rate.value,
        pass_rate_interval=_ends(rate.interval),
        cases=len(counts),
        samples=len(scored),
        pass_at=figures.pass_at,
        pass_hat=figures.pass_hat,
        eligible_cases=figures.eligible_cases,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _ends(interval: Interval | None) -> list[float] | None:
    return list(interval) if interval else None


def _case_shares(flags: pd.Series[bool], planned: pd.DataFrame) -> list[float]:
    grouped = flags.groupby(planned["case_id"], sort=True)
    return [int(c) / int(n) for n, c in zip(grouped.size(), grouped.sum(), strict=True)]


def _score(planned: pd.DataFrame) -> Estimate:
    means = [_mean(list(group)) for _, group in planned["score"].dropna().groupby(planned["case_id"])]
    return Estimate(_mean(means) if means else None, None, len(means))


def _errors_by(planned: pd.DataFrame) -> dict[str, int]:
    """Errors by kind: the sample's own status, `not_scored` for a verdict not had, `infra` for a reading."""
    wrong = planned[~planned["scored"]]
    kinds = [
        str(sample) if sample in {*ERROR_STATUSES, "missing"} else "infra" if status == "error" else "not_scored"
        for sample, status in zip(wrong["sample_status"], wrong["status"], strict=True)
    ]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def _depends_on_errors(bounds: list[float], interval: Interval | None) -> bool:
    """Whether the errors could move the rate by more than half its interval; without an interval, at all."""
    half = (interval.hi - interval.lo) / 2 if interval else 0.0
    return bounds[1] - bounds[0] > half


def _by_check(verdicts: pd.DataFrame) -> dict[str, CheckSummary]:
    return {str(name): _check_summary(group) for name, group in verdicts.groupby("check_id", sort=True)}


def _check_summary(group: pd.DataFrame) -> CheckSummary:
    scored = group[group["status"] == "scored"]
    passed = scored["passed"].astype("boolean")
    stochastic = bool(group["stochastic"].astype(bool).any())
    models, calibration = judged_by(map(str, group["judge"].dropna() if "judge" in group.columns else ()))
    return CheckSummary(
        mean_raw=_mean_of_cases(scored, "raw"),
        mean_value=_mean_of_cases(scored, "value"),
        cases=int(scored["case_id"].nunique()),
        n=len(group),
        passed=int(passed.fillna(value=False).sum()),
        failed=int((~passed.fillna(value=True)).sum()),
        not_scored=int((group["status"] == "not_scored").sum()),
        not_applicable=int((group["status"] == "not_applicable").sum()),
        stochastic=stochastic,
        judge=models,
        calibration=calibration if stochastic else None,
    )


def _mean_of_cases(scored: pd.DataFrame, column: str) -> float | None:
    known = scored[column].astype("float64").dropna()
    means = [_mean(list(group)) for _, group in known.groupby(scored["case_id"])]
    return _mean(means) if means else None
