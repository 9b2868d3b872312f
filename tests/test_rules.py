"""What the written rule refuses: each a sentence, and nothing written; what somebody may answer for is marked."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evallib.cli import main
from evallib.entries import Override, Rescoring
from evallib.locks import make_close, make_lock
from evallib.rescoring.impact import preview
from evallib.rescoring.ledger import caveats, dated_rescorings
from evallib.rescoring.rules import Acceptance
from evallib.rule import load_rule
from evallib.store import append_entry, import_run, open_run, read_log, verify_log, verify_run
from evallib.views.figures import load_views
from tests.licensing import citing, read_each
from tests.making import SUITE, stored_run
from tests.ruled import ANSWERS, ENTRY, NARROWER, WIDER, Home
from tests.test_rule import TEXT


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
    home = Home(tmp_path, suite)
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


# --- criteria that were never published


RECORDED = """\
suite: small
recorded: true
checks:
- {id: says, check: recorded, critical: true}
- {id: short, check: recorded}
cases: [{id: c-1}, {id: c-2}]
"""


@pytest.fixture
def recorded(tmp_path: Path) -> Home:
    """A run whose verdicts were recorded elsewhere: nothing tells what its criteria were."""
    home = Home(tmp_path)
    source = {"set": "s", "sha256": "0" * 64}
    home.run = import_run(
        home.folder, "there", RECORDED, home.run.samples, home.run.verdicts, target={"kind": "t"}, source=source
    )
    return home


def there(entry: str) -> str:
    return entry.replace("run: r-1", "run: there")


@pytest.mark.parametrize("fix", ["criticality", "weight", "description"])
def test_what_only_counts_otherwise_turns_no_recorded_verdict(recorded: Home, fix: str) -> None:
    entry = there(ENTRY).replace("fix: widen", f"fix: {fix}").replace("cases: [c-1], ", "")
    said = f"calls the change of check 'says' {fix}, and sample 2 of case 'c-1' of run 'there' now passes it"
    recorded.refused(said, [recorded.read(cause="wrong-scope")], entry)


def test_a_flip_by_a_check_that_the_entry_does_not_list_is_refused(recorded: Home) -> None:
    entry = there(ENTRY).replace("check: says, cases: [c-1], fix: widen", "check: short, fix: weight")
    id_ = recorded.read(check="short", cause="wrong-scope")
    recorded.read()
    recorded.refused("sample 2 of case 'c-1' of run 'there' would become pass by says, which the entry does not list",
                     [id_], entry)  # fmt: skip
    assert len(recorded.rescore([recorded.read()], there(ENTRY)).as_dict()["flips"]) == 1


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
    assert [flip["sample"] for flip in done["unread"]] == [3]
    assert (done["override"], "comes with evallib" in done["rule"]) == (entry_of(home).override, True)
    assert main(["verify", "r-1", *stored]) == 0


def test_which_cases_are_required_is_chosen_after_the_result_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path, SUITE.replace("{id: c-2,", "{id: c-2, required: true,"))
    done = home.rescore([home.read()])
    view = str(done.as_dict()["view"])
    given = ["gate", str(home.run.folder), "--adjudications", str(home.log), "--json"]
    for name, chosen in (("strict", False), (view, True)):
        assert main([*given, "--view", name]) == 0
        decision = json.loads(capsys.readouterr().out)
        assert decision["chosen_after_result"] is chosen
        assert ("required" in [rule["rule"] for rule in decision["rules"]]) is not chosen


def test_the_rule_that_allowed_a_rescoring_stands_beside_it_in_its_own_words(home: Home) -> None:
    ids, text = [home.read()], f"# ours\n{TEXT}"
    (home.log / "RULE.yaml").write_text(text)
    entry = home.rescore(ids).entry
    (kept,) = home.run.folder.glob("rescored/*/RULE.yaml")
    assert kept.read_text() == text
    assert verify_run(home.run, home.log).problems == []
    (home.log / "RULE.yaml").write_text(TEXT.replace("authors: anyone", "authors: [Ann, Bo]"))
    (one,) = dated_rescorings(read_log(home.log))
    (told,) = caveats(one, load_rule(home.log).rule.digest)
    assert told == (
        "made under another rule than the one that holds now: its text is RULE.yaml beside the rescored verdicts, "
        f"digest {entry.rule_digest[:16]}"
    )


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("edit", "differs from what was written"),
        ("delete", "is missing"),
        ("author", "does not let 'Cem' change criteria"),
        ("digest", "is not the rule of which its entry has the digest"),
    ],
)
def test_the_kept_rule_is_verified(home: Home, harm: str, said: str) -> None:
    ids = [home.read()]
    (home.log / "RULE.yaml").write_text(TEXT.replace("authors: anyone", "authors: [Ann, Bo]"))
    digest = home.rescore(ids).entry.rule_digest
    (kept,) = home.run.folder.glob("rescored/*/RULE.yaml")
    entry = kept.with_name("entry.yaml")
    if harm == "delete":
        kept.unlink()
    elif harm == "edit":
        kept.write_text(TEXT)
    else:
        was, forged = {"author": ("author: Ann", "author: Cem"), "digest": (digest, "0" * 64)}[harm]
        entry.write_text(entry.read_text().replace(was, forged))
    assert said in " ".join(verify_run(home.run, home.log).problems)


@pytest.mark.parametrize("where", ["entry", "change"])
def test_a_reason_that_shows_nobody_anything_is_none(home: Home, where: str) -> None:
    words = "reason: a digit is as good" if where == "change" else """reason: "'4' is four\""""
    home.refused("the reason .*is blank; say why", [home.read()], ENTRY.replace(words, 'reason: "\\u200b -."'))
