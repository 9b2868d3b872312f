"""What a rescoring is refused for: who may change criteria, what must stand in the entry, locks, and unread flips."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from evallib.entries import Accepted, Lock, Override, Rescoring, entry_text, says_nothing
from evallib.errors import InputError
from evallib.locks import covering
from evallib.records import Verdict
from evallib.rescoring.changes import decides_alike, recording
from evallib.rescoring.flips import Flip
from evallib.rescoring.turned import Turned, deciding_changes
from evallib.reviewer import reviewer_name
from evallib.rule import Rule, same_person
from evallib.standing import standing_readings
from evallib.store import LoggedEntry, Run
from evallib.suite import Suite

__all__ = [
    "Acceptance",
    "against_words",
    "flip_problems",
    "make_override",
    "refusal",
    "refuse_author",
    "refuse_locked",
    "refuse_twins",
    "refuse_without_prediction",
    "turned_against",
    "unread_words",
]


def refusal(refuse: Callable[..., None], *given: object) -> Iterator[InputError]:
    """What `refuse` refuses, if anything, instead of raising it."""
    try:
        refuse(*given)
    except InputError as error:
        yield error


def refuse_author(entry: Rescoring, rule: Rule) -> None:
    """The rule says who may change criteria, in the very spelling of their name."""
    _refuse_outsider(entry.author, rule, "change criteria")


def _refuse_outsider(author: str, rule: Rule, what: str) -> None:
    if not rule.allows(author):
        named = [name for name in rule.authors if same_person(name, author)]
        remedy = f"write {named[0]!r} as the rule does" if named else "have one of them do it"
        raise InputError(
            f"the rule lets {', '.join(rule.authors)} {what}, and {author!r} is none of these names; {remedy}"
        )


def refuse_without_prediction(runs: Sequence[Run], suite: Suite, entry: Rescoring) -> None:
    """The flips that are expected stand in the entry, an empty list too; a change that decides nothing has none."""
    if "expects" not in entry.model_fields_set and not all(decides_alike(run, suite) for run in runs):
        raise InputError(
            "the entry does not say which flips it expects; list them under `expects`, or write `expects: []` where "
            "none will happen"
        )


def refuse_locked(run: Run, log: Sequence[LoggedEntry], rule: Rule) -> None:
    """No criteria change while a comparison stands on them."""
    for logged in covering(run, log, rule):
        if isinstance(lock := logged.entry, Lock):
            how = "is held by" if run.id in lock.runs else f"shares criteria with {', '.join(lock.runs)}, held by"
            reason = " ".join(lock.reason.split())
            raise InputError(
                f"run {run.id!r} {how} lock {logged.id!r} of {lock.author!r} ({reason}); rescore when the "
                f"comparison is over and the lock is closed: evallib close {logged.id} --by NAME --reason TEXT"
            )


def refuse_twins(runs: Sequence[Run]) -> None:
    """One recording under two ids counts its flips twice."""
    seen: dict[tuple[object, ...], str] = {}
    for run in runs:
        if (first := seen.setdefault(recording(run), run.id)) != run.id:
            raise InputError(f"runs {first!r} and {run.id!r} are imports of the same records; name one of them")


def flip_problems(
    flips: Iterable[Flip], entry: Rescoring, suite: Suite, outdated: Collection[str]
) -> Iterator[InputError]:
    """What is said of flips that nothing makes good: not listed, against a reading, or back and not foretold and read.

    What a check of the `outdated` flips needs no listing: its kind has judged otherwise since.
    """
    listed = deciding_changes(entry, suite)
    for flip in flips:
        becomes = f"{flip.named} would become {flip.after}"
        unknown = [one for one in flip.checks if (one, flip.case_id) not in listed and one not in outdated]
        if unknown:
            yield InputError(
                f"{becomes} by {', '.join(unknown)}, which the entry does not list; add it under `changes` with "
                "its reason"
            )
        elif flip.read == "contradicted":
            yield InputError(
                f"{becomes}, and {', '.join(flip.readings)} says otherwise; change the criterion so that it agrees"
            )
        elif flip.read == "disputed":
            yield InputError(f"{becomes}, and its readers differ; settle it first (evallib adjudicate RUN --resolve)")
        elif (flip.before, flip.after) == ("pass", "fail") and not (flip.expected and flip.read == "read"):
            missing = "the entry does not expect it" if flip.read == "read" else "nobody read it as that"
            yield InputError(
                f"{becomes} from pass: {missing}; a flip back must be expected in the entry and read, and no override "
                "accepts it"
            )


def turned_against(
    run: Run, turned: Iterable[Turned], log: Sequence[LoggedEntry], read: Collection[str]
) -> InputError | None:
    """What is said of the first verdict that fails now, and that a person read as a pass; `read` are checks so read."""
    suspects = [turn for turn in turned if turn.after == "fail" and turn.check in read]
    standing = standing_readings(run, log).by_item if suspects else {}
    for turn in suspects:
        stand = standing.get((turn.case_id, turn.sample, turn.check))
        if stand is not None and stand.state == "pass":
            return InputError(
                f"check {turn.check!r} on sample {turn.sample} of case {turn.case_id!r} of run {run.id!r} would "
                f"become fail, and {stand.entries[0].id} reads it as pass; change the criterion so that it agrees"
            )
    return None


def against_words(verdict: Verdict, run: str, entry: Rescoring) -> str:
    """That a verdict turned against the kind of fix the entry names."""
    now, other = ("passes", "widen") if verdict.passed else ("fails", "narrow")
    mine = (change for change in entry.changes if change.check == verdict.check_id)
    fixes = dict.fromkeys(change.fix for change in mine if not change.cases or verdict.case_id in change.cases)
    return (
        f"the entry calls the change of check {verdict.check_id!r} {' and '.join(fixes)}, and sample {verdict.sample} "
        f"of case {verdict.case_id!r} of run {run!r} now {now} it; change the criterion that way only, or "
        f"list `{other}` too"
    )


def unread_words(flips: Sequence[Flip]) -> str:
    """That these flips were read by nobody, and the two ways out."""
    named = "; ".join(flip.named for flip in flips[:3]) + (f" and {len(flips) - 3} more" if len(flips) > 3 else "")
    were = "flip was" if len(flips) == 1 else "flips were"
    return (
        f"{len(flips)} {were} read by nobody: {named}; read them first (evallib adjudicate RUN CASE SAMPLE --by NAME "
        "--reading R --cause C --reason TEXT), or accept them by name: --override REASON --by NAME"
    )


class Acceptance(NamedTuple):
    """That somebody answers for the flips nobody read, and why."""

    reason: str
    by: str


def make_override(
    runs: Sequence[Run], unread: Sequence[Flip], entry: Rescoring, rule: Rule, given: Acceptance
) -> Override:
    """The entry by which somebody accepts unread flips of a stamped rescoring.

    InputError when there are none, reason or author is missing, the rule does not name the author, or asks for another
    than the entry's.
    """
    if says_nothing(given.reason):
        raise InputError("an override needs a reason; give --override REASON")
    author = reviewer_name(given.by)
    if not unread:
        raise InputError("--override accepts flips that nobody read, and every flip was read; leave it out")
    _refuse_outsider(author, rule, "accept unread flips")
    if rule.licensed_by == "another" and same_person(author, entry.author):
        raise InputError(f"the rule asks for a second person, and {author!r} wrote the entry; have another accept it")
    return Override(
        author=author,
        time=entry.time,
        runs=tuple(run.id for run in runs),
        suite_digest=entry.suite_digest,
        flips=tuple(Accepted(run=f.run, case=f.case_id, sample=f.sample, to=f.after) for f in unread),
        reason=entry_text(given.reason.strip()),
    )
