"""What the notebook on calibration shows, and that a report has it where something was calibrated."""

from __future__ import annotations

from pathlib import Path

import pytest

from evallib.adjudication import make_reading
from evallib.calibration import Calibration, calibrations_of
from evallib.checks.judge import Judge
from evallib.cli import main
from evallib.exhibits.calibration import open_calibrations
from evallib.judges import prompt_digest
from evallib.report.build import ReportOrder, _planned
from evallib.store import append_entry, open_run
from evallib.store.calibrations import save_calibration
from evallib.suite import read_suite
from tests.making import stored_run


@pytest.fixture
def calibrated(tmp_path, monkeypatch):
    """A folder with a run, two readings of whole answers, and the calibration they give."""
    monkeypatch.chdir(tmp_path)
    run = stored_run(tmp_path / "data", {"c-1": ["four", "it is 4"], "c-2": ["six", "five"]})
    for case, number, said in (("c-1", 1, "pass"), ("c-1", 2, "pass")):
        reading = {"reading": said, "cause": "too-narrow", "reason": "4 is four", "author": "r1", "check": ""}
        append_entry(tmp_path / "adjudications", make_reading(run, case, number, chosen="all", **reading))
    assert main(["calibrate", "r-1"]) == 0
    return tmp_path


def opened(folder):
    return open_calibrations("r-1", data=folder / "data", adjudications=folder / "adjudications")


def test_each_rate_stands_with_its_counts_interval_and_baseline(calibrated):
    rates = opened(calibrated).rates().set_index("rate")
    agreement = rates.loc["agreement with people"]
    assert (agreement["value"], agreement["count"], agreement["of"], agreement["baseline"]) == (0.5, 1, 2, 1.0)
    assert rates.loc["false fails, of what it fails", "count"] == 1


def test_what_differs_is_shown_with_the_reason(calibrated):
    shown = opened(calibrated).differences()
    assert shown[["answer", "people", "check"]].values.tolist() == [["c-1 sample 2", "pass", "fail"]]
    assert "Suite small (digest" in shown.attrs["caption"]


def test_the_calibration_of_another_run_is_not_shown_here(calibrated):
    run = stored_run(calibrated / "data", {"c-1": ["four"], "c-2": ["six"]}, run_id="r-2")
    other = open_calibrations("r-2", data=calibrated / "data", adjudications=calibrated / "adjudications")
    assert other.rates().empty
    assert list(other.sentences().columns) == ["nothing to show"]
    assert calibrations_of(run, calibrated / "data", calibrated / "adjudications") == []


JUDGED = """\
suite: s
pass: top
cases:
- {id: c-1, steps: [{ask: One?}], checks: [{id: q, check: judge, rubric: Of one?}]}
- {id: c-2, steps: [{ask: Two?}], checks: [{id: q, check: judge, rubric: Of two?}, {id: mine, check: "absent:Mine"}]}
"""


def kept(data, check, **by):
    save_calibration(data, Calibration(check, "labelled set x (1 answer, digest 0)", by, ()).as_dict())


def test_each_case_has_its_own_judge_and_a_kind_that_is_not_imported_is_known_by_its_id(calibrated):
    data, log = calibrated / "data", calibrated / "adjudications"
    Path("judged.yaml").write_text(JUDGED)
    run = open_run("r-1", data)
    run.__dict__["suite"] = read_suite(Path("judged.yaml"))
    for rubric in ("Of one?", "Of two?", "Of three?"):
        kept(data, "q", model="m", prompt=prompt_digest(Judge(id="q", check="judge", rubric=rubric)))
    kept(data, "mine", criteria="0" * 16)
    kept(data, "yours", criteria="0" * 16)
    found = [(one["check"], one["by"].get("model")) for one in calibrations_of(run, data, log) if one["by"]]
    assert sorted(found, key=str) == [("mine", None), ("q", "m"), ("q", "m")]


def test_the_sentence_is_the_records_own(calibrated):
    (said,) = opened(calibrated).sentences()["what it allows to be said"]
    assert "matched the human label 1 time out of 2." in said
    assert "one label only" in said


def test_the_picture_says_the_same(calibrated):
    said = opened(calibrated).chart().chart.to_dict()["description"]
    assert "agreement with people: 0.500" in said
    assert "1 of 2; baseline 1.000" in said


def test_nothing_calibrated_is_said_in_every_place(tmp_path):
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["five"]})
    shown = opened(tmp_path)
    assert shown.rates().empty
    for frame in (shown.judges(), shown.sentences(), shown.chart(), shown.differences()):
        assert list(frame.columns) == ["nothing to show"]


def test_where_nothing_was_calibrated_nobody_is_said_to_agree(tmp_path):
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["five"]})
    assert opened(tmp_path).differences().iat[0, 0] == "Nothing was calibrated."


def test_a_report_holds_the_notebook_where_something_was_calibrated(calibrated):
    order = ReportOrder("r-1", calibrated / "data", calibrated / "adjudications", calibrated / "out")
    assert "calibrate" in [one.name for one in _planned(order, order.opened())]
