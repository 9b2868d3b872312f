"""The scripted target: a script served by a process of its own, asked through the chat target."""

from __future__ import annotations

import selectors
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from evallib.case import Step
from evallib.endpoint import Endpoint
from evallib.errors import InfrastructureError, InputError
from evallib.suite import Deadlines
from evallib.targets.base import Setting, Target, TargetOutput
from evallib.targets.chat import ChatTarget
from evallib.targets.script import load_script

__all__ = ["ScriptProcess", "ScriptedTarget", "open_scripted"]

_READY_S = 60.0
_STOP_S = 5.0


def open_scripted(address: str, setting: Setting) -> Target:
    """The scripted target of a file; without one, of `script.yaml` beside the suite."""
    return ScriptedTarget(_script_path(address, setting.folder), setting)


def _script_path(address: str, folder: Path) -> Path:
    if not address:
        return folder / "script.yaml"
    beside = folder / address
    if not Path(address).exists() and not beside.exists():
        raise InputError(f"script {address!r} is neither here nor beside the suite in {folder}")
    return Path(address) if Path(address).exists() else beside


class ScriptProcess:
    """A script's server as a process of its own; it ends with this one, however this one ends."""

    def __init__(self, path: Path) -> None:
        # A pipe that nobody writes to: its end, also by the death of this process, stops the server.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "evallib.targets.script_server", str(path.absolute())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self.pid = self._process.pid
        try:
            self.url = self._first_line()
        except BaseException:
            self.close()
            raise

    def _first_line(self) -> str:
        stdout = self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)  # type: ignore[arg-type]  # a pipe was asked for
            ready = selector.select(_READY_S)
        line = stdout.readline().decode().strip() if ready and stdout else ""
        if not line:
            self._process.kill()
            _, said = self._process.communicate()
            last = (said.decode("utf-8", "replace").strip().splitlines() or ["it printed no URL in time"])[-1]
            raise InfrastructureError(f"the scripted model's server did not start: {last}")
        return line

    def close(self) -> None:
        """Stop the server and wait for its end."""
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in pipes:
            if pipe:
                with suppress(OSError):
                    pipe.close()


class ScriptedTarget(Target):
    """A scripted model, reached over a real socket like any other; its server starts with the first need of it."""

    def __init__(self, path: Path, setting: Setting) -> None:
        self.path, self.setting = path, setting
        self._script = load_script(path)
        # Opened at once, so that a missing knowledge folder is told before a server starts.
        self._described = ChatTarget(Endpoint("http://127.0.0.1/v1", "scripted"), setting).parameters()
        self._lock = Lock()
        self._process: ScriptProcess | None = None
        self._chat: ChatTarget | None = None

    @property
    def url(self) -> str:
        """Where the script is served, for judges that ask the same server; starts it if need be."""
        return self._started().url

    def identity(self) -> dict[str, Any]:
        """The script's name and digest, not the port it happens to be served on."""
        return {
            "kind": "scripted", "script": self._script.script, "script_digest": self._script.digest,
            "model": "scripted", **self._described,
        }  # fmt: skip

    def preflight(self) -> None:
        """Start the server and make sure that it answers."""
        self._started().preflight()

    def run(self, steps: tuple[Step, ...], *, seed: int, deadlines: Deadlines) -> TargetOutput:
        """One conversation with the scripted model."""
        return self._started().run(steps, seed=seed, deadlines=deadlines)

    def close(self) -> None:
        """Stop the server."""
        with self._lock:
            if self._chat:
                self._chat.close()
            if self._process:
                self._process.close()
            self._chat = self._process = None

    def _started(self) -> ChatTarget:
        with self._lock:
            if self._chat is None:
                self._process = ScriptProcess(self.path)
                call_s = self.setting.options.deadlines.call_s
                self._chat = ChatTarget(
                    Endpoint(self._process.url, "scripted", api_key="", call_s=call_s), self.setting
                )
            return self._chat
