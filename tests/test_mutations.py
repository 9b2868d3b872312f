"""Every kind of check is shown what breaks it, and fails it; what only varies an answer still passes."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import pytest

from evallib.checks import KINDS
from evallib.checks.base import Check
from evallib.records import Sample, Verdict
from evallib.selfchecks import mutations
from evallib.selfchecks.mutations import shown_samples
from evallib.selfchecks.selfcheck import ideal_sample, self_check
from evallib.selfchecks.variants import example, otherwise, without
from evallib.suite import Suite, parse_suite
from tests.making import code_suite

WORLD = """\
suite: s
pass: top
vocabulary: {lamp: {names: [porch, attic, cellar]}, mood: {pattern: 'M[1-4]'}}
tools:
  look: {arguments: {name: {type: string}}, entities: {name: lamp}, returns: [{result: {lamp: porch, lit: true}}]}
  light: {arguments: {name: {type: string}}, write: true, guarded: true, returns: [{result: {status: lit}}]}
  paint: {arguments: {name: {type: string}}, write: true}
"""
TRIED: dict[str, tuple[str, str, set[str]]] = {
    # kind: check, reference answer, mutations that it must be shown and fail
    "mentions": ("all_of: [seven, [red, scarlet]]", "Seven are red.", {"fact left out", "empty answer"}),
    "exact": ("any_of: [seven]", "seven", {"another text", "unrelated answer"}),
    "number": ("equals: 7", "It is 7.", {"wrong number", "two numbers offered"}),
    "choice": ("equals: B, options: [A, B, C]", "B", {"another option", "two options"}),
    "refusal": ("all_of: [cannot], no_calls_of: [paint]", "I cannot.", {"forbidden call", "fact left out"}),
    "schema": (
        "schema: {type: object, required: [n], properties: {n: {type: integer}}}",
        '{"n": 7}',
        {"text after the JSON", "JSON cut short", "missing key"},
    ),
    "sections": (
        "headings: [why, how], max_words: 9",
        "# Why\nA\n# How\nB",
        {"missing section", "over-long answer", "key pasted as answer"},
    ),
    "not_empty": ("", "Yes.", {"empty answer", "blanks only"}),
    "matches": ("all_of: ['sev[e]n'], none_of: ['eight']", "It is seven.", {"pattern left out", "forbidden pattern"}),
    "forbids": (
        "phrases: key.bad, kinds: [promised_date]",
        "Wait for a while.",
        {"forbidden advice", "promised date", "key pasted as answer"},
    ),
    "secrets": ("arguments: true", "Nothing.", {"secret told", "secret told in an argument"}),
    "trajectory": (
        "calls: [{tool: look, args: {name: porch}}, {tool: light, args: {name: porch}}]",
        "Done.",
        {"no tool used", "call left out", "wrong argument", "calls the other way round"},
    ),
    "tool_called": ("tools: [look], args: {name: porch}", "Lit.", {"no tool used", "call left out", "wrong argument"}),
    "tool_result": ("tool: look, args: {name: porch}, result: {lit: true}", "Lit.", {"error of", "other result of"}),
    "tool_forbidden": ("tools: [paint]", "Lit.", {"forbidden call"}),
    "tool_budget": ("max: 2", "Lit.", {"too many calls"}),
    "confirmation": ("tool: light, args: {name: porch}", "It waits.", {"no tool used", "no wait for approval"}),
    "authority": (
        "forbidden: [look], writes: [{tool: light, args: {name: porch}, times: 0}], confirmation: {tool: light}",
        "It waits.",
        {"forbidden call", "unexpected write", "write once too often"},
    ),
    "safety": (
        "values: [k-9-token], tools: [paint]",
        "Lit.",
        {"leaked value", "value leaked in an argument", "value leaked while streaming", "forbidden call"},
    ),
    "groundedness": (
        "",
        "All is well.",
        {"lamp out of nowhere", "mood out of nowhere", "lamp known from an error only"},
    ),
    "exit_code": ("", "Lit.", {"crash"}),
}  # fmt: skip


def suite_of(kind: str) -> Suite:
    keys, reference, _ = TRIED[kind]
    check = f"{{id: x, check: {kind}{', ' if keys else ''}{keys}}}"
    step = f"{{ask: What is there?, reference: {reference!r}}}".replace("\\n", "\n\n")
    return parse_suite(
        f"{WORLD}cases: [{{id: c, steps: [{step}], key: {{bad: [tear it down]}}, checks: [{check}]}}]", "s"
    )


def test_every_kind_that_can_be_computed_is_in_the_table() -> None:
    assert set(TRIED) == set(KINDS) - {"code", "judge", "recorded"}


@pytest.mark.parametrize("kind", TRIED)
def test_a_kind_passes_the_ideal_and_fails_what_breaks_it(kind: str) -> None:
    suite = suite_of(kind)
    (bound,) = suite.bound["c"]
    ideal = ideal_sample(suite, suite.cases[0])
    assert bound.check([ideal])[0].passed, bound.check([ideal])[0].reason
    seen: dict[str, list[bool | None]] = defaultdict(list)
    for shown in shown_samples(suite, bound.check, ideal):
        (verdict,) = bound.check([shown.sample])
        assert shown.must is None or verdict.passed is shown.must, (shown.mutation, verdict.reason)
        seen[shown.mutation].append(shown.must)
    for wanted in TRIED[kind][2]:
        assert any(name.startswith(wanted) and False in must for name, must in seen.items()), (wanted, list(seen))


@pytest.mark.parametrize("kind", [*TRIED, "code"])
def test_a_kind_that_does_not_look_is_named_by_its_own_samples(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = suite_of(kind) if kind in TRIED else parse_suite(code_suite("return outputs['answer'] == 'A'"), "s")
    (bound,) = suite.bound[suite.cases[0].id]
    told = (True, "as always"), (False, "as always"), "silent", "not applicable"
    for how in told:

        def judge(self: Check, samples: list[Sample], how: Any = how) -> list[Verdict]:
            if isinstance(how, tuple):
                return [self.scored(one, *how) for one in samples]
            return [self.unscored(one, how, applicable=how == "silent") for one in samples]

        monkeypatch.setattr(type(bound.check), "__call__", judge)
        shown = self_check(suite)
        assert any("check 'x'" in said for said in (*shown.problems, *shown.unproven)), (how, shown)


@pytest.mark.parametrize("kind", ["mentions", "sections", "forbids"])
def test_reordered_sections_still_pass(kind: str) -> None:
    keys = {"mentions": "all_of: [A]", "sections": "headings: [why], max_words: 9", "forbids": "phrases: [burn it]"}
    check = f"{{id: x, check: {kind}, {keys[kind]}}}"
    step = '{ask: q, reference: "# Why\\nA\\n# How\\nB"}'
    suite = parse_suite(f"suite: s\npass: top\ncases: [{{id: c, steps: [{step}], checks: [{check}]}}]", "s")
    made = shown_samples(suite, suite.bound["c"][0].check, ideal_sample(suite, suite.cases[0]))
    good = [shown.mutation for shown in made if shown.must]
    assert "reordered sections" in good
    assert (kind != "forbids") or {"negated phrase: 'burn it'", "quoted instruction: 'burn it'"} <= set(good)


def test_a_kind_of_ones_own_is_shown_the_general_samples() -> None:
    text = "suite: s\npass: top\ncases: [{id: c, steps: [{ask: q 1, reference: r 1}], key: {a: [k]}, checks: [%s]}]"
    suite = parse_suite(text % "{id: x, check: 'tests.always:Passes'}", "s")
    made = list(shown_samples(suite, suite.bound["c"][0].check, ideal_sample(suite, suite.cases[0])))
    assert {shown.must for shown in made} == {None}
    assert {shown.mutation: shown.sample.answer for shown in made} | {"over-long answer": ""} == {
        "empty answer": "",
        "unrelated answer": mutations._OFF_TOPIC,
        "no tool used": "r 1",
        "blanks only": " \n\t",
        "over-long answer": "",
        "wrong number": "r 2",
        "question repeated": "q 1",
        "key pasted as answer": "k.",
        "crash": "r 1",
    }


def test_the_table_names_kinds_that_there_are() -> None:
    rows = re.findall(r"^\| (?!mutation)(?!-)(.+?) \| (.+) \|$", mutations.__doc__ or "", re.MULTILINE)
    named = {word for _, kinds in rows for word in re.findall(r"\b[a-z]+(?:_[a-z]+)*\b", re.sub(r"\(.*?\)", "", kinds))}
    assert set(TRIED) <= named


@pytest.mark.parametrize("pattern", [r"\bcold\b", r"pass(word|code)\s*[:=]\s*\S{3,}", r"(?i)a{2,4}.*b", r"\d+\s?Mi"])
def test_an_example_is_hit_by_its_pattern(pattern: str) -> None:
    text = example(pattern)
    assert text is not None
    assert re.search(pattern, text, re.IGNORECASE | re.DOTALL)
    assert "\x0b" not in text
    assert without(pattern, f"so {text} it") is not None


def test_patterns_in_res_own_way_give_no_example() -> None:
    assert example(r"\pL+\Q.\E") is None
    assert without(r"\pL+", "x") is None


@pytest.mark.parametrize("value", [True, 3, 2.5, "x", [1], None])
def test_another_value_is_another(value: object) -> None:
    assert otherwise(value) != value


def test_a_pattern_is_named_as_its_author_wrote_it() -> None:
    suite = parse_suite(
        "suite: s\npass: top\ncases: [{id: c, steps: [{ask: a, reference: It is 7.}], checks: [{id: x, check: matches, "
        "all_of: ['\\b7\\b'], none_of: ['\\b8\\b']}]}]",
        "s",
    )
    (bound,) = suite.bound["c"]
    named = {shown.mutation for shown in shown_samples(suite, bound.check, ideal_sample(suite, suite.cases[0]))}
    assert {r"pattern left out: '\b7\b'", r"forbidden pattern: '\b8\b'"} <= named
