"""What a pass rate must name: one function writes the caption, and no command prints a rate without it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from evallib.adjudication import make_reading
from evallib.caption import Made, Origin, caption, joined
from evallib.cli import main
from evallib.metrics import summarise
from evallib.records import POST_HOC_LABEL
from evallib.store import append_entry
from evallib.views.figures import load_figures
from tests.making import SUITE, stored_run

HOST = {"cpu": "Slow 1", "cores": 2, "memory_gib": 4.0, "os": "Linux"}
PLANNED = {
    "target": {"kind": "chat", "model": "m-7", "brain": "v3"},
    "host": HOST,
    "versions": {"evallib": "0.1.0"},
    "build": {"revision": "0123456789abcdef", "dirty": True},
}
MADE = Made("r-1", "chat, model m-7", "brain v3", "evallib 0.1.0", "Slow 1, 2 cores", "begun 2026-11-30T10:00:00+00:00")
ORIGIN = Origin("tickets", "0123456789ab", "all 2 cases", "ba9876543210", "every check is at its top", (MADE,))
RATE = re.compile(r"\b[01]\.\d\d")


def outcomes(*cases: str) -> pd.DataFrame:
    rows = [
        {
            "run_id": "r-1", "case_id": f"c{n}", "sample": s, "split": "validation", "required": False,
            "sample_status": "completed", "status": "scored", "passed": letter == "p", "score": float(letter == "p"),
            "view": "strict", "post_hoc": False,
        }
        for n, letters in enumerate(cases)
        for s, letter in enumerate(letters, 1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


NO_VERDICTS = pd.DataFrame(
    columns=["run_id", "case_id", "sample", "check_id", "status", "value", "raw", "passed", "stochastic"]
)


def test_a_caption_names_cases_samples_criteria_build_model_machine_and_time() -> None:
    said = summarise(outcomes("pf", "pp"), NO_VERDICTS, origin=ORIGIN)["caption"]
    assert said == (
        "Suite tickets (digest 0123456789ab), all 2 cases, run r-1, view strict: 2 cases x 2 samples = 4 planned, "
        "all scored. Criteria ba9876543210. A sample passes when every check is at its top; pass rate, pass@k "
        "and pass^k are means over cases with 95 % Wilson intervals on effective cases, which are about "
        "other cases like these. Target chat, model m-7, build brain v3; evallib 0.1.0; "
        "machine Slow 1, 2 cores; begun 2026-11-30T10:00:00+00:00."
    )
    assert POST_HOC_LABEL not in said.lower()


def test_without_an_origin_the_caption_names_what_the_frame_knows() -> None:
    said = summarise(outcomes("pf", "pp"), NO_VERDICTS)["caption"]
    assert said.startswith("Run r-1, view strict: 2 cases x 2 samples = 4 planned, all scored. A sample")


def test_several_runs_say_once_what_they_share() -> None:
    summary = summarise(outcomes("pf", "pp"), NO_VERDICTS)
    twin = Made("r-2", *[getattr(MADE, name) for name in ("target", "build", "evallib", "machine", "when")])
    other = Made("r-3", "scripted, model s")
    assert caption(summary, Origin("t", "d", "c", "x", "y", (MADE, twin))).count("machine Slow 1") == 1
    said = caption(summary, Origin("t", "d", "c", "x", "y", (MADE, twin, other)))
    assert "r-1, r-2: target chat" in said
    assert "r-3: target scripted" in said


def test_captions_of_several_views_say_shared_sentences_once() -> None:
    assert joined(["A one. Shared.", "A two. Shared."]) == "A one.\nA two.\nShared."


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        (("c-1", "c-2"), "all 2 cases, run"),
        (("c-1",), "a pick of 1 of 2 cases, run"),
    ],
)
def test_the_cases_are_the_suite_a_split_or_a_pick(tmp_path: Path, cases: tuple[str, ...], said: str) -> None:
    stored_run(tmp_path, {case: ["four"] for case in cases}, planned=PLANNED)
    assert said in load_figures(["r-1"], "strict", tmp_path, tmp_path / "log").caption


def test_a_split_is_named(tmp_path: Path) -> None:
    suite = SUITE.replace("{id: c-2,", "{id: c-2, split: train,")
    stored_run(tmp_path, {"c-2": ["five"]}, suite_text=suite)
    assert "the train split (1 of 2 cases)" in load_figures(["r-1"], "strict", tmp_path, tmp_path / "log").caption


def test_the_stored_plan_gives_model_build_machine_and_time(tmp_path: Path) -> None:
    stored_run(tmp_path, {"c-1": ["four"], "c-2": ["six"]}, planned=PLANNED)
    said = load_figures(["r-1"], "strict", tmp_path, tmp_path / "log").caption
    assert (
        "Target chat, model m-7, build brain v3; evallib 0.1.0 at 01234567 with changes; machine Slow 1, 2 cores, "
        "4.0 GiB; begun 2026-11-30T10:00:00+00:00."
    ) in said


def test_the_criteria_digest_moves_with_what_decides_and_with_nothing_else(tmp_path: Path) -> None:
    answers = {"c-1": ["four"], "c-2": ["six"]}
    digests = {}
    for name, text in (("same", SUITE), ("words", SUITE + "# a remark\n"), ("other", SUITE.replace("[four]", "['4']"))):
        stored_run(tmp_path, answers, run_id=name, suite_text=text)
        digests[name] = load_figures([name], "strict", tmp_path, tmp_path / "log").origin.criteria
    assert digests["same"] == digests["words"] != digests["other"]


# whatever prints a rate prints its caption


@pytest.fixture
def read_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run that was read once."""
    monkeypatch.chdir(tmp_path)
    run = stored_run(tmp_path / "data", {"c-1": ["four", "it is 4"], "c-2": ["six", "five"]}, planned=PLANNED)
    reading = {"reading": "pass", "cause": "too-narrow", "reason": "4 is four", "author": "r1", "check": ""}
    append_entry(tmp_path / "adjudications", make_reading(run, "c-1", 2, chosen="all failures", **reading))
    return tmp_path


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize(
    "command",
    [
        ("metrics", "r-1"), ("metrics", "r-1", "--view", "read"), ("metrics", "r-1", "--summary"), ("gate", "r-1"),
        ("gate", "r-1", "--view", "read"), ("compare", "r-1"), ("agreement", "r-1"), ("calibrate", "r-1"),
    ],
)  # fmt: skip
def test_no_command_prints_a_rate_without_its_caption(
    read_run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], form: tuple[str, ...]
) -> None:
    assert main([*command, *form]) == 0
    printed = capsys.readouterr()
    said = printed.out + printed.err
    assert RATE.search(said) or '"pass_rate": 0.5' in said
    assert "Suite small (digest " in said
    assert "Slow 1, 2 cores" in said
    if form and "--summary" not in command:
        assert "Suite small (digest " in json.dumps(json.loads(printed.out))


def test_the_five_fields_stay_five_and_the_caption_stands_beside_them(
    read_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["metrics", "r-1", "--summary", "--json"]) == 0
    printed = capsys.readouterr()
    fields = {"passed", "failed", "pass_rate", "minimum_pass_rate", "required_cases_passed"}
    assert set(json.loads(printed.out)) == fields
    assert printed.err.startswith("Suite small (digest ")


def test_a_run_ends_with_its_caption(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "suite.yaml", "--target", "scripted", "--run-id", "r-1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Suite small (digest ")
