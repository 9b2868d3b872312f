"""What turns without being listed: verdicts of checks that an entry does not name, whether the outcome flips or not."""

from pathlib import Path
from typing import Any

import pytest

from evallib.printing import rescored_lines, turned_lines
from evallib.publishing.criteria import criteria_changelog
from evallib.rescoring.impact import preview
from evallib.store import import_run, read_log
from tests.licensing import citing
from tests.making import SUITE, stored_run
from tests.ruled import ENTRY, WIDER, Home
from tests.test_rules import RECORDED, there


def from_records(folder: Path, suite: str = RECORDED) -> Home:
    """A run whose verdicts were recorded elsewhere: nothing tells what its criteria were."""
    home = Home(folder)
    source = {"set": "s", "sha256": "0" * 64}
    home.run = import_run(
        home.folder, "there", suite, home.run.samples, home.run.verdicts, target={"kind": "t"}, source=source
    )
    return home


@pytest.fixture
def recorded(tmp_path: Path) -> Home:
    return from_records(tmp_path)


SILENT = there(ENTRY).replace("[{run: there, case: c-1, sample: 2, to: pass}]", "[]")


@pytest.mark.parametrize(
    ("gutted", "said"),
    [
        (SUITE.replace("max_words: 5", "max_words: 1"), r"sample 2 .*turns \(pass -> fail\)"),
        (
            SUITE.replace("max_words: 5", "max_words: 5, critical: true"),
            r"turns \(pass, not critical -> pass, critical\)",
        ),
        (
            SUITE.replace("max_words: 5", "max_words: 5, weight: 3"),
            r"turns \(pass, weight 1 -> pass, weight 3\)",
        ),
        (SUITE.replace("- {id: short, check: sections, headings: [], max_words: 5}\n", ""), r"\(pass -> not there\)"),
    ],
)
def test_a_recorded_verdict_that_turns_unlisted_is_refused_without_a_flip(
    recorded: Home, gutted: str, said: str
) -> None:
    ids = [recorded.read()]
    recorded.refused(
        f"check 'short' on {'.*' + said}, which the entry does not list; add the check", ids, SILENT, gutted
    )
    assert recorded.rescore(ids, there(ENTRY)).as_dict()["turned_without_flip"] == []


def test_another_pass_rule_than_that_of_recorded_verdicts_must_be_listed(recorded: Home) -> None:
    top = WIDER.replace("pass: critical", "pass: top")
    recorded.refused("changes the pass rule from 'critical' to 'top', which the entry does not list",
                     [recorded.read()], there(ENTRY), top)  # fmt: skip


def test_every_check_that_turned_in_a_flip_must_be_listed(recorded: Home) -> None:
    shorter = WIDER.replace("max_words: 5", "max_words: 2")
    recorded.refused("would become pass by short, which the entry does not list", [recorded.read()], there(ENTRY),
                     shorter)  # fmt: skip


def test_a_rescoring_names_the_verdicts_that_turned_without_a_flip(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.run = stored_run(tmp_path, {"c-1": ["four", "it is 4", "none at all"]}, run_id="r-2")
    entry = ENTRY.replace(
        "reason: a digit is as good}",
        "reason: a digit is as good}, {check: short, cases: [c-1], fix: narrow, reason: one word}",
    )
    ids = [home.read()]
    suite = WIDER.replace("max_words: 5", "max_words: 1")
    seen = preview_of(home, ids, entry, suite)
    assert [(t["check"], t["from"], t["to"], t["samples"]) for t in seen["turned_without_flip"]] == [
        ("short", "pass", "fail", [3])
    ]
    assert turned_lines(seen) == ["turned without a flip: short of r-2 c-1, pass -> fail, 1 sample (3)"]


def preview_of(home: Home, ids: list[str], entry: str, suite: str) -> dict[str, Any]:
    (home.folder / "new.yaml").write_text(suite)
    (home.folder / "entry.yaml").write_text(citing(entry, ids))
    return preview([home.run], home.folder / "new.yaml", home.folder / "entry.yaml", home.log).as_dict()


DESCRIBED = SUITE.replace("check: mentions,", "check: mentions, description: the sum,")
WORDS = ENTRY.replace("fix: widen", "fix: description").replace("[{run: r-1, case: c-1, sample: 2, to: pass}]", "[]")


def test_another_description_is_listed_for_every_case_that_it_touches(tmp_path: Path) -> None:
    home = Home(tmp_path)
    said = "describes check 'says' of case 'c-2' otherwise, which the entry does not list"
    home.refused(f"{said}.*`fix: description`", [], WORDS, DESCRIBED)
    assert home.rescore([], WORDS.replace("cases: [c-1], ", ""), DESCRIBED).as_dict()["flips"] == []


def test_another_description_does_not_ride_along(tmp_path: Path) -> None:
    home = Home(tmp_path)
    along = WIDER.replace("check: sections,", "check: sections, description: of few words,")
    home.refused("describes check 'short' of case 'c-1' otherwise", [home.read()], ENTRY, along)


def test_a_check_that_is_changed_may_be_described_anew(tmp_path: Path) -> None:
    home = Home(tmp_path)
    wider = WIDER.replace("check: mentions,", "check: mentions, description: the sum,")
    done = home.rescore([home.read()], ENTRY.replace("cases: [c-1], ", ""), wider)
    assert len(done.as_dict()["flips"]) == 1


def test_descriptions_that_differ_from_recorded_ones_are_told(tmp_path: Path) -> None:
    """What a source says of its checks and what its published criteria say need not be the same words."""
    said = RECORDED.replace("{id: short, check: recorded}", "{id: short, check: recorded, description: five words}")
    home = from_records(tmp_path, said)
    along = WIDER.replace("check: sections,", "check: sections, description: of few words,")
    done = home.rescore([home.read()], there(ENTRY), along).as_dict()
    assert done["reworded"] == ["short"]
    assert "described otherwise than recorded, and not listed: short" in rescored_lines(done)
    same = along.replace("of few words", "five words")
    assert home.rescore([home.read()], there(ENTRY).replace("digit", "same"), same).as_dict()["reworded"] == []


def test_a_check_in_the_place_of_a_recorded_one_that_never_failed_is_told(recorded: Home) -> None:
    """No verdict turns where such a check lets everything pass: nobody can tell whether it was weakened."""
    gutted = WIDER.replace("max_words: 5", "max_words: 5000")
    done = recorded.rescore([recorded.read()], there(ENTRY), gutted).as_dict()
    assert done["never_failed"] == [{"case_id": case, "check": "short"} for case in ("c-1", "c-2")]
    assert "2 checks" in "".join(line for line in rescored_lines(done) if "weakened" in line)
    changelog = criteria_changelog([recorded.run], read_log(recorded.log), {})
    assert "In their place 4 checks of a case are computed now; 2 failed no answer, so that" in changelog
    assert "whether they were weakened: short." in changelog


PROBES = "probes: [{name: digits, case: c-1, answer: '44', passes: [says]}]\n"
COUNTED = "changes: [{check: short, fix: criticality, reason: it decides}]"


@pytest.mark.parametrize(
    ("changes", "suite", "untested"),
    [
        ("cases: [c-1]", WIDER, []),
        ("cases: [c-1]", WIDER.replace("'4'", "'44'"), ["widen says of c-1"]),
        ("cases: [c-1]", WIDER.replace("'4'", "'44'") + PROBES, []),
        ("cases: [c-1, c-2]", WIDER.replace("five]", "[five, cinq]]"), ["widen says of c-2"]),
        ("tags: none", WIDER.replace("five]", "[five, cinq]]"), []),
    ],
)  # fmt: skip
def test_a_change_that_no_answer_exercises_is_marked_untested(
    tmp_path: Path, changes: str, suite: str, untested: list[str]
) -> None:
    home = Home(tmp_path)
    entry = ENTRY.replace("cases: [c-1], ", "" if changes.startswith("tags") else f"{changes}, ")
    done = home.rescore([home.read(), home.read("c-2")], entry, suite)
    assert list(done.entry.untested) == done.as_dict()["untested"] == untested
    told = [line for line in rescored_lines(done.as_dict()) if line.startswith("untested")]
    assert told == [f"untested change, no stored or example answer turns by it: {one}" for one in untested]


@pytest.mark.parametrize(("words", "untested"), [(2, []), (5, ["criticality short"])])
def test_what_only_counts_otherwise_is_tested_by_an_answer_that_it_bears_on(
    tmp_path: Path, words: int, untested: list[str]
) -> None:
    suite = SUITE.replace("max_words: 5", f"max_words: {words}")
    home = Home(tmp_path, suite)
    id_ = home.read(check="short", reading="fail", cause="wrong-scope")
    entry = ENTRY.replace("changes: [{check: says, cases: [c-1], fix: widen, reason: a digit is as good}]", COUNTED)
    done = home.rescore([id_], entry, suite.replace(f"max_words: {words}", f"max_words: {words}, critical: true"))
    assert list(done.entry.untested) == untested
