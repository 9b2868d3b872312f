"""Every reading, standing or not, comes out of the log as one row, and a spreadsheet runs none of it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.adjudication import make_difference, make_reading, make_resolution
from evallib.cli import main
from evallib.entries import Reading, Rubric, Withdrawal
from evallib.errors import InputError
from evallib.printing import reading_lines
from evallib.records import POST_HOC_LABEL
from evallib.standing import standing_readings
from evallib.store import LoggedEntry, Run, append_entry, read_log
from evallib.views.readings import COLUMNS, _cell, export_readings, readings_frame
from tests.browser import small_run

HOSTILE = '=HYPERLINK("http://x","y"); it says \'do not\'\nand more, é —'


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return small_run(tmp_path / "data")


def put(run: Run, log: Path, author: str, reading: str, case: str = "t-001", **more: object) -> LoggedEntry:
    made = make_reading(run, case, 1, reading=reading, author=author, blind=True, log=read_log(log), **more)  # type: ignore[arg-type]  # by name
    return append_entry(log, made)


@pytest.fixture
def log(run: Run, tmp_path: Path) -> Path:
    """Two readers who differ and a resolution; one amended, one taken back, one again, one stale, one of nothing."""
    log = tmp_path / "adjudications"
    first = put(run, log, "Ann", "pass", case="t-002", check="facts")
    put(run, log, "Ann", "fail", case="t-002", check="facts", supersedes=first.id)
    slip = put(run, log, "Bo", "infra", case="t-002")
    append_entry(log, Withdrawal(author="Bo", withdraws=slip.id, reason="slip"))
    put(run, log, "Ann", "fail", again=True)
    append_entry(log, Reading(author="Ann", run="small", case="gone", sample=1, reading="pass"))
    append_entry(log, Rubric(author="Ann", suite="small", check="facts", text="names it", reason="asked"))
    mine = put(run, log, "Ann", "pass", span=(0, 6), seconds=3.5)
    append_entry(log, make_difference(run, mine, author="Ann", cause="negation-or-quoted", reason=HOSTILE, canned=True))
    theirs = put(run, log, "=Bo", "fail")
    append_entry(log, make_difference(run, theirs, author="=Bo"))
    readings = standing_readings(run, read_log(log))
    append_entry(log, make_resolution(run, ("t-001", 1, ""), readings, author="Cy", reading="pass", reason="it warns"))
    return log


def test_every_reading_is_one_row_with_what_became_of_it(run: Run, log: Path) -> None:
    frame = readings_frame([run], read_log(log))
    assert list(frame.columns) == list(COLUMNS)
    assert frame[["case", "author", "status"]].values.tolist() == [
        ["t-002", "Ann", "superseded"],
        ["t-002", "Ann", "stale"],
        ["t-002", "Bo", "withdrawn"],
        ["t-001", "Ann", "again"],
        ["gone", "Ann", "unknown"],
        ["t-001", "Ann", "standing"],
        ["t-001", "=Bo", "standing"],
    ]
    row = frame.iloc[5]
    assert (row["cause"], row["reason"], row["agrees"], row["canned"]) == ("negation-or-quoted", HOSTILE, False, True)
    assert (row["stands"], row["resolution"], row["resolved_by"], row["resolution_reason"]) == (
        "pass", "pass", "Cy", "it warns",
    )  # fmt: skip
    assert (row["span_start"], row["span_end"], row["seconds"], row["forked"]) == (0, 6, 3.5, False)
    assert (row["samples"], row["read"], row["strict_failures"], row["strict_failures_read"]) == (4, 1, 3, 1)
    assert set(frame["label"]) == {POST_HOC_LABEL}
    assert frame["reading"].iloc[6] == "fail"


def test_a_difference_that_was_taken_back_is_not_shown_as_what_holds(run: Run, log: Path) -> None:
    said = next(e for e in read_log(log) if e.entry.kind == "difference")
    append_entry(log, Withdrawal(author="Ann", withdraws=said.id, reason="slip"))
    row = readings_frame([run], read_log(log)).iloc[5]
    assert (row["status"], row["cause"], row["reason"]) == ("standing", "unknown", "")
    assert pd.isna(row["difference"])


def test_what_another_says_of_a_withdrawn_reading_hides_nothing(run: Run, log: Path) -> None:
    said = next(e for e in read_log(log) if e.entry.kind == "difference")
    append_entry(log, said.entry.model_copy(update={"author": "Mal", "reason": "mine", "time": ""}))
    append_entry(log, Withdrawal(author="Ann", withdraws=said.entry.about, reason="slip"))
    row = readings_frame([run], read_log(log)).iloc[5]
    assert (row["status"], row["reason"]) == ("withdrawn", HOSTILE)


def test_a_run_that_nobody_read_gives_an_empty_table_of_the_same_columns(run: Run, tmp_path: Path) -> None:
    assert readings_frame([run], []).dtypes.to_dict().keys() == COLUMNS.keys()
    for ending in ("csv", "jsonl", "parquet"):
        assert export_readings([run], [], tmp_path / f"none.{ending}") == 0
    assert pq.read_table(tmp_path / "none.parquet").schema.names == list(COLUMNS)


def test_the_files_hold_what_the_frame_holds(run: Run, log: Path, tmp_path: Path) -> None:
    other = small_run(tmp_path / "data", "other")
    put(other, log, "Di", "fail")
    entries = read_log(log)
    for ending in ("csv", "jsonl", "parquet"):
        assert export_readings([run, other], entries, tmp_path / f"out.{ending}") == 8
    frame = readings_frame([run, other], entries)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema.field("sample").type == pa.int64()
    assert [f.nullable for f in table.schema] == [kind.endswith("?") for kind in COLUMNS.values()]
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert lines == table.to_pylist()
    assert table.column("reason").to_pylist() == frame["reason"].tolist()
    with (tmp_path / "out.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert [cell["run"] for cell in cells] == ["small"] * 7 + ["other"]
    assert cells[5]["reason"] == "'" + HOSTILE
    assert cells[6]["author"] == "'=Bo"
    assert (cells[5]["blind"], cells[5]["seconds"], cells[6]["seconds"]) == ("true", "3.5", "")


@given(st.text("=+@';\"\n\t a", max_size=9))
def test_where_semicolons_part_cells_none_begins_a_formula_either(text: str) -> None:
    """Half of Europe's spreadsheets part a CSV at semicolons, and take its quotes for text."""
    cell = _cell(text)
    for part in re.split(r"[;\t\r\n]", cell):
        assert not part.lstrip(' "').startswith(("=", "+", "-", "@"))
    again = re.sub(r"(?<=[;\t\r\n])'", "", cell)
    assert (again if again == text else again.removeprefix("'")) == text


@given(st.text(max_size=8) | st.text("=+-@'\t\r\n ＝＠\u00a0ax", max_size=8))
def test_no_text_of_a_csv_begins_a_formula_and_each_can_be_told_from_any_other(text: str) -> None:
    cell = _cell(text)
    assert not cell.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))
    assert cell[:1] not in {"\t", "\r", "\n"}
    again = re.sub(r"(?<=[;\t\r\n])'", "", cell)
    assert (again if again == text else again.removeprefix("'")) == text


def test_figures_stay_figures(run: Run) -> None:
    assert (_cell(-3.5), _cell(None), _cell(True)) == (-3.5, None, "true")


def test_the_command_writes_a_new_file_and_never_over_one(
    run: Run, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["adjudicate", "small", "--data", str(tmp_path / "data"), "--export"]
    assert main([*place, str(tmp_path / "out.csv")]) == 0
    assert "7 readings of 1 run in" in capsys.readouterr().out
    before = (tmp_path / "out.csv").read_bytes()
    assert main([*place, str(tmp_path / "out.csv")]) == 2
    assert (tmp_path / "out.csv").read_bytes() == before
    assert main([*place, str(tmp_path / "out.xlsx")]) == 2
    assert "end the name in one of .csv, .jsonl, .parquet" in capsys.readouterr().err
    assert main(["adjudicate", "small", "--data", str(tmp_path / "data")]) == 2


def test_another_ending_is_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"end the name in one of"):
        export_readings([run], [], tmp_path / "out")


def test_the_readings_are_printed_with_what_the_log_says_of_them(
    run: Run, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(run, log, "Di", "pass", case="t-002")
    put(run, log, "Di", "fail", case="t-002")
    assert main(["show", "small", "--readings", "--data", str(tmp_path / "data"), "--adjudications", str(log)]) == 0
    lines = capsys.readouterr().out.splitlines()
    mine = next(line for line in lines if "negation-or-quoted" in line)
    assert mine.split()[:7] == ["t-001", "1", "(answer)", "pass", "pass", "(blind)", "Ann"]
    assert "it says 'do not' and more" in mine
    assert any(line.split()[4:9] == ["fail", "(blind)", "=Bo", "true-failure", "agrees"] for line in lines)
    said = "\n".join(line for line in lines if ":" in line)
    assert "resolved: t-001 1 (answer) is pass by Cy: it warns" in said
    assert "forked: t-002 1 (answer): two readings by Di, neither amends the other" in said
    assert "rubric of facts by Ann: names it" in said
    assert "stale, not counted, its rubric was replaced: t-002 1 facts, fail (blind) by Ann, " in said
    assert "names what the run does not have: gone 1 (answer), pass by Ann, " in said


def test_a_reading_of_another_answer_says_so(run: Run) -> None:
    made = make_reading(run, "t-001", 1, reading="pass", author="Ann", blind=True)
    other = LoggedEntry("x-1", made.model_copy(update={"answer_digest": "0" * 16}))
    assert reading_lines(run, [other])[1:] == [
        "stale, not counted, of another answer: t-001 1 (answer), pass (blind) by Ann, x-1"
    ]
