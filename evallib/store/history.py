"""What git says of the log: that nothing under `entries/` or `previews/` was edited, deleted, renamed or dated back."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from evallib.errors import InputError

__all__ = ["dated_back", "history_problems"]

_HOOK_VARIABLES = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}
"""Set while a hook runs; they would be taken from another folder than the hook's."""
_RAW = ("--raw", "-z", "--no-abbrev", "--no-renames", "--relative", "--diff-filter=a", "--ignore-submodules=all")
_KEPT = ("entries", "previews")
"""Folders of the log to which files are only added."""
_NAME = r".*/(\d{{8}}T\d{{6}}Z)-[^/]*-(?:{})-[0-9a-f]{{12}}\.yaml"
_PLAN = re.compile(_NAME.format("plan"))
_OF_CRITERIA = re.compile(_NAME.format("rescoring|override|lock|close|seal|use"))
"""Entries of which it matters what came first: a prediction, a reading, a lock."""
_CHANGE = re.compile(r":\d+ \d+ ([0-9a-f]+) [0-9a-f]+ [A-Z]")


def history_problems(adjudications: Path, revision: str) -> list[str]:
    """One sentence for each entry that a commit since `revision`, or the working tree, edited, deleted or renamed.

    Stamps of previews are held like entries. And one for each plan whose time is more than a day before the commit that
    adds it: what is drawn before reading counts
    as a draw, so a plan may not be dated back.

    Every commit of HEAD that `revision` does not hold is compared with each of its parents, so what a merge drops is
    found too. An entry that was put back byte for byte is as it was. InputError without git, a repository, the
    revision, or a history that it shares with HEAD.
    """
    if not adjudications.is_dir():
        raise InputError(f"{adjudications}: no such folder")
    _refuse_unknown(adjudications, revision)
    commits = _git(adjudications, "rev-list", f"{revision}..HEAD").stdout
    _refuse_cut_off(adjudications, commits)
    told = _git(adjudications, "diff-tree", "--stdin", "-r", "-m", *_RAW, "--", *_KEPT, given=commits).stdout
    before = dict(_changes(told))  # commits come newest first: the oldest content of a path is kept
    listed = _git(adjudications, "ls-tree", "-r", "-z", "HEAD", "--", *_KEPT).stdout.split("\0")
    now = {path: about.split()[2] for about, _, path in (line.partition("\t") for line in listed if line)}
    uncommitted = dict(_changes(_git(adjudications, "diff", "--no-ext-diff", *_RAW, "HEAD", "--", *_KEPT).stdout))
    since = f"since {revision}; put it back (git log --full-history -m -- FILE), and amend or withdraw by a new entry"
    found = [(path, blob) for path, blob in before.items() if now.get(path) != blob]
    return [
        f"{adjudications / path}: was {_done(path in now and (adjudications / path).exists())} {since}"
        for path in sorted({path for path, _ in found} | set(uncommitted))
    ] + _dated_back(adjudications, revision, _PLAN)


def dated_back(adjudications: Path, revision: str) -> list[str]:
    """One sentence for each entry about criteria whose time is more than a day before the commit that adds it.

    It may have waited for its commit, or its time may be invented: git alone tells nobody which.
    """
    return _dated_back(adjudications, revision, _OF_CRITERIA)


def _dated_back(adjudications: Path, revision: str, named: re.Pattern[str]) -> list[str]:
    """Such entries by name, and what is wrong; by when its commit was made, which a rebase does not change."""
    told = []
    show = ("log", "-c", "-z", "--relative", "--no-renames", "--diff-filter=A", "--name-only", "--format=%x01%aI")
    commits = _git(adjudications, *show, f"{revision}..HEAD", "--", "entries").stdout.split("\x01")[1:]
    for made, *paths in (re.split(r"[\0\n]+", commit.strip("\0\n")) for commit in commits):
        for path in paths:
            found = named.fullmatch(path)
            if found and datetime.fromisoformat(made) - datetime.fromisoformat(found[1]) > timedelta(days=1):
                late = f"its time is more than a day older than the commit that adds it, of {made}"
                told.append(f"{adjudications / path}: {late}")
    return told


def _done(there: bool) -> str:  # noqa: FBT001  # the fact itself, no switch
    return "edited" if there else "deleted or renamed"


def _refuse_unknown(adjudications: Path, revision: str) -> None:
    inside = _git(adjudications, "rev-parse", "--is-inside-work-tree", check=False)
    if inside.returncode or inside.stdout.strip() != "true":
        why = (inside.stderr.strip().splitlines() or ["no working tree"])[0]
        raise InputError(f"{adjudications}: lies in no git repository ({why}); --since needs one")
    for name in (revision, "HEAD"):
        if name.startswith("-") or _git(
            adjudications, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", check=False
        ).returncode:  # fmt: skip
            raise InputError(f"{adjudications}: git knows no revision {name!r}; fetch it first, or name another")
    if _git(adjudications, "merge-base", revision, "HEAD", check=False).returncode:
        raise InputError(
            f"{adjudications}: {revision!r} and HEAD have no commit in common; fetch the whole history "
            "(git fetch --unshallow), or name another revision"
        )


def _refuse_cut_off(adjudications: Path, commits: str) -> None:
    """A commit at the edge of a shallow clone has no parents there, and what it removed is not to be seen."""
    edge = adjudications / _git(adjudications, "rev-parse", "--git-path", "shallow").stdout.strip()
    if edge.is_file() and set(edge.read_text(encoding="ascii").split()) & set(commits.split()):
        raise InputError(f"{adjudications}: the history is cut off; fetch the whole of it (git fetch --unshallow)")


def _changes(raw: str) -> Iterator[tuple[str, str]]:
    """Path and earlier blob of every change in git's raw NUL-separated output."""
    parts = iter(raw.split("\0"))
    for part in parts:
        if found := _CHANGE.search(part):
            yield next(parts), found[1]


def _git(folder: Path, *arguments: str, given: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES}
    try:
        ran = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            input=given, capture_output=True, encoding="utf-8", errors="surrogateescape", check=False,
            env={**environment, "LC_ALL": "C"},
        )  # fmt: skip
    except OSError as error:
        raise InputError(f"git cannot be run ({error.strerror}); --since needs it: install git") from error
    if check and ran.returncode:
        raise InputError(f"{folder}: git {arguments[0]} failed: {' '.join(ran.stderr.split())}")
    return ran
