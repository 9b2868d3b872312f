"""Which checks apply to a sample, the verdicts they give, and the fold of verdicts into one outcome."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Literal

from evallib.checks.base import Check
from evallib.checks.batch import Batch
from evallib.checks.code import outlived
from evallib.checks.extraction import spoken
from evallib.checks.foreign import verdicts_by
from evallib.checks.turns import lowest, parts_of
from evallib.records import ERROR_STATUSES, Outcome, Sample, SampleKey, Verdict
from evallib.suite import BoundCheck, Suite

__all__ = [
    "PassRule",
    "fold",
    "fold_all",
    "outcome_word",
    "probe_failures",
    "score_samples",
    "sort_verdicts",
    "weighted_mean",
]

PassRule = Literal["critical", "top"]
Judged = Mapping[tuple[str, int, str], Verdict]
"""Verdicts that were not computed here, by (case_id, sample, check_id)."""


def score_samples(
    suite: Suite,
    samples: Sequence[Sample],
    judged: Judged | None = None,
    *,
    carried: Judged | None = None,
) -> list[Verdict]:
    """Verdicts of every check that applies, in stored order (case of the suite, sample, check of the case).

    Computable checks run here, each once over all samples it concerns; verdicts of the others are taken from
    `judged`, or are not_scored with the reason. A sample that ended in an error is not_scored throughout. Verdicts
    in `carried` stand as they are, and are in what is returned.
    """
    given, kept = judged or {}, carried or {}
    found: list[Verdict] = list(kept.values())
    batches: dict[tuple[str, str], tuple[Check, list[Sample]]] = {}
    by_case: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_case[sample.case_id].append(sample)
    for case_id, asked in by_case.items():
        ended = [s for s in asked if s.status in ERROR_STATUSES]
        replied = [s for s in asked if s.status not in ERROR_STATUSES]
        for check, decides in suite.bound[case_id]:
            found += [check.unscored(s, _ended(s)) for s in ended if (*s.key, check.id) not in kept]
            answered = [s for s in replied if (*s.key, check.id) not in kept] if kept else replied
            if not check.computable:
                found += [given.get((*s.key, check.id)) or check.unscored(s, _why_missing(check)) for s in answered]
            elif answered:
                batches.setdefault((check.id, decides), (check, []))[1].extend(answered)
    together: dict[tuple[int, ...], tuple[list[Check], list[Sample]]] = {}
    for check, batch in batches.values():
        together.setdefault(tuple(map(id, batch)), ([], batch))[0].append(check)
    for checks, alike in together.values():
        shared = Batch(alike, (pattern for check in checks for pattern in check.sought()))
        for check in checks:
            found += verdicts_by(check, shared)
    return sort_verdicts(suite, found)


def _ended(sample: Sample) -> str:
    return f"the sample ended in {sample.status}: {sample.error}"


def _why_missing(check: Check) -> str:
    if check.check == "recorded":
        return "the criteria are unpublished and the source recorded no verdict"
    return "no judge was asked; name one with --judge, or leave judges out with --no-judges"


def sort_verdicts(suite: Suite, verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The stored order: cases as in the suite, then sample, then the case's order of checks."""
    last = 1_000_000  # behind everything the suite knows; the sort keeps the order given among those
    ranks: dict[tuple[str, str], tuple[int, int]] = {}
    others: dict[str, tuple[int, int]] = {}
    for nth, case in enumerate(suite.cases):
        others[case.id] = nth, last
        ranks |= {(case.id, bound.check.id): (nth, place) for place, bound in enumerate(suite.bound[case.id])}
    # By runs of one check, as scoring gives them: asking for the place of each verdict took a tenth of scoring.
    runs: dict[tuple[int, int], list[Verdict]] = defaultdict(list)
    for name, run in groupby(verdicts, key=itemgetter(0, 2)):
        runs[ranks.get(name) or others.get(name[0], (last, 0))] += run
    of_case: dict[int, list[Verdict]] = defaultdict(list)
    for nth, place in sorted(runs):
        of_case[nth] += runs[nth, place]
    return [verdict for found in of_case.values() for verdict in sorted(found, key=itemgetter(1))]


def fold(sample: Sample, verdicts: Sequence[Verdict], pass_rule: PassRule) -> Outcome:
    """The outcome of one sample: score is the weighted mean of scored verdicts, passed follows the pass rule.

    `critical`: every critical check passed. `top`: every check passed. A not_applicable verdict leaves the fold, a
    not_scored one voids it. Only not_applicable verdicts, or an empty answer, is never a pass (DESIGN section 1).
    """
    if sample.status in ERROR_STATUSES:
        return Outcome(*sample.key, "error", None, None, reason=f"{sample.status}: {sample.error}")
    counted = [v for v in verdicts if v.status != "not_applicable"]
    void = [v.check_id for v in counted if v.status == "not_scored"]
    if void:
        return Outcome(*sample.key, "not_scored", None, None, tuple(void), f"no verdict of {', '.join(void)}")
    score = _weighted_mean(counted)
    deciding = counted if pass_rule == "top" else [v for v in counted if v.critical]
    failed = tuple(v.check_id for v in deciding if not v.passed)
    if not deciding:
        return Outcome(*sample.key, "scored", False, score, reason="no check that could pass it applies")
    unanswered = spoken(sample.answer).problem
    if unanswered and any(v.origin == "computed" or v.decides for v in verdicts):
        return Outcome(*sample.key, "scored", False, score, failed, unanswered)
    reason = f"failed {', '.join(failed)}" if failed else f"all {len(deciding)} deciding checks passed"
    return Outcome(*sample.key, "scored", not failed, score, failed, reason)


def _weighted_mean(verdicts: Sequence[Verdict]) -> float | None:
    pairs = [(v.weight, v.value) for v in verdicts if v.value is not None and v.weight > 0]
    return weighted_mean([weight for weight, _ in pairs], [weight * value for weight, value in pairs])


def weighted_mean(weights: Sequence[float], products: Sequence[float]) -> float | None:
    """The sum of weights times values over the sum of the weights; None where nothing has a weight."""
    total = math.fsum(weights)
    return math.fsum(products) / total if total else None


def fold_all(
    samples: Sequence[Sample],
    verdicts: Iterable[Verdict],
    pass_rule: PassRule,
) -> dict[SampleKey, Outcome]:
    """The outcome of every sample, by (case_id, sample), in the order of `samples`."""
    grouped: dict[SampleKey, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        grouped[(verdict.case_id, verdict.sample)].append(verdict)
    return {sample.key: fold(sample, grouped[sample.key], pass_rule) for sample in samples}


def outcome_word(passed: bool | None) -> str:  # noqa: FBT001  # the verdict itself, no switch
    """What strict says in one word: pass, fail, or error where it says nothing."""
    return {True: "pass", False: "fail", None: "error"}[passed]


def probe_failures(suite: Suite, endless: Collection[str] = ()) -> list[str]:
    """The suite's self-check: one sentence for each probe whose known verdicts the checks do not give (article 1).

    A check whose id is in `endless`, or that outlives its deadline on a probe, is not asked again, which is a failure.
    """
    problems = []
    stopped = set(endless)
    for probe in suite.probes:
        sample = Sample("self-check", probe.case, 1, answer=probe.answer, exit_code=0)
        bounds: dict[str, BoundCheck] = {bound.check.id: bound for bound in suite.bound[probe.case]}
        computable = [name for name, bound in bounds.items() if bound.check.computable]
        passes = probe.passes if probe.passes or probe.fails else tuple(computable)
        for name, wanted in [*((n, True) for n in passes), *((n, False) for n in probe.fails)]:
            if name in stopped:
                problems.append(f"probe {probe.name!r}: check {name!r} was not asked, as it did not end before")
                continue
            verdict = _on_probe(bounds[name].check, sample)
            if outlived(verdict):
                stopped.add(name)
            if verdict.status == "not_scored":
                problems.append(f"probe {probe.name!r}: check {name!r} has no verdict on it: {verdict.reason}")
            elif verdict.status == "scored" and verdict.passed is not wanted:
                says = "passes" if verdict.passed else "fails"
                problems.append(f"probe {probe.name!r}: check {name!r} {says} case {probe.case!r}: {verdict.reason}")
    return problems


def _on_probe(check: Check, sample: Sample) -> Verdict:
    """The verdict of a check on a probe, which is the answer to a step: of a check of steps the lowest part."""
    parts = parts_of(check)
    return lowest([verdict for part in parts for verdict in verdicts_by(part, [sample])], [""] * len(parts))
