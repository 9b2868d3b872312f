"""The worker process of code checks: forks one confined child for each evaluation, and never runs their code itself.

It is started as a script and imports nothing of evallib, so that a child holds neither suite nor run. On stdin it
takes frames (`HEADER`, the code as UTF-8, then a JSON object `{arguments, outputs, memory}`); on stdout it gives one
JSON line `[number, reply or null, how it ended]` for each. It reads no frame before it can fork for it: a child never
holds another evaluation's record.
"""

from __future__ import annotations

import ast
import ctypes
import gc
import json
import math
import os
import re  # noqa: F401  # most checks use it: imported once here, not in every child
import resource
import select
import shutil
import signal
import struct
import sys
import time
import traceback
from contextlib import suppress
from functools import cache
from types import CodeType
from typing import Any

__all__ = ["HEADER", "compiled", "main", "raised"]

HEADER = struct.Struct(">IIId")
"""Of a frame: its number, the lengths of code and JSON in bytes, and the seconds it may take."""

_NAME = "<code>"
_MOST_PRINTED = 1_000_000
_MOST_REPLIED = 1 << 20
_MOST_REASON = 20_000
_MOST_WRITTEN = 1 << 20
_SET_DEATH_SIGNAL, _SET_SECCOMP, _NO_NEW_PRIVILEGES = 1, 22, 38  # <linux/prctl.h>
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT_SELF, _LANDLOCK_MAKE_SYM = 444, 446, 1 << 12  # <linux/landlock.h>, all machines
_NEW_PROCESSES_AND_SIGNALS = {
    # clone, fork, vfork, clone3, execve, execveat, kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo,
    # pidfd_send_signal: by architecture of <linux/audit.h>
    "x86_64": (0xC000003E, (56, 57, 58, 435, 59, 322, 62, 200, 234, 129, 297, 424)),
    "aarch64": (0xC00000B7, (220, 435, 221, 281, 129, 130, 131, 138, 240, 424)),
}


def compiled(code: str) -> CodeType:
    """`code` as the body of a function of `outputs` and `arguments`; SyntaxError and the like when it is none."""
    module = ast.parse("def check(outputs, arguments): pass", _NAME)
    body = ast.parse(code, _NAME).body  # put in as it was parsed: indenting the text would change its long strings
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = body
    return compile(module, _NAME, "exec")


_compiled_once = cache(compiled)  # compiling runs nothing, and the suite was not loaded before it could be compiled


def _filter() -> ctypes.Array[ctypes.c_char]:
    """The program that refuses new processes and threads, other programs and signals with EPERM: seccomp-bpf(2)."""
    architecture, calls = _NEW_PROCESSES_AND_SIGNALS.get(os.uname().machine, (0, ()))
    load, jump_if_equal, give = 0x20, 0x15, 0x06  # <linux/bpf_common.h>
    rows = [(load, 0, 0, 4), (jump_if_equal, 0, len(calls) + 1, architecture), (load, 0, 0, 0)]
    rows += [(jump_if_equal, len(calls) - at, 0, call) for at, call in enumerate(calls)]
    rows += [(give, 0, 0, 0x7FFF0000), (give, 0, 0, 0x00050001)]  # allow; errno EPERM
    return ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))


_LIBC = ctypes.CDLL(None)
_PROGRAM = _filter()
_FILTER = ctypes.create_string_buffer(struct.pack("HP", len(_PROGRAM) // 8, ctypes.addressof(_PROGRAM)))
_WORKER = os.getpid()
_CAPABILITIES = struct.pack("Ii", 0x20080522, 0)  # <linux/capability.h>, version 3, of this process
_NO_CAPABILITIES = bytes(24)


def main(at_once: int) -> None:
    """Take evaluations, at most `at_once` at a time, until whoever started the worker has closed its end."""
    gc.freeze()  # a collection in a child would otherwise copy all of it
    worker = _Worker(at_once, os.getcwd())
    try:
        worker.serve()
    finally:
        worker.end_all()
        shutil.rmtree(worker.folder, ignore_errors=True)


class _Child:
    """One evaluation in flight."""

    def __init__(self, number: int, pid: int, until: float) -> None:
        self.number, self.pid, self.until, self.reply = number, pid, until, bytearray()


class _Worker:
    def __init__(self, at_once: int, folder: str) -> None:
        self.at_once, self.folder = at_once, folder
        self.children: dict[int, _Child] = {}
        self.poll = select.poll()

    def serve(self) -> None:
        while True:
            # With no event asked for, a poll still says that the other end was closed.
            self.poll.register(0, select.POLLIN if len(self.children) < self.at_once else 0)
            nearest = min((child.until for child in self.children.values()), default=math.inf)
            wait = None if nearest == math.inf else max(0.0, (nearest - time.monotonic()) * 1000 + 1)
            for descriptor, event in self.poll.poll(wait):
                if descriptor:
                    self.hear(descriptor)
                elif event & (select.POLLHUP | select.POLLERR):
                    return
                else:
                    self.start()
            self.end_overdue()

    def start(self) -> None:
        """Read one frame, and no byte more, and fork for it."""
        number, of_code, of_task, seconds = HEADER.unpack(_read_exactly(HEADER.size))
        code = _read_exactly(of_code).decode("utf-8", "surrogatepass")
        task = _read_exactly(of_task)
        function = _compiled_once(code)
        own, theirs = os.pipe()
        folder = os.path.join(self.folder, str(number))
        os.mkdir(folder)
        pid = os.fork()
        if not pid:
            try:
                os.chdir(folder)
                _evaluate(theirs, code, function, task, seconds)
            finally:
                os._exit(1)
        os.close(theirs)
        self.children[own] = _Child(number, pid, time.monotonic() + seconds)
        self.poll.register(own, select.POLLIN)

    def hear(self, descriptor: int) -> None:
        child = self.children[descriptor]
        chunk = os.read(descriptor, 1 << 16)
        child.reply += chunk
        if len(child.reply) > _MOST_REPLIED:
            self.end(descriptor, "its reply is longer than 1 MiB")
        elif not chunk:
            self.end(descriptor)

    def end_overdue(self) -> None:
        now = time.monotonic()
        for descriptor in [d for d, child in self.children.items() if child.until <= now]:
            self.end(descriptor, "deadline")

    def end(self, descriptor: int, why: str = "") -> None:
        """Stop a child and all it may have started, and pass on what it replied."""
        child = self.children.pop(descriptor)
        self.poll.unregister(descriptor)
        os.close(descriptor)
        status = _kill(child.pid)
        folder = os.path.join(self.folder, str(child.number))
        try:
            os.rmdir(folder)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
        reply = child.reply.decode("utf-8", "replace") if child.reply and not why else None
        print(json.dumps([child.number, reply, why or _ending(status)]), flush=True)

    def end_all(self) -> None:
        for child in self.children.values():
            _kill(child.pid)


def _read_exactly(length: int) -> bytes:
    parts = []
    while length:
        part = os.read(0, length)
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _kill(pid: int) -> int:
    """The wait status of the child `pid`, which is gone with its process group when this returns."""
    for kill in (os.kill, os.killpg):  # the group is not there before the child made it
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name if number in set(signal.Signals) else ""
        return f"signal {number} {name}".rstrip()
    return f"exit status {os.waitstatus_to_exitcode(status)}"


# what a child does


def _evaluate(out: int, code: str, function: CodeType, task: bytes, seconds: float) -> None:
    """Run one evaluation in a child that was just forked, reply, and be gone."""
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.closerange(3, out)
    os.closerange(out + 1, 256)
    given = json.loads(task)
    _confine(given["memory"], seconds)
    reply = json.dumps(_run(code, function, given)).encode()
    while reply:
        reply = reply[os.write(out, reply) :]
    os._exit(0)


def _confine(memory: int, seconds: float) -> None:
    """Limit what this process may take; `memory` in bytes. Where the system lacks a limit, the others hold."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, memory)
    _limit(resource.RLIMIT_CPU, math.ceil(seconds) + 2)
    _limit(resource.RLIMIT_NOFILE, 64)
    _limit(resource.RLIMIT_FSIZE, _MOST_WRITTEN)
    _limit(resource.RLIMIT_NPROC, 0)  # holds for everybody but root
    with suppress(AttributeError, OSError):
        _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != _WORKER:
            os._exit(1)
        _prctl(_NO_NEW_PRIVILEGES, 1)
        _restrict()
        _prctl(_SET_SECCOMP, 2, ctypes.addressof(_FILTER))


def _restrict() -> None:
    """Close memory, descriptors and environment of other processes to this one, and to root too, where Landlock is.

    Any ruleset does (landlock(7), "Ptrace restrictions"); this one refuses new symbolic links. Before Linux 5.13, and
    where it is switched off, the call fails and nothing changes. Root also gives up its capabilities: some of them
    would still open an environment.
    """
    _LIBC.capset(_CAPABILITIES, _NO_CAPABILITIES)
    rules = ctypes.c_uint64(_LANDLOCK_MAKE_SYM)
    ruleset = _LIBC.syscall(
        ctypes.c_long(_LANDLOCK_CREATE), ctypes.byref(rules), ctypes.c_size_t(8), ctypes.c_uint32(0)
    )
    if ruleset >= 0:
        _LIBC.syscall(ctypes.c_long(_LANDLOCK_RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint32(0))
        os.close(ruleset)


def _limit(kind: int, most: int) -> None:
    with suppress(ValueError, OSError):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _prctl(option: int, *values: int) -> None:
    words = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _LIBC.prctl(ctypes.c_int(option), *words)


class _Printed:
    """Where a check's prints go: nowhere, up to a limit."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.count = 0

    def write(self, text: str) -> int:
        self.count += len(text)
        if self.count > _MOST_PRINTED:
            raise OverflowError(f"it printed more than {_MOST_PRINTED:,} characters")
        return len(text)

    def flush(self) -> None:
        pass


def _run(code: str, function: CodeType, given: dict[str, Any]) -> dict[str, Any]:
    """`{value, reason}` as the code gave them, or `{problem}`."""
    printed: Any = _Printed()
    sys.stdout = sys.stderr = printed
    namespace: dict[str, Any] = {"__name__": "check"}
    try:
        exec(function, namespace)  # noqa: S102  # this is what the process is for
        reply = _reply(namespace["check"](given["outputs"], given["arguments"]))
    except SystemExit as error:
        reply = {"problem": f"called sys.exit({error.code!r:.100})"}
    except MemoryError:
        reply = {"problem": f"took more than its {given['memory'] >> 20} MiB of memory"}
    except BaseException as error:  # noqa: BLE001  # whatever it was, it is this evaluation's problem
        reply = {"problem": _told(error, code)}
    return {"problem": f"printed more than {_MOST_PRINTED:,} characters"} if printed.count > _MOST_PRINTED else reply


def _reply(returned: object) -> dict[str, Any]:
    """What `returned` says, its value and reason read strictly; the range is judged by whoever asked."""
    value: Any = returned
    reason: Any = ""
    if isinstance(returned, tuple):
        if len(returned) != 2:
            return {"problem": f"returned a tuple of {len(returned)}, expected (score, reason)"}
        value, reason = returned
    elif isinstance(returned, dict):
        if "score" not in returned or set(returned) - {"score", "reason"}:
            return {"problem": f"returned a dict with keys {_listed(returned)}, expected 'score' and 'reason'"}
        value, reason = returned["score"], returned.get("reason", "")
    if not isinstance(reason, str):
        return {"problem": f"gave {_shown(reason)} as the reason, which must be text"}
    if not isinstance(value, bool | int | float):
        return {"problem": f"returned {_shown(value)} as the score, which must be True, False or a number"}
    if not isinstance(value, bool) and not math.isfinite(value):
        return {"problem": f"returned {value} as the score, which must be a finite number"}
    if len(reason) > _MOST_REASON:
        reason = f"{reason[:_MOST_REASON]}... (cut from {len(reason):,} characters)"
    return {"value": value if isinstance(value, bool) else float(value), "reason": str(reason)}


def _shown(value: object) -> str:
    return f"{value!r:.100}" if value is None or isinstance(value, str) else f"a {type(value).__name__}"


def _listed(keys: Any) -> str:
    return repr(sorted(map(str, keys)))[:200]


def _told(error: BaseException, code: str) -> str:
    """The exception, and the line of the code that raised it."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == _NAME]
    where = ""
    if lines and lines[-1]:
        source = code.splitlines()[lines[-1] - 1 :][:1]
        where = f" (line {lines[-1]} of the code: {''.join(source).strip()[:120]})"
    return raised(error) + where


def raised(error: BaseException) -> str:
    """The exception in words, whatever it is."""
    try:
        said = " ".join(str(error).split())[:500]
    except Exception:  # noqa: BLE001  # an exception of the code's own may fail to be text, too
        said = ""
    return f"raised {type(error).__name__}" + (f": {said}" if said else "")


if __name__ == "__main__":
    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        main(int(sys.argv[1]))
