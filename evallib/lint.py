"""What reads wrong in a suite, without showing its checks anything: thresholds, numbers, tools, memorised answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evallib.checks.base import Check
from evallib.checks.folding import fold
from evallib.checks.judge import Judge
from evallib.checks.turns import OverSteps
from evallib.records import Sample
from evallib.suite import Case, Suite

__all__ = ["Findings", "lint"]

_WORDING = {"matches", "mentions", "refusal", "exact", "number", "choice"}
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?([A-Za-z%]{1,3}\b|%)?")
_WORDS_IN_A_ROW = 6
"""So many words of a reference in a row are no coincidence."""


class Findings(NamedTuple):
    """`problems` cannot be meant; `warnings` are for a person to judge."""

    problems: tuple[str, ...]
    warnings: tuple[str, ...]


def lint(suite: Suite, prompts: Sequence[str] = ()) -> Findings:
    """Everything that reads wrong; `prompts` are the agent's own, beside the suite's system prompt."""
    if suite.recorded:
        return Findings((), ())
    problems = [*_unreachable(suite), *(p for case in suite.cases for p in _guarded_not_required(case))]
    warnings = [
        text
        for case in suite.cases
        for text in (*_contradicted(suite, case), *_echoed(suite, case), *_memorised(case, (suite.system, *prompts)))
    ]
    return Findings(tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(warnings)))


def _checks(suite: Suite, case: Case) -> Iterator[Check]:
    for bound in suite.bound[case.id]:
        if isinstance(bound.check, OverSteps):
            yield from (part for _, part in bound.check.parts)
        else:
            yield bound.check


def _unreachable(suite: Suite) -> Iterator[str]:
    """Thresholds of the gate that no verdict can reach."""
    gate = suite.gate
    tops: dict[str, float] = {}
    for case in suite.cases:
        for check in _checks(suite, case):
            top = float(check.scale[1]) if isinstance(check, Judge) else 1.0
            tops[check.id] = max(top, tops.get(check.id, top))
    for name, threshold in (gate.checks if gate else {}).items():
        if threshold > tops.get(name, 1.0):
            yield f"gate: check {name!r} can reach at most {tops[name]:g}, its threshold is {threshold:g}"
    for name in ("mean", "floor", "pass_rate"):
        wanted = getattr(gate, name, None)
        if isinstance(wanted, float) and wanted > 1:
            yield f"gate: `{name}` can reach at most 1, it is set to {wanted:g}"


def _guarded_not_required(case: Case) -> Iterator[str]:
    """A step that must leave a call open, beside a trajectory that does not ask for that call."""
    for number, step in enumerate(case.steps, 1):
        asked: list[Any] = [check for check in step.checks if check.check == "trajectory"]
        for check in step.checks:
            tool = getattr(check, "tool", "") if check.check == "confirmation" else ""
            if tool and asked and not any(call.tool == tool for one in asked for call in _required(one)):
                yield (
                    f"case {case.id!r}, step {number}: must leave {tool!r} open for approval, which its trajectory "
                    "does not require; add the call"
                )


def _required(check: Any) -> Sequence[Any]:
    return () if isinstance(check.calls, str) else tuple(check.calls)


def _contradicted(suite: Suite, case: Case) -> Iterator[str]:
    """A number in a check's description where its patterns look for another one of the same unit."""
    for check in _checks(suite, case):
        said, sought = _figures(check.description), _figures(" ".join(_patterns(check)))
        for unit in said.keys() & sought.keys():
            if not said[unit] & sought[unit]:
                yield (
                    f"check {check.id!r}: its description says {_listed(said[unit], unit)}, "
                    f"its criterion looks for {_listed(sought[unit], unit)}"
                )


def _patterns(check: Any) -> Iterator[str]:
    for name in ("any_of", "all_of", "none_of", "phrases"):
        for one in getattr(check, name, ()) or ():
            yield from (one,) if isinstance(one, str) else one
    if check.check == "number":
        yield f"{check.equals:g}"


def _figures(text: str) -> dict[str, set[str]]:
    plain = re.sub(r"\\[bswdSWD.]|[\\^$?()]", " ", text)
    found: dict[str, set[str]] = {}
    for number, unit in _NUMBER.findall(plain):
        found.setdefault(unit.lower(), set()).add(number)
    return found


def _listed(numbers: set[str], unit: str) -> str:
    return ", ".join(f"{number}{unit}" for number in sorted(numbers))


def _echoed(suite: Suite, case: Case) -> Iterator[str]:
    """Checks of wording that the question itself would pass."""
    question = "\n".join(step.ask for step in case.steps)
    for check in _checks(suite, case):
        if check.check in _WORDING and check.computable and _asks_for_text(check):
            (verdict,) = check([Sample("lint", case.id, 1, answer=question, exit_code=0)])
            if verdict.status == "scored" and verdict.passed:
                yield f"check {check.id!r} of case {case.id!r}: repeating the question would pass it: {verdict.reason}"


def _asks_for_text(check: Any) -> bool:
    if check.check == "matches":
        return bool(check.any_of or check.all_of) and check.over == "answer"
    return bool(getattr(check, "all_of", True))


def _memorised(case: Case, prompts: Sequence[str]) -> Iterator[str]:
    """References whose words stand in the agent's own prompt: passing would be recall, not work."""
    seen = {run for prompt in prompts for run in _runs(prompt)}
    for number, step in enumerate(case.steps, 1):
        shared = next((run for run in _runs(step.reference) if run in seen), None)
        if shared:
            yield f"case {case.id!r}, step {number}: the agent's own prompt holds its reference answer: {shared!r}"


def _runs(text: str) -> list[str]:
    words = re.findall(r"[^\W_]+", fold(text).text)
    return [" ".join(words[at : at + _WORDS_IN_A_ROW]) for at in range(len(words) - _WORDS_IN_A_ROW + 1)]
