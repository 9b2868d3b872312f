"""The commands that run, show and report: compose the package's functions, print, return the exit status."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evallib.collector import collector_paused
from evallib.errors import InputError
from evallib.stdout import print_json, print_lines, visible

__all__ = ["demo", "gate", "metrics", "report", "run", "serve_script", "show", "track"]

Arguments = argparse.Namespace


def demo(given: Arguments) -> int:
    """The whole loop into one folder."""
    from evallib.demo import run_demo

    return run_demo(given.out)


def run(given: Arguments) -> int:
    """Run a suite, store it, decide the gate."""
    from evallib.panel import open_panel
    from evallib.prices import prices_for
    from evallib.printing import progress_bar
    from evallib.runner import run_suite
    from evallib.store import Run, read_log
    from evallib.store.runs import run_folder
    from evallib.targets import open_target

    log = read_log(given.adjudications)  # one that cannot be read is told before the first sample, not after the last
    prices_for(given.prices, given.data)  # and so is a table of prices
    if given.resume and not given.run_id:
        raise InputError("--resume continues a run; name it with --run-id")
    if given.no_judges and given.judge:
        raise InputError("--no-judges leaves out the judges that --judge names; leave one of the two out")
    with _suite_to_run(given, log) as (path, suite, folder):
        options = _run_options(given, suite)
        deadlines = _deadlines(given, suite.deadlines)
        target_options = _target_options(given, deadlines)
        finished = Run(run_folder(given.data, options.run_id))
        stood = finished.complete
        try:
            with open_target(given.target, suite, folder, target_options) as target:
                panel = None if given.no_judges else open_panel(given.judge, suite, folder, target)
                try:
                    finished = run_suite(
                        path, target, options, given.data, adjudications=given.adjudications, judge=panel,
                        deadlines=deadlines, progress=progress_bar, tell=_tell,
                    )  # fmt: skip
                finally:
                    if panel is not None:
                        panel.close()
        except KeyboardInterrupt:
            if stood or not finished.complete:
                raise
    # The run is there: what is left is to say so, and what the gate decides.
    with _not_interrupted(), collector_paused():
        return _after_run(given, finished)


@contextmanager
def _suite_to_run(given: Arguments, log: Any) -> Iterator[tuple[Path, Any, Path]]:
    """The suite's file, the suite, and the folder that its knowledge and script lie in; or what --ask makes of it."""
    from evallib.asked import asked_of
    from evallib.sealing import MARK, seal_of
    from evallib.suite import load_suite

    path = given.suite / "suite.yaml" if given.suite.is_dir() else given.suite
    suite = load_suite(path, trust_code=given.trust_code)
    if not given.ask:
        yield path, suite, path.parent
        return
    if given.split or given.case:
        raise InputError("--ask asks questions of your own; leave out --split and --case, which choose the suite's")
    if seal_of(suite, log) or (path.parent / MARK).exists():
        raise InputError(f"suite {suite.suite!r} is sealed: questions of your own would sound out its checks")
    if suite.recorded:
        raise InputError(f"{path}: this suite describes an imported run and cannot be run")
    asked = asked_of(suite, _questions(given.ask))
    _tell(asked.words)
    with TemporaryDirectory(prefix="evallib-") as made:
        own = Path(made, "suite.yaml")
        own.write_text(asked.text, encoding="utf-8")
        yield own, load_suite(own), path.parent


def _questions(given: list[str]) -> list[str]:
    """Each question; `-` stands for the lines of stdin."""
    lines = [line for line in _stdin().splitlines() if line.strip()] if "-" in given else []
    if "-" in given and not lines:
        raise InputError("--ask -: no question came; write one on each line")
    return [question for one in given for question in (lines if one == "-" else [one])]


def _stdin() -> str:
    """All of stdin; a byte that its encoding lacks is refused: the model would be asked something else."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="strict")
    try:
        return sys.stdin.read() if sys.stdin else ""  # a shell may have closed it
    except UnicodeDecodeError as error:
        raise InputError(f"--ask -: stdin is not {error.encoding} text; convert it") from error


def _run_options(given: Arguments, suite: Any) -> Any:
    from evallib.runner import RunOptions, new_run_id

    return RunOptions(
        run_id=given.run_id or new_run_id(suite, given.target),
        samples=given.samples,
        jobs=given.jobs,
        judge_jobs=given.judge_jobs,
        split=given.split,
        cases=tuple(given.case),
        seed=given.seed,
        resume=given.resume,
        judges=not given.no_judges,
        trust_code=given.trust_code,
        labels=_pairs(given.label, "--label"),
    )


@contextmanager
def _not_interrupted() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(line: str) -> None:
    print(f"evallib: {visible(line)}", file=sys.stderr)


def _deadlines(given: Arguments, standing: Any) -> Any:
    from evallib.suite import LONGEST_S

    changed = {
        f"{name}_s": value
        for name in ("call", "turn", "judge", "check", "run")
        if (value := getattr(given, f"{name}_timeout")) is not None
    }
    if not all(0 < value <= LONGEST_S for value in changed.values()):
        raise InputError(f"a timeout must be a number of seconds above 0 and up to {LONGEST_S}")
    if given.temperature is not None and not 0 <= given.temperature <= 2:
        raise InputError(f"--temperature {given.temperature}: must be from 0 to 2")
    return standing.model_copy(update=changed)


def _target_options(given: Arguments, deadlines: Any) -> Any:
    from evallib.targets.base import TargetOptions

    if given.max_tokens is not None and given.max_tokens < 1:
        raise InputError(f"--max-tokens {given.max_tokens}: must be at least 1")
    return TargetOptions(temperature=given.temperature, max_tokens=given.max_tokens, deadlines=deadlines)


def _after_run(given: Arguments, finished: Any) -> int:
    from evallib.commands.summary_lines import summary_lines
    from evallib.drift import drift_of
    from evallib.views.figures import load_figures

    figures = load_figures(
        [finished], "strict", given.data, given.adjudications, for_aggregates=True, prices=given.prices
    )
    summary, decision = figures.summary(), figures.decision()
    drift = drift_of(finished, given.data, figures.prices)
    if given.json:
        moved = {
            f"{name}_moved": None if drift is None or share is None else {"share": share, "previous": drift.previous}
            for name, share in zip(("tokens", "cost"), drift[1:] if drift else (None, None), strict=True)
        }
        print_json({"metrics": summary, "gate": decision.as_json(), **moved})
    else:
        told = [f"run {finished.id} in {finished.folder}", *summary_lines(summary), figures.costs.line()]
        print_lines([*(_conversation(finished) if given.ask else ()), *told, *decision.lines()])
    for warning in drift.warnings() if drift else ():
        print(f"evallib: warning: {warning}", file=sys.stderr)
    return 1 if given.exit_code and decision.decision != "pass" else 0


def _conversation(run: Any) -> Iterator[str]:
    """Each question of one's own, in the order given, and below it the answers with their verdicts."""
    place = {case.id: number for number, case in enumerate(run.suite.cases)}
    return _answers(run, sorted(run.samples, key=lambda one: (place[one.case_id], one.sample)), asked=True)


def serve_script(given: Arguments) -> int:
    """Serve a script until interrupted."""
    from evallib.targets.script_server import serve_script_forever

    serve_script_forever(given.file, given.port)
    return 0


def show(given: Arguments) -> int:
    """Print a line per sample, the answers of one case or of all that failed in full, or the readings."""
    from evallib.costs import costs_of
    from evallib.prices import prices_for
    from evallib.printing import reading_lines, sample_table
    from evallib.scoring import fold_all
    from evallib.store import open_run, read_log

    found = open_run(given.run, given.data)
    outcomes = fold_all(found.samples, found.verdicts, found.suite.pass_rule)
    if given.case and given.case not in found.suite.by_id:
        raise InputError(f"run {found.id!r} has no case {given.case!r}; see `evallib show {given.run}`")
    chosen = [
        sample
        for sample in found.samples
        if (not given.case or sample.case_id == given.case) and (not given.failing or not outcomes[sample.key].passed)
    ]
    if given.readings:
        print_lines(reading_lines(found, read_log(given.adjudications)))
    elif given.case or given.failing:
        print_lines(_answers(found, chosen, unmasked=given.unmasked))
    else:
        print_lines([*sample_table(chosen, outcomes), costs_of([found], prices_for(given.prices, given.data)).line()])
    return 0


def _answers(run: Any, samples: Iterable[Any], *, unmasked: bool = False, asked: bool = False) -> Iterator[str]:
    """Answers in full, with their verdicts; where they were `asked`, below the question."""
    from evallib.masking import masks_of
    from evallib.printing import sample_lines
    from evallib.scoring import fold_all

    chosen = list(samples)
    outcomes = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    verdicts: dict[Any, list[Any]] = {sample.key: [] for sample in chosen}
    for verdict in run.verdicts:
        verdicts.get((verdict.case_id, verdict.sample), []).append(verdict)
    masks = None if unmasked else masks_of(*chosen)
    for sample in chosen:
        if asked and sample.sample == 1:
            yield f"{sample.case_id}: {run.suite.by_id[sample.case_id].steps[0].ask}"
        yield from sample_lines(sample, verdicts[sample.key], outcomes[sample.key], masks)


def metrics(given: Arguments) -> int:
    """Figures of one view of one or several runs."""
    from evallib.commands.summary_lines import summary_lines
    from evallib.statistics.bootstrap import SEED
    from evallib.views.figures import load_figures

    if given.seed is not None and given.interval != "bootstrap":
        raise InputError("--seed is of the bootstrap; add --interval bootstrap")
    bootstrap = (SEED if given.seed is None else given.seed) if given.interval == "bootstrap" else None
    figures = load_figures(
        given.run, given.view, given.data, given.adjudications, for_aggregates=True, prices=given.prices
    )
    if given.holdout:
        return _gap(given, figures)
    summary = figures.summary(_whole_numbers(given.k, "--k"), bootstrap=bootstrap)
    if given.summary:
        print(visible(summary["caption"]), file=sys.stderr)  # beside the five fields, which a CI step reads
        summary = _five_fields(figures)
    if given.json or given.summary:
        print_json(summary)
    else:
        print_lines([*summary_lines(summary), figures.costs.line(), summary["caption"]])
    return 0


def _gap(given: Arguments, figures: Any) -> int:
    """The visible pass rate minus that of a sealed holdout."""
    from evallib.holdout import gap, gap_lines
    from evallib.views.figures import load_figures

    if given.summary or given.k:
        raise InputError("--holdout reports one gap of pass rates; leave out --summary and --k")
    sealed = load_figures([given.holdout], "strict", given.data, given.adjudications, for_aggregates=True)
    found = gap(figures, sealed)
    if given.json:
        print_json(found)
    else:
        print_lines(gap_lines(found))
    return 0


def _five_fields(figures: Any) -> dict[str, Any]:
    """The five fields article 3 reads: counts, rate, floor, and whether every required case passed each time."""
    label, gate = figures.label, figures.suite.gate
    return {
        "passed": figures.passed,
        "failed": figures.planned - figures.passed,
        "pass_rate": figures.summary()["pass_rate"],
        "minimum_pass_rate": gate.pass_rate if gate else None,
        "required_cases_passed": figures.required_cases_passed,
        **({"view": figures.view, "post_hoc": True, "label": label} if label else {}),
        **figures.readings,
    }


def gate(given: Arguments) -> int:
    """Decide the gate over one view of one run."""
    from evallib.views.figures import load_figures, load_gate

    figures = load_figures([given.run], given.view, given.data, given.adjudications, for_aggregates=True)
    if given.gate and figures.sealed:
        raise InputError("a sealed holdout is decided by its suite's own gate; other thresholds would sound it out")
    most = max(figures.views[0].run.plan["cases"].values())
    other = load_gate(given.gate, figures.suite, most) if given.gate else None
    decision = figures.decision(other)
    if given.json:
        print_json(decision.as_json())
    else:
        print_lines(decision.lines())
    return 1 if given.exit_code and decision.decision != "pass" else 0


def report(given: Arguments) -> int:
    """Execute the notebooks into self-contained pages; or write all that is published of some runs into one folder."""
    from evallib.report import ReportOrder, build_report, refuse_report, report_files

    if given.bundle:
        return _bundle(given)
    asked = (given.data, given.adjudications, given.out, tuple(given.notebook), _pairs(given.parameter, "-p"))
    limits = {"cell_seconds": given.cell_timeout, "prices": given.prices}
    orders = [ReportOrder(reference, *asked, **limits) for reference in given.run]
    for order in orders:
        refuse_report(order)
    for order in orders:
        print_lines(map(str, report_files(build_report(order))))
    return 0


def _bundle(given: Arguments) -> int:
    from evallib.publishing.bundle import make_bundle
    from evallib.publishing.proof import bundle_digest

    if given.notebook or given.parameter or given.prices:
        raise InputError(
            "a bundle holds the whole report; leave out --notebook, -p and --prices, or leave out --bundle"
        )
    made = make_bundle(given.run, given.bundle, given.data, given.adjudications)
    print_lines([f"{made}: digest {bundle_digest(made)}", f"prove it with `evallib verify {made}`"])
    return 0


def track(given: Arguments) -> int:
    """Export a run to MLflow."""
    from evallib.store import read_log
    from evallib.tracking import default_uri
    from evallib.tracking import track as export
    from evallib.views.figures import load_figures

    figures = load_figures([given.run], "strict", given.data, given.adjudications)
    tracked = export(
        figures.views[0].run,
        summary=figures.summary(),
        decision=figures.decision().as_json(),
        log=read_log(given.adjudications),
        uri=given.uri or default_uri(given.data),
    )
    if given.json:
        print_json(tracked.as_json())
    else:
        print_lines(tracked.lines())
    return 0


def _pairs(given: Iterable[str], flag: str) -> dict[str, str]:
    pairs = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise InputError(f"{flag} {text!r}: write NAME=VALUE")
        pairs[name] = value
    return pairs


def _whole_numbers(text: str, flag: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")] if text else []
    except ValueError as error:
        raise InputError(f"{flag} {text!r}: write whole numbers with commas, as in 1,2,5") from error
    if any(number < 1 for number in numbers):
        raise InputError(f"{flag} {text!r}: numbers begin at 1")
    return numbers
