"""The command line: the only place that turns a decision into an exit status."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from evallib._assets import suite_path
from evallib.errors import EvallibError, InputError
from evallib.stdout import visible

__all__ = ["build_parser", "console", "main"]

_EPILOG = (
    "Exit status: 0 done; 1 a gate asked for with --exit-code was missed; 2 the input is wrong or refused; "
    "3 infrastructure failed; 4 incomplete, resumable."
)
_FACETS = (
    "facets of the queue: case=ID open by=mine all; sighted also strict=pass|fail|error check=ID model=M run=ID "
    "cause=C by=theirs|none disputed flip stale"
)


def console() -> NoReturn:
    """The program: run one command, hand over what was printed, and end at once with its status.

    Everything that has to be closed is closed when `main` returns, and all that was finished is on the disk. What
    Python does after that is a risk only: pyarrow's threads, still starting, can abort the process at its end
    (`terminate called without active exception`, status 134), and a thread that waits for a model would hold it.
    """
    status = 1
    _speak_any_encoding()
    try:
        status = main()
    except SystemExit as left:  # argparse: --help, --version, a wrong option
        status = left.code if isinstance(left.code, int) else 1 if left.code else 0
    except BaseException:  # noqa: BLE001  # a fault of ours: shown whole, as Python would
        traceback.print_exc()
    os._exit(_handed_over(status))


def _speak_any_encoding() -> None:
    r"""Characters that the terminal's or a pipe's encoding lacks are spelled out, as in `\u2013`, both ways."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _handed_over(status: int) -> int:
    """Write out what was printed; the status says when the disk would not take it."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except BrokenPipeError:
        pass  # whoever read it has gone, and wants no more
    except OSError as error:
        status = status or 3
        print(f"evallib: what was printed could not be written: {error.strerror or error}", file=sys.stderr)
    with suppress(OSError):
        if sys.stderr:
            sys.stderr.flush()
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status, and says what went wrong in one sentence on stderr."""
    # The optional grammar of jsonschema costs 1.3 s at every import of altair, nbformat and papermill.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None makes the import fail, as wanted
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        parsed = _parse(arguments)
        from evallib import commands

        return int(getattr(commands, parsed.call)(parsed))
    except EvallibError as error:
        print(f"evallib: {visible(' '.join(str(error).split()))}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("evallib: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except PermissionError as error:
        named = visible(str(error.filename or "a file"))
        print(f"evallib: {named}: may not be read or written; change its rights, or name another", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"evallib: {visible(str(error.filename or 'the disk'))}: {error.strerror or error}", file=sys.stderr)
        return 3


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; `adjudicate RUN --by NAME CASE SAMPLE` may hold its places behind the options."""
    parser = build_parser()
    parsed, extra = parser.parse_known_args(arguments)
    if parsed.call == "adjudicate":
        if not any(word.startswith("-") for word in extra):
            parsed.run, extra = [*parsed.run, *extra], []
        _split_places(parsed)
    if extra:
        parser.error(f"unrecognized arguments: {' '.join(extra)}")
    if parsed.adjudications is None:
        parsed.adjudications = _log_beside(parsed)
    return parsed


def _split_places(parsed: argparse.Namespace) -> None:
    """Part `RUN CASE SAMPLE` of one reading; without one, all places are runs, unless the last is a number."""
    parsed.case = parsed.sample = None
    one = parsed.reading is not None and not parsed.resolve
    if (
        len(parsed.run) == 3
        and parsed.run[2].isdecimal()
        and (one or not (parsed.data / "runs" / parsed.run[2]).exists())
    ):
        *parsed.run, parsed.case, number = parsed.run
        parsed.sample = int(number)


def _log_beside(parsed: argparse.Namespace) -> Path:
    """The log that belongs to the runs: `adjudications` beside their data folder where there is one, else here."""
    given = getattr(parsed, "run", [])
    folders = {_data_folder(one, parsed.data) for one in ([given] if isinstance(given, str) else given)}
    logs = {folder.parent / "adjudications" for folder in folders or {parsed.data}}
    found = sorted(log for log in logs if log.is_dir())
    if len(found) > 1:
        raise InputError(f"the runs have logs of their own ({', '.join(map(str, found))}); name one: --adjudications")
    return found[0] if found else Path("adjudications")


def _data_folder(reference: str, data: Path) -> Path:
    """Where a run lies: the folder above its `runs`, or `data`. A folder that holds `runs` is one itself."""
    path = Path(reference)
    if (path / "runs").is_dir():
        return path
    place = path if path.parent.name == "runs" else path.resolve()
    return place.parent.parent if (path / "plan.json").is_file() and place.parent.name == "runs" else data


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, like everything else here."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"evallib: {visible(' '.join(message.split()))}; see `{self.prog} --help`\n")


def build_parser() -> argparse.ArgumentParser:
    """The parser of every command, as README's section on the command line lists them."""
    parser = _Parser(
        prog="evallib", description="Run, score, adjudicate, rescore and report agent evaluations.", epilog=_EPILOG
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for add in (
        _add_running, _add_figures, _add_reading, _add_learning, _add_sealing, _add_reporting, _add_ruling,
        _add_keeping,
    ):  # fmt: skip
        add(commands)
    return parser


def _version() -> str:
    from evallib import __version__

    return f"evallib {__version__}"


def _command(commands: Any, name: str, call: str, text: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text, epilog=_EPILOG)
    command.set_defaults(call=call)
    command.add_argument("--data", type=Path, default=Path("data"), help="folder of runs (default ./data)")
    usual = "the log (default: adjudications beside the data folder of the run, else ./adjudications)"
    command.add_argument("--adjudications", type=Path, help=usual)
    return command


def _seconds(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r}: must be whole seconds from 1 to 86400")
    return int(text)


def _trust_code(command: argparse.ArgumentParser) -> None:
    command.add_argument("--trust-code", action="store_true", help="run a suite's code though it lies in a run folder")


def _json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def _prices(command: argparse.ArgumentParser) -> None:
    words = "prices of models (default: the file that $EVALLIB_PRICES names, else prices.yaml in the data folder)"
    command.add_argument("--prices", type=Path, metavar="FILE", help=words)


def _add_running(commands: Any) -> None:
    demo = _command(commands, "demo", "demo", "the whole loop into build/demo, fresh each time")
    demo.add_argument("--out", type=Path, default=Path("build/demo"))
    validate = _command(commands, "validate", "validate", "load a suite, lint it, run its self-check")
    validate.add_argument("suite", type=suite_path)
    validate.add_argument(
        "--prompt",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a prompt of the agent's own; repeatable",
    )
    validate.add_argument("--strict", action="store_true", help="status 2 for warnings too")
    _trust_code(validate)
    _json(validate)
    run = _command(commands, "run", "run", "run a suite against a target, score it, decide the gate")
    run.add_argument("suite", type=suite_path)
    run.add_argument("--target", required=True, help="kind[:address], e.g. scripted, chat:URL#MODEL")
    run.add_argument("--samples", type=int, default=1, help="samples per case (default 1)")
    run.add_argument("--jobs", type=int, default=4, help="samples in flight (default 4)")
    run.add_argument("--split", choices=["train", "validation", "holdout", "all"])
    run.add_argument("--case", action="append", default=[], metavar="ID", help="only this case; repeatable")
    words = "a question of your own, repeatable; `-`: one on each line of stdin; judged by what needs no answer key"
    run.add_argument("--ask", action="append", default=[], metavar="TEXT", help=words)
    run.add_argument("--no-judges", action="store_true", help="leave model judges out; their verdicts do not apply")
    run.add_argument("--judge", metavar="T", help="who answers judges: scripted or chat:URL#MODEL")
    run.add_argument("--judge-jobs", type=int, metavar="J", help="judge calls in flight (default: as --jobs)")
    run.add_argument("--seed", type=int, default=0, help="seed of the run (default 0)")
    run.add_argument("--run-id", metavar="ID")
    run.add_argument("--resume", action="store_true", help="continue the run of that id")
    run.add_argument("--label", action="append", default=[], metavar="KEY=VALUE", help="kept in plan.json; repeatable")
    run.add_argument("--temperature", type=float)
    run.add_argument("--max-tokens", type=int)
    for name in ("call", "turn", "judge", "check", "run"):
        run.add_argument(f"--{name}-timeout", type=float, metavar="S", help=f"deadline of one {name}, in seconds")
    run.add_argument("--exit-code", action="store_true", help="status 1 when the gate is blocked")
    _prices(run)
    _trust_code(run)
    _json(run)
    serve = _command(
        commands, "serve-script", "serve_script", "serve a script as an OpenAI-compatible model on loopback"
    )
    serve.add_argument("file", type=Path)
    serve.add_argument("--port", type=int, default=0)


def _add_metrics(commands: Any) -> None:
    metrics = _command(commands, "metrics", "metrics", "pass rate, pass@k, pass^k and checks of one view")
    metrics.add_argument("run", nargs="+")
    metrics.add_argument("--view", default="strict", help="strict, rescored:ENTRY or read (default strict)")
    metrics.add_argument("--k", default="", metavar="1,2,5")
    metrics.add_argument("--holdout", default="", metavar="RUN", help="visible minus this run of a sealed suite")
    metrics.add_argument(
        "--interval", choices=["wilson", "bootstrap"], default="wilson",
        help="bootstrap: cases drawn again 10,000 times, beside the intervals that are always there",
    )  # fmt: skip
    metrics.add_argument("--seed", type=int, metavar="K", help="seed of the bootstrap (default 20)")
    metrics.add_argument("--summary", action="store_true", help="five fields, as a CI step reads them")
    _prices(metrics)
    _json(metrics)


def _add_figures(commands: Any) -> None:
    show = _command(commands, "show", "show", "print a run: one line per sample, answers in full, or readings")
    show.add_argument("run")
    show.add_argument("--case", metavar="ID", help="the answers of this case in full, with their verdicts")
    show.add_argument("--failing", action="store_true", help="the answers that did not pass, in full")
    show.add_argument("--readings", action="store_true", help="what people said")
    show.add_argument("--unmasked", action="store_true", help="credentials of answers as they are")
    _prices(show)
    _add_metrics(commands)
    gate = _command(commands, "gate", "gate", "decide the release gate over one view of one run")
    gate.add_argument("run")
    gate.add_argument("--view", default="strict")
    gate.add_argument("--gate", type=Path, metavar="FILE", help="other thresholds than the suite's own")
    gate.add_argument("--exit-code", action="store_true", help="status 1 when blocked")
    _json(gate)
    calibrate = _command(commands, "calibrate", "calibrate", "measure a check or judge against what people say")
    calibrate.add_argument("subject", metavar="SUITE|RUN", help="a suite with a labelled set, or a run with readings")
    calibrate.add_argument("--check", default="", help="of a run: the verdicts that were read (default: whole answers)")
    calibrate.add_argument("--labelled", type=Path, metavar="FILE", help="another set than labelled.yaml of the suite")
    calibrate.add_argument("--judge", metavar="T", help="who answers a model judge: scripted[:FILE] or chat:URL#MODEL")
    calibrate.add_argument("--judge-jobs", type=int, default=4, metavar="J", help="judge calls in flight (default 4)")
    _trust_code(calibrate)
    _json(calibrate)
    words = "run B against run A on their shared cases, or the views of one run side by side"
    compare = _command(commands, "compare", "compare", words)
    compare.add_argument("run", nargs="+", help="A and B; or one run, for its views")
    compare.add_argument("--views", default="", metavar="V,W", help="of one run: views to set side by side (all)")
    compare.add_argument("--view", default="", help="of two runs: the view of both (default strict)")
    _prices(compare)
    _json(compare)


def _add_reading(commands: Any) -> None:
    adjudicate = _command(commands, "adjudicate", "adjudicate", "read answers in the terminal, or store one reading")
    adjudicate.add_argument("run", nargs="+", help="runs to read; or one run, CASE and SAMPLE for one reading")
    adjudicate.add_argument("--by", default="", metavar="NAME", help="the reviewer; needed for all but --export")
    adjudicate.add_argument("--sighted", action="store_true", help="show what strict says while reading")
    adjudicate.add_argument("--only", nargs="+", default=[], metavar="WORD", help=_FACETS)
    adjudicate.add_argument("--check", default="", help="read verdicts of this check; whole answers when left out")
    adjudicate.add_argument("--seed", type=int, help="of a draw and its order (default: from the runs)")
    _add_planning(adjudicate)
    adjudicate.add_argument("--reading", help="pass, fail, infra or unsure")
    adjudicate.add_argument("--cause", default="unknown")
    adjudicate.add_argument("--reason", default="")
    adjudicate.add_argument("--resolve", nargs=2, metavar=("CASE", "SAMPLE"), help="what holds where readers differ")
    adjudicate.add_argument(
        "--withdraw", default="", metavar="ID", help="take an entry of your own back, with --reason"
    )
    adjudicate.add_argument("--rubric", metavar="TEXT", help="what readers are to judge by, from now on")
    written = "write every reading to a new .csv, .jsonl or .parquet, and read nothing"
    adjudicate.add_argument("--export", type=Path, metavar="FILE", help=written)
    words = "how readers agree, where they differ, and the pass rate corrected by what they read"
    agreement = _command(commands, "agreement", "agreement", words)
    agreement.add_argument("run", nargs="+")
    _json(agreement)


def _add_learning(commands: Any) -> None:
    words = "write what people read beside a suite, so that every later criterion is tried on it"
    learned = _command(commands, "regressions", "regressions", words)
    learned.add_argument("run", nargs="+")
    learned.add_argument("--suite", type=suite_path, required=True)
    learned.add_argument("--check", action="store_true", help="write nothing; status 2 where the file lacks something")
    _trust_code(learned)


def _add_sealing(commands: Any) -> None:
    words = "seal a holdout suite outside the repository: a counted number of runs, and rates alone come out"
    sealed = _command(commands, "seal", "seal", words)
    sealed.add_argument("suite", type=Path)
    sealed.add_argument("--budget", type=int, required=True, metavar="N", help="how many runs there may ever be")
    sealed.add_argument("--by", default="", metavar="NAME")
    sealed.add_argument("--reason", default="")
    _trust_code(sealed)


def _add_planning(adjudicate: argparse.ArgumentParser) -> None:
    adjudicate.add_argument("--plan", action="store_true", help="draw what is to be read, before anybody reads")
    adjudicate.add_argument(
        "--passes", type=int, metavar="N", help="strict passes drawn of each part, or up to a quarter more (default 60)"
    )
    adjudicate.add_argument("--twice", type=float, metavar="SHARE", help="for two readers (default 0.1)")
    again = "shown to its reader again, blind, after a week (default 0.05)"
    adjudicate.add_argument("--again", type=float, metavar="SHARE", help=again)
    adjudicate.add_argument("--each-check", action="store_true", help="draw verdicts of each check, not whole answers")
    adjudicate.add_argument("--supersede", default="", metavar="REASON", help="why it replaces a plan that stands")
    adjudicate.add_argument("--plan-id", default="", metavar="ID", help="read by that plan, not by the newest")


def _add_reporting(commands: Any) -> None:
    rescore = _command(commands, "rescore", "rescore", "apply changed criteria to stored runs, beside the original")
    rescore.add_argument("run", nargs="*", help="left out with --preview: every run of --data that used the suite")
    rescore.add_argument("--suite", type=suite_path, required=True)
    rescore.add_argument("--entry", type=Path, help="who changes what and why; a preview needs none")
    rescore.add_argument("--preview", action="store_true", help="show what would flip and write nothing but a stamp")
    queue = "with --preview and --by: a reading plan of the unread flips, and none of them shown"
    rescore.add_argument("--queue", action="store_true", help=queue)
    _trust_code(rescore)
    rescore.add_argument(
        "--judge", metavar="T", help="ask judges that ask something new: scripted[:FILE] or chat:URL#MODEL"
    )
    rescore.add_argument("--judge-jobs", type=int, default=4, metavar="J", help="judge calls in flight (default 4)")
    rescore.add_argument("--override", metavar="REASON", help="accept the flips that nobody read, with --by NAME")
    rescore.add_argument("--by", default="", metavar="NAME", help="who accepts them, or who asks for the queue")
    _json(rescore)
    report = _command(commands, "report", "report", "execute the notebooks into one self-contained HTML page per run")
    report.add_argument("run", nargs="+")
    report.add_argument("--notebook", action="append", default=[], metavar="N", help="only this notebook; repeatable")
    report.add_argument("--out", type=Path, default=Path("build/report"))
    words = "write all that is published of the runs into this new folder, which proves itself"
    report.add_argument("--bundle", type=Path, metavar="DIR", help=words)
    report.add_argument("-p", "--parameter", action="append", default=[], metavar="NAME=VALUE")
    _prices(report)
    limit = "how long one cell may take (default 600)"
    report.add_argument("--cell-timeout", type=_seconds, default=600, metavar="S", help=limit)
    track = _command(commands, "track", "track", "export a run to MLflow; repeating it changes nothing")
    track.add_argument("run")
    track.add_argument("--uri", default="", help="tracking URI (default: SQLite beside the runs)")
    _json(track)


def _add_ruling(commands: Any) -> None:
    lock = _command(commands, "lock", "lock", "hold the criteria of runs as they are while they are compared")
    lock.add_argument("run", nargs="+")
    close = _command(commands, "close", "close", "end a lock: the comparison is over")
    close.add_argument("lock", metavar="LOCK", help="the id that `evallib lock` printed")
    for command in (lock, close):
        command.add_argument("--by", default="", metavar="NAME", help="who says so")
        command.add_argument("--reason", default="", metavar="TEXT")
    words = (
        "how criteria changed after answers were read: every rescoring, each author's predictions, each check's ledger"
    )
    criteria = _command(commands, "criteria", "criteria", words)
    criteria.add_argument("subject", nargs="+", metavar="SUITE|RUN", help="runs, or suites whose stored runs are meant")
    _json(criteria)


def _add_keeping(commands: Any) -> None:
    importer = _command(commands, "import", "import_", "bring in what other tools recorded")
    importer.add_argument("format", help="tau-bench, berth, adk-evalset, berth-suite, berth-readings")
    importer.add_argument("path", type=Path)
    importer.add_argument("--run-id", metavar="ID")
    importer.add_argument("--out", type=Path, metavar="FILE", help="where a suite is written")
    importer.add_argument(
        "--questions", type=Path, metavar="FILE", help="berth: the criteria, which say what the answers were asked"
    )
    importer.add_argument(
        "--tools", type=Path, metavar="FILE", help="adk-evalset: the target's tools, to check names by"
    )
    verify = _command(commands, "verify", "verify", "hash every stored file again, and check the log")
    verify.add_argument("run", help="a run, a data folder, a log of adjudications alone, or a bundle")
    verify.add_argument("--since", default="", metavar="REV", help="git: entries may only have been added since then")


if __name__ == "__main__":
    console()
