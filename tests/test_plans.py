"""Reading plans: the draw is a function of seed and runs, and the queue asks of each reader what the plan needs."""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.adjudication import make_reading
from evallib.cli import main
from evallib.concordance.audit import audit_run
from evallib.desk.plans import clean_bound, draw_plan, find_plan, standing_plans
from evallib.desk.session import ReviewSession
from evallib.desk.sitting import NEWEST
from evallib.entries import Plan, Reading, Withdrawal
from evallib.errors import InputError
from evallib.printing import plan_lines
from evallib.rule import load_rule
from evallib.scoring import fold_all
from evallib.store import LoggedEntry, append_entry, read_log
from evallib.store.guard import relation_problems
from tests.test_queue import made


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    return [made(data, "r-a", 7, 23), made(data, "r-b", 2, 38, "beta 2")]


@pytest.fixture
def log(tmp_path):
    return tmp_path / "adjudications"


def drawn(runs, log=(), **more):
    return draw_plan(runs, log, **{"author": "Ann", "passes": 6, **more})


def strict(run):
    return {f"{case}/{n}": o.passed for (case, n), o in fold_all(run.samples, run.verdicts, "critical").items()}


def days_ago(number):
    return (datetime.now(UTC) - timedelta(days=number)).isoformat(timespec="microseconds")


def sitting(runs, log, author="Ann", **more):
    return ReviewSession(runs, log, author, **{"plan": NEWEST, **more})


def read_all(session, reading="unsure"):
    for item in session.queue:
        if session.stage(item) == "read":
            session.decide(item, reading, cause="other")


# the draw


@given(st.integers(), st.integers(1, 50), st.floats(0, 1), st.floats(0, 1))
def test_a_plan_is_every_failure_and_a_draw_of_passes(runs, seed, passes, twice, again):
    plan = drawn(runs, seed=seed, passes=passes, twice=twice, again=again)
    for part in plan.strata:
        said = strict(next(run for run in runs if run.id == part.run))
        every = {name for name, passed in said.items() if passed is (part.strict == "pass")}
        assert part.of == len(every)
        assert set(part.items) <= every
        assert len(set(part.items)) == len(part.items)
        least, most = (passes, passes + passes // 4) if part.strict == "pass" else (part.of, part.of)
        assert min(least, part.of) <= len(part.items) <= min(most, part.of)
        assert set(part.twice) | set(part.again) <= set(part.items)
        assert len(part.twice) == math.ceil(twice * len(part.items) - 1e-9)
    assert sum(part.of for part in plan.strata) == sum(len(run.samples) for run in runs)


@given(seed=st.integers(), order=st.permutations(range(2)), data=st.data())
def test_the_same_seed_draws_the_same_whatever_the_order_of_runs_and_log(runs, seed, order, data):
    entries = [
        LoggedEntry(f"e{n}", make_reading(runs[0], "t-001", n, reading="fail", reason="so", author="Bo"))
        for n in range(1, 4)
    ]
    other = drawn([runs[place] for place in order], data.draw(st.permutations(entries)), seed=seed, author="Bo")
    assert other.strata == drawn(runs, seed=seed).strata
    assert other.after == 3


def test_another_seed_draws_other_passes(runs):
    assert len({drawn(runs, seed=seed).strata for seed in range(10)}) == 10
    assert drawn(runs).seed == drawn(runs[::-1]).seed


def test_repeats_of_one_case_do_not_crowd_the_draw(runs):
    """Of 23 passes, 12 are of one case and 11 of the other: each has its share of 6 or 7, rounded up or down."""
    for seed in range(50):
        part = next(part for part in drawn(runs, seed=seed).strata if part.strict == "pass")
        assert set(Counter(name.split("/")[0] for name in part.items).values()) <= {2, 3, 4, 5}


def test_every_pass_has_the_same_chance_to_be_drawn(runs):
    """Over 2,000 seeds each of 23 passes is drawn as often as any other, give or take five standard errors."""
    parts = [next(p for p in drawn(runs[:1], seed=seed).strata if p.strict == "pass") for seed in range(2000)]
    counts = Counter(name for part in parts for name in part.items)
    share = sum(len(part.items) for part in parts) / 2000 / 23
    assert len(counts) == 23
    assert all(abs(n / 2000 - share) < 5 * math.sqrt(share * (1 - share) / 2000) for n in counts.values())


def test_how_many_passes_are_drawn_varies_by_run_and_seed_and_is_not_told(runs):
    plans = [drawn(runs, seed=seed, passes=16, twice=0.5) for seed in range(40)]
    counts = [tuple(len(p.items) for p in plan.strata if p.strict == "pass") for plan in plans]
    assert {one for both in counts for one in both} == {16, 17, 18, 19, 20}
    assert sum(first != second for first, second in counts) > 20
    told = {tuple(plan_lines("p", plan)[:5]) for plan in plans}
    assert len(told) == 1, "what is printed is the same whatever was drawn"


def test_verdicts_are_drawn_by_check(runs):
    plan = drawn(runs[:1], checks=["policy", "facts"])
    found = {(p.check, p.strict): p.of for p in plan.strata}
    assert found == {("policy", "fail"): 7, ("policy", "pass"): 23, ("facts", "pass"): 30}
    assert {len(p.items) for p in plan.strata} <= {6, 7}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"passes": 0}, "draw at least 1"),
        ({"twice": 1.5}, "--twice 1.5: is a share"),
        ({"again": math.nan}, "is a share"),
        ({"checks": ["tone"]}, "no check 'tone'; their checks: policy, facts"),
        ({"author": " "}, "give --by"),
    ],
)
def test_a_plan_that_means_nothing_is_refused(runs, more, said):
    with pytest.raises(InputError, match=said):
        drawn(runs, **more)


def test_the_bound_of_a_clean_draw_is_the_references(runs):
    """Statistics reference, section 2.3."""
    bounds = {n: round(100 * clean_bound(n, 1000), 1) for n in (20, 30, 60, 100, 200, 300)}
    assert bounds == {20: 13.9, 30: 9.5, 60: 4.9, 100: 3.0, 200: 1.5, 300: 1.0}
    assert clean_bound(23, 23) == 0


# which plan stands


def test_a_second_plan_of_the_same_items_needs_a_reason(runs, log):
    first = append_entry(log, drawn(runs))
    with pytest.raises(InputError, match=f"plan {first.id} of 'Ann' stands.*--supersede"):
        drawn(runs[:1], read_log(log), seed=5)
    assert drawn(runs, read_log(log), checks=["policy"]).replaces == ()
    second = append_entry(log, drawn(runs[:1], read_log(log), seed=5, reason="another arm is out", author="Bo"))
    assert second.entry.replaces == (first.id,)
    assert [one.id for one in standing_plans(read_log(log))] == [second.id]
    assert relation_problems(dict(read_log(log)), load_rule(log).rule) == []
    append_entry(log, Withdrawal(author="Bo", withdraws=second.id, reason="slip"))
    assert [one.id for one in standing_plans(read_log(log))] == [first.id]


def test_a_plan_says_how_many_readings_came_before_it(runs, log):
    for n in (1, 2):
        append_entry(log, make_reading(runs[0], "t-001", n, reading="fail", reason="so", author="Bo"))
    assert drawn(runs[1:], read_log(log)).after == 0
    plan = append_entry(log, drawn(runs, read_log(log)))
    assert (plan.entry.after, read_log(log)[-1].entry.after) == (2, 2)


def test_the_newest_plan_that_covers_the_runs_is_found(runs, log):
    both = append_entry(log, drawn(runs))
    verdicts = append_entry(log, drawn(runs[:1], read_log(log), checks=["policy"]))
    found = read_log(log)
    assert find_plan(runs, found).id == both.id
    assert find_plan(runs[:1], found).id == verdicts.id
    assert find_plan(runs[:1], found, both.id).id == both.id
    assert find_plan(runs[:1], found, checks=["facts"]) is None
    assert find_plan(runs, []) is None
    with pytest.raises(InputError, match="not of run 'r-b'; it is of r-a"):
        find_plan(runs, found, verdicts.id)
    with pytest.raises(InputError, match="is no plan in the log"):
        find_plan(runs, found, "nonsense")


# what is asked of a reader


def test_readings_of_a_plan_say_how_they_were_chosen(runs, log):
    plan = append_entry(log, drawn(runs, seed=4))
    session = sitting(runs, log)
    assert (session.plan, session.seed, len(session.queue)) == (plan.id, 4, 7 + 6 + 2 + 6)
    read_all(session)
    entries = [e for _, e in read_log(log) if isinstance(e, Reading)]
    assert {(e.plan, e.blind) for e in entries} == {(plan.id, True)}
    assert Counter(e.chosen for e in entries) == {
        "every strict failure": 9,
        "random strict pass (6 of 23, seed 4)": 6,
        "random strict pass (6 of 38, seed 4)": 6,
    }
    assert relation_problems(dict(read_log(log)), load_rule(log).rule) == []


def test_an_item_is_asked_for_until_enough_people_have_read_it(runs, log):
    plan = append_entry(log, drawn(runs, twice=0.2)).entry
    twice = sum(len(part.twice) for part in plan.strata)
    ann = sitting(runs, log)
    order = sitting(runs, log, "Bo").queue
    ann.decide(ann.queue[0], "unsure", cause="other")
    assert len(ann.queue) == len(sitting(runs, log).queue) == 21
    left = sitting(runs, log, "Bo").queue
    assert [item for item in order if item in left] == list(left), "what others read changes no order"
    read_all(ann)
    bo = sitting(runs, log, "Bo")
    assert len(bo.queue) == twice
    read_all(bo)
    assert sitting(runs, log, "Cy").queue == ()
    assert len(sitting(runs, log, "Bo").queue) == twice, "what is read stays in its reader's queue"


def test_what_was_read_before_the_plan_is_asked_of_others(runs, log):
    append_entry(log, make_reading(runs[0], "t-001", 1, reading="fail", reason="so", author="Ann"))
    append_entry(log, drawn(runs, read_log(log)))
    asked = {author: {item[:3] for item in sitting(runs, log, author).queue} for author in ("Ann", "Bo")}
    assert asked["Bo"] - asked["Ann"] == {("r-a", "t-001", 1)}


def test_own_items_come_again_blind_after_a_week(runs, log):
    plan = append_entry(log, drawn(runs, again=0.1).model_copy(update={"time": days_ago(10)}))
    again = {(p.run, *name.rsplit("/", 1)) for p in plan.entry.strata for name in p.again}
    for part in plan.entry.strata:
        run = next(run for run in runs if run.id == part.run)
        for name in part.items:
            case, number = name.split("/")
            entry = make_reading(run, case, int(number), reading="fail", author="Ann", blind=True, plan=plan.id)
            append_entry(log, entry.model_copy(update={"time": days_ago(8)}))
    session = sitting(runs, log)
    due = [item for item in session.queue if session.stage(item) == "read"]
    assert {(item.run, item.case, str(item.sample)) for item in due} == again
    assert all(session.is_blind(item) and session.mark(item) == "" and session.own(item) == {} for item in due)
    assert session.hidden
    assert session.coverage() == ()
    assert all(session.sheet(item).reveal is None for item in due)
    first = session.decide(due[0], "pass")
    assert (first.entry.again, first.entry.blind, first.entry.supersedes) == (True, True, "")
    assert (session.stage(due[0]), session.mark(due[0]), session.is_blind(due[0])) == ("done", "pass", False)
    assert session._log.stand(due[0]).state == "fail", "a second reading of one's own does not enter the read view"
    session.undo()
    assert (session.stage(due[0]), session.is_blind(due[0])) == ("read", False), "what was revealed stays revealed"
    session.redo()
    assert sitting(runs, log).stage(due[0]) == "done"
    bo = sitting(runs, log, "Bo")
    assert not any(bo.stage(item) == "done" for item in bo.queue)


def test_nothing_comes_again_within_a_week(runs, log):
    append_entry(log, drawn(runs, again=1).model_copy(update={"time": days_ago(10)}))
    read_all(sitting(runs, log))
    session = sitting(runs, log)
    assert {session.stage(item) for item in session.queue} == {"done"}


def test_how_far_each_stratum_is_read_is_told_at_the_end_alone(runs, log):
    append_entry(log, drawn(runs, twice=0.2))
    session = sitting(runs, log)
    for item in session.queue[:-1]:
        session.decide(item, "unsure", cause="other")
    assert session.coverage() == ()
    session.decide(session.queue[-1], "unsure", cause="other")
    told = {(c.place, c.strict): (c.read, c.of, c.twice, c.of_twice) for c in session.coverage()}
    assert told["r-a", "fail"] == (7, 7, 0, 2)
    assert told["r-b", "pass"] == (6, 6, 0, 2)


def test_a_sitting_without_a_plan_is_as_before(runs, log):
    append_entry(log, drawn(runs))
    session = ReviewSession(runs, log, "Ann")
    assert session.plan == ""
    assert len(session.queue) == 7 + 7 + 2 + 5


def test_the_audit_counts_the_drawn_and_unread_of_a_plan_once(runs, log):
    append_entry(log, drawn(runs[:1], again=0, twice=0))
    session = sitting(runs[:1], log)
    passes = [item for item in session.queue if strict(runs[0])[f"{item.case}/{item.sample}"]]
    for item in passes[:4]:
        session.decide(item, "pass")
    assert passed(runs[0], log) == (4, 2)
    append_entry(log, drawn(runs[:1], read_log(log), again=0, twice=0, seed=8, reason="a slip"))
    read, unread = passed(runs[0], log)
    assert (read, unread > 2) == (4, True), "a draw that was begun counts, however it is replaced"


def test_the_audit_leaves_out_a_plan_that_nobody_read_by(runs, log):
    append_entry(log, drawn(runs[:1]))
    append_entry(log, drawn(runs[:1], read_log(log), seed=8, reason="a slip"))
    session = sitting(runs[:1], log)
    read_all(session, "pass")
    assert passed(runs[0], log) == (6, 0)


def passed(run, log):
    """Drawn passes that were read, and those that were not."""
    stratum = next(one for one in audit_run(run, read_log(log))[0].strata if one.strict == "pass")
    return stratum.read, stratum.unread


# the command line


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made(tmp_path / "data", "r-a", 7, 23)
    return tmp_path


def call(monkeypatch, *arguments, typed=""):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    return main(["adjudicate", "r-a", "--by", "Ann", *arguments])


def test_a_plan_is_drawn_and_read_from_the_command_line(home, monkeypatch, capsys):
    assert call(monkeypatch, "--plan", "--passes", "20", "--twice", "0.5", "--again", "0", "--seed", "3") == 0
    said = capsys.readouterr().out
    ((id_, plan),) = read_log(home / "adjudications")
    assert isinstance(plan, Plan)
    assert (plan.seed, plan.passes, plan.twice_share, plan.again_share) == (3, 20, 0.5, 0)
    assert "r-a  (answer)  pass    23  20+                   13.9 %" in said
    assert "t-00" not in said, "which items were drawn is not told"
    assert call(monkeypatch, typed="-\n0\nq\n") == 0
    said = capsys.readouterr().out
    assert f"Reading by plan {id_}" in said
    assert f"Item 1 of {sum(len(one.items) for one in plan.strata)}, blind" in said
    assert read_log(home / "adjudications")[-1].entry.plan == id_
    assert call(monkeypatch, "--seed", "3", typed="q\n") == 2
    assert f"is read by plan {id_}" in capsys.readouterr().err
    assert call(monkeypatch, "--seed", "3", "--sighted", typed="q\n") == 0
    assert "by plan" not in capsys.readouterr().out
    assert call(monkeypatch, "--plan") == 2
    assert "--supersede REASON" in capsys.readouterr().err
    assert call(monkeypatch, "--plan", "--supersede", "more passes") == 0
    assert "after 1 reading of these runs" in capsys.readouterr().out


def test_each_check_is_a_part_of_its_own_on_request(home, monkeypatch, capsys):
    assert call(monkeypatch, "--plan", "--each-check", "--passes", "5") == 0
    said = capsys.readouterr().out
    assert "r-a  policy  pass    23  5+" in said
    assert "r-a  facts   pass    30  5+" in said
    assert call(monkeypatch, "--check", "facts", typed="q\n") == 0
    assert re.search("Item 1 of [56], blind", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--passes", "5"], "--passes says how a plan is drawn: give --plan"),
        (["--each-check"], "--each-check says how a plan is drawn"),
        (["--plan", "--sighted"], "draws the same for every reader"),
        (["--plan", "--reading", "pass"], "only draws what is to be read"),
        (["--plan-id", "x"], "--plan-id 'x': is no plan in the log; there stand: none"),
    ],
)
def test_what_cannot_be_meant_is_refused(home, monkeypatch, capsys, given, said):
    assert call(monkeypatch, *given) == 2
    assert said in capsys.readouterr().err
    assert read_log(home / "adjudications") == []
