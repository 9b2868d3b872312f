"""The shipped suites: what they promise, checked on the files themselves."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evallib.calibration import load_labelled
from evallib.case import Case
from evallib.checks.judge import Judge
from evallib.entries import Reading, Rescoring, read_entry
from evallib.judges import Exchange, build_prompt
from evallib.records import Sample
from evallib.runner import sample_seed
from evallib.scoring import fold, probe_failures, score_samples
from evallib.strict_yaml import load_yaml
from evallib.suite import Suite
from evallib.suite import load_suite as read_suite
from evallib.targets.script import Conversation, Script
from evallib.targets.script import load_script as read_script

SUITES = Path(__file__).resolve().parent.parent / "data" / "suites"
TICKETS, BASICS = SUITES / "tickets", SUITES / "basics"
TICKET_SCRIPTS = sorted(
    path.name for path in TICKETS.glob("*.yaml") if path.name not in {"suite.yaml", "labelled.yaml"}
)
SCRIPTS = [*(TICKETS / name for name in TICKET_SCRIPTS), BASICS / "script.yaml"]
# Read once for all tests: both are frozen.
load_suite, load_script = cache(read_suite), cache(read_script)


@pytest.fixture(scope="module")
def tickets() -> Suite:
    return load_suite(TICKETS)


@pytest.fixture(scope="module")
def basics() -> Suite:
    return load_suite(BASICS)


def texts(value: Any) -> Iterator[str]:
    """Every text in a part of an answer key."""
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        yield from texts(part)


def failures(suite: Suite, case: Case, answer: str) -> list[str]:
    """Ids of the computable checks that this answer fails."""
    sample = Sample("r", case.id, 1, answer=answer, exit_code=0)
    return [v.check_id for v in score_samples(suite, [sample]) if v.status == "scored" and not v.passed]


def spoken(script: Script, case: Case, seed: int) -> str:
    """What the scripted model says in the end, its tool calls answered with nothing."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": case.steps[0].ask}]
    while True:
        answer = script.answer(Conversation("scripted", messages, seed))
        assert answer is not None
        if answer.text is not None:
            return answer.text
        calls = [{"id": f"{len(messages)}", "function": {"name": call.name}} for call in answer.tool_calls]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": calls[-1]["id"], "content": ""})


def test_tickets_has_ten_cases_for_validation_and_twenty_for_training(tickets: Suite) -> None:
    assert Counter(case.split for case in tickets.cases) == {"validation": 10, "train": 20}
    assert sum(case.required for case in tickets.cases) == 2


def test_the_weights_and_thresholds_are_those_of_the_article(tickets: Suite) -> None:
    weights = {check.id: check.weight for check in tickets.checks}
    assert weights == {"citation": 0.25, "facts": 0.25, "policy": 0.15, "format": 0.15, "quality": 0.2, "exit": 0}
    assert tickets.gate is not None
    assert (tickets.gate.mean, tickets.gate.floor) == (0.9, 0.7)
    wanted = {"citation": 0.9, "facts": 0.9, "policy": 1, "format": 0.8, "quality": 4, "exit": 1}
    assert tickets.gate.checks == wanted


def test_the_knowledge_base_holds_32_short_articles_and_each_one_cited() -> None:
    articles = {path.stem: path.read_text(encoding="utf-8") for path in (TICKETS / "kb").glob("KB-*.md")}
    assert len(articles) == 32
    for name, text in articles.items():
        assert text.startswith(f"# {name}: ")
        assert 60 <= len(text.split()) <= 150, name
    cited = {article for case in load_suite(TICKETS).cases for article in case.key["articles"]}
    assert cited <= set(articles)


@pytest.mark.parametrize("folder", [TICKETS, BASICS], ids=["tickets", "basics"])
def test_ids_are_opaque(folder: Path) -> None:
    for case in load_suite(folder).cases:
        assert re.fullmatch(r"[tb]-\d{3}", case.id)
        assert not [text for text in texts(dict(case.key)) if text.lower() in case.id or case.id in text.lower()]


def test_the_target_is_told_neither_the_policy_nor_the_key(tickets: Suite) -> None:
    assert len(tickets.system.split()) == 12
    assert not re.search(r"summary|steps|words|date|scope|cite", tickets.system, re.IGNORECASE)
    for case in tickets.cases:
        assert not [article for article in case.key["articles"] if article in case.steps[0].ask]


def test_every_reference_gets_full_marks_on_all_that_can_be_computed(tickets: Suite) -> None:
    assert {case.id: failures(tickets, case, case.steps[0].reference) for case in tickets.cases} == {
        case.id: [] for case in tickets.cases
    }


def test_no_reference_names_what_is_forbidden_nor_says_it_in_over_250_words(tickets: Suite) -> None:
    for case in tickets.cases:
        reference = case.steps[0].reference
        assert len(reference.split()) <= 250
        assert not [phrase for phrase in case.key["forbidden"] if phrase.lower() in reference.lower()], case.id


@pytest.mark.parametrize(
    "folder", [TICKETS, TICKETS / "demo" / "suite-v2.yaml", BASICS], ids=["tickets", "v2", "basics"]
)
def test_every_probe_behaves(folder: Path) -> None:
    assert probe_failures(load_suite(folder)) == []


def test_the_self_check_notices_a_bad_answer_that_became_good(tickets: Suite) -> None:
    bad = [probe for probe in tickets.probes if probe.fails]
    assert len(bad) == 38
    for probe in bad:
        good = probe.model_copy(update={"answer": tickets.by_id[probe.case].steps[0].reference})
        problems = probe_failures(tickets.model_copy(update={"probes": (good,)}))
        assert len(problems) == len(probe.fails), probe.name


def test_naming_what_is_not_the_fix_is_a_right_answer(tickets: Suite) -> None:
    trap = tickets.by_id["t-011"]
    right = "Neither disabling SELinux on the workers nor the privileged SCC is the fix."
    assert "policy" not in failures(tickets, trap, right)
    assert "policy" in failures(tickets, trap, "Disable SELinux on the workers, or use the privileged SCC.")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_judge_rule_of_a_script_reacts_to_the_answer(path: Path) -> None:
    script, suite = load_script(path), load_suite(path.parent)
    rules = [reply.when.contains for reply in script.replies if reply.when.model == "judge"]
    marks = [mark for rule in rules for mark in rule]
    judges = [check for check in suite.checks if isinstance(check, Judge)]
    for case in suite.cases if judges else ():
        prompt = build_prompt(judges[0], Exchange((case.steps[0].ask,), ("some answer",), (), case.key))[-1]["content"]
        assert not [mark for mark in marks if mark in prompt], case.id


@pytest.mark.parametrize("name", TICKET_SCRIPTS)
def test_every_judge_rule_of_a_script_is_used_by_some_answer_of_it(name: str, tickets: Suite) -> None:
    script = load_script(TICKETS / name)
    said = {answer.text for reply in script.replies if reply.when.model is None for answer in reply.answers}
    if name == "script.yaml":
        said |= {one.answer for one in load_labelled(TICKETS / "labelled.yaml", tickets).answers}
    prompts = [json.dumps({"answer": text}, ensure_ascii=False, indent=1) for text in said if text is not None]
    for reply in script.replies:
        if reply.when.model == "judge":
            assert any(all(mark in prompt for mark in reply.when.contains) for prompt in prompts), reply.when


def test_the_demo_script_knows_every_ticket_and_varies_on_validation(tickets: Suite) -> None:
    script = load_script(TICKETS / "script.yaml")
    assert script.default is not None
    for case in tickets.cases:
        said = {spoken(script, case, seed) for seed in range(5)}
        assert script.default.text not in said
        assert len(said) == 5 if case.split == "validation" else said


def demo_answers(suite: Suite) -> list[Sample]:
    """The answers of the demo run: five samples of each validation case, run seed 0."""
    script = load_script(TICKETS / "script.yaml")
    return [
        Sample("demo-tickets", case.id, n, answer=spoken(script, case, sample_seed(0, case, n)), exit_code=0)
        for case in suite.select(split="validation")
        for n in range(1, 6)
    ]


def test_the_rescoring_entry_expects_exactly_the_flips_it_causes(tickets: Suite) -> None:
    widened = load_suite(TICKETS / "demo" / "suite-v2.yaml")
    entry = read_entry(load_yaml(TICKETS / "demo" / "entry.yaml"))
    assert isinstance(entry, Rescoring)
    samples = demo_answers(tickets)
    before, after = (
        {(v.case_id, v.sample, v.check_id): v.passed for v in score_samples(s, samples)} for s in (tickets, widened)
    )
    flips = {(case, n) for (case, n, check), passed in after.items() if passed != before[(case, n, check)]}
    assert flips == {(e.case, e.sample) for e in entry.expects if e.run == "demo-tickets" and e.to == "pass"}
    assert len(flips) == 3


def test_the_corrected_suite_changes_one_criterion_and_nothing_else(tickets: Suite) -> None:
    widened = load_suite(TICKETS / "demo" / "suite-v2.yaml")
    changed = [
        (case_id, old.check.id)
        for case_id, bounds in tickets.bound.items()
        for old, new in zip(bounds, widened.bound[case_id], strict=True)
        if old.decides != new.decides
    ]
    assert changed == [("t-017", "facts"), ("t-017", "quality")]  # the judge is shown the key
    assert tickets.gate_digest == widened.gate_digest
    assert [case.question for case in tickets.cases] == [case.question for case in widened.cases]


def test_the_readings_fit_the_demo_run(tickets: Suite) -> None:
    answers = {sample.key: sample for sample in demo_answers(tickets)}
    written = load_yaml(TICKETS / "demo" / "readings.yaml").value
    readings = [Reading(run="demo-tickets", author="demo", **reading) for reading in written]
    assert {reading.reading for reading in readings} == {"pass", "fail", "infra", "unsure"}
    for reading in readings:
        failed = failures(tickets, tickets.by_id[reading.case], answers[(reading.case, reading.sample)].answer)
        assert reading.check in {"", "quality", *failed}
        assert failed or reading.cause in {"too-broad", "other"}


def test_one_answer_of_the_demo_passes_every_computable_check_and_destroys_data(tickets: Suite) -> None:
    (answer,) = [s.answer for s in demo_answers(tickets) if "the bound ones included" in s.answer]
    assert failures(tickets, tickets.by_id["t-002"], answer) == []


def test_basics_asks_short_questions_that_no_model_has_to_judge(basics: Suite) -> None:
    assert len(basics.cases) >= 24
    for case in basics.cases:
        assert len(case.steps[0].ask.split()) <= 16
        assert all(bound.check.computable for bound in basics.bound[case.id])
    assert {b.check.check for bounds in basics.bound.values() for b in bounds} >= {"matches", "number", "not_empty"}


def test_every_basic_question_can_be_passed_and_failed(basics: Suite) -> None:
    script = load_script(BASICS / "script.yaml")
    for case in basics.cases:
        answers = {spoken(script, case, seed) for seed in range(8)}
        samples = [Sample("r", case.id, n, answer=text) for n, text in enumerate(sorted(answers), 1)]
        passed = {fold(s, score_samples(basics, [s]), basics.pass_rule).passed for s in samples}
        assert True in passed, case.id
        assert (
            fold(Sample("r", case.id, 1), score_samples(basics, [Sample("r", case.id, 1)]), basics.pass_rule).passed
            is False
        )
    assert load_script(BASICS / "script.yaml").default is not None


def test_most_basic_questions_have_answers_of_both_kinds_in_the_script(basics: Suite) -> None:
    script = load_script(BASICS / "script.yaml")
    mixed = [
        c.id
        for c in basics.cases
        if {not failures(basics, c, spoken(script, c, seed)) for seed in range(8)} == {True, False}
    ]
    assert len(mixed) >= len(basics.cases) / 2
