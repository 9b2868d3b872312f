"""Patterns over columns of texts, and the sections of an answer."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.checks import parse_check
from evallib.checks.batch import Batch
from evallib.checks.folding import merged, shown
from evallib.errors import InputError
from evallib.patterns import TO_END, from_end
from evallib.records import Sample, Verdict
from evallib.scoring import score_samples
from evallib.suite import parse_suite


def matches(*answers: str, **keys: object) -> list[Verdict]:
    check = parse_check({"id": "m", "check": "matches", **keys})
    return check(Batch(Sample("r", "c", n, answer=text) for n, text in enumerate(answers, 1)))


def test_any_of_wants_one_hit_and_shows_it():
    hit, miss = matches("Roll\nback now.", "Wait.", any_of=["roll.back", "undo"])
    assert (hit.passed, hit.spans, hit.reason) == (True, (0, 9), "found 'roll.back' hit \"Roll back\"")
    assert (miss.passed, miss.spans, miss.reason) == (False, (), "found no hit of any of 'roll.back', 'undo'")


def test_all_of_wants_every_hit_and_names_what_is_missing():
    (verdict,) = matches("a and b", all_of=["a", "b", "c"])
    assert (verdict.passed, verdict.reason) == (False, "found no hit of 'c'")


def test_none_of_fails_on_a_hit_and_points_at_it():
    bad, good = matches("it is fine", "it is broken", none_of=["fine"])
    assert (bad.passed, bad.spans, bad.reason) == (False, (6, 10), "must not occur: 'fine' hit \"fine\"")
    assert (good.passed, good.spans) == (True, ())


def test_flags_are_the_authors_choice():
    assert [v.passed for v in matches("FINE", "fine", any_of=["fine"], flags="")] == [False, True]


def test_recorded_texts_must_all_be_free_of_a_forbidden_pattern():
    check = parse_check({"id": "m", "check": "matches", "none_of": ["suppress"], "over": "recorded"})
    samples = [
        Sample("r", "c", 1, answer="suppress"),
        Sample("r", "c", 2, recorded=("clean", "suppress alerts")),
        Sample("r", "c", 3, recorded=("clean",)),
    ]
    verdicts = check(samples)
    assert [v.passed for v in verdicts] == [True, False, True]
    assert verdicts[0].reason == "nothing was recorded, so nothing forbidden was"
    assert verdicts[1].spans == ()


@given(st.lists(st.text(alphabet="ab é𝄞\u0301e\n", max_size=12), min_size=1, max_size=5))
def test_hits_and_spans_agree_with_a_plain_search(answers):
    for verdict, answer in zip(matches(*answers, any_of=["a.?b|𝄞"]), answers, strict=True):
        plain = re.search("a.?b|𝄞", answer, re.DOTALL | re.IGNORECASE)
        if "\u0301" not in answer:
            assert verdict.spans == (plain.span() if plain else ())
        elif verdict.spans:
            assert answer[slice(*verdict.spans)][0] in "a𝄞"


def test_a_hit_of_nothing_between_the_bytes_of_a_character_stands_before_it():
    assert matches("a—b", any_of=[r"\B"])[0].spans == (1, 1)  # where RE2 lets it


@given(st.lists(st.text("ab.x{}0,2\n", max_size=12), min_size=1, max_size=4))
@pytest.mark.parametrize(
    ("pattern", "plain"),
    [
        ("a.{0,2}b", "a.{0,2}b"),
        ("a.{2}b|x.{1,}?a", "a.{2}b|x.{1,}?a"),
        (r"a\.{2}|b[.{2}]x", r"a\.{2}|b[.{2}]x"),
        (r"\Qa.{0,2}b\E", r"a\.\{0,2\}b"),
    ],
)
def test_a_counted_gap_hits_just_where_it_counts(pattern, plain, answers):
    for answer, verdict in zip(answers, matches(*answers, any_of=[pattern]), strict=True):
        hit = re.search(plain, answer, re.IGNORECASE | re.DOTALL)
        assert (verdict.passed, verdict.spans) == (hit is not None, hit.span() if hit else ())


POOL = ["ab", r"a\.b", "a.{0,2}b", "x(a|b)", r"\bb", "[^a]x"]
LISTS = st.lists(st.sampled_from(POOL), max_size=3)


@given(st.lists(st.text("abAB.x é\n", max_size=14), min_size=1, max_size=5), LISTS, LISTS, LISTS)
def test_verdicts_of_a_batch_are_those_of_a_plain_search_with_reason_and_spans(answers, any_of, all_of, none_of):
    if not (any_of or all_of or none_of):
        return
    check = parse_check({"id": "m", "check": "matches", "any_of": any_of, "all_of": all_of, "none_of": none_of})
    samples = [Sample("r", f"c{number % 2}", number, answer=text) for number, text in enumerate(answers, 1)]
    expected = []
    for sample in samples:
        hits = {one: re.search(one, sample.answer, re.IGNORECASE | re.DOTALL | re.ASCII) for one in POOL}
        told = {one: f"'{one}' hit {shown(hit[0])}" for one, hit in hits.items() if hit}
        listed = {name: ", ".join(f"'{one}'" for one in some) for name, some in (("any", any_of), ("none", none_of))}
        missing = ", ".join(f"'{one}'" for one in all_of if one not in told)
        wrong = [f"must not occur: {told[one]}" for one in none_of if one in told]
        wrong += [f"found no hit of any of {listed['any']}"] if any_of and not told.keys() & set(any_of) else []
        wrong += [f"found no hit of {missing}"] if missing else []
        right = [f"found {told[one]}" for one in (*any_of, *all_of) if one in told]
        right += [f"found no hit of {listed['none']}, as it must be"] if none_of else []
        spans = merged({hits[one].span() for one in (*any_of, *all_of, *none_of) if hits[one]})
        expected.append(check.scored(sample, not wrong, "; ".join(wrong or right), spans=spans))
    assert check(Batch(samples)) == expected


@given(st.lists(st.text("ab.x é\n", max_size=14), min_size=1, max_size=9), LISTS, LISTS, LISTS)
def test_many_answers_get_the_verdicts_that_each_gets_alone(answers, any_of, all_of, none_of):
    lists = {"any_of": any_of, "all_of": all_of, "none_of": none_of}
    checks = "".join(
        f"\n- {{id: {key}, check: matches, {key}: {json.dumps(some)}}}" for key, some in lists.items() if some
    )
    suite = parse_suite(f"suite: s\npass: top\ncases: [{{id: c, steps: [{{ask: q}}]}}]\nchecks:{checks or ' []'}", "s")
    texts = ["x"] * 600 + ["é"] * 600 + answers  # so many that patterns of no early answer are searched together
    samples = [Sample("r", "c", number, answer=text) for number, text in enumerate(texts, 1)]
    alone = [verdict for sample in samples[1200:] for verdict in score_samples(suite, [sample])]
    assert score_samples(suite, samples)[1200 * len(suite.bound["c"]) :] == alone


def test_large_patterns_are_searched_in_parcels():
    patterns = [f"{'[^b]' * 990}{letter}" for letter in "qrst"]
    texts = [*["x"] * 600, f"{'x' * 990}r", "é" * 990 + "t"]
    batch = Batch(
        [Sample("r", "c", n, answer=text) for n, text in enumerate(texts, 1)], [f"(?is){one}" for one in patterns]
    )
    check = parse_check({"id": "m", "check": "matches", "any_of": patterns})
    assert [verdict.sample for verdict in check(batch) if verdict.passed] == [601, 602]


def test_patterns_that_repeat_or_are_huge_are_searched_one_by_one():  # with others RE2 takes up to 16 times as long
    alone = ["a.*b", "a+b", "(a ){2}", r"\pLb", "b" * 4000]
    (column,) = Batch([Sample("r", "c", n, answer="x") for n in range(600)], ["ab", *alone, "a(b|c)d?"]).answers
    assert list(column._rare) == ["ab", "a(b|c)d?"]


ASCII_ONLY = [
    r"a\b.{0,2}",
    "[^b]x",
    r"\x{2014}?ab",
    r"\pL+x",
    "a|[^\\x00-\\x7f]",
    r"(?i)K|\W\z",
    r"a.{1,3}\d",
    r"[a\400]b",
]


@given(st.lists(st.text("abxk .0\n", max_size=14), min_size=1, max_size=4))
@pytest.mark.parametrize("pattern", ASCII_ONLY)
def test_ascii_texts_read_as_bytes_give_the_hits_of_utf_8(pattern, texts):
    import pyarrow.compute as pc

    (column,) = Batch([Sample("r", "c", 1, answer=text) for text in texts]).answers
    searched = column.arrow(pattern), column.arrow("é")
    assert [str(one.type) for one in searched] == [
        "large_string" if "\\x" in pattern or "\\4" in pattern else "large_binary",
        "large_string",
    ]
    spans = [pc.extract_regex_span(one, f"(?P<hit>{pattern})").to_pylist() for one in searched]
    assert spans[0] == spans[1]


SIDES = ["a.{0,3}b", r"(?:a|x).{1,4}b\b", "a.{0,2}b|x.{0,2}b$", "^a.{0,3}?b", r"xa.{0,9}b\z|a.{2}b"]


@given(st.lists(st.text("aaaab.x\né", max_size=30), min_size=1, max_size=4))
@pytest.mark.parametrize("pattern", SIDES)
def test_a_search_from_the_end_gives_the_same_first_hit(pattern, answers):
    import pyarrow.compute as pc

    for column in Batch([Sample("r", "c", 1, answer=text * 9) for text in answers]).answers:
        texts = column.arrow(pattern)
        plain, backwards = (pc.extract_regex_span(texts, f"(?P<hit>(?is){pattern}){rest}") for rest in ("", TO_END))
        assert plain.equals(backwards)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("(set|fix).{0,80}DB", True), ("DB.{0,80}(set|fix)", False), ("((set|fix).{0,80}DB)", False), ("set|DB", False)],
)
def test_a_gap_is_searched_from_the_end_where_that_side_is_rarer(pattern, expected):
    (column,) = Batch([Sample("r", "c", 1, answer="set it, fix it, set and fix the DB")]).answers
    assert from_end(pattern, "is", column.arrow(pattern)) is expected


def test_composed_and_decomposed_letters_are_the_same_letter():
    answer = "Ein Cafe\u0301 und Tee"
    (verdict,) = matches(answer, any_of=["café und"])
    assert answer[slice(*verdict.spans)] == "Cafe\u0301 und"


def test_groups_classes_and_quoted_parts_of_a_pattern_keep_their_meaning():
    answers = ["f(x) = (1)", "ab", "a.b("]
    patterns = [r"(?P<f>f)\((x)\)", "[(](1)[)]", r"^(a)(b)$", r"\Qa.b(\E", "[]()]x"]
    found = [[verdict.passed for verdict in matches(*answers, any_of=[pattern])] for pattern in patterns]
    assert found == [
        [True, False, False],
        [True, False, False],
        [False, True, False],
        [False, False, True],
        [True, False, False],
    ]


@pytest.mark.parametrize(
    ("pattern", "remedy"),
    [
        ("a(?=b)", "no look-around: write two checks"),
        ("(?<!a)b", "no look-around: write two checks"),
        (r"(a)\1", "no back-references"),
        ("a(", "missing )"),
        (r"a\C", "a single byte of a character; write `.`"),
        (r"\\\C", "a single byte of a character"),
        (r"a\Qb.c", r"opens \Q and does not close it; write \E"),
        ("", "an empty pattern hits every answer"),
    ],
)
def test_a_pattern_that_cannot_run_is_refused_where_the_suite_is_loaded(pattern, remedy):
    text = (
        "suite: s\npass: top\ncases: [{id: c, steps: [{ask: q}]}]\n"
        f"checks:\n- {{id: m, check: matches, none_of: ['{pattern}']}}\n"
    )
    with pytest.raises(InputError) as refusal:
        parse_suite(text, "suite.yaml")
    assert remedy in str(refusal.value)
    assert "suite.yaml, line 5 (checks.0.none_of)" in str(refusal.value)


@pytest.mark.parametrize("keys", [{}, {"any_of": []}, {"any_of": "fine"}, {"any_of": [1]}])
def test_a_check_without_a_list_of_patterns_is_refused(keys):
    with pytest.raises(ValueError, match=r"at least one pattern|must be a list|must be text"):
        matches("x", **keys)


def test_a_lone_surrogate_in_an_answer_is_read_as_one_character():
    (verdict,) = matches("\ud800 fine", any_of=["fine"])
    assert verdict.spans == (2, 6)


def test_patterns_do_not_load_pandas():
    code = (
        "import sys; from evallib.checks import parse_check; from evallib.records import Sample;"
        "parse_check({'id': 'm', 'check': 'matches', 'any_of': ['a']})([Sample('r', 'c', 1, answer='a')]);"
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_articles_format_judge_gives_the_same_values_and_reasons(shared):
    check = parse_check({"id": "f", "check": "sections", "headings": ["summary", "steps", "next"], "max_words": 250})
    cases = json.loads((shared / "cases" / "articles.json").read_text())["article_000"]["format_judge"]["cases"]
    assert len(cases) == 12
    for case in cases:
        recipe, answer = case["answer_recipe"], case["answer"]
        if recipe:
            missing = recipe["total_words"] - len(recipe["head"].split())
            answer = recipe["head"] + " ".join([recipe["filler_word"]] * missing)
        (verdict,) = check([Sample("r", "c", 1, answer=answer)])
        assert (verdict.value, verdict.raw) == (case["expect_value"], case["expect_value"]), case["id"]
        assert verdict.reason == case["expect_rationale"]
        assert verdict.passed is (case["expect_value"] == 1)


def test_reasons_show_a_pattern_as_its_author_wrote_it() -> None:
    hit, missed, forbidden = matches(
        "it is four", "it is five", "four, I don't", any_of=[r"\bfour\b", r"it's \d+"], none_of=[r"don\'t"]
    )
    assert hit.reason == r"""found '\bfour\b' hit "four"; found no hit of 'don\'t', as it must be"""
    assert missed.reason == r"found no hit of any of '\bfour\b', 'it's \d+'"
    assert forbidden.reason == r"must not occur: 'don\'t' hit " + '"don\'t"'
    (odd,) = matches("x", all_of=["a\0"])
    assert odd.reason == r"found no hit of 'a\0'", "what no file can hold is spelled out"
