"""What people read teaches the scorers: a known bad answer that a later criterion lets pass is refused."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evallib.cli import main
from evallib.errors import InputError
from evallib.records import Sample, ToolCall, Turn
from evallib.rescoring.apply import rescore
from evallib.rescoring.impact import preview
from evallib.rescoring.lessons import learn, taught, untrue
from evallib.runner import RunOptions, run_suite
from evallib.selfchecks.regressions import Regressions, load_regressions, try_regressions
from evallib.selfchecks.selfcheck import self_check
from evallib.store import Run, append_entry, read_log
from evallib.strict_yaml import load_yaml
from evallib.suite import load_suite
from evallib.targets import open_target
from evallib.targets.base import TargetOptions
from tests.licensing import citing, read_each
from tests.making import SUITE, stored_run
from tests.readers import Log

ENTRY = """\
kind: rescoring
slug: widen
author: r1
reason: "'4' is four"
changes: [{check: says, cases: [c-1], fix: widen, reason: a digit is as good}]
expects: [{run: r-1, case: c-1, sample: 2, to: pass}]
"""
WIDER = SUITE.replace("{facts: [four]}", "{facts: [[four, '4']]}")
TOO_WIDE = SUITE.replace("{facts: [four]}", "{facts: [[four, '4', FORTY]]}")
READ = [("c-1", 2, "pass"), ("c-1", 3, "fail")]


def folder(tmp_path: Path, suite: str = SUITE) -> Path:
    path = tmp_path / "suites" / "small"
    path.mkdir(parents=True, exist_ok=True)
    (path / "suite.yaml").write_text(suite)
    return path


def log_of(run: Run, said: Sequence[tuple[str, int, str]] = READ, **more: Any) -> Log:
    log = Log()
    for case, sample, reading in said:
        log.read(run, (case, sample), reading, **more)
    return log


def lesson(tmp_path: Path, run: Run, log: Log, suite: str = SUITE) -> Path:
    """The folder of a suite whose regressions are what `log` says of `run`."""
    path = folder(tmp_path, suite)
    loaded = load_suite(path)
    kept = load_regressions(path, loaded)
    taught(kept, learn([run], loaded, kept, log))
    return path


def kept_in(path: Path) -> Regressions:
    return load_regressions(path, load_suite(path))


def three(tmp_path: Path) -> Run:
    return stored_run(tmp_path, {"c-1": ["four", "it is 4", "it is forty"]})


def test_an_overruled_verdict_must_pass_and_a_confirmed_failure_must_fail(tmp_path: Path) -> None:
    run = three(tmp_path)
    path = lesson(tmp_path, run, log_of(run))
    kept = kept_in(path).kept
    assert [(r.key[2], r.must, r.strict, r.checks, r.readings) for r in kept] == [
        (2, "pass", "fail", ("says",), ("e00000",)),
        (3, "fail", "fail", ("says",), ("e00001",)),
    ]
    trial = try_regressions(load_suite(path), kept)
    assert (trial.tried, trial.bad, len(trial.residue)) == (2, (), 1)
    assert "still fails an answer that is right: sample 2 of case 'c-1' in run 'r-1'" in trial.residue[0]
    folder(tmp_path, WIDER)
    assert try_regressions(load_suite(path), kept) == (2, (), (), ())


def test_a_false_pass_is_residue_until_the_criterion_stops_it(tmp_path: Path) -> None:
    run = three(tmp_path)
    path = lesson(tmp_path, run, log_of(run, [("c-1", 1, "fail")]))
    (one,) = kept_in(path).kept
    assert (one.must, one.strict, one.checks) == ("fail", "pass", ())
    (said,) = try_regressions(load_suite(path), [one]).residue
    assert said.startswith("the deciding checks of case 'c-1' still let a known bad answer pass: ")
    folder(tmp_path, SUITE.replace("{facts: [four]}", "{facts: [exactly four]}"))
    assert try_regressions(load_suite(path), [one]).residue == ()


def test_a_widening_that_lets_a_known_bad_answer_pass_is_refused_in_any_casing(tmp_path: Path) -> None:
    run = three(tmp_path)
    path = lesson(tmp_path, run, log_of(run))
    folder(tmp_path, TOO_WIDE)
    ids = read_each(tmp_path / "log", [run], [("c-1", 2, "pass")])
    (tmp_path / "entry.yaml").write_text(citing(ENTRY, ids))
    given = [run], path, tmp_path / "entry.yaml", tmp_path / "log"
    said = r"check 'says' of case 'c-1' lets a known bad answer pass: sample 3 .* run 'r-1', read as fail \(e00001\)"
    with pytest.raises(InputError, match=said):
        rescore(*given)
    assert not (run.folder / "rescored").exists()
    assert len(read_log(tmp_path / "log")) == 1
    seen = preview(*given).as_dict()
    assert any("lets a known bad answer pass" in one for one in seen["would_refuse"])


def test_a_rescoring_says_which_answers_were_tried_and_which_it_still_gets_wrong(tmp_path: Path) -> None:
    run = three(tmp_path)
    path = lesson(tmp_path, run, log_of(run))
    wrong = SUITE.replace("{facts: [four]}", "{facts: [[four, vier]]}")
    folder(tmp_path, wrong)
    (tmp_path / "entry.yaml").write_text(ENTRY)
    done = preview([run], path, tmp_path / "entry.yaml", tmp_path / "log").as_dict()["regressions"]
    assert (done["answers"], done["tried"], len(done["still_wrong"])) == (2, 2, 1)


def test_validate_refuses_both_and_a_run_refuses_the_known_bad_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = three(tmp_path)
    path = lesson(tmp_path, run, log_of(run))
    (path / "script.yaml").write_text("script: small\nreplies: []\ndefault: {text: four}\n")
    log = ["--adjudications", str(tmp_path / "log")]
    assert main(["validate", str(path), *log]) == 2
    assert "still fails an answer that is right" in capsys.readouterr().err
    suite = load_suite(path)
    with open_target("scripted", suite, path, TargetOptions()) as target:
        stored = run_suite(path / "suite.yaml", target, RunOptions("fresh"), tmp_path)
        assert stored.plan["self_check"]["regressions"] == {"tried": 2, "digest": kept_in(path).digest}
        assert any("still fails" in one for one in stored.plan["self_check"]["unproven"])
        folder(tmp_path, TOO_WIDE)
        with pytest.raises(InputError, match="lets a known bad answer pass"):
            run_suite(path / "suite.yaml", target, RunOptions("next"), tmp_path)
    assert not (tmp_path / "runs" / "next").exists()
    folder(tmp_path, WIDER)
    assert self_check(load_suite(path), kept_in(path).kept).problems == ()


def test_a_check_made_uncritical_stops_no_bad_answer_any_more(tmp_path: Path) -> None:
    run = three(tmp_path)
    path = lesson(tmp_path, run, log_of(run))
    loose = SUITE.replace("all_of: key.facts, critical: true", "all_of: key.facts").replace(
        "max_words: 5", "max_words: 5, critical: true"
    )
    folder(tmp_path, loose)
    trial = try_regressions(load_suite(path), kept_in(path).kept)
    assert len(trial.bad) == 1
    assert trial.residue == ()


def test_a_dropped_check_leaves_the_outcome_to_stop_the_bad_answer(tmp_path: Path) -> None:
    run = three(tmp_path)
    path = lesson(tmp_path, run, log_of(run, [("c-1", 3, "fail")]))
    without = SUITE.replace("- {id: says, check: mentions, all_of: key.facts, critical: true}\n", "")
    without = without.replace("checks: {says: 0.5}", "checks: {short: 0.5}").replace(
        "max_words: 5", "max_words: 5, critical: true"
    )
    folder(tmp_path, without)
    assert len(try_regressions(load_suite(path), kept_in(path).kept).bad) == 1
    folder(tmp_path, without.replace("max_words: 5", "max_words: 2"))
    assert try_regressions(load_suite(path), kept_in(path).kept).bad == ()


def test_a_reading_of_one_check_holds_that_check_to_its_verdict(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four and a great many more words", "it is forty"]})
    log = Log()
    log.read(run, ("c-1", 1), "pass", check="short")
    log.read(run, ("c-1", 2), "fail", check="says")
    path = lesson(tmp_path, run, log)
    assert [(r.must, r.check, r.checks) for r in kept_in(path).kept] == [
        ("pass", "short", ("short",)),
        ("fail", "says", ("says",)),
    ]
    folder(tmp_path, TOO_WIDE.replace("max_words: 5", "max_words: 50"))
    trial = try_regressions(load_suite(path), kept_in(path).kept)
    assert (len(trial.bad), trial.residue) == (1, ())


def test_what_a_judge_alone_could_tell_is_named_and_not_tried(tmp_path: Path) -> None:
    run = three(tmp_path)
    path = lesson(tmp_path, run, log_of(run))
    judged = SUITE.replace(
        "- {id: says, check: mentions, all_of: key.facts, critical: true}",
        "- {id: says, check: judge, mode: pass_fail, rubric: Is it four?, critical: true}",
    ).replace("checks: {says: 0.5}", "checks: {short: 0.5}")
    folder(tmp_path, judged)
    trial = try_regressions(load_suite(path), kept_in(path).kept)
    assert (trial.tried, trial.bad, trial.residue, len(trial.untried)) == (0, (), (), 2)


def test_additions_keep_every_byte_and_the_order(tmp_path: Path) -> None:
    run = three(tmp_path)
    log = log_of(run, [("c-1", 3, "fail")])
    path = lesson(tmp_path, run, log)
    before = (path / "regressions.yaml").read_text()
    log.read(run, ("c-1", 2), "pass")
    lesson(tmp_path, run, log)
    assert (path / "regressions.yaml").read_text().startswith(before)
    assert [r.key[2] for r in kept_in(path).kept] == [3, 2]
    again = learn([run], load_suite(path), kept_in(path), log)
    assert (again.new, again.known, again.otherwise) == ((), 2, ())


def test_the_whole_sample_is_kept_with_its_turns_and_calls(tmp_path: Path) -> None:
    call = ToolCall("look", {"at": "x", "n": 2}, '{"seen": 4}', id="call-1")
    turn = Turn(1, "What is two and two?", "it is\u2028 \x1b[1mforty", (call,), partials=("it",))
    sample = Sample(
        "r-1", "c-1", 1, turns=(turn,), answer=turn.text, exit_code=0, recorded=("a note",), files={"a": "b"}
    )
    run = stored_run(tmp_path, {}, samples=[sample])
    path = lesson(tmp_path, run, log_of(run, [("c-1", 1, "fail")]))
    assert kept_in(path).kept[0].sample == run.samples[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("must: fail", "must: pass", "was edited"),
        ("it is forty", "it is fourty", "was edited"),
        ("case_id: c-1", "case_id: c-9", "was edited"),
        ("must: fail", "must: maybe", r"line 4 \(regressions\.0\.must\)"),
    ],
)
def test_a_regression_edited_by_hand_is_refused_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    run = three(tmp_path)
    path = lesson(tmp_path, run, log_of(run, [("c-1", 3, "fail")]))
    file = path / "regressions.yaml"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(InputError, match=said):
        kept_in(path)


def test_one_that_stands_twice_or_whose_case_is_gone_or_asks_otherwise_is_refused(tmp_path: Path) -> None:
    run = three(tmp_path)
    path = lesson(tmp_path, run, log_of(run, [("c-1", 3, "fail")]))
    file = path / "regressions.yaml"
    text = file.read_text()
    file.write_text(text + text.partition("regressions:\n")[2])
    with pytest.raises(InputError, match=r"stands twice; take one of them out"):
        kept_in(path)
    file.write_text(text)
    folder(tmp_path, SUITE.replace("id: c-1", "id: c-7"))
    with pytest.raises(InputError, match=r"has no case 'c-1'; put it back"):
        kept_in(path)
    folder(tmp_path, SUITE.replace("two and two", "two and nine"))
    with pytest.raises(InputError, match="asks something else"):
        kept_in(path)


def test_a_regression_written_anew_with_the_opposite_word_is_caught_by_the_log(tmp_path: Path) -> None:
    run = three(tmp_path)
    log = log_of(run, [("c-1", 3, "fail")])
    path = lesson(tmp_path, run, log)
    opposite = Log()
    opposite.read(run, ("c-1", 3), "pass")  # the same id, e00000, says the opposite
    (said,) = untrue(kept_in(path), opposite)
    assert "says fail where e00000 says pass" in said
    assert list(untrue(kept_in(path), log)) == list(untrue(kept_in(path), [])) == []


def test_a_reading_taken_back_takes_its_regression_along(tmp_path: Path) -> None:
    run = three(tmp_path)
    path = folder(tmp_path)
    log = tmp_path / "log"
    for logged in log_of(run):
        append_entry(log, logged.entry)
    given = ["--data", str(tmp_path), "--adjudications", str(log)]
    assert main(["regressions", "r-1", "--suite", str(path), "--check", *given]) == 2
    assert not (path / "regressions.yaml").exists()
    assert main(["regressions", "r-1", "--suite", str(path), *given]) == 0
    assert main(["regressions", "r-1", "--suite", str(path), "--check", *given]) == 0
    bad = read_log(log)[-1]
    assert main(["adjudicate", "r-1", "--by", "Ann", "--withdraw", bad.id, "--reason", "misread", *given]) == 0
    assert main(["regressions", "r-1", "--suite", str(path), "--check", *given]) == 2
    (said,) = untrue(kept_in(path), read_log(log))
    assert "was taken back" in said


def test_a_run_of_another_suite_teaches_nothing(tmp_path: Path) -> None:
    run = three(tmp_path)
    path = folder(tmp_path, SUITE.replace("suite: small", "suite: other"))
    with pytest.raises(InputError, match="is of suite 'small', not of 'other'"):
        learn([run], load_suite(path), Regressions(path, (), ()), log_of(run))


SECRETS = SUITE.replace(
    "- {id: short", "- {id: secret, check: secrets, kinds: [credential], critical: true}\n- {id: short"
)
KEY = "password: S3cretPassw0rd99x"


def test_a_credential_is_masked_where_no_verdict_changes_by_it_and_told_where_one_does(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": [f"no {KEY}"]})
    path = lesson(tmp_path, run, log_of(run, [("c-1", 1, "fail")]))
    assert KEY not in (path / "regressions.yaml").read_text()
    assert kept_in(path).kept[0].credentials == "masked"
    run = stored_run(tmp_path, {"c-1": [f"four {KEY}"]}, run_id="r-2", suite_text=SECRETS)
    folder(tmp_path, SECRETS)
    (path / "regressions.yaml").unlink()
    lessons = learn(
        [run], load_suite(path), Regressions(path / "regressions.yaml", (), ()), log_of(run, [("c-1", 1, "fail")])
    )
    assert "holds a credential in clear" in lessons.in_clear[0]
    assert lessons.new[0]["sample"]["answer"].endswith(KEY)


def test_the_written_file_is_plain_yaml_that_says_what_it_is(tmp_path: Path) -> None:
    run = three(tmp_path)
    path = lesson(tmp_path, run, log_of(run))
    assert (path / "regressions.yaml").read_text().startswith("# Written by `evallib regressions`")
    assert len(load_yaml(path / "regressions.yaml").value["regressions"]) == 2
