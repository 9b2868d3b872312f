"""One case of a suite: its steps go to the target, its key and checks stay here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from evallib.checks import CheckField
from evallib.checks.base import Check
from evallib.checks.judge import CaseMaterial
from evallib.checks.turns import OverSteps
from evallib.records import canonical_json, digest
from evallib.strict_yaml import Written

__all__ = ["Case", "Id", "Step", "is_default", "material_of", "over_steps"]

Id = Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


def is_default(value: object) -> bool:
    """Whether a key that came later was left out: it must not change the digest of a suite that knows nothing of it."""
    return value is None or value in ("", (), {})


class Step(Written):
    """One step of a case: a request, or a person's decision on what the step before left open.

    A reference answer and the checks of the step stay here; the target sees the rest.
    """

    ask: str = Field(default="", min_length=1)
    approve: bool | None = Field(default=None, exclude_if=is_default)
    """True approves, false refuses; never guessed from what the target did."""
    approver: str = Field(default="", exclude_if=is_default)
    """Who decides."""
    rationale: str = Field(default="", exclude_if=is_default)
    """Why, in the approver's words."""
    reference: str = ""
    checks: tuple[CheckField, ...] = Field(default=(), exclude_if=is_default)
    """What this very step must do; under one id the lowest verdict over the steps counts."""

    @model_validator(mode="after")
    def _asks_or_decides(self) -> Step:
        if bool(self.ask) == (self.approve is not None):
            raise ValueError("a step is either a request (`ask`) or a decision (`approve: true` or `false`)")
        if self.ask and (self.approver or self.rationale):
            raise ValueError("`approver` and `rationale` belong to a decision; add `approve: true` or `false`")
        if self.approve is not None and not self.approver.strip():
            raise ValueError("a decision needs its `approver`; an approval by nobody is none")
        if self.approve and not self.rationale.strip():
            raise ValueError("an approval needs a `rationale`")
        return self

    @property
    def sent(self) -> str:
        """What the target is given, as text: the request, or the decision as JSON."""
        return self.ask or canonical_json(self.decision)

    @property
    def decision(self) -> dict[str, Any]:
        """Approval or refusal, by whom, and why; of no meaning for a request."""
        return {"approve": self.approve, "approver": self.approver, "rationale": self.rationale}

    def for_target(self) -> Step:
        """This step without anything that a target must not see."""
        return Step.model_construct(
            ask=self.ask, approve=self.approve, approver=self.approver, rationale=self.rationale
        )


class Case(Written):
    """One thing to try: its steps go to the target, all else stays here."""

    id: Id
    title: str = ""
    """For reviewers; never sent to a target."""
    split: Literal["train", "validation", "holdout"] = "validation"
    tags: tuple[str, ...] = ()
    required: bool = False
    """A required case must pass in every sample."""
    steps: tuple[Step, ...] = ()
    key: Mapping[str, Any] = Field(default_factory=dict)
    """The answer key: what checks and judges may know and the target may not."""
    checks: tuple[CheckField, ...] = ()

    @property
    def question(self) -> str:
        """Digest (16 hex) of what the target is asked; empty when the source did not record it."""
        return digest([step.sent for step in self.steps], 16) if self.steps else ""

    @cached_property
    def sent(self) -> tuple[Step, ...]:
        """The steps without anything that a target must not see: made once, given to every sample."""
        return tuple(step.for_target() for step in self.steps)

    @property
    def approvals(self) -> tuple[int, ...]:
        """The steps, from 1, in which a person approves."""
        return tuple(number for number, step in enumerate(self.steps, 1) if step.approve)


def material_of(case: Case) -> CaseMaterial:
    """What the case may show a judge."""
    decided = [None if step.approve is None else step.decision for step in case.steps]
    return CaseMaterial(case.key, [s.sent for s in case.steps], decided, [s.reference for s in case.steps])


def over_steps(case: Case) -> Iterator[Check]:
    """The checks of a case's steps, those under one id made one."""
    grouped: dict[str, list[tuple[int, Check]]] = {}
    for number, step in enumerate(case.steps, 1):
        for check in step.checks:
            grouped.setdefault(check.id, []).append((number, check))
    for name, parts in grouped.items():
        first = parts[0][1]
        yield OverSteps(
            id=name, description=first.description, weight=first.weight, critical=first.critical, parts=tuple(parts)
        )
