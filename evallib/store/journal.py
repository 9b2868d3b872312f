"""The journal of a run in flight: one fsynced JSON line per finished sample, so that a kill loses nothing written."""

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
        with disk_errors(path):
            self._file = path.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise InputError(f"{path.parent}: another process is writing this run; wait for it to end") from error
        self._writing, self._syncing = threading.Lock(), threading.Lock()
        self._written = self._synced = 0
        _drop_torn_line(path)

    def append(self, sample: Sample, judged: Iterable[Verdict]) -> None:
        """Write one line and wait until it is on the disk. Safe to call from many threads.

        While one thread waits for the disk the others write: the next sync is for all their lines at once.
        """
        line = {"sample": encode_sample(sample), "judged": [encode_verdict(verdict) for verdict in judged]}
        content = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        with disk_errors(Path(self._file.name)):
            with self._writing:
                self._file.write(content)
                self._file.flush()
                self._written = mine = self._written + 1
            with self._syncing:
                if self._synced < mine:
                    reached = self._written
                    os.fsync(self._file.fileno())
                    self._synced = reached

    def close(self) -> None:
        """Release the lock."""
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
