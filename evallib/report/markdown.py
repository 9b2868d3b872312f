"""The summary of a run in Markdown, as CI shows it beside a job: decision, views, rules, checks, what failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evallib.caption import joined, judge_words
from evallib.metrics import per_case
from evallib.printing import interval, number
from evallib.stdout import counted, visible
from evallib.story import notices
from evallib.views.figures import Figures

__all__ = ["escaped", "markdown_summary"]

_MOST = 20
"""Cases named; the page and the run have all."""
_ACTIVE = re.compile(r"([\\`*_{}\[\]()#+!|~@:$^-])")


def markdown_summary(figures: Sequence[Figures], failed: str = "") -> str:
    """Everything a reader of a CI job needs; texts are escaped, so that no answer or id can draw or link anything.

    `failed` says why there is no page, where there is none.
    """
    strict = figures[0]
    run = strict.views[0].run.id
    return "\n".join(
        [
            f"## {escaped(run)}: {strict.decision().decision}",
            "",
            *(f"> **{escaped(one)}**\n" for one in [*([failed] if failed else []), *notices(strict.views[0])]),
            *_views(figures),
            *_rules(strict),
            *_checks(strict.summary()),
            *_failing(strict),
            *(f"<sub>{escaped(line)}</sub>\n" for line in joined([one.caption for one in figures]).split("\n")),
        ]
    )


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    yield from (f"| {' | '.join(map(escaped, row))} |" for row in rows)
    yield ""


def _views(figures: Sequence[Figures]) -> Iterator[str]:
    summaries = [one.summary() for one in figures]
    rows = [
        [
            one["view"] + (f" ({one['label']})" if one["label"] else ""),
            f"{round(one['pass_rate_micro'] * one['planned'])} of {one['planned']}",
            number(one["pass_rate"]) + interval(one["pass_rate_interval"]),
            str(one["errors"]),
            *_ends(one),
        ]
        for one in summaries
    ]
    yield from _table(["view", "samples passed", "pass rate", "without outcome", "pass@k", "pass^k"], rows)


def _ends(summary: Mapping[str, Any]) -> list[str]:
    k = next(reversed(summary["pass_at"]), None)
    if k is None:
        return ["—", "—"]
    ends = ((number(summary[name][k]), interval(summary[f"{name}_interval"][k])) for name in ("pass_at", "pass_hat"))
    return [f"{shown}{between} (k={k})" for shown, between in ends]


def _rules(strict: Figures) -> Iterator[str]:
    decision = strict.decision()
    why = f"No release decision: {decision.why_no_release}." if decision.why_no_release else "The release decision."
    yield f"**Gate: {decision.decision}.** {escaped(why)}\n"
    rows = [["pass" if rule.passed else "blocked", rule.rule, rule.reason] for rule in decision.rules]
    yield from _table(["", "rule", "reason"], rows)


def _checks(summary: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        [
            name,
            number(one["mean_raw"]),
            *(str(one[count]) for count in ("passed", "failed", "not_scored")),
            judge_words(one) if one["stochastic"] else "rule",
        ]
        for name, one in summary["by_check"].items()
    ]
    if rows:
        yield from _table(["check", "mean", "passed", "failed", "not scored", "answered by"], rows)


def _failing(strict: Figures) -> Iterator[str]:
    cases = per_case(strict.outcomes)
    low = cases[cases["pass_rate"] < 1].sort_values(["pass_rate", "case_id"])
    if low.empty:
        return
    rows = [
        [row["case_id"], f"{row['passes']} of {row['n']}", _reason(strict, row["case_id"])]
        for row in low.head(_MOST).to_dict("records")
    ]
    cut = f", the lowest {_MOST}" * (len(low) > _MOST)
    yield f"{counted(len(low), 'case')} with a sample that did not pass{cut}:\n"
    yield from _table(["case", "passed", "first reason"], rows)


def _reason(strict: Figures, case: str) -> str:
    rows = strict.outcomes[strict.outcomes["case_id"] == case].to_dict("records")
    return next((str(row["reason"])[:160] for row in rows if row["passed"] is not True), "")


def escaped(text: str) -> str:
    """The text as a reader sees it: control characters spelled out, nothing that Markdown or HTML would act on."""
    plain = visible(text).replace("\n", " ").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _ACTIVE.sub(r"\\\1", plain).replace("www.", r"www\.")
