"""Whoever was told flips predicts them no more: a refusal that names some, and an earlier rescoring, count as looks."""

import hashlib
import re
import shutil
from pathlib import Path

import pytest

from evallib.cli import main
from evallib.errors import InputError
from evallib.publishing.contents import preview_files
from evallib.rescoring.impact import preview
from evallib.rescoring.rules import Acceptance
from evallib.rescoring.upholding import doubts, upheld
from evallib.store import Run, list_runs, read_log, verify_log
from evallib.store.files import files_below
from tests.licensing import citing
from tests.making import SUITE, stored_run
from tests.ruled import ANSWERS, ENTRY, WIDER, Home

SILENT = ENTRY.replace("[{run: r-1, case: c-1, sample: 2, to: pass}]", "[]")
WIDEST = SUITE.replace("{facts: [four]}", "{facts: [[four, '4', none]]}")


NEARLY = WIDER.replace("'4'", "'4', vier")
"""The same flips by other criteria."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def look(home: Home, suite: str, entry: str = "", *, run: Run | None = None, log: Path | None = None) -> None:
    """Preview a suite, and an entry where there is one."""
    (home.folder / "seen.yaml").write_text(suite)
    (home.folder / "seen-entry.yaml").write_text(citing(entry, []))
    given = home.folder / "seen-entry.yaml" if entry else None
    preview([run or home.run], home.folder / "seen.yaml", given, log or home.log)


def test_a_refusal_that_names_flips_is_a_look(home: Home) -> None:
    other = home.read(check="says", sample=3)
    with pytest.raises(InputError, match="1 flip was read by nobody: sample 2"):
        home.rescore([other], SILENT.replace("digit", "first"))
    assert len(list((home.log / "previews").iterdir())) == 1
    assert home.rescore([home.read()]).entry.predicted_after_preview is True


def test_the_same_prediction_stays_one_after_a_refusal(home: Home) -> None:
    other = home.read(check="says", sample=3)
    with pytest.raises(InputError, match="read by nobody"):
        home.rescore([other])
    assert home.rescore([home.read()]).entry.predicted_after_preview is False


def test_a_refusal_before_anything_was_computed_is_no_look(home: Home) -> None:
    with pytest.raises(InputError, match="no cited reading"):
        home.rescore([], SILENT)
    assert not (home.log / "previews").exists()


def test_an_earlier_rescoring_of_the_same_criteria_is_a_look(home: Home) -> None:
    ids = [home.read()]
    assert home.rescore(ids, SILENT).entry.predicted_after_preview is False
    copied = home.rescore(ids, ENTRY.replace("digit", "again"), WIDER.replace("suite: small", "suite: other"))
    assert copied.entry.predicted_after_preview is True
    assert "predicted after preview" in copied.as_dict()["label"]


def test_flips_that_an_earlier_rescoring_showed_are_no_prediction_under_other_criteria(home: Home) -> None:
    ids = [home.read()]
    home.rescore(ids, SILENT)
    reworded = WIDER.replace("'4'", "'4', vier")
    assert home.rescore(ids, ENTRY.replace("digit", "again"), reworded).entry.predicted_after_preview is True


def test_a_flip_that_no_earlier_rescoring_showed_is_still_a_prediction(home: Home) -> None:
    ids = [home.read()]
    home.rescore(ids)
    more = ENTRY.replace("digit", "more").replace(
        "to: pass}]", "to: pass}, {run: r-1, case: c-1, sample: 3, to: pass}]"
    )
    done = home.rescore([*ids, home.read(sample=3)], more, WIDEST)
    assert done.entry.predicted_after_preview is False


def test_flips_that_a_preview_of_other_criteria_showed_are_no_prediction(home: Home) -> None:
    look(home, NEARLY)
    assert home.rescore([home.read()]).entry.predicted_after_preview is True


def test_flips_that_a_preview_of_other_criteria_showed_are_none_under_another_slug_either(home: Home) -> None:
    look(home, NEARLY, SILENT.replace("digit", "first"))
    assert home.rescore([home.read()]).entry.predicted_after_preview is True


def test_a_bogus_expectation_among_those_that_were_copied_hides_nothing(home: Home) -> None:
    look(home, NEARLY)
    more = ENTRY.replace("to: pass}]", "to: pass}, {run: r-1, case: c-1, sample: 3, to: pass}]")
    assert home.rescore([home.read()], more).entry.predicted_after_preview is True


def test_a_flip_that_was_foretold_before_any_look_stays_a_prediction(home: Home) -> None:
    look(home, NEARLY, ENTRY.replace("digit", "first"))
    assert home.rescore([home.read()]).entry.predicted_after_preview is False


def test_a_preview_that_showed_none_of_the_flips_leaves_them_a_prediction(home: Home) -> None:
    look(home, SUITE.replace("{facts: [five]}", "{facts: [[five, six]]}"))
    assert home.rescore([home.read()]).entry.predicted_after_preview is False


def test_an_expectation_that_was_dropped_once_it_was_seen_to_fail_is_told(home: Home) -> None:
    more = ENTRY.replace("to: pass}]", "to: pass}, {run: r-1, case: c-1, sample: 3, to: pass}]")
    look(home, NEARLY, more.replace("digit", "first"))
    assert home.rescore([home.read()]).entry.predicted_after_preview is True


def test_a_preview_of_the_same_records_under_another_id_is_a_look(tmp_path: Path) -> None:
    source = {"sha256": "a" * 64, "set": "one"}
    home = Home(tmp_path)
    home.run, copy = (
        stored_run(tmp_path, ANSWERS, run_id=name, planned={"source": source}) for name in ("r-2", "copy")
    )
    look(home, NEARLY, run=copy)
    assert home.rescore([home.read()], ENTRY.replace("r-1", "r-2")).entry.predicted_after_preview is True


@pytest.fixture
def kept(tmp_path: Path) -> Home:
    """A run in a data folder with its log beside it."""
    home = Home(tmp_path / "data")
    home.log = tmp_path / "adjudications"
    home.read(check="says", sample=3)
    return home


def test_a_preview_under_another_log_leaves_its_stamp_in_the_log_beside_the_run(kept: Home, tmp_path: Path) -> None:
    shutil.copytree(kept.log, tmp_path / "aside")
    look(kept, NEARLY, log=tmp_path / "aside")
    assert len(files_below(kept.log / "previews", ".yaml")) == 1
    assert kept.rescore([kept.read()]).entry.predicted_after_preview is True


def test_a_rescoring_under_another_log_leaves_its_stamp_in_the_log_beside_the_run(kept: Home, tmp_path: Path) -> None:
    id_ = kept.read()
    real, kept.log = kept.log, shutil.copytree(kept.log, tmp_path / "aside")
    kept.rescore([id_], SILENT.replace("digit", "aside"))
    assert len(files_below(real / "previews", ".yaml")) == 1
    kept.log = real
    assert kept.rescore([id_]).entry.predicted_after_preview is True


def test_nothing_is_stamped_into_a_bundle(kept: Home, tmp_path: Path) -> None:
    """Somebody else's published folder stays as it was published."""
    (tmp_path / "MANIFEST.sha256").write_text("")
    look(kept, NEARLY, run=list_runs(tmp_path / "data")[0], log=tmp_path / "mine")
    assert not (kept.log / "previews").exists()
    assert len(files_below(tmp_path / "mine" / "previews", ".yaml")) == 1


def test_a_stamp_does_not_tell_which_answers_flip(home: Home) -> None:
    look(home, NEARLY, ENTRY)
    (stamp,) = files_below(home.log / "previews", ".yaml")
    assert not {"r-1", "c-1", "pass"} & set(stamp.read_text().replace(":", " ").split())


def rewritten(home: Home, was: str, forged: str) -> None:
    """The entry of the rescoring beside the run and its twin, by somebody who thinks of the hash in its name."""
    (entry,) = home.run.folder.glob("rescored/*/entry.yaml")
    (twin,) = home.log.rglob("*-rescoring-*.yaml")
    assert was in entry.read_text()
    content = entry.read_text().replace(was, forged, 1).encode()
    entry.write_bytes(content)
    twin.unlink()
    twin.with_name(f"{twin.stem[:-12]}{hashlib.sha256(content).hexdigest()[:12]}.yaml").write_bytes(content)


def test_an_entry_that_keeps_silent_of_a_look_is_found_out(home: Home) -> None:
    look(home, NEARLY)
    done = home.rescore([home.read()])
    look(home, NEARLY, SILENT.replace("digit", "later"))
    assert doubts(home.run, read_log(home.log), home.log) == []
    rewritten(home, "predicted_after_preview: true\n", "")
    ((_, told),) = doubts(home.run, read_log(home.log), home.log)
    assert told == "was predicted after a preview, by the stamps and rescorings before it, and does not say so"
    assert len(list(preview_files(home.log, [done.logged], [home.run]))) == 2, "a bundle holds both, by their flips"


def test_looks_after_a_rescoring_say_nothing_of_it(home: Home) -> None:
    home.rescore([home.read()])
    look(home, NEARLY)
    home.rescore([home.read()], SILENT.replace("digit", "later"), NEARLY)
    assert doubts(home.run, read_log(home.log), home.log) == []


@pytest.mark.parametrize(
    ("was", "forged", "told"),
    [
        ("fix: widen", "fix: description", "calls the change of check 'says' of case 'c-1' description, and what"),
        ("check: says", "check: short", "changes check 'says' of case 'c-1', which the entry does not list"),
    ],
)
def test_an_entry_that_would_have_been_refused_is_found_out(home: Home, was: str, forged: str, told: str) -> None:
    home.rescore([home.read()])
    rewritten(home, was, forged)
    (problem,) = upheld(home.run, read_log(home.log)).problems
    assert "entry.yaml: would have been refused: " in problem
    assert told in problem


@pytest.mark.parametrize("silent", ["unread: 1\n", "override: "])
def test_an_entry_that_keeps_silent_of_unread_flips_is_found_out(home: Home, silent: str) -> None:
    home.rescore([home.read(check="says", sample=3)], SILENT, acceptance=Acceptance("a slip of the pen", "Bo"))
    assert (verify_log(home.log).problems, doubts(home.run, read_log(home.log), home.log)) == ([], [])
    (entry,) = home.run.folder.glob("rescored/*/entry.yaml")
    rewritten(home, next(line for line in entry.read_text().splitlines(keepends=True) if line.startswith(silent)), "")
    told = verify_log(home.log).problems
    assert any("flips that nobody read: 1, where it says " in one for one in told)


def test_a_flip_that_is_called_read_and_was_not_is_noted(home: Home) -> None:
    home.rescore([home.read(check="says", sample=3)], SILENT, acceptance=Acceptance("a slip of the pen", "Bo"))
    rewritten(home, "read: unread", "read: read")
    ((_, told),) = doubts(home.run, read_log(home.log), home.log)
    assert told == "calls sample 2 of case 'c-1' read, and the log as it was has no reading of it"


def test_a_reading_that_licenses_nothing_is_noted(kept: Home, capsys: pytest.CaptureFixture[str]) -> None:
    id_ = kept.read(sample=3, cause="true-failure", reading="fail")
    other = kept.read()
    kept.rescore([other])
    given = ["verify", str(kept.folder), "--adjudications", str(kept.log)]
    assert main(given) == 0
    assert "note: " not in capsys.readouterr().out
    rewritten(kept, other, id_)
    assert main(given) == 0
    said = "would have been refused by the log as it was: no cited reading licenses `fix: widen` of check 'says'"
    assert re.search(rf"note: \S+-rescoring-\S+ {said}", capsys.readouterr().out)
