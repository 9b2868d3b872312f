"""A suite's self-check: every check is shown samples it must pass and samples it must fail, before any answer counts.

Nothing is asked of a model, and judges are left out. Article 1: a judge that cannot fail has not been tested.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evallib.checks.base import Check
from evallib.checks.tools import contains
from evallib.checks.turns import OverSteps
from evallib.mutations import shown_samples, spoken
from evallib.records import Sample, ToolCall, Turn, Verdict
from evallib.scoring import probe_failures
from evallib.suite import Case, Step, Suite
from evallib.targets.played import Play, PlayedTools

__all__ = ["SelfCheck", "ideal_sample", "self_check"]


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """What was shown, and one sentence for each check that is not what it claims to be."""

    shown: int
    """Verdicts that were looked at."""
    probes: int
    problems: tuple[str, ...]
    """Verdicts that are wrong: no run begins before they are mended."""
    unproven: tuple[str, ...] = ()
    """Checks that were never seen to fail; `validate` asks for a probe, a run records them."""
    notes: tuple[str, ...] = ()
    """Checks of cases without a reference answer that were not seen to pass."""


def self_check(suite: Suite) -> SelfCheck:
    """Probes, the reference answer of each case, and every sample that `mutations` makes of it."""
    if suite.recorded:
        return SelfCheck(0, 0, ())
    trial = _Trial(suite)
    for case in suite.cases:
        trial.case(case)
    problems = dict.fromkeys((*probe_failures(suite), *trial.problems))
    return SelfCheck(trial.shown, len(suite.probes), tuple(problems), tuple(trial.never_failed()), tuple(trial.notes))


@dataclass(frozen=True, slots=True)
class _Shown:
    """One check of one case, and the sample it must pass."""

    case: str
    check: Check
    ideal: Sample
    has_reference: bool
    step: int = 0
    """The step it is asked of; 0 for the whole case."""

    @property
    def where(self) -> str:
        step = f", step {self.step}" if self.step else ""
        return f"check {self.check.id!r} of case {self.case!r}{step}"


class _Trial:
    """The checks of one suite before their samples."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.shown = 0
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._wide = {check.id for check in suite.checks}
        self._failed: dict[tuple[str, str, int], bool] = defaultdict(bool)
        """By case (none for a check of the whole suite), check and step."""
        self._probed = {(probe.case, name) for probe in suite.probes for name in probe.fails}

    def case(self, case: Case) -> None:
        """Show every computable check of a case what it must pass and fail."""
        ideal, has_reference = ideal_sample(self.suite, case)
        for bound in self.suite.bound[case.id]:
            if isinstance(bound.check, OverSteps):
                for step, part in bound.check.parts:
                    turn = ideal.turns[step - 1]
                    self._check(_Shown(case.id, part, ideal.at(turn), has_reference, step))
            elif bound.check.computable:
                self._check(_Shown(case.id, bound.check, ideal, has_reference))

    def _check(self, one: _Shown) -> None:
        check = one.check
        made = list(shown_samples(self.suite, check, one.ideal))
        first, *verdicts = check([one.ideal, *(shown.sample for shown in made)])
        self.shown += 1 + len(verdicts)
        if _fails(first) and one.has_reference:
            self.problems.append(f"{one.where} fails the reference answer: {first.reason}")
        elif _fails(first):
            self.notes.append(f"{one.where} was not shown to pass anything; give the step a `reference`")
        for shown, verdict in zip(made, verdicts, strict=True):
            if shown.must is False and verdict.status == "scored" and verdict.passed:
                self.problems.append(f"{one.where} passes what it must fail ({shown.mutation}): {verdict.reason}")
            if shown.must and _fails(verdict) and not _fails(first):
                self.problems.append(f"{one.where} fails what it must pass ({shown.mutation}): {verdict.reason}")
        place = ("", check.id, 0) if check.id in self._wide else (one.case, check.id, one.step)
        self._failed[place] = self._failed[place] or any(map(_fails, verdicts)) or first.status == "not_applicable"

    def never_failed(self) -> Iterator[str]:
        """Checks that passed everything they were shown."""
        for (case, check, step), failed in self._failed.items():
            if not failed and not any((case or probe, check) == (probe, name) for probe, name in self._probed):
                where = (f" of case {case!r}" if case else "") + (f", step {step}" if step else "")
                yield f"check {check!r}{where} passed everything it was shown; add a probe that it must fail"


def _fails(verdict: Verdict) -> bool:
    return verdict.status == "scored" and not verdict.passed


def ideal_sample(suite: Suite, case: Case) -> tuple[Sample, bool]:
    """The sample of a target that does all the case expects, and whether its texts are written references."""
    play = PlayedTools(suite.tools).begin()
    has_reference = any(step.reference for step in case.steps)
    turns: list[Turn] = []
    for number, step in enumerate(case.steps, 1):
        checks = list(_at(suite, case, number))
        text = step.reference or ("" if has_reference else spoken(checks))
        turns.append(_turn(number, step, text, checks, play, turns[-1].pending if turns else ()))
    sample = Sample("self-check", case.id, 1, turns=tuple(turns), answer=turns[-1].text if turns else "", exit_code=0)
    return sample, has_reference


def _at(suite: Suite, case: Case, number: int) -> Iterator[Check]:
    """The checks that speak of one step: its own, and at the last those of the whole case."""
    for bound in suite.bound[case.id]:
        if isinstance(bound.check, OverSteps):
            yield from (part for step, part in bound.check.parts if step == number)
        elif number == len(case.steps):
            yield bound.check


def _turn(  # noqa: PLR0917  # one turn and the world it happens in
    number: int, step: Step, text: str, checks: Sequence[Check], play: Play, open_: Sequence[ToolCall]
) -> Turn:
    results = [_decided(play, call, step) for call in open_] if step.approve is not None else []
    calls: list[ToolCall] = []
    pending: list[ToolCall] = []
    for name, arguments, times, result in _expected(checks):
        if sum(call.name == name and contains(call.arguments, arguments) for call in (*calls, *results)) >= times:
            continue
        call = ToolCall(name, arguments, id=f"call-{number}-{len(calls) + 1}")
        looked = play.call(name, arguments)
        guarded = looked.pending or any(c.check == "confirmation" and getattr(c, "tool", "") == name for c in checks)
        if guarded:
            pending.append(call)
            calls.append(replace(call, result='{"status": "awaiting_approval"}'))
        elif result is not None and looked.error:
            calls.append(replace(call, result=json.dumps(result)))
        else:
            calls.append(replace(call, result=looked.result if looked.error is None else "{}"))
    return Turn(number, step.sent, text, tuple(calls), tuple(results), tuple(pending))


def _decided(play: Play, call: ToolCall, step: Step) -> ToolCall:
    """What comes of an open call; a tool that the suite does not declare says who approved it, or refuses."""
    if call.name in play:
        return play.decide(call, step)
    audit = {"approver": step.approver, "rationale": step.rationale}
    if step.approve:
        return replace(call, result=json.dumps({"status": "done", "audit": audit}))
    return replace(call, error=f"refused by {step.approver}: {step.rationale}")


def _expected(checks: Sequence[Check]) -> Iterator[tuple[str, dict[str, Any], int, Any]]:
    """(tool, arguments, how often, result where one is asked for) of every call that some check wants, in order."""
    for check in sorted(checks, key=lambda one: one.check != "trajectory"):
        wanted: Any = check
        if check.check == "trajectory":
            seen: list[Any] = []
            for call in wanted.required:
                seen.append((call.tool, dict(call.args)))
                yield call.tool, dict(call.args), seen.count(seen[-1]), None
        elif check.check == "authority":
            yield from ((w.tool, dict(w.args), n, None) for w in wanted.expected for n in range(1, w.times + 1))
        elif check.check == "tool_called":
            yield wanted.tools[0], dict(wanted.args), 1, None
        elif check.check in {"confirmation", "tool_result"}:
            yield wanted.tool, dict(wanted.args), getattr(wanted, "at_least", 1), getattr(wanted, "result", None)
