"""What was read is not forgotten where no regressions lie beside the new suite: the log and its runs tell."""

from pathlib import Path

import pytest

from evallib.rescoring.impact import preview
from tests.licensing import read_each
from tests.making import SUITE, stored_run
from tests.ruled import ENTRY, NARROWER, WIDER, Home

WIDEST = SUITE.replace("{facts: [four]}", "{facts: [[four, '4', nil]]}")


def test_a_widening_that_lets_an_answer_read_as_bad_in_another_run_pass_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    other = stored_run(tmp_path, {"c-1": ["nil"]}, run_id="r-2")
    (bad,) = read_each(home.log, [other], [("c-1", 1, "fail")], cause="true-failure")
    ids = [home.read()]
    said = rf"'says' of case 'c-1' lets a known bad answer pass: sample 1 of case 'c-1' in run 'r-2', .*{bad}"
    home.refused(f"{said}.*; change the criterion so that it agrees", ids, ENTRY, WIDEST)
    for entry in (None, tmp_path / "entry.yaml"):
        seen = preview([home.run], tmp_path / "new.yaml", entry, home.log)
        assert sum("lets a known bad answer pass" in one for one in seen.would_refuse) == 1
    assert home.rescore(ids).entry.slug == "digit"


def test_a_check_read_as_failing_may_not_pass_where_nothing_flips(tmp_path: Path) -> None:
    suite = SUITE.replace("max_words: 5", "max_words: 2, critical: true")
    home = Home(tmp_path, suite)
    other = stored_run(tmp_path, {"c-1": ["nil nil nil"]}, run_id="r-2", suite_text=suite)
    read_each(home.log, [other], [("c-1", 1, "fail")], cause="true-failure", check="says")
    id_ = home.read(check="says")
    silent = ENTRY.replace("[{run: r-1, case: c-1, sample: 2, to: pass}]", "[]")
    wider = suite.replace("{facts: [four]}", "{facts: [[four, '4', nil]]}")
    home.refused("check 'says' .*lets a known bad answer pass", [id_], silent, wider, runs=[home.run, other])


@pytest.mark.parametrize("folder", ["runs", "elsewhere"])
def test_a_run_of_another_suite_or_that_is_not_there_teaches_nothing(tmp_path: Path, folder: str) -> None:
    home = Home(tmp_path)
    renamed = SUITE.replace("suite: small", "suite: other") if folder == "runs" else SUITE
    other = stored_run(tmp_path, {"c-1": ["nil"]}, run_id="r-2", suite_text=renamed)
    read_each(home.log, [other], [("c-1", 1, "fail")], cause="true-failure")
    if folder == "elsewhere":
        other.folder.rename(tmp_path / "moved")
    assert home.rescore([home.read()], ENTRY, WIDEST).entry.slug == "digit"


BACK = ENTRY.replace("fix: widen", "fix: narrow").replace("sample: 2, to: pass", "sample: 1, to: fail")


def test_a_narrowing_that_fails_an_answer_read_as_right_in_another_run_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    other = stored_run(tmp_path, {"c-1": ["four", "nil", "so four"]}, run_id="r-2")
    (good,) = read_each(home.log, [other], [("c-1", 3, "pass")], cause="unknown")
    ids = [home.read(sample=1, reading="fail", cause="too-broad")]
    said = rf"fail an answer that is right: sample 3 of case 'c-1' in run 'r-2', read as pass \({good}\): .*sum"
    home.refused(f"{said}.*; change the criterion so that it agrees, or amend", ids, BACK, NARROWER)


def test_an_answer_of_another_run_that_is_right_and_fails_all_the_same_is_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    other = stored_run(tmp_path, {"c-1": ["quatre", "4"]}, run_id="r-2")
    read_each(home.log, [other], [("c-1", 1, "pass"), ("c-1", 2, "pass")])
    told = home.rescore([home.read()]).as_dict()["regressions"]
    assert (told["answers"], told["tried"], told["of_the_log"], len(told["still_wrong"])) == (2, 2, 2, 1)
    assert "still fails an answer that is right: sample 1 of case 'c-1' in run 'r-2'" in told["still_wrong"][0]


def test_a_check_read_as_passing_may_not_fail_where_nothing_flips(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.read(check="short", cause="unknown")
    id_ = home.read(check="short", reading="fail", cause="too-broad", sample=1)
    entry = ENTRY.replace("check: says, cases: [c-1], fix: widen", "check: short, fix: narrow")
    silent = entry.replace("[{run: r-1, case: c-1, sample: 2, to: pass}]", "[]")
    said = "check 'short' on sample 2 of case 'c-1' of run 'r-1' would become fail, and .* reads it as pass; change"
    home.refused(said, [id_], silent, SUITE.replace("max_words: 5", "max_words: 2"))


def test_what_was_read_in_the_runs_themselves_is_held_against_their_flips(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.read(sample=1, cause="unknown")
    assert home.rescore([home.read()], ENTRY, WIDER).as_dict()["regressions"] is None
