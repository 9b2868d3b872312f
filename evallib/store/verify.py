"""The promise that nothing stored has changed: every file hashed again and compared with what was written down."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from evallib._assets import rule_file
from evallib.entries import Rescoring
from evallib.errors import EvallibError, InputError
from evallib.rule import FILE as RULE
from evallib.rule import Rule, load_rule
from evallib.store.files import abandoned_below, files_below, sha256_of
from evallib.store.guard import file_problems, relation_problems
from evallib.store.history import history_problems
from evallib.store.log import LoggedEntry, read_log, standing_rescorings
from evallib.store.runs import TABLES, Run

__all__ = ["Verification", "leftovers", "verify_log", "verify_run"]


class Verification(NamedTuple):
    """How many files were compared, and one sentence for each that differs."""

    checked: int
    problems: list[str]
    computed: int = 0
    """Verdicts that were computed anew, of so many `verdicts`."""
    verdicts: int = 0


def verify_run(run: Run, adjudications: Path) -> Verification:
    """Hash every file of a run and of its rescorings again."""
    problems: list[str] = []
    checked = 0
    try:
        files = {**run.manifest["files"], "suite.yaml": run.plan["suite_sha256"]}
    except EvallibError as error:
        return Verification(0, [str(error)])
    for name, expected in files.items():
        checked += 1
        problems += _compare(run.folder / name, expected)
    staged = {path.name for path in abandoned_below(run.folder)}
    known = {*files, *staged, "run.json", "rescored", "journal.jsonl", *TABLES}
    extra = sorted(p.name for p in run.folder.iterdir() if p.name not in known)
    problems += [f"{run.folder / name}: stands in the run folder but is not in its manifest" for name in extra]
    log = read_log(adjudications) if run.rescorings else []
    for rescoring in run.rescorings:
        checked += 3 + (rescoring.folder / RULE).exists()
        problems += _verify_rescoring(run, rescoring.folder, adjudications, log)
    return Verification(checked, problems)


def _compare(path: Path, expected: str) -> list[str]:
    if not path.is_file():
        return [f"{path}: is missing"]
    return [] if sha256_of(path) == expected else [f"{path}: differs from what was written"]


def _verify_rescoring(run: Run, folder: Path, adjudications: Path, log: Sequence[LoggedEntry]) -> list[str]:
    stored = next(r for r in run.rescorings if r.folder == folder)
    try:
        entry: Rescoring = stored.entry
        row = next(row for row in entry.runs if row["run"] == run.id)
    except (EvallibError, StopIteration) as error:
        return [f"{folder / 'entry.yaml'}: is no entry of run {run.id!r} ({error})"]
    problems = _compare(folder / "verdicts.parquet", str(row["verdicts_sha256"]))
    problems += _compare(folder / "suite.yaml", str(row["suite_sha256"]))
    problems += _rule_problems(folder, entry, row) if "rule_sha256" in row else []
    if _compare(run.folder / "verdicts.parquet", str(row["strict_sha256"])):
        problems.append(f"{folder}: was made from other strict verdicts than those in {run.folder}")
    content = (folder / "entry.yaml").read_bytes()
    twin = f"-rescoring-{hashlib.sha256(content).hexdigest()[:12]}.yaml"
    if all(one.folder != folder for one in standing_rescorings(run, log)):
        problems.append(
            f"{folder}: is an unfinished rescoring and no view: its twin is missing from {adjudications / 'entries'}; "
            "run the same rescoring again"
        )
    elif not any(path.read_bytes() == content for path in files_below(adjudications / "entries", twin)):
        problems.append(f"{folder / 'entry.yaml'}: its twin is missing from {adjudications / 'entries'}")
    return problems


def _rule_problems(folder: Path, entry: Rescoring, row: Mapping[str, Any]) -> list[str]:
    """What is wrong with the rule that stands beside a rescoring, or with the rescoring under it."""
    if problems := _compare(folder / RULE, str(row["rule_sha256"])):
        return problems
    try:
        rule = load_rule(folder).rule
    except InputError as error:
        return [str(error)]
    if rule.digest != entry.rule_digest:
        return [f"{folder / RULE}: is not the rule of which its entry has the digest; restore it"]
    return [] if rule.allows(entry.author) else [f"{folder / RULE}: does not let {entry.author!r} change criteria"]


def verify_log(adjudications: Path, *, since: str = "", now: datetime | None = None) -> Verification:
    """Compare each log entry with its name, its place, the entries it names, and what git had since a revision.

    An edited entry, or stamp of a preview, does not fit the hash in its name; one that was deleted is seen with `since`
    only. Entries may be dated up to 24 hours after `now`, the present time unless given. InputError as for
    `history_problems`.
    """
    folder = adjudications / "entries"
    paths = files_below(folder, ".yaml")
    problems = _strays(folder, set(paths))
    entries = {}
    for path in paths:
        entry, told = file_problems(adjudications, path, now or datetime.now(UTC))
        problems += told
        if entry is not None:
            entries[path.stem] = entry
    rule, wrong = _rule_of(adjudications)
    problems += [*wrong, *(f"{folder}: {told}" for told in relation_problems(entries, rule))]
    problems += [told for path in files_below(adjudications / "previews", ".yaml") for told in _stamp_problems(path)]
    if since:
        problems += history_problems(adjudications, since)
    return Verification(len(paths), problems)


def _rule_of(adjudications: Path) -> tuple[Rule, list[str]]:
    """The log's rule; where it cannot be read, the one that comes with evallib, and what is wrong."""
    try:
        return load_rule(adjudications).rule, []
    except InputError as error:
        return load_rule(rule_file().parent).rule, [str(error)]


def _stamp_problems(path: Path) -> list[str]:
    """What is wrong with the stamp of a preview: it is as it was written where its name fits its bytes."""
    if path.is_symlink():
        return [f"{path}: is a link: a stamp stands in the log itself; put the file there"]
    if sha256_of(path)[:12] != path.stem.rsplit("-", 1)[-1]:
        return [f"{path}: its hash does not fit its name: it differs from what was written; restore it"]
    return []


def _strays(folder: Path, known: set[Path]) -> list[str]:
    """A problem for each file that nobody reads; what a killed write left is for `leftovers` to tell."""
    passed = {*known, *abandoned_below(folder), folder / ".gitkeep"}
    found = sorted(
        path for path in folder.rglob("*") if path not in passed and (path.is_symlink() or not path.is_dir())
    )
    return [f"{path}: is no entry and read by nobody; remove it from the log" for path in found]


def leftovers(*folders: Path) -> list[str]:
    """One sentence for each file or folder below `folders` that a write left unfinished; it counts nowhere."""
    found = sorted({path for folder in folders for path in abandoned_below(folder)})
    return [f"{path}: was left by a write that did not end; delete it when nothing writes there" for path in found]
