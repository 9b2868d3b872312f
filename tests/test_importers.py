"""Importers: real files give the published figures, and wrong files are refused in one sentence."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.errors import InputError
from evallib.importers import import_run, importer_for, read_berth_readings, read_berth_suite
from evallib.importers.base import Imported, escape, printable
from evallib.records import Outcome
from evallib.scoring import fold_all, score_samples
from evallib.strict_yaml import dump_yaml, parse_yaml
from evallib.suite import parse_suite

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"
SETS = ("ollama-berth-sre", "q35-new8-think-default-r3", "q35-new8-think-false-r3")
real = pytest.mark.skipif(not SHARED.is_dir(), reason="the real files of ../shared/data are absent")


def outcomes(run: Imported) -> list[Outcome]:
    return list(fold_all(run.samples, run.verdicts, "critical").values())


# Small files in the shape of the real ones.


def trial(task: int = 3, number: int = 0, reward: float = 1.0) -> dict:
    function = {"name": "find", "arguments": '{"id": 7}'}
    return {
        "task_id": task,
        "trial": number,
        "reward": reward,
        "info": {
            "task": {"instruction": "Ask for your booking.", "actions": []},
            "source": "user",
            "user_cost": 0.25,
            "reward_info": {"reward": reward},
        },
        "traj": [
            {"role": "system", "content": "policy"},
            {"role": "user", "content": "Where is it?"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}]},
            {"role": "tool", "tool_call_id": "c1", "content": "seat 4"},
            {"role": "assistant", "content": "Seat 4."},
            {"role": "user", "content": "Sure?"},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "###STOP###"},
        ],
    }


def record(scenario: str = "night", repeat: int = 1) -> dict:
    return {
        "runId": "demo-run",
        "scenario": scenario,
        "category": "control",
        "provider": "local",
        "model": "m:1",
        "repeat": repeat,
        "latencyMs": 1500,
        "tokens": {"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 1, "iterations": 3},
        "toolTrace": [{"seq": 1, "tool": "look", "resultPreview": "abc...", "resultBytes": 900}],
        "answer": "All is well.",
        "recordedIncidents": ["a note"],
        "checks": [
            {"id": "calm", "desc": "stays calm", "critical": True, "passed": True},
            {"id": "brief", "desc": "is brief", "critical": False, "passed": False, "detail": "9 calls"},
        ],
        "score": 0.5,
        "pass": True,
    }


def criteria() -> dict:
    checks = [
        {"id": "says", "kind": "global", "critical": True, "desc": "a non-empty answer", "patterns": None},
        {"id": "hidden", "kind": "global", "critical": True, "desc": "claims nothing", "patterns": None},
        {"id": "finds", "kind": "must_match", "critical": False, "desc": "finds it", "patterns": [r"\bseat \d"]},
        {"id": "calls", "kind": "tool_called", "critical": False, "desc": "looks", "tools": ["look"], "args": {"n": 1}},
        {"id": "few", "kind": "max_tool_calls", "critical": False, "desc": "few calls", "max": 2},
    ]
    turns = [
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": "There."},
        {"role": "user", "content": "Sure?"},
    ]
    night = {
        "id": "night",
        "title": "At night",
        "category": "control",
        "turns": turns,
        "criteria": {},
        "checks": checks,
    }
    return {"night": night, "_shared": {"id": "_shared", "prompt": "n/a", "criteria": {}, "checks": []}}


def write_tau(folder: Path, *trials: dict) -> Path:
    path = folder / "trials.json"
    path.write_text(json.dumps(trials), encoding="utf-8")
    return path


def write_berth(folder: Path, *records: dict) -> Path:
    path = folder / "results.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def write_criteria(folder: Path, value: dict) -> Path:
    path = folder / "checks.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def changed(value: dict, place: str, new: object) -> dict:
    """A copy of `value` with `new` at the dotted place, or without it when `new` is Ellipsis."""
    value = copy.deepcopy(value)
    *path, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    inner = value
    for part in path:
        inner = inner[part]
    if new is ...:
        del inner[last]
    else:
        inner[last] = new
    return value


# tau-bench


@pytest.fixture(scope="module")
def airline() -> Imported:
    return import_run("tau-bench", SHARED / "tau-bench" / "gpt-4o-airline.json")


@real
def test_the_real_tau_bench_file_gives_its_published_pass_rate(airline):
    passes = Counter(one.case_id for one in outcomes(airline) if one.passed)
    per_case = Counter(sample.case_id for sample in airline.samples)
    assert len(airline.samples) == 200
    assert set(per_case.values()) == {4}
    assert sum(passes[case] / 4 for case in per_case) / 50 == pytest.approx(0.42)
    assert len(parse_suite(airline.suite_yaml, "suite").cases) == 50


@real
def test_trials_cut_at_the_step_limit_are_the_agents_own_failures(airline):
    cut = {sample.key for sample in airline.samples if sample.status == "timed_out"}
    assert cut == {("task-33", 1), ("task-2", 2), ("task-9", 3), ("task-9", 4), ("task-46", 4)}
    verdicts = [verdict for verdict in airline.verdicts if (verdict.case_id, verdict.sample) in cut]
    assert all(verdict.passed is False and "step limit" in verdict.reason for verdict in verdicts)


@real
def test_every_tool_call_and_every_word_of_the_agent_is_kept(airline):
    trials = json.loads((SHARED / "tau-bench" / "gpt-4o-airline.json").read_text())
    kept = {sample.key: sample for sample in airline.samples}
    for one in trials:
        sample = kept[(f"task-{one['task_id']}", one["trial"] + 1)]
        said = [message["content"] for message in one["traj"] if message["role"] == "assistant" and message["content"]]
        results = [message["content"] for message in one["traj"] if message["role"] == "tool"]
        assert "\n\n".join(turn.text for turn in sample.turns if turn.text) == "\n\n".join(said)
        assert [call.result for call in sample.tool_calls] == results
        assert sample.answer.endswith(said[-1])


def test_a_trial_becomes_one_turn_per_user_message(tmp_path):
    (sample,) = import_run("tau-bench", write_tau(tmp_path, trial())).samples
    assert [(turn.request, turn.text) for turn in sample.turns] == [("Where is it?", "Seat 4."), ("Sure?", "Yes.")]
    (call,) = sample.turns[0].tool_calls
    assert (call.name, call.arguments, call.result) == ("find", {"id": 7}, "seat 4")
    assert sample.key == ("task-3", 1)
    assert sample.answer == "Yes."


def test_the_user_simulators_cost_is_not_the_agents(tmp_path):
    (sample,) = import_run("tau-bench", write_tau(tmp_path, trial())).samples
    assert sample.usage.cost_usd is None
    assert json.loads(sample.source)["user_simulator_cost_usd"] == 0.25


def test_a_reward_within_a_millionth_of_one_is_a_pass(tmp_path):
    run = import_run("tau-bench", write_tau(tmp_path, trial(reward=1 - 1e-7), trial(number=1, reward=0.99)))
    assert [(verdict.passed, verdict.value) for verdict in run.verdicts] == [(True, 1.0), (False, 0.0)]


def test_a_trial_that_broke_from_outside_is_an_error_and_no_failure(tmp_path):
    broken = {"task_id": 3, "trial": 1, "reward": 0.0, "info": {"error": "connection lost"}, "traj": []}
    run = import_run("tau-bench", write_tau(tmp_path, trial(), broken))
    assert run.samples[1].status == "harness_error"
    assert [one.status for one in outcomes(run)] == ["scored", "error"]


def test_arguments_that_are_no_json_are_kept_as_the_model_wrote_them(tmp_path):
    one = changed(trial(), "traj.2.tool_calls.0.function.arguments", "{broken")
    (sample,) = import_run("tau-bench", write_tau(tmp_path, one)).samples
    assert sample.tool_calls[0].arguments == {"arguments": "{broken"}
    assert sample.flags == ("unparsed_arguments",)


@pytest.mark.parametrize(
    ("place", "new", "complaint"),
    [
        ("task_id", ..., "record 0: key 'task_id' is missing"),
        ("task_id", True, "key 'task_id' is True; expected a whole number"),
        ("trial", "0", "key 'trial' is '0'; expected a whole number"),
        ("reward", 2.0, "reward is 2.0; expected 0 to 1"),
        ("info.reward_info", None, "nothing was graded"),
        ("info.reward_info.reward", 0.0, "one of the two is wrong"),
        ("info.reward_info", ..., "key 'reward_info' is missing"),
        ("info.task.instruction", ..., "key 'instruction' is missing"),
        ("traj", [], "holds no user message"),
        ("traj", {}, "expected a list"),
        ("traj.1.role", "judge", "traj 2: role is 'judge'"),
        ("traj.3.tool_call_id", "c9", "'c9' answers no open tool call"),
        ("traj.4.content", 5, "traj 5: key 'content' is 5; expected text"),
        ("traj.2.tool_calls.0.function.name", ..., "key 'name' is missing"),
    ],
)
def test_a_wrong_trial_is_refused_with_its_place(tmp_path, place, new, complaint):
    with pytest.raises(InputError, match=r"trials.json, record 0") as refused:
        import_run("tau-bench", write_tau(tmp_path, changed(trial(), place, new)))
    assert complaint in str(refused.value)


def test_a_trial_that_stands_twice_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"record 1 \(task_id 3, trial 0\): .* stands twice"):
        import_run("tau-bench", write_tau(tmp_path, trial(), trial()))


def test_trials_of_two_different_instructions_are_two_runs(tmp_path):
    other = changed(trial(number=1), "info.task.instruction", "Something else.")
    with pytest.raises(InputError, match="another instruction"):
        import_run("tau-bench", write_tau(tmp_path, trial(), other))


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


# Files that are wrong as a whole


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "Git LFS pointer"),
        (b"<html>", "this"),
        (b"[NaN]", ""),
        (b"null", ""),
        (b"[" * 100_000, ""),
        (b"[1, 2]", ""),
    ],
)
@pytest.mark.parametrize("read", [lambda p: import_run("tau-bench", p), lambda p: import_run("berth", p)])
def test_a_file_that_is_no_source_is_refused_in_one_sentence(tmp_path, read, content, complaint):
    path = tmp_path / "source.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"source.json") as refused:
        read(path)
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", [b"NaN", b"-Infinity", b"1e999"])
def test_numbers_that_are_no_numbers_are_refused(tmp_path, value):
    path = write_berth(tmp_path, changed(record(), "score", 0.5))
    path.write_bytes(path.read_bytes().replace(b'"score": 0.5', b'"score": ' + value))
    with pytest.raises(InputError, match=r"line 1: holds .* which is no JSON number"):
        import_run("berth", path)


def test_a_key_that_stands_twice_is_refused(tmp_path):
    path = write_berth(tmp_path, record())
    path.write_text(path.read_text().replace('"pass": true', '"pass": false, "pass": true'))
    with pytest.raises(InputError, match="key 'pass' stands twice"):
        import_run("berth", path)


def test_a_cut_file_is_refused_wherever_it_was_cut(tmp_path):
    text = json.dumps([trial()])
    path = tmp_path / "trials.json"
    for end in range(1, len(text), 7):
        path.write_text(text[:end])
        with pytest.raises(InputError, match=r"trials.json"):
            import_run("tau-bench", path)


def test_a_cut_last_line_is_refused_with_its_number(tmp_path):
    path = write_berth(tmp_path, record(), record(repeat=2))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="line 2: not valid JSON"):
        import_run("berth", path)


def test_files_given_to_the_wrong_importer_are_named_for_what_they_are(tmp_path):
    tau, lines, rules = (
        write_tau(tmp_path, trial()),
        write_berth(tmp_path, record()),
        write_criteria(tmp_path, criteria()),
    )
    with pytest.raises(InputError, match="looks like `tau-bench`"):
        import_run("berth", tau)
    with pytest.raises(InputError, match="looks like lines of `berth`"):
        import_run("tau-bench", lines)
    with pytest.raises(InputError, match="use `evallib import berth`"):
        read_berth_suite(lines)
    with pytest.raises(InputError, match="Result set"):
        read_berth_readings(rules)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        import_run("tau-bench", tmp_path / "absent.json")
    with pytest.raises(InputError, match="is a folder"):
        import_run("tau-bench", tmp_path)
    with pytest.raises(InputError, match=r"results.jsonl: no such file"):
        import_run("berth", tmp_path)


def test_an_unknown_format_lists_the_known_ones():
    with pytest.raises(InputError, match="unknown format 'csv'; known: berth, tau-bench, berth-suite, berth-readings"):
        importer_for("csv")


def test_an_importer_of_ones_own_is_found_by_its_dotted_name(tmp_path):
    run = import_run("evallib.importers.berth:read_berth", write_berth(tmp_path, record()))
    assert len(run.samples) == 1
    with pytest.raises(InputError, match="cannot be imported"):
        importer_for("evallib.importers.berth:absent")
    with pytest.raises(InputError, match=r"expected evallib.importers.Imported"):
        import_run("pathlib:Path", tmp_path)


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


# Identities


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_escaped_text_can_be_stored_and_other_text_stays(text):
    found, was_changed = escape(text, json.dumps(text))
    assert found.encode().count(0) == 0
    assert was_changed is (found != text)
    assert escape(found, json.dumps(found)) == (found, False)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_description_survives_the_suite_of_an_import(text):
    shown = printable(text)
    assert parse_yaml(dump_yaml({"description": shown}), "suite").value == {"description": shown}
