"""Each change of a criterion needs a cited reading whose cause allows that kind of fix, and is called what it is."""

from pathlib import Path
from typing import Any

import pytest

from evallib.adjudication import make_difference, make_rubric, make_withdrawal
from evallib.entries import Rescoring
from evallib.errors import InputError
from evallib.rescoring.apply import rescore
from evallib.store import append_entry, read_log
from evallib.views.figures import load_views
from tests.licensing import read_each
from tests.making import SUITE, stored_run
from tests.ruled import ANSWERS, ENTRY, WIDER, Home
from tests.test_rule import TEXT


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        ({"check": "short", "reading": "fail"}, "is of check 'short'"),
        ({"case": "c-2"}, "is of case 'c-2'"),
        ({"sample": 1}, "passes an answer that check 'says' did not fail"),
        ({"sample": 3, "reading": "fail", "cause": "true-failure"}, "fails an answer that check 'says' failed already"),
        ({"check": "says", "sample": 3, "reading": "fail", "cause": "too-narrow"}, "says fail, and to widen lets more"),
        ({"cause": "true-failure"}, "has the cause true-failure, which licenses nothing"),
        ({"cause": "paraphrase"}, "has the cause paraphrase, which licenses replace, drop"),
        (
            {"cause": "wrong-scope"},
            "has the cause wrong-scope, which licenses scope, criticality, weight, pass-rule, drop",
        ),
        ({"cause": "unknown"}, "has the cause unknown, which licenses nothing"),
        ({"cause": "other"}, "add `judgement: true`"),
        ({"reading": "infra", "cause": "other"}, "says infra"),
        ({"reading": "unsure", "cause": "cannot-judge"}, "says unsure"),
        ({"again": True, "blind": True}, "is a second look"),
    ],
)
def test_a_reading_that_is_of_something_else_licenses_nothing(home: Home, reading: dict[str, Any], said: str) -> None:
    home.refused(said, [home.read(**reading)])


def test_a_change_without_a_reading_is_refused_with_the_causes_that_license_it(home: Home) -> None:
    home.refused(
        "no cited reading licenses `fix: widen` of check 'says' of 'c-1': it cites none; cite under `readings` one "
        "whose cause is one of too-narrow, negation-or-quoted, placeholder-or-redacted, description-mismatch, other"
    )
    home.read()  # it reads the flip, and nobody cites it
    home.refused("it cites none")


def test_a_reading_of_another_run_licenses_nothing_here(home: Home) -> None:
    other = stored_run(home.folder, ANSWERS, run_id="r-2")
    home.read()
    (theirs,) = read_each(home.log, [other], [("c-1", 2, "pass")])
    home.refused(f"'{theirs}' is of a run that is not rescored here", [theirs])
    assert home.rescore([theirs], runs=[home.run, other], acceptance=None).as_dict()["reverse"] == []


def test_a_reading_that_does_not_stand_is_refused(home: Home) -> None:
    gone, whole = home.read(author="Cem"), home.read()
    append_entry(home.log, make_withdrawal(read_log(home.log), gone, author="Cem", reason="slip"))
    home.refused("was taken back or amended; cite one that stands", [whole, gone])
    amended = home.read(supersedes=whole)
    home.refused("was taken back or amended", [whole])
    unlike = home.read(reading="fail", author="Dee", cause="true-failure")
    home.refused("does not hold: its readers differ; settle it", [amended])
    append_entry(home.log, make_withdrawal(read_log(home.log), unlike, author="Dee", reason="slip"))
    suite = home.run.suite
    append_entry(home.log, make_rubric(suite, author="Ann", text="Is it four?", reason="clearer", check=""))
    fresh = home.read()
    append_entry(home.log, make_rubric(suite, author="Ann", text="Is it truly four?", reason="clearer", check=""))
    home.refused("is stale: the answer or what it was to be judged by is another now", [fresh])


def test_the_cause_of_a_blind_reading_is_that_of_its_difference(home: Home) -> None:
    id_ = home.read(blind=True, cause="unknown", reason="")
    home.refused("has the cause unknown", [id_])
    about = next(logged for logged in read_log(home.log) if logged.id == id_)
    append_entry(home.log, make_difference(home.run, about, author="Bo", cause="too-narrow", reason="4 is four"))
    assert home.rescore([id_]).as_dict()["unexpected"] == []


def test_the_rule_may_ask_for_a_second_person_and_the_entry_says_where_there_was_none(home: Home) -> None:
    own = home.read(author="Ann")
    (home.log / "RULE.yaml").write_text(TEXT.replace("licensed_by: anyone", "licensed_by: another"))
    home.refused("is by 'Ann', the author of the entry, and the rule asks for a reading by another person", [own])
    home.refused("is by 'Ann'", [own], ENTRY.replace("author: Ann", "author: ann"))
    second = home.read()
    assert home.rescore([own, second]).entry.own_readings_only is False
    (home.log / "RULE.yaml").write_text(TEXT)
    assert home.rescore([own], ENTRY.replace("slug: digit", "slug: own")).entry.own_readings_only is True


def test_a_judgement_call_is_licensed_by_any_other_cause_and_stands_beside_every_figure(home: Home) -> None:
    id_ = home.read(cause="other")
    done = home.rescore([id_], ENTRY.replace("good}", "good, judgement: true}"))
    label = "chosen after reading the answers; 1 judgement call"
    assert done.as_dict()["label"] == label
    _, rescored, _ = load_views("r-1", home.folder, home.log)
    assert rescored.summary()["label"] == label
    assert set(rescored.outcomes["label"]) == {label}


def test_a_kind_of_fix_that_the_rule_leaves_out_is_refused(home: Home) -> None:
    id_ = home.read()
    fixes = "fixes: [widen, narrow, scope, criticality, key, weight, pass-rule, description, replace, drop]"
    (home.log / "RULE.yaml").write_text(TEXT.replace(fixes, "fixes: [narrow]"))
    home.refused("the rule allows no change of the kind widen", [id_])


# --- what the change is called


@pytest.mark.parametrize(
    ("suite", "fix", "said"),
    [
        (WIDER, "weight", "check 'says' of case 'c-1' weight, and what the case's key gives it differs"),
        (WIDER, "description", "check 'says' of case 'c-1' description, and what the case's key"),
        (WIDER, "replace", "replace, and what the case's key gives it differs; .* as key or widen or narrow"),
        (WIDER, "scope", "scope, and what the case's key gives it differs"),
        (SUITE.replace("all_of: key.facts", "all_of: ['4']"), "key", "key, and what it measures differs"),
        (SUITE.replace("check: mentions,", "check: mentions, weight: 2,"), "widen", "widen, and its weight differs"),
        (SUITE.replace("max_words: 5", "max_words: 5, critical: true"), "widen", "widen, and whether it is critical"),
    ],
)
def test_a_change_is_called_what_it_is(home: Home, suite: str, fix: str, said: str) -> None:
    entry = ENTRY.replace("fix: widen", f"fix: {fix}").replace("cases: [c-1], ", "")
    if "max_words: 5, critical" in suite:
        entry = entry.replace("check: says", "check: short")
    home.refused(said, [home.read()], entry, suite)


def test_a_widening_that_fails_an_answer_and_a_narrowing_that_passes_one_are_no_such_thing(home: Home) -> None:
    id_ = home.read()
    other = SUITE.replace("{facts: [four]}", "{facts: ['4']}")
    home.refused("check 'says' widen, and sample 1 of case 'c-1' of run 'r-1' now fails it", [id_], ENTRY, other)
    broad = home.read(sample=1, reading="fail", cause="too-broad")
    narrow = ENTRY.replace("fix: widen", "fix: narrow")
    home.refused("narrow, and sample 2 of case 'c-1' of run 'r-1' now passes it", [broad], narrow)


def test_a_description_alone_needs_no_reading_is_an_entry_and_flips_nothing(home: Home) -> None:
    described = SUITE.replace("check: mentions,", "check: mentions, description: the sum in words,")
    changes = "changes: [{check: says, fix: description, reason: says what it asks}]"
    entry = f"kind: rescoring\nslug: words\nauthor: Ann\nreason: r\n{changes}\n"
    (home.folder / "new.yaml").write_text(described)
    (home.folder / "entry.yaml").write_text(entry)
    done = rescore([home.run], home.folder / "new.yaml", home.folder / "entry.yaml", home.log)
    assert (done.as_dict()["flips"], done.as_dict()["recomputed"]) == ([], 0)
    assert [type(e) for _, e in read_log(home.log)] == [Rescoring]
    (home.folder / "new.yaml").write_text(SUITE)
    (home.folder / "entry.yaml").write_text(entry.replace("slug: words", "slug: again"))
    with pytest.raises(InputError, match="both suites say the same"):
        rescore([home.run], home.folder / "new.yaml", home.folder / "entry.yaml", home.log)


def test_a_change_of_the_pass_rule_that_is_none_is_refused(home: Home) -> None:
    entry = ENTRY.replace("changes: [", "changes: [{check: says, fix: pass-rule, reason: r}, ")
    home.refused("the pass rule changes, and both suites say 'critical'", [home.read(cause="other")], entry)


def test_a_check_that_takes_the_place_of_one_is_licensed_with_it(home: Home) -> None:
    suite = SUITE.replace(
        "id: says, check: mentions, all_of: key.facts", "id: tells, check: mentions, all_of: key.facts"
    )
    suite = suite.replace("{facts: [four]}", "{facts: [[four, '4']]}").replace(
        "checks: {says: 0.5}", "checks: {tells: 0.5}"
    )
    changes = "{check: says, fix: replace, reason: r}, {check: tells, fix: replace, reason: r}"
    entry = ENTRY.replace("{check: says, cases: [c-1], fix: widen, reason: a digit is as good}", changes)
    home.refused("`fix: replace` of check 'says'", [home.read(cause="too-narrow")], entry, suite)
    done = home.rescore([home.read(cause="paraphrase", author="Cem")], entry, suite).as_dict()
    assert [(f["sample"], f["checks"], f["read"]) for f in done["flips"]] == [(2, ["says", "tells"], "read")]
