"""The thresholds of a release, as a suite or a gate file writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from evallib.strict_yaml import Written

__all__ = ["TOLERANCE", "Gate", "reaches"]

TOLERANCE = 1e-9
"""Ten times 0.85 has a mean of 0.85: equality passes whatever the rounding."""

Share = Annotated[float, Field(ge=0, le=1)]


def _left_out(value: object) -> bool:
    """Whether a key that came later was not written: it must not change the digest of a gate that knows it not."""
    return value is None or value == {}


class Gate(Written):
    """Thresholds of a release. Every rule not given is left out, but for coverage, which always stands."""

    mean: Share | None = None
    """Least mean of the per-case mean scores (article 1, rule 1)."""
    checks: Mapping[str, float] = Field(default_factory=dict)
    """Least mean of the per-case means of each check, in the check's raw units (article 1, rule 2)."""
    floor: Share | None = None
    """Least score of every single sample (article 1, rule 3)."""
    required: Literal["all_samples"] = "all_samples"
    """Each required case passes in every sample; model verdicts do not decide it (article 3)."""
    pass_rate: Share | None = None
    """Least pass rate over the planned samples, errors counted as fails (article 3)."""
    pass_hat: Mapping[Annotated[int, Field(ge=1)], Share] = Field(default_factory=dict, exclude_if=_left_out)
    """k to the least pass^k over the planned samples, errors counted as fails; every case needs k samples."""
    coverage: float | None = Field(default=None, gt=0, le=1, exclude_if=_left_out)
    """Least share of the planned samples that are scored; all, less the errors allowed, when left out."""
    errors: float | None = Field(default=None, ge=0, lt=1, exclude_if=_left_out)
    """Largest share of the planned samples that are errors."""

    @property
    def least_scored(self) -> float:
        """The share of the planned samples that must be scored."""
        return self.coverage if self.coverage is not None else 1 - (self.errors or 0)


def reaches(value: float | None, threshold: float) -> bool:
    """Whether a figure is at its threshold; undefined never is."""
    return value is not None and math.isfinite(value) and value >= threshold - TOLERANCE
