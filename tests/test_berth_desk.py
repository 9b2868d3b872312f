"""Article 2's 57 answers read blind from the first to the last, in the terminal and in the notebook, by keys alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
from tests.browser import Desk, Lab, notebook_copy
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
        if prompt.startswith("[why: "):
            return "2"
        return "" if prompt.startswith("[Enter you agree") else "q"

    def line(self, prompt: str) -> str:
        assert prompt.startswith("too-narrow")
        return "as the published log says"


def opinion(run: Run, key: SampleKey, published: dict[tuple[str, str, int], str]) -> str:
    """The published reading of an answer, else what strict says of it."""
    strict = {True: "pass", False: "fail", None: "infra"}[fold_all(run.samples, run.verdicts, "critical")[key].passed]
    return published.get((run.id, *key), strict)


@pytest.fixture(scope="module")
def published(shared: Path) -> dict[tuple[str, str, int], str]:
    readings = read_berth_readings(shared / "data" / "berth" / "adjudication.md")
    return {(one.set, one.scenario, one.repeat): one.reading for one in readings}


def blind_queue(runs: list[Run], log: Path, published: dict[tuple[str, str, int], str]) -> dict[str, str]:
    """What names an answer to its blind reader, in the order of their queue, and what they are going to say of it."""
    session = ReviewSession(runs, log, "r1", query=parse_query("all"))
    opinions = {
        f"{session.place(item)}, {item.case} · {item.sample}": opinion(session.runs[item.run], item[1:3], published)
        for item in session.queue
    }
    assert len(session.queue) == len(opinions) == 57
    return opinions


def assert_read_as_published(runs: list[Run], log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = [entry for _, entry in read_log(log)]
    made = [entry for entry in entries if isinstance(entry, Reading)]
    differences = [entry for entry in entries if isinstance(entry, Difference)]
    assert (len(made), len(differences), {entry.blind for entry in made}) == (57, 57, {True})
    capsys.readouterr()
    for name, (samples, _, after) in SETS.items():
        folder = ["--data", str(runs[0].folder.parent.parent), "--adjudications", str(log)]
        assert main(["metrics", name, "--view", "read", "--json", *folder]) == 0
        summary = json.loads(capsys.readouterr().out)
        assert (round(summary["pass_rate_micro"] * summary["planned"]), summary["planned"]) == (after, samples)


def test_all_57_answers_are_read_blind_by_keys_and_the_read_views_are_the_published_ones(
    runs: list[Run],
    published: dict[tuple[str, str, int], str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    reader = Reader(blind_queue(runs, tmp_path / "log", published))
    session = ReviewSession(runs, tmp_path / "log", "r1", query=parse_query("all"))
    assert adjudicate(session, reader, reader.write) == 57
    assert (session.progress["read"], session.hidden) == (57, False)
    assert reader.pressed == 57 * 2 + 1, "two keys each, the reasons of the differences aside, and one to quit"
    assert_read_as_published(runs, tmp_path / "log", capsys)


OPEN_ITEM = """() => {
  const screen = document.querySelector(".evallib-review");
  if (screen.querySelector(".rail").dataset.phase !== "read") return null;
  const [name, place] = [...screen.querySelector(".paper h3").childNodes].map((part) => part.textContent);
  const outputs = [...document.querySelectorAll(".jp-OutputArea")].map((one) => one.outerHTML);
  return { named: `${place}, ${name}`, page: outputs.join(), revealing: screen.querySelectorAll(REVEALING).length };
}""".replace("REVEALING", '".strict, .check, .said, .matched, mark, .versus:not([hidden]), .history, .diff"')
REVEALED = 'document.querySelector(".evallib-review .rail:is([data-phase=agree], [data-phase=differ])")?.dataset.phase'


def hidden_words(runs: list[Run]) -> set[str]:
    """What the page of a blind reader must not hold: runs, models, and why strict decided as it did."""
    reasons = {v.reason for run in runs for v in run.verdicts} | {
        outcome.reason for run in runs for outcome in fold_all(run.samples, run.verdicts, "critical").values()
    }
    models = {str(run.plan["target"]["model"]) for run in runs}
    assert "" not in models
    return set(SETS) | models | {reason for reason in reasons if len(reason) > len("scored")}


@pytest.fixture
def desk(runs: list[Run], lab: Lab, browser: Any, tmp_path: Path) -> Iterator[Desk]:
    given = {"data": str(runs[0].folder.parent.parent), "adjudications": str(tmp_path / "log")}
    desk = Desk(browser, lab, notebook_copy(lab.folder, run=", ".join(SETS), query="as=r1 all", **given))
    yield desk
    desk.close()


@pytest.mark.browser
def test_all_57_answers_are_read_blind_in_the_notebook_by_keyboard_alone(
    desk: Desk,
    runs: list[Run],
    published: dict[tuple[str, str, int], str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    opinions = blind_queue(runs, tmp_path / "log", published)
    desk.run_all()
    desk.tab_to_screen()
    cells, hidden = desk.cells(), hidden_words(runs)
    for number, (named, reading) in enumerate(opinions.items(), 1):
        shown = desk.page.wait_for_function(OPEN_ITEM).json_value()
        assert (shown["named"], shown["revealing"]) == (named, 0)
        assert [word for word in hidden if word in shown["page"]] == []
        desk.press(KEYS[reading])
        if desk.page.wait_for_function(REVEALED).json_value() == "agree":
            desk.press("Enter")
        else:
            desk.press("2")
            desk.type("as the published log says")
            desk.press("Control+Enter")
        desk.wait_for(".status", f"{number} of 57 read.")
    assert desk.text(".rail .next").startswith("All of the queue is read.")
    assert (desk.cells(), desk.offsite) == (cells, [])
    assert_read_as_published(runs, tmp_path / "log", capsys)


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
