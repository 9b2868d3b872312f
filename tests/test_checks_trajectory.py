"""Required calls: in order, each by a call of its own, or in the order that `after` asks for."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.adk import fold_turn
from evallib.checks import parse_check
from evallib.domain import Domain
from evallib.records import Sample, ToolCall, Turn, Verdict
from evallib.suite import parse_suite
from tests.vectors import judge, vectors, wanted

READ, LOGS = ToolCall("read_ticket", {"id": "T-9"}), ToolCall("get_logs", {"pod": "api", "tail": 50})
RESTART = ToolCall("restart", {"name": "api"})


def path(*calls: ToolCall, required: list, **keys: object) -> Verdict:
    return judge("trajectory", {"calls": required, **keys}, Turn(1, "q", "a", calls))


def test_the_published_verdicts_hold(shared):
    for vector in vectors(shared, "trajectory"):
        required = [{"tool": one["name"], "args": one["args"]} for one in vector["input"]["expected_tool_uses"]]
        turn = fold_turn({"text": "done", "tool_calls": vector["input"]["tool_calls"]})
        verdict = judge("trajectory", {"calls": required}, turn)
        assert verdict.passed is wanted(vector), (vector["id"], verdict.reason)


def test_other_calls_may_come_between_and_the_places_are_named():
    verdict = path(LOGS, READ, LOGS, RESTART, required=[{"tool": "read_ticket"}, {"tool": "restart"}])
    assert (verdict.passed, verdict.calls) == (True, (1, 2, 1, 4))
    assert verdict.reason == "required calls were made: read_ticket at step 1, call 2, restart at step 1, call 4"


@pytest.mark.parametrize(
    ("made", "required", "said"),
    [
        ([LOGS], [{"tool": "restart"}], "was not made: called was get_logs"),
        ([], [{"tool": "restart"}], "called was nothing"),
        ([RESTART, READ], [{"tool": "read_ticket"}, {"tool": "restart"}], "in its order: it was made at step 1"),
        ([READ], [{"tool": "read_ticket"}, {"tool": "read_ticket"}], "again: the call at step 1, call 1"),
        ([LOGS], [{"tool": "get_logs", "args": {"tail": 5}}], "off in tail (50)"),
        ([LOGS], [{"tool": "get_logs", "args": {"since": None}}], "off in since (absent)"),
    ],
)  # fmt: skip
def test_a_fail_says_which_call_and_why(made, required, said):
    verdict = path(*made, required=required)
    assert verdict.passed is False
    assert said in verdict.reason


def test_nothing_required_is_no_pass():
    assert path(READ, required=[]).status == "not_applicable"


@pytest.mark.parametrize(
    ("given_args", "rule", "held"),
    [
        ({"q": "pods", "ts": 1}, {"args": {"q": "pods"}}, True),
        ({"q": "pods", "ts": 1}, {"args": {"q": "pods", "ts": 7}, "ignore": ["ts"]}, True),
        ({"limit": 10}, {"args": {"limit": 1}}, False),
        ({"limit": 10}, {"args": {"limit": 9.5}, "within": {"limit": 0.5}}, True),
        ({"limit": 11}, {"args": {"limit": 9.5}, "within": {"limit": 0.5}}, False),
        ({"limit": True}, {"args": {"limit": 1}, "within": {"limit": 0.5}}, False),
        ({"f": {"a": 1, "b": 2}}, {"args": {"f": {"a": 1}}}, True),
        ({"f": {"a": 1, "b": 2}}, {"args": {"f": {"a": 1}}, "exact": ["f"]}, False),
        ({"f": {"a": 1}}, {"args": {"f": {"a": 1.0}}, "exact": ["f"]}, True),
        ({"f": {"a": 1, "b": ""}}, {"args": {"f": {"a": 1}}, "exact": ["f"]}, False),
        ({"f": {"a": 1}}, {"args": {"f": {"a": 1, "b": ""}}, "exact": ["f"]}, False),
        ({"f": [{"a": True}]}, {"args": {"f": [{"a": 1}]}, "exact": ["f"]}, False),
        ({"f": {"a": 1, "b": ""}}, {"args": {"f": {"a": 1}}}, True),
        ({"n": 9007199254740993}, {"args": {"n": 9007199254740992}}, False),
        ({"n": 10**400}, {"args": {"n": 1.5}, "within": {"n": 1}}, False),
        ({"f": {}}, {"args": {"f": {}}}, True),
        ({"f": []}, {"args": {"f": {}}}, False),
        ({"note": None}, {"args": {"note": ""}}, False),
        ({"note": "x"}, {"args": {"note": ""}}, False),
    ],
)
def test_arguments_agree_by_containment_or_by_a_rule_of_their_own(given_args, rule, held):
    assert path(ToolCall("t", given_args), required=[{"tool": "t", **rule}]).passed is held


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"calls": [{"tool": "a", "exact": ["x"]}]}, "not among the `args`"),
        ({"calls": [{"tool": "a", "args": {"x": "1"}, "within": {"x": 1}}]}, "is for numbers"),
        ({"calls": [{"tool": "a", "args": None}]}, "'args' is left blank; give a mapping"),
        ({"calls": [{"tool": "a", "arg": {}}]}, "unknown key 'arg'"),
        ({"calls": [{"tool": "a", "after": ["b"]}], "ordered": False}, "the id of no call here"),
        ({"calls": [{"tool": "a", "id": "x"}, {"tool": "a", "id": "x"}]}, "stands twice"),
        ({"calls": [{"tool": "a", "id": "x"}, {"tool": "b", "after": ["x"]}]}, "needs `ordered: false`"),
        ({"calls": [{"tool": "a", "id": "x", "after": ["x"]}], "ordered": False}, "in a circle"),
        ({"calls": [{"tool": "a"}] * 17, "ordered": False}, "at most 16"),
        ({"calls": "read_ticket"}, "must be a list of calls"),
    ],
)
def test_what_cannot_be_meant_is_refused(keys, said):
    with pytest.raises(ValueError, match=said):
        parse_check({"id": "t", "check": "trajectory", **keys})


TWO_READS = [
    {"tool": "read_ticket", "id": "t"},
    {"tool": "get_logs", "id": "l"},
    {"tool": "restart", "after": ["t", "l"]},
]


def test_independent_reads_are_free_in_their_order():
    for made, held in [((LOGS, READ, RESTART), True), ((READ, LOGS, RESTART), True), ((READ, RESTART, LOGS), False)]:
        assert path(*made, required=TWO_READS, ordered=False).passed is held


def test_a_call_is_given_to_the_one_that_needs_it():
    wide_first = [{"tool": "get_logs"}, {"tool": "get_logs", "args": {"pod": "api"}}]
    made = LOGS, ToolCall("get_logs", {"pod": "db"})
    assert path(*made, required=wide_first, ordered=False).passed is True


def test_another_name_of_the_tool_counts():
    old = Turn(1, "q", "a", (ToolCall("fetch_ticket"),))
    domain = Domain(aliases={"read_ticket": ("fetch_ticket",)})
    assert judge("trajectory", {"calls": [{"tool": "read_ticket"}]}, old, domain=domain).passed is True


def test_a_conversation_is_read_as_one():
    turns = Turn(1, "q", "a", (READ,)), Turn(2, "q", "a", (RESTART,))
    verdict = judge("trajectory", {"calls": [{"tool": "read_ticket"}, {"tool": "restart"}]}, *turns)
    assert (verdict.passed, verdict.calls) == (True, (1, 1, 2, 1))


def test_the_calls_may_stand_in_the_answer_key():
    suite = parse_suite(
        "suite: s\npass: top\nchecks: [{id: path, check: trajectory, calls: key.path}]\n"
        "cases: [{id: c, steps: [{ask: a}], key: {path: [{tool: read_ticket, args: {id: T-9}}]}}]\n",
        "s",
    )
    (bound,) = suite.bound["c"]
    assert bound.check([Sample("r", "c", 1, turns=(Turn(1, "q", "a", (READ,)),))])[0].passed is True


NAMES = st.lists(st.sampled_from("abc"), max_size=7)


@given(NAMES, st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
def test_listed_calls_are_found_exactly_when_they_are_a_subsequence(made, required):
    rest = iter(made)
    subsequence = all(name in rest for name in required)
    verdict = path(*map(ToolCall, made), required=[{"tool": name} for name in required])
    assert verdict.passed is subsequence


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2)), max_size=5),
    st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 2)), min_size=1, max_size=4),
    st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))),
)
def test_a_partial_order_is_met_exactly_when_some_assignment_meets_it(made, required, pairs):
    before = [{i for i, j in pairs if j == nth and i < j < len(required)} for nth in range(len(required))]
    calls = [
        {"tool": name, "args": {} if n is None else {"n": n}, "id": f"c{nth}", "after": [f"c{i}" for i in before[nth]]}
        for nth, (name, n) in enumerate(required)
    ]
    by_hand = any(
        all(made[at][0] == name and n in (None, made[at][1]) for at, (name, n) in zip(places, required, strict=True))
        and all(places[i] < places[nth] for nth, waits in enumerate(before) for i in waits)
        for places in permutations(range(len(made)), len(required))
    )
    verdict = path(*(ToolCall(name, {"n": n}) for name, n in made), required=calls, ordered=False)
    assert verdict.passed is by_hand
