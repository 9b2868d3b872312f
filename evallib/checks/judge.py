"""The configuration of a check that a model answers; `judges` builds its prompt and reads its reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from evallib.checks.base import Check
from evallib.records import digest

__all__ = ["CaseMaterial", "Judge"]

Input = Literal["question", "key", "answer", "reference"]
_USUAL: tuple[Input, ...] = ("question", "key", "answer")
_READING = {"description", "when", "weight", "critical", "pass_at", "min_votes"}
"""What decides how votes are read, or how much they count, but not what the judge is asked."""


class CaseMaterial:
    """What a case knows beside its target's answers: steps as sent, its decisions, references, answer key.

    `decisions` and `references` go with `sent` step by step; a step that is no decision holds None.
    """

    __slots__ = ("decisions", "key", "references", "sent")

    def __init__(
        self,
        key: Mapping[str, Any],
        sent: Sequence[str] = (),
        decisions: Sequence[Mapping[str, Any] | None] = (),
        references: Sequence[str] = (),
    ) -> None:
        self.key, self.sent = dict(key), tuple(sent)
        self.decisions, self.references = tuple(decisions), tuple(references)


class Judge(Check):
    """A rubric put to a model `votes` times; on a scale the lower median counts, else the strict majority.

    A vote v on a scale is the value (v - low) / (high - low). With `mode: pass_fail` a tie is a fail.
    Example: `{id: quality, check: judge, scale: [1, 5], votes: 3, rubric: "5: could be sent as it stands. 1: wrong."}`
    """

    stochastic: ClassVar[bool] = True
    computable: ClassVar[bool] = False
    check: Literal["judge"]
    rubric: str = Field(min_length=1)
    mode: Literal["scale", "pass_fail"] = Field(default="scale", exclude_if=lambda value: value == "scale")
    """`scale`: a whole number from `scale`; `pass_fail`: true or false."""
    scale: tuple[int, int] = (1, 5)
    """Lowest and highest vote."""
    votes: int = Field(default=3, ge=1, le=15)
    min_votes: int | None = Field(default=None, ge=1, exclude_if=lambda value: value is None)
    """Readable votes below which there is no verdict; more than half of `votes` when absent."""
    pass_at: float | None = None
    """Raw median from which the verdict is a pass; the top of the scale when absent."""
    inputs: tuple[Input, ...] = Field(default=_USUAL, exclude_if=lambda value: value == _USUAL)
    """What the judge is shown beside the rubric."""
    key_fields: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Entries of the answer key that are shown; all of them when empty."""
    model: str = ""
    """Which model to ask; empty for the one the judge endpoint was opened with."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    max_tokens: int = Field(default=512, ge=16)
    max_chars: int = Field(default=100_000, ge=1_000, exclude_if=lambda value: value == 100_000)
    """Characters of question, key, reference and answer that are shown at most; a verdict on more says so."""
    _material: CaseMaterial = PrivateAttr(default_factory=lambda: CaseMaterial({}))

    @model_validator(mode="after")
    def _scale_rises(self) -> Self:
        low, high = self.scale
        if low >= high:
            raise ValueError(f"scale {list(self.scale)} must rise, as in [1, 5]")
        if self.pass_at is not None and not low <= self.pass_at <= high:
            raise ValueError(f"pass_at {self.pass_at} lies outside the scale {list(self.scale)}")
        if self.mode == "pass_fail" and self.model_fields_set & {"scale", "pass_at"}:
            raise ValueError("`scale` and `pass_at` belong to `mode: scale`; a pass_fail judge says true or false")
        return self

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if self.min_votes is not None and self.min_votes > self.votes:
            raise ValueError(f"min_votes {self.min_votes} is more than the {self.votes} votes")
        if "answer" not in self.inputs or len(set(self.inputs)) < len(self.inputs):
            raise ValueError(f"inputs {list(self.inputs)} must name `answer`, and nothing twice")
        if self.key_fields and "key" not in self.inputs:
            raise ValueError("key_fields choose from the key, which `inputs` does not name")
        return self

    @property
    def needed(self) -> int:
        """Readable votes needed for a verdict."""
        return self.votes // 2 + 1 if self.min_votes is None else self.min_votes

    @property
    def material(self) -> CaseMaterial:
        """What the case shows this judge; empty before `facing`."""
        return self._material

    def facing(self, material: CaseMaterial) -> Self:
        """This judge set before one case: it knows what it may show. KeyError names a key field the case lacks."""
        shown = {name: material.key[name] for name in self.key_fields} if self.key_fields else material.key
        key = shown if "key" in self.inputs else {}
        references = material.references if "reference" in self.inputs else ()
        facing = self.model_copy()
        facing._material = CaseMaterial(key, material.sent, material.decisions, references)  # noqa: SLF001  # a copy of this very object
        return facing

    def shows(self) -> str:
        """Digest (16 hex) of the case's key and references as this judge is shown them."""
        return digest([self.material.key, self.material.references], 16)

    def asks(self) -> str:
        """Digest (16 hex) of what the judge is asked, apart from the case and from how the votes are read."""
        return digest(self.model_dump(mode="json", exclude=_READING), 16)
