"""A shared pool of HTTP connections to one server, on which a deadline is wall-clock time.

A client's usual timeout is granted anew for every piece received, so that a server sending one byte a second is never
too late. Here every read is given only what is left of the whole request's seconds.
"""

from __future__ import annotations

import http.client
import io
import socket
from collections.abc import Mapping
from time import monotonic
from typing import Any, NamedTuple, cast
from urllib.parse import SplitResult

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError, SSLError
from urllib3.exceptions import TimeoutError as HTTPTimeoutError

__all__ = ["Answer", "ConnectionLostError", "HttpPool", "TimeIsUpError", "UnreachableError"]

_MAX_CONNECTIONS = 128
_MAX_BYTES = 64 * 2**20


class TimeIsUpError(Exception):
    """The whole answer was not there in time."""


class UnreachableError(Exception):
    """No connection could be made: refused, unknown host, TLS."""


class ConnectionLostError(Exception):
    """The connection ended before the whole answer was there."""


class Answer(NamedTuple):
    """What came back: status, headers (any case), the whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpPool:
    """Connections to one scheme, host and port, kept alive and usable from many threads."""

    def __init__(self, parts: SplitResult) -> None:
        secure = parts.scheme == "https"
        kind = urllib3.HTTPSConnectionPool if secure else urllib3.HTTPConnectionPool
        self._pool = kind(parts.hostname or "", parts.port, maxsize=_MAX_CONNECTIONS, retries=False)
        self._pool.ConnectionCls = _ClockedHTTPS if secure else _ClockedHTTP

    def request(
        self, method: str, path: str, body: bytes | None, *, headers: Mapping[str, str], seconds: float
    ) -> Answer:
        """The whole answer within `seconds`, redirects not followed; one of this module's errors otherwise."""
        try:
            response = self._pool.urlopen(
                method, path, body=body, headers=headers, retries=False, redirect=False,
                timeout=urllib3.Timeout(total=max(seconds, 0.001)), preload_content=False,
            )  # fmt: skip
            return _whole(response)
        except (NewConnectionError, SSLError) as error:
            raise UnreachableError(_cause(error)) from error
        # Second, for urllib3 counts a refused connection among its timeouts.
        except HTTPTimeoutError as error:
            raise TimeIsUpError(f"no whole reply within {seconds:g} s") from error
        except (HTTPError, OSError) as error:
            raise ConnectionLostError(_cause(error)) from error

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()


def _whole(response: urllib3.BaseHTTPResponse) -> Answer:
    body = response.read(_MAX_BYTES + 1)
    if len(body) > _MAX_BYTES:
        response.close()
        raise ConnectionLostError(f"the reply is longer than {_MAX_BYTES // 2**20} MiB")
    response.release_conn()
    return Answer(response.status, response.headers, body)


def _cause(error: BaseException) -> str:
    """The innermost reason in a few plain words; the client's own texts hold object addresses."""
    seen: BaseException = error
    while inner := (seen.__cause__ or seen.__context__):
        seen = inner
    if isinstance(seen, socket.gaierror):
        return "the host name is unknown"
    if isinstance(seen, ConnectionRefusedError):
        return "connection refused"
    if isinstance(seen, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError):
        return "the connection was closed without a reply"
    if isinstance(seen, http.client.IncompleteRead):
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
        left = self._ends - monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _ClockedSocket:
    """What `http.client` needs of a socket to read one response."""

    def __init__(self, sock: socket.socket, ends: float) -> None:
        self._sock, self._ends = sock, ends

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_ClockedReads(self._sock, self._ends), 65536)


def _clock(connection: http.client.HTTPConnection) -> None:
    """Make the next response of `connection` end when its timeout, counted from now, is over."""
    ends = monotonic() + cast("float", connection.timeout)

    def response(sock: socket.socket, **options: Any) -> http.client.HTTPResponse:
        return http.client.HTTPResponse(cast("socket.socket", _ClockedSocket(sock, ends)), **options)

    connection.response_class = cast("type[http.client.HTTPResponse]", response)


class _ClockedHTTP(HTTPConnection):
    def getresponse(self) -> Any:
        _clock(self)
        return super().getresponse()


class _ClockedHTTPS(HTTPSConnection):
    def getresponse(self) -> Any:
        _clock(self)
        return super().getresponse()
