"""Outcomes folded from columns are those folded one by one; and what counts as the same output."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.records import Sample, ToolCall, Turn, Verdict
from evallib.scoring import fold, fold_all
from evallib.store.tables import samples_table, turns_table, verdicts_table
from evallib.views.folding import SAMPLE_COLUMNS, TURN_COLUMNS, VERDICT_COLUMNS, fold_columns, trajectories
from evallib.views.load import open_view, outcomes_frame, verdicts_frame
from tests.making import stored_run


@st.composite
def scored(draw: st.DrawFn) -> tuple[list[Sample], list[Verdict]]:
    samples, verdicts = [], []
    for case in draw(st.lists(st.sampled_from("abc"), unique=True, min_size=1)):
        for number in range(1, draw(st.integers(1, 3)) + 1):
            status = draw(st.sampled_from(["completed", "completed", "provider_error", "crashed"]))
            answer = draw(st.sampled_from(["yes", "", "<think>never ends", "no"]))
            samples.append(Sample("r", case, number, status=status, error="it broke", answer=answer))
            checks = draw(st.lists(st.sampled_from("xyz"), unique=True))
            verdicts += [draw(verdict(case, number, check)) for check in checks]
    return samples, draw(st.permutations(verdicts))


@st.composite
def verdict(draw: st.DrawFn, case: str, number: int, check: str) -> Verdict:
    status = draw(st.sampled_from(["scored", "scored", "not_scored", "not_applicable"]))
    value = draw(st.sampled_from([0.0, 0.3, 0.7, 1.0])) if status == "scored" else None
    return Verdict(
        case, number, check, status, "because", value, value, draw(st.booleans()) if status == "scored" else None,
        critical=draw(st.booleans()), weight=draw(st.sampled_from([0.0, 0.1, 1.0])), stochastic=draw(st.booleans()),
        origin=draw(st.sampled_from(["computed", "recorded"])), decides=draw(st.sampled_from(["", "d1"])),
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(scored(), st.sampled_from(["critical", "top"]))
def test_columns_fold_as_samples_do(both: tuple[list[Sample], list[Verdict]], rule: str) -> None:
    samples, verdicts = both
    found = fold_columns(
        samples_table(samples).select(SAMPLE_COLUMNS), verdicts_table("r", verdicts).select(VERDICT_COLUMNS), rule
    )
    outcomes = fold_all(samples, verdicts, rule)
    assert list(found) == list(outcomes)
    for sample in samples:
        one = found[sample.key]
        own = replace(one.outcome, case_id=sample.case_id, sample=sample.sample, score=one.score)
        assert own == outcomes[sample.key]
        assert one.status == sample.status
        sure = [v for v in verdicts if (v.case_id, v.sample) == sample.key and not v.stochastic]
        assert one.deterministic == fold(sample, sure, rule).passed


def test_the_frames_of_a_stored_run_say_what_its_objects_say(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "five", "four is more than five of these words"], "c-2": ["five", ""]})
    view = open_view(run, "strict", [])
    frame, verdicts = outcomes_frame(view), verdicts_frame(view)
    assert dict(zip(zip(frame["case_id"], frame["sample"], strict=True), frame["passed"], strict=True)) == {
        key: outcome.passed for key, outcome in view.outcomes.items()
    }
    assert frame["score"].tolist() == [outcome.score for outcome in view.outcomes.values()]
    assert frame["reason"].tolist() == [outcome.reason for outcome in view.outcomes.values()]
    for name in ("case_id", "sample", "check_id", "status", "reason", "weight", "critical", "stochastic", "judge"):
        assert verdicts[name].tolist() == [getattr(one, name) for one in view.verdicts]
    assert [None if v is None else float(v) for v in verdicts["value"]] == [one.value for one in view.verdicts]


def test_what_a_sample_put_out_is_its_answer_and_its_calls_but_not_their_ids() -> None:
    def one(number: int, answer: str, call: ToolCall) -> Sample:
        return Sample("r", "a", number, turns=(Turn(1, "?", answer, (call,)),), answer=answer)

    samples = [
        one(1, "yes", ToolCall("look", {"n": 1}, "4", id="call-1")),
        one(2, "yes", ToolCall("look", {"n": 1}, "4", id="call-2")),
        one(3, "yes", ToolCall("look", {"n": 2}, "4", id="call-3")),
        one(4, "no", ToolCall("look", {"n": 1}, "4", id="call-4")),
    ]
    found = trajectories(samples_table(samples), turns_table(samples).select(TURN_COLUMNS))
    first, *others = found.values()
    assert [other == first for other in others] == [True, False, False]


@pytest.mark.parametrize(("temperature", "copies"), [(0, 1), (0.8, 0), (None, 0)])
def test_at_temperature_0_the_same_answer_is_the_same_draw(
    tmp_path: Path, temperature: float | None, copies: int
) -> None:
    target = {"kind": "chat", "model": "m", "parameters": {"temperature": temperature}}
    samples = [Sample("r-1", "c-1", n, answer=text, seed=n) for n, text in ((1, "four"), (2, "four"), (3, "five"))]
    run = stored_run(tmp_path, {}, samples=samples, planned={"target": target})
    frame = outcomes_frame(open_view(run, "strict", []))
    assert int(frame.duplicated(["case_id", "draw", "trajectory"]).sum()) == copies
