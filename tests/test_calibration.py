"""What a check says is set beside what people say: counts, one sentence, a record, never a grade of the agreement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evallib.calibration import Calibration, Item, calibrate_set, load_labelled
from evallib.cli import main
from evallib.errors import InputError
from evallib.store.calibrations import judge_key, known_calibrations
from evallib.suite import load_suite, parse_suite
from tests.agentops import vectors
from tests.making import SUITE, stored_run

TICKETS = Path(__file__).resolve().parent.parent / "data/suites/tickets"
Capture = pytest.CaptureFixture[str]
JUDGED = SUITE.replace(
    "- {id: short, check: sections, headings: [], max_words: 5}", "- {id: q, check: judge, rubric: Good?, pass_at: 4}"
)
SCRIPT = """\
script: s
replies:
- {when: {model: judge, contains: [mumble]}, answers: [{text: no score at all}]}
- {when: {model: judge, contains: [seven]}, answers: [{text: '{"score": 2, "reason": "wrong"}'}]}
- {when: {model: judge}, answers: [{text: '{"score": 5, "reason": "right"}'}]}
default: {text: It is four.}
"""
LABELLED = """\
labelled: sums
check: {check}
answers:
- {{id: a, kind: good, case: c-1, answer: It is four., passes: true}}
- {{id: b, kind: good, case: c-2, answer: It is five., passes: true}}
- {{id: c, kind: bad, case: c-1, answer: It is seven., passes: false}}
- {{id: d, kind: bad, case: c-2, answer: four and five, passes: false}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    (tmp_path / "labelled.yaml").write_text(LABELLED.format(check="says"))
    return tmp_path


def judged(folder: Path, *more: str) -> None:
    (folder / "suite.yaml").write_text(JUDGED)
    (folder / "labelled.yaml").write_text("\n".join([LABELLED.format(check="q").rstrip(), *more, ""]))


def calibrated(capsys: Capture, *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["calibrate", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def refused(capsys: Capture, *arguments: str) -> str:
    capsys.readouterr()
    assert main(["calibrate", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def test_the_published_calibrations_hold() -> None:
    """Of ../shared/cases; skipped by having none."""
    for vector in vectors("calibration"):
        pairs = zip(vector["input"]["expected_pass"], vector["input"]["predicted_pass"], strict=True)
        items = tuple(Item(str(n), "", label, said, "r") for n, (label, said) in enumerate(pairs))
        found = Calibration("q", "a set", {}, items).as_dict()
        assert {name: found[name] for name in ("matches", "false_pass", "false_fail", "majority_baseline")} == {
            name: vector["expected"][name] for name in ("matches", "false_pass", "false_fail", "majority_baseline")
        }
        assert found["agreement"]["value"] == vector["expected"]["agreement"]
        assert [one["matched"] for one in found["items"]].count(True) == vector["expected"]["matches"]


def test_a_check_that_passes_everything_agrees_less_than_looking_away() -> None:
    items = tuple(Item(f"a-{n}", "", n < 4, predicted=True, reason="r") for n in range(12))
    found = Calibration("q", "a set", {}, items).as_dict()
    assert (found["matches"], found["false_pass"], found["false_fail"]) == (4, 8, 0)
    assert found["agreement"]["value"] < found["majority_baseline"] == 8 / 12
    assert found["false_pass_of_judged_passes"] | {"interval": 0} == {
        "value": 8 / 12,
        "count": 8,
        "of": 12,
        "interval": 0,
    }
    assert found["false_pass_of_labelled_fails"]["value"] == 1.0
    assert found["kappa"]["value"] == 0.0


def test_a_deterministic_check_is_measured_and_its_disagreement_is_no_failure(folder: Path, capsys: Capture) -> None:
    found = calibrated(capsys, ".")
    assert (found["n"], found["matches"], found["false_pass"], found["false_fail"]) == (4, 3, 1, 0)
    assert [item["id"] for item in found["items"] if not item["matched"]] == ["d"]
    assert found["balance"] == "2 good, 2 bad; 2 labelled pass, 2 labelled fail"
    digest = load_labelled(folder / "labelled.yaml", load_suite(folder)).digest
    assert found["sentence"] == (
        f"On labelled set sums (4 answers, digest {digest}), with these criteria, check 'says' matched the human label "
        "3 times out of 4."
    )
    assert "model" not in found["by"]


def test_it_is_printed_for_people_with_every_item_that_differs(folder: Path, capsys: Capture) -> None:
    assert main(["calibrate", "."]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("3 times out of 4.")
    assert any(line.startswith("false passes, of what people fail") and "1 of 2" in line for line in lines)
    assert [line.split()[:4] for line in lines if line.startswith("d ")] == [["d", "bad", "fail", "pass"]]
    assert lines[-1].startswith("kept as calibration-")


def test_reasons_are_printed_whole_and_the_labels_are_named(folder: Path, capsys: Capture) -> None:
    long = "never said " * 20
    suite = SUITE.replace("check: mentions, all_of: key.facts", f"check: forbids, phrases: ['{long}']")
    (folder / "suite.yaml").write_text(suite)
    one = f"{{id: a, case: c-1, answer: '{long}', passes: true}}"
    (folder / "labelled.yaml").write_text(f"labelled: one\ncheck: says\nlabels: Ann read it.\nanswers: [{one}]\n")
    assert main(["calibrate", "."]) == 0
    out = capsys.readouterr().out
    assert "labels: Ann read it." in out.splitlines()
    assert "(1 answer, digest" in out
    assert "matched the human label 0 times out of 1" in out
    assert long.strip() in next(line for line in out.splitlines() if line.startswith("a "))


def test_one_match_is_one_time() -> None:
    item = Item("a", "", label=True, predicted=True, reason="")
    assert "1 time out of 1" in Calibration("says", "one answer", {}, (item,)).sentence()


def test_a_record_is_kept_once_and_stays_as_it_is(folder: Path, capsys: Capture) -> None:
    found = calibrated(capsys, ".")
    (kept,) = (folder / "data/calibrations").iterdir()
    before = kept.read_bytes()
    assert (kept.stem, json.loads(before)) == (found["id"], found)
    assert calibrated(capsys, ".")["id"] == found["id"]
    assert [path.read_bytes() for path in (folder / "data/calibrations").iterdir()] == [before]
    (folder / "labelled.yaml").write_text(LABELLED.format(check="says").replace("passes: false", "passes: true"))
    assert calibrated(capsys, ".")["id"] != found["id"]


def test_a_judge_is_measured_and_what_it_did_not_answer_is_listed_apart(folder: Path, capsys: Capture) -> None:
    judged(folder, "- {id: e, kind: bad, case: c-1, answer: mumble, passes: false}")
    found = calibrated(capsys, ".")
    assert (found["n"], found["matches"], found["not_scored"]) == (4, 3, ["e"])
    assert found["items"][-1]["predicted"] is None
    assert found["sentence"].endswith("judge 'q' matched the human label 3 times out of 4; 1 more had no verdict.")
    assert f"with judge model judge and this prompt ({found['by']['prompt']})" in found["sentence"]
    assert "not balanced" in found["balance"]


def test_later_figures_of_the_judge_carry_the_calibrations_id(folder: Path, capsys: Capture) -> None:
    judged(folder)

    def by_judge(run: str) -> Any:
        assert main(["run", ".", "--target", "scripted", "--run-id", run]) == 0
        capsys.readouterr()
        assert main(["metrics", run, "--json"]) == 0
        return json.loads(capsys.readouterr().out)["by_check"]["q"]["calibration"]

    assert by_judge("before") == "uncalibrated"
    found = calibrated(capsys, ".")
    assert by_judge("after") == found["id"]
    assert known_calibrations(folder / "data") == {judge_key(found["by"]): found["id"]}
    (folder / "suite.yaml").write_text(JUDGED.replace("Good?", "Better?"))
    assert by_judge("another-prompt") == "uncalibrated"


def test_readings_of_a_run_are_labels(folder: Path, capsys: Capture) -> None:
    stored_run(folder / "data", {"c-1": ["four", "for", "4"], "c-2": ["six"]})
    told = refused(capsys, "r-1")
    assert "no reading of whole answers as pass or fail; read some with `evallib adjudicate r-1`" in told
    agrees, differs = [], ["--cause", "other"]
    for case, sample, reading, more in (
        ("c-1", "1", "pass", agrees), ("c-1", "2", "pass", differs), ("c-2", "1", "fail", agrees),
        ("c-1", "3", "unsure", differs), ("c-1", "1", "fail", [*differs, "--check", "says"]),
    ):  # fmt: skip
        given = ["--by", "Ann", "--reading", reading, "--reason", "because", *more]
        assert main(["adjudicate", "r-1", case, sample, *given]) == 0
    found = calibrated(capsys, "r-1")
    assert (found["n"], found["matches"], found["false_fail"], found["false_pass"]) == (3, 2, 1, 0)
    assert found["source"] == "the readings of run r-1 (3 items)"
    assert found["note"] == (
        "Items were chosen by hand: the rates hold for the items read, and for the run only where they were drawn at "
        "random; 3 of 3 were read with the strict verdict in sight, which sways readers; samples of one case are "
        "alike, so intervals may be too narrow."
    )
    assert ", with these criteria, the outcome of the whole answer matched the human label 2 times" in found["sentence"]
    of_check = calibrated(capsys, "r-1", "--check", "says")
    assert (of_check["n"], of_check["false_pass"]) == (1, 1)
    assert "1 of 1 was read" in of_check["note"]
    assert "alike" not in of_check["note"]
    assert of_check["balance"].endswith("one label only, so nothing is learnt of the other")
    told = refused(capsys, "r-1", "--check", "short")
    assert "no reading of check 'short' as pass or fail; read some with `evallib adjudicate r-1 --check short`" in told
    told = refused(capsys, "r-1", "--check", "sayss")
    assert told == "evallib: run 'r-1' has no check 'sayss'; its checks: says, short\n"


BAD = {
    "a label left out": (", passes: true}", "}", "passes"),
    "a label that is no truth value": ("passes: true", "passes: maybe", "passes"),
    "an unknown key": ("passes: true", "passes: true, mood: fine", "mood"),
    "an unknown case": ("case: c-1", "case: c-11", "case 'c-11' is not in suite 'small'"),
    "an unknown check": ("check: says", "check: sais", "has no check 'sais'"),
    "an id that stands twice": ("id: b", "id: a", "'a' stands twice"),
    "no answers": ("answers:", "replies:", "answers"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_labelled_set_is_read_strictly(folder: Path, capsys: Capture, name: str) -> None:
    right, wrong, told = BAD[name]
    (folder / "labelled.yaml").write_text(LABELLED.format(check="says").replace(right, wrong, 1))
    error = refused(capsys, ".")
    assert told in error
    assert "labelled.yaml" in error
    assert not (folder / "data").exists()


def test_other_bad_input_is_one_sentence(folder: Path, capsys: Capture) -> None:
    assert "is about check 'says'" in refused(capsys, ".", "--check", "short")
    assert "none.yaml" in refused(capsys, ".", "--labelled", "none.yaml")
    assert "nowhere" in refused(capsys, "nowhere")
    (folder / "labelled.yaml").unlink()
    assert refused(capsys, ".").endswith(
        "labelled.yaml: no such file; write answers with `passes` there (docs/judging.md), or name a set with "
        "--labelled\n"
    )


def test_a_damaged_record_stops_a_run_that_would_look_into_it(folder: Path, capsys: Capture) -> None:
    judged(folder)
    (folder / "data/calibrations").mkdir(parents=True)
    (folder / "data/calibrations/x.json").write_text("{}")
    assert main(["run", ".", "--target", "scripted"]) == 2
    assert "x.json: is no calibration record" in capsys.readouterr().err


def test_a_check_that_cannot_be_computed_is_refused() -> None:
    text = "suite: s\nrecorded: true\ncases: [{id: c-1, checks: [{id: says, check: recorded}]}]"
    suite = parse_suite(text, "s")
    labelled = load_labelled(TICKETS / "labelled.yaml", load_suite(TICKETS)).model_copy(update={"check": "says"})
    one = labelled.answers[0].model_copy(update={"case": "c-1"})
    with pytest.raises(InputError, match="cannot be computed"):
        calibrate_set(suite, labelled.model_copy(update={"answers": (one,)}), lambda _: {}, lambda _: [])


def test_the_shipped_set_is_balanced_over_kinds_and_its_judge_reads_all_of_it(tmp_path: Path, capsys: Capture) -> None:
    found = calibrated(capsys, str(TICKETS), "--data", str(tmp_path))
    assert found["balance"] == "4 good, 4 bad, 4 invented; 4 labelled pass, 8 labelled fail"
    assert (found["n"], found["not_scored"], found["majority_baseline"]) == (12, [], 8 / 12)
    assert "out of 12." in found["sentence"]
