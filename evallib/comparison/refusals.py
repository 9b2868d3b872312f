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


def refuse_frames(name: str, outcomes: pd.DataFrame, verdicts: pd.DataFrame, other: pd.DataFrame) -> None:
    """InputError where a row stands twice or off its scale, or a sample does not fit its verdicts or the other run.

    `outcomes` and `verdicts` are those of run `name`, `other` the outcomes that they are compared with, all of shared
    cases only. What a person read is above the verdicts.
    """
    verdicts_of(verdicts, plan(outcomes))  # each must stand once, with a score on its scale
    planned = passes_of(outcomes)
    key = ["case_id", "sample"]
    scored = verdicts[verdicts["status"] == "scored"]
    off = scored[~scored["value"].astype("float64").between(0, 1)]
    if len(off):
        case, sample, check = (off[column].iloc[0] for column in (*key, "check_id"))
        said = f"run {name!r}: case {case!r}, sample {sample} has a verdict of {check!r} off the scale 0 to 1"
        raise InputError(f"{said}; score it again")
    failed = scored[scored["critical"].astype(bool)]
    failed = failed[~failed["passed"].astype("boolean").fillna(value=True).astype(bool)]
    against = planned[planned["passed"]].merge(failed[[*key, "check_id"]], on=key)
    if len(against) and not (outcomes["view"] == READ).all():
        case, sample, check = (against[column].iloc[0] for column in (*key, "check_id"))
        said = f"run {name!r}: case {case!r}, sample {sample} says pass, and its critical check {check!r} failed"
        raise InputError(f"{said}; score it again")
    bare = planned[planned["scored"]].merge(verdicts[key].drop_duplicates(), on=key, how="left", indicator=True)
    bare = bare[bare["_merge"] == "left_only"]
    if len(bare):
        case, sample = (bare[column].iloc[0] for column in key)
        raise InputError(f"run {name!r}: case {case!r}, sample {sample} has no verdict, so there is nothing to compare")
    _refuse_numbering(outcomes, other)


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
