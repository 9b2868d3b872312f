"""Whether stored verdicts bear out what the entries of their rescorings say: folded again, no check is executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evallib.errors import EvallibError, InputError
from evallib.records import verdicts_schema
from evallib.rescoring.flips import Batch, Flip, find_flips, missed_flips, words_of
from evallib.store import LoggedEntry, Run, standing_rescorings
from evallib.store.runs import StoredRescoring
from evallib.store.tables import RowsByKey, stream_table, verdicts_from

__all__ = ["unborne"]


class _Said(NamedTuple):
    """What is said of one flip: what the readings said on that day is no part of it."""

    before: str
    after: str
    score: tuple[float | None, ...]
    checks: tuple[str, ...]
    expected: bool


_Told = Mapping[tuple[str, int], _Said]


def unborne(run: Run, log: Sequence[LoggedEntry]) -> list[str]:
    """One sentence for each flip, count or missed prediction of an entry that the run's verdicts do not bear out.

    Strict and rescored verdicts are folded anew and compared. Of a sealed run nothing is read, nor was it rescored.
    """
    if run.sealed:
        return []
    return [problem for one in standing_rescorings(run, log) for problem in _problems(run, one)]


def _problems(run: Run, stored: StoredRescoring) -> list[str]:
    try:
        row = next(row for row in stored.entry.runs if row["run"] == run.id)
        said = {(str(flip["case_id"]), int(flip["sample"])): _said_by(flip) for flip in row["flips"]}
        counts = (row["recomputed"], row["carried"], len(row["flips"]))
        missed = sorted((one["case"], one["sample"], one["to"]) for one in row["missed"])
    except (KeyError, TypeError, ValueError, StopIteration):
        return [f"{stored.folder / 'entry.yaml'}: does not say what flipped in run {run.id!r}; restore it"]
    try:
        found, carried, many = _folded(run, stored)
    except EvallibError as error:
        return [str(error)]
    flips = {(flip.case_id, flip.sample): _said_by(flip.as_dict()) for flip in found}
    gone = [(one["case"], one["sample"], one["to"]) for one in missed_flips(run, stored.entry.expects, found)]
    told = list(_differing(run, stored, said, flips))
    if (many - carried, carried, len(said)) != counts:
        told.append(
            f"{stored.folder}: the verdicts of run {run.id!r} are {many - carried} recomputed and {carried} carried "
            f"over, where its entry says {counts[0]} and {counts[1]}, with {counts[2]} flips"
        )
    if sorted(gone) != missed:
        told.append(f"{stored.folder}: the flips that run {run.id!r} missed are not those that its entry names")
    return told


def _said_by(flip: Mapping[str, Any]) -> _Said:
    checks = tuple(sorted(map(str, flip["checks"])))
    return _Said(str(flip["from"]), str(flip["to"]), tuple(flip["score"]), checks, bool(flip["expected"]))


def _differing(run: Run, stored: StoredRescoring, said: _Told, found: _Told) -> Iterator[str]:
    for case, sample in sorted(said.keys() | found.keys()):
        one, other = said.get((case, sample)), found.get((case, sample))
        if one == other:
            continue
        yield (
            f"{stored.folder}: sample {sample} of case {case!r} of run {run.id!r} {_worded(other)} by the verdicts, "
            f"and {_worded(one)} by the entry"
            + ("; its score, checks or prediction differ" if _worded(one) == _worded(other) else "")
        )


def _worded(one: _Said | None) -> str:
    return f"flips from {one.before} to {one.after}" if one else "does not flip"


def _folded(run: Run, stored: StoredRescoring) -> tuple[list[Flip], int, int]:
    """The flips in stored order, how many of the rescored verdicts are carried over, and how many there are."""
    entry, suite = stored.entry, stored.suite
    expected = {(e.case, e.sample, e.to) for e in entry.expects if e.run == run.id}
    sha256 = next(str(row["verdicts_sha256"]) for row in entry.runs if row["run"] == run.id)
    rows = RowsByKey(stream_table(stored.folder / "verdicts.parquet", verdicts_schema(), sha256))
    flips: list[Flip] = []
    carried = many = 0
    for samples, before in run.batches():
        after = [v for table in rows.take({one.key for one in samples}) for v in verdicts_from(table)]
        mine = sum(v.origin == "carried" for v in after)
        carried, many = carried + mine, many + len(after)
        strict, rescored = words_of(samples, before, run.suite.pass_rule), words_of(samples, after, suite.pass_rule)
        flips += find_flips(run, suite, Batch(samples, before, after, strict, rescored, mine, set()), expected)
    if any(len(table) for table in rows.rest()):
        raise InputError(f"{stored.folder / 'verdicts.parquet'}: holds verdicts on no sample of run {run.id!r}")
    return flips, carried, many
