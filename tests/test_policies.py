"""The order of two runs under both error policies: rates as two agents of the Terminal-Bench leaderboard had them."""

from __future__ import annotations

import pytest

from evallib.metrics import order_words, summarise
from tests.test_metrics import NO_VERDICTS, outcomes

STEADY = ["eeeee", *["ppppe"] * 4, *["ppppp"] * 43, "ppppf", *["fffff"] * 31]
"""80 cases x 5: 235 passes, 9 errors."""
SHAKY = [*["eeeee"] * 5, "ppfee", "ppppe", "pfffe", "feeee", "ffeee", "fffee", *["ppppp"] * 44, *["fffff"] * 25]
"""80 cases x 5: 227 passes, 38 errors."""


def test_the_order_of_two_agents_flips_with_the_error_policy_and_that_is_said() -> None:
    steady, shaky = (
        summarise(outcomes(*cases, run_id=name), NO_VERDICTS, [1, 5])
        for name, cases in (("steady", STEADY), ("shaky", SHAKY))
    )
    assert [round(one["pass_rate"], 4) for one in (steady, shaky)] == [0.5875, 0.5675]
    assert [round(one["without_errors"]["pass_rate"] or 0, 4) for one in (steady, shaky)] == [0.6051, 0.6122]
    assert [round(one["without_errors"]["pass_rate_micro"] or 0, 4) for one in (steady, shaky)] == [0.601, 0.6271]
    assert [one["without_errors"]["cases"] for one in (steady, shaky)] == [79, 75]
    assert (
        order_words(steady, shaky)
        == order_words(shaky, steady)
        == (
            "The order depends on the errors: steady leads shaky when they count as fails (0.5875 to 0.5675) and "
            "trails it when they are left out (0.6051 to 0.6122); errors are 9 of 400 samples and 38 of 400 samples."
        )
    )


@pytest.mark.parametrize("other", [["pppp", "ffff"], ["pppf", "ffff"], ["eeee", "eeee"]])
def test_where_both_policies_agree_nothing_is_said(other: list[str]) -> None:
    one, two = (
        summarise(outcomes(*cases, run_id=name), NO_VERDICTS) for name, cases in (("a", ["pppp", "pfff"]), ("b", other))
    )
    assert order_words(one, two) == ""


def test_a_rate_over_survivors_keeps_its_cases_in_sight() -> None:
    summary = summarise(outcomes("pppee", *["eeeee"] * 3, "fffff", "pffff"), NO_VERDICTS, [1, 5])
    without = summary["without_errors"]
    assert (summary["eligible_cases"]["5"], without["eligible_cases"]["5"]) == (6, 2)
    assert (summary["cases"], without["cases"]) == (6, 3)
    assert "depends on the errors" in summary["caption"]
