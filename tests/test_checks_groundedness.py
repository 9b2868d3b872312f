"""What an answer may name: entities of a vocabulary against the evidence of its step."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.checks import parse_check
from evallib.domain import Domain, EntityKind
from evallib.errors import InputError
from evallib.records import Sample, ToolCall, Turn
from evallib.suite import parse_suite
from tests.agentops import sample_of, vectors
from tests.grounding import DOMAIN, ROWS, looked_up, verdict
from tests.vectors import wanted


def test_every_unsupported_entity_is_named_and_marked() -> None:
    found = verdict("INC-7 hit the mailer and the Invoice  Desk.", {"id": "INC-8"})
    assert found.passed is False
    assert found.reason == "in no evidence: INC-7 (incident), mailer (service), Invoice  Desk (service)"
    assert [found.spans[n : n + 2] for n in (0, 2, 4)] == [(0, 5), (14, 20), (29, 42)]


def test_a_pass_names_the_calls_that_showed_it() -> None:
    found = verdict("INC-7 hit the mailer.", "nothing here", {"id": "INC-7"}, ["mailer"])
    assert (found.passed, found.calls) == (True, (1, 2, 1, 3))


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ("inc-7 hit MAILER", {"id": "INC-7", "svc": "Mailer"}),
        ("INC\u20117 is open", {"id": "INC-7"}),
        ("INC-7 is open", {"text": "first\nINC-7 reported\n"}),
        ("INC-7 is open", "first\tINC-7"),
        ("INC-7 is open", {"content": [{"type": "text", "text": '{"id": "INC-7"}'}]}),
        ("INC-7 is open", {"INC-7": {"open": True}}),
        ("INC-7 is open", '{"text": "cut\\nINC-7 and'),
        ("the mailer's log", {"a": ["mailer"]}),
        ("use mailer-archive-v2", {}),
        ("a submailer", {}),
        ("INC-7-related alarms", {"id": "INC-7"}),
        ("Nothing to say.", {}),
    ],
)
def test_what_the_decoded_results_show_may_be_said(answer: str, result: Any) -> None:
    assert verdict(answer, result).passed is True


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ("the mailer is down", {"svc": "mailer-archive"}),
        ("the mailer-archive is down", {"svc": "mailer"}),
        ("INC-7 is open", {"id": "INC-77"}),
        ("INC-7-related alarms", {"id": "INC-8"}),
    ],
)
def test_a_name_inside_a_longer_one_shows_nothing(answer: str, result: Any) -> None:
    assert verdict(answer, result).passed is False


def test_numbers_count_as_they_are_written() -> None:
    domain = Domain(vocabulary={"order": EntityKind(pattern="[0-9]{5}")})
    assert verdict("order 40213 is late", {"orders": [40213]}, domain=domain).passed is True
    assert verdict("order 40214 is late", {"orders": [40213]}, domain=domain).passed is False


LISTED = Domain(vocabulary={
    "incident": EntityKind(names=("INC-1", "INC-20"), pattern="INC-[0-9]+"),
    "place": EntityKind(names=("desk", "desk lamp", "lamp room"), pattern="P[0-9]+(?:/[a-z]+)?"),
})  # fmt: skip


@pytest.mark.parametrize("name", ["INC-11", "INC-201", "INC-1234", "INC-7", "P1/a", "desk", "lamp room"])
@pytest.mark.parametrize("text", ["{} is open", "INC-1 and {}, both", "see desk lamps, a sublamp room and {}"])
def test_an_id_or_a_name_is_found_where_a_listed_name_begins_it(name: str, text: str) -> None:
    shown = {"seen": [one for one in ("INC-1", "desk") if one != name]}
    assert verdict(text.format(name), shown, domain=LISTED).passed is False
    assert verdict(text.format(name), {"seen": [*shown["seen"], name, "desk", "INC-1"]}, domain=LISTED).passed is True


# Where evidence comes from.


def test_calls_alone_and_errors_are_no_evidence() -> None:
    assert verdict("INC-7 is open", calls=(looked_up({"fine": True}, id="INC-7"),)).passed is False
    found = verdict("INC-7 is open", calls=(looked_up(None, "no INC-7", id="INC-7"),))
    assert "only repeated from a call's own arguments" in found.reason


@pytest.mark.parametrize(
    "result",
    [
        {"error": "no such incident: INC-7"},
        {"error": "unknown incident INC-7", "hint": "list them first"},
        {"status": "not_found", "id": "INC-7"},
        {"found": False, "id": "INC-7", "near": "INC-8"},
        {"isError": True, "content": [{"text": "INC-7"}]},
        {"query": "INC-7", "results": []},
        {"rows": [{"id": "INC-7", "error": "not found"}, {"id": "INC-8", "state": "open"}]},
        "INC-7 not found",
        "Nothing matches INC-7",
        "0 results for INC-7",
        "We have nothing on INC-7.",
        "INC-7 returned 0 rows",
        "The search for INC-7 came back empty",
        "I looked for INC-7, no matches.",
        "INC-7 isn't in the registry",
        "INC-7 doesn't exist",
        "No open incident is called INC-7.",
        "Failed to load INC-7: timeout",
        "Error: boom while reading INC-7",
        "Query: INC-7\n0 results",
        "INC-7: none",
        {"id": "INC-7", "hits": [], "page": 1, "took_ms": 12},
        {"id": "INC-7", "answer": "nothing found"},
        {"query": "INC-7", "results": [{"id": "INC-8"}]},
        {"request": {"id": "INC-7"}, "rows": [{"id": "INC-8"}]},
        {"errors": ["no such incident: INC-7"]},
    ],
)
def test_a_failed_look_up_that_repeats_its_argument_shows_nothing(result: Any) -> None:
    call = looked_up(result, id="INC-7")
    assert verdict("INC-7 is open", calls=(call,)).passed is False


@pytest.mark.parametrize("body", [{"error": "no such incident: INC-7"}, {"status": "not_found", "id": "INC-7"}])
@pytest.mark.parametrize("ids", [("", ""), ("k1", "k1")])
def test_a_result_told_apart_from_its_call_is_an_echo_of_it(body: dict[str, Any], ids: tuple[str, str]) -> None:
    made, came = ToolCall("look", {"id": "INC-7"}, id=ids[0]), ToolCall("look", {}, json.dumps(body), id=ids[1])
    turn = Turn(1, "q", "INC-7 is open.", tool_calls=(made,), results=(came,))
    check = parse_check({"id": "g", "check": "groundedness"}).in_domain(DOMAIN)
    assert check([Sample("r", "c", 1, turns=(turn,), answer=turn.text)])[0].passed is False


@pytest.mark.parametrize(
    "answer",
    [
        "INC-7\u306f\u6b62\u307e\u3063\u3066\u3044\u307e\u3059",
        "\u73b0\u5728mailer\u6545\u969c",
        "mailer\uac00 \ub290\ub9bd\ub2c8\ub2e4",
    ],
)
def test_a_name_is_seen_in_scripts_that_part_no_words(answer: str) -> None:
    assert verdict(answer, {"id": "INC-8"}).passed is False
    assert verdict(answer, {"id": "INC-7", "service": "mailer"}).passed is True


@pytest.mark.parametrize(
    ("asked", "result"),
    [
        ("status of INC-7", {"query": "status of INC-7", "hits": []}),
        ("status of INC-7", {"asked": "Status of INC-7", "note": "no matches"}),
        ("status of INC-7", {"looked_for": "status of INC-7", "rows": []}),
        ("status of INC-7", {"query": "status of INC-7", "hits": [{"id": "INC-8"}]}),
        ("status of INC-7", "No results for 'status of INC-7'."),
    ],
)
def test_a_question_in_the_arguments_is_an_echo_too(asked: str, result: Any) -> None:
    call = looked_up(result, q=asked)
    assert verdict("INC-7 is open", calls=(call,)).passed is False


@pytest.mark.parametrize(
    "result",
    [
        {"lines": ["ERROR mailer: connection refused"]},
        {"lines": ["error: mailer timed out", "cannot reach mailer"]},
        "error rate of mailer: 40%",
        "ERROR mailer could not reach the disk",
        "10:02 mailer failed\n10:03 mailer could not start",
        "mailer: no errors in the last hour",
        "no alarms for the mailer",
        "mailer is not responding",
        "mailer has 3 errors",
        {"service": "mailer", "error_rate": 0.4},
        {"service": "mailer", "healthy": False, "message": "not ready"},
        {"service": "mailer", "healthy": False},
        {"service": "mailer", "replicas": 0},
        {"service": "mailer", "status": "down", "alarms": []},
    ],
)
def test_what_a_log_or_a_gauge_says_of_a_failing_entity_shows_it(result: Any) -> None:
    found = verdict("The mailer is failing.", calls=(looked_up(result, name="mailer"),))
    assert found.passed is True, found.reason


@pytest.mark.parametrize(
    "result",
    [
        {"id": "INC-7", "state": "open"},
        {"id": "INC-7", "error": None, "state": "open"},
        {"id": "INC-7", "status": "failed", "since": "noon"},
        {"id": "INC-7", "cause": "unknown"},
        {"id": "INC-7", "errors": ["disk full"], "host": "h-2"},
        "INC-7: SEV2, cause unknown",
    ],
)
def test_a_look_up_that_worked_shows_its_argument(result: Any) -> None:
    assert verdict("INC-7 is open", calls=(looked_up(result, id="INC-7"),)).passed is True


def test_earlier_steps_count_only_where_the_check_says_so() -> None:
    first = Turn(1, "q", "Looking.", tool_calls=(ToolCall("look", {}, '{"id": "INC-7"}'),))
    sample = Sample("r", "c", 1, turns=(first, Turn(2, "And now?", "INC-7 is open.")), answer="INC-7 is open.")
    for evidence, passed in (("turn", False), ("conversation", True)):
        check = parse_check({"id": "g", "check": "groundedness", "evidence": evidence}).in_domain(DOMAIN)
        (found,) = check([sample])
        assert found.passed is passed


# What a claim is.


@pytest.mark.parametrize(
    "answer",
    [
        "The queue service is fine.",
        "Service queue needs a look.",
        "The index and queue services were slow.",
        "queue is currently degraded",
        "queue had elevated latency",
        'I see {"service": "queue"} there',
        "service: `queue`",
        "Affected services: mailer, `queue` and more",
        "queue isn't healthy",
        "queue is still seeing high latency",
        "- **queue**: degraded",
        "| unit | state |\n|---|---|\n| queue | down |",
        "Is the queue down? Yes.",
    ],
)
def test_an_ambiguous_name_counts_where_the_wording_claims_it(answer: str) -> None:
    assert verdict(answer).passed is False
    assert verdict(answer, {"service": "queue"}, {"svc": ["index", "mailer"]}).passed is True


@pytest.mark.parametrize(
    "answer",
    [
        "Please queue the mail.",
        "An index of pages.",
        "Queue: open the list first.",
        "The queue is up to you.",
        "We will see.",
    ],
)
def test_an_ordinary_word_is_no_claim(answer: str) -> None:
    assert verdict(answer).reason == "the answer names no entity of the vocabulary"


def test_ambiguity_is_not_only_about_services() -> None:
    assert verdict("Ask the person will about it.").passed is False
    assert verdict("Ask the person will.", {"owner": "Will"}).passed is True


def test_an_ordinary_word_in_a_result_grounds_no_claim() -> None:
    assert verdict("The queue service is fine.", "please queue the mail").passed is False


@pytest.mark.parametrize(
    "answer",
    [
        "There is no incident INC-900.",
        "I could not find INC-900.",
        "INC-900 does not exist.",
        "INC-900 was not found.",
        "No record of INC-900 exists.",
        "INC-900 is unknown here.",
    ],
)
def test_a_reserved_name_may_be_denied(answer: str) -> None:
    assert verdict(answer).passed is True


def test_a_reserved_name_is_shown_by_no_result_but_may_be_asked_about() -> None:
    assert verdict("INC-900 is open.", {"id": "INC-900", "state": "open"}).passed is False
    assert verdict("INC-900 is not one of ours.", question="What about INC-900?").passed is True
    assert verdict("INC-900 is SEV2.", {"id": "INC-8", "sev": "SEV2"}, question="What about INC-900?").passed is False


def test_the_question_grounds_a_mention_and_no_claim() -> None:
    assert verdict("INC-7 is SEV2.", question="Is INC-7 really SEV2?").passed is False
    assert verdict("I cannot see INC-7.", question="Is INC-7 really SEV2?").passed is True


# Nothing to go by.


def test_an_empty_answer_claims_nothing_and_a_thought_is_none() -> None:
    assert verdict("  ").status == verdict("\u200b\ufeff").status == verdict("\0").status == "not_applicable"
    assert verdict("<think>INC-7").passed is False
    assert verdict("<think>INC-7?</think>None.").passed is True


def test_a_suite_without_vocabulary_is_refused() -> None:
    text = "suite: s\npass: top\nchecks: [{id: g, check: groundedness}]\ncases: [{id: c, steps: [{ask: a}]}]\n"
    with pytest.raises(InputError, match=r"line 3.*declare them in the suite's `vocabulary`"):
        parse_suite(text, "s.yaml")


def test_the_vocabulary_is_part_of_the_criteria() -> None:
    text = (
        "suite: s\npass: top\nvocabulary: {{service: {{names: [{}]}}}}\nchecks: [{{id: g, check: groundedness}}]\n"
        "cases: [{{id: c, steps: [{{ask: a}}]}}]\n"
    )
    decides = {parse_suite(text.format(name), "s").bound["c"][0].decides for name in ("mailer", "mailers")}
    assert len(decides) == 2


def test_a_step_s_own_check_may_read_the_conversation_before_it() -> None:
    text = (
        "suite: s\npass: top\nvocabulary: {{service: {{names: [mailer]}}}}\ncases:\n- id: c\n"
        "  steps: [{{ask: a}}, {{ask: b, checks: [{{id: g, check: groundedness, evidence: {}}}]}}]\n"
    )
    turns = (Turn(1, "a", "See.", results=(ToolCall("look", {}, "mailer"),)), Turn(2, "b", "The mailer."))
    for evidence, passed in (("turn", False), ("conversation", True)):
        (bound,) = parse_suite(text.format(evidence), "s.yaml").bound["c"]
        (found,) = bound.check([Sample("r", "c", 1, turns=turns, answer="The mailer.")])
        assert found.passed is passed


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_read_without_failing(answer: str, result: str) -> None:
    assert verdict(answer + " INC-7", result).reason
    assert verdict(f"{answer} INC-7", {"id": "INC-8"}).passed is not True


@given(st.sampled_from(["INC-7", "mailer", "invoice desk"]), st.booleans(), st.integers(0, 40))
def test_an_entity_is_supported_exactly_when_the_evidence_holds_it(name: str, there: bool, pad: int) -> None:
    result = {"x" * pad: [{"deep": [name if there else "other"]}]}
    assert verdict(f"It was {name}.", result).passed is there


@pytest.mark.parametrize(
    "answer",
    [
        "INC-7 is SEV3. " * 3000,
        "INC-7 SEV3 " * 4000,
        " ".join(f"INC-{n}" for n in range(8000)),
        "INC-7, " * 6000,
        "SEV3, " * 4000 + ":\n" + "- INC-7\n" * 4000,
        "mailer " * 4000 + ":\n" + "- INC-7\n" * 4000,
        "INC-7:\n" + " - SEV3\n  - x\n" * 4000,
    ],
)
def test_a_long_answer_stays_bounded(answer: str) -> None:
    assert verdict(answer, ROWS).reason


@pytest.mark.parametrize("case", vectors("groundedness"), ids=lambda case: case["id"])
def test_the_other_harness_s_cases(case: Any) -> None:
    given_, expected = case["input"], case["expected"]
    domain = Domain(
        vocabulary={
            "incident": EntityKind(pattern="INC-[0-9]+"),
            "severity": EntityKind(pattern="SEV[0-9]+"),
            "service": EntityKind(names=tuple(given_["domain"]["services"]), ambiguous=("cache", "search")),
            "runbook": EntityKind(names=tuple(given_["domain"]["runbooks"])),
        },
        pairs=(("incident", "severity"),),
    )
    check = parse_check({"id": "g", "check": "groundedness"}).in_domain(domain)
    (found,) = check([sample_of(given_["turn"], given_["question"])])
    assert found.passed is wanted(case), found.reason
    if case["parity"] == "core":
        assert all(name in found.reason.lower() for name in expected["unsupported"])


BOTH = [{"incident": "INC-1", "severity": "SEV2"}, {"incident": "INC-2", "severity": "SEV3"}]


@pytest.mark.parametrize("but", ["besides", "except", "other than", "apart from", "but"])
def test_a_denial_with_an_exception_asserts_what_it_excepts(but: str) -> None:
    suite = parse_suite(EXCEPTING, "s")
    (bound,) = suite.bound["c"]
    for named, held in (("INC-2", True), ("INC-1", False)):
        answer = f"There are no SEV3 incidents {but} {named}."
        turn = Turn(1, "What is open?", answer, (ToolCall("list", {}, json.dumps(BOTH)),))
        (found,) = bound.check([Sample("r", "c", 1, answer=answer, turns=(turn,))])
        assert found.passed is held, found.reason


EXCEPTING = """
suite: s
pass: top
vocabulary: {incident: {pattern: 'INC-[0-9]+', reserved: [INC-900]}, severity: {pattern: 'SEV[1-4]'}}
pairs: [[incident, severity]]
checks: [{id: g, check: groundedness}]
cases: [{id: c, steps: [{ask: What is open?}]}]
"""


@pytest.mark.parametrize(("answer", "held"), [("There is no incident besides INC-900.", False),
                                              ("There is no incident INC-900.", True)])  # fmt: skip
def test_a_name_that_must_not_exist_is_asserted_by_an_exception(answer: str, held: bool) -> None:
    (bound,) = parse_suite(EXCEPTING, "s").bound["c"]
    turn = Turn(1, "What is open?", answer, (ToolCall("list", {}, "[]"),))
    (found,) = bound.check([Sample("r", "c", 1, answer=answer, turns=(turn,))])
    assert found.passed is held, found.reason
