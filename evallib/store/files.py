"""Writing files so that nothing is ever half there or written over: exclusive, fsynced, renamed into place."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from evallib.errors import EvallibError, InfrastructureError, InputError

__all__ = [
    "abandoned_below",
    "disk_errors",
    "fetch_ahead",
    "files_below",
    "locked",
    "publish_folder",
    "replace_file",
    "sha256_of",
    "staged_file",
    "staging_folder",
    "write_new",
]  # fmt: skip

_UNFINISHED = r"\.[0-9a-f]{8}\.tmp"
"""How the hidden name ends of what has no name of its own yet."""


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turns what the disk says into one sentence: a missing right is the caller's (2), the rest is trouble (3)."""
    try:
        yield
    except EvallibError:
        raise
    except PermissionError as error:
        place = path if error.filename is None else Path(error.filename)
        place = place.parent if re.fullmatch(rf"\..+{_UNFINISHED}", place.name) else place
        raise InputError(f"{place}: may not write here; choose a folder you may write to") from error
    except FileExistsError as error:
        raise InputError(f"{path}: exists already and is never overwritten") from error
    except NotADirectoryError as error:
        raise InputError(f"{path}: part of this path is a file, not a folder") from error
    except OSError as error:
        raise InfrastructureError(f"{path}: cannot be written: {error.strerror or error}") from error


def files_below(folder: Path, ending: str) -> list[Path]:
    """Every file below `folder` whose name ends so, sorted, hidden ones left out; none when there is no such folder.

    InputError names a folder that may not be read: what is in it must not be taken for not being there.
    """

    def refuse(error: OSError) -> NoReturn:
        raise InputError(f"{error.filename}: cannot be read ({error.strerror})") from error

    try:
        folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        refuse(error)
    found = [
        Path(place, name)
        for place, _, names in os.walk(folder, onerror=refuse)
        for name in names
        if name.endswith(ending) and name[0] != "."
    ]
    return sorted(found, key=os.fspath)


def fetch_ahead(paths: Sequence[Path]) -> None:
    """Let the system fetch files from the disk side by side; what cannot be opened is told by whoever reads it.

    10,000 small files that are not in memory take a sixth of the time that reading one after another does.
    """
    for path in paths:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would be waited for
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_WILLNEED)
            finally:
                os.close(descriptor)


@contextlib.contextmanager
def locked(folders: Sequence[Path]) -> Iterator[None]:
    """Holds each of `folders` against other processes that ask the same, always in one order; leaves nothing behind."""
    with contextlib.ExitStack() as stack:
        for folder in sorted(set(folders)):
            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, lower-case hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_new(path: Path, content: bytes) -> None:
    """Create `path` with `content`, whole or not at all; an existing file is refused."""
    with staged_file(path, content) as publish:
        publish()


def replace_file(path: Path, content: bytes) -> None:
    """Give `path` new content, whole or not at all: for what is derived or reviewed, never for what is recorded."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with disk_errors(path):
            _write_synced(temporary, content)
            temporary.replace(path)
            _sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def staged_file(path: Path, content: bytes) -> Iterator[Callable[[], None]]:
    """`content` safe on the disk beside `path`, and the call that gives it its name; gone if that call never comes."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")

    def publish() -> None:
        with disk_errors(path):
            os.link(temporary, path)  # fails when the name is taken, which rename would not
            try:
                _sync_folder(path.parent)
            except OSError:  # what is told to have failed must not be there, or it would be written a second time
                path.unlink()
                raise

    try:
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_synced(temporary, content)
        yield publish
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def staging_folder(final: Path) -> Iterator[Path]:
    """A new hidden folder beside `final`, to be filled and then published under its name; else gone at the end.

    Its maker holds a lock on it, so that what a killed process left of an earlier attempt is known and removed.
    """
    with disk_errors(final):
        final.parent.mkdir(parents=True, exist_ok=True)
        _drop_abandoned(final)
        folder = final.with_name(f".{final.name}.{secrets.token_hex(4)}.tmp")
        folder.mkdir()
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(descriptor)
        shutil.rmtree(folder, ignore_errors=True)


def _drop_abandoned(final: Path) -> None:
    pattern = re.compile(rf"\.{re.escape(final.name)}{_UNFINISHED}")
    for left in [path for path in final.parent.iterdir() if pattern.fullmatch(path.name) and path.is_dir()]:
        with _abandoned(left) as dead:
            if dead:
                shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def _abandoned(staged: Path) -> Iterator[bool]:
    """Whether nobody holds the staging folder `staged`; then it is held meanwhile."""
    descriptor = os.open(staged, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            dead = True
        except BlockingIOError:
            dead = False
        yield dead
    finally:
        os.close(descriptor)


def abandoned_below(folder: Path) -> list[Path]:
    """Every staged file and staging folder that a killed process left below `folder`, sorted."""
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        staged = [name for name in folders if re.fullmatch(rf"\..+{_UNFINISHED}", name)]
        folders[:] = [name for name in folders if name not in staged]
        found += [Path(place, name) for name in files if re.fullmatch(rf"\..+{_UNFINISHED}", name)]
        for path in (Path(place, name) for name in staged):
            with _abandoned(path) as dead:
                found += [path] if dead else []
    return sorted(found)


def publish_folder(staged: Path, final: Path) -> None:
    """Give a filled staging folder its final name; an existing non-empty folder is refused."""
    with disk_errors(final):
        for file in staged.iterdir():
            descriptor = os.open(file, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        try:
            staged.rename(final)
        except OSError as error:
            if final.exists():
                raise InputError(f"{final}: exists already and is never overwritten") from error
            raise
        _sync_folder(final.parent)
