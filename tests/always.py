"""Checks that do not look: what a self-check must notice, whatever they stand in for."""

from evallib.checks.base import Check
from evallib.records import Sample, Verdict


class Passes(Check):
    """Passes everything."""

    def judge(self, sample: Sample) -> Verdict:
        return self.scored(sample, True, "as always")


class Fails(Check):
    """Fails everything."""

    def judge(self, sample: Sample) -> Verdict:
        return self.scored(sample, False, "as always")


class Abstains(Check):
    """Never has a verdict."""

    def judge(self, sample: Sample) -> Verdict:
        return self.unscored(sample, "as always")


class Leaves(Check):
    """Never applies."""

    def judge(self, sample: Sample) -> Verdict:
        return self.unscored(sample, "as always", applicable=False)
