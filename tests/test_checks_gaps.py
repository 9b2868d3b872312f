"""Two word lists with counted characters between them: the very hit that RE2 gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.checks import parse_check
from evallib.checks.gaps import LONGEST, WordGap, word_gap
from evallib.patterns import ungrouped
from evallib.records import Sample

WORDS = st.lists(st.text("abB ", min_size=1, max_size=3), min_size=1, max_size=3)


def side(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"({'|'.join(words)})"


@given(WORDS, WORDS, st.integers(0, 3), st.integers(0, 4), st.text("aAbB x.\n", max_size=24))
def test_the_hit_is_the_one_that_re2_gives(before, after, least, more, text):
    import pyarrow as pa
    import pyarrow.compute as pc

    pattern = f"{side(before)}.{{{least},{least + more}}}{side(after)}"
    gap = word_gap(pattern, "is")
    assert gap is not None
    bounds = pc.extract_regex_span(pa.array([text]), f"(?is)(?P<hit>{ungrouped(pattern)})")[0].as_py()
    assert gap.first(text.lower()) == (bounds and tuple(bounds["hit"]))


@pytest.mark.parametrize(
    "pattern",
    ["a.{2}b", "a.{3,2}b", "a.b", r"a\b.{0,2}b", "a|b.{0,2}c", "(a|b).{0,2}c|d", "(a(b)).{0,2}c", "a?.{0,2}b",
     "^a.{0,2}b", "a.{0,2}b$", "é.{0,2}b", "(a|).{0,2}b", "a.{0,2}b.{0,2}c", "a.{0,2}?b", "a.{0,}b", "a.{0,1000}b"],
)  # fmt: skip
def test_anything_else_is_left_to_re2(pattern):
    assert word_gap(pattern, "is") is None


@pytest.mark.parametrize("flags", ["", "i", "s", "m", "im", "sm"])
def test_it_is_asked_only_where_case_and_line_breaks_do_not_count(flags):
    assert word_gap("(a|b).{0,2}c", flags) is None
    assert word_gap("(A|b).{0,2}c", "ism") == WordGap(("a", "b"), 0, 2, ("c",))


def test_texts_of_any_length_and_script_get_the_same_hit():
    check = parse_check({"id": "m", "check": "matches", "any_of": ["(fix|mend).{0,9}tag"]})
    texts = ["Mend the tag", "é Mend the tag", "x" * LONGEST + "Mend the tag", "fix it and then the tag"]
    verdicts = [check([Sample("r", "c", 1, answer=text)])[0] for text in texts]
    assert [verdict.spans for verdict in verdicts] == [(0, 12), (2, 14), (LONGEST, LONGEST + 12), ()]
    together = check([Sample("r", "c", number, answer=text) for number, text in enumerate(texts, 1)])
    assert [verdict.spans for verdict in together] == [verdict.spans for verdict in verdicts]
