"""A reviewer's name: one spelling, or a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.errors import InputError
from evallib.reviewer import reviewer_name


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (" Ann  Lee ", "Ann Lee"),
        ("Ann\u00a0Lee", "Ann Lee"),
        ("Ann\nLee\t", "Ann Lee"),
        ("Ame\u0301lie", "Am\u00e9lie"),
        ("李雷", "李雷"),
        ("o'Neil, R. (2)", "o'Neil, R. (2)"),
    ],
)
def test_a_name_has_one_spelling(typed, name):
    assert reviewer_name(typed) == name


@pytest.mark.parametrize("typed", ["", "  ", "\n"])
def test_nobody_is_refused(typed):
    with pytest.raises(InputError, match="give --by"):
        reviewer_name(typed)


@pytest.mark.parametrize(
    "typed", ["Jo\u200bx", "\U0001f469\u200d\U0001f4bb", "A\x1b[2J", "\udcff", "\u3164", "A\u202eB"]
)
def test_what_cannot_be_seen_is_refused_by_its_code_point(typed):
    with pytest.raises(InputError, match=r"holds U\+[0-9A-F]{4}"):
        reviewer_name(typed)


@given(st.text(max_size=20))
def test_a_name_that_was_taken_is_taken_again_as_it_is(typed):
    try:
        name = reviewer_name(typed)
    except InputError:
        return
    assert reviewer_name(name) == name
    assert name.isprintable()
