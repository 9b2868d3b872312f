"""A run is planned first, journaled, resumable at any moment, and the same in any order."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evallib.endpoint import Endpoint
from evallib.errors import IncompleteError, InfrastructureError, InputError
from evallib.panel import EndpointPanel
from evallib.records import Sample
from evallib.runner import RunOptions, run_suite, sample_seed
from evallib.store import Run, open_run
from evallib.store.journal import read_journal
from evallib.suite import Deadlines, load_suite
from evallib.targets import open_target
from evallib.targets.base import TargetOptions
from evallib.targets.scripted import ScriptProcess

SUITE = """\
suite: sums
pass: top
checks:
- {id: says, check: mentions, all_of: key.facts}
- {id: short, check: sections, headings: [], max_words: 4}
cases:
""" + "".join(
    f"- {{id: c-{n}, steps: [{{ask: What is {n} and one?}}], key: {{facts: ['{n + 1}']}}}}\n" for n in range(1, 11)
)
REPLY = """\
- when: {{contains: ['is {0} and']}}
  choose: rotate
  answers: [{{text: It is {1}., delay_s: 0.01}}, {{text: I do not know., delay_s: 0.01}}]
"""
SCRIPT = "script: sums\nreplies:\n" + "".join(REPLY.format(n, n + 1) for n in range(1, 11))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    return tmp_path


def run(folder: Path, **more: object) -> Run:
    suite = load_suite(folder)
    options = RunOptions(**{"run_id": "r", "samples": 2, "jobs": 3, **more})  # type: ignore[arg-type]
    with open_target("scripted", suite, folder, TargetOptions()) as target:
        return run_suite(folder / "suite.yaml", target, options, folder / "data")


def content(run: Run) -> list[tuple[object, ...]]:
    return [
        (v.case_id, v.sample, v.check_id, v.status, v.value, v.passed, v.reason, v.spans, v.decides)
        for v in run.verdicts
    ]


def test_a_run_stores_every_planned_sample_in_order_whatever_the_jobs(folder: Path) -> None:
    many, one = run(folder, jobs=7), run(folder, run_id="s", jobs=1)
    assert [s.key for s in many.samples] == many.planned
    assert content(many) == content(one)
    assert sum(v.passed is True for v in many.verdicts if v.check_id == "says") == 10


def test_the_plan_says_what_ran_where_before_the_first_sample(folder: Path) -> None:
    plan = run(folder, labels={"brain": "v0"}).plan
    assert plan["cases"] == {f"c-{n}": 2 for n in range(1, 11)}
    assert plan["labels"] == {"brain": "v0"}
    assert {"target", "host", "versions", "build", "self_check", "suite_digest", "gate_digest", "seed"} <= plan.keys()


def test_usage_comes_from_the_responses(folder: Path) -> None:
    done = run(folder)
    assert all(s.usage.calls == 1 and s.usage.input_tokens for s in done.samples)
    assert done.manifest["usage"]["calls"] == 20


def test_two_case_ids_swapped_change_nothing(folder: Path) -> None:
    first = {(s.turns[0].request, s.sample): (s.answer, s.seed) for s in run(folder).samples}
    swapped = SUITE.replace("id: c-1,", "id: c-x,").replace("id: c-2,", "id: c-1,").replace("id: c-x,", "id: c-2,")
    (folder / "suite.yaml").write_text(swapped)
    assert {(s.turns[0].request, s.sample): (s.answer, s.seed) for s in run(folder, run_id="s").samples} == first


def test_consecutive_samples_have_consecutive_seeds(folder: Path) -> None:
    case = load_suite(folder).cases[0]
    assert [sample_seed(5, case, n) - sample_seed(5, case, 1) for n in (1, 2, 3)] == [0, 1, 2]
    assert sample_seed(5, case, 1) != sample_seed(6, case, 1)
    assert 0 < sample_seed(5, case, 1023) < 2**31


def test_a_complete_run_is_not_run_again(folder: Path) -> None:
    run(folder)
    for resume in (False, True):
        with pytest.raises(InputError, match=r"exists already|is complete already"):
            run(folder, resume=resume)


def test_a_finished_run_holds_what_is_read_from_its_files(folder: Path) -> None:
    finished = run(folder)
    read = Run(finished.folder)
    assert (finished.samples, finished.verdicts) == (read.samples, read.verdicts)


def test_resuming_a_run_that_never_began_says_to_leave_out_resume(folder: Path) -> None:
    with pytest.raises(InputError, match=r"no run '.*' to resume in .*: leave out --resume"):
        run(folder, resume=True)
    assert not list(folder.glob("data/runs/*"))


def test_a_run_is_resumed_only_as_it_was_planned(folder: Path) -> None:
    done = run(folder)
    (done.folder / "run.json").unlink()
    with pytest.raises(InputError, match="its seed is not what it was"):
        run(folder, seed=1, resume=True)
    (folder / "suite.yaml").write_text(SUITE + "# changed\n")
    with pytest.raises(InputError, match="its suite_sha256 is not what it was"):
        run(folder, resume=True)


def test_a_suite_that_fails_its_self_check_never_reaches_a_target(folder: Path) -> None:
    (folder / "suite.yaml").write_text(SUITE + "probes: [{name: bad, case: c-1, answer: it is 2, fails: [says]}]\n")
    with pytest.raises(InputError, match=r"fails its own self-check.*'bad'"):
        run(folder)
    assert not (folder / "data").exists()


def test_an_unreachable_endpoint_leaves_nothing(folder: Path) -> None:
    suite = load_suite(folder)
    with (
        open_target("chat:http://127.0.0.1:9/v1#m", suite, folder, TargetOptions()) as target,
        pytest.raises(InfrastructureError),
    ):
        run_suite(folder / "suite.yaml", target, RunOptions("r"), folder / "data")
    assert not (folder / "data").exists()


def test_a_run_that_meets_its_deadline_can_be_resumed(folder: Path) -> None:
    suite = load_suite(folder)
    (folder / "script.yaml").write_text(SCRIPT.replace("delay_s: 0.01", "delay_s: 0.2"))
    with open_target("scripted", suite, folder, TargetOptions()) as target:
        options = RunOptions("r", samples=2, jobs=2)
        with pytest.raises(IncompleteError, match="--resume"):
            run_suite(folder / "suite.yaml", target, options, folder / "data", deadlines=Deadlines(run_s=0.5))
        options = RunOptions("r", samples=2, jobs=8, resume=True)
        time.sleep(0.5)  # the two samples that were in flight at the deadline still hold the journal's lock
        assert len(run_suite(folder / "suite.yaml", target, options, folder / "data").samples) == 20


def test_errors_and_crashes_are_statuses_of_their_sample_alone(folder: Path) -> None:
    script = SCRIPT.replace("{text: It is 2., delay_s: 0.01}", "{status: 503, error: overloaded}", 1)
    (folder / "script.yaml").write_text(script)
    statuses = [s.status for s in run(folder).samples]
    assert (statuses.count("provider_error"), statuses.count("completed")) == (1, 19)


def test_a_judge_is_asked_with_the_run_and_its_votes_are_kept(folder: Path) -> None:
    judged = SUITE.replace(
        "- {id: short, check: sections, headings: [], max_words: 4}", "- {id: q, check: judge, rubric: Is it right?}"
    )
    (folder / "suite.yaml").write_text(judged)
    reply = '- when: {model: judge}\n  answers: [{text: \'{"score": 4, "reason": "so"}\'}, {text: nonsense}]\n'
    (folder / "script.yaml").write_text(SCRIPT.replace("replies:\n", f"replies:\n{reply}"))
    suite = load_suite(folder)
    with (
        ScriptProcessHere(folder / "script.yaml") as url,
        open_target("scripted", suite, folder, TargetOptions()) as target,
    ):
        panel = EndpointPanel(Endpoint(url, "judge", api_key=""), {"model": "judge"})
        done = run_suite(folder / "suite.yaml", target, RunOptions("r", samples=2), folder / "data", judge=panel)
        panel.close()
    verdicts = [v for v in done.verdicts if v.check_id == "q"]
    assert {len(json.loads(v.judge)["votes"]) for v in verdicts} == {3}
    assert {v.status for v in verdicts} == {"scored", "not_scored"}
    assert {v.raw for v in verdicts if v.status == "scored"} == {4.0}


class ScriptProcessHere:
    """A served script for the length of a `with`."""

    def __init__(self, path: Path) -> None:
        self.process = ScriptProcess(path)

    def __enter__(self) -> str:
        return self.process.url

    def __exit__(self, *_: object) -> None:
        self.process.close()


# -- killed at any moment ----------------------------------------------------------------------------------------------


def command(folder: Path, url: str, *more: str) -> list[str]:
    return [
        sys.executable, "-m", "evallib.cli", "run", str(folder), "--target", f"chat:{url}#scripted", "--samples", "6",
        "--jobs", "2", "--run-id", "killed", "--data", str(folder / "data"), *more,
    ]  # fmt: skip


def lines(folder: Path) -> int:
    journal = folder / "data" / "runs" / "killed" / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def kill_when(folder: Path, url: str, moment: Callable[[], bool]) -> None:
    """Start or resume the run in a process of its own and SIGKILL it at `moment`."""
    resume = ["--resume"] if (folder / "data" / "runs" / "killed").exists() else []
    process = subprocess.Popen(command(folder, url, *resume), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not moment():
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the run ended before it could be killed"


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    with ScriptProcessHere(folder / "script.yaml") as address:
        yield address


def test_twenty_kills_lose_and_double_nothing(folder: Path, url: str) -> None:
    planned, killed = 60, folder / "data" / "runs" / "killed"
    for count in range(2, 47, 3):
        kill_when(folder, url, lambda count=count: lines(folder) >= count)  # type: ignore[misc]  # bound at once
        assert 0 < lines(folder) < planned, "in flight: the journal is neither empty nor full"
        assert not (killed / "run.json").exists()
    tables: set[str] = set()
    for number, name in enumerate(
        ["samples.parquet", "turns.parquet", "verdicts.parquet", "samples.parquet", "verdicts.parquet"]
    ):
        for path in killed.glob("*.parquet"):  # so that this kill is proven by what this attempt writes
            path.unlink()
        kill_when(folder, url, (killed / name).exists)
        assert not (killed / "run.json").exists(), "compaction: tables begun, no manifest yet"
        assert lines(folder) == planned
        tables |= {f"{number}:{p.name}" for p in killed.glob("*.parquet")}
    assert len({t.partition(":")[0] for t in tables}) == 5
    subprocess.run(command(folder, url, "--resume"), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    done, whole = open_run("killed", folder / "data"), run(folder, run_id="whole", samples=6)
    assert [s.key for s in done.samples] == whole.planned
    assert content(done) == content(whole)
    assert not (killed / "journal.jsonl").exists()


def test_a_run_stopped_by_sigterm_says_how_to_go_on(folder: Path, url: str) -> None:
    process = subprocess.Popen(command(folder, url), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while lines(folder) < 3:
        time.sleep(0.001)
    process.terminate()
    _, said = process.communicate()
    assert process.returncode == 4, said
    assert "--resume" in said
    kept, _ = read_journal(folder / "data" / "runs" / "killed" / "journal.jsonl")
    assert all(isinstance(sample, Sample) for sample in kept)
    assert len(kept) >= 3


def test_a_resume_that_comes_too_late_leaves_no_journal_in_the_finished_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, options = load_suite(folder), RunOptions("r", samples=2, jobs=3)
    with open_target("scripted", suite, folder, TargetOptions()) as target:
        with pytest.raises(IncompleteError):
            run_suite(folder / "suite.yaml", target, options, folder / "data", deadlines=Deadlines(run_s=1e-9))
        time.sleep(0.5)  # what was in flight still holds the journal's lock
        late = RunOptions("r", samples=2, jobs=3, resume=True)
        preflight = target.preflight

        def overtaken() -> None:
            """Another process resumes and finishes the run while this one looks whether anybody answers."""
            monkeypatch.setattr(target, "preflight", preflight)
            run_suite(folder / "suite.yaml", target, late, folder / "data")

        monkeypatch.setattr(target, "preflight", overtaken)
        with pytest.raises(InputError, match="complete already"):
            run_suite(folder / "suite.yaml", target, late, folder / "data")
    assert not (folder / "data" / "runs" / "r" / "journal.jsonl").exists()
