"""Strict YAML keeps what the author wrote and names the line of what it refuses."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.entries import read_entry
from evallib.errors import InputError
from evallib.gate import Gate
from evallib.strict_yaml import dump_yaml, load_yaml, parse_yaml, read_as
from evallib.suite import parse_suite

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


@pytest.mark.parametrize("written", ["007", "008", "012", "-01", "0_7"])
def test_an_id_with_leading_zeros_is_refused_without_quotes(written: str) -> None:
    with pytest.raises(InputError, match=rf"f, line 2: id {written} is a number to other readers of YAML; put it in"):
        parse_yaml(f"cases:\n- {{id: {written}}}\n", "f")
    value = {"id": written, "of": [written]}
    assert parse_yaml(dump_yaml(value), "f").value == value
    assert parse_yaml(f"id: '{written}'\nof: [{written}]\n", "f").value == value


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
        ("p: ok\n<<<<<<< a\nq: 1\n=======\nq: 2\n>>>>>>> b\n", "f, line 2: git left a conflict.*keep one of its"),
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


SMALL = """suite: s
pass: critical
checks:
- {id: answered, check: not_empty, critical: true}
- {id: says, check: mentions, all_of: [four]}
gate: {mean: 0.9}
cases:
- {id: c-1, split: validation, steps: [{ask: What?}], tags: [a]}
"""
CODE = ("check: mentions, all_of: [four]", "check: code, code: 'return True', ")
WRONG = [
    ("cases:\n- {id: c-1, split: validation, steps: [{ask: What?}], tags: [a]}", "cases: []",
     "line 7 (cases): 'cases' is empty; give at least one"),
    ("cases:\n- {id: c-1, split: validation, steps: [{ask: What?}], tags: [a]}", "cases:",
     "line 7 (cases): 'cases' is left blank; give a list, as in [a, b]"),
    ("cases:", "case:", "line 7 (case): unknown key 'case'; did you mean 'cases', which is missing?"),
    ("{id: c-1", "{ID: c-1", "line 8 (cases.0.ID): unknown key 'ID'; did you mean 'id', which is missing?"),
    ("{id: says", "{name: says",
     "line 5 (checks.1.name): unknown key 'name'; 'id' is missing here; remove it or correct its spelling"),
    ("all_of:", "allof:", "line 5 (checks.1.allof): unknown key 'allof'; did you mean 'all_of', which is missing?"),
    ("check: mentions", "chek: mentions",
     "line 5 (checks.1.chek): unknown key 'chek'; did you mean 'check', which is missing?"),
    ("check: mentions, ", "", "line 5 (checks.1): key 'check' (the check's kind) is missing; add it"),
    ("check: mentions", "check: [a]", "line 5 (checks.1.check): ['a'] must be the name of a check's kind"),
    ("tags: [a]", "tag: [a]", "line 8 (cases.0.tag): unknown key 'tag'; remove it or correct its spelling"),
    ("tags: [a]", "tags: a", "line 8 (cases.0.tags): 'a' must be a list, as in [a, b]"),
    ("tags: [a]", "tags: [1]", "line 8 (cases.0.tags.0): 1 must be text; put it in quotes"),
    ("- {id: c-1", "- c-0\n- {id: c-1", "line 8 (cases.0): 'c-0' must be a mapping, as in {key: value}"),
    ("pass: critical", "pass: crtical", "line 2 (pass): 'crtical' must be 'critical' or 'top'"),
    ("mean: 0.9", "mean: 90", "line 6 (gate.mean): 90 must be at most 1"),
    ("mean: 0.9", "mean: high", "line 6 (gate.mean): 'high' must be a number, without quotes"),
    ("critical: true", "critical: yes", "line 4 (checks.0.critical): 'yes' must be true or false, without quotes"),
    ("critical: true", "weight: -1", "line 4 (checks.0.weight): -1 must be at least 0"),
    ("id: c-1", "id: c 1!", "line 8 (cases.0.id): 'c 1!' must be made of letters, digits, dots, - and _"),
    ("id: c-1", "id: ''", "line 8 (cases.0.id): 'id' is empty; give at least one character"),
    (CODE[0], f"{CODE[1]}memory_mb: 99.5", "line 5 (checks.1.memory_mb): 99.5 must be a whole number, without quotes"),
    (CODE[0], f"{CODE[1]}range: [0]", "line 5 (checks.1.range.1): value 2 is missing; add it"),
    (CODE[0], f"{CODE[1]}range: [0, 1, 2]", "line 5 (checks.1.range): [0, 1, 2] holds 3 values; give at most 2"),
    ("check: mentions, all_of: [four]", "check: mentions, all_of: key.facts",
     "line 8 (cases.0.key.facts): case 'c-1', check 'says', in the answer key: 1 must be a list, as in ['1']"),
    ("check: mentions, all_of: [four]", "check: choice, equals: 5, options: [a, b]",
     "line 5 (checks.1.equals): 5 must be text; put it in quotes"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("tags: [a]", "reference: x", "'reference' is a key of each of `steps`"),
        ("all_of: [four]", "all_of: [four], reference: x", "'reference' is a key of each of `steps`"),
        ("{ask: What?}", "{ask: What?, weight: 2}", "'weight' is a key of each of `checks`"),
        ("tags: [a]", "call_s: 2", "'call_s' is a key of `deadlines`"),
        ("tags: [a]", "probes: []", "'probes' is a key of the file as a whole"),
        ("mean: 0.9", "mean: 0.9, split: train", "'split' is a key of `when`, or of each of `cases`"),
        ("tags: [a]", "nowhere: 1", "remove it or correct its spelling"),
    ],
)
def test_a_key_at_the_wrong_level_is_told_with_the_level_that_knows_it(right: str, wrong: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_suite(SMALL.replace(right, wrong, 1), "f.yaml")
    assert str(caught.value).endswith(f"; {told}")


@pytest.mark.parametrize(("right", "wrong", "told"), WRONG)
def test_a_wrong_suite_is_told_in_words_with_line_key_value_and_remedy(right: str, wrong: str, told: str) -> None:
    text = SMALL.replace("tags: [a]}", "tags: [a], key: {facts: 1}}") if "key.facts" in wrong else SMALL
    assert right in text
    with pytest.raises(InputError) as caught:
        parse_suite(text.replace(right, wrong, 1), "f.yaml")
    said = str(caught.value)
    assert said.startswith(f"f.yaml, {told}"), said
    assert not any(jargon in said for jargon in ("nput should", "tuple", "array", "object", "validation,")), said


ENTRY = """kind: rescoring
slug: two
author: r1
reason: the pattern was too narrow
changes:
- {check: c, fix: widen, reason: because}
"""


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("changes:\n- {check: c, fix: widen, reason: because}", "changes: []",
         "line 5 (changes): 'changes' is empty; give at least one"),
        ("author:", "auhtor:", "line 3 (auhtor): unknown key 'auhtor'; did you mean 'author', which is missing?"),
        ("slug: two", "slug: Two Words", "line 2 (slug): 'Two Words' must be made of at most 60 small letters"),
        ("fix: widen", "fix: broaden", "line 6 (changes.0.fix): 'broaden' must be 'widen', 'narrow'"),
        ("reason: the pattern was too narrow", "reason: ", "line 4 (reason): 'reason' is left blank; give some text"),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_told_in_the_same_words(right: str, wrong: str, told: str) -> None:
    assert right in ENTRY
    with pytest.raises(InputError) as caught:
        read_entry(parse_yaml(ENTRY.replace(right, wrong), "e.yaml"))
    assert str(caught.value).startswith(f"e.yaml, {told}"), str(caught.value)


def test_what_stands_inside_a_document_is_read_and_placed_there() -> None:
    document = parse_yaml("gate:\n  mean: 0.9\n  floor: 7\n", "g.yaml")
    with pytest.raises(InputError, match=r"^g\.yaml, line 3 \(gate\.floor\): 7 must be at most 1$"):
        read_as(Gate, document, ("gate",))
    assert read_as(Gate, parse_yaml("mean: 0.9", "g.yaml")).mean == 0.9
    with pytest.raises(InputError, match=r"^g\.yaml, line 1: what stands here is left blank; give a mapping"):
        read_as(Gate, parse_yaml("", "g.yaml"))


def test_a_merge_key_is_refused_with_the_remedy_and_a_quoted_one_is_a_key():
    with pytest.raises(InputError, match=r"s, line 3: the merge key `<<` is not read; write the keys out"):
        parse_yaml("a: &a {x: 1}\nb:\n  <<: *a\n", "s")
    assert parse_yaml("{'<<': 1}", "s").value == {"<<": 1}
