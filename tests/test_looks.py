"""Whoever was told flips predicts them no more: a refusal that names some, and an earlier rescoring, count as looks."""

from pathlib import Path

import pytest

from evallib.errors import InputError
from tests.making import SUITE
from tests.ruled import ENTRY, WIDER, Home

SILENT = ENTRY.replace("[{run: r-1, case: c-1, sample: 2, to: pass}]", "[]")
WIDEST = SUITE.replace("{facts: [four]}", "{facts: [[four, '4', none]]}")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


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
