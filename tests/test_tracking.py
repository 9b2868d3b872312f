from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import sqlite3

import pytest

from evallib.adjudication import make_difference, make_reading, make_resolution
from evallib.entries import Rubric, Withdrawal
from evallib.errors import IncompleteError, InfrastructureError, InputError
from evallib.records import Sample, ToolCall, Turn, Usage, Verdict
from evallib.standing import standing_readings
from evallib.store import append_entry, begin_run, import_run, open_run, read_log
from evallib.tracking import default_uri, track
from evallib.tracking.texts import RATIONALE_BYTES

SUITE = """
suite: colours
pass: top
recorded: true
checks:
  - {id: names-it, check: recorded}
  - {id: quality, check: recorded}
cases: [{id: sky}, {id: grass}]
"""
JUDGE = '{"model":"small-judge","calibration":"uncalibrated"}'
SUMMARY = {
    "view": "strict", "post_hoc": False, "caption": "four samples", "pass_rate": 0.75, "score_mean": 0.8,
    "planned": 4, "scored": 4, "errors": 0, "cases": 2, "pass_at": {"1": 0.75, "9": None}, "pass_hat": {"1": 0.75},
    "by_check": {"names-it": {"mean_raw": 0.75}, "quality": {"mean_raw": 4.5}},
}  # fmt: skip
DECISION = {
    "view": "strict", "post_hoc": False, "decision": "blocked", "release_decision": None,
    "why_no_release": "the suite sets no gate",
    "rules": [{"rule": "floor", "passed": False, "reason": "sky sample 1 is at 0.20"}],
}  # fmt: skip


def some_samples(reason="seen in the answer"):
    samples, verdicts = [], []
    for case in ("sky", "grass"):
        for number in (1, 2):
            call = ToolCall("look", {"at": case}, "it is there")
            turn = Turn(1, f"what colour is the {case}?", "blue", (call,), duration_s=0.5)
            usage = Usage(10, 20, 1, 0.001)
            samples.append(Sample("", case, number, turns=(turn,), answer="blue", duration_s=0.5, usage=usage))
            passed = case == "sky"
            verdicts.append(Verdict(case, number, "names-it", "scored", reason, float(passed), float(passed), passed))
            verdicts.append(Verdict(case, number, "quality", "not_scored", "no reply", stochastic=True, judge=JUDGE))
    return samples, verdicts


@pytest.fixture
def run(tmp_path):
    return stored_run(tmp_path)


def stored_run(folder, reason="seen in the answer"):
    samples, verdicts = some_samples(reason)
    return import_run(
        folder, "r1", SUITE, samples, verdicts, target={"kind": "chat", "model": "m"}, source={"set": "s"}
    )


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory):
    """MLflow needs seconds to make its tables; each test takes a copy."""
    from evallib.tracking.place import opened

    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    with opened(f"sqlite:///{path}") as (client, _):
        client.search_experiments()
    return path


@pytest.fixture
def uri(tmp_path, empty_database):
    shutil.copy(empty_database, tmp_path / "mlflow.db")
    return default_uri(tmp_path)


def export(run, uri, **changes):
    log = read_log(run.folder.parent.parent / "log")
    return track(run, **{"summary": SUMMARY, "decision": DECISION, "log": log, "uri": uri, **changes})


def read(run, *, by="ann", reading="pass", **more):
    entry = make_reading(run, "grass", 1, reading=reading, reason="grass may be blue", author=by, **more)
    return append_entry(run.folder.parent.parent / "log", entry)


def rows(uri, statement):
    with contextlib.closing(sqlite3.connect(uri.removeprefix("sqlite:///"))) as database:
        return database.execute(statement).fetchall()


def counts(uri):
    tables = ("runs", "params", "metrics", "tags", "trace_info", "spans", "assessments")
    return {table: rows(uri, f"select count(*) from {table}")[0][0] for table in tables}


def humans(uri):
    found = rows(uri, "select value, valid, source_id, overrides from assessments where source_type = 'HUMAN'")
    return sorted((value, bool(valid), by, overrides is not None) for value, valid, by, overrides in found)


def test_a_run_becomes_one_mlflow_run_with_figures_and_the_gate(run, uri):
    export(run, uri)
    metrics = dict(rows(uri, "select key, value from latest_metrics"))
    tags, params = dict(rows(uri, "select key, value from tags")), dict(rows(uri, "select key, value from params"))
    assert metrics["pass_rate"] == 0.75
    assert metrics["check.quality"] == 4.5
    assert metrics["input_tokens"] == 40
    assert "pass_at.9" not in metrics, "undefined is no figure"
    assert tags["evallib.gate"] == "blocked"
    assert tags["evallib.gate.rule.floor"] == "blocked: sky sample 1 is at 0.20"
    assert params["suite"] == "colours"
    assert params["target.model"] == "m"
    assert params["samples"] == "2"
    assert rows(uri, "select status from runs") == [("FINISHED",)]


def test_each_sample_is_a_trace_with_turns_and_tool_calls_as_spans(run, uri):
    export(run, uri)
    assert counts(uri)["trace_info"] == 4
    spans = rows(uri, "select name, type from spans group by name, type order by type")
    assert spans == [("grass", "AGENT"), ("sky", "AGENT"), ("turn 1", "CHAIN"), ("look", "TOOL")]
    trace = rows(uri, "select content from spans where type = 'AGENT' and name = 'sky'")[0][0]
    assert "what colour is the sky?" in trace
    assert "blue" in trace


def test_each_verdict_is_an_assessment_that_says_who_gave_it(run, uri):
    export(run, uri)
    found = rows(uri, "select name, value, error, source_type, source_id from assessments group by name, value")
    assert ("names-it", "true", None, "CODE", "evallib check names-it") in found
    assert ("names-it", "false", None, "CODE", "evallib check names-it") in found
    judged = next(row for row in found if row[0] == "quality")
    assert judged[1] == "null"
    assert "no reply" in judged[2]
    assert judged[3:] == ("LLM_JUDGE", "small-judge")


def test_a_second_export_changes_nothing(run, uri):
    read(run)
    first = export(run, uri)
    before = counts(uri)
    second = export(open_run("r1", run.folder.parent.parent), uri)
    assert counts(uri) == before
    assert (first.new_traces, first.new_assessments) == (4, 9)
    assert (second.new_traces, second.new_assessments) == (0, 0)
    assert (second.traces, second.assessments) == (4, 9)
    assert second.mlflow_run == first.mlflow_run


def test_a_new_reading_adds_exactly_one_human_assessment(run, uri):
    export(run, uri)
    before = counts(uri)
    read(run, check="names-it", cause="too-narrow")
    assert export(run, uri).new_assessments == 1
    assert counts(uri) == {**before, "assessments": before["assessments"] + 1}
    assert humans(uri) == [("true", True, "ann", False)]
    strict = rows(uri, "select valid from assessments where source_type = 'CODE'")
    assert all(valid for (valid,) in strict), "a reading never overrides a verdict"


def test_an_amendment_stands_beside_what_it_amends_and_names_it(run, uri):
    first = read(run)
    export(run, uri)
    read(run, reading="unsure", supersedes=first.id)
    for _ in range(2):
        export(run, uri)
    told = [('"superseded"', True, "ann", False), ('"unsure"', True, "ann", False), ("true", True, "ann", False)]
    assert humans(uri) == told
    named = rows(uri, "select assessment_metadata from assessments where value = '\"unsure\"'")[0][0]
    assert json.loads(named)["evallib.supersedes"] == first.id


def test_a_withdrawn_reading_is_told_and_stays_as_it_was(run, uri):
    logged = read(run)
    export(run, uri)
    log = run.folder.parent.parent / "log"
    append_entry(log, Withdrawal(author="ann", withdraws=logged.id, reason="wrong sample"))
    for _ in range(2):
        export(run, uri)
    assert humans(uri) == [('"withdrawn"', True, "ann", False), ("true", True, "ann", False)]


def test_an_amended_reading_is_told_to_be_superseded_and_stays_as_it_was(run, uri):
    log = run.folder.parent.parent / "log"
    first = read(run, check="names-it", blind=True)
    append_entry(log, make_difference(run, first, author="ann", cause="too-narrow", reason="grass can be blue"))
    export(run, uri)
    second = read(run, check="names-it", reading="fail", supersedes=first.id, log=read_log(log))
    assert [export(run, uri).new_assessments for _ in range(2)] == [3, 0]
    found = rows(uri, "select name, value, valid, assessment_metadata from assessments where source_type = 'HUMAN'")
    assert sorted(row[:3] for row in found) == [
        ("names-it", "false", 1),
        ("names-it", "true", 1),
        ("names-it (difference)", '"too-narrow"', 1),
        ("names-it (difference) (superseded)", '"superseded"', 1),
        ("names-it (superseded)", '"superseded"', 1),
    ]
    told = {name: json.loads(metadata) for name, _, _, metadata in found}["names-it (superseded)"]
    assert (told["evallib.supersedes"], told["evallib.superseded_by"]) == (first.id, second.id)
    third = read(run, check="names-it", reading="infra", supersedes=second.id, log=read_log(log))
    assert [export(run, uri).new_assessments for _ in range(2)] == [2, 0]
    names = [name for name, *_ in rows(uri, "select name from assessments where source_type = 'HUMAN'")]
    assert names.count("names-it (superseded)") == 2
    append_entry(log, Withdrawal(author="ann", withdraws=third.id, reason="a slip"))
    assert [export(run, uri).new_assessments for _ in range(2)] == [1, 0]


def test_a_reading_amended_before_any_export_is_not_exported(run, uri):
    first = read(run, check="names-it")
    log = run.folder.parent.parent / "log"
    read(run, check="names-it", reading="fail", supersedes=first.id, log=read_log(log))
    export(run, uri)
    assert humans(uri) == [("false", True, "ann", False)]


def test_a_reading_withdrawn_before_any_export_is_not_exported(run, uri):
    logged = read(run)
    log = run.folder.parent.parent / "log"
    append_entry(log, Withdrawal(author="ann", withdraws=logged.id, reason="wrong sample"))
    export(run, uri)
    assert humans(uri) == []


def test_differences_and_resolutions_are_assessments_of_their_own(run, uri):
    log = run.folder.parent.parent / "log"
    ann = read(run, check="names-it", blind=True, plan="p1")
    export(run, uri)
    append_entry(log, make_difference(run, ann, author="ann", cause="too-narrow", reason="grass can be blue"))
    read(run, by="bob", check="names-it", reading="fail")
    item = ("grass", 1, "names-it")
    readings = standing_readings(run, read_log(log))
    append_entry(log, make_resolution(run, item, readings, author="cy", reading="fail", reason="both looked again"))
    assert [export(run, uri).new_assessments for _ in range(2)] == [3, 0]
    found = rows(
        uri, "select name, value, rationale, valid, assessment_metadata from assessments where source_type = 'HUMAN'"
    )
    assert {row[:4] for row in found} == {
        ("names-it", "true", "grass may be blue", 1),
        ("names-it (difference)", '"too-narrow"', "grass can be blue", 1),
        ("names-it", "false", "grass may be blue", 1),
        ("names-it (resolution)", "false", "both looked again", 1),
    }
    told = {(name, value): json.loads(metadata) for name, value, *_, metadata in found}
    assert {"evallib.blind": "true", "evallib.plan": "p1"}.items() <= told["names-it", "true"].items()
    assert told["names-it (difference)", '"too-narrow"']["evallib.about"] == ann.id


def test_a_stale_reading_is_left_out_and_told(run, uri):
    logged = read(run, check="names-it")
    rubric = Rubric(author="ann", suite="colours", check="names-it", text="Any colour.", reason="it was unclear")
    append_entry(run.folder.parent.parent / "log", rubric)
    tracked = export(run, uri)
    assert humans(uri) == []
    assert tracked.left_out == (f"reading {logged.id}: the answer or rubric it was read by is another now",)


def test_a_long_reason_is_cut_with_a_note_and_kept_whole_in_the_trace(tmp_path, uri):
    reason = "é" * 40_000
    export(stored_run(tmp_path, reason), uri)
    rationale = rows(uri, "select rationale from assessments where name = 'names-it'")[0][0]
    assert RATIONALE_BYTES - 2 <= len(rationale.encode()) <= RATIONALE_BYTES
    assert rationale.endswith("attribute evallib.reason.names-it]")
    assert reason in rows(uri, "select content from spans where name = 'sky' and type = 'AGENT'")[0][0]


def test_a_lower_figure_replaces_a_higher_one_once(run, uri):
    export(run, uri)
    for _ in range(2):
        export(run, uri, summary={**SUMMARY, "pass_rate": 0.5})
    assert rows(uri, "select value from latest_metrics where key = 'pass_rate'") == [(0.5,)]
    assert len(rows(uri, "select value from metrics where key = 'pass_rate'")) == 2


def test_post_hoc_figures_are_prefixed_and_labelled(run, uri):
    summary = {**SUMMARY, "view": "read", "post_hoc": True}
    export(run, uri, summary=summary, decision=None)
    assert rows(uri, "select value from latest_metrics where key = 'read.pass_rate'") == [(0.75,)]
    tags = dict(rows(uri, "select key, value from tags"))
    assert tags["evallib.label"] == "chosen after reading the answers"
    assert tags["evallib.post_hoc"] == "true"


def export_and_die(run, uri, method, at):
    """In a forked child, which has MLflow loaded already: kill it at the nth call of a method of MLflow's client."""
    from mlflow.tracing.client import TracingClient

    calls, real = [], getattr(TracingClient, method)

    def counted(*args, **more):
        calls.append(1)
        if len(calls) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **more)

    child = os.fork()
    if not child:
        try:
            setattr(TracingClient, method, counted)
            export(run, uri)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("moment", [("start_trace", 3), ("log_spans", 1)])
def test_a_killed_export_is_made_whole_by_the_next(run, uri, moment):
    assert export_and_die(run, uri, *moment) == -signal.SIGKILL
    assert rows(uri, "select status from runs") == [("RUNNING",)]
    assert counts(uri)["spans"] == 0
    export(run, uri)
    found = counts(uri)
    assert (found["runs"], found["trace_info"], found["spans"], found["assessments"]) == (1, 4, 12, 8)


def test_another_run_of_the_same_id_is_refused(run, uri, tmp_path):
    export(run, uri)
    before = counts(uri)
    with pytest.raises(InputError, match="another run of the id 'r1'"):
        export(stored_run(tmp_path / "elsewhere", reason="other"), uri)
    assert counts(uri) == before


@pytest.mark.parametrize(
    "bad", ["", "mlruns", "file:///tmp/x", "databricks://x", "sqlite://", "sqlite:///:memory:", "http://"]
)
def test_a_uri_that_keeps_no_traces_is_refused(run, bad):
    with pytest.raises(InputError, match="MLflow URI"):
        export(run, bad)


def test_a_database_that_is_none_is_refused_and_left_alone(run, tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("these are my notes, all of them")
    with pytest.raises(InputError, match="no SQLite database"):
        export(run, f"sqlite:///{other}")
    assert other.read_text() == "these are my notes, all of them"
    with pytest.raises(InputError, match="no folder"):
        export(run, f"sqlite:///{tmp_path}/missing/mlflow.db")


@pytest.mark.parametrize("scheme", ["http", "postgresql"])
def test_a_dead_server_is_named_in_one_sentence_without_its_password(run, scheme):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(InfrastructureError, match=f"127.0.0.1:{port}") as caught:
        export(run, f"{scheme}://me:secret@127.0.0.1:{port}")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def run_plan():
    """A plan with all that a stored one is relied on for."""
    digests = dict.fromkeys(("suite_digest", "suite_sha256", "gate_digest"), "0" * 64)
    created = "2026-01-01T00:00:00+00:00"
    return {"created": created, "cases": {"sky": 1}, "suite": "colours", "target": {}, **digests}


def test_an_incomplete_run_is_not_exported(tmp_path, uri):
    plan = {**run_plan(), "run_id": "r2"}
    before = counts(uri)
    with pytest.raises(IncompleteError):
        export(begin_run(tmp_path, plan, SUITE.encode()), uri)
    assert counts(uri) == before


def test_an_export_is_quiet_and_makes_no_folder_where_it_runs(run, uri, tmp_path, monkeypatch, capfd):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    export(run, uri)
    assert capfd.readouterr() == ("", "")
    assert not list((tmp_path / "here").iterdir())
