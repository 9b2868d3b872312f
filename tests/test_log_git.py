"""Two reviewers on two branches: git merges, rebases and picks their entries without a conflict or a loss."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evallib._assets import rule_file
from evallib.adjudication import make_difference, make_reading, make_resolution, strict_word
from evallib.cli import main
from evallib.entries import Plan, Stratum, Withdrawal
from evallib.errors import InputError
from evallib.locks import make_lock
from evallib.standing import own_reading, standing_readings
from evallib.store import Run, append_entry, read_log, verify_log
from evallib.store.log import Stamp, stamp_preview
from tests.commandline import files
from tests.making import stored_run

STAMP = Stamp("digit", "s" * 64, ("c",), "e", "2026-11-30T10:00:00+00:00")
IDENTITY = {f"GIT_{who}_{what}": "tests" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
Repository = tuple[Path, Run]


def git(home: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= IDENTITY | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    ran = subprocess.run(
        ["git", "-C", str(home), *arguments], capture_output=True, text=True, check=False, env=environment
    )
    assert ran.returncode == 0, f"git {' '.join(arguments)}: {ran.stdout}{ran.stderr}"
    return ran.stdout.strip()


def commit(home: Path, said: str) -> str:
    git(home, "add", "-A", "adjudications")
    git(home, "commit", "-qm", said)
    return git(home, "rev-parse", "HEAD")


def read(home: Path, run: Run, author: str, case: str, reading: str) -> None:
    """A reading as a reviewer writes it, over their own earlier one, and what they say after the reveal."""
    log = home / "adjudications"
    before = own_reading(run, read_log(log), author, (case, 1, ""))
    made = make_reading(run, case, 1, reading=reading, author=author, blind=True, log=read_log(log), supersedes=before)
    about = append_entry(log, made)
    differs = reading != strict_word(run, case, 1)
    cause = "other" if differs else ""
    append_entry(log, make_difference(run, about, author=author, cause=cause, reason="it says five"))


def take_back(home: Path, author: str) -> None:
    last = [e for e in read_log(home / "adjudications") if e.entry.author == author][-1]
    append_entry(home / "adjudications", Withdrawal(author=author, withdraws=last.id, reason="slip"))


@pytest.fixture
def two(tmp_path: Path) -> Repository:
    """A repository whose branches `ann` and `bo` hold three commits of entries each, from a common start."""
    run = stored_run(tmp_path / "data", {"c-1": ["five"], "c-2": ["four"]})
    home = tmp_path / "team"
    home.mkdir()
    git(home, "init", "-q", "-b", "main")
    (home / "adjudications/entries").mkdir(parents=True)
    shutil.copy(rule_file(), home / "adjudications")
    read(home, run, "Ann", "c-1", "pass")
    commit(home, "start")
    for name in ("ann", "bo"):
        git(home, "checkout", "-q", "-b", name, "main")
        author = name.capitalize()
        read(home, run, author, "c-2", "pass")
        commit(home, "one")
        read(home, run, author, "c-1", "pass")
        commit(home, "two")
        take_back(home, author)
        commit(home, "three")
    return home, run


def merge(home: Path, into: str, other: str) -> None:
    git(home, "checkout", "-q", into)
    git(home, "merge", "-q", "--no-edit", other)


def rebase(home: Path, one: str, onto: str) -> None:
    git(home, "checkout", "-q", one)
    git(home, "rebase", "-q", onto)


def pick(home: Path, into: str, other: str) -> None:
    git(home, "checkout", "-q", into)
    git(home, "cherry-pick", f"main..{other}")


def pick_both_ways_and_merge(home: Path) -> None:
    first = git(home, "rev-list", "--reverse", "main..ann").split()[0]
    git(home, "checkout", "-q", "bo")
    git(home, "cherry-pick", first)
    git(home, "checkout", "-q", "ann")
    git(home, "cherry-pick", "main..bo~1")
    merge(home, "ann", "bo")


def criss_cross(home: Path) -> None:
    git(home, "branch", "old", "ann")
    merge(home, "ann", "bo~1")
    merge(home, "bo", "old")
    merge(home, "ann", "bo")


ROUTES: dict[str, Callable[[Path], None]] = {
    "merge": lambda home: merge(home, "ann", "bo"),
    "merge the other way": lambda home: merge(home, "bo", "ann"),
    "rebase": lambda home: rebase(home, "ann", "bo"),
    "rebase the other way": lambda home: rebase(home, "bo", "ann"),
    "pick": lambda home: pick(home, "ann", "bo"),
    "pick the other way": lambda home: pick(home, "bo", "ann"),
    "pick both ways, then merge": pick_both_ways_and_merge,
    "criss-cross": criss_cross,
}


def held(home: Path, *names: str) -> set[str]:
    listed = [git(home, "ls-tree", "-r", "--name-only", name, "adjudications/entries").split() for name in names]
    return {path for paths in listed for path in paths}


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_keeps_every_entry_and_gives_the_same_stands(two: Repository, route: str) -> None:
    home, run = two
    log = home / "adjudications"
    everything = held(home, "ann", "bo")
    git(home, "checkout", "-q", "ann")
    mine = read_log(log)
    git(home, "checkout", "-q", "bo")
    wanted = standing_readings(run, [*mine, *read_log(log)])
    ROUTES[route](home)
    assert held(home, "HEAD") == everything
    assert standing_readings(run, read_log(log)) == wanted
    assert git(home, "status", "--porcelain", "adjudications") == ""
    for since in ("main", "ann", "bo"):
        assert verify_log(log, since=since).problems == []


def test_a_dispute_that_a_merge_makes_is_resolved_by_an_entry(two: Repository) -> None:
    home, run = two
    log = home / "adjudications"
    git(home, "checkout", "-q", "bo")
    read(home, run, "Bo", "c-2", "fail")
    commit(home, "fail")
    merge(home, "ann", "bo")
    readings = standing_readings(run, read_log(log))
    assert readings.by_item["c-2", 1, ""].state == "disputed"
    append_entry(
        log, make_resolution(run, ("c-2", 1, ""), readings, author="Cy", reading="fail", reason="it says four")
    )
    assert standing_readings(run, read_log(log)).by_item["c-2", 1, ""].state == "fail"
    assert verify_log(log, since="main").problems == []


def test_one_reader_on_two_branches_is_a_fork_until_they_amend(two: Repository) -> None:
    home, run = two
    git(home, "checkout", "-q", "bo")
    read(home, run, "Ann", "c-2", "fail")
    commit(home, "elsewhere")
    merge(home, "ann", "bo")
    stand = standing_readings(run, read_log(home / "adjudications")).by_item["c-2", 1, ""]
    assert (stand.state, stand.forked) == ("disputed", ("Ann",))


def test_a_checkout_that_turns_line_ends_leaves_entries_as_they_are(two: Repository, tmp_path: Path) -> None:
    home, _ = two
    (home / ".gitattributes").write_text("* text eol=crlf\n")
    git(home, "add", ".gitattributes")
    git(home, "commit", "-qm", "ends")
    git(tmp_path, "-c", "core.autocrlf=true", "clone", "-q", str(home), "there")
    assert verify_log(tmp_path / "there/adjudications").problems == []


def entry(home: Path, number: int = 0) -> Path:
    paths = sorted((home / "adjudications/entries").rglob("*.yaml"))
    return [path for path in paths if "case: c-1" in path.read_text()][number]


def edit(home: Path) -> None:
    path = entry(home)
    path.write_text(path.read_text().replace("c-1", "c-2"))


def edit_under_a_new_hash(home: Path) -> None:
    """As one who knows how names are made would: the new file is a right entry, and the old one is gone."""
    path = entry(home)
    edit(home)
    changed = next(e.entry for e in read_log(home / "adjudications") if e.id == path.stem)
    path.unlink()
    append_entry(home / "adjudications", changed)


HARMS: dict[str, tuple[Callable[[Path], object], str]] = {
    "edit": (edit, "was edited since main"),
    "delete": (lambda home: entry(home).unlink(), "was deleted or renamed since main"),
    "rename": (lambda home: entry(home).rename(entry(home).with_name("other.yaml")), "was deleted or renamed"),
    "forge": (edit_under_a_new_hash, "was deleted or renamed since main"),
}


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("committed", [False, True])
def test_what_is_not_an_addition_is_refused(two: Repository, harm: str, committed: bool) -> None:
    home, _ = two
    git(home, "checkout", "-q", "ann")
    work, said = HARMS[harm]
    work(home)
    if committed:
        commit(home, "tidy")
    assert said in "\n".join(verify_log(home / "adjudications", since="main").problems)


@pytest.fixture
def stamped(two: Repository) -> Path:
    """The stamp of a preview, committed and named as it was written."""
    home, _ = two
    stamp_preview(home / "adjudications", STAMP)
    commit(home, "preview")
    git(home, "tag", "previewed")
    (path,) = (home / "adjudications" / "previews").iterdir()
    return path


@pytest.mark.parametrize("harm", ["edit", "delete", "rename"])
def test_stamps_of_previews_are_only_added(two: Repository, stamped: Path, harm: str) -> None:
    log = two[0] / "adjudications"
    assert verify_log(log, since="previewed").problems == []
    if harm == "edit":
        stamped.write_text(stamped.read_text().replace("digit", "other"))
        assert "its hash does not fit its name" in "".join(verify_log(log).problems)
    else:
        stamped.unlink() if harm == "delete" else stamped.rename(stamped.with_name("other.yaml"))
    commit(two[0], "tidy")
    assert f"{stamped}: was " in "\n".join(verify_log(log, since="previewed").problems)


def test_a_log_of_previews_alone_is_a_log(tmp_path: Path) -> None:
    stamp_preview(tmp_path / "log", STAMP)
    assert main(["verify", str(tmp_path / "log")]) == 0


@pytest.mark.parametrize(("days", "told"), [(0.5, False), (30, True)])
def test_a_plan_that_says_it_is_much_older_than_its_commit_is_named(two: Repository, days: float, told: bool) -> None:
    home, run = two
    time = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="microseconds")
    drawn = (Stratum(run=run.id, strict="fail", of=1),)
    plan = Plan(author="Ann", time=time, runs=(run.id,), seed=1, strata=drawn)
    append_entry(home / "adjudications", plan)
    assert verify_log(home / "adjudications", since="main").problems == []
    commit(home, "plan")
    git(home, "checkout", "-q", "ann")
    git(home, "merge", "-q", "--no-edit", "bo")
    problems = "\n".join(verify_log(home / "adjudications", since="main").problems)
    assert ("a day older than the commit that adds it" in problems) is told


@pytest.mark.parametrize(("days", "told"), [(0.5, False), (30, True)])
def test_an_entry_about_criteria_that_is_much_older_than_its_commit_is_noted(
    two: Repository, capsys: pytest.CaptureFixture[str], days: float, told: bool
) -> None:
    home, run = two
    time = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="microseconds")
    lock = make_lock([run], author="Ann", reason="a comparison").model_copy(update={"time": time})
    append_entry(home / "adjudications", lock)
    commit(home, "lock")
    assert main(["verify", str(home / "adjudications"), "--since", "main"]) == 0
    said = capsys.readouterr().out
    assert (
        any(line.startswith("note: ") and "a day older than the commit" in line for line in said.splitlines()) is told
    )


@pytest.mark.parametrize("harm", ["edit", "delete"])
def test_an_entry_that_was_put_back_is_as_it_was(two: Repository, harm: str) -> None:
    home, _ = two
    before = files(home / "adjudications")
    HARMS[harm][0](home)
    commit(home, "tidy")
    git(home, "revert", "--no-edit", "HEAD")
    assert files(home / "adjudications") == before
    assert verify_log(home / "adjudications", since="main").problems == []


@pytest.mark.parametrize("harm", ["edit", "delete"])
@pytest.mark.parametrize("kept", [0, -1])
def test_what_a_merge_commit_drops_or_edits_is_refused(two: Repository, harm: str, kept: int) -> None:
    """Also where the merge equals one of its parents, which git's own log leaves out."""
    home, _ = two
    git(home, "checkout", "-q", "ann")
    git(home, "merge", "-q", "--no-commit", "bo")
    path = entry(home, kept)
    path.unlink() if harm == "delete" else path.write_text("kind: lock\n")
    commit(home, "merge")
    assert str(path) in "\n".join(verify_log(home / "adjudications", since="main").problems)


def test_a_merge_that_keeps_one_side_only_is_refused(two: Repository) -> None:
    home, _ = two
    git(home, "checkout", "-q", "ann")
    git(home, "merge", "-q", "-s", "ours", "-m", "ours", "bo")
    lost = held(home, "bo") - held(home, "ann")
    told = "\n".join(verify_log(home / "adjudications", since="main").problems)
    assert len(lost) > 2
    assert all(path in told for path in lost)


def test_the_command_ends_with_status_two_and_says_what_and_how(
    two: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, _ = two
    monkeypatch.chdir(home)
    assert main(["verify", "adjudications", "--since", "main"]) == 0
    assert "no entry was edited, deleted or renamed since main" in capsys.readouterr().out
    entry(home).unlink()
    assert main(["verify", "adjudications", "--since", "main"]) == 2
    assert "was deleted or renamed since main; put it back" in capsys.readouterr().out


def test_a_hook_s_variables_do_not_lead_to_another_place(two: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert verify_log(two[0] / "adjudications", since="main").problems == []


@pytest.mark.parametrize("revision", ["nope", "-h", "--all", "main^{tree}"])
def test_an_unknown_revision_is_one_sentence(two: Repository, revision: str) -> None:
    with pytest.raises(InputError, match="git knows no revision"):
        verify_log(two[0] / "adjudications", since=revision)


def test_no_repository_and_no_common_history_are_one_sentence(two: Repository, tmp_path: Path) -> None:
    home, _ = two
    (tmp_path / "log/entries").mkdir(parents=True)
    with pytest.raises(InputError, match="lies in no git repository"):
        verify_log(tmp_path / "log", since="main")
    git(home, "checkout", "-q", "--orphan", "alone")
    git(home, "commit", "-qm", "alone")
    with pytest.raises(InputError, match="no commit in common"):
        verify_log(home / "adjudications", since="main")


def test_a_clone_whose_history_is_cut_off_is_refused(two: Repository, tmp_path: Path) -> None:
    """What the commit at the edge removed cannot be seen; a clone that reaches to the revision is enough."""
    home, run = two
    git(home, "checkout", "-q", "main")
    read(home, run, "Cy", "c-1", "fail")
    commit(home, "more")
    git(home, "checkout", "-q", "ann")
    entry(home, -1).unlink()
    commit(home, "drop")
    git(home, "merge", "-q", "--no-edit", "main")
    for depth, said in ((1, "whole history"), (2, "the history is cut off"), (9, "")):
        clone = tmp_path / str(depth)
        git(tmp_path, "clone", "-q", "--depth", str(depth), "-b", "ann", home.as_uri(), str(clone))
        git(clone, "fetch", "-q", "--depth", str(depth), "origin", "main:main")
        if said:
            with pytest.raises(InputError, match=said):
                verify_log(clone / "adjudications", since="main")
    told = verify_log(tmp_path / "9/adjudications", since="main").problems
    assert "was deleted or renamed" in "\n".join(told)


def test_without_git_it_says_so(two: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="git cannot be run"):
        verify_log(two[0] / "adjudications", since="main")


def test_a_rule_that_cannot_be_read_is_told_and_the_log_is_verified_all_the_same(tmp_path: Path) -> None:
    log = tmp_path / "adjudications"
    read(tmp_path, stored_run(tmp_path / "data", {"c-1": ["five"]}), "Ann", "c-1", "pass")
    (log / "RULE.yaml").write_text("rule: one sentence\n")
    found = verify_log(log)
    assert found.checked == 2
    assert ["RULE.yaml, line 1 (rule)" in told for told in found.problems] == [True]
