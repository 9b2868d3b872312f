"""The figures of some of the cases: of each split, and of each tag."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypedDict

from evallib.metrics.planned import Planned, counts_of, plan
from evallib.metrics.repeats import are_copies, repeats
from evallib.statistics.estimators import over_cases, pass_at_k

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Slice", "by_split", "by_tag", "per_split", "per_tag"]


class Slice(TypedDict):
    """The cases of one split or tag, errors counted as fails. Below ten cases read the counts, not the rate."""

    cases: int
    planned: int
    passed: int
    errors: int
    pass_rate: float | None
    pass_rate_interval: list[float] | None
    score_mean: float | None


def by_split(planned: Planned, *, copies: bool) -> dict[str, Slice]:
    """The figures of each split there is; with `copies` a case is worth one draw."""
    splits = planned.frame["split"].iloc[planned.first].tolist()
    return _slices(planned, ((str(split),) for split in splits), copies=copies)


def by_tag(planned: Planned, *, copies: bool) -> dict[str, Slice]:
    """The figures of each tag there is; a case with several tags is in several, one without in none."""
    if "tags" not in planned.frame.columns:
        return {}
    return _slices(planned, planned.frame["tags"].iloc[planned.first].tolist(), copies=copies)


def per_split(outcomes: pd.DataFrame) -> pd.DataFrame:
    """One row per split."""
    planned = plan(outcomes)
    return _frame(planned, "split", by_split(planned, copies=are_copies(repeats(planned))))


def per_tag(outcomes: pd.DataFrame) -> pd.DataFrame:
    """One row per tag; none where the frame has no column `tags` (a list of texts for each row)."""
    planned = plan(outcomes)
    return _frame(planned, "tag", by_tag(planned, copies=are_copies(repeats(planned))))


def _slices(planned: Planned, names: Iterable[Iterable[str]], *, copies: bool) -> dict[str, Slice]:
    """The figures under each name, `names` being those of each case."""
    cases: dict[str, list[int]] = defaultdict(list)
    for case, given in enumerate(names):
        for name in dict.fromkeys(given):
            cases[name].append(case)
    return {name: _slice(planned, cases[name], copies=copies) for name in sorted(cases)}


def _slice(planned: Planned, cases: list[int], *, copies: bool) -> Slice:
    samples, passes = planned.samples[cases], planned.passes[cases]
    rate = over_cases(counts_of(samples, passes), 1, pass_at_k, copies=copies)
    scores = [score for score in planned.scores[cases].tolist() if not math.isnan(score)]
    return Slice(
        cases=len(cases),
        planned=int(samples.sum()),
        passed=int(passes.sum()),
        errors=int((samples - planned.scored[cases]).sum()),
        pass_rate=rate.value,
        pass_rate_interval=list(rate.interval) if rate.interval else None,
        score_mean=math.fsum(scores) / len(scores) if scores else None,
    )


def _frame(planned: Planned, column: str, slices: Mapping[str, Slice]) -> pd.DataFrame:
    import pandas as pd

    rows = [{**planned.named, column: name, **_ends(one)} for name, one in slices.items()]
    columns = [*planned.named, column, *_ends(Slice(**dict.fromkeys(Slice.__annotations__)))]  # type: ignore[typeddict-item]
    return pd.DataFrame(rows, columns=columns)


def _ends(one: Slice) -> dict[str, object]:
    low, high = one["pass_rate_interval"] or (None, None)
    return {name: value for name, value in one.items() if name != "pass_rate_interval"} | {"lo": low, "hi": high}
