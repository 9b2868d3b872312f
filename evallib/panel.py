"""Who answers judge prompts: the scripted server of the run, the suite's judge model, or any endpoint named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evallib.checks.judge import Judge
from evallib.endpoint import Endpoint, Reply
from evallib.errors import InputError
from evallib.judging import Jury
from evallib.store import ReplyStore
from evallib.store.calibrations import known_calibrations
from evallib.suite import Suite, read_suite
from evallib.targets.base import Target
from evallib.targets.script import load_script
from evallib.targets.scripted import ScriptedTarget, ScriptProcess

__all__ = ["EndpointPanel", "jury_for", "named_panel", "open_panel"]

SCRIPTED_JUDGE = "judge"
"""The model name under which a script answers as a judge."""


class EndpointPanel:
    """Judges asked at one OpenAI-compatible endpoint."""

    def __init__(self, endpoint: Endpoint, identity: Mapping[str, Any], process: ScriptProcess | None = None) -> None:
        self._endpoint, self._identity, self._process = endpoint, dict(identity), process

    def identity(self, check: Judge | None = None) -> Mapping[str, Any]:
        """Kind, URL and model of the judge; the model that `check` names, where it names one. No key, no password."""
        return {**self._identity, "model": self._model(check)} if self._model(check) else self._identity

    def preflight(self) -> None:
        """Make sure that the endpoint answers; InfrastructureError otherwise."""
        self._endpoint.check()

    def reply(self, check: Judge, messages: list[dict[str, str]], *, seed: int, timeout_s: float) -> Reply:
        """One reply at the check's temperature, asked for as a JSON object.

        The endpoint asks again for what is not the judge's own reply (429, 5xx, a lost connection), never for a reply.
        """
        return self._endpoint.ask(
            messages, model=self._model(check) or None, temperature=check.temperature, seed=seed,
            max_tokens=check.max_tokens, response_format={"type": "json_object"}, timeout_s=timeout_s,
        )  # fmt: skip

    def _model(self, check: Judge | None) -> str:
        """The model a check names; a script stands in for any of them."""
        return check.model if check and self._identity.get("kind") != "scripted" else ""

    def close(self) -> None:
        """Drop the connections, and stop the server when it is our own."""
        self._endpoint.close()
        if self._process is not None:
            self._process.close()


def open_panel(spec: str | None, suite: Suite, folder: Path, target: Target) -> EndpointPanel | None:
    """The panel written as `scripted[:FILE]` or `chat:URL#MODEL`.

    Without one, a scripted target's own server judges, else the model the suite names, else nobody (None).
    """
    if not any(isinstance(b.check, Judge) for bounds in suite.bound.values() for b in bounds):
        if spec is not None:
            _parsed(spec)
        return None
    if spec is None:
        return _usual_panel(suite, target)
    return named_panel(spec, folder)


def named_panel(spec: str, folder: Path) -> EndpointPanel:
    """The panel written as `scripted[:FILE]` (default: `script.yaml` in `folder`) or `chat:URL#MODEL`."""
    kind, address = _parsed(spec)
    if kind == "scripted":
        path = Path(address) if Path(address).is_file() else folder / (address or "script.yaml")
        identity = _scripted_identity(load_script(path).digest)
        process = ScriptProcess(path)
        return EndpointPanel(_scripted(process.url), identity, process)
    url, _, model = address.partition("#")
    return _chat_panel(url, model)


def _parsed(spec: str) -> tuple[str, str]:
    """Kind and address of whoever answers; InputError when nobody could."""
    kind, _, address = spec.partition(":")
    url, _, model = address.partition("#")
    if kind != "scripted" and not (kind == "chat" and url and model):
        shown = kind if "@" in spec else spec  # a password may stand before the host
        raise InputError(f"--judge {shown!r} names nobody who can answer: write scripted[:FILE] or chat:URL#MODEL")
    return kind, address


@contextmanager
def jury_for(
    spec: str, suite_path: Path, data: Path, *, jobs: int, tell: Callable[[str], None] | None = None
) -> Iterator[Jury]:
    """The panel of `spec` as a jury for stored answers: replies are kept under `data`, and read there first."""
    if not 1 <= jobs <= 256:
        raise InputError(f"--judge-jobs {jobs}: must be from 1 to 256")
    deadline_s = read_suite(suite_path).deadlines.judge_s
    panel = named_panel(spec, suite_path if suite_path.is_dir() else suite_path.parent)
    known = known_calibrations(data)
    try:
        with Jury(
            panel, jobs=jobs, deadline_s=deadline_s, replies=ReplyStore(data), calibrations=known, tell=tell
        ) as jury:
            yield jury
    finally:
        panel.close()


def _chat_panel(url: str, model: str) -> EndpointPanel:
    endpoint = Endpoint(url, model)
    return EndpointPanel(endpoint, {"kind": "chat", "url": endpoint.url, "model": model})


def _usual_panel(suite: Suite, target: Target) -> EndpointPanel | None:
    if isinstance(target, ScriptedTarget):
        identity = _scripted_identity(str(target.identity()["script_digest"]))
        return EndpointPanel(_scripted(target.url), identity)
    return None if suite.judge is None else _chat_panel(suite.judge.url, suite.judge.model)


def _scripted(url: str) -> Endpoint:
    return Endpoint(url, SCRIPTED_JUDGE, api_key="")


def _scripted_identity(script_digest: str) -> dict[str, Any]:
    return {"kind": "scripted", "model": SCRIPTED_JUDGE, "script_digest": script_digest}
