"""Whether enough was seen to decide at all: planned samples scored, verdicts had, errors within their share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from evallib.gate.frames import Row, Rule, key_of, listed, name_of, scored_rows, shown
from evallib.gate.thresholds import TOLERANCE, Gate, reaches
from evallib.stdout import counted

__all__ = ["coverage_rule", "errors_rule", "excused"]

Keys = Collection[tuple[Any, ...]]


def excused(gate: Gate | None, samples: Sequence[Row]) -> Keys:
    """Keys of the samples without an outcome that the gate puts up with: none unless enough others are scored.

    A sample that is not there at all is never excused.
    """
    least = 1.0 if gate is None else gate.least_scored
    seen = {key_of(row) for row in scored_rows(samples)}
    if not samples or least >= 1 or not reaches(len(seen) / len(samples), least):
        return frozenset()
    return {key_of(row) for row in samples if row["sample_status"] != "missing"} - seen


def coverage_rule(
    gate: Gate | None,
    samples: Sequence[Row],
    judged: Sequence[Row],
    *,
    complete: bool,
    checks_of: Mapping[str, Collection[str]],
    left_out: Collection[str],
) -> Rule:
    """Every planned sample and verdict is scored, or as many samples as the gate asks for."""
    spared = excused(gate, samples)
    problems = _problems(samples, judged, checks_of, spared) + ["the run is not complete"] * (not complete)
    scored = len(scored_rows(samples))
    detail: dict[str, Any] = {"planned": len(samples), "scored": scored, "verdicts": len(judged)}
    whole, its = (
        ("the one planned sample", "its") if len(samples) == 1 else (f"all {len(samples)} planned samples", "their")
    )
    which = f"{its} verdicts without a judge" if left_out else f"all {its} verdicts"
    reason = "; ".join(problems) or f"{whole} and {which} are scored"
    if gate is not None and gate.least_scored < 1:
        detail |= {"coverage": scored / len(samples) if samples else None, "threshold": gate.least_scored}
    if gate is not None and spared and not problems:
        value, least = shown(scored / len(samples), gate.least_scored)
        names = [name_of(row) for row in samples if key_of(row) in spared]
        reason = (
            f"{scored} of {len(samples)} planned samples are scored: {value}, at least {least}; not {listed(names)}"
        )
    if left_out:
        count = sum(row["check_id"] in left_out and row["status"] == "not_applicable" for row in judged)
        named = f"judge{'s' if len(left_out) > 1 else ''} {', '.join(left_out)}"
        reason += f"; left out of this run: {named} ({counted(count, 'verdict')})"
        detail["judges_left_out"] = list(left_out)
    return Rule("coverage", passed=not problems, reason=reason, detail=detail)


def errors_rule(most: float, samples: Sequence[Row]) -> Rule:
    """At most this share of the planned samples are errors, which are not the target's doing.

    A sample for which a verdict could not be had has no outcome either and is no error: the reason counts it apart.
    """
    wrong = [row for row in samples if row["status"] == "error"]
    if not samples:
        return Rule("errors", passed=False, reason="no sample was planned", detail={"threshold": most})
    share = len(wrong) / len(samples)
    kinds = Counter(str(row["sample_status"]) for row in wrong)
    value, limit = shown(share, most)
    passed = share <= most + TOLERANCE
    names = [f"{name_of(row)} {row['sample_status']}" for row in wrong]
    reason = f"{len(wrong)} of {len(samples)} planned samples are errors: {value}, {'at most' if passed else 'above'} "
    detail = {"share": share, "threshold": most, "kinds": dict(sorted(kinds.items()))}
    reason += limit + (f" ({listed(names)})" if names else "")
    if others := len(samples) - len(scored_rows(samples)) - len(wrong):
        reason += f"; {others} more without an outcome, for want of a verdict, are no errors"
        reason = reason.replace("are no errors", "is no error") if others == 1 else reason
    return Rule("errors", passed=passed, reason=reason, detail=detail)


def _problems(
    samples: Sequence[Row], judged: Sequence[Row], checks_of: Mapping[str, Collection[str]], spared: Keys
) -> list[str]:
    """What keeps the gate from having seen everything, one clause each."""
    if not samples:
        return ["no sample was planned, so nothing was measured"]
    scored = scored_rows(samples)
    seen = {key_of(row) for row in scored}
    names = {
        ("planned sample is not scored", "planned samples are not scored"): [
            name_of(row) for row in samples if key_of(row) not in seen and key_of(row) not in spared
        ],
        ("verdict could not be had", "verdicts could not be had"): [
            _verdict_name(v) for v in judged if v["status"] == "not_scored" and key_of(v) not in spared
        ],
        ("verdict was never written", "verdicts were never written"): _never_written(scored, judged, checks_of),
        ("verdict lies off the scale 0 to 1", "verdicts lie off the scale 0 to 1"): [
            _verdict_name(v) for v in judged if v["status"] == "scored" and _off_scale(v["value"])
        ],
        ("score lies off the scale 0 to 1", "scores lie off the scale 0 to 1"): [
            name_of(row) for row in scored if row["score"] is not None and _off_scale(row["score"])
        ],
        ("sample was measured by no check", "samples were measured by no check"): _unmeasured(scored, judged),
    }
    problems = [f"{counted(len(found), *what)}: {listed(found)}" for what, found in names.items() if found]
    few = len(scored) + len(spared) < len(samples)
    return [f"{len(scored)} of {len(samples)} planned samples are scored"] * few + problems


def _never_written(scored: Sequence[Row], judged: Sequence[Row], checks_of: Mapping[str, Collection[str]]) -> list[str]:
    written = {(*key_of(row), row["check_id"]) for row in judged}
    return [
        f"{name_of(row)} {name}"
        for row in scored
        for name in checks_of.get(str(row["case_id"]), ())
        if (*key_of(row), name) not in written
    ]


def _unmeasured(scored: Sequence[Row], judged: Sequence[Row]) -> list[str]:
    measured = {key_of(row) for row in judged if row["status"] == "scored"}
    return [name_of(row) for row in scored if key_of(row) not in measured]


def _verdict_name(verdict: Row) -> str:
    return f"{name_of(verdict)} {verdict['check_id']}"


def _off_scale(value: Any) -> bool:
    return value is None or not -TOLERANCE <= float(value) <= 1 + TOLERANCE
