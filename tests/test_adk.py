"""A turn of ADK as ours: guarded calls pending, responses at their calls."""

from __future__ import annotations

from evallib.adk import WRAPPER, fold_turn, placeholder


def wrapper(name: str = "restart", ident: str = "k1", **inner: object) -> dict:
    return {"name": WRAPPER, "args": {"originalFunctionCall": {"name": name, **inner}}, "call_id": ident}


def test_the_guarded_call_inside_the_wrapper_is_pending():
    call = {"name": "restart", "args": {"name": "api"}, "call_id": "w1"}
    asks = wrapper(args={"name": "api"}, id="w1")
    turn = fold_turn({"text": "Shall I?", "tool_calls": [call, asks], "awaiting_confirmation": asks}, step=2)
    assert (turn.step, turn.text, [c.name for c in turn.tool_calls]) == (2, "Shall I?", ["restart"])
    assert [(c.name, c.arguments, c.id) for c in turn.pending] == [("restart", {"name": "api"}, "w1")]


def test_a_response_goes_to_its_call_or_stands_alone():
    calls = [{"name": "read", "args": {}, "call_id": "a"}, {"name": "read", "args": {}, "call_id": "b"}]
    responses = [
        {"name": "read", "response": {"n": 2}, "call_id": "b"},
        {"name": "read", "response": {"error": "gone"}, "call_id": "a"},
        {"name": "read", "response": {"error": "gone", "more": 1}, "call_id": "c"},
    ]
    turn = fold_turn({"tool_calls": calls, "tool_responses": responses})
    assert [(c.result, c.error) for c in turn.tool_calls] == [(None, "gone"), ('{"n": 2}', None)]
    assert [(c.id, c.result) for c in turn.results] == [("c", '{"error": "gone", "more": 1}')]


def test_without_ids_responses_go_to_calls_of_their_name_in_order():
    calls = [{"name": "a"}, {"name": "b"}, {"name": "a"}]
    responses = [{"name": "a", "response": 1}, {"name": "a", "response": 2}, {"name": "a", "response": 3}]
    turn = fold_turn({"tool_calls": calls, "tool_responses": responses})
    assert [c.result for c in turn.tool_calls] == ["1", None, "2"]
    assert [c.result for c in turn.results] == ["3"]


def test_every_wrapper_nobody_answered_is_pending_while_one_waits():
    first, second, third = wrapper("a", "k1"), wrapper("b", "k2"), wrapper("c", "k3")
    answer = {"name": WRAPPER, "response": {"confirmed": True}, "call_id": "k2"}
    wire = {"tool_calls": [first, second, third], "tool_responses": [answer], "awaiting_confirmation": third}
    assert [c.name for c in fold_turn(wire).pending] == ["a", "c"]
    assert fold_turn({**wire, "awaiting_confirmation": None}).pending == ()
    assert fold_turn(wire).results == ()


def test_a_wrapper_without_a_call_inside_stays_visible():
    for args in ({}, {"originalFunctionCall": "restart"}, {"originalFunctionCall": {"name": "a", "args": "x"}}):
        asks = {"name": WRAPPER, "args": args}
        assert [c.name for c in fold_turn({"awaiting_confirmation": asks}).pending] == [WRAPPER]


def test_missing_arguments_are_none_and_odd_ones_are_kept():
    turn = fold_turn({"tool_calls": [{"name": "a"}, {"name": "b", "args": [1]}, "rubbish"]})
    assert [c.arguments for c in turn.tool_calls] == [{}, {"unparsed": [1]}]


def test_streamed_pieces_are_kept_apart_from_the_text():
    called = {"name": "mail", "id": "adk-5512", "args": {"to": "b"}}
    asks = wrapper("mail", id="adk-1", args={"to": "c"})
    events = [
        {"partial": True, "content": {"parts": [{"functionCall": asks}, {"function_call": {"name": "a"}}]}},
        {"partial": True, "content": {"parts": [{"text": "It is "}, {"functionCall": called}]}},
        {"partial": True, "content": {"parts": [{"text": "four."}]}},
        {"content": {"parts": [{"text": "It is four."}]}},
        {"partial": True},
    ]
    turn = fold_turn({"text": "It is four.", "events": events})
    assert (turn.text, turn.partials) == (
        "It is four.",
        ("", "It is ", "four.", '{"args": {"to": "c"}}', '{"args": {"to": "b"}}'),
    )


def test_the_placeholder_names_the_tool():
    assert '"restart"' in placeholder("restart")
