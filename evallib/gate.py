"""The release gate: rules over one view of one run, one row per rule with its reason."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from evallib.errors import InputError
from evallib.records import POST_HOC_LABEL, STRICT, judged_by
from evallib.stdout import counted
from evallib.strict_yaml import Written

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Decision", "Gate", "Rule", "decide", "without_answers"]

TOLERANCE = 1e-9
"""Ten times 0.85 has a mean of 0.85: equality passes whatever the rounding."""
_NAMED = 5
_DECIDES = "the strict view of a complete run of all validation cases and no other (a case without `split` is one):"
_KEY = ("run_id", "case_id", "sample")
_key = itemgetter(*_KEY)
_JUDGED = (*_KEY, "check_id", "status", "value", "raw", "passed", "stochastic")

Row = Mapping[str, Any]
Verdict = Literal["pass", "blocked"]


class Gate(Written):
    """Thresholds of a release. Every rule not given is left out, but for coverage, which always stands."""

    mean: float | None = Field(default=None, ge=0, le=1)
    """Least mean of the per-case mean scores (article 1, rule 1)."""
    checks: Mapping[str, float] = Field(default_factory=dict)
    """Least mean of the per-case means of each check, in the check's raw units (article 1, rule 2)."""
    floor: float | None = Field(default=None, ge=0, le=1)
    """Least score of every single sample (article 1, rule 3)."""
    required: Literal["all_samples"] = "all_samples"
    """Each required case passes in every sample; model verdicts do not decide it (article 3)."""
    pass_rate: float | None = Field(default=None, ge=0, le=1)
    """Least pass rate over the planned samples, errors counted as fails (article 3)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the gate, whether it holds, and why in one sentence."""

    rule: str
    passed: bool
    reason: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    """What the rule looked at, in numbers; its keys stand beside the others in JSON."""

    def as_json(self) -> dict[str, Any]:
        """The row as `evallib gate --json` prints it."""
        return {"rule": self.rule, "passed": self.passed, "reason": self.reason, **self.detail}


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate says of one view of one run; `release_decision` is None unless it decides a release."""

    run: str
    view: str
    post_hoc: bool
    decision: Verdict
    release_decision: Verdict | None
    why_no_release: str
    chosen_after_result: bool
    rules: tuple[Rule, ...]
    label: str = ""
    """The words every figure of the view carries; empty for strict."""
    readings: Mapping[str, Any] = field(default_factory=dict)
    """How much was read; empty outside the read view."""
    caption: str = ""
    """What the figures must say about themselves."""

    def as_json(self) -> dict[str, Any]:
        """The object that `evallib gate --json` prints."""
        return {
            "run": self.run,
            "view": self.view,
            "post_hoc": self.post_hoc,
            "label": self.label or None,
            "decision": self.decision,
            "release_decision": self.release_decision,
            "why_no_release": self.why_no_release or None,
            "chosen_after_result": self.chosen_after_result,
            "caption": self.caption,
            "rules": [rule.as_json() for rule in self.rules],
            **self.readings,
        }

    def lines(self) -> list[str]:
        """The decision in words, one line per rule."""
        label = f" ({self.label})" if self.label else ""
        lines = [f"{self.decision}: run {self.run}, view {self.view}{label}"]
        for rule in self.rules:
            lines.append(f"  {'pass   ' if rule.passed else 'blocked'}  {rule.rule}: {rule.reason}")
            lines += [f"           {_judged_line(row)}" for row in rule.detail.get("checks", ()) if row["stochastic"]]
        if self.why_no_release:
            lines.append(f"  this is no release decision: {self.why_no_release}")
        else:
            lines += [f"  {_DECIDES}", f"  this is the release decision: {self.decision}"]
        return [*lines, *filter(None, [self.caption])]


def _judged_line(row: Row) -> str:
    """The figure of a check that a model answers, with who judged."""
    mean = "no mean" if row["mean"] is None else f"mean {row['mean']:.2f}"
    return f"{row['check']}: {mean}, threshold {row['threshold']:.2f}{_by(row)}"


def decide(  # noqa: PLR0913 - what is decided, then what is known of the run, each by its name
    gate: Gate | None,
    outcomes: pd.DataFrame,
    verdicts: pd.DataFrame,
    *,
    complete: bool,
    whole_validation: bool,
    chosen_after: bool = False,
    checks_of: Mapping[str, Collection[str]] | None = None,
    left_out: Collection[str] = (),
) -> Decision:
    """Whether one view of one run passes `gate`; without a gate, coverage alone decides.

    `outcomes` has one row per planned sample (as for `metrics.summarise`), and may say in `passed_deterministic`
    whether a sample passes by its deterministic verdicts alone: that column then decides required cases.
    `chosen_after` says that the thresholds are not those the run was planned with. `checks_of` names the checks
    that each case has: a verdict that was never written is then missed like one that could not be had. `left_out` names
    the judges that the run was told to leave out, which the coverage rule says.
    """
    run, view = _one(outcomes, "run_id", "run"), _one(outcomes, "view", "view")
    samples = _plain(outcomes)
    read = [name for name in (*_JUDGED, "judge") if name in verdicts]
    judged = _plain(verdicts[read])
    keys = {_key(row) for row in samples}
    judged = sorted((row for row in judged if _key(row) in keys), key=lambda r: (*map(str, _key(r)), r["check_id"]))
    problems = _coverage_problems(samples, judged, checks_of or {})
    if not complete:
        problems.append("the run is not complete")
    rules = [*_thresholds(gate, samples, judged), _coverage_rule(samples, judged, problems, left_out)]
    if gate is None:
        rules.append(Rule("no_gate", passed=True, reason="the suite sets no gate, so coverage alone decides"))
    post_hoc = bool(view and view != STRICT) or any(row["post_hoc"] for row in samples)
    decision: Verdict = "pass" if all(rule.passed for rule in rules) else "blocked"
    why = _why_no_release(
        {
            "no sample was planned": not samples,
            f"view {view} was {POST_HOC_LABEL}": post_hoc,
            "the run is not the whole validation split": not whole_validation,
            "the run is not complete": not complete,
            "the thresholds were chosen after the result": chosen_after,
            "the suite sets no gate": gate is None,
        }
    )
    label = next((str(row["label"]) for row in samples if row.get("label")), POST_HOC_LABEL) if post_hoc else ""
    release = None if why else decision
    return Decision(run, view, post_hoc, decision, release, why, chosen_after, tuple(rules), label)


def without_answers(decision: Decision) -> Decision:
    """The decision of a sealed holdout: which rules hold, and nothing of a single case, sample or check."""
    said = {True: "holds", False: "does not hold; of a sealed holdout nothing more is said"}
    return replace(decision, rules=tuple(Rule(one.rule, one.passed, said[one.passed]) for one in decision.rules))


def _why_no_release(reasons: Mapping[str, bool]) -> str:
    return "; ".join(reason for reason, holds in reasons.items() if holds)


def _one(outcomes: pd.DataFrame, column: str, noun: str) -> str:
    found = sorted(set(outcomes[column].astype(str))) if len(outcomes) else [""]
    if len(found) > 1:
        raise InputError(
            f"a gate decides one {noun}, but {', '.join(map(repr, found[:4]))} stand in the frame; take one"
        )
    return found[0]


def _plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The frame's rows with every kind of missing value (NaN, pandas NA) as None."""
    names = [str(name) for name in frame]
    columns = [frame[name].astype(object).mask(frame[name].isna(), None).tolist() for name in frame]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _thresholds(gate: Gate | None, samples: Sequence[Row], judged: Sequence[Row]) -> Iterable[Rule]:
    if gate is not None and gate.mean is not None:
        yield _mean_rule(gate.mean, samples)
    if gate is not None and gate.checks:
        yield _checks_rule(gate.checks, judged)
    if gate is not None and gate.floor is not None:
        yield _floor_rule(gate.floor, samples)
    if any(row["required"] for row in samples):
        yield _required_rule(samples, judged)
    if gate is not None and gate.pass_rate is not None:
        yield _pass_rate_rule(gate.pass_rate, samples)


def _reaches(value: float | None, threshold: float) -> bool:
    """Whether a figure is at its threshold; undefined never is."""
    return value is not None and math.isfinite(value) and value >= threshold - TOLERANCE


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _by_case(rows: Iterable[Row], column: str) -> dict[str, list[float]]:
    """Known values of `column` per case; a case without any stands with an empty list."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        found[str(row["case_id"])] += [] if row[column] is None else [float(row[column])]
    return found


def _shown(value: float, threshold: float, digits: int = 2) -> tuple[str, str]:
    """Both figures with as many digits as it takes to tell them apart."""
    while digits < 9 and abs(value - threshold) > TOLERANCE and f"{value:.{digits}f}" == f"{threshold:.{digits}f}":
        digits += 1
    return f"{value:.{digits}f}", f"{threshold:.{digits}f}" if digits > 3 else f"{threshold:.2f}"


def _name(row: Row) -> str:
    return f"{row['case_id']} sample {row['sample']}"


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _mean_rule(threshold: float, samples: Sequence[Row]) -> Rule:
    scored = _scored(samples)
    known = {_key(row) for row in scored if row["score"] is not None}
    without = [_name(row) for row in samples if _key(row) not in known]
    mean = _mean([m for values in _by_case(scored, "score").values() if (m := _mean(values)) is not None])
    detail = {"mean": mean, "threshold": threshold, "samples": len(known)}
    if mean is None:
        return Rule("mean", passed=False, reason="no sample has a score", detail=detail)
    value, least = _shown(mean, threshold, 3)
    if without:
        reason = f"the mean is {value} over {len(known)} of {len(samples)} samples only; no score: {_list(without)}"
        return Rule("mean", passed=False, reason=reason, detail=detail)
    passed = _reaches(mean, threshold)
    return Rule(
        "mean",
        passed=passed,
        reason=f"the mean is {value}, {'at least' if passed else 'below its'} {least}",
        detail=detail,
    )


def _scored(samples: Iterable[Row]) -> list[Row]:
    return [row for row in samples if row["status"] == "scored" and row["sample_status"] != "missing"]


def _checks_rule(thresholds: Mapping[str, float], judged: Sequence[Row]) -> Rule:
    rows = [_check_row(name, least, [v for v in judged if v["check_id"] == name]) for name, least in thresholds.items()]
    below = [row for row in rows if not row["passed"]]
    reason = f"{len(rows) - len(below)} of {len(rows)} checks at their threshold"
    reason += "".join(f"; {row['check']} {_check_words(row)}{_by(row)}" for row in below)
    return Rule("checks", passed=not below, reason=reason, detail={"checks": rows})


def _check_row(name: str, threshold: float, verdicts: Sequence[Row]) -> dict[str, Any]:
    """One check against its threshold; a verdict that could not be had is never averaged away."""
    means = [_mean(v) for v in _by_case((v for v in verdicts if v["status"] == "scored"), "raw").values()]
    known = [mean for mean in means if mean is not None]
    not_scored = sum(v["status"] == "not_scored" for v in verdicts)
    undefined = sum(v["status"] == "scored" and v["raw"] is None for v in verdicts)
    mean = _mean(known)
    share = all(v["raw"] == v["value"] for v in verdicts if v["status"] == "scored")
    return {
        "check": name,
        "mean": mean,
        "threshold": threshold,
        "passed": _reaches(mean, threshold) and not not_scored and not undefined,
        "cases": len(known),
        "full": sum(value >= 1 for value in known) if share and set(known) <= {0.0, 1.0} else None,
        "not_scored": not_scored + undefined,
        "unit": "share" if share else "raw",
        "stochastic": any(v["stochastic"] for v in verdicts),
        **_answered_by(verdicts),
    }


def _answered_by(verdicts: Sequence[Row]) -> dict[str, Any]:
    """The judge's models and its calibration id, or `uncalibrated`; nothing for a check that no model answers."""
    models, calibration = judged_by(str(v.get("judge") or "") for v in verdicts)
    stochastic = any(v["stochastic"] for v in verdicts)
    return {"judge": models, "calibration": calibration} if stochastic else {"judge": [], "calibration": None}


def _by(row: Mapping[str, Any]) -> str:
    return f" (judged by {', '.join(row['judge']) or 'nobody'}, {row['calibration']})" if row["stochastic"] else ""


def _check_words(row: Mapping[str, Any]) -> str:
    if row["not_scored"]:
        return f"has {counted(row['not_scored'], 'verdict')} that could not be had"
    if row["mean"] is None:
        return "has no verdict"
    value, least = _shown(row["mean"], row["threshold"])
    if row["full"] is not None:
        return f"passed {row['full']} of {counted(row['cases'], 'case')}: {value}, below its {least}"
    return f"has a mean of {value} over {counted(row['cases'], 'case')}, below its {least}"


def _floor_rule(floor: float, samples: Sequence[Row]) -> Rule:
    scored = [row for row in _scored(samples) if row["score"] is not None]
    below = sorted(
        (row for row in scored if not _reaches(row["score"], floor)), key=lambda row: (row["score"], _name(row))
    )
    detail = {
        "threshold": floor,
        "below": [{"case_id": row["case_id"], "sample": row["sample"], "score": row["score"]} for row in below],
    }
    unknown = len(samples) - len(scored)
    if below:
        named = [f"{_name(row)} at {_shown(row['score'], floor)[0]}" for row in below]
        reason = f"{len(below)} of {len(samples)} samples below {floor:.2f}: {_list(named)}"
    elif unknown:
        reason = f"{unknown} of {len(samples)} samples have no score to hold against {floor:.2f}"
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
        held = f"{len(cases) - len(wrong)} of {len(cases)} required cases passed in every sample"
        reason = f"{held}; not: {_list([_name(row) for row in failed])}"
    else:
        reason = f"all {len(cases)} required cases passed in every sample"
    keys = {_key(row) for row in required if "passed_deterministic" in row}
    judges = sorted({row["check_id"] for row in judged if row["stochastic"] and _key(row) in keys})
    if judges:
        reason += f"; judges never decide a required case, so left out here: {', '.join(judges)}"
    return Rule("required", passed=not failed, reason=reason, detail=detail)


def _passes_without_models(row: Row) -> bool:
    """Whether a sample passes by deterministic verdicts: a judge alone neither fails nor passes a required case."""
    if row["status"] == "error" or row["sample_status"] == "missing":
        return False
    return bool(row["passed_deterministic"] if "passed_deterministic" in row else row["passed"])


def _pass_rate_rule(threshold: float, samples: Sequence[Row]) -> Rule:
    scored = {_key(row) for row in _scored(samples)}
    passes: dict[str, list[bool]] = defaultdict(list)
    for row in samples:
        passes[str(row["case_id"])].append(_key(row) in scored and bool(row["passed"]))
    rate = _mean([sum(each) / len(each) for each in passes.values()])
    detail = {"pass_rate": rate, "threshold": threshold}
    if rate is None:
        return Rule("pass_rate", passed=False, reason="no sample was planned", detail=detail)
    passed, (value, least) = _reaches(rate, threshold), _shown(rate, threshold)
    count = f"{sum(map(sum, passes.values()))} of {len(samples)} planned samples passed: {value}"
    return Rule(
        "pass_rate", passed=passed, reason=f"{count}, {'at least' if passed else 'below its'} {least}", detail=detail
    )


def _coverage_rule(
    samples: Sequence[Row], judged: Sequence[Row], problems: Sequence[str], left_out: Collection[str]
) -> Rule:
    detail: dict[str, Any] = {"planned": len(samples), "scored": len(_scored(samples)), "verdicts": len(judged)}
    which = "their verdicts without a judge" if left_out else "all their verdicts"
    reason = "; ".join(problems) or f"all {len(samples)} planned samples and {which} are scored"
    if left_out:
        count = sum(row["check_id"] in left_out and row["status"] == "not_applicable" for row in judged)
        named = f"judge{'s' if len(left_out) > 1 else ''} {', '.join(left_out)}"
        reason += f"; left out of this run: {named} ({counted(count, 'verdict')})"
        detail["judges_left_out"] = list(left_out)
    return Rule("coverage", passed=not problems, reason=reason, detail=detail)


def _coverage_problems(
    samples: Sequence[Row], judged: Sequence[Row], checks_of: Mapping[str, Collection[str]]
) -> list[str]:
    """What keeps the gate from having seen everything, one clause each."""
    if not samples:
        return ["no sample was planned, so nothing was measured"]
    scored = _scored(samples)
    seen = {_key(row) for row in scored}
    measured = {_key(row) for row in judged if row["status"] == "scored"}
    written = {(*_key(row), row["check_id"]) for row in judged}
    absent = [
        (row, name)
        for row in scored
        for name in checks_of.get(str(row["case_id"]), ())
        if (*_key(row), name) not in written
    ]
    names = {
        ("planned sample is not scored", "planned samples are not scored"): [
            _name(row) for row in samples if _key(row) not in seen
        ],
        ("verdict could not be had", "verdicts could not be had"): [
            _verdict_name(v) for v in judged if v["status"] == "not_scored"
        ],
        ("verdict was never written", "verdicts were never written"): [f"{_name(row)} {name}" for row, name in absent],
        ("verdict lies off the scale 0 to 1", "verdicts lie off the scale 0 to 1"): [
            _verdict_name(v) for v in judged if v["status"] == "scored" and _off_scale(v["value"])
        ],
        ("score lies off the scale 0 to 1", "scores lie off the scale 0 to 1"): [
            _name(row) for row in scored if row["score"] is not None and _off_scale(row["score"])
        ],
        ("sample was measured by no check", "samples were measured by no check"): [
            _name(row) for row in scored if _key(row) not in measured
        ],
    }
    problems = [f"{counted(len(found), *what)}: {_list(found)}" for what, found in names.items() if found]
    return (
        [f"{len(scored)} of {len(samples)} planned samples are scored", *problems]
        if len(scored) < len(samples)
        else problems
    )


def _verdict_name(verdict: Row) -> str:
    return f"{_name(verdict)} {verdict['check_id']}"


def _off_scale(value: Any) -> bool:
    return value is None or not -TOLERANCE <= float(value) <= 1 + TOLERANCE
