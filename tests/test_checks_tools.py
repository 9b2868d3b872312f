"""Tool calls: made with the right arguments, not made, not too many."""

from __future__ import annotations

import pytest

from evallib.checks import parse_check
from evallib.checks.tools import contains
from evallib.domain import Domain
from evallib.records import Sample, ToolCall, Turn
from tests.vectors import judge


def sample(*calls: ToolCall) -> Sample:
    return Sample("r", "c", 1, turns=(Turn(1, "q", "a", calls),))


def check(kind: str, **keys: object):
    return parse_check({"id": "t", "check": kind, **keys})


def test_a_call_with_more_arguments_than_named_counts():
    logs = ToolCall("get_logs", {"pod": "api", "previous": True})
    (verdict,) = check("tool_called", tools=["get_logs"], args={"previous": True})(
        [sample(ToolCall("list_pods"), logs)]
    )
    assert (verdict.passed, verdict.reason) == (True, 'call 2 of 2 is get_logs("pod":"api","previous":true)')


def test_the_nearest_miss_is_named():
    far, near = ToolCall("get", {"kind": "Pod"}), ToolCall("get", {"kind": "Cluster", "name": "b"})
    (verdict,) = check("tool_called", tools=["get"], args={"kind": "Cluster", "name": "a"})([sample(far, near)])
    assert verdict.passed is False
    assert verdict.reason.endswith('nearest is call 2, get with name "b"')


@pytest.mark.parametrize(
    ("given", "wanted", "held"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": 10}, {"a": 1}, False),
        ({"a": 1.0}, {"a": 1}, True),
        ({"a": [1, {"b": 2, "c": 3}]}, {"a": [1, {"b": 2}]}, True),
        ({"a": [1, 2]}, {"a": [1]}, False),
        ({}, {"a": None}, False),
    ],
)
def test_arguments_agree_in_value_and_type(given, wanted, held):
    assert contains(given, wanted) is held


def test_another_name_of_the_tool_counts_where_the_suite_says_so():
    called = check("tool_called", tools=["describe_resource"])
    aliased = called.in_domain(Domain(aliases={"describe_resource": ("get_resource",), "other": ("x",)}))
    old = sample(ToolCall("get_resource"))
    assert [called([old])[0].passed, aliased([old])[0].passed] == [False, True]
    assert called.measures() != aliased.measures()
    assert called.in_domain(Domain(aliases={"other": ("x",)})) is called


def test_a_forbidden_tool_fails_under_its_other_name_too():
    hands_off = check("tool_forbidden", tools=["apply"]).in_domain(Domain(aliases={"apply": ("kubectl_apply",)}))
    assert hands_off([sample(ToolCall("kubectl_apply"))])[0].passed is False
    assert hands_off([sample(ToolCall("get"))])[0].reason == "no call of apply among 1 call"


def test_the_budget_counts_calls():
    budget = check("tool_budget", max=1)
    assert budget([sample(ToolCall("a"))])[0].reason == "1 call, at most 1"
    assert budget([sample(ToolCall("a"), ToolCall("a"))])[0].passed is False


def test_a_sample_without_a_trace_has_no_calls():
    bare = Sample("r", "c", 1)
    assert check("tool_called", tools=["a"])([bare])[0].reason == "no call of a: no tool was called"
    assert check("tool_budget", max=0)([bare])[0].passed is True


def test_an_empty_list_of_tools_is_refused():
    with pytest.raises(ValueError, match="name a tool"):
        check("tool_forbidden", tools=[])


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), {1: 2, "a": 3}, {1, 2}, object()])
def test_arguments_that_are_no_json_are_judged_and_told(odd):
    """A target of one's own, and the interface, can bring them."""
    turn = Turn(1, "q", "a", (ToolCall("look", {"x": odd}), ToolCall("look", {"x": [odd]}, "fine")))
    for kind, keys in (
        ("tool_called", {"tools": ["look"], "args": {"x": 1}}),
        ("tool_forbidden", {"tools": ["look"]}),
        ("trajectory", {"calls": [{"tool": "look", "args": {"x": 1}}]}),
        ("confirmation", {"tool": "look", "args": {"x": 1}}),
        ("authority", {"forbidden": ["look"]}),
        ("tool_result", {"tool": "look", "args": {"x": 1}}),
        ("safety", {"values": ["dana@corp.example"]}),
    ):
        assert judge(kind, keys, turn).reason
