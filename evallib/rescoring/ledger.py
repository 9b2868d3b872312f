"""What the log says of criteria: every rescoring by date, each author's predictions, each check's amendments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evallib.entries import Difference, Reading, Rescoring, moment
from evallib.locks import made_inside
from evallib.rescoring.entry import rescoring_label
from evallib.standing import Stand, live_entries, standing_readings
from evallib.store import LoggedEntry, Run, by_time
from evallib.store.log import view_name

__all__ = ["REPLACE", "Amendments", "Predictions", "amendments", "caveats", "dated_rescorings", "predictions"]

REPLACE = "replace this check (a judge, or drop it)"
"""What is said of a check that had to be mended, or read over, for the third time."""
_THIRD = 3
_ANEW = {"replace", "drop"}
"""After these a check is counted anew."""


class Predictions(NamedTuple):
    """How an author's expected flips came out, over all their rescorings."""

    author: str
    rescorings: int
    expected: int
    """Flips that the entry had named."""
    unexpected: int
    missed: int
    """Named flips that did not happen."""
    reverse: int
    """Of all flips, those from pass to fail."""
    after_preview: int
    """Rescorings whose expected flips were edited after a preview."""


class Amendments(NamedTuple):
    """How often a check was changed after answers were read, and read over since."""

    check: str
    by_fix: Mapping[str, int]
    """Every change in the log by its kind."""
    judgement_calls: int
    since_replaced: int
    """Changes since it was last replaced or dropped, a description aside."""
    paraphrases: int
    """Answers read as right in other words, by readings that no rescoring cites, since then."""

    @property
    def brittle(self) -> bool:
        """Whether it is time to replace the check."""
        return self.since_replaced + self.paraphrases >= _THIRD

    def as_dict(self) -> dict[str, Any]:
        """As `evallib criteria --json` prints it."""
        return {**self._asdict(), "by_fix": dict(self.by_fix), "advice": REPLACE if self.brittle else ""}


def _rescorings(log: Iterable[LoggedEntry], runs: Iterable[str] | None) -> list[tuple[str, Rescoring]]:
    """The rescorings of these runs, of all where none are named, oldest first, with their ids."""
    wanted = None if runs is None else set(runs)
    ordered = sorted({logged.id: logged for logged in log}.values(), key=by_time)
    return [
        (id_, entry)
        for id_, entry in ordered
        if isinstance(entry, Rescoring) and (wanted is None or wanted & {str(row["run"]) for row in entry.runs})
    ]


def dated_rescorings(log: Iterable[LoggedEntry], runs: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Every rescoring of these runs, of all where none are named, oldest first: who changed what, and why."""
    log = list(log)
    live = {logged.id for logged in live_entries(log)}
    return [
        {
            "entry": id_,
            "time": entry.time,
            "view": f"rescored:{view_name(entry)}",
            "label": rescoring_label(entry),
            "author": entry.author,
            "reason": entry.reason,
            "changes": [{**change.model_dump(mode="json"), "cases": list(change.cases)} for change in entry.changes],
            "readings": list(entry.readings),
            "readings_gone": [cited for cited in entry.readings if cited not in live],
            "runs": [str(row["run"]) for row in entry.runs],
            **_counts(entry),
            "unread_accepted_by": entry.unread_accepted_by,
            "judgement_calls": entry.judgement_calls,
            "untested": list(entry.untested),
            "inside_locks": made_inside(entry, log),
            "rule_kept": all("rule_sha256" in row for row in entry.runs),
            "own_readings_only": entry.own_readings_only,
            "rule_digest": entry.rule_digest,
            "predicted_after_preview": entry.predicted_after_preview,
            "post_hoc": True,
        }
        for id_, entry in _rescorings(log, runs)
    ]


def caveats(one: Mapping[str, Any], rule_digest: str) -> list[str]:
    """What is to be held against one of `dated_rescorings`, where the rule of that digest holds now."""
    told = ["licensed by nobody's reading but its author's own"] if one["own_readings_only"] else []
    if one["rule_digest"] not in {"", rule_digest}:
        kept = (
            "its text is RULE.yaml beside the rescored verdicts, digest"
            if one["rule_kept"]
            else "only its digest is kept,"
        )
        told.append(f"made under another rule than the one that holds now: {kept} {one['rule_digest'][:16]}")
    told += [f"was made while lock {id_} held its runs" for id_ in one["inside_locks"]]
    told += [f"untested change, no stored or example answer turned by it: {said}" for said in one["untested"]]
    return [*told, *(f"cites {id_}, which was taken back since" for id_ in one["readings_gone"])]


def _counts(entry: Rescoring) -> dict[str, int]:
    flips = [flip for row in entry.runs for flip in row["flips"]]
    return {
        "flips": len(flips),
        "expected": sum(bool(flip["expected"]) for flip in flips),
        "unexpected": sum(not flip["expected"] for flip in flips),
        "missed": sum(len(row["missed"]) for row in entry.runs),
        "reverse": sum((flip["from"], flip["to"]) == ("pass", "fail") for flip in flips),
        "unread": entry.unread,
    }


def predictions(log: Iterable[LoggedEntry]) -> list[Predictions]:
    """The record of each author over every rescoring of the log, by name."""
    totals: dict[str, Counter[str]] = {}
    for _, entry in _rescorings(log, None):
        counted = totals.setdefault(entry.author, Counter())
        counted.update({**_counts(entry), "rescorings": 1, "after_preview": int(entry.predicted_after_preview)})
    names = Predictions._fields[1:]
    return [Predictions(author, *(totals[author][name] for name in names)) for author in sorted(totals)]


def amendments(runs: Sequence[Run], log: Sequence[LoggedEntry]) -> list[Amendments]:
    """The ledger of every check of these runs that was ever changed or read over, by id.

    Changed criteria that were applied to further runs are one change. An answer that several people read is one.
    """
    rescorings = _rescorings(log, [run.id for run in runs])
    cited = {id_ for _, entry in rescorings for id_ in entry.readings}
    changes = list(_changes(entry for _, entry in rescorings))
    replaced = {one.check: moment(one.time) for one in changes if one.fix in _ANEW}
    start = moment("")
    read_over = Counter(
        check for check, time in _paraphrases(runs, log, cited) if moment(time) > replaced.get(check, start)
    )
    found = []
    for check in sorted({one.check for one in changes} | set(read_over)):
        mine = [one for one in changes if one.check == check]
        since = [one for one in mine if moment(one.time) > replaced.get(check, start) and one.fix != "description"]
        by_fix = Counter(one.fix for one in mine)
        calls = sum(one.judgement for one in mine)
        found.append(Amendments(check, dict(sorted(by_fix.items())), calls, len(since), read_over[check]))
    return found


class _Changed(NamedTuple):
    check: str
    fix: str
    judgement: bool
    time: str


def _changes(entries: Iterable[Rescoring]) -> Iterator[_Changed]:
    seen = set()
    for entry in entries:
        for change in entry.changes:
            key = (entry.became.get(change.check, entry.suite_digest), change.check, change.fix)
            if key not in seen:
                seen.add(key)
                yield _Changed(change.check, change.fix, change.judgement, entry.time)


def _paraphrases(runs: Sequence[Run], log: Sequence[LoggedEntry], cited: set[str]) -> Iterator[tuple[str, str]]:
    """(check, time) for each answer that was read as right in other words, by every check that failed it."""
    spoken = {e.run for _, e in log if isinstance(e, Reading | Difference) and e.cause == "paraphrase"}
    for run in (run for run in runs if run.id in spoken):
        for (case_id, sample, check), stand in standing_readings(run, log).by_item.items():
            time = _paraphrase(stand, cited)
            if time:
                failed = [v.check_id for v in run.verdicts_of[case_id, sample] if v.passed is False]
                yield from ((name, time) for name in ([check] if check else failed))


def _paraphrase(stand: Stand, cited: set[str]) -> str:
    """When an answer was last read as a paraphrase; empty where it was not, or a rescoring cites that."""
    if stand.state != "pass" or any(logged.id in cited for logged in stand.entries):
        return ""
    times = (e.entry.time for e in stand.entries if stand.cause(e) == "paraphrase")
    return max(times, key=moment, default="")
