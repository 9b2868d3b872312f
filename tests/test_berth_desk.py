"""Article 2's 57 answers read blind from the first to the last, in the terminal, by keys alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evallib.cli import main
from evallib.desk.queue import parse_query
from evallib.desk.session import ReviewSession
from evallib.desk.terminal import adjudicate
from evallib.entries import Difference, Reading
from evallib.importers import read_berth_readings
from evallib.records import SampleKey
from evallib.scoring import fold_all
from evallib.store import Run, open_run, read_log
from tests.licensing import citing
from tests.test_berth import ENTRY, FLIPS, SETS, read_flips

KEYS = {"pass": "p", "fail": "f", "infra": "i"}


@pytest.fixture(scope="module")
def runs(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    home = tmp_path_factory.mktemp("berth")
    for name in SETS:
        arguments = ["import", "berth", str(shared / "data" / "berth" / name), "--data", str(home / "data")]
        assert main([*arguments, "--adjudications", str(home / "log")]) == 0
    return [open_run(name, home / "data") for name in SETS]


class Reader:
    """Somebody at the keyboard who sees the terminal alone; `opinions` by the words that name an answer there."""

    def __init__(self, opinions: dict[str, str]) -> None:
        self.opinions, self.pressed, self.shown = opinions, 0, ""

    def write(self, line: str) -> None:
        self.shown = line if line.startswith("\nItem ") else f"{self.shown}\n{line}"

    def key(self, prompt: str) -> str:
        self.pressed += 1
        if prompt.startswith("[p pass"):
            assert "STRICT" not in self.shown
            assert not any(name in self.shown for name in SETS)
            named = self.shown.splitlines()[2].partition("  ")[0]
            return KEYS[self.opinions[named]]
        if prompt.startswith("[Enter agrees"):
            return "" if "You agree" in self.shown else "2"
        return "q"

    def line(self, prompt: str) -> str:
        assert prompt.startswith("too-narrow")
        return "as the published log says"


def opinion(run: Run, key: SampleKey, published: dict[tuple[str, str, int], str]) -> str:
    """The published reading of an answer, else what strict says of it."""
    strict = {True: "pass", False: "fail", None: "infra"}[fold_all(run.samples, run.verdicts, "critical")[key].passed]
    return published.get((run.id, *key), strict)


def test_all_57_answers_are_read_blind_by_keys_and_the_read_views_are_the_published_ones(
    runs: list[Run], shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readings = read_berth_readings(shared / "data" / "berth" / "adjudication.md")
    published = {(one.set, one.scenario, one.repeat): one.reading for one in readings}
    session = ReviewSession(runs, tmp_path / "log", "r1", query=parse_query("all"))
    opinions = {
        f"{session.place(item)}, {item.case} · {item.sample}": opinion(session.runs[item.run], item[1:3], published)
        for item in session.queue
    }
    assert len(session.queue) == len(opinions) == 57
    reader = Reader(opinions)
    assert adjudicate(session, reader, reader.write) == 57
    assert (session.progress["read"], session.hidden) == (57, False)
    entries = [entry for _, entry in read_log(tmp_path / "log")]
    made = [entry for entry in entries if isinstance(entry, Reading)]
    differences = [entry for entry in entries if isinstance(entry, Difference)]
    assert (len(made), len(differences), {entry.blind for entry in made}) == (57, 57, {True})
    assert reader.pressed == 57 * 2 + 1, "two keys each, the reasons of the differences aside, and one to quit"
    capsys.readouterr()
    for name, (samples, _, after) in SETS.items():
        folder = ["--data", str(runs[0].folder.parent.parent), "--adjudications", str(tmp_path / "log")]
        assert main(["metrics", name, "--view", "read", "--json", *folder]) == 0
        summary = json.loads(capsys.readouterr().out)
        assert (round(summary["pass_rate_micro"] * summary["planned"]), summary["planned"]) == (after, samples)


def test_a_standing_rescoring_is_a_facet_of_the_answers_that_it_flips(
    runs: list[Run], shared: Path, tmp_path: Path
) -> None:

    data, log = str(runs[0].folder.parent.parent), str(tmp_path / "log")
    assert (
        main(["import", "berth-suite", str(shared / "data/berth/checks.json"), "--out", str(tmp_path / "s.yaml")]) == 0
    )
    ids = read_flips(Path(log), Path(data))
    (tmp_path / "entry.yaml").write_text(citing(ENTRY, ids))
    given = ["--suite", str(tmp_path / "s.yaml"), "--entry", str(tmp_path / "entry.yaml")]
    assert main(["rescore", *SETS, *given, "--data", data, "--adjudications", log]) == 0
    session = ReviewSession(runs, Path(log), "r1", blind=False, query=parse_query("flip"))
    assert [item[:3] for item in session.queue] == FLIPS
