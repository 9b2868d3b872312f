import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from evallib.endpoint import BadReply, Endpoint, ModelTimeout, ProviderError
from evallib.errors import InfrastructureError, InputError
from evallib.records import Usage
from tests.tiny_server import calls, drips, drops, says, sends, tiny_server

ASK = [{"role": "user", "content": "q"}]


def ask(*answers, **options):
    """The reply of a server with these answers, and the requests it saw."""
    with tiny_server(*answers) as (url, seen), Endpoint(url, "m", backoff_s=0, **options) as endpoint:
        return endpoint.ask(ASK), seen


def test_a_reply_carries_text_usage_reason_and_model():
    reply, seen = ask(says("hello", finish="length", usage={"prompt_tokens": 3, "completion_tokens": 4}))
    assert (reply.text, reply.finish_reason, reply.model) == ("hello", "length", "m-1")
    assert reply.usage == Usage(3, 4, calls=1)
    assert reply.latency_s > 0
    assert seen[0]["body"] == {"model": "m", "messages": ASK}
    assert seen[0]["path"] == "/v1/chat/completions"


def test_every_option_given_is_sent():
    with tiny_server(says()) as (url, seen), Endpoint(url, "m") as endpoint:
        endpoint.ask(ASK, temperature=0.0, seed=0, max_tokens=5, tools=[{"type": "function"}], response_format={"a": 1})
    body = seen[0]["body"]
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.0, 0, 5)
    assert (body["tools"], body["response_format"]) == ([{"type": "function"}], {"a": 1})


def test_usage_that_was_not_reported_is_unknown_not_zero():
    assert ask(says())[0].usage == Usage(None, None, calls=1)
    assert ask(says(usage={"prompt_tokens": "many", "completion_tokens": -1}))[0].usage == Usage(None, None, calls=1)


def test_cached_tokens_are_known_where_the_provider_counts_them():
    counted = {"prompt_tokens": 90, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 64}}
    assert ask(says(usage=counted))[0].usage == Usage(90, 4, calls=1, cached_tokens=64)
    for details in (None, [], {"cached_tokens": -1}, {"cached_tokens": True}):
        assert ask(says(usage={**counted, "prompt_tokens_details": details}))[0].usage == Usage(90, 4, calls=1)


def test_tool_calls_come_with_parsed_arguments_or_the_raw_text():
    assert ask(calls("look", '{"id": 1}'))[0].tool_calls == (("c1", "look", {"id": 1}),)
    assert ask(calls("look", "{broken"))[0].tool_calls == (("c1", "look", "{broken"),)
    assert ask(calls("look", ""))[0].tool_calls == (("c1", "look", {}),)
    assert ask(calls("look", "[1]"))[0].tool_calls == (("c1", "look", "[1]"),)


@pytest.mark.parametrize("head", [True, False])
def test_a_server_that_drips_bytes_cannot_outlast_the_deadline(head):
    with pytest.raises(ModelTimeout, match=r"no whole reply within 0\.3 s"):
        ask(drips(head=head), call_s=0.3)


def test_a_server_that_accepts_and_says_nothing_is_a_timeout():
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}", "m") as endpoint,
        pytest.raises(ModelTimeout),
    ):
        endpoint.ask(ASK, timeout_s=0.1)


def test_a_passing_failure_is_asked_again():
    for failure in (sends(503), sends(500), sends(429, headers={"Retry-After": "0"}), drops):
        reply, seen = ask(failure, failure, says("third"))
        assert (reply.text, len(seen)) == ("third", 3)


def test_a_failure_that_stays_is_a_provider_error_after_all_attempts():
    with tiny_server(sends(503, b'{"error": {"message": "over\\nloaded"}}')) as (url, seen):
        with (
            Endpoint(url, "m", backoff_s=0) as endpoint,
            pytest.raises(ProviderError, match="503: over loaded") as caught,
        ):
            endpoint.ask(ASK)
        assert (caught.value.status, caught.value.retriable, len(seen)) == (503, True, 3)


def test_a_wait_asked_for_beyond_the_deadline_is_not_waited():
    with tiny_server(sends(429, headers={"Retry-After": "3600"}), says()) as (url, seen):
        with Endpoint(url, "m", call_s=5) as endpoint, pytest.raises(ProviderError, match="429"):
            endpoint.ask(ASK)
        assert len(seen) == 1


def test_a_wait_asked_for_is_waited(monkeypatch):
    waited = []
    monkeypatch.setattr("evallib.endpoint.time.sleep", waited.append)
    ask(sends(429, headers={"Retry-After": "7"}), says())
    assert waited == [7.0]


def test_a_refused_request_is_not_repeated():
    with tiny_server(sends(400, b'{"error": {"message": "bad model"}}')) as (url, seen):
        with Endpoint(url, "m") as endpoint, pytest.raises(ProviderError, match="400: bad model") as caught:
            endpoint.ask(ASK)
        assert (caught.value.retriable, len(seen)) == (False, 1)


def test_a_lost_connection_is_a_provider_error_without_a_status():
    with pytest.raises(ProviderError, match="closed without a reply") as caught:
        ask(drops)
    assert (caught.value.status, caught.value.retriable) == (None, True)


def test_a_reply_cut_short_is_no_reply():
    def cut(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        handler.close_connection = True

    with pytest.raises(ProviderError, match="middle of the reply"):
        ask(cut)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<html>", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no choices"),
        (b'{"choices": []}', "no choices"),
        (b'{"choices": ["x"]}', "no choices"),
        (b'{"choices": [{"message": {"content": 5}}]}', "neither text"),
        (b'{"choices": [{"message": {"tool_calls": 5}}]}', "no list"),
        (b'{"choices": [{"message": {"tool_calls": [{}]}}]}', "without a function name"),
    ],
)
def test_what_is_no_chat_completion_is_a_bad_reply(body, why):
    with pytest.raises(BadReply, match=why):
        ask(sends(200, body))


def test_a_redirect_is_not_followed():
    with pytest.raises(ProviderError, match="307"):
        ask(sends(307, headers={"Location": "http://127.0.0.1:1/"}))


def test_text_in_parts_is_joined():
    parts = [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]
    assert ask(says(parts))[0].text == "ab"


def test_the_key_is_sent_and_shown_nowhere(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    refusal = sends(403, b'{"error": {"message": "key sk-secret is wrong"}}')
    with tiny_server(refusal) as (url, seen), Endpoint(url, "m") as endpoint:
        with pytest.raises(ProviderError) as caught:
            endpoint.ask(ASK)
        assert seen[0]["headers"]["Authorization"] == "Bearer sk-secret"
        assert "secret" not in f"{caught.value!r} {endpoint!r}"


def test_the_keys_variables_have_an_order(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "second")
    monkeypatch.setenv("EVALLIB_API_KEY", "first\n")
    assert ask(says())[1][0]["headers"]["Authorization"] == "Bearer first"
    assert "Authorization" not in ask(says(), api_key="")[1][0]["headers"]


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(monkeypatch):
    monkeypatch.setenv("EVALLIB_API_KEY", "sk-\nsecret")
    with pytest.raises(InputError, match="EVALLIB_API_KEY") as caught:
        Endpoint("http://127.0.0.1", "m")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "nonsense",
        "ftp://h/v1",
        "http://",
        "http://h:0/v1",
        "http://h:99999",
        "http://h/v1?k=1",
        "http://h/ö",
        "http://[::1",
    ],
)
def test_a_malformed_url_is_refused(url):
    with pytest.raises(InputError, match=r"127\.0\.0\.1:8000/v1"):
        Endpoint(url, "m")


def test_a_password_in_the_url_is_refused_without_showing_it():
    with pytest.raises(InputError, match="user or password") as caught:
        Endpoint("https://me:hunter2@host/v1", "m")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_the_base_url_may_be_written_in_several_ways(tail):
    assert Endpoint(f"http://h:1{tail}", "m").url == "http://h:1/v1"


def test_the_check_tells_where_nothing_answers():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(InfrastructureError, match=f"127.0.0.1:{port}.*connection refused"):
        Endpoint(f"http://127.0.0.1:{port}/v1", "m").check()
    with pytest.raises(InfrastructureError, match="host name is unknown"):
        Endpoint("http://nowhere.invalid/v1", "m").check()
    with tiny_server(says()) as (url, _), Endpoint(url, "m") as endpoint:
        endpoint.check()


def test_a_server_that_is_gone_is_a_provider_error_not_a_timeout():
    with tiny_server(says()) as (url, _):
        pass
    with Endpoint(url, "m", backoff_s=0) as endpoint, pytest.raises(ProviderError, match="connection refused"):
        endpoint.ask(ASK)


def test_a_check_against_a_silent_server_ends():
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(InfrastructureError, match="no whole reply"),
    ):
        Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}", "m", call_s=0.1).check()


def test_eight_threads_share_one_endpoint():
    with tiny_server(says("x")) as (url, seen), Endpoint(url, "m") as endpoint, ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda seed: endpoint.ask(ASK, seed=seed).text, range(80)))
    assert replies == ["x"] * 80
    assert sorted(request["body"]["seed"] for request in seen) == list(range(80))


def test_a_server_that_knows_no_path_of_ours_is_told_before_the_first_sample():
    with (
        tiny_server(sends(404), models=sends(404)) as (url, _),
        Endpoint(url, "m") as endpoint,
        pytest.raises(InfrastructureError, match=r"answers 404 to everything.*correct the URL"),
    ):
        endpoint.check()
    with tiny_server(sends(400), models=sends(404)) as (url, seen), Endpoint(url, "m") as endpoint:
        endpoint.check()  # it lists no models, and answers where it is asked
    assert [one["path"] for one in seen] == ["/v1/chat/completions"]
