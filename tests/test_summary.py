"""What stands beside the headline: the re-run, bounds at every k, flaky cases, slices, copies, cases drawn again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.commands.summary_lines import summary_lines
from evallib.metrics import curves, flaky_cases, per_case, per_case_check, per_split, per_tag, summarise
from evallib.metrics.summary import Summary
from evallib.records import Sample
from evallib.statistics.bootstrap import case_bootstrap
from evallib.views.figures import load_figures
from tests.commandline import said
from tests.making import stored_run
from tests.test_metrics import NO_VERDICTS, VERDICT, outcomes


def with_outputs(frame: pd.DataFrame, *texts: str, draw: str = "") -> pd.DataFrame:
    """The frame with what each sample put out, a letter per sample and a text per case."""
    return frame.assign(trajectory=list("".join(texts)), draw=draw)


def test_a_re_run_has_its_own_interval_narrower_than_that_of_new_cases() -> None:
    summary = summarise(outcomes(*["pppf"] * 10, *["ffff"] * 10), NO_VERDICTS)
    low, high = summary["rerun"]["pass_rate_interval"] or ()
    new_low, new_high = summary["pass_rate_interval"] or ()
    assert new_low < low < 0.375 < high < new_high
    assert "very cases" in summary["rerun"]["interval_of"]
    assert "other cases" in summary["interval_of"]
    lines = "\n".join(summary_lines(summary))
    assert f"of these very cases, asked again: [{low:.3f}, {high:.3f}]" in lines


@pytest.mark.parametrize(
    ("cases", "why"), [(["p", "f"], "one sample"), (["ppf"], "one case"), (["pp", "p"], "one sample")]
)
def test_where_a_re_run_cannot_be_told_the_reason_is(cases: list[str], why: str) -> None:
    rerun = summarise(outcomes(*cases), NO_VERDICTS)["rerun"]
    assert (rerun["pass_rate_interval"], rerun["pass_rate_se"]) == (None, None)
    assert why in str(rerun["why_none"])


def test_repeats_that_are_copies_give_no_re_run_and_one_draw_a_case() -> None:
    frame = outcomes(*["pppp"] * 19, "ffff")
    summary = summarise(with_outputs(frame, *[c * 4 for c in "abcdefghijklmnopqrst"]), NO_VERDICTS)
    assert summary["repeats"] == {"cases": 20, "identical": 20, "copies": 0, "samples": 80, "distinct": 20}
    assert summary["rerun"]["pass_rate_interval"] is None
    assert "In all 20 cases every sample gave the same answer: 20 distinct of 80 samples" in summary["caption"]
    single = summarise(outcomes(*["p"] * 19, "f"), NO_VERDICTS)
    for k in ("1", "2", "4"):
        assert summary["pass_hat_interval"][k] == single["pass_rate_interval"]
    assert curves(with_outputs(frame, *["a" * 4] * 20))["lo"].min() == (single["pass_rate_interval"] or [0])[0]


def test_no_figure_of_a_run_takes_copies_for_draws() -> None:
    """Pooled rate, mean score, splits, tags and checks: four copies of each answer are worth one, as in one sample."""

    def of(samples: int) -> Summary:
        frame = outcomes(*["p" * samples] * 19, "f" * samples)
        frame = frame.assign(score=frame["passed"].astype(float) * 0.9, tags=[["t"]] * len(frame))
        asked = zip(frame["case_id"], frame["sample"], frame["passed"].astype(bool), strict=True)
        verdicts = [VERDICT | {"case_id": c, "sample": n, "passed": p, "value": float(p)} for c, n, p in asked]
        frame = with_outputs(frame, *[c * samples for c in "abcdefghijklmnopqrst"])
        slices = per_split(frame), per_tag(frame)
        found = summarise(frame, pd.DataFrame(verdicts), [1])
        for one, name in zip(slices, ("by_split", "by_tag"), strict=True):
            (part,) = found[name].values()  # type: ignore[literal-required]
            assert one[["lo", "hi"]].to_numpy().tolist() == [part["pass_rate_interval"]]
        return found

    copied, single = of(4), of(1)
    for name in ("pass_rate_interval", "pass_rate_micro_interval", "score_mean_interval"):
        assert copied[name] == pytest.approx(single[name]), name  # type: ignore[literal-required]
    for name in ("by_split", "by_tag"):
        (mine,), (theirs,) = copied[name].values(), single[name].values()  # type: ignore[literal-required]
        assert mine["pass_rate_interval"] == pytest.approx(theirs["pass_rate_interval"]), name
    (check,), (one,) = copied["by_check"].values(), single["by_check"].values()
    assert check["pass_rate_interval"] == pytest.approx(one["pass_rate_interval"])
    assert check["mean_value_interval"] == pytest.approx(one["mean_value_interval"])


def test_a_run_of_errors_alone_has_no_re_run() -> None:
    rerun = summarise(outcomes("ee", "ee"), NO_VERDICTS)["rerun"]
    assert (rerun["pass_rate_interval"], rerun["pass_rate_se"]) == (None, None)
    assert rerun["why_none"] == "no sample was scored"


def test_bounds_stand_only_where_there_are_errors_to_bound() -> None:
    for letters, told in (("pf", False), ("pe", True)):
        lines = "\n".join(summary_lines(summarise(outcomes(letters, "pp"), NO_VERDICTS)))
        assert ("without errors" in lines, "bounds [" in lines) == (told, told)


def test_one_case_of_copies_is_no_all() -> None:
    summary = summarise(with_outputs(outcomes("pp", "p"), "aa", "b"), NO_VERDICTS)
    assert "In the one case every sample gave the same answer: 2 distinct of 3 samples" in summary["caption"]


def test_a_slice_of_few_cases_says_why_it_has_no_rate() -> None:
    few, many = (outcomes(*["pf"] * cases).assign(tags=[["t"]] * 2 * cases) for cases in (9, 10))
    lines = summary_lines(summarise(few, NO_VERDICTS))
    at = next(n for n, line in enumerate(lines) if line.startswith("tag"))
    assert lines[at].split("  ")[3:5] == ["pass rate, of 10 cases or more", "without outcome"]
    assert lines[at + 1].split() == ["t", "9", "9/18", "0"]
    assert "of 10 cases or more" not in "\n".join(summary_lines(summarise(many, NO_VERDICTS)))


def test_one_case_is_said_to_have_no_interval_and_not_what_intervals_are_of() -> None:
    summary = summarise(outcomes("ppf"), NO_VERDICTS)
    assert "other cases like these" not in "\n".join([summary["caption"], *summary_lines(summary)])
    assert "means over cases; one case has no interval" in summary["caption"]
    assert any(line.startswith("one case has no interval; pooled over samples") for line in summary_lines(summary))


def test_one_sample_that_repeats_the_draw_of_another_is_enough() -> None:
    frame = with_outputs(outcomes("ppf", "pff"), "aab", "cde", draw="seed 1")
    summary = summarise(frame, NO_VERDICTS)
    assert summary["repeats"] == {"cases": 2, "identical": 0, "copies": 1, "samples": 6, "distinct": 5}
    assert "1 sample repeats the draw and the answer of another sample" in summary["caption"]
    assert summary["rerun"]["why_none"] == "the samples of a case are copies of one another"
    apart = with_outputs(outcomes("ppf", "pff"), "aab", "cde")
    assert summarise(apart, NO_VERDICTS)["rerun"]["pass_rate_interval"] is not None


def test_a_pooled_run_that_repeats_another_in_every_place_adds_no_draw() -> None:
    """As a cache gives them back, under whatever seed."""
    one = with_outputs(outcomes("ppf", "pff"), "abc", "def")
    twice = pd.concat([one, one.assign(run_id="again")], ignore_index=True)
    summary = summarise(twice, NO_VERDICTS)
    assert summary["repeats"] == {"cases": 2, "identical": 0, "copies": 6, "samples": 12, "distinct": 6}
    assert "6 samples repeat the draw and the answer of another sample" in summary["caption"]
    assert summary["rerun"]["why_none"] == "the samples of a case are copies of one another"
    other = twice.assign(trajectory=[*twice["trajectory"][:-1], "another"])
    assert summarise(other, NO_VERDICTS)["repeats"]["copies"] == 0


def test_some_cases_that_always_answer_alike_are_counted_and_no_more() -> None:
    summary = summarise(with_outputs(outcomes("pp", "pf"), "aa", "bc"), NO_VERDICTS)
    assert "In 1 of 2 cases every sample gave the same answer." in summary["caption"]
    assert summary["rerun"]["pass_rate_interval"] is not None


def test_errors_have_put_out_nothing_that_could_be_a_copy() -> None:
    summary = summarise(with_outputs(outcomes("pee", "pfe"), "aaa", "bca"), NO_VERDICTS)
    assert summary["repeats"] == {"cases": 1, "identical": 0, "copies": 0, "samples": 3, "distinct": 3}


def test_every_k_has_its_bounds_under_both_policies() -> None:
    summary = summarise(outcomes("pe", "fe", "pp"), NO_VERDICTS, [1, 2, 3])
    assert summary["pass_at_bounds"] == {"1": [0.5, 5 / 6], "2": [2 / 3, 1.0], "3": None}
    assert summary["pass_hat_bounds"] == {"1": [0.5, 5 / 6], "2": [1 / 3, 2 / 3], "3": None}
    assert summary["pass_hat_bounds"]["1"] == summary["bounds"]
    without = summary["without_errors"]
    assert (without["pass_rate"], without["pass_rate_micro"]) == (pytest.approx(2 / 3), 0.75)
    assert set(without["pass_at_interval"]) == {"1", "2", "3"}


def test_flaky_cases_are_listed_and_counted_and_errors_make_none() -> None:
    frame = outcomes("ppp", "ppf", "pff", "fff", "ppe", "pfff")
    summary = summarise(frame, NO_VERDICTS)
    assert (summary["flaky"], summary["flaky_cases"]) == (3, ["c01", "c02", "c05"])
    assert flaky_cases(frame)["case_id"].tolist() == ["c01", "c02", "c05"]
    assert per_case(frame)["flaky"].tolist() == [False, True, True, False, False, True]
    assert "3 cases (c01, c02, c05)" in "\n".join(summary_lines(summary))


def test_splits_and_tags_have_their_own_figures() -> None:
    frame = pd.concat([outcomes("pp", "pf", split="train"), outcomes("ff", "fe", split="validation", run_id="s")])
    frame["case_id"] = frame["split"].str[0] + frame["case_id"]
    frame["tags"] = frame["case_id"].map({"tc00": ["a", "b"], "tc01": ["b"], "vc00": [], "vc01": ["b", "b"]})
    summary = summarise(frame, NO_VERDICTS)
    assert {name: (s["cases"], s["planned"], s["passed"], s["errors"]) for name, s in summary["by_split"].items()} == {
        "train": (2, 4, 3, 0),
        "validation": (2, 4, 0, 1),
    }
    assert {name: (s["cases"], s["pass_rate"]) for name, s in summary["by_tag"].items()} == {"a": (1, 1), "b": (3, 0.5)}
    assert summary["by_tag"]["a"]["pass_rate_interval"] is None
    assert per_split(frame)["pass_rate"].tolist() == [0.75, 0.0]
    assert per_tag(frame)["lo"].isna().tolist() == [True, False]
    lines = "\n".join(summary_lines(summary))
    assert re.search(r"^b +3 +3/6 +1$", lines, re.MULTILINE)  # a slice below ten cases shows its counts alone


def test_a_frame_without_tags_has_none() -> None:
    assert summarise(outcomes("pf"), NO_VERDICTS)["by_tag"] == {}
    assert per_tag(outcomes("pf")).empty


def test_cases_drawn_again_stand_beside_and_change_nothing_else() -> None:
    frame = outcomes("pppf", "ppff", "pfff", "ffff")
    usual, drawn = summarise(frame, NO_VERDICTS), summarise(frame, NO_VERDICTS, bootstrap=7)
    found = drawn.pop("bootstrap")
    assert drawn == usual
    assert found["pass_rate_interval"] == list(case_bootstrap([0.75, 0.5, 0.25, 0.0], seed=7).interval or ())
    assert found["pass_rate_interval"] == found["pass_at_interval"]["1"] == found["pass_hat_interval"]["1"]
    assert (found["seed"], found["resamples"]) == (7, 10_000)
    assert found["pass_at_interval"]["4"] != usual["pass_at_interval"]["4"]


def test_where_cases_drawn_again_are_all_alike_no_certainty_is_claimed() -> None:
    found = summarise(outcomes("pp", "pp"), NO_VERDICTS, bootstrap=1)["bootstrap"]
    assert found["pass_rate_interval"] is None
    assert "none, as drawing" in "\n".join(summary_lines(summarise(outcomes("pp", "pp"), NO_VERDICTS, bootstrap=1)))


def test_scores_and_checks_have_intervals_of_their_own() -> None:
    frame = outcomes("pf", "pp", "ff")
    keys = zip(frame["case_id"], frame["sample"], frame["passed"], strict=True)
    verdicts = pd.DataFrame(
        [{**VERDICT, "case_id": c, "sample": n, "passed": p, "value": float(p), "raw": 5.0 * p} for c, n, p in keys]
    )
    summary = summarise(frame, verdicts)
    policy = summary["by_check"]["policy"]
    assert (policy["pass_rate"], policy["mean_raw"]) == (0.5, 2.5)
    assert policy["pass_rate_interval"] == policy["mean_value_interval"] == summary["pass_rate_interval"]
    assert summary["score_mean_interval"] == pytest.approx(summary["pass_rate_interval"])


def test_a_check_asked_of_few_cases_is_counted_over_those() -> None:
    frame = outcomes("pp", "ff")
    verdicts = pd.DataFrame([{**VERDICT, "case_id": "c01", "sample": n, "check_id": x} for n in (1, 2) for x in "ba"])
    found = per_case_check(frame, verdicts)
    assert found[["case_id", "check_id", "n"]].to_numpy().tolist() == [["c01", "b", 2], ["c01", "a", 2]]
    assert summarise(frame, verdicts)["by_check"]["a"]["cases"] == 1


@settings(max_examples=15, deadline=None)
@given(st.lists(st.text("pfe", min_size=3, max_size=3), min_size=2, max_size=8))
def test_under_one_policy_the_rate_lies_between_pass_hat_and_pass_at(cases: list[str]) -> None:
    frame = outcomes(*cases)
    before = frame.copy(deep=True)
    summary: Any = summarise(frame, NO_VERDICTS, bootstrap=1)
    for function in (flaky_cases, per_case, per_split, per_tag, curves):
        function(frame)
    pd.testing.assert_frame_equal(frame, before)
    for figures in (summary, summary["without_errors"]):
        for k, hat in figures["pass_hat"].items():
            if hat is not None and figures["eligible_cases"][k] == figures["cases"]:
                assert hat <= figures["pass_rate"] + 1e-12
                assert figures["pass_rate"] <= figures["pass_at"][k] + 1e-12
    assert list(summary["pass_at"].values()) == sorted(summary["pass_at"].values())
    assert list(summary["pass_hat"].values()) == sorted(summary["pass_hat"].values(), reverse=True)
    for interval in _intervals(summary):
        assert 0 <= interval[0] < interval[1] <= 1


def test_one_case_has_no_interval_anywhere() -> None:
    frame = outcomes("pfp").assign(tags=[["a"]] * 3)
    verdicts = pd.DataFrame([{**VERDICT, "case_id": "c00", "sample": n} for n in (1, 2, 3)])
    assert _intervals(summarise(frame, verdicts, bootstrap=1)) == []


def _intervals(value: Any, name: str = "") -> list[list[float]]:
    """Every interval of a summary, wherever it stands; bounds are none."""
    if isinstance(value, dict):
        inside = name if name.endswith("_interval") else ""
        return [one for key, inner in value.items() for one in _intervals(inner, inside or key)]
    return [value] if name.endswith("_interval") and value is not None else []


def test_the_command_line_draws_cases_again_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples = [Sample("r-1", c, n, answer=t, seed=n) for c, t in (("c-1", "four"), ("c-2", "no")) for n in (1, 2)]
    stored_run(tmp_path, {}, samples=samples)
    asked = ("metrics", "r-1", "--data", str(tmp_path))
    found = json.loads(said(capsys, *asked, "--interval", "bootstrap", "--seed", "3", "--json"))
    assert found["bootstrap"]["seed"] == 3
    assert found["rerun"]["why_none"] == "the samples of a case are copies of one another"
    assert "bootstrap" not in json.loads(said(capsys, *asked, "--json"))
    said(capsys, *asked, "--seed", "3", status=2)


def test_the_figures_of_a_run_bind_no_case_to_its_checks(tmp_path: Path) -> None:
    stored_run(tmp_path, {"c-1": ["four"], "c-2": ["six"]})
    figures = load_figures(["r-1"], "strict", tmp_path, tmp_path / "log")
    assert figures.summary()["planned"] == 2
    assert "bound" not in vars(figures.suite)  # of 20,000 cases it takes longer than all figures
