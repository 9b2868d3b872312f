"""What is said on standard output."""

import pytest

from evallib.stdout import counted


@pytest.mark.parametrize(("count", "said"), [(0, "0 passes"), (1, "1 pass"), (2, "2 passes")])
def test_a_count_is_said_with_its_noun(count: int, said: str) -> None:
    assert counted(count, "pass", "passes") == said
    assert counted(count, "case") == said.replace("passes", "cases").replace("pass", "case")
