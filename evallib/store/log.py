"""The log of readings and rescorings: one immutable YAML file per entry, one writer, one reader."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from evallib.entries import Entry, read_entry
from evallib.store.files import staged_file, write_new
from evallib.store.runs import StagedRescoring
from evallib.strict_yaml import dump_yaml, load_yaml

__all__ = [
    "LoggedEntry",
    "append_entry",
    "entry_bytes",
    "log_path",
    "preview_stamps",
    "publish_rescoring",
    "read_log",
    "stamp_preview",
]


class LoggedEntry(NamedTuple):
    """An entry with its id, which is its file name."""

    id: str
    entry: Entry


def entry_bytes(entry: Entry) -> bytes:
    """The entry as the YAML bytes that are stored; fields left at their default are left out."""
    written = {"kind": entry.kind, **entry.model_dump(mode="json", exclude_defaults=True)}
    return dump_yaml(written).encode()


def log_path(adjudications: Path, entry: Entry, content: bytes) -> Path:
    """Where an entry of that content goes: `entries/YYYY/MM/<UTC time>-<author>-<kind>-<content hash>.yaml`."""
    time = datetime.fromisoformat(entry.time).astimezone(UTC)
    author = re.sub(r"[^a-z0-9]+", "-", entry.author.lower()).strip("-")[:40] or "anonymous"
    name = f"{time:%Y%m%dT%H%M%SZ}-{author}-{entry.kind}-{hashlib.sha256(content).hexdigest()[:12]}"
    return adjudications / "entries" / f"{time:%Y}" / f"{time:%m}" / f"{name}.yaml"


def append_entry(adjudications: Path, entry: Entry) -> LoggedEntry:
    """Stamp the time where it is missing and write the entry; nothing that stands in the log is touched."""
    stamped = entry if entry.time else entry.model_copy(update={"time": now()})
    content = entry_bytes(stamped)
    path = log_path(adjudications, stamped, content)
    write_new(path, content)
    return LoggedEntry(path.stem, stamped)


def now() -> str:
    """The time in UTC with microseconds, so that the order of quick decisions is kept."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def read_log(adjudications: Path) -> list[LoggedEntry]:
    """Every entry of the log, oldest first; InputError names the file that is not one."""
    folder = adjudications / "entries"
    paths = sorted(folder.rglob("*.yaml")) if folder.is_dir() else []
    logged = [LoggedEntry(path.stem, read_entry(load_yaml(path))) for path in paths if path.name[0] != "."]
    return sorted(logged, key=lambda item: (item.entry.time, item.id))


def publish_rescoring(
    adjudications: Path,
    entry: Entry,
    suite_text: bytes,
    staged: Sequence[StagedRescoring],
) -> LoggedEntry:
    """Write a rescoring beside each of its runs, and its entry into the log: the same bytes in both places.

    The folders come first, the entry in the log last, so that what the log names is there. Where anything fails,
    the folders are taken back.
    """
    content = entry_bytes(entry)
    path = log_path(adjudications, entry, content)
    made: list[Path] = []
    try:
        with staged_file(path, content) as publish:
            for one in staged:
                made.append(one.publish({"entry.yaml": content, "suite.yaml": suite_text}))  # noqa: PERF401
            publish()
    except BaseException:
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return LoggedEntry(path.stem, entry)


def stamp_preview(adjudications: Path, suite_digest: str, slug: str, expects: str) -> None:
    """Leave a stamp that a rescoring was previewed, and what its entry expected then."""
    stamp = {"slug": slug, "suite": suite_digest, "expects": expects, "time": now()}
    content = dump_yaml(stamp).encode()
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{slug}-{hashlib.sha256(content).hexdigest()[:12]}.yaml"
    write_new(adjudications / "previews" / name, content)


def preview_stamps(adjudications: Path, suite_digest: str, slug: str) -> list[str]:
    """What earlier previews of this suite, or under this slug, expected."""
    folder = adjudications / "previews"
    stamps = [load_yaml(path).value for path in sorted(folder.glob("*.yaml"))] if folder.is_dir() else []
    return [str(s["expects"]) for s in stamps if s["slug"] == slug or s["suite"] == suite_digest]
