"""Locks hold the runs they name, and every run with the criteria of one of their cases, until they are closed."""

import shutil
from pathlib import Path

import pytest

from evallib.adjudication import make_withdrawal
from evallib.cli import main
from evallib.entries import Close
from evallib.errors import InputError
from evallib.locks import covering, lock_words, make_close, make_lock, shared_criteria, standing_locks
from evallib.rescoring.ledger import caveats, dated_rescorings
from evallib.rule import Rule, load_rule
from evallib.store import Run, append_entry, import_run, read_log, verify_log
from evallib.store.files import files_below
from tests.making import SUITE, stored_run
from tests.ruled import Home

RULE = load_rule(Path("no-log")).rule
ANSWERS = {"c-1": ["four"], "c-2": ["five"]}


@pytest.fixture
def rule(tmp_path: Path) -> Rule:
    return load_rule(tmp_path).rule


def test_a_lock_holds_its_runs_until_it_is_closed(tmp_path: Path, rule: Rule) -> None:
    run, log = stored_run(tmp_path, ANSWERS), tmp_path / "log"
    assert lock_words(run, [], RULE) == "not locked"
    lock = append_entry(log, make_lock([run], author=" Ann  B. ", reason="before and\nafter the fix"))
    assert [one.id for one in covering(run, read_log(log), RULE)] == [lock.id]
    assert lock_words(run, read_log(log), RULE) == f"locked by Ann B. ({lock.id}): before and after the fix"
    append_entry(log, make_close(read_log(log), lock.id, author="Ann B.", reason="published", rule=rule))
    assert covering(run, read_log(log), RULE) == standing_locks(read_log(log), RULE) == []
    assert verify_log(log).problems == []
    with pytest.raises(InputError, match="was closed already"):
        make_close(read_log(log), lock.id, author="Ann B.", reason="again", rule=rule)


@pytest.mark.parametrize(
    ("suite", "held"),
    [
        (SUITE, True),
        (SUITE.replace("suite: small", "suite: other"), True),
        (SUITE.replace("check: mentions,", "check: mentions, description: in other words,"), True),
        (SUITE.replace("id: c-1", "id: c-9").replace("id: c-2", "id: c-8"), True),
        (SUITE.replace("[five]", "[six]"), True),
        (SUITE.replace("max_words: 5", "max_words: 6"), False),
        (SUITE.replace("pass: critical", "pass: top"), False),
        (SUITE.replace("two and", "three and"), False),
    ],
)
def test_a_run_with_the_criteria_of_a_locked_case_is_held_whatever_it_is_called(
    tmp_path: Path, suite: str, held: bool
) -> None:
    one = stored_run(tmp_path, ANSWERS)
    answers = dict(zip(["c-9", "c-8"] if "c-9" in suite else ANSWERS, ANSWERS.values(), strict=True))
    other = stored_run(tmp_path, answers, run_id="r-2", suite_text=suite)
    log = tmp_path / "log"
    append_entry(log, make_lock([one], author="Ann", reason="a comparison"))
    assert bool(covering(other, read_log(log), RULE)) is held


def test_another_case_of_the_same_suite_is_not_held(tmp_path: Path) -> None:
    one = stored_run(tmp_path, {"c-1": ["four"]})
    other = stored_run(tmp_path, {"c-2": ["five"]}, run_id="r-2")
    append_entry(tmp_path / "log", make_lock([one], author="Ann", reason="a comparison"))
    assert covering(other, read_log(tmp_path / "log"), RULE) == []
    assert list(shared_criteria(other)) == ["c-2"]


def test_who_may_close_a_lock(tmp_path: Path, rule: Rule) -> None:
    run, log = stored_run(tmp_path, ANSWERS), tmp_path / "log"
    lock = append_entry(log, make_lock([run], author="Ann", reason="a comparison"))
    for name in ("Bob", "ann", "ANN"):
        with pytest.raises(InputError, match="is by 'Ann': nobody but Ann closes it"):
            make_close(read_log(log), lock.id, author=name, reason="done", rule=rule)
    listed = rule.model_copy(update={"authors": ("Bob",)})
    assert make_close(read_log(log), lock.id, author="Bob", reason="she left", rule=listed).author == "Bob"
    with pytest.raises(InputError, match=r"nobody but Ann, or one of those whom the rule names \(Bob\) closes it"):
        make_close(read_log(log), lock.id, author="Cem", reason="done", rule=listed)


def test_a_lock_and_its_close_need_a_reason_and_are_never_withdrawn(tmp_path: Path, rule: Rule) -> None:
    run, log = stored_run(tmp_path, ANSWERS), tmp_path / "log"
    with pytest.raises(InputError, match="a lock needs a reason"):
        make_lock([run], author="Ann", reason=" \n\u200b.")
    with pytest.raises(InputError, match="named twice"):
        make_lock([run, run], author="Ann", reason="r")
    lock = append_entry(log, make_lock([run], author="Ann", reason="a comparison"))
    with pytest.raises(InputError, match="a close needs a reason"):
        make_close(read_log(log), lock.id, author="Ann", reason="", rule=rule)
    with pytest.raises(InputError, match="is a lock, which nobody takes back; end it with `evallib close`"):
        make_withdrawal(read_log(log), lock.id, author="Ann", reason="oops")
    with pytest.raises(InputError, match=f"no lock 'x'; the locks that stand: {lock.id}"):
        make_close(read_log(log), "x", author="Ann", reason="done", rule=rule)


def test_verify_names_a_close_of_no_lock(tmp_path: Path) -> None:
    append_entry(tmp_path, Close(author="Ann", closes="nothing", reason="r"))
    (problem,) = verify_log(tmp_path).problems
    assert "closes names 'nothing', which is not in the log" in problem


def test_a_close_by_somebody_whom_the_rule_does_not_allow_closes_nothing(tmp_path: Path, rule: Rule) -> None:
    run = stored_run(tmp_path, ANSWERS)
    lock = append_entry(tmp_path, make_lock([run], author="Ann", reason="a comparison"))
    append_entry(tmp_path, Close(author="Bob", closes=lock.id, reason="done"))
    assert [one.id for one in covering(run, read_log(tmp_path), rule)] == [lock.id]
    (problem,) = verify_log(tmp_path).problems
    assert "closes a lock of 'Ann', and the rule does not let 'Bob': the lock stands" in problem
    listed = rule.model_copy(update={"authors": ("Bob",)})
    assert covering(run, read_log(tmp_path), listed) == []
    make_close(read_log(tmp_path), lock.id, author="Ann", reason="published", rule=rule)


@pytest.mark.parametrize("asked", [True, False])
def test_the_same_records_with_or_without_their_questions_are_held(tmp_path: Path, asked: bool) -> None:
    """An import knows what was asked only where it is told so: leaving that out is no way round a lock."""
    silent, told = (imported(tmp_path, name, RECORDED + more) for name, more in (("a", BARE), ("b", QUESTIONS)))
    locked, other = (told, silent) if asked else (silent, told)
    append_entry(tmp_path / "log", make_lock([locked], author="Ann", reason="a comparison"))
    assert len(covering(other, read_log(tmp_path / "log"), RULE)) == 1


def test_recorded_cases_of_one_name_that_were_asked_something_else_are_not_held(tmp_path: Path) -> None:
    one, other = (imported(tmp_path, name, RECORDED + QUESTIONS.replace("two", name)) for name in ("two", "three"))
    append_entry(tmp_path / "log", make_lock([one], author="Ann", reason="a comparison"))
    assert covering(other, read_log(tmp_path / "log"), RULE) == []


RECORDED = """\
suite: small
recorded: true
checks: [{id: says, check: recorded, critical: true}]
cases:
"""
BARE, QUESTIONS = "- {id: c-1}\n", "- {id: c-1, steps: [{ask: What is two and two?}]}\n"


def imported(folder: Path, name: str, suite: str) -> Run:
    """Somebody's recorded verdicts as a run."""
    made = stored_run(folder / "made" / name, {"c-1": ["four"]})
    verdicts = [v._replace(origin="recorded", decides="") for v in made.verdicts if v.check_id == "says"]
    return import_run(folder, name, suite, made.samples, verdicts, target={"kind": "t"}, source={})


def test_a_rescoring_made_under_another_log_while_a_lock_held_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path / "data")
    home.log = tmp_path / "adjudications"
    ids = [home.read()]
    real, home.log = home.log, shutil.copytree(home.log, tmp_path / "aside")
    lock = append_entry(real, make_lock([home.run], author="Ann", reason="a comparison"))
    home.rescore(ids)
    (made,) = (path for path in files_below(home.log / "entries", ".yaml") if "-rescoring-" in path.name)
    shutil.copy(made, real / made.relative_to(home.log))
    append_entry(real, make_close(read_log(real), lock.id, author="Ann", reason="published", rule=RULE))
    assert main(["verify", str(tmp_path / "data"), "--adjudications", str(real)]) == 0
    told = f"{made.stem} was made while lock {lock.id} held its runs"
    assert f"note: {told}" in capsys.readouterr().out
    (one,) = dated_rescorings(read_log(real))
    assert caveats(one, one["rule_digest"]) == [f"was made while lock {lock.id} held its runs"]
    assert main(["criteria", "r-1", "--data", str(tmp_path / "data")]) == 0
    assert f"  was made while lock {lock.id} held its runs" in capsys.readouterr().out
