"""A judge's reply is a whole number on its scale or a problem; the lower median of readable votes counts."""

import json

import pytest

from evallib.checks.judge import Judge
from evallib.judges import Vote, build_prompt, judge_verdict, read_vote
from evallib.records import Sample

CHECK = Judge(id="quality", check="judge", rubric="Is it good?")
SAMPLE = Sample("r", "c", 1, answer="An answer.")


def votes(*scores: int | None) -> list[Vote]:
    return [Vote(s, "so") if s is not None else Vote(None, "", "no JSON") for s in scores]


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"score": 4, "reason": "fine"}', 4),
        ('```json\n{"score": 5}\n```', 5),
        ('{"score": 4.0}', 4),
        ('{"score": 6}', None),
        ('{"score": 9.2e124}', None),
        ('{"score": true}', None),
        ('{"score": "4"}', None),
        ('{"score": NaN}', None),
        ('{"score": 3.5}', None),
        ('{"criteria": {"a": 1}}', None),
        ('{"score": 0.9, "reason": "The br', None),
        ("I would say 4", None),
        ("", None),
        ("[4]", None),
    ],
)
def test_only_a_whole_number_on_the_scale_is_a_vote(reply: str, score: int | None) -> None:
    vote = read_vote(reply, (1, 5))
    assert vote.score == score
    assert bool(vote.problem) is (score is None)


@pytest.mark.parametrize(
    ("scores", "median"),
    [((1, 5, 5), 5), ((4, 4, 5), 4), ((3, None, 5), 3), ((None, None, None), None), ((None, None, 5), None)],
)
def test_the_lower_median_of_a_majority_counts(scores: tuple[int | None, ...], median: int | None) -> None:
    verdict = judge_verdict(CHECK, SAMPLE, votes(*scores), {"model": "m"})
    assert verdict.raw == median
    assert verdict.status == ("not_scored" if median is None else "scored")


def test_the_value_is_the_share_of_the_scale_and_only_the_top_passes() -> None:
    verdict = judge_verdict(CHECK, SAMPLE, votes(4, 4, 5), {"model": "m"})
    assert (verdict.value, verdict.passed, verdict.stochastic) == (0.75, False, True)


def test_a_judge_figure_carries_who_judged_and_that_nobody_calibrated_it() -> None:
    described = json.loads(judge_verdict(CHECK, SAMPLE, votes(5, 5, 5), {"model": "m"}).judge)
    assert (described["model"], described["calibration"], described["votes"]) == ("m", "uncalibrated", [5, 5, 5])


def test_a_judge_sees_question_key_and_answer_only() -> None:
    messages = build_prompt(CHECK, "Why?", {"facts": ["x"]}, "Because.")
    assert json.loads(messages[1]["content"]).keys() == {"rubric", "scale", "question", "key", "answer"}
