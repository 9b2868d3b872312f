"""The paired figures of two runs: pass rate, mean score and every check, each over the cases that both have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from evallib.caption import judge_words
from evallib.records import judged_by
from evallib.statistics.paired import FLIPS, paired_difference, sign_flip

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LEVEL", "MEAN_SCORE", "PASS_RATE", "Row", "paired_rows", "passes_of", "without_errors"]

PASS_RATE, MEAN_SCORE = "pass rate", "mean score"
SEED = 0
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Row:
    """One figure in A and in B over the cases that have it in both; means are over per-case means."""

    row: str
    kind: str
    """`pass_rate`, `score` or `check`."""
    a: float | None
    b: float | None
    difference: float | None
    """B minus A."""
    se: float | None
    interval: tuple[float, float] | None
    """95 %, over cases, of this figure alone."""
    cases: int
    rose: tuple[str, ...]
    fell: tuple[str, ...]
    """Ids of the cases whose figure is higher, and lower, in B."""
    p: float | None = None
    test: str = ""
    p_corrected: float | None = None
    """By Holm, for all rows that count as a comparison."""
    detectable: float | None = None
    """The least difference that would have been found four times in five, at the level of so many comparisons."""
    why_none: str = ""
    """Why nothing is `detectable`."""
    same_as: str = ""
    """The row before it whose differences are these, case by case."""
    cases_to_settle: int | None = None
    repeats_to_settle: int | None = None
    """Samples per case and run; None where those are not what is lacking, or where single samples cannot tell."""
    only_cases: bool = False
    """Whether no number of samples of these cases would do."""
    judge: str = ""
    """Who answered, and the calibration or `uncalibrated`; empty for rules."""
    calibration: str = ""
    """Its id; of several judges all, with commas."""
    says: str = ""
    """What the figures license, in one sentence."""
    span: float | None = 1.0
    """How far two values can lie apart; None where that is not known."""
    within: tuple[float, float] | None = None
    """What one sample of a case moves in A and in B, as variance; None from single samples."""
    repeats: tuple[float, float] = (1.0, 1.0)
    variance: float = 0.0
    moves: tuple[tuple[str, float], ...] = ()
    """Each case with its difference."""

    @property
    def word(self) -> str:
        """What the test says of the difference, in a word or two."""
        if self.difference is None:
            return "nothing to compare"
        if self.p is None:
            return "one case, no test"
        if not self.moved:
            return "no case differs"
        return ("higher" if self.difference > 0 else "lower") if self.shown else "not shown"

    @property
    def moved(self) -> bool:
        """Whether any case differs."""
        return bool(self.rose or self.fell)

    @property
    def counts(self) -> bool:
        """Whether it is a comparison of its own: some case differs, and not just as in another row."""
        return self.p is not None and self.moved and not self.same_as

    @property
    def shown(self) -> bool:
        """Whether a difference is shown: p, corrected for every comparison, below 0.05."""
        return self.p_corrected is not None and self.p_corrected < LEVEL

    @property
    def at_odds(self) -> bool:
        """Whether the interval, which is of this row alone and no test, seems to say otherwise than `shown`."""
        return (
            self.p is not None
            and self.interval is not None
            and (self.interval[0] <= 0 <= self.interval[1]) is self.shown
        )

    def as_json(self) -> dict[str, Any]:
        """The row as `evallib compare --json` prints it."""
        names = ("row", "kind", "a", "b", "difference", "se", "cases", "p", "test", "p_corrected", "detectable", "span")
        return {
            **{name: getattr(self, name) for name in names},
            "interval": None if self.interval is None else list(self.interval),
            "detectable_why_none": self.why_none or None,
            "counted": self.counts,
            "same_as": self.same_as or None,
            "shown": self.shown,
            "verdict": self.word,
            "cases_to_settle": self.cases_to_settle,
            "repeats_to_settle": self.repeats_to_settle,
            "only_cases": self.only_cases,
            "rose": list(self.rose),
            "fell": list(self.fell),
            "judge": self.judge or None,
            "says": self.says,
        }


class _Figure(NamedTuple):
    """One figure as both runs have it: a row per sample with `case_id` and `of`."""

    row: str
    kind: str
    values: tuple[pd.DataFrame, pd.DataFrame]
    span: float | None
    judge: str = ""
    calibration: str = ""


def passes_of(outcomes: pd.DataFrame) -> pd.DataFrame:
    """One row per planned sample: `scored`, and `passed`, where an error is a fail."""
    scored = (outcomes["status"] == "scored") & (outcomes["sample_status"] != "missing")
    passed = scored.astype(bool) & outcomes["passed"].astype("boolean").fillna(value=False).astype(bool)
    return outcomes.assign(scored=scored.astype(bool), passed=passed)


def paired_rows(
    outcomes: tuple[pd.DataFrame, pd.DataFrame],
    verdicts: tuple[pd.DataFrame, pd.DataFrame],
    spans: Mapping[str, float | None],
) -> list[Row]:
    """The pass rate with errors as fails, the mean score, and each check in its own units.

    The frames hold the shared cases only. `spans` says how far two raw values of a check can lie apart, None where
    that is not known.
    """
    first, second = map(passes_of, outcomes)
    figures = [
        _Figure(PASS_RATE, "pass_rate", (_of(first, "passed"), _of(second, "passed")), 1.0),
        _Figure(MEAN_SCORE, "score", (_of(_with_score(first), "score"), _of(_with_score(second), "score")), 1.0),
    ]
    names = list(dict.fromkeys(name for one in verdicts for name in one["check_id"].unique()))
    a, b = map(_by_check, verdicts)
    nothing = outcomes[0].iloc[:0].assign(raw=None, value=None)
    for name in names:
        found = a.get(name, nothing), b.get(name, nothing)
        span = 1.0 if all((one["raw"] == one["value"]).all() for one in found) else spans.get(name)
        values = _of(found[0], "raw"), _of(found[1], "raw")
        figures.append(_Figure(name, "check", values, span, *_judges(name, verdicts)))
    return [_row(figure) for figure in figures]


def without_errors(outcomes: tuple[pd.DataFrame, pd.DataFrame]) -> Row:
    """The pass rate with errors left out, over the cases that still have a sample in both; not tested again."""
    first, second = (_of(one[one["scored"]], "passed") for one in map(passes_of, outcomes))
    row = _row(_Figure(PASS_RATE, "pass_rate", (first, second), 1.0))
    return replace(row, p=None, test="", why_none="it is not tested again")


def _of(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    return frame[["case_id"]].assign(of=frame[column].astype("float64"))


def _with_score(planned: pd.DataFrame) -> pd.DataFrame:
    return planned[planned["scored"] & planned["score"].notna()]


def _by_check(verdicts: pd.DataFrame) -> dict[str, pd.DataFrame]:
    scored = verdicts[(verdicts["status"] == "scored") & verdicts["raw"].notna()]
    return {str(name): group for name, group in scored.groupby("check_id", sort=False)}


def _judges(name: str, verdicts: tuple[pd.DataFrame, pd.DataFrame]) -> tuple[str, str]:
    import pandas as pd

    found = pd.concat([one[one["check_id"] == name] for one in verdicts])
    if not found["stochastic"].astype(bool).any():
        return "", ""
    models, calibration = judged_by(map(str, found["judge"].dropna() if "judge" in found else ()))
    return judge_words({"judge": models, "calibration": calibration}), calibration


def _row(figure: _Figure) -> Row:
    """The figures of one row, without what only all rows together can say."""
    a, b = (one.groupby("case_id", sort=True)["of"].agg(["mean", "var", "count"]) for one in figure.values)
    both = a.add_suffix("_a").join(b.add_suffix("_b"), how="inner")
    if both.empty:
        empty: tuple[str, ...] = ()
        return Row(figure.row, figure.kind, None, None, None, None, None, 0, empty, empty, judge=figure.judge)
    moved = both["mean_b"] - both["mean_a"]
    found = paired_difference(moved.tolist(), figure.span)
    rose, fell = moved > 1e-12, moved < -1e-12
    single = bool((both["count_a"].max() == 1) and (both["count_b"].max() == 1))
    repeated = bool((both["count_a"].min() > 1) and (both["count_b"].min() > 1))
    tested = sign_flip([0.0 if abs(d) <= 1e-12 else d for d in moved.tolist()], SEED) if found.cases > 1 else None
    return Row(
        figure.row, figure.kind, float(both["mean_a"].mean()), float(both["mean_b"].mean()), found.mean, found.se,
        found.interval, found.cases, tuple(map(str, both.index[rose])), tuple(map(str, both.index[fell])),
        p=None if tested is None else tested.p,
        test="" if tested is None else _test_name(moved, single=single, exact=tested.exact),
        judge=figure.judge,
        calibration=figure.calibration,
        span=figure.span,
        within=(float(both["var_a"].mean()), float(both["var_b"].mean())) if repeated else None,
        repeats=(float(1 / (1 / both["count_a"]).mean()), float(1 / (1 / both["count_b"]).mean())),
        variance=(found.se or 0.0) ** 2 * found.cases,
        moves=tuple((str(case), round(d, 12)) for case, d in moved.items()),
    )  # fmt: skip


def _test_name(moved: pd.Series[float], *, single: bool, exact: bool) -> str:
    """One sample per case that passes or fails makes the sign flip McNemar's exact test."""
    if single and set(moved.abs().round(12)) <= {0.0, 1.0}:
        return "exact McNemar"
    return "exact sign flip" if exact else f"sign flip, {FLIPS:,} draws of seed {SEED}"
