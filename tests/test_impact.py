"""What changed criteria would do, before anything of them is written: flips, readings, figures, costs, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.adjudication import make_reading
from evallib.checks.text import Sections
from evallib.cli import main
from evallib.commands.preview_lines import preview_lines
from evallib.errors import InputError
from evallib.records import Sample, Verdict
from evallib.rescoring.apply import load_rescoring, rescore, rescore_run
from evallib.rescoring.costs import Trial
from evallib.rescoring.impact import Impact, preview
from evallib.rescoring.rates import CasePasses, both_rates, pooled
from evallib.scoring import fold_all
from evallib.store import Run, append_entry, read_log
from evallib.suite import BoundCheck, parse_suite
from evallib.views.figures import load_figures
from tests.making import SUITE, stored_run
from tests.test_rescoring import ENTRY, WIDER, files

ANSWERS = {"c-1": ["four", "it is 4"], "c-2": ["five"]}
NARROWER = SUITE.replace("{facts: [four]}", "{facts: ['4']}")


def look(tmp_path: Path, runs: list[Run] | Path, suite: str = WIDER, entry: str | None = None) -> Impact:
    new, written, log = files(tmp_path, suite, entry or ENTRY)
    return preview(runs, new, written if entry else None, log)


def read(tmp_path: Path, run: Run, sample: int, reading: str, **more: Any) -> str:
    log = tmp_path / "log"
    made = make_reading(
        run, "c-1", sample, reading=reading, reason="as it stands", author="Ann", log=read_log(log), **more
    )
    return append_entry(log, made).id


# which runs


def test_without_a_run_every_stored_run_of_the_suite_is_looked_at_and_no_other(tmp_path: Path) -> None:
    for name in ("r-1", "r-2"):
        stored_run(tmp_path, ANSWERS, run_id=name)
    stored_run(tmp_path, ANSWERS, run_id="other", suite_text=SUITE.replace("suite: small", "suite: large"))
    seen = look(tmp_path, tmp_path)
    assert [one.run.id for one in seen.runs] == ["r-1", "r-2"]
    assert [(flip["run"], flip["case_id"], flip["sample"]) for flip in seen.as_dict()["flips"]] == [
        ("r-1", "c-1", 2),
        ("r-2", "c-1", 2),
    ]


def test_a_run_that_was_asked_something_else_is_left_out_with_the_reason(tmp_path: Path) -> None:
    stored_run(tmp_path, ANSWERS)
    stored_run(tmp_path, ANSWERS, run_id="old", suite_text=SUITE.replace("two and two", "one and one"))
    (left,) = look(tmp_path, tmp_path).left_out
    assert left.run == "old"
    assert "asks something else" in left.why


def test_no_run_of_the_suite_is_refused(tmp_path: Path) -> None:
    stored_run(tmp_path, ANSWERS, suite_text=SUITE.replace("suite: small", "suite: large"))
    with pytest.raises(
        InputError, match=r"no run under .* can be rescored with suite 'small'; of other suites there are 1 run"
    ):
        look(tmp_path, tmp_path)


def test_a_named_run_that_was_asked_something_else_is_refused(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS, suite_text=SUITE.replace("two and two", "one and one"))
    with pytest.raises(InputError, match="asks something else"):
        look(tmp_path, [run])


# what it says is what the rescoring does


@pytest.mark.parametrize(
    ("suite", "check", "fix"),
    [
        (WIDER, "says", "widen"),
        (NARROWER, "says", "replace"),
        (SUITE.replace("pass: critical", "pass: top"), "says", "pass-rule"),
        (SUITE.replace("id: short,", "id: short, critical: true,"), "short", "criticality"),
        (SUITE.replace("max_words: 5", "max_words: 2"), "short", "narrow"),
        (SUITE.replace("- {id: short, check: sections, headings: [], max_words: 5}\n", ""), "short", "drop"),
    ],
)
def test_a_preview_foretells_the_flips_and_figures_of_the_rescoring(
    tmp_path: Path, suite: str, check: str, fix: str
) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "it is 4", "what it is is four", "", "4"], "c-2": ["five", "six"]})
    change = {"check": check, "fix": fix, "reason": "r"}
    entry = json.dumps({"kind": "rescoring", "slug": "s", "author": "a", "reason": "r", "changes": [change]})
    seen = look(tmp_path, [run], suite, entry).as_dict()
    verdicts: list[Verdict] = []
    changed = parse_suite(suite, "new.yaml")
    done = rescore_run(run, changed, load_rescoring(tmp_path / "entry.yaml"), verdicts.extend)
    flips = [(flip.case_id, flip.sample, flip.before, flip.after, list(flip.checks)) for flip in done.flips]
    assert flips == [(f["case_id"], f["sample"], f["from"], f["to"], f["checks"]) for f in seen["flips"]]
    assert (seen["recomputed"], seen["carried"]) == (done.recomputed, done.carried)
    (rate,) = seen["rates"]
    rescored = fold_all(run.samples, verdicts, changed.pass_rule)
    assert rate["passed"][1] == sum(outcome.passed is True for outcome in rescored.values())
    summary = load_figures([run], "strict", tmp_path, tmp_path / "log").summary()
    k = list(rate["pass_at"])[-1]
    assert rate["pass_rate"][0] == pytest.approx(summary["pass_rate"])
    assert rate["pass_at"][k][0] == pytest.approx(summary["pass_at"][k])
    assert rate["pass_hat"][k][0] == pytest.approx(summary["pass_hat"][k])


@given(st.lists(st.tuples(st.integers(1, 6), st.data()), min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_pooled_figures_are_those_of_one_run_with_all_samples(sizes: list[tuple[int, Any]]) -> None:
    runs = [
        {"c": CasePasses(n, data.draw(st.integers(0, n)), data.draw(st.integers(0, n))), "d": CasePasses(1, 0, 1)}
        for n, data in sizes
    ]
    together = pooled(runs)
    assert together["c"] == tuple(map(sum, zip(*(run["c"] for run in runs), strict=True)))
    rates = both_rates(together, every_k=True)
    assert rates["planned"] == sum(one.planned for run in runs for one in run.values())
    assert rates["pass_at"]["1"] == rates["pass_hat"]["1"] == pytest.approx(rates["pass_rate"])


def test_runs_under_different_criteria_are_not_pooled(tmp_path: Path) -> None:
    stored_run(tmp_path, ANSWERS)
    stored_run(tmp_path, ANSWERS, run_id="r-2", suite_text=SUITE.replace("max_words: 5", "max_words: 7"))
    seen = look(tmp_path, tmp_path)
    assert [one["run"] for one in seen.as_dict()["rates"]] == ["r-1", "r-2"]
    assert any("different criteria, so they are not pooled" in line for line in preview_lines(seen))


def test_the_pooled_row_has_both_numbers(tmp_path: Path) -> None:
    for name in ("r-1", "r-2"):
        stored_run(tmp_path, ANSWERS, run_id=name)
    last = look(tmp_path, tmp_path).as_dict()["rates"][-1]
    assert (last["run"], last["planned"], last["passed"]) == (None, 6, [4, 6])
    assert last["pass_rate"] == [0.75, 1.0]
    assert (last["pass_at"]["2"], last["pass_hat"]["2"]) == (
        [pytest.approx((5 / 6 + 1) / 2), 1.0],
        [pytest.approx((1 / 6 + 1) / 2), 1.0],
    )


# readings


@pytest.mark.parametrize(
    ("reading", "more", "state"),
    [
        ("pass", {"cause": "too-narrow"}, "read"),
        ("fail", {}, "contradicted"),
        ("unsure", {"cause": "cannot-judge"}, "unread"),
        ("infra", {"cause": "other"}, "contradicted"),
        ("pass", {"cause": "too-narrow", "check": "says"}, "read"),
        ("fail", {"check": "says"}, "contradicted"),
        ("pass", {"check": "short"}, "unread"),
    ],
)
def test_a_flip_is_read_contradicted_or_unread(tmp_path: Path, reading: str, more: dict[str, str], state: str) -> None:
    run = stored_run(tmp_path, ANSWERS)
    id_ = read(tmp_path, run, 2, reading, **more)
    (flip,) = look(tmp_path, [run]).as_dict()["flips"]
    assert flip["read"] == state
    assert flip["readings"] == ([] if state == "unread" else [id_])


def test_a_reading_of_another_answer_or_one_that_was_replaced_says_nothing(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    read(tmp_path, run, 1, "pass")
    before = read(tmp_path, run, 2, "pass", cause="too-narrow")
    read(tmp_path, run, 2, "fail", supersedes=before)
    (flip,) = look(tmp_path, [run]).as_dict()["flips"]
    assert flip["read"] == "contradicted"


def test_a_flip_to_fail_is_supported_by_a_reading_that_says_fail(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    read(tmp_path, run, 1, "fail", cause="too-broad")
    flips = {flip["sample"]: flip for flip in look(tmp_path, [run], NARROWER).as_dict()["flips"]}
    assert (flips[1]["to"], flips[1]["read"], flips[2]["read"]) == ("fail", "read", "unread")


# what newly matches


def matching(pattern: str) -> str:
    return SUITE.replace(
        "{id: says, check: mentions, all_of: key.facts, critical: true}",
        f"{{id: says, check: matches, any_of: ['{pattern}'], critical: true}}",
    )


def test_a_flip_shows_the_piece_that_newly_matches(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["well, I think that it is 4 in the end"]}, suite_text=matching("four"))
    (flip,) = look(tmp_path, [run], matching("four|it is 4")).as_dict()["flips"]
    assert flip["hits"] == [
        {"check": "says", "start": 19, "end": 26, "text": "well, I think that «it is 4» in the end"}
    ]


def test_a_credential_beside_a_hit_is_masked_and_control_characters_are_spelled_out(tmp_path: Path) -> None:
    answer = "password: hunter2hunter2 is \x1b[31m4\nand so on"
    run = stored_run(tmp_path, {"c-1": [answer]}, suite_text=matching("four"))
    seen = look(tmp_path, [run], matching("4"))
    (hit,) = seen.as_dict()["flips"][0]["hits"]
    assert "hunter2" not in hit["text"]
    assert "[masked]" in hit["text"]
    assert "\n" not in hit["text"]
    assert not any("\x1b" in line for line in preview_lines(seen))


def test_a_long_hit_is_cut(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["a" * 5000]}, suite_text=matching("four"))
    (flip,) = look(tmp_path, [run], matching("a+")).as_dict()["flips"]
    assert len(flip["hits"][0]["text"]) < 100


# costs


class Work:
    """A clock that goes by what a check does."""

    def __init__(self) -> None:
        self.s = 0.0

    def now(self) -> float:
        return self.s

    def check(self, power: int, unit: float) -> BoundCheck:
        """A check that takes `unit` seconds times the length of each answer to that power."""
        work = self

        class Working(Sections):
            def judge(self, sample: Sample) -> Verdict:
                work.s += unit * len(sample.answer) ** power
                return super().judge(sample)

        check = Working(id="short", check="sections", headings=(), max_words=5)
        return BoundCheck(check, "digest")


@pytest.mark.parametrize(
    ("power", "unit", "slow", "line", "growth"),
    [
        (1, 1e-6, False, 100_000, 2.0),
        (1, 1e-9, False, 100_000, None),
        (2, 1e-11, True, 100_000, 4.0),
        (2, 1e-8, True, 12_500, None),  # slow already: no longer line is tried
        (1, 1e-4, True, 12_500, None),
    ],
)
def test_a_check_is_slow_that_takes_long_or_grows_faster_than_the_text(
    power: int, unit: float, slow: bool, line: int, growth: float | None
) -> None:
    work = Work()
    tried = Trial(now=work.now)
    tried.add({"c-1": [work.check(power, unit)]}, [Sample("r", "c-1", n, answer="word " * 20) for n in range(1, 4)])
    (cost,) = tried.costs()
    assert (cost.check, cost.answers, cost.slow, cost.line) == ("short", 3, slow, line)
    assert cost.growth == (pytest.approx(growth) if growth else None)
    assert cost.per_1000_s == pytest.approx(1000 * unit * 100**power)


def test_only_checks_that_changed_are_timed_on_stored_answers(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    (cost,) = look(tmp_path, [run]).as_dict()["costs"]
    assert (cost["check"], cost["answers"], cost["line"], cost["slow"]) == ("says", 2, 100_000, False)


# entry and stamp


def test_without_an_entry_nothing_is_expected_and_the_rescoring_would_be_refused(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    seen = look(tmp_path, [run]).as_dict()
    assert (seen["flips"][0]["expected"], seen["unexpected"], seen["missed"]) == (None, [], [])
    assert "no entry" in seen["would_refuse"][0]
    assert read_log(tmp_path / "log") == []
    assert not run.rescorings


def test_what_is_predicted_after_a_preview_without_an_entry_says_so(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    look(tmp_path, [run])
    assert rescore([run], *files(tmp_path, read=[run])).as_dict()["predicted_after_preview"] is True


def test_an_entry_tells_expected_from_unexpected_and_missed(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    seen = look(tmp_path, [run], entry=ENTRY.replace("sample: 2", "sample: 1")).as_dict()
    assert ([f["sample"] for f in seen["unexpected"]], [m["sample"] for m in seen["missed"]]) == ([2], [1])


# the command line


def call(tmp_path: Path, *more: str) -> int:
    given = ["--suite", str(tmp_path / "new.yaml"), "--data", str(tmp_path), "--adjudications", str(tmp_path / "log")]
    return main(["rescore", *given, *more])


def test_the_command_prints_the_preview_of_every_run_as_text_and_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored_run(tmp_path, ANSWERS)
    files(tmp_path)
    assert call(tmp_path, "--preview") == 0
    said = capsys.readouterr().out
    assert "1 flip: 1 to pass, 0 to fail; 0 read, 1 unread, 0 contradicted, 0 disputed" in said
    assert "0.750 -> 1.000" in said
    assert call(tmp_path, "--preview", "--json") == 0
    assert json.loads(capsys.readouterr().out)["flips"][0]["read"] == "unread"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "name the runs to rescore"),
        (["r-1"], "needs --entry FILE"),
        (["r-1", "--preview", "--queue"], "give --preview and --by NAME"),
        (["r-1", "--queue", "--by", "Ann"], "give --preview and --by NAME"),
        (["r-1", "--preview", "--override", "fine", "--by", "Ann"], "a preview accepts nothing"),
        (["r-1", "--preview", "--by", "Ann"], "--by says who accepts unread flips"),
    ],
)
def test_half_a_rescoring_is_refused_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    stored_run(tmp_path, ANSWERS)
    files(tmp_path)
    assert call(tmp_path, *more) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "log").exists()
