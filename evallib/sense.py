"""What can be written in a suite or a gate and can mean nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from evallib.checks.base import Check
from evallib.checks.code import Code
from evallib.checks.judge import Judge
from evallib.strict_yaml import Location

__all__ = ["nonsense", "raw_range", "unreachable"]


def nonsense(
    asks: Sequence[Sequence[str]],
    checks: Sequence[Check],
    tags: Collection[str],
    bound: Sequence[Check],
    thresholds: Mapping[str, float],
) -> Iterator[tuple[Location, str]]:
    """Place and sentence for a blank request, tags that no case has, and a threshold that decides nothing.

    `asks` are the requests of each case, `bound` every check of every case.
    """
    for case, requests in enumerate(asks):
        if not all(request.strip() for request in requests):
            yield ("cases", case, "steps"), "a request is blank; write what is asked"
    for number, check in enumerate(checks):
        unknown = [] if check.when is None else [tag for tag in check.when.tags if tag not in tags]
        if unknown:
            known = ", ".join(sorted(tags)) or "none"
            said = f"check {check.id!r} is for cases tagged {unknown[0]!r}, and no case is; the tags are {known}"
            yield ("checks", number, "when", "tags"), said
    for name, said in unreachable(thresholds, bound):
        yield ("gate", "checks", name), said


def unreachable(thresholds: Mapping[str, float], bound: Iterable[Check]) -> Iterator[tuple[str, str]]:
    """Check and sentence for each threshold of no check, or outside the figures that its check can give."""
    ranges: dict[str, list[tuple[float, float] | None]] = {}
    for check in bound:
        ranges.setdefault(check.id, []).append(raw_range(check))
    for name, least in thresholds.items():
        if name not in ranges:
            said = f"the gate sets a threshold for check {name!r}, which does not exist; known: {', '.join(ranges)}"
            yield name, said
            continue
        known = [one for one in ranges[name] if one is not None]
        if len(known) == len(ranges[name]) and not any(low <= least <= high for low, high in known):
            low, high = known[0]
            yield name, f"check {name!r} gives {low:g} to {high:g}, so a threshold of {least:g} decides nothing"


def raw_range(check: Check) -> tuple[float, float] | None:
    """The range of a check's own figures; None where only another package or the source of an import knows."""
    if isinstance(check, Judge):
        return (0, 1) if check.mode == "pass_fail" else check.scale
    if isinstance(check, Code):
        return check.range
    return None if check.check == "recorded" or ":" in check.check else (0, 1)
