"""Checks of how the target ended: its exit status, and whether it said anything."""

from __future__ import annotations

from typing import ClassVar, Literal

from evallib.checks.base import Check
from evallib.checks.extraction import spoken
from evallib.records import Sample, Verdict

__all__ = ["ExitCode", "NotEmpty"]


class ExitCode(Check):
    """The target ended with this exit status; not applicable to a target that has none.

    Example: `{id: exit, check: exit_code, weight: 0, critical: true}`
    """

    check: Literal["exit_code"]
    expect: int = 0

    def judge(self, sample: Sample) -> Verdict:
        """Pass on the expected status; a crash or a timeout is a fail."""
        if sample.status in ("crashed", "timed_out"):
            how = sample.status.replace("_", " ")
            return self.scored(sample, False, f"the target {how}" + (f": {sample.error}" if sample.error else ""))
        if sample.exit_code is None:
            return self.unscored(sample, "the target has no exit status", applicable=False)
        reason = f"exit status {sample.exit_code}"
        if sample.exit_code != self.expect:
            reason += f", expected {self.expect}"
        return self.scored(sample, sample.exit_code == self.expect, reason)


class NotEmpty(Check):
    """The answer shows a reader something: blanks, unseen characters and thought parts alone are empty.

    Example: `{id: answered, check: not_empty, critical: true}`
    """

    revision: ClassVar[int] = 2  # unseen characters and thought parts are no answer
    check: Literal["not_empty"]

    def judge(self, sample: Sample) -> Verdict:
        """Pass when the answer holds a word."""
        said = spoken(sample.answer)
        if said.problem:
            return self.scored(sample, False, said.problem)
        words = len(said.text.split())
        return self.scored(sample, True, "the answer has 1 word" if words == 1 else f"the answer has {words} words")
