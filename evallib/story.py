"""A run told in sentences: what ran, how good it was, what decides, what changed afterwards, what to read next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evallib.caption import judge_words
from evallib.metrics import per_case
from evallib.printing import interval, number
from evallib.stdout import counted, signed
from evallib.views.figures import Figures
from evallib.views.load import View

__all__ = ["notices", "story_rows"]

_NEXT = 5


def notices(view: View) -> list[str]:
    """What must stand on top of every report: that the run is not all there, and which of its checks are unproven."""
    return [*_not_there(view), *([f"{view.unproven}."] if view.unproven else [])]


def _not_there(view: View) -> list[str]:
    planned, there = len(view.run.planned), len(view.samples)
    if not planned:
        return ["This run planned no sample: there is nothing to report."]
    if not there:
        return [
            f"This run holds nothing: none of {counted(planned, 'planned sample')} is there. No figure says anything."
        ]
    if not view.run.complete or there < planned:
        return [f"This run is incomplete: {there} of {planned} planned samples are there; the others count as fails."]
    return []


def story_rows(figures: Sequence[Figures]) -> Iterator[tuple[str, str]]:
    """(what, sentence) in the order in which somebody asks."""
    strict = figures[0]
    summary = strict.summary()
    yield "Gate", _gate(strict)
    yield "Pass rate", _rate(summary)
    yield "Over repeats", _repeats(strict, summary)
    if summary["by_check"]:
        yield "Weakest check", _weakest(summary)
    judged = [f"{name}: {judge_words(one)}" for name, one in summary["by_check"].items() if one["stochastic"]]
    if judged:
        yield "Judges", f"{'; '.join(judged)}. No judge decides a required case."
    for later in figures[1:]:
        yield f"View {later.view}", _later(later.summary(), summary)
    yield "Read next", _next(strict)


def _gate(figures: Figures) -> str:
    decision = figures.decision()
    blocked = ", ".join(rule.rule for rule in decision.rules if not rule.passed)
    kind = f"no release decision: {decision.why_no_release}" if decision.why_no_release else "the release decision"
    return f"{decision.decision}{f' by {blocked}' if blocked else ''} ({kind})."


def _rate(summary: Mapping[str, Any]) -> str:
    passed = round(summary["pass_rate_micro"] * summary["planned"])
    rate = number(summary["pass_rate"]) + interval(summary["pass_rate_interval"])
    said = f"{rate}: {passed} of {counted(summary['planned'], 'sample')}"
    if summary["errors"]:
        low, high = summary["bounds"]
        said += f", {counted(summary['errors'], 'error')} counted as fails; {low:.3f} to {high:.3f} whatever they were"
    return f"{said}."


def _repeats(figures: Figures, summary: Mapping[str, Any]) -> str:
    cases = per_case(figures.outcomes)
    always, never = int((cases["pass_rate"] == 1).sum()), int((cases["pass_rate"] == 0).sum())
    k = next(reversed(summary["pass_at"]), None)
    ends = f"pass@{k} {number(summary['pass_at'][k])}, pass^{k} {number(summary['pass_hat'][k])}; " if k else ""
    some = len(cases) - always - never
    return f"{ends}of {counted(len(cases), 'case')} {always} always pass, {some} sometimes, {never} never."


def _weakest(summary: Mapping[str, Any]) -> str:
    known = {name: one for name, one in summary["by_check"].items() if one["mean_value"] is not None}
    if not known:
        return "No check has a verdict."
    name, low = min(known.items(), key=lambda item: (item[1]["mean_value"], item[0]))
    return (
        f"{name}: {low['failed']} of {low['passed'] + low['failed']} verdicts failed, mean {number(low['mean_raw'])}."
    )


def _later(summary: Mapping[str, Any], strict: Mapping[str, Any]) -> str:
    moved = summary["pass_rate"] - strict["pass_rate"]
    return f"pass rate {number(summary['pass_rate'])}, {signed(moved)} from strict; {summary['label']}."


def _next(figures: Figures) -> str:
    cases = per_case(figures.outcomes)
    low = cases[cases["pass_rate"] < 1].sort_values(["pass_rate", "case_id"]).head(_NEXT)
    named = [
        f"{case} ({passes} of {n})" for case, passes, n in zip(low["case_id"], low["passes"], low["n"], strict=True)
    ]
    return (
        f"{', '.join(named)}."
        if named
        else "Nothing failed: read passes drawn at random (`evallib adjudicate --plan`)."
    )
