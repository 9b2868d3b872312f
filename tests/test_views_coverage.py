"""How much was read stands beside every read figure, by run, check and strict verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.adjudication import make_reading
from evallib.cli import main
from evallib.exhibits.run import open_exhibits
from evallib.records import Sample
from evallib.store import append_entry
from evallib.views.coverage import Part, unequal_words
from evallib.views.figures import load_figures
from tests.making import stored_run

UNEQUAL = (
    "The arms are not read alike (of strict failures 0 of 1 in r-2 and 1 of 2 in r-1; of strict passes 0 of 1 in r-2 "
    "and 1 of 1 in r-1), so their read figures do not compare like with like."
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Two arms; of `r-1` a failure was read blind by two, and a pass sighted by one."""
    monkeypatch.chdir(tmp_path)
    run = stored_run(tmp_path / "data", {"c-1": ["four", "no"], "c-2": ["no"]})
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["three"]}, run_id="r-2")
    read(run, 2, "fail", blind=True, chosen="every strict failure")
    read(run, 2, "fail", blind=True, chosen="every strict failure", author="Bo")
    read(run, 1, "pass", chosen="random strict pass (1 of 1, seed 3)")
    return run


def read(run, number, reading, author="Ann", case="c-1", **more):
    entry = make_reading(run, case, number, reading=reading, author=author, reason="so", **more)
    return append_entry(Path("adjudications"), entry)


def figures(*runs, view="read"):
    return load_figures(runs, view, Path("data"), Path("adjudications"))


def counts(parts):
    return {(p.check, p.strict): (p.of, p.read, p.by_two, p.readers, p.blind) for p in parts}


def test_answers_are_counted_by_what_strict_says(home):
    assert counts(figures("r-1").parts) == {("", "fail"): (2, 1, 1, 2, 1), ("", "pass"): (1, 1, 0, 1, 0)}
    assert figures("r-1", view="strict").parts == ()


def test_a_reading_of_one_check_is_none_of_its_answer(home):
    read(home, 1, "pass", case="c-2", check="short")
    found = counts(figures("r-1").parts)
    assert found["", "fail"] == (2, 1, 1, 2, 1)
    assert found["short", "pass"] == (3, 1, 0, 1, 0)
    assert ("says", "pass") not in found
    assert "of check short" in figures("r-1").summary()["caption"]
    assert figures("r-1").label.endswith("1 of 1 strict pass and 1 verdict of checks")


def test_an_error_is_a_part_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    broken = Sample("r-1", "c-2", 1, status="provider_error", error="503")
    run = stored_run(tmp_path / "data", {"c-1": ["four"]}, samples=[broken])
    read(run, 1, "infra", case="c-2")
    assert counts(figures("r-1").parts)["", "error"] == (1, 1, 0, 1, 0)
    assert figures("r-1").views[0].readings["strict_failures_read"] == 1


def test_the_caption_says_how_much_was_read_by_whom_and_how(home):
    assert (
        "Read in r-1: 1 of 2 strict failures (by 2, 1 of them by two or more; blind; chosen every strict failure), "
        "1 of 1 strict pass (by 1; 0 of 1 blind; chosen random strict pass (1 of 1, seed 3))."
    ) in figures("r-1").summary()["caption"]


def test_arms_that_are_not_read_alike_are_named_in_one_sentence(home):
    summary = figures("r-1", "r-2").summary()
    assert summary["read_unequally"] == UNEQUAL
    assert UNEQUAL in summary["caption"]
    assert [one["run"] for one in summary["readings"]] == ["r-1", "r-2"]
    assert "arms not read alike" in summary["label"]
    assert set(figures("r-1", "r-2").outcomes["label"]) == {summary["label"]}
    assert figures("r-1").summary()["read_unequally"] is None


@pytest.mark.parametrize("arguments", [["metrics", "r-1"], ["metrics", "r-1", "--summary"], ["gate", "r-1"]])
def test_every_command_that_prints_a_read_figure_prints_its_coverage(home, capsys, arguments):
    json_ = [] if "--summary" in arguments else ["--json"]
    assert main([*arguments, "--view", "read", *json_]) == 0
    printed = json.loads(capsys.readouterr().out)
    (part, _) = printed["readings"][0]["parts"]
    assert (part["strict"], part["read"], part["of"], part["by_two"]) == ("fail", 1, 2, 1)
    assert "read: 1 of 2 strict failures, 1 of 1 strict pass" in printed["label"]
    assert main([*arguments, *json_]) == 0
    assert "readings" not in json.loads(capsys.readouterr().out)


def test_the_gate_of_the_read_view_says_in_words_what_was_read(home, capsys):
    assert main(["gate", "r-1", "--view", "read"]) == 0
    assert " Read in r-1: 1 of 2 strict failures (by 2," in capsys.readouterr().out


def test_tables_of_a_notebook_carry_it_in_their_headings(home, tmp_path):
    exhibits = open_exhibits("r-1", data="data", adjudications="adjudications")
    said = "read: 1 of 2 strict failures, 1 of 1 strict pass"
    assert said in exhibits.overview()["view"].iloc[-1]
    assert said in exhibits.curves()["view"].iloc[-1]
    assert exhibits.coverage()[["strict", "of", "read", "by two"]].values.tolist() == [
        ["fail", 2, 1, 1],
        ["pass", 1, 1, 0],
    ]


def part(run, of, read, strict="pass", check=""):
    return Part(run, check, strict, of, read, 0, 1, read, ("x",))


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=5))
def test_arms_are_alike_when_the_same_share_of_each_was_read(counted):
    parts = [part(f"r-{n}", of, min(read, of)) for n, (of, read) in enumerate(counted)]
    assert bool(unequal_words(parts)) == (len({p.read * 2520 // p.of for p in parts}) > 1)


def test_a_check_that_was_read_in_one_arm_only_is_named():
    parts = [part("a", 4, 4), part("b", 2, 2), part("a", 4, 1, check="policy")]
    assert "(of strict passes of check policy none in b and 1 of 4 in a)" in unequal_words(parts)
