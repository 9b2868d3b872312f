"""The log of readings and rescorings: one immutable YAML file per entry, one writer, one reader."""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import stat
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from evallib.collector import collector_paused
from evallib.entries import Entry, Override, Rescoring, moment, read_entry, read_flat
from evallib.errors import EvallibError, InputError
from evallib.store.files import fetch_ahead, files_below, locked, staged_file, staging_folder, write_new
from evallib.store.runs import Run, StoredRescoring
from evallib.store.staged import StagedRescoring
from evallib.strict_yaml import dump_yaml, load_yaml

__all__ = [
    "MANIFEST",
    "LoggedEntry",
    "Stamp",
    "append_entry",
    "by_time",
    "entry_bytes",
    "entry_of",
    "former_log_path",
    "log_path",
    "logs_of",
    "preview_stamps",
    "publish_rescoring",
    "read_log",
    "stamp_of",
    "stamp_preview",
    "standing_rescorings",
    "view_name",
]


MANIFEST = "MANIFEST.sha256"
"""Stands in a bundle, which is as it was published."""


class LoggedEntry(NamedTuple):
    """An entry with its id, which is its file name."""

    id: str
    entry: Entry


def by_time(logged: LoggedEntry) -> tuple[datetime, str]:
    """The key that sorts entries, the oldest first."""
    return moment(logged.entry.time), logged.id


def entry_bytes(entry: Entry) -> bytes:
    """The entry as the YAML bytes that are stored; fields left at their default are left out."""
    written = {"kind": entry.kind, **entry.model_dump(mode="json", exclude_defaults=True)}
    return dump_yaml(written).encode()


def log_path(adjudications: Path, entry: Entry, content: bytes) -> Path:
    """Where an entry of that content goes: `entries/YYYY/MM/<UTC time>-<author>-<kind>-<content hash>.yaml`."""
    return _path(adjudications, entry, content, _file_name_of(entry.author))


def former_log_path(adjudications: Path, entry: Entry, content: bytes) -> Path:
    """Where it went before letters outside ASCII were written in ASCII: such files stay as they are."""
    return _path(adjudications, entry, content, _slug(entry.author) or "anonymous")


def _path(adjudications: Path, entry: Entry, content: bytes, author: str) -> Path:
    time = datetime.fromisoformat(entry.time).astimezone(UTC)
    name = f"{time:%Y%m%dT%H%M%SZ}-{author}-{entry.kind}-{hashlib.sha256(content).hexdigest()[:12]}"
    return adjudications / "entries" / f"{time:%Y}" / f"{time:%m}" / f"{name}.yaml"


def _file_name_of(author: str) -> str:
    """The author's name as it stands in file names: accents left out, and a hash where letters had to be."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", author) if not unicodedata.combining(c))
    lost = any(c.isalnum() and not c.isascii() for c in plain)
    short = hashlib.sha256(author.encode()).hexdigest()[:6]
    return "-".join(filter(None, (_slug(plain), short if lost or not _slug(plain) else "")))


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]


def append_entry(adjudications: Path, entry: Entry) -> LoggedEntry:
    """Stamp the time where it is missing and write the entry; nothing that stands in the log is touched."""
    stamped = entry if entry.time else entry.model_copy(update={"time": now()})
    content = entry_bytes(stamped)
    path = log_path(adjudications, stamped, content)
    _keep_line_ends(adjudications)
    write_new(path, content)
    return LoggedEntry(path.stem, stamped)


def _keep_line_ends(adjudications: Path) -> None:
    """Tell git to leave the bytes of entries alone: with other line ends they no longer fit the hash in their names."""
    path = adjudications / ".gitattributes"
    if not path.exists():
        with contextlib.suppress(EvallibError):  # somebody else made it, or may not; the entry is written all the same
            write_new(path, b"entries/** -text\n")


def now() -> str:
    """The time in UTC with microseconds, so that the order of quick decisions is kept."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def read_log(adjudications: Path) -> list[LoggedEntry]:
    """Every entry of the log, oldest first; InputError names the file that is not one, or what may not be read."""
    paths = files_below(adjudications / "entries", ".yaml")
    fetch_ahead(paths)
    with collector_paused():
        logged = [LoggedEntry(path.stem, entry_of(path)) for path in paths]
    return sorted(logged, key=by_time)


def entry_of(path: Path) -> Entry:
    """The entry in a file; InputError names file, line and key where it is none."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{path}: is a pipe, a socket or a device and no entry; remove it from the log")
        entry = read_flat(path.read_bytes().decode())
    except (OSError, ValueError):
        entry = None
    return entry or read_entry(load_yaml(path))  # the slower reader knows every way to write YAML, and what is wrong


def publish_rescoring(
    adjudications: Path,
    entry: Rescoring,
    files: Mapping[str, bytes],
    staged: Sequence[StagedRescoring],
    *,
    override: Override | None = None,
) -> LoggedEntry:
    """Write a rescoring and its `files` beside each of its runs, and its entry into the log: in both places the same.

    The folders come first, then the override it cites, the entry in the log last, so that what the log names is there.
    Where anything fails, all of it is taken back; what a kill left of the same rescoring is put aside first.
    """
    content = entry_bytes(entry)
    path = log_path(adjudications, entry, content)
    made: list[Path] = []
    _keep_line_ends(adjudications)
    with locked([one.run.folder for one in staged]):
        drop_unfinished([one.run for one in staged], entry.slug, read_log(adjudications))
        try:
            with staged_file(path, content) as publish:
                for one in staged:
                    made.append(one.publish({"entry.yaml": content, **files}))  # noqa: PERF401
                if override is not None:
                    beside = log_path(adjudications, override, accepted := entry_bytes(override))
                    write_new(beside, accepted)
                    made.append(beside)
                publish()
        except BaseException:
            for one_made in made if not path.exists() else ():
                shutil.rmtree(one_made, ignore_errors=True) if one_made.is_dir() else one_made.unlink(missing_ok=True)
            raise
    return LoggedEntry(path.stem, entry)


def standing_rescorings(run: Run, log: Sequence[LoggedEntry]) -> list[StoredRescoring]:
    """The rescorings of `run` that count, oldest first: an entry of the log names each.

    A folder without one is an unfinished rescoring: the entry is written last, and a kill came before.
    """
    known = {view_name(e) for _, e in log if isinstance(e, Rescoring) and any(row["run"] == run.id for row in e.runs)}
    return [one for one in run.rescorings if one.name in known]


def drop_unfinished(runs: Sequence[Run], slug: str, log: Sequence[LoggedEntry]) -> None:
    """Remove what is left of an unfinished rescoring called `slug`; one that the log names is never touched."""
    for run in runs:
        finished = {one.name for one in standing_rescorings(run, log)}
        for one in run.rescorings:
            if one.name[11:] == slug and one.name not in finished:
                with staging_folder(one.folder) as aside:  # put aside whole: half a rescoring cannot be listed
                    one.folder.rename(aside / one.name)


def view_name(entry: Rescoring) -> str:
    """`<YYYY-MM-DD>-<slug>`: the folder of a rescoring and the name of its view."""
    return f"{datetime.fromisoformat(entry.time).astimezone(UTC):%Y-%m-%d}-{entry.slug}"


class Stamp(NamedTuple):
    """What a look at flips leaves: what its entry expected then, and what was shown."""

    slug: str
    """Of the entry; empty where there was none."""
    suite: str
    """Digest of the suite that was looked at."""
    criteria: tuple[str, ...] | None
    """Digests of what it sets the runs; None in stamps of before they were kept."""
    expects: str
    """Digest of all that the entry expected."""
    time: str
    foretold: frozenset[str] = frozenset()
    """The expected flips of the runs that were looked at, each as a digest: a stamp tells nobody which answers flip."""
    shown: frozenset[str] = frozenset()
    """The flips that were seen, in the same way."""


def stamp_preview(adjudications: Path, stamp: Stamp) -> None:
    """Leave a stamp that flips were seen."""
    written = stamp._asdict() | {name: " ".join(sorted(getattr(stamp, name))) for name in ("foretold", "shown")}
    content = dump_yaml({**written, "criteria": list(stamp.criteria or ())}).encode()
    named = f"{stamp.slug or 'none'}-{hashlib.sha256(content).hexdigest()[:12]}"
    write_new(adjudications / "previews" / f"{moment(stamp.time):%Y%m%dT%H%M%S%fZ}-{named}.yaml", content)


def stamp_of(path: Path) -> Stamp:
    """The stamp in a file."""
    said = load_yaml(path).value
    criteria = tuple(said["criteria"]) if "criteria" in said else None
    flips = (frozenset(str(said.get(name, "")).split()) for name in ("foretold", "shown"))
    return Stamp(said["slug"], said["suite"], criteria, str(said["expects"]), str(said.get("time", "")), *flips)


def preview_stamps(adjudications: Path) -> list[Stamp]:
    """What was looked at under a log."""
    return [stamp_of(path) for path in files_below(adjudications / "previews", ".yaml")]


def logs_of(runs: Iterable[Run], adjudications: Path) -> list[Path]:
    """The log, and those beside the data folders of the runs, where a look is told too; a published bundle is no log.

    Whoever names another log looks at the same answers.
    """
    homes = {run.folder.resolve().parents[2] for run in runs}
    beside = [home / "adjudications" for home in sorted(homes) if not (home / MANIFEST).exists()]
    found = [one for one in beside if one.is_dir() and one != adjudications.resolve()]
    return [adjudications, *found]
