"""Who answers judge prompts: the scripted server of the run, the suite's judge model, or any endpoint named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evallib.checks.judge import Judge
from evallib.endpoint import Endpoint
from evallib.errors import InputError
from evallib.suite import Suite
from evallib.targets.base import Target
from evallib.targets.scripted import ScriptedTarget, ScriptProcess

__all__ = ["EndpointPanel", "open_panel"]

SCRIPTED_JUDGE = "judge"
"""The model name under which a script answers as a judge."""


class EndpointPanel:
    """Judges asked at one OpenAI-compatible endpoint."""

    def __init__(self, endpoint: Endpoint, identity: Mapping[str, Any], process: ScriptProcess | None = None) -> None:
        self._endpoint, self._identity, self._process = endpoint, dict(identity), process

    def identity(self) -> Mapping[str, Any]:
        """Kind and model of the judge."""
        return self._identity

    def preflight(self) -> None:
        """Make sure that the endpoint answers; InfrastructureError otherwise."""
        self._endpoint.check()

    def reply(self, check: Judge, messages: list[dict[str, str]], *, seed: int, timeout_s: float) -> str:
        """The text of one reply, at the check's temperature."""
        reply = self._endpoint.ask(
            messages, temperature=check.temperature, seed=seed, max_tokens=check.max_tokens, timeout_s=timeout_s
        )
        if reply.finish_reason == "length":
            raise ValueError(f"the reply was cut at {check.max_tokens} tokens; raise max_tokens of check {check.id!r}")
        return reply.text

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
        return None
    if spec is None:
        return _usual_panel(suite, target)
    kind, _, address = spec.partition(":")
    if kind == "scripted":
        process = ScriptProcess(folder / (address or "script.yaml") if not Path(address).is_file() else Path(address))
        return EndpointPanel(_scripted(process.url), _scripted_identity(), process)
    url, _, model = address.partition("#")
    if kind != "chat" or not url or not model:
        raise InputError(f"--judge {spec!r}: write scripted[:FILE] or chat:URL#MODEL")
    return EndpointPanel(Endpoint(url, model), {"kind": "chat", "url": url, "model": model})


def _usual_panel(suite: Suite, target: Target) -> EndpointPanel | None:
    if isinstance(target, ScriptedTarget):
        return EndpointPanel(_scripted(target.url), _scripted_identity())
    if suite.judge is None:
        return None
    identity = {"kind": "chat", "url": suite.judge.url, "model": suite.judge.model}
    return EndpointPanel(Endpoint(suite.judge.url, suite.judge.model), identity)


def _scripted(url: str) -> Endpoint:
    return Endpoint(url, SCRIPTED_JUDGE, api_key="")


def _scripted_identity() -> dict[str, Any]:
    return {"kind": "scripted", "model": SCRIPTED_JUDGE}
