"""A suite loads strictly: every mistake is one sentence with file, line and key."""

from pathlib import Path

import pytest

from evallib.errors import InputError
from evallib.suite import Suite, load_suite, parse_suite

GOOD = """
suite: small
checks:
- {id: says, check: mentions, all_of: key.facts, critical: true}
gate: {mean: 0.5, checks: {says: 1.0}}
cases:
- id: c-1
  steps: [{ask: What is two and two?}]
  key: {facts: [four]}
- id: c-2
  steps: [{ask: What is the capital of France?}]
  key: {facts: [Paris]}
  checks: [{id: short, check: sections, headings: [], max_words: 20}]
"""


def suite(text: str = GOOD) -> Suite:
    return parse_suite(text, "s.yaml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("cases:", "casez: []\ncases:", "s.yaml, line 6.*unknown key 'casez'"),
        ("id: c-2", "id: c-1", "line 10.*case id 'c-1' stands twice"),
        ("all_of: key.facts", "all_of: key.truths", "needs key 'truths'"),
        ("{says: 1.0}", "{say: 1.0}", "line 5.*check 'say', which does not exist"),
        ("check: mentions", "check: mention", "unknown check kind 'mention'; known: .*mentions"),
        (", critical: true", "", "no critical check.*pass: top"),
        ("{id: short,", "{id: says,", "check 'says' twice"),
        ("max_words: 20", "max_words: many", "line 13"),
        ("id: c-2", "id: 12", "must be text; put it in quotes"),
    ],
)
def test_a_mistake_is_named_where_it_stands(old: str, new: str, said: str) -> None:
    with pytest.raises(InputError, match=f"(?s){said}"):
        suite(GOOD.replace(old, new))


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("'[a-'", "pattern"),
        ("'(?=x)y'", "look-around"),
        ("'(a)\\1'", "back-reference"),
        ('"\\bx\\b"', "backslash was lost"),
    ],
)
def test_a_pattern_that_cannot_work_is_refused_at_load(pattern: str, said: str) -> None:
    check = f"{{id: says, check: matches, any_of: [{pattern}], critical: true}}"
    with pytest.raises(InputError, match=f"(?i)s.yaml, line 4.*{said}"):
        suite(GOOD.replace("{id: says, check: mentions, all_of: key.facts, critical: true}", check))


def test_the_answer_key_is_bound_per_case() -> None:
    bound = suite().bound
    assert bound["c-1"][0].check != bound["c-2"][0].check
    assert [b.check.id for b in bound["c-2"]] == ["says", "short"]


def test_the_digest_ignores_layout_and_sees_content() -> None:
    assert suite("# a comment\n" + GOOD).digest == suite().digest
    assert suite(GOOD.replace("Paris", "Lyon")).digest != suite().digest


def test_what_decides_changes_with_key_weight_and_pass_rule_but_not_with_wording() -> None:
    def decides(text: str) -> str:
        return suite(text).bound["c-1"][0].decides

    assert decides(GOOD.replace("id: says,", "id: says, description: new words,")) == decides(GOOD)
    for old, new in [
        ("[four]", "[five]"),
        ("id: says,", "id: says, weight: 2,"),
        ("suite: small", "suite: small\npass: top"),
    ]:
        assert decides(GOOD.replace(old, new)) != decides(GOOD)


def test_the_question_is_known_by_what_is_asked_alone() -> None:
    renamed = suite(GOOD.replace("id: c-1", "id: other")).by_id["other"]
    assert renamed.question == suite().by_id["c-1"].question
    assert suite(GOOD.replace("two and two", "two and three")).by_id["c-1"].question != renamed.question


def test_selecting_an_unknown_case_or_an_empty_split_is_refused() -> None:
    with pytest.raises(InputError, match="no case 'c-9'"):
        suite().select(cases=("c-9",))
    with pytest.raises(InputError, match="no case in split 'train'"):
        suite().select(split="train")


def test_a_folder_stands_for_the_suite_file_in_it(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(GOOD, encoding="utf-8")
    assert load_suite(tmp_path).digest == load_suite(tmp_path / "suite.yaml").digest


def test_a_case_limits_suite_wide_checks_by_tag() -> None:
    text = GOOD.replace(
        "all_of: key.facts, critical: true}", "all_of: key.facts, critical: true, when: {not_tags: [odd]}}"
    )
    text = text.replace("- id: c-2", "- id: c-2\n  tags: [odd]").replace(
        "max_words: 20}", "max_words: 20, critical: true}"
    )
    assert [b.check.id for b in suite(text).bound["c-2"]] == ["short"]


def test_a_probe_that_names_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="names case 'c-7'"):
        suite(GOOD + "probes: [{name: p, case: c-7, answer: four}]\n")
