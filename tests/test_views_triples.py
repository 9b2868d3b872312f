"""Strict, reading and rescored side by side: each of the eight words, and never a merged figure."""

from __future__ import annotations

from itertools import product

import pytest

from evallib.views.triples import state_of_three, triples


@pytest.mark.parametrize(
    ("strict", "read", "rescored", "state"),
    [
        ("fail", "fail", "", "agreed-fail"),
        ("fail", "fail", "fail", "agreed-fail"),
        ("pass", "pass", "pass", "agreed-pass"),
        ("fail", "pass", "", "false-fail"),
        ("pass", "fail", "", "false-pass"),
        ("fail", "pass", "pass", "fixed"),
        ("pass", "fail", "fail", "fixed"),
        ("fail", "pass", "fail", "still-wrong"),
        ("pass", "fail", "pass", "still-wrong"),
        ("fail", "fail", "pass", "over-fixed"),
        ("pass", "pass", "fail", "over-fixed"),
        ("fail", "", "pass", "unread-flip"),
        ("fail", "unsure", "pass", "unread-flip"),
        ("fail", "disputed", "pass", "unread-flip"),
        ("fail", "", "fail", ""),
        ("fail", "unsure", "", ""),
    ],
)
def test_each_state_has_its_word(strict: str, read: str, rescored: str, state: str) -> None:
    assert state_of_three(strict, read, rescored) == state


def test_a_reading_and_a_rescoring_that_agree_are_never_called_wrong() -> None:
    for strict, word in product(("pass", "fail"), repeat=2):
        assert state_of_three(strict, word, word) in {"fixed", "agreed-pass", "agreed-fail"}
        other = "fail" if word == "pass" else "pass"
        assert state_of_three(strict, word, other) in {"still-wrong", "over-fixed"}


def test_what_was_neither_read_nor_flips_is_not_listed() -> None:
    strict = {("c", 1, ""): "pass", ("c", 2, ""): "fail", ("c", 2, "x"): "fail"}
    found = list(triples(strict, {**strict, ("c", 2, ""): "pass"}, {}))
    assert [(one.sample, one.check, one.state) for one in found] == [(2, "", "unread-flip")]


def test_a_check_that_the_changed_suite_dropped_is_gone() -> None:
    (found,) = triples({("c", 1, "x"): "fail"}, {}, {})
    assert (found.rescored, found.state) == ("gone", "unread-flip")
