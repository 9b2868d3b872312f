"""An answer key as people read it: a line per fact, and never two keys that read alike."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.desk.answer_key import fact_lines


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ("As it is: [1],\n\"quoted\" / twice", ("As it is: [1],\n\"quoted\" / twice",)),
        (["KB-2281"], ("KB-2281",)),
        ([["out of scope", "not in scope"], ["x"]], ("out of scope / not in scope", "x")),
        (["Status: healthy, 3 of 3", 'say "no"', "don't"], ("Status: healthy, 3 of 3", 'say "no"', "don't")),
        (["a / b", "/", "two\nlines"], ('"a / b"', '"/"', '"two\\nlines"')),
        ([" blank", "", "(none)"], ('" blank"', '""', '"(none)"')),
        ([["a /", "b"], ["[x]", "{y}", '"z"']], ('"a /" / b', '"[x]" / "{y}" / "\\"z\\""')),
        (["naïve café", "日本語"], ("naïve café", "日本語")),
        ([], ("(none)",)),
        ([[]], ("[]",)),
        (4, ("4",)),
        (True, ("true",)),
        (None, ("null",)),
        (
            [{"tool": "bounce_service", "args": {"service": "mail-relay", "after": "12:30"}, "times": 0}],
            ('{tool: bounce_service, args: {service: mail-relay, after: "12:30"}, times: 0}',),
        ),
        ({"a": ["true", True, "4", 4, "x, y", "x", "y"]}, ('{a: ["true", true, "4", 4, "x, y", x, y]}',)),
        ([["a", ["b", "c"]]], ("[a, [b, c]]",)),
    ],
)  # fmt: skip
def test_a_key_is_shown_one_line_per_fact(value, lines):
    assert fact_lines(value) == lines


texts = st.text(alphabet='ab/ ,:"[]{}\n\\4', max_size=5)
nested = st.recursive(texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2))
keys = st.lists(nested, max_size=3)


def same(value):
    """A key in which a fact of one variant stands as the text that it is."""
    return [one[0] if isinstance(one, list) and len(one) == 1 and isinstance(one[0], str) else one for one in value]


@given(keys, keys)
@settings(max_examples=400)
def test_two_keys_that_read_alike_are_alike(one, other):
    assert (fact_lines(one) == fact_lines(other)) == (same(one) == same(other))


@given(keys)
def test_no_fact_takes_two_lines(value):
    assert all(line.splitlines() == [line] for line in fact_lines(value))
