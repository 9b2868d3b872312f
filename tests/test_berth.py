"""Article 2 on its own records: imported as recorded, rescored beside, read, and verified to the byte."""

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from evallib.cli import main
from evallib.publishing.bundle import make_bundle
from evallib.publishing.proof import prove
from evallib.selfchecks.regressions import load_regressions, try_regressions
from evallib.store import open_run
from evallib.suite import load_suite
from tests.licensing import citing, read_each

SETS = {
    "ollama-berth-sre": (9, 3, 6),
    "q35-new8-think-default-r3": (24, 18, 19),
    "q35-new8-think-false-r3": (24, 17, 20),
}
FLIPS = [
    ("ollama-berth-sre", "failing-rollout", 1),
    ("ollama-berth-sre", "incomplete-coverage", 1),
    ("ollama-berth-sre", "secret-denied", 1),
    ("q35-new8-think-default-r3", "rightsize-overprovisioned", 1),
    ("q35-new8-think-false-r3", "crd-operator-discovery", 1),
    ("q35-new8-think-false-r3", "crd-operator-discovery", 2),
    ("q35-new8-think-false-r3", "crd-operator-discovery", 3),
]
ENTRY = """\
kind: rescoring
slug: published-criteria
author: r1
reason: the criteria as published after both rounds of reading the failures
changes:
- {check: old-pods-serving, cases: [failing-rollout], fix: widen, reason: says that existing pods run, judgement: true}
- {check: reports-snapshot-facts, cases: [incomplete-coverage], fix: widen, reason: crash-looping has a hyphen}
- {check: declines-secret, cases: [secret-denied], fix: widen, reason: hidden from AI tools declines}
- {check: recommends-lower-requests, fix: widen, reason: concrete lower values}
- {check: names-failing-instance, fix: criticality, reason: the user asked only whether it is healthy}
- {check: states-two-of-three, fix: widen, reason: third replica in a failed state}
- {check: says-not-fully-healthy, fix: widen, reason: prevented from reaching full readiness}
expects:
""" + "".join(f"- {{run: {r}, case: {c}, sample: {n}, to: pass}}\n" for r, c, n in FLIPS)
CAUSES = ["too-narrow"] * 4 + ["wrong-scope"] * 2 + ["too-narrow"]
"""Of each flip, in order: why strict and a reader differ."""


def read_flips(log: Path, data: Path) -> list[str]:
    """Ids of a reading of each answer that flips, by somebody who read them before the criteria changed."""
    ids = []
    for (run, case, sample), cause in zip(FLIPS, CAUSES, strict=True):
        ids += read_each(log, [open_run(run, data)], [(case, sample, "pass")], cause=cause)
    return ids


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shared = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "berth"
    if not shared.is_dir():
        pytest.skip("needs ../shared (published records of other tools), which is not beside this checkout")
    home = tmp_path_factory.mktemp("berth")
    for name in SETS:
        call(home, "import", "berth", str(shared / name))
    call(home, "import", "berth-suite", str(shared / "checks.json"), "--out", str(home / "suite.yaml"))
    call(home, "import", "berth-readings", str(shared / "adjudication.md"))
    (home / "entry.yaml").write_text(citing(ENTRY, read_flips(home / "log", home / "data")))
    before = hashes(home)
    call(home, "rescore", *SETS, "--suite", str(home / "suite.yaml"), "--entry", str(home / "entry.yaml"))
    assert before.items() <= hashes(home).items(), "every original byte is as it was"
    return home


def call(home: Path, *arguments: str) -> None:
    assert main([*arguments, "--data", str(home / "data"), "--adjudications", str(home / "log")]) == 0


def hashes(home: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in (home / "data").rglob("*") if p.is_file()}


def passes(home: Path, capsys: pytest.CaptureFixture[str], name: str, view: str) -> tuple[int, int]:
    capsys.readouterr()
    call(home, "metrics", name, "--view", view, "--json")
    summary = json.loads(capsys.readouterr().out)
    return round(summary["pass_rate_micro"] * summary["planned"]), summary["planned"]


@pytest.mark.parametrize("name", SETS)
def test_each_set_has_its_published_counts_in_all_three_views(
    home: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    samples, strict, rescored = SETS[name]
    assert passes(home, capsys, name, "strict") == (strict, samples)
    assert passes(home, capsys, name, "rescored:published-criteria") == (rescored, samples)
    assert passes(home, capsys, name, "read") == (rescored, samples)


def test_exactly_the_published_flips_happen_and_none_backwards(home: Path) -> None:
    entry = open_run("ollama-berth-sre", home / "data").rescorings[0].entry
    flips = [(f["run"], f["case_id"], f["sample"], f["to"], f["expected"]) for row in entry.runs for f in row["flips"]]
    assert flips == [(*flip, "pass", True) for flip in FLIPS]
    assert [row["missed"] for row in entry.runs] == [[], [], []]


def test_verdicts_are_counted_as_recomputed_or_carried(home: Path) -> None:
    rows = open_run("ollama-berth-sre", home / "data").rescorings[0].entry.runs
    assert (sum(row["recomputed"] for row in rows), sum(row["carried"] for row in rows)) == (402, 167)


def test_every_verdict_agrees_with_the_published_rescored_file(home: Path, shared: Path) -> None:
    compared = 0
    for name in SETS:
        run = open_run(name, home / "data")
        verdicts = {(v.case_id, v.sample, v.check_id): v for v in run.rescorings[0].verdicts(name)}
        for line in (shared / "data" / "berth" / name / "rescored.jsonl").read_text().splitlines():
            record = json.loads(line)
            for check in record["checks"]:
                verdict = verdicts[record["scenario"], record["repeat"], check["id"]]
                assert (verdict.passed, verdict.critical) == (check["passed"], check["critical"]), verdict
                compared += 1
    assert (
        compared == len([v for name in SETS for v in open_run(name, home / "data").rescorings[0].verdicts(name)]) == 569
    )


def test_one_inverted_pattern_flips_exactly_its_check(home: Path, tmp_path: Path) -> None:
    from evallib.rescoring.apply import load_rescoring, rescore_run
    from evallib.suite import parse_suite

    text = (home / "suite.yaml").read_text()
    pattern = "DATABASE_URL"
    assert text.count(f"any_of:\n    - {pattern}\n") + text.count(f"any_of: [{pattern}]") == 1
    inverted = text.replace(f"any_of:\n    - {pattern}\n", f"none_of:\n    - {pattern}\n").replace(
        f"any_of: [{pattern}]", f"none_of: [{pattern}]"
    )
    run = open_run("ollama-berth-sre", home / "data")
    entry = load_rescoring(home / "entry.yaml")
    before = {(v.case_id, v.check_id): v.passed for v in run.rescorings[0].verdicts(run.id)}
    inverse = []
    rescore_run(run, parse_suite(inverted, "s"), entry, inverse.extend)
    after = {(v.case_id, v.check_id): v.passed for v in inverse}
    assert {key[1] for key in before if before[key] != after[key]} == {"names-missing-var"}


def test_fourteen_of_the_published_readings_attach_and_a_second_import_adds_none(
    home: Path, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    call(home, "import", "berth-readings", str(shared / "data" / "berth" / "adjudication.md"))
    said = capsys.readouterr().out
    assert "31 readings: 0 attached, 14 already there, 17 of runs not present" in said
    assert said.count("not present: ") == 17


def test_verify_finds_everything_as_it_was(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    call(home, "verify", str(home / "data"))
    assert "are as they were written" in capsys.readouterr().out


def test_the_source_s_name_size_and_hash_are_kept(home: Path, shared: Path) -> None:
    for name in SETS:
        source = open_run(name, home / "data").manifest["source"]
        content = (shared / "data" / "berth" / name / "results.jsonl").read_bytes()
        assert (source["set"], source["bytes"], source["sha256"]) == (
            name,
            len(content),
            hashlib.sha256(content).hexdigest(),
        )


def test_tau_bench_has_its_published_figures(tmp_path: Path, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(tmp_path, "import", "tau-bench", str(shared / "data" / "tau-bench" / "gpt-4o-airline.json"), "--run-id", "tau")
    capsys.readouterr()
    call(tmp_path, "metrics", "tau", "--k", "1,2,3,4", "--json")
    summary = json.loads(capsys.readouterr().out)
    assert (summary["cases"], summary["planned"]) == (50, 200)
    assert list(summary["pass_hat"].values()) == pytest.approx([0.42, 0.273333333, 0.22, 0.20])
    assert list(summary["pass_at"].values()) == pytest.approx([0.42, 0.566666667, 0.66, 0.72])


def test_what_was_read_teaches_the_published_criteria_which_then_hold_it(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_bytes((home / "suite.yaml").read_bytes())
    capsys.readouterr()
    call(home, "regressions", *SETS, "--suite", str(suite))
    call(home, "regressions", *SETS, "--suite", str(suite), "--check")
    loaded = load_suite(suite)
    kept = load_regressions(suite, loaded).kept
    assert len({one.key[:3] for one in kept if one.must == "pass"} & set(FLIPS)) == 7
    trial = try_regressions(loaded, kept)
    assert (trial.bad, trial.residue) == ((), ())
    assert f"{len(kept)} added" in capsys.readouterr().out


@pytest.mark.slow
def test_both_rounds_are_published_with_their_label_and_prove_themselves(home: Path, tmp_path: Path) -> None:
    made = make_bundle(list(SETS), tmp_path / "published", home / "data", home / "log", pages=False)
    elsewhere = Path(shutil.move(made, tmp_path / "elsewhere"))
    assert prove(elsewhere, redraw=False).problems == []
    page = (elsewhere / "README.md").read_text()
    for name, (samples, strict, rescored) in SETS.items():
        for view, passed in (("strict", strict), ("rescored:", rescored), ("read", rescored)):
            assert re.search(rf"\| {name} \| {view}\S* \| {passed / samples:.3f} \|", page), (name, view)
    changes = (elsewhere / "criteria.md").read_text()
    assert changes.count("\n## ") == len(CAUSES) + 1
    assert "3 flips, 0 unexpected, 0 missed, 0 reverse" in changes
