"""What belongs together: pairs in sentences, lists, tables and columns, as answers claim and results show them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.grounding import ROWS, verdict


@pytest.mark.parametrize(
    "answer",
    [
        "INC-7 is SEV3.",
        "INC-7 is SEV3 and INC-8 is SEV1.",
        "The SEV3 incident INC-7 and the SEV1 incident INC-8.",
        "INC-7 (SEV3) is unlike INC-8.",
        "INC-7 is not SEV1.",
        "INC-7 isn't SEV1 but SEV3.",
        "INC-7 and the SEV1 incident INC-8 are linked.",
        "INC-7 came before the **SEV1** INC-8.",
        "INC-7 is open. It is SEV3.",
        "| INC-7 | SEV3 |\n| INC-8 | SEV1 |",
        '{"id": "INC-8", "sev": "SEV1"}',
        "INC-7 is open. SEV1 means that someone is called.",
    ],
)
def test_pairs_that_a_row_shows(answer: str) -> None:
    assert verdict(answer, ROWS).passed is True


@pytest.mark.parametrize(
    "answer",
    [
        "INC-7 is SEV1.",
        "INC-7 is SEV1 and INC-8 is SEV3.",
        "The SEV1 incident INC-7 is open.",
        "INC-7 and INC-8 are SEV1.",
        "INC-7 isn't SEV3 but SEV1.",
        "INC-8 and the SEV1 incident INC-7 are linked.",
        "INC-8 came before the **SEV1** INC-7.",
        "INC-7 is open. It is SEV1.",
        "INC-7:\n- Severity: SEV1",
        "| INC-7 | SEV1 |\n| INC-8 | SEV3 |",
        '{"id": "INC-7",\n "sev": "SEV1"}',
        '```json\n[{"id": "INC-8", "sev": "SEV3"}]\n```',
    ],
)
def test_a_pair_that_no_row_shows_is_no_evidence_though_both_are_named(answer: str) -> None:
    found = verdict(answer, ROWS)
    assert found.passed is False
    assert "the evidence has" in found.reason


@pytest.mark.parametrize("as_", ["and so is", "as is", "so was **", "and the same goes for the"])
def test_what_is_said_to_be_as_the_one_before_makes_a_pair_too(as_: str) -> None:
    assert verdict(f"INC-7 is SEV3, {as_} INC-8.", ROWS).reason == "INC-8 with SEV3: the evidence has INC-8 with SEV1"
    assert verdict("INC-7 is SEV3, and INC-8 is older.", ROWS).passed is True


@pytest.mark.parametrize("not_", ["is not", "is no longer", "never was", "isn't"])
def test_a_value_that_is_only_denied_needs_no_evidence(not_: str) -> None:
    assert verdict(f"INC-7 {not_} SEV2; it is SEV3.", ROWS).passed is True
    assert verdict("INC-7 is SEV2; it is SEV3.", ROWS).passed is False


def test_the_reason_says_what_the_evidence_has_instead() -> None:
    found = verdict("INC-7 is SEV1.", ROWS)
    assert found.reason == "INC-7 with SEV1: the evidence has INC-7 with SEV3"
    assert found.spans == (9, 13)


@pytest.mark.parametrize(
    "result",
    [
        {"incident": {"id": "INC-7"}, "severity": "SEV2"},
        {"INC-7": {"severity": "SEV2"}, "INC-8": {"severity": "SEV1"}},
        {"INC-7": "SEV2", "INC-8": "SEV1"},
        {"SEV2": ["INC-7"], "SEV1": ["INC-8"]},
        {"severity": "SEV2", "incidents": [{"id": "INC-7"}, {"id": "INC-8"}]},
        {"id": "INC-7", "events": [{"what": "raised to SEV2"}, {"what": "closed"}]},
        {"id": "INC-7", "summary": "A SEV2 outage", "related": ["INC-8"]},
        [["INC-7", "SEV2"], ["INC-8", "SEV1"]],
        "id,severity\nINC-7,SEV2\nINC-8,SEV1",
        "INC-7 is SEV2; INC-8 is SEV1",
    ],
)
def test_the_shapes_that_put_two_entities_together(result: Any) -> None:
    assert verdict("INC-7 is SEV2.", result).passed is True
    assert verdict("INC-8 is SEV3.", result, {"other": "SEV3"}).passed is False


@pytest.mark.parametrize(
    "result",
    [
        {"id": "INC-8", "sev": "SEV2", "related": ["INC-7"]},
        {"id": "INC-8", "sev": "SEV2", "note": "INC-7 came first"},
        "INC-7 is open\nINC-8 is SEV2",
        {"a": {"id": "INC-7"}, "b": {"id": "INC-8", "sev": "SEV2"}},
    ],
)
def test_what_stands_beside_another_incident_is_not_this_one_s(result: Any) -> None:
    assert verdict("INC-7 is SEV2.", result).passed is False


@pytest.mark.parametrize(
    "result",
    [
        {"incidents": ["INC-7", "INC-8"], "severities": ["SEV3", "SEV1"]},
        {"id": {"0": "INC-7", "1": "INC-8"}, "sev": {"0": "SEV3", "1": "SEV1"}},
        {
            "severities": ["SEV3", "SEV1", "SEV1"],
            "n": 3,
            "data": {"incidents": []},
            "incidents": ["INC-7", "INC-8", "x"],
        },
    ],
)
def test_columns_are_read_place_by_place(result: Any) -> None:
    assert verdict("INC-7 is SEV3, INC-8 is SEV1.", result).passed is True
    assert verdict("INC-7 is SEV1.", result).passed is False
    assert verdict(json.dumps({**result, "kind": "incidents"}), result).passed is True


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("There are no SEV2 incidents.", True),
        ("None of them is SEV2, INC-7 is SEV3.", True),
        ("There aren't any open SEV2 incidents.", True),
        ("There are no SEV2 incidents besides INC-7.", False),
        ("There is no INC-42 among them.", False),
        ("No one looked at the SEV2 one.", False),
        ("There are no incidents, and SEV2 was the last.", False),
    ],
)
def test_a_value_may_be_said_of_none_and_a_name_may_not(answer: str, passed: bool) -> None:
    found = verdict(answer, ROWS)
    assert found.passed is passed, found.reason


def test_lists_of_unlike_length_put_nothing_together() -> None:
    result = {"incidents": ["INC-7", "INC-8"], "severities": ["SEV3", "SEV1", "SEV2"]}
    for severity in ("SEV1", "SEV2", "SEV3"):
        assert verdict(f"INC-7 is {severity}.", result).passed is False


LAID_OUT = [
    "{s1}:\n- {i1}\n{s2}:\n- {i2}",
    "{s1}\n- {i1}\n{s2}\n- {i2}",
    "Severity {s1}:\n* {i1}\n* {i1}\n\nSeverity {s2}:\n\n* {i2}",
    "- {i1}\n  - {s1}\n- {i2}\n  - {s2}",
    "- {s1}\n    1. {i1}\n- {s2}\n    1. {i2}",
    "## {s1}\n\n- {i1}\n\n## {s2}\n\n- {i2}",
    "## {i1}\n### Severity\n{s1}\n## {i2}\n### Severity\n{s2}",
    "**{s1}**\n{i1}\n\n**{s2}**\n{i2}",
    "{i1}:\n  severity: {s1}\n{i2}:\n  severity: {s2}",
    "{i1}:\n  rated: {s1}\n{i2}:\n  rated: {s2}",
    "| | {i1} | {i2} |\n|---|---|---|\n| level | {s1} | {s2} |",
    "| {s1} | {s2} |\n|---|---|\n| {i1} | {i2} |",
    "{i1} and {i2} are {s1} and {s2}, respectively.",
    "{s1} and {s2} are the levels of {i1} and {i2} in that order.",
]


@pytest.mark.parametrize("layout", LAID_OUT)
def test_what_is_listed_under_an_entity_is_claimed_of_it(layout: str) -> None:
    right = layout.format(i1="INC-7", s1="SEV3", i2="INC-8", s2="SEV1")
    swapped = layout.format(i1="INC-7", s1="SEV1", i2="INC-8", s2="SEV3")
    found = verdict(right, ROWS)
    assert found.passed is True, found.reason
    found = verdict(swapped, ROWS)
    assert found.passed is False
    assert "INC-7 with SEV1" in found.reason
    assert verdict("INC-7 is SEV3.", right).passed is True  # a result may be laid out so, too
    assert verdict("INC-7 is SEV3.", swapped).passed is False


@pytest.mark.parametrize(
    "answer",
    [
        "INC-7 is open\n\n- SEV1 means that someone is called.",
        "## INC-7\n\nOf all levels SEV1 means that someone is called.",
        "INC-7 and then INC-8, the order of the night:\n- SEV1 came second",
        "- INC-7\n- SEV1\n",
    ],
)
def test_what_only_follows_is_no_claim(answer: str) -> None:
    assert verdict(answer, ROWS).passed is True
