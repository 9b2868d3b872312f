"""Impact preview: what changed criteria would do to stored runs, before anything of them is accepted or written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from evallib.checks.judge import Judge
from evallib.entries import Rescoring
from evallib.errors import IncompleteError, InputError
from evallib.judging import Jury
from evallib.records import POST_HOC_LABEL, SampleKey, Verdict
from evallib.rescoring.apply import Session, by_reviewer, changed_suite, load_rescoring, said_against, stamp, told
from evallib.rescoring.costs import Cost, Trial
from evallib.rescoring.entry import refuse_misnamed
from evallib.rescoring.flips import Batch, Flip, held_against_readings
from evallib.rescoring.hits import Hit, new_hits
from evallib.rescoring.lessons import tried
from evallib.rescoring.rates import CasePasses, both_rates, pooled
from evallib.rescoring.recomputing import Kept, RescoredRun, refuse_other_questions, rescore_run
from evallib.rule import load_rule
from evallib.standing import Readings, Rubrics, live_entries, standing_readings
from evallib.stdout import counted
from evallib.store import LoggedEntry, Run, list_runs, part_of, read_log, share_suite
from evallib.suite import BoundCheck, Suite

__all__ = ["Impact", "LeftOut", "RunImpact", "preview", "runs_of"]

_TEXTS = 500
"""Flips whose new hits are shown: looking for credentials in an answer takes longer than all checks, and nobody reads
more."""


@dataclass(frozen=True, slots=True)
class RunImpact:
    """What changed criteria would do to one run."""

    rescored: RescoredRun
    hits: Mapping[SampleKey, tuple[Hit, ...]]
    """What the checks of a flip find now and did not find before; of the first flips of a preview."""
    passes: Mapping[str, CasePasses]
    moved: Mapping[tuple[str, str], int]
    """(check, word that its verdict becomes) to how many verdicts of the run become so."""

    @property
    def run(self) -> Run:
        """The run."""
        return self.rescored.run


class LeftOut(NamedTuple):
    """A stored run of the suite that no preview can be made of."""

    run: str
    why: str


@dataclass(frozen=True)
class Impact:
    """What changed criteria would do to some stored runs."""

    suite: Suite
    entry: Rescoring | None
    """As its author wrote it so far; a preview needs none."""
    runs: tuple[RunImpact, ...]
    left_out: tuple[LeftOut, ...]
    costs: tuple[Cost, ...]
    would_refuse: tuple[str, ...]
    rule: str = ""
    """Which written rule would have to allow it, in a sentence."""
    regressions: Mapping[str, Any] | None = None
    """What the changed suite says of the answers beside it that people read; None where none are there."""
    judge_calls: int = 0
    judge_replies_kept: int = 0

    @property
    def flips(self) -> list[Flip]:
        """Every flip, by run and in stored order."""
        return [flip for one in self.runs for flip in one.rescored.flips]

    @property
    def pooled(self) -> dict[str, CasePasses] | None:
        """The passes of all runs together; None where they were scored by different criteria."""
        strict = {(one.run.suite.digest, bool(one.rescored.outdated)) for one in self.runs}
        return pooled(one.passes for one in self.runs) if len(strict) == 1 else None

    def as_dict(self) -> dict[str, Any]:
        """The object `rescore --preview --json` prints: that of `rescore --json`, and what a preview adds."""
        said = told(self.entry, [one.rescored for one in self.runs])
        hits = {(one.run.id, *key): found for one in self.runs for key, found in one.hits.items()}
        for flip in said["flips"]:
            key = (flip["run"], flip["case_id"], flip["sample"])
            flip["hits"] = [hit._asdict() for hit in hits.get(key, ())]
        return {
            "entry": None,
            "view": None,
            "preview": True,
            "suite_digest": self.suite.digest,
            **said,
            "judge_calls": self.judge_calls,
            "judge_replies_kept": self.judge_replies_kept,
            "read": dict(Counter(flip.read for flip in self.flips)),
            "rates": self.rates(),
            "checks": self.checks(),
            "costs": [cost.as_dict() for cost in self.costs],
            "left_out": [one._asdict() for one in self.left_out],
            "predicted_after_preview": False,
            "rule": self.rule,
            "regressions": self.regressions,
            "would_refuse": list(self.would_refuse),
            "post_hoc": True,
            "label": POST_HOC_LABEL,
        }

    def rates(self) -> list[dict[str, Any]]:
        """Pass rate, pass@k and pass^k of each run under both criteria, then of all runs pooled (run is null)."""
        each = [{"run": one.run.id, **both_rates(one.passes, every_k=False)} for one in self.runs]
        together = self.pooled if len(self.runs) > 1 else None
        return [*each, {"run": None, **both_rates(together, every_k=True)}] if together else each

    def checks(self) -> list[dict[str, Any]]:
        """Per check whose verdicts change: how many become what, and how many flips it has a part in."""
        moved: Counter[tuple[str, str]] = Counter()
        for one in self.runs:
            moved.update(one.moved)
        flips = Counter(check for flip in self.flips for check in flip.checks)
        words = ("pass", "fail", "none")
        return [
            {"check": name, **{f"to_{word}": moved[name, word] for word in words}, "flips": flips[name]}
            for name in sorted({name for name, _ in moved} | set(flips))
        ]


def runs_of(data: Path, suite: Suite) -> tuple[list[Run], list[LeftOut]]:
    """The stored runs of a suite, and those of them that no preview can be made of.

    InputError when there is none.
    """
    found: list[Run] = []
    left: list[LeftOut] = []
    known: dict[str, Suite] = {}
    every = list_runs(data)
    for run in every:
        try:
            if not _used(run, suite):
                continue
            assert run.manifest  # an incomplete run says so
            share_suite(run, known)
            refuse_other_questions(run, suite)
            found.append(run)
        except (InputError, IncompleteError) as error:
            left.append(LeftOut(run.folder.name, str(error)))
    if not found:
        others = f"; of other suites there are {counted(len(every), 'run')}" if every else ""
        why = f"; left out: {left[0].run}: {left[0].why}" if left else others
        raise InputError(f"no run under {data / 'runs'} can be rescored with suite {suite.suite!r}{why}")
    return found, left


def _used(run: Run, suite: Suite) -> bool:
    """Whether a run is of the suite of that id; an import, whose id is its source's, where the suite has its cases."""
    imported = run.plan.get("imported") and run.plan["cases"].keys() <= suite.by_id.keys()
    return bool(run.plan["suite"] == suite.suite or imported)


def preview(
    runs: Sequence[Run] | Path,
    suite_path: Path,
    entry_path: Path | None,
    adjudications: Path,
    *,
    trust_code: bool = False,
    jury: Jury | None = None,
    shown: bool = True,
) -> Impact:
    """What the suite in `suite_path` would do to `runs`, or to every run of that suite in a folder of data.

    Writes no verdict and no entry, only a stamp of what the entry expected, and none where `shown` says that no flip
    will be seen. It says what the rescoring itself would refuse, and refuses only what the entry misnames. `jury` as
    in `rescore`.
    """
    suite, text = changed_suite(suite_path, trust_code=trust_code)
    entry = by_reviewer(load_rescoring(entry_path)) if entry_path else None
    chosen, left = runs_of(runs, suite) if isinstance(runs, Path) else (_sharing(runs, suite), [])
    log = read_log(adjudications)
    if entry_path and entry:
        refuse_misnamed(entry_path, entry, chosen, suite, log)
    read = tried(suite_path, suite, log, chosen)
    at = Session(chosen, suite, text, adjudications, log, load_rule(adjudications), jury, read)
    look = _Look(at, entry, _Logged(log), Kept(suite))
    seen = tuple(look.at_run(run) for run in chosen)
    asked = (jury.calls, jury.kept) if jury else (0, 0)
    rescored = [one.rescored for one in seen]
    refused = said_against(at, entry, rescored)
    if shown:
        stamp(at, entry, rescored)
    return Impact(suite, entry, seen, tuple(left), look.tried.costs(), refused, at.in_force.said(), read.told, *asked)


def _sharing(runs: Sequence[Run], suite: Suite) -> list[Run]:
    known: dict[str, Suite] = {}
    for run in runs:
        share_suite(run, known)
        refuse_other_questions(run, suite)
    return list(runs)


class _Logged:
    """The standing readings of one run after another, the log folded once for all of them."""

    def __init__(self, log: Sequence[LoggedEntry]) -> None:
        self._live = live_entries(log)
        self._rubrics: dict[int, Rubrics] = {}
        """Of each suite object: what a rubric says does not hang on the run."""
        self._by_run: dict[str, list[LoggedEntry]] = defaultdict(list)
        for logged in log:
            self._by_run[getattr(logged.entry, "run", "")].append(logged)

    def of(self, run: Run) -> Readings:
        """What stands of the readings of `run`; withdrawals, which name no run, are looked at for each."""
        mine = self._by_run.get(run.id)
        if not mine:
            return Readings()
        rubrics = self._rubrics.setdefault(id(run.suite), Rubrics(run, self._live))
        return standing_readings(run, [*mine, *self._by_run[""]], rubrics)


@dataclass
class _Look:
    """What is known while one run after another is looked at."""

    at: Session
    entry: Rescoring | None
    logged: _Logged
    kept: Kept
    tried: Trial = field(default_factory=Trial)
    texts: int = _TEXTS

    def at_run(self, run: Run) -> RunImpact:
        """What the changed criteria would do to one run."""
        changed = self._changed(run)
        passes = {case_id: [planned, 0, 0] for case_id, planned in run.plan["cases"].items()}
        held: list[Flip] = []
        hits: dict[SampleKey, tuple[Hit, ...]] = {}
        moved: Counter[tuple[str, str]] = Counter()

        def see(batch: Batch, flips: Sequence[Flip]) -> None:
            _count(passes, batch)
            moved.update(_moved(batch))
            held.extend(self._held(run, batch, flips))
            hits.update(self._hits(batch, flips))
            self.tried.add(changed, batch.samples)

        rescored = rescore_run(run, self.at.suite, self.entry, jury=self.at.jury, kept=self.kept, see=see)
        counts = {case_id: CasePasses(*count) for case_id, count in passes.items()}
        return RunImpact(replace(rescored, flips=tuple(held)), hits, counts, moved)

    def _changed(self, run: Run) -> dict[str, list[BoundCheck]]:
        """Per case the checks that are computed anew."""
        same = {id(bound) for bounds in self.kept.of(run).values() for bound in bounds}
        found = {
            case_id: [b for b in self.at.suite.bound[case_id] if id(b) not in same and not isinstance(b.check, Judge)]
            for case_id in run.plan["cases"]
        }
        return {case_id: bounds for case_id, bounds in found.items() if bounds}

    def _held(self, run: Run, batch: Batch, flips: Sequence[Flip]) -> Sequence[Flip]:
        """The flips with what people read of them; only their samples are held in memory for it."""
        if not flips:
            return ()
        turned = {(flip.case_id, flip.sample) for flip in flips}
        samples = [sample for sample in batch.samples if sample.key in turned]
        held = part_of(run, samples, [v for v in batch.before if (v.case_id, v.sample) in turned])
        return held_against_readings(held, self.at.suite, flips, self.logged.of(held))

    def _hits(self, batch: Batch, flips: Sequence[Flip]) -> dict[SampleKey, tuple[Hit, ...]]:
        first = {(flip.case_id, flip.sample): flip for flip in flips[: max(0, self.texts)]}
        self.texts -= len(flips)
        before, after = (_by_sample(first, one) for one in (batch.before, batch.after))
        found = {}
        for sample in batch.samples if first else ():
            if (flip := first.get(sample.key)) is not None:
                fresh = [v for v in after[sample.key] if v.origin != "carried" and v.check_id in flip.checks]
                found[sample.key] = new_hits(sample, before[sample.key], fresh)
        return found


def _count(passes: Mapping[str, list[int]], batch: Batch) -> None:
    for place, words in enumerate((batch.strict, batch.rescored), 1):
        for (case_id, _), word in words.items():
            passes[case_id][place] += word == "pass"


def _moved(batch: Batch) -> Iterator[tuple[str, str]]:
    """The check and its new word, for each verdict that is another than before."""
    fresh = [v for v in batch.after if v.origin != "carried"]
    wanted = {v.check_id for v in fresh}
    before = {(v.case_id, v.sample, v.check_id): v.passed for v in batch.before if v.check_id in wanted}
    for v in fresh:
        key = (v.case_id, v.sample, v.check_id)
        if key not in before or before[key] is not v.passed:
            yield v.check_id, _word(v.passed)


def _word(passed: bool | None) -> str:  # noqa: FBT001  # the verdict itself, no switch
    return {True: "pass", False: "fail", None: "none"}[passed]


def _by_sample(keys: Collection[SampleKey], verdicts: Sequence[Verdict]) -> dict[SampleKey, list[Verdict]]:
    grouped: dict[SampleKey, list[Verdict]] = {key: [] for key in keys}
    for verdict in verdicts:
        if (verdict.case_id, verdict.sample) in keys:
            grouped[verdict.case_id, verdict.sample].append(verdict)
    return grouped
