"""What cannot be compared, told before any figure: other criteria, other questions, samples that do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evallib.comparison.rows import passes_of
from evallib.errors import InputError
from evallib.metrics.planned import plan, verdicts_of
from evallib.views.load import READ, View

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["refuse_frames", "refuse_other_criteria"]

_KEY = ["case_id", "sample"]
_REMEDY = "rescore both with one suite and compare those views with --view, or run one of them again"


def refuse_other_criteria(a: View, b: View, shared: list[str]) -> None:
    """InputError names the first check and case whose criteria, or the first case whose questions, differ."""
    for case in shared:
        first, second = ([(s.ask, s.approve, s.rationale) for s in v.suite.by_id[case].steps] for v in (a, b))
        if first != second:
            raise InputError(
                f"case {case!r} asks something else in run {a.run.id!r} than in {b.run.id!r}: answers to two "
                "questions are not compared; run one of them again with the other's suite"
            )
    judged = [{(case, check): decides for case, check, decides in view.criteria()} for view in (a, b)]
    for case in shared:
        bound = [{one.check.id: one.decides for one in view.suite.bound[case]} for view in (a, b)]
        for check in dict.fromkeys((*bound[0], *bound[1])):
            written = [known.get((case, check), one.get(check)) for known, one in zip(judged, bound, strict=True)]
            if written[0] != written[1] and {*written} != {None, ""}:  # what was recorded elsewhere has no digest
                raise InputError(f"{_other_words(case, check, (a, b), written)}; {_REMEDY}")


def _other_words(case: str, check: str, views: tuple[View, View], written: list[str | None]) -> str:
    runs = [repr(view.run.id) for view in views]
    if None in written:
        has, lacks = runs if written[1] is None else runs[::-1]
        said = f"case {case!r} has check {check!r} in run {has} and not in {lacks}"
    else:
        said = (
            f"check {check!r} of case {case!r} was judged by other criteria, or by another version of its kind, in run "
        )
        said += f"{runs[0]} than in {runs[1]}"
    return f"{said}: figures of two criteria are not compared"


def refuse_frames(a: tuple[pd.DataFrame, pd.DataFrame], b: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """InputError where a sample stands twice, contradicts its checks, lacks one of them, or is numbered otherwise.

    Each holds a run's outcomes and verdicts, of shared cases only. What a person read is above the verdicts.
    """
    import pandas as pd

    for outcomes, verdicts in (a, b):
        verdicts_of(verdicts, plan(outcomes))
    rows = [passes_of(outcomes) for outcomes, _ in (a, b)]
    scored = [planned.loc[planned["scored"], _KEY] for planned in rows]
    given = [keys.merge(verdicts, on=_KEY) for keys, (_, verdicts) in zip(scored, (a, b), strict=True)]
    asked = pd.concat([verdicts[["case_id", "check_id"]] for verdicts in given]).drop_duplicates()
    for (outcomes, _), planned, keys, verdicts in zip((a, b), rows, scored, given, strict=True):
        name = str(outcomes["run_id"].iloc[0])
        if not (outcomes["view"] == READ).all():
            _refuse_contradiction(name, planned, verdicts)
        expected = keys.merge(asked, on="case_id", how="left")
        bare = expected.merge(verdicts[[*_KEY, "check_id"]], on=[*_KEY, "check_id"], how="left", indicator=True)
        bare = bare[bare["_merge"] == "left_only"]
        if len(bare):
            case, sample, check = (bare[column].iloc[0] for column in (*_KEY, "check_id"))
            of = f" of check {check!r}" if isinstance(check, str) else ""
            said = f"run {name!r}: case {case!r}, sample {sample} has no verdict{of}"
            raise InputError(f"{said}, so there is nothing to compare; {_REMEDY}")
    _refuse_numbering(a[0], b[0])


def _refuse_contradiction(name: str, planned: pd.DataFrame, verdicts: pd.DataFrame) -> None:
    """A pass of which a critical check failed, or a fail without a reason of which every check has its top value."""
    passed = verdicts["passed"].astype("boolean").fillna(value=True).astype(bool)
    failed = verdicts[(verdicts["status"] == "scored") & verdicts["critical"].astype(bool) & ~passed]
    against = planned[planned["passed"]].merge(failed[[*_KEY, "check_id"]], on=_KEY)
    if len(against):
        case, sample, check = (against[column].iloc[0] for column in (*_KEY, "check_id"))
        said = f"run {name!r}: case {case!r}, sample {sample} says pass, and its critical check {check!r} failed"
        raise InputError(f"{said}; score it again")
    full = verdicts.assign(full=(verdicts["status"] == "scored") & passed & (verdicts["value"] == 1))
    best = full.groupby(_KEY)["full"].agg("all").reset_index()
    untold = planned["scored"] & ~planned["passed"]
    if "reason" in planned:  # an empty answer fails whatever its checks say, and says so
        untold &= planned["reason"] == ""
    against = planned.loc[untold].merge(best[best["full"]], on=_KEY)
    if len(against):
        case, sample = (against[column].iloc[0] for column in _KEY)
        said = f"run {name!r}: case {case!r}, sample {sample} says fail, and every check of it has its top value"
        raise InputError(f"{said}; score it again")


def _refuse_numbering(outcomes: pd.DataFrame, other: pd.DataFrame) -> None:
    """Repeats may be more in one run; the fewer must then be among them, as samples numbered from 1 are."""
    spans = [one.groupby("case_id")["sample"].agg(["min", "max", "count"]) for one in (outcomes, other)]
    gaps = [one.index[(one["min"] != 1) | (one["max"] != one["count"])] for one in spans]
    for case in sorted({*gaps[0], *gaps[1]}):
        have, theirs = (set(one.loc[one["case_id"] == case, "sample"]) for one in (outcomes, other))
        if not (have <= theirs or theirs <= have):
            raise InputError(
                f"case {case!r} has sample {min(have - theirs)} in one run and sample {min(theirs - have)} in the "
                "other alone: these are not the same samples planned; number samples from 1"
            )
