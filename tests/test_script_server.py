import http.client
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from evallib.endpoint import BadReply, Endpoint, ProviderError
from evallib.errors import InfrastructureError, InputError
from evallib.targets.script import Conversation, load_script
from evallib.targets.script_server import serve_script

SCRIPT = r"""
script: tiny
replies:
  - when: {user: exact}
    answers: [{text: exactly}]
  - when: {contains: [red, blue]}
    answers: [{text: both}]
  - when: {pattern: '^\d+$'}
    answers: [{text: a number}]
  - when: {contains: [rotate]}
    answers: [{text: zero}, {text: one}, {text: two}]
  - when: {contains: [draw]}
    choose: draw
    answers: [{text: often, weight: 3}, {text: seldom}]
  - when: {contains: [look]}
    answers: [{tool_calls: [{name: read_article, arguments: {id: KB-1}}]}]
  - when: {contains: [look], after_tool: read_article}
    answers: [{text: looked}]
  - when: {system_contains: [pirate]}
    answers: [{text: arr}]
  - when: {turn: 2}
    answers: [{text: second}]
  - when: {contains: [busy]}
    answers: [{status: 503, error: try later}]
  - when: {contains: [refuse]}
    answers: [{status: 422}]
  - when: {contains: [hang up]}
    answers: [{drop: true}]
  - when: {contains: [noise]}
    answers: [{garbage: true}]
  - when: {contains: [counted]}
    answers: [{text: x, finish_reason: length, usage: {input_tokens: 11, output_tokens: 22}}]
  - when: {model: judge, contains: [score]}
    answers: [{text: '{"score": 5}'}]
default: {text: "I  do not\nknow."}
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "script.yaml"
    path.write_text(SCRIPT)
    with serve_script(path) as server:
        yield server.url


def ask(url, text, *, model="m", system=None, seed=None):
    messages = [{"role": "user", "content": text}]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    with Endpoint(url, model, retries=0) as endpoint:
        return endpoint.ask(messages, seed=seed)


def post(url, body, path="/v1/chat/completions", headers=None):
    """Status and body of a raw request."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body), headers or {})
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, text


def load(tmp_path, text):
    path = tmp_path / "script.yaml"
    path.write_text(text)
    return load_script(path)


def test_the_first_rule_that_fits_replies(url):
    said = {text: ask(url, text).text for text in ("exact", "exact?", "blue and red", "blue", "123", "a123")}
    assert said["exact"] == "exactly"
    assert said["blue and red"] == "both"
    assert said["123"] == "a number"
    assert said["exact?"] == said["blue"] == said["a123"] == "I  do not\nknow."
    assert ask(url, "hi", system="You are a pirate.").text == "arr"


def test_rotate_shows_every_answer_once_in_seeds_that_follow_each_other(url):
    assert [ask(url, "rotate", seed=1024 + sample).text for sample in range(3)] == ["one", "two", "zero"]
    assert ask(url, "rotate").text == "zero"


def test_draw_repeats_with_its_seed_and_keeps_to_its_weights(url, tmp_path):
    script = load(tmp_path, SCRIPT)

    def drawn(text, seeds):
        ask = [{"role": "user", "content": text}]
        return [script.answer(Conversation("m", ask, seed)).text for seed in range(seeds)]

    assert drawn("draw", 400) == drawn("draw", 400)
    assert 260 <= drawn("draw", 400).count("often") <= 340
    assert drawn("draw!", 20) != drawn("draw", 20)
    assert [ask(url, "draw", seed=seed).text for seed in range(5)] == drawn("draw", 5)


def test_a_tool_is_called_once_and_its_result_is_answered(url):
    messages = [{"role": "user", "content": "look"}]
    with Endpoint(url, "m") as endpoint:
        called = endpoint.ask(messages)
        identity, name, arguments = called.tool_calls[0]
        assert (name, arguments, called.finish_reason) == ("read_article", {"id": "KB-1"}, "tool_calls")
        call = {"id": identity, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": identity, "content": "text"})
        assert endpoint.ask(messages).text == "looked"


def test_a_rule_without_after_tool_never_answers_a_tools_result(tmp_path):
    script = load(
        tmp_path, "script: s\nreplies: [{answers: [{text: hi}]}, {when: {after_tool: '*'}, answers: [{text: bye}]}]"
    )
    result = [{"role": "user", "content": "q"}, {"role": "tool", "tool_call_id": "1", "content": "r"}]
    assert script.answer(Conversation("m", result[:1])).text == "hi"
    assert script.answer(Conversation("m", [*result[:1], {"role": "tool", "name": "t", "content": "r"}])).text == "bye"


def test_turns_are_counted_by_the_users_messages(url):
    talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    with Endpoint(url, "m") as endpoint:
        assert endpoint.ask(talk).text == "second"


def test_a_judge_is_answered_only_by_rules_that_name_it(url):
    assert ask(url, "score this", model="judge").text == '{"score": 5}'
    with pytest.raises(ProviderError, match=r"404.*no reply for model 'judge'"):
        ask(url, "exact", model="judge")
    assert ask(url, "score this").text.startswith("I  do not")


def test_failures_come_as_the_script_says(url):
    with pytest.raises(ProviderError, match="503: try later"):
        ask(url, "busy")
    with pytest.raises(ProviderError, match="422: scripted failure"):
        ask(url, "refuse")
    with pytest.raises(ProviderError, match="closed without a reply"):
        ask(url, "hang up")
    with pytest.raises(BadReply, match="not JSON"):
        ask(url, "noise")


def test_usage_is_counted_in_words_unless_the_script_says(url):
    usage = ask(url, "one two three four").usage
    assert (usage.input_tokens, usage.output_tokens) == (5, 5)
    told = ask(url, "counted")
    assert (told.usage.input_tokens, told.usage.output_tokens, told.finish_reason) == (11, 22, "length")


def test_a_stream_holds_the_same_text_and_ends_with_done(url):
    options = {"stream": True, "stream_options": {"include_usage": True}}
    status, body = post(url, {"model": "m", "messages": [{"role": "user", "content": "hi"}], **options})
    events = [line.removeprefix("data: ") for line in body.decode().split("\n\n") if line]
    chunks = [json.loads(event) for event in events[:-1]]
    assert (status, events[-1]) == (200, "[DONE]")
    assert "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"]) == "I  do not\nknow."
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"]["completion_tokens"] == 5


def test_a_streamed_tool_call_is_whole(url):
    _, body = post(url, {"model": "m", "messages": [{"role": "user", "content": "look"}], "stream": True})
    assert b'"name": "read_article"' in body


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"{", None),
        (b"[]", None),
        ({"messages": [{"role": "user", "content": "q"}]}, "model"),
        ({"model": "m"}, "messages"),
        ({"model": "m", "messages": []}, "messages"),
        ({"model": "m", "messages": ["q"]}, "messages[0]"),
        ({"model": "m", "messages": [{"role": "boss", "content": "q"}]}, "messages[0]"),
        ({"model": "m", "messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"model": "m", "messages": [{"role": "tool", "content": "q"}]}, "messages[0].tool_call_id"),
        ({"model": "m", "messages": [{"role": "user", "content": "q"}], "seed": "1"}, "seed"),
        ({"model": "m", "messages": [{"role": "user", "content": "q"}], "seed": True}, "seed"),
        ({"model": "m", "messages": [{"role": "user", "content": "q"}], "temperature": 3}, "temperature"),
        ({"model": "m", "messages": [{"role": "user", "content": "q"}], "max_tokens": 0}, "max_tokens"),
        ({"model": "m", "messages": [{"role": "user", "content": "q"}], "n": 2}, "n"),
    ],
)
def test_a_bad_request_is_told_as_openai_tells_it(url, body, param):
    status, text = post(url, body)
    error = json.loads(text)["error"]
    assert (status, error["type"], error["param"]) == (400, "invalid_request_error", param)


def test_unknown_paths_and_missing_lengths_are_refused(url):
    assert post(url, {}, path="/v1/embeddings")[0] == 404
    assert post(url, b"", headers={"Content-Length": "many"})[0] == 411
    assert post(url, b"", headers={"Content-Length": str(2**40)})[0] == 413


def test_models_and_health_are_listed(url):
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.request("GET", "/v1/models")
    assert [model["id"] for model in json.loads(connection.getresponse().read())["data"]] == ["scripted", "judge"]
    connection.request("GET", "/health")
    assert connection.getresponse().status == 200
    connection.close()


def test_an_unmatched_request_without_a_default_is_a_404_that_says_so(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("script: s")
    with serve_script(path) as server, pytest.raises(ProviderError, match=r"404.*begins 'hello'.*add a rule"):
        ask(server.url, "hello")


def test_eight_clients_at_once_get_their_own_answers(url):
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda seed: ask(url, "rotate", seed=seed).text, range(48)))
    assert said == ["zero", "one", "two"] * 16


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("script: s\nreplys: []", r"line 2 \(replys\): unknown key"),
        ("replies: []", "key 'script' is missing"),
        ("- a", "begins with `script: NAME`"),
        ("script: s\nreplies:\n  - when: {contain: [a]}\n    answers: [{text: a}]", r"line 3 .*unknown key 'contain'"),
        ("script: s\nreplies:\n  - when: {pattern: '('}\n    answers: [{text: a}]", r"line 3 .*pattern '\(' is broken"),
        ("script: s\nreplies:\n  - answers: []", "line 3"),
        ("script: s\nreplies:\n  - answers: [{}]", "exactly one of"),
        ("script: s\nreplies:\n  - answers: [{text: a, drop: true}]", "exactly one of"),
        ("script: s\nreplies:\n  - answers: [{text: a, error: b}]", "message of a `status`"),
        ("script: s\nreplies:\n  - answers: [{text: a, weight: 2}]", "choose: draw"),
        ("script: s\ndefault: {text: 5}", "put it in quotes"),
        ("script: s\ndefault: {status: 200}", "200 must be at least 400"),
    ],
)
def test_a_wrong_script_is_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as caught:
        load(tmp_path, text)
    assert "script.yaml" in str(caught.value)


def test_layout_does_not_change_a_scripts_digest(tmp_path):
    one = load(tmp_path, "script: s\ndefault: {text: a}").digest
    assert load(tmp_path, "# note\nscript: s\n\ndefault:\n  text: a\n").digest == one
    assert load(tmp_path, "script: s\ndefault: {text: b}").digest != one


def test_a_port_in_use_is_told(tmp_path, url):
    path = tmp_path / "s.yaml"
    path.write_text("script: s")
    with pytest.raises(InfrastructureError, match="choose another --port"):
        serve_script(path, port=urlsplit(url).port)
    with pytest.raises(InfrastructureError, match="choose another --port"):
        serve_script(path, port=70000)


def start(path: Path, code: str) -> subprocess.Popen:
    root = Path(__file__).resolve().parent.parent
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    )  # fmt: skip


FOREVER = """
import sys; from pathlib import Path
from evallib.targets.script_server import serve_script_forever
sys.exit(serve_script_forever(Path(sys.argv[1]), 0))
"""


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_server_cleanly(tmp_path, name):
    path = tmp_path / "s.yaml"
    path.write_text("script: s\ndefault: {text: hi}")
    with start(path, FOREVER) as server:
        url = server.stdout.readline().decode().strip()
        assert ask(url, "q").text == "hi"
        server.send_signal(name)
        _, said = server.communicate(timeout=30)
    assert (server.returncode, said) == (0, b"")
