"""Berth's runs, criteria and readings: everything recorded arrives, and nothing is computed again."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

import pytest

from evallib.cli import main
from evallib.errors import InputError
from evallib.importers import import_run, read_berth, read_berth_readings, read_berth_suite
from evallib.scoring import score_samples
from evallib.suite import parse_suite
from tests.sources import ROOT, SETS, SHARED, changed, criteria, outcomes, real, record, write_berth, write_criteria

# Berth runs


@real
@pytest.mark.parametrize(("name", "counts"), [(SETS[0], (9, 3, 0)), (SETS[1], (24, 18, 2)), (SETS[2], (24, 17, 0))])
def test_the_real_sets_import_with_their_published_counts(name, counts):
    run = import_run("berth", SHARED / "berth" / name)
    found = outcomes(run)
    passed, errors = sum(one.passed is True for one in found), sum(one.status == "error" for one in found)
    assert (len(run.samples), passed, errors) == counts
    assert run.source["set"] == name
    assert run.source["bytes"] == (SHARED / "berth" / name / "results.jsonl").stat().st_size


@real
@pytest.mark.parametrize("name", SETS)
def test_no_recorded_verdict_is_lost_or_changed(name):
    run = import_run("berth", SHARED / "berth" / name / "results.jsonl")
    kept = {(v.case_id, v.sample, v.check_id): (v.passed, v.critical) for v in run.verdicts}
    assert kept == published(name, "results.jsonl")
    assert all(verdict.origin == "recorded" and verdict.reason for verdict in run.verdicts)


def published(name: str, file: str) -> dict:
    lines = [json.loads(line) for line in (SHARED / "berth" / name / file).read_text().splitlines()]
    return {
        (one["scenario"], one["repeat"], check["id"]): (check["passed"], check["critical"])
        for one in lines
        for check in one["checks"]
    }


def test_a_berth_record_becomes_a_sample_with_all_it_says(tmp_path):
    run = import_run("berth", write_berth(tmp_path, record()))
    (sample,) = run.samples
    assert (sample.answer, sample.recorded, sample.duration_s) == ("All is well.", ("a note",), 1.5)
    assert (sample.usage.input_tokens, sample.usage.output_tokens, sample.usage.calls) == (10, 5, 3)
    assert json.loads(sample.source)["tokens"]["cacheRead"] == 2
    assert sample.flags == ("cut_results",)
    assert [verdict.reason for verdict in run.verdicts] == ["recorded: stays calm", "recorded: 9 calls"]
    assert run.target == {
        "kind": "import", "format": "berth", "model": "m:1", "provider": "local", "settings": None,
    }  # fmt: skip


def test_the_suite_of_an_import_describes_the_recorded_checks(tmp_path):
    suite = parse_suite(import_run("berth", write_berth(tmp_path, record())).suite_yaml, "suite")
    calm, brief = suite.cases[0].checks
    assert suite.recorded
    assert (calm.id, calm.check, calm.description, calm.critical) == ("calm", "recorded", "stays calm", True)
    assert (brief.critical, brief.weight) == (False, 1.0)


def test_questions_come_from_the_criteria_and_are_shown_to_readers(tmp_path):
    path, questions = write_berth(tmp_path, record()), write_criteria(tmp_path, criteria())
    imported = read_berth(path, questions)
    (case,) = parse_suite(imported.suite_yaml, "s").cases
    assert [step.ask for step in case.steps] == ["Where?", "Sure?"]
    assert case.question == parse_suite(read_berth_suite(questions), "s").by_id["night"].question
    assert imported.source["questions"]["path"] == "checks.json"
    with pytest.raises(InputError, match=r"no scenario 'day'.*leave --questions out"):
        read_berth(write_berth(tmp_path, record("day")), questions)


def test_questions_are_of_berth_alone(tmp_path, capsys):
    assert main(["import", "berth-suite", "x", "--questions", "y", "--out", str(tmp_path / "z")]) == 2
    assert "--questions is of `berth`" in capsys.readouterr().err


def test_absurd_repeats_are_refused_in_one_sentence(tmp_path, capsys):
    path = write_berth(tmp_path, {**record(), "repeat": 2_000_000_000})
    assert main(["import", "berth", str(path), "--data", str(tmp_path), "--run-id", "b"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(
        "evallib: import of 'b': plans 2000000000 samples, more than the 2000000 that a run can hold"
    )
    assert error.count("\n") == 1
    assert not (tmp_path / "runs" / "b").exists()


def test_an_errored_record_keeps_its_error_and_its_verdict(tmp_path):
    ended = {"id": "ended", "desc": "the run ended", "critical": True, "passed": False, "detail": "HTTP 500"}
    broken = {**record(), "error": "HTTP 500", "answer": "", "checks": [ended], "score": 0, "pass": False}
    run = import_run("berth", write_berth(tmp_path, broken))
    assert (run.samples[0].status, run.samples[0].error) == ("provider_error", "HTTP 500")
    assert [verdict.reason for verdict in run.verdicts] == ["recorded: HTTP 500"]


def test_a_record_without_a_trace_is_flagged(tmp_path):
    (sample,) = import_run("berth", write_berth(tmp_path, changed(record(), "toolTrace", None))).samples
    assert sample.tool_calls == ()
    assert sample.flags == ("no_trace",)


def test_nul_and_lone_surrogates_are_spelled_out_and_flagged(tmp_path):
    (sample,) = import_run("berth", write_berth(tmp_path, changed(record(), "answer", "a\0b\ud800c"))).samples
    assert sample.answer == r"a\u0000b\ud800c"
    assert "escaped" in sample.flags


@pytest.mark.parametrize(
    ("place", "new", "complaint"),
    [
        ("scenario", ..., "key 'scenario' is missing"),
        ("scenario", "two words", "a name has letters"),
        ("repeat", 0, "key 'repeat' is 0; expected 1"),
        ("repeat", 1.0, "key 'repeat' is 1.0; expected a whole number"),
        ("answer", None, "key 'answer' is null; expected text"),
        ("pass", "true", "key 'pass' is 'true'; expected true or false"),
        ("pass", False, "the record contradicts itself"),
        ("score", 0.75, "its checks give 0.5"),
        ("checks", [], "no critical check"),
        ("checks.1.id", "calm", "stands twice in this record"),
        ("checks.0.passed", 1, "key 'passed' is 1; expected true or false"),
        ("error", "HTTP 500", "holds an error and yet"),
        ("toolTrace", ..., "key 'toolTrace' is missing"),
        ("toolTrace", "none", "expected a list of objects"),
        ("toolTrace.0.tool", ..., "toolTrace 1: key 'tool' is missing"),
        ("tokens.input", -1, "key 'input' is -1"),
        ("tokens.input", 2**63, "expected 0 to"),
        ("latencyMs", -5, "not negative"),
        ("latencyMs", 10**400, "holds an integer of more than 300 digits"),
        ("recordedIncidents", [1], "a list of texts only"),
    ],
)
def test_a_wrong_record_is_refused_with_its_line(tmp_path, place, new, complaint):
    good, bad = record(repeat=2), changed(record(), place, new)
    with pytest.raises(InputError, match=r"results.jsonl, line 2") as refused:
        import_run("berth", write_berth(tmp_path, good, bad))
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("place", "new", "complaint"),
    [
        ("repeat", 1, "stands on line 1 already"),
        ("runId", "other", "one file is one run"),
        ("model", "m:2", "one file is one run"),
        ("checks.1.critical", True, "the record contradicts itself"),
    ],
)
def test_two_runs_in_one_file_are_refused(tmp_path, place, new, complaint):
    path = write_berth(tmp_path, record(), changed(record(repeat=2), place, new))
    with pytest.raises(InputError, match=complaint):
        import_run("berth", path)


def test_a_check_that_is_critical_in_one_repeat_only_is_refused(tmp_path):
    passing = changed(changed(record(repeat=2), "checks.1.passed", True), "score", 1)
    with pytest.raises(InputError, match="not critical in every repeat"):
        import_run("berth", write_berth(tmp_path, record(), changed(passing, "checks.1.critical", True)))


# Berth's criteria


def test_criteria_become_a_suite_of_computable_checks_where_they_are_published(tmp_path):
    suite = parse_suite(read_berth_suite(write_criteria(tmp_path, criteria())), "suite")
    (case,) = suite.cases
    assert [check.check for check in case.checks] == ["not_empty", "recorded", "matches", "tool_called", "tool_budget"]
    assert [(step.ask, step.reference) for step in case.steps] == [("Where?", "There."), ("Sure?", "")]
    assert (case.title, case.tags, case.checks[0].critical) == ("At night", ("control",), True)


@pytest.mark.parametrize(
    ("place", "new", "complaint"),
    [
        ("night.checks.2.kind", "may_match", "unknown kind of check 'may_match'"),
        ("night.checks.2.regex", "x", "unknown key 'regex'"),
        ("night.checks.2.patterns", [], "'patterns' is empty"),
        ("night.checks.2.patterns", ["(?=x)"], "line"),
        ("night.checks.1.patterns", ["x"], "does not say whether they must match"),
        ("night.owner", "x", "unknown key 'owner'"),
        ("night.id", "day", "expected the entry's own name"),
        ("night.prompt", "x", "either 'prompt' or 'turns'"),
        ("night.turns.2.role", "assistant", "turns alternate"),
        ("night.turns.0.role", "assistant", "turns alternate"),
        ("night.checks", [], "no scenario with checks"),
        ("night", "x", "expected an object"),
    ],
)
def test_wrong_criteria_are_refused(tmp_path, place, new, complaint):
    with pytest.raises(InputError, match=r"checks.json") as refused:
        read_berth_suite(write_criteria(tmp_path, changed(criteria(), place, new)))
    assert complaint in str(refused.value)


@real
def test_the_published_criteria_name_their_source_and_licence():
    text = read_berth_suite(SHARED / "berth" / "checks.json")
    suite = parse_suite(text, "suite")
    assert "CC BY 4.0" in text.split("suite:")[0]
    assert 'Attribution: "Berth AI SRE evaluation data, round eval-2026-10"' in text
    assert len(suite.cases) == 17
    assert suite.aliases == {"describe_resource": ("get_resource",)}


@real
def test_the_imported_suite_reproduces_every_published_rescored_verdict():
    suite = parse_suite(read_berth_suite(SHARED / "berth" / "checks.json"), "suite")
    recomputed, carried, passes = 0, 0, {}
    for name in SETS:
        run, expected = import_run("berth", SHARED / "berth" / name), published(name, "rescored.jsonl")
        found = {(v.case_id, v.sample, v.check_id): v for v in score_samples(suite, run.samples)}
        given = {(v.case_id, v.sample, v.check_id): v.passed for v in run.verdicts}
        critical = defaultdict(list)
        for key, (passed, is_critical) in expected.items():
            verdict = found.get(key)
            computed = verdict is not None and verdict.status == "scored"
            recomputed, carried = recomputed + computed, carried + (not computed)
            now = verdict.passed if computed else given[key]
            assert now is passed, (name, key)
            assert verdict is None or verdict.critical is is_critical, (name, key)
            if is_critical:
                critical[key[:2]].append(now)
        passes[name] = sum(all(verdicts) for verdicts in critical.values())
    assert (recomputed, carried) == (402, 167)
    assert list(passes.values()) == [6, 19, 20]


@real
def test_no_case_or_check_of_the_real_criteria_is_named_in_the_package():
    entries = json.loads((SHARED / "berth" / "checks.json").read_text())
    scenarios = {name for name, entry in entries.items() if entry["checks"]}
    ids = scenarios | {check["id"] for entry in entries.values() for check in entry["checks"]}
    token = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(ids)))})(?![\w-])")
    texts = [path for path in (ROOT / "evallib").rglob("*") if path.suffix in {".py", ".js", ".css", ".yaml", ".json"}]
    found = {(path.name, hit) for path in texts for hit in token.findall(path.read_text(encoding="utf-8"))}
    assert len(ids) > 80
    assert found == set()


def test_a_file_name_with_a_line_break_stays_in_its_comment(tmp_path):
    path = write_criteria(tmp_path, criteria()).rename(tmp_path / "a\nsuite: b.json")
    assert parse_suite(read_berth_suite(path), "suite").suite == "berth"


# Berth's readings

LOG = """# Log

| Result set | Scenario | Run | Strict result | Reading | Why |
|---|---|---|---|---|---|
| `demo` | `night` | 1 | FAIL: calm, brief | **PASS** | It is a \\| b. |
| `demo` | `night` | 2 | ERROR (HTTP 500) | **INFRA** | Died. |

2 runs adjudicated: 1 PASS (strict failure overruled), 0 FAIL (real miss), 1 INFRA.
"""


@real
def test_the_real_log_holds_its_31_readings():
    readings = read_berth_readings(SHARED / "berth" / "adjudication.md")
    assert Counter(one.reading for one in readings) == {"pass": 14, "fail": 13, "infra": 4}
    assert sum(one.set in SETS for one in readings) == 14
    assert sum(bool(one.failed_checks) for one in readings) == 27


def test_a_row_of_the_log_becomes_a_reading(tmp_path):
    path = tmp_path / "log.md"
    path.write_text(LOG)
    first, second = read_berth_readings(path)
    assert (first.set, first.scenario, first.repeat, first.reading) == ("demo", "night", 1, "pass")
    assert (first.failed_checks, first.reason) == (("calm", "brief"), "It is a | b.")
    assert (second.strict, second.failed_checks) == ("ERROR (HTTP 500)", ())


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("**PASS**", "**MAYBE**", "line 5: reading is '**MAYBE**'"),
        ("| 2 |", "| two |", "line 6: run is 'two'"),
        ("| 2 |", "| 1 |", "line 6: run 1 of 'night' is read twice"),
        ("FAIL: calm, brief", "FAIL:", "line 5: strict result"),
        ("| Died. |", "| |", "line 6: a reading needs a reason"),
        ("| Died. |", "|", "line 6: a row has 6 cells"),
        ("| Died. |", "Died.", "line 6: a row has 6 cells"),
        ("|---|---|---|---|---|---|\n", "", "line 4: expected the rule"),
        ("| Why |", "| Reason |", "no table with the columns"),
        ("2 runs", "3 runs", "line 8: the log counts [3, 1, 0, 1]"),
        ("2 runs adjudicated", "The end", "the closing line"),
    ],
)
def test_a_malformed_log_is_refused_with_its_line(tmp_path, old, new, complaint):
    path = tmp_path / "log.md"
    path.write_text(LOG.replace(old, new))
    with pytest.raises(InputError, match=r"log.md") as refused:
        read_berth_readings(path)
    assert complaint in str(refused.value)
