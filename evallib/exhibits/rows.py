"""Rows of the frames that notebooks show of a run, each made of plain numbers and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from evallib.caption import judge_words
from evallib.errors import InputError
from evallib.printing import interval, number
from evallib.records import canonical_json, whole_seconds
from evallib.store import Run, StoredRescoring

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "check_counts", "check_row", "entry_row", "flat_figures", "flip_rows", "heading", "labelled", "outcome_words",
    "overview_row", "plan_rows", "whole_ks",
]  # fmt: skip


def flat_figures(summary: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """(`pass_at.1`, its JSON) for every value of a summary, in its order."""
    for name, value in summary.items():
        where = f"{path}.{name}" if path else str(name)
        if isinstance(value, Mapping) and value:
            yield from flat_figures(value, where)
        else:
            yield where, canonical_json(value)


def plan_rows(run: Run) -> Iterator[tuple[str, str]]:
    """What was decided before the first sample, and what came of it: (thing, words)."""
    plan = run.plan
    yield "run", run.id
    yield "suite", f"{plan['suite']}, digest {plan['suite_digest'][:16]}"
    imported = bool(plan.get("imported"))
    yield "imported" if imported else "begun", whole_seconds(str(plan.get("created", "")))
    if imported:
        yield "source", _said(plan["source"])
    yield "cases", str(len(plan["cases"])) if imported else f"{len(plan['cases'])} ({plan.get('split') or 'all'})"
    yield "samples in the source" if imported else "planned samples", str(len(run.planned))
    for title in ("target", "judge", "labels", "self_check", "build", "host"):
        if plan.get(title):
            yield title.replace("_", "-"), _said(plan[title])
    if not run.complete:
        yield "ended", "not yet: the run is incomplete"
        return
    if not imported:
        yield "ended", whole_seconds(str(run.manifest.get("finished", "")))
    yield "samples", _said(run.manifest["counts"]["statuses"])
    yield "usage", _said({**run.manifest["usage"], "cost_usd": run.manifest["cost_usd"]})


def _said(value: object) -> str:
    """A value of JSON in words; what is null, empty or an empty list is left out of a mapping."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    if not isinstance(value, Mapping):
        return str(value)
    said = {str(name).replace("_", " "): "" if one is None else _said(one) for name, one in value.items()}
    return ", ".join(f"{name} {text}" for name, text in said.items() if text)


def heading(summary: Mapping[str, Any]) -> str:
    """A column's name: the view, and its label where it has one, so that no cell of it stands without."""
    return f"{summary['view']} ({summary['label']})" if summary["label"] else str(summary["view"])


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame as it is shown: each row's view with its label in words."""
    named = zip(frame["view"], frame["label"], strict=True)
    shown = frame.assign(view=[heading({"view": view, "label": label}) for view, label in named])
    return shown.drop(columns=["post_hoc", "label"])


def overview_row(s: Mapping[str, Any]) -> dict[str, Any]:
    """One view in one row: counts, and rates with their intervals and bounds."""
    without = s["without_errors"]
    k = list(s["pass_at"])[-1]
    return {
        "view": heading(s),
        "passed": f"{round(s['pass_rate_micro'] * s['planned'])} of {s['planned']}",
        "cases": s["cases"],
        "without outcome": s["errors"],
        "pass rate": f"{number(s['pass_rate'])}{interval(s['pass_rate_interval'])}",
        "of those scored": f"{number(without['pass_rate'])}{interval(without['pass_rate_interval'])}",
        "bounds": interval(s["bounds"]).strip(),
        f"pass@{k}": f"{number(s['pass_at'][k])}{interval(s['pass_at_interval'][k])}",
        f"pass^{k}": f"{number(s['pass_hat'][k])}{interval(s['pass_hat_interval'][k])}",
        "mean score": f"{number(s['score_mean'])}{interval(s['score_mean_interval'])}",
    }


def check_row(name: str, summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """One check in one row: a cell per view."""
    row, by = {"check": name}, ""
    for s in summaries:
        check = s["by_check"].get(name)
        row[heading(s)] = _counted(check) if check else "—"
        if check:
            by = judge_words(check) if check["stochastic"] else "rule"
    return {**row, "answered by": by}


def check_counts(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row per check of one view, as `charts.check_bars` draws it."""
    said = {"view": summary["view"], "post_hoc": summary["post_hoc"], "label": summary["label"] or ""}
    counts = ("passed", "failed", "not_scored", "mean_raw")
    return [
        {
            **said,
            "check_id": name,
            **{one: check[one] for one in counts},
            "judged": judge_words(check) if check["stochastic"] else "",
        }
        for name, check in summary["by_check"].items()
    ]


def _counted(check: Mapping[str, Any]) -> str:
    counts = {word.replace("_", " "): check[word] for word in ("passed", "failed", "not_scored", "not_applicable")}
    said = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
    return f"mean {number(check['mean_raw'])}: {said}"


def outcome_words(outcomes: pd.DataFrame) -> Iterable[str]:
    """Each outcome in a word, and what was read of it."""
    for status, passed, reading in zip(outcomes["status"], outcomes["passed"], outcomes["reading"], strict=True):
        word = status.replace("_", " ") if status != "scored" else "pass" if passed else "fail"
        yield f"{word} (read: {reading})" if reading else word


def whole_ks(given: str) -> tuple[int, ...]:
    """`1,2,5` as numbers; InputError for anything else."""
    try:
        ks = tuple(int(one) for one in given.split(",")) if given else ()
    except ValueError:
        ks = (0,)
    if any(k < 1 for k in ks):
        raise InputError(f"k is {given!r}; expected whole numbers from 1, separated by commas, as in 1,2,5")
    return ks


def entry_row(one: StoredRescoring, row: Mapping[str, Any], label: str) -> dict[str, Any]:
    """One rescoring in one row: who, when, why, and how much."""
    entry = one.entry
    predicted = "predicted after preview" if entry.predicted_after_preview else "predicted before the result was seen"
    return {
        "entry": one.name,
        "label": label,
        "author": entry.author,
        "time": whole_seconds(entry.time),
        "reason": entry.reason,
        "recomputed": row["recomputed"],
        "carried": row["carried"],
        "expected flips": predicted if entry.expects else "none named",
    }


def flip_rows(row: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Every flip of one run in one rescoring, then what was expected and did not happen."""
    for flip in row["flips"]:
        word = "expected" if flip["expected"] else "UNEXPECTED"
        word += ", reverse" if flip["to"] == "fail" else ""
        word += ", UNREAD" if flip.get("read") == "unread" else ""
        checks = ", ".join(flip["checks"])
        score = " to ".join("—" if one is None else f"{one:.3f}" for one in flip.get("score", ()))
        yield [flip["case_id"], flip["sample"], flip["from"], flip["to"], score, checks, word]
    for missed in row["missed"]:
        yield [missed["case"], missed["sample"], "", "", "", "", f"MISSED, expected {missed['to']}"]
