"""Two runs' frames compared: paired figures, flips in both directions, errors, and what is refused."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.comparison.compare import Paired, sentences
from evallib.comparison.rows import MEAN_SCORE, PASS_RATE
from evallib.errors import InputError
from evallib.statistics.paired import minimum_detectable
from tests.agentops import vectors
from tests.gates import outcome, verdict
from tests.pairs import COLUMNS, Frames, compared, flip, frames, row
from tests.test_policies import SHAKY, STEADY


def test_the_difference_is_paired_by_case_and_comes_with_interval_test_and_what_could_be_found() -> None:
    a = frames("a", {f"c{n}": letters for n, letters in enumerate(["pppp", "pppf", "ppff", "ffff", "pfff"])})
    b = frames("b", {f"c{n}": letters for n, letters in enumerate(["pppf", "pppf", "pfff", "ffff", "ppff"])})
    found = row(compared(a, b), PASS_RATE)
    assert (found.a, found.b, found.difference) == (0.5, 0.45, pytest.approx(-0.05))
    assert found.se == pytest.approx(0.0935414346693)  # of -1/4, 0, -1/4, 0, 1/4 over five cases
    assert found.interval == pytest.approx((-0.05 - 2.7764451 * 0.0935414, -0.05 + 2.7764451 * 0.0935414), abs=1e-6)
    assert (found.p, found.test) == (1.0, "exact sign flip")
    assert (found.rose, found.fell) == (("c4",), ("c0", "c2"))


def test_one_sample_per_case_is_mcnemar() -> None:
    a = frames("a", {f"c{n}": "f" for n in range(8)} | {"z": "p"})
    b = frames("b", {f"c{n}": "p" for n in range(6)} | {"c6": "f", "c7": "f", "z": "p"})
    found = row(compared(a, b), PASS_RATE)
    assert (found.test, found.p) == ("exact McNemar", pytest.approx(0.03125))


def test_a_row_per_check_shows_the_one_that_fell_while_the_mean_rose() -> None:
    """Article 1: citations rose, and the policy check fell behind the mean."""
    cases = [f"t{n}" for n in range(10)]
    a = frames("a", dict.fromkeys(cases, "f"), policy=dict.fromkeys(cases, "p"), facts=dict.fromkeys(cases, "f"))
    b = frames("b", dict.fromkeys(cases, "f"), facts=dict.fromkeys(cases, "p"),
               policy={case: "f" if case in {"t1", "t2"} else "p" for case in cases})  # fmt: skip
    found = compared(a, b)
    assert row(found, MEAN_SCORE).difference == pytest.approx(0.8 / 3)
    assert (row(found, "policy").difference, row(found, "policy").fell) == (pytest.approx(-0.2), ("t1", "t2"))
    assert row(found, "facts").word == "higher"
    assert row(found, "facts").p_corrected == pytest.approx(3 * 2 / 2**10, rel=1e-6)
    assert any("mean score rose +0.267 (8 of 10 cases, " in one for one in sentences(found))
    assert any("while checks fell: policy -0.200 (2 of 10 cases, not shown)" in one for one in sentences(found))
    assert [one.case_id for one in found.flips] == [], "no outcome changed"


def test_every_comparison_is_corrected_for_all_of_them() -> None:
    """Rows with the same differences are one comparison, and one in which no case differs is none."""
    cases = [f"t{n}" for n in range(9)]
    a = frames("a", dict.fromkeys(cases, "f"), one=dict.fromkeys(cases, "f"), two=dict.fromkeys(cases, "f"))
    b = frames("b", dict.fromkeys(cases, "p"), one=dict.fromkeys(cases, "p"), two=dict.fromkeys(cases, "f"))
    found = compared(a, b)
    assert len([one for one in found.rows if one.p is not None]) == 5
    assert [one.row for one in found.rows if one.counts] == [PASS_RATE, MEAN_SCORE]
    assert row(found, PASS_RATE).p == pytest.approx(2 / 2**9)
    for name in (PASS_RATE, MEAN_SCORE, "right", "one"):
        assert row(found, name).p_corrected == pytest.approx(2 * 2 / 2**9)
        assert row(found, name).word == "higher"
    assert (row(found, "two").p_corrected, row(found, "two").same_as) == (1.0, "")
    assert (row(found, "one").same_as, row(found, "one").as_json()["counted"]) == (PASS_RATE, False)
    assert row(found, "one").says == "higher; in every case the same difference as pass rate, and counted with it"


def test_a_suite_of_one_check_is_one_comparison() -> None:
    """Six cases, all better: pass rate, mean score and check say the same once, and it is shown."""
    found = compared(frames("a", {f"c{n}": "ff" for n in range(6)}), frames("b", {f"c{n}": "pp" for n in range(6)}))
    assert [one.counts for one in found.rows] == [True, False, False]
    assert [one.p_corrected for one in found.rows] == [pytest.approx(2 / 2**6)] * 3
    assert all(one.shown for one in found.rows)


def test_too_few_cases_for_any_difference_say_so_and_repeats_are_not_offered() -> None:
    """Five cases can come to p = 2/32 at the least: no power at any difference, however many samples."""
    a = frames("a", {f"c{n}": "ffff" for n in range(5)})
    b = frames("b", {f"c{n}": "pppp" if n else "fppp" for n in range(5)})
    found = row(compared(a, b), PASS_RATE)
    assert (found.p, found.detectable, found.shown) == (2 / 2**5, None, False)
    assert found.why_none == "with 5 cases nothing can be shown at this level"
    assert found.as_json()["detectable_why_none"] == found.why_none
    assert found.says.startswith("not shown; with 5 cases nothing can be shown at this level; to settle 0.950 takes")
    assert "; no number of repeats of these cases would; its interval leaves out 0 by another" in found.says
    assert (found.repeats_to_settle, found.only_cases) == (None, True)


@pytest.mark.parametrize(("cases", "checks", "enough"), [(6, 0, True), (6, 1, False), (7, 1, True), (7, 2, False)])
def test_what_can_be_found_stands_at_the_level_that_decides(cases: int, checks: int, enough: bool) -> None:
    """0.05 over the comparisons, which are the pass rate, and with each check itself and the mean score."""
    names = [f"n{n}" for n in range(checks)]
    here = {f"c{n}": "pf" if n else "pp" for n in range(cases)}
    there = {f"c{n}": "pp" if n % 2 else "ff" for n in range(cases)}
    other = {f"c{n}": "pp" if n < 2 else "pf" for n in range(cases)}
    a = frames("a", here, **dict.fromkeys(names, here))
    b = frames("b", there, **{name: other if at else there | {"c1": "pf"} for at, name in enumerate(names)})
    found = compared(a, b)
    tests = sum(one.counts for one in found.rows)
    assert tests == (1, 3, 4)[checks]
    one = row(found, PASS_RATE)
    assert not one.shown
    assert (one.detectable is not None) is (2 / 2**cases < 0.05 / tests) is enough
    if enough:
        assert one.se is not None
        assert one.detectable == pytest.approx(minimum_detectable(one.se, 0.05 / tests))


def risen(*cases: str) -> Paired:
    """B against a run of single fails and passes like `f`, each case of B as it stands here."""
    letters = {f"c{n}": said for n, said in enumerate(cases)}
    return compared(frames("a", {case: "f" * len(said) for case, said in letters.items()}), frames("b", letters))


def test_an_interval_that_leaves_out_zero_beside_what_is_not_shown_is_explained() -> None:
    """Five cases that all rise: no other case could undo it, so says the interval, and p cannot come below 2/32."""
    found = row(risen("p", "p", "p", "p", "p"), PASS_RATE)
    assert found.interval is not None
    assert (found.word, found.interval[0] > 0, found.p) == ("not shown", True, 2 / 2**5)
    assert found.says.endswith("its interval leaves out 0 by another method: the exact McNemar decides, p 0.062")
    spread = row(risen("pppf", "pppp", "pppp", "pppp", "pppp"), PASS_RATE)
    assert "; its interval leaves out 0 by another method: the exact sign flip decides, p 0.062" in spread.says


def test_an_interval_of_one_row_alone_is_told_from_the_p_of_all() -> None:
    a, b = ({f"c{n}": said for n in range(7)} for said in ("f", "p"))
    other = {**b, "c0": "f", "c1": "f"}
    third = {**b, "c2": "f", "c3": "f"}
    found = compared(frames("a", a, one=a, two=a), frames("b", {**b, "c6": "f"}, one=other, two=third))
    one = row(found, PASS_RATE)
    assert (one.word, one.p) == ("not shown", pytest.approx(2 / 2**6))
    assert one.p_corrected == pytest.approx(3 * 2 / 2**6)
    assert "; its interval leaves out 0, but is of this row alone: p, 0.031 alone, is 0.094 corrected" in one.says


def test_a_difference_that_is_shown_though_its_interval_holds_zero_is_explained() -> None:
    """Nine cases rise a little and one by much: every flip but one is smaller, and Student's t sees one outlier."""
    a = frames("a", {f"c{n}": "f" * 100 for n in range(10)})
    b = frames("b", {f"c{n}": "p" * (1 if n else 100) + "f" * (99 if n else 0) for n in range(10)})
    found = row(compared(a, b), PASS_RATE)
    assert found.interval is not None
    assert (found.word, found.interval[0] < 0) == ("higher", True)
    assert (
        found.says == "higher in B; its interval holds 0 by another method: the exact sign flip decides, p below 0.05"
    )


def test_a_mean_that_rose_by_next_to_nothing_is_not_said_to_rise_by_nothing() -> None:
    a, b = (
        (pd.DataFrame([outcome("c", score, run_id=run)]), pd.DataFrame([verdict("c", "facts", raw, run_id=run)]))
        for run, score, raw in (("a", 0.5, 0.5), ("b", 0.50004, 0.4996))
    )
    (said,) = [one for one in sentences(compared(a, b)) if "while" in one]
    one = "(1 of 1 case, one case, no test)"
    assert said == f"the mean score rose +0.00004 {one} while checks fell: facts -0.0004 {one}"


def test_what_is_not_shown_says_what_would_be_found_and_what_would_settle_it() -> None:
    a = frames("a", {f"c{n}": "ppff" for n in range(20)})
    b = frames("b", {f"c{n}": "ppff" if n % 4 else "pppf" for n in range(20)})
    found = row(compared(a, b), PASS_RATE)
    assert not found.shown
    assert found.cases_to_settle is not None
    assert found.cases_to_settle > 20
    assert found.says.startswith("not shown")
    assert f"about {found.cases_to_settle} cases" in found.says
    assert f"or {found.repeats_to_settle} samples of each of these cases" in found.says


def test_repeats_do_not_settle_what_differs_between_cases() -> None:
    def steady(run: str, passing: set[int]) -> Frames:
        return frames(run, {f"c{n}": "pp" if n in passing else "ff" for n in range(10)})

    found = row(compared(steady("a", {0, 1, 2, 3, 4}), steady("b", {0, 1, 5, 6, 7, 8})), PASS_RATE)
    assert found.repeats_to_settle is None
    assert found.says.endswith("no number of repeats of these cases would"), "interval and test agree"


def test_single_samples_cannot_say_what_repeats_would_do() -> None:
    a, b = frames("a", {f"c{n}": "f" for n in range(6)}), frames("b", {f"c{n}": "f" if n else "p" for n in range(6)})
    assert "single samples cannot tell" in row(compared(a, b), PASS_RATE).says


def test_one_shared_case_gives_a_difference_and_no_test() -> None:
    found = row(compared(frames("a", {"c": "pf"}), frames("b", {"c": "pp"})), PASS_RATE)
    assert (found.difference, found.interval, found.p, found.p_corrected, found.word) == (
        0.5, None, None, None, "one case, no test",
    )  # fmt: skip


def test_cases_move_in_both_directions_and_none_hides_behind_a_mean() -> None:
    a = frames("a", {"up": "fff", "down": "ppp", "gone": "pff", "same": "pfp"})
    b = frames("b", {"up": "ppf", "down": "ppf", "gone": "fff", "same": "ppf"})
    found = compared(a, b)
    assert [(one.case_id, one.word, one.rose) for one in found.flips] == [
        ("down", "always -> sometimes", False),
        ("gone", "sometimes -> never", False),
        ("up", "never -> sometimes", True),
    ]
    assert flip(found, "up").checks == ("right",)


def test_a_case_that_only_a_model_judges_otherwise_says_so() -> None:
    a, b = frames("a", {"c": "p", "d": "p"}), frames("b", {"c": "f", "d": "p"})
    for each in (a, b):
        each[0]["passed_deterministic"] = True
    assert flip(compared(a, b), "c").by == "model"
    b[0]["passed_deterministic"] = [False, True]
    assert flip(compared(a, b), "c").by == "rules"


def test_a_case_that_only_errors_moved_is_no_fall_by_rules() -> None:
    a = frames("a", {"lost": "ppf", "gone": "ppp", "worse": "ppp", "same": "pp"})
    b = frames("b", {"lost": "pee", "gone": "eee", "worse": "pfe", "same": "pp"})
    found = compared(a, b)
    assert {one.case_id: one.by for one in found.flips} == {"lost": "errors", "gone": "errors", "worse": "rules"}
    assert "3 fell (1 by rules, 0 by a model's verdict alone, 2 by errors alone)" in sentences(found)[0]


def test_cases_in_one_run_alone_are_left_out_of_every_figure() -> None:
    a, b = frames("a", {"c": "p", "only": "f"}), frames("b", {"c": "p", "new": "f"})
    found = compared(a, b)
    assert (row(found, PASS_RATE).a, row(found, PASS_RATE).cases) == (1.0, 1)
    with pytest.raises(InputError, match="share no case"):
        compared(a, frames("b", {"new": "f"}))


def test_errors_are_fails_and_what_they_could_have_been_stands_beside() -> None:
    a, b = frames("a", {"c": "pp", "d": "ff"}), frames("b", {"c": "pe", "d": "ff"})
    found = compared(a, b)
    assert row(found, PASS_RATE).difference == -0.25
    assert (found.errors, found.bounds) == ((0, 1), (-0.25, 0.0))
    assert found.without_errors is not None
    assert (found.without_errors.difference, found.without_errors.p) == (0.0, None)
    assert found.depends_on_errors
    assert compared(a, a).without_errors is None
    assert not compared(a, a).depends_on_errors


def test_the_rank_of_two_agents_flips_with_what_is_made_of_errors() -> None:
    """Terminal-Bench: 0.5875 against 0.5675 with errors as fails, 0.6051 against 0.6122 without them."""
    a = frames("droid", {f"c{n}": "ppppf" if n < 4 else "fffff" for n in range(8)})
    b = frames("ob1", {f"c{n}": "pppee" if n < 5 else "fffff" for n in range(8)})
    found = compared(a, b)
    assert found.pass_rate.difference is not None
    assert found.without_errors is not None
    assert found.without_errors.difference is not None
    assert found.pass_rate.difference < 0 < found.without_errors.difference
    assert found.depends_on_errors
    (said,) = [one for one in sentences(found) if one.startswith("The order depends on the errors")]
    assert said.startswith(
        "The order depends on the errors: droid leads ob1 when they count as fails (0.4000 to 0.3750"
    )
    assert "trails it when they are left out (0.4000 to 0.6250); errors are 0 of 40 samples and 10 of 40" in said
    assert not [one for one in sentences(compared(a, a)) if "order depends" in one]


def test_the_order_is_of_each_run_s_own_cases_as_its_figures_are() -> None:
    """The rates of the leaderboard: over the cases that both still have without errors the difference is another."""
    a, b = (frames(n, {f"c{i}": each for i, each in enumerate(of)}) for n, of in (("s", STEADY), ("t", SHAKY)))
    (said,) = [one for one in sentences(compared(a, b)) if one.startswith("The order depends on the errors")]
    assert "s leads t when they count as fails (0.5875 to 0.5675)" in said
    assert "(0.6051 to 0.6122)" in said


def test_a_check_is_compared_in_its_own_units_and_named_with_its_judge() -> None:
    a, b = frames("a", {"c": "p", "d": "p"}), frames("b", {"c": "p", "d": "p"})

    def with_judge(given: Frames, *raws: float) -> Frames:
        judged = [
            verdict(case, "quality", raw, run_id=run, stochastic=True)
            for (run, case), raw in zip(given[0][["run_id", "case_id"]].itertuples(index=False), raws, strict=True)
        ]
        rows = pd.concat([given[1], pd.DataFrame(judged)])
        return given[0], rows.assign(judge=['{"model": "m-7"}' if one else "" for one in rows["stochastic"]])

    found = row(compared(with_judge(a, 4, 5), with_judge(b, 1, 3), {"quality": 4.0}), "quality")
    assert (found.a, found.b, found.difference) == (4.5, 2.0, -2.5)
    assert found.interval is not None
    assert found.interval[0] == -4.0, "no further than the scale is wide"
    assert found.judge == "judged by m-7, uncalibrated"


# swapping, and a run against itself

letters = st.lists(st.text("pfe", min_size=2, max_size=4), min_size=2, max_size=7)


def run_of(name: str, said: list[str]) -> Frames:
    return frames(name, {f"c{n}": one for n, one in enumerate(said)})


@settings(max_examples=25)
@given(letters, letters)
def test_swapping_the_runs_mirrors_everything(first: list[str], second: list[str]) -> None:
    forth = compared(run_of("a", first), run_of("b", second))
    back = compared(run_of("b", second), run_of("a", first))
    for one, other in zip(forth.rows, back.rows, strict=True):
        assert (one.a, one.b, one.p, one.p_corrected) == (other.b, other.a, other.p, other.p_corrected)
        assert (one.rose, one.fell) == (other.fell, other.rose)
        assert (one.cases_to_settle, one.detectable) == (other.cases_to_settle, other.detectable)
        if one.interval is not None and other.interval is not None and one.difference is not None:
            assert one.interval == pytest.approx((-other.interval[1], -other.interval[0]))
            assert -1 <= one.interval[0] < one.interval[1] <= 1
            assert one.interval[0] - 1e-9 <= one.difference <= one.interval[1] + 1e-9
    assert {f.case_id: f.rose for f in forth.flips} == {f.case_id: not f.rose for f in back.flips}
    assert forth.bounds == pytest.approx((-back.bounds[1], -back.bounds[0]))
    assert forth.depends_on_errors == back.depends_on_errors


@settings(max_examples=25)
@given(letters)
def test_a_run_against_itself_differs_in_nothing(said: list[str]) -> None:
    mine = run_of("a", said)
    before = [one.copy(deep=True) for one in mine]
    found = compared(mine, mine)
    assert not found.flips
    assert all(one.difference in {0.0, None} and one.p in {1.0, None} and not one.moved for one in found.rows)
    for frame, old in zip(mine, before, strict=True):
        pd.testing.assert_frame_equal(frame, old)


# what contradicts itself


# the other harness's cases


def frames_of(run: str, samples: list[dict[str, Any]]) -> Frames:
    """The vector's samples as our frames: each score is a critical check, `judge` the one that a model answers."""
    rows, verdicts = [], []
    for one in samples:
        here = {"run_id": run, "sample": one["sample"]}
        rules = all(value == 1 for name, value in one["scores"].items() if name != "judge")
        score = sum(one["scores"].values()) / len(one["scores"]) if one["scores"] else 0.0
        rows.append(outcome(one["id"], score, **here) | {"passed": one["passed"], "passed_deterministic": rules})
        verdicts += [
            verdict(one["id"], name, float(value), **here)
            | {"critical": True, "passed": value == 1, "stochastic": name == "judge"}
            for name, value in one["scores"].items()
        ]
    return pd.DataFrame(rows), pd.DataFrame(verdicts, columns=COLUMNS)


REFUSALS = {"different_samples": "in one run", "pass_flag_disagrees": "says pass", "no_scores": "has no verdict"}


@pytest.mark.parametrize("vector", vectors("comparison"), ids=lambda vector: vector["id"])
def test_the_other_harness_s_cases(vector: dict[str, Any]) -> None:
    """Only what falls is a regression: there, an improvement from never to sometimes failed the comparison."""
    a, b = (frames_of(name, vector["input"][name]) for name in ("baseline", "candidate"))
    expected = vector["expected"]
    if "error" in expected:
        with pytest.raises(InputError, match=REFUSALS.get(expected["error"], "")):
            compared(a, b)
        return
    found = compared(a, b)
    fell = [one for one in found.flips if not one.rose]
    better = vector["parity"] == "quirk"
    flaky = [one.case_id for one in fell if one.by == "rules" and 0 < one.b[0] < one.b[1]]
    judged = [one.case_id for one in fell if one.by == "model" and 0 < one.b[0] < one.b[1]]
    rules_fell = any(one.by == "rules" for one in fell)
    checks_fell = any(one.kind == "check" and not one.judge and (one.difference or 0) < 0 for one in found.rows)
    assert found.pass_rate.difference == pytest.approx(expected["pass_rate_delta"])
    assert {one.row: one.difference for one in found.rows if one.kind == "check"} == pytest.approx(
        expected["score_deltas"]
    )
    assert flaky == ([] if better else expected["newly_flaky_cases"])
    assert judged == ([] if better else expected["newly_flaky_judged_cases"])
    assert (rules_fell or checks_fell) is (better is expected["deterministic_pass"])
