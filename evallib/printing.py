"""Plain text for a terminal: tables, summaries, and untrusted text with its control characters made visible."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from evallib.desk.plans import clean_bound
from evallib.entries import Plan, Reading, Rubric
from evallib.judges import stored_votes
from evallib.masking import Masks, masks_of
from evallib.records import Outcome, Sample, SampleKey, ToolCall, Turn, Verdict
from evallib.rescoring.changes import UNPUBLISHED
from evallib.standing import live_entries, standing_readings, why_stale
from evallib.stdout import counted, visible
from evallib.store import LoggedEntry, Run

__all__ = [
    "both",
    "calibration_lines",
    "corrected_words",
    "interval",
    "number",
    "p_words",
    "plan_lines",
    "progress_bar",
    "reading_lines",
    "regression_lines",
    "rescored_lines",
    "sample_lines",
    "sample_table",
    "shortened",
    "table",
    "turned_lines",
    "unpublished_lines",
    "unseen_lines",
    "views_table",
]

_MASKS = Masks()
"""For texts that stand apart from an answer."""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Left-aligned columns, two blanks apart."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def number(value: float | None, digits: int = 3) -> str:
    """A figure, or a dash where it is undefined."""
    return "—" if value is None else f"{value:.{digits}f}"


def p_words(value: float | None) -> str:
    """A p value, which is never 0, or a dash where it is undefined."""
    return "<0.001" if value is not None and value < 0.001 else number(value)


def shortened(text: str) -> str:
    """The text where it has at most 60 characters, else its first 59 and an ellipsis."""
    return text if len(text) <= 60 else f"{text[:59]}…"


def both(pair: Iterable[Any], said: Callable[[Any], str] = number) -> str:
    """A figure before and after."""
    return " -> ".join(map(said, pair))


def interval(ends: Sequence[float] | None) -> str:
    """`[lo, hi]`, or nothing where there is none."""
    return "" if ends is None else f" [{ends[0]:z.3f}, {ends[1]:z.3f}]"


def corrected_words(audits: Sequence[Mapping[str, Any]]) -> str:
    """The pass rate corrected by reading with its interval, or why there is none; several runs apart."""
    found = [one["corrected"] for one in audits]
    return "; ".join(
        (one["why"] if one["value"] is None else number(one["value"])) + interval(one["interval"]) for one in found
    )


def views_table(summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    """One row per view, every rate with its interval, pass@k and pass^k at the largest k, and its label."""
    rows = []
    for s in summaries:
        k = list(s["pass_at"])[-1]
        passed = round(s["pass_rate_micro"] * s["planned"])
        rows.append(
            [
                ", ".join(s["runs"]),
                s["view"],
                f"{passed}/{s['planned']}",
                f"{number(s['pass_rate'])}{interval(s['pass_rate_interval'])}",
                str(s["errors"]),
                f"{number(s['pass_at'][k])}{interval(s['pass_at_interval'][k])} (k={k})",
                f"{number(s['pass_hat'][k])}{interval(s['pass_hat_interval'][k])}",
                f"{number(s['score_mean'])}{interval(s['score_mean_interval'])}",
                s["label"] or "",
            ]
        )
    header = ["run", "view", "passed", "pass rate, 95 %", "without outcome", "pass@k", "pass^k", "mean score", ""]
    return table(header, rows)


def _word(outcome: Outcome) -> str:
    return {True: "pass", False: "fail", None: outcome.status}[outcome.passed]


def sample_table(samples: Sequence[Sample], outcomes: Mapping[SampleKey, Outcome]) -> list[str]:
    """One row per sample: outcome, score, status, what stands against it."""
    rows = []
    for sample in samples:
        outcome = outcomes[sample.key]
        rows.append(
            [
                sample.case_id,
                str(sample.sample),
                _word(outcome),
                number(outcome.score),
                sample.status,
                visible(_MASKS.mask(outcome.reason))[:90].replace("\n", " "),
            ]
        )
    return table(["case", "sample", "outcome", "score", "status", "reason"], rows)


def sample_lines(sample: Sample, verdicts: Sequence[Verdict], outcome: Outcome, masks: Masks | None) -> list[str]:
    """One sample in full: answer, tool calls, verdicts with their reasons; without masks, credentials as they are."""
    hide = masks.mask if masks else str
    lines = [
        f"== {sample.case_id} sample {sample.sample}: {_word(outcome)}, score {number(outcome.score)} ({sample.status})"
    ]
    last = len(sample.turns) - 1
    for place, turn in enumerate(sample.turns):
        text = sample.answer if place == last else turn.text
        lines += _turn_lines(turn, text, hide, alone=not last)
    if not sample.turns:
        lines += _text_lines(hide(sample.answer))
    rows = [
        [
            _verdict_word(v),
            v.check_id,
            number(v.raw),
            "critical" if v.critical else "",
            v.origin,
            _one_line(hide(v.reason), 300),
        ]
        for v in verdicts
    ]
    votes = [visible(hide(line)) for v in verdicts for line in _vote_lines(v)]
    return [*lines, *table(["verdict", "check", "raw", "", "origin", "reason"], rows), *votes, ""]


def _turn_lines(turn: Turn, text: str, hide: Callable[[str], str], *, alone: bool) -> list[str]:
    """One turn: the request, what was called and what came of it, what was left open, and the text."""
    lines = [f"-- {'asked' if alone else f'step {turn.step}'}: {turn.request}"] if turn.request else []
    lines += [_call_line("call", call) for call in turn.tool_calls]
    lines += [_call_line("result of", call) for call in turn.results]
    lines += [_call_line("left open", call) for call in turn.pending]
    return [*(_one_line(hide(line)) for line in lines), *_text_lines(hide(text))]


def _one_line(text: str, most: int = 500) -> str:
    """`text` on one line, and how long it is where that is too long."""
    line = visible(text).replace("\n", " ")
    return line if len(line) <= most else f"{line[:most]} ... ({len(line):,} characters in all)"


def _text_lines(text: str) -> list[str]:
    return [visible(line) for line in (text or "(no answer)").split("\n")]


def _vote_lines(verdict: Verdict) -> list[str]:
    """What each vote said; votes that said the very same stand in one line."""
    numbers: dict[str, list[str]] = {}
    for number, vote in enumerate(stored_votes(verdict), 1):
        numbers.setdefault(vote.problem or f"{vote.score}: {vote.reason}", []).append(str(number))
    return [
        f"-- vote{'s' * (len(same) > 1)} {', '.join(same)} on {verdict.check_id}: {said}".replace("\n", " ")
        for said, same in numbers.items()
    ]


def _call_line(what: str, call: ToolCall) -> str:
    given = json.dumps(call.arguments, ensure_ascii=False) if call.arguments or what != "result of" else ""
    came = f"error: {call.error}" if call.error else call.result
    return f"-- {what} {call.name} {given}".rstrip() + (f" -> {came}" if came else "")


def _verdict_word(verdict: Verdict) -> str:
    return {True: "pass", False: "fail", None: verdict.status}[verdict.passed]


def reading_lines(run: Run, log: Sequence[LoggedEntry]) -> list[str]:
    """One row per standing reading with cause and reason of its difference, then what else the log says of the run.

    That is: resolutions, readers who say two things at once, rubrics in force, the stale and the unknown.
    """
    readings = standing_readings(run, log)
    rows, more = [], []
    for item, stand in readings.by_item.items():
        place = [item[0], str(item[1]), item[2] or "(answer)"]
        hide = masks_of(run.by_key[item[:2]]).mask
        for logged in stand.entries:
            why = hide(stand.reason(logged))
            said = [_reading_word(logged), logged.entry.author, stand.cause(logged), why, logged.id]
            rows.append([_cell(cell) for cell in [*place, stand.state, *said]])
        if stand.resolution is not None:
            held = stand.resolution.entry
            why = hide(str(getattr(held, "reason", "")))
            more.append(f"resolved: {' '.join(place)} is {stand.state} by {held.author}: {why}")
        more += [f"forked: {' '.join(place)}: two readings by {who}, neither amends the other" for who in stand.forked]
    in_force = {e.check: e for _, e in live_entries(log) if isinstance(e, Rubric) and e.suite == run.suite.suite}
    more += [f"rubric of {e.check or '(answer)'} by {e.author}: {_MASKS.mask(e.text)}" for e in in_force.values()]
    more += [
        f"stale, not counted, {why_stale(run, entry)}: {_about(logged)}"
        for logged in readings.stale
        if isinstance(entry := logged.entry, Reading)
    ]
    more += [f"names what the run does not have: {_about(logged)}" for logged in readings.unknown]
    header = ["case", "sample", "check", "stands", "reading", "by", "cause", "reason", "id"]
    return [*table(header, rows), *(visible(line).replace("\n", " ") for line in more)]


def _cell(text: str) -> str:
    return visible(text)[:90].replace("\n", " ")


def _reading_word(logged: LoggedEntry) -> str:
    """What a reading says, and that it was blind."""
    entry = logged.entry
    return f"{entry.reading}{' (blind)' * entry.blind}" if isinstance(entry, Reading) else ""


def _about(logged: LoggedEntry) -> str:
    entry = logged.entry
    assert isinstance(entry, Reading)  # only readings are stale or unknown
    item = f"{entry.case} {entry.sample} {entry.check or '(answer)'}"
    return f"{item}, {_reading_word(logged)} by {entry.author}, {logged.id}"


def rescored_lines(rescored: Mapping[str, Any]) -> list[str]:
    """Counts, then every flip by name, then what was expected and did not happen."""
    lines = [
        (
            f"rescored ({rescored['label']}): {counted(rescored['recomputed'], 'verdict')} recomputed, "
            f"{rescored['carried']} carried over"
        ),
        (
            f"{counted(len(rescored['flips']), 'flip')}, {len(rescored['unexpected'])} unexpected, "
            f"{len(rescored['missed'])} missed, {len(rescored['reverse'])} from pass to fail"
        ),
    ]
    if rescored["outdated"]:
        lines.append(
            "recomputed because their kind has judged otherwise since the run was made: "
            + ", ".join(rescored["outdated"])
        )
    if rescored["judge_calls"] or rescored["judge_replies_kept"]:
        lines.append(
            f"judges: {rescored['judge_calls']} calls made, {rescored['judge_replies_kept']} replies kept from before"
        )
    rows = [
        [
            f["run"],
            f["case_id"],
            str(f["sample"]),
            f"{f['from']} -> {f['to']}",
            both(f["score"]),
            "expected" if f["expected"] else "UNEXPECTED",
            f["read"] if f["read"] == "read" else f["read"].upper(),
            ", ".join(f["checks"]),
        ]
        for f in rescored["flips"]
    ]
    lines += table(["run", "case", "sample", "flip", "score", "", "", "checks"], rows) if rows else []
    lines += [*unseen_lines(rescored), *turned_lines(rescored), *unpublished_lines(rescored)]
    lines += [f"missed: {m['run']} {m['case']} {m['sample']} to {m['to']}" for m in rescored["missed"]]
    lines += [
        f"expected of a run that is not rescored here: {e['run']} {e['case']} {e['sample']}"
        for e in rescored["elsewhere"]
    ]
    lines += regression_lines(rescored["regressions"])
    lines.append(rescored["rule"])
    if rescored["own_readings_only"]:
        lines.append("licensed by nobody's reading but its author's own")
    if rescored["predicted_after_preview"]:
        lines.append("the expected flips were edited after a preview: predicted after preview")
    return [*lines, f"entry {rescored['entry']}, view {rescored['view']}"]


def unpublished_lines(told: Mapping[str, Any]) -> list[str]:
    """Of which runs nobody can say what the criteria were that are changed, in a line; none where all are known."""
    runs = ", ".join(told["unpublished"])
    return [f"the criteria of the recorded verdicts of {runs} {UNPUBLISHED}"] if runs else []


def unseen_lines(told: Mapping[str, Any]) -> list[str]:
    """What no answer shows of changed criteria: changes without a flip or untested, and what may be weaker."""
    changes = ", ".join(f"{one['check']} ({one['fix']})" for one in told["in_no_flip"])
    lines = [f"no flip comes from: {changes}"] if changes else []
    lines += [f"untested change, no stored or example answer turns by it: {one}" for one in told["untested"]]
    if told["reworded"]:
        lines.append(f"described otherwise than recorded, and not listed: {', '.join(told['reworded'])}")
    if told["never_failed"]:
        never = counted(len(told["never_failed"]), "check")
        lines.append(
            f"in the place of recorded verdicts {never} of a case failed no stored answer: whether they were weakened "
            "cannot be seen; --json names them"
        )
    return lines


def turned_lines(told: Mapping[str, Any]) -> list[str]:
    """Which verdicts turned in samples that did not flip, a line for each check of a case."""
    return [
        f"turned without a flip: {one['check']} of {one['run']} {one['case_id']}, {one['from']} -> {one['to']}, "
        f"{counted(len(one['samples']), 'sample')} ({_first(one['samples'])})"
        for one in told["turned_without_flip"]
    ]


def _first(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:8])) + (", ..." if len(numbers) > 8 else "")


def regression_lines(tried: Mapping[str, Any] | None) -> list[str]:
    """What a changed suite says of the answers beside it that people read."""
    if tried is None:
        return [
            "no answer that people read lies beside the new suite (`evallib regressions`), none in the log can be tried"
        ]
    beside = f"{tried['of_the_log']} of them of the log, not kept beside the suite (`evallib regressions`)"
    counts = f"tried on {tried['tried']} of {counted(tried['answers'], 'answer')} that people read"
    counts += f"; {beside}" * bool(tried["of_the_log"])
    return [counts, *(f"still wrong: {said}" for said in tried["still_wrong"]), *tried["untried"]]


def calibration_lines(record: Mapping[str, Any]) -> list[str]:
    """The sentence the number licenses, then the figures it rests on, then every item that did not match."""
    named = {
        "agreement": "agreement",
        "false_pass_of_judged_passes": "false passes, of what it passes",
        "false_pass_of_labelled_fails": "false passes, of what people fail",
        "false_fail_of_judged_fails": "false fails, of what it fails",
        "false_fail_of_labelled_passes": "false fails, of what people pass",
    }
    rates = [(words, record[name]) for name, words in named.items()]
    rows = [[words, f"{r['count']} of {r['of']}", number(r["value"]), interval(r["interval"])] for words, r in rates]
    rows.append(["majority baseline", "", number(record["majority_baseline"]), ""])
    for name, words in (("kappa", "Cohen's kappa"), ("ac1", "Gwet's AC1")):
        rows.append(
            [
                words,
                counted(record["n"], "item"),
                number(record[name]["value"]),
                interval(record[name]["interval"]),
            ]
        )
    missed = [item for item in record["items"] if not item["matched"]]
    said = {True: "pass", False: "fail", None: "no verdict"}
    items = [
        [i["id"], i["kind"], said[i["label"]], said[i["predicted"]], visible(i["reason"]).replace("\n", " ")]
        for i in missed
    ]
    lines = [
        record["sentence"],
        f"{record['balance']}.",
        *([record["note"]] if record["note"] else []),
        *table(["", "counts", "value", ""], rows),
    ]
    lines += table(["differs", "kind", "people", "check", "reason"], items) if items else ["every item matched"]
    return [*filter(None, lines), f"kept as {record['id']}"]


def plan_lines(id_: str, plan: Plan) -> list[str]:
    """What a plan drew, one row per stratum, and what it licenses should no drawn pass be false; never which items."""
    rows = []
    for one in plan.strata:
        counts = [str(len(part)) for part in (one.items, one.twice, one.again)]
        bound = f"{100 * clean_bound(len(one.items), one.of):.1f} %" if one.strict == "pass" else ""
        if one.strict == "pass" and plan.passes < one.of:  # how many it is would tell a reader which run is which arm
            counts = [f"{plan.passes}+", "", ""]
            bound = f"{100 * clean_bound(plan.passes, one.of):.1f} %"
        rows.append([one.run, one.check or "(answer)", one.strict, str(one.of), *counts, bound])
    header = ["run", "check", "strict", "of", "drawn", "by two", "again", "bound"]
    many = "s" * (plan.after != 1)
    return [
        *(visible(line) for line in table(header, rows)),
        (
            f"seed {plan.seed}. +: and up to a quarter more, by the seed. bound: should no drawn pass be read as "
            "false, at most this share of the passes is false (one-sided 95 %, Clopper and Pearson)."
        ),
        *[f"after {plan.after} reading{many} of these runs: their readers could know what was drawn"]
        * bool(plan.after),
        *(f"replaces {name}: {visible(plan.reason)}" for name in plan.replaces),
        f"plan {id_}; its entry names what strict says of each item: do not open it before you have read",
    ]


def progress_bar(
    done: Iterable[int], already: int, total: int, *, unit: str = "sample", delay: float = 0
) -> Iterator[int]:
    """Passes `done` through while a bar with an ETA moves on stderr, from `delay` seconds on."""
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[misc]  # tqdm ships no types
        monitor_interval = 0  # its thread would outlive the bar, and be taken for one that waits for a model

    slow = 0.1 if sys.stderr.isatty() else 5.0
    with Bar(
        total=total, initial=already, unit=unit, file=sys.stderr, mininterval=slow, smoothing=0.1, delay=delay
    ) as bar:
        for one in done:
            bar.update()
            yield one
