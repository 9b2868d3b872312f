"""One right answer: texts, numbers as people write them, choices however they are decorated."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from evallib.checks import parse_check
from evallib.checks.extraction import spoken
from evallib.records import Sample, Verdict


def judged(kind: str, answer: str, **keys: Any) -> Verdict:
    (verdict,) = parse_check({"id": "x", "check": kind, **keys})([Sample("r", "c", 1, answer=answer)])
    return verdict


# Thought parts.


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Run it.<think>hm</think> Done.", "Run it. Done."),
        ("<think>a <think>b</think> c</think>7", "7"),
        ("<Thinking>\na\n</Thinking>\n\n7", "\n\n7"),
        ("opened by the template</think>7", "7"),
        ("the tag `<think>` opens it", "the tag `<think>` opens it"),
        ("1 < 2 and <b>bold</b>", "1 < 2 and <b>bold</b>"),
    ],
)
def test_thoughts_are_taken_out_and_what_stands_around_them_stays(answer: str, said: str) -> None:
    assert spoken(answer).text == said


@pytest.mark.parametrize("answer", ["<think>7", "7 <think>or 8", "<think>a</think><think>7"])
def test_a_thought_that_never_closes_is_no_answer(answer: str) -> None:
    for kind, keys in (
        ("number", {"equals": 7}), ("exact", {"any_of": ["7"]}), ("choice", {"equals": "7", "options": ["7", "8"]}),
    ):  # fmt: skip
        verdict = judged(kind, answer, **keys)
        assert (verdict.passed, verdict.reason[:15]) == (False, "no answer found")


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_places_go_back_to_the_answer(before: str, thought: str, after: str) -> None:
    said = spoken(f"{before}<think>{thought}</think>{after}KB-7")
    if said.text.endswith("KB-7"):
        start, end = said.place(len(said.text) - 4, len(said.text))
        assert f"{before}<think>{thought}</think>{after}KB-7"[start:end] == "KB-7"


def test_spans_of_other_checks_point_into_the_whole_answer() -> None:
    assert judged("mentions", "é <think>KB-8</think>KB-7", all_of=["KB-7"]).spans == (21, 25)
    assert judged("mentions", "é <think>KB-8</think>KB-7", all_of=["KB-8"]).passed is False


# Numbers.


@pytest.mark.parametrize(
    ("answer", "equals"),
    [
        ("12,500", 12500), ("12 500", 12500), ("12\u202f500", 12500), ("12'500", 12500), ("12\u2019500", 12500),
        ("12_500", 12500), ("1.234,5", 1234.5), ("1,234.5", 1234.5), ("12.500.000", 12500000), ("0.125", 0.125),
        ("0,125", 0.125), ("7,25", 7.25), ("12.5k", 12500), ("3 million", 3e6), ("$12,500.00", 12500), ("1e3", 1000),
        ("1,2,3", 3), ("a list: 4, 5", 5), ("on v1.20.3 it is 9", 9), ("-4", -4), ("\u22124", -4),
        ("Answer: 12 (3 times 4)", 12), ("The answer is 12 because of 3 rows.", 12),
        ("Answer: 12\nIt took 3 steps.", 12),
        ("Answer: 3 * 4 = 12", 12), ("**Answer:** about 12 hosts", 12), ("so $\\boxed{12}$ after 3 steps", 12),
        ("#### 12", 12), ("Final answer:\n\n12", 12), ("3 or more nodes, so 12", 12),
        ("\u5171\u670942\u53f0", 42),
    ],
)  # fmt: skip
def test_numbers_as_they_are_written(answer: str, equals: float) -> None:
    verdict = judged("number", answer, equals=equals)
    assert verdict.passed is True, verdict.reason
    assert verdict.spans


@pytest.mark.parametrize(
    ("answer", "equals"),
    [
        ("12.500", 12500), ("12,500", 12.5), ("7 or 9", 9), ("7 or perhaps 9", 9), ("7% or 9%", 9), ("1/2", 2),
        ("Answer: 7 or 9", 7), ("Answer: 7\nAnswer: 9", 9), ("\\boxed{7} \\boxed{9}", 9),
    ],
)  # fmt: skip
def test_what_can_be_read_in_two_ways_fails_as_ambiguous(answer: str, equals: float) -> None:
    verdict = judged("number", answer, equals=equals)
    assert (verdict.passed, verdict.reason[:9]) == (False, "ambiguous")


@pytest.mark.parametrize(
    "answer",
    [
        "It is not 42.", "I do not know; certainly not 42", "42?", "Is it 42?", "It isn't 42", "It cannot be 42",
        "anything but 42", "42 is wrong", "I doubt that it is 42.", "Not 41 or 42.", "2026-11-42", "10:42", "KB-42",
        "42/11/2026", "I am here 24/7", "9:42:10", "Answer: not 42",
    ],
)  # fmt: skip
def test_a_number_that_is_not_given_is_none(answer: str) -> None:
    for equals in (42, 7, 10, 11, 2026):
        verdict = judged("number", answer, equals=equals)
        assert (verdict.passed, verdict.reason[:15]) == (False, "no answer found"), verdict.reason


@pytest.mark.parametrize(
    "answer", ["40-42", "40 \u2013 42", "between 40 and 42", "40 to 42", "40 ms - 42 ms", "40%-42%"]
)
def test_a_range_is_no_number(answer: str) -> None:
    for equals in (40, 42):
        verdict = judged("number", answer, equals=equals, percent="%" in answer)
        assert (verdict.passed, verdict.reason[:9]) == (False, "ambiguous")


@pytest.mark.parametrize(
    "answer",
    [
        "Answer: 42 = 7*6", "42 = 7 * 6", "6 * 7 = 42", "7*6 = 42", "40 + 2 = 42 = 6 * 7", "x = 42", "It is 42 = 40+2.",
        "The sum of all is 42. Ask me at any time, I am here 24/7.", "It is 42. Written on 2026-11-03 at 10:17.",
        "42, not 41", "Not 41 but 42", "It is not 41, it is 42.", "42 \u00b1 3", "42 +/- 3", "It rose from 40 to 42.",
        "No more than 42.", "There is no doubt: 42", "What is it? 42.",
        "The number of users who never logged in is 42.",
        "I did not count the broken ones, so 42", "42, right?", "Is it 42? Yes.", "\uff14\uff12",
    ],
)  # fmt: skip
def test_a_number_that_is_given_is_found_among_others(answer: str) -> None:
    verdict = judged("number", answer, equals=42)
    assert verdict.passed is True, verdict.reason


@pytest.mark.parametrize(
    ("unit", "right", "wrong"),
    [
        ("mB", "5 mB", "5 Mb"), ("Gb", "5 Gb", "5 GB"), ("ms", "5 ms", "5 MS"), ("MB", "5MB", "5 Mb"),
        ("EUR", "EUR 5", "5 USD"),
        ("EUR", "5 Eur", "USD 5"), ("kB", "5 KB", "5 kb"), ("hosts", "5 Hosts", "5 pods"), ("Mb/s", "5 Mb/s", "5 MB/s"),
        ("\u20ac", "\u20ac5", "$5"), ("MiB", "5 MiB", "5 Mib"), ("EUR", "the sum: **EUR 5**", "EUR is what 5 costs"),
    ],
)  # fmt: skip
def test_units_are_told_apart_by_letter_where_the_letter_tells(unit: str, right: str, wrong: str) -> None:
    verdict = judged("number", right, equals=5, unit=[unit])
    assert verdict.passed is True, verdict.reason
    assert judged("number", wrong, equals=5, unit=[unit]).passed is False


def test_a_wrong_number_is_not_called_ambiguous_and_none_is_told_apart() -> None:
    assert judged("number", "12.500", equals=13).reason == "the last number is 12.500, expected 13"
    assert judged("number", "It depends.", equals=13).reason == (
        "no answer found: there is no number in it; expected 13"
    )


@pytest.mark.parametrize(
    ("answer", "percent", "equals", "passed"),
    [
        ("40%", False, 40, False), ("40%", True, 40, True), ("40", True, 40, False), ("40 percent", "share", 0.4, True),
        ("0.4", "share", 0.4, True), ("40%", "share", 40, False), ("Of 90 hosts 40% wait", False, 90, False),
    ],
)  # fmt: skip
def test_a_percentage_counts_as_the_check_says(answer: str, percent: Any, equals: float, passed: bool) -> None:
    assert judged("number", answer, equals=equals, percent=percent).passed is passed


@pytest.mark.parametrize(
    ("answer", "unit", "passed"),
    [
        ("250 ms", ["ms"], True), ("250ms", ["s", "ms"], True), ("250 s", ["ms"], False), ("250", ["ms"], False),
        ("250 km/h", ["km/h"], True), ("\u20ac250", ["\u20ac"], True), ("250 hosts", [], True),
    ],
)  # fmt: skip
def test_a_unit_that_is_asked_for_must_be_there(answer: str, unit: list[str], passed: bool) -> None:
    assert judged("number", answer, equals=250, unit=unit).passed is passed


@given(st.integers(1, 10**12), st.sampled_from([",", " ", "_", "'", "\u00a0", "\u202f"]))
def test_thousands_may_be_parted_by_any_of_them(value: int, separator: str) -> None:
    written = f"{value:,}".replace(",", separator)
    assert judged("number", f"It is {written}.", equals=value).passed is True
    assert judged("number", f"It is {written}.", equals=value + 1).passed is False


def test_keys_that_came_later_leave_older_digests_alone() -> None:
    assert "unit" not in parse_check({"id": "x", "check": "number", "equals": 1}).criteria()


# Choices.

CITIES = {"A": "Lima", "B": "Oslo", "C": "Rome"}


@pytest.mark.parametrize(
    "answer",
    [
        "B", "b", "(B)", "**B**", "[B]", "`B`", "B)", "B.", "B: Oslo", "B) Oslo", "Answer: B", "ANSWER: **B**",
        "ANSWER: (B)", "The answer is B.", "\\boxed{B}", "Answer: $\\boxed{\\text{B}}$", "Final answer:\nB",
        "I would pick option B here.", "Of these B is correct.", "B\n\nBecause of the fjord.", "Answer: B because of C",
        "Oslo", "It must be Oslo.", "Answer: Oslo", "<think>A? C?</think>B",
    ],
)  # fmt: skip
def test_a_choice_is_found_however_it_is_decorated(answer: str) -> None:
    verdict = judged("choice", answer, equals="B", options=CITIES)
    assert verdict.passed is True, verdict.reason
    assert answer[slice(*verdict.spans)].strip("()*").lower() in {"b", "oslo"}
    assert judged("choice", answer, equals="A", options=CITIES).reason == "the answer chooses B, expected A"


@pytest.mark.parametrize(
    "answer", ["A or B", "Answer: A or B", "Answer: B\nAnswer: A", "(A) and (B)", "A) Lima\nB) Oslo", "Lima or Oslo"]
)
def test_two_choices_are_ambiguous(answer: str) -> None:
    verdict = judged("choice", answer, equals="B", options=CITIES)
    assert (verdict.passed, verdict.reason) == (False, "ambiguous: the answer chooses A and B; expected B")


@pytest.mark.parametrize(
    "answer",
    [
        "Not B", "It is not B.", "It isn't B", "All but B", "Anything but B", "anything except B", "Neither A nor B",
        "B is wrong", "B is not correct.", "B and C are wrong", "I would not pick option B", "I doubt that it is B",
        "Don't choose B", "We can rule out B.", "B?", "Is it B?", "Could it be B? No.",
        "B) wrong", "**B**: incorrect",
        "Answer: not B", "Answer: anything but B", "Not Oslo", "It isn't Oslo", "Oslo is incorrect.", "B is ruled out.",
        "**B** is wrong", "(B) is not it", "Not A or B", "It cannot be B",
    ],
)  # fmt: skip
def test_an_option_that_is_taken_back_is_not_chosen(answer: str) -> None:
    verdict = judged("choice", answer, equals="B", options=CITIES)
    assert (verdict.passed, verdict.reason[:15]) == (False, "no answer found")


@pytest.mark.parametrize(
    "answer",
    [
        "A: wrong. B: right. C: wrong.", "A: no\nB: yes\nC: no", "- A) incorrect\n- B) correct\n- C) incorrect",
        "A and C are wrong; B it is", "Oslo, not Lima", "B, not A", "Not A but B", "It is not A; it is B.",
        "Neither A nor C; B.", "A? No. B.", "Is it B? Yes.", "B, right?", "I rule out A and C, so B", "B rather than A",
        "A \u274c B \u2705 C \u274c", "I'm not sure, but B", "There is no doubt: B", "B. A is too cold.", "\uff22",
        "Those who never travelled should pick B.", "A is wrong because of the fjord. B", "B (Oslo), not A (Lima)",
    ],
)  # fmt: skip
def test_an_option_stands_where_others_are_taken_back(answer: str) -> None:
    verdict = judged("choice", answer, equals="B", options=CITIES)
    assert verdict.passed is True, verdict.reason


@pytest.mark.parametrize("answer", ["B) Lima", "Answer: B (Lima)", "**B**: Lima"])
def test_a_letter_with_the_text_of_another_is_ambiguous(answer: str) -> None:
    for equals in "AB":
        verdict = judged("choice", answer, equals=equals, options=CITIES)
        assert (verdict.passed, verdict.reason[:9]) == (False, "ambiguous")


@pytest.mark.parametrize(
    ("answer", "option"), [("A: No", "A"), ("A) No", "A"), ("B: Yes", "B"), ("A is not it, B", "B")]
)
def test_options_that_are_yes_and_no_are_read_as_options(answer: str, option: str) -> None:
    options = {"A": "No", "B": "Yes"}
    assert judged("choice", answer, equals=option, options=options).passed is True


@pytest.mark.parametrize("answer", ["", "A dog barks.", "Answer: a dog", "None of them.", "ABC", "I can't say"])
def test_no_choice_is_told_apart_from_a_wrong_one(answer: str) -> None:
    verdict = judged("choice", answer, equals="A", options=["A", "B", "I"])
    assert (verdict.passed, verdict.reason[:15]) == (False, "no answer found")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"equals": "D", "options": ["A", "B"]}, "not among the options"),
        ({"equals": "A", "options": ["A"]}, "two or more"),
        ({"equals": "A", "options": ["A", "a"]}, "different options"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises((PydanticCustomError, ValidationError), match=said):
        parse_check({"id": "x", "check": "choice", **keys})


# Texts.


@pytest.mark.parametrize(
    "answer", ["Oslo", "Answer: Oslo", "**Answer:** Oslo.", "\\boxed{Oslo}", "<think>x</think>Oslo"]
)
def test_a_label_or_a_thought_does_not_spoil_an_exact_answer(answer: str) -> None:
    assert judged("exact", answer, any_of=["Oslo"]).passed is True


@pytest.mark.parametrize("answer", ["Answer: Oslo, I think", "Rome\nAnswer: Oslo", "Oslo?!<think>"])
def test_more_than_the_answer_is_not_exact(answer: str) -> None:
    assert judged("exact", answer, any_of=["Oslo"]).passed is False


@given(st.text(max_size=200))
def test_any_answer_is_read_without_failing(answer: str) -> None:
    for kind, keys in (
        ("number", {"equals": 7}), ("exact", {"any_of": ["7"]}), ("choice", {"equals": "A", "options": ["A", "B"]}),
    ):  # fmt: skip
        assert judged(kind, answer, **keys).reason
        assert judged(kind, " \n", **keys).passed is False


@pytest.mark.parametrize(
    "piece",
    [
        "1,",
        "answer: ",
        "<think>",
        "1 or ",
        "\\boxed{",
        "(A)",
        "9",
        "A, ",
        "*",
        "* ",
        "*`",
        " ",
        "not B ",
        "B? ",
        "B is ",
        "B: no ",
        "not ",
        "not 1 ",
        "1 = ",
        "1*",
        "1-",
        "1? ",
        "eur 1 ",
    ],
)
def test_long_answers_stay_bounded(piece: str) -> None:
    answer = piece * (60_000 // len(piece))
    assert judged("number", answer, equals=7).passed is False
    assert judged("choice", answer, equals="B", options=["A", "B"]).reason


@pytest.mark.parametrize(
    ("right", "answer", "held"),
    [
        ("init", "__init__", False), ("__init__", "init", False), ("__init__", "`__init__`", True),
        ("private", "_private", False), ("class", "class_", False), ("Paris", "_Paris_.", True),
        ("Paris", "__Paris__", True), ("the answer", "__the answer__", True), ("snake_case", "snake_case", True),
        ("Paris", "**_Paris_**", True), ("Paris", '"Paris."', True),
    ],
)  # fmt: skip
def test_underscores_of_a_name_are_no_emphasis(right: str, answer: str, held: bool) -> None:
    check = parse_check({"id": "x", "check": "exact", "any_of": [right]})
    assert check.judge(Sample("r", "c", 1, answer=answer)).passed is held


def number(answer: str, **keys: Any) -> Verdict:
    return parse_check({"id": "x", "check": "number", **keys}).judge(Sample("r", "c", 1, answer=answer))


@pytest.mark.parametrize(
    ("answer", "keys", "held"),
    [
        ("0.3", {"equals": 0.2, "tolerance": 0.1}, True), ("0.4", {"equals": 0.3, "tolerance": 0.1}, True),
        ("0.40001", {"equals": 0.3, "tolerance": 0.1}, False), ("3e-1", {"equals": 0.3}, True),
        ("57 %", {"equals": 0.57, "percent": "share"}, True), ("1.1k", {"equals": 1100}, True),
        ("4.35", {"equals": 4.35}, True), ("100.00000000000001", {"equals": 100}, False),
    ],
)  # fmt: skip
def test_numbers_are_compared_in_decimals(answer: str, keys: dict[str, Any], held: bool) -> None:
    assert number(f"It is {answer}.", **keys).passed is held


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**6), st.integers(0, 6))
def test_a_number_just_within_the_tolerance_holds_and_one_past_it_does_not(at: int, off: int, places: int) -> None:
    def written(units: int) -> str:
        digits = f"{abs(units):0{places + 1}d}"
        return ("-" if units < 0 else "") + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)

    keys = {"equals": float(written(at)), "tolerance": float(written(off)), "unit": ["ms"]}
    for units, held in ((at + off, True), (at - off, True), (at + off + 1, False), (at - off - 1, False)):
        answer = f"Answer: {written(units)} ms"
        verdict = number(answer, **keys)
        assert verdict.passed is held or "ambiguous" in verdict.reason, answer


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("USD5", 5), ("5USD", 5), ("$5", 5), ("USD 5", 5), ("5 usd", 5), ("US$5", 5), ("USD5,000", 5000),
        ("USD5.50", 5.5), ("5,000USD", 5000), ("$5k", 5000), ("$-5", -5), ("-$5", -5), ("USD-5", -5), ("usd5", 5),
        ("USD5 million", 5_000_000), ("**USD5**", 5),
    ],
)  # fmt: skip
def test_a_currency_may_touch_its_number(written: str, value: float) -> None:
    assert number(f"The price is {written}.", equals=value, unit=["USD", "$"]).passed is True
    assert number(f"The price is {written}.", equals=value).passed is True
    assert number(f"The price is {written}.", equals=value, unit=["EUR"]).passed is False


@pytest.mark.parametrize("answer", ["Ticket ABC5 is open.", "See RFC5.", "The id is XUSD5."])
def test_letters_that_are_no_currency_make_an_id(answer: str) -> None:
    assert "there is no number in it" in number(answer, equals=5).reason


@given(
    st.integers(2, 9_999), st.sampled_from(["minus", "negative", "Minus"]), st.sampled_from([" degrees", " EUR", ""])
)
def test_a_sign_in_words_is_a_sign_and_no_difference(number: int, word: str, unit: str) -> None:
    assert judged("number", f"It is {word} {number}{unit}.", equals=-number).passed is True
    assert judged("number", f"It is {word} {number}{unit}.", equals=number).passed is False
    assert judged("number", f"Count 20 minus {number}.", equals=number).passed is True
