"""What a figure must say about itself: what was counted, how, and under which view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evallib.metrics.checks import judge_words
from evallib.metrics.repeats import repeats_sentence
from evallib.stdout import counted

__all__ = ["caption"]


def caption(summary: Mapping[str, Any], suite: str, passes_when: str) -> str:
    """The sentences that belong to every figure of a summary."""
    low, high = summary["samples_per_case"]
    samples = counted(low, "sample") if low == high else f"{low} to {high} samples"
    runs = f"run{'s' if len(summary['runs']) > 1 else ''} {', '.join(summary['runs'])}"
    named = f"Suite {suite}, {runs}" if suite else f"{runs[0].upper()}{runs[1:]}"
    planned = f"{counted(summary['cases'], 'case')} x {samples} = {summary['planned']} planned"
    method = (
        "pass rate, pass@k and pass^k are means over cases with 95 % Wilson intervals on effective cases, which are "
        "about other cases like these"
    )
    parts = [
        f"{named}, view {summary['view']}: {planned}, {summary['scored']} scored, {_errors_sentence(summary)}.",
        f"A sample passes when {passes_when}; {method}.",
    ]
    if low != high:
        parts.append(f"Pooled over samples the pass rate is {summary['pass_rate_micro']:.3f}.")
    if summary["score_left_out"]:
        left = summary["score_left_out"]
        parts.append(
            f"The mean score leaves out {left} sample{'s' * (left != 1)} without a score, and the figures of a check "
            "the verdicts that could not be had."
        )
    if summary["depends_on_errors"]:
        low_end, high_end = summary["bounds"]
        parts.append(
            f"The conclusion depends on the errors: between {low_end:.3f} (all fail) and {high_end:.3f} (all pass)."
        )
    parts += filter(None, [repeats_sentence(summary["repeats"])])
    judges = {name: c for name, c in summary["by_check"].items() if c["stochastic"] and c["n"] > c["not_applicable"]}
    judged = [f"{name} {judge_words(check)}" for name, check in judges.items()]
    if judged:
        parts.append(f"Model verdicts: {'; '.join(judged)}.")
    if summary["label"]:
        parts.append(f"{summary['label'][0].upper()}{summary['label'][1:]}.")
    return " ".join(parts)


def _errors_sentence(summary: Mapping[str, Any]) -> str:
    if not summary["errors"]:
        return "no errors"
    kinds = ", ".join(f"{count} {kind}" for kind, count in summary["errors_by"].items())
    fails = "fail" if summary["errors"] == 1 else "fails"
    return f"{counted(summary['errors'], 'error')} ({kinds}) counted as {fails}"
