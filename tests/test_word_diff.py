"""Texts side by side, word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evallib.desk.word_diff import nearest, word_diff

texts = st.text("ab ,\né", max_size=40)


@given(texts, texts)
def test_both_texts_can_be_read_off_the_pieces(first, second):
    pieces = word_diff(first, second)
    assert "".join(p.text for p in pieces if p.op != "more") == first
    assert "".join(p.text for p in pieces if p.op != "less") == second


def test_words_are_whole():
    assert [tuple(p) for p in word_diff("12 pods run.", "all pods ran.")] == [
        ("less", "12"), ("more", "all"), ("same", " pods "), ("less", "run"), ("more", "ran"), ("same", "."),
    ]  # fmt: skip


def test_the_nearest_shares_most_words_and_the_first_of_equals_is_taken():
    assert nearest("all pods run", ["no idea", "all pods ran", "all pods ran now"]) == "all pods ran"
    assert nearest("x", ["a", "b"]) == "a"
    assert nearest("x", []) is None


def test_a_very_long_text_ends_in_one_piece():
    long = "word " * 20_000
    pieces = word_diff(long, long + "more")
    assert "".join(p.text for p in pieces if p.op != "less") == long + "more"
    assert len(pieces) <= 3
