"""Check kinds that a user brings: no fault of theirs ends a run or spoils its records, and their source is known."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evallib.cli import main
from evallib.records import Sample, Turn, Verdict
from evallib.rescoring.apply import rescore_run
from evallib.rescoring.costs import Trial
from evallib.scoring import score_samples
from evallib.store import open_run
from evallib.suite import load_suite

SUITE = """\
suite: tiny
pass: critical
cases:
  - id: c-1
    steps: [{ask: "Where?"}]
    checks: [{id: mine, check: "house_rules:Mine", critical: true}]
"""
SCRIPT = "script: tiny\nreplies: []\ndefault: {text: Paris}\n"
RULE = """\
from evallib.checks.base import Check


class Mine(Check):
    def judge(self, sample):
        %s
"""
SAYS = 'return self.scored(sample, "Paris" in sample.answer, "looked for Paris")'
SAYS_LYON = 'return self.scored(sample, "Lyon" in sample.answer, "looked for Lyon, not for Paris")'

Bring = Callable[[str], None]


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bring:
    """Writes the rule whose `judge` has this body, and forgets the one before, as another process would."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Path("suite.yaml").write_text(SUITE)
    Path("script.yaml").write_text(SCRIPT)

    def write(body: str) -> None:
        Path("house_rules.py").write_text(RULE % body if "class " not in body else body)
        monkeypatch.delitem(sys.modules, "house_rules", raising=False)

    return write


def answers(*texts: str) -> list[Sample]:
    return [Sample("r", "c-1", n, answer=text, exit_code=0) for n, text in enumerate(texts, 1)]


def ran(name: str) -> None:
    assert main(["run", ".", "--target", "scripted", "--run-id", name]) == 0


def decides() -> str:
    """The digest of all that decides a verdict of the check."""
    (bound,) = load_suite(Path()).bound["c-1"]
    return bound.decides


BAD = {
    "raises": ('raise RuntimeError("no way")', "raised RuntimeError: no way (house_rules.py, line 6)"),
    "raises within a library": ("return int(sample.answer)", "raised ValueError: invalid literal"),
    "nothing": ("return None", "gave no verdict: None is none"),
    "an object": ("return (n for n in ())", "<generator object Mine.judge.<locals>.<genexpr>> is none"),
    "a bool": ("return True", "gave no verdict: True is none"),
    "a value above": ('return self.scored(sample, 7, "seven")', "value 7 lies outside 0 to 1"),
    "a value below": ('return self.scored(sample, -1, "less")', "value -1 lies outside 0 to 1"),
    "no number": ('return self.scored(sample, float("nan"), "x")', "value nan lies outside 0 to 1"),
    "without bounds": ('return self.scored(sample, float("inf"), "x")', "value inf lies outside 0 to 1"),
    "raw without bounds": ('return self.scored(sample, 1, "x", raw=float("inf"))', "raw inf is no finite number"),
    "passed in words": ('return self.scored(sample, 1, "x", passed="yes")', "passed 'yes' is neither True nor False"),
    "no reason": ("return self.scored(sample, 1, None)", "reason None is no text"),
    "spans as pairs": ('return self.scored(sample, 1, "x", spans=((0, 1),))', "spans ((0, 1),) must be whole numbers"),
    "half a call": ('return self.scored(sample, 1, "x", calls=(1,))', "calls (1,) must be whole numbers"),
    "another sample": (
        'return self.scored(sample, 1, "x")._replace(sample=9)',
        "on sample 9 of case 'c-1' was not asked",
    ),
    "another case": (
        'return self.scored(sample, 1, "x")._replace(case_id="c-9")',
        "of case 'c-9' was not asked, but check 'mine' on",
    ),
    "another check": ('return self.scored(sample, 1, "x")._replace(check_id="his")', "check 'his' on sample 2"),
    "another status": ('return self.scored(sample, 1, "x")._replace(status="fine")', "status 'fine'"),
    "scored without a value": ('return self.unscored(sample, "x")._replace(status="scored")', "value None lies"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_verdict_voids_the_one_sample_and_says_why(bring: Bring, name: str) -> None:
    body, told = BAD[name]
    bring(f'if "bad" not in sample.answer: return self.scored(sample, 1, "good")\n        {body}')
    samples = answers("good", "bad", "good")
    first, bad, last = score_samples(load_suite(Path()), samples)
    assert (first.passed, last.passed) == (True, True)
    assert (bad.status, bad.value, bad.passed, bad.sample) == ("not_scored", None, None, 2)
    assert bad.reason.startswith("house_rules:Mine ")
    assert told in bad.reason.replace(", line 7", ", line 6")
    assert bad.decides == first.decides != ""
    assert bad.critical


@pytest.mark.parametrize("name", ["raises", "a value above"])
def test_a_run_of_a_bad_rule_ends_and_can_be_read(bring: Bring, capsys: pytest.CaptureFixture[str], name: str) -> None:
    body, told = BAD[name]
    bring(body)
    assert main(["validate", "."]) == 2
    error = capsys.readouterr().err
    assert "check 'mine'" in error
    assert told in error
    ran("a")
    (verdict,) = open_run("a", Path("data")).verdicts
    assert verdict.status == "not_scored"
    assert main(["metrics", "a"]) == 0
    assert main(["show", "a", "--case", "c-1"]) == 0
    assert told in capsys.readouterr().out


BATCH = """\
from evallib.checks.base import Check


class Mine(Check):
    def __call__(self, samples):
        given = [self.scored(one, 1, "good") for one in samples if one.answer != "gone"]
        %s
"""


def test_of_a_batch_only_the_missing_verdict_is_missing(bring: Bring) -> None:
    bring(BATCH % "return given")
    verdicts = score_samples(load_suite(Path()), answers("good", "gone", "good"))
    assert [v.status for v in verdicts] == ["scored", "not_scored", "scored"]
    assert "gave 0 verdicts on one sample" in verdicts[1].reason


def test_a_batch_in_another_order_is_taken_from_nobody(bring: Bring) -> None:
    bring(BATCH % "return given[::-1]")
    verdicts = score_samples(load_suite(Path()), answers("a", "b", "c"))
    assert [(v.sample, v.status) for v in verdicts] == [(1, "not_scored"), (2, "scored"), (3, "not_scored")]


def test_a_rule_may_say_its_verdicts_in_its_own_way_and_take_its_samples_apart(bring: Bring) -> None:
    bring("""\
from evallib.checks.base import Check


class Mine(Check):
    def __call__(self, samples):
        while samples:
            yield self.judge(samples.pop())

    def judge(self, sample):
        return self.scored(sample, "good" in sample.answer, "looked")

    def scored(self, sample, value, reason):
        return super().scored(sample, value, f"mine: {reason}")

    def unscored(self, sample):
        raise LookupError
""")
    first, bad = score_samples(load_suite(Path()), answers("good", "bad"))
    assert {first.status, bad.status} == {"not_scored"}
    assert "has no attribute 'pop'" in first.reason
    source = Path("house_rules.py").read_text().replace("while samples:", "for sample in samples:")
    bring(source.replace("samples.pop()", "sample"))
    first, bad = score_samples(load_suite(Path()), answers("good", "bad"))
    assert (first.passed, bad.passed, bad.reason) == (True, False, "mine: looked")


def test_a_batch_may_be_a_generator_and_reasons_are_made_storable(bring: Bring) -> None:
    bring(BATCH % 'return (one._replace(reason="\\x00", decides="", weight=9.0) for one in given)')
    suite = load_suite(Path())
    (verdict,) = score_samples(suite, answers("a"))
    assert verdict == Verdict("c-1", 1, "mine", "scored", "\\u0000", 1, 1, True, critical=True, decides=decides())


@pytest.mark.parametrize("stop", ["KeyboardInterrupt", "SystemExit"])
def test_who_stops_evallib_stops_it_in_a_rule_too(bring: Bring, stop: str) -> None:
    bring(f"raise {stop}")
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        score_samples(load_suite(Path()), answers("a"))


def test_a_rule_is_asked_as_carefully_at_a_step_and_on_a_probe(
    bring: Bring, capsys: pytest.CaptureFixture[str]
) -> None:
    bring("return None")
    step = SUITE.replace('"Where?"', '"Where?", checks: [{id: early, check: "house_rules:Mine"}]')
    Path("suite.yaml").write_text(f"{step}probes: [{{name: p, case: c-1, answer: x, passes: [mine]}}]\n")
    (sample,) = answers("Paris")
    verdicts = score_samples(load_suite(Path()), [replace(sample, turns=(Turn(1, "Where?", "Paris"),))])
    assert {v.check_id: v.status for v in verdicts} == {"mine": "not_scored", "early": "not_scored"}
    assert main(["validate", "."]) == 2
    assert (
        "probe 'p': check 'mine' has no verdict on it: house_rules:Mine gave no verdict: None"
        in capsys.readouterr().out
    )


def test_the_cost_of_a_bad_rule_is_measured_all_the_same(bring: Bring) -> None:
    bring('raise RuntimeError("no way")')
    trial = Trial()
    trial.add(load_suite(Path()).bound, answers("a", "b"))
    assert [cost.check for cost in trial.costs()] == ["mine"]


def test_the_source_of_a_rule_is_part_of_what_decides(bring: Bring) -> None:
    bring(SAYS)
    first = decides()
    Path("house_rules.py").write_text(RULE % SAYS_LYON)
    assert decides() == first, "what was imported is what judges"
    bring(SAYS_LYON)
    assert decides() != first
    bring(SAYS)
    assert decides() == first


def test_the_source_of_what_a_rule_inherits_counts_and_so_does_a_step(
    bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = set()
    text = SUITE.replace('"Where?"', '"Where?", checks: [{id: early, check: "house_rules:Mine"}]')
    Path("suite.yaml").write_text(text)
    for body in (SAYS, SAYS_LYON):
        Path("house_base.py").write_text(RULE % body)
        monkeypatch.delitem(sys.modules, "house_base", raising=False)
        bring("import house_base\n\n\nclass Mine(house_base.Mine):\n    pass\n")
        known |= {bound.decides for bound in load_suite(Path()).bound["c-1"]}
    assert len(known) == 4


def test_runs_of_two_versions_of_a_rule_are_neither_compared_nor_pooled(
    bring: Bring, capsys: pytest.CaptureFixture[str]
) -> None:
    bring(SAYS)
    ran("a")
    bring(SAYS_LYON)
    ran("b")
    capsys.readouterr()
    assert main(["compare", "a", "b"]) == 2
    assert "check 'mine' of case 'c-1' was judged by other criteria, or by another version" in capsys.readouterr().err
    assert main(["metrics", "a", "b"]) == 2
    assert "by another version of its kind" in capsys.readouterr().err


@pytest.mark.parametrize("seen_before", [False, True])
def test_a_rescoring_computes_anew_what_another_version_of_a_rule_said(bring: Bring, seen_before: bool) -> None:
    bring(SAYS)
    ran("a")
    bring(SAYS_LYON)
    run = open_run("a", Path("data"))
    assert not seen_before or run.suite  # as in a notebook that looked at the run before
    given = rescore_run(run, load_suite(Path()), None)
    assert (given.recomputed, given.carried, given.outdated) == (1, 0, () if seen_before else ("mine",))
    assert [flip.after for flip in given.flips] == ["fail"]
    bring(SAYS)
    given = rescore_run(open_run("a", Path("data")), load_suite(Path()), None)
    assert (given.recomputed, given.carried, given.outdated) == (0, 1, ())


def test_a_run_is_read_where_its_rule_is_gone_and_the_remedy_is_told_where_it_is_needed(
    bring: Bring, capsys: pytest.CaptureFixture[str]
) -> None:
    bring(SAYS)
    ran("a")
    bring(SAYS)
    Path("house_rules.py").unlink()
    for command in (["show", "a"], ["metrics", "a"], ["verify", "a"]):
        assert main(command) == 0
    capsys.readouterr()
    assert main(["validate", "."]) == 2
    error = capsys.readouterr().err
    assert "cannot be imported: No module named 'house_rules'; " in error
    assert "PYTHONPATH=" in error
    assert error.count("\n") == 1
