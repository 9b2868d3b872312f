"""Strict YAML keeps what the author wrote and names the line of what it refuses."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.errors import InputError
from evallib.strict_yaml import dump_yaml, load_yaml, parse_yaml

texts = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029\ufeff\ufffe\uffff"))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts.filter(bool), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("no", "no"),
        ("on", "on"),
        ("012", "012"),
        ("007", "007"),
        ("12:30:00", "12:30:00"),
        ("2026-11-30", "2026-11-30"),
        ("1_000", "1_000"),
        ("0x1f", "0x1f"),
        ("17", 17),
        ("-3", -3),
        ("0.90", 0.9),
        ("1e3", 1000.0),
        ("true", True),
        ("~", None),
        (".inf", ".inf"),
        ("1" * 300, int("1" * 300)),
        ("1e-999", 0.0),
        (f"'{'9' * 5000}'", "9" * 5000),
        ('"a\\\\Nb"', "a\\Nb"),
        ('"10\xa0% \\u2028"', "10\xa0% \u2028"),
        ("'12'", "12"),
        ("'\\bword\\b'", "\\bword\\b"),
    ],
)
def test_scalars_stay_what_the_author_wrote(written: str, read: object) -> None:
    value = parse_yaml(f"x: {written}\n", "f").value["x"]
    assert value == read
    assert type(value) is type(read)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2\n", "f, line 2: key 'a' stands twice"),
        ("x:\n  y: !!python/object/apply:os.getcwd []\n", "f, line 2: tag"),
        ('p: "\\bword\\b"\n', "f, line 1: a backslash was lost"),
        ('p: "\\Lfoo\\P"\n', "f, line 1: a backslash was lost"),
        ('a: é\nq: "foo\\\\\\N"\n', "f, line 2: a backslash was lost"),
        ('\ufeffp: "foo\\_bar"\n', "f, line 1: a backslash was lost"),
        ("a: 1\nb: 1e999\n", "f, line 2: 1e999 is more than a number can be; write a finite number"),
        ("b: [-1.0e+400]\n", "f, line 1: -1.0e[+]400 is more"),
        (f"b: {'9' * 400}\n", "f, line 1: a number of 400 characters .*write a shorter one"),
        (f"b: -{'9' * 5000}\n", "f, line 1: a number of 5001 characters"),
        (f"b: 0.{'9' * 5000}\n", "f, line 1: a number of 5002 characters"),
        ('p: ok\nq: "\\d+"\n', "f, line 2: not valid YAML.*single quotes"),
        ("a: [1, 2\nb: 3\n", "f, line 2"),
        ("? [1]\n: 2\n", "a key must be plain text"),
    ],
)
def test_what_is_refused_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_yaml(text, "f")


def test_a_tagged_object_is_never_built(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with pytest.raises(InputError):
        parse_yaml(f"x: !!python/object/apply:os.mkdir ['{made}']\n", "f")
    assert not made.exists()


def test_aliases_that_explode_are_refused() -> None:
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))
    with pytest.raises(InputError, match="aliases expand"):
        parse_yaml(f"a0: &a0 [x]\n{levels}\n", "f")


def test_a_missing_file_and_bad_bytes_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_yaml(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_bytes(b"a: \xff\n")
    with pytest.raises(InputError, match="not UTF-8"):
        load_yaml(tmp_path / "bad.yaml")


@given(values)
def test_what_is_written_is_read_back(value: object) -> None:
    assert parse_yaml(dump_yaml({"v": value}), "f").value == {"v": value}


@given(st.text("ab \x85\xa0\u2028\u2029\n\t:#-'\"\\|>", max_size=30))
def test_awkward_texts_are_read_back(text: str) -> None:
    assert parse_yaml(dump_yaml({"v": text}), "f").value == {"v": text}


def test_the_place_of_a_value_is_known() -> None:
    document = parse_yaml("cases:\n- id: a\n- id: b\n  split: x\n", "f")
    assert document.where(("cases", 1, "split")) == "f, line 4 (cases.1.split)"
