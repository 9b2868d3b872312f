"""Two runs' frames that cannot be compared are refused, with the run, the case and the sample."""

from __future__ import annotations

import pandas as pd
import pytest

from evallib.comparison.rows import PASS_RATE
from evallib.errors import InputError
from tests.pairs import Frames, compared, frames, row


def test_samples_numbered_otherwise_are_refused_and_more_repeats_are_not() -> None:
    a, b = frames("a", {"c": "p"}), frames("b", {"c": "pp"})
    assert compared(a, b).rows
    second = tuple(one[one["sample"] == 2] for one in b)
    with pytest.raises(InputError, match="case 'c' has sample 1 in one run and sample 2 in the other alone"):
        compared(a, (second[0], second[1]))


def test_a_pass_against_its_own_critical_check_is_refused() -> None:
    a, b = frames("a", {"c": "p", "d": "f"}), frames("b", {"c": "p", "d": "f"})
    b[0]["passed"] = True
    with pytest.raises(InputError, match="case 'd', sample 1 says pass, and its critical check 'right' failed"):
        compared(a, b)


def test_a_sample_without_any_verdict_is_refused() -> None:
    a, b = frames("a", {"c": "p", "d": "f"}), frames("b", {"c": "p", "d": "f"})
    with pytest.raises(InputError, match="run 'b': case 'd', sample 1 has no verdict of check 'right'"):
        compared(a, (b[0], b[1][b[1]["case_id"] == "c"]))


def _broken(what: str, a: Frames, b: Frames) -> tuple[Frames, Frames]:
    """The two runs' frames with one thing wrong."""
    (rows, verdicts), (other, judged) = a, b
    match what:
        case "outcome twice":
            other = pd.concat([other, other.iloc[:1]])
        case "verdict twice":
            judged = pd.concat([judged, judged.iloc[:1]])
        case "check of A alone":
            judged = judged[judged["check_id"] != "also"]
        case "check of one sample":
            judged = judged.iloc[1:]
        case "fail against all":
            other = other.assign(passed=other["passed"] & (other["case_id"] != "c"))
        case _:
            judged = judged.assign(value=judged["value"].where(judged["case_id"] != "c", float(what)))
    return (rows, verdicts), (other, judged)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("outcome twice", "run_id 'b', case_id 'c', sample 1 stands twice"),
        ("verdict twice", "run_id 'b', case_id 'c', sample 1, check_id 'right' stands twice"),
        ("check of A alone", "run 'b': case 'c', sample 1 has no verdict of check 'also'"),
        ("check of one sample", "run 'b': case 'c', sample 1 has no verdict of check 'right'"),
        ("fail against all", "run 'b': case 'c', sample 1 says fail, and every check of it has its top value"),
        ("1.5", "run_id 'b', case_id 'c', sample 1, check_id 'also' has a value outside 0 to 1"),
        ("-1", "has a value outside 0 to 1"),
        ("nan", "has a value outside 0 to 1"),
        ("inf", "has a value outside 0 to 1"),
    ],
)
def test_what_contradicts_itself_is_refused_in_either_run(what: str, said: str) -> None:
    both = {"c": "pp", "d": "ff"}
    a, b = (frames(name, both, also=both) for name in "ab")
    assert compared(a, b).rows
    found = _broken(what, a, b)
    for pair in (found, found[::-1]):
        with pytest.raises(InputError) as refusal:
            compared(*pair)
        assert said in str(refusal.value)


def test_an_empty_answer_that_no_check_minds_is_a_fail_that_may_be_compared() -> None:
    a, b = frames("a", {"c": "p", "d": "p"}), frames("b", {"c": "p", "d": "p"})
    empty = b[0].assign(passed=[True, False], reason=["all 1 deciding checks passed", "the answer is empty"])
    assert row(compared(a, (empty, b[1])), PASS_RATE).b == 0.5
