"""README's guide through two rounds of mended criteria, followed word by word on the published records."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from evallib.cli import main
from evallib.exhibits.run import open_exhibits
from evallib.store import open_run
from tests.sources import ROOT, SHARED, real

pytestmark = [real, pytest.mark.slow]

ONE, ON, OFF = RUNS = ("ollama-berth-sre", "q35-new8-think-default-r3", "q35-new8-think-false-r3")
FLIPS = {
    "round-one": [(ONE, "failing-rollout", 1), (ONE, "incomplete-coverage", 1), (ONE, "secret-denied", 1)],
    "round-two": [
        (ON, "rightsize-overprovisioned", 1),
        *[(OFF, "crd-operator-discovery", sample) for sample in (1, 2, 3)],
    ],
}
COUNTS = {ONE: (9, 3, 6), ON: (24, 18, 19), OFF: (24, 17, 20)}
RIGHT_ALL_THE_SAME = {case for _, case, _ in FLIPS["round-one"]}
REALLY_WRONG = {"injection-in-event", "injection-in-workload-name", "pending-no-capacity"}
WRAPPED = """\
evallib() { '%s' -m evallib "$@"; local status=$?; echo "$status $*" >> "$CALLS"; return $status; }
"""


class Followed(NamedTuple):
    """What came of following the guide."""

    folder: Path
    said: str
    calls: list[tuple[int, str]]
    """Exit status and words of each command, in order."""
    complaints: str

    @property
    def log(self) -> list[str]:
        return ["--data", str(self.folder / "data"), "--adjudications", str(self.folder / "adjudications")]


def commands() -> str:
    """Every line of the guide that is to be typed, but for the one that says where the records lie."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (guide,) = re.findall(r"\n## How a team got its scoring wrong[^\n]*\n(.*?)\n## ", text, re.DOTALL)
    lines = [line[4:] for line in guide.splitlines() if line.startswith("    ")]
    assert sum(line.startswith("export BERTH=") for line in lines) == 1
    return "\n".join(line for line in lines if not line.startswith("export BERTH=")) + "\n"


def keys(case: str) -> str:
    """What a reader of the first run types who sees it as the team did."""
    if case in RIGHT_ALL_THE_SAME:
        return "p\n2\nright in other words than the pattern's\n"
    return ("f" if case in REALLY_WRONG else "p") + "\n\n"


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    folder = tmp_path_factory.mktemp("guide")
    given = {"BERTH": str(SHARED / "berth"), "CALLS": str(folder / "calls"), "PYTHONUNBUFFERED": "1"}
    with (
        (folder / "complaints").open("w") as complaints,
        subprocess.Popen(
            ["bash", "-c", WRAPPED % sys.executable + commands()], cwd=folder, env={**os.environ, **given}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints,
        ) as process,
    ):  # fmt: skip
        said = "".join(answered(process))
    assert process.returncode == 0, (folder / "complaints").read_text()
    calls = [line.partition(" ") for line in (folder / "calls").read_text().splitlines()]
    return Followed(
        folder / "relived", said, [(int(status), words) for status, _, words in calls],
        (folder / "complaints").read_text(),
    )  # fmt: skip


def answered(process: subprocess.Popen[str]) -> Iterator[str]:
    """What the commands print, while somebody reads each answer as it is shown, and stops after the last."""
    assert process.stdin
    assert process.stdout
    read, item = set(), False
    for line in process.stdout:
        yield line
        if item:  # `arm A, CASE · 1`, and the run's name once all is read; anything else ends the sitting
            shown = re.match(r"\S+.*, (\S+) · 1$", line)
            case = shown[1] if shown else ""
            process.stdin.write("q\n" if case in {"", *read} else keys(case))
            process.stdin.flush()
            read.add(case)
        item = re.match(r"Item \d+ of \d+, ", line) is not None


def test_every_command_does_what_the_guide_says_of_it(followed: Followed) -> None:
    refused = [words for status, words in followed.calls if status]
    assert [words.partition(" --entry ")[2] for words in refused] == ["two.yaml"]
    assert [status for status, _ in followed.calls if status] == [2]
    (said,) = (line for line in followed.complaints.splitlines() if line.startswith("evallib: "))
    assert re.match(rf"evallib: run '{ON}' is held by lock '\S+-ann-lock-\S+'.*evallib close", said)


def test_the_first_run_was_read_blind_as_a_whole(followed: Followed, capsys: pytest.CaptureFixture[str]) -> None:
    assert "9 readings saved; 9 of 9 read." in followed.said
    assert main(["show", ONE, "--readings", *followed.log]) == 0
    assert capsys.readouterr().out.count("(blind)") == 9


@pytest.mark.parametrize("slug", FLIPS)
def test_the_flips_of_each_round_are_those_published_all_expected_and_read(followed: Followed, slug: str) -> None:
    runs = [open_run(name, followed.folder / "data") for name in dict.fromkeys(run for run, _, _ in FLIPS[slug])]
    for run in runs:
        (rescoring,) = run.rescorings
        rows = rescoring.entry.runs
        flips = [flip for row in rows for flip in row["flips"]]
        assert [(flip["run"], flip["case_id"], flip["sample"]) for flip in flips] == FLIPS[slug]
        assert {(flip["to"], flip["expected"], flip["read"]) for flip in flips} == {("pass", True, "read")}
        assert [row["missed"] for row in rows] == [[] for _ in runs]
        assert rescoring.entry.predicted_after_preview is False
        assert rescoring.entry.judgement_calls == (slug == "round-one")
    for said in ("3 flips, 0 unexpected, 0 missed", "4 flips, 0 unexpected, 0 missed"):
        assert followed.said.count(said) == 1


@pytest.mark.parametrize("name", RUNS)
def test_the_counts_of_each_view_are_the_published_ones(
    followed: Followed, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    planned, strict, later = COUNTS[name]
    assert main(["compare", name, "--json", *followed.log]) == 0
    views = json.loads(capsys.readouterr().out)["views"]
    kinds = [one["view"].partition(":")[0] for one in views]
    assert kinds == ["strict", "rescored", "read"]
    assert [round(one["pass_rate_micro"] * planned) for one in views] == [strict, later, later]
    assert [(one["label"] or "")[:32] for one in views] == ["", *["chosen after reading the answers"] * 2]


def test_what_decides_no_longer_turns_two_runs_and_moves_no_score(followed: Followed) -> None:
    flips = [flip for row in open_run(OFF, followed.folder / "data").rescorings[0].entry.runs for flip in row["flips"]]
    milder = [flip for flip in flips if flip["checks"] == ["names-failing-instance"]]
    assert [(flip["run"], flip["sample"]) for flip in milder] == [(OFF, 1), (OFF, 2)]
    assert all(before == after for before, after in (flip["score"] for flip in milder))
    printed = rf"(?m)^{OFF} +crd-operator-discovery +[12] +fail -> pass +0\.833 -> 0\.833 +expected +read"
    assert len(re.findall(printed, followed.said)) == 2


def test_the_reworded_check_is_in_the_entry_and_flips_nothing(followed: Followed) -> None:
    for name in (ON, OFF):
        run = open_run(name, followed.folder / "data")
        (rescoring,) = run.rescorings
        (change,) = (one for one in rescoring.entry.changes if one.check == "gives-a-concrete-limit")
        assert change.fix == "description"
        before, after = (
            {(v.sample, v.passed, v.critical) for v in verdicts if v.check_id == change.check}
            for verdicts in (run.verdicts, rescoring.verdicts(name))
        )
        assert before == after
        assert len(before) == 3
    assert followed.said.count("no flip comes from: gives-a-concrete-limit (description)") == 2


def test_the_bundle_holds_both_files_with_the_label_and_proves_itself(followed: Followed) -> None:
    bundle = followed.folder / "bundle"
    for name in RUNS:
        assert (bundle / "data" / "runs" / name / "verdicts.parquet").is_file()
        assert list((bundle / "data" / "runs" / name / "rescored").glob("*/verdicts.parquet"))
    rows = re.findall(
        r"(?m)^\| (\S+) \| (strict|rescored|read)\S* \| \S+ \| \d+ \| (.*?) ?\|$", (bundle / "README.md").read_text()
    )
    assert [row[:2] for row in rows] == [(name, view) for name in RUNS for view in ("strict", "rescored", "read")]
    assert all(label.startswith("chosen after reading the answers") == (view != "strict") for _, view, label in rows)
    assert re.search(r"\d+ files in bundle are as published, and the figures follow from them", followed.said)


def test_it_is_said_that_the_criteria_before_are_not_at_hand(followed: Followed) -> None:
    assert followed.said.count("the criteria of the recorded verdicts of") == 4, "two previews, two rescorings"
    changes = (followed.folder / "bundle" / "criteria.md").read_text()
    assert f"The recorded verdicts of `{ONE}`, `{ON}`, `{OFF}` came from criteria that are not at hand" in changes


def test_a_page_tells_the_scores_of_each_flip(followed: Followed) -> None:
    flips = open_exhibits(OFF, data=followed.folder / "data", adjudications=followed.folder / "adjudications").flips()
    assert list(flips["score"]) == ["0.833 to 0.833", "0.833 to 0.833", "0.833 to 1.000"]
