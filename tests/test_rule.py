"""The written rule is read by machine, strictly, and the one that comes with evallib holds where a log has none."""

from pathlib import Path

import pytest

from evallib.entries import CAUSES, FIXES
from evallib.errors import InputError
from evallib.rule import load_rule, same_person

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "adjudications" / "RULE.yaml").read_text()


def test_a_log_without_a_rule_has_the_one_that_comes_with_evallib_and_that_is_said(tmp_path: Path) -> None:
    packaged = load_rule(tmp_path)
    assert packaged.packaged
    assert packaged.said() == "the rule that comes with evallib holds, because the log has no RULE.yaml of its own"
    (tmp_path / "RULE.yaml").write_text("# the same in other layout\n" + TEXT)
    own = load_rule(tmp_path)
    assert (own.packaged, own.said()) == (False, f"the rule in {tmp_path / 'RULE.yaml'} holds")
    assert own.rule.digest == packaged.rule.digest


def test_the_rule_licenses_by_cause(tmp_path: Path) -> None:
    rule = load_rule(tmp_path).rule
    assert list(rule.licences) == list(CAUSES)
    assert rule.fixes == rule.licences["other"] == FIXES
    assert [cause for cause, fixes in rule.licences.items() if not fixes] == ["true-failure", "cannot-judge", "unknown"]
    assert rule.licensing("key") == ["too-narrow", "description-mismatch", "too-broad", "other"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("authors: anyone", "authors: nobody", r"line \d+ \(authors\)"),
        ("authors: anyone", "authors: []", r"line \d+ \(authors\): names nobody"),
        ("authors: anyone", 'authors: ["A\\u200bnn"]', r"line \d+ \(authors\): the name .* holds U\+200B"),
        ("licensed_by: anyone", "licensed_by: me", r"line \d+ \(licensed_by\)"),
        ("too-narrow: [widen, key]", "too-narrow: [tweak]", r"line \d+ \(licences\.too-narrow\.0\)"),
        ("too-narrow: [widen, key]", "to-narrow: [widen]", r"line \d+ \(licences\.to-narrow"),
        ("  unknown: []\n", "", "lacks the cause unknown"),
        ("since:", "sinse:", "did you mean 'since'"),
        ("rule: adjudication", "rule: one sentence", r"line \d+ \(rule\)"),
    ],
)
def test_a_rule_that_is_wrong_names_file_line_and_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert TEXT.count(old) >= 1
    (tmp_path / "RULE.yaml").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(InputError, match=said) as told:
        load_rule(tmp_path)
    assert str(told.value).startswith(str(tmp_path / "RULE.yaml"))
    assert "\n" not in str(told.value)


def test_an_empty_rule_and_a_dangling_link_are_no_missing_rule(tmp_path: Path) -> None:
    (tmp_path / "RULE.yaml").write_text("")
    with pytest.raises(InputError, match="begins with `rule: adjudication`"):
        load_rule(tmp_path)
    (tmp_path / "RULE.yaml").unlink()
    (tmp_path / "RULE.yaml").symlink_to(tmp_path / "gone")
    with pytest.raises(InputError, match="no such file"):
        load_rule(tmp_path)


def test_a_name_is_allowed_in_its_own_spelling_only(tmp_path: Path) -> None:
    (tmp_path / "RULE.yaml").write_text(TEXT.replace("authors: anyone", "authors: [' Ann  B. ', Bo]"))
    rule = load_rule(tmp_path).rule
    assert rule.authors == ("Ann B.", "Bo")
    cyrillic = "\u0410nn B."
    assert [rule.allows(name) for name in ("Ann B.", "ann b.", "Ann", cyrillic)] == [True, False, False, False]


def test_one_person_in_another_case_or_form_is_no_second_person() -> None:
    assert same_person("Ann B.", "ann  b")
    assert same_person("\uff21nn", "ann")
    assert not same_person("Ann", "Anna")
