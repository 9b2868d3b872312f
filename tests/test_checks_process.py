"""How the target ended."""

from __future__ import annotations

import pytest

from evallib.checks import parse_check
from evallib.records import Sample

EXIT = parse_check({"id": "exit", "check": "exit_code"})


@pytest.mark.parametrize(("code", "passed"), [(0, True), (3, False)])
def test_the_exit_status_must_be_the_expected_one(code, passed):
    (verdict,) = EXIT([Sample("r", "c", 1, exit_code=code)])
    assert (verdict.passed, verdict.value) == (passed, float(passed))


def test_a_target_without_exit_status_leaves_the_fold():
    assert EXIT([Sample("r", "c", 1)])[0].status == "not_applicable"


@pytest.mark.parametrize("status", ["crashed", "timed_out"])
def test_a_crash_and_a_timeout_fail_with_their_reason(status):
    (verdict,) = EXIT([Sample("r", "c", 1, status=status, error="no answer after 5 s")])
    assert verdict.passed is False
    assert "no answer after 5 s" in verdict.reason


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("yes", True), ("-", True), ("<think>a</think>4", True), ("&lt;", True), ("<b>4</b>", True), ("\ud800", True),
        (" \n\t", False), ("", False), ("\u200b", False), ("\u2060\x00", False), ("\u2800", False), ("&nbsp;", False),
        ("<think></think>", False), ("<think>four", False), ("4 <think>or five", False), ("<!-- four -->", False),
    ],
)  # fmt: skip
def test_an_answer_of_blanks_is_empty(answer, passed):
    assert parse_check({"id": "e", "check": "not_empty"})([Sample("r", "c", 1, answer=answer)])[0].passed is passed
