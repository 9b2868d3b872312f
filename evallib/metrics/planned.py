"""The planned samples of some runs, checked and counted by case: what every figure is made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from evallib.errors import InputError
from evallib.records import POST_HOC_LABEL, STRICT
from evallib.statistics.estimators import Counts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Asked", "Numbers", "Planned", "counts_of", "means_by", "plan", "verdicts_of"]

Numbers = Any
"""A numpy array: numpy is imported where it is used, and types the products of its arrays as Any."""

_KEY = ["run_id", "case_id", "sample"]
_OUTCOMES = (*_KEY, "split", "required", "sample_status", "status", "passed", "score", "view", "post_hoc")
_MORE = ("label", "tags", "trajectory", "draw")
"""Columns that may be absent."""
_VERDICTS = (*_KEY, "check_id", "status", "value", "raw", "passed", "stochastic")


@dataclass(frozen=True)
class Planned:
    """One row per planned sample, in order of run, case and sample; `case` says which of `cases` each belongs to."""

    frame: pd.DataFrame
    """The outcomes, with `scored` and `success` as plain booleans and `score` as floats."""
    cases: list[str]
    """Ids, sorted."""
    case: Numbers

    @property
    def view(self) -> str:
        """The one view of the frame."""
        return str(self.frame["view"].iloc[0])

    @cached_property
    def post_hoc(self) -> bool:
        """Whether its figures were chosen after reading; every view but strict is, whatever the column says."""
        return self.view != STRICT or bool(self.frame["post_hoc"].astype("boolean").fillna(value=False).any())

    @property
    def label(self) -> str:
        """The words every figure of the view carries, as the frame has them; empty for strict."""
        if not self.post_hoc:
            return ""
        said = self.frame["label"].iloc[0] if "label" in self.frame.columns else ""
        return str(said) or POST_HOC_LABEL

    @property
    def named(self) -> dict[str, Any]:
        """The columns that every frame of figures begins with."""
        return {"view": self.view, "post_hoc": self.post_hoc, "label": self.label}

    def flags(self, column: str) -> Numbers:
        """A column of booleans."""
        return self.frame[column].to_numpy(dtype=bool)

    def per_case(self, flags: Numbers) -> Numbers:
        """How many samples of each case have the flag."""
        import numpy as np

        return np.bincount(self.case[flags], minlength=len(self.cases))

    @cached_property
    def samples(self) -> Numbers:
        """Planned samples of each case."""
        import numpy as np

        return np.bincount(self.case, minlength=len(self.cases))

    @cached_property
    def passes(self) -> Numbers:
        """Passes of each case; errors are none."""
        return self.per_case(self.flags("success"))

    @cached_property
    def scored(self) -> Numbers:
        """Scored samples of each case."""
        return self.per_case(self.flags("scored"))

    @cached_property
    def counts(self) -> Counter[Counts]:
        """How many cases have which samples and passes, errors counted as fails."""
        return counts_of(self.samples, self.passes)

    @cached_property
    def counts_without_errors(self) -> Counter[Counts]:
        """The same of scored samples, of the cases that have one."""
        return counts_of(self.scored, self.passes)

    @cached_property
    def counts_at_best(self) -> Counter[Counts]:
        """The same with errors counted as passes."""
        return counts_of(self.samples, self.passes + self.samples - self.scored)

    @cached_property
    def first(self) -> Numbers:
        """The first row of each case."""
        import numpy as np

        return np.unique(self.case, return_index=True)[1]

    @cached_property
    def scores(self) -> Numbers:
        """The mean score of each case; nan where no sample has one."""
        return means_by(self.case, self.frame["score"].to_numpy(dtype=float), len(self.cases))


def counts_of(samples: Numbers, passes: Numbers) -> Counter[Counts]:
    """How many cases have which samples and passes; those without a sample are left out."""
    import numpy as np

    size = int(samples.max(initial=0)) + 1
    pairs, times = np.unique(samples[samples > 0] * size + passes[samples > 0], return_counts=True)
    return Counter(
        {Counts(*divmod(pair, size)): count for pair, count in zip(pairs.tolist(), times.tolist(), strict=True)}
    )


def plan(outcomes: pd.DataFrame) -> Planned:
    """The checked samples of `outcomes`, which stays as it was; InputError names the first row that cannot be."""
    import numpy as np
    import pandas as pd

    _need_columns(outcomes, _OUTCOMES, "outcomes")
    if outcomes.empty:
        raise InputError("there is no planned sample to summarise; name a run with at least one case and sample")
    views = sorted(outcomes["view"].unique())
    if len(views) > 1:
        raise InputError(f"views {', '.join(map(repr, views))} stand in one frame; views are never mixed, take one")
    run, case = (pd.factorize(outcomes[name], sort=True) for name in _KEY[:2])
    sample = outcomes["sample"].to_numpy(dtype="int64")
    key = (run[0] * len(case[1]) + case[0]) * (int(sample.max()) + 1) + sample
    order = np.argsort(key, kind="stable")
    _refuse_twice(outcomes, _KEY, order, key[order])
    frame = outcomes[[name for name in (*_OUTCOMES, *_MORE) if name in outcomes.columns]].iloc[order]
    frame = frame.reset_index(drop=True)
    frame["scored"] = ((frame["status"] == "scored") & (frame["sample_status"] != "missing")).astype(bool)
    passed = frame["passed"].astype("boolean")
    _refuse_first(frame, frame["scored"] & passed.isna(), "is scored but neither passed nor failed")
    frame["success"] = frame["scored"] & passed.fillna(value=False).astype(bool)
    frame["score"] = frame["score"].astype("float64").where(frame["scored"])
    _refuse_first(frame, (frame["score"] < 0) | (frame["score"] > 1), "has a score outside 0 to 1")
    return Planned(frame, [str(name) for name in case[1]], case[0][order])


class Asked(NamedTuple):
    """The verdicts of planned samples, in order of check, case, run and sample."""

    rows: Numbers
    """Where each stands in the frame."""
    check: Numbers
    """Its place among `checks`."""
    case: Numbers
    """Its place among the planned cases."""
    checks: list[str]


def verdicts_of(verdicts: pd.DataFrame, planned: Planned) -> Asked:
    """Where the verdicts of planned samples stand; InputError names one that stands twice."""
    import numpy as np
    import pandas as pd

    _need_columns(verdicts, _VERDICTS, "verdicts")
    runs, cases = pd.Index(planned.frame["run_id"].unique()).sort_values(), pd.Index(planned.cases)
    at, rows = (
        (
            runs.get_indexer(pd.Index(f["run_id"])),
            cases.get_indexer(pd.Index(f["case_id"])),
            f["sample"].to_numpy("int64"),
        )
        for f in (planned.frame, verdicts)
    )
    check, names = pd.factorize(verdicts["check_id"], sort=True)
    size = int(max(at[2].max(initial=0), rows[2].max(initial=0))) + 1
    known, asked = ((case * len(runs) + run) * size + sample for run, case, sample in (at, rows))
    there = np.flatnonzero(np.isin(asked, known) & (rows[0] >= 0) & (rows[1] >= 0))
    key = check[there] * (len(cases) * len(runs) * size) + asked[there]
    order = np.argsort(key, kind="stable")
    _refuse_twice(verdicts, [*_KEY, "check_id"], there[order], key[order])
    there = there[order]
    values = verdicts["value"].to_numpy("float64", na_value=np.nan)[there]
    scored = (verdicts["status"].to_numpy() == "scored")[there]
    wrong = there[scored & ~((values >= 0) & (values <= 1))]
    if len(wrong):
        raise InputError(f"{_named(verdicts, wrong[0], [*_KEY, 'check_id'])} has a value outside 0 to 1")
    return Asked(there, check[there], rows[1][there], [str(name) for name in names])


def means_by(group: Numbers, values: Numbers, groups: int) -> Numbers:
    """The mean of each group's values that are no nan, in their order and in more digits than they have; else nan."""
    import numpy as np

    known = ~np.isnan(values)
    order = np.argsort(group[known], kind="stable")
    n = np.bincount(group[known], minlength=groups)
    found = np.full(groups, np.nan)
    if len(order):
        starts = (np.cumsum(n) - n)[n > 0]
        found[n > 0] = np.add.reduceat(values[known][order].astype(np.longdouble), starts) / n[n > 0]
    return found


def _need_columns(frame: pd.DataFrame, columns: Sequence[str], name: str) -> None:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InputError(f"frame {name!r} lacks the column {missing[0]!r}; it needs {', '.join(columns)}")


def _refuse_twice(frame: pd.DataFrame, key: list[str], order: Numbers, codes: Numbers) -> None:
    """The rows in `order` have these codes; equal ones lie side by side."""
    same = codes[1:] == codes[:-1]
    if same.any():
        found = _named(frame, order[1:][same][0], key)
        raise InputError(f"{found} stands twice; each must stand once, or passes would be counted double")


def _named(frame: pd.DataFrame, row: int, key: list[str]) -> str:
    return ", ".join(f"{name} {frame[name].iloc[[row]].tolist()[0]!r}" for name in key)


def _refuse_first(frame: pd.DataFrame, wrong: pd.Series[bool], what: str) -> None:
    if wrong.any():
        run, case, sample = (frame.loc[wrong, name].tolist()[0] for name in _KEY)
        raise InputError(f"run {run!r}, case {case!r}, sample {sample} {what}; score it again or correct its record")
