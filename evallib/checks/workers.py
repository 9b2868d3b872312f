"""Worker processes for code checks, seen from evallib: started when first needed, fed, watched, replaced, ended.

A worker never runs a check's code itself, so it stays clean and serves one batch after the other. It sits in a session
of its own, in an empty temporary folder, with an environment of a few names; it ends when its socket is
closed, also by the death of this process.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from evallib.checks.code_worker import HEADER
from evallib.errors import InfrastructureError

__all__ = ["OUTLIVED", "Reply", "cores", "evaluate"]

_SCRIPT = Path(__file__).with_name("code_worker.py")
_KEPT = ("PATH", "LD_LIBRARY_PATH")
# `python -I` would do no more than -P and -s here, and would not take the fixed hash seed from the environment.
_FLAGS = ("-P", "-s")
_FIXED = {"LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1"}
OUTLIVED = ("did not end within", "used more than")
"""How the problem begins of an evaluation that ran past its deadline."""
_LONGEST_S = 1e6  # a poll counts its milliseconds in 32 bits
_GRACE_S = 30
"""How long a worker may be silent after every evaluation it holds was due."""

Task = Callable[[int], dict[str, Any]]
"""Number of an evaluation to what it needs: `{code, arguments, outputs, memory}`."""


class Reply(NamedTuple):
    """What came of one evaluation: a value with its reason, or the problem, which begins with a verb."""

    value: bool | float | None = None
    reason: str = ""
    problem: str = ""


def evaluate(task: Task, count: int, seconds: float) -> list[Reply]:
    """Replies to `task(0)` ... `task(count - 1)`, each granted `seconds` by the clock.

    As many are in flight as there are cores. Whatever an evaluation does, the others get their replies.
    """
    seconds = min(seconds, _LONGEST_S)
    replies: dict[int, Reply] = {}
    left: Sequence[int] = range(count)
    while left:
        _serve(left, task, seconds, replies)
        left = [number for number in left if number not in replies]
        # A worker died, and one of those it held did it: each of them now has a worker to itself, so none pays for it.
        for number in left[: cores()]:
            _serve([number], task, seconds, replies)
            replies.setdefault(number, Reply(problem="lost the worker process that ran it"))
        left = left[cores() :]
    return [replies[number] for number in range(count)]


def _serve(numbers: Sequence[int], task: Task, seconds: float, replies: dict[int, Reply]) -> None:
    """Have one worker evaluate `numbers` in order; those it died over are left without a reply."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    try:
        replies.update(worker.serve(numbers, task, seconds))
    except BaseException:
        worker.close()
        raise
    if all(number in replies for number in numbers):
        _idle.append(worker)
    else:
        worker.close()


class _Worker:
    """One worker process, and the socket to it: unlike a pipe, nobody can open it anew through /proc."""

    def __init__(self) -> None:
        self.sent = 0
        self.folder = tempfile.mkdtemp(prefix="evallib-code-")
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self.line, theirs = socket.socketpair()
        try:
            self.process = subprocess.Popen(
                [sys.executable, *_FLAGS, str(_SCRIPT), str(cores())], bufsize=0, stdin=theirs.fileno(),
                stdout=theirs.fileno(), stderr=subprocess.DEVNULL, cwd=self.folder, start_new_session=True,
                env={**kept, **_FIXED, "HOME": self.folder, "TMPDIR": self.folder},
            )  # fmt: skip
        except OSError as error:
            self.line.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise InfrastructureError(f"the worker of code checks cannot be started: {error}") from error
        finally:
            theirs.close()
        self.line.setblocking(False)

    def serve(self, numbers: Sequence[int], task: Task, seconds: float) -> Iterator[tuple[int, Reply]]:
        """(number, reply) as they come, until all have replied or the worker is gone or stuck."""
        base, self.sent = self.sent, self.sent + max(numbers) + 1
        outbox = _Outbox(self.line, (_frame(base + number, task(number), seconds) for number in numbers))
        heard, left = b"", len(numbers)
        with selectors.DefaultSelector() as selector:
            selector.register(self.line, selectors.EVENT_READ | selectors.EVENT_WRITE)
            while left:
                ready = sum(events for _, events in selector.select(seconds + _GRACE_S))
                if ready & selectors.EVENT_WRITE and not outbox.push():
                    selector.modify(self.line, selectors.EVENT_READ)
                if ready & selectors.EVENT_READ:
                    chunk = self._hear()
                    *lines, heard = (heard + chunk).split(b"\n")
                    left -= len(lines)
                    yield from (_read(line, base, seconds) for line in lines)
                if not ready or (ready & selectors.EVENT_READ and not chunk):
                    return

    def _hear(self) -> bytes:
        """What the worker says next; empty when it is gone."""
        try:
            return self.line.recv(1 << 16)
        except ConnectionResetError:  # it died with frames unread
            return b""

    def close(self) -> None:
        """End the worker and what it runs."""
        self.line.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class _Outbox:
    """Frames on their way into a socket that takes as much as it can hold."""

    def __init__(self, line: socket.socket, frames: Iterator[bytes]) -> None:
        self.line, self.frames, self.unsent = line, frames, b""

    def push(self) -> bool:
        """Write once; False when nothing is left, or when nobody reads, which the worker's silence will tell."""
        self.unsent = self.unsent or next(self.frames, b"")
        try:
            written = self.line.send(self.unsent) if self.unsent else 0
        except (BrokenPipeError, ConnectionResetError):
            return False
        self.unsent = self.unsent[written:]
        return bool(written)


def _frame(number: int, task: Mapping[str, Any], seconds: float) -> bytes:
    code: bytes = task["code"].encode("utf-8", "surrogatepass")
    rest = json.dumps({name: value for name, value in task.items() if name != "code"}).encode()
    return HEADER.pack(number, len(code), len(rest), seconds) + code + rest


def _read(line: bytes, base: int, seconds: float) -> tuple[int, Reply]:
    """The number of an evaluation and its reply; what a child wrote is not trusted to be one."""
    frame, text, ending = json.loads(line)
    if text is None:
        return frame - base, Reply(problem=_unreplied(ending, seconds))
    reply = _as_reply(text) or Reply(problem=f"replied what cannot be read: {text[:200]!r}")
    return frame - base, reply


def _as_reply(text: str) -> Reply | None:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict):
        return None
    value, reason, problem = given.get("value"), given.get("reason", ""), given.get("problem", "")
    if not isinstance(reason, str) or not isinstance(problem, str):
        return None
    readable = isinstance(value, bool | float) or (value is None and problem)
    return Reply(value, reason, problem) if readable else None


def _unreplied(ending: str, seconds: float) -> str:
    if ending == "deadline":
        return f"{OUTLIVED[0]} {seconds:g} s"
    if ending.endswith("SIGXCPU"):
        return f"{OUTLIVED[1]} {math.ceil(seconds) + 2} s of the processor"
    return f"ended without a verdict ({ending})"


@cache
def cores() -> int:
    """How many evaluations are in flight at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_idle: list[_Worker] = []
os.register_at_fork(after_in_child=_idle.clear)


@atexit.register
def _close_idle() -> None:
    while _idle:
        _idle.pop().close()
