"""Writing files so that nothing is ever half there or written over: exclusive, fsynced, renamed into place."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

from evallib.errors import EvallibError, InfrastructureError, InputError

__all__ = ["disk_errors", "publish_folder", "sha256_of", "staged_file", "staging_folder", "write_new"]


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turns what the disk says into one sentence: a missing right is the caller's (2), the rest is trouble (3)."""
    try:
        yield
    except EvallibError:
        raise
    except PermissionError as error:
        raise InputError(f"{error.filename or path}: may not write here; choose another folder with --data") from error
    except FileExistsError as error:
        raise InputError(f"{path}: exists already and is never overwritten") from error
    except NotADirectoryError as error:
        raise InputError(f"{path}: part of this path is a file, not a folder") from error
    except OSError as error:
        raise InfrastructureError(f"{path}: cannot be written: {error.strerror or error}") from error


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, lower-case hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_new(path: Path, content: bytes) -> None:
    """Create `path` with `content`, whole or not at all; an existing file is refused."""
    with staged_file(path, content) as publish:
        publish()


@contextlib.contextmanager
def staged_file(path: Path, content: bytes) -> Iterator[Callable[[], None]]:
    """`content` safe on the disk beside `path`, and the call that gives it its name; gone if that call never comes."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")

    def publish() -> None:
        with disk_errors(path):
            os.link(temporary, path)  # fails when the name is taken, which rename would not
            _sync_folder(path.parent)

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


def staging_folder(final: Path) -> Path:
    """A new hidden folder beside `final`, to be filled and then published under its name."""
    with disk_errors(final):
        final.parent.mkdir(parents=True, exist_ok=True)
        folder = final.with_name(f".{final.name}.{secrets.token_hex(4)}.tmp")
        folder.mkdir()
    return folder


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
