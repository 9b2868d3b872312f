"""What is said of a flip's readings is what the read view makes of that answer."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.adjudication import make_reading, read_outcomes
from evallib.entries import Change, Rescoring
from evallib.rescoring.flips import held_against_readings
from evallib.rescoring.recomputing import rescore_run
from evallib.scoring import fold_all
from evallib.standing import standing_readings
from evallib.store import Run
from evallib.suite import parse_suite
from tests.making import SUITE, stored_run
from tests.readers import Log

BOTH = SUITE.replace("max_words: 5", "max_words: 5, critical: true")
OTHER = BOTH.replace("{facts: [four]}", "{facts: ['4']}").replace("max_words: 5", "max_words: 6")
ANSWERS = {"c-1": ["four", "it is 4", "4 and one two three four", "4 4 4 4 4 4 4"], "c-2": ["five", "five a b c d e"]}
READINGS = st.lists(
    st.tuples(
        st.sampled_from([(case, n) for case, texts in ANSWERS.items() for n in range(1, len(texts) + 1)]),
        st.sampled_from(["", "says", "short"]),
        st.sampled_from(["pass", "fail", "infra", "unsure"]),
        st.sampled_from(["Ann", "Bo"]),
    ),
    max_size=14,
    unique_by=lambda one: (one[0], one[1], one[3]),
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return stored_run(tmp_path_factory.mktemp("flips"), ANSWERS, suite_text=BOTH)


@settings(max_examples=100, deadline=None)
@given(READINGS)
def test_a_flip_that_was_read_is_what_the_read_view_says_and_one_that_is_contradicted_is_not(run: Run, said) -> None:
    log = Log()
    for key, check, word, author in said:
        log.add(make_reading(run, *key, reading=word, author=author, check=check, reason="r", cause="other"))
    suite = parse_suite(OTHER, "other.yaml")
    changes = tuple(Change(check=name, fix="key", reason="r") for name in ("says", "short"))
    entry = Rescoring(slug="s", author="Ann", reason="r", changes=changes)
    found, readings = rescore_run(run, suite, entry), standing_readings(run, log)
    flips = held_against_readings(run, suite, found.flips, readings)
    assert {(f.case_id, f.sample, f.after) for f in flips} == {
        ("c-1", 1, "fail"), ("c-1", 2, "pass"), ("c-1", 3, "pass"), ("c-2", 2, "pass"),
    }  # fmt: skip
    read = read_outcomes(run, fold_all(run.samples, run.verdicts, run.suite.pass_rule), readings)
    for flip in flips:
        state = read[flip.case_id, flip.sample].state
        if flip.read == "read":
            assert (state, flip.readings != ()) == (flip.after, True)
        elif flip.read == "contradicted":
            stands = {t.check: readings.by_item.get((flip.case_id, flip.sample, t.check)) for t in flip.turns}
            wrong = [t for t in flip.turns if (stand := stands[t.check]) and stand.state in {"pass", "fail"} - {t.now}]
            assert state != flip.after or wrong
        elif flip.read == "disputed":
            assert state in {"disputed", "infra"}
        else:
            assert not any(stand.state == flip.after for (*key, check), stand in readings.by_item.items()
                           if tuple(key) == (flip.case_id, flip.sample) and not check)  # fmt: skip


def test_a_flip_keeps_the_ids_of_the_readings_that_say_so(tmp_path: Path) -> None:
    run, log = stored_run(tmp_path, ANSWERS, suite_text=BOTH), Log()
    ids = [
        log.read(run, ("c-1", 2), "pass", check="says").id,
        log.read(run, ("c-1", 2), "pass", check="says", author="Bo").id,
    ]
    entry = Rescoring(slug="s", author="Ann", reason="r", changes=(Change(check="says", fix="key", reason="r"),))
    suite = parse_suite(OTHER, "other.yaml")
    flips = held_against_readings(run, suite, rescore_run(run, suite, entry).flips, standing_readings(run, log))
    assert [(f.sample, f.read, list(f.readings)) for f in flips if f.readings] == [(2, "read", ids)]
