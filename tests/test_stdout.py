"""What is said on standard output."""

import pytest

from evallib.stdout import counted, signed


@pytest.mark.parametrize(("count", "said"), [(0, "0 passes"), (1, "1 pass"), (2, "2 passes")])
def test_a_count_is_said_with_its_noun(count: int, said: str) -> None:
    assert counted(count, "pass", "passes") == said
    assert counted(count, "case") == said.replace("passes", "cases").replace("pass", "case")


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.25, "+0.250"), (-0.0625, "-0.062"), (0.0, "0.000"), (-0.0, "0.000"), (0.00004, "+0.00004"), (-4e-4, "-0.0004"),
     (1e-17, "0.000"), (0.0004999, "+0.0005")],
)  # fmt: skip
def test_a_difference_has_a_sign_unless_it_is_none(value: float, said: str) -> None:
    assert signed(value) == said
