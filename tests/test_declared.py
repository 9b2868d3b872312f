"""Names that a suite declares and nothing fits, and names that look like a slip of another, are told."""

from __future__ import annotations

import pytest

from tests.test_lint import HEAD, of, problems, warnings


def cases(*more: str, head: str = "") -> str:
    """A suite of one case per text, which is what follows its request."""
    told = "".join(f"\n- {{id: c-{n}, steps: [{{ask: Why?}}], {keys}}}" for n, keys in enumerate(more, 1))
    return f"{HEAD}{head}\ncases:{told}"


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("returns: [{after: lok, result: 1}]", "answer 1 of 'look' comes after 'lok', which is no tool"),
        ("returns: [{result: 1}, {when: {nmae: a}, result: 2}]", "answer 2 of 'look' is for argument 'nmae'"),
        ("returns: [{when: {name: seat-mpa}, result: 2}]", "name 'seat-mpa', an unknown service"),
        ("returns: [{when: {name: seat-map}, after: look, result: 2}]", ""),
    ],
)
def test_what_a_tool_gives_to_no_call_is_a_problem(declared: str, told: str) -> None:
    head = "vocabulary: {service: {names: [seat-map]}}\ntools: {look: {arguments: {name: {type: string}}, "
    found = problems(of("{id: x, check: not_empty}", head=f"{head}entities: {{name: service}}, {declared}}}}}"))
    assert any(told in one for one in found) is bool(told)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("{pattern: 'Q-[0-9]+', names: [P-204]}", "fits no x, and 'p-204' but for a slip"),
        ("{pattern: 'P-[1-9]+', names: [P-198, P-204]}", "fits 'p-198' and not 'p-204'"),
        ("{pattern: 'P-[0-9]{1}', names: [P-204]}", "fits no x, and 'p-204' but for a slip"),
        ("{pattern: 'S[2-4]'}", "fits 's3' and not 's1'"),
        ("{pattern: 'SS[1-4]'}", "fits no x, and 's1' but for a slip"),
        ("{pattern: 'S[1-33]'}", "names '3' twice in one class"),
        ("{pattern: 'S[1-3]', reserved: [S9]}", ""),
        ("{pattern: 'node-[a-z0-9]+', names: [attic]}", ""),
        (f"{{pattern: '(a+)+$x', names: [{'a' * 60}]}}", "but for a slip"),  # backtracking would never end
    ],
)
def test_a_pattern_of_the_vocabulary_fits_what_it_is_for(kind: str, told: str) -> None:
    found = problems(of("{id: x, check: not_empty}", head=f"vocabulary: {{x: {kind}}}", ask="Is it S1 or S3?"))
    assert [told in one for one in found] == [True] * bool(told)


def test_a_key_that_a_schema_does_not_have_is_a_problem() -> None:
    text = "{id: x, check: schema, schema: {type: object%s}, entities: {naem: lamp}}"
    head = "vocabulary: {lamp: {names: [porch]}}"
    (told,) = problems(of(text % ", properties: {name: {type: string}}", head=head))
    assert told == "check 'x' of case 'c': `entities` names key 'naem', and the schema has name"
    assert problems(of(text % "", head=head)) == (), "a schema that names no keys takes any"


def test_other_names_of_a_tool_that_nothing_names_are_a_problem() -> None:
    check = "{id: x, check: tool_forbidden, tools: [fire]}"
    (told,) = problems(of(check, head="aliases: {fier: [shoot]}"))
    assert told.startswith("`aliases` has other names for 'fier'")
    assert problems(of(check, head="aliases: {fire: [shoot]}")) == ()


@pytest.mark.parametrize(
    ("name", "is_told"),
    [("seat-mpa", True), ("seat-ma", True), ("eat-map", True), ("seat-map", False), ("seat-desk", False)],
)
def test_a_name_of_the_vocabulary_that_only_a_slip_parts_from_what_the_suite_says_is_told(name, is_told) -> None:
    head = f"vocabulary: {{service: {{names: [{name}]}}}}"
    found = problems(of("{id: x, check: not_empty}", head=head, ask="Is seat-map down?"))
    assert [f"the service {name!r}" in one and "speaks of 'seat-map'" in one for one in found] == [True] * is_told


@pytest.mark.parametrize(
    ("tags", "when", "told"),
    [
        (("decision", "decision", "decisino"), "", "tag 'decisino' stands once, and 'decision' at 2 places"),
        (("decision", "decisino"), "decision", "tag 'decisino' stands once, and 'decision' at 3 places"),
        (("path", "path", "pth"), "", "tag 'pth' stands once, and 'path' at 2 places"),
        (("decision", "decisino"), "", "tag 'decision' stands once, and 'decisino' once too"),
        (("path", "pth"), "", ""),
        (("read", "read", "write"), "read", ""),
        (("lot-1", "lot-1", "lot-2"), "", ""),
        (("tier-a", "tier-a", "tier-b"), "", ""),
        (("host", "host", "hosts"), "host", ""),
    ],
)
def test_a_tag_that_looks_like_a_slip_is_told(tags: tuple[str, ...], when: str, told: str) -> None:
    head = f"checks: [{{id: x, check: not_empty, when: {{tags: [{when}]}}}}]" if when else ""
    text = cases(*(f"tags: [{tag}], checks: [{{id: y, check: exit_code}}]" for tag in tags), head=head)
    found = problems(text) if when else warnings(text)
    assert [one.partition(";")[0] for one in found] == [told] * bool(told)
    assert (warnings(text) if when else problems(text)) == ()


def test_a_tool_that_looks_like_a_slip_is_told_where_none_is_declared() -> None:
    names = ("get_logs", "get_logs", "get_losg", "get_events")
    text = ", ".join(f"{{id: x-{n}, check: tool_forbidden, tools: [{name}]}}" for n, name in enumerate(names))
    told, _ = warnings(of(text))
    assert told.startswith("tool 'get_losg' stands once, and 'get_logs' at 2 places")
    assert len(warnings(of(text.replace("losg", "logs")))) == 1


def test_the_id_of_a_check_that_looks_like_a_slip_is_told() -> None:
    (told,) = warnings(cases(*(f"checks: [{{id: {name}, check: not_empty}}]" for name in ("says", "says", "syas"))))
    assert told.startswith("check id 'syas' stands once, and 'says' at 2 places")
    assert warnings(cases(*(f"checks: [{{id: {name}, check: not_empty}}]" for name in ("says", "says", "path")))) == ()


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("error: 'no {nmae}'", "answer 1 of 'look' says {nmae}, and only {name} is filled in; correct its spelling"),
        ("result: {by: '{aprover}'}", "says {aprover}, and only {approver} is filled in"),
        ("error: 'no {name}, {HOME}'", ""),
        ("when: {lines: 900}, result: 1", "is for lines 900, which its schema refuses (the value: 900 is greater"),
        ("when: {lines: 20}, result: 1", ""),
    ],
)
def test_what_no_call_can_fill_in_or_be_made_with_is_a_problem(declared: str, told: str) -> None:
    tool = "{arguments: {name: {type: string}, lines: {type: integer, maximum: 200, default: %s}}, returns: [{%s}]}"
    check = "{id: x, check: tool_called, tools: [look], args: {name: a, lines: %s}}"
    found = problems(of(check % 3, head=f"tools: {{look: {tool % (20, declared)}}}"))
    assert [told in one for one in found] == [True] * bool(told)
    (told,) = problems(of(check % 3, head=f"tools: {{look: {tool % (220, 'result: 1')}}}"))
    assert told.startswith("tools: 'look' has as default lines 220, which its schema refuses")
    (told,) = problems(of(check % 300, head=f"tools: {{look: {tool % (20, 'result: 1')}}}"))
    assert told.startswith("check 'x' of case 'c' waits for a call of 'look' with lines 300, which its schema refuses")


@pytest.mark.parametrize("args", ["{at: {town: Ghent}}", "{name: ''}", "{name: ANY}"])
def test_what_an_expected_argument_leaves_open_is_not_held_against_the_schema(args: str) -> None:
    at = "{type: object, required: [town, street]}"
    head = f"tools: {{look: {{arguments: {{at: {at}, name: {{type: string, minLength: 5}}}}}}}}"
    check = "{id: x, check: trajectory, calls: [{tool: look, args: %s, ignore: [%s]}]}"
    assert problems(of(check % (args, "name" if "ANY" in args else ""), head=head)) == ()
    assert problems(of(check % ("{name: ANY}", ""), head=head))


def test_a_schema_that_is_none_is_left_to_who_plays_the_tools() -> None:
    tool = "{arguments: {name: {type: strin}, any: {}}, returns: [{when: {name: a, any: 1}, result: 1}]}"
    assert problems(of("{id: x, check: not_empty}", head=f"tools: {{look: {tool}}}")) == ()


@pytest.mark.parametrize(
    ("ask", "result", "told"),
    [
        ("Where is R-1003?", "{order: R-1001}", "case 'c': the request names 'r-1003', an unknown order"),
        ("Where is r-1001, or R-9999?", "{order: R-1O01}", "an answer of 'look' says order 'R-1O01', an unknown order"),
        ("Where is R-1001?", "[{order: [R-1001, '{order}']}, {orders: 3, state: R-7}]", ""),
    ],
)
def test_an_id_that_is_not_among_the_names_is_told(ask: str, result: str, told: str) -> None:
    head = (
        "vocabulary: {order: {names: [R-1001], pattern: 'R-[0-9]+', reserved: [R-9999]}, mood: {pattern: 'M[1-4]'}}\n"
    )
    head += f"tools: {{look: {{returns: [{{result: {result}}}]}}}}"
    found = warnings(of("{id: x, check: tool_forbidden, tools: [look]}", head=head, ask=f"{ask} M9"))
    assert [told in one for one in found] == [True] * bool(told)


def test_a_key_of_an_answer_that_looks_like_a_slip_is_told() -> None:
    head = "tools: {look: {returns: [{when: {n: 1}, result: [{state: up}]}, {when: {n: 2}, result: {state: up}}, %s]}}"
    check = "{id: x, check: tool_forbidden, tools: [look]}"
    (told,) = warnings(of(check, head=head % "{result: {sttae: up}}"))
    assert told.startswith("key of a tool's answers 'sttae' stands once, and 'state' at 2 places")
    assert warnings(of(check, head=head % "{result: {owner: a}}")) == ()
