"""A sealed holdout is run a counted number of times, and nothing but rates ever comes out of it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evallib.cli import main
from evallib.entries import Seal, Use, Withdrawal
from evallib.errors import InputError
from evallib.exhibits.run import open_exhibits
from evallib.holdout import gap
from evallib.statistics.estimators import wilson
from evallib.statistics.unpaired import newcombe
from evallib.store import Run, append_entry, open_run, read_log, verify_log, verify_run
from evallib.suite import load_suite
from evallib.views.figures import load_figures
from tests.making import stored_run

HIDDEN = """\
suite: hidden
pass: critical
checks:
- {id: hush-says, check: mentions, all_of: key.facts, critical: true}
- {id: hush-short, check: sections, headings: [], max_words: 5}
gate: {mean: 0.5, checks: {hush-says: 0.9}, floor: 0.9, pass_rate: 0.9}
cases:
- {id: veiled-1, steps: [{ask: "How many legs has the grey horse?"}], key: {facts: [four]}}
- {id: veiled-2, steps: [{ask: "How many fingers has one hand?"}], key: {facts: [five]}}
- {id: veiled-3, required: true, steps: [{ask: "How many wheels has a tricycle?"}], key: {facts: [three]}}
"""
SCRIPT = """\
script: hidden
replies:
- when: {contains: [horse]}
  answers: [{text: "four as whispered"}]
default: {text: "murmured nothing"}
"""
SECRETS = ("veiled", "hush-", "whispered", "murmured", "horse", "fingers", "tricycle")


class Place:
    """A repository with a log, and a sealed suite beside it."""

    def __init__(self, folder: Path) -> None:
        self.repository = folder / "repository"
        self.log = self.repository / "adjudications"
        self.outside = folder / "outside"
        self.suite = self.outside / "hidden"
        self.data = self.outside / "data"
        (self.repository / ".git").mkdir(parents=True)
        self.log.mkdir()
        self.suite.mkdir(parents=True)
        self.write(HIDDEN)
        (self.suite / "script.yaml").write_text(SCRIPT)

    def write(self, suite: str) -> None:
        (self.suite / "suite.yaml").write_text(suite)

    def seal(self, *more: str, budget: int = 2) -> int:
        given = ["--budget", str(budget), "--by", "Ann", "--reason", "for the release", *more]
        return main(["seal", str(self.suite), *given, "--adjudications", str(self.log)])

    def run(self, name: str, *more: str, suite: Path | None = None, data: Path | None = None) -> int:
        given = ["--target", "scripted", "--run-id", name, "--data", str(data or self.data), *more]
        return main(["run", str(suite or self.suite), *given, "--adjudications", str(self.log)])

    def entries(self, kind: type) -> list:
        return [logged.entry for logged in read_log(self.log) if isinstance(logged.entry, kind)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A sealed suite that was run once, for tests that change nothing."""
    place = Place(tmp_path_factory.mktemp("used"))
    place.seal()
    place.run("h-1")
    entry = "kind: rescoring\nslug: s\nauthor: Ann\nreason: x\nchanges: [{check: hush-says, fix: widen, reason: x}]\n"
    (place.outside / "entry.yaml").write_text(entry)
    return place


def refused(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err


def test_a_run_is_counted_names_its_seal_and_nothing_of_it_lies_in_the_repository(place: Place) -> None:
    assert place.seal() == 0
    assert place.run("h-1", "--samples", "2") == 0
    (seal,), (use,) = place.entries(Seal), place.entries(Use)
    assert (seal.suite, seal.suite_digest, seal.budget) == ("hidden", load_suite(place.suite).digest, 2)
    assert (use.run, use.suite_digest) == ("h-1", seal.suite_digest)
    run = open_run("h-1", place.data)
    assert run.plan["seal"] == {"id": use.seal, "use": 1}
    assert verify_run(run, place.log).problems == verify_log(place.log).problems == []
    texts = [path.read_text() for path in place.repository.rglob("*") if path.is_file()]
    assert texts
    assert not [word for word in SECRETS for text in texts if word in text]


def test_rates_come_out_and_no_case_check_or_answer(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.seal()
    for words in ([], ["--json"]):
        place.run(f"h-{len(words)}", *words)
    where = ["--data", str(place.data), "--adjudications", str(place.log)]
    for words in (["metrics"], ["metrics", "--json"], ["metrics", "--summary"], ["gate"], ["gate", "--json"]):
        assert main([words[0], "h-0", *words[1:], *where]) == 0
    assert main(["metrics", "h-0", "h-1", *where]) == 0
    assert main(["verify", str(place.data), "--adjudications", str(place.log)]) == 0
    out, err = capsys.readouterr()
    assert "pass rate" in out
    assert "blocked" in out
    assert not [word for word in SECRETS if word in out + err]


def test_no_case_and_no_tag_is_named_in_the_figures(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.seal()
    place.run("h-1", "--samples", "2")
    capsys.readouterr()
    where = ["--data", str(place.data), "--adjudications", str(place.log)]
    assert main(["metrics", "h-1", "--json", "--interval", "bootstrap", *where]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["flaky_cases"] == []
    assert [found[name] for name in ("by_split", "by_tag", "by_check")] == [{}, {}, {}]


@pytest.mark.parametrize(
    "words",
    [
        ["show", "h-1"], ["show", "h-1", "--readings"], ["show", "h-1", "--case", "veiled-1"],
        ["adjudicate", "h-1", "--by", "Ann"], ["adjudicate", "h-1", "--by", "Ann", "--plan"],
        ["adjudicate", "h-1", "veiled-1", "1", "--by", "Ann", "--reading", "pass", "--reason", "x"],
        ["adjudicate", "h-1", "--export", "x.csv"],
        ["agreement", "h-1"], ["calibrate", "h-1"], ["compare", "h-1"], ["compare", "h-1", "h-1"], ["report", "h-1"],
        ["report", "h-1", "--bundle", "b"], ["track", "h-1"], ["track", "h-1", "--uri", "sqlite:///m.db"],
        ["rescore", "h-1", "--suite", "SUITE", "--entry", "ENTRY", "--preview"],
        ["rescore", "h-1", "--suite", "SUITE", "--entry", "ENTRY"],
        ["rescore", "--suite", "SUITE", "--preview"],
        ["rescore", "--suite", "SUITE", "--preview", "--queue", "--by", "Ann"],
        ["regressions", "h-1", "--suite", "SUITE"], ["lock", "h-1", "--by", "Ann", "--reason", "x"],
        ["metrics", "h-1", "--view", "read"], ["gate", "h-1", "--gate", "ENTRY"],
        ["report", "h-1", "--notebook", "run"],
    ],
)  # fmt: skip
def test_whatever_shows_answers_refuses_in_one_sentence_and_writes_nothing(
    used: Place, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = used
    monkeypatch.chdir(place.outside)
    said = {"SUITE": str(place.suite), "ENTRY": str(place.outside / "entry.yaml")}
    before = sorted(place.outside.rglob("*")), sorted(place.repository.rglob("*"))
    capsys.readouterr()
    where = ["--data", str(place.data), "--adjudications", str(place.log)]
    status = main([said.get(word, word) for word in words] + where)
    out, err = capsys.readouterr()
    assert status == 2, out
    assert not [word for word in SECRETS if word in out + err and word not in words[2:3]]
    assert (sorted(place.outside.rglob("*")), sorted(place.repository.rglob("*"))) == before


def test_a_notebook_that_opens_it_gets_nothing(place: Place) -> None:
    place.seal()
    place.run("h-1")
    run = Run(place.data / "runs" / "h-1")
    for ask in ("suite", "samples", "verdicts", "by_key", "verdicts_of"):
        with pytest.raises(InputError, match="is of a sealed holdout"):
            getattr(run, ask)
    with pytest.raises(InputError, match="is of a sealed holdout"):
        list(run.batches())
    with pytest.raises(InputError, match="is of a sealed holdout"):
        open_exhibits("h-1", data=place.data, adjudications=place.log)
    figures = load_figures(["h-1"], "strict", place.data, place.log, for_aggregates=True)
    for ask in ("outcomes", "verdicts"):
        with pytest.raises(InputError, match="only its rates"):
            getattr(figures, ask)


def test_a_copy_of_the_run_folder_stays_sealed_also_where_its_plan_was_edited(place: Place, tmp_path: Path) -> None:
    place.seal()
    place.run("h-1")
    copy = Path(shutil.copytree(place.data / "runs" / "h-1", tmp_path / "elsewhere" / "runs" / "h-1"))
    with pytest.raises(InputError, match="is of a sealed holdout"):
        _ = open_run(copy, tmp_path).samples
    plan = json.loads((copy / "plan.json").read_text())
    del plan["seal"]
    (copy / "plan.json").write_text(json.dumps(plan))
    for opened in (Run(copy), Run(copy, for_aggregates=True)):
        with pytest.raises(InputError, match=r"names no seal, and samples\.parquet does"):
            _ = opened.samples
    assert b"seal" in pq.read_schema(copy / "verdicts.parquet").metadata


def test_the_budget_counts_runs_that_were_resumed_once_and_killed_ones_too(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.seal(budget=1)
    assert place.run("h-1") == 0
    assert place.run("h-1", "--resume") == 2
    assert place.run("h-2") == 2
    assert "budget of sealed suite 'hidden' is spent: 1 of 1 runs, the last of them 'h-1'" in refused(capsys)
    assert not (place.data / "runs" / "h-2").exists()
    shutil.rmtree(place.data / "runs" / "h-1")
    assert place.run("h-1") == 2
    assert len(place.entries(Use)) == 1


def test_a_killed_run_counts_and_is_resumed_as_the_same_use(place: Place) -> None:
    (place.suite / "script.yaml").write_text(SCRIPT.replace("whispered", "whispered").replace("}]", ", delay_s: 60}]"))
    place.seal(budget=1)
    words = ["run", str(place.suite), "--target", "scripted", "--run-id", "h-1", "--data", str(place.data)]
    command = [sys.executable, "-m", "evallib", *words, "--adjudications", str(place.log)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while not (place.data / "runs" / "h-1" / "journal.jsonl").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
        os.kill(process.pid, signal.SIGKILL)
    assert len(place.entries(Use)) == 1
    assert place.run("h-2") == 2
    assert open_run("h-1", place.data).plan["seal"]["use"] == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("facts: [four]", "facts: [[four, '4']]", "was edited after its first use"),
        ("suite: hidden", "suite: other", "'other' asks what the sealed suite 'hidden' asks"),
        ("grey horse?", "grey  horse ?", "was edited after its first use"),
        ("suite: hidden", "suite: Hidden", "asks what the sealed suite"),
    ],
)
def test_an_edited_copied_or_renamed_suite_is_refused(
    place: Place, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place.seal()
    place.run("h-1")
    copy = Path(shutil.copytree(place.suite, place.outside / "copy"))
    (copy / "sealed.yaml").unlink()
    (copy / "suite.yaml").rename(copy / "renamed.yaml")
    (copy / "renamed.yaml").write_text(HIDDEN.replace(old, new))
    given = copy / "renamed.yaml"
    shutil.copyfile(place.suite / "script.yaml", copy / "script.yaml")
    assert place.run("h-2", suite=given) == 2
    assert said in refused(capsys)
    assert len(place.entries(Use)) == 1
    given.write_text(HIDDEN + "# a blank \n")  # layout is no edit, and the copy is the sealed suite
    assert place.run("h-2", suite=given) == 0
    assert len(place.entries(Use)) == 2


def test_no_question_of_ones_own_sounds_a_sealed_suite_out(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.seal()
    assert place.run("h-1", "--ask", "How many eyes has a cat?") == 2
    assert "is sealed: questions of your own" in capsys.readouterr().err
    assert place.entries(Use) == []


def test_a_suite_that_takes_in_one_sealed_question_is_refused_without_naming_it(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.seal()
    folder = place.outside / "visible"
    folder.mkdir()
    one = HIDDEN.replace("suite: hidden", "suite: visible").partition("- {id: veiled-2")[0]
    (folder / "suite.yaml").write_text(one.replace("grey horse?", "GREY horse").replace("id: veiled-1", "id: c-1"))
    (folder / "script.yaml").write_text(SCRIPT)
    assert place.run("v-1", suite=folder) == 2
    said = refused(capsys)
    assert "asks what the sealed suite 'hidden' asks" in said
    assert "horse" not in said


@pytest.mark.parametrize("part", [["--case", "veiled-1"], ["--split", "train"]])
def test_a_part_of_it_is_not_run(place: Place, part: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    place.write(HIDDEN.replace("id: veiled-2,", "id: veiled-2, split: train,"))
    place.seal()
    assert place.run("h-1", *part) == 2
    assert "is sealed and runs whole" in refused(capsys)
    assert place.entries(Use) == []


def test_answers_are_not_stored_in_the_repository_and_the_suite_does_not_lie_there(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.seal()
    assert place.run("h-1", data=place.repository / "data") == 2
    assert "answers to a sealed suite lie outside the repository" in refused(capsys)
    assert place.entries(Use) == []
    inside = shutil.copytree(place.suite, place.repository / "suites" / "hidden")
    given = ["--budget", "1", "--by", "Ann", "--reason", "x", "--adjudications", str(place.log)]
    assert main(["seal", str(inside), *given]) == 2
    assert "a sealed suite lies outside the repository" in refused(capsys)


def test_another_log_does_not_unseal_it(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.seal()
    other = ["--adjudications", str(place.repository.parent / "elsewhere" / "one" / "log")]
    given = ["--target", "scripted", "--run-id", "h-1", "--data", str(place.data), *other]
    assert main(["run", str(place.suite), *given]) == 2
    assert "the suite is sealed, and the log has no seal of it" in refused(capsys)
    assert main(["seal", str(place.suite), "--budget", "9", "--by", "Ann", "--reason", "x", *other]) == 2
    assert "was sealed in another log" in refused(capsys)


def test_an_unused_seal_may_be_renewed_and_a_used_one_never(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.seal()
    assert place.seal() == 2
    assert "is sealed already" in refused(capsys)
    place.write(HIDDEN.replace("facts: [four]", "facts: [[four, '4']]"))
    assert place.run("h-1") == 2
    assert "is not what was sealed" in refused(capsys)
    assert place.seal(budget=1) == 0
    assert place.run("h-1") == 0
    place.write(HIDDEN)
    assert place.seal() == 2
    assert "was edited after its first use" in refused(capsys)


def test_nobody_takes_a_seal_or_a_use_back(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.seal(budget=1)
    place.run("h-1")
    for logged in read_log(place.log):
        append_entry(place.log, Withdrawal(author=logged.entry.author, withdraws=logged.id, reason="never mind"))
    assert place.run("h-2") == 2
    assert "is spent" in refused(capsys)
    assert len([one for one in verify_log(place.log).problems if "nobody takes it back" in one]) == 2


@pytest.mark.parametrize("words", [["--by", ""], ["--reason", " "], ["--budget", "0"]])
def test_a_seal_needs_author_reason_and_budget(place: Place, words: list[str]) -> None:
    assert place.seal(*words) == 2
    assert read_log(place.log) == []
    assert not (place.suite / "sealed.yaml").exists()


def test_the_gap_is_visible_minus_holdout_over_different_cases(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place.seal()
    place.run("h-1")
    stored_run(place.data, {"c-1": ["four", "four"], "c-2": ["five", "six"]}, run_id="v-1")
    capsys.readouterr()
    where = ["--data", str(place.data), "--adjudications", str(place.log)]
    assert main(["metrics", "v-1", "--holdout", "h-1", "--json", *where]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["gap"] == pytest.approx(0.75 - 1 / 3)
    assert found["cases"] == {"visible": 2, "holdout": 3}
    low, high = found["gap_interval"]
    assert low < found["gap"] < high
    assert found["same_model"] is False
    assert main(["metrics", "v-1", "--holdout", "h-1", *where]) == 0
    said = capsys.readouterr().out
    assert "visible minus holdout: +0.417" in said
    assert "2 visible and 3 sealed cases" in said
    assert not [word for word in SECRETS if word in said]
    assert main(["metrics", "h-1", "--holdout", "v-1", *where]) == 2
    assert main(["metrics", "h-1", "--holdout", "h-1", *where]) == 2


def test_the_gap_of_one_case_each_has_no_interval(place: Place) -> None:
    place.write(HIDDEN.partition("- {id: veiled-2")[0])
    place.seal()
    place.run("h-1")
    stored_run(place.data, {"c-1": ["four"]}, run_id="v-1")
    visible, hidden = (
        load_figures([name], "strict", place.data, place.log, for_aggregates=True) for name in ("v-1", "h-1")
    )
    found = gap(visible, hidden)
    assert (found["gap"], found["gap_interval"]) == (0.0, None)


def test_newcombes_published_difference_is_reproduced() -> None:
    # Newcombe (1998), table II, column (a), method 10: 56/70 - 48/80.
    low, high = newcombe((56 / 70, *wilson(56 / 70, 70)), (48 / 80, *wilson(48 / 80, 80)))
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)


def test_a_suite_that_fails_its_own_self_check_is_not_sealed(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.write(f"{HIDDEN}probes: [{{name: bad, case: veiled-1, answer: It is four., fails: [hush-says]}}]\n")
    assert place.seal() == 2
    assert "fails its own self-check" in refused(capsys)
    assert place.entries(Seal) == []
    assert not (place.suite / "sealed.yaml").exists()


def test_a_sealed_run_that_the_log_at_hand_did_not_count_is_refused(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.seal()
    given = ["--target", "scripted", "--run-id", "h-1", "--data", str(place.data)]
    elsewhere = place.outside.parent / "elsewhere"
    shutil.copytree(place.repository, elsewhere)
    assert main(["run", str(place.suite), *given, "--adjudications", str(elsewhere / "adjudications")]) == 0
    where = ["--data", str(place.data), "--adjudications", str(place.log)]
    capsys.readouterr()
    for words in (["metrics", "h-1"], ["gate", "h-1"], ["verify", str(place.data)]):
        assert main([*words, *(where if words[0] != "verify" else where[2:])]) == 2
        out, err = capsys.readouterr()
        assert "the log has no use of seal" in out + err
    assert main(["metrics", "h-1", *where[:2], "--adjudications", str(elsewhere / "adjudications")]) == 0
