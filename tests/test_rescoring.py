"""Changed criteria beside the original: counted, named, dated, and never a byte of the original touched."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.checks.facts import Mentions
from evallib.checks.turns import OverSteps
from evallib.commands.preview_lines import preview_lines
from evallib.errors import InputError
from evallib.exhibits.run import open_exhibits
from evallib.printing import rescored_lines
from evallib.records import POST_HOC_LABEL, Sample, Verdict
from evallib.rescoring.apply import load_rescoring, rescore, rescore_run
from evallib.rescoring.flips import words_of
from evallib.rescoring.impact import preview
from evallib.scoring import fold_all, outcome_word
from evallib.store import Run, open_run, read_log, verify_log, verify_run
from evallib.suite import load_suite
from evallib.views.figures import load_figures, load_views
from evallib.views.load import open_view, view_names
from tests.licensing import citing, read_each
from tests.making import SUITE, stored_run

ENTRY = """\
kind: rescoring
slug: widen
author: r1
reason: "'4' is four"
changes: [{check: says, cases: [c-1], fix: widen, reason: a digit is as good}]
expects: [{run: r-1, case: c-1, sample: 2, to: pass}]
"""
WIDER = SUITE.replace("{facts: [four]}", "{facts: [[four, '4']]}")


FOUR = (("c-1", 2, "pass"),)


def files(
    tmp_path: Path,
    suite: str = WIDER,
    entry: str = ENTRY,
    *,
    read: Sequence[Run] = (),
    items: Sequence[tuple[str, int, str]] = FOUR,
    **more: str,
) -> tuple[Path, Path, Path]:
    """Suite, entry and log; of the runs to `read` the entry cites the readings of `items`."""
    ids = read_each(tmp_path / "log", read, items, **more)
    (tmp_path / "new.yaml").write_text(suite)
    (tmp_path / "entry.yaml").write_text(citing(entry, ids) if ids else entry)
    return tmp_path / "new.yaml", tmp_path / "entry.yaml", tmp_path / "log"


def rescorings(home: Path) -> list[str]:
    return [logged.id for logged in read_log(home / "log") if logged.entry.kind == "rescoring"]


def test_an_expected_flip_is_counted_and_carried_verdicts_are_marked(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"], "c-2": ["five"]})
    done = rescore([run], *files(tmp_path, read=[run])).as_dict()
    assert (done["recomputed"], done["carried"]) == (2, 4)
    assert [(f["case_id"], f["sample"], f["from"], f["to"], f["checks"], f["expected"]) for f in done["flips"]] == [
        ("c-1", 2, "fail", "pass", ["says"], True)
    ]
    assert (done["unexpected"], done["missed"], done["reverse"]) == ([], [], [])
    view = open_view(run, "rescored:widen", read_log(tmp_path / "log"))
    assert {(v.case_id, v.check_id): v.origin for v in view.verdicts}["c-2", "says"] == "carried"


def test_a_flip_tells_its_scores_and_a_change_that_flips_nothing_is_named(tmp_path: Path) -> None:
    named = "- {id: named, check: mentions, all_of: [number], critical: true}\n- {id: short"
    strict = SUITE.replace("- {id: short", named)
    run = stored_run(tmp_path, {"c-1": ["four", "a number: four"]}, suite_text=strict)
    milder = strict.replace(", critical: true}\n- {id: short", "}\n- {id: short, description: brief")
    changes = (
        "changes: [{check: named, fix: criticality, reason: not asked}, {check: short, fix: description, reason: w}]"
    )
    entry = re.sub(r"changes: .*", changes, ENTRY).replace("sample: 2", "sample: 1")
    given = files(tmp_path, milder, entry, read=[run], items=[("c-1", 1, "pass")], cause="wrong-scope")
    seen, done = preview([run], *given), rescore([run], *given).as_dict()
    assert [f["score"] for f in done["flips"]] == [f["score"] for f in seen.as_dict()["flips"]] == [[2 / 3, 2 / 3]]
    assert done["in_no_flip"] == seen.as_dict()["in_no_flip"] == [{"check": "short", "fix": "description"}]
    for lines in (rescored_lines(done), preview_lines(seen)):
        assert any("0.667 -> 0.667" in line for line in lines)
        assert "no flip comes from: short (description)" in lines


def test_the_original_keeps_every_byte_and_the_entry_is_twice_the_same(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    before = {p.name: p.read_bytes() for p in run.folder.iterdir()}
    rescore([run], *files(tmp_path, read=[run]))
    assert {p.name: p.read_bytes() for p in run.folder.iterdir() if p.is_file()} == before
    (logged,) = (tmp_path / "log" / "entries").rglob("*-rescoring-*.yaml")
    (copied,) = run.folder.glob("rescored/*/entry.yaml")
    assert logged.read_bytes() == copied.read_bytes()
    assert verify_run(run, tmp_path / "log").problems == verify_log(tmp_path / "log").problems == []


def test_the_table_itself_says_that_it_is_post_hoc(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    rescore([run], *files(tmp_path, read=[run]))
    (table,) = run.folder.glob("rescored/*/verdicts.parquet")
    metadata = pq.read_schema(table).metadata
    assert metadata[b"label"].decode() == POST_HOC_LABEL
    assert metadata[b"view"].startswith(b"rescored:")


def test_unexpected_missed_and_reverse_flips_are_named(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4", "none"]})
    other = SUITE.replace("{facts: [four]}", "{facts: ['4']}")
    entry = ENTRY.replace("sample: 2, to: pass}", "sample: 1, to: fail}, {run: r-1, case: c-1, sample: 3, to: pass}")
    read = files(tmp_path, other, entry.replace("widen, r", "key, r"), read=[run], items=[*FOUR, ("c-1", 1, "fail")])
    done = rescore([run], *read).as_dict()
    assert [(f["sample"], f["to"]) for f in done["unexpected"]] == [(2, "pass")]
    assert [f["sample"] for f in done["reverse"]] == [1]
    assert [m["sample"] for m in done["missed"]] == [3]


def test_a_preview_writes_no_view_and_what_is_predicted_after_it_says_so(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    nothing = ENTRY.replace("expects: [{run: r-1, case: c-1, sample: 2, to: pass}]", "expects: []")
    seen = preview([run], *files(tmp_path, entry=nothing)).as_dict()
    assert (seen["entry"], len(seen["flips"])) == (None, 1)
    assert not run.rescorings
    assert read_log(tmp_path / "log") == []
    assert rescore([run], *files(tmp_path, read=[run])).as_dict()["predicted_after_preview"] is True


def test_predicted_after_preview_stands_on_every_figure_of_the_view(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"], "c-2": ["five", "six"]})
    preview([run], *files(tmp_path, entry=ENTRY.replace("sample: 2", "sample: 1")))
    rescore([run], *files(tmp_path, read=[run]))
    strict, late, _ = load_views("r-1", tmp_path, tmp_path / "log")
    label = f"{POST_HOC_LABEL}; predicted after preview"
    summary = late.summary()
    assert (summary["predicted_after_preview"], summary["label"]) == (True, label)
    assert "predicted after preview" in summary["caption"]
    assert set(late.outcomes["label"]) == set(late.verdicts["label"]) == {label}
    assert label in late.decision().lines()[0]
    assert late.decision().as_json()["label"] == label
    assert "predicted_after_preview" not in strict.summary()
    exhibits = open_exhibits("r-1", data=tmp_path, adjudications=tmp_path / "log")
    for frame in (exhibits.overview(), exhibits.curves(), exhibits.changes(), exhibits.flips(), exhibits.entries()):
        assert label in frame.to_csv()
    assert label in exhibits.reliability().chart.usermeta["evallib"]["label"]
    metadata = pq.read_schema(run.rescorings[0].folder / "verdicts.parquet").metadata
    assert metadata[b"label"].decode() == label


def test_a_prediction_that_stood_before_the_preview_stays_one(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    preview([run], *files(tmp_path))
    assert rescore([run], *files(tmp_path, read=[run])).as_dict()["predicted_after_preview"] is False


@pytest.mark.parametrize(
    ("suite", "entry", "said"),
    [
        (WIDER.replace("two and two", "two and nine"), ENTRY, "asks something else"),
        (WIDER.replace("max_words: 5", "max_words: 9"), ENTRY, "changes check 'short'.*does not list"),
        (WIDER, ENTRY.replace("check: says", "check: sais"), "names check 'sais'"),
        (WIDER, ENTRY + "time: now\n", "'time' is stamped by the tool"),
        (WIDER, ENTRY.replace("fix: widen", "fix: tweak"), r"entry\.yaml, line 5"),
        (WIDER.replace("c-1", "c-9"), ENTRY, "has no case 'c-1'"),
        (
            WIDER,
            ENTRY.replace("cases: [c-1]", "cases: [c-7]"),
            r"line 5 \(changes\.0\.cases\.0\): no case 'c-7'; there are c-1, c-2",
        ),
        (WIDER, ENTRY.replace("a digit is as good", "' '"), r"line 5 .*reason for 'says' is blank"),
        (WIDER, ENTRY.replace("\"'4' is four\"", "' '"), r"line 4 \(reason\): the reason is blank"),
        (WIDER, ENTRY.replace("case: c-1, s", "case: c-2, s"), r"line 6 .*run 'r-1' has no case 'c-2'; there are c-1"),
        (WIDER, ENTRY.replace("sample: 2", "sample: 3"), r"line 6 .*has no sample 3; it has 1 to 2"),
        (WIDER, ENTRY + "readings: [r-x]\n", r"line 7 \(readings\.0\): no reading 'r-x' in the log; there are none"),
        (
            WIDER,
            ENTRY.replace("to: pass}]", "to: pass}, {run: r-1, case: c-1, sample: 2, to: fail}]"),
            r"expects\.1\): expects sample 2 of case 'c-1' to pass and to fail",
        ),
        (WIDER.replace("pass: critical", "pass: top"), ENTRY, "changes the pass rule from 'critical' to 'top'"),
    ],
)
def test_what_is_no_honest_rescoring_is_refused_and_leaves_nothing(
    tmp_path: Path, suite: str, entry: str, said: str
) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    with pytest.raises(InputError, match=said):
        rescore([run], *files(tmp_path, suite, entry))
    assert not (run.folder / "rescored").exists()
    assert not (tmp_path / "log").exists()


def test_the_same_rescoring_twice_is_refused(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    rescore([run], *files(tmp_path, read=[run]))
    with pytest.raises(InputError, match="exists already"):
        rescore([open_run("r-1", tmp_path)], *files(tmp_path, read=[run]))
    assert len(rescorings(tmp_path)) == 1


def test_a_changed_weight_carries_the_verdict_under_the_new_weight(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four, in so many words as these"]})
    heavier = SUITE.replace("id: short,", "id: short, weight: 3,")
    entry = ENTRY.replace("check: says, cases: [c-1], fix: widen", "check: short, fix: weight")
    entry = entry.replace("sample: 2", "sample: 1")
    read = files(tmp_path, heavier, entry, read=[run], items=[("c-1", 1, "pass")], cause="wrong-scope", check="short")
    done = rescore([run], *read)
    assert {v.check_id: (v.origin, v.weight) for v in done.runs[0].run.rescorings[0].verdicts("r-1")}["short"] == (
        "carried",
        3.0,
    )


def test_a_rescoring_that_fails_at_its_second_run_leaves_nothing_beside_the_first(tmp_path: Path) -> None:
    runs = [stored_run(tmp_path, {"c-1": ["four", "it is 4"]}, run_id=name) for name in ("r-1", "r-2")]
    rescore([runs[1]], *files(tmp_path, read=runs))
    with pytest.raises(InputError, match="exists already"):
        rescore(runs, *files(tmp_path, read=runs))
    assert not list(runs[0].folder.glob("rescored/*"))
    assert len(rescorings(tmp_path)) == 1


def test_what_is_expected_of_another_run_is_named(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    done = rescore([run], *files(tmp_path, entry=ENTRY.replace("run: r-1", "run: typo"), read=[run])).as_dict()
    assert [e["run"] for e in done["elsewhere"]] == ["typo"]
    assert len(done["unexpected"]) == 1


def test_a_rescoring_whose_suite_was_changed_afterwards_is_not_read(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    rescore([run], *files(tmp_path, read=[run]))
    (suite,) = run.folder.glob("rescored/*/suite.yaml")
    suite.write_text(suite.read_text().replace("pass: critical", "pass: top"))
    with pytest.raises(InputError, match="changed after the rescoring"):
        open_view(open_run("r-1", tmp_path), "rescored:widen", read_log(tmp_path / "log"))


def older(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The run as it stands where the kind `mentions` has judged otherwise since."""
    monkeypatch.setattr(Mentions, "revision", Mentions.revision + 1)
    return open_run(run.id, run.folder.parent.parent)


def test_what_a_kind_judged_before_its_meaning_changed_is_not_carried_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = stored_run(tmp_path, {"c-1": ["four", "it is 4"], "c-2": ["five"]})
    run = older(stored, monkeypatch)
    rescored = rescore([run], *files(tmp_path, read=[run]))
    done = rescored.as_dict()
    assert (done["recomputed"], done["carried"], done["outdated"]) == (3, 3, ["says"])
    assert any("judged otherwise since the run was made: says" in line for line in rescored_lines(done))
    assert rescored.entry.runs[0]["outdated"] == ["says"]
    view = open_view(run, "rescored:widen", read_log(tmp_path / "log"))
    assert {v.decides for v in view.verdicts} == {b.decides for bounds in view.suite.bound.values() for b in bounds}


def test_runs_judged_by_two_revisions_of_a_kind_are_not_pooled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    older(stored_run(tmp_path, {"c-1": ["four"]}), monkeypatch)
    stored_run(tmp_path, {"c-1": ["four"]}, run_id="r-2")
    with pytest.raises(InputError, match="check 'says' of runs 'r-1' and 'r-2' was judged under other criteria"):
        load_figures(["r-1", "r-2"], "strict", tmp_path, tmp_path / "log")
    assert load_figures(["r-1"], "strict", tmp_path, tmp_path / "log").outcomes.shape[0] == 1


def test_expectations_of_steps_know_the_revision_of_their_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Mentions(id="x", check="mentions", all_of=("four",))
    both = OverSteps(id="x", parts=((1, part),))
    before = part.measures(), both.measures()
    monkeypatch.setattr(Mentions, "revision", Mentions.revision + 1)
    assert part.measures() != before[0]
    assert both.measures() != before[1]
    monkeypatch.setattr(Mentions, "revision", 1)
    assert "revision" not in part.criteria()


def test_the_shipped_run_opens_verifies_and_is_known_to_be_older_than_its_kinds(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parent.parent
    run = open_run("basics-smollm2", root / "data")
    assert verify_run(run, tmp_path).problems == []
    (tmp_path / "entry.yaml").write_text(ENTRY)
    suite = load_suite(root / "data/suites/basics")
    done = rescore_run(run, suite, load_rescoring(tmp_path / "entry.yaml"))
    checks = [bound.check for bounds in run.suite.bound.values() for bound in bounds]
    assert set(done.outdated) == {check.id for check in checks if check.revision > 1} == {"answered", "right"}


def killed_after_the_first_folder(tmp_path: Path) -> list[Run]:
    """Two runs, rescored by a process that was killed between them: the first folder stands, the log is empty."""
    runs = [stored_run(tmp_path, {"c-1": ["four", "it is 4"]}, run_id=name) for name in ("r-1", "r-2")]
    rescore(runs, *files(tmp_path, read=runs))
    shutil.rmtree(tmp_path / "log")
    shutil.rmtree(runs[1].folder / "rescored")
    return [open_run(name, tmp_path) for name in ("r-1", "r-2")]


def test_a_rescoring_without_its_entry_in_the_log_is_no_view_and_is_called_unfinished(tmp_path: Path) -> None:
    run, _ = killed_after_the_first_folder(tmp_path)
    assert view_names(run, []) == ["strict"]
    with pytest.raises(InputError, match="unfinished rescoring and no view"):
        open_view(run, "rescored:widen", read_log(tmp_path / "log"))
    with pytest.raises(InputError, match="its views: strict"):
        open_view(run, "rescored", [])
    (problem,) = verify_run(run, tmp_path / "log").problems
    assert "is an unfinished rescoring" in problem


def test_the_same_rescoring_again_finishes_what_a_kill_left(tmp_path: Path) -> None:
    runs = killed_after_the_first_folder(tmp_path)
    (left,) = runs[0].folder.glob("rescored/*")
    left.rename(left.with_name(f"2026-01-02-{left.name[11:]}"))  # killed on an earlier day
    rescore(runs, *files(tmp_path, read=runs))
    for run in runs:
        assert [one.name for one in run.folder.glob("rescored/*")] == [left.name]
        assert verify_run(run, tmp_path / "log").problems == []
        assert view_names(run, read_log(tmp_path / "log")) == ["strict", f"rescored:{left.name}", "read"]
    with pytest.raises(InputError, match="exists already"):
        rescore(runs, *files(tmp_path, read=runs))


def test_a_rescoring_of_the_log_is_never_put_aside_even_when_its_folder_was_changed(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    rescore([run], *files(tmp_path, read=[run]))
    (entry,) = run.folder.glob("rescored/*/entry.yaml")
    entry.write_text(entry.read_text().replace("author: r1", "author: r2"))
    before = {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="exists already"):
        rescore([open_run("r-1", tmp_path)], *files(tmp_path, read=[run]))
    assert {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()} == before


def test_a_rescoring_that_is_refused_leaves_no_empty_folder(tmp_path: Path) -> None:
    runs = [stored_run(tmp_path, {"c-1": ["four", "it is 4"]}, run_id=name) for name in ("r-1", "r-2")]
    rescore([runs[1]], *files(tmp_path, read=runs))
    with pytest.raises(InputError, match="exists already"):
        rescore(runs, *files(tmp_path, read=runs))
    damaged = runs[1].folder / "samples.parquet"
    again = files(tmp_path, entry=ENTRY.replace("slug: widen", "slug: other"), read=runs)
    damaged.write_bytes(b"")
    with pytest.raises(InputError, match=str(damaged)):
        rescore([open_run(name, tmp_path) for name in ("r-1", "r-2")], *again)
    assert not (runs[0].folder / "rescored").exists()


def test_another_slug_and_another_changelog_do_not_hide_a_preview_of_the_same_criteria(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    nothing = ENTRY.replace("expects: [{run: r-1, case: c-1, sample: 2, to: pass}]", "expects: []")
    preview([run], *files(tmp_path, entry=nothing))
    renamed = WIDER + "changelog: [{date: '2026-01-01', note: another digest}]\n"
    wider = files(tmp_path, renamed, ENTRY.replace("slug: widen", "slug: wider"), read=[run])
    done = rescore([run], *wider).as_dict()
    assert done["predicted_after_preview"] is True


def test_a_preview_of_a_run_of_other_cases_says_nothing_of_this_one(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    other = stored_run(tmp_path, {"c-2": ["six"]}, run_id="r-2")
    entry = ENTRY.replace("expects: [{run: r-1, case: c-1, sample: 2, to: pass}]", "expects: []")
    preview([other], *files(tmp_path, entry=entry.replace("slug: widen", "slug: other")))
    assert rescore([run], *files(tmp_path, read=[run])).as_dict()["predicted_after_preview"] is False


def test_a_preview_of_other_criteria_says_nothing_of_these(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    other = WIDER.replace("'4'", "'5'")
    nothing = ENTRY.replace("expects: [{run: r-1, case: c-1, sample: 2, to: pass}]", "expects: []")
    preview([run], *files(tmp_path, other, nothing.replace("slug: widen", "slug: five")))
    assert rescore([run], *files(tmp_path, read=[run])).as_dict()["predicted_after_preview"] is False


INVENTED = ENTRY.replace(
    "changes: [", "changes: [{check: short, cases: [c-1], fix: widen, reason: nothing of the kind}, "
)


def test_a_change_that_neither_suite_shows_is_refused(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    with pytest.raises(InputError, match=r"check 'short' of 'c-1' changes \(widen\), and both suites say the same"):
        rescore([run], *files(tmp_path, entry=INVENTED))
    assert not (run.folder / "rescored").exists()


@pytest.mark.parametrize(
    ("suite", "entry", "said"),
    [
        (WIDER.replace("max_words: 5", "max_words: 9"), ENTRY, r"changes check 'short'.*does not list"),
        (WIDER, INVENTED, r"both suites say the same"),
        (WIDER, ENTRY, ""),
    ],
)
def test_a_preview_says_what_the_rescoring_would_refuse_and_refuses_nothing(
    tmp_path: Path, suite: str, entry: str, said: str
) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4"]})
    given = files(tmp_path, suite, entry, read=[run])
    impact = preview([run], *given)
    seen = impact.as_dict()
    assert bool(seen["would_refuse"]) == bool(said)
    lines = [line for line in preview_lines(impact) if line.startswith("the rescoring itself would be refused: ")]
    assert len(lines) == len(seen["would_refuse"])
    if said:
        assert re.search(said, lines[0])
        with pytest.raises(InputError, match=said):
            rescore([run], *given)
    else:
        assert rescore([run], *given).as_dict()["would_refuse"] == []


VERDICTS = st.builds(
    Verdict,
    case_id=st.just("c"),
    sample=st.integers(1, 4),
    check_id=st.sampled_from(["a", "b"]),
    status=st.sampled_from(["scored", "not_applicable", "not_scored"]),
    reason=st.just("r"),
    value=st.sampled_from([0.0, 0.5, 1.0]),
    passed=st.booleans(),
    critical=st.booleans(),
    origin=st.sampled_from(["computed", "carried", "recorded"]),
    decides=st.sampled_from(["", "d"]),
)


@given(
    st.lists(VERDICTS, max_size=20),
    st.lists(
        st.tuples(st.sampled_from(["completed", "provider_error"]), st.sampled_from(["", "yes", "<think>"])),
        min_size=4,
        max_size=4,
    ),
    st.sampled_from(["critical", "top"]),
)
def test_samples_that_are_alike_amount_to_what_folding_each_says(
    verdicts: list[Verdict], answers: list[tuple[str, str]], rule: str
) -> None:
    samples = [Sample("r", "c", n, status=status, answer=text) for n, (status, text) in enumerate(answers, 1)]
    each = {
        key: outcome_word(one.passed) if one.passed is not None else one.status
        for key, one in fold_all(samples, verdicts, rule).items()
    }
    assert words_of(samples, verdicts, rule) == each
