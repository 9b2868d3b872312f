"""What turns without being listed: verdicts of checks that an entry does not name, whether the outcome flips or not."""

from pathlib import Path
from typing import Any

import pytest

from evallib.printing import turned_lines
from evallib.rescoring.impact import preview
from evallib.store import import_run
from tests.licensing import citing
from tests.making import SUITE, stored_run
from tests.ruled import ENTRY, WIDER, Home
from tests.test_rules import RECORDED, there


@pytest.fixture
def recorded(tmp_path: Path) -> Home:
    """A run whose verdicts were recorded elsewhere: nothing tells what its criteria were."""
    home = Home(tmp_path)
    source = {"set": "s", "sha256": "0" * 64}
    home.run = import_run(
        home.folder, "there", RECORDED, home.run.samples, home.run.verdicts, target={"kind": "t"}, source=source
    )
    return home


SILENT = there(ENTRY).replace("[{run: there, case: c-1, sample: 2, to: pass}]", "[]")


@pytest.mark.parametrize(
    ("gutted", "said"),
    [
        (SUITE.replace("max_words: 5", "max_words: 1"), r"sample 2 .*turns \(pass -> fail\)"),
        (
            SUITE.replace("max_words: 5", "max_words: 5, critical: true"),
            r"turns \(pass, not critical -> pass, critical\)",
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
