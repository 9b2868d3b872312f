"""`evallib agreement`: the whole review in words and as JSON, over one run or several."""

from __future__ import annotations

import json

import pytest

from evallib.cli import main
from evallib.store import append_entry
from tests.readers import EVERY, Log, mixed_run, random_pass, strict_fails, strict_passes


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two runs, read by two; of the first ten passes were drawn, of the second none."""
    monkeypatch.chdir(tmp_path)
    found = [mixed_run(tmp_path / "data", run_id=name) for name in ("r-1", "r-2")]
    log = Log()
    for run in found:
        for author in ("Ann", "Bo"):
            for place, key in enumerate(strict_fails(run)):
                word = "pass" if place == 0 and author == "Ann" else "fail"
                entry = log.read(run, key, word, author, chosen=EVERY).entry
                forged = {"author": author.replace("Bo", "Bo\u202e")}  # no command of ours writes such a name
                append_entry(tmp_path / "adjudications", entry.model_copy(update=forged))
    for key in strict_passes(found[0])[:10]:
        word = random_pass(10, 12)
        append_entry(tmp_path / "adjudications", log.read(found[0], key, "pass", chosen=word).entry)
    return found


def said(capsys, *arguments):
    assert main(["agreement", *arguments]) == 0
    return capsys.readouterr().out


def test_the_tables_and_a_sentence_for_each_number_are_printed(runs, capsys):
    out = said(capsys, "r-1")
    assert "kappa" in out
    assert "disputed" in out
    assert "Items on which readers differ: 1, of them 1 unresolved" in out
    assert "10 (of 2 cases) were drawn (random strict pass (10 of 12, seed 5)), read and settled: 0 false passes" in out
    assert "\u202e" not in out


def test_json_has_every_figure_with_interval_and_n(runs, capsys):
    found = json.loads(said(capsys, "r-1", "--json"))
    (row,) = found["agreement"]
    assert (row["n"], row["agreement"]["value"]) == (4, 0.75)
    assert {"value", "interval", "why"} == set(row["kappa"]) == set(row["alpha"]) == set(row["ac1"])
    (audit,) = found["audit"]
    assert [one["of"] for one in audit["strata"]] == [12, 4]
    assert audit["strata"][0]["interval"][0] == 0
    assert audit["corrected"]["value"] == 0.75
    assert found["disputes"][0]["resolved"] is False


def test_several_runs_are_pooled_for_agreement_and_audited_apart(runs, capsys):
    found = json.loads(said(capsys, "r-1", "r-2", "--json"))
    assert [row["n"] for row in found["agreement"]] == [8]
    assert [one["corrected"]["why"] for one in found["audit"]] == ["", "not estimable (0 strict passes read)"]
    assert any(sentence.startswith("r-2: Strict") for sentence in found["sentences"])


def test_a_run_named_twice_is_refused(runs, capsys):
    assert main(["agreement", "r-1", "r-1"]) == 2
    assert "named twice" in capsys.readouterr().err
