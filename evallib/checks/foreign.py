"""A check of another package in a stored suite, which is read without importing that package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from pydantic import ConfigDict

from evallib.checks.base import Check
from evallib.errors import InputError
from evallib.records import Sample

__all__ = ["Foreign"]


class Foreign(Check):
    """Keeps the keys of a kind `package.module:Class` as they were written; it can be shown, and judges nothing."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    def __call__(self, samples: Sequence[Sample]) -> NoReturn:
        """InputError: reading a stored run imports no code."""
        raise InputError(
            f"check {self.id!r} is of kind {self.check!r}, which a stored suite never imports; name a suite"
        )
