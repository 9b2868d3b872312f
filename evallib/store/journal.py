"""The journal of a run in flight: one JSON line per finished sample, on the disk before the sample counts."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from evallib.errors import InputError
from evallib.records import Sample, Verdict
from evallib.store.files import disk_errors
from evallib.store.tables import decode_sample, decode_verdict, encode_sample, encode_verdict

__all__ = ["Journal", "read_journal"]


class Journal:
    """Appends finished samples; holds an exclusive lock, so that one run has one writer."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with disk_errors(path):
            self._file = path.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise InputError(f"{path.parent}: another process is writing this run; wait for it to end") from error
        self._writing = threading.Lock()
        _drop_torn_line(path)

    def append(self, sample: Sample, judged: Iterable[Verdict]) -> None:
        """Write one line, which is safe once `sync` was called. Safe to call from many threads."""
        line = {"sample": encode_sample(sample), "judged": [encode_verdict(verdict) for verdict in judged]}
        content = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        with disk_errors(self._path), self._writing:
            self._file.write(content)
            self._file.flush()

    def sync(self) -> None:
        """Wait until every line appended before this call is on the disk."""
        with disk_errors(self._path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Sync what was appended last and release the lock."""
        try:
            self.sync()
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _drop_torn_line(path: Path) -> None:
    """A kill can leave a last line without its end; the sample it began was never acknowledged."""
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)
            os.fsync(file.fileno())


def read_journal(path: Path) -> tuple[list[Sample], list[Verdict]]:
    """Finished samples and their judge verdicts; a torn last line is left out, any other bad line is an error."""
    samples: list[Sample] = []
    judged: list[Verdict] = []
    if not path.exists():
        return samples, judged
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            row = json.loads(line)
            samples.append(decode_sample(row["sample"]))
            judged.extend(decode_verdict(verdict) for verdict in row["judged"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number}: is damaged; remove the run folder and run again") from error
    return samples, judged
