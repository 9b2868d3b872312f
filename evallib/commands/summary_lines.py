"""The figures of one view as plain text for a terminal: every interval under the name of its question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evallib.caption import judge_words
from evallib.printing import interval, number, table
from evallib.stdout import counted, visible

__all__ = ["summary_lines"]

_FEW = 10
"""Of fewer cases than this a slice shows its counts alone."""
_NAMED = 10
"""Flaky cases named; the rest are counted. `--json` has all."""


def summary_lines(summary: Mapping[str, Any]) -> list[str]:
    """The figures of one view, then a row per k, split, tag and check."""
    return [
        *_headline(summary),
        *_intervals(summary),
        *_curves(summary),
        *_flaky(summary),
        *_slices("split", summary["by_split"] if len(summary["by_split"]) > 1 else {}),
        *_slices("tag", summary["by_tag"]),
        *_checks(summary["by_check"]),
    ]


def _headline(summary: Mapping[str, Any]) -> Iterator[str]:
    label = f" ({summary['label']})" if summary["label"] else ""
    yield (
        f"view {summary['view']}{label}: {counted(summary['cases'], 'case')}, "
        f"{counted(summary['planned'], 'planned sample')}, {summary['scored']} scored, "
        f"{summary['errors']} without an outcome"
    )
    errors = f", without errors {_rate(summary['without_errors'])}, bounds{interval(summary['bounds'])}"
    left_out = f" (without {summary['score_left_out']} that have none)" if summary["score_left_out"] else ""
    yield (
        f"pass rate {_rate(summary)}{errors * bool(summary['errors'])}, "
        f"mean score {number(summary['score_mean'])}{interval(summary['score_mean_interval'])}{left_out}"
    )


def _rate(figures: Mapping[str, Any]) -> str:
    return number(figures["pass_rate"]) + interval(figures["pass_rate_interval"])


def _intervals(summary: Mapping[str, Any]) -> Iterator[str]:
    rerun, micro = summary["rerun"], summary["pass_rate_micro"]
    again = interval(rerun["pass_rate_interval"]) or f" none, {rerun['why_none']}"
    of = f"intervals are of other cases like these (95 %); of these very cases, asked again:{again}"
    yield (
        f"{'one case has no interval' if summary['cases'] == 1 else of}; pooled over samples the pass rate is "
        f"{number(micro)}{interval(summary['pass_rate_micro_interval'])}"
    )
    if "bootstrap" in summary:
        drawn = summary["bootstrap"]
        ends = interval(drawn["pass_rate_interval"]) or " none, as drawing the cases again does not move it"
        yield (
            f"by cases drawn again ({drawn['resamples']:,} times, seed {drawn['seed']}): pass rate{ends}, "
            f"mean score{interval(drawn['score_mean_interval']) or ' none'}"
        )


def _curves(summary: Mapping[str, Any]) -> list[str]:
    names = ["pass_at", "pass_hat"]
    header = ["k", "pass@k", "pass^k", "cases"]
    if "bootstrap" in summary:
        header[3:3] = ["pass@k drawn again", "pass^k drawn again"]
    rows = []
    for k, cases in summary["eligible_cases"].items():
        cells = [number(summary[name][k]) + interval(summary[f"{name}_interval"][k]) for name in names]
        if "bootstrap" in summary:
            cells += [interval(summary["bootstrap"][f"{name}_interval"][k]).strip() or "—" for name in names]
        of = f" of {summary['cases']}" if cases < summary["cases"] else ""
        rows.append([k, *cells, f"{cases}{of}"])
    return table(header, rows)


def _flaky(summary: Mapping[str, Any]) -> Iterator[str]:
    if summary["flaky"]:
        cases: Sequence[str] = summary["flaky_cases"]
        more = f" and {len(cases) - _NAMED} more" if len(cases) > _NAMED else ""
        named = f" ({visible(', '.join(cases[:_NAMED]))}{more})" if cases else ""  # of a sealed suite none is named
        yield f"flaky, passed in some samples and failed in others: {counted(summary['flaky'], 'case')}{named}"


def _slices(name: str, slices: Mapping[str, Any]) -> list[str]:
    if not slices:
        return []
    rows = [
        [
            visible(each),
            str(one["cases"]),
            f"{one['passed']}/{one['planned']}",
            _rate(one) if one["cases"] >= _FEW else "",
            str(one["errors"]),
        ]
        for each, one in slices.items()
    ]
    few = any(one["cases"] < _FEW for one in slices.values())
    rate = "pass rate" + f", of {_FEW} cases or more" * few
    return table([name, "cases", "passed", rate, "without outcome"], rows)


def _checks(checks: Mapping[str, Any]) -> list[str]:
    rows = [
        [
            name,
            number(c["mean_raw"]),
            str(c["passed"]),
            str(c["failed"]),
            str(c["not_scored"]),
            str(c["not_applicable"]),
            judge_words(c) if c["stochastic"] else "",
        ]
        for name, c in checks.items()
    ]
    return table(["check", "mean", "passed", "failed", "not scored", "n/a", ""], rows)
