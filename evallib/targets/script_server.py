"""The scripted model as a real OpenAI-compatible server on loopback; it sees only what a client sends.

`python -m evallib.targets.script_server FILE --port 0` prints its URL and serves until its standard input ends or its
parent is gone: a scripted target that is killed leaves no server behind.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, NamedTuple, Self

from evallib.errors import EvallibError, InfrastructureError
from evallib.targets.script import Answer, Conversation, Script, load_script

__all__ = ["ScriptServer", "main", "serve_script", "serve_script_forever"]

_MAX_BODY = 32 * 2**20
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


class _Refused(Exception):  # noqa: N818 - becomes an HTTP reply
    def __init__(self, message: str, param: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.param, self.status = param, status


class _Asked(NamedTuple):
    """A valid request."""

    conversation: Conversation
    id: str
    """The same for the same request."""
    stream: bool
    stream_usage: bool


class ScriptServer:
    """A scripted model being served from this process; close it or use it as a context manager."""

    def __init__(self, script: Script, *, port: int = 0, host: str = "127.0.0.1") -> None:
        handler = type("_BoundHandler", (_Handler,), {"script": script})
        try:
            self._server = _Server((host, port), handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InfrastructureError(f"cannot listen on {host}:{port} ({reason}); choose another --port") from error
        self.url = f"http://{host}:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening; replies under way are given up."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve_script(path: Path, *, port: int = 0, host: str = "127.0.0.1") -> ScriptServer:
    """Serve the script in `path` from a thread of this process; its `url` is ready to be asked."""
    return ScriptServer(load_script(path), port=port, host=host)


def serve_script_forever(path: Path, port: int = 0, *, until_eof: bool = False) -> int:
    """Serve the script in `path`, print the URL, return 0 at Ctrl-C or SIGTERM.

    With `until_eof` it also ends when standard input does, or when the parent process is gone.
    """
    stop = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, end)
    with serve_script(path, port=port) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        if until_eof:
            threading.Thread(target=_wait_for_eof, args=(stop,), daemon=True).start()
        parent = os.getppid()
        # A child forked by the parent may hold the pipe open after the parent's death: hence the second sign.
        while not stop.wait(0.5):
            if until_eof and os.getppid() != parent:
                break
    return 0


def _wait_for_eof(stop: threading.Event) -> None:
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    stop.set()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no event worth a traceback; anything else is."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection of one client."""

    script: ClassVar[Script]
    protocol_version = "HTTP/1.1"
    server_version = "evallib-script"
    sys_version = ""
    # Head and body leave in one packet: apart, the second waits 40 ms for the first's acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Stay silent: standard output belongs to the URL line."""

    def do_GET(self) -> None:
        """`/health` and `/v1/models`."""
        if self.path == "/health":
            self._json(200, {"status": "ok"})
        elif self.path == "/v1/models":
            models = [
                {"id": name, "object": "model", "created": 0, "owned_by": "evallib"} for name in self.script.models
            ]
            self._json(200, {"object": "list", "data": models})
        else:
            self._refuse(_Refused(f"unknown path {self.path!r}", status=404))

    def do_POST(self) -> None:
        """`/v1/chat/completions`."""
        try:
            body = self._body()
            if self.path == "/v1/chat/completions":
                self._complete(_validated(body))
            else:
                self._refuse(_Refused(f"unknown path {self.path!r}", status=404))
        except _Refused as refusal:
            self._refuse(refusal)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.close_connection = True
            raise _Refused("a request needs a Content-Length", status=411)
        if int(length) > _MAX_BODY:
            self.close_connection = True
            raise _Refused("the request is longer than 32 MiB", status=413)
        return self.rfile.read(int(length))

    def _complete(self, asked: _Asked) -> None:
        answer = self.script.answer(asked.conversation)
        if answer is None:
            user = asked.conversation.last_user
            raise _Refused(
                f"script {self.script.script!r} has no reply for model {asked.conversation.model!r} to a last user "
                f"message that begins {user[:60]!r} (after tool: {asked.conversation.after_tool or 'none'}); add a "
                "rule or a default",
                "messages",
                404,
            )
        if answer.delay_s:
            time.sleep(answer.delay_s)
        if answer.drop:
            self.close_connection = True
        elif answer.garbage:
            self._send(200, b"<html>this is not JSON", "application/json")
        elif answer.status is not None:
            self._refuse(_Refused(answer.error or "scripted failure", status=answer.status))
        elif asked.stream:
            self._stream(_chunks(answer, asked))
        else:
            self._json(200, _completion(answer, asked))

    def _refuse(self, refusal: _Refused) -> None:
        kind = "invalid_request_error" if refusal.status < 500 else "server_error"
        error = {"message": str(refusal), "type": kind, "param": refusal.param, "code": None}
        self._json(refusal.status, {"error": error})

    def _json(self, status: int, value: Any) -> None:
        self._send(status, json.dumps(value).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, chunks: Iterator[dict[str, Any]]) -> None:
        """Server-sent events; the end of the connection ends the stream."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


def _validated(body: bytes) -> _Asked:
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _Refused("the request is not JSON") from error
    if not isinstance(asked, dict):
        raise _Refused("the request is no JSON object")
    if not isinstance(asked.get("model"), str) or not asked["model"]:
        raise _Refused("`model` must be a non-empty text", "model")
    _check_messages(asked.get("messages"))
    _check_options(asked)
    options = asked.get("stream_options") or {}
    usage = isinstance(options, dict) and options.get("include_usage") is True
    conversation = Conversation(asked["model"], asked["messages"], asked.get("seed") or 0)
    return _Asked(conversation, f"chatcmpl-{hashlib.sha256(body).hexdigest()[:24]}", asked.get("stream") is True, usage)


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise _Refused("`messages` must be a non-empty list", "messages")
    for index, message in enumerate(messages):
        place = f"messages[{index}]"
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            raise _Refused(f"{place} must be an object with a role of {', '.join(sorted(_ROLES))}", place)
        content = message.get("content")
        if not isinstance(content, str | list) and not (message["role"] == "assistant" and content is None):
            raise _Refused(f"{place}.content must be text or a list of parts", f"{place}.content")
        calls = message.get("tool_calls")
        if calls is not None and not (isinstance(calls, list) and all(_is_call(call) for call in calls)):
            raise _Refused(f"{place}.tool_calls must be a list of function calls", f"{place}.tool_calls")
        if message["role"] == "tool" and not isinstance(message.get("tool_call_id"), str):
            raise _Refused(f"{place}.tool_call_id must be text", f"{place}.tool_call_id")


def _is_call(call: Any) -> bool:
    return isinstance(call, dict) and isinstance(call.get("function"), dict)


def _check_options(asked: dict[str, Any]) -> None:
    kinds: dict[str, tuple[type, ...]] = {
        "seed": (int,), "max_tokens": (int,), "temperature": (int, float), "stream": (bool,), "tools": (list,),
        "response_format": (dict,),
    }  # fmt: skip
    for name, kind in kinds.items():
        value = asked.get(name)
        wrong_bool = isinstance(value, bool) and bool not in kind
        if value is not None and (wrong_bool or not isinstance(value, kind)):
            raise _Refused(f"`{name}` must be {' or '.join(k.__name__ for k in kind)}", name)
    if not 0 <= (asked.get("temperature") or 0) <= 2:
        raise _Refused("`temperature` must lie in 0..2", "temperature")
    limit: Any = asked.get("max_tokens")
    if limit is not None and limit < 1:
        raise _Refused("`max_tokens` must be at least 1", "max_tokens")
    if asked.get("n") not in (None, 1):
        raise _Refused("`n` must be 1", "n")


def _head(asked: _Asked, kind: str) -> dict[str, Any]:
    return {"id": asked.id, "object": kind, "created": 0, "model": asked.conversation.model}


def _message(answer: Answer, identity: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{identity[-12:]}_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for index, call in enumerate(answer.tool_calls)
        ]
    return message


def _usage(answer: Answer, conversation: Conversation) -> dict[str, int]:
    used = answer.tokens(conversation)
    total = used.input_tokens + used.output_tokens
    return {"prompt_tokens": used.input_tokens, "completion_tokens": used.output_tokens, "total_tokens": total}


def _finish(answer: Answer) -> str:
    return answer.finish_reason or ("tool_calls" if answer.tool_calls else "stop")


def _completion(answer: Answer, asked: _Asked) -> dict[str, Any]:
    head = _head(asked, "chat.completion")
    choice = {"index": 0, "message": _message(answer, head["id"]), "logprobs": None, "finish_reason": _finish(answer)}
    return {**head, "choices": [choice], "usage": _usage(answer, asked.conversation)}


def _chunks(answer: Answer, asked: _Asked) -> Iterator[dict[str, Any]]:
    """The reply word by word, then its end, then the usage if asked for."""
    head = _head(asked, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in re.findall(r"\S+\s*|\s+", answer.text or ""):
        yield chunk({"content": piece})
    calls = _message(answer, head["id"]).get("tool_calls", [])
    for index, call in enumerate(calls):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, _finish(answer))
    if asked.stream_usage:
        yield {**head, "choices": [], "usage": _usage(answer, asked.conversation)}


def main(arguments: list[str] | None = None) -> int:
    """The server as its own process, started by the scripted target."""
    parser = argparse.ArgumentParser(prog="python -m evallib.targets.script_server", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args(arguments)
    try:
        return serve_script_forever(given.file, given.port, until_eof=True)
    except EvallibError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.status


if __name__ == "__main__":
    sys.exit(main())
