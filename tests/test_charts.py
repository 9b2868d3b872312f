"""Charts draw the numbers of metrics, say what they show inside themselves, and need no network."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evallib import charts
from evallib.charts.reliability import _spread
from evallib.errors import InputError
from evallib.gate import Gate, decide
from evallib.metrics import curves, passes_histogram, per_case, per_case_check
from evallib.records import POST_HOC_LABEL

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


def reliability(*frames: pd.DataFrame, caption: str = "a caption") -> Any:
    return charts.reliability_chart(
        pd.concat([curves(one) for one in frames]),
        pd.concat([passes_histogram(one) for one in frames]),
        caption=caption,
    )


def drawn_rows(chart: Any, *names: str) -> list[dict[str, Any]]:
    """Every row in the specification's data that has all of `names`."""
    data = chart.to_dict()
    found: list[dict[str, Any]] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.extend([node] if set(names) <= node.keys() else [])
            for each in node.values():
                walk(each)
        elif isinstance(node, list):
            for each in node:
                walk(each)

    walk(data)
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
    spec = chart.to_dict()
    assert len(spec["hconcat"]) == 2
    domains = [
        layer["encoding"]["y"]["scale"]["domain"]
        for column in spec["hconcat"]
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
    gate = Gate(mean=0.5, checks={"only": 0.9}, floor=0.7)
    decision = decide(gate, frame, verdicts(frame), complete=True, whole_validation=True)
    chart = charts.gate_chart(decision)
    picture = charts.to_svg(chart)
    assert "Gate: blocked" in picture
    assert all(re.split("[:;]", rule.reason)[0] in picture for rule in decision.rules)
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
    assert "judged by m-7, calibration-ab" in charts.to_svg(charts.gate_chart(decision))


def test_all_panels_share_one_scale_of_cases_and_a_caption_keeps_its_lines() -> None:
    chart = reliability(outcomes("pf", "pf", "pf"), outcomes("pp", "pp", "pf", view="read"), caption="one\ntwo")
    spec = chart.to_dict()
    tops = {
        layer["encoding"]["y"]["scale"]["domain"][1]
        for column in spec["hconcat"]
        for layer in column["vconcat"][1]["layer"]
    }
    assert len(tops) == 1
    assert spec["title"]["subtitle"][-2:] == ["one", "two"]


def test_a_label_of_its_own_is_drawn_as_it_is() -> None:
    late = f"{POST_HOC_LABEL}; predicted after preview"
    chart = reliability(outcomes("pf"), outcomes("pp", view="rescored:x").assign(label=late))
    assert chart.to_dict()["usermeta"]["evallib"]["label"] == late
    assert f"{late[0].upper()}{late[1:]}: rescored:x" in charts.to_svg(chart)


def test_a_picture_never_overwrites_a_file(tmp_path: Path) -> None:
    chart = reliability(outcomes("p", "f"))
    path = charts.to_png(chart, tmp_path / "a.png", scale=1)
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="exists already"):
        charts.to_png(chart, path)
