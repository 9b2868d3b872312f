import select
from urllib.parse import urlsplit

import pytest

from evallib import http_pool
from evallib.http_pool import ConnectionLostError, HttpPool, TimeIsUpError, UnreachableError
from tests.tiny_server import drips, sends, tiny_server


def post(pool, seconds=30.0):
    return pool.request("POST", "/v1/x", b"{}", headers={"User-Agent": "evallib"}, seconds=seconds)


def seen_by(ports):
    """An answer that keeps the client's port, which tells its connections apart."""

    def answer(handler):
        ports.append(handler.client_address[1])
        sends(200, b"[1]", {"X-Said": "yes"})(handler)

    return answer


def test_a_connection_is_used_again_and_the_whole_answer_is_given():
    ports = []
    with tiny_server(seen_by(ports)) as (url, seen):
        pool = HttpPool(urlsplit(url))
        answers = [post(pool) for _ in range(3)]
        pool.close()
    assert [(a.status, a.headers.get("x-said"), a.body) for a in answers] == [(200, "yes", b"[1]")] * 3
    assert len(set(ports)) == 1
    assert [one["body"] for one in seen] == [{}] * 3


def test_a_connection_that_the_server_has_ended_is_not_used_again():
    ports = []

    def ends(handler):
        seen_by(ports)(handler)
        handler.close_connection = True

    with tiny_server(ends) as (url, _):
        pool = HttpPool(urlsplit(url))
        post(pool)
        (idle,) = pool._idle
        assert select.select([idle.sock], [], [], 30)[0]  # its end has arrived
        assert post(pool).body == b"[1]"
        pool.close()
    assert len(set(ports)) == 2


def test_no_connection_outlives_the_pool():
    with tiny_server(sends(200)) as (url, _):
        pool = HttpPool(urlsplit(url))
        post(pool)
        (idle,) = pool._idle
        pool.close()
        assert idle.sock is None
        post(pool)  # as a request does that was under way
        assert not pool._idle


def test_after_a_failure_the_connection_is_closed():
    with tiny_server(drips(head=False)) as (url, _):
        pool = HttpPool(urlsplit(url))
        with pytest.raises(TimeIsUpError, match=r"within 0\.2 s"):
            post(pool, 0.2)
        assert not pool._idle


def test_a_reply_longer_than_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr(http_pool, "_MAX_BYTES", 2**20)
    with tiny_server(sends(200, b" " * 2**20), sends(200, b" " * (2**20 + 1))) as (url, _):
        pool = HttpPool(urlsplit(url))
        assert len(post(pool).body) == 2**20
        with pytest.raises(ConnectionLostError, match="longer than 1 MiB"):
            post(pool)


def test_a_reply_in_chunks_is_read_whole_or_not_at_all():
    def chunks(end):
        def answer(handler):
            handler.send_response(200)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            handler.wfile.write(b"2\r\nab\r\n3\r\ncde\r\n" + end)
            handler.close_connection = True

        return answer

    with tiny_server(chunks(b"0\r\n\r\n"), chunks(b"5\r\nx")) as (url, _):
        pool = HttpPool(urlsplit(url))
        assert post(pool).body == b"abcde"
        with pytest.raises(ConnectionLostError, match="middle of the reply"):
            post(HttpPool(urlsplit(url)))
        pool.close()


def test_a_server_without_tls_cannot_be_reached_by_https():
    with tiny_server(sends(200)) as (url, _), pytest.raises(UnreachableError):
        post(HttpPool(urlsplit(url.replace("http:", "https:"))))


@pytest.mark.parametrize("host", ["nowhere.invalid", "a" * 64 + ".example"])
def test_a_host_nobody_knows_is_named_so(host):
    with pytest.raises(UnreachableError, match="host name is unknown"):
        post(HttpPool(urlsplit(f"http://{host}/v1")))
