"""A run in sentences, and what must stand on top where it is not all there."""

from __future__ import annotations

from evallib.records import Sample
from evallib.story import notices, story_rows
from evallib.views.figures import load_views
from tests.making import stored_run


def told(data):
    views = load_views("r-1", data, data / "log")
    return dict(story_rows(views)), notices(views[0].views[0])


def test_a_whole_run_needs_no_notice_and_names_what_blocks(tmp_path):
    stored_run(tmp_path, {"c-1": ["no", "no"], "c-2": ["no", "five"]})
    story, minded = told(tmp_path)
    assert minded == []
    assert story["Gate"].startswith("blocked by ")
    assert "checks" in story["Gate"]
    assert story["Over repeats"].endswith("of 2 cases 0 always pass, 1 sometimes, 1 never.")
    assert story["Weakest check"].startswith("says: 3 of 4 verdicts failed")
    assert story["Read next"] == "c-1 (0 of 2), c-2 (1 of 2)."


def test_where_nothing_failed_passes_are_to_be_read(tmp_path):
    stored_run(tmp_path, {"c-1": ["four"], "c-2": ["five"]})
    assert told(tmp_path)[0]["Read next"].startswith("Nothing failed: read passes drawn at random")


def test_errors_are_said_with_their_bounds(tmp_path):
    lost = Sample("r-1", "c-2", 1, status="provider_error", error="503")
    stored_run(tmp_path, {"c-1": ["four"]}, samples=[lost])
    assert "1 error counted as fails; 0.500 to 1.000 whatever they were" in told(tmp_path)[0]["Pass rate"]


def test_what_is_missing_is_minded_on_top(tmp_path):
    stored_run(tmp_path, {"c-1": ["four"]}, planned={"cases": {"c-1": 2, "c-2": 1}})
    (said,) = told(tmp_path)[1]
    assert said == "This run is incomplete: 1 of 3 planned samples are there; the others count as fails."
