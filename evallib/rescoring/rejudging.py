"""Judges in a rescoring: their votes carried over, read again under another rule, or asked for anew."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from evallib.checks.judge import Judge
from evallib.judges import UNCALIBRATED, judge_verdict, nothing_to_judge, stored_votes
from evallib.judging import Jury
from evallib.records import ERROR_STATUSES, Sample, Verdict
from evallib.store import Run
from evallib.suite import Suite

__all__ = ["Rejudged", "rejudge", "to_be_asked"]

Verdicts = dict[tuple[str, int, str], Verdict]
"""By (case_id, sample, check_id)."""
_OTHER_KEY = " (judged with the case's answer key and references as they were; --judge asks again)"


class Rejudged(NamedTuple):
    """Verdicts of all judges of one run under another suite."""

    carried: Verdicts
    computed: Verdicts


class _Matched(NamedTuple):
    """A judge of one case, and how it differs from the judge of that id when the run was made."""

    check: Judge
    decides: str
    measures_same: bool
    """Nothing differs but how much it counts."""
    asks_same: bool
    shows_same: bool
    """The case's key and references are shown as they were."""


class _Sitting(NamedTuple):
    """One judge on one sample, and the strict verdict."""

    judge: _Matched
    before: Verdict | None
    sample: Sample


def rejudge(
    run: Run, suite: Suite, samples: Sequence[Sample], strict: Mapping[tuple[str, int, str], Verdict], jury: Jury | None
) -> Rejudged:
    """What the judges of `suite` say of the samples of `run`.

    - The same question, model and prompt: the strict verdict is carried over.
    - Another `pass_at` or `min_votes` only: the stored votes are read again.
    - Another question (rubric, scale, votes, inputs, model, ...), key, reference, model behind `jury` or prompt, or no
      votes before: `jury` is asked. Without one, a changed key or reference leaves the verdict carried over with a
      remark, for most such changes are meant for another check; any other change leaves it not scored.
    """
    found = Rejudged({}, {})
    to_ask: list[tuple[Judge, Sample]] = []
    for one in _sittings(run, suite, samples, strict):
        key = (*one.sample.key, one.judge.check.id)
        if jury is not None and _must_ask(one, jury):
            to_ask.append((one.judge.check, one.sample))
        elif one.before is not None and one.judge.measures_same:
            found.carried[key] = _carried(one.judge, one.before)
        else:
            found.computed[key] = _from_record(one)
    if jury is not None and to_ask:
        jury.for_target(str(run.plan["target"].get("model", "")))
        jury.expect([(check, sample, 1) for check, sample in to_ask])
        for (check, sample), verdict in zip(to_ask, jury.verdicts(to_ask), strict=True):
            found.computed[(*sample.key, check.id)] = verdict
    return found


def to_be_asked(run: Run, suite: Suite, jury: Jury | None) -> list[tuple[str, str]]:
    """(check, case) of every judge that must be asked anew; without a jury, of those that only a jury could answer."""
    if not any(isinstance(bound.check, Judge) for bounds in suite.bound.values() for bound in bounds):
        return []
    found: set[tuple[str, str]] = set()
    for samples, verdicts in run.batches():
        strict = {(v.case_id, v.sample, v.check_id): v for v in verdicts}
        sound = [sample for sample in samples if sample.status not in ERROR_STATUSES]
        for one in _sittings(run, suite, sound, strict):
            if not one.judge.asks_same if jury is None else _must_ask(one, jury):
                found.add((one.judge.check.id, one.sample.case_id))
    return sorted(found)


def _sittings(
    run: Run, suite: Suite, samples: Sequence[Sample], strict: Mapping[tuple[str, int, str], Verdict]
) -> Iterator[_Sitting]:
    judges = {case_id: _matched(run, suite, case_id) for case_id in run.plan["cases"]}
    for sample in samples:
        for judge in judges[sample.case_id]:
            yield _Sitting(judge, strict.get((*sample.key, judge.check.id)), sample)


def _matched(run: Run, suite: Suite, case_id: str) -> list[_Matched]:
    old = {b.check.id: b.check for b in run.suite.bound[case_id] if isinstance(b.check, Judge)}
    found = []
    for check, decides in suite.bound[case_id]:
        if isinstance(check, Judge):
            was = old.get(check.id)
            same = [False] * 3 if was is None else [
                was.measures() == check.measures(), was.asks() == check.asks(), was.shows() == check.shows()
            ]  # fmt: skip
            found.append(_Matched(check, decides, *same))
    return found


def _must_ask(one: _Sitting, jury: Jury) -> bool:
    """Whether the stored verdict answers another question, was had from someone else, or holds no vote."""
    judge, before = one.judge, one.before
    if before is None or not judge.asks_same or not judge.shows_same:
        return True
    if not before.judge:
        return before.status != "scored"  # an empty answer is scored without asking
    then, now = json.loads(before.judge), jury.identity(judge.check)
    return any(then.get(name) != now.get(name) for name in ("kind", "model", "script_digest", "prompt"))


def _carried(judge: _Matched, before: Verdict) -> Verdict:
    check, same = judge.check, judge.shows_same
    decides = judge.decides if same else before.decides
    reason = before.reason if same else before.reason + _OTHER_KEY
    return before._replace(
        critical=check.critical, weight=check.weight, origin="carried", decides=decides, reason=reason
    )


def _from_record(one: _Sitting) -> Verdict:
    """The verdict that the record allows without asking: the stored votes under the new rule, if they are there."""
    check, before = one.judge.check, one.before
    if known := nothing_to_judge(check, one.sample):
        return known
    if before is None or not one.judge.asks_same:
        return check.unscored(one.sample, "the judge asks something else than it was asked; --judge asks it")
    votes = stored_votes(before)
    if not votes and before.status == "scored":
        return check.unscored(one.sample, "the votes were not kept one by one; --judge asks again")
    if not votes:
        return before._replace(critical=check.critical, weight=check.weight, decides=one.judge.decides)
    described = json.loads(before.judge)
    calibration = str(described.pop("calibration", UNCALIBRATED))
    not_shown = int(described.pop("not_shown", 0))
    verdict = judge_verdict(check, one.sample, votes, described, calibration, not_shown=not_shown)
    return verdict if one.judge.shows_same else verdict._replace(reason=verdict.reason + _OTHER_KEY, decides="")
