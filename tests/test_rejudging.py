"""A rescoring carries a judge's verdict, reads its votes again, or asks anew and says how often."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evallib.calibration import Calibration, calibrations_of
from evallib.checks.judge import Judge
from evallib.cli import main
from evallib.comparison.compare import compare_runs
from evallib.errors import InputError
from evallib.judges import prompt_digest
from evallib.judging import Jury
from evallib.records import Verdict
from evallib.rescoring.apply import Rescored, load_rescoring, rescore, rescore_run
from evallib.rescoring.impact import Impact, preview
from evallib.store import ReplyStore, Run, open_run
from evallib.store.calibrations import save_calibration
from evallib.suite import parse_suite
from evallib.views.figures import load_figures
from tests.juries import jury_of
from tests.licensing import citing, read_each
from tests.tiny_server import says

SUITE = """\
suite: sums
pass: critical
checks:
- {id: says, check: mentions, all_of: key.facts, critical: true}
- {id: q, check: judge, rubric: Is it right?}
cases:
- {id: c-1, steps: [{ask: What is 1 and one?}], key: {facts: ['2']}}
- {id: c-2, steps: [{ask: What is 2 and one?}], key: {facts: ['3']}}
"""
SCRIPT = """\
script: sums
replies:
- when: {model: judge}
  answers: [{text: '{"score": 4, "reason": "so"}'}]
default: {text: It is 2.}
"""
ENTRY = """\
kind: rescoring
slug: SLUG
author: r1
reason: the rubric was vague
changes: [{check: q, fix: replace, reason: says what right means, judgement: true}]
expects: []
"""
FIVE = says('{"score": 5, "reason": "right"}', usage={"prompt_tokens": 9, "completion_tokens": 2})


class Home(NamedTuple):
    folder: Path
    run: Run

    def rescore(self, suite: str, jury: Jury | None = None, *, slug: str = "new", entry: str = ENTRY) -> Rescored:
        return rescore([self.run], *self.files(suite, slug, entry), jury=jury)

    def preview(self, suite: str, jury: Jury | None = None, *, slug: str = "new") -> Impact:
        return preview([self.run], *self.files(suite, slug, ENTRY), jury=jury)

    def files(self, suite: str, slug: str, entry: str) -> tuple[Path, Path, Path]:
        entry = self.licensed(entry)
        (self.folder / "new.yaml").write_text(suite)
        (self.folder / "entry.yaml").write_text(entry.replace("SLUG", slug))
        return self.folder / "new.yaml", self.folder / "entry.yaml", self.folder / "log"

    def licensed(self, entry: str) -> str:
        """The entry with a reading of the judge's verdict, and of the other check's, to cite."""
        log = self.folder / "log"
        ids = read_each(log, [self.run], [("c-1", 1, "fail")], cause="other", check="q")
        return citing(entry, ids + read_each(log, [self.run], [("c-2", 1, "pass")], cause="other", check="says"))

    def previewed(self, suite: str, entry: str = ENTRY) -> list[Verdict]:
        """What the judges say without anyone asked."""
        found: list[Verdict] = []
        (self.folder / "entry.yaml").write_text(entry.replace("SLUG", "new"))
        rescore_run(self.run, parse_suite(suite, "new.yaml"), load_rescoring(self.folder / "entry.yaml"), found.extend)
        return [v for v in found if v.check_id == "q"]


def judged(done: Rescored) -> list[Verdict]:
    run = done.runs[0].run
    name = str(done.as_dict()["view"]).removeprefix("rescored:")
    return [v for v in run.rescoring(name).verdicts(run.id) if v.check_id == "q"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(SUITE)
    Path("script.yaml").write_text(SCRIPT)
    assert main(["run", ".", "--target", "scripted", "--run-id", "r"]) == 0
    return Home(tmp_path, open_run("r", tmp_path / "data"))


@pytest.fixture
def asking(home: Home) -> Callable[[], Iterator[tuple[Jury, list[dict[str, Any]]]]]:
    return lambda: jury_of(FIVE, jobs=3, replies=ReplyStore(home.folder / "data"))  # type: ignore[return-value]


OTHER_RUBRIC = SUITE.replace("Is it right?", "Is the sum right?")


def test_a_judge_that_asks_the_same_is_carried_whatever_it_weighs(home: Home) -> None:
    heavier = SUITE.replace("Is it right?", "Is it right?, weight: 3.0")
    done = home.rescore(heavier, entry=ENTRY.replace("fix: replace", "fix: weight"))
    assert [(v.origin, v.raw, v.weight) for v in judged(done)] == [("carried", 4.0, 3.0)] * 2
    assert (done.judge_calls, done.judge_replies_kept) == (0, 0)


@pytest.mark.parametrize(
    ("more", "passed", "status"), [("pass_at: 4.0", True, "scored"), ("min_votes: 3", False, "scored")]
)
def test_another_threshold_reads_the_stored_votes_again(home: Home, more: str, passed: bool, status: str) -> None:
    before = {v.case_id: json.loads(v.judge) for v in home.run.verdicts if v.check_id == "q"}
    done = home.rescore(SUITE.replace("Is it right?", f"Is it right?, {more}"))
    assert [(v.origin, v.passed, v.status, v.raw) for v in judged(done)] == [("computed", passed, status, 4.0)] * 2
    assert {v.case_id: json.loads(v.judge) for v in judged(done)} == before


def test_votes_read_again_still_say_what_the_judge_was_not_shown(home: Home) -> None:
    Path("script.yaml").write_text(SCRIPT.replace("It is 2.", f"It is 2.{' Yes.' * 300}"))
    Path("suite.yaml").write_text(SUITE.replace("Is it right?", "Is it right?, max_chars: 1000"))
    assert main(["run", ".", "--target", "scripted", "--run-id", "long"]) == 0
    long = home._replace(run=open_run("long", home.folder / "data"))
    found = long.previewed(SUITE.replace("Is it right?", "Is it right?, max_chars: 1000, pass_at: 4.0"))
    assert [("characters in the middle of long texts not shown" in v.reason, v.passed) for v in found] == [
        (True, True)
    ] * 2


def test_another_rubric_without_a_judge_is_refused_and_previewed_as_not_scored(home: Home) -> None:
    with pytest.raises(InputError, match=r"judge 'q' of case 'c-1' asks something else.*--judge"):
        home.rescore(OTHER_RUBRIC)
    assert not home.run.rescorings
    assert home.preview(OTHER_RUBRIC).as_dict()["recomputed"] == 2
    assert {(v.status, v.value) for v in home.previewed(OTHER_RUBRIC)} == {("not_scored", None)}


def test_another_rubric_is_asked_once_for_preview_and_rescorings_together(home: Home, asking: Any) -> None:
    counts = []
    with asking() as (jury, seen):
        impact = home.preview(OTHER_RUBRIC, jury, slug="one")
    counts.append((len(seen), impact.judge_calls, impact.judge_replies_kept))
    for slug in ("one", "two"):
        with asking() as (jury, seen):
            done = home.rescore(OTHER_RUBRIC, jury, slug=slug)
        counts.append((len(seen), done.judge_calls, done.judge_replies_kept))
        assert [(v.raw, v.origin) for v in judged(done)] == [(5.0, "computed")] * 2
    assert counts == [(6, 6, 0), (0, 0, 6), (0, 0, 6)]
    as_json = done.as_dict()
    assert (as_json["judge_calls"], as_json["judge_replies_kept"], as_json["recomputed"]) == (0, 6, 2)


def test_another_model_behind_the_judge_is_a_change_the_entry_must_list(home: Home, asking: Any) -> None:
    unlisted = ENTRY.replace("check: q", "check: says")
    with asking() as (jury, seen), pytest.raises(InputError, match=r"asked anew.*does not list"):
        home.rescore(SUITE, jury, entry=unlisted)
    assert seen == []
    with asking() as (jury, _):
        verdicts = judged(home.rescore(SUITE, jury))
    assert {json.loads(v.judge)["model"] for v in verdicts} == {"judge-model"}


def test_the_judge_that_judged_the_run_is_not_asked_again(home: Home) -> None:
    identity = json.loads(next(v for v in home.run.verdicts if v.judge).judge)
    with jury_of(FIVE, replies=ReplyStore(home.folder / "data")) as (jury, seen):
        jury.panel._identity = {name: identity[name] for name in ("kind", "model", "script_digest")}  # type: ignore[attr-defined]
        assert {v.origin for v in judged(home.rescore(SUITE, jury))} == {"carried"}
    assert seen == []


def test_a_changed_key_is_remarked_without_a_judge_and_asked_with_one(home: Home, asking: Any) -> None:
    key = SUITE.replace("facts: ['3']", "facts: ['4']")
    entry = ENTRY.replace("changes: [", "changes: [{check: says, fix: key, reason: it is four, judgement: true}, ")
    one, two = home.previewed(key, entry)
    strict = {v.case_id: v for v in home.run.verdicts if v.check_id == "q"}
    assert (one.reason, one.decides) == (strict["c-1"].reason, strict["c-1"].decides)
    assert two.reason.endswith("--judge asks again)")
    assert two.decides == strict["c-2"].decides
    strict_judge = json.loads(strict["c-1"].judge)
    with asking() as (jury, seen):
        jury.panel._identity = {name: strict_judge[name] for name in ("kind", "model", "script_digest")}
        done = judged(home.rescore(key, jury, entry=entry))
    assert ([v.origin for v in done], len(seen)) == (["carried", "computed"], 3)


def test_a_run_without_judges_can_be_judged_later(home: Home, asking: Any) -> None:
    assert main(["run", ".", "--target", "scripted", "--run-id", "bare", "--no-judges"]) == 0
    bare = home._replace(run=open_run("bare", home.folder / "data"))
    assert {v.status for v in bare.previewed(SUITE)} == {"not_applicable"}
    with asking() as (jury, seen):
        assert {v.raw for v in judged(bare.rescore(SUITE, jury, slug="later"))} == {5.0}
        assert judged(home.rescore(SUITE, jury, slug="both"))
    assert len(seen) == 6
    later, both = (
        load_figures([name], f"rescored:{slug}", home.folder / "data", home.folder / "log")
        for name, slug in (("bare", "later"), ("r", "both"))
    )
    assert "judges_left_out" not in later.summary()
    assert compare_runs(later, both).paired


def test_the_calibration_of_a_judge_that_only_a_rescoring_has_concerns_the_run(home: Home, asking: Any) -> None:
    with asking() as (jury, _):
        home.rescore(OTHER_RUBRIC, jury)
    data = home.folder / "data"
    judge = parse_suite(OTHER_RUBRIC, "new.yaml").bound["c-1"][1].check
    assert isinstance(judge, Judge)
    made = Calibration("q", "labelled set x (0 answers, digest 0)", {"prompt": prompt_digest(judge)}, ())
    save_calibration(data, made.as_dict())
    assert [one["id"] for one in calibrations_of(home.run, data, home.folder / "log")] == [made.id]
    assert calibrations_of(home.run, data, home.folder / "no-log") == []


def test_the_command_line_asks_and_reports(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    Path("new.yaml").write_text(OTHER_RUBRIC)
    Path("entry.yaml").write_text(home.licensed(ENTRY.replace("SLUG", "cli")))
    arguments = ["rescore", "r", "--suite", "new.yaml", "--entry", "entry.yaml", "--adjudications", "log"]
    assert main(arguments) == 2
    capsys.readouterr()
    assert main([*arguments, "--judge", "scripted", "--preview"]) == 0
    told = capsys.readouterr()
    assert "judges: 6 calls made, 0 replies kept from before" in told.out
    assert "judges: 6 calls of judge" in told.err
    assert main([*arguments, "--judge", "scripted", "--json"]) == 0
    told = capsys.readouterr()
    assert (json.loads(told.out)["judge_calls"], json.loads(told.out)["judge_replies_kept"]) == (0, 6)
    assert main([*arguments, "--judge", "nobody"]) == 2
    assert main(["verify", "data", "--adjudications", "log"]) == 0


def test_another_rubric_is_no_description(home: Home, asking: Any) -> None:
    with asking() as (jury, seen), pytest.raises(InputError, match="description, and what the judge is asked differs"):
        home.rescore(OTHER_RUBRIC, jury, entry=ENTRY.replace("fix: replace", "fix: description"))
    assert (seen, home.run.rescorings) == ([], [])
