"""The reading queue of a preview: unread flips among as many answers that do not flip, and nothing that tells which."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evallib.adjudication import make_reading
from evallib.cli import main
from evallib.commands.preview_lines import queue_lines
from evallib.concordance.selection import Selection
from evallib.desk.flips import FlipQueue, queue_flips
from evallib.desk.plans import draw_plan
from evallib.desk.queue import EVERYTHING
from evallib.desk.session import ReviewSession
from evallib.desk.sitting import NEWEST
from evallib.errors import InputError
from evallib.rescoring.impact import Impact, preview
from evallib.store import Run, append_entry, read_log, verify_log
from tests.making import SUITE, stored_run
from tests.test_rescoring import WIDER

ANSWERS = {"c-1": ["four", "it is 4", "4", "five", "six", "four!"], "c-2": ["five", "5", "no", "five."]}
FLIPS = {"c-1/2", "c-1/3"}


def impact(tmp_path: Path, runs: list[Run], suite: str = WIDER) -> Impact:
    (tmp_path / "new.yaml").write_text(suite)
    return preview(runs, tmp_path / "new.yaml", None, tmp_path / "log")


def queue(tmp_path: Path, runs: list[Run], suite: str = WIDER) -> FlipQueue:
    return queue_flips(impact(tmp_path, runs, suite), read_log(tmp_path / "log"), author="Ann")


def read(tmp_path: Path, run: Run, case: str, sample: int, reading: str, **more: str) -> None:
    made = make_reading(run, case, sample, reading=reading, reason="as it stands", author="Bo", **more)
    append_entry(tmp_path / "log", made)


def items(found: FlipQueue, run: str = "r-1") -> set[str]:
    return {name for part in found.plan.strata if part.run == run for name in part.items}


def test_the_plan_holds_the_unread_flips_and_as_many_answers_of_the_same_checks_that_do_not_flip(
    tmp_path: Path,
) -> None:
    run = stored_run(tmp_path, ANSWERS)
    found = queue(tmp_path, [run])
    assert (found.flips, found.controls, len(items(found))) == (2, 2, 4)
    assert items(found) > FLIPS
    assert found.plan.flips_of == impact(tmp_path, [run]).suite.digest


def test_of_the_answers_that_do_not_flip_half_pass_and_half_fail(tmp_path: Path) -> None:
    found = queue(tmp_path, [stored_run(tmp_path, ANSWERS)])
    assert {part.strict: len(part.items) for part in found.plan.strata} == {"fail": 3, "pass": 1}


def test_the_same_preview_of_the_same_runs_draws_the_same(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    assert queue(tmp_path, [run]).plan == queue(tmp_path, [run]).plan


def test_what_somebody_read_is_neither_asked_for_nor_drawn_beside_it(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    read(tmp_path, run, "c-1", 2, "pass", cause="too-narrow")
    for sample in (1, 4):
        read(tmp_path, run, "c-1", sample, "pass" if sample == 1 else "fail")
    found = queue(tmp_path, [run])
    assert (found.flips, found.controls) == (1, 1)
    assert "c-1/3" in items(found)
    assert not items(found) & {"c-1/1", "c-1/2", "c-1/4"}


def test_a_flip_whose_reading_is_unsure_is_unread(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    read(tmp_path, run, "c-1", 2, "unsure", cause="cannot-judge")
    assert queue(tmp_path, [run]).flips == 2


def test_where_nothing_else_is_left_fewer_are_drawn_and_that_is_said(tmp_path: Path) -> None:
    found = queue(tmp_path, [stored_run(tmp_path, {"c-1": ["it is 4", "4", "four"]})])
    assert (found.flips, found.controls) == (2, 1)
    assert "so being asked tells something" in queue_lines("p", found)[0]


def test_each_run_has_its_own_answers_beside_its_flips(tmp_path: Path) -> None:
    runs = [stored_run(tmp_path, ANSWERS, run_id=name) for name in ("r-1", "r-2")]
    found = queue(tmp_path, runs)
    assert found.plan.runs == ("r-1", "r-2")
    assert {run: len(items(found, run)) for run in found.plan.runs} == {"r-1": 4, "r-2": 4}


def test_no_flip_or_only_read_ones_leave_nothing_to_queue(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    with pytest.raises(InputError, match="no unread flip"):
        queue(tmp_path, [run], SUITE)


def test_a_second_queue_of_the_same_flips_is_refused_for_two_draws_would_tell_them(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    first = append_entry(tmp_path / "log", queue(tmp_path, [run]).plan)
    with pytest.raises(InputError, match=f"asked for by plan {first.id} already"):
        queue(tmp_path, [run])


def test_further_flips_of_another_suite_are_queued_beside_other_answers(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    first = queue(tmp_path, [run])
    append_entry(tmp_path / "log", first.plan)
    wider = SUITE.replace("{facts: [four]}", "{facts: [[four, '4']]}").replace(
        "{facts: [five]}", "{facts: [[five, '5']]}"
    )
    second = queue(tmp_path, [run], wider)
    assert second.flips == 1
    assert "c-2/2" in items(second)
    assert not items(first) & items(second)


def test_adjudicate_reads_by_it_blind_and_each_reading_counts_as_one_of_its_flip(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    found = queue(tmp_path, [run])
    append_entry(tmp_path / "log", found.plan)
    session = ReviewSession(
        [run], tmp_path / "log", "Cleo", query=EVERYTHING, blind=True, unit="answer", seed=None, plan=NEWEST
    )
    asked = {f"{item.case}/{item.sample}" for item in session.queue}
    assert asked == items(found)
    for item in session.queue:
        session.decide(item, "pass")
    readings = [e for _, e in read_log(tmp_path / "log") if e.kind == "reading"]
    assert {e.blind for e in readings} == {True}
    assert len({e.chosen for e in readings}) == 1, "how an item was chosen must not tell a flip"
    assert "fail" not in readings[0].chosen
    after = impact(tmp_path, [run]).as_dict()
    assert after["read"] == {"read": 2}


def test_no_share_is_estimated_from_what_a_preview_asked_for(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    found = queue(tmp_path, [run])
    plan = append_entry(tmp_path / "log", found.plan)
    for part in found.plan.strata:
        for name in part.items:
            case, _, sample = name.rpartition("/")
            read(tmp_path, run, case, int(sample), part.strict, plan=plan.id, chosen="preview queue (seed 1)")
    selection = Selection(run, read_log(tmp_path / "log"))
    fails = {("c-1", n) for n in (2, 3, 4, 5)} | {("c-2", n) for n in (2, 3)}
    assert not selection.drawn(fails, "fail", "").items


def test_a_drawn_plan_and_a_queue_of_flips_stand_beside_one_another(tmp_path: Path) -> None:
    run = stored_run(tmp_path, ANSWERS)
    append_entry(tmp_path / "log", queue(tmp_path, [run]).plan)
    drawn = append_entry(tmp_path / "log", draw_plan([run], read_log(tmp_path / "log"), author="Ann"))
    assert drawn.entry.replaces == ()
    assert verify_log(tmp_path / "log").problems == []


# the command line


def call(tmp_path: Path, *more: str) -> int:
    given = ["--suite", str(tmp_path / "new.yaml"), "--data", str(tmp_path), "--adjudications", str(tmp_path / "log")]
    return main(["rescore", *given, "--preview", "--queue", "--by", "Ann", *more])


def test_the_command_writes_the_plan_and_shows_no_flip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored_run(tmp_path, ANSWERS)
    (tmp_path / "new.yaml").write_text(WIDER)
    assert call(tmp_path) == 0
    said = capsys.readouterr().out
    ((id_, entry),) = read_log(tmp_path / "log")
    assert (entry.kind, entry.author) == ("plan", "Ann")
    assert f"evallib adjudicate r-1 --by NAME --plan-id {id_}" in said
    assert "2 answers that would flip and nobody read, among 2 that would not" in said
    assert not [name for name in ("c-1", "it is 4", "fail ->") if name in said]
    assert not (tmp_path / "log" / "previews").exists()  # what nobody saw makes no prediction late


def test_as_json_the_command_gives_the_plan_s_id_and_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored_run(tmp_path, ANSWERS)
    (tmp_path / "new.yaml").write_text(WIDER)
    assert call(tmp_path, "--json") == 0
    ((id_, _),) = read_log(tmp_path / "log")
    assert json.loads(capsys.readouterr().out) == {"plan": id_, "runs": ["r-1"], "flips": 2, "controls": 2}
