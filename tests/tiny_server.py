"""A real HTTP server for tests: it keeps what it was sent and answers with what the test lined up."""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler], None]


def says(text="ok", *, finish="stop", usage=None, tool_calls=None) -> Answer:
    """A chat completion."""
    message = {"role": "assistant", "content": text, "tool_calls": tool_calls}
    reply = {"model": "m-1", "choices": [{"message": message, "finish_reason": finish}]}
    return sends(200, json.dumps(reply | ({"usage": usage} if usage else {})).encode())


def calls(name, arguments, *, identity="c1") -> Answer:
    """A chat completion that asks for one tool call."""
    call = {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}
    return says(None, finish="tool_calls", tool_calls=[call])


def sends(status, body=b"{}", headers: Mapping[str, str] | None = None) -> Answer:
    """Any HTTP reply."""

    def answer(handler):
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def drops(handler):
    """The end of the connection instead of a reply."""
    handler.close_connection = True


@contextmanager
def tiny_server(*answers: Answer, models: Answer | None = None):
    """A server giving `answers` in order, the last one for ever, `models` to a GET; yields (url, requests)."""
    seen: list[dict] = []
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 0
        closing_event = closing

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({"body": body, "headers": dict(self.headers), "path": self.path})
            answers[min(len(seen), len(answers)) - 1](self)

        def do_GET(self):
            (models or sends(200, b'{"data": []}'))(self)

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_):
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", seen
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def drips(*, head: bool) -> Answer:
    """One byte every 20 ms for as long as anyone listens, in the head of the reply or in its body."""

    def answer(handler):
        start = b"HTTP/1.1 200 OK\r\nX-Slow: " if head else b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
        handler.wfile.write(start)
        while not handler.closing_event.wait(0.02):
            handler.wfile.write(b" ")

    return answer
