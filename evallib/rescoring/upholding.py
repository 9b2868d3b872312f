"""Whether stored verdicts are what stored criteria say of stored answers, and bear out what entries say of them.

Computed anew is what evallib's own kinds say; no model is asked, and no code of a suite or of another package runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from evallib.checks.base import Check
from evallib.checks.judge import Judge
from evallib.entries import Reading, Rescoring, Resolution, moment
from evallib.errors import EvallibError, InputError
from evallib.records import ERROR_STATUSES, Sample, Verdict, verdicts_schema
from evallib.rescoring.changes import refuse_misnamed_fix, refuse_unlisted
from evallib.rescoring.flips import Batch, Flip, find_flips, missed_flips, words_of
from evallib.rescoring.licences import refuse_unlicensed
from evallib.rescoring.looks import predicted_late
from evallib.rescoring.recomputing import Kept, rescored_batch
from evallib.rescoring.rules import refusal
from evallib.rule import load_rule
from evallib.scoring import score_samples
from evallib.store import LoggedEntry, Run, standing_rescorings
from evallib.store.runs import StoredRescoring
from evallib.store.tables import RowsByKey, stream_table, verdicts_from
from evallib.suite import Suite
from evallib.trust import runs_code

__all__ = ["Upheld", "doubts", "upheld"]

_WORDING = {"reason", "judge"}
_COMPARED = itemgetter(*(at for at, name in enumerate(Verdict._fields) if name not in _WORDING))
"""All of a verdict but what evallib words, and may word otherwise in another version."""
_CARRIED = ("status", "value", "raw", "passed", "spans", "calls")
"""What a verdict keeps that is carried over."""
_OF_STRICT = itemgetter(*map(Verdict._fields.index, _CARRIED))


class Upheld(NamedTuple):
    """What became of the verdicts of a run when they were computed anew."""

    problems: list[str]
    computed: int = 0
    """Verdicts that were computed anew."""
    verdicts: int = 0

    @property
    def first(self) -> Upheld:
        """The same with the first problem alone."""
        return self._replace(problems=self.problems[:1])

    def with_more(self, more: Upheld) -> Upheld:
        """Both together."""
        return Upheld([*self.problems, *more.problems], self.computed + more.computed, self.verdicts + more.verdicts)


class _Said(NamedTuple):
    """What is said of one flip: what the readings said on that day is no part of it."""

    before: str
    after: str
    score: tuple[float | None, ...]
    checks: tuple[str, ...]
    expected: bool


_Told = Mapping[tuple[str, int], _Said]


def upheld(run: Run, log: Sequence[LoggedEntry]) -> Upheld:
    """What the verdicts of a run and of its rescorings are worth.

    One sentence for the first verdict of each table that stored criteria do not give on stored answers, and for each
    flip, count or missed prediction of an entry that the verdicts do not bear out. Taken as they are: verdicts of
    judges, of code and of other packages' kinds, recorded ones, and what a kind said before its code came to judge
    otherwise. Of a sealed run nothing is read, nor was it rescored.
    """
    found = Upheld([]) if run.sealed else _strict(run)
    for one in [] if run.sealed else standing_rescorings(run, log):
        found = found.with_more(_problems(run, one)).with_more(Upheld(_misnamed(run, one)))
    return found


def _misnamed(run: Run, stored: StoredRescoring) -> list[str]:
    """What a stored entry would have been refused for by the suites alone: then the tool did not write it."""
    if not stored.entry.became:  # an earlier evallib refused less
        return []
    given = run, stored.suite, stored.entry
    told = [*refusal(refuse_unlisted, *given), *refusal(refuse_misnamed_fix, *given)]
    return [f"{stored.folder / 'entry.yaml'}: would have been refused: {error}; restore it" for error in told]


def doubts(run: Run, log: Sequence[LoggedEntry], adjudications: Path) -> list[tuple[str, str]]:
    """Id of a rescoring of the run, and what its entry does not say though it is older than the entry.

    Two branches may hide it from one another until they are merged, so it is told and proves nothing. What licenses
    an entry of several runs lies in all of them, and is not asked for.
    """
    found = []
    for stored in [] if run.sealed else standing_rescorings(run, log):
        entry, told = stored.entry, list[str]()
        if not entry.became:  # an earlier evallib looked at less
            continue
        before = [logged for logged in log if moment(logged.entry.time) < moment(entry.time)]
        if not entry.predicted_after_preview and predicted_late([run], stored.suite, entry, log, adjudications):
            told.append("was predicted after a preview, by the stamps and rescorings before it, and does not say so")
        if all(row["run"] == run.id for row in entry.runs):
            license_ = refusal(refuse_unlicensed, [run], entry, before, load_rule(stored.folder).rule)
            told += [f"would have been refused by the log as it was: {error}" for error in license_]
        told += _unread(run, entry, before)
        ids = [id_ for id_, one in log if one == entry]
        found += [(id_, said) for id_ in ids for said in told]
    return found


def _unread(run: Run, entry: Rescoring, before: Sequence[LoggedEntry]) -> list[str]:
    """The flips that the entry calls read though nobody had read the answer, or a check that flipped it."""
    read = {(e.case, e.sample, e.check) for _, e in before if isinstance(e, Reading | Resolution) and e.run == run.id}
    flips = [flip for row in entry.runs if row["run"] == run.id for flip in row["flips"] if flip["read"] != "unread"]
    return [
        f"calls sample {flip['sample']} of case {flip['case_id']!r} read, and the log as it was has no reading of it"
        for flip in flips
        if read.isdisjoint((flip["case_id"], flip["sample"], check) for check in ("", *flip["checks"]))
    ]


def _strict(run: Run) -> Upheld:
    again, found = _computable(run.suite, run.plan["cases"]), Upheld([])
    try:
        if not again:
            return Upheld([], 0, len(run.columns("verdicts", ["sample"])))
        for samples, before in run.batches():
            stands = _standing(run.suite, again, samples, before)
            anew = score_samples(run.suite, samples, carried=stands)
            found = found.with_more(_compared(run, run.folder / "verdicts.parquet", anew, before, stands))
    except EvallibError as error:
        return Upheld([str(error)])
    return found.first


def _computable(suite: Suite, cases: Iterable[str], *, recorded: bool = False) -> dict[tuple[str, str], str]:
    """(case, check) to the digest of each check that can be computed here, and with `recorded` of carried ones."""
    return {
        (case_id, check.id): decides
        for case_id in cases
        for check, decides in suite.bound[case_id]
        if (check.computable or (recorded and not isinstance(check, Judge))) and not _runs_code(check)
    }


def _runs_code(check: Check) -> bool:
    return next(runs_code(check.model_dump(mode="json")), None) is not None


def _standing(
    suite: Suite, again: Mapping[tuple[str, str], str], samples: Iterable[Sample], given: Iterable[Verdict]
) -> dict[tuple[str, int, str], Verdict]:
    """Those of the verdicts that are taken as they are; code whose verdict is gone is not run, and is found missing."""
    kept = {_key(v): v for v in given if again.get((v.case_id, v.check_id)) != v.decides}
    for sample in (one for one in samples if one.status not in ERROR_STATUSES):
        for check in (bound.check for bound in suite.bound[sample.case_id] if bound.check.computable):
            if (sample.case_id, check.id) not in again:
                kept.setdefault((*sample.key, check.id), check.unscored(sample, "gone"))
    return kept


def _key(v: Verdict) -> tuple[str, int, str]:
    return v.case_id, v.sample, v.check_id


def _compared(
    run: Run, place: Path, anew: Iterable[Verdict], stored: Sequence[Verdict], stands: Collection[tuple[str, int, str]]
) -> Upheld:
    """A sentence for the first of the stored verdicts that is another anew, is missing, or is one too many."""
    left = {_key(v): v for v in stored}
    pairs = [(v, left.pop(_key(v), None)) for v in anew]
    unlike = ((v, was) for v, was in pairs if was is None or _COMPARED(v) != _COMPARED(was))
    first = next(unlike, None) or next(((None, was) for was in left.values()), None)
    told = [_unlike_words(run, place, *first)] if first else []
    computed = sum(bool(v.decides) and _key(v) not in stands for v in stored)
    return Upheld(told, computed, len(stored))


def _unlike_words(run: Run, place: Path, anew: Verdict | None, was: Verdict | None) -> str:
    case, sample, check = _key(anew or was)  # type: ignore[arg-type]  # one of the two is there
    words = [_word(one) for one in (was, anew)]
    more = "; its value, hits, weight or origin differ" if words[0] == words[1] else ""
    return (
        f"{place}: check {check!r} on sample {sample} of case {case!r} of run {run.id!r} is {words[0]} there, and "
        f"{words[1]} by the criteria and the answer that are stored{more}; restore the file"
    )


def _word(v: Verdict | None) -> str:
    return "missing" if v is None else {True: "pass", False: "fail", None: v.status}[v.passed]


def _problems(run: Run, stored: StoredRescoring) -> Upheld:
    try:
        row = next(row for row in stored.entry.runs if row["run"] == run.id)
        said = {(str(flip["case_id"]), int(flip["sample"])): _said_by(flip) for flip in row["flips"]}
        counts = (row["recomputed"], row["carried"], len(row["flips"]))
        missed = sorted((one["case"], one["sample"], one["to"]) for one in row["missed"])
    except (KeyError, TypeError, ValueError, StopIteration):
        return Upheld([f"{stored.folder / 'entry.yaml'}: does not say what flipped in run {run.id!r}; restore it"])
    try:
        found, carried, anew = _folded(run, stored)
    except EvallibError as error:
        return Upheld([str(error)])
    many = anew.verdicts
    flips = {(flip.case_id, flip.sample): _said_by(flip.as_dict()) for flip in found}
    gone = [(one["case"], one["sample"], one["to"]) for one in missed_flips(run, stored.entry.expects, found)]
    told = [*anew.problems, *_differing(run, stored, said, flips)]
    if (many - carried, carried, len(said)) != counts:
        told.append(
            f"{stored.folder}: the verdicts of run {run.id!r} are {many - carried} recomputed and {carried} carried "
            f"over, where its entry says {counts[0]} and {counts[1]}, with {counts[2]} flips"
        )
    if sorted(gone) != missed:
        told.append(f"{stored.folder}: the flips that run {run.id!r} missed are not those that its entry names")
    return anew._replace(problems=told)


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


def _folded(run: Run, stored: StoredRescoring) -> tuple[list[Flip], int, Upheld]:
    """The flips in stored order, how many of the rescored verdicts are carried over, and what they are worth."""
    entry, suite = stored.entry, stored.suite
    expected = {(e.case, e.sample, e.to) for e in entry.expects if e.run == run.id}
    sha256 = next(str(row["verdicts_sha256"]) for row in entry.runs if row["run"] == run.id)
    place = stored.folder / "verdicts.parquet"
    rows = RowsByKey(stream_table(place, verdicts_schema(), sha256))
    again, kept = _computable(suite, run.plan["cases"], recorded=True), Kept(suite).of(run)
    flips: list[Flip] = []
    carried, found = 0, Upheld([])
    for samples, before in run.batches():
        after = [v for table in rows.take({one.key for one in samples}) for v in verdicts_from(table)]
        mine = sum(v.origin == "carried" for v in after)
        carried += mine
        stands = _standing(suite, again, samples, after)
        anew = rescored_batch(run, samples, before, suite, kept, stands=_as_strict(stands, before)).verdicts
        found = found.with_more(_compared(run, place, anew, after, stands))
        strict, rescored = words_of(samples, before, run.suite.pass_rule), words_of(samples, after, suite.pass_rule)
        flips += find_flips(run, suite, Batch(samples, before, after, strict, rescored, mine, set()), expected)
    if any(len(table) for table in rows.rest()):
        raise InputError(f"{place}: holds verdicts on no sample of run {run.id!r}")
    return flips, carried, found.first


def _as_strict(
    stands: Mapping[tuple[str, int, str], Verdict], before: Iterable[Verdict]
) -> dict[tuple[str, int, str], Verdict]:
    """What is taken as it is; what says that it was carried over, as strict has it."""
    strict = {_key(v): v for v in before}
    return {
        key: v._replace(**dict(zip(_CARRIED, _OF_STRICT(strict[key]), strict=True)))
        if v.origin == "carried" and key in strict
        else v
        for key, v in stands.items()
    }
