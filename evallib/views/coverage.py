"""How much of a run was read: by check and strict verdict, by how many people, blind or not, and how it was chosen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from evallib.records import Outcome, SampleKey
from evallib.scoring import outcome_word
from evallib.standing import Readings, Stand
from evallib.stdout import counted
from evallib.store import Run

__all__ = ["Part", "coverage", "read_shares", "read_words", "unequal_words"]

_WORDS = {"fail": ("failure", "failures"), "pass": ("pass", "passes"), "error": ("error", "errors")}


@dataclass(frozen=True, slots=True)
class Part:
    """The answers of a run, or its verdicts of one check, of which strict says the same, and how many were read."""

    run: str
    check: str
    """Empty for whole answers; a reading of one check is none of its answer."""
    strict: str
    """pass, fail or error."""
    of: int
    read: int
    by_two: int
    """Read by two people or more."""
    readers: int
    """People who read any of them."""
    blind: int
    """Read by nobody who had the strict verdict in sight."""
    chosen: tuple[str, ...]
    """How those that were read came to be, as their entries say."""

    def as_dict(self) -> dict[str, Any]:
        """As JSON prints it."""
        return {**asdict(self), "chosen": list(self.chosen)}


def coverage(run: Run, strict: Mapping[SampleKey, Outcome], readings: Readings) -> tuple[Part, ...]:
    """Whole answers, then each check that anybody read in the suite's order; failures, passes and errors of each.

    Failures and passes of whole answers are there also where the run has none, so that two runs have the same parts.
    """
    read = {check for _, _, check in readings.by_item if check}
    words: dict[str, dict[SampleKey, str]] = {"": {key: outcome_word(one.passed) for key, one in strict.items()}}
    words |= {check: {} for check in run.suite.check_ids() if check in read}
    for verdict in run.verdicts:
        if verdict.check_id in words and verdict.status != "not_applicable":
            words[verdict.check_id][verdict.case_id, verdict.sample] = outcome_word(verdict.passed)
    parts = []
    for check, said in words.items():
        keys: dict[str, list[SampleKey]] = defaultdict(list)
        for key, word in said.items():
            keys[word].append(key)
        always = ("fail", "pass") if not check else ()
        for word in _WORDS:
            if keys[word] or word in always:
                stands = [stand for key in keys[word] if (stand := readings.by_item.get((*key, check)))]
                parts.append(_part(run.id, check, word, len(keys[word]), stands))
    return tuple(parts)


def _part(run: str, check: str, strict: str, of: int, stands: Sequence[Stand]) -> Part:
    people = [{entry.author for entry in stand.readings} for stand in stands]
    return Part(
        run,
        check,
        strict,
        of,
        read=len(stands),
        by_two=sum(len(one) > 1 for one in people),
        readers=len(set().union(*people)),
        blind=sum(stand.blind for stand in stands),
        chosen=tuple(sorted({entry.chosen for stand in stands for entry in stand.readings})),
    )


def read_words(parts: Sequence[Part]) -> str:
    """The parts of one run in words: read of how many, by how many people, blind or not, how they were chosen."""
    said = []
    for check in dict.fromkeys(part.check for part in parts):
        inside = [_part_words(part) for part in parts if part.check == check]
        said.append((f"of check {check} " if check else "") + ", ".join(inside))
    return "; ".join(said)


def _part_words(part: Part) -> str:
    share = f"{part.read} of {part.of} strict {_WORDS[part.strict][part.of != 1]}"
    if not part.read:
        return share
    two = f", {part.by_two} of them by two or more" if part.by_two else ""
    blind = "blind" if part.blind == part.read else f"{part.blind} of {part.read} blind"
    return f"{share} (by {part.readers}{two}; {blind}; chosen {', '.join(part.chosen)})"


def read_shares(parts: Sequence[Part]) -> str:
    """In a few words for a label, of one or several runs: how many whole answers were read, and readings of checks."""
    shares = []
    for word in ("fail", "pass"):
        mine = [part for part in parts if part.strict == word and not part.check]
        of = sum(p.of for p in mine)
        shares.append(f"{sum(p.read for p in mine)} of {of} strict {_WORDS[word][of != 1]}")
    checks = sum(part.read for part in parts if part.check)
    also = f" and {counted(checks, 'verdict')} of checks" if checks else ""
    alike = "; arms not read alike" if unequal_words(parts) else ""
    return f"read: {shares[0]}, {shares[1]}{also}{alike}"


def unequal_words(parts: Sequence[Part]) -> str:
    """One sentence where different shares of two runs were read, naming the least and the most read; else empty.

    What is read in one arm only moves that arm's figure alone, so their difference is not one of the answers.
    """
    runs = dict.fromkeys(part.run for part in parts)
    said = []
    for check, strict in dict.fromkeys((part.check, part.strict) for part in parts):
        arms = [part for part in parts if (part.check, part.strict) == (check, strict) and part.of]
        shares = {part.run: Fraction(part.read, part.of) for part in arms}
        told = {part.run: f"{part.read} of {part.of} in {part.run}" for part in arms}
        if check and len(shares) < len(runs):  # no reading of that check at all: the run has no part of it
            shares |= {run: Fraction(0) for run in runs if run not in shares}
            told |= {run: f"none in {run}" for run in runs if run not in told}
        least, most = (min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)) if shares else ("", "")
        if shares and shares[least] != shares[most]:
            of = f" of check {check}" if check else ""
            said.append(f"of strict {_WORDS[strict][1]}{of} {told[least]} and {told[most]}")
    if not said:
        return ""
    return f"The arms are not read alike ({'; '.join(said)}), so their read figures do not compare like with like."
