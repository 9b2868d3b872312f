"""What every check is: its YAML keys as fields, and a call that turns samples into verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, PrivateAttr

from evallib.domain import Domain
from evallib.records import Sample, Verdict, digest
from evallib.strict_yaml import Written

__all__ = ["FROM_KEY", "Check", "FromKey", "Texts", "When"]

_NOT_DECISIVE = {"description", "when"}
_NOT_MEASURING = _NOT_DECISIVE | {"weight", "critical"}

FROM_KEY = r"^key\.[A-Za-z_][A-Za-z0-9_]*$"
FromKey = Annotated[str, Field(pattern=FROM_KEY)]
"""`key.NAME`: the value stands in the case's answer key under NAME."""


def _written_as_texts(value: object) -> object:
    """`value`, unless it is neither a list of texts nor a reference: the union's own message would name neither."""
    if not isinstance(value, list | tuple) and not (isinstance(value, str) and re.match(FROM_KEY, value)):
        raise ValueError(f"{value!r} must be a list, as in [{str(value)!r}], or a reference like key.NAME")
    wrong = [item for item in value if not isinstance(item, str)] if isinstance(value, list) else []
    if wrong:
        raise ValueError(f"{wrong[0]!r} must be text; put it in quotes")
    return tuple(value) if isinstance(value, list) else value


Texts = Annotated[FromKey | tuple[str, ...], BeforeValidator(_written_as_texts)]
"""A list of texts, or a reference to one in the case's answer key."""


class When(Written):
    """Limits a suite-wide check to some cases; all conditions given must hold."""

    tags: tuple[str, ...] = ()
    """The case has at least one of these tags."""
    split: tuple[str, ...] = ()
    """The case is in one of these splits."""
    not_tags: tuple[str, ...] = ()
    """The case has none of these tags."""

    def applies(self, tags: Sequence[str], split: str) -> bool:
        """Whether a case with these tags in this split is meant."""
        return (
            (not self.tags or bool(set(self.tags) & set(tags)))
            and (not self.split or split in self.split)
            and not set(self.not_tags) & set(tags)
        )


class Check(Written):
    """One criterion. Its fields are its YAML keys; calling it judges a batch of samples.

    A check handed to `__call__` is bound: no field refers to `key.` any more. It sees samples only.
    """

    stochastic: ClassVar[bool] = False
    """True for checks answered by a model."""
    computable: ClassVar[bool] = True
    """False where the verdict cannot be computed from the sample alone (recorded or judged)."""
    revision: ClassVar[int] = 1
    """Raised whenever the code comes to give some answer another verdict: digests change, rescorings compute anew."""

    id: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    check: str
    description: str = ""
    weight: float = Field(default=1.0, ge=0)
    critical: bool = False
    when: When | None = None
    _decides: str = PrivateAttr(default="")

    def __call__(self, samples: Sequence[Sample]) -> list[Verdict]:
        """One verdict per sample, in the order given; a sample alone is a batch of one."""
        return [self.judge(sample) for sample in samples]

    def judge(self, sample: Sample) -> Verdict:
        """The verdict on one sample; checks that work on batches override `__call__` instead."""
        raise TypeError(f"check kind {self.check!r} cannot judge one sample")

    def sought(self) -> tuple[str, ...]:
        """Patterns it will search the answers of a batch for, under their flags."""
        return ()

    def bind(self, key: Mapping[str, Any]) -> Self:
        """This check with every `key.NAME` field replaced from a case's answer key.

        Raises KeyError with NAME when the key lacks it, ValidationError when its value has the wrong shape.
        """
        found = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, str) and value.startswith("key.") and name not in {"id", "description"}:
                found[name] = key[value.removeprefix("key.")]
        if not found:
            return self
        return type(self).model_validate_json(json.dumps({**self.model_dump(mode="json", exclude_unset=True), **found}))

    def in_domain(self, domain: Domain) -> Self:
        """This check knowing what the suite declares of tools and entities; most checks need none of it.

        Raises ValueError, which a suite's loading reports with the place, where the suite lacks what the check needs.
        """
        return self

    def within(self, check_s: float) -> Self:
        """This check granted `check_s` seconds for one sample; kinds that cannot run on need none."""
        return self

    def deciding(self, decides: str) -> Self:
        """This check, whose verdicts carry `decides`: the digest of all that can change them."""
        stamped = self.model_copy()
        stamped._decides = decides  # noqa: SLF001  # a copy of this very object
        return stamped

    def criteria(self, *, decisive: bool = True) -> dict[str, Any]:
        """All that can change a verdict, the kind's revision too; not weight and criticality when not `decisive`."""
        written = self.model_dump(mode="json", exclude=_NOT_DECISIVE if decisive else _NOT_MEASURING)
        return {**written, "revision": self.revision} if self.revision > 1 else written

    def measures(self) -> str:
        """Digest (16 hex) of what this check measures, apart from how much it counts."""
        return digest(self.criteria(decisive=False), 16)

    def scored(
        self,
        sample: Sample,
        value: float,
        reason: str,
        *,
        raw: float | None = None,
        passed: bool | None = None,
        spans: tuple[int, ...] = (),
        calls: tuple[int, ...] = (),
    ) -> Verdict:
        """A scored verdict; `passed` defaults to the top value, `raw` to the value."""
        value = float(value)
        return Verdict(
            sample.case_id, sample.sample, self.id, "scored", reason, value, value if raw is None else raw,
            value >= 1.0 if passed is None else passed, spans, calls,
            self.critical, self.weight, self.stochastic, "computed", self._decided(),
        )  # fmt: skip

    def unscored(self, sample: Sample, reason: str, *, applicable: bool = True) -> Verdict:
        """A verdict without a value: not_scored voids the fold, not_applicable leaves it."""
        return Verdict(
            sample.case_id, sample.sample, self.id, "not_scored" if applicable else "not_applicable", reason,
            critical=self.critical, weight=self.weight, stochastic=self.stochastic, decides=self._decided(),
        )  # fmt: skip

    def _decided(self) -> str:
        """`_decides`, read where pydantic keeps it: its own way there takes as long as all the rest of a verdict."""
        private = self.__pydantic_private__
        return str(private["_decides"]) if private else ""
