"""Calibration: a check or a judge measured against what people say of the same answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from evallib.case import Id
from evallib.checks.base import Check
from evallib.checks.foreign import verdicts_by
from evallib.checks.judge import Judge
from evallib.checks.turns import is_foreign
from evallib.errors import InputError
from evallib.judges import prompt_digest
from evallib.records import Outcome, Sample, SampleKey, Verdict, digest
from evallib.standing import Readings, Stand
from evallib.statistics.agreement import Agreement
from evallib.stdout import counted
from evallib.store import Run, read_log, standing_rescorings
from evallib.store.calibrations import read_calibrations
from evallib.strict_yaml import Written, load_yaml, read_as
from evallib.suite import Suite

__all__ = [
    "Ask",
    "Calibration",
    "Item",
    "LabelledSet",
    "calibrate_readings",
    "calibrate_set",
    "calibrations_of",
    "load_labelled",
]

_WHOLE = "the whole answer"
_READINGS = "the readings of run"
Ask = Callable[[Sequence[tuple[Judge, Sample]]], list[Verdict]]
"""Puts answers to a model judge, and gives a verdict for each in order."""


class LabelledAnswer(Written):
    """One answer and what a person says of it."""

    id: Id
    kind: str = ""
    """What sort of answer it is, as in good, bad, invented."""
    case: str
    answer: str
    passes: bool
    """The person's verdict; never left out, for a missing one would count as a fail."""


class LabelledSet(Written):
    """Answers with a person's verdict, to measure one check against."""

    labelled: Id
    check: str
    """Id of the check that is measured."""
    labels: str = ""
    """Whose reading the labels are, and how they were made."""
    answers: tuple[LabelledAnswer, ...] = Field(min_length=1)

    @property
    def digest(self) -> str:
        """Digest (16 hex) of the answers and their labels."""
        return digest(self.model_dump(mode="json"), 16)


def load_labelled(path: Path, suite: Suite) -> LabelledSet:
    """The labelled set in `path`; InputError where it names a case or check that the suite does not have."""
    document = load_yaml(path)
    found = read_as(LabelledSet, document)
    names: set[str] = set()
    for index, one in enumerate(found.answers):
        place = document.where(("answers", index))
        if one.id in names:
            raise InputError(f"{place}: answer {one.id!r} stands twice; ids must be unique")
        names.add(one.id)
        if one.case not in suite.by_id:
            raise InputError(f"{place}: case {one.case!r} is not in suite {suite.suite!r}; correct it")
        if found.check not in {bound.check.id for bound in suite.bound[one.case]}:
            raise InputError(f"{place}: case {one.case!r} has no check {found.check!r}; name another case or check")
    return found


@dataclass(frozen=True, slots=True)
class Item:
    """One answer: the person's word, the check's, and why."""

    id: str
    kind: str
    label: bool
    predicted: bool | None
    """None where no verdict could be had."""
    reason: str

    @property
    def matched(self) -> bool | None:
        """Whether both say the same; None where one says nothing."""
        return None if self.predicted is None else self.label == self.predicted


@dataclass(frozen=True, slots=True)
class Calibration:
    """What one check or judge said beside people, item by item."""

    check: str
    source: str
    """The labelled set, or the run whose readings are the labels, in words."""
    by: Mapping[str, Any]
    """Who answered: a judge's model and prompt digest, or a deterministic check's criteria digest."""
    items: tuple[Item, ...]
    note: str = ""
    """Who made the labels, or what the choice of items allows."""

    @property
    def agreement(self) -> Agreement:
        """Over the items that have a verdict."""
        return Agreement.of([(item.label, item.predicted) for item in self.items if item.predicted is not None])

    @property
    def id(self) -> str:
        """The same for the same labels, verdicts and judge."""
        seen = [self.check, self.source, dict(self.by), [[i.id, i.label, i.predicted] for i in self.items]]
        return f"calibration-{digest(seen, 12)}"

    def balance(self) -> str:
        """How many items there are of each kind and label, in words: agreement means little where one label is rare."""
        kinds = Counter(item.kind for item in self.items if item.kind)
        passes = sum(item.label for item in self.items)
        told = f"{passes} labelled pass, {len(self.items) - passes} labelled fail"
        told = f"{', '.join(f'{count} {kind}' for kind, count in kinds.items())}; {told}" if kinds else told
        if len(set(kinds.values())) > 1:
            told += "; the kinds are not balanced"
        return f"{told}; one label only, so nothing is learnt of the other" if passes in {0, len(self.items)} else told

    def sentence(self) -> str:
        """The one sentence that the number licenses (article 3)."""
        found, left = self.agreement, len(self.items) - self.agreement.n
        who = (
            f"with judge model {self.by['model']} and this prompt ({self.by['prompt']}), judge"
            if self.by.get("model")
            else "with these criteria, check"
        )
        what = (
            f"{who} {self.check!r}" if self.check != _WHOLE else "with these criteria, the outcome of the whole answer"
        )
        without = f"; {left} more had no verdict" if left else ""
        times = f"{counted(found.matches, 'time')} out of {found.n}"
        return f"On {self.source}, {what} matched the human label {times}{without}."

    def as_dict(self) -> dict[str, Any]:
        """The object `calibrate --json` prints."""
        return {
            "id": self.id,
            "check": self.check,
            "source": self.source,
            "by": dict(self.by),
            **self.agreement.as_dict(),
            "not_scored": [item.id for item in self.items if item.predicted is None],
            "items": [
                {"id": i.id, "kind": i.kind, "label": i.label, "predicted": i.predicted, "matched": i.matched,
                 "reason": i.reason} for i in self.items
            ],
            "balance": self.balance(),
            "note": self.note,
            "sentence": self.sentence(),
        }  # fmt: skip


def calibrations_of(run: Run, data: Path, adjudications: Path) -> list[dict[str, Any]]:
    """The records stored under `data` that measured a check or a judge's prompt of the run, or its readings.

    Its checks are those of its suite and of its rescorings; one whose kind is not imported is known by its id alone.
    """
    stored = read_calibrations(data)
    if not stored:
        return []
    suites = [run.suite, *(one.suite for one in standing_rescorings(run, read_log(adjudications)))]
    checks = [bound.check for suite in suites for bounds in suite.bound.values() for bound in bounds]
    prompts = {prompt_digest(check) for check in checks if isinstance(check, Judge)}
    criteria = {(check.id, check.measures()) for check in checks}
    brought = {check.id for check in checks if is_foreign(check)}
    return [
        one
        for one in stored
        if one["by"].get("prompt") in prompts
        or (one["check"], one["by"].get("criteria")) in criteria
        or (one["by"] and one["check"] in brought)
        or (not one["by"] and str(one["source"]).startswith(f"{_READINGS} {run.id} ("))
    ]


def calibrate_set(
    suite: Suite, labelled: LabelledSet, identify: Callable[[Judge], Mapping[str, Any]], ask: Ask
) -> Calibration:
    """The check of a labelled set on each of its answers; a model judge is asked through `ask`."""
    samples = [
        Sample("labelled", one.case, number, answer=one.answer, exit_code=0)
        for number, one in enumerate(labelled.answers, 1)
    ]
    checks = [_check(suite, one.case, labelled.check) for one in labelled.answers]
    verdicts = _verdicts(checks, samples, ask)
    items = tuple(
        Item(one.id, one.kind, one.passes, verdict.passed if verdict.status == "scored" else None, verdict.reason)
        for one, verdict in zip(labelled.answers, verdicts, strict=True)
    )
    first = checks[0]
    by = identify(first) if isinstance(first, Judge) else {"criteria": first.measures()}
    source = f"labelled set {labelled.labelled} ({counted(len(items), 'answer')}, digest {labelled.digest})"
    note = f"labels: {labelled.labels}" if labelled.labels else ""
    return Calibration(labelled.check, source, by, items, note)


def _check(suite: Suite, case: str, name: str) -> Check:
    return next(bound.check for bound in suite.bound[case] if bound.check.id == name)


def _verdicts(checks: Sequence[Check], samples: Sequence[Sample], ask: Ask) -> list[Verdict]:
    judged = [(check, sample) for check, sample in zip(checks, samples, strict=True) if isinstance(check, Judge)]
    if len(judged) == len(samples):
        return ask(judged)
    if judged or not all(check.computable for check in checks):
        raise InputError(f"check {checks[0].id!r} cannot be computed for every answer of the set; name another check")
    return [verdicts_by(check, [sample])[0] for check, sample in zip(checks, samples, strict=True)]


def calibrate_readings(
    run: Run, check: str, outcomes: Mapping[tuple[str, int], Outcome], readings: Readings
) -> Calibration:
    """The strict verdicts of `check` (of the whole answer when empty) beside the readings that stand.

    Readings of pass and fail are the labels; unsure, infra and disputed ones are none.
    """
    known = run.suite.check_ids()
    if check and check not in known:
        raise InputError(f"run {run.id!r} has no check {check!r}; its checks: {', '.join(known)}")
    verdicts = {(v.case_id, v.sample, v.check_id): v for v in run.verdicts}
    items: list[Item] = []
    read: dict[SampleKey, Stand] = {}
    for (case, sample, about), stand in readings.by_item.items():
        if about != check or stand.state not in {"pass", "fail"}:
            continue
        if check:
            verdict = verdicts[case, sample, check]
            predicted, reason = verdict.passed if verdict.status == "scored" else None, verdict.reason
        else:
            predicted, reason = outcomes[case, sample].passed, outcomes[case, sample].reason
        read[case, sample] = stand
        items.append(Item(f"{case} sample {sample}", "", stand.state == "pass", predicted, reason))
    if not items:
        about = f"check {check!r}" if check else "whole answers"
        how = f"`evallib adjudicate {run.id}{f' --check {check}' if check else ''}`"
        raise InputError(f"run {run.id!r} has no reading of {about} as pass or fail; read some with {how}")
    source = f"{_READINGS} {run.id} ({counted(len(items), 'item')})"
    return Calibration(check or _WHOLE, source, {}, tuple(items), _how_read(read))


def _how_read(read: Mapping[SampleKey, Stand]) -> str:
    """What the choice and the reading of the items allow."""
    chosen = sorted({entry.chosen for stand in read.values() for entry in stand.readings})
    holds = "the rates hold for the items read, and for the run only where they were drawn at random"
    said = [f"Items were chosen {', '.join(chosen)}: {holds}"]
    if sighted := sum(not stand.blind for stand in read.values()):
        were = "was" if sighted == 1 else "were"
        said.append(f"{sighted} of {len(read)} {were} read with the strict verdict in sight, which sways readers")
    if len({case for case, _ in read}) < len(read):
        said.append("samples of one case are alike, so intervals may be too narrow")
    return f"{'; '.join(said)}."
