"""Readings stand beside the strict view; they never change a verdict."""

from pathlib import Path

import pytest

from evallib.adjudication import attach_published, explained, make_reading
from evallib.entries import CAUSES, Reading, Withdrawal
from evallib.errors import InputError
from evallib.importers import PublishedReading
from evallib.records import Sample
from evallib.standing import standing_readings
from evallib.store import Run, append_entry, read_log
from evallib.views.figures import load_figures
from evallib.views.load import open_view, outcomes_frame
from tests.making import SUITE, stored_run


def read(run: Run, log: Path, sample: int, reading: str, **more: str) -> str:
    entry = make_reading(run, "c-1", sample, **{"reading": reading, "reason": "because", "author": "ann", **more})  # type: ignore[arg-type]
    return append_entry(log, entry).id


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return stored_run(tmp_path, {"c-1": ["four", "it is 4", "one two three four five six"]})


def states(run: Run, log: Path) -> list[tuple[str, bool | None, str]]:
    frame = outcomes_frame(open_view(run, "read", read_log(log)))
    return [
        (row.status, None if row.passed is None or row.passed != row.passed else bool(row.passed), row.reading)
        for row in frame.astype({"passed": object}).itertuples()
    ]


def test_a_reading_of_an_answer_replaces_its_outcome(run: Run, tmp_path: Path) -> None:
    read(run, tmp_path / "log", 2, "pass")
    assert open_view(run, "read", read_log(tmp_path / "log")).outcomes["c-1", 2].passed is True
    assert open_view(run, "strict", []).outcomes["c-1", 2].passed is False


def test_a_reading_of_a_check_replaces_that_check_and_folds_again(run: Run, tmp_path: Path) -> None:
    read(run, tmp_path / "log", 2, "pass", check="says")
    outcome = open_view(run, "read", read_log(tmp_path / "log")).outcomes["c-1", 2]
    assert (outcome.passed, outcome.score) == (True, 1.0)


def test_a_reading_gives_its_check_the_figure_of_what_was_read(run: Run, tmp_path: Path) -> None:
    read(run, tmp_path / "log", 2, "pass", check="says")
    view = open_view(run, "read", read_log(tmp_path / "log"))
    (verdict,) = [v for v in view.verdicts if (v.sample, v.check_id) == (2, "says")]
    assert (verdict.value, verdict.raw, verdict.passed) == (1.0, 1.0, True)


def test_infra_becomes_an_error_and_unsure_leaves_strict_standing(run: Run, tmp_path: Path) -> None:
    read(run, tmp_path / "log", 1, "infra")
    read(run, tmp_path / "log", 2, "unsure")
    view = open_view(run, "read", read_log(tmp_path / "log"))
    assert view.outcomes["c-1", 1].status == "error"
    assert (view.outcomes["c-1", 2].passed, view.states["c-1", 2]) == (False, "unsure")


@pytest.mark.parametrize("check", ["", "says"])
def test_checks_and_mean_score_leave_out_what_was_read_as_infra_and_say_so(
    run: Run, tmp_path: Path, check: str
) -> None:
    read(run, tmp_path / "log", 1, "infra", check=check)
    summary = load_figures([run], "read", tmp_path, tmp_path / "log").summary()
    scored = [each["passed"] + each["failed"] for each in summary["by_check"].values()]
    assert scored == [summary["scored"]] * len(scored)
    assert {each["not_scored"] for each in summary["by_check"].values()} == {1}
    assert "The mean score leaves out 1 sample without a score, and the figures of a check" in summary["caption"]


def test_readers_who_differ_leave_strict_standing_as_disputed(run: Run, tmp_path: Path) -> None:
    read(run, tmp_path / "log", 2, "pass")
    read(run, tmp_path / "log", 2, "fail", author="bea")
    view = open_view(run, "read", read_log(tmp_path / "log"))
    assert (view.outcomes["c-1", 2].passed, view.states["c-1", 2]) == (False, "disputed")
    assert view.readings["disputed"] == 1


def test_a_withdrawn_or_superseded_reading_does_not_count(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = read(run, log, 2, "pass")
    read(run, log, 2, "fail", supersedes=first)
    assert open_view(run, "read", read_log(log)).states["c-1", 2] == "fail"
    second = read(run, log, 1, "fail")
    append_entry(log, Withdrawal(author="ann", withdraws=second, reason="slip"))
    assert ("c-1", 1) not in open_view(run, "read", read_log(log)).states


def test_a_reading_of_another_answer_is_stale_and_not_counted(run: Run, tmp_path: Path) -> None:
    entry = make_reading(run, "c-1", 2, reading="pass", reason="because", author="ann")
    append_entry(tmp_path / "log", entry.model_copy(update={"answer_digest": "0" * 16}))
    readings = standing_readings(run, read_log(tmp_path / "log"))
    assert (len(readings.stale), readings.by_item) == (1, {})


def test_a_reading_keeps_what_strict_said_and_how_it_was_read(run: Run) -> None:
    entry = make_reading(run, "c-1", 2, reading="pass", reason="because", author="ann", check="says")
    assert entry.strict.startswith("fail: ")
    assert (entry.blind, entry.chosen) == (False, "by hand")
    assert entry.criteria_digest


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"reading": "good"}, "say one of pass, fail, infra, unsure"),
        ({"reason": "  "}, "needs a reason"),
        ({"author": ""}, "needs the person who says it"),
        ({"check": "size"}, "no check 'size'"),
        ({"cause": "mood"}, "say one of true-failure"),
        ({"sample": 9}, "no sample 9"),
    ],
)
def test_a_reading_that_says_nothing_clear_is_refused(run: Run, more: dict[str, object], said: str) -> None:
    given: dict[str, object] = {"reading": "pass", "reason": "r", "author": "a", "sample": 1, **more}
    sample = given.pop("sample")
    with pytest.raises(InputError, match=said):
        make_reading(run, "c-1", sample, **given)  # type: ignore[arg-type]


def test_control_characters_in_a_reason_become_visible(run: Run, tmp_path: Path) -> None:
    read(run, tmp_path / "log", 1, "fail", reason="bell\x07 and \x1b[31mred")
    ((_, entry),) = read_log(tmp_path / "log")
    assert entry.reason == "bell\\x07 and \\x1b[31mred"


def test_what_was_read_stands_beside_the_figure(run: Run, tmp_path: Path) -> None:
    read(run, tmp_path / "log", 2, "pass")
    coverage = open_view(run, "read", read_log(tmp_path / "log")).readings
    assert (coverage["strict_failures"], coverage["strict_failures_read"], coverage["blind"]) == (1, 1, 0)


def test_an_error_stays_an_error_unless_it_is_read(tmp_path: Path) -> None:
    broken = Sample("r-1", "c-1", 1, status="provider_error", error="503")
    run = stored_run(tmp_path, {}, samples=[broken])
    assert open_view(run, "read", []).outcomes["c-1", 1].status == "error"
    read(run, tmp_path / "log", 1, "pass")
    assert states(run, tmp_path / "log") == [("scored", True, "pass")]


def test_the_figures_of_a_read_check_are_those_of_the_reading(run: Run, tmp_path: Path) -> None:
    read(run, tmp_path / "log", 2, "pass", check="says")
    view = open_view(run, "read", read_log(tmp_path / "log"))
    (verdict,) = [v for v in view.verdicts if (v.sample, v.check_id) == (2, "says")]
    assert (verdict.passed, verdict.reason) == (True, "read as pass")
    assert [v.passed for v in run.verdicts if (v.sample, v.check_id) == (2, "says")] == [False], "strict keeps its own"


def test_a_judge_decides_no_required_case_in_the_read_view_either(tmp_path: Path) -> None:
    judged = SUITE.replace("check: sections, headings: [], max_words: 5", "check: judge, rubric: Good?, critical: true")
    run = stored_run(tmp_path, {"c-1": ["four", "four"]}, suite_text=judged)
    read(run, tmp_path / "log", 1, "pass")
    frame = outcomes_frame(open_view(run, "read", read_log(tmp_path / "log")))
    assert frame["passed_deterministic"].tolist() == [True, True]


def test_readers_of_the_answer_and_of_its_checks_who_differ_are_disputed(run: Run, tmp_path: Path) -> None:
    read(run, tmp_path / "log", 2, "pass", check="says")
    read(run, tmp_path / "log", 2, "unsure", author="bea")
    assert open_view(run, "read", read_log(tmp_path / "log")).states["c-1", 2] == "pass"
    read(run, tmp_path / "log", 2, "fail", author="bea")
    view = open_view(run, "read", read_log(tmp_path / "log"))
    assert (view.states["c-1", 2], view.outcomes["c-1", 2].passed) == ("disputed", False)


def test_a_blank_behind_a_name_makes_no_second_reader(run: Run, tmp_path: Path) -> None:
    read(run, tmp_path / "log", 2, "pass", author="Ann")
    read(run, tmp_path / "log", 2, "fail", author="Ann ")
    stand = standing_readings(run, read_log(tmp_path / "log")).by_item["c-1", 2, ""]
    assert (stand.state, stand.forked) == ("disputed", ("Ann",))


def imported(tmp_path: Path, run_id: str) -> Run:
    of = {"imported": True, "source": {"set": "set-a"}}
    return stored_run(tmp_path, {"c-1": ["four", "it is 4"]}, run_id=run_id, planned=of)


def test_published_readings_are_attached_to_every_run_of_their_set(tmp_path: Path) -> None:
    runs = [imported(tmp_path, name) for name in ("a", "b")]
    published = [PublishedReading("set-a", "c-1", 2, "FAIL: says", ("says",), "pass", "4 is \x1b[1mfour")]
    published += [PublishedReading("set-b", "c-1", 1, "PASS", (), "fail", "no")]
    done = attach_published(runs, published, [], tmp_path / "log", "log.md")
    assert [entry.run for _, entry in done.new if isinstance(entry, Reading)] == ["a", "b"]
    assert [one.set for one in done.absent] == ["set-b"]


def test_the_same_log_under_another_name_adds_nothing(tmp_path: Path) -> None:
    runs = [imported(tmp_path, "a")]
    published = [PublishedReading("set-a", "c-1", 2, "FAIL: says", ("says",), "pass", "4 is \x1b[1mfour")]
    attach_published(runs, published, [], tmp_path / "log", "log.md")
    again = attach_published(runs, published, read_log(tmp_path / "log"), tmp_path / "log", "copy.md")
    assert (again.new, again.known) == ([], published)


@pytest.mark.parametrize("reading", ["pass", "fail", "infra"])
def test_who_agrees_with_strict_has_the_one_cause_that_follows(reading):
    implied = "true-failure" if reading == "fail" else "unknown"
    for cause in ("", "unknown", implied):
        assert explained(reading, reading, cause, " ") == (implied, "agrees")
    for cause in set(CAUSES) - {"unknown", implied}:
        with pytest.raises(InputError, match="is a cause to differ"):
            explained(reading, reading, cause, "why")
