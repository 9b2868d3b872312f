"""What stands in the log: one immutable entry per file, one model per kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from evallib.errors import InputError
from evallib.strict_yaml import Document, Written, first_problem

__all__ = ["CAUSES", "READINGS", "Change", "Entry", "Expectation", "Reading", "Rescoring", "Withdrawal", "read_entry"]

READINGS = ("pass", "fail", "infra", "unsure")
CAUSES = {
    "true-failure": "the strict verdict is right",
    "too-narrow": "right answer, the pattern misses a spelling",
    "paraphrase": "right answer, no literal could catch it",
    "negation-or-quoted": "the word is there, the claim is not",
    "placeholder-or-redacted": "nothing real leaked",
    "wrong-scope": "the user never asked for it, or it should not be critical",
    "description-mismatch": "text and pattern disagree; either may be wrong",
    "too-broad": "a false pass",
    "other": "something else; the reason says what",
    "unknown": "the source of an imported reading does not say",
}
"""Cause of a difference between strict verdict and reading, with its meaning; the first nine take digits 1-9."""

Cause = Literal[
    "true-failure",
    "too-narrow",
    "paraphrase",
    "negation-or-quoted",
    "placeholder-or-redacted",
    "wrong-scope",
    "description-mismatch",
    "too-broad",
    "other",
    "unknown",
]
Text = Annotated[str, Field(min_length=1)]


class _Entry(Written):
    author: Text
    """The person, as typed."""
    time: str = ""
    """UTC, stamped by the tool."""


class Reading(_Entry):
    """A person's reading of one verdict, or of one answer as a whole when `check` is empty."""

    kind: Literal["reading"] = "reading"
    run: Text
    case: Text
    sample: int = Field(ge=1)
    check: str = ""
    reading: Literal["pass", "fail", "infra", "unsure"]
    cause: Cause = "unknown"
    reason: Text
    blind: bool = False
    """Whether the strict verdict was hidden while reading."""
    strict: str = ""
    """What the strict view said, in words, when it was read."""
    answer_digest: str = ""
    """Digest (16 hex) of the answer that was read; another answer makes the reading stale."""
    criteria_digest: str = ""
    """Digest (16 hex) of the criteria in force, empty when unpublished."""
    chosen: str = "by hand"
    """How the item came to be read; decides what may be estimated from it."""
    source: str = ""
    """Where an imported reading was published."""
    supersedes: str = ""
    """Id of the entry this one amends."""


class Withdrawal(_Entry):
    """Takes an earlier entry back; the entry stays in the log."""

    kind: Literal["withdrawal"] = "withdrawal"
    withdraws: Text
    reason: Text


class Change(Written):
    """One changed criterion and what kind of fix it is."""

    check: Text
    cases: tuple[str, ...] = ()
    fix: Literal[
        "widen", "narrow", "scope", "criticality", "key", "weight", "pass-rule", "description", "replace", "drop"
    ]
    reason: Text
    judgement: bool = False
    """A judgement call that a colleague might decide otherwise."""


class Expectation(Written):
    """A flip predicted before the rescoring is run."""

    run: Text
    case: Text
    sample: int = Field(ge=1)
    to: Literal["pass", "fail"]


class Rescoring(_Entry):
    """Changed criteria applied to stored runs. The author writes the first block, the tool stamps the second."""

    kind: Literal["rescoring"] = "rescoring"
    slug: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")
    reason: Text
    changes: tuple[Change, ...] = Field(min_length=1)
    expects: tuple[Expectation, ...] = ()
    readings: tuple[str, ...] = ()
    """Ids of the readings that license the change."""

    post_hoc: Literal[True] = True
    predicted_after_preview: bool = False
    written_digest: str = ""
    """Digest of the entry as its author wrote it."""
    suite_digest: str = ""
    runs: tuple[Mapping[str, Any], ...] = ()
    """Per run: id, sha256 of the strict verdicts and of the rescored ones, counts, flips, unexpected, missed."""


Entry = Reading | Withdrawal | Rescoring
_KINDS: dict[str, type[Reading | Withdrawal | Rescoring]] = {
    "reading": Reading,
    "withdrawal": Withdrawal,
    "rescoring": Rescoring,
}


def read_entry(document: Document) -> Entry:
    """The entry a YAML document holds; InputError names file, line and key."""
    value = document.value
    if not isinstance(value, dict) or value.get("kind") not in _KINDS:
        kinds = ", ".join(_KINDS)
        raise InputError(f"{document.name}: an entry is a mapping with `kind:` one of {kinds}")
    try:
        return _KINDS[value["kind"]].model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise InputError(first_problem(error, document)) from error
