"""Two stored runs compared from the command line: what is refused, what else differs, what is named beside."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evallib.cli import main
from evallib.commands.comparison_lines import comparison_lines
from evallib.comparison.compare import compare_runs
from evallib.comparison.contexts import stale_build
from evallib.errors import InputError
from evallib.locks import make_lock
from evallib.provenance import build
from evallib.store import Run, append_entry
from evallib.views.figures import load_figures, refuse_other_judges
from evallib.views.load import open_view
from tests.commandline import files, said
from tests.making import SUITE, stored_run
from tests.sources import SHARED, real

ANSWERS = {"c-1": ["four", "four", "six"], "c-2": ["five", "no", "no"]}
OTHER = {"c-1": ["four", "four", "so four"], "c-2": ["no", "no", "no"]}


def stored(data: Path, run_id: str, answers: dict[str, list[str]], **planned: object) -> Run:
    return stored_run(data, answers, run_id=run_id, planned=planned)


def compared(capsys: pytest.CaptureFixture[str], data: Path, *more: str) -> Any:
    return json.loads(said(capsys, "compare", "a", "b", "--data", str(data), "--json", *more))


def refused(capsys: pytest.CaptureFixture[str], data: Path, *more: str) -> str:
    before = files(data)
    capsys.readouterr()
    assert main(["compare", "a", "b", "--data", str(data), *more]) == 2
    assert files(data) == before
    return capsys.readouterr().err


def test_two_runs_are_compared_by_case_with_all_that_is_said_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(tmp_path, "a", ANSWERS)
    stored(tmp_path, "b", OTHER)
    found = compared(capsys, tmp_path)
    assert [one["row"] for one in found["rows"]] == ["pass rate", "mean score", "says", "short"]
    assert found["rows"][0]["a"] == found["rows"][0]["b"] == pytest.approx(0.5)
    assert (found["comparisons"], found["correction"], found["post_hoc"]) == (2, "Holm", False)
    assert [(one["case_id"], one["change"], one["by"]) for one in found["fell"]] == [
        ("c-2", "sometimes -> never", "rules")
    ]
    assert [one["case_id"] for one in found["rose"]] == ["c-1"]
    assert found["policy"] == "errors count as fails over the planned samples"
    assert all(f"run {name}, view strict" in caption for name, caption in zip("ab", found["captions"], strict=True))


def test_the_terminal_names_every_case_that_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(tmp_path, "a", ANSWERS)
    stored(tmp_path, "b", OTHER)
    text = said(capsys, "compare", "a", "b", "--data", str(tmp_path))
    assert "fell  c-2   1/3  0/3  sometimes -> never" in text
    assert "rose  c-1   2/3  3/3  sometimes -> always" in text
    assert "2 comparisons, p corrected for all by Holm; 2 rows not counted, with no difference or those of" in text
    assert "1 check the same in every case: short" in text


def test_a_run_against_itself_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(tmp_path, "a", ANSWERS)
    found = json.loads(said(capsys, "compare", "a", "a", "--data", str(tmp_path), "--json"))
    assert found["notes"] == ["A and B are the same run"]
    assert found["rows"][0]["difference"] == 0
    assert found["fell"] == found["rose"] == found["contexts"] == []


# refused


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("max_words: 5", "max_words: 6", "check 'short' of case 'c-1' was judged by other criteria"),
        ("facts: [five]", "facts: [six]", "check 'says' of case 'c-2' was judged by other criteria"),
        ("pass: critical", "pass: top", "check 'says' of case 'c-1' was judged by other criteria"),
        ("two and three?", "three and two?", "case 'c-2' asks something else in run 'a' than in 'b'"),
        ("- {id: short, check: sections, headings: [], max_words: 5}\n", "",
         "case 'c-1' has check 'short' in run 'a' and not in 'b'"),
    ],
)  # fmt: skip
def test_other_criteria_are_refused_by_check_and_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, why: str
) -> None:
    assert old in SUITE
    stored(tmp_path, "a", ANSWERS)
    stored_run(tmp_path, OTHER, run_id="b", suite_text=SUITE.replace(old, new))
    assert why in refused(capsys, tmp_path)


def test_criteria_of_cases_that_are_not_shared_do_not_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(tmp_path, "a", {"c-1": ["four"], "c-2": ["five"]})
    changed = SUITE.replace("id: c-2", "id: c-3").replace("facts: [five]", "facts: [six]")
    stored_run(tmp_path, {"c-1": ["four"], "c-3": ["five"]}, run_id="b", suite_text=changed)
    found = compared(capsys, tmp_path)
    assert (found["shared_cases"], found["only_a"], found["only_b"]) == (["c-1"], ["c-2"], ["c-3"])
    assert "only in B, not compared: c-3" in said(capsys, "compare", "a", "b", "--data", str(tmp_path))


def test_a_wording_or_a_gate_that_changed_decides_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(tmp_path, "a", ANSWERS)
    worded = SUITE.replace("mean: 0.5", "mean: 0.6").replace("check: mentions,", "check: mentions, description: new,")
    stored_run(tmp_path, OTHER, run_id="b", suite_text=worded)
    assert compared(capsys, tmp_path)["rows"]


@pytest.mark.parametrize("given", [["a", "b", "--views", "strict"], ["a", "b", "c"], ["a", "--view", "read"]])
def test_what_cannot_be_meant_is_refused(capsys: pytest.CaptureFixture[str], given: list[str]) -> None:
    assert main(["compare", *given]) == 2
    assert "name two runs to compare" in capsys.readouterr().err


def test_there_is_no_flag_that_compares_other_criteria() -> None:
    with pytest.raises(SystemExit):
        main(["compare", "a", "b", "--force"])


# what else differs


def test_every_difference_between_the_plans_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = {"kind": "chat", "url": "http://one/v1", "model": "m-1", "parameters": {"temperature": 0.0}}
    stored(
        tmp_path, "a", ANSWERS, target=target, seed=1, host={"cores": 2}, build={"revision": "x" * 40, "dirty": False}
    )
    stored(tmp_path, "b", {case: texts[:2] for case, texts in OTHER.items()}, seed=2, host={"cores": 8},
           build={"revision": "y" * 40, "dirty": False},
           target={**target, "url": "http://two/v1", "model": "m-2", "parameters": {"temperature": 0.7}})  # fmt: skip
    found = {one["what"]: (one["a"], one["b"]) for one in compared(capsys, tmp_path)["contexts"]}
    assert found == {
        "target.url": ("http://one/v1", "http://two/v1"),
        "target.model": ("m-1", "m-2"),
        "target.parameters.temperature": ("0.0", "0.7"),
        "seed": ("1", "2"),
        "samples": ("3", "2"),
        "samples per case": ("3", "2"),
        "host.cores": ("2", "8"),
        "build.revision": ("x" * 40, "y" * 40),
    }


def test_what_one_plan_never_recorded_is_said_to_be_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(tmp_path, "a", ANSWERS)
    stored(tmp_path, "b", OTHER, labels={"branch": "x"})
    assert compared(capsys, tmp_path)["contexts"] == [{"what": "labels.branch", "a": "not recorded", "b": "x"}]


def test_a_build_that_is_not_what_is_checked_out_is_named(tmp_path: Path) -> None:
    here = build()
    if not here:
        pytest.skip("needs a git checkout")
    made = {"revision": "0" * 40, "dirty": True}
    told = stale_build(stored(tmp_path, "a", ANSWERS, build=made))
    assert told == f"run a was made by revision 000000000000 with uncommitted changes; here is {here['revision'][:12]}"
    assert stale_build(stored(tmp_path, "b", ANSWERS, build=here)) == ""
    assert "uncommitted changes" in stale_build(
        stored(tmp_path, "c", ANSWERS, build={**here, "dirty": not here["dirty"]})
    )
    assert stale_build(stored(tmp_path, "d", ANSWERS)) == "", "nobody can tell"


def test_repeats_that_say_the_very_same_and_copies_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(tmp_path, "a", {"c-1": ["four"] * 3, "c-2": ["five", "no", "no"]})
    stored(tmp_path, "b", {"c-1": ["four"] * 3, "c-2": ["five", "six", "no"]})
    notes = compared(capsys, tmp_path)["notes"]
    told = "In 1 of 2 cases every sample gave the same answer."
    assert notes == [f"run a: {told}", f"run b: {told}", "5 of 6 shared samples put out the very same in both runs"]


def test_runs_with_and_without_their_judges_are_neither_compared_nor_pooled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = SUITE.replace("checks:\n", "checks:\n- {id: tone, check: judge, rubric: kind}\n", 1)
    for name in ("a", "b", "c"):
        stored_run(tmp_path, ANSWERS, run_id=name, suite_text=judged, planned={"judges": name == "c"})
    assert "run b was made without its model judges: tone" in compared(capsys, tmp_path)["notes"]
    for command in ("compare", "metrics"):
        assert main([command, "b", "c", "--data", str(tmp_path)]) == 2
        told = capsys.readouterr().err
        assert "run 'b' was made without its model judges (tone), run 'c' with them" in told
        assert "or both with --no-judges" in told


def test_judges_that_no_shared_case_has_part_no_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tone = "{id: tone, check: judge, rubric: kind, when: {tags: [judged]}}"
    judged = SUITE.replace("checks:\n", f"checks:\n- {tone}\n", 1).replace("{id: c-2,", "{id: c-2, tags: [judged],")
    first = {"c-1": ["four", "four"]}
    for name, answers, asked in (("a", first, False), ("b", first, True), ("c", {**first, "c-2": ["six"]}, False)):
        stored_run(tmp_path, answers, run_id=name, suite_text=judged, planned={"judges": asked})
    assert "judges_left_out" not in load_figures(["a"], "strict", tmp_path, tmp_path / "log").summary()
    assert main(["metrics", "a", "b", "--data", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["compare", "c", "b", "--data", str(tmp_path), "--json"]) == 0
    assert "tone" not in str(json.loads(capsys.readouterr().out)["notes"])


def test_of_a_sealed_suite_the_refusal_names_no_judge(tmp_path: Path) -> None:
    judged = SUITE.replace("checks:\n", "checks:\n- {id: tone, check: judge, rubric: kind}\n", 1)
    runs = [
        stored_run(tmp_path, ANSWERS, run_id=name, suite_text=judged, planned={"judges": asked, "seal": {"id": "s"}})
        for name, asked in (("a", False), ("b", True))
    ]
    with pytest.raises(InputError, match="was made without its model judges, run 'b' with them"):
        refuse_other_judges([open_view(replace(run, for_aggregates=True), "strict", []) for run in runs])


def test_a_lock_has_its_line(tmp_path: Path) -> None:
    stored(tmp_path, "a", ANSWERS)
    a, b = (load_figures(["a"], "strict", tmp_path, tmp_path / "log") for _ in "ab")
    found = compare_runs(a, b, lock="locked before either run: 3 rows named first")
    assert found.as_json()["lock"] == "locked before either run: 3 rows named first"
    assert comparison_lines(found)[1] == "locked before either run: 3 rows named first"
    assert compare_runs(a, b).as_json()["lock"] is None


def test_runs_that_nobody_locked_say_so_and_a_lock_names_who_holds_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    more = ["--adjudications", str(log)]
    first = stored(tmp_path, "a", ANSWERS)
    stored_run(tmp_path, OTHER, run_id="b")
    assert compared(capsys, tmp_path, *more)["lock"] == "A and B not locked"
    append_entry(log, make_lock([first], author="Ann", reason="The two arms are being read."))
    assert compared(capsys, tmp_path, *more)["lock"].startswith("A and B locked by Ann (")


def test_the_read_view_says_that_it_was_chosen_after_reading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, answers in (("a", ANSWERS), ("b", OTHER)):
        stored(tmp_path / "data", name, answers)
        said(capsys, "adjudicate", name, "c-2", "2", "--by", "r1", "--reading", "pass", "--cause", "too-narrow",
             "--reason", "It says so in other words.")  # fmt: skip
    found = json.loads(said(capsys, "compare", "a", "b", "--view", "read", "--json"))
    assert (found["view"], found["post_hoc"]) == ("read", True)
    assert found["label"].startswith("chosen after reading the answers")
    assert found["rows"][0]["a"] == pytest.approx((2 / 3 + 2 / 3) / 2)


@real
def test_two_published_arms_with_errors_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Berth's second round: 18 of 24 passed with thinking and two errors, 17 of 24 without."""
    for name, folder in (("a", "q35-new8-think-default-r3"), ("b", "q35-new8-think-false-r3")):
        said(capsys, "import", "berth", str(SHARED / "berth" / folder / "results.jsonl"), "--run-id", name,
             "--data", str(tmp_path))  # fmt: skip
    found = compared(capsys, tmp_path)
    first = found["rows"][0]
    assert (first["a"], first["b"], first["cases"]) == (0.75, pytest.approx(17 / 24), 8)
    assert found["errors"] == {"a": 2, "b": 0}
    assert [one["case_id"] for one in found["fell"]] == ["crd-operator-discovery", "multi-turn-followup"]
    assert [one["case_id"] for one in found["rose"]] == ["injection-record-incident", "node-removal-capacity"]
    assert any("recorded elsewhere" in note for note in found["notes"])


def test_a_calibrated_judge_s_errors_are_said_beside_its_differences(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = SUITE.replace(
        "- {id: short, check: sections, headings: [], max_words: 5}", "- {id: q, check: judge, rubric: Good?}"
    )
    Path("suite.yaml").write_text(judged)
    Path("script.yaml").write_text("""\
script: s
replies:
- {when: {model: judge, contains: [seven]}, answers: [{text: '{"score": 2, "reason": "wrong"}'}]}
- {when: {model: judge}, answers: [{text: '{"score": 5, "reason": "right"}'}]}
default: {text: It is four.}
""")
    Path("labelled.yaml").write_text("""\
labelled: sums
check: q
answers:
- {id: a, kind: good, case: c-1, answer: It is four., passes: true}
- {id: b, kind: bad, case: c-1, answer: It is seven., passes: false}
- {id: c, kind: bad, case: c-2, answer: four and five, passes: false}
""")
    calibration = json.loads(said(capsys, "calibrate", ".", "--json"))["id"]
    for name in ("a", "b"):
        said(capsys, "run", ".", "--target", "scripted", "--run-id", name)
    found = json.loads(said(capsys, "compare", "a", "b", "--json"))
    assert f"q: by {calibration} its judge shows 0.50 of a true difference, erring alike on both" in found["notes"]
    (row,) = [one for one in found["rows"] if one["row"] == "q"]
    assert row["judge"] == f"judged by judge, {calibration}"
