"""Every command ends with the right status; bad input gets one sentence and leaves nothing half-written."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evallib.cli import main
from evallib.store.files import staging_folder
from tests.commandline import files, said
from tests.making import SUITE, stored_run

BAD = {
    "an unknown key": ("suite.yaml", SUITE.replace("pass:", "passes:"), "unknown key 'passes'"),
    "a duplicate case id": ("suite.yaml", SUITE.replace("id: c-2", "id: c-1"), "'c-1' stands twice"),
    "a broken pattern": (
        "suite.yaml",
        SUITE.replace("check: mentions, all_of: key.facts", "check: matches, any_of: ['(a']"),
        "pattern",
    ),
    "a look-around": (
        "suite.yaml",
        SUITE.replace("check: mentions, all_of: key.facts", "check: matches, any_of: ['(?<!x)a']"),
        "look-around",
    ),
    "a lost backslash": (
        "suite.yaml",
        SUITE.replace("check: mentions, all_of: key.facts", 'check: matches, any_of: ["\\bfour\\b"]'),
        "single quotes",
    ),
    "a threshold for no check": (
        "suite.yaml",
        SUITE.replace("checks: {says: 0.5}", "checks: {sais: 0.5}"),
        "'sais', which does not exist",
    ),
    "a weight without bounds": ("suite.yaml", SUITE.replace("max_words: 5", "max_words: 5, weight: 1e400"), "line 5"),
    "a weight of 400 digits": ("suite.yaml", SUITE.replace("max_words: 5", f"weight: {'9' * 400}"), "line 5"),
    "a threshold without bounds": ("suite.yaml", SUITE.replace("says: 0.5}", "says: 1e999}"), "1e999 is more than"),
    "a deadline without bounds": ("suite.yaml", SUITE + "deadlines: {call_s: 1e999}\n", "line 10"),
    "a deadline of ages": ("suite.yaml", SUITE + "deadlines: {call_s: 1e300}\n", "line 10 (deadlines.call_s)"),
    "a check of a relative module": (
        "suite.yaml",
        SUITE.replace("check: sections", "check: .a:B"),
        "cannot be imported",
    ),
    "a byte in a pattern": (
        "suite.yaml",
        SUITE.replace("check: mentions, all_of: key.facts", "check: matches, any_of: ['fo\\Cr']"),
        "single byte",
    ),
    "no script": ("script.yaml", "script: x\nreplies: []\nmood: good\n", "mood"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_to_a_run_is_one_sentence_and_leaves_nothing(
    home: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file, text, expected = BAD[name]
    Path(file).write_text(text)
    before = files(home)
    assert main(["run", ".", "--target", "scripted"]) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1, "one sentence"
    assert file in error, "names the file"
    assert files(home) == before


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (["metrics", "nobody"], 2, "no run 'nobody'"),
        (["show", "r-1", "--case", "c-9"], 2, "no case 'c-9'"),
        (["metrics", "r-1", "--view", "rescored:x"], 2, "rescorings are called 'x'"),
        (["metrics", "r-1", "--view", "best"], 2, "no view 'best'"),
        (["metrics", "r-1", "--k", "a"], 2, "whole numbers"),
        (["metrics", "r-1", "r-1"], 2, "named twice"),
        (["run", ".", "--target", "chat:http://127.0.0.1:9/v1#m"], 3, "127.0.0.1:9"),
        (["run", ".", "--target", "robot"], 2, "unknown target kind 'robot'"),
        (["run", ".", "--target", "scripted", "--run-id", "r-1"], 2, "exists already"),
        (["run", ".", "--target", "scripted", "--samples", "0"], 2, "--samples 0"),
        (["run", ".", "--target", "scripted", "--case", "c-9"], 2, "no case 'c-9'"),
        (["run", "nowhere", "--target", "scripted"], 2, "no suite is called 'nowhere'"),
        (["import", "berth", "script.yaml"], 2, "script.yaml"),
        (["import", "tau-bench", "cut.json"], 2, "cut.json"),
        (["import", "inspect", "cut.json"], 2, "unknown format 'inspect'"),
        (["adjudicate", "r-1", "--by", "a", "c-1", "1", "--reading", "pass"], 2, "needs a reason"),
        (["rescore", "r-1", "--suite", "suite.yaml", "--entry", "none.yaml"], 2, "none.yaml: no such file"),
        (["gate", "r-1", "--gate", "suite.yaml"], 2, "suite.yaml"),
        (["verify", "nothing"], 2, "no run 'nothing'"),
        (["run", ".", "--target", "scripted", "--call-timeout", "inf"], 2, "a timeout must be a number"),
        (["run", ".", "--target", "scripted", "--temperature", "nan"], 2, "--temperature nan"),
        (["rescore", "r-1", "--suite", "none.yaml", "--entry", "e.yaml"], 2, "none.yaml: no such file"),
        (["run", ".", "--target", "scripted", "--call-timeout", "1e300"], 2, "a timeout must be a number"),
        (["run", ".", "--target", "custom:.a:b"], 2, "'.a:b' cannot be imported"),
        (["run", ".", "--target", "scripted:huge.yaml"], 2, "huge.yaml, line 2: 1e999 is more than a number can be"),
        (["gate", "r-1", "--gate", "gate.yaml"], 2, "gate.yaml, line 1: a number of 5000 characters"),
        (["rescore", "r-1", "--suite", "suite.yaml", "--entry", "gate.yaml"], 2, "gate.yaml, line 1"),
        (["import", "berth-suite", "criteria.json", "--out", "."], 2, "--out .: is a folder; name a file in it"),
        (["import", "berth-suite", "criteria.json", "--out", ""], 2, "--out .: is a folder; name a file in it"),
    ],
)
def test_bad_input_is_one_sentence_with_its_status(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, expected: str
) -> None:
    stored_run(home / "data", {"c-1": ["four"]})
    Path("cut.json").write_text('[{"task_id": 0, "reward": 1.0, "tr')
    Path("huge.yaml").write_text("script: x\ndefault: {text: hi, delay_s: 1e999}\n")
    Path("gate.yaml").write_text(f"mean: {'9' * 5000}\n")
    check = {"id": "a", "kind": "max_tool_calls", "desc": "d", "critical": True, "max": 3}
    Path("criteria.json").write_text(json.dumps({"c": {"id": "c", "checks": [check]}}))
    before = files(home)
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert expected in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert files(home) == before


def test_an_unknown_option_is_status_2(home: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["metrics", "r-1", "--verbose"])


def test_a_damaged_table_stops_metrics_and_verify(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored_run(home / "data", {"c-1": ["four"]})
    (run.folder / "verdicts.parquet").write_bytes(b"PAR1 no more")
    assert main(["metrics", "r-1"]) == 2
    assert "verdicts.parquet: is damaged" in capsys.readouterr().err
    assert main(["verify", "data"]) == 2
    assert "problems: 1, in 5 stored files" in capsys.readouterr().err


def test_a_run_in_flight_is_no_damage_to_verify(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored_run(home / "data", {"c-1": ["four"]})
    (run.folder / "run.json").unlink()
    assert main(["verify", "data"]) == 4
    assert "incomplete: r-1" in capsys.readouterr().err


def test_verify_notes_what_a_kill_left_and_fails_nothing_for_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored_run(home / "data", {"c-1": ["four"]})
    folder = run.folder.parent / ".r-2.0a1b2c3d.tmp"
    folder.mkdir()
    (folder / "plan.json").write_text("{}")
    left = [
        folder,
        run.folder / ".turns.parquet.0a1b2c3d.tmp",
        home / "adjudications/entries/2026/.x.yaml.00000000.tmp",
    ]
    left[2].parent.mkdir(parents=True)
    for path in left[1:]:
        path.write_text("half")
    with staging_folder(run.folder.parent / "r-3") as alive:
        out = said(capsys, "verify", "data").splitlines()
        assert not any(alive.name in line for line in out), "its maker lives"
    notes = [line for line in out if line.startswith("note: ")]
    assert sorted(note.split(": ")[1] for note in notes) == sorted(str(path.relative_to(home)) for path in left)
    assert all(
        note.endswith(": was left by a write that did not end; delete it when nothing writes there") for note in notes
    )
    assert any(line.startswith("5 files of 1 run and") for line in out)
    only = [line for line in said(capsys, "verify", "r-1").splitlines() if line.startswith("note: ")]
    assert {note.split(": ")[1] for note in only} == {str(path.relative_to(home)) for path in left[1:]}


@pytest.fixture
def closed(home: Path) -> Iterator[Path]:
    folder = home / "closed"
    folder.mkdir(mode=0o555)
    yield folder
    folder.chmod(0o755)


def test_a_folder_one_may_not_write_to_is_status_2(home: Path, closed: Path) -> None:
    """Tried in a child process without root's rights, for whom no folder is closed."""
    code = (
        "import os, sys\n"
        "from evallib.cli import main\n"
        "from evallib import panel\n"
        "from evallib.rescoring import apply  # nobody may not be allowed to read the library\n"
        "main(['show', 'r-1']); main(['import', 'tau-bench', 'none.json'])\n"
        "sys.stderr.flush(); print('-- as nobody', file=sys.stderr)\n"
        "os.getuid() or os.setuid(65534)\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    for folder in [home, *home.parents][:-2]:
        folder.chmod(folder.stat().st_mode | 0o055)
    root = str(Path(__file__).resolve().parent.parent)
    sources = {
        (
            "adjudicate",
            "r-1",
            "c-1",
            "1",
            "--by",
            "a",
            "--reading",
            "pass",
            "--reason",
            "r",
            "--adjudications",
            str(closed / "log"),
        ): 2,
        ("rescore", "r-1", "--suite", "new.yaml", "--entry", "entry.yaml", "--adjudications", str(closed / "log")): 2,
    }
    stored_run(home / "data", {"c-1": ["four"]})
    changes = "changes: [{check: says, fix: description, reason: none}]"
    (home / "new.yaml").write_text(SUITE.replace("check: mentions,", "check: mentions, description: the sum,"))
    (home / "entry.yaml").write_text(f"kind: rescoring\nslug: s\nauthor: a\nreason: r\n{changes}\n")
    for arguments, status in sources.items():
        found = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": root},
        )
        assert found.returncode == status, found.stderr
        sentence = found.stderr.partition("-- as nobody\n")[2]
        assert "may not write here" in sentence
        assert sentence.count("\n") == 1
    assert list(closed.iterdir()) == []


def test_a_run_prints_figures_gate_and_caption(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "run", ".", "--target", "scripted", "--run-id", "a", "--samples", "2")
    assert "pass rate 0.500" in out
    assert "pass: run a, view strict" in out
    assert "2 cases x 2 samples = 4 planned" in out


def test_without_judges_the_other_checks_decide_and_the_gate_stays_blocked(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = SUITE.replace(
        "- {id: short, check: sections, headings: [], max_words: 5}", "- {id: q, check: judge, rubric: Good?}"
    )
    Path("suite.yaml").write_text(judged.replace("{says: 0.5}", "{says: 0.5, q: 4.0}"))
    done = json.loads(said(capsys, "run", ".", "--target", "scripted", "--no-judges", "--json"))
    assert (done["metrics"]["pass_rate"], done["metrics"]["by_check"]["q"]["not_applicable"]) == (0.5, 2)
    assert done["gate"]["decision"] == "blocked"
    assert {rule["rule"]: rule["passed"] for rule in done["gate"]["rules"]}["checks"] is False


def test_json_is_one_object_and_nothing_else(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored_run(home / "data", {"c-1": ["four"], "c-2": ["no"]})
    assert json.loads(said(capsys, "run", ".", "--target", "scripted", "--json"))["metrics"]["pass_rate"] == 0.5
    for arguments in (
        ["metrics", "r-1", "--json"],
        ["gate", "r-1", "--json"],
        ["validate", ".", "--json"],
        ["compare", "r-1", "--json"],
    ):
        assert isinstance(json.loads(said(capsys, *arguments)), dict)


def test_too_few_samples_for_k_are_null_and_no_error(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored_run(home / "data", {"c-1": ["four"], "c-2": ["no"]})
    summary = json.loads(said(capsys, "metrics", "r-1", "--k", "1,5", "--json"))
    assert (summary["pass_at"]["5"], summary["pass_hat"]["5"], summary["eligible_cases"]["5"]) == (None, None, 0)


def test_the_summary_has_the_five_fields_of_a_ci_step(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored_run(home / "data", {"c-1": ["four"], "c-2": ["no"]})
    summary = json.loads(said(capsys, "metrics", "r-1", "--summary"))
    assert "label" in json.loads(said(capsys, "metrics", "r-1", "--view", "read", "--summary"))
    assert summary == {
        "passed": 1,
        "failed": 1,
        "pass_rate": 0.5,
        "minimum_pass_rate": None,
        "required_cases_passed": True,
    }


def test_a_blocked_gate_is_status_1_only_when_asked_for(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored_run(home / "data", {"c-1": ["no"], "c-2": ["no"]})
    assert "blocked" in said(capsys, "gate", "r-1")
    said(capsys, "gate", "r-1", "--exit-code", status=1)


def test_other_thresholds_are_chosen_after_the_result(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored_run(home / "data", {"c-1": ["no"], "c-2": ["no"]})
    Path("gate.yaml").write_text("gate: {mean: 0.0}\n")
    decision = json.loads(said(capsys, "gate", "r-1", "--gate", "gate.yaml", "--json"))
    assert (decision["decision"], decision["chosen_after_result"], decision["release_decision"]) == ("pass", True, None)


def test_one_reading_from_the_command_line_makes_the_read_view(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored_run(home / "data", {"c-1": ["no"], "c-2": ["no"]})
    out = said(
        capsys,
        "adjudicate",
        "r-1",
        "c-1",
        "1",
        "--by",
        "Ann",
        "--reading",
        "pass",
        "--reason",
        "fine",
        "--cause",
        "paraphrase",
    )
    assert list((home / "adjudications").rglob(f"{out.strip()}.yaml"))
    assert "Ann" in said(capsys, "show", "r-1", "--readings")
    summary = json.loads(said(capsys, "metrics", "r-1", "--view", "read", "--json"))
    assert (summary["pass_rate"], summary["post_hoc"], summary["readings"][0]["read"]) == (0.5, True, 1)
    assert "chosen after reading the answers" in said(capsys, "compare", "r-1")


def test_control_characters_of_an_answer_never_reach_the_terminal(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored_run(home / "data", {"c-1": ["\x1b[2J\x07 gone \u202e"]})
    out = said(capsys, "show", "r-1", "--case", "c-1")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "⟨U+001B⟩[2J⟨U+0007⟩ gone" in out


def test_two_runs_of_one_suite_are_pooled_and_of_two_are_not(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored_run(home / "data", {"c-1": ["four"]}, run_id="a")
    stored_run(home / "data", {"c-1": ["no"]}, run_id="b")
    stored_run(home / "data", {"c-1": ["no"]}, run_id="c", suite_text=SUITE.replace("max_words: 5", "max_words: 6"))
    assert json.loads(said(capsys, "metrics", "a", "b", "--json"))["planned"] == 2
    assert main(["metrics", "a", "c"]) == 2
    assert "different criteria" in capsys.readouterr().err
    mixed = (
        "Pooled runs are of different targets: no figure is of one of them, and pass@k and pass^k mix their samples."
    )
    assert mixed not in said(capsys, "metrics", "a", "b")
    stored_run(home / "data", {"c-1": ["no"]}, run_id="d", planned={"target": {"kind": "by hand", "model": "somebody"}})
    assert mixed in said(capsys, "metrics", "a", "d")


def test_failing_answers_are_shown_in_full_with_their_verdicts(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored_run(home / "data", {"c-1": ["four"], "c-2": ["I do not know."]})
    out = said(capsys, "show", "r-1", "--failing")
    assert "== c-2 sample 1: fail" in out
    assert "I do not know." in out
    assert "says" in out
    assert "c-1" not in out


def test_judges_left_out_are_said_by_caption_and_coverage(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged = SUITE.replace(
        "- {id: short, check: sections, headings: [], max_words: 5}", "- {id: q, check: judge, rubric: Good?}"
    )
    Path("suite.yaml").write_text(judged)
    done = json.loads(said(capsys, "run", ".", "--target", "scripted", "--no-judges", "--json"))
    assert done["metrics"]["judges_left_out"] == ["q"]
    assert "Model judges were left out of this run: q." in done["metrics"]["caption"]
    coverage = next(row for row in done["gate"]["rules"] if row["rule"] == "coverage")["reason"]
    cases = done["metrics"]["cases"]
    assert coverage == (
        f"all {cases} planned samples and their verdicts without a judge are scored; "
        f"left out of this run: judge q ({cases} verdicts)"
    )


def test_a_conversation_is_shown_step_by_step() -> None:
    from evallib.printing import sample_lines
    from evallib.records import Outcome, Sample, Turn

    turns = (Turn(1, "Restart it.", "I wait."), Turn(2, "And now?", "It is\x1b[2J up."))
    sample = Sample("r", "c-1", 1, turns=turns, answer="It is\x1b[2J up.")
    lines = sample_lines(sample, [], Outcome("c-1", 1, "scored", passed=True, score=1.0), None)
    assert lines[1:5] == ["-- step 1: Restart it.", "I wait.", "-- step 2: And now?", "It is⟨U+001B⟩[2J up."]


def test_a_report_of_an_unknown_run_is_refused_before_the_first_page(home: Path) -> None:
    stored_run(home / "data", {"c-1": ["four"], "c-2": ["five"]})
    assert main(["report", "r-1", "nosuch"]) == 2
    assert not (home / "build").exists()


def test_foreign_names_reach_no_terminal_raw(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("metrics", "a\x1b[31mb"), ("validate", "x\x1b]0;t\x07.yaml"), ("import", "no\x1bne", "x")):
        assert main(arguments) == 2
        shown = capsys.readouterr().err
        assert "\x1b" not in shown
        assert "\\x1b" in shown or "⟨U+001B⟩" in shown
    Path("e\x1b.json").write_text('{"\\u001b[31m": 1, "\\u001b[31m": 2}')
    assert main(["import", "tau-bench", "e\x1b.json"]) == 2
    assert "\x1b" not in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", ".", "--target", "scripted", "--x\x1b[31m"])
    assert "\x1b" not in capsys.readouterr().err


def test_an_interrupt_after_the_manifest_is_no_failure(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal comes at the two places behind run.json: when the journal is dropped, and while figures are made."""
    unlink = Path.unlink

    def interrupted(path: Path, missing_ok: bool = False) -> None:  # as Path.unlink
        unlink(path, missing_ok=missing_ok)
        if path.name == "journal.jsonl":
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Path, "unlink", interrupted)
    assert "run a in" in said(capsys, "run", ".", "--target", "scripted", "--run-id", "a")
    monkeypatch.undo()
    os.chdir(home)
    from evallib.views.figures import Figures

    summary = Figures.summary

    def late(self: Figures, *given: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return summary(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Figures, "summary", late)
    assert "run b in" in said(capsys, "run", ".", "--target", "scripted", "--run-id", "b")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
