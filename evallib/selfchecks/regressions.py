"""Answers that people read, kept beside a suite: what was read as bad stays bad, whatever the criteria become."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from evallib.errors import InputError
from evallib.records import Sample, Verdict, digest
from evallib.scoring import fold, score_samples
from evallib.strict_yaml import Written, dump_yaml, load_yaml, parse_yaml, read_as
from evallib.suite import Suite

__all__ = [
    "FILE",
    "Regression",
    "Regressions",
    "Trial",
    "load_regressions",
    "plain",
    "regression_text",
    "try_regressions",
]

FILE = "regressions.yaml"
"""The name of the file beside `suite.yaml`."""
_HEADER = """\
# Written by `evallib regressions` from what people read, and reviewed like code. Entries are added, never edited: take
# one out by hand, with its reason in the commit, where its readings no longer stand.
"""


class Regression(Written):
    """One recorded answer, what strict said of it, and what every later criterion has to say."""

    must: Literal["pass", "fail"]
    """What was read."""
    strict: Literal["pass", "fail"]
    """What the criteria of the run said."""
    check: str = ""
    """The check whose verdict was read; empty where the answer was read as a whole."""
    checks: tuple[str, ...] = ()
    """The checks that stood against the answer; empty where none did."""
    readings: tuple[str, ...] = Field(min_length=1)
    """Ids of the readings, or of the resolution, that say so."""
    question: str = ""
    """Digest (16 hex) of what the case asked; empty when the source did not record it."""
    answer_digest: str
    """Digest (16 hex) of the answer as it was read."""
    credentials: Literal["", "masked", "in clear"] = ""
    """`in clear` where a verdict would be another without them."""
    digest: str
    """Digest (16 hex) of all the rest, so that an edit is seen."""
    sample: Sample
    """The sample as it was recorded."""

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What was read: run, case, sample and check."""
        return (self.sample.run_id, *self.sample.key, self.check)

    @property
    def worse(self) -> bool:
        """Whether a criterion that says otherwise is worse than strict was, which had it right."""
        return self.must == self.strict

    @property
    def where(self) -> str:
        """The answer in words, with who read it."""
        run, case, sample, _ = self.key
        return f"sample {sample} of case {case!r} in run {run!r}, read as {self.must} ({self.readings[0]})"


class _Written(Written):
    regressions: tuple[Regression, ...] = Field(min_length=1)


class Regressions(NamedTuple):
    """What stands in the file beside a suite, in its order."""

    path: Path
    kept: tuple[Regression, ...]
    places: tuple[str, ...]
    """`file, line N (...)` of each."""

    @property
    def digest(self) -> str:
        """Digest (16 hex) of all of them; the order counts."""
        return digest([one.digest for one in self.kept], 16)


class Trial(NamedTuple):
    """What a suite says of the answers that people read."""

    tried: int
    bad: tuple[str, ...]
    """A sentence for each answer that strict judged as people do and this suite does not: known bad ones, above all."""
    residue: tuple[str, ...]
    """A sentence for each answer of which strict was wrong, and this suite still is."""
    untried: tuple[str, ...]
    """A sentence for each that only a judge or the source could tell."""


def plain(value: Any) -> Any:
    """A sample, or a part of one, as plain values; fields at their default are left out."""
    if is_dataclass(value):
        told = {one.name: (getattr(value, one.name), _default(one)) for one in fields(value)}
        return {name: plain(said) for name, (said, usual) in told.items() if said != usual}
    if isinstance(value, Mapping):
        return {name: plain(said) for name, said in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def _default(one: Any) -> Any:
    return one.default if one.default_factory is MISSING else one.default_factory()


def regression_text(said: Sequence[Mapping[str, Any]], before: str = "") -> str:
    """The file's text with the regressions `said` (all keys but `digest`) behind what stands in `before`."""
    started = before or f"{_HEADER}regressions:\n"
    return "".join([started if started.endswith("\n") else f"{started}\n", *map(_row_text, said)])


def _row_text(said: Mapping[str, Any]) -> str:
    """One regression as YAML; its sample as JSON in ASCII where it holds characters that YAML would not give back."""
    sample = said["sample"]
    head = {**{name: one for name, one in said.items() if name != "sample"}, "digest": digest(said, 16)}
    text = dump_yaml([{**head, "sample": sample}])
    try:
        if parse_yaml(text, FILE).value[0]["sample"] == sample:
            return text
    except InputError:
        pass
    return dump_yaml([{**head, "sample": json.dumps(sample)}])


def load_regressions(suite_path: Path, suite: Suite) -> Regressions:
    """What stands beside the suite file, none where there is no file; InputError names file, line and what is wrong.

    Wrong is what was edited, stands twice, or is of a case that the suite lacks or that asks something else now.
    """
    folder = suite_path if suite_path.is_dir() else suite_path.parent
    path = folder / FILE
    if not path.exists():
        return Regressions(path, (), ())
    document = load_yaml(path)
    for row in _rows(document.value):
        if isinstance(row.get("sample"), str):
            row["sample"] = _from_json(row["sample"], path)
    kept = read_as(_Written, document).regressions
    places = tuple(document.where(("regressions", number)) for number in range(len(kept)))
    seen: set[tuple[str, str, int, str]] = set()
    for number, one in enumerate(kept):
        if problem := _wrong(one, document.value["regressions"][number], suite, seen):
            raise InputError(f"{places[number]}: {problem}")
        seen.add(one.key)
    return Regressions(path, kept, places)


def _rows(value: Any) -> list[dict[str, Any]]:
    found = value.get("regressions") if isinstance(value, dict) else None
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _from_json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{path}: a sample is no JSON ({error}); restore the file") from error


def _wrong(one: Regression, written: Mapping[str, Any], suite: Suite, seen: set[tuple[str, str, int, str]]) -> str:
    if digest({name: said for name, said in written.items() if name != "digest"}, 16) != one.digest:
        return "was edited: its digest does not fit; restore it, or take it out and write it anew from the readings"
    if one.key in seen:
        return f"{one.where} stands twice; take one of them out"
    case = suite.by_id.get(one.sample.case_id)
    if case is None:
        return f"suite {suite.suite!r} has no case {one.sample.case_id!r}; put it back, or take the regression out"
    if one.question and case.question and one.question != case.question:
        return f"case {case.id!r} asks something else than what was answered and read; take the regression out"
    return ""


def try_regressions(suite: Suite, kept: Sequence[Regression]) -> Trial:
    """Every regression under the criteria of `suite`; only what can be computed is, and nothing is asked of a model."""
    bad: list[str] = []
    residue: list[str] = []
    untried: list[str] = []
    for one in kept:
        verdicts = {v.check_id: v for v in score_samples(suite, [one.sample])}
        against = _against(one, verdicts, suite)
        if against is None:
            untried.append(f"{one.where}: no verdict of {_named(one)} can be computed; it was not tried")
        elif against != (one.must == "fail"):
            (bad if one.worse else residue).append(_sentence(one, verdicts))
    return Trial(len(kept) - len(untried), tuple(bad), tuple(residue), tuple(untried))


def _against(one: Regression, verdicts: Mapping[str, Verdict], suite: Suite) -> bool | None:
    """Whether the criteria stand against the answer, of what was read; None where it cannot be told.

    A check that was read is asked for its verdict. Of a whole answer only checks that decide stand against it: made
    uncritical, a check stops nobody. Where none of the checks is left, or none stood against it, the outcome tells.
    """
    named = [verdicts[name] for name in _asked(one) if name in verdicts]
    if not named and (one.must == "fail" or not _asked(one)):
        return fold(one.sample, _computed(verdicts.values()), suite.pass_rule).passed is not True
    deciding = [v for v in named if one.check or suite.pass_rule == "top" or v.critical]
    if any(v.status == "scored" and not v.passed for v in deciding):
        return True
    return None if any(v.status == "not_scored" for v in deciding) else False


def _computed(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [v for v in verdicts if v.status != "not_scored"]


def _asked(one: Regression) -> tuple[str, ...]:
    return (one.check,) if one.check else one.checks


def _named(one: Regression) -> str:
    names = ", ".join(map(repr, _asked(one)))
    return f"check{'s' * (len(_asked(one)) > 1)} {names}" if names else "the deciding checks"


def _sentence(one: Regression, verdicts: Mapping[str, Verdict]) -> str:
    case = one.sample.case_id
    asked = _asked(one) or [name for name, v in verdicts.items() if v.critical and v.passed is False]
    said = "; ".join(v.reason for name in asked if (v := verdicts.get(name))) or "no check stops it"
    alone = "s" * (len(_asked(one)) == 1)
    if one.must == "fail":
        how = f"{'' if one.worse else 'still '}let{alone} a known bad answer pass"
    else:
        how = f"{'' if one.worse else 'still '}fail{alone} an answer that is right"
    return f"{_named(one)} of case {case!r} {how}: {one.where}: {said}"
