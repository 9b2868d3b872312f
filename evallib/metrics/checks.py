"""The figures of each check over all its verdicts, and of each check in each case."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypedDict

from evallib.metrics.planned import Numbers, Planned, counts_of, means_by, plan, verdicts_of
from evallib.records import judged_by
from evallib.statistics.estimators import over_cases, pass_at_k, wilson_interval

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CheckSummary", "by_check", "per_case_check"]

_STATUSES = ("scored", "not_scored", "not_applicable")


class CheckSummary(TypedDict):
    """One check over all its verdicts; means are over per-case means of scored verdicts."""

    mean_raw: float | None
    mean_value: float | None
    mean_value_interval: list[float] | None
    """Over other cases like these, Wilson on effective cases, like that of the pass rate."""
    pass_rate: float | None
    pass_rate_interval: list[float] | None
    cases: int
    n: int
    passed: int
    failed: int
    not_scored: int
    not_applicable: int
    stochastic: bool
    judge: list[str]
    calibration: str | None


def by_check(planned: Planned, verdicts: pd.DataFrame, *, copies: bool) -> dict[str, CheckSummary]:
    """The figures of every check there is; verdicts of other samples are left out.

    With `copies` the samples of a case repeat one another, and it is worth one draw.
    """
    counted = _counted(planned, verdicts)
    judges = _judges(verdicts)
    return {
        name: _summary(counted.of(place), judges.get(name, ()), copies=copies)
        for place, name in enumerate(counted.checks)
    }


def per_case_check(outcomes: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row per case and check: mean value and raw mean of the scored verdicts, and how many could not be had."""
    import pandas as pd

    planned = plan(outcomes)
    counted = _counted(planned, verdicts)
    found = pd.DataFrame(
        {
            **planned.named,
            "case_id": [planned.cases[case] for case in counted.case.tolist()],
            "check_id": [counted.checks[check] for check in counted.check.tolist()],
            "mean_value": counted.value, "mean_raw": counted.raw, "n": counted.n, "not_scored": counted.not_scored,
        }
    )  # fmt: skip
    asked = verdicts[["case_id", "check_id"]].drop_duplicates()  # the order of the verdicts, as the suite has it
    return asked.merge(found, on=["case_id", "check_id"])[found.columns.tolist()]


@dataclass(frozen=True)
class _Counted:
    """Verdicts counted by pairs of check and case, which stand in order of check, then case."""

    checks: list[str]
    check: Numbers
    case: Numbers
    n: Numbers
    scored: Numbers
    passed: Numbers
    failed: Numbers
    not_scored: Numbers
    not_applicable: Numbers
    stochastic: Numbers
    value: Numbers
    """Mean of the scored verdicts; nan where there is none."""
    raw: Numbers

    def of(self, place: int) -> _Counted:
        """The pairs of one check."""
        import numpy as np

        start, end = np.searchsorted(self.check, [place, place + 1])
        names = [one.name for one in fields(self) if one.name != "checks"]
        return replace(self, **{name: getattr(self, name)[start:end] for name in names})


def _counted(planned: Planned, verdicts: pd.DataFrame) -> _Counted:
    import numpy as np

    asked = verdicts_of(verdicts, planned)
    cases, place = len(planned.cases), asked.check * len(planned.cases) + asked.case
    first = np.flatnonzero(np.diff(place, prepend=-1))  # they come in this order
    group = np.repeat(np.arange(len(first)), np.diff(first, append=len(place)))
    column = {name: verdicts[name].iloc[asked.rows] for name in ("status", "passed", "stochastic", "value", "raw")}
    scored, *unscored = ((column["status"] == name).to_numpy(dtype=bool) for name in _STATUSES)
    said = column["passed"].astype("boolean")
    passed, failed = (scored & (said == word).fillna(value=False).to_numpy(dtype=bool) for word in (True, False))
    flags = (scored, passed, failed, *unscored, column["stochastic"].to_numpy(dtype=bool))
    counted = [np.bincount(group[flag], minlength=len(first)) for flag in flags]
    value, raw = (
        np.where(scored, column[name].astype("float64").to_numpy(dtype=float, na_value=math.nan), math.nan)
        for name in ("value", "raw")
    )
    means = [means_by(group, each, len(first)) for each in (value, raw)]
    n = np.bincount(group, minlength=len(first))
    return _Counted(asked.checks, place[first] // cases, place[first] % cases, n, *counted, *means)


def _summary(counted: _Counted, judges: tuple[str, ...], *, copies: bool) -> CheckSummary:
    values, stochastic = _known(counted.value), bool(counted.stochastic.sum())
    rate = over_cases(counts_of(counted.passed + counted.failed, counted.passed), 1, pass_at_k, copies=copies)
    models, calibration = judged_by(judges)
    inside = all(0 <= value <= 1 for value in values)
    interval = wilson_interval(values, len(values) if copies else int(counted.scored.sum())) if inside else None
    return CheckSummary(
        mean_raw=_mean(_known(counted.raw)),
        mean_value=_mean(values),
        mean_value_interval=list(interval) if interval else None,
        pass_rate=rate.value,
        pass_rate_interval=list(rate.interval) if rate.interval else None,
        cases=int((counted.scored > 0).sum()),
        n=int(counted.n.sum()),
        passed=int(counted.passed.sum()),
        failed=int(counted.failed.sum()),
        not_scored=int(counted.not_scored.sum()),
        not_applicable=int(counted.not_applicable.sum()),
        stochastic=stochastic,
        judge=models,
        calibration=calibration if stochastic else None,
    )


def _judges(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """What each check's verdicts say of who judged."""
    if "judge" not in frame.columns:
        return {}
    said = frame.loc[frame["judge"].notna() & (frame["judge"] != ""), ["check_id", "judge"]].drop_duplicates()
    return {str(name): tuple(map(str, group)) for name, group in said.groupby("check_id")["judge"]}


def _known(values: Numbers) -> list[float]:
    return [value for value in values.tolist() if not math.isnan(value)]


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
