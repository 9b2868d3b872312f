"""A stored run with its log, and how a rescoring of it is tried and refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evallib.adjudication import make_reading
from evallib.errors import InputError
from evallib.rescoring.apply import Rescored, rescore
from evallib.store import Run, append_entry, read_log
from tests.commandline import files
from tests.licensing import citing
from tests.making import SUITE, stored_run

ENTRY = """\
kind: rescoring
slug: digit
author: Ann
reason: "'4' is four"
changes: [{check: says, cases: [c-1], fix: widen, reason: a digit is as good}]
expects: [{run: r-1, case: c-1, sample: 2, to: pass}]
"""
WIDER = SUITE.replace("{facts: [four]}", "{facts: [[four, '4']]}")
NARROWER = SUITE.replace("{facts: [four]}", "{facts: [four, sum]}")
ANSWERS = {"c-1": ["four", "it is 4", "none"], "c-2": ["five", "six"]}


class Home:
    """One stored run, its log, and how a rescoring of it is tried."""

    def __init__(self, folder: Path, suite: str = SUITE) -> None:
        self.folder, self.log = folder, folder / "log"
        self.run = stored_run(folder, ANSWERS, suite_text=suite)

    def read(self, case: str = "c-1", sample: int = 2, reading: str = "pass", **more: Any) -> str:
        given = {"author": "Bo", "cause": "too-narrow", "reason": "it says so", "log": read_log(self.log), **more}
        return append_entry(self.log, make_reading(self.run, case, sample, reading=reading, **given)).id

    def rescore(
        self,
        readings: Sequence[str] = (),
        entry: str = ENTRY,
        suite: str = WIDER,
        runs: Sequence[Run] = (),
        **more: Any,
    ) -> Rescored:
        (self.folder / "new.yaml").write_text(suite)
        (self.folder / "entry.yaml").write_text(citing(entry, readings))
        return rescore(runs or [self.run], self.folder / "new.yaml", self.folder / "entry.yaml", self.log, **more)

    def stored(self) -> dict[str, bytes]:
        """Every byte of runs and log, but for stamps of what was seen."""
        log = files(self.log) if self.log.exists() else {}
        return {**files(self.folder / "runs"), **{name: b for name, b in log.items() if "previews" not in str(name)}}

    def refused(self, said: str, *given: Any, **more: Any) -> None:
        """The rescoring is refused in one sentence that holds `said`, and no verdict and no entry is written."""
        before = self.stored()
        with pytest.raises(InputError, match=said) as told:
            self.rescore(*given, **more)
        assert "\n" not in str(told.value)
        assert self.stored() == before, "but for the stamp that flips were seen"
