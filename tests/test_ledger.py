"""The log tells how criteria changed: by date, by author with their predictions, and by check with its amendments."""

import json
from pathlib import Path

import pytest

from evallib.adjudication import make_withdrawal
from evallib.cli import main
from evallib.locks import make_lock
from evallib.rescoring.impact import preview
from evallib.rescoring.ledger import REPLACE, amendments, dated_rescorings, predictions
from evallib.rescoring.rules import Acceptance
from evallib.store import append_entry, read_log
from tests.licensing import citing, read_each
from tests.making import SUITE, stored_run
from tests.ruled import ENTRY, NARROWER, WIDER, Home

NONE = SUITE.replace("{facts: [four]}", "{facts: [[four, '4', none]]}")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def slug(name: str, entry: str = ENTRY) -> str:
    return entry.replace("slug: digit", f"slug: {name}")


def test_each_author_has_a_record_of_what_they_foretold(home: Home) -> None:
    id_ = home.read()
    home.rescore([id_])
    home.rescore([id_], slug("missed").replace("sample: 2, to", "sample: 3, to"))
    back = slug("back").replace("fix: widen", "fix: narrow").replace("sample: 2, to: pass", "sample: 1, to: fail")
    narrow = home.read(sample=1, reading="fail", cause="too-broad")
    home.rescore([narrow], back.replace("author: Ann", "author: Bo"), NARROWER)
    one, two = predictions(read_log(home.log))
    assert (one.author, *one[1:6]) == ("Ann", 2, 1, 1, 1, 0)
    assert (two.author, *two[1:6]) == ("Bo", 1, 1, 0, 0, 1)
    assert (one.after_preview, two.after_preview) == (
        1,
        0,
    )  # the second of Ann came after the first had shown its flips


def test_expectations_copied_from_a_preview_stand_in_the_record(home: Home) -> None:
    id_ = home.read()
    (home.folder / "new.yaml").write_text(WIDER)
    (home.folder / "entry.yaml").write_text(citing(ENTRY.replace("sample: 2, to", "sample: 3, to"), [id_]))
    preview([home.run], home.folder / "new.yaml", home.folder / "entry.yaml", home.log)
    home.rescore([id_])
    assert predictions(read_log(home.log))[0].after_preview == 1


def test_every_rescoring_stands_in_the_dated_log_with_its_label(home: Home) -> None:
    more = stored_run(home.folder, {"c-1": ["4"]}, run_id="r-2")
    id_ = home.read(cause="other", author="Ann")
    call = ENTRY.replace("good}", "good, judgement: true}")
    home.rescore([id_], call, runs=[home.run, more], acceptance=Acceptance("one digit", "Bo"))
    (one,) = dated_rescorings(read_log(home.log), ["r-2"])
    assert one["label"] == "chosen after reading the answers; 1 judgement call; 1 flip unread, accepted by Bo"
    assert (one["flips"], one["expected"], one["unexpected"], one["missed"], one["unread"]) == (2, 1, 1, 0, 1)
    assert (one["runs"], one["own_readings_only"], one["judgement_calls"]) == (["r-1", "r-2"], True, 1)
    assert one["changes"] == [
        {"check": "says", "cases": ["c-1"], "fix": "widen", "reason": "a digit is as good", "judgement": True}
    ]
    assert dated_rescorings(read_log(home.log), ["r-3"]) == []


def test_the_third_amendment_or_paraphrase_says_to_replace_the_check(home: Home) -> None:
    id_ = home.read()
    home.rescore([id_])
    more = stored_run(home.folder, {"c-1": ["4"]}, run_id="r-2")
    read_each(home.log, [more], [("c-1", 1, "pass")])
    home.rescore([id_], slug("again"), runs=[home.run, more])
    (one,) = amendments([home.run, more], read_log(home.log))
    assert (one.check, one.by_fix, one.since_replaced, one.brittle) == ("says", {"widen": 1}, 1, False)
    home.read(sample=3, cause="paraphrase")
    home.read(sample=3, cause="paraphrase", author="Cem")
    home.read("c-2", 2, cause="paraphrase", check="says")
    (one,) = amendments([home.run, more], read_log(home.log))
    assert (one.since_replaced, one.paraphrases, one.brittle, one.as_dict()["advice"]) == (1, 2, True, REPLACE)


def test_a_change_is_one_however_else_the_suite_differs_that_is_applied_to_further_runs(home: Home) -> None:
    id_ = home.read()
    home.rescore([id_])
    for name, suite in (("gate", WIDER.replace("mean: 0.5", "mean: 0.4")), ("id", f"{WIDER}description: more\n")):
        home.rescore([id_], slug(name), suite)
    (one,) = amendments([home.run], read_log(home.log))
    assert (one.by_fix, one.since_replaced) == ({"widen": 1}, 1)
    home.rescore([id_], slug("more"), WIDER.replace("'4'", "'4', vier"))
    (one,) = amendments([home.run], read_log(home.log))
    assert (one.by_fix, one.since_replaced) == ({"widen": 2}, 2)


def test_a_check_that_was_replaced_is_counted_anew_and_a_cited_paraphrase_is_none(home: Home) -> None:
    id_ = home.read(cause="paraphrase")
    assert [one.paraphrases for one in amendments([home.run], read_log(home.log))] == [1]
    other = SUITE.replace("check: mentions, all_of: key.facts", "check: matches, any_of: ['four|4|five']")
    home.rescore([id_], ENTRY.replace("cases: [c-1], fix: widen", "fix: replace"), other)
    (one,) = amendments([home.run], read_log(home.log))
    assert (one.by_fix, one.since_replaced, one.paraphrases) == ({"replace": 1}, 0, 0)


def test_a_reading_that_is_taken_back_after_it_licensed_a_change_is_told(home: Home) -> None:
    id_ = home.read()
    home.rescore([id_])
    append_entry(home.log, make_withdrawal(read_log(home.log), id_, author="Bo", reason="slip"))
    (one,) = dated_rescorings(read_log(home.log))
    assert (one["readings"], one["readings_gone"]) == ([id_], [id_])


def test_a_description_amends_nothing_that_decides(home: Home) -> None:
    described = SUITE.replace("check: mentions,", "check: mentions, description: the sum,")
    entry = ENTRY.replace("cases: [c-1], fix: widen", "fix: description").replace(
        "expects: [{run: r-1, case: c-1, sample: 2, to: pass}]", "expects: []"
    )
    home.rescore([], entry, described)
    (one,) = amendments([home.run], read_log(home.log))
    assert (one.by_fix, one.since_replaced, one.brittle) == ({"description": 1}, 0, False)


def test_the_command_prints_rule_locks_log_record_and_ledger(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home.folder)
    stored = ["--data", str(home.folder), "--adjudications", "log"]
    (home.folder / "suite.yaml").write_text(SUITE)
    assert main(["criteria", "r-1", *stored]) == 0
    assert "no criterion of these runs was changed after their answers were read" in capsys.readouterr().out
    home.rescore([home.read(cause="other")], ENTRY.replace("good}", "good, judgement: true}"), NONE,
                 acceptance=Acceptance("none is zero", "Bo"))  # fmt: skip
    append_entry(home.log, make_lock([home.run], author="Ann", reason="a\ncomparison"))
    assert main(["criteria", "suite.yaml", *stored]) == 0
    said = capsys.readouterr().out
    for line in (
        "the rule that comes with evallib holds, because the log has no RULE.yaml of its own",
        "): a comparison",
        "chosen after reading the answers; 1 judgement call; 1 flip unread, accepted by Bo",
        "r-1: 2 flips: 1 expected, 1 unexpected, 0 missed, 0 from pass to fail",
        "widen says of c-1: a digit is as good (a judgement call)",
        "all changes  changes since new or replaced  right in other words, uncited",
    ):
        assert line in said
    assert main(["criteria", "suite.yaml", "r-1", "--json", *stored]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["runs"], found["rule"]["packaged"], len(found["locks"])) == (["r-1"], True, 1)
    assert found["predictions"][0]["author"] == "Ann"
    assert found["checks"][0]["check"] == "says"
    (home.folder / "other.yaml").write_text(SUITE.replace("suite: small", "suite: other"))
    assert main(["criteria", "other.yaml", *stored]) == 2
    assert "holds no run of suite 'other'" in capsys.readouterr().err


def test_a_rescoring_ends_with_its_authors_record_and_a_word_on_brittle_checks(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home.folder)
    id_ = home.read()
    home.read(sample=3, cause="paraphrase")
    home.read("c-2", 2, cause="paraphrase", check="says")
    (home.folder / "new.yaml").write_text(WIDER)
    (home.folder / "entry.yaml").write_text(f"{ENTRY}readings: [{id_}]\n")
    asked = ["rescore", "r-1", "--suite", "new.yaml", "--entry", "entry.yaml"]
    assert main([*asked, "--data", str(home.folder), "--adjudications", "log"]) == 0
    said = capsys.readouterr().out
    assert [line.split() for line in said.splitlines() if line.startswith("Ann")] == [["Ann", *"110000"]]
    assert REPLACE in said
