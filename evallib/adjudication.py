"""Readings: what people said of verdicts and answers, folded beside the strict view."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from evallib.entries import CAUSES, READINGS, Reading, Withdrawal
from evallib.errors import InputError
from evallib.importers.berth_readings import PublishedReading
from evallib.records import Outcome, Sample, Verdict, digest
from evallib.scoring import fold
from evallib.store import LoggedEntry, Run, append_entry

__all__ = [
    "Attached",
    "ReadOutcome",
    "Readings",
    "Stand",
    "answer_digest",
    "attach_published",
    "make_reading",
    "read_outcomes",
    "standing_readings",
]

_PUBLISHED = "as published"
State = Literal["pass", "fail", "infra", "unsure", "disputed"]


def answer_digest(sample: Sample) -> str:
    """Digest (16 hex) of the answer a reader saw; another answer makes a reading stale."""
    return digest(sample.answer, 16)


@dataclass(frozen=True, slots=True)
class Stand:
    """Where the readings of one answer, or of one of its verdicts, stand."""

    state: State
    """`disputed` when readers differ."""
    entries: tuple[LoggedEntry, ...]

    @property
    def blind(self) -> bool:
        """Whether every reading was made without the strict verdict in sight."""
        return all(isinstance(e.entry, Reading) and e.entry.blind for e in self.entries)


@dataclass(frozen=True, slots=True)
class Readings:
    """The standing readings of one run."""

    by_item: Mapping[tuple[str, int, str], Stand] = field(default_factory=dict)
    """(case_id, sample, check_id) to its stand; check_id is empty for a reading of the answer."""
    stale: tuple[LoggedEntry, ...] = ()
    """Readings of an answer that is not the stored one; shown and not counted."""
    unknown: tuple[LoggedEntry, ...] = ()
    """Readings that name a case, sample or check the run does not have."""


def standing_readings(run: Run, log: Sequence[LoggedEntry]) -> Readings:
    """The readings of `run` that stand: not withdrawn, not superseded, each reader's last word per item."""
    withdrawn = {e.withdraws for _, e in log if isinstance(e, Withdrawal)}
    # an amendment that was taken back supersedes nothing: what it amended stands again
    amended = {e.supersedes for i, e in log if isinstance(e, Reading) and e.supersedes and i not in withdrawn}
    gone = withdrawn | amended
    last: dict[tuple[str, int, str, str], LoggedEntry] = {}
    stale, unknown = [], []
    samples = {sample.key: sample for sample in run.samples}
    checks = {(v.case_id, v.sample, v.check_id) for v in run.verdicts}
    for logged in log:
        entry = logged.entry
        if not isinstance(entry, Reading) or entry.run != run.id or logged.id in gone:
            continue
        sample = samples.get((entry.case, entry.sample))
        if sample is None or (entry.check and (entry.case, entry.sample, entry.check) not in checks):
            unknown.append(logged)
        elif entry.answer_digest != answer_digest(sample):
            stale.append(logged)
        else:
            last[(entry.case, entry.sample, entry.check, entry.author)] = logged
    grouped: dict[tuple[str, int, str], list[LoggedEntry]] = defaultdict(list)
    for (case, number, check, _), logged in last.items():
        grouped[(case, number, check)].append(logged)
    return Readings({item: _stand(entries) for item, entries in grouped.items()}, tuple(stale), tuple(unknown))


def _stand(entries: list[LoggedEntry]) -> Stand:
    said = {e.entry.reading for e in entries if isinstance(e.entry, Reading)}
    definite = said - {"unsure"}
    if len(definite) > 1:
        return Stand("disputed", tuple(entries))
    (state,) = definite or {"unsure"}
    return Stand(state, tuple(entries))


@dataclass(frozen=True, slots=True)
class ReadOutcome:
    """The outcome of one sample in the read view, and what the readings said of it."""

    outcome: Outcome
    state: State | Literal[""]
    """Empty when nobody read it; `unsure` and `disputed` leave the strict outcome standing."""
    verdicts: tuple[Verdict, ...]
    """The strict verdicts, those that were read replaced."""


def read_outcomes(
    run: Run, strict: Mapping[tuple[str, int], Outcome], readings: Readings
) -> dict[tuple[str, int], ReadOutcome]:
    """The read view (DESIGN section 1).

    A reading of a check replaces that check and the pass rule is folded again; a reading of the answer replaces the
    outcome; infra becomes an error; unsure and disputed leave strict standing; unread is strict.
    """
    verdicts: dict[tuple[str, int], list[Verdict]] = defaultdict(list)
    for verdict in run.verdicts:
        verdicts[(verdict.case_id, verdict.sample)].append(verdict)
    return {
        sample.key: _read_one(sample, verdicts[sample.key], strict[sample.key], readings, run.suite.pass_rule)
        for sample in run.samples
    }


def _read_one(
    sample: Sample,
    verdicts: list[Verdict],
    strict: Outcome,
    readings: Readings,
    pass_rule: Literal["critical", "top"],
) -> ReadOutcome:
    whole = readings.by_item.get((*sample.key, ""))
    stands = {v.check_id: s for v in verdicts if (s := readings.by_item.get((*sample.key, v.check_id)))}
    by_checks = _by_checks(sample, verdicts, strict, stands, pass_rule)
    if whole is None or (whole.state == "unsure" and stands):
        return by_checks
    if whole.state in {"pass", "fail"} and by_checks.state in {"pass", "fail"} and whole.state != by_checks.state:
        others = {e.entry.author for stand in stands.values() for e in stand.entries}
        if others - {e.entry.author for e in whole.entries}:
            return ReadOutcome(strict, "disputed", by_checks.verdicts)
    return ReadOutcome(_by_answer(strict, whole.state), whole.state, by_checks.verdicts)


def _by_checks(
    sample: Sample,
    verdicts: list[Verdict],
    strict: Outcome,
    stands: Mapping[str, Stand],
    pass_rule: Literal["critical", "top"],
) -> ReadOutcome:
    """The outcome by readings of single checks; the strict one where there are none."""
    if not stands:
        return ReadOutcome(strict, "", tuple(verdicts))
    states = {stand.state for stand in stands.values()}
    read = tuple(_by_check(v, stands[v.check_id].state) if v.check_id in stands else v for v in verdicts)
    if "infra" in states:
        return ReadOutcome(_by_answer(strict, "infra"), "infra", read)
    outcome = fold(sample, read, pass_rule)
    open_state: State | None = "disputed" if "disputed" in states else "unsure" if "unsure" in states else None
    return ReadOutcome(outcome, open_state or ("pass" if outcome.passed else "fail"), read)


def _by_answer(strict: Outcome, state: State) -> Outcome:
    if state in {"pass", "fail"}:
        return replace(strict, status="scored", passed=state == "pass", failed=(), reason=f"read as {state}")
    if state == "infra":
        return replace(strict, status="error", passed=None, score=None, reason="read as an infrastructure failure")
    return strict


def _by_check(verdict: Verdict, state: State) -> Verdict:
    if state not in {"pass", "fail"}:
        return verdict
    value = 1.0 if state == "pass" else 0.0
    raw = value if verdict.raw == verdict.value else None  # a person gives no figure on a judge's own scale
    return replace(verdict, status="scored", value=value, raw=raw, passed=state == "pass", reason=f"read as {state}")


def make_reading(  # noqa: PLR0913  # the parts of a log entry, each by its name
    run: Run,
    case: str,
    sample: int,
    *,
    reading: str,
    reason: str,
    author: str,
    check: str = "",
    cause: str = "unknown",
    blind: bool = False,
    source: str = "",
    chosen: str = "by hand",
    supersedes: str = "",
) -> Reading:
    """A reading entry of a stored answer, with the digests that tie it to what was read.

    InputError when the item does not exist, a word is not one of READINGS or CAUSES, or reason or author is empty.
    """
    found = next((s for s in run.samples if s.key == (case, sample)), None)
    if found is None:
        raise InputError(f"run {run.id!r} has no sample {sample} of case {case!r}; see `evallib show {run.id}`")
    verdicts = [v for v in run.verdicts if (v.case_id, v.sample) == (case, sample)]
    named = [v for v in verdicts if v.check_id == check]
    if check and not named:
        known = ", ".join(v.check_id for v in verdicts)
        raise InputError(f"case {case!r} sample {sample} of run {run.id!r} has no check {check!r}; its checks: {known}")
    if reading not in READINGS:
        raise InputError(f"reading {reading!r}: say one of {', '.join(READINGS)}")
    if cause not in CAUSES:
        raise InputError(f"cause {cause!r}: say one of {', '.join(CAUSES)}")
    author = _plain(author.strip())
    if not reason.strip() or not author:
        raise InputError("a reading needs a reason and a reviewer; give --reason and --by")
    outcome = fold(found, verdicts, run.suite.pass_rule)
    return Reading(
        author=author,
        run=run.id,
        case=case,
        sample=sample,
        check=check,
        reading=reading,  # type: ignore[arg-type]  # compared with READINGS above
        cause=cause,  # type: ignore[arg-type]  # compared with CAUSES above
        reason=_plain(reason),
        blind=blind,
        strict=_in_words(named[0]) if check else f"{_word(outcome.passed)}: {outcome.reason}",
        answer_digest=answer_digest(found),
        criteria_digest=named[0].decides if check else digest([v.decides for v in verdicts], 16),
        chosen=chosen,
        source=source,
        supersedes=supersedes,
    )


class Attached(NamedTuple):
    """What became of published readings."""

    new: list[LoggedEntry]
    known: list[PublishedReading]
    """Already in the log."""
    absent: list[PublishedReading]
    """Of runs, cases or samples that are not here."""


def attach_published(
    runs: Sequence[Run],
    published: Sequence[PublishedReading],
    log: Sequence[LoggedEntry],
    adjudications: Path,
    source: str,
) -> Attached:
    """Log published readings of every run that is there, matched on set, scenario and repeat; cause unknown.

    Repeating it adds nothing, whatever the file is called now: a reading with the same reason is known, and so is
    one of the same answer from the same source.
    """
    author = f"published in {source}"
    seen = {
        (e.run, e.case, e.sample, e.reading, by)
        for _, e in log
        if isinstance(e, Reading) and e.chosen == _PUBLISHED
        for by in (("source", e.source), ("reason", e.reason))
    }
    by_set: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.plan.get("imported"):
            by_set[str(run.plan["source"]["set"])].append(run)
    made: list[Reading] = []
    known: list[PublishedReading] = []
    absent: list[PublishedReading] = []
    for one in published:
        holding = [r for r in by_set[one.set] if any(s.key == (one.scenario, one.repeat) for s in r.samples)]
        absent += [] if holding else [one]
        for run in holding:
            item = (run.id, one.scenario, one.repeat, one.reading)
            if {(*item, ("source", source)), (*item, ("reason", _plain(one.reason)))} & seen:
                known.append(one)
                continue
            made.append(make_reading(
                run, one.scenario, one.repeat, reading=one.reading, reason=one.reason, author=author, source=source,
                chosen=_PUBLISHED,
            ))  # fmt: skip
    return Attached([append_entry(adjudications, reading) for reading in made], known, absent)


def _plain(text: str) -> str:
    """Text as it may stand in YAML: control characters but for the line break become visible."""
    return "".join(
        c if c == "\n" or (c.isprintable() and not 0xD800 <= ord(c) <= 0xDFFF) else repr(c)[1:-1] for c in text
    )


def _word(passed: bool | None) -> str:  # noqa: FBT001  # the verdict itself, no switch
    return {True: "pass", False: "fail", None: "error"}[passed]


def _in_words(verdict: Verdict) -> str:
    return f"{_word(verdict.passed)}: {verdict.reason}"
