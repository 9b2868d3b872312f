"""Charts draw the numbers of metrics, say what they show inside themselves, and need no network."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pandas as pd
import pytest

from evallib import charts
from evallib.caption import brief
from evallib.charts import About
from evallib.charts.drawing import BLUE, GREEN, GREY, VERMILLION, counting_axis, folded
from evallib.charts.reliability import _spread
from evallib.errors import InputError
from evallib.gate import Gate, decide
from evallib.metrics import curves, passes_histogram, per_case, per_case_check
from evallib.records import POST_HOC_LABEL, Sample, Usage
from evallib.spending import spending, spread_bins, spread_points

# jsonschema's optional grammar costs more than a second at the first import of altair.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def outcomes(*cases: str, view: str = "strict") -> pd.DataFrame:
    """One text per case, a letter per sample: p passes, anything else fails."""
    rows = [
        {
            "run_id": "r", "case_id": f"c{n}", "sample": s, "split": "validation", "required": False,
            "sample_status": "completed", "status": "scored", "passed": letter == "p", "score": float(letter == "p"),
            "view": view, "post_hoc": view != "strict", "label": "" if view == "strict" else POST_HOC_LABEL,
        }
        for n, letters in enumerate(cases)
        for s, letter in enumerate(letters, 1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def verdicts(frame: pd.DataFrame) -> pd.DataFrame:
    """One verdict of one check per sample, as the sample's score says."""
    return frame[["run_id", "case_id", "sample", "status", "passed"]].assign(
        check_id="only", value=frame["score"], raw=frame["score"], weight=1.0, critical=False, stochastic=False
    )


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Every mapping inside a specification."""
    if isinstance(node, dict):
        yield node
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from nodes(each)


def panels(chart: Any) -> list[dict[str, Any]]:
    """The panels of a reliability chart, one per view."""
    return next(node["concat"] for node in nodes(chart.to_dict()) if "concat" in node)


def drawn_words(chart: Any) -> str:
    """All words of the picture; a folded line goes on in the next."""
    return " ".join(
        " ".join(node.itertext()) for node in ET.fromstring(charts.to_svg(chart)).iter() if node.tag.endswith("}text")
    )


def reliability(*frames: pd.DataFrame, caption: str = "a caption") -> Any:
    return charts.reliability_chart(
        pd.concat([curves(one) for one in frames]),
        pd.concat([passes_histogram(one) for one in frames]),
        about=[About(str(one["view"].iloc[0]), criteria="c0ffee", counts="few", caption=caption) for one in frames],
    )


def drawn_rows(chart: Any, *names: str) -> list[dict[str, Any]]:
    """Every row in the specification's data that has all of `names`."""
    found = [node for node in nodes(chart.to_dict()) if set(names) <= node.keys()]
    unique = {json.dumps(row, sort_keys=True): row for row in found}
    return list(unique.values())


def test_the_chart_holds_the_very_numbers_of_metrics() -> None:
    frame = outcomes("ppf", "pff", "ppp", "fff")
    rows = drawn_rows(reliability(frame), "k", "metric", "value")
    expected = curves(frame)
    key = ["k", "metric"]
    drawn = pd.DataFrame(rows)[list(expected.columns)].sort_values(key, ignore_index=True)
    pd.testing.assert_frame_equal(
        drawn, expected.sort_values(key, ignore_index=True), check_exact=True, check_dtype=False
    )


def test_there_is_one_panel_per_view_and_the_scale_is_never_cut() -> None:
    chart = reliability(outcomes("pf", "pp"), outcomes("pp", "pp", view="read"))
    assert len(panels(chart)) == 2
    domains = [
        layer["encoding"]["y"]["scale"]["domain"]
        for column in panels(chart)
        for layer in column["vconcat"][0]["layer"]
        if layer["encoding"].get("y", {}).get("field") == "value"
    ]
    assert domains
    assert all(domain == [0, 1] for domain in domains)


def test_a_view_chosen_after_reading_says_so_in_picture_data_and_specification() -> None:
    chart = reliability(outcomes("pf", "pp"), outcomes("pp", "pp", view="rescored:2026-11-30-x"))
    meta = chart.to_dict()["usermeta"]["evallib"]
    assert (meta["label"], meta["post_hoc"]) == (POST_HOC_LABEL, ["rescored:2026-11-30-x"])
    assert {row["view"]: row["post_hoc"] for row in drawn_rows(chart, "view", "metric")} == {
        "strict": False,
        "rescored:2026-11-30-x": True,
    }
    picture = charts.to_svg(chart)
    assert POST_HOC_LABEL in picture
    assert "a caption" in picture


def test_a_strict_figure_carries_no_such_label() -> None:
    chart = reliability(outcomes("pf", "pp"))
    assert chart.to_dict()["usermeta"]["evallib"]["label"] is None
    assert POST_HOC_LABEL not in charts.to_svg(chart).lower()


def test_a_notebook_gets_a_live_chart_for_lab_and_a_picture_for_everyone_else() -> None:
    bundle = charts.show(reliability(outcomes("pf", "pp")))._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.vegalite.v5+json", "image/svg+xml", "text/plain"}
    assert "/v5" in bundle["application/vnd.vegalite.v5+json"]["$schema"]
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "http" not in bundle["image/svg+xml"].replace("http://www.w3.org/", "")


def test_markup_in_a_caption_stays_text() -> None:
    picture = charts.to_svg(reliability(outcomes("p", "f"), caption="<script>alert(1)</script>"))
    assert "<script" not in picture
    assert "&lt;script&gt;" in picture


@pytest.mark.parametrize("cases", [("p",), ("p", "f"), ("p" * 40, "f" * 40), ("pp", "p", "fff")])
def test_odd_sizes_are_drawn(cases: tuple[str, ...]) -> None:
    assert charts.to_svg(reliability(outcomes(*cases))).startswith("<svg")


def test_labels_keep_their_distance_inside_the_panel() -> None:
    assert _spread([1.0, 1.0, 1.0], 0.1) == pytest.approx([1.0, 0.9, 0.8])
    assert _spread([0.0, 0.0, 0.0], 0.1) == pytest.approx([0.2, 0.1, 0.0])
    assert _spread([0.9, 0.5, 0.1], 0.1) == pytest.approx([0.9, 0.5, 0.1])


def test_the_gate_is_drawn_with_its_reasons_in_words() -> None:
    frame = outcomes("p", "p", "f")
    gate = Gate(mean=0.8, checks={"only": 0.9}, floor=0.7)
    decision = decide(gate, frame, verdicts(frame), complete=True, whole_validation=True)
    chart = charts.gate_chart(decision)
    picture = drawn_words(chart)
    assert "Gate: blocked" in picture
    assert all(re.split(r"[:;] | \(lowest", rule.reason)[0] in picture for rule in decision.rules)
    assert "(lowest" not in picture  # a clause is whole or not there
    (check,) = drawn_rows(chart, "check", "mean")
    assert (check["mean"], check["threshold"], check["state"]) == (
        decision.rules[1].detail["checks"][0]["mean"],
        0.9,
        "blocked",
    )


def test_a_tile_below_the_floor_says_so_in_words_and_marks() -> None:
    frame = outcomes("p", "f")
    chart = charts.case_tiles(per_case(frame), per_case_check(frame, verdicts(frame)), floor=0.7)
    tiles = {row["case_id"]: (row["shown"], row["below"]) for row in drawn_rows(chart, "shown")}
    assert tiles == {"c0": ("1.00", ""), "c1": ("0.00", "below")}
    assert "below: a sample under the floor of 0.70" in chart.to_dict()["usermeta"]["evallib"]["caption"]
    assert {row["case_id"]: row["state"] for row in drawn_rows(chart, "check_id")} == {"c0": "full", "c1": "less"}
    assert charts.to_svg(chart).startswith("<svg")


def test_many_checks_draw_no_marks_and_the_caption_says_so() -> None:
    frame = outcomes("p", "f")
    marks = pd.concat([per_case_check(frame, verdicts(frame)).assign(check_id=f"check-{n}") for n in range(13)])
    chart = charts.case_tiles(per_case(frame), marks)
    assert drawn_rows(chart, "check_id") == []
    assert "No marks are drawn for 13 checks" in charts.to_svg(chart)
    assert drawn_rows(charts.case_tiles(per_case(frame), marks[: 2 * 12]), "check_id")


def test_a_judged_check_names_its_judge_in_the_gates_picture() -> None:
    frame = outcomes("p", "p", "f")
    judged = verdicts(frame).assign(stochastic=True, judge='{"model": "m-7", "calibration": "calibration-ab"}')
    decision = decide(Gate(checks={"only": 0.9}), frame, judged, complete=True, whole_validation=True)
    assert "judged by m-7, calibration-ab" in drawn_words(charts.gate_chart(decision))


def test_all_panels_share_one_scale_of_cases_and_the_caption_is_kept_and_not_drawn() -> None:
    chart = reliability(outcomes("pf", "pf", "pf"), outcomes("pp", "pp", "pf", view="read"), caption="one\ntwo")
    tops = {
        layer["encoding"]["y"]["scale"]["domain"][1]
        for column in panels(chart)
        for layer in column["vconcat"][1]["layer"]
    }
    assert len(tops) == 1
    spec = chart.to_dict()
    assert spec["usermeta"]["evallib"]["caption"].splitlines()[-2:] == ["one", "two."]
    assert spec["description"].endswith("one two.")
    assert " ".join(spec["title"]["text"]) == spec["usermeta"]["evallib"]["caption"].splitlines()[0]


def test_words_fill_the_width_and_never_leave_it() -> None:
    assert len(folded("strict: 10 cases x 5 samples = 50 planned, all scored; criteria", 414, 11)) == 1
    assert folded("pass@k", 10, 11) == ["p", "a", "s", "s", "@", "k"]
    for text in ("W" * 99, "回答は正しい" * 20, "rescored:2026-12-01-version-in-other-words " * 3):
        lines = folded(text, 414, 11)
        assert "".join(lines) == text.strip() or " ".join(lines).replace("- ", "-") == text.strip()
        assert len(lines) >= 2


def test_two_views_say_what_they_share_once() -> None:
    strict = About("strict", "", "2 cases", "c0ffee", "", "small@abc", "all 2 cases")
    read = strict._replace(view="read", label=POST_HOC_LABEL, counts="1 case")
    assert brief([strict, read]) == [
        "small@abc; all 2 cases; criteria c0ffee", "strict: 2 cases", f"read: 1 case; {POST_HOC_LABEL}",
    ]  # fmt: skip
    assert brief([strict]) == ["strict: small@abc; all 2 cases; 2 cases; criteria c0ffee"]


def test_a_label_of_its_own_is_drawn_as_it_is() -> None:
    late = f"{POST_HOC_LABEL}; predicted after preview"
    chart = reliability(outcomes("pf"), outcomes("pp", view="rescored:x").assign(label=late))
    assert chart.to_dict()["usermeta"]["evallib"]["label"] == late
    assert f"rescored:x: {late}" in drawn_words(chart)


def test_a_picture_never_overwrites_a_file(tmp_path: Path) -> None:
    chart = reliability(outcomes("p", "f"))
    path = charts.to_png(chart, tmp_path / "a.png", scale=1)
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="exists already"):
        charts.to_png(chart, path)


# what every chart says of itself

ABOUT = [
    About("strict", "", "2 cases x 1 sample", "c0ffee", caption="Suite small.", suite="small@abc", cases="all 2 cases")
]


def every_chart() -> dict[str, Any]:
    frame = outcomes("pf", "pp")
    gate = Gate(mean=0.5, checks={"only": 0.9})
    decision = decide(gate, frame, verdicts(frame), complete=True, whole_validation=True)
    said = {"view": "strict", "post_hoc": False, "label": ""}
    checks = pd.DataFrame(
        [{**said, "check_id": "only", "passed": 3, "failed": 1, "not_scored": 1, "mean_raw": 0.75, "judged": ""}]
    )
    spent = spending([Sample("r", "c0", n, duration_s=float(n), usage=Usage(10, n)) for n in range(1, 41)])
    return {
        "reliability": charts.reliability_chart(curves(frame), passes_histogram(frame), about=ABOUT),
        "gate": charts.gate_chart(decision, about=ABOUT),
        "tiles": charts.case_tiles(per_case(frame), per_case_check(frame, verdicts(frame)), about=ABOUT),
        "checks": charts.check_bars(checks, about=ABOUT),
        "usage": charts.usage_chart(spread_bins(spent), spread_points(spent), about=ABOUT),
    }


CHARTS = ["reliability", "gate", "tiles", "checks", "usage"]
by_name = pytest.mark.parametrize("name", CHARTS)


@by_name
def test_title_and_every_row_say_view_counts_and_criteria(name: str) -> None:
    spec = every_chart()[name].to_dict()
    (heading,) = {tuple(node["subtitle"]) for node in nodes(spec) if "subtitle" in node}
    assert " ".join(heading) == "strict: small@abc; all 2 cases; 2 cases x 1 sample; criteria c0ffee"
    rows = [row for kept in spec["datasets"].values() for row in kept]
    told = [row for row in rows if "view" in row]
    assert told
    of = {"suite": "small@abc", "counts": "2 cases x 1 sample", "criteria": "c0ffee", "label": ""}
    assert all(of.items() <= row.items() for row in told)
    # Words and rules beside the lines of the reliability chart repeat figures of its rows.
    assert len(told) == len(rows) or name == "reliability"


@by_name
def test_a_chart_is_said_in_words_and_fits_a_narrow_screen(name: str) -> None:
    chart = every_chart()[name]
    said = chart.to_dict()["description"]
    picture = ET.fromstring(charts.to_svg(chart))
    assert re.search(r"\d", said.removesuffix("Suite small."))
    assert (picture.get("role"), picture.get("aria-label")) == ("img", said)
    assert float(picture.get("width", "999")) <= 480
    sizes = {float(size) for size in re.findall(r'font-size="([\d.]+)px"', charts.to_svg(chart))}
    assert min(sizes) >= 9.5


@pytest.mark.parametrize("samples", [1, 2, 40])
def test_an_axis_that_counts_has_whole_numbers_each_once(samples: int) -> None:
    spent = spending([Sample("r", "c0", n, duration_s=float(n)) for n in range(1, samples + 1)])
    picture = charts.to_svg(charts.usage_chart(spread_bins(spent), spread_points(spent), about=ABOUT))
    (axis,) = (
        one for one in ET.fromstring(picture).iter() if one.get("aria-label", "").startswith("Y-axis titled 'samples'")
    )
    *ticks, title = [node.text for node in axis.iter() if node.tag.endswith("}text")]
    assert (ticks, title) == ([str(n) for n in range(len(ticks))], "samples")


@pytest.mark.parametrize(
    ("most", "ticks"), [(0, [0]), (1, [0, 1]), (4, [0, 2, 4]), (14, [0, 5, 10]), (40, [0, 20, 40])]
)
def test_an_axis_of_counts_steps_in_round_numbers(most: int, ticks: list[int]) -> None:
    assert counting_axis(most)["values"] == ticks


@by_name
def test_words_follow_the_page_and_nothing_is_painted_behind(name: str) -> None:
    chart = every_chart()[name]
    assert chart.to_dict()["background"] == "transparent"
    words = [node["mark"] for node in nodes(chart.to_dict()) if isinstance(node.get("mark"), dict)]
    texts = [mark for mark in words if mark["type"] == "text"]
    assert texts or name == "usage"
    assert all(mark["style"] == "guide-label" and "color" not in mark and mark["stroke"] is None for mark in texts)
    root = ET.fromstring(charts.to_svg(chart))
    inks = {node.get("fill") for node in root.iter() if node.tag.endswith("}text")}
    assert inks == {"currentColor"}


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("paper", ["#ffffff", "#111111", "#14181d"])
def test_marks_stand_out_on_light_and_dark_paper(paper: str) -> None:
    for colour in (BLUE, VERMILLION, GREEN, GREY):
        low, high = sorted([luminance(colour), luminance(paper)])
        assert (high + 0.05) / (low + 0.05) >= 3


def test_bars_of_a_check_hold_its_counts_and_say_the_lowest() -> None:
    chart = every_chart()["checks"]
    parts = {row["state"]: (row["verdicts"], row["start"]) for row in drawn_rows(chart, "state", "verdicts")}
    assert parts == {"passed": (3, 0.0), "failed": (1, 0.6), "not scored": (1, 0.8)}
    assert "only: 3 of 4 passed, 1 failed, 1 could not be had, mean 0.750" in drawn_words(chart)
    assert "The lowest: only: 3 of 4 passed." in chart.to_dict()["description"]


def test_latency_and_tokens_are_drawn_and_an_unknown_cost_says_so() -> None:
    chart = every_chart()["usage"]
    points = {row["quantity"]: (row["median"], row["p95"], row["total"]) for row in drawn_rows(chart, "median")}
    assert points["seconds"] == (20.0, 38.0, 820.0)
    assert sum(row["samples"] for row in drawn_rows(chart, "lo", "hi") if row["quantity"] == "seconds") == 40
    assert "cost in USD: unknown for all 40 samples" in charts.to_svg(chart)


def test_a_calibration_draws_agreement_beside_its_baseline() -> None:
    row = {
        "check": "quality", "rate": "agreement with people", "kind": "agreement", "value": 0.75, "lo": 0.4, "hi": 0.9,
        "count": 9, "of": 12, "baseline": 2 / 3, "by": "m-7", "source": "labelled set x", "id": "calibration-1",
    }  # fmt: skip
    none = {
        **row, "rate": "false passes, of what it passes", "kind": "error", "value": None, "lo": None, "hi": None,
        "count": 0, "of": 0, "baseline": None,
    }  # fmt: skip
    chart = charts.calibration_chart(pd.DataFrame([row, none]), about=ABOUT)
    drawn = {
        one["kind"]: (one["value"], one["lo"], one["hi"], one["baseline"]) for one in drawn_rows(chart, "kind", "lo")
    }
    assert drawn == {"agreement": (0.75, 0.4, 0.9, 2 / 3), "error": (None, None, None, None)}
    assert "quality, agreement with people: 0.750 [0.400, 0.900], 9 of 12; baseline 0.667" in charts.to_svg(chart)
    assert "quality, false passes, of what it passes: undefined, 0 of 0" in chart.to_dict()["description"]
