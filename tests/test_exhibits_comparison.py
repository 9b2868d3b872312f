"""What the notebook that compares shows: plain frames with captions, and a forest that draws the very numbers."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from evallib.charts import to_svg
from evallib.errors import InputError
from evallib.exhibits.comparison import ComparisonExhibits, open_comparison
from evallib.report import ReportOrder, build_report
from tests.making import SUITE, stored_run
from tests.test_charts import drawn_rows, drawn_words

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

ANSWERS = {"c-1": ["four", "four", "six"], "c-2": ["five", "no", "no"]}
OTHER = {"c-1": ["four", "four", "so four"], "c-2": ["no", "no", "no"]}


@pytest.fixture
def opened(tmp_path: Path) -> ComparisonExhibits:
    stored_run(tmp_path, ANSWERS, run_id="before")
    stored_run(tmp_path, OTHER, run_id="after", planned={"seed": 9})
    return open_comparison("before", "after", data=tmp_path, adjudications=tmp_path / "log")


def test_every_frame_carries_the_captions_of_both_runs(opened: ComparisonExhibits) -> None:
    for frame in (opened.rows(), opened.flips(), opened.contexts(), opened.alone()):
        assert "run before, view strict" in frame.attrs["caption"]
        assert "run after, view strict" in frame.attrs["caption"]
    assert list(opened.rows()["figure"]) == ["pass rate", "mean score", "says", "short"]
    assert opened.flips()[["", "case", "A", "B"]].values.tolist() == [
        ["fell", "c-2", "1 of 3", "0 of 3"],
        ["rose", "c-1", "2 of 3", "3 of 3"],
    ]
    assert opened.contexts().values.tolist() == [["seed", "0", "9"]]
    assert opened.alone().empty
    assert "unknown: no table of prices" in opened.costs()
    assert opened.said().startswith("A before, B after, view strict: 2 shared cases\nA and B not locked\npass rate: ")


def test_the_forest_draws_the_very_numbers_and_says_what_is_not_shown(opened: ComparisonExhibits) -> None:
    chart = opened.forest().chart
    drawn = {row["row"]: row for row in drawn_rows(chart, "row", "difference", "lo", "hi")}
    rows = {row.row: row for row in opened.found.paired.rows if row.kind != "check" or row.moved}
    assert drawn.keys() == rows.keys() == {"pass rate", "mean score", "says"}
    for name, row in rows.items():
        assert row.interval is not None
        ends = [drawn[name][key] for key in ("difference", "lo", "hi")]
        assert ends == [row.difference, *row.interval]
        assert (drawn[name]["view"], drawn[name]["post_hoc"], drawn[name]["kind"]) == ("strict", False, "not shown")
    words = drawn_words(chart)
    assert "after against before" in words
    assert "0 rose" not in words
    assert "1 rose, 1 fell" in words
    assert "A before: 2 cases x 3 samples" in words
    assert "Shown: nothing." in to_svg(chart)


def test_a_small_p_is_never_written_as_none(tmp_path: Path) -> None:
    cases = [f"c-{n}" for n in range(12)]
    asked = ", ".join(f"{{id: {case}, steps: [{{ask: Which number is {case}?}}]}}" for case in cases)
    check = "{id: says, check: matches, any_of: [four], critical: true}"
    many = f"suite: many\npass: critical\nchecks: [{check}]\ncases: [{asked}]\n"
    for run, answer in (("before", "five"), ("after", "four")):
        stored_run(tmp_path, {case: [answer] for case in cases}, run_id=run, suite_text=many)
    found = open_comparison("before", "after", data=tmp_path, adjudications=tmp_path / "log")
    assert found.rows()[["p", "p (Holm)"]].values.tolist() == [["<0.001", "<0.001"]] * 3
    assert "higher (Holm p <0.001)" in " ".join(drawn_words(found.forest().chart).split())


def test_a_check_in_its_own_units_is_drawn_as_a_share_of_its_scale(tmp_path: Path) -> None:
    code = (
        '{id: size, check: code, range: [0, 10], weight: 0, code: \'return 10 * outputs["answer"].count("four"), "n"\'}'
    )
    coded = SUITE.replace("- {id: short,", f"- {code}\n- {{id: short,")
    stored_run(tmp_path, ANSWERS, run_id="before", suite_text=coded)
    stored_run(tmp_path, {**OTHER, "c-2": ["no", "four", "four"]}, run_id="after", suite_text=coded)
    found = open_comparison("before", "after", data=tmp_path, adjudications=tmp_path / "log")
    row = next(one for one in found.found.paired.rows if one.row == "size")
    (drawn,) = [one for one in drawn_rows(found.forest().chart, "row", "difference") if one["row"] == "size"]
    assert row.difference == pytest.approx(5.0)
    assert drawn["difference"] == pytest.approx(0.5)
    assert "3.333 -> 8.333, +5.000" in drawn["words"]


def test_words_chosen_after_reading_stand_in_every_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evallib.cli import main

    monkeypatch.chdir(tmp_path)
    for name, answers in (("before", ANSWERS), ("after", OTHER)):
        stored_run(tmp_path / "data", answers, run_id=name)
        read = ["--reading", "pass", "--cause", "too-narrow", "--reason", "It says so in other words."]
        assert main(["adjudicate", name, "c-2", "2", "--by", "r1", *read]) == 0
    found = open_comparison("before", "after", data="data", adjudications="adjudications", view="read")
    rows = drawn_rows(found.forest().chart, "row", "difference")
    assert rows
    assert all(row["post_hoc"] and row["label"].startswith("chosen after reading") for row in rows)
    assert "chosen after reading the answers" in found.said()


def test_other_criteria_are_refused_in_the_notebook_too(tmp_path: Path) -> None:
    stored_run(tmp_path, ANSWERS, run_id="before")
    stored_run(tmp_path, OTHER, run_id="after", suite_text=SUITE.replace("max_words: 5", "max_words: 6"))
    with pytest.raises(InputError, match="check 'short' of case 'c-1' was judged by other criteria"):
        open_comparison("before", "after", data=tmp_path, adjudications=tmp_path / "log")


def test_the_notebook_runs_headless_into_a_page(tmp_path: Path) -> None:
    data = tmp_path / "data"
    stored_run(data, ANSWERS, run_id="before")
    stored_run(data, OTHER, run_id="after")
    order = ReportOrder("after", data, tmp_path / "log", tmp_path / "out", ("compare",), {"run_a": "before"})
    page = build_report(order).read_text(encoding="utf-8")
    assert "after against before" in page
    assert re.search(r"fell</td>\s*<td>c-2", page)
    copy = json.loads((tmp_path / "out" / "after" / "compare.ipynb").read_text(encoding="utf-8"))
    assert sum(cell["cell_type"] == "code" for cell in copy["cells"]) <= 10
