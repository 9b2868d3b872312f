"""What the gate says of one view of one run: every rule's row, and whether that decides a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from evallib.errors import InputError
from evallib.gate.coverage import coverage_rule
from evallib.gate.frames import JUDGED, Row, Rule, key_of, plain_rows
from evallib.gate.rules import judged_words, threshold_rules
from evallib.gate.thresholds import TOLERANCE, Gate
from evallib.records import POST_HOC_LABEL, STRICT
from evallib.stdout import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Decision", "decide", "without_answers"]

_DECIDES = "the strict view of a complete run of all validation cases and no other (a case without `split` is one):"

Verdict = Literal["pass", "blocked"]


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
    unproven: str = ""
    """Which checks the self-check before the run could not prove; it changes no decision."""
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
            "tolerance": TOLERANCE,
            "unproven": self.unproven or None,
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
        return [*lines, *([f"  {self.unproven}"] if self.unproven else []), *filter(None, [self.caption])]


def _judged_line(row: Row) -> str:
    """The figure of a check that a model answers, with who judged."""
    mean = "no mean" if row["mean"] is None else f"mean {row['mean']:.2f}"
    return f"{row['check']}: {mean}, threshold {row['threshold']:.2f}{judged_words(row)}"


def decide(  # noqa: PLR0913 - what is decided, then what is known of the run, each by its name
    gate: Gate | None,
    outcomes: pd.DataFrame,
    verdicts: pd.DataFrame,
    *,
    complete: bool,
    whole_validation: bool,
    beside: int = 0,
    chosen_after: bool = False,
    checks_of: Mapping[str, Collection[str]] | None = None,
    left_out: Collection[str] = (),
) -> Decision:
    """Whether one view of one run passes `gate`; without a gate, coverage alone decides.

    `outcomes` has one row per planned sample (as for `metrics.summarise`), and may say in `passed_deterministic`
    whether a sample passes by its deterministic verdicts alone: that column then decides required cases.
    `beside` counts the cases that stand beside the whole validation split. `chosen_after` says that the thresholds are
    not those the run was planned with. `checks_of` names the checks that each case has: a verdict that was never
    written is then missed like one that could not be had. `left_out` names the judges that the run was told to leave
    out, which the coverage rule says.
    """
    run, view = _one(outcomes, "run_id", "run"), _one(outcomes, "view", "view")
    samples = plain_rows(outcomes)
    read = [name for name in (*JUDGED, "judge") if name in verdicts]
    judged = plain_rows(verdicts[read])
    keys = {key_of(row) for row in samples}
    judged = sorted((row for row in judged if key_of(row) in keys), key=lambda r: (*map(str, key_of(r)), r["check_id"]))
    _refuse_twice(key_of(row) for row in samples)
    _refuse_twice((*key_of(row), row["check_id"]) for row in judged)
    seen = coverage_rule(gate, samples, judged, complete=complete, checks_of=checks_of or {}, left_out=left_out)
    held = list(threshold_rules(gate, samples, judged))
    rules, idle = [*held, seen], _idle(gate, held)
    if idle:
        rules.append(Rule("no_gate", passed=True, reason=f"{idle}, so coverage alone decides"))
    post_hoc = bool(view and view != STRICT) or any(row["post_hoc"] for row in samples)
    decision: Verdict = "pass" if all(rule.passed for rule in rules) else "blocked"
    why = _why_no_release(
        {
            "no sample was planned": not samples,
            f"view {view} was {POST_HOC_LABEL}": post_hoc,
            f"the run holds {counted(beside, 'case')} beside the validation split": bool(beside),
            "the run is not the whole validation split": not (whole_validation or beside),
            "the run is not complete": not complete,
            "the thresholds were chosen after the result": chosen_after,
            idle: bool(idle),
        }
    )
    label = next((str(row["label"]) for row in samples if row.get("label")), POST_HOC_LABEL) if post_hoc else ""
    release = None if why else decision
    return Decision(run, view, post_hoc, decision, release, why, chosen_after, tuple(rules), label)


def without_answers(decision: Decision) -> Decision:
    """The decision of a sealed holdout: which rules hold, and nothing of a single case, sample or check."""
    said = {True: "holds", False: "does not hold; of a sealed holdout nothing more is said"}
    return replace(decision, rules=tuple(Rule(one.rule, one.passed, said[one.passed]) for one in decision.rules))


def _idle(gate: Gate | None, held: Sequence[Rule]) -> str:
    """Why nothing but coverage decides, where it is so: a gate without thresholds is none."""
    if gate is None:
        return "the suite sets no gate"
    return "" if held or gate.coverage is not None else "the gate sets no threshold"


def _refuse_twice(keys: Iterable[tuple[Any, ...]]) -> None:
    """InputError names the first sample, or verdict of one, that is given more than once."""
    twice = next((key for key, times in Counter(keys).items() if times > 1), None)
    if twice is not None:
        run, case, sample, *check = twice
        of = f", check {check[0]!r}" if check else ""
        raise InputError(f"run {run!r}, case {case!r}, sample {sample}{of} stands twice; each must stand once")


def _why_no_release(reasons: Mapping[str, bool]) -> str:
    return "; ".join(reason for reason, holds in reasons.items() if holds)


def _one(outcomes: pd.DataFrame, column: str, noun: str) -> str:
    found = sorted(set(outcomes[column].astype(str))) if len(outcomes) else [""]
    if len(found) > 1:
        raise InputError(
            f"a gate decides one {noun}, but {', '.join(map(repr, found[:4]))} stand in the frame; take one"
        )
    return found[0]
