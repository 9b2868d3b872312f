"""A shared pool of HTTP connections to one server, on which a deadline is wall-clock time.

A client's usual timeout is granted anew for every piece received, so that a server sending one byte a second is never
too late. Here every read is given only what is left of the whole request's seconds.

It is the standard library's client and no other: the layers above it cost as much again per request, and what they
add, proxies, redirects and retries, is not wanted here.
"""

from __future__ import annotations

import io
import select
import socket
import ssl
import weakref
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPMessage,
    HTTPSConnection,
    IncompleteRead,
    RemoteDisconnected,
)
from time import monotonic
from typing import Any, NamedTuple, cast
from urllib.parse import SplitResult

__all__ = ["Answer", "ConnectionLostError", "HttpPool", "TimeIsUpError", "UnreachableError"]

_MAX_BYTES = 64 * 2**20


class TimeIsUpError(Exception):
    """The whole answer was not there in time."""


class UnreachableError(Exception):
    """No connection could be made: refused, unknown host, TLS."""


class ConnectionLostError(Exception):
    """The connection ended before the whole answer was there."""


class Answer(NamedTuple):
    """What came back: status, headers (looked up in any case), the whole body."""

    status: int
    headers: HTTPMessage
    body: bytes


class HttpPool:
    """Connections to one scheme, host and port, kept alive and usable from many threads."""

    def __init__(self, parts: SplitResult) -> None:
        secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port or (443 if secure else 80)
        self._tls = ssl.create_default_context() if secure else None
        self._idle: deque[HTTPConnection] = deque()
        self._closed = False
        weakref.finalize(self, _close_all, self._idle)

    def request(
        self, method: str, path: str, body: bytes | None, *, headers: Mapping[str, str], seconds: float
    ) -> Answer:
        """The whole answer within `seconds`, redirects not followed; one of this module's errors otherwise."""
        ends = monotonic() + max(seconds, 0.001)
        try:
            connection = self._connected(ends)
        except TimeoutError as error:
            raise TimeIsUpError(f"no connection within {seconds:g} s") from error
        except (OSError, HTTPException, UnicodeError) as error:
            raise UnreachableError(_cause(error)) from error
        try:
            answer = _exchange(connection, ends, method, path, body=body, headers=headers)
        except BaseException as error:
            connection.close()
            if isinstance(error, TimeoutError):
                raise TimeIsUpError(f"no whole reply within {seconds:g} s") from error
            if isinstance(error, OSError | HTTPException):
                raise ConnectionLostError(_cause(error)) from error
            raise
        self._keep(connection)
        return answer

    def close(self) -> None:
        """Close the idle connections, and those in use when their requests end."""
        self._closed = True
        _close_all(self._idle)

    def _connected(self, ends: float) -> HTTPConnection:
        with suppress(IndexError):
            while True:
                connection = self._idle.pop()
                if _is_quiet(connection.sock):
                    return connection
                connection.close()
        left = _left(ends)
        if self._tls is None:
            connection = HTTPConnection(self._host, self._port, timeout=left)
        else:
            connection = HTTPSConnection(self._host, self._port, timeout=left, context=self._tls)
        connection.connect()
        connection.sock = cast("socket.socket", _ClockedSocket(connection.sock))
        return connection

    def _keep(self, connection: HTTPConnection) -> None:
        """For the next request, unless the server has said that it ends here."""
        if connection.sock is not None:
            self._idle.append(connection)
            if self._closed:
                _close_all(self._idle)


def _close_all(idle: deque[HTTPConnection]) -> None:
    with suppress(IndexError):
        while True:
            idle.pop().close()


def _exchange(
    connection: HTTPConnection, ends: float, method: str, path: str, *, body: bytes | None, headers: Mapping[str, str]
) -> Answer:
    cast("_ClockedSocket", connection.sock).ends = ends
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise HTTPException(f"the reply is longer than {_MAX_BYTES // 2**20} MiB")
    if response.length:  # a read of limited size does not say that it was cut short
        raise IncompleteRead(content, response.length)
    return Answer(response.status, response.headers, content)


def _left(ends: float) -> float:
    left = ends - monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left


def _is_quiet(sock: socket.socket) -> bool:
    """Whether an idle connection is still there: one that can be read has been closed by the server."""
    waiting = select.poll()
    waiting.register(sock, select.POLLIN)
    return not waiting.poll(0)


def _cause(error: BaseException) -> str:
    """The innermost reason in a few plain words."""
    seen: BaseException = error
    while inner := (seen.__cause__ or seen.__context__):
        seen = inner
    if isinstance(seen, socket.gaierror | UnicodeError):
        return "the host name is unknown"
    if isinstance(seen, ConnectionRefusedError):
        return "connection refused"
    if isinstance(seen, RemoteDisconnected | ConnectionResetError | BrokenPipeError):
        return "the connection was closed without a reply"
    if isinstance(seen, IncompleteRead):
        return "the connection ended in the middle of the reply"
    return getattr(seen, "strerror", None) or str(seen) or type(seen).__name__


class _ClockedReads(io.RawIOBase):
    """The bytes of one response; each read waits no longer than until `ends`."""

    def __init__(self, sock: socket.socket, ends: float) -> None:
        self._sock, self._ends = sock, ends
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(_left(self._ends))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _ClockedSocket:
    """What `http.client` needs of a socket, with one end for all that it waits for.

    It writes a request's head and body apart. They leave together, when the response is about to be read.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._unsent = sock, bytearray()
        self.ends = 0.0

    def fileno(self) -> int:
        return self._sock.fileno()

    def sendall(self, data: bytes) -> None:
        self._unsent += data

    def makefile(self, _mode: str) -> io.BufferedReader:
        self._sock.settimeout(_left(self.ends))
        self._sock.sendall(self._unsent)
        self._unsent.clear()
        return io.BufferedReader(_ClockedReads(self._sock, self.ends), 65536)

    def close(self) -> None:
        self._sock.close()
