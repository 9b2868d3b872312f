"""What must hold of the log as a whole: names fit contents, and what entries say of one another is so."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from evallib.entries import Close, Difference, Entry, Lock, Override, Plan, Reading, Rescoring, Resolution, Seal, Use
from evallib.errors import InputError
from evallib.rule import Rule
from evallib.store.log import entry_of, former_log_path, log_path

__all__ = ["file_problems", "relation_problems"]

_LEEWAY = timedelta(hours=24)
"""What clocks and time zones may be off."""


def file_problems(adjudications: Path, path: Path, now: datetime) -> tuple[Entry | None, list[str]]:
    """The entry in `path`, None where there is none, and what is wrong with file, name, place or time."""
    try:
        entry = entry_of(path)
        content = path.read_bytes()
        mode = path.lstat().st_mode
    except (InputError, OSError) as error:
        return None, [str(error)]
    if stat.S_ISLNK(mode):
        return entry, [f"{path}: is a link: an entry stands in the log itself; put the file there"]
    if mode & 0o111:
        return entry, [f"{path}: may be executed, and is data: chmod a-x it"]
    if hashlib.sha256(content).hexdigest()[:12] != path.stem.rsplit("-", 1)[-1]:
        return entry, [f"{path}: its hash does not fit its name: it differs from what was written; restore it"]
    time = _utc(entry)
    if time is None:
        return entry, [f"{path}: time {entry.time!r} is no UTC time as the tool stamps it"]
    right = log_path(adjudications, entry, content)
    if path not in {right, former_log_path(adjudications, entry, content)}:
        return entry, [f"{path}: by its time, author and kind it belongs in {right}"]
    if time > now + _LEEWAY:
        return entry, [f"{path}: its time {entry.time} is more than 24 hours from now"]
    return entry, []


def _utc(entry: Entry) -> datetime | None:
    try:
        time = datetime.fromisoformat(entry.time)
    except ValueError:
        return None
    written = {time.isoformat(), time.isoformat(timespec="microseconds")}
    return time if time.utcoffset() == timedelta(0) and entry.time in written else None


def relation_problems(entries: Mapping[str, Entry], rule: Rule) -> list[str]:
    """One sentence for each entry (id to entry) that names what is not there, another's, or what does not fit it."""
    told = [f"{id_}: {problem}" for id_, entry in entries.items() for problem in _of_entry(entry, entries)]
    told += [f"{id_}: {problem}" for id_, entry in entries.items() for problem in _of_close(entry, entries, rule)]
    graph = {id_: [name for _, name in _named(entry)] for id_, entry in entries.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        told.append(f"entries name one another in a circle: {', '.join(error.args[1])}")
    return told


def _of_close(entry: Entry, entries: Mapping[str, Entry], rule: Rule) -> Iterator[str]:
    """That somebody closed a lock who may not: it stands all the same."""
    lock = entries.get(entry.closes) if isinstance(entry, Close) else None
    if isinstance(lock, Lock) and not rule.closes(entry.author, lock.author):
        yield f"closes a lock of {lock.author!r}, and the rule does not let {entry.author!r}: the lock stands"


def _named(entry: Entry) -> Iterator[tuple[str, str]]:
    """Key and id of every entry that `entry` names."""
    for key in ("supersedes", "about", "withdraws", "plan"):
        if name := getattr(entry, key, ""):
            yield key, name
    if isinstance(entry, Reading):
        yield from (("supersedes", name) for name in entry.also_supersedes)
    if isinstance(entry, Resolution):
        yield from (("cites", name) for name in entry.cites)
    if isinstance(entry, Plan):
        yield from (("replaces", name) for name in entry.replaces)
    if isinstance(entry, Close):
        yield "closes", entry.closes
    if isinstance(entry, Use):
        yield "seal", entry.seal
    if isinstance(entry, Rescoring):
        yield from (("readings", name) for name in entry.readings)
        yield from (("override", name) for name in [entry.override] if name)


def _of_entry(entry: Entry, entries: Mapping[str, Entry]) -> Iterator[str]:
    for key, name in _named(entry):
        if (other := entries.get(name)) is None:
            yield f"{key} names {name!r}, which is not in the log"
        elif key in {"supersedes", "about", "withdraws"} and other.author != entry.author:
            yield f"{key} names {name!r} by {other.author!r}: nobody but its author may"
        elif problem := _unfit(key, entry, other):
            yield f"{key} names {name!r}, {problem}"
    if isinstance(entry, Rescoring) and entry.became:  # an earlier evallib refused less
        flips = [flip for row in entry.runs for flip in row.get("flips") or () if isinstance(flip, Mapping)]
        unread = sum(flip.get("read") == "unread" for flip in flips)
        if unread != entry.unread or (unread and not entry.override):
            yield f"flips that nobody read: {unread}, where it says {entry.unread}, by override {entry.override!r}"


def _unfit(key: str, entry: Entry, other: Entry) -> str:
    """Why `entry` may not name `other` so; empty when it may."""
    if key in {"plan", "replaces"}:
        if not isinstance(other, Plan):
            return "which is no plan"
        after = "reading that claims it" if key == "plan" else "plan that replaces it"
        return "" if _before(other, entry) else f"which was drawn after the {after}"
    if key == "withdraws":
        kept = isinstance(other, Lock | Close | Override | Seal | Use)
        return f"which is a {other.kind}: nobody takes it back" if kept else ""
    if key in _RULED:
        return _unfit_ruled(key, entry, other)
    if key == "supersedes" and other.kind != entry.kind:
        return f"which is a {other.kind} and no {entry.kind}"
    return _unfit_reading(key, entry, other)


def _unfit_reading(key: str, entry: Entry, other: Entry) -> str:
    if key in {"about", "cites"} and not isinstance(other, Reading if key == "about" else Reading | Resolution):
        return "which is no reading" if key == "about" else "which is no reading and no resolution"
    of_checks = key == "cites" and isinstance(other, Reading) and not getattr(entry, "check", "")
    if _item(entry)[: 3 if of_checks else 4] != _item(other)[: 3 if of_checks else 4]:
        return f"which is of another item: {_item(other)} instead of {_item(entry)}"
    if isinstance(entry, Difference) and isinstance(other, Reading):
        return _disagreement(entry, other)
    return ""


_RULED: dict[str, tuple[type[Entry], str]] = {
    "closes": (Lock, "lock"),
    "readings": (Reading, "reading"),
    "override": (Override, "override"),
    "seal": (Seal, "seal"),
}
"""What an entry about criteria names under each key."""


def _unfit_ruled(key: str, entry: Entry, other: Entry) -> str:
    kind, what = _RULED[key]
    if not isinstance(other, kind):
        return f"which is no {what}"
    return _unfit_override(entry, other) if _before(other, entry) else f"which was written after the {entry.kind}"


def _unfit_override(entry: Entry, other: Entry) -> str:
    """What an override accepts otherwise than the rescoring that cites it needs."""
    if not isinstance(entry, Rescoring) or not isinstance(other, Override):
        return ""
    same = (tuple(row["run"] for row in entry.runs), entry.suite_digest) == (other.runs, other.suite_digest)
    if not same:
        return "which is of other runs or another suite"
    if (entry.unread, entry.unread_accepted_by) != (len(other.flips), other.author):
        return (
            f"by {other.author!r} for {len(other.flips)} flips, not by {entry.unread_accepted_by!r} for {entry.unread}"
        )
    return ""


def _disagreement(said: Difference, read: Reading) -> str:
    """What a difference says otherwise than the reading it is about, by what strict was in words at that time."""
    strict = {"pass": "pass", "fail": "fail", "error": "infra"}.get(read.strict.partition(":")[0], "")
    if strict and said.agrees != (read.reading == strict):
        return f"which says {read.reading} where strict says {strict}, and agrees is {str(said.agrees).lower()}"
    return ""


def _item(entry: Entry) -> tuple[object, ...]:
    return tuple(getattr(entry, key, None) for key in ("run", "case", "sample", "check"))


def _before(first: Entry, second: Entry) -> bool:
    times = _utc(first), _utc(second)
    return times[0] is None or times[1] is None or times[0] <= times[1]
