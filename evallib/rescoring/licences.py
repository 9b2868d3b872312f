"""Licences: each change of a criterion needs a cited reading whose cause allows that kind of fix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evallib.entries import Change, Reading, Rescoring
from evallib.errors import InputError
from evallib.rule import Rule, same_person
from evallib.standing import Readings, Stand, standing_readings
from evallib.store import LoggedEntry, Run

__all__ = ["licensed_by_own_reading_only", "refuse_unlicensed"]

_ONE_WAY = {"widen": "pass", "narrow": "fail"}
"""What a reading must say of an answer for a fix that lets more, or fewer, answers pass."""


class _Cited(NamedTuple):
    """A reading that an entry cites, in the run that it is of."""

    id: str
    run: Run
    reading: Reading
    stand: Stand
    cause: str


def refuse_unlicensed(runs: Sequence[Run], entry: Rescoring, log: Sequence[LoggedEntry], rule: Rule) -> None:
    """InputError for the first change that no cited reading licenses, or a cited reading that does not stand.

    A change of a description alone decides nothing and needs none.
    """
    cited = _cited(runs, entry, log)
    for change in entry.changes:
        if change.fix not in rule.fixes:
            raise InputError(f"the rule allows no change of the kind {change.fix} (`fixes` in RULE.yaml); make another")
    for change in entry.changes:
        if change.fix == "description":
            continue
        why_not = {one.id: _why_not(change, one, entry, rule) for one in cited}
        if all(why_not.values()) and not _follows(change, cited, runs, entry, rule):
            raise InputError(_unlicensed(change, why_not, entry, rule))


def licensed_by_own_reading_only(runs: Sequence[Run], entry: Rescoring, log: Sequence[LoggedEntry], rule: Rule) -> bool:
    """Whether some change is licensed by no reading but those of the entry's own author."""
    cited = _cited(runs, entry, log)
    others = [one for one in cited if not same_person(one.reading.author, entry.author)]
    changes = [change for change in entry.changes if change.fix != "description"]
    return any(
        all(_why_not(change, one, entry, rule) for one in others) and not _follows(change, others, runs, entry, rule)
        for change in changes
    )


def _cited(runs: Sequence[Run], entry: Rescoring, log: Sequence[LoggedEntry]) -> list[_Cited]:
    """The cited readings of these runs; InputError for one that does not stand. Those of other runs license nothing."""
    by_id = dict(log)
    found = []
    for run in runs:
        mine = [id_ for id_ in entry.readings if getattr(by_id.get(id_), "run", "") == run.id]
        readings = standing_readings(run, log) if mine else Readings()
        standing = {logged.id: stand for stand in readings.by_item.values() for logged in stand.entries}
        for id_ in mine:
            reading = by_id[id_]
            if not isinstance(reading, Reading):
                continue
            if id_ not in standing:
                raise InputError(f"the cited reading {id_!r} {_gone(id_, reading, readings)}; cite one that stands")
            stand = standing[id_]
            if stand.state != reading.reading:
                holds = "its readers differ" if stand.state == "disputed" else f"what holds there is {stand.state}"
                raise InputError(f"the cited reading {id_!r} does not hold: {holds}; settle it, or cite another")
            cause = next(stand.cause(logged) for logged in stand.entries if logged.id == id_)
            found.append(_Cited(id_, run, reading, stand, cause))
    return found


def _gone(id_: str, reading: Reading, readings: Readings) -> str:
    if any(logged.id == id_ for logged in readings.stale):
        return "is stale: the answer or what it was to be judged by is another now"
    if any(logged.id == id_ for logged in readings.unknown):
        return "is of a case, sample or check that its run does not have"
    return "is a second look, which does not count" if reading.again else "was taken back or amended"


def _why_not(change: Change, cited: _Cited, entry: Rescoring, rule: Rule) -> str:
    """Why a cited reading does not license a change, after its id; empty when it does."""
    if aside := _beside_the_point(change, cited):
        return aside
    reading, fix = cited.reading, change.fix
    if fix in _ONE_WAY and reading.reading != _ONE_WAY[fix]:
        return f"says {reading.reading}, and to {fix} lets {'more' if fix == 'widen' else 'fewer'} answers pass"
    allowed = rule.licences[cited.cause]  # type: ignore[index]  # a stand's cause is one of CAUSES
    if fix not in allowed:
        return f"has the cause {cited.cause}, which licenses {', '.join(allowed) or 'nothing'}"
    if cited.cause == "other" and not change.judgement:
        return "has the cause other, which licenses a judgement call only: add `judgement: true`"
    if rule.licensed_by == "another" and same_person(reading.author, entry.author):
        return f"is by {reading.author!r}, the author of the entry, and the rule asks for a reading by another person"
    return ""


def _beside_the_point(change: Change, cited: _Cited) -> str:
    """Why a reading is of something else: another check or case, or an answer in which the check did what it should."""
    reading = cited.reading
    if reading.reading not in {"pass", "fail"}:
        return f"says {reading.reading}"
    if change.cases and reading.case not in change.cases:
        return f"is of case {reading.case!r}"
    if reading.check:
        return "" if reading.check == change.check else f"is of check {reading.check!r}"
    verdicts = cited.run.verdicts_of[reading.case, reading.sample]
    passed = next((v.passed for v in verdicts if v.check_id == change.check), None)
    if reading.reading == "pass" and passed is not False:
        return f"passes an answer that check {change.check!r} did not fail"
    if reading.reading == "fail" and passed is False:
        return f"fails an answer that check {change.check!r} failed already"
    return ""


def _follows(change: Change, cited: Iterable[_Cited], runs: Sequence[Run], entry: Rescoring, rule: Rule) -> bool:
    """Whether a check that is new comes in the place of one whose `replace` or `drop` is licensed."""
    if change.fix != "replace" or any(change.check in run.suite.check_ids() for run in runs):
        return False
    gone = [
        one
        for one in entry.changes
        if one.fix in {"replace", "drop"}
        and one.check != change.check
        and (not one.cases or not change.cases or set(one.cases) & set(change.cases))
    ]
    return any(not _why_not(one, reading, entry, rule) for one in gone for reading in cited)


def _unlicensed(change: Change, why_not: dict[str, str], entry: Rescoring, rule: Rule) -> str:
    where = f" of {', '.join(map(repr, change.cases))}" if change.cases else ""
    what = f"no cited reading licenses `fix: {change.fix}` of check {change.check!r}{where}"
    causes = ", ".join(rule.licensing(change.fix)) or "none"
    nearest = sorted(why_not.items(), key=lambda one: one[1].startswith("is of "))
    told = "; ".join(f"{id_!r} {said}" for id_, said in nearest[:2])
    of_others = [id_ for id_ in entry.readings if id_ not in why_not]
    told = told or (f"{of_others[0]!r} is of a run that is not rescored here" if of_others else "it cites none")
    return f"{what}: {told}; cite under `readings` one whose cause is one of {causes}"
