"""What stands in the log: one immutable entry per file, one model per kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, ValidationError, model_validator

from evallib.errors import InputError
from evallib.strict_yaml import Document, Written, first_problem, parse_flat

__all__ = [
    "CAUSES", "FIXES", "READINGS", "Accepted", "Cause", "Change", "Close", "Difference", "Entry", "Expectation", "Fix",
    "Lock", "Override", "Plan", "Reading", "Rescoring", "Resolution", "Rubric", "Seal", "Stratum", "Text", "Use",
    "Withdrawal", "entry_text", "moment", "read_entry", "read_flat", "says_nothing",
]  # fmt: skip

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
    "cannot-judge": "what is shown does not settle it",
    "missing-criterion": "no check looks at what is wrong",
    "unknown": "the source of an imported reading does not say",
}
"""Cause of a difference between strict verdict and reading, with its meaning.

The first nine take the keys 1-9, the next two 0 and x; `unknown` is for imports and takes none.
"""

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
    "cannot-judge",
    "missing-criterion",
    "unknown",
]
Fix = Literal["widen", "narrow", "scope", "criticality", "key", "weight", "pass-rule", "description", "replace", "drop"]
FIXES: tuple[Fix, ...] = get_args(Fix)
"""How a criterion may change. `widen` lets more answers pass, `narrow` fewer."""
Text = Annotated[str, Field(min_length=1)]


class _Entry(Written):
    author: Text
    """The person, as typed."""
    time: str = ""
    """UTC, stamped by the tool."""


class _AboutItem(_Entry):
    """An entry about one verdict of a stored run, or about one answer as a whole when `check` is empty."""

    run: Text
    case: Text
    sample: int = Field(ge=1, lt=2**31)
    check: str = ""


class Reading(_AboutItem):
    """A person's reading of one verdict or one answer. A blind one needs no reason: the difference holds it."""

    kind: Literal["reading"] = "reading"
    reading: Literal["pass", "fail", "infra", "unsure"]
    cause: Cause = "unknown"
    """Of a sighted or an unsure reading; a blind one has its cause in the difference that follows the reveal."""
    reason: str = ""
    canned: bool = False
    """Whether the reason is a canned one, taken by a key."""
    span: tuple[int, int] | None = None
    """The piece of the answer that is cited, in code points from its start."""
    blind: bool = False
    """Whether strict verdict, patterns, spans, model and other readings were hidden while reading."""
    strict: str = ""
    """What the strict view said, in words, when it was read."""
    answer_digest: str = ""
    """Digest (16 hex) of the answer that was read; another answer makes the reading stale."""
    criteria_digest: str = ""
    """Digest (16 hex) of the criteria in force, empty when unpublished."""
    rubric_digest: str = ""
    """Digest (16 hex) of the rubric that was shown; another rubric makes the reading stale."""
    chosen: str = "by hand"
    """How the item came to be read; decides what may be estimated from it."""
    plan: str = ""
    """Id of the plan that drew the item."""
    again: bool = False
    """A second blind reading of one's own, to see whether one agrees with oneself; it does not enter the read view."""
    seconds: float | None = Field(default=None, ge=0)
    """How long the answer was looked at."""
    source: str = ""
    """Where an imported reading was published."""
    supersedes: str = ""
    """Id of the entry this one amends."""
    also_supersedes: tuple[Text, ...] = ()
    """Ids of the reader's other standing readings of the item, as after merging two branches: it amends them too."""


class Difference(_AboutItem):
    """Why strict and a reading differ, said after the reveal; or that they agree."""

    kind: Literal["difference"] = "difference"
    about: Text
    """Id of the reading."""
    agrees: bool = False
    cause: Cause = "unknown"
    """`true-failure` where both fail; `unknown` where both pass."""
    reason: Text
    canned: bool = False
    supersedes: str = ""


class Withdrawal(_Entry):
    """Takes an earlier entry of the same person back; the entry stays in the log. It can be withdrawn itself."""

    kind: Literal["withdrawal"] = "withdrawal"
    withdraws: Text
    reason: Text


class Resolution(_AboutItem):
    """What holds where readers differ. It stands while it cites every standing reading of the item.

    One of a whole answer may cite the readings of its checks, and then settles where the two differ. It stands over
    the resolutions that it cites.
    """

    kind: Literal["resolution"] = "resolution"
    cites: tuple[Text, ...] = Field(min_length=2)
    """Ids of the readings that differ, and of the resolutions that it stands over."""
    reading: Literal["pass", "fail", "infra", "unsure"]
    cause: Cause = "unknown"
    reason: Text
    self_resolved: bool = False
    """Whether the author is one of the readers."""
    supersedes: str = ""


class Rubric(_Entry):
    """What a reader is told to judge a check by (the whole answer when `check` is empty), in place of its description.

    A later one replaces it and makes the readings under the earlier one stale.
    """

    kind: Literal["rubric"] = "rubric"
    suite: Text
    check: str = ""
    text: Text
    reason: Text


class Stratum(Written):
    """One part of what could be read, and what was drawn of it."""

    run: Text
    check: str = ""
    strict: Literal["pass", "fail", "error"]
    of: int = Field(ge=0)
    """Items of this kind in the run."""
    items: tuple[str, ...] = ()
    """What was drawn, as `case/sample`; all of them is a census, else a seeded random draw."""
    twice: tuple[str, ...] = ()
    """Those of the drawn items that two people are to read."""
    again: tuple[str, ...] = ()
    """Those of the drawn items that their reader is shown again, blind, after the plan's `again_days`."""


class Plan(_Entry):
    """What is to be read, drawn before reading: a function of the runs and of what stands here above the strata."""

    kind: Literal["plan"] = "plan"
    runs: tuple[Text, ...] = Field(min_length=1)
    seed: int
    passes: int = Field(default=60, ge=1)
    """Strict passes drawn of each run and check, and up to a quarter more; all where there are no more."""
    twice_share: float = Field(default=0, ge=0, le=1)
    again_share: float = Field(default=0, ge=0, le=1)
    again_days: int = Field(default=7, ge=0)
    strata: tuple[Stratum, ...] = Field(min_length=1)
    after: int = Field(default=0, ge=0)
    """Readings of these runs that stood when it was drawn: their readers could have known what a draw would hold."""
    replaces: tuple[Text, ...] = ()
    """Ids of the plans of the same items that it stands in for."""
    reason: str = ""
    """Why it replaces them."""
    flips_of: str = ""
    """Digest of the changed suite whose unread flips it holds, among as many answers that do not flip; no share is
    estimated from it. Empty where a plan is a draw."""

    @model_validator(mode="after")
    def _replaces_with_a_reason(self) -> Self:
        if self.replaces and not self.reason.strip():
            raise ValueError("a plan that replaces others needs a reason")
        return self


class Change(Written):
    """One changed criterion and what kind of fix it is."""

    check: Text
    cases: tuple[str, ...] = ()
    fix: Fix
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
    rule_digest: str = ""
    """Digest of the written rule that allowed it."""
    own_readings_only: bool = False
    """Whether nobody but its author wrote a reading that licenses a change."""
    override: str = ""
    """Id of the override that accepts its unread flips."""
    unread: int = Field(default=0, ge=0)
    """Flips that nobody had read."""
    unread_accepted_by: str = ""
    became: Mapping[str, str] = Field(default_factory=dict)
    """Check it changes to digest (16 hex) of what that became: a change is one, whatever else its suite says."""
    untested: tuple[str, ...] = ()
    """Its changes that neither a stored answer nor a probe exercises, in words: nobody saw what they do."""
    runs: tuple[Mapping[str, Any], ...] = ()
    """Per run: id, sha256 of the strict verdicts and of the rescored ones, counts, flips, unexpected, missed."""

    @property
    def judgement_calls(self) -> int:
        """How many of its changes a colleague might decide otherwise."""
        return sum(change.judgement for change in self.changes)


class Accepted(Written):
    """A flip that somebody accepts unread."""

    run: Text
    case: Text
    sample: int = Field(ge=1)
    to: Text
    """`pass`, `fail`, or `error` where it has no outcome any more."""


class Lock(_Entry):
    """Holds the criteria of a comparison as they are: these runs, and runs that share the criteria of a case of theirs.

    It stands until a `close` names it.
    """

    kind: Literal["lock"] = "lock"
    runs: tuple[Text, ...] = Field(min_length=1)
    criteria: Mapping[str, tuple[Text, ...]]
    """Case id to digests (16 hex) of what decides it, one for each way its runs have it."""
    reason: Text


class Close(_Entry):
    """Ends a lock: the comparison is over."""

    kind: Literal["close"] = "close"
    closes: Text
    """Id of the lock."""
    reason: Text


class Override(_Entry):
    """Somebody takes it upon themselves that flips of one rescoring go unread."""

    kind: Literal["override"] = "override"
    runs: tuple[Text, ...] = Field(min_length=1)
    suite_digest: Text
    """Of the suite with the changed criteria."""
    flips: tuple[Accepted, ...] = Field(min_length=1)
    """The unread flips it accepts, and no other."""
    reason: Text


class Seal(_Entry):
    """A holdout suite outside the repository: known by its digest, run a few times, its answers never shown."""

    kind: Literal["seal"] = "seal"
    suite: Text
    suite_digest: Text
    questions: tuple[Text, ...] = Field(min_length=1)
    """Digests (16 hex) of what its cases ask, blanks, case and punctuation aside: a copy is known by them."""
    budget: int = Field(ge=1)
    """How many runs of it there may ever be."""
    reason: Text


class Use(_Entry):
    """One run of a sealed suite, written before its first sample: a run that was killed counts."""

    kind: Literal["use"] = "use"
    seal: Text
    """Id of the seal."""
    run: Text
    suite_digest: Text


Entry = (
    Reading | Difference | Withdrawal | Resolution | Rubric | Plan | Rescoring | Lock | Close | Override | Seal | Use
)
_KINDS: dict[str, type[Entry]] = {model.model_fields["kind"].default: model for model in get_args(Entry)}


def entry_text(text: str) -> str:
    """Text as it may stand in YAML: control characters but for the line break become visible."""
    return "".join(
        c if c == "\n" or (c.isprintable() and not 0xD800 <= ord(c) <= 0xDFFF) else repr(c)[1:-1] for c in text
    )


def says_nothing(text: str) -> bool:
    """Whether no letter and no digit stands in a reason: blanks, signs and what shows nothing are none."""
    return not any(c.isalnum() for c in text)


_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)


@lru_cache(2**15)
def moment(time: str) -> datetime:
    """When an entry was made, however its time is written; one without a time that says so comes before all."""
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return _BEFORE_ALL
    return found if found.tzinfo else found.replace(tzinfo=UTC)


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


def read_flat(text: str) -> Entry | None:
    """The entry in `text` where it is written as the tool writes most of them, and right; else None (`read_entry`)."""
    value = parse_flat(text)
    if value is None or (kind := value.get("kind")) not in _KINDS:
        return None
    try:
        return _KINDS[kind].model_validate_json(json.dumps(value))
    except ValidationError:
        return None
