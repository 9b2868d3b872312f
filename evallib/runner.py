"""Runs a suite against a target: planned first, sampled concurrently, journaled, scored; resumable at any point."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from evallib.case import Case
from evallib.checks.judge import Judge
from evallib.collector import collector_paused
from evallib.errors import IncompleteError, InputError
from evallib.judges import judge_usage
from evallib.judging import JudgePanel, Jury
from evallib.provenance import build, host, versions
from evallib.records import ERROR_STATUSES, Sample, SampleKey, Turn, Verdict, digest
from evallib.scoring import score_samples
from evallib.sealing import admit
from evallib.selfchecks.regressions import Regressions, load_regressions
from evallib.selfchecks.selfcheck import refuse_failing
from evallib.store import Journal, Run, begin_run, finish_run
from evallib.store.calibrations import known_calibrations
from evallib.store.plans import unproven_words
from evallib.store.runs import refuse_finished, run_folder, unfinished
from evallib.suite import Deadlines, Suite, parse_suite
from evallib.targets.base import Target
from evallib.targets.edge import identify, make_ready, run_target
from evallib.trust import refuse_run_copy

__all__ = ["RunOptions", "new_run_id", "run_suite", "sample_seed"]

SEEDS_PER_CASE = 1024
_TOGETHER_S = 0.02
"""How long a finished sample waits for others, to be synced with them."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to run and how; everything that decides the samples goes into plan.json."""

    run_id: str
    samples: int = 1
    jobs: int = 4
    judge_jobs: int | None = None
    """Judge calls in flight; as many as `jobs` when absent."""
    split: str | None = None
    cases: tuple[str, ...] = ()
    seed: int = 0
    resume: bool = False
    judges: bool = True
    """False leaves model judges out: their verdicts do not apply, and a gate that asks for them stays blocked."""
    labels: Mapping[str, str] = field(default_factory=dict)
    trust_code: bool = False
    """True runs a suite's code although it is a copy in a run folder."""

    def __post_init__(self) -> None:
        if not 1 <= self.samples < SEEDS_PER_CASE:
            raise InputError(f"--samples {self.samples}: must be from 1 to {SEEDS_PER_CASE - 1}")
        if not 1 <= self.jobs <= 256:
            raise InputError(f"--jobs {self.jobs}: must be from 1 to 256")
        if self.judge_jobs is not None and not 1 <= self.judge_jobs <= 256:
            raise InputError(f"--judge-jobs {self.judge_jobs}: must be from 1 to 256")


def new_run_id(suite: Suite, target: str) -> str:
    """A run id for now: suite, kind of target, UTC time."""
    return f"{suite.suite}-{target.partition(':')[0]}-{datetime.now(UTC):%Y%m%dT%H%M%S}"


def sample_seed(run_seed: int, case: Case, sample: int) -> int:
    """The seed of one sample, below 2**31: a function of the run's seed, what the case asks, and the sample's number.

    The case's name does not enter. Samples of one case have consecutive seeds, so that a script that takes its
    variants in turn shows each of n variants once in n samples.
    """
    return _first_seed(run_seed, tuple(step.sent for step in case.steps)) + sample


@lru_cache(maxsize=1024)
def _first_seed(run_seed: int, asks: tuple[str, ...]) -> int:
    return int(digest([run_seed, asks], 8), 16) % 2**20 * SEEDS_PER_CASE


def run_suite(  # noqa: PLR0913  # what and against what; the rest by name
    suite_path: Path,
    target: Target,
    options: RunOptions,
    data: Path,
    *,
    adjudications: Path | None = None,
    judge: JudgePanel | None = None,
    deadlines: Deadlines | None = None,
    progress: Callable[[Iterable[int], int, int], Iterable[int]] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Run:
    """Run the suite in `suite_path` and store the run under `data`; with `options.resume`, continue it.

    `adjudications` is the log, where the seal of a sealed suite and each use of it stand. `deadlines` stand in for the
    suite's own. `tell` is given which checks are unproven, what judges will take, and warnings about them.

    InputError when suite, options or an existing run forbid it (nothing is written), IncompleteError when it was
    stopped and can be resumed.
    """
    if not options.trust_code:
        refuse_run_copy(suite_path)
    text = suite_path.read_bytes()
    suite = parse_suite(text.decode("utf-8"), str(suite_path))
    if suite.recorded:
        raise InputError(f"{suite_path}: this suite describes an imported run and cannot be run")
    deadlines = deadlines or suite.deadlines
    kept = load_regressions(suite_path, suite)
    plan = _plan(suite, text, target, options, judge, kept) | {"deadlines": deadlines.model_dump()}
    if judge is None and options.judges:
        _refuse_unanswered(suite, plan["cases"])
    run = _resumed(run_folder(data, options.run_id), plan) if options.resume else None
    make_ready(target)
    if judge is not None:
        judge.preflight()
    plan |= admit(suite_path, suite, options, adjudications, data)
    if run is None:
        run = begin_run(data, plan, text)
    elif run.plan.get("seal") != plan.get("seal"):
        raise InputError(f"run {run.id!r} cannot be resumed: it was not begun under the seal of its suite")
    if tell and (unproven := unproven_words(plan)):
        tell(f"{unproven}; `evallib validate` says more")
    jury = None if judge is None else _jury(judge, plan, options, data, tell)
    with Journal(run.folder / "journal.jsonl") as journal, jury or nullcontext():
        if run.complete:  # whoever held the lock has finished the run: the journal is the empty one made just now
            (run.folder / "journal.jsonl").unlink(missing_ok=True)
        refuse_finished(run)
        done = {sample.key for sample in unfinished(run)[0]}
        todo = [key for key in run.planned if key not in done]
        if jury is not None:
            jury.expect(_foreseen(suite, todo))
        work = _Work(run.id, suite, target, jury, options.seed, deadlines, journal)
        _work_off(work, todo, len(run.planned), options.jobs, progress)
        return _compact(run, suite.under(deadlines))


def _refuse_unanswered(suite: Suite, cases: Iterable[str]) -> None:
    """InputError where a case has a judge: without a panel its verdicts would be missing, and no case could pass."""
    for bound in (bound for case in cases for bound in suite.bound[case]):
        if isinstance(bound.check, Judge):
            raise InputError(
                f"check {bound.check.id!r} is a model judge and nobody answers it; name one with --judge T, "
                "or leave judges out with --no-judges"
            )


def _jury(
    judge: JudgePanel,
    plan: Mapping[str, Any],
    options: RunOptions,
    data: Path,
    tell: Callable[[str], None] | None,
) -> Jury:
    return Jury(
        judge,
        jobs=options.judge_jobs or options.jobs,
        deadline_s=plan["deadlines"]["judge_s"],
        calibrations=known_calibrations(data),
        target_model=str(plan["target"].get("model", "")),
        tell=tell,
    )


def _foreseen(suite: Suite, todo: Sequence[SampleKey]) -> list[tuple[Judge, Sample, int]]:
    """Every judge on every case still to do, before there are answers, and how many samples of it."""
    counts = Counter(case_id for case_id, _ in todo)
    blank = {
        name: Sample("", name, 1, turns=tuple(Turn(n, s.sent, "") for n, s in enumerate(suite.by_id[name].steps, 1)))
        for name in counts
    }
    return [
        (bound.check, blank[name], count)
        for name, count in counts.items()
        for bound in suite.bound[name]
        if isinstance(bound.check, Judge)
    ]


@collector_paused()
def _compact(run: Run, suite: Suite) -> Run:
    samples, judged = unfinished(run)
    order = {key: index for index, key in enumerate(run.planned)}
    unique = {sample.key: sample for sample in samples}
    ordered = sorted(unique.values(), key=lambda sample: order[sample.key])
    given = {(v.case_id, v.sample, v.check_id): v for v in judged}
    used = judge_usage(judged)
    extra = {
        "seconds": _seconds(run, ordered),
        "judge_usage": {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens, "calls": used.calls},
    }
    return finish_run(run, ordered, score_samples(suite, ordered, given), extra)


def _seconds(run: Run, samples: Sequence[Sample]) -> float:
    began = datetime.fromisoformat(run.plan["created"])
    return round((datetime.now(UTC) - began).total_seconds(), 3) if samples else 0.0


@dataclass(frozen=True, slots=True)
class _Work:
    """Everything a worker thread needs to make one sample."""

    run_id: str
    suite: Suite
    target: Target
    jury: Jury | None
    """None where judges were left out, or no case has one."""
    seed: int
    deadlines: Deadlines
    journal: Journal

    def make(self, key: SampleKey) -> None:
        case = self.suite.by_id[key[0]]
        seed = sample_seed(self.seed, case, key[1])
        started, clock = datetime.now(UTC), time.monotonic()
        steps = case.sent
        output = run_target(self.target, steps, seed=seed, deadlines=self.deadlines)
        sample = Sample(
            self.run_id, case.id, key[1], output.status, output.error, output.turns, output.files, output.answer,
            output.exit_code, output.recorded, output.flags, seed, started.isoformat(),
            round(time.monotonic() - clock, 6), output.usage,
        )  # fmt: skip
        self.journal.append(sample, self.judged(case, sample))

    def judged(self, case: Case, sample: Sample) -> list[Verdict]:
        """Verdicts of the model judges, asked while the run is in flight because they cannot be computed again."""
        checks = [bound.check for bound in self.suite.bound[case.id] if isinstance(bound.check, Judge)]
        if sample.status in ERROR_STATUSES:
            return []
        if self.jury is None:
            return [check.unscored(sample, "judges were left out of this run", applicable=False) for check in checks]
        return self.jury.verdicts([(check, sample) for check in checks])


def _work_off(
    work: _Work,
    todo: Sequence[SampleKey],
    planned: int,
    jobs: int,
    progress: Callable[[Iterable[int], int, int], Iterable[int]] | None,
) -> None:
    """Make every sample of `todo` with `jobs` threads; stop cleanly at the deadline or on an interrupt."""
    limit = work.deadlines.run_s
    waiting: SimpleQueue[SampleKey] = SimpleQueue()
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    for key in todo:
        waiting.put(key)
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="sample")
    for _ in range(jobs):
        pool.submit(_make_waiting, work, waiting, ended)
    finished = _completions(ended, len(todo), work.journal, None if limit is None else time.monotonic() + limit)
    try:
        for _ in progress(finished, planned - len(todo), planned) if progress else finished:
            pass
    except (KeyboardInterrupt, TimeoutError) as error:
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else f"stopped at its deadline of {limit} s"
        raise IncompleteError(
            f"run {work.run_id!r} was {why}; finished samples are kept, continue with the same command and --resume"
        ) from error
    finally:
        _drain(waiting)
        pool.shutdown(wait=False)


def _make_waiting(work: _Work, waiting: SimpleQueue[SampleKey], ended: SimpleQueue[BaseException | None]) -> None:
    """One thread: makes samples until none waits, and says of each that it ended, or why it could not."""
    try:
        with suppress(Empty):
            while True:
                work.make(waiting.get_nowait())
                ended.put(None)
    except BaseException as error:  # noqa: BLE001  # raised again where the samples are counted
        ended.put(error)


def _drain(waiting: SimpleQueue[SampleKey]) -> None:
    with suppress(Empty):
        while True:
            waiting.get_nowait()


def _completions(
    ended: SimpleQueue[BaseException | None], count: int, journal: Journal, until: float | None
) -> Iterator[int]:
    """Yields once per finished sample that is on the disk, `count` times; TimeoutError when `until` has passed.

    Samples that end together are synced together, while the threads make the next ones.
    """
    while count:
        try:
            troubles = [ended.get(timeout=None if until is None else max(0.0, until - time.monotonic()))]
        except Empty as error:
            raise TimeoutError from error
        time.sleep(_TOGETHER_S)
        with suppress(Empty):
            while True:
                troubles.append(ended.get_nowait())
        journal.sync()
        for trouble in troubles:
            if trouble is not None:
                raise trouble
            yield 1
        count -= len(troubles)
        if count and until is not None and time.monotonic() >= until:
            raise TimeoutError


def _plan(  # noqa: PLR0917  # all that is written down before the first sample
    suite: Suite, text: bytes, target: Target, options: RunOptions, judge: JudgePanel | None, kept: Regressions
) -> dict[str, Any]:
    shown = refuse_failing(suite, kept.kept)
    cases = suite.select(split=options.split, cases=options.cases)
    return {
        "run_id": options.run_id,
        "created": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "suite": suite.suite,
        "suite_digest": suite.digest,
        "suite_sha256": hashlib.sha256(text).hexdigest(),
        "gate_digest": suite.gate_digest,
        "self_check": {
            "shown": shown.shown,
            "probes": shown.probes,
            "failures": 0,
            "unproven": list(shown.unproven),
            "digest": digest([p.model_dump(mode="json") for p in suite.probes], 16),
            **({"regressions": {"tried": shown.regressions, "digest": kept.digest}} if kept.kept else {}),
        },
        "target": identify(target),
        "judge": None if judge is None else dict(judge.identity()),
        "judges": options.judges,
        "split": options.split or "all",
        "samples": options.samples,
        "cases": {case.id: options.samples for case in cases},
        "seed": options.seed,
        "labels": dict(options.labels),
        "host": host(),
        "versions": versions(),
        "build": build(),
    }


_DECIDING = ("suite_sha256", "target", "judge", "judges", "cases", "seed")


def _resumed(folder: Path, plan: Mapping[str, Any]) -> Run:
    if not (folder / "plan.json").is_file():
        raise InputError(f"there is no run {plan['run_id']!r} to resume in {folder.parent} yet: leave out --resume")
    run = Run(folder)
    refuse_finished(run)
    for name in _DECIDING:
        if run.plan[name] != plan[name]:
            raise InputError(
                f"run {plan['run_id']!r} cannot be resumed: its {name} is not what it was when the run began; "
                "use the same suite, target and options, or begin a new run"
            )
    return run
