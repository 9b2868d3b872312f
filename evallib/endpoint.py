"""The client for an OpenAI-compatible endpoint: one question, one reply, within a deadline.

The API key comes from EVALLIB_API_KEY or OPENAI_API_KEY; it is sent to the endpoint and never stored or shown.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import SplitResult, urlsplit

from evallib.errors import InfrastructureError, InputError
from evallib.records import Usage, json_problem

if TYPE_CHECKING:
    from evallib.http_pool import Answer

__all__ = ["BadReply", "Endpoint", "EndpointError", "ModelTimeout", "ProviderError", "Reply", "ToolRequest", "shown"]

API_KEYS = ("EVALLIB_API_KEY", "OPENAI_API_KEY")
"""Environment variables that may hold the API key; the first that is set counts."""
_MOST_TOKENS = 2**40
_RETRIABLE = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_CHECK_S = 10.0
_SHOWN = 200


class EndpointError(Exception):
    """A question got no usable reply; the text says why in one sentence."""


class ProviderError(EndpointError):
    """The provider failed or refused: an HTTP status, or a lost connection (`status` None)."""

    def __init__(self, message: str, *, status: int | None = None, retriable: bool = True) -> None:
        super().__init__(message)
        self.status, self.retriable = status, retriable


class ModelTimeout(EndpointError):  # noqa: N818 - says what happened, like asyncio's names
    """The whole reply was not there within the deadline."""


class BadReply(EndpointError):  # noqa: N818 - as above
    """Something came back, but not a chat completion."""


class ToolRequest(NamedTuple):
    """A tool call a model asks for; `arguments` stay raw text when they are no JSON object, `id` may be empty."""

    id: str
    name: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True, slots=True)
class Reply:
    """One chat completion."""

    text: str
    tool_calls: tuple[ToolRequest, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = ""
    model: str = ""
    """What the provider says answered."""
    latency_s: float = 0.0


class Endpoint:
    """One model behind one OpenAI-compatible URL; share it between threads."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        call_s: float = 120,
        retries: int = 2,
        backoff_s: float = 0.5,
    ) -> None:
        """`url` is the base, as in http://127.0.0.1:8000/v1; `/v1` is added where it has no path."""
        from evallib.http_pool import HttpPool

        parts = _checked_url(url)
        self.url, self.model, self.call_s = parts.geturl(), model, call_s
        self._retries, self._backoff_s = retries, backoff_s
        self._path = parts.path
        self._key = _checked_key(api_key)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "evallib"}
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key}"
        self._pool = HttpPool(parts)

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.model!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def check(self) -> None:
        """Make sure that something answers at the URL, and knows a path of ours; InfrastructureError otherwise."""
        from evallib.http_pool import ConnectionLostError, TimeIsUpError, UnreachableError

        seconds = min(self.call_s, _CHECK_S)
        try:
            answer = self._pool.request("GET", f"{self._path}/models", None, headers=self._headers, seconds=seconds)
            if answer.status == 404:  # not every server lists its models; a request that asks nothing costs nothing
                path = f"{self._path}/chat/completions"
                answer = self._pool.request("POST", path, b"{}", headers=self._headers, seconds=seconds)
        except (ConnectionLostError, TimeIsUpError, UnreachableError) as error:
            raise InfrastructureError(
                f"nothing usable answers at {self.url} ({error}); start the model's server or correct the URL"
            ) from error
        if answer.status == 404:
            raise InfrastructureError(
                f"{self.url} answers 404 to everything: it knows neither /models nor /chat/completions; correct the "
                "URL (it usually ends in /v1)"
            )
        if answer.status == 401:
            raise InfrastructureError(f"{self.url} wants an API key (401); set {API_KEYS[0]} to a valid one")

    def ask(  # noqa: PLR0913  # what a request may say, each by its name
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        model: str | None = None,
        temperature: float | None = None,
        seed: int | None = None,
        max_tokens: int | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        response_format: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> Reply:
        """The reply of `model` (default: the endpoint's); ModelTimeout, ProviderError or BadReply when there is none.

        `timeout_s` (default: `call_s`) bounds everything in wall-clock time: attempts, waits, a reply that drips in.
        """
        optional = {
            "temperature": temperature,
            "seed": seed,
            "max_tokens": max_tokens,
            "tools": tools,
            "response_format": response_format,
        }
        body = {
            "model": model or self.model,
            "messages": messages,
            **{k: v for k, v in optional.items() if v is not None},
        }
        started = time.monotonic()
        answer = self._post(json.dumps(body).encode(), self.call_s if timeout_s is None else timeout_s)
        return _reply(answer.body, time.monotonic() - started)

    def _post(self, body: bytes, seconds: float) -> Answer:
        ends, attempt = time.monotonic() + seconds, 0
        while True:
            try:
                return self._attempt(body, ends, seconds)
            except _Again as failure:
                wait = failure.wait_s
                if wait is None:
                    wait = self._backoff_s * 2**attempt * random.uniform(0.5, 1)  # noqa: S311 - spreads retries only
                if attempt == self._retries or wait >= ends - time.monotonic():
                    raise failure.error from failure.__cause__
            time.sleep(wait)
            attempt += 1

    def _attempt(self, body: bytes, ends: float, seconds: float) -> Answer:
        from evallib.http_pool import ConnectionLostError, TimeIsUpError, UnreachableError

        try:
            answer = self._pool.request(
                "POST", f"{self._path}/chat/completions", body, headers=self._headers, seconds=ends - time.monotonic()
            )
        except TimeIsUpError as error:
            raise ModelTimeout(f"no whole reply within {seconds:g} s") from error
        except (ConnectionLostError, UnreachableError) as error:
            raise _Again(ProviderError(f"{self.url}: {shown(str(error))}"), None) from error
        if answer.status == 200:
            return answer
        refusal = self._refusal(answer)
        if refusal.retriable:
            raise _Again(refusal, _retry_after(answer.headers.get("Retry-After")))
        raise refusal

    def _refusal(self, answer: Answer) -> ProviderError:
        said = _error_message(answer.body)
        if self._key:
            said = said.replace(self._key, "[API key]")
        message = f"{self.url} answered HTTP {answer.status}" + (f": {shown(said)}" if said else "")
        return ProviderError(message, status=answer.status, retriable=answer.status in _RETRIABLE)


class _Again(Exception):  # noqa: N818 - a signal between two methods, not an error
    """An attempt failed in a way that may pass; `wait_s` is what the provider asked for."""

    def __init__(self, error: ProviderError, wait_s: float | None) -> None:
        super().__init__(str(error))
        self.error, self.wait_s = error, wait_s


def shown(text: str) -> str:
    """Foreign text made fit for one line of a message: printable, short."""
    line = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(line.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def _checked_url(url: str) -> SplitResult:
    example = "expected one like http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(url.strip())
        port_is_valid = parts.port != 0
    except ValueError as error:
        raise InputError(f"URL {shown(url)!r} is malformed ({error}); {example}") from error
    if "@" in parts.netloc:
        raise InputError(f"the URL for host {parts.hostname!r} holds a user or password; set {API_KEYS[0]} instead")
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_valid:
        raise InputError(f"URL {shown(url)!r} is malformed; {example}")
    if parts.query or parts.fragment:
        raise InputError(f"the URL for host {parts.hostname!r} must end with its path, without '?' or '#'; {example}")
    if not url.strip().isascii() or any(c.isspace() for c in url.strip()):
        raise InputError(f"URL {shown(url)!r} holds blanks or letters outside ASCII; {example}")
    path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
    return parts._replace(path=path)


def _checked_key(given: str | None) -> str:
    """The API key to send; its value must never reach a message."""
    key = given if given is not None else next((os.environ[name] for name in API_KEYS if os.environ.get(name)), "")
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise InputError(f"the API key holds characters that no header can carry; correct {API_KEYS[0]}")
    return key


def _retry_after(value: str | None) -> float | None:
    """Seconds the provider asks to wait; None when it does not say (dates are left to the backoff)."""
    try:
        seconds = float(value) if value else None
    except ValueError:
        return None
    return seconds if seconds is not None and seconds >= 0 else None


def _error_message(body: bytes) -> str:
    """What an error reply says: OpenAI's `error.message` where it is one, else its first words."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return body[:2000].decode("utf-8", "replace")
    error = said.get("error", said) if isinstance(said, dict) else said
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""


def _reply(body: bytes, latency_s: float) -> Reply:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadReply(f"the reply is not JSON: {shown(body[:80].decode('utf-8', 'replace'))!r}") from error
    said = said if isinstance(said, dict) else {}
    choices = said.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise BadReply("the reply has no choices[0].message")
    return Reply(
        _text(message.get("content")),
        _tool_calls(message.get("tool_calls")),
        _usage(said.get("usage")),
        str(choice.get("finish_reason") or ""),
        str(said.get("model") or ""),
        latency_s,
    )


def _text(content: Any) -> str:
    """The text of a message: a string, nothing, or a list of parts of which the texts count."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        return "".join(str(part.get("text") or "") for part in content if part.get("type") == "text")
    raise BadReply("the reply's message content is neither text nor a list of parts")


def _tool_calls(calls: Any) -> tuple[ToolRequest, ...]:
    if not calls:
        return ()
    if not isinstance(calls, list):
        raise BadReply("the reply's tool_calls are no list")
    found = []
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise BadReply("the reply has a tool call without a function name")
        found.append(ToolRequest(str(call.get("id") or ""), function["name"], _arguments(function.get("arguments"))))
    return tuple(found)


def _arguments(raw: Any) -> dict[str, Any] | str:
    """The arguments of a call; as text where they are no JSON object that can be stored, as with NaN in them."""
    if raw is None or raw == "":
        return {}
    try:
        text = raw if isinstance(raw, str) else json.dumps(raw)
    except RecursionError as error:
        raise BadReply("the arguments of a tool call are nested too deep") from error
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return parsed if isinstance(parsed, dict) and not json_problem(parsed) else text


def _usage(said: Any) -> Usage:
    """What the provider counted; a count that it did not give, or that nobody can have counted, stays None."""

    def count(name: str, where: Any = said) -> int | None:
        value = where.get(name) if isinstance(where, dict) else None
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS else None

    cached = count("cached_tokens", said.get("prompt_tokens_details") if isinstance(said, dict) else None)
    return Usage(count("prompt_tokens"), count("completion_tokens"), calls=1, cached_tokens=cached)
