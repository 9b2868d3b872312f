"""Judges in a rescoring: their votes carried over, read again under another rule, or asked for anew."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from evallib.checks.judge import Judge
from evallib.judges import UNCALIBRATED, judge_verdict, nothing_to_judge, prompt_digest, stored_votes
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


class _Sitting(NamedTuple):
    """One judge on one sample: now, and when the run was made."""

    check: Judge
    decides: str
    old: Judge | None
    before: Verdict | None
    sample: Sample

    def asks_same(self) -> bool:
        return self.old is not None and self.before is not None and self.old.asks() == self.check.asks()

    def shows_same(self) -> bool:
        return self.old is not None and self.old.shows() == self.check.shows()


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
        key = (*one.sample.key, one.check.id)
        if jury is not None and _must_ask(one, jury):
            to_ask.append((one.check, one.sample))
        elif one.old is not None and one.before is not None and one.old.measures() == one.check.measures():
            found.carried[key] = _carried(one, one.before)
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
    strict = {(v.case_id, v.sample, v.check_id): v for v in run.verdicts}
    samples = [sample for sample in run.samples if sample.status not in ERROR_STATUSES]
    return sorted(
        {
            (one.check.id, one.sample.case_id)
            for one in _sittings(run, suite, samples, strict)
            if (_must_ask(one, jury) if jury is not None else not one.asks_same())
        }
    )


def _sittings(
    run: Run, suite: Suite, samples: Sequence[Sample], strict: Mapping[tuple[str, int, str], Verdict]
) -> Iterator[_Sitting]:
    for sample in samples:
        for check, decides in suite.bound[sample.case_id]:
            if isinstance(check, Judge):
                old = next((b.check for b in run.suite.bound[sample.case_id] if b.check.id == check.id), None)
                before = strict.get((*sample.key, check.id))
                yield _Sitting(check, decides, old if isinstance(old, Judge) else None, before, sample)


def _must_ask(one: _Sitting, jury: Jury) -> bool:
    """Whether the stored verdict answers another question, was had from someone else, or holds no vote."""
    if not one.asks_same() or not one.shows_same() or one.before is None:
        return True
    if not one.before.judge:
        return one.before.status != "scored"  # an empty answer is scored without asking
    then, now = json.loads(one.before.judge), jury.identity(one.check)
    other = any(then.get(name) != now.get(name) for name in ("kind", "model", "script_digest"))
    return other or then.get("prompt") != prompt_digest(one.check)


def _carried(one: _Sitting, before: Verdict) -> Verdict:
    same = one.shows_same()
    return replace(
        before,
        critical=one.check.critical,
        weight=one.check.weight,
        origin="carried",
        decides=one.decides if same else before.decides,
        reason=before.reason if same else before.reason + _OTHER_KEY,
    )


def _from_record(one: _Sitting) -> Verdict:
    """The verdict that the record allows without asking: the stored votes under the new rule, if they are there."""
    if known := nothing_to_judge(one.check, one.sample):
        return known
    votes = stored_votes(one.before) if one.before is not None and one.asks_same() else ()
    if one.before is not None and votes:
        described = json.loads(one.before.judge)
        calibration = str(described.pop("calibration", UNCALIBRATED))
        verdict = judge_verdict(one.check, one.sample, votes, described, calibration)
        same = one.shows_same()
        return verdict if same else replace(verdict, reason=verdict.reason + _OTHER_KEY, decides="")
    if one.before is not None and one.asks_same() and one.before.status != "scored":
        return replace(one.before, critical=one.check.critical, weight=one.check.weight)
    return one.check.unscored(one.sample, "no stored vote answers what this judge asks; --judge asks again")
