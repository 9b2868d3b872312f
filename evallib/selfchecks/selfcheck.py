"""A suite's self-check: every check is shown samples it must pass and samples it must fail, before any answer counts.

Nothing is asked of a model, and judges are left out. Article 1: a judge that cannot fail has not been tested.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from evallib.case import Case, Step
from evallib.checks.base import Check
from evallib.checks.code import Code, outlived
from evallib.checks.foreign import verdicts_by
from evallib.checks.tools import contains
from evallib.checks.turns import OverSteps
from evallib.checks.workers import cores
from evallib.errors import InputError
from evallib.records import Sample, ToolCall, Turn, Verdict
from evallib.scoring import probe_failures
from evallib.selfchecks.mutations import recorded_notes, shown_samples, spoken
from evallib.selfchecks.regressions import Regression, try_regressions
from evallib.selfchecks.variants import completed
from evallib.stdout import counted
from evallib.suite import Suite
from evallib.targets.played import Play, PlayedTools

__all__ = ["SelfCheck", "ideal_sample", "refuse_failing", "self_check"]

_SAYING_NOTHING = {"empty answer", "blanks only", "crash"}
Progress = Callable[[Iterable[int], int, int], Iterable[int]]
"""Given what yields once per check, how many are done, and how many there are in all."""


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """What was shown, and one sentence for each check that is not what it claims to be."""

    shown: int
    """Verdicts that were looked at."""
    probes: int
    problems: tuple[str, ...]
    """Verdicts that are wrong: no run begins before they are mended."""
    unproven: tuple[str, ...] = ()
    """Checks that were never seen to fail, never to pass, or to end, or are as wrong on an answer as strict was, and
    cases that were never seen to fail.

    `validate` refuses them, a run records them.
    """
    warnings: tuple[str, ...] = ()
    """Cases that fail only what says nothing, and those of which no right answer is known."""
    regressions: int = 0
    """Answers that people read, and that were tried."""
    untried: tuple[str, ...] = ()
    """Those that only a judge or the source could tell."""


def self_check(suite: Suite, kept: Sequence[Regression] = (), *, progress: Progress | None = None) -> SelfCheck:
    """Probes, the answers that people read, the reference of each case, and every sample that `mutations` makes of it.

    Code that outlives its deadline is shown nothing more, so that a check that loops is told at once.
    """
    read = try_regressions(suite, kept)
    if suite.recorded:
        return SelfCheck(0, 0, read.bad, read.residue, (), read.tried, read.untried)
    trial = _Trial(suite)
    shown = trial.shown_one_by_one()
    for _ in progress(shown, 0, sum(map(len, suite.bound.values()))) if progress else shown:
        pass
    problems = dict.fromkeys((*probe_failures(suite, trial.endless), *read.bad, *trial.problems))
    unproven = (*trial.unproven(), *read.residue)
    warnings = tuple(trial.warnings())
    return SelfCheck(trial.shown, len(suite.probes), tuple(problems), unproven, warnings, read.tried, read.untried)


def refuse_failing(suite: Suite, kept: Sequence[Regression] = ()) -> SelfCheck:
    """The self-check of the suite; InputError where it fails."""
    shown = self_check(suite, kept)
    if shown.problems:
        more = f" (and {len(shown.problems) - 1} more)" if len(shown.problems) > 1 else ""
        raise InputError(
            f"suite {suite.suite!r} fails its own self-check: {shown.problems[0]}{more}; mend suite or probe first"
        )
    return shown


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


class _Place(NamedTuple):
    """A check as it is written: once for the whole suite, or at a case or step."""

    case: str
    """Empty for a check of the whole suite."""
    check: str
    step: int

    def among(self, probed: set[tuple[str, str]]) -> bool:
        """Whether one of the (case, check) is of this check."""
        return any(self.check == check and self.case in {"", case} for case, check in probed)

    def __str__(self) -> str:
        where = (f" of case {self.case!r}" if self.case else "") + (f", step {self.step}" if self.step else "")
        return f"check {self.check!r}{where}"


class _Trial:
    """The checks of one suite before their samples."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.shown = 0
        self.problems: list[str] = []
        self.endless: set[str] = set()
        """Ids of checks whose code outlived its deadline."""
        self._unended: list[str] = []
        self._wide = {check.id for check in suite.checks}
        self._tools = PlayedTools(suite.tools)
        self._failed: dict[_Place, bool] = defaultdict(bool)
        self._passed: dict[_Place, bool] = defaultdict(bool)
        self._mute: dict[_Place, str] = {}
        """Checks without a verdict so far, and why."""
        self._reds: dict[str, set[str]] = defaultdict(set)
        """Case to the mutations that a check which decides it failed."""
        self._unread: list[tuple[str, str]] = []
        """Case and check that wants something said, where no reference says it."""

    def shown_one_by_one(self) -> Iterator[int]:
        """Yields for each check of each case, once it was shown what it must pass and fail."""
        for case in self.suite.cases:
            ideal = ideal_sample(self.suite, case, self._tools)
            for bound in self.suite.bound[case.id]:
                for one in _parts(case, bound.check, ideal):
                    self._check(one)
                yield 1

    def _check(self, one: _Shown) -> None:
        check = one.check
        if check.id in self.endless:
            return
        made = list(shown_samples(self.suite, check, one.ideal))
        first, *verdicts = _verdicts(check, [one.ideal, *(shown.sample for shown in made)])
        self.shown += 1 + len(verdicts)
        late = next((n for n, verdict in enumerate((first, *verdicts)) if outlived(verdict)), None)
        if late is not None:
            self._stop(one, made[late - 1].mutation if late else "", (first, *verdicts)[late])
            return
        if _fails(first) and one.has_reference:
            self.problems.append(f"{one.where} fails the reference answer: {first.reason}")
        elif first.status == "not_scored" and one.has_reference:
            self.problems.append(f"{one.where} has no verdict on the reference answer: {first.reason}")
        for shown, verdict in zip(made, verdicts, strict=True):
            if shown.must is False and verdict.status == "scored" and verdict.passed:
                self.problems.append(f"{one.where} passes what it must fail ({shown.mutation}): {verdict.reason}")
            if shown.must and _fails(verdict) and not _fails(first):
                self.problems.append(f"{one.where} fails what it must pass ({shown.mutation}): {verdict.reason}")
        red = {shown.mutation for shown, verdict in zip(made, verdicts, strict=True) if _fails(verdict)}
        self._note(one, [first, *verdicts], red)

    def _note(self, one: _Shown, verdicts: Sequence[Verdict], red: set[str]) -> None:
        """What the verdicts, that on the ideal sample first, prove of the check and its case; it failed `red`."""
        check, statuses = one.check, [verdict.status for verdict in verdicts]
        place = _Place("" if check.id in self._wide else one.case, check.id, one.step)
        left_out = statuses[0] == "not_applicable" or set(statuses) == {"not_scored"}
        self._failed[place] |= left_out or any(map(_fails, verdicts[1:]))
        self._passed[place] |= left_out or one.has_reference or any(v.passed is True for v in verdicts)
        if "scored" in statuses:
            self._mute[place] = ""
        elif statuses[0] == "not_applicable" or not one.has_reference:  # else it is a problem already
            self._mute.setdefault(place, verdicts[0].reason)
        if self._decides(check):
            self._reds[one.case] |= red
        if "unrelated answer" in red and not one.has_reference:
            self._unread.append((one.case, check.id))

    def _decides(self, check: Check) -> bool:
        return check.critical or self.suite.pass_rule == "top"

    def _stop(self, one: _Shown, mutation: str, verdict: Verdict) -> None:
        """Ask the check nothing more; wrong is what has no verdict on a reference, all else is unproven."""
        self.endless.add(one.check.id)
        ideal = "the reference answer" if one.has_reference else "an answer that does all it asks for"
        what = f"a sample made for it ({mutation})" if mutation else ideal
        said = f"{one.where} has no verdict on {what}: {verdict.reason}; it was shown nothing more"
        (self._unended if mutation or not one.has_reference else self.problems).append(said)

    def unproven(self) -> Iterator[str]:
        """Checks that gave one verdict, or none, on all they were shown, probes among it; cases that cannot fail."""
        yield from self._unended
        fails, passes = self._probed()
        for place, failed in self._failed.items():
            mute = self._mute.get(place) if not place.among(fails | passes) else ""
            if mute:
                yield f"{place} had no verdict on anything it was shown ({mute}); mend it, or remove it"
            elif not failed and not place.among(fails):
                yield f"{place} passed everything it was shown; add a probe that it must fail"
            elif not self._passed[place] and not place.among(passes):
                yield f"{place} failed everything it was shown; add a `reference`, or a probe that it must pass"
        proven = {place.check for place, failed in self._failed.items() if failed or place.among(fails)}
        proven -= {place.check for place, reason in self._mute.items() if reason}
        for case, reds in self._decided_cases():
            if not reds and all(name in proven for name in self._deciding(case)):
                yield f"case {case!r} cannot fail: no check that decides it failed anything; give one what to look for"

    def _probed(self) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        """The (case, check) that a probe must fail, and must pass."""
        probes = self.suite.probes
        passes = {(probe.case, name) for probe in probes for name in probe.passes}
        passes |= {(p.case, b.check.id) for p in probes if not p.passes + p.fails for b in self.suite.bound[p.case]}
        return {(probe.case, name) for probe in probes for name in probe.fails}, passes

    def _decided_cases(self) -> Iterator[tuple[str, set[str]]]:
        """Cases that computed checks alone decide, and what was seen to fail them."""
        failed, _ = self._probed()
        for case in self.suite.bound:
            deciding = self._deciding(case)
            if deciding and all(check.computable and name not in self.endless for name, check in deciding.items()):
                yield case, self._reds[case] | {"a probe" for name in deciding if (case, name) in failed}

    def _deciding(self, case: str) -> dict[str, Check]:
        return {check.id: check for check, _ in self.suite.bound[case] if self._decides(check)}

    def warnings(self) -> Iterator[str]:
        """Cases that fail only what says nothing, and those of which no right answer is known."""
        for case, reds in self._decided_cases():
            if reds and reds <= _SAYING_NOTHING:
                yield (
                    f"case {case!r}: nothing but an empty answer or a crash fails it; make a check of what it says or "
                    "does `critical: true`"
                )
        unread = [one for one in self._unread if one not in self._probed()[1]]
        if unread:
            case, check = unread[0]
            more = len({case for case, _ in unread}) - 1
            others = f" (and {counted(more, 'more case')})" if more else ""
            yield (
                f"check {check!r} of case {case!r}{others}: no right answer is known, so that a slip in what it looks "
                "for is not seen; add a `reference`, or a probe that it must pass"
            )


def _parts(case: Case, check: Check, ideal: Sample) -> Iterator[_Shown]:
    """What is shown of one check of a case: nothing where it cannot be computed, one for each step it is asked of."""
    if isinstance(check, OverSteps):
        for step, part in check.parts:
            yield _Shown(case.id, part, ideal.at(ideal.turns[step - 1]), bool(case.steps[step - 1].reference), step)
    elif check.computable:
        yield _Shown(case.id, check, ideal, bool(case.steps and case.steps[-1].reference))


def _verdicts(check: Check, samples: Sequence[Sample]) -> list[Verdict]:
    """One verdict per sample in order; of code, none beyond what was in flight when it first outlived its deadline."""
    if not isinstance(check, Code):
        return verdicts_by(check, samples)
    found: list[Verdict] = []
    while len(found) < len(samples) and not any(map(outlived, found)):
        found += check(samples[len(found) : len(found) + cores()])
    return found


def _fails(verdict: Verdict) -> bool:
    return verdict.status == "scored" and not verdict.passed


def ideal_sample(suite: Suite, case: Case, tools: PlayedTools | None = None) -> Sample:
    """The sample of a target that does all the case expects, and says the references, or what the checks ask for."""
    play = (tools or PlayedTools(suite.tools)).begin()
    turns: list[Turn] = []
    for number, step in enumerate(case.steps, 1):
        checks = list(_at(suite, case, number))
        turns.append(_turn(suite, number, step, checks, play, turns[-1].pending if turns else ()))
    return Sample(
        "self-check", case.id, 1, turns=tuple(turns), answer=turns[-1].text if turns else "", exit_code=0,
        recorded=recorded_notes([bound.check for bound in suite.bound[case.id]]),
    )  # fmt: skip


def _at(suite: Suite, case: Case, number: int) -> Iterator[Check]:
    """The checks that speak of one step: its own, and at the last those of the whole case."""
    for bound in suite.bound[case.id]:
        if isinstance(bound.check, OverSteps):
            yield from (part for step, part in bound.check.parts if step == number)
        elif number == len(case.steps):
            yield bound.check


def _turn(  # noqa: PLR0917  # one turn and the world it happens in
    suite: Suite, number: int, step: Step, checks: Sequence[Check], play: Play, open_: Sequence[ToolCall]
) -> Turn:
    results = [_decided(play, call, step) for call in open_] if step.approve is not None else []
    calls: list[ToolCall] = []
    pending: list[ToolCall] = []
    for name, named, times, result in _expected(checks):
        if sum(call.name == name and contains(call.arguments, named) for call in (*calls, *results)) >= times:
            continue
        arguments = completed(suite, name, named)
        call = ToolCall(name, arguments, id=f"call-{number}-{len(calls) + 1}")
        looked = play.call(name, arguments)
        guarded = looked.pending or name in _left_open(checks)
        if guarded:
            pending.append(call)
            calls.append(replace(call, result='{"status": "awaiting_approval"}'))
        elif result is not None and looked.error:
            calls.append(replace(call, result=json.dumps(result)))
        else:
            calls.append(replace(call, result=looked.result if looked.error is None else "{}"))
    return Turn(number, step.sent, step.reference or spoken(checks), tuple(calls), tuple(results), tuple(pending))


def _decided(play: Play, call: ToolCall, step: Step) -> ToolCall:
    """What comes of an open call; a tool that the suite does not declare says who approved it, or refuses."""
    if call.name in play:
        return play.decide(call, step)
    audit = {"approver": step.approver, "rationale": step.rationale}
    if step.approve:
        return replace(call, result=json.dumps({"status": "done", "audit": audit}))
    return replace(call, error=f"refused by {step.approver}: {step.rationale}")


def _left_open(checks: Sequence[Any]) -> set[str]:
    """Tools of which a check wants a call to wait for a person."""
    proposed = [one if one.check == "confirmation" else getattr(one, "confirmation", None) for one in checks]
    return {one.tool for one in proposed if one is not None}


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
            if wanted.confirmation:
                yield wanted.confirmation.tool, dict(wanted.confirmation.args), 1, None
        elif check.check == "tool_called":
            yield wanted.tools[0], dict(wanted.args), 1, None
        elif check.check in {"confirmation", "tool_result"}:
            yield wanted.tool, dict(wanted.args), getattr(wanted, "at_least", 1), getattr(wanted, "result", None)
