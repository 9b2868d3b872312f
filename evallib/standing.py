"""What stands in the log: entries folded, whatever the order of their files, into one stand per answer and verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from evallib.entries import Difference, Entry, Reading, Resolution, Rubric, Withdrawal
from evallib.records import Sample, digest
from evallib.store import LoggedEntry, Run, by_time

__all__ = [
    "Item",
    "Readings",
    "Rubrics",
    "Stand",
    "State",
    "answer_digest",
    "fit",
    "live_entries",
    "own_reading",
    "own_readings",
    "standing_readings",
    "why_stale",
]

State = Literal["pass", "fail", "infra", "unsure", "disputed"]
_ACCEPT = "Would you accept this answer?"


class Item(NamedTuple):
    """What is read: one verdict of a stored run, or one answer as a whole when `check` is empty."""

    run: str
    case: str
    sample: int
    check: str = ""

    @property
    def name(self) -> str:
        """The item in a few words, which say nothing of its run."""
        return f"{self.case} · {self.sample}" + (f" · {self.check}" if self.check else "")


def answer_digest(sample: Sample) -> str:
    """Digest (16 hex) of the answer a reader saw; another answer makes a reading stale."""
    return digest(sample.answer, 16)


@dataclass(frozen=True, slots=True)
class Stand:
    """Where the readings of one answer, or of one of its verdicts, stand."""

    state: State
    """`disputed` when readers differ, or one reader says two things at once, and no resolution settles it."""
    entries: tuple[LoggedEntry, ...]
    """The standing readings, oldest first."""
    differences: Mapping[str, LoggedEntry] = field(default_factory=dict)
    """Id of a reading to what its reader said after the reveal."""
    resolution: LoggedEntry | None = None
    """What holds: it cites every standing reading, and each other such resolution says the same or is cited by one."""
    forked: tuple[str, ...] = ()
    """Readers with two readings of which neither amends the other, as after merging two branches."""
    resolutions: tuple[LoggedEntry, ...] = ()
    """Every resolution that cites all standing readings, oldest first, those too that a later one stands over."""

    @property
    def readings(self) -> list[Reading]:
        """The standing readings without their ids."""
        return [e.entry for e in self.entries if isinstance(e.entry, Reading)]

    @property
    def differ(self) -> bool:
        """Whether readers differ, or one says two things at once, resolved or not."""
        return bool(self.forked) or len({entry.reading for entry in self.readings} - {"unsure"}) > 1

    @property
    def blind(self) -> bool:
        """Whether every reading was made without the strict verdict in sight."""
        return all(entry.blind for entry in self.readings)

    def cause(self, logged: LoggedEntry) -> str:
        """The cause of a standing reading: of its difference, else its own."""
        about = self.differences.get(logged.id, logged).entry
        return about.cause if isinstance(about, Reading | Difference) else "unknown"

    def reason(self, logged: LoggedEntry) -> str:
        """The reason of a standing reading: of its difference, else its own."""
        about = self.differences.get(logged.id, logged).entry
        return about.reason if isinstance(about, Reading | Difference) else ""


@dataclass(frozen=True, slots=True)
class Readings:
    """The standing readings of one run."""

    by_item: Mapping[tuple[str, int, str], Stand] = field(default_factory=dict)
    """(case_id, sample, check_id) to its stand; check_id is empty for a reading of the answer."""
    stale: tuple[LoggedEntry, ...] = ()
    """Readings of an answer that is not the stored one, or under a rubric since replaced; shown and not counted."""
    unknown: tuple[LoggedEntry, ...] = ()
    """Readings that name a case, sample or check the run does not have."""


def live_entries(log: Iterable[LoggedEntry]) -> list[LoggedEntry]:
    """The entries that were not taken back, oldest first; the order they are given in does not matter.

    A withdrawal counts against an entry of the same author, as long as it is not withdrawn itself.
    """
    ordered = sorted({logged.id: logged for logged in log}.values(), key=by_time)
    written = {logged.id: logged.entry.author for logged in ordered}
    withdrawals: dict[str, list[str]] = defaultdict(list)
    for id_, entry in ordered:
        if isinstance(entry, Withdrawal) and written.get(entry.withdraws) == entry.author:
            withdrawals[entry.withdraws].append(id_)
    gone = _gone(withdrawals)
    return [logged for logged in ordered if not gone.get(logged.id)]


def _gone(withdrawals: Mapping[str, Sequence[str]]) -> dict[str, bool]:
    """Whether an entry that was ever withdrawn (id to the ids of its withdrawals) is gone; a circle has an end too."""
    gone: dict[str, bool] = {}
    for first in withdrawals:
        walk = [] if first in gone else [first]
        while walk:
            id_ = walk[-1]
            if id_ not in gone:
                gone[id_] = False
                walk += [one for one in withdrawals.get(id_, ()) if one not in gone]
            else:
                gone[walk.pop()] = any(not gone[one] for one in withdrawals.get(id_, ()))
    return gone


def _heads(live: Sequence[LoggedEntry], log: Iterable[LoggedEntry]) -> list[LoggedEntry]:
    """The live entries that no later word of the same author replaces.

    An amendment replaces the whole chain it goes back to, entries taken back in between included.
    """
    written = dict(log)
    replaced: set[str] = set()
    for _, entry in live:
        walk = _amended(entry) if getattr(entry, "supersedes", "") else []  # a call less for most of 10,000 entries
        while walk:
            before = walk.pop()
            if before not in replaced and before in written and written[before].author == entry.author:
                replaced.add(before)
                walk += _amended(written[before])
    return [logged for logged in live if logged.id not in replaced]


def _amended(entry: Entry) -> list[str]:
    before = getattr(entry, "supersedes", "")
    return [before, *getattr(entry, "also_supersedes", ())] if before else []


class Rubrics:
    """The rubric in force for each check of a run: the newest in the log, else what its suite says of the check."""

    def __init__(self, run: Run, live: Iterable[LoggedEntry]) -> None:
        self._run = run
        entries = [e.entry for e in live if isinstance(e.entry, Rubric)]
        self._written = {e.check: e.text for e in entries if e.suite == run.suite.suite}
        self._digests: dict[tuple[str, str], str] = {}

    def _said(self, case: str) -> dict[str, str]:
        """Check id to what the suite says of it, for the checks of a case, in the suite's order."""
        checks = (bound.check for bound in self._run.suite.bound.get(case, ()))
        return {check.id: str(getattr(check, "rubric", "")) or check.description for check in checks}

    def text(self, case: str, check: str = "") -> str:
        """What a reader is told to judge by; empty when nobody wrote anything."""
        if not check:
            return self._written.get("", _ACCEPT)
        return self._written.get(check) or self._said(case).get(check, "")

    def shown(self, case: str, check: str = "") -> dict[str, str]:
        """Check id to rubric: of one check, or of a whole answer (empty id) and of every check of its case."""
        return {one: self.text(case, one) for one in ([check] if check else ["", *self._said(case)])}

    def digest(self, case: str, check: str = "") -> str:
        """Digest (16 hex) of everything shown as rubric: for a whole answer, that of every check of its case too."""
        if (case, check) not in self._digests:
            shown = self.shown(case, check)
            self._digests[case, check] = digest([shown[one] for one in sorted(shown)], 16)
        return self._digests[case, check]


def fit(run: Run, rubrics: Rubrics, entry: Reading) -> Literal["same", "stale", "unknown"]:
    """Whether a reading is of the stored answer under the rubric in force, of another, or of nothing the run has."""
    sample = run.by_key.get((entry.case, entry.sample))
    checks = (v.check_id for v in run.verdicts_of.get((entry.case, entry.sample), ()))
    if sample is None or (entry.check and entry.check not in checks):
        return "unknown"
    rubric = {"", rubrics.digest(entry.case, entry.check)}
    return "same" if entry.answer_digest == answer_digest(sample) and entry.rubric_digest in rubric else "stale"


def why_stale(run: Run, entry: Reading) -> str:
    """Why a stale reading counts no more."""
    same = entry.answer_digest == answer_digest(run.by_key[entry.case, entry.sample])
    return "its rubric was replaced" if same else "of another answer"


def standing_readings(run: Run, log: Sequence[LoggedEntry], rubrics: Rubrics | None = None) -> Readings:
    """The readings of `run` that stand: not withdrawn or replaced, of the stored answer, under the rubric in force.

    Whoever folds a log piece by piece gives the `rubrics` of all of it.
    """
    live = live_entries(log)
    rubrics = rubrics or Rubrics(run, live)
    mine = [e for e in live if getattr(e.entry, "run", "") == run.id]
    heads = _heads(mine, log)
    grouped: dict[tuple[str, int, str], list[LoggedEntry]] = defaultdict(list)
    stale, unknown = [], []
    for logged in heads:
        entry = logged.entry
        if not isinstance(entry, Reading) or entry.again:
            continue
        fits = fit(run, rubrics, entry)
        if fits == "unknown":
            unknown.append(logged)
        elif fits == "stale":
            stale.append(logged)
        else:
            grouped[entry.case, entry.sample, entry.check].append(logged)
    about = {(e.entry.about, e.entry.author): e for e in heads if isinstance(e.entry, Difference)}
    resolutions: dict[tuple[str, int, str], list[LoggedEntry]] = defaultdict(list)
    for logged in heads:
        if isinstance(entry := logged.entry, Resolution):
            resolutions[entry.case, entry.sample, entry.check].append(logged)
    by_item = {item: _stand(entries, about, resolutions[item]) for item, entries in grouped.items()}
    return Readings(by_item, tuple(stale), tuple(unknown))


def own_reading(run: Run, log: Sequence[LoggedEntry], author: str, item: tuple[str, int, str]) -> str:
    """Id of the author's newest live reading of (case, sample, check), which a next one amends; else empty."""
    own = own_readings(run, log, author, item)
    return own[-1] if own else ""


def own_readings(
    run: Run, log: Sequence[LoggedEntry], author: str, item: tuple[str, int, str], *, again: bool = False
) -> list[str]:
    """Ids of the author's live readings of (case, sample, check), oldest first: several where they are forked.

    `again` asks for second looks instead.
    """
    live = _heads([e for e in live_entries(log) if getattr(e.entry, "run", "") == run.id], log)
    return [
        logged.id
        for logged in live
        if isinstance(entry := logged.entry, Reading)
        and (entry.author, entry.case, entry.sample, entry.check) == (author.strip(), *item)
        and entry.again is again
    ]


def _stand(
    entries: Sequence[LoggedEntry], about: Mapping[tuple[str, str], LoggedEntry], resolutions: Sequence[LoggedEntry]
) -> Stand:
    differences = {e.id: why for e in entries if (why := about.get((e.id, e.entry.author)))}
    said: dict[str, set[State]] = defaultdict(set)
    for logged in entries:
        if isinstance(logged.entry, Reading):
            said[logged.entry.author].add(logged.entry.reading)
    forked = tuple(author for author, words in said.items() if len(words) > 1)
    ids = {logged.id for logged in entries}
    held = [e for e in resolutions if isinstance(e.entry, Resolution) and ids <= set(e.entry.cites)]
    below = {id_ for e in held if isinstance(e.entry, Resolution) for id_ in e.entry.cites}
    top = [e for e in held if e.id not in below]
    words = {e.entry.reading for e in top if isinstance(e.entry, Resolution)}
    resolved = top[-1] if len(words) == 1 else None
    definite = set().union(*said.values()) - {"unsure"}
    state: State = "disputed" if len(definite) > 1 or len(words) > 1 or forked else (definite or {"unsure"}).pop()
    return Stand(words.pop() if resolved else state, tuple(entries), differences, resolved, forked, tuple(held))
