"""The notebook's cells on rescoring: three sides never merged, drawn with their label, or that there is nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evallib import charts
from evallib.exhibits.rescoring import RescoreExhibits, open_rescoring
from evallib.records import POST_HOC_LABEL
from evallib.rescoring.apply import rescore
from evallib.store import Run
from tests.licensing import read_each
from tests.making import SUITE, stored_run
from tests.test_rescoring import WIDER, files

ANSWERS = {"c-1": ["four", "it is 4", "five"], "c-2": ["five", "six"]}


def shown(tmp_path: Path, suite: str = "", entry: str = "") -> RescoreExhibits:
    return open_rescoring("r-1", data=tmp_path, adjudications=tmp_path / "log", change=f"{suite}, {entry}")


@pytest.fixture
def rescored(tmp_path: Path) -> Run:
    """A run with one flip that was read, and a failure that was read as one."""
    run = stored_run(tmp_path, ANSWERS)
    read_each(tmp_path / "log", [run], [("c-2", 2, "fail")], cause="true-failure")
    rescore([run], *files(tmp_path, read=[run]))
    return run


def drawn(rows: list[dict[str, Any]], **more: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The specification of the chart, and the rows of its data."""
    said = [charts.About("strict"), charts.About("rescored:x", POST_HOC_LABEL, "counts", "abc", "A caption.")]
    spec = charts.slope_chart(rows, about=said, **more).to_dict()
    found: list[dict[str, Any]] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.extend([node] if {"case_id", "strict"} <= node.keys() else [])
            for each in node.values():
                walk(each)
        elif isinstance(node, list):
            for each in node:
                walk(each)

    walk(spec)
    return spec, list({json.dumps(row, sort_keys=True): row for row in found}.values())


def case(name: str, strict: float, after: float, **more: Any) -> dict[str, Any]:
    given = {"n": 4, "read": None, "flips": 0, "unread": 0, **more}
    return {"case_id": name, "strict": strict, "rescored": after, **given}


# the chart


def test_every_row_of_the_slopes_says_its_view_and_that_it_is_post_hoc() -> None:
    spec, rows = drawn([case("a", 0.25, 0.5), case("b", 1.0, 1.0, read=0.75)])
    assert {row["label"] for row in rows} == {POST_HOC_LABEL}
    assert {row["view"] for row in rows} == {"rescored:x"}
    assert spec["usermeta"]["evallib"]["label"] == POST_HOC_LABEL
    assert re.search(rf"rescored:x: [^.]*{POST_HOC_LABEL}", spec["description"])


def test_the_words_of_a_case_say_in_samples_what_is_drawn() -> None:
    spec, rows = drawn([case("a", 0.25, 0.75, read=0.5, flips=2, unread=1), case("b", 0.0, 0.0)])
    assert [row["words"].replace("\n", " ") for row in rows] == [
        "a: strict 1, rescored 3 of 4, read 2, 1 of 2 flips unread",
        "b: strict 0, rescored 0 of 4, nobody read it",
    ]
    assert "a: strict 1, rescored 3 of 4" in spec["description"]


def test_a_case_with_a_flip_that_nobody_read_is_dashed_and_another_colour() -> None:
    spec, _ = drawn([case("a", 0.0, 0.5, flips=2, unread=1), case("b", 0.0, 0.5, flips=2)])
    marks = [
        (layer["mark"], layer["transform"][0]["filter"])
        for layer in spec["vconcat"][0]["layer"]
        if "unread" in str(layer.get("transform"))
    ]
    assert [(bool(mark.get("strokeDash")), where) for mark, where in marks] == [
        (False, "datum.unread == 0"),
        (True, "datum.unread > 0"),
    ]
    assert marks[0][0]["color"] != marks[1][0]["color"]


def test_of_many_cases_those_that_move_most_are_drawn_and_that_is_said() -> None:
    spec, rows = drawn([case(f"c-{n:02d}", 0.0, 0.0) for n in range(45)] + [case("moves", 0.0, 1.0)])
    assert (len(rows), rows[0]["case_id"]) == (40, "moves")
    assert "The 40 of 46 cases that move most." in spec["usermeta"]["evallib"]["caption"]


# what the cells show


def test_the_slopes_go_from_strict_to_the_newest_rescoring_with_readings_as_ticks(
    tmp_path: Path, rescored: Run
) -> None:
    spec = shown(tmp_path).slopes().chart.to_dict()
    said = spec["description"]
    assert "c-1: strict 1, rescored 2 of 3, read 2" in said
    assert "c-2: strict 1, rescored 1 of 2, read 1" in said
    assert "unread" not in said.split("Hollow grey")[0]


def test_the_triple_names_how_strict_reading_and_rescored_stand(tmp_path: Path, rescored: Run) -> None:
    frame = shown(tmp_path).triple()
    assert [tuple(row) for row in frame.itertuples(index=False)] == [
        ("c-1", 2, "(answer)", "fail", "pass", "pass", "fixed"),
        ("c-2", 2, "(answer)", "fail", "fail", "fail", "agreed-fail"),
    ]
    assert f"rescored ({POST_HOC_LABEL})" in frame.columns


def test_every_rescoring_is_in_the_history_with_how_it_turned_out(tmp_path: Path, rescored: Run) -> None:
    (row,) = shown(tmp_path).history().to_dict("records")
    assert (row["author"], row["changes"], row["runs"]) == ("r1", "says: widen", "r-1")
    assert row["flips"] == "1: 1 expected, 0 unexpected, 0 missed, 0 reverse, 0 unread"
    assert row["label"].startswith(POST_HOC_LABEL)
    (record,) = shown(tmp_path).predictions().to_dict("records")
    assert (record["author"], record["expected"], record["missed"]) == ("r1", 1, 0)


def test_a_named_suite_is_previewed_and_drawn_and_nothing_is_rescored(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    (tmp_path / "new.yaml").write_text(WIDER)
    seen = shown(tmp_path, suite=str(tmp_path / "new.yaml"))
    (flip,) = seen.preview().to_dict("records")
    assert (flip["case"], flip["sample"], flip["foretold"], flip["people"]) == ("c-1", 2, "no entry", "unread")
    assert f"preview ({POST_HOC_LABEL})" in flip
    said = seen.slopes().chart.to_dict()["description"]
    assert "c-1: strict 1, rescored 2 of 3, nobody read it, 1 of 1 flips unread" in said
    assert "A preview: nothing was rescored." in said
    assert [row["state"] for row in seen.triple().to_dict("records")] == ["unread-flip"]
    assert "would be refused" in set(seen.previewed()["of the preview"])
    assert not run.rescorings


def test_an_entry_after_the_suite_says_what_was_foretold(tmp_path: Path) -> None:
    stored_run(tmp_path, ANSWERS)
    files(tmp_path)
    paths = {"suite": str(tmp_path / "new.yaml"), "entry": str(tmp_path / "entry.yaml")}
    (flip,) = shown(tmp_path, **paths).preview().to_dict("records")
    assert flip["foretold"] == "expected"


def test_a_run_that_was_never_rescored_says_so_in_every_cell(tmp_path: Path) -> None:
    stored_run(tmp_path, ANSWERS, suite_text=SUITE)
    seen = shown(tmp_path)
    for frame in (
        seen.changes(),
        seen.flips(),
        seen.slopes(),
        seen.triple(),
        seen.preview(),
        seen.previewed(),
        seen.history(),
    ):
        assert list(frame.columns) == ["nothing to show"]
    assert len(seen.overview()) == 1
