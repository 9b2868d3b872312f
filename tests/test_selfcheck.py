"""A check that does not look is named, wherever it stands; checks that do are left alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from evallib.case import Case
from evallib.checks.base import Check
from evallib.scoring import probe_failures
from evallib.selfchecks.selfcheck import ideal_sample, self_check
from evallib.suite import Suite, load_suite, parse_suite
from tests.always import Abstains, Fails, Passes

SUITES = Path(__file__).resolve().parent.parent / "data/suites"
SHIPPED = ("basics", "operations", "tickets")


def of_one_case(suite: Suite, case: Case, **more: object) -> Suite:
    """The suite with this case and its probes only."""
    probes = tuple(probe for probe in suite.probes if probe.case == case.id)
    made = suite.model_copy(update={"cases": (case,), "probes": probes, "gate": None, **more})
    for cached in ("bound", "by_id"):
        made.__dict__.pop(cached, None)
    return made


def in_place_of(check: Check, kind: type[Check]) -> Check:
    return kind(id=check.id, check="always", weight=check.weight, critical=check.critical)


def swapped(checks: tuple[Check, ...], kind: type[Check]) -> Iterator[tuple[str, tuple[Check, ...]]]:
    """Each computable check replaced in turn: its id, and all with it replaced."""
    for at, check in enumerate(checks):
        if check.computable:
            yield check.id, (*checks[:at], in_place_of(check, kind), *checks[at + 1 :])


def replacements(suite: Suite, kind: type[Check]) -> Iterator[tuple[str, Suite]]:
    """For every deterministic check of a suite: its id, and a suite of one case in which `kind` stands for it."""
    for name, checks in swapped(suite.checks, kind):
        yield name, of_one_case(suite, suite.cases[0], checks=checks)
    for case in suite.cases:
        for name, checks in swapped(case.checks, kind):
            yield name, of_one_case(suite, case.model_copy(update={"checks": checks}))
        for at, step in enumerate(case.steps):
            for name, checks in swapped(step.checks, kind):
                steps = (*case.steps[:at], step.model_copy(update={"checks": checks}), *case.steps[at + 1 :])
                yield name, of_one_case(suite, case.model_copy(update={"steps": steps}))


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_suites_are_what_they_claim_to_be(name: str) -> None:
    shown = self_check(load_suite(SUITES / name))
    assert (shown.problems, shown.unproven) == ((), ())
    assert shown.shown > 200


@pytest.mark.parametrize("kind", [Passes, Fails, Abstains])
@pytest.mark.parametrize("name", SHIPPED)
def test_a_check_that_does_not_look_is_named_whichever_it_replaces(name: str, kind: type[Check]) -> None:
    suite = load_suite(SUITES / name)
    tried = list(replacements(suite, kind))
    assert len(tried) == {"basics": 33, "operations": 42, "tickets": 5}[name]
    for check, replaced in tried:
        shown = self_check(replaced)
        assert any(repr(check) in told for told in (*shown.problems, *shown.unproven)), (check, replaced.cases[0].id)


def small(checks: str, *more: str, reference: str = "It is four.") -> Suite:
    """A suite of one case with these checks beside one that always holds."""
    lines = ["suite: s", "pass: critical", "checks:", "- {id: answered, check: not_empty, critical: true}", *more]
    told = f", reference: {reference!r}" if reference else ""
    case = f"cases: [{{id: c-1, steps: [{{ask: What is two and two?{told}}}], checks: [{checks}]}}]"
    return parse_suite("\n".join([*lines, case]), "s")


def test_a_check_that_fails_the_reference_answer_is_a_problem() -> None:
    (problem,) = self_check(small("{id: says, check: mentions, all_of: [fuor]}")).problems
    assert problem.startswith("check 'says' of case 'c-1' fails the reference answer: 0 of 1")


def test_a_code_check_that_never_fails_is_named_and_a_probe_can_prove_it() -> None:
    checks = "{id: x, check: code, code: 'return True, str(1)'}"
    (told,) = self_check(small(checks)).unproven
    assert told == "check 'x' of case 'c-1' passed everything it was shown; add a probe that it must fail"
    looks = '{id: x, check: code, code: \'return "seven" not in outputs["answer"], "read"\'}'
    assert self_check(small(looks)).unproven
    probe = "probes: [{name: bad, case: c-1, answer: It is seven., fails: [x]}]"
    shown = self_check(small(looks, probe))
    assert (shown.problems, shown.unproven, shown.probes) == ((), (), 1)


def test_a_code_check_that_breaks_is_a_problem() -> None:
    (problem, *_) = self_check(small("{id: x, check: code, code: 'return 1 / 0'}")).problems
    assert problem.startswith("check 'x' of case 'c-1' has no verdict on the reference answer")


def test_without_a_reference_answer_a_check_must_still_pass_something() -> None:
    assert self_check(small("{id: says, check: mentions, all_of: [four]}", reference="")).unproven == ()
    (told,) = self_check(small("{id: x, check: 'tests.always:Fails'}", reference="")).unproven
    assert told.endswith("failed everything it was shown; add a `reference`, or a probe that it must pass")


@pytest.mark.parametrize("reference", ["", "It is four."])
@pytest.mark.parametrize("kind", ["Abstains", "Leaves"])
def test_a_check_that_never_has_a_verdict_is_named(kind: str, reference: str) -> None:
    shown = self_check(small(f"{{id: x, check: 'tests.always:{kind}'}}", reference=reference))
    (told,) = (*shown.problems, *shown.unproven)
    assert told.startswith("check 'x' of case 'c-1' had no verdict on anything it was shown (as always)") or (
        reference and kind == "Abstains" and "has no verdict on the reference answer: as always" in told
    )


def two_cases(first: str, second: str, wide: str, *, probes: str = "") -> Suite:
    text = f"""suite: s
pass: critical
checks: [{wide}]
{probes}
cases:
- {{id: c-1, steps: [{{ask: One and one?, reference: two}}], key: {{facts: [two]}}, checks: [{first}]}}
- {{id: c-2, steps: [{{ask: One and two?, reference: three}}], key: {{facts: []}}, checks: [{second}]}}
"""
    return parse_suite(text, "s")


def test_a_case_that_nothing_can_fail_is_named_though_its_checks_fail_elsewhere() -> None:
    says = "{id: says, check: mentions, all_of: key.facts, critical: true}"
    (told,) = self_check(two_cases("", "", says)).unproven
    assert told.startswith("case 'c-2' cannot fail: no check that decides it failed anything")
    number = "{id: right, check: matches, any_of: [three], critical: true}"
    assert self_check(two_cases("", number, says)).unproven == ()
    judged = "{id: good, check: judge, rubric: is it good, critical: true}"
    assert self_check(two_cases("", judged, says)).unproven == (), "a judge may fail it, and is not asked"
    probe = "probes: [{name: bad, case: c-2, answer: four, fails: [no-four]}]"
    own = '{id: no-four, check: code, code: \'return "four" not in outputs["answer"], "read"\', critical: true}'
    assert self_check(two_cases("", own, says, probes=probe)).unproven == ()


def test_a_case_that_names_all_there_is_can_still_name_what_there_is_not() -> None:
    grounded = "{id: grounded, check: groundedness, critical: true}"
    lots = "vocabulary: {lot: {names: [L-1, L-2], pattern: 'L-[0-9]'}}"
    suite = two_cases("", "", grounded, probes=lots)
    asked = suite.cases[0].steps[0].model_copy(update={"ask": "L-1 or L-2?"})
    case = suite.cases[0].model_copy(update={"steps": (asked,)})
    assert self_check(of_one_case(suite, case)).unproven == ()


def test_a_case_that_only_silence_fails_is_told() -> None:
    answered = "{id: answered, check: not_empty, critical: true}"
    right = "{id: right, check: matches, any_of: [two, three]%s}"
    (told,) = self_check(two_cases(right % ", critical: true", right % "", answered)).warnings
    assert told.startswith("case 'c-2': nothing but an empty answer or a crash fails it; make a check of what it says")
    assert self_check(two_cases(right % ", critical: true", right % ", critical: true", answered)).warnings == ()


def test_checks_of_which_no_right_answer_is_known_are_told_once() -> None:
    says = "{id: says, check: mentions, all_of: [four], critical: true}"
    (told,) = self_check(small(says, reference="")).warnings
    assert told.startswith("check 'says' of case 'c-1': no right answer is known, so that a slip")
    probe = "probes: [{name: good, case: c-1, answer: It is four., passes: [says]}]"
    assert self_check(small(says, probe, reference="")).warnings == ()
    assert self_check(small(says)).warnings == ()


def test_a_call_of_a_declared_tool_is_made_with_all_that_the_tool_cannot_do_without() -> None:
    text = """
suite: s
pass: top
vocabulary: {order: {names: [R-1]}}
tools:
  mail:
    arguments: {order: {type: string}, text: {type: string, minLength: 12}, copies: {type: integer, minimum: 2},
                tone: {enum: [calm]}, code: {type: string, pattern: '^[A-Z]{3}$'},
                later: {type: boolean, default: true}}
    entities: {order: order}
    write: true
    returns: [{result: {status: sent}}]
cases:
- id: c
  steps: [{ask: "Mail the customer of R-1.", reference: "Done."}]
  checks:
  - {id: sent, check: tool_result, tool: mail, result: {status: sent}}
  - {id: exactly, check: authority, writes: [{tool: mail, args: {order: R-1}}]}
"""
    suite = parse_suite(text, "s")
    (call,) = ideal_sample(suite, suite.cases[0]).tool_calls
    assert call.arguments.keys() == {"order", "text", "copies", "tone", "code"}
    shown = self_check(suite)
    assert (shown.problems, shown.unproven, shown.warnings) == ((), (), ())


def test_a_lenient_check_is_told_with_what_it_let_pass() -> None:
    class Lenient(type(load_suite(SUITES / "basics").cases[0].checks[0])):  # type: ignore[misc]
        """A pattern check that reads the first word only."""

        def __call__(self, samples: list) -> list:
            return [self.scored(one, True, "lenient") for one in samples]

    suite = load_suite(SUITES / "basics")
    check = Lenient.model_validate(suite.cases[0].checks[0].model_dump())
    replaced = of_one_case(suite, suite.cases[0].model_copy(update={"checks": (check,)}))
    assert any("passes what it must fail (unrelated answer): lenient" in told for told in self_check(replaced).problems)


def test_the_ideal_sample_waits_for_a_person_and_does_what_was_approved() -> None:
    suite = load_suite(SUITES / "operations")
    ideal = ideal_sample(suite, suite.by_id["o-009"])
    proposed, decided = ideal.turns
    assert [call.name for call in proposed.pending] == ["bounce_service"]
    assert "audit" in (decided.results[0].result or "")
    refused = ideal_sample(suite, suite.by_id["o-004"]).turns[1]
    assert refused.results[0].error.startswith("refused by ")


def test_what_an_importer_recorded_is_not_tried() -> None:
    suite = parse_suite("suite: s\nrecorded: true\ncases: [{id: c, checks: [{id: r, check: recorded}]}]", "s")
    assert self_check(suite).shown == 0


def endless(tmp_path: Path, *, wide: str = "", own: str = "", probe: str = "") -> tuple[Suite, Path]:
    """A suite of two cases whose code notes each sample it is shown in a file, and then waits past its deadline."""
    noted = tmp_path / "noted"
    code = (
        f"open({str(noted)!r}, 'a').write('x')\n"
        "if outputs['answer'] in arguments.get('fine', []):\n    return True, 'fine'\n"
        "while True:\n    pass"
    )
    body = "".join(f"\n      {line}" for line in code.split("\n"))
    cases = "".join(
        f"\n- id: c-{number}\n  steps: [{{ask: What is two and two?, reference: It is four.}}]" + (
            f"\n  checks:\n  - id: loops\n    check: code\n{own}    code: |{body}" if own else ""
        )
        for number in (1, 2)
    )  # fmt: skip
    shared = f"\n- id: loops\n  check: code\n{wide}  code: |{body}" if wide else ""
    text = f"""suite: s
pass: critical
deadlines: {{check_s: 0.2}}
checks:
- {{id: answered, check: not_empty, critical: true}}{shared}
{probe}
cases:{cases}
"""
    return parse_suite(text, "s"), noted


@pytest.mark.parametrize("where", ["wide", "own"])
def test_a_check_that_never_ends_is_asked_no_more_after_its_first_timeout(tmp_path: Path, where: str) -> None:
    suite, noted = endless(tmp_path, **{where: "  arguments: {}\n" if where == "wide" else "    arguments: {}\n"})
    (problem,) = self_check(suite).problems
    assert problem == (
        "check 'loops' of case 'c-1' has no verdict on the reference answer: the code did not end within 0.2 s; "
        "it was shown nothing more"
    )
    assert len(noted.read_text()) <= len(os.sched_getaffinity(0)), "what was in flight with it, and nothing after"


def test_a_check_that_never_ends_on_what_is_made_for_it_is_unproven(tmp_path: Path) -> None:
    suite, _ = endless(tmp_path, wide="  arguments: {fine: [It is four.]}\n")
    shown = self_check(suite)
    (told,) = shown.unproven
    assert told.startswith("check 'loops' of case 'c-1' has no verdict on a sample made for it (")
    assert told.endswith("): the code did not end within 0.2 s; it was shown nothing more")
    assert shown.problems == (), "a run begins and records it, as any check that is not proven"


def test_probes_too_are_shown_to_a_check_until_its_first_timeout(tmp_path: Path) -> None:
    probes = "probes: [{name: p, case: c-1, answer: a, passes: [loops]}, {name: q, case: c-2, answer: b}]"
    suite, noted = endless(tmp_path, wide="  arguments: {}\n", probe=probes)
    first, second = probe_failures(suite)
    assert first.endswith("has no verdict on it: the code did not end within 0.2 s")
    assert second == "probe 'q': check 'loops' was not asked, as it did not end before"
    assert len(noted.read_text()) == 1


def test_progress_counts_every_check_of_every_case() -> None:
    seen: list[tuple[int, int, int]] = []

    def progress(done: Iterable[int], already: int, total: int) -> Iterator[int]:
        steps = list(done)
        seen.append((len(steps), already, total))
        yield from steps

    suite = load_suite(SUITES / "operations")
    shown = self_check(suite, progress=progress)
    ((steps, already, total),) = seen
    assert (steps, already) == (total, 0)
    assert total > len(suite.cases)
    assert shown.shown > total
