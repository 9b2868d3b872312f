"""What the written rule refuses: each a sentence, and nothing written; what somebody may answer for is marked."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from evallib.adjudication import make_reading, make_rubric, make_withdrawal
from evallib.cli import main
from evallib.entries import Override, Rescoring
from evallib.errors import InputError
from evallib.figures import load_views
from evallib.locks import make_close, make_lock
from evallib.rescoring.apply import Rescored, rescore
from evallib.rescoring.impact import preview
from evallib.rescoring.rules import Acceptance
from evallib.rule import load_rule
from evallib.store import Run, append_entry, import_run, open_run, read_log, verify_log, verify_run
from tests.commandline import files
from tests.licensing import citing, read_each
from tests.making import SUITE, stored_run
from tests.test_rule import TEXT

ENTRY = """\
kind: rescoring
slug: digit
author: Ann
reason: "'4' is four"
changes: [{check: says, cases: [c-1], fix: widen, reason: a digit is as good}]
expects: [{run: r-1, case: c-1, sample: 2, to: pass}]
"""
WIDER = SUITE.replace("{facts: [four]}", "{facts: [[four, '4']]}")
NARROWER = SUITE.replace("{facts: [four]}", "{facts: [four, sum]}")
ANSWERS = {"c-1": ["four", "it is 4", "none"], "c-2": ["five", "six"]}


class Home:
    """One stored run, its log, and how a rescoring of it is tried."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log"
        self.run = stored_run(folder, ANSWERS)

    def read(self, case: str = "c-1", sample: int = 2, reading: str = "pass", **more: Any) -> str:
        given = {"author": "Bo", "cause": "too-narrow", "reason": "it says so", "log": read_log(self.log), **more}
        return append_entry(self.log, make_reading(self.run, case, sample, reading=reading, **given)).id

    def rescore(
        self,
        readings: Sequence[str] = (),
        entry: str = ENTRY,
        suite: str = WIDER,
        runs: Sequence[Run] = (),
        **more: Any,
    ) -> Rescored:
        (self.folder / "new.yaml").write_text(suite)
        (self.folder / "entry.yaml").write_text(citing(entry, readings))
        return rescore(runs or [self.run], self.folder / "new.yaml", self.folder / "entry.yaml", self.log, **more)

    def refused(self, said: str, *given: Any, **more: Any) -> None:
        before = files(self.folder / "runs") | files(self.log) if self.log.exists() else files(self.folder / "runs")
        with pytest.raises(InputError, match=said) as told:
            self.rescore(*given, **more)
        assert "\n" not in str(told.value)
        assert (
            files(self.folder / "runs") | files(self.log) if self.log.exists() else files(self.folder / "runs")
        ) == before


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def entry_of(home: Home) -> Rescoring:
    return next(e for _, e in read_log(home.log) if isinstance(e, Rescoring))


# --- who, and what must be said


@pytest.mark.parametrize(
    ("author", "said"),
    [
        ("Cem", "the rule lets Ann, Bo change criteria, and 'Cem' is none of these names; have one of them do it"),
        ("ann", "and 'ann' is none of these names; write 'Ann' as the rule does"),
        ("ANN", "and 'ANN' is none of these names; write 'Ann' as the rule does"),
        ("\u0410nn", "is none of these names; have one of them do it"),
        ('"An\\u200bn"', r"line 3 \(author\): the name 'An\\u200bn' holds U\+200B"),
        ("' '", r"line 3 \(author\): the author is blank"),
    ],
)
def test_an_author_whom_the_rule_does_not_name_is_refused(home: Home, author: str, said: str) -> None:
    ids = [home.read()]
    (home.log / "RULE.yaml").write_text(TEXT.replace("authors: anyone", "authors: [Ann, Bo]"))
    home.refused(said, ids, ENTRY.replace("author: Ann", f"author: {author}"))
    done = home.rescore(ids, ENTRY.replace("author: Ann", "author: '  Ann '"))
    assert (done.entry.author, done.entry.rule_digest) == ("Ann", load_rule(home.log).rule.digest)


def test_an_entry_says_which_flips_it_expects_or_that_none_will_happen(home: Home) -> None:
    ids = [home.read()]
    silent = ENTRY.replace("expects: [{run: r-1, case: c-1, sample: 2, to: pass}]\n", "")
    home.refused("does not say which flips it expects", ids, silent)
    assert len(home.rescore(ids, silent + "expects: []\n").as_dict()["unexpected"]) == 1


def test_a_rule_that_cannot_be_read_stops_every_rescoring(home: Home) -> None:
    ids = [home.read()]
    (home.log / "RULE.yaml").write_text("rule: adjudication\n")
    home.refused("RULE.yaml", ids)


# --- licences


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
    from evallib.adjudication import make_difference

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
        (WIDER, "weight", "calls the change of check 'says' of case 'c-1' weight, and what it measures differs"),
        (WIDER, "description", "calls the change of check 'says' of case 'c-1' description, and what it measures"),
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
    home.refused("check 'says' `widen`, and sample 1 of case 'c-1' of run 'r-1' now fails it", [id_], ENTRY, other)
    broad = home.read(sample=1, reading="fail", cause="too-broad")
    narrow = ENTRY.replace("fix: widen", "fix: narrow")
    home.refused("`narrow`, and sample 2 of case 'c-1' of run 'r-1' now passes it", [broad], narrow)


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


# --- flips


def test_a_flip_that_nobody_read_is_refused_and_says_how_to_read_it(home: Home) -> None:
    more = stored_run(home.folder, {"c-1": ["4", "it is 4"]}, run_id="r-2")
    id_ = home.read()
    home.refused(r"2 flips were read by nobody: sample 1 of case 'c-1' of run 'r-2'; sample 2 .*read them first", [id_],
                 runs=[home.run, more])  # fmt: skip
    read_each(home.log, [more], [("c-1", 1, "unsure"), ("c-1", 2, "pass")])
    home.refused("1 flip was read by nobody: sample 1", [id_], runs=[home.run, more])


def test_a_flip_against_its_reading_is_refused_and_no_override_helps(home: Home) -> None:
    both = SUITE.replace("{facts: [four]}", "{facts: [[four, '4', none]]}")
    id_, against = home.read(), home.read(sample=3, reading="fail", cause="true-failure")
    for acceptance in (None, Acceptance("it is fine", "Bo")):
        home.refused(f"sample 3 of case 'c-1' of run 'r-1' would become pass, and {against} says otherwise", [id_],
                     suite=both, acceptance=acceptance)  # fmt: skip


def test_a_flip_whose_readers_differ_is_refused_and_no_override_helps(home: Home) -> None:
    both = SUITE.replace("{facts: [four]}", "{facts: [[four, '4', none]]}")
    id_ = home.read()
    home.read(sample=3)
    home.read(sample=3, reading="fail", cause="true-failure", author="Cem")
    for acceptance in (None, Acceptance("it is fine", "Bo")):
        home.refused(
            "would become pass, and its readers differ; settle it first", [id_], suite=both, acceptance=acceptance
        )


def test_a_check_read_as_failing_stands_against_an_answer_that_would_pass(tmp_path: Path) -> None:
    suite = SUITE.replace("max_words: 5", "max_words: 5, critical: true")
    run = stored_run(tmp_path, ANSWERS, suite_text=suite)
    home = Home.__new__(Home)
    home.folder, home.log, home.run = tmp_path, tmp_path / "log", run
    id_ = home.read(check="says")
    against = home.read(check="short", reading="fail", cause="too-broad")
    home.refused(
        f"would become pass, and .*{against} says otherwise", [id_], suite=suite.replace("[four]", "[[four, '4']]")
    )


def test_a_flip_back_must_be_expected_and_read(home: Home) -> None:
    entry = ENTRY.replace("fix: widen", "fix: narrow").replace("sample: 2, to: pass", "sample: 1, to: fail")
    unexpected = entry.replace("sample: 1", "sample: 3")
    id_ = home.read(check="says", sample=1, reading="fail", cause="too-broad")
    for acceptance in (None, Acceptance("it is fine", "Bo")):
        home.refused("would become fail from pass: the entry does not expect it", [id_], unexpected, NARROWER,
                     acceptance=acceptance)  # fmt: skip
    done = home.rescore([id_], entry, NARROWER).as_dict()
    assert [(f["sample"], f["to"], f["expected"], f["read"]) for f in done["reverse"]] == [(1, "fail", True, "read")]


def test_a_flip_back_that_nobody_read_is_refused_though_it_is_expected(home: Home) -> None:
    two = stored_run(home.folder, {"c-1": ["four", "four"]}, run_id="r-2")
    entry = ENTRY.replace("fix: widen", "fix: narrow").replace(
        "{run: r-1, case: c-1, sample: 2, to: pass}",
        "{run: r-2, case: c-1, sample: 1, to: fail}, {run: r-2, case: c-1, sample: 2, to: fail}",
    )
    (id_,) = read_each(home.log, [two], [("c-1", 1, "fail")], cause="too-broad")
    home.refused("sample 2 .* would become fail from pass: nobody read it as that", [id_], entry, NARROWER,
                 runs=[two], acceptance=Acceptance("it is fine", "Bo"))  # fmt: skip


# --- overrides


def test_an_override_accepts_unread_flips_by_name_and_marks_every_figure(home: Home) -> None:
    more = stored_run(home.folder, {"c-1": ["4", "it is 4"]}, run_id="r-2")
    done = home.rescore([home.read()], runs=[home.run, more], acceptance=Acceptance("a digit is no question", " Bo "))
    label = "chosen after reading the answers; 2 flips unread, accepted by Bo"
    override = next(logged for logged in read_log(home.log) if isinstance(logged.entry, Override))
    entry = entry_of(home)
    assert (entry.override, entry.unread, entry.unread_accepted_by) == (override.id, 2, "Bo")
    assert isinstance(override.entry, Override)
    assert (override.entry.runs, override.entry.suite_digest) == (("r-1", "r-2"), entry.suite_digest)
    assert [(f.run, f.sample, f.to) for f in override.entry.flips] == [("r-2", 1, "pass"), ("r-2", 2, "pass")]
    assert done.as_dict()["label"] == label
    for run_id in ("r-1", "r-2"):
        rescored = load_views(run_id, home.folder, home.log)[1]
        assert rescored.summary()["label"] == label
        assert set(rescored.verdicts["label"]) == {label}
        run = open_run(run_id, home.folder)
        assert verify_run(run, home.log).problems == []
        metadata = pq.read_schema(run.rescorings[0].folder / "verdicts.parquet").metadata
        assert metadata[b"label"].decode() == label
    assert verify_log(home.log).problems == []


@pytest.mark.parametrize(
    ("acceptance", "rule", "said"),
    [
        (Acceptance(" ", "Bo"), {}, "an override needs a reason"),
        (Acceptance("fine", " "), {}, "give --by"),
        (Acceptance("fine", "Cem"), {"authors: anyone": "authors: [Ann, Bo]"}, "lets Ann, Bo accept unread flips"),
        (Acceptance("fine", "ann"), {"licensed_by: anyone": "licensed_by: another"}, "asks for a second person"),
    ],
)
def test_an_override_needs_a_person_and_a_reason(
    home: Home, acceptance: Acceptance, rule: dict[str, str], said: str
) -> None:
    more = stored_run(home.folder, {"c-1": ["4", "it is 4"]}, run_id="r-2")
    id_, text = home.read(), TEXT
    for old, new in rule.items():
        text = text.replace(old, new)
    (home.log / "RULE.yaml").write_text(text)
    home.refused(said, [id_], runs=[home.run, more], acceptance=acceptance)


def test_an_override_of_nothing_is_refused(home: Home) -> None:
    id_ = home.read()
    home.refused("every flip was read; leave it out", [id_], acceptance=Acceptance("fine", "Bo"))


def test_verify_names_an_override_that_another_rescoring_cites(home: Home) -> None:
    home.rescore([home.read()])
    entry = entry_of(home)
    flips = ({"run": "r-9", "case": "c-1", "sample": 1, "to": "pass"},)
    other = append_entry(home.log, Override.model_validate_json(json.dumps(
        {"author": "Bo", "runs": ["r-9"], "suite_digest": "x", "flips": flips, "reason": "r"}
    )))  # fmt: skip
    append_entry(home.log, entry.model_copy(update={"override": other.id, "time": "", "readings": ("gone",)}))
    told = " ".join(verify_log(home.log).problems)
    assert f"override names '{other.id}', which is of other runs or another suite" in told
    assert "readings names 'gone', which is not in the log" in told


# --- locks and copies


def test_nobody_tunes_inside_a_lock(home: Home) -> None:
    arm = stored_run(home.folder, ANSWERS, run_id="arm")
    copy = stored_run(home.folder, ANSWERS, run_id="copy", suite_text=SUITE.replace("suite: small", "suite: renamed"))
    ids = [home.read(), *read_each(home.log, [arm, copy], [("c-1", 2, "pass")])]
    lock = append_entry(home.log, make_lock([home.run, arm], author="Ann", reason="before and after"))
    home.refused(
        rf"run 'r-1' is held by lock '{lock.id}' of 'Ann' \(before and after\); .*evallib close {lock.id}", ids
    )
    home.refused("run 'copy' shares criteria with r-1, arm, held by lock", ids, runs=[copy])
    home.refused("is held by lock", ids, acceptance=Acceptance("it is fine", "Bo"))
    seen = preview([home.run], home.folder / "new.yaml", home.folder / "entry.yaml", home.log)
    assert any("is held by lock" in said for said in seen.would_refuse)
    rule = load_rule(home.log).rule
    append_entry(home.log, make_close(read_log(home.log), lock.id, author="Ann", reason="published", rule=rule))
    assert home.rescore(ids).as_dict()["unexpected"] == []


def test_a_rescoring_that_stood_before_a_lock_stays(home: Home) -> None:
    home.rescore([home.read()])
    append_entry(home.log, make_lock([home.run], author="Ann", reason="a comparison"))
    assert [figures.view.partition(":")[0] for figures in load_views("r-1", home.folder, home.log)] == [
        "strict", "rescored", "read",
    ]  # fmt: skip


def test_one_recording_under_two_ids_is_not_counted_twice(home: Home) -> None:
    source = {"set": "s", "sha256": "0" * 64}
    samples, verdicts = home.run.samples, home.run.verdicts
    runs = [
        import_run(home.folder, name, SUITE, samples, verdicts, target={"kind": "t"}, source=source)
        for name in ("a", "b")
    ]
    ids = read_each(home.log, runs, [("c-1", 2, "pass")])
    home.refused("runs 'a' and 'b' are imports of the same records; name one of them", ids, runs=runs)


# --- on the command line


def test_the_command_line_locks_refuses_closes_and_accepts(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home.folder)
    stored = ["--data", str(home.folder), "--adjudications", "log"]
    (home.folder / "new.yaml").write_text(WIDER.replace("'4'", "'4', none"))
    (home.folder / "entry.yaml").write_text(citing(ENTRY, [home.read()]))
    asked = ["rescore", "r-1", "--suite", "new.yaml", "--entry", "entry.yaml", *stored]
    assert main(["lock", "r-1", "--by", "Ann", "--reason", "a comparison", *stored]) == 0
    lock = capsys.readouterr().out.strip()
    assert main(asked) == 2
    assert f"is held by lock '{lock}'" in capsys.readouterr().err
    assert main(["close", lock, "--by", "Bo", "--reason", "done", *stored]) == 2
    assert main(["close", lock, "--by", "Ann", "--reason", "done", *stored]) == 0
    capsys.readouterr()
    assert main(asked) == 2
    assert "1 flip was read by nobody" in capsys.readouterr().err
    assert main([*asked, "--by", "Bo"]) == 2
    assert main([*asked, "--override", "none is zero and four"]) == 2
    assert "an entry needs the person who says it; give --by" in capsys.readouterr().err
    assert main([*asked, "--override", "a slip of the pen", "--by", "Bo", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["label"] == "chosen after reading the answers; 1 flip unread, accepted by Bo"
    assert [flip["read"] for flip in done["flips"]] == ["read", "unread"]
    assert main(["verify", "r-1", *stored]) == 0
