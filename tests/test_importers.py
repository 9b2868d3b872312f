"""Importers: real files give the published figures, and wrong files are refused in one sentence."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.errors import InputError
from evallib.importers import import_run, importer_for, read_berth_readings, read_berth_suite
from evallib.importers.base import Imported, escape, printable
from evallib.strict_yaml import dump_yaml, parse_yaml
from evallib.suite import parse_suite
from tests.sources import (
    SHARED,
    changed,
    criteria,
    outcomes,
    real,
    record,
    trial,
    write_berth,
    write_criteria,
    write_tau,
)

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
    with pytest.raises(InputError, match=r"line 1: .* is no JSON number"):
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
    with pytest.raises(
        InputError, match="unknown format 'csv'; known: berth, tau-bench, adk-evalset, berth-suite, berth-readings"
    ):
        importer_for("csv")


def test_an_importer_of_ones_own_is_found_by_its_dotted_name(tmp_path):
    run = import_run("evallib.importers.berth:read_berth", write_berth(tmp_path, record()))
    assert len(run.samples) == 1
    with pytest.raises(InputError, match="cannot be imported"):
        importer_for("evallib.importers.berth:absent")
    with pytest.raises(InputError, match=r"expected evallib.importers.Imported"):
        import_run("pathlib:Path", tmp_path)


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
