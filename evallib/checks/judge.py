"""The configuration of a check that a model answers; `judges` builds its prompt and reads its reply."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from evallib.checks.base import Check

__all__ = ["Judge"]


class Judge(Check):
    """A rubric put to a model `votes` times; the median vote counts, as value (v - low) / (high - low)."""

    stochastic: ClassVar[bool] = True
    computable: ClassVar[bool] = False
    check: Literal["judge"]
    rubric: str = Field(min_length=1)
    scale: tuple[int, int] = (1, 5)
    """Lowest and highest vote."""
    votes: int = Field(default=3, ge=1, le=15)
    pass_at: float | None = None
    """Raw median from which the verdict is a pass; the top of the scale when absent."""
    model: str = ""
    """Which model to ask; empty for the one the judge endpoint was opened with."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    max_tokens: int = Field(default=512, ge=16)

    @model_validator(mode="after")
    def _scale_rises(self) -> Self:
        low, high = self.scale
        if low >= high:
            raise ValueError(f"scale {list(self.scale)} must rise, as in [1, 5]")
        if self.pass_at is not None and not low <= self.pass_at <= high:
            raise ValueError(f"pass_at {self.pass_at} lies outside the scale {list(self.scale)}")
        return self
