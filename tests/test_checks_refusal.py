"""An answer that must say no."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_core import PydanticCustomError

from evallib.checks import parse_check
from evallib.domain import Domain
from evallib.records import Sample, ToolCall, Turn, Verdict
from tests.agentops import sample_of, vectors
from tests.vectors import wanted

KEYS = {"id": "no", "check": "refusal", "all_of": [["no booking", "not exist"], "B-77"]}


def judged(answer: str, *calls: str, pending: tuple[str, ...] = (), **keys: Any) -> Verdict:
    turn = Turn(1, "q", answer, tuple(map(ToolCall, calls)), pending=tuple(map(ToolCall, pending)))
    (verdict,) = parse_check({**KEYS, **keys})([Sample("r", "c", 1, turns=(turn,), answer=answer)])
    return verdict


@pytest.mark.parametrize("answer", ["NO BOOKING b-77.", "B\u201177 does not\nexist", "There is **no**  booking B-77"])
def test_the_words_may_be_typed_and_broken_as_they_like(answer: str) -> None:
    verdict = judged(answer)
    assert (verdict.passed, len(verdict.spans)) == (True, 4)


@pytest.mark.parametrize(
    "answer",
    [
        "\u627e\u4e0d\u5230\u9884\u8ba2B-77\u3002",
        "\u4e88\u7d04B-77\u306f\u898b\u3064\u304b\u308a\u307e\u305b\u3093",
        "\uc608\uc57d B-77\uc740 \uc5c6\uc74c\uc744",
    ],
)
def test_scripts_that_part_no_words_are_read_too(answer: str) -> None:
    wanted = [["\u627e\u4e0d\u5230", "\u898b\u3064\u304b\u308a\u307e\u305b\u3093", "\uc5c6\uc74c"], "B-77"]
    assert judged(answer, all_of=wanted).passed is True
    assert judged(answer.replace("B-77", "B-771"), all_of=wanted).passed is False


@pytest.mark.parametrize(
    "answer",
    ["the no_booking list has B-77", "casino bookings of B-77", "no booking B-770", "", "<think>no booking B-77"],
)
def test_part_of_a_word_and_nothing_are_no_refusal(answer: str) -> None:
    assert judged(answer).passed is False


def test_a_refusal_in_other_words_says_what_was_looked_for() -> None:
    reason = judged("I will not touch B-77.").reason
    assert "looked for 'no booking' or 'not exist' as whole words in any case" in reason
    assert '"I will not touch B-77."' in reason
    assert "adjudicate it or add the words as variants" in reason


def test_a_call_that_breaks_it_decides_before_any_words() -> None:
    verdict = judged("No booking B-77.", "look", "cancel", no_calls_of=["cancel"])
    assert (verdict.passed, verdict.calls) == (False, (1, 2))
    assert judged("No booking B-77.", pending=("cancel",), no_calls_of=["cancel"]).passed is False
    assert judged("No booking B-77.", "look", no_calls_of=["cancel"]).passed is True


def test_structure_alone_may_decide_and_needs_an_answer() -> None:
    assert judged("Certainly not.", "look", all_of=[], no_calls_of=["cancel"]).passed is True
    assert judged(" ", "look", all_of=[], no_calls_of=["cancel"]).passed is False


def test_other_names_of_a_tool_count() -> None:
    check = parse_check({**KEYS, "no_calls_of": ["cancel"]}).in_domain(Domain(aliases={"cancel": ("drop",)}))
    turn = Turn(1, "q", "No booking B-77.", (ToolCall("drop"),))
    (verdict,) = check([Sample("r", "c", 1, turns=(turn,), answer=turn.text)])
    assert verdict.passed is False


def test_a_check_that_looks_for_nothing_is_refused() -> None:
    with pytest.raises(PydanticCustomError, match="needs texts in `all_of` or tools in `no_calls_of`"):
        parse_check({"id": "no", "check": "refusal"})


@pytest.mark.parametrize("case", vectors("refusal"), ids=lambda case: case["id"])
def test_the_other_harness_s_cases(case: Any) -> None:
    required = case["input"]["checks"].get("required_output")
    if not required:
        assert wanted(case) is None  # the check is not written
        return
    (verdict,) = parse_check({"id": "no", "check": "refusal", "all_of": required})([sample_of(case["input"]["turn"])])
    assert verdict.passed is wanted(case), verdict.reason
