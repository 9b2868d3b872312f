"""Checks of other packages: known by their source, and asked so that no fault of theirs ends a run or spoils it.

A stored suite is read without importing them.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
import traceback
from collections.abc import Sequence
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ConfigDict

from evallib.checks.base import Check
from evallib.checks.batch import Batch
from evallib.checks.code_worker import raised
from evallib.errors import InputError
from evallib.records import Sample, Verdict, storable

__all__ = ["Foreign", "sources", "verdicts_by"]

_NOT_BROUGHT = {"evallib", "pydantic", *sys.stdlib_module_names}
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_MOST = 2**31
"""Places are stored in 32 bits."""


class Foreign(Check):
    """Keeps the keys of a kind `package.module:Class` as they were written; it can be shown, and judges nothing."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    def __call__(self, samples: Sequence[Sample]) -> NoReturn:
        """InputError: reading a stored run imports no code."""
        raise InputError(
            f"check {self.id!r} is of kind {self.check!r}, which a stored suite never imports; name a suite"
        )


@cache
def sources(kind: type[Check]) -> tuple[str, ...]:
    """SHA-256 of the files in which a kind of another package, and what it inherits, are written; else nothing.

    Taken once, when the kind is first met: a file that is edited afterwards is not the code that runs.
    """
    files = (getattr(sys.modules.get(name), "__file__", None) for name in _modules(kind))
    return tuple(hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files if file and Path(file).is_file())


def _modules(kind: type[Check]) -> list[str]:
    modules = dict.fromkeys(one.__module__ for one in kind.__mro__)
    return [name for name in modules if name.partition(".")[0] not in _NOT_BROUGHT]


def verdicts_by(check: Check, samples: Sequence[Sample]) -> list[Verdict]:
    """One verdict per sample in order. What a kind of another package gives wrong, or raises, voids that sample alone.

    Where it fails on a batch it is asked sample by sample. Kinds of evallib are taken at their word.
    """
    if type(check).__module__.startswith("evallib."):
        return check(samples)
    try:
        given = list(check(samples if isinstance(samples, Batch) else tuple(samples)))  # neither can be emptied
        if len(given) == len(samples):
            return [_sound(check, sample, one) for sample, one in zip(samples, given, strict=True)]
        failed = f"gave {len(given)} verdicts on one sample"
    except Exception as error:  # noqa: BLE001  # whatever a rule of someone else raises
        failed = raised(error) + _place(check, error)
    if len(samples) != 1:
        return [verdict for sample in samples for verdict in verdicts_by(check, [sample])]
    return [_void(check, samples[0], failed)]


def _void(check: Check, sample: Sample, why: str) -> Verdict:
    """Not what the kind makes of `unscored`; places in memory, which differ from run to run, are left out."""
    return Check.unscored(check, sample, storable(_ADDRESS.sub("", f"{check.check} {why}")))


def _place(check: Check, error: Exception) -> str:
    """The file and line of the check's own package that an exception went through last."""
    modules = _modules(type(check))
    frames = [
        f" ({Path(frame.f_code.co_filename).name}, line {line})"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__") in modules
    ]
    return frames[-1] if frames else ""


def _sound(check: Check, sample: Sample, given: Any) -> Verdict:
    """The verdict as evallib writes it, or why it is none."""
    problem = _problem(check, sample, given)
    if problem:
        return _void(check, sample, f"gave no verdict: {problem}")
    reason = storable(given.reason)
    if given.status != "scored":
        return Check.unscored(check, sample, reason, applicable=given.status == "not_scored")
    return Check.scored(  # not what a kind makes of it, which `given` went through
        check, sample, given.value, reason, raw=float(given.raw), passed=bool(given.passed),
        spans=tuple(map(int, given.spans)), calls=tuple(map(int, given.calls)),
    )  # fmt: skip


def _problem(check: Check, sample: Sample, given: Any) -> str:
    if not isinstance(given, Verdict):
        return f"{given!r:.100} is none; return `self.scored(...)` or `self.unscored(...)`"
    if (given.case_id, given.sample, given.check_id) != (*sample.key, check.id):
        has, asked = (
            f"check {name!r} on sample {n} of case {case!r}" for case, n, name in (given[:3], (*sample.key, check.id))
        )
        return f"{has} was not asked, but {asked}"
    return _wrong_part(given)


def _wrong_part(given: Any) -> str:
    """What in a verdict no table could hold."""
    if given.status not in {"scored", "not_scored", "not_applicable"}:
        return f"status {given.status!r} is none"
    if not isinstance(given.reason, str):
        return f"reason {given.reason!r:.100} is no text"
    if given.status != "scored":
        return ""
    if not isinstance(given.value, Real) or not 0 <= float(given.value) <= 1:
        return f"value {_shown(given.value)} lies outside 0 to 1"
    if not isinstance(given.raw, Real) or not math.isfinite(given.raw):
        return f"raw {_shown(given.raw)} is no finite number"
    if given.passed not in {True, False}:
        return f"passed {given.passed!r:.100} is neither True nor False"
    for name, places in (("spans", given.spans), ("calls", given.calls)):
        if len(places) % 2 or not all(isinstance(one, Integral) and 0 <= int(one) < _MOST for one in places):
            return f"{name} {places!r:.100} must be whole numbers, two for each place, as in (0, 4, 9, 12)"
    return ""


def _shown(number: object) -> str:
    return f"{number:g}" if isinstance(number, Real) else f"{number!r:.100}"
