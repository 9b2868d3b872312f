"""Whatever a target did, the checks of turns give a verdict with a reason that can be stored."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.adk import WRAPPER, fold_turn
from evallib.domain import Domain, Tool
from evallib.records import Sample, ToolCall, Turn
from evallib.scoring import score_samples
from evallib.suite import parse_suite
from tests.vectors import judge

CHECKS = [
    ("trajectory", {"calls": [{"tool": "a", "args": {"x": ""}}, {"tool": "b"}]}),
    ("trajectory", {"calls": [{"tool": "b", "id": "b"}, {"tool": "a", "after": ["b"]}], "ordered": False}),
    ("confirmation", {"tool": "a", "args": {"x": 1}}),
    ("authority", {"forbidden": ["c"], "writes": [{"tool": "a", "times": 2}], "confirmation": {"tool": "a"}}),
    ("tool_result", {"tool": "a", "args": {"x": 1}, "result": {"x": [1]}}),
    ("safety", {"values": ["x1", "secret"], "tools": ["c"]}),
]
DOMAIN = Domain({"a": Tool(write=True, guarded=True), "b": Tool()}, approvals=(2,))

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y", "error"]), inner, max_size=3)
    ),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.sampled_from(["x", "y"]), JSON, max_size=2)
CALLS = st.lists(
    st.builds(
        ToolCall, st.sampled_from("abcd"), ARGUMENTS, st.none() | st.text() | JSON.map(json.dumps),
        st.none() | st.text(max_size=5), st.sampled_from(["", "1", "2"]),
    ),
    max_size=4,
).map(tuple)  # fmt: skip
TURNS = st.builds(
    Turn, st.just(1), st.text(), st.text(), CALLS, CALLS, CALLS, st.lists(st.text(max_size=5), max_size=3).map(tuple)
)


@pytest.mark.parametrize(("kind", "keys"), CHECKS)
@settings(max_examples=25)
@given(TURNS, TURNS)
def test_any_turn_has_a_verdict_with_a_reason(kind, keys, first, second):
    second = Turn(2, *(getattr(second, name) for name in Turn.__slots__[1:]))
    verdict = judge(kind, keys, first, second, domain=DOMAIN)
    assert verdict.status == "scored"
    assert verdict.reason
    assert (verdict.passed is True) is (verdict.value == 1.0)
    places = dict(zip(verdict.calls[::2], verdict.calls[1::2], strict=True))
    assert all(1 <= place <= len((first, second)[step - 1].tool_calls) for step, place in places.items())


@pytest.mark.parametrize(("kind", "keys"), [one for one in CHECKS if one[0] not in {"authority", "safety"}])
def test_a_target_that_did_nothing_passes_no_check_of_what_it_did(kind, keys):
    assert judge(kind, keys, Turn(1, "q", "")).passed is False
    assert judge(kind, keys).passed is False


NAMES = st.sampled_from(["a", WRAPPER])
WIRE = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=3) | st.none(),
        "tool_calls": st.lists(
            st.fixed_dictionaries(
                {}, optional={"name": st.sampled_from(["a", WRAPPER]), "args": JSON, "call_id": JSON}
            ),
            max_size=4,
        ),
        "tool_responses": st.lists(
            st.fixed_dictionaries({}, optional={"name": NAMES, "response": JSON, "call_id": JSON}),
            max_size=4,
        ),
        "awaiting_confirmation": st.none() | st.fixed_dictionaries({"name": st.just(WRAPPER)}, optional={"args": JSON}),
    },
)


@given(WIRE)
def test_any_wire_turn_folds_and_loses_no_response(wire):
    turn = fold_turn(wire)
    given_back = [one for one in (*turn.tool_calls, *turn.results) if one.result is not None or one.error is not None]
    assert len(given_back) == sum(one.get("name") != WRAPPER for one in wire.get("tool_responses", ()))
    assert bool(turn.pending) is (wire.get("awaiting_confirmation") is not None)


def test_the_order_of_samples_changes_no_verdict():
    suite = parse_suite(
        "suite: s\npass: top\ntools: {a: {write: true}, b: {}}\nchecks:\n"
        "- {id: path, check: trajectory, calls: [{tool: b}, {tool: a}]}\n"
        "- {id: in, check: authority, writes: [{tool: a}]}\n"
        "cases: [{id: c, steps: [{ask: q}]}]\n",
        "s",
    )
    rng = random.Random(7)
    samples = [
        Sample("r", "c", n, turns=(Turn(1, "q", "t", tuple(ToolCall(rng.choice("ab")) for _ in range(3))),), answer="t")
        for n in range(1, 20)
    ]
    assert score_samples(suite, samples[::-1]) == score_samples(suite, samples)
