"""The two JSON files of a run, read with the keys that everyone who opens a run relies on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evallib.errors import InputError
from evallib.stdout import counted
from evallib.strict_yaml import problem_of

__all__ = ["MOST_PLANNED", "read_manifest", "read_plan", "refuse_absurd", "unproven_words"]

MOST_PLANNED = 2_000_000
"""Samples of one run: every planned one is held in memory, also those that are missing."""
_NAMED = 5
_PLACE = re.compile(r"[a-z ]+(?:'[^']*'(?:, (?=')| of case )?)+(?:, step \d+)?")
"""What a sentence of the self-check is about, as in `check 'x' of case 'c-1', step 2`."""


def _time(value: object) -> object:
    if isinstance(value, str) and datetime.fromisoformat(value).tzinfo is None:
        raise ValueError("a time needs its offset, as in 2026-11-30T10:00:00+00:00")
    return value


_Time = Annotated[str, BeforeValidator(_time)]
_Count = Annotated[int, Field(ge=0)]


class _Relied(BaseModel):
    """What is relied on; other keys may stand beside."""

    model_config = ConfigDict(strict=True, extra="allow")


class _Source(_Relied):
    set: str = ""


class _SelfCheck(_Relied):
    unproven: list[str] = []
    """A sentence for each check or case that `validate` refuses for want of a proof."""


class _Plan(_Relied):
    run_id: str
    created: _Time
    suite: str
    suite_digest: str
    suite_sha256: str
    gate_digest: str
    target: dict[str, Any]
    cases: dict[str, Annotated[int, Field(ge=1, lt=2**31)]]
    """Case id to planned samples."""
    source: _Source | None = None
    """Of an imported run."""
    self_check: _SelfCheck | None = None


class _Counts(_Relied):
    samples: _Count
    verdicts: _Count
    statuses: dict[str, _Count]


class _Usage(_Relied):
    input_tokens: _Count | None
    output_tokens: _Count | None
    calls: _Count


class _Hashes(_Relied):
    samples: Annotated[str, Field(alias="samples.parquet")]
    turns: Annotated[str, Field(alias="turns.parquet")]
    verdicts: Annotated[str, Field(alias="verdicts.parquet")]
    __pydantic_extra__: dict[str, str]


class _Manifest(_Relied):
    run_id: str
    finished: _Time
    counts: _Counts
    usage: _Usage
    cost_usd: float | None
    files: _Hashes
    """File name to SHA-256."""


def read_plan(path: Path) -> dict[str, Any]:
    """The plan in `path`; InputError names the key that is missing or of another kind, or a folder of another name."""
    plan = _checked(path, _Plan)
    refuse_absurd(plan["cases"], str(path))
    folder = path.parent.resolve().name
    if plan["run_id"] != folder:
        raise InputError(
            f"{path}: is the plan of run {plan['run_id']!r}, not of {folder!r}; give the folder its own name again"
        )
    return plan


def unproven_words(plan: Mapping[str, Any]) -> str:
    """Which checks the self-check before the run could not prove; empty for none, of a sealed suite how many."""
    said = (plan.get("self_check") or {}).get("unproven", ())
    places = [found.group() if (found := _PLACE.match(one)) else one for one in said]
    names = list(dict.fromkeys(re.sub("^checks? ", "", place) for place in places))
    if not names:
        return ""
    what = ("check",) if all(place.startswith("check") for place in places) else ("check or case", "checks or cases")
    counts = f"{counted(len(names), *what)} {'was' if len(names) == 1 else 'were'} not proven by the self-check"
    more = [f"and {len(names) - _NAMED} more"] * (len(names) > _NAMED)
    return counts if plan.get("seal") else f"{counts}: {', '.join([*names[:_NAMED], *more])}"


def refuse_absurd(cases: Mapping[str, int], where: str) -> None:
    """InputError when more samples are planned than memory can be trusted to hold; `where` begins the sentence."""
    planned = sum(cases.values())
    if planned > MOST_PLANNED:
        case = max(cases, key=lambda name: cases[name])
        raise InputError(
            f"{where}: plans {planned} samples, more than the {MOST_PLANNED} that a run can hold ({cases[case]} of "
            f"case {case!r}); number the samples of a case from 1 without gaps, or split the run"
        )


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest in `path`; InputError as for a plan."""
    return _checked(path, _Manifest)


def _checked(path: Path, model: type[_Relied]) -> dict[str, Any]:
    value = _read_json(path)
    try:
        model.model_validate(value)
    except ValidationError as error:
        problem = problem_of(error)
        key = ".".join(map(str, problem.at))
        said = "is missing" if "is missing" in problem.said else f"is wrong ({problem.said})"
        raise InputError(f"{path}: key {key!r} {said}; restore the file") from error
    return value


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; is {path.parent} a run folder?") from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: is damaged ({error}); restore it") from error
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected a JSON object")
    return value
