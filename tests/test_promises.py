"""Dates named in an answer: found at the words they begin with."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evallib.checks import promises

DATE = promises._DATE.pattern
WRITTEN = st.from_regex(re.compile(re.sub(r"\(\?<=[^)]*\)|\\b", "", DATE), re.ASCII), fullmatch=True)


@given(WRITTEN, st.sampled_from(["", "x ", "takes ", "need "]))
def test_a_date_is_found_wherever_the_pattern_finds_one(date, before):
    text = f"{before}{date}".replace("sepem", "septem")
    assume(not re.search(rf"{promises._NUMBER}or", text))  # "twoorthree weeks", which the pattern takes for a count
    assert list(promises.dates(text)) == [hit.span() for hit in re.finditer(rf"\b(?=\w)(?:{DATE})", text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("it ships on friday, eta: 3 days", ["on friday", ": 3 days"]),
        ("the fix takes our team\n2 days; allow two weeks", ["our team\n2 days", "two weeks"]),
        ("betas in 3 days", ["in 3 days"]),
        ("_may 3", []),
    ],
)
def test_dates_stand_where_their_words_begin(text, found):
    assert [text[start:end] for start, end in promises.dates(text)] == found
