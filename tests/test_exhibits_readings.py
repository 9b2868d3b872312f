"""What the notebook on readers shows of one run."""

from __future__ import annotations

import pytest

from evallib.adjudication import make_difference, make_resolution
from evallib.exhibits.readings import open_readings
from evallib.records import POST_HOC_LABEL
from evallib.standing import standing_readings
from evallib.store import append_entry, read_log
from tests.browser import chromium_browser
from tests.readers import EVERY, Log, mixed_run, random_pass, strict_fails, strict_passes

ENDS = """() => {
  const svg = document.querySelector("svg");
  const from = svg.getBoundingClientRect();
  return [from.width, ...[...svg.querySelectorAll("text")].map(one => one.getBoundingClientRect().right - from.left)];
}"""
"""The width of the picture, and where each of its texts ends."""


@pytest.fixture
def readings(tmp_path):
    """Ten of twelve passes drawn and every fail read, by two readers who differ once, which a third resolved."""
    run, log, kept = mixed_run(tmp_path / "data"), Log(), tmp_path / "adjudications"
    for author in ("Ann", "Bo"):
        for key in strict_passes(run)[:10]:
            append_entry(kept, log.read(run, key, "pass", author, chosen=random_pass(10, 12)).entry)
        for key in strict_fails(run):
            append_entry(kept, log.read(run, key, "fail", author, chosen=EVERY).entry)
    key = strict_passes(run)[0]
    cy = append_entry(kept, log.read(run, key, "fail", "Cy").entry)
    said = make_difference(run, cy, author="Cy", cause="too-broad", reason="<script>it says two</script>")
    append_entry(kept, said)
    readings = standing_readings(run, read_log(kept))
    append_entry(kept, make_resolution(run, (*key, ""), readings, author="Di", reading="pass", reason="two is fine"))
    return open_readings("r-1", data=tmp_path / "data", adjudications=kept)


def test_agreement_shows_every_coefficient_with_n_and_why_one_is_missing(readings):
    frame = readings.agreement()
    assert list(frame["n"]) == [14, 14, 1, 1]
    assert list(frame["agreement"])[1] == "1.000 [0.785, 1.000]"
    assert "kappa: Cohen's kappa is of two readers" in frame["undefined"].iloc[0]
    assert {"kappa", "alpha", "AC1", "labels given"} <= set(frame.columns)


def test_disputes_show_both_reasons_and_what_stands(readings):
    frame = readings.disputes()
    assert list(frame["says"]) == ["pass", "pass", "fail"]
    assert frame["reason"].iloc[2] == "<script>it says two</script>"
    assert set(frame["stands"]) == {"pass, by Di: two is fine"}


def test_the_audit_and_the_rates_stand_beside_each_other(readings):
    assert list(readings.audit()["found"]) == ["0 false passes", "0 false fails"]
    rates = readings.rates()
    assert list(rates["read"]) == [14]
    assert rates["corrected"].iloc[0].startswith("0.750 [")
    assert any("0 false passes, at most" in said for said in readings.sentences().iloc[:, 0])


def test_the_picture_says_of_itself_that_it_is_post_hoc(readings):
    said = readings.corrected().chart.usermeta["evallib"]
    assert said["post_hoc"] == ["corrected"]
    assert said["label"] == POST_HOC_LABEL
    assert "image/svg+xml" in readings.corrected()._repr_mimebundle_()


def test_a_run_that_nobody_read_shows_that_it_was_not(tmp_path):
    mixed_run(tmp_path / "data")
    shown = open_readings("r-1", data=tmp_path / "data", adjudications=tmp_path / "none")
    assert "no item was read blind by two people" in shown.agreement().iloc[0, 0]
    assert "differ nowhere" in shown.disputes().iloc[0, 0]
    assert shown.rates()["corrected"].iloc[0] == "not estimable (0 strict passes read)"
    assert "not estimable" in str(shown.corrected()._repr_mimebundle_()["image/svg+xml"])


def test_where_too_few_were_read_table_and_picture_show_the_interval_alone(tmp_path):
    run, log, kept = mixed_run(tmp_path / "data", passes=30, fails=10), Log(), tmp_path / "adjudications"
    append_entry(kept, log.read(run, strict_passes(run)[0], "pass", chosen=random_pass(1, 30)).entry)
    for key in strict_fails(run):
        append_entry(kept, log.read(run, key, "fail", chosen=EVERY).entry)
    shown = open_readings("r-1", data=tmp_path / "data", adjudications=kept)
    assert shown.rates()["corrected"].iloc[0].startswith("too few strict passes read to say [0.")
    svg = shown.corrected()._repr_mimebundle_()["image/svg+xml"]
    assert "corrected: too few strict" in svg
    rows = (row for rows in shown.corrected().chart.to_dict()["datasets"].values() for row in rows)
    corrected = next(row for row in rows if row["rate"] == "corrected")
    assert corrected["value"] is None
    assert 0 < corrected["lo"] < corrected["hi"] < 1


@pytest.mark.browser
@pytest.mark.parametrize("drawn", [0, 1, 12])
def test_no_line_of_the_picture_reaches_beyond_it_where_a_browser_draws_it(tmp_path, chromium, drawn):
    run, log, kept = mixed_run(tmp_path / "data"), Log(), tmp_path / "adjudications"
    for key in strict_passes(run)[:drawn]:
        append_entry(kept, log.read(run, key, "pass", chosen=random_pass(drawn, 12)).entry)
    for key in strict_fails(run) * bool(drawn):
        append_entry(kept, log.read(run, key, "fail", chosen=EVERY).entry)
    drawing = open_readings("r-1", data=tmp_path / "data", adjudications=kept).corrected()
    svg = drawing._repr_mimebundle_()["image/svg+xml"]
    with chromium_browser(chromium) as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 1000})
        page.set_content(f"<style>text {{ font-family: 'DejaVu Sans' !important }}</style>{svg}")
        width, *ends = page.evaluate(ENDS)
    assert "corrected" in svg
    assert len(ends) > 5
    assert max(ends) <= width
