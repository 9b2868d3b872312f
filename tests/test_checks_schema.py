"""An answer that must be exactly one JSON value of a declared shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from evallib.checks import parse_check
from evallib.domain import Domain, EntityKind
from evallib.errors import InputError
from evallib.records import Sample, Verdict
from evallib.suite import parse_suite
from tests.agentops import vectors

TICKET = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "hosts"],
    "properties": {
        "id": {"type": "string", "pattern": "^T-[0-9]{2}$"},
        "hosts": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}},
        "urgent": {"type": "boolean"},
    },
}
GOOD = {"id": "T-11", "hosts": ["alpha"]}


def judged(answer: str, schema: dict[str, Any] = TICKET, **keys: Any) -> Verdict:
    (verdict,) = parse_check({"id": "x", "check": "schema", "schema": schema, **keys})(
        [Sample("r", "c", 1, answer=answer)]
    )
    return verdict


@pytest.mark.parametrize(
    "answer",
    [json.dumps(GOOD), f"\n {json.dumps(GOOD)} \n", "<think>{}</think>" + json.dumps({**GOOD, "urgent": True})],
)
def test_one_value_that_fits_passes(answer: str) -> None:
    assert judged(answer).passed is True


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (f"```json\n{json.dumps(GOOD)}\n```", "a code fence stands around it"),
        (f"Here: {json.dumps(GOOD)}", "Expecting value at character 1"),
        (f"{json.dumps(GOOD)}\nDone.", 'after the value stands "Done."'),
        (f"{json.dumps(GOOD)}{{}}", 'after the value stands "{}"'),
        ('{"id": "T-11", "id": "T-12"}', "key 'id' stands twice"),
        ('{"id": NaN}', "NaN is no JSON number"),
        ('{"id": -Infinity}', "-Infinity is no JSON number"),
        ('{"id": 1e999}', "1e999 is no JSON number"),
        ("9" * 5000, "too many digits"),
        ("[" * 100_000, "nested too deep"),
        ('{"id": "T-11', "Unterminated string"),
        ("", "the answer is empty"),
        ("<think>{}", "never closes"),
    ],
)
def test_what_is_not_exactly_one_value_fails_and_says_why(answer: str, said: str) -> None:
    verdict = judged(answer, {"type": ["object", "number"]})
    assert verdict.passed is False
    assert said in verdict.reason


def test_every_place_that_does_not_fit_is_listed() -> None:
    verdict = judged(json.dumps({"id": "T-111", "hosts": [1, "a", "a"], "who": "me", "urgent": 1}))
    for place in ("id: ", "hosts[0]: ", "who: unknown key", "urgent: "):
        assert place in verdict.reason
    assert "required property" in judged('{"id": "T-11"}').reason


@pytest.mark.parametrize(
    ("answer", "marked"),
    [
        ('<think>{}</think> {"id": "T-111", "hosts": ["a"]}', ['"T-111"']),
        ('{"hosts": ["a", {"b": [1, {}]}, 3], "id" : "T-11"}', ['{"b": [1, {}]}', "3"]),
        ('{ "id": "T-11", "hosts": ["\u00e9\\"}]"], "who": {"a": [ ]} }', ['{"a": [ ]}']),
        ('{"hosts": []}', ['{"hosts": []}']),
        ("  7 ", ["7"]),
    ],
)
def test_what_does_not_fit_is_marked(answer: str, marked: list[str]) -> None:
    spans = judged(answer).spans
    assert [answer[start:end] for start, end in zip(spans[::2], spans[1::2], strict=True)] == marked


def test_a_name_that_is_not_in_the_vocabulary_is_marked() -> None:
    domain = Domain(vocabulary={"host": EntityKind(names=("alpha",))})
    check = parse_check({"id": "x", "check": "schema", "schema": TICKET, "entities": {"hosts": "host"}})
    answer = '{"id": "T-11", "hosts": ["alpha", "beta"]}'
    (verdict,) = check.in_domain(domain)([Sample("r", "c", 1, answer=answer)])
    assert answer[slice(*verdict.spans)] == '["alpha", "beta"]'
    assert verdict.reason == 'hosts: "beta" is no host of the vocabulary'


def test_a_reason_spells_values_as_json() -> None:
    reason = judged(json.dumps({"id": None, "hosts": [True, {"a": None}]})).reason
    for said in ("id: null is not of type", "hosts[0]: true is not of type", 'hosts[1]: {"a":null} is not of type'):
        assert said in reason


def test_a_line_end_does_not_slip_past_the_end_of_a_pattern() -> None:
    assert judged(json.dumps({**GOOD, "id": "T-11\n"})).passed is False


def test_true_is_no_number_and_a_repeated_item_is_found() -> None:
    assert judged("true", {"type": "number"}).passed is False
    assert judged("[1, 1.0]", {"uniqueItems": True}).passed is False
    assert judged("[1, true]", {"uniqueItems": True}).passed is True
    assert judged('[{"a": 1, "b": 2}, {"b": 2, "a": 1}]', {"uniqueItems": True}).passed is False


def test_numbers_are_names_too() -> None:
    domain = Domain(vocabulary={"order": EntityKind(names=("4021", "4022"))})
    schema = {"type": "object", "required": ["order"]}
    check = parse_check({"id": "x", "check": "schema", "schema": schema, "entities": {"order": "order"}})
    for written, passed in (("4021", True), ("4023", False), ("[4021, 4023]", False), ('"4022"', True), ("null", True)):
        (verdict,) = check.in_domain(domain)([Sample("r", "c", 1, answer=f'{{"order": {written}}}')])
        assert verdict.passed is passed, verdict.reason


def test_names_are_held_against_the_vocabulary_where_the_check_says_so() -> None:
    domain = Domain(vocabulary={"host": EntityKind(names=("alpha", "beta"), reserved=("omega",))})
    check = parse_check({"id": "x", "check": "schema", "schema": TICKET, "entities": {"hosts": "host"}})
    bound = check.in_domain(domain)
    for names, passed in ((["alpha", "Beta"], True), (["alpha", "gamma"], False), (["omega"], False)):
        (verdict,) = bound([Sample("r", "c", 1, answer=json.dumps({**GOOD, "hosts": names}))])
        assert verdict.passed is passed
    with pytest.raises(ValueError, match="a kind that `vocabulary` does not have"):
        check.in_domain(Domain())


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({}, "fits every value"),
        ({"type": "strin"}, "no JSON Schema: type"),
        ({"$ref": "https://example.org/other.json"}, "points outside the schema"),
        ({"$ref": "#/$defs/absent"}, "points outside the schema"),
        ({"$schema": "https://example.org/draft"}, "unknown draft"),
        ({"pattern": "(?=x)"}, "RE2 has no look-around"),
        ({"properties": {"a": {"pattern": "("}}}, "pattern '(' is not RE2 syntax"),
        ({"patternProperties": {"^a": {}}, "unevaluatedProperties": False}, "use `additionalProperties`"),
    ],
)
def test_a_schema_that_could_not_be_used_is_refused_when_it_is_loaded(schema: dict[str, Any], said: str) -> None:
    with pytest.raises(PydanticCustomError) as refused:
        parse_check({"id": "x", "check": "schema", "schema": schema})
    assert said in str(refused.value)


def test_a_broken_schema_in_a_suite_names_file_and_line() -> None:
    text = "suite: s\npass: top\nchecks:\n- {id: x, check: schema, schema: {type: strin}}\n"
    text += "cases: [{id: c, steps: [{ask: a}]}]"
    with pytest.raises(InputError, match=r"s.yaml, line 4.*no JSON Schema: type"):
        parse_suite(text, "s.yaml")


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/name", "$defs": {"name": {"type": "string"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/n",
         "definitions": {"n": {"type": "string"}}},
        {"$ref": "name.json", "$defs": {"any": {"$id": "name.json", "type": "string"}}},
    ],
)  # fmt: skip
def test_references_inside_and_older_drafts_work(schema: dict[str, Any]) -> None:
    assert judged('"a"', schema).passed is True
    assert judged("1", schema).passed is False


def test_patterns_for_names_keep_their_sense() -> None:
    schema = {"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": {"type": "number"}}
    assert judged('{"x-a": "b", "n": 1}', schema).passed is True
    assert judged('{"x-a": 1}', schema).passed is False
    assert judged('{"n": "b"}', schema).passed is False


def test_a_long_answer_and_a_greedy_pattern_stay_bounded() -> None:
    assert judged(json.dumps("a" * 100_000 + "!"), {"pattern": "^(a+)+$"}).passed is False
    assert judged(json.dumps([{} for _ in range(30_000)]), {"uniqueItems": True}).passed is False
    assert judged(json.dumps({"id": "T-11", "hosts": [1] * 30_000})).passed is False


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_a_value_fits_itself_as_a_constant_and_fits_no_other_type(value: Any) -> None:
    assert judged(json.dumps(value), {"const": value}).passed is True
    assert judged(json.dumps([value]), {"const": value}).passed is False


@given(st.text(max_size=200))
def test_any_text_is_read_without_failing(answer: str) -> None:
    assert judged(answer).reason


SLUG, SEEN = "^[a-z0-9]+(-[a-z0-9]+)*$", r"[^\s\pZ]"
REPORT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["incident_id", "severity", "affected_services", "hypothesis", "evidence", "recommended_runbook"],
    "properties": {
        "incident_id": {"type": "string", "pattern": "^INC-[0-9]{3}$"},
        "severity": {"enum": ["SEV1", "SEV2", "SEV3"]},
        "affected_services": {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": SLUG}},
        "hypothesis": {"type": "string", "pattern": SEEN},
        "evidence": {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": SEEN}},
        "recommended_runbook": {"type": "string", "pattern": SLUG},
        "proposed_actions": {"type": "array", "items": {"type": "string", "pattern": SEEN}},
    },
}


@pytest.mark.parametrize("case", vectors("schema"), ids=lambda case: case["id"])
def test_the_other_harness_s_cases(case: Any) -> None:
    domain = Domain(vocabulary={"runbook": EntityKind(names=("cert-rotation",))})
    entities = {"recommended_runbook": "runbook"} if case["parity"] == "quirk" else {}
    check = parse_check({"id": "x", "check": "schema", "schema": REPORT, "entities": entities}).in_domain(domain)
    (verdict,) = check([Sample("r", "c", 1, answer=case["input"]["turn"]["text"])])
    assert verdict.passed is (case["expected"]["passed"] and case["parity"] == "core"), verdict.reason
    for field in case["expected"].get("bad_fields", ()):
        assert field in verdict.reason or field == "decode"


@pytest.mark.parametrize(
    ("number", "step", "fits"),
    [("0.3", 0.1, True), ("0.35", 0.1, False), ("1e308", 0.1, True), ("0", 0.1, True), ("-4.2", 0.7, True),
     ("9007199254740993", 2, False), ("0.0075", 0.0025, True), ("7", 2.5, False)],
)  # fmt: skip
def test_multiples_are_counted_in_decimals(number: str, step: float, fits: bool) -> None:
    assert judged(number, {"type": "number", "multipleOf": step}).passed is fits


@given(st.integers(-(10**6), 10**6), st.integers(1, 999))
def test_a_number_times_a_step_is_a_multiple_of_it(times: int, step: int) -> None:
    number = f"{times * step // 1000}.{times * step % 1000:03d}" if times >= 0 else str(times)
    assert judged(number, {"multipleOf": step / 1000 if times >= 0 else 1}).passed is True


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", "2024-02-29", "2023-02-29"), ("date", "2024-01-01", "20240101"), ("time", "09:30:00Z", "9:30"),
        ("date-time", "2024-02-29T09:30:00+02:00", "2024-02-29 09:30"), ("uuid", f"{0:08x}-{'0000-' * 3}{0:012x}", "0"),
        ("email", "a.b@host.example", "a b@host.example"), ("ipv4", "10.0.0.1", "10.0.0.256"),
        ("ipv6", "2001:db8::1", "2001:db8::1::2"), ("date-time", "2024-01-01T23:59:59.5Z", "2024-01-01T24:59:59Z"),
    ],
)  # fmt: skip
def test_a_format_is_asked_for(name: str, good: str, bad: str) -> None:
    schema = {"type": ["string", "number"], "format": name}
    assert judged(json.dumps(good), schema).passed is True
    verdict = judged(json.dumps(bad), schema)
    assert (verdict.passed, f"is no {name}" in verdict.reason) == (False, True)
    assert judged("7", schema).passed is True, "a format is of texts"


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "object", "requried": ["id"]}, "no JSON Schema keyword: 'requried'; correct it to 'required'"),
        ({"propertis": {"id": {}}}, "'propertis'; correct it to 'properties'"),
        ({"properties": {"id": {"type": "string", "maxlength": 3}}}, "'maxlength'; correct it to 'maxLength'"),
        ({"format": "hostname"}, "format 'hostname' is not read; write a `pattern`, or one of date, date-time"),
    ],
)  # fmt: skip
def test_what_would_ask_nothing_is_refused(schema: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, PydanticCustomError)) as refusal:
        judged("{}", schema)
    assert said in str(refusal.value)


def test_names_of_one_s_own_and_properties_of_any_name_are_no_slips() -> None:
    schema = {"x-requried": 1, "title": "t", "owner": "us", "properties": {"requried": {"type": "string"}}}
    assert judged('{"requried": "a"}', schema).passed is True
