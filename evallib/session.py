"""A sitting of one reviewer over one run: the queue, where they are, what they decide. It knows no screen."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evallib.adjudication import make_reading
from evallib.entries import Reading, Withdrawal
from evallib.errors import InputError
from evallib.records import POST_HOC_LABEL, Outcome, Sample, SampleKey, Verdict, whole_seconds
from evallib.scoring import fold_all
from evallib.sheet import Sheet, make_sheet, word
from evallib.standing import standing_readings
from evallib.store import LoggedEntry, Run, append_entry, open_run, read_log

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ReviewSession", "base_folder", "open_session", "queue_frame", "readings_frame", "review_queue"]

FAILURES, EVERYTHING = "strict failures", "every answer"


def review_queue(run: Run, *, failing_only: bool = True) -> tuple[SampleKey, ...]:
    """The samples to read, in stored order: those that did not pass the strict view, or all of them."""
    outcomes = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    return tuple(key for key, outcome in outcomes.items() if not (failing_only and outcome.passed))


class ReviewSession:
    """One reviewer's sitting. Entries are on the disk before the session moves on, and are never changed.

    Deciding again on the same sample amends: the new entry supersedes the reviewer's own earlier one. `undo` takes
    the last entry of this sitting back by a withdrawal. A decision with a known `seq` is answered, not saved again.
    """

    def __init__(self, run: Run, adjudications: Path, author: str = "", *, failing_only: bool = True) -> None:
        self.run = run
        self.author = author.strip()
        self.chosen = FAILURES if failing_only else EVERYTHING
        self.queue = review_queue(run, failing_only=failing_only)
        self.position = 0
        self._adjudications = adjudications
        self._log = read_log(adjudications)
        self._made: list[LoggedEntry] = []
        self._answered: dict[str, LoggedEntry] = {}
        self._index()
        self.position = self._next_open(-1)

    @cached_property
    def _samples(self) -> dict[SampleKey, Sample]:
        return {sample.key: sample for sample in self.run.samples}

    @cached_property
    def _outcomes(self) -> dict[SampleKey, Outcome]:
        return fold_all(self.run.samples, self.run.verdicts, self.run.suite.pass_rule)

    @cached_property
    def _verdicts(self) -> dict[SampleKey, list[Verdict]]:
        grouped: dict[SampleKey, list[Verdict]] = defaultdict(list)
        for verdict in self.run.verdicts:
            grouped[(verdict.case_id, verdict.sample)].append(verdict)
        return grouped

    def _index(self) -> None:
        """Sort the standing readings by sample, oldest first."""
        self._standing: dict[SampleKey, list[LoggedEntry]] = defaultdict(list)
        for (case, sample, _), stand in standing_readings(self.run, self._log).by_item.items():
            self._standing[(case, sample)] += stand.entries
        for entries in self._standing.values():
            entries.sort(key=lambda logged: (logged.entry.time, logged.id))

    def _own(self, key: SampleKey) -> list[Reading]:
        return [e for _, e in self._standing.get(key, ()) if isinstance(e, Reading) and e.author == self.author]

    @property
    def current(self) -> SampleKey:
        """The sample being read; InputError when the queue is empty."""
        if not self.queue:
            raise InputError(f"run {self.run.id!r}: nothing to read among {self.chosen}")
        return self.queue[self.position]

    @property
    def read(self) -> int:
        """How many samples of the queue the reviewer has read."""
        return sum(bool(self.state(key)) for key in self.queue)

    @property
    def entries(self) -> list[LoggedEntry]:
        """Every standing reading of the run, in the order of the queue's samples and then of time."""
        return [logged for key in self._samples for logged in self._standing.get(key, ())]

    def state(self, key: SampleKey) -> str:
        """The reviewer's own last reading of a sample or of one of its checks, empty when there is none."""
        own = self._own(key)
        return own[-1].reading if own else ""

    def said(self, key: SampleKey) -> str:
        """What everybody's standing readings say of a sample, with names, as in `pass by Ann; fail of facts by Bo`."""
        entries = [e for _, e in self._standing.get(key, ()) if isinstance(e, Reading)]
        return "; ".join(f"{e.reading}{f' of {e.check}' if e.check else ''} by {e.author}" for e in entries)

    def outcome(self, key: SampleKey) -> Outcome:
        """What the strict view says of a sample."""
        return self._outcomes[key]

    def move(self, by: int) -> int:
        """Go forwards or backwards, not past the ends; read samples are visited too."""
        return self.go(self.position + by)

    def go(self, position: int) -> int:
        """Go to a place in the queue, or to the end that is nearer."""
        self.position = max(0, min(position, len(self.queue) - 1))
        return self.position

    def _next_open(self, position: int) -> int:
        """The next unread place after `position`, else the first unread, else where we are."""
        order = [*range(position + 1, len(self.queue)), *range(position + 1)]
        return next((i for i in order if not self.state(self.queue[i])), max(0, position))

    def decide(
        self,
        reading: str,
        reason: str,
        *,
        cause: str = "",
        check: str = "",
        key: SampleKey | None = None,
        seq: str = "",
    ) -> LoggedEntry:
        """Write what the reviewer says of the answer, or of one check, then go to the next unread sample.

        An unsaid cause is `true-failure` where the reviewer agrees with a strict failure, else `unknown`.
        """
        if seq and seq in self._answered:
            return self._answered[seq]
        case, sample = read = key or self.current
        entry = make_reading(
            self.run,
            case,
            sample,
            check=check,
            reading=reading,
            cause=cause or self._implied(read, check, reading),
            reason=reason.strip(),
            author=self.author,
            chosen=self.chosen,
            supersedes=self._earlier(read, check),
        )
        logged = self._write(entry, seq)
        if read in self.queue:
            self.position = self._next_open(self.queue.index(read))
        return logged

    def _implied(self, key: SampleKey, check: str, reading: str) -> str:
        passed = next((v.passed for v in self._verdicts[key] if v.check_id == check), self._outcomes[key].passed)
        return "true-failure" if reading == "fail" and passed is False else "unknown"

    def _earlier(self, key: SampleKey, check: str) -> str:
        mine = [
            i
            for i, e in self._standing.get(key, ())
            if isinstance(e, Reading) and e.author == self.author and e.check == check
        ]
        return mine[-1] if mine else ""

    def _write(self, entry: Reading | Withdrawal, seq: str) -> LoggedEntry:
        logged = append_entry(self._adjudications, entry)
        self._log.append(logged)
        if isinstance(entry, Reading):
            self._made.append(logged)
        if seq:
            self._answered[seq] = logged
        self._index()
        return logged

    def undo(self, *, seq: str = "", reason: str = "taken back while reviewing") -> LoggedEntry:
        """Withdraw the last entry of this sitting and go back to its sample; the entry stays in the log."""
        if seq and seq in self._answered:
            return self._answered[seq]
        if not self._made:
            raise InputError("nothing was saved in this sitting; to change an older reading, go to it and decide again")
        last, entry = self._made[-1]
        logged = self._write(Withdrawal(author=self.author, withdraws=last, reason=reason), seq)
        self._made.pop()
        assert isinstance(entry, Reading)  # only readings are put there
        if (entry.case, entry.sample) in self.queue:
            self.go(self.queue.index((entry.case, entry.sample)))
        return logged

    def sheet(self, key: SampleKey | None = None) -> Sheet:
        """All there is to read of a sample, the current one unless another is named."""
        key = key or self.current
        standing = tuple(self._standing.get(key, ()))
        return make_sheet(self._samples[key], self._verdicts[key], self._outcomes[key], self.run.suite, standing)


def base_folder(data: str | Path) -> Path:
    """Where a notebook's relative folders count from: here, or the folder above that has the runs of `data`.

    Jupyter starts a notebook in the notebook's own folder, papermill where it was called: both must find the same run.
    """
    here = Path.cwd()
    return next((place for place in (here, *here.parents) if (place / data / "runs").is_dir()), here)


def open_session(
    run: str, *, data: str | Path, adjudications: str | Path, author: str = "", failing_only: bool = True
) -> ReviewSession:
    """A sitting over a stored run; relative folders count from `base_folder`."""
    base = base_folder(data)
    return ReviewSession(open_run(run, base / data), base / adjudications, author, failing_only=failing_only)


def queue_frame(session: ReviewSession) -> pd.DataFrame:
    """The queue as a plain frame, one row per sample: what strict says and why, and everybody's readings."""
    import pandas as pd

    rows = [(session.outcome(key), session.said(key)) for key in session.queue]
    columns = ["case_id", "sample", "strict", "failed", "reason", "read"]
    return pd.DataFrame(
        [(o.case_id, o.sample, word(o), ", ".join(o.failed), o.reason, said) for o, said in rows], columns=columns
    )


def readings_frame(session: ReviewSession) -> pd.DataFrame:
    """The standing readings of the run as a plain frame, strict's words beside the reviewer's, with the label."""
    import pandas as pd

    columns = ["case", "sample", "check", "strict", "reading", "cause", "reason", "author", "blind", "time"]
    frame = pd.DataFrame([[getattr(e.entry, name) for name in columns] for e in session.entries], columns=columns)
    return frame.assign(time=frame["time"].map(whole_seconds), label=POST_HOC_LABEL)
