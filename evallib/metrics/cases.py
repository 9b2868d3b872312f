"""Frames behind the summary: the cases one by one, how many passed how often, and the curves over k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evallib.metrics.planned import Numbers, Planned, plan
from evallib.metrics.repeats import are_copies, repeats
from evallib.statistics.estimators import Counts, over_cases, pass_at_k, pass_hat_k

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["curves", "flaky_cases", "passes_histogram", "per_case", "usual_ks", "wavering"]


def usual_ks(least: int) -> tuple[int, ...]:
    """Every k up to ten, then doubling, and `least` itself."""
    ks = [*range(1, min(least, 10) + 1)]
    while ks and ks[-1] * 2 < least:
        ks.append(ks[-1] * 2)
    return tuple(sorted({*ks, least})) if least else ()


def per_case(outcomes: pd.DataFrame) -> pd.DataFrame:
    """One row per case: samples, passes, errors, pass rate, pass@n, pass^n, mean and least score, whether flaky."""
    import pandas as pd

    planned = plan(outcomes)
    n, c, errors = planned.samples, planned.passes, planned.samples - planned.scored
    by_case = planned.frame.groupby(planned.case)
    return pd.DataFrame(
        {
            **planned.named, "case_id": planned.cases,
            "split": planned.frame["split"].iloc[planned.first].tolist(),
            "required": by_case["required"].any().to_numpy(dtype=bool),
            "n": n, "passes": c, "errors": errors, "pass_rate": c / n,
            "pass_at_n": (c > 0).astype(float), "pass_hat_n": (c == n).astype(float),
            "score_mean": planned.scores, "score_min": by_case["score"].min().to_numpy(),
            "flaky": wavering(planned),
        }
    )  # fmt: skip


def flaky_cases(outcomes: pd.DataFrame) -> pd.DataFrame:
    """The rows of `per_case` that passed in some samples and failed in others, errors left out; the most even first."""
    cases = per_case(outcomes)
    flaky = cases[cases["flaky"]]
    even = (flaky["pass_rate"] - 0.5).abs()
    return flaky.loc[even.sort_values(kind="stable").index].reset_index(drop=True)


def wavering(planned: Planned) -> Numbers:
    """Which cases passed in some scored samples and failed in others: an error is no sign that a case is flaky."""
    return (planned.passes > 0) & (planned.passes < planned.scored)


def curves(outcomes: pd.DataFrame, ks: Sequence[int] = ()) -> pd.DataFrame:
    """pass@k and pass^k over k with interval and eligible cases: one row per k and metric, for one view."""
    import pandas as pd

    planned = plan(outcomes)
    copies = are_copies(repeats(planned))
    rows = []
    for k in tuple(ks) or usual_ks(int(planned.samples.min())):
        for metric, estimator in (("pass@k", pass_at_k), ("pass^k", pass_hat_k)):
            value, interval, eligible = over_cases(planned.counts, k, estimator, copies=copies)
            lo, hi = interval or (None, None)
            rows.append(
                {
                    **planned.named, "k": k, "metric": metric,
                    "value": value, "lo": lo, "hi": hi, "eligible": eligible, "cases": len(planned.cases),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def passes_histogram(outcomes: pd.DataFrame) -> pd.DataFrame:
    """How many cases have 0, 1, ... n passes: what lies behind both curves. One row per (n, passes)."""
    import pandas as pd

    planned = plan(outcomes)
    tally = planned.counts
    rows = [
        {**planned.named, "n": n, "passes": c, "cases": tally[Counts(n, c)]}
        for n in sorted({one.n for one in tally})
        for c in range(n + 1)
    ]
    return pd.DataFrame(rows)
