"""False passes and fails: only a census or a random draw gives a share; by hand gives a lower bound in words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.concordance.audit import audit_run
from evallib.entries import Plan, Stratum
from evallib.statistics.estimators import of_finite
from tests.readers import EVERY, Log, mixed_run, random_pass, strict_fails, strict_passes


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return mixed_run(tmp_path_factory.mktemp("data"), passes=30, fails=10)


@pytest.fixture
def log():
    return Log()


def whole(run, log):
    return audit_run(run, log)[0]


def read_fails(run, log, right=8, **more):
    for place, key in enumerate(strict_fails(run)):
        log.read(run, key, "fail" if place < right else "pass", chosen=EVERY, **more)


def read_passes(run, log, drawn=10, right=9, **more):
    for place, key in enumerate(strict_passes(run)[:drawn]):
        log.read(run, key, "pass" if place < right else "fail", **{"chosen": random_pass(drawn, 30), **more})


def test_a_census_and_a_random_draw_give_the_corrected_rate(run, log):
    read_fails(run, log)
    read_passes(run, log, drawn=20, right=18)
    one = whole(run, log)
    passes, fails = one.strata
    assert (passes.of, passes.read, passes.false, passes.share) == (30, 20, 2, 0.1)
    assert passes.interval == of_finite(2, 20, 30)
    assert (fails.of, fails.read, fails.false, fails.interval) == (10, 10, 2, (0.2, 0.2))
    assert one.corrected.value == pytest.approx(0.75 * 0.9 + 0.25 * 0.2)
    assert one.strict.value == 0.75
    assert one.corrected.interval is not None
    assert one.strict.interval is not None
    assert one.corrected.interval.lo < one.corrected.value < one.corrected.interval.hi
    assert one.n == 30


@pytest.mark.parametrize("drawn", [1, 2, 10])
def test_from_next_to_nothing_there_is_an_interval_and_no_corrected_rate(run, log, drawn):
    read_fails(run, log)
    read_passes(run, log, drawn=drawn, right=drawn - 1)
    one = whole(run, log)
    assert (one.corrected.value, one.corrected.why) == (None, "too few strict passes read to say")
    assert one.corrected.interval is not None
    said = one.as_dict()["corrected"]
    assert (said["value"], said["se"], said["why"]) == (None, None, "too few strict passes read to say")
    assert said["interval"] == list(one.corrected.interval)
    low, high = (f"{100 * end:.1f} %" for end in one.corrected.interval)
    assert f"corrected for reading: too few strict passes read to say, 95 % interval {low} to {high}" in one.sentence()
    assert f"from {drawn} of 30 strict passes" in one.sentence()


def test_what_is_unsettled_can_leave_too_little_to_say(run, log):
    read_fails(run, log)
    read_passes(run, log, drawn=20, right=20)
    for key in strict_passes(run)[:12]:
        log.read(run, key, "fail", "Bo")
    assert whole(run, log).corrected.value is None


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["", "pass", "fail", "unsure", "disputed", "infra"]), min_size=10, max_size=10))
def test_no_sentence_says_that_none_was_read_where_one_was(run, words):
    log = Log()
    for key, word in zip(strict_fails(run), words, strict=True):
        if word:
            log.read(run, key, "fail" if word == "disputed" else word, chosen=EVERY)
        if word == "disputed":
            log.read(run, key, "pass", "Bo", chosen=EVERY)
    one = whole(run, log)
    assert ("None of the 10 strict failures was read" in one.strata[1].sentence()) == (not any(words))


def test_a_stratum_of_which_all_that_was_read_is_disputed_says_so(run, log):
    for author, word in (("Ann", "fail"), ("Bo", "pass")):
        for key in strict_fails(run)[:7]:
            log.read(run, key, word, author, chosen=EVERY)
    read_passes(run, log, drawn=30, right=30)
    one = whole(run, log)
    said = f"Of 10 strict failures, 10 were drawn ({EVERY}) and 7 read, none of them settled"
    assert one.strata[1].sentence() == f"{said}: their false share is not estimable."
    assert one.corrected.why == "not estimable (7 strict failures read, none of them settled)"


def test_passes_that_nobody_read_leave_it_not_estimable(run, log):
    read_fails(run, log)
    one = whole(run, log)
    assert one.corrected == (None, None, "not estimable (0 strict passes read)")
    assert "not estimable (0 strict passes read)" in one.sentence()
    assert "None of the 30 strict passes was read" in one.strata[0].sentence()


def test_what_was_picked_and_is_disputed_is_not_said_to_be_right(run, log):
    first, second = strict_fails(run)[:2]
    for author, word in (("Ann", "fail"), ("Bo", "pass")):
        log.read(run, first, word, author)
    log.read(run, second, "fail")
    said = whole(run, log).strata[1].sentence()
    assert "0 of the 2 strict failures that were opened were wrong, 1 unsettled. They were chosen so" in said
    assert "at most 9/10 = 90.0 % are wrong" in said


def test_what_was_picked_by_hand_bounds_from_below_and_gives_no_share(run, log):
    read_fails(run, log)
    read_passes(run, log, right=7, chosen="because they looked odd")
    one = whole(run, log)
    passes = one.strata[0]
    assert (passes.read, passes.share, passes.interval, passes.picked, passes.picked_false) == (0, None, None, 10, 3)
    assert passes.sentence() == (
        "Found by reading, not by a random draw from all 30: 3 of the 10 strict passes that were opened were wrong. "
        "They were chosen so: because they looked odd. Among all 30, at least 3/30 = 10.0 % and at most 23/30 = 76.7 % "
        "are wrong; more cannot be said. Reading all 30 is needed for a rate."
    )
    assert one.corrected.why == "not estimable (10 strict passes read, none of them drawn at random from all 30)"


def test_one_picked_answer_is_spoken_of_as_one(run, log):
    read_passes(run, log, drawn=1, right=1, chosen="because it looked odd")
    said = whole(run, log).strata[0].sentence()
    assert "0 of the 1 strict pass that was opened was wrong. It was chosen so: because it looked odd. " in said


def test_nearly_all_read_by_choice_leaves_little_open(run, log):
    read_passes(run, log, drawn=29, right=29, chosen="random strict pass (15 of 15 of case=c-1, seed 5)")
    said = whole(run, log).strata[0].sentence()
    assert "They were chosen so: random strict pass (15 of 15 of case=c-1, seed 5). " in said
    assert "Among all 30, at most 1/30 = 3.3 % are wrong" in said


def test_a_clean_draw_says_at_most(run, log):
    read_passes(run, log, right=10)
    passes = whole(run, log).strata[0]
    bound = of_finite(0, 10, 30, 0.05).hi
    assert passes.at_most == bound
    assert f"0 false passes, at most {100 * bound:.1f} % of all (95 %)" in passes.sentence()


def test_reading_all_is_a_census_whatever_made_one_read(run, log):
    read_passes(run, log, drawn=30, right=28, chosen="by hand")
    passes = whole(run, log).strata[0]
    assert (passes.read, passes.false, passes.interval) == (30, 2, (2 / 30, 2 / 30))


def test_unsure_disputed_and_infra_are_counted_and_widen(run, log):
    read_passes(run, log, drawn=10, right=10)
    one, two, three, *_ = strict_passes(run)[10:]
    word = random_pass(13, 30, 6)
    log.read(run, one, "unsure", chosen=word)
    log.read(run, two, "infra", chosen=word)
    log.read(run, three, "pass", chosen=word)
    log.read(run, three, "fail", "Bo")
    passes = whole(run, log).strata[0]
    assert (passes.right, passes.false, passes.infra, passes.unsettled, passes.unread) == (10, 0, 1, 2, 10)
    assert passes.interval is not None
    assert passes.interval.hi == of_finite(12, 23, 30).hi


def test_a_draw_that_was_not_read_to_its_end_counts_the_rest_both_ways(run, log):
    for key in strict_passes(run)[:4]:
        log.read(run, key, "pass", chosen=random_pass(10, 30))
    passes = whole(run, log).strata[0]
    assert (passes.read, passes.unread) == (4, 6)
    assert passes.interval == (0, of_finite(6, 10, 30).hi)


def test_a_draw_from_a_part_is_no_draw_from_the_whole(run, log):
    read_passes(run, log, drawn=5, right=5, chosen=random_pass(5, 20))
    passes = whole(run, log).strata[0]
    assert (passes.read, passes.picked) == (0, 5)


def test_words_about_passes_do_not_make_a_fail_a_draw(run, log):
    log.read(run, strict_fails(run)[0], "pass", chosen=random_pass(1, 30))
    assert whole(run, log).strata[1].picked == 1


def test_a_draw_from_two_runs_is_whole_when_all_of_it_was_read(tmp_path, log):
    """Ten of sixty, six here and four there: nothing is left to read, in neither run."""
    one, two = (mixed_run(tmp_path, passes=30, fails=10, run_id=name) for name in ("one", "two"))
    for run, drawn in ((one, 6), (two, 4)):
        for key in strict_passes(run)[:drawn]:
            log.read(run, key, "pass", chosen=random_pass(10, 60))
    found = [whole(run, log).strata[0] for run in (one, two)]
    assert [(passes.read, passes.unread) for passes in found] == [(6, 0), (4, 0)]


def test_the_same_words_of_another_run_are_another_draw(tmp_path, log):
    one, two = (mixed_run(tmp_path, passes=30, fails=10, run_id=name) for name in ("one", "two"))
    for key in strict_passes(one)[:10]:
        log.read(one, key, "pass", chosen=random_pass(10, 30))
    log.read(two, strict_passes(two)[0], "pass", chosen=random_pass(10, 30))
    found = [whole(run, log).strata[0] for run in (one, two)]
    assert [(passes.read, passes.unread) for passes in found] == [(10, 0), (1, 9)]


def test_a_census_takes_in_what_was_read_by_hand_before(run, log):
    first, second, *_ = strict_fails(run)
    log.read(run, first, "fail", chosen="by hand", blind=False, reason="as strict says")
    log.read(run, second, "fail", chosen=EVERY)
    fails = whole(run, log).strata[1]
    assert (fails.read, fails.unread, fails.picked, fails.blind) == (2, 8, 0, 1)
    assert "1 of them with the strict verdict in sight" in fails.sentence()


def plan(run, log, items, of=30, strict="pass"):
    stratum = Stratum(run=run.id, strict=strict, of=of, items=tuple(f"{case}/{sample}" for case, sample in items))
    return log.add(Plan(author="Ann", runs=(run.id,), seed=7, strata=(stratum,)))


def test_a_plan_draws_and_what_it_drew_in_vain_is_lost(run, log):
    drawn = strict_passes(run)[:6]
    made = plan(run, log, drawn)
    for key in drawn[:5]:
        log.read(run, key, "pass", plan=made.id)
    passes = whole(run, log).strata[0]
    assert (passes.read, passes.unread, passes.picked) == (5, 1, 0)
    assert f"plan {made.id} (6 of 30, seed 7)" in passes.how


def test_a_reading_from_before_the_plan_could_have_chosen_the_seed(run, log):
    drawn = strict_passes(run)[:2]
    log.read(run, drawn[0], "pass")
    plan(run, log, drawn)
    log.read(run, drawn[1], "pass")
    passes = whole(run, log).strata[0]
    assert (passes.read, passes.unread, passes.picked) == (1, 1, 1)


def test_an_item_that_the_plan_did_not_draw_stays_picked(run, log):
    made = plan(run, log, strict_passes(run)[:1])
    log.read(run, strict_passes(run)[1], "pass", plan=made.id)
    passes = whole(run, log).strata[0]
    assert (passes.read, passes.picked) == (0, 1)


def test_a_check_has_strata_of_its_own_verdicts(run, log):
    for key in strict_passes(run)[:30]:
        log.read(run, key, "fail", check="short", chosen=random_pass(30, 40))
    answers, short = audit_run(run, log)
    assert (short.check, short.strata[0].of, short.strata[0].read, short.strata[0].false) == ("short", 40, 30, 30)
    assert short.strata[1].of == 0
    assert short.corrected.value == 0
    assert answers.strata[0].read == 0


def test_how_many_cases_stand_behind_the_samples_is_told(run, log):
    read_fails(run, log)
    read_passes(run, log)
    one = whole(run, log)
    assert (one.strata[0].cases, one.strata[1].cases) == (1, 2)
    assert "10 (of 1 case) were drawn" in one.strata[0].sentence()
    assert "samples of one case are alike" in one.sentence()


@settings(max_examples=20)
@given(st.data())
def test_reading_everything_corrects_to_exactly_what_was_read(run, data):
    log, passing = Log(), 0
    for key in strict_passes(run) + strict_fails(run):
        word = data.draw(st.sampled_from(["pass", "fail", "infra"]))
        passing += word == "pass"
        log.read(run, key, word)
    assert whole(run, log).corrected.value == pytest.approx(passing / 40)
