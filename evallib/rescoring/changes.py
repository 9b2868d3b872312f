"""What differs between a run's criteria and a suite's, held against the changes that an entry names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evallib.checks.base import Check
from evallib.checks.foreign import Foreign
from evallib.checks.judge import Judge
from evallib.checks.recorded import Recorded
from evallib.entries import Change, Rescoring
from evallib.errors import InputError
from evallib.records import digest
from evallib.store import Run
from evallib.suite import Suite

__all__ = [
    "UNPUBLISHED",
    "became",
    "criteria_digests",
    "decides_alike",
    "listed_changes",
    "recording",
    "refuse_invented",
    "refuse_misnamed_fix",
    "refuse_unlisted",
    "reworded",
]

_FITTING = {
    "weight": ("weight",),
    "critical": ("criticality",),
    "measures": ("widen", "narrow"),
    "key": ("key", "widen", "narrow"),
    "reach": ("scope", "widen", "narrow"),
    "kind": ("replace", "widen", "narrow"),
    "judge": ("replace", "widen", "narrow", "key", "scope"),
    "added": ("narrow", "scope", "replace"),
    "removed": ("drop", "scope", "replace"),
    "description": ("description",),
}
"""What may differ in one check of one case, and the kinds of fix that say so.

A pattern that is mended once more is no other check: only another kind is a replacement.
"""
_REACH = {"over"}
"""Keys of checks that say what they read."""
_IN_WORDS = {
    "weight": "its weight differs",
    "critical": "whether it is critical differs",
    "measures": "what it measures differs",
    "key": "what the case's key gives it differs",
    "reach": "what it reads differs",
    "kind": "it is another kind of check",
    "judge": "what the judge is asked differs",
    "added": "the check is new there",
    "removed": "the check is gone there",
}


UNPUBLISHED = "are not at hand: what a change was from, and so of which kind it is, is the word of its entry"
"""Of the criteria that recorded verdicts came from."""


def criteria_digests(runs: Sequence[Run], suite: Suite) -> list[str]:
    """Digest (16 hex) per run of the checks that `suite` sets its cases, and of nothing else the suite says.

    Two suites with one digest flip the same samples, whatever they are called.
    """
    known: dict[tuple[str, ...], str] = {}
    for cases in (tuple(run.plan["cases"]) for run in runs):
        if cases not in known:
            checks = {name: [b.check.criteria() for b in suite.bound[name]] for name in cases}
            known[cases] = digest([suite.pass_rule, checks], 16)
    return [known[tuple(run.plan["cases"])] for run in runs]


def recording(run: Run) -> tuple[object, ...]:
    """What the answers of a run are known by: the records they were imported from, whatever their id; else its id."""
    source = run.plan.get("source") or {}
    return (source["sha256"], source.get("set")) if source.get("sha256") else (run.id,)


def became(suite: Suite, entry: Rescoring) -> dict[str, str]:
    """Check that the entry changes to the digest (16 hex) of what it is in `suite`, in the cases that are named."""
    found: dict[str, set[str]] = {}
    for name, case in listed_changes(entry, suite):
        for check in (b.check for b in suite.bound.get(case, ()) if b.check.id == name):
            found.setdefault(name, set()).add(digest([check.criteria(), check.description], 16))
    return {name: digest(sorted(each), 16) for name, each in sorted(found.items())}


def listed_changes(entry: Rescoring, suite: Suite) -> set[tuple[str, str]]:
    """(check, case) of every change the entry names; without cases it is of all."""
    return {(change.check, case) for change in entry.changes for case in (change.cases or suite.by_id)}


def refuse_unlisted(run: Run, suite: Suite, entry: Rescoring) -> None:
    """Every criterion that differs must be a change the entry names; what was never published cannot be compared."""
    listed = listed_changes(entry, suite)
    known = set(suite.check_ids()) | set(run.suite.check_ids())
    other_rule = run.suite.pass_rule != suite.pass_rule
    if other_rule and not any(change.fix == "pass-rule" for change in entry.changes):
        raise InputError(
            f"the new suite changes the pass rule from {run.suite.pass_rule!r} to {suite.pass_rule!r}, which the entry "
            "does not list; add a change with `fix: pass-rule` and its reason"
        )
    for change in entry.changes:
        if change.check not in known:
            raise InputError(f"the entry names check {change.check!r}, which neither suite has; correct the entry")
    for case_id in run.plan["cases"]:
        old = {b.check.id: b.check for b in run.suite.bound[case_id] if b.check.check != "recorded"}
        new = {b.check.id: b.check for b in suite.bound[case_id]}
        for name in {**old, **new} if old else ():
            if (name, case_id) not in listed:
                _refuse_other(case_id, old.get(name), new.get(name))


def _refuse_other(case_id: str, old: Check | None, new: Check | None) -> None:
    """InputError where one check, which no entry lists, is not what it was."""
    if old is None or new is None or old.criteria() != new.criteria():
        raise InputError(
            f"the new suite changes check {(old or new).id!r} of case {case_id!r}, which the entry does not list; "  # type: ignore[union-attr]  # one is there
            "add it under `changes` with its reason"
        )
    if old.description != new.description:
        raise InputError(
            f"the new suite describes check {old.id!r} of case {case_id!r} otherwise, which the entry does not list; "
            "add it under `changes` with `fix: description` and its reason, or put the words back"
        )


def reworded(run: Run, suite: Suite, entry: Rescoring) -> list[str]:
    """Checks of recorded verdicts that `suite` describes otherwise than their source, and the entry does not list."""
    listed = listed_changes(entry, suite)
    said = {
        (b.check.id, case): b.check.description
        for case in run.plan["cases"]
        for b in run.suite.bound[case]
        if b.check.check == "recorded" and b.check.description
    }
    new = {(b.check.id, case): b.check.description for case in run.plan["cases"] for b in suite.bound[case]}
    return sorted({key[0] for key in said.keys() - listed if new.get(key, said[key]) != said[key]})


def refuse_misnamed_fix(run: Run, suite: Suite, entry: Rescoring) -> None:
    """What differs in a check must be of a kind that the entry calls it: a weight is no widening."""
    called: dict[tuple[str, str], set[str]] = {}
    for change in entry.changes:
        for case_id in change.cases or run.plan["cases"]:
            called.setdefault((change.check, case_id), set()).add(change.fix)
    for (name, case_id), fixes in called.items():
        if case_id not in run.plan["cases"]:
            continue
        for part in _differing(run, suite, case_id, name) or ():
            if part != "description" and not fixes & set(_FITTING[part]):
                raise InputError(
                    f"the entry calls the change of check {name!r} of case {case_id!r} {' and '.join(sorted(fixes))}, "
                    f"and {_IN_WORDS[part]}; list that under `changes` too, as {' or '.join(_FITTING[part])}"
                )


def refuse_invented(runs: Sequence[Run], suite: Suite, entry: Rescoring) -> None:
    """Every change the entry names must be one: of what both suites say of a check in some case of some run.

    Where a run's own criteria were never published (`recorded`), or a judge is asked anew, nothing can be told.
    """
    for change in entry.changes:
        if change.fix == "pass-rule":
            if all(run.suite.pass_rule == suite.pass_rule for run in runs):
                raise InputError(
                    f"the entry says that the pass rule changes, and both suites say {suite.pass_rule!r}; take the "
                    "change out of `changes`, or change the suite"
                )
        elif not any(_may_change(run, suite, change) for run in runs):
            where = f" of {', '.join(map(repr, change.cases))}" if change.cases else ""
            raise InputError(
                f"the entry says that check {change.check!r}{where} changes ({change.fix}), and both suites say the "
                "same of it; take the change out of `changes`, or change the suite"
            )


def decides_alike(run: Run, suite: Suite) -> bool:
    """Whether nothing that decides a verdict differs; never so where the run's criteria were not published."""
    if run.suite.recorded or run.suite.pass_rule != suite.pass_rule:
        return False
    return all(_decisive(run.suite, case_id) == _decisive(suite, case_id) for case_id in run.plan["cases"])


def _decisive(suite: Suite, case_id: str) -> list[tuple[str, str]]:
    return sorted((bound.check.id, digest(bound.check.criteria())) for bound in suite.bound[case_id])


def _may_change(run: Run, suite: Suite, change: Change) -> bool:
    return any(_says_so(run, suite, case_id, change) for case_id in change.cases or run.plan["cases"])


def _says_so(run: Run, suite: Suite, case_id: str, change: Change) -> bool:
    if case_id not in run.suite.by_id or case_id not in suite.by_id:
        return True
    parts = _differing(run, suite, case_id, change.check)
    return parts is None or any(change.fix in _FITTING[part] for part in parts)


def _differing(run: Run, suite: Suite, case_id: str, name: str) -> set[str] | None:
    """What differs in one check of one case, by the keys of `_FITTING`; None where nothing can be told.

    Nothing can be told of recorded verdicts, of kinds of other packages, and of a judge that is as it was: another
    model may answer it.
    """
    old, new = (_one_check(one, case_id, name) for one in (run.suite, suite))
    if {type(one) for one in (old, new)} & {Recorded, Foreign}:
        return None
    if old is None or new is None:
        return {"added"} if new else {"removed"} if old else set()
    same_key = run.suite.by_id[case_id].key == suite.by_id[case_id].key
    parts = set(_parts(old, new, same_key=same_key))
    return None if isinstance(new, Judge) and not parts - {"description"} else parts


def _parts(old: Check, new: Check, *, same_key: bool) -> Iterator[str]:
    if old.weight != new.weight:
        yield "weight"
    if old.critical != new.critical:
        yield "critical"
    was, now = old.criteria(decisive=False), new.criteria(decisive=False)
    if old.check != new.check:
        yield "kind"
    elif isinstance(new, Judge):
        yield from ["judge"] * (was != now)
    elif other := {name for name in was | now if was.get(name) != now.get(name)}:
        yield "measures" if same_key and other - _REACH else "key" if other - _REACH else "reach"
    if old.description != new.description:
        yield "description"


def _one_check(suite: Suite, case_id: str, name: str) -> Check | None:
    return next((b.check for b in suite.bound[case_id] if b.check.id == name), None)
