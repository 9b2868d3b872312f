"""A check whose criteria were never published: its verdict can only be carried over from the source."""

from __future__ import annotations

from typing import ClassVar, Literal

from evallib.checks.base import Check

__all__ = ["Recorded"]


class Recorded(Check):
    """Named by its source, but computable by nobody; rescoring carries its recorded verdict."""

    computable: ClassVar[bool] = False
    check: Literal["recorded"]
