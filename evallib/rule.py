"""The written rule: who may change criteria, and which fix a reading's cause licenses; `RULE.yaml` of the log."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import field_validator, model_validator

from evallib._assets import rule_file
from evallib.entries import CAUSES, FIXES, Cause, Fix, Text
from evallib.errors import InputError
from evallib.records import digest
from evallib.reviewer import reviewer_name
from evallib.strict_yaml import Written, load_yaml, read_as

__all__ = ["FILE", "Rule", "RuleInForce", "load_rule", "same_person"]

FILE = "RULE.yaml"


class Rule(Written):
    """What counts as a criterion fix, who may make one, and what must be there first."""

    rule: Literal["adjudication"]
    since: str
    """The day from which it holds."""
    criterion_fix: Text
    """What counts as one, in words."""
    fixes: tuple[Fix, ...] = FIXES
    """The kinds that may be made at all."""
    authors: Literal["anyone"] | tuple[Text, ...] = "anyone"
    """Who may change criteria, accept unread flips, and close a lock."""
    licensed_by: Literal["anyone", "another"] = "anyone"
    """`another`: each change needs a reading by somebody else than the author of its entry."""
    licences: Mapping[Cause, tuple[Fix, ...]]
    """Cause of a reading to the kinds of fix that it licenses."""
    who: str = ""
    reason_holds: str = ""
    never: tuple[str, ...] = ()
    before_rescoring: str = ""

    @field_validator("authors")
    @classmethod
    def _spelled(cls, authors: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if isinstance(authors, str):
            return authors
        if not authors:
            raise ValueError("names nobody; write `anyone`, or the names of those who may change criteria")
        try:
            return tuple(reviewer_name(name) for name in authors)
        except InputError as error:
            raise ValueError(str(error).removesuffix("; give --by")) from error

    @model_validator(mode="after")
    def _licenses_every_cause(self) -> Rule:
        missing = [cause for cause in CAUSES if cause not in self.licences]
        if missing:
            raise ValueError(f"`licences` lacks the cause {missing[0]}; add it, with [] where it licenses nothing")
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of the rule; layout and comments of its file do not count."""
        return digest(self.model_dump(mode="json"))

    def allows(self, author: str) -> bool:
        """Whether somebody of that name, in that very spelling, may change criteria."""
        return self.authors == "anyone" or author in self.authors

    def closes(self, author: str, locked_by: str) -> bool:
        """Whether that author may close a lock of `locked_by`: who locked, and those whom the rule names."""
        return author == locked_by or (self.authors != "anyone" and self.allows(author))

    def licensing(self, fix: Fix) -> list[str]:
        """The causes that license `fix`."""
        return [cause for cause, fixes in self.licences.items() if fix in fixes]


class RuleInForce(NamedTuple):
    """The rule that holds for a log, and where it is written."""

    rule: Rule
    path: Path
    packaged: bool
    """Whether the log has none of its own, so that the one that comes with evallib holds."""

    def said(self) -> str:
        """Which rule holds, in one sentence."""
        if self.packaged:
            return "the rule that comes with evallib holds, because the log has no RULE.yaml of its own"
        return f"the rule in {self.path} holds"


def load_rule(adjudications: Path) -> RuleInForce:
    """The rule of a log, or the one that comes with evallib; InputError names file, line and key."""
    own = adjudications / FILE
    packaged = not own.exists() and not own.is_symlink()
    path = rule_file() if packaged else own
    document = load_yaml(path)
    if not isinstance(document.value, dict):
        raise InputError(f"{path}: a rule is a mapping that begins with `rule: adjudication`")
    return RuleInForce(read_as(Rule, document), path, packaged)


def same_person(one: str, other: str) -> bool:
    """Whether two names have the same letters and digits, in whatever case, form or punctuation."""
    return _bare(one) == _bare(other)


def _bare(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(c for c in folded if c.isalnum()) or folded
