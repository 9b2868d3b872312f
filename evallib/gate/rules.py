"""Each threshold of the gate against its figure: one rule, one row, one reason that names case, check and figure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evallib.caption import judge_words
from evallib.gate.coverage import Keys, errors_rule, excused
from evallib.gate.frames import (
    Row,
    Rule,
    by_case,
    key_of,
    listed,
    low_cases,
    mean_of,
    name_of,
    scored_rows,
    shown,
)
from evallib.gate.thresholds import Gate, reaches
from evallib.records import judged_by
from evallib.statistics.estimators import Counts, over_cases, pass_hat_k
from evallib.stdout import counted

__all__ = ["judged_words", "threshold_rules"]


def threshold_rules(gate: Gate | None, samples: Sequence[Row], judged: Sequence[Row]) -> Iterable[Rule]:
    """The rows of all thresholds that are given, and of required cases where there are any."""
    spared = excused(gate, samples)
    if gate is not None and gate.mean is not None:
        yield _mean_rule(gate.mean, samples, spared)
    if gate is not None and gate.checks:
        yield _checks_rule(gate.checks, [v for v in judged if v["status"] != "not_scored" or key_of(v) not in spared])
    if gate is not None and gate.floor is not None:
        yield _floor_rule(gate.floor, [row for row in samples if key_of(row) not in spared])
    if any(row["required"] for row in samples):
        yield _required_rule(samples, judged)
    if gate is not None and gate.pass_rate is not None:
        yield _pass_rate_rule(gate.pass_rate, samples)
    if gate is not None and gate.pass_hat:
        yield _pass_hat_rule(gate.pass_hat, samples)
    if gate is not None and gate.errors is not None:
        yield errors_rule(gate.errors, samples)


def _lowest(low: Sequence[Mapping[str, Any]], threshold: float) -> str:
    """The cases below a threshold in a reason's words."""
    named = [f"{row['case_id']} at {shown(row['mean'], threshold)[0]}" for row in low]
    return f" (lowest: {listed(named)})" if named else ""


def _mean_rule(threshold: float, samples: Sequence[Row], spared: Keys) -> Rule:
    scored = scored_rows(samples)
    known = {key_of(row) for row in scored if row["score"] is not None}
    without = [name_of(row) for row in samples if key_of(row) not in known and key_of(row) not in spared]
    means = {case: mean_of(values) for case, values in by_case(scored, "score").items()}
    mean = mean_of([one for one in means.values() if one is not None])
    low = low_cases(means, threshold)
    detail = {"mean": mean, "threshold": threshold, "samples": len(known), "cases_below": low}
    if mean is None:
        return Rule("mean", passed=False, reason="no sample has a score", detail=detail)
    value, least = shown(mean, threshold, 3)
    if without:
        reason = f"the mean is {value} over {len(known)} of {len(samples)} samples only; no score: {listed(without)}"
        return Rule("mean", passed=False, reason=reason, detail=detail)
    value += f" over {len(known)} of {len(samples)} samples" if len(known) < len(samples) else ""
    if reaches(mean, threshold):
        return Rule("mean", passed=True, reason=f"the mean is {value}, at least {least}", detail=detail)
    reason = f"the mean is {value}, below its {least}{_lowest(low, threshold)}"
    return Rule("mean", passed=False, reason=reason, detail=detail)


def _checks_rule(thresholds: Mapping[str, float], judged: Sequence[Row]) -> Rule:
    rows = [_check_row(name, least, [v for v in judged if v["check_id"] == name]) for name, least in thresholds.items()]
    below = [row for row in rows if not row["passed"]]
    reason = f"{len(rows) - len(below)} of {len(rows)} checks at their threshold"
    reason += "".join(f"; {row['check']} {_check_words(row)}{judged_words(row)}" for row in below)
    return Rule("checks", passed=not below, reason=reason, detail={"checks": rows})


def _check_row(name: str, threshold: float, verdicts: Sequence[Row]) -> dict[str, Any]:
    """One check against its threshold; a verdict that could not be had is never averaged away."""
    scored = [v for v in verdicts if v["status"] == "scored"]
    means = {case: mean_of(values) for case, values in by_case(scored, "raw").items()}
    known = [mean for mean in means.values() if mean is not None]
    unknown = [
        name_of(v) for v in verdicts if v["status"] == "not_scored" or (v["status"] == "scored" and v["raw"] is None)
    ]
    mean = mean_of(known)
    share = all(v["raw"] == v["value"] for v in scored)
    return {
        "check": name,
        "mean": mean,
        "threshold": threshold,
        "passed": reaches(mean, threshold) and not unknown,
        "cases": len(known),
        "full": sum(value >= 1 for value in known) if share and set(known) <= {0.0, 1.0} else None,
        "not_scored": len(unknown),
        "without": unknown,
        "cases_below": low_cases(means, threshold),
        "unit": "share" if share else "raw",
        "stochastic": any(v["stochastic"] for v in verdicts),
        **_answered_by(verdicts),
    }


def _answered_by(verdicts: Sequence[Row]) -> dict[str, Any]:
    """The judge's models and its calibration id, or `uncalibrated`; nothing for a check that no model answers."""
    models, calibration = judged_by(str(v.get("judge") or "") for v in verdicts)
    stochastic = any(v["stochastic"] for v in verdicts)
    return {"judge": models, "calibration": calibration} if stochastic else {"judge": [], "calibration": None}


def judged_words(row: Mapping[str, Any]) -> str:
    """Who answered a check, in brackets; nothing where a rule did."""
    return f" ({judge_words(row)})" if row["stochastic"] else ""


def _check_words(row: Mapping[str, Any]) -> str:
    if row["not_scored"]:
        return f"has {counted(row['not_scored'], 'verdict')} that could not be had ({listed(row['without'])})"
    if row["mean"] is None:
        return "has no verdict"
    value, least = shown(row["mean"], row["threshold"])
    lowest = _lowest(row["cases_below"], row["threshold"])
    if row["full"] is not None:
        return f"passed {row['full']} of {counted(row['cases'], 'case')}: {value}, below its {least}{lowest}"
    return f"has a mean of {value} over {counted(row['cases'], 'case')}, below its {least}{lowest}"


def _floor_rule(floor: float, samples: Sequence[Row]) -> Rule:
    scored = [row for row in scored_rows(samples) if row["score"] is not None]
    below = sorted(
        (row for row in scored if not reaches(row["score"], floor)), key=lambda row: (row["score"], name_of(row))
    )
    detail = {
        "threshold": floor,
        "below": [{"case_id": row["case_id"], "sample": row["sample"], "score": row["score"]} for row in below],
    }
    known = {key_of(row) for row in scored}
    unknown = [name_of(row) for row in samples if key_of(row) not in known]
    if below:
        named = [f"{name_of(row)} at {shown(row['score'], floor)[0]}" for row in below]
        reason = f"{len(below)} of {len(samples)} samples below {floor:.2f}: {listed(named)}"
    elif unknown:
        reason = (
            f"{len(unknown)} of {len(samples)} samples have no score to hold against {floor:.2f}: {listed(unknown)}"
        )
    else:
        reason = f"all {len(samples)} samples at {floor:.2f} or more"
    return Rule("floor", passed=not below and not unknown, reason=reason, detail=detail)


def _required_rule(samples: Sequence[Row], judged: Sequence[Row]) -> Rule:
    required = [row for row in samples if row["required"]]
    failed = [row for row in required if not _passes_without_models(row)]
    cases = sorted({str(row["case_id"]) for row in required})
    wrong = sorted({str(row["case_id"]) for row in failed})
    detail = {"cases": cases, "failed": [{"case_id": row["case_id"], "sample": row["sample"]} for row in failed]}
    if failed:
        held = f"{len(cases) - len(wrong)} of {counted(len(cases), 'required case')} passed in every sample"
        reason = f"{held}; not: {listed([name_of(row) for row in failed])}"
    else:
        which = f"all {len(cases)} required cases" if len(cases) > 1 else "the only required case"
        reason = f"{which} passed in every sample"
    keys = {key_of(row) for row in required if "passed_deterministic" in row}
    judges = sorted({row["check_id"] for row in judged if row["stochastic"] and key_of(row) in keys})
    if judges:
        reason += f"; judges never decide a required case, so left out here: {', '.join(judges)}"
    return Rule("required", passed=not failed, reason=reason, detail=detail)


def _passes_without_models(row: Row) -> bool:
    """Whether a sample passes by deterministic verdicts: a judge alone neither fails nor passes a required case."""
    if row["status"] == "error" or row["sample_status"] == "missing":
        return False
    return bool(row["passed_deterministic"] if "passed_deterministic" in row else row["passed"])


def _passes(samples: Sequence[Row]) -> dict[str, Counts]:
    """Planned samples and passes of each case, errors counted as fails."""
    scored = {key_of(row) for row in scored_rows(samples)}
    found: dict[str, list[bool]] = defaultdict(list)
    for row in samples:
        found[str(row["case_id"])].append(key_of(row) in scored and bool(row["passed"]))
    return {case: Counts(len(each), sum(each)) for case, each in found.items()}


def _pass_rate_rule(threshold: float, samples: Sequence[Row]) -> Rule:
    counts = _passes(samples)
    rates = {case: c / n for case, (n, c) in counts.items()}
    rate, low = mean_of(list(rates.values())), low_cases(rates, threshold)
    detail = {"pass_rate": rate, "threshold": threshold, "cases_below": low}
    if rate is None:
        return Rule("pass_rate", passed=False, reason="no sample was planned", detail=detail)
    passed, (value, least) = reaches(rate, threshold), shown(rate, threshold)
    count = f"{sum(one.c for one in counts.values())} of {len(samples)} planned samples passed: {value}"
    count += " as a mean over cases" if len({one.n for one in counts.values()}) > 1 else ""
    held = f"at least {least}" if passed else f"below its {least}{_lowest(low, threshold)}"
    return Rule("pass_rate", passed=passed, reason=f"{count}, {held}", detail=detail)


def _pass_hat_rule(thresholds: Mapping[int, float], samples: Sequence[Row]) -> Rule:
    counts = _passes(samples)
    rows = [_pass_hat_row(k, least, counts) for k, least in sorted(thresholds.items())]
    reason = "; ".join(row.pop("reason") for row in rows)
    return Rule("pass_hat", passed=all(row["passed"] for row in rows), reason=reason, detail={"pass_hat": rows})


def _pass_hat_row(k: int, threshold: float, counts: Mapping[str, Counts]) -> dict[str, Any]:
    """One k: undefined, so never at its threshold, where a case has fewer than k samples."""
    short = [f"{case} has {n}" for case, (n, _) in counts.items() if n < k]
    each = {case: pass_hat_k(n, c, k) for case, (n, c) in counts.items()}
    figure = over_cases(counts.values(), k, pass_hat_k)
    low = low_cases(each, threshold)
    passed = reaches(figure.value, threshold) and not short
    if short:
        many = max((n for n, _ in counts.values()), default=0)
        never = f", and no case has more than {many}: not reachable in this run" if many < k else f": {listed(short)}"
        reason = f"pass^{k} needs {counted(k, 'sample')} of every case{never}"
    elif figure.value is None:
        reason = "no sample was planned"
    else:
        value, least = shown(figure.value, threshold)
        held = f"at least {least}" if passed else f"below its {least}{_lowest(low, threshold)}"
        reason = f"pass^{k} is {value} over {counted(figure.eligible, 'case')}, {held}"
    return {
        "k": k, "value": figure.value, "threshold": threshold, "passed": passed, "cases": figure.eligible,
        "cases_below": low, "reason": reason,
    }  # fmt: skip
