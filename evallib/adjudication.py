"""Readings: what people said of verdicts and answers, folded beside the strict view."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evallib.entries import (
    CAUSES,
    READINGS,
    Close,
    Difference,
    Lock,
    Override,
    Reading,
    Rescoring,
    Resolution,
    Rubric,
    Withdrawal,
    entry_text,
)
from evallib.errors import InputError
from evallib.importers.berth_readings import PublishedReading
from evallib.masking import masks_of
from evallib.records import Outcome, Sample, SampleKey, Verdict, digest
from evallib.reviewer import reviewer_name
from evallib.scoring import fold, outcome_word
from evallib.standing import Readings, Rubrics, Stand, State, answer_digest, live_entries, own_readings
from evallib.store import LoggedEntry, Run, append_entry
from evallib.suite import Suite

__all__ = [
    "Attached",
    "ReadOutcome",
    "attach_published",
    "explained",
    "make_difference",
    "make_reading",
    "make_resolution",
    "make_rubric",
    "make_withdrawal",
    "read_outcomes",
    "read_state",
    "settles",
    "strict_word",
]

_PUBLISHED = "as published"


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
    outcome; infra becomes an error without verdicts; unsure and disputed leave strict standing; unread is strict.
    """
    return {
        sample.key: _voided(
            _read_one(sample, run.verdicts_of[sample.key], strict[sample.key], readings, run.suite.pass_rule)
        )
        for sample in run.samples
    }


def _voided(read: ReadOutcome) -> ReadOutcome:
    """Where the infrastructure failed, no check saw what it judges: its verdicts could not be had."""
    if read.state != "infra":
        return read
    none: dict[str, Any] = {"status": "not_scored", "value": None, "raw": None, "passed": None}
    reason = "read as an infrastructure failure"
    verdicts = (v if v.status == "not_applicable" else v._replace(**none, reason=reason) for v in read.verdicts)
    return replace(read, verdicts=tuple(verdicts))


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
    settled = whole is not None and settles(whole, stands.values())
    if whole is None or (whole.state == "unsure" and stands and not settled):
        return by_checks
    words = {whole.state, by_checks.state}
    if words == {"pass", "fail"} and not settled:
        others = {e.entry.author for stand in stands.values() for e in stand.entries}
        if others - {e.entry.author for e in whole.entries}:
            return ReadOutcome(strict, "disputed", by_checks.verdicts)
    return ReadOutcome(_by_answer(strict, whole.state), whole.state, by_checks.verdicts)


def settles(whole: Stand, checks: Iterable[Stand]) -> bool:
    """Whether the answer has a resolution that cites every standing reading of its checks, where there is any."""
    read = {logged.id for stand in checks for logged in stand.entries}
    entry = whole.resolution.entry if whole.resolution else None
    return bool(read) and isinstance(entry, Resolution) and read <= set(entry.cites)


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


def read_state(run: Run, key: SampleKey, readings: Readings) -> State | Literal[""]:
    """What the read view makes of one sample, as `ReadOutcome.state` has it."""
    sample, verdicts = run.by_key[key], run.verdicts_of[key]
    strict = fold(sample, verdicts, run.suite.pass_rule)
    return _read_one(sample, verdicts, strict, readings, run.suite.pass_rule).state


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
    return verdict._replace(status="scored", value=value, raw=raw, passed=state == "pass", reason=f"read as {state}")


def make_reading(  # noqa: PLR0913  # the parts of a log entry, each by its name
    run: Run,
    case: str,
    sample: int,
    *,
    reading: str,
    author: str,
    reason: str = "",
    check: str = "",
    cause: str = "unknown",
    blind: bool = False,
    log: Sequence[LoggedEntry] = (),
    **more: Any,
) -> Reading:
    """A reading entry of a stored answer, with the digests that tie it to what was read.

    `log` tells the rubric in force and, where the reading `supersedes` one, the others of the author's that it amends
    with it; `more` are further fields of `Reading`. InputError when the item does not exist,
    a word is not one of READINGS or CAUSES, the author is empty, a sighted reading has no reason, an unsure one
    no cause, or the span is not inside the answer.
    """
    found, verdicts = _item(run, case, sample, check)
    author = reviewer_name(author)
    _one_of("reading", reading, READINGS)
    _one_of("cause", cause, CAUSES)
    if not blind and not reason.strip():
        raise InputError("a sighted reading needs a reason; give --reason")
    if blind and reading == "unsure" and cause == "unknown":
        raise InputError(f"an unsure reading needs a cause: one of {', '.join(c for c in CAUSES if c != 'unknown')}")
    span = more.get("span")
    if span and not 0 <= span[0] < span[1] <= len(found.answer):
        raise InputError(f"span {list(span)} is not inside the answer of {len(found.answer)} characters")
    named = [v for v in verdicts if v.check_id == check]
    outcome = fold(found, verdicts, run.suite.pass_rule)
    before, again = more.get("supersedes", ""), more.get("again", False)
    own = own_readings(run, log, author, (case, sample, check), again=again) if before else []
    return Reading(
        author=author,
        run=run.id,
        case=case,
        sample=sample,
        check=check,
        reading=reading,  # type: ignore[arg-type]  # compared with READINGS above
        cause=cause,  # type: ignore[arg-type]  # compared with CAUSES above
        reason=entry_text(reason.strip()),
        blind=blind,
        strict=masks_of(found).mask(_in_words(named[0] if check else outcome)),
        answer_digest=answer_digest(found),
        criteria_digest=named[0].decides if check else digest([v.decides for v in verdicts], 16),
        rubric_digest=Rubrics(run, live_entries(log)).digest(case, check),
        also_supersedes=tuple(id_ for id_ in own if id_ != before),
        **more,
    )


def make_difference(  # the parts of a log entry, each by its name
    run: Run, about: LoggedEntry, *, author: str, cause: str = "", reason: str = "", canned: bool = False,
    supersedes: str = "",
) -> Difference:  # fmt: skip
    """Why strict and the reading `about` differ; where they agree, that they do, without a reason asked for.

    InputError as `explained` raises it, and when `about` is no reading of the run.
    """
    read = about.entry
    if not isinstance(read, Reading) or read.run != run.id:
        raise InputError(f"{about.id}: is no reading of run {run.id!r}")
    strict = strict_word(run, read.case, read.sample, read.check)
    cause, reason = explained(read.reading, strict, cause, reason)
    return Difference(
        author=reviewer_name(author),
        run=run.id,
        case=read.case,
        sample=read.sample,
        check=read.check,
        about=about.id,
        agrees=read.reading == strict,
        cause=cause,  # type: ignore[arg-type]  # compared with CAUSES above
        reason=entry_text(reason),
        canned=canned,
        supersedes=supersedes,
    )


def explained(reading: str, strict: str, cause: str, reason: str) -> tuple[str, str]:
    """Cause and reason of a reading whose reader knows what `strict` says; where the two agree, they follow from that.

    InputError when they differ and cause or reason is missing, or the cause says what the reading does not.
    """
    _one_of("reading", reading, READINGS)
    cause = "" if cause == "unknown" else cause
    if cause:
        _one_of("cause", cause, CAUSES)
    if reading == strict:
        implied = "true-failure" if reading == "fail" else "unknown"
        if cause not in {"", implied}:
            raise InputError(
                f"strict and your reading agree, and {cause} is a cause to differ: leave it out, or amend the "
                "reading (a)"
            )
        return implied, reason.strip() or "agrees"
    if not cause or not reason.strip():
        raise InputError("strict and your reading differ: say why, with a cause (1-9, 0, x; --cause) and a reason")
    if cause == "true-failure":
        raise InputError(
            "cause true-failure says that strict is right, and your reading differs: amend the reading (a)"
        )
    return cause, reason.strip()


def make_resolution(
    run: Run,
    item: tuple[str, int, str],
    readings: Readings,
    *,
    author: str,
    reading: str,
    reason: str,
    cause: str = "unknown",
) -> Resolution:
    """What holds where the readers of (case, sample, check) differ, citing every standing reading of it.

    One of the answer cites the readings of its checks too, and so settles where they differ from it. It stands over the
    earlier resolutions of the item, the author's own and others'. InputError when nobody's reading stands or they do
    not differ, or reason or author is missing.
    """
    case, sample, check = item
    found, verdicts = _item(run, case, sample, check)
    stand = readings.by_item.get(item)
    if stand is None:
        raise InputError(f"case {case!r} sample {sample}: nobody's reading of it stands, there is nothing to resolve")
    strict = fold(found, verdicts, run.suite.pass_rule)
    across = not check and _read_one(found, verdicts, strict, readings, run.suite.pass_rule).state == "disputed"
    if not (stand.differ or stand.resolutions or across):
        raise InputError(f"case {case!r} sample {sample}: its readers do not differ, there is nothing to resolve")
    answer = [] if check else [one for other, one in readings.by_item.items() if other[:2] == item[:2] and other[2]]
    cited = [*stand.entries, *(logged for one in answer for logged in one.entries)]
    _one_of("reading", reading, READINGS)
    _one_of("cause", cause, CAUSES)
    if not reason.strip():
        raise InputError("a resolution needs a reason; give --reason")
    author = reviewer_name(author)
    own = [logged.id for logged in stand.resolutions if logged.entry.author == author]
    return Resolution(
        author=author,
        run=run.id,
        case=case,
        sample=sample,
        check=check,
        cites=tuple(logged.id for logged in (*cited, *stand.resolutions)),
        reading=reading,  # type: ignore[arg-type]  # compared with READINGS above
        cause=cause,  # type: ignore[arg-type]  # compared with CAUSES above
        reason=entry_text(reason.strip()),
        self_resolved=author in {logged.entry.author for logged in cited},
        supersedes=own[-1] if own else "",
    )


def make_withdrawal(log: Sequence[LoggedEntry], id_: str, *, author: str, reason: str) -> Withdrawal:
    """Takes the author's own entry `id_` back; of a withdrawal, that what it took back counts again.

    InputError when reason or author is missing, or there is no such entry, it is gone, another's or of a kind
    that stays.
    """
    author = reviewer_name(author)
    if not reason.strip():
        raise InputError("a withdrawal needs a reason; give --reason")
    entry = dict(log).get(id_)
    if entry is None:
        raise InputError(f"the log has no entry {id_!r}; its ids are the names of its files, without `.yaml`")
    if entry.author != author:
        raise InputError(f"entry {id_!r} is by {entry.author!r}: nobody but its author takes it back")
    if isinstance(entry, Rescoring):
        raise InputError(f"entry {id_!r} is a rescoring, whose view stays; publish another rescoring")
    if isinstance(entry, Lock | Close | Override):
        ends = "end it with `evallib close`" if isinstance(entry, Lock) else "write another"
        raise InputError(f"entry {id_!r} is a {entry.kind}, which nobody takes back; {ends}")
    if all(logged.id != id_ for logged in live_entries(log)):
        raise InputError(f"entry {id_!r} was taken back already")
    return Withdrawal(author=author, withdraws=id_, reason=entry_text(reason.strip()))


def make_rubric(suite: Suite, *, author: str, text: str, reason: str, check: str = "") -> Rubric:
    """What readers are told to judge a check of `suite` by, the whole answer when `check` is empty.

    InputError when the suite has no such check, or text, reason or author is missing.
    """
    if check and check not in suite.check_ids():
        raise InputError(f"suite {suite.suite!r} has no check {check!r}; its checks: {', '.join(suite.check_ids())}")
    if not text.strip() or not reason.strip():
        raise InputError("a rubric needs a text and a reason; give --rubric and --reason")
    return Rubric(
        author=reviewer_name(author),
        suite=suite.suite,
        check=check,
        text=entry_text(text.strip()),
        reason=entry_text(reason.strip()),
    )


def strict_word(run: Run, case: str, sample: int, check: str = "") -> str:
    """What a reading must say to agree with the strict view: pass or fail, or infra where strict has an error."""
    found, verdicts = _item(run, case, sample, check)
    if check:
        passed = next(v.passed for v in verdicts if v.check_id == check)
    else:
        passed = fold(found, verdicts, run.suite.pass_rule).passed
    return {True: "pass", False: "fail", None: "infra"}[passed]


def _item(run: Run, case: str, sample: int, check: str) -> tuple[Sample, list[Verdict]]:
    found = run.by_key.get((case, sample))
    if found is None:
        raise InputError(f"run {run.id!r} has no sample {sample} of case {case!r}; see `evallib show {run.id}`")
    verdicts = run.verdicts_of[case, sample]
    if check and check not in {v.check_id for v in verdicts}:
        known = ", ".join(v.check_id for v in verdicts)
        raise InputError(f"case {case!r} sample {sample} of run {run.id!r} has no check {check!r}; its checks: {known}")
    return found, verdicts


def _one_of(what: str, word: str, known: Iterable[str]) -> None:
    if word not in known:
        raise InputError(f"{what} {word!r}: say one of {', '.join(known)}")


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
    author = entry_text(f"published in {source}")
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
            if {(*item, ("source", source)), (*item, ("reason", entry_text(one.reason)))} & seen:
                known.append(one)
                continue
            made.append(make_reading(
                run, one.scenario, one.repeat, reading=one.reading, reason=one.reason, author=author, source=source,
                chosen=_PUBLISHED,
            ))  # fmt: skip
    return Attached([append_entry(adjudications, reading) for reading in made], known, absent)


def _in_words(strict: Verdict | Outcome) -> str:
    return f"{outcome_word(strict.passed)}: {strict.reason}"
