"""What a suite declares of tools and entities, and that its checks speak of nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from evallib.domain import Domain, EntityKind, Tool
from evallib.errors import InputError
from evallib.suite import parse_suite
from tests.agentops import vectors

SUITE = """\
suite: desk
pass: top
tools:
  get_ticket: {{entities: {{id: ticket}}}}
  restart: {{write: true, entities: {{host: host}}}}
  list_all: {{}}
vocabulary:
  ticket: {{names: [T-1, T-2], pattern: 'T-[0-9]+', reserved: [T-900]}}
  host: {{names: [alpha], reserved: [omega]}}
pairs: [[ticket, host]]
aliases: {{get_ticket: [read_ticket]}}
checks: [{{id: said, check: not_empty}}]
cases:
- id: c-1
  key: {{calls: [{{tool: get_ticket, args: {{id: T-7}}}}]}}
  steps:
  - ask: a
    checks: [{check}]
"""


@pytest.mark.parametrize(
    "check",
    [
        "{id: x, check: trajectory, calls: [{tool: get_ticket, args: {id: T-1}}, {tool: restart, args: {}}]}",
        "{id: x, check: trajectory, calls: [{tool: get_ticket, args: {id: T-900}}]}",
        "{id: x, check: trajectory, calls: [{tool: get_ticket}]}",
        "{id: x, check: trajectory, calls: [{tool: get_ticket, args: {id: [T-1, T-2]}}]}",
        "{id: x, check: trajectory, calls: [{tool: get_ticket, args: {id: null}}]}",
        "{id: x, check: trajectory, calls: [{tool: list_all, args: {id: T-7}}]}",
        "{id: x, check: confirmation, tool: restart, args: {host: alpha}}",
        "{id: x, check: tool_called, tools: [read_ticket], args: {id: T-2}}",
        "{id: x, check: refusal, all_of: [no], no_calls_of: [restart]}",
    ],
)
def test_a_suite_that_speaks_of_what_is_there_is_loaded(check: str) -> None:
    assert parse_suite(SUITE.format(check=check), "desk.yaml").tools


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ("{id: x, check: trajectory, calls: [{tool: get_ticket, args: {id: T-7}}]}", "id 'T-7', an unknown ticket"),
        ("{id: x, check: trajectory, calls: [{tool: restart, args: {host: T-900}}]}", "'T-900', an unknown host"),
        ("{id: x, check: trajectory, calls: key.calls}", "id 'T-7', an unknown ticket"),
        ("{id: x, check: confirmation, tool: restart, args: {host: beta}}", "host 'beta', an unknown host"),
        ("{id: x, check: tool_called, tools: [read_ticket], args: {id: omega}}", "id 'omega', an unknown ticket"),
        ("{id: x, check: authority, writes: [{tool: restart, args: {host: beta}}]}", "an unknown host"),
        (
            "{id: x, check: trajectory, calls: [{tool: get_ticket, args: {id: [T-1, T-7]}}]}",
            "id 'T-7', an unknown ticket",
        ),
        ("{id: x, check: trajectory, calls: [{tool: get_ticket, args: {id: 7}}]}", "id '7', an unknown ticket"),
        ("{id: x, check: trajectory, calls: [{tool: get_ticket, args: {id: true}}]}", "id 'True', an unknown ticket"),
        ("{id: x, check: trajectory, calls: [{tool: get_tiket}]}", "names tool 'get_tiket'"),
        ("{id: x, check: authority, forbidden: [restrat]}", "names tool 'restrat'"),
        ("{id: x, check: safety, tools: [wipe]}", "names tool 'wipe'"),
        ("{id: x, check: tool_forbidden, tools: [wipe]}", "names tool 'wipe'"),
        ("{id: x, check: refusal, no_calls_of: [wipe]}", "names tool 'wipe'"),
    ],
)
def test_a_suite_that_speaks_of_anything_else_is_refused_with_its_place(check: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_suite(SUITE.format(check=check), "desk.yaml")
    assert said in str(refused.value)
    assert str(refused.value).startswith("desk.yaml, line 18 (cases.0.steps.0.checks.0): case 'c-1', check 'x': ")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{host: host}", "{host: hots}", "tool 'restart' says that host names a 'hots'"),
        ("[[ticket, host]]", "[[ticket, owner]]", "`pairs` names 'owner'"),
    ],
)
def test_kinds_that_are_spoken_of_must_be_declared(old: str, new: str, said: str) -> None:
    text = SUITE.format(check="{id: x, check: not_empty}")
    assert old in text
    with pytest.raises(InputError, match=said):
        parse_suite(text.replace(old, new), "desk.yaml")


def test_without_a_catalogue_no_tool_is_unknown() -> None:
    text = (
        "suite: s\npass: top\nchecks: [{id: x, check: tool_called, tools: [any]}]\ncases: [{id: c, steps: [{ask: a}]}]"
    )
    assert parse_suite(text, "s.yaml").cases


def test_what_exists_is_listed_or_given_by_pattern_alone() -> None:
    listed = EntityKind(names=("T-1",), pattern="T-[0-9]+", reserved=("T-900",))
    open_ = EntityKind(pattern="T-[0-9]+", reserved=("T-900",))
    assert (listed.exists("t-1"), listed.exists("T-2"), listed.exists("T-900")) == (True, False, False)
    assert (open_.exists("T-2"), open_.exists("T-900"), open_.knows("T-900")) == (True, False, True)


@pytest.mark.parametrize("case", vectors("domain_validate"), ids=lambda case: case["id"])
def test_the_other_harness_s_cases(case: Any) -> None:
    told, expected = case["input"]["domain"], case["input"]["expected_tool"]
    kinds = {"incident": told["incidents"], "service": told["services"], "runbook": told["runbooks"]}
    missing = [name for name in told["reserved_missing"] if name.startswith("INC-")], ["warehouse"]
    reserved = {"incident": tuple(missing[0]), "service": tuple(missing[1])}
    table = {
        "get_incident": ("incident_id", "incident"), "recall_incident_context": ("incident_id", "incident"),
        "resolve_incident": ("incident_id", "incident"), "save_incident_note": ("incident_id", "incident"),
        "get_service_status": ("name", "service"), "restart_service": ("name", "service"),
        "search_service_logs": ("service", "service"), "get_runbook": ("slug", "runbook"),
        "load_skill": ("name", "skill"),
    }  # fmt: skip
    domain = Domain(
        tools={name: Tool(entities={argument: kind}) for name, (argument, kind) in table.items()},
        vocabulary={
            **{kind: EntityKind(names=tuple(names), reserved=reserved.get(kind, ())) for kind, names in kinds.items()},
            "skill": EntityKind(names=tuple(told["skills"])),
        },
    )
    problems = list(domain.unknown_entities(expected["name"], expected["args"]))
    assert (not problems) is (case["expected"]["accepted"] and case["parity"] == "core")


@pytest.mark.parametrize("pattern", ["(a|a)*b", "(a+)+$", "(?:a?){60}a{60}b"])
def test_a_hostile_pattern_costs_no_more_than_another(pattern: str) -> None:
    kind = EntityKind(pattern=pattern)
    text = "a" * 5_000 + "!"  # `re` would not come back from it
    assert not kind.exists(text)
    assert not kind.knows(text)


def test_a_pattern_of_ids_is_re2_and_fits_the_whole_name() -> None:
    kind = EntityKind(pattern="inc-[0-9]+|t-[0-9]")
    assert kind.exists("INC-12")
    assert not kind.exists("INC-12\n")
    assert not kind.exists("x INC-12")
    assert not kind.exists("T-12")
    with pytest.raises(ValueError, match="look-around"):
        EntityKind(pattern="(?=INC)INC-[0-9]+")
