"""What is half said: kept whole, replaced, forgotten, and never a reason to stop."""

from __future__ import annotations

import subprocess

import pytest

from evallib.errors import InputError
from evallib.store import Drafts


def test_a_draft_is_replaced_whole_and_can_be_dropped(tmp_path):
    drafts = Drafts(tmp_path)
    drafts.keep(("a", 1), {"reason": "sn\ud800ow \N{SNOWMAN}"})
    drafts.keep(("a", 1), {"reason": "sno"})
    drafts.keep(("a", 2), {"reason": "rain"})
    assert (Drafts(tmp_path).read(("a", 1)), drafts.read(("a", 2))) == ({"reason": "sno"}, {"reason": "rain"})
    drafts.drop(("a", 1))
    drafts.drop(("a", 1))
    assert drafts.read(("a", 1)) == {}
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize("content", ["", "{ torn", "[1]", "\x00", '{"a":' + "[" * 200_000])
def test_what_cannot_be_read_counts_as_none(tmp_path, content):
    drafts = Drafts(tmp_path)
    drafts.keep(("a",), {"reason": "so"})
    next((tmp_path / ".drafts").glob("*.json")).write_text(content)
    assert drafts.read(("a",)) == {}


def test_git_sees_none_of_it(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    Drafts(tmp_path / "adjudications").keep(("a",), {"reason": "so"})
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert status.stdout == ""


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "log").write_text("a file")
    with pytest.raises(InputError, match="is a file, not a folder"):
        Drafts(tmp_path / "log").keep(("a",), {})
