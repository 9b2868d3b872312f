"""Votes are calls: many at once, each within its deadline, asked again only for what is no reply, counted."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evallib.checks.judge import CaseMaterial, Judge
from evallib.endpoint import Endpoint, Reply
from evallib.errors import InputError
from evallib.judges import prompt_digest, stored_votes
from evallib.judging import Jury, estimate, is_same_model
from evallib.panel import EndpointPanel
from evallib.records import Sample, Turn, Usage, Verdict
from evallib.store import ReplyStore
from tests.juries import jury_of
from tests.tiny_server import Answer, drops, says, sends

CHECK = Judge(id="q", check="judge", rubric="Is it good?").facing(CaseMaterial({}, ["Why?"], [None]))
SAMPLE = Sample("r", "c", 1, answer="Because.", seed=70)
GOOD = says('{"score": 4, "reason": "fine"}', usage={"prompt_tokens": 50, "completion_tokens": 9})
RATE_LIMITED = sends(429, b'{"error": {"message": "slow down"}}')


def silent(handler: Any) -> None:
    """No reply for as long as the test lasts."""
    handler.closing_event.wait()


def ask(*answers: Answer, check: Judge = CHECK, **more: Any) -> tuple[Verdict, int]:
    """The verdict of a judge whose server gives these answers, and how many requests it saw."""
    with jury_of(*answers, **more) as (jury, seen):
        (verdict,) = jury.verdicts([(check, SAMPLE)])
    return verdict, len(seen)


def test_three_votes_are_three_requests_at_temperature_0_with_seeds_of_their_own() -> None:
    with jury_of(GOOD) as (jury, seen):
        (verdict,) = jury.verdicts([(CHECK, SAMPLE)])
    bodies = [request["body"] for request in seen]
    assert (verdict.raw, jury.calls) == (4.0, 3)
    assert sorted(body["seed"] for body in bodies) == [70, 71, 72]
    assert {(body["model"], body["temperature"], body["max_tokens"]) for body in bodies} == {("judge-model", 0.0, 512)}
    assert all(body["response_format"] == {"type": "json_object"} for body in bodies)
    assert [(vote.seed, vote.usage) for vote in stored_votes(verdict)] == [(70 + n, Usage(50, 9, 1)) for n in range(3)]
    described = json.loads(verdict.judge)
    assert (described["kind"], described["url"], described["model"]) == ("chat", "http://judge/v1", "judge-model")


OWN_REPLIES: dict[str, tuple[Answer, str]] = {
    "bad JSON": (says('{"score": 4, "reason": "th'), "not one JSON object"),
    "NaN": (says('{"score": NaN}'), "not one JSON object"),
    "off the scale": (says('{"score": 7, "reason": "great"}'), "outside"),
    "prose with a number": (says("I would give it a 4 out of 5."), "not one JSON object"),
    "think tags": (says('<think>4? 5!</think>\n{"score": 5, "reason": "r"}'), "reasoning"),
    "a code fence": (says('```json\n{"score": 5, "reason": "r"}\n```'), "code fence"),
    "nothing": (says(""), "an empty reply"),
    "cut": (says('{"score": 4, "reason": "r"}', finish="length"), "cut at 512 tokens"),
    "surrogates": (says('{"score": "\\ud800\\u0000", "reason": "r"}'), "whole number"),
    "no chat completion": (sends(200, b"<html>"), "not JSON"),
    "refused": (sends(400, b'{"error": {"message": "no"}}'), "HTTP 400"),
    "a redirect": (sends(307, b"", {"Location": "http://127.0.0.1:9/"}), "HTTP 307"),
}


@pytest.mark.parametrize("name", OWN_REPLIES)
def test_an_unreadable_reply_is_no_vote_and_is_not_asked_for_again(name: str) -> None:
    answer, problem = OWN_REPLIES[name]
    verdict, requests = ask(answer)
    assert (verdict.status, verdict.value, requests) == ("not_scored", None, 3)
    assert all(problem in vote.problem for vote in stored_votes(verdict))
    assert problem in verdict.reason


def test_one_unreadable_vote_of_three_leaves_a_verdict_with_its_problem_kept() -> None:
    verdict, requests = ask(says("hm"), GOOD)
    assert (verdict.raw, requests) == (4.0, 3)
    assert [bool(vote.problem) for vote in stored_votes(verdict)] == [True, False, False]
    assert "1 of 3 unreadable" in verdict.reason


@pytest.mark.parametrize("trouble", [RATE_LIMITED, sends(503), drops])
def test_what_is_not_the_judge_s_own_reply_is_asked_for_again(trouble: Answer) -> None:
    verdict, requests = ask(trouble, trouble, GOOD)
    assert (verdict.status, verdict.raw, requests) == ("scored", 4.0, 5)
    assert not any(vote.problem for vote in stored_votes(verdict))


def test_a_provider_that_never_recovers_is_given_up_after_three_attempts_a_vote() -> None:
    verdict, requests = ask(RATE_LIMITED)
    assert (verdict.status, requests) == ("not_scored", 9)
    assert "429" in verdict.reason


def test_silence_costs_the_deadline_once_for_each_vote_and_no_second_attempt() -> None:
    verdict, requests = ask(silent, jobs=3, deadline_s=0.3)
    assert (verdict.status, requests) == ("not_scored", 3)
    assert "no whole reply within 0.3 s" in verdict.reason


def test_votes_of_one_and_of_many_samples_are_in_flight_together() -> None:
    meet = threading.Barrier(6, timeout=20)

    def together(handler: Any) -> None:
        meet.wait()  # broken, and so no reply, unless six requests are there at once
        GOOD(handler)

    samples = [Sample("r", "c", n, answer=f"Answer {n}.") for n in (1, 2)]
    with jury_of(together, jobs=6) as (jury, _):
        verdicts = jury.verdicts([(CHECK, sample) for sample in samples])
    assert [(v.sample, v.raw) for v in verdicts] == [(1, 4.0), (2, 4.0)]


def test_an_empty_answer_is_not_asked_about() -> None:
    with jury_of(GOOD) as (jury, seen):
        (verdict,) = jury.verdicts([(CHECK, Sample("r", "c", 1))])
    assert (verdict.value, verdict.passed, seen) == (0.0, False, [])


def test_an_answer_longer_than_a_judge_is_shown_is_cut_and_its_verdict_says_so() -> None:
    with jury_of(GOOD) as (jury, seen):
        long, short = jury.verdicts([(CHECK, replace(SAMPLE, answer="x" * 300_000)), (CHECK, SAMPLE)])
    assert "(uncalibrated judge, 200,004 characters in the middle of long texts not shown)" in long.reason
    assert "not shown" not in short.reason
    assert max(len(request["body"]["messages"][1]["content"]) for request in seen) < 101_000


def test_the_model_a_check_names_is_the_one_asked_and_recorded() -> None:
    verdict, _ = ask(GOOD, check=CHECK.model_copy(update={"model": "other-model"}))
    assert json.loads(verdict.judge)["model"] == "other-model"


@pytest.mark.parametrize("target", ["judge-model", "provider/Judge-Model"])
def test_a_judge_that_is_the_target_s_own_model_is_named(target: str) -> None:
    told: list[str] = []
    with jury_of(GOOD, target_model=target, tell=told.append) as (jury, _):
        jury.expect([(CHECK, SAMPLE, 1)])
        (verdict,) = jury.verdicts([(CHECK, SAMPLE)])
    assert json.loads(verdict.judge)["same_model_as_target"] is True
    assert "the target's own model" in verdict.reason
    assert any("warning" in line and repr(target) in line for line in told)


def test_models_are_told_apart() -> None:
    assert not is_same_model("small:4b", "small:8b")
    assert not is_same_model("", "")


def test_a_calibration_is_found_by_model_prompt_and_where_it_is_asked() -> None:
    measured = ("judge-model", prompt_digest(CHECK), "http://judge/v1")
    others = {(*measured[:2], "http://elsewhere/v1"): "cal-8", ("other", *measured[1:]): "cal-9"}
    assert json.loads(ask(GOOD, calibrations={measured: "cal-7", **others})[0].judge)["calibration"] == "cal-7"
    assert json.loads(ask(GOOD, calibrations=others)[0].judge)["calibration"] == "uncalibrated"


def test_calls_tokens_and_time_are_told_before_the_first_call_and_the_pace_after_it() -> None:
    told: list[str] = []
    with jury_of(GOOD, jobs=2, deadline_s=30, tell=told.append) as (jury, seen):
        jury.expect([(CHECK, SAMPLE, 4)])
        assert seen == []
        assert told[0].startswith("judges: 12 calls of judge-model, about ")
        assert told[0].endswith("at most 6,144 reply tokens; with 2 at once at most 3 min")
        jury.verdicts([(CHECK, SAMPLE)])
    assert len(told) == 2
    assert "12 calls take about" in told[1]


def test_the_estimate_counts_words_and_assumes_a_length_for_answers_to_come() -> None:
    there = estimate([(CHECK, SAMPLE, 1)], jobs=1, deadline_s=10)
    blank = Sample("r", "c", 1, turns=(Turn(1, "Why?", ""),))
    to_come = estimate([(CHECK, blank, 2)], jobs=4, deadline_s=10)
    assert (there.calls, there.seconds) == (3, 30)
    assert (to_come.calls, to_come.seconds) == (6, 20)
    assert to_come.prompt_tokens / 2 - there.prompt_tokens == pytest.approx(3 * 200 * 1.3, abs=6)


def keeping(tmp_path: Path) -> Callable[..., tuple[Jury, int, list[Verdict]]]:
    def judge(*answers: Answer, samples: tuple[Sample, ...] = (SAMPLE,), check: Judge = CHECK) -> Any:
        with jury_of(*answers, replies=ReplyStore(tmp_path)) as (jury, seen):
            verdicts = jury.verdicts([(check, sample) for sample in samples])
        return jury, len(seen), verdicts

    return judge


def test_a_kept_reply_is_not_asked_for_again_and_nobody_need_be_there(tmp_path: Path) -> None:
    judge = keeping(tmp_path)
    first, requests, verdicts = judge(GOOD)
    assert (first.calls, first.kept, requests) == (3, 0, 3)
    panel = EndpointPanel(Endpoint("http://127.0.0.1:9", "judge-model"), first.panel.identity())
    with Jury(panel, jobs=1, deadline_s=1, replies=ReplyStore(tmp_path)) as again:
        assert again.verdicts([(CHECK, SAMPLE)]) == verdicts
    assert (again.calls, again.kept) == (0, 3)


@pytest.mark.parametrize(
    "change", [{"rubric": "Other?"}, {"temperature": 0.5}, {"model": "other"}, {"max_tokens": 99}, {"scale": (0, 5)}]
)
def test_another_question_is_asked_anew(tmp_path: Path, change: dict[str, Any]) -> None:
    judge = keeping(tmp_path)
    judge(GOOD)
    assert judge(GOOD, check=CHECK.model_copy(update=change))[1] == 3
    assert judge(GOOD, check=CHECK.model_copy(update={"pass_at": 4.0, "weight": 3.0}))[1] == 0


def test_the_same_question_twice_in_one_batch_is_one_call(tmp_path: Path) -> None:
    twins = (SAMPLE, Sample("r", "c", 2, answer="Because.", seed=71))  # seeds 70, 71, 72 and 71, 72, 73
    jury, requests, _ = keeping(tmp_path)(GOOD, samples=twins)
    assert (jury.calls, jury.kept, requests) == (4, 2, 4)


def test_a_bad_reply_is_kept_like_any_other_and_a_failed_call_is_not(tmp_path: Path) -> None:
    judge = keeping(tmp_path)
    assert judge(says("hm"))[1] == 3
    assert judge(GOOD)[1] == 0
    other = CHECK.model_copy(update={"rubric": "Other?"})
    judge(sends(400), check=other)
    assert judge(GOOD, check=other)[2][0].raw == 4.0


def test_a_kept_reply_comes_back_whole_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    store, key = ReplyStore(tmp_path), "ab" * 32
    reply = Reply("text \u2028 é", usage=Usage(1, None, 1), finish_reason="stop", model="m-1", latency_s=0.25)
    assert store.find(key) is None
    store.keep(key, reply)
    store.keep(key, Reply("another"))
    assert store.find(key) == reply
    (path,) = tmp_path.rglob("*.json")
    path.write_text(path.read_text().replace("text \\u", "tixt \\u"))
    with pytest.raises(InputError, match="not what was written"):
        store.find(key)
    path.write_text("{")
    with pytest.raises(InputError, match="damaged"):
        store.find(key)
