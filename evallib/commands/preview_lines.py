"""A preview of changed criteria as plain text: the flips with what readings say of them, the figures, the costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evallib.desk.flips import FlipQueue
from evallib.printing import both, regression_lines, table, turned_lines, unpublished_lines, unseen_lines
from evallib.rescoring.impact import Impact
from evallib.stdout import counted, visible

__all__ = ["preview_lines", "queue_lines"]

_FLIPS, _RUNS = 60, 20
"""Rows that a terminal is given; --json has all."""


def preview_lines(impact: Impact) -> list[str]:
    """Counts, every flip by name, figures under both criteria, checks and their cost, and what would be refused."""
    seen = impact.as_dict()
    return [
        *_head(impact, seen),
        *_flips(seen["flips"], expects=impact.entry is not None),
        *unseen_lines(seen),
        *turned_lines(seen),
        *unpublished_lines(seen),
        *[f"missed: {m['run']} {m['case']} {m['sample']} to {m['to']}" for m in seen["missed"]],
        *[
            f"expected of a run that is not looked at here: {e['run']} {e['case']} {e['sample']}"
            for e in seen["elsewhere"]
        ],
        *_rates(seen["rates"]),
        *_checks(seen["checks"], seen["costs"]),
        *[visible(f"left out: {one['run']}: {one['why']}") for one in seen["left_out"]],
        *map(visible, regression_lines(impact.regressions)),
        visible(impact.rule),
        *[visible(f"the rescoring itself would be refused: {said}") for said in seen["would_refuse"]],
    ]


def queue_lines(id_: str, queue: FlipQueue) -> list[str]:
    """How many answers are to be read, never which of them flip, and the command that reads them."""
    few = queue.controls < queue.flips
    more = "; there are no more that nobody read, so being asked tells something" * few
    flips = counted(queue.flips, "answer")
    return [
        f"plan {id_}: {flips} that would flip and nobody read, among {queue.controls} that would not{more}",
        f"read them blind: evallib adjudicate {' '.join(queue.plan.runs)} --by NAME --plan-id {id_}",
        "the entry names what strict says of each item: do not open it before you have read",
    ]


def _head(impact: Impact, seen: Mapping[str, Any]) -> list[str]:
    flips, by = seen["flips"], seen["read"]
    samples = sum(one["planned"] for one in seen["rates"] if one["run"] is not None)
    forward = sum(flip["to"] == "pass" for flip in flips)
    read = ", ".join(f"{by.get(state, 0)} {state}" for state in ("read", "unread", "contradicted", "disputed"))
    of = f"{counted(len(impact.runs), 'run')}, {counted(samples, 'sample')}"
    suite = f"suite {impact.suite.suite} {impact.suite.digest[:16]}"
    computed = f"{counted(seen['recomputed'], 'verdict')} recomputed, {seen['carried']} carried over"
    lines = [
        f"preview, no verdict written, only a stamp ({seen['label']}): {of}, {suite}; {computed}",
        f"{counted(len(flips), 'flip')}: {forward} to pass, {len(seen['reverse'])} to fail; {read}",
    ]
    if impact.entry is not None:
        lines.append(f"of what the entry expects: {len(seen['unexpected'])} unexpected, {len(seen['missed'])} missed")
    if seen["outdated"]:
        lines.append(f"recomputed because their kind has judged otherwise since: {', '.join(seen['outdated'])}")
    if seen["judge_calls"] or seen["judge_replies_kept"]:
        kept = seen["judge_replies_kept"]
        lines.append(f"judges: {seen['judge_calls']} calls made, {kept} replies kept from before")
    return lines


def _flips(flips: Sequence[Mapping[str, Any]], *, expects: bool) -> list[str]:
    rows = [
        [
            flip["run"], flip["case_id"], str(flip["sample"]), f"{flip['from']} -> {flip['to']}", both(flip["score"]),
            flip["read"].upper() if flip["read"] in {"contradicted", "disputed"} else flip["read"],
            ("expected" if flip["expected"] else "UNEXPECTED") if expects else "",
            ", ".join(flip["checks"]),
            visible("; ".join(hit["text"] for hit in flip["hits"][:1])),
        ]
        for flip in flips[:_FLIPS]
    ]  # fmt: skip
    header = ["run", "case", "sample", "flip", "score", "people", "", "checks", "newly matches"]
    return [*(table(header, rows) if rows else []), *_more(flips, _FLIPS, "flips")]


def _more(of: Sequence[object], most: int, what: str) -> list[str]:
    return [f"and {len(of) - most} more {what}; --json has all"] if len(of) > most else []


def _rates(rates: Sequence[Mapping[str, Any]]) -> list[str]:
    each = [one for one in rates if one["run"] is not None]
    rows = [_rate_row(one) for one in (*each[:_RUNS], *(one for one in rates if one["run"] is None))]
    header = ["run", "cases", "passed", "pass rate", "k", "pass@k", "pass^k"]
    apart = (
        ["the runs were scored by different criteria, so they are not pooled"] if len(each) == len(rates) > 1 else []
    )
    return [*table(header, rows), *_more(each, _RUNS, "runs"), *apart]


def _rate_row(one: Mapping[str, Any]) -> list[str]:
    k = list(one["pass_at"])[-1]
    passed = f"{both(one['passed'], str)} of {one['planned']}"
    figures = (one["pass_rate"], one["pass_at"][k], one["pass_hat"][k])
    rate, at, hat = (both(figure) for figure in figures)
    return [one["run"] or "all pooled", str(one["cases"]), passed, rate, k, at, hat]


def _checks(checks: Sequence[Mapping[str, Any]], costs: Sequence[Mapping[str, Any]]) -> list[str]:
    by_check = {one["check"]: one for one in costs}
    moved = {one["check"]: one for one in checks}
    names = [*moved, *(name for name, one in by_check.items() if one["slow"] and name not in moved)]
    rest = counted(len(by_check.keys() - names), "more check")
    still = [f"{rest} computed anew, with no other verdict and not slow; --json has all"] * (rest[0] != "0")
    rows = [[name, *_moved_cells(moved.get(name)), *_cost_cells(by_check.get(name))] for name in names]
    header = [
        "check",
        "to pass",
        "to fail",
        "none",
        "in flips",
        "CPU of 1,000 answers",
        "of one long line",
        "growth",
        "",
    ]
    return [*(table(header, rows) if rows else []), *still]


def _moved_cells(one: Mapping[str, Any] | None) -> list[str]:
    return [str(one[name]) if one else "0" for name in ("to_pass", "to_fail", "to_none", "flips")]


def _cost_cells(one: Mapping[str, Any] | None) -> list[str]:
    """Seconds for 1,000 answers, of one line with its size, and how time grows where the line is twice as long."""
    if one is None:
        return ["not computed", "", "", ""]
    line = f"{one['line_s']:.3f} s at {one['line'] // 1000} kB" if one["line"] else ""
    growth = f"x{one['growth']:.1f}" if one["growth"] is not None else ""
    return [f"{one['per_1000_s']:.3f} s", line, growth, "SLOW" if one["slow"] else ""]
