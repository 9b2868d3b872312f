"""What readings teach the scorers: overruled verdicts and confirmed failures, as regressions of their suite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from evallib.entries import Reading, Resolution
from evallib.errors import IncompleteError, InputError
from evallib.masking import Masks, masks_of
from evallib.records import Outcome, Sample, SampleKey, ToolCall, Turn, digest
from evallib.scoring import fold_all, score_samples
from evallib.selfchecks.regressions import (
    Regression,
    Regressions,
    load_regressions,
    plain,
    regression_text,
    try_regressions,
)
from evallib.standing import Stand, answer_digest, live_entries, standing_readings
from evallib.store import LoggedEntry, Run, open_run, share_suite, some_of
from evallib.store.files import replace_file
from evallib.suite import Suite

__all__ = ["Lessons", "Tried", "learn", "taught", "tried", "untrue"]

Said = Mapping[str, Any]


class Lessons(NamedTuple):
    """What readings teach a suite, beside what its file holds already."""

    new: tuple[Said, ...]
    """Regressions that the file lacks, in a stable order."""
    known: int
    otherwise: tuple[str, ...]
    """A sentence for each regression of the file that the readings do not bear out."""

    @property
    def in_clear(self) -> tuple[str, ...]:
        """A sentence for each new one that holds a credential which could not be masked."""
        return tuple(
            f"sample {one['sample']['sample']} of case {one['sample']['case_id']!r} in run {one['sample']['run_id']!r} "
            "holds a credential in clear: without it a check would say something else"
            for one in self.new
            if one.get("credentials") == "in clear"
        )


def learn(runs: Sequence[Run], suite: Suite, kept: Regressions, log: Sequence[LoggedEntry]) -> Lessons:
    """What the standing readings of `runs` teach `suite`; InputError where a run is of another suite."""
    for run in runs:
        _refuse_other_suite(run, suite)
    found = {_key(said): said for run in sorted(runs, key=lambda one: one.id) for said in _of_run(run, suite, log)}
    standing = {one.key: (one, place) for one, place in zip(kept.kept, kept.places, strict=True)}
    here = {run.id for run in runs}
    otherwise = [*untrue(kept, log)]
    for key, (one, place) in standing.items():
        said = found.get(key)
        if key[0] in here and (said is None or said["must"] != one.must):
            now = "nothing that stands" if said is None else str(said["must"])
            otherwise.append(f"{place}: says that {one.where}; the readings now say {now}; take it out")
    new = tuple(said for key, said in found.items() if key not in standing)
    return Lessons(new, len(found) - len(new), tuple(dict.fromkeys(otherwise)))


def _refuse_other_suite(run: Run, suite: Suite) -> None:
    """A recorded run names the set that it was published in, not the suite: it is known by its cases."""
    if run.suite.suite != suite.suite and not (run.suite.recorded and set(run.plan["cases"]) <= set(suite.by_id)):
        raise InputError(f"run {run.id!r} is of suite {run.suite.suite!r}, not of {suite.suite!r}; name its suite")
    for case_id in set(run.plan["cases"]) & set(suite.by_id):
        asked, asks = run.suite.by_id[case_id].question, suite.by_id[case_id].question
        if asked and asks and asked != asks:
            raise InputError(
                f"case {case_id!r} asks something else than in run {run.id!r}; what was read of it teaches nothing here"
            )


def taught(kept: Regressions, lessons: Lessons) -> None:
    """Add the new regressions to the file beside the suite; what stands there keeps its bytes."""
    before = kept.path.read_text(encoding="utf-8") if kept.path.exists() else ""
    replace_file(kept.path, regression_text(lessons.new, before).encode())


def untrue(kept: Regressions, log: Sequence[LoggedEntry]) -> Iterator[str]:
    """A sentence for each regression that says otherwise than the readings it names, as far as the log has them."""
    written, live = dict(log), {logged.id for logged in live_entries(log)}
    for one, place in zip(kept.kept, kept.places, strict=True):
        for name in one.readings:
            entry = written.get(name)
            if entry is None:
                continue
            if not isinstance(entry, Reading | Resolution) or (entry.run, entry.case, entry.sample) != one.key[:3]:
                yield f"{place}: {name} is no reading of {one.where}; take it out"
            elif entry.reading != one.must:
                yield f"{place}: says {one.must} where {name} says {entry.reading}; take it out and write it anew"
            elif isinstance(entry, Reading) and entry.answer_digest not in ("", one.answer_digest):
                yield f"{place}: holds another answer than the one that {name} read; take it out and write it anew"
            elif name not in live:
                yield f"{place}: rests on {name}, which was taken back; take it out"


class Tried(NamedTuple):
    """What a changed suite says of the answers beside it."""

    refused: tuple[str, ...]
    """Why it may not be applied: a known bad answer passes, or the file says what nobody read."""
    told: Said | None
    """What `rescore --json` says of it; None where nothing was tried."""
    unkept: tuple[str, ...] = ()
    """Why it may not be applied though the file lacks it: by the log, an answer of its runs is judged wrongly now."""


def tried(suite_path: Path, suite: Suite, log: Sequence[LoggedEntry], runs: Sequence[Run]) -> Tried:
    """The answers that people read under the criteria of `suite`: those beside `suite_path`, and what the log has.

    That is what was read in other runs of the suite, in the folder of `runs`, and of `runs` what was read as bad: what
    was read there as right is held against their verdicts. InputError where the file cannot be read.
    """
    kept = load_regressions(suite_path, suite)
    known = {one.key for one in kept.kept}
    forgotten = [one for one in _logged(suite, log, runs) if one.key not in known]
    if not kept.kept and not forgotten:
        return Tried((), None)
    beside, logged = try_regressions(suite, kept.kept), try_regressions(suite, forgotten)
    remedy = "change the criterion so that it agrees, or amend the reading if it is wrong"
    refused = (*untrue(kept, log), *(f"{said}; {remedy}" for said in beside.bad))
    told = {
        "answers": len(kept.kept) + len(forgotten),
        "tried": beside.tried + logged.tried,
        "of_the_log": len(forgotten),
        "digest": kept.digest,
        "still_wrong": [*beside.residue, *logged.residue],
        "untried": [*beside.untried, *logged.untried],
    }
    return Tried(refused, told, tuple(f"{said}; {remedy}" for said in logged.bad))


def _logged(suite: Suite, log: Sequence[LoggedEntry], runs: Sequence[Run]) -> Iterator[Regression]:
    """What the log read in runs of the suite beside `runs`; of `runs` what strict stopped and was read as bad."""
    given, known = {run.id: run for run in runs}, dict[str, Suite]()
    read: dict[str, set[SampleKey]] = {}
    for entry in (logged.entry for logged in log):
        if isinstance(entry, Reading | Resolution) and (entry.reading == "fail" or entry.run not in given):
            read.setdefault(entry.run, set()).add((entry.case, entry.sample))
    for name in sorted(read):
        try:
            run = given.get(name) or open_run(name, runs[0].folder.parent.parent)
            share_suite(run, known)
            _refuse_other_suite(run, suite)
            found = list(_of_run(some_of(run, read[name]), suite, log, kept=False))
        except (InputError, IncompleteError):
            continue  # it is of another suite, elsewhere, or not whole: nothing can be tried
        for said in found:
            if name not in given or said["must"] == said["strict"] == "fail":
                yield Regression.model_validate_json(json.dumps({**said, "digest": digest(said, 16)}))


def _key(said: Said) -> tuple[str, str, int, str]:
    sample = said["sample"]
    return sample["run_id"], sample["case_id"], sample["sample"], said.get("check", "")


def _of_run(run: Run, suite: Suite, log: Sequence[LoggedEntry], *, kept: bool = True) -> Iterator[Said]:
    """What the readings of one run teach; what is `kept` has its credentials masked, and no confirmed passes."""
    outcomes = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    for (case, number, check), stand in sorted(standing_readings(run, log).by_item.items()):
        if case not in suite.by_id or stand.state not in {"pass", "fail"}:
            continue
        strict, against = _strict(run, outcomes, (case, number), check)
        if strict and not (kept and strict == stand.state == "pass"):
            shown = _masked(suite, run.by_key[case, number]) if kept else (run.by_key[case, number], "")
            yield _said(run, shown, check, stand) | {"strict": strict, "checks": against}


def _strict(run: Run, outcomes: Mapping[SampleKey, Outcome], key: SampleKey, check: str) -> tuple[str, list[str]]:
    """What strict said of what was read, empty where it said nothing, and the checks that stood against it."""
    if not check:
        outcome = outcomes[key]
        word = {True: "pass", False: "fail", None: ""}[outcome.passed if outcome.status == "scored" else None]
        return word, list(outcome.failed) if word == "fail" else []
    verdict = next(v for v in run.verdicts_of[key] if v.check_id == check)
    if verdict.status != "scored":
        return "", []
    return ("pass", []) if verdict.passed else ("fail", [check])


def _said(run: Run, shown: tuple[Sample, str], check: str, stand: Stand) -> dict[str, Any]:
    sample, credentials = shown
    key = sample.key
    said = [logged.id for logged in stand.entries if getattr(logged.entry, "reading", "") == stand.state]
    question = run.suite.by_id[key[0]].question
    return {
        "must": stand.state,
        "strict": "",
        **({"check": check} if check else {}),
        "checks": [],
        "readings": [stand.resolution.id] if stand.resolution else said,
        **({"question": question} if question else {}),
        "answer_digest": answer_digest(run.by_key[key]),
        **({"credentials": credentials} if credentials else {}),
        "sample": plain(replace(sample, duration_s=0.0, seed=None, started="", source="")),
    }


def _masked(suite: Suite, sample: Sample) -> tuple[Sample, str]:
    """The sample with its credentials masked where that changes no verdict of the suite, and which of the two it is."""
    masks = masks_of(sample)
    hidden = _with_texts(sample, masks)
    if hidden == sample:
        return sample, ""
    before, after = (
        [(v.check_id, v.status, v.passed) for v in score_samples(suite, [one])] for one in (sample, hidden)
    )
    return (hidden, "masked") if before == after else (sample, "in clear")


def _with_texts(sample: Sample, masks: Masks) -> Sample:
    return replace(
        sample,
        answer=masks.mask(sample.answer),
        error=masks.mask(sample.error),
        files={name: masks.mask(text) for name, text in sample.files.items()},
        recorded=tuple(map(masks.mask, sample.recorded)),
        turns=tuple(_turn(turn, masks) for turn in sample.turns),
    )


def _turn(turn: Turn, masks: Masks) -> Turn:
    calls = (tuple(_call(call, masks) for call in each) for each in (turn.tool_calls, turn.results, turn.pending))
    made, results, pending = calls
    return replace(
        turn,
        request=masks.mask(turn.request),
        text=masks.mask(turn.text),
        partials=tuple(map(masks.mask, turn.partials)),
        tool_calls=made,
        results=results,
        pending=pending,
    )


def _call(call: ToolCall, masks: Masks) -> ToolCall:
    result, error = (None if text is None else masks.mask(text) for text in (call.result, call.error))
    return replace(call, arguments=_inside(dict(call.arguments), masks), result=result, error=error)


def _inside(value: Any, masks: Masks) -> Any:
    if isinstance(value, str):
        return masks.mask(value)
    if isinstance(value, Mapping):
        return {name: _inside(one, masks) for name, one in value.items()}
    return [_inside(one, masks) for one in value] if isinstance(value, list) else value
