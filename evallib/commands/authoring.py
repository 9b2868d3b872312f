"""The commands about suites themselves: is a suite what it claims to be, and do its checks agree with people."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib._assets import suite_path
from evallib.errors import InputError
from evallib.stdout import counted, print_json, print_lines

if TYPE_CHECKING:
    from evallib.calibration import Calibration
    from evallib.checks.judge import Judge
    from evallib.judging import Jury
    from evallib.records import Sample, Verdict
    from evallib.selfchecks.selfcheck import SelfCheck
    from evallib.suite import Suite

__all__ = ["calibrate", "regressions", "seal", "validate"]

Arguments = argparse.Namespace
_QUIET_S = 2.0
"""How long a self-check may take before its progress is shown."""


def validate(given: Arguments) -> int:
    """Load a suite, show its checks what they must pass and fail, and read it for what cannot be meant."""
    from evallib.printing import progress_bar
    from evallib.rescoring.lessons import untrue
    from evallib.selfchecks.lint import lint
    from evallib.selfchecks.regressions import load_regressions
    from evallib.selfchecks.selfcheck import self_check
    from evallib.store import read_log
    from evallib.suite import load_suite

    suite = load_suite(given.suite, trust_code=given.trust_code)
    kept = load_regressions(given.suite, suite)
    shown = self_check(suite, kept.kept, progress=partial(progress_bar, unit="check", delay=_QUIET_S))
    read = lint(suite, [_text_of(path) for path in given.prompt])
    problems = [*untrue(kept, read_log(given.adjudications)), *shown.problems, *shown.unproven, *read.problems]
    warnings = [*read.warnings, *shown.warnings, *_no_knowledge(suite, given.suite)]
    said = {"problems": problems, "warnings": [*warnings, *shown.untried]}
    refused = problems or (warnings if given.strict else [])
    totals = {**_totals(suite), "regressions": shown.regressions, "shown": shown.shown, **said}
    if given.json:
        print_json(totals)
    else:
        splits = ", ".join(f"{count} {split}" for split, count in totals["splits"].items() if count)
        cases = f"{counted(len(suite.cases), 'case')} ({splits}; {totals['required']} required)"
        asked = f"{counted(totals['checks'], 'check')}, {counted(totals['verdicts'], 'verdict')} a round"
        probes = counted(len(suite.probes), "probe")
        seen = all(stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr))
        once = refused[:1] if seen else []  # the refusal below says it there
        print_lines(
            [
                f"{suite.suite}: {cases}, {asked}",
                f"digest {suite.digest}",
                f"self-check: {counted(shown.shown, 'verdict')} on samples made for it, {probes}{_tried(shown)}",
                *(f"{name[:-1]}: {text}" for name, texts in said.items() for text in texts if text not in once),
            ]
        )
    if refused:
        remedy = "mend the suite or its probes" if problems else "mend the suite, or leave --strict out"
        raise InputError(f"{given.suite}: {refused[0]}{_more(refused)}; {remedy}")
    return 0


def _no_knowledge(suite: Suite, path: Path) -> Iterator[str]:
    """What is wrong with the folder of articles; the copy of a suite in a run folder has left them behind."""
    from evallib.targets.knowledge import Knowledge

    beside = path if path.is_dir() else path.parent
    if suite.knowledge and not (beside / "plan.json").exists():
        try:
            Knowledge(beside / suite.knowledge)
        except InputError as error:
            yield str(error)


def _totals(suite: Suite) -> dict[str, Any]:
    splits = {split: sum(c.split == split for c in suite.cases) for split in ("train", "validation", "holdout")}
    return {
        "suite": suite.suite,
        "digest": suite.digest,
        "cases": len(suite.cases),
        "splits": splits,
        "required": sum(case.required for case in suite.cases),
        "checks": len(suite.check_ids()),
        "verdicts": sum(len(bounds) for bounds in suite.bound.values()),
        "probes": len(suite.probes),
    }


def _tried(shown: SelfCheck) -> str:
    many = shown.regressions + len(shown.untried)
    return f", {shown.regressions} of {counted(many, 'answer')} that people read" if many else ""


def regressions(given: Arguments) -> int:
    """Write what people read beside a suite, so that every later criterion is tried on it; or say what is missing."""
    from evallib.rescoring.lessons import learn, taught
    from evallib.selfchecks.regressions import load_regressions
    from evallib.store import open_run, read_log
    from evallib.suite import load_suite

    suite = load_suite(given.suite, trust_code=given.trust_code)
    kept = load_regressions(given.suite, suite)
    runs = [open_run(reference, given.data) for reference in given.run]
    lessons = learn(runs, suite, kept, read_log(given.adjudications))
    if lessons.otherwise:
        raise InputError(f"{lessons.otherwise[0]}{_more(lessons.otherwise)}")
    if given.check and lessons.new:
        raise InputError(
            f"{kept.path}: lacks {counted(len(lessons.new), 'answer')} that people read; leave --check out"
        )
    if lessons.new:
        taught(kept, lessons)
    bad = sum(one["must"] == "fail" for one in lessons.new)
    what = f"{len(lessons.new)} added ({bad} that must fail, {len(lessons.new) - bad} that must pass)"
    print_lines([f"{kept.path}: {what}, {lessons.known} there already", *lessons.in_clear])
    return 0


def seal(given: Arguments) -> int:
    """Seal a holdout suite that lies outside the repository: by digest, for a number of runs."""
    from evallib.sealing import make_seal, seal_suite
    from evallib.selfchecks.regressions import load_regressions
    from evallib.selfchecks.selfcheck import refuse_failing
    from evallib.suite import load_suite

    suite = load_suite(given.suite, trust_code=given.trust_code)
    refuse_failing(suite, load_regressions(given.suite, suite).kept)  # its first run, which counts, would be refused
    asked = make_seal(suite, budget=given.budget, author=given.by, reason=given.reason)
    logged = seal_suite(given.suite, suite, given.adjudications, asked)
    runs = counted(given.budget, "run")
    print_lines([f"sealed {suite.suite} (digest {suite.digest[:16]}) for {runs}: {logged.id}"])
    return 0


def _more(sentences: Sequence[str]) -> str:
    return f" (and {len(sentences) - 1} more)" if len(sentences) > 1 else ""


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text; name a file that holds a prompt") from error


def calibrate(given: Arguments) -> int:
    """Measure a check against a labelled set of its suite, or against the readings of a run; status 0 either way."""
    from evallib.printing import calibration_lines
    from evallib.store.calibrations import save_calibration
    from evallib.views.figures import load_figures

    run = _run_named(given)
    found = _of_readings(given, run) if run else _of_labelled_set(given)
    record = found.as_dict()
    save_calibration(given.data, record)
    caption = load_figures([run], "strict", given.data, given.adjudications).caption if run else ""
    if given.json:
        print_json(record | ({"caption": caption} if run else {}))
    else:
        print_lines([*calibration_lines(record), *filter(None, [caption])])
    return 0


def _run_named(given: Arguments) -> Any:
    """The stored run that the argument names, if it names one."""
    from evallib.store import open_run

    if (Path(given.subject) / "plan.json").is_file() or (given.data / "runs" / given.subject / "plan.json").is_file():
        return open_run(given.subject, given.data)
    return None


def _of_readings(given: Arguments, run: Any) -> Calibration:
    from evallib.calibration import calibrate_readings
    from evallib.scoring import fold_all
    from evallib.standing import standing_readings
    from evallib.store import read_log

    outcomes = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    return calibrate_readings(run, given.check, outcomes, standing_readings(run, read_log(given.adjudications)))


def _of_labelled_set(given: Arguments) -> Calibration:
    from evallib.calibration import calibrate_set, load_labelled
    from evallib.judges import prompt_digest
    from evallib.suite import load_suite

    try:
        named = suite_path(given.subject)
    except InputError as error:
        raise InputError(f"no run is called {given.subject!r} in {given.data / 'runs'}, and {error}") from error
    path = named / "suite.yaml" if named.is_dir() else named
    suite = load_suite(path, trust_code=given.trust_code)
    beside = path.parent / "labelled.yaml"
    if not given.labelled and not beside.exists():
        remedy = "write answers with `passes` there (docs/judging.md), or name a set with --labelled"
        raise InputError(f"{beside}: no such file; {remedy}")
    labelled = load_labelled(given.labelled or beside, suite)
    if given.check and given.check != labelled.check:
        raise InputError(f"--check {given.check!r}: the labelled set is about check {labelled.check!r}")
    with _jury(given, suite, path, labelled.check) as jury:

        def identify(check: Judge) -> dict[str, Any]:
            return {**jury.identity(check), "prompt": prompt_digest(check)}

        return calibrate_set(suite, labelled, identify, jury.verdicts if jury else _nobody)


def _nobody(_asked: Sequence[tuple[Judge, Sample]]) -> list[Verdict]:
    """Stands where a deterministic check asks no judge."""
    return []


@contextmanager
def _jury(given: Arguments, suite: Suite, path: Path, name: str) -> Iterator[Jury | Any]:
    """Whoever answers the check when a model does: --judge, the suite's own judge model, or the script beside it."""
    from evallib.checks.judge import Judge
    from evallib.panel import jury_for

    judged = any(isinstance(b.check, Judge) and b.check.id == name for bounds in suite.bound.values() for b in bounds)
    if not judged:
        yield None
        return
    usual = f"chat:{suite.judge.url}#{suite.judge.model}" if suite.judge else "scripted"
    with jury_for(given.judge or usual, path, given.data, jobs=given.judge_jobs) as jury:
        yield jury
