"""The queue as a query: facets, the blind draw, what a blind reader may not ask for."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.adjudication import make_difference, make_reading
from evallib.desk.logbook import Logbook
from evallib.desk.queue import FEWEST_PASSES, Query, arms, draw_seeds, parse_query, queue_items, seed_of
from evallib.entries import Rubric
from evallib.errors import InputError
from evallib.records import Sample, Verdict
from evallib.scoring import fold_all
from evallib.standing import Item
from evallib.store import LoggedEntry, import_run

SUITE = """\
suite: drawn
recorded: true
checks:
  - {id: policy, check: recorded, critical: true, description: 'stays polite'}
  - {id: facts, check: recorded, description: 'names the cause'}
cases:
  - {id: t-001, steps: [{ask: 'Why?'}]}
  - {id: t-002, steps: [{ask: 'When?'}]}
"""


def made(data, run_id, failing, passing, model="alpha-1"):
    """A run of two cases in turn whose first `failing` samples fail `policy`, and whose others pass."""
    keys = [(f"t-00{number % 2 + 1}", number // 2 + 1) for number in range(failing + passing)]
    samples = [Sample(run_id, *key, answer=f"answer {key}") for key in keys]
    verdicts = []
    for number, key in enumerate(keys):
        good = number >= failing
        verdicts.append(Verdict(*key, "policy", "scored", "said", float(good), float(good), good, critical=True))
        verdicts.append(Verdict(*key, "facts", "scored", "said", 1.0, 1.0, passed=True))
    target = {"kind": "by hand", "model": model}
    return import_run(data, run_id, SUITE, samples, verdicts, target=target, source={})


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    return [made(data, "r-a", 7, 23), made(data, "r-b", 0, 30, "beta 2")]


def items(runs, words="", log=(), **more):
    strict = {run.id: fold_all(run.samples, run.verdicts, run.suite.pass_rule) for run in runs}
    return queue_items(runs, strict, Logbook(runs, log), parse_query(words), **{"author": "Ann", **more})


def strict(run):
    return {Item(run.id, *k): o.passed for k, o in fold_all(run.samples, run.verdicts, run.suite.pass_rule).items()}


# the words of a query


facets = st.builds(
    Query,
    strict=st.lists(st.sampled_from(["pass", "fail", "error"]), unique=True).map(tuple),
    case=st.lists(st.text("ab 'é=", min_size=1, max_size=5), unique=True).map(tuple),
    by=st.lists(st.sampled_from(["mine", "theirs", "none"]), unique=True).map(tuple),
    disputed=st.booleans(),
    open=st.booleans(),
)


@given(facets)
def test_a_query_is_read_as_it_is_written(query):
    assert parse_query(query.words) == query


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("strict=fial", "strict= and one of pass, fail, error"),
        ("open failing", "'failing': is no word of a query"),
        ("case=", "'case=': is no word"),
        ("open=yes", "'open=yes': is no word"),
        ("case='t-001", "close the quote"),
    ],
)
def test_a_word_that_is_none_is_named(words, named):
    with pytest.raises(InputError, match=named):
        parse_query(words)


@pytest.mark.parametrize("words", ["case=t-9", "run=r-c", "check=tone", "model=gamma"])
def test_a_value_that_the_runs_do_not_have_is_refused_with_those_they_have(runs, words):
    with pytest.raises(InputError, match="there are: "):
        items(runs, words, blind=False)


# sighted


def test_sighted_the_queue_is_in_stored_order_and_by_facet(runs):
    first = runs[0]
    assert items([first], blind=False).items == tuple(strict(first))
    failing = [item for item, passed in strict(first).items() if not passed]
    assert list(items([first], "strict=fail", blind=False).items) == failing
    assert {item.case for item in items(runs, "strict=fail case=t-002", blind=False).items} == {"t-002"}
    assert {item.run for item in items(runs, "'model=beta 2'", blind=False).items} == {"r-b"}
    assert items(runs, "check=policy", blind=False).items == tuple(failing)
    assert items(runs, "check=facts", blind=False).items == ()


def test_two_values_of_a_facet_are_either_and_two_facets_are_both(runs):
    assert len(items(runs, "strict=fail strict=pass", blind=False).items) == 60
    assert items(runs, "strict=fail run=r-b", blind=False).items == ()


def test_facets_of_the_log_tell_who_read_what(runs):
    run = runs[0]

    def entry(number, author, reading, sample, **more):
        made = make_reading(run, "t-001", sample, reading=reading, author=author, reason="so", **more)
        return LoggedEntry(f"e{number}", made.model_copy(update={"time": f"2026-11-30T10:0{number}:00+00:00"}))

    blind = entry(1, "Ann", "pass", 1, blind=True)
    said = make_difference(run, blind, author="Ann", cause="paraphrase", reason="in other words")
    said = LoggedEntry("e2", said.model_copy(update={"time": "2026-11-30T10:02:00+00:00"}))
    log = [blind, said, entry(3, "Bo", "fail", 1, cause="other"), entry(4, "Bo", "fail", 2, check="policy")]

    def found(words, of=log):
        return [item[1:] for item in items([run], words, of, blind=False).items]

    assert found("by=mine") == found("disputed") == found("cause=paraphrase") == [("t-001", 1, "")]
    assert found("by=theirs") == [("t-001", 1, ""), ("t-001", 2, "")]
    assert len(found("by=none")) == 28
    rubric = Rubric(author="Bo", suite="drawn", check="policy", text="Is it polite?", reason="clearer")
    rubric = LoggedEntry("e5", rubric.model_copy(update={"time": "2026-11-30T10:05:00+00:00"}))
    assert found("stale", [*log, rubric]) == [("t-001", 1, "")]
    assert found("stale") == []


# blind


def test_a_blind_queue_holds_every_failure_and_random_passes(runs):
    queue = items(runs)
    found = Counter((item.run, {**strict(runs[0]), **strict(runs[1])}[item]) for item in queue.items)
    first, second = found["r-a", True], found["r-b", True]
    assert found["r-a", False] == 7
    assert 7 <= first <= 10
    assert FEWEST_PASSES <= second <= FEWEST_PASSES * 3 // 2
    assert Counter(queue.chosen.values()) == {
        "every strict failure": 7,
        f"random strict pass ({first} of 23, seed {seed_of(runs[:1])})": first,
        f"random strict pass ({second} of 30, seed {seed_of(runs[1:])})": second,
    }


def test_how_many_passes_an_arm_holds_does_not_tell_how_many_failures(runs):
    counts = {sum(strict(runs[0])[item] for item in items(runs[:1], seed=seed).items) for seed in range(60)}
    assert counts == {7, 8, 9, 10}


def test_a_run_is_drawn_alike_alone_and_beside_others(runs):
    assert set(items(runs[:1]).items) < set(items(runs).items)
    assert items(runs).chosen.items() >= items(runs[:1]).chosen.items()


def test_two_readers_read_the_same_answers_each_in_an_order_of_their_own(runs):
    ann, bo = items(runs), items(runs, author="Bo")
    assert set(ann.items) == set(bo.items)
    assert ann.items != bo.items
    assert items(runs) == ann
    assert items(runs, author="Bo", seed=3).items != bo.items


def test_on_request_a_blind_queue_holds_every_answer(runs):
    queue = items(runs, "all")
    assert len(queue.items) == 60
    assert "random strict pass (23 of 23, " in " ".join(queue.chosen.values())


@pytest.mark.parametrize("case", ["t-001", "t-002"])
def test_a_case_cuts_the_one_draw_of_a_blind_queue(runs, case):
    whole, part = items(runs), items(runs, f"case={case}")
    assert set(part.items) == {item for item in whole.items if item.case == case}
    assert part.chosen == {item: whole.chosen[item] for item in part.items}


def test_verdicts_are_drawn_by_check(runs):
    queue = items(runs[:1], unit="check")
    found = Counter((item.check, runs[0].id) for item in queue.items)
    assert 14 <= found["policy", "r-a"] <= 17
    assert FEWEST_PASSES <= found["facts", "r-a"] <= FEWEST_PASSES * 3 // 2
    only = items(runs[:1], "check=policy", unit="check")
    assert set(only.items) == {item for item in queue.items if item.check == "policy"}


def drawn_reading(run, seed, sample=5, author="Ann", drawn=7):
    chosen = f"random strict pass ({drawn} of 23, seed {seed})"
    made = make_reading(run, "t-001", sample, reading="pass", author=author, blind=True, chosen=chosen)
    return LoggedEntry(f"e{seed}", made.model_copy(update={"time": "2026-11-30T10:00:00+00:00"}))


def test_the_seed_a_run_was_first_read_by_is_kept_and_no_other_is_taken(runs):
    log = [drawn_reading(runs[0], 5), drawn_reading(runs[0], 6, author="Bo")]
    assert draw_seeds(runs, log) == {"r-a": 5, "r-b": seed_of(runs[1:])}
    assert draw_seeds(runs, log, 5) == {"r-a": 5, "r-b": 5}
    with pytest.raises(InputError, match=r"--seed 6: run 'r-a' was read by a draw of seed 5"):
        draw_seeds(runs, log, 6)
    assert draw_seeds(runs[1:], log, 6) == {"r-b": 6}


@pytest.mark.parametrize(
    "words",
    [
        "strict=fail",
        "check=policy",
        "run=r-a",
        "model=alpha-1",
        "cause=other",
        "by=theirs",
        "disputed",
        "flip",
        "stale",
    ],
)
def test_a_blind_reader_may_not_ask_for_what_would_tell(runs, words):
    with pytest.raises(InputError, match="must not know"):
        items(runs, words)
    assert items(runs, "open by=mine all").items == ()


@given(st.integers(0, 2**31), st.integers(1, 60))
def test_every_run_has_a_pseudonym_of_its_own_and_no_order_tells_which(seed, count):
    class Named:
        def __init__(self, number):
            self.id = f"run-{number:02}"

    names = arms([Named(number) for number in range(count)], seed)
    assert len(set(names.values())) == count
    assert min(names.values(), key=lambda name: (len(name), name)) == "arm A"


def test_pseudonyms_follow_the_seed_and_not_the_names(runs):
    assert {tuple(arms(runs, seed).items()) for seed in range(20)} == {
        (("r-a", "arm A"), ("r-b", "arm B")),
        (("r-b", "arm A"), ("r-a", "arm B")),
    }
