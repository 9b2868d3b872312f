"""What a suite is shown before it is trusted: an ideal sample of each case, and samples that break it in one way each.

The table of the bad ones, mutation against the kinds of checks that must fail it:

| mutation | must fail |
|---|---|
| empty answer | whatever asks for something to be there |
| unrelated answer | mentions, exact, number, choice, refusal, schema, matches (any_of, all_of) |
| no tool used | trajectory, tool_called, tool_result, confirmation |
| missing section, over-long answer | sections |
| wrong number | number |
| fact left out (each) | mentions |
| forbidden advice (each), promised date | forbids |
| forbidden pattern (each) | matches (none_of) |
| forbidden call (each) | tool_forbidden, authority, safety |
| unexpected write (each) | authority, where the suite declares tools |
| approved out of turn | confirmation |
| leaked value (each) | safety |
| entity out of nowhere | groundedness |
| secret told | secrets |
| too many calls | tool_budget |
| crash | exit_code |

And good ones that must still pass: negated phrase and quoted instruction (forbids), reordered sections (mentions,
sections, forbids). A kind that is not in the table (a code check, a kind of one's own) must fail one of all these, or
a probe of the suite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from evallib.checks.base import Check
from evallib.patterns import flagged, found
from evallib.records import Sample, ToolCall, Turn
from evallib.suite import Suite

__all__ = ["Shown", "shown_samples", "spoken"]

_OFF_TOPIC = "The weather was fine, so we went for a long walk along the river."
_FILLER = "and so on " * 400
_PRESENCE = {
    "mentions", "exact", "number", "choice", "refusal", "schema", "sections", "not_empty", "matches", "trajectory",
    "tool_called", "tool_result", "confirmation",
}  # fmt: skip
_WORDING = {"mentions", "exact", "number", "choice", "refusal", "schema", "matches"}
_CALLING = {"trajectory", "tool_called", "tool_result", "confirmation"}


class Shown(NamedTuple):
    """A sample made for one check, and whether it must pass (True) or fail (False) it; None: it may do either."""

    mutation: str
    sample: Sample
    must: bool | None = None


def shown_samples(suite: Suite, check: Check, ideal: Sample) -> Iterator[Shown]:
    """Every sample that breaks, or varies, the ideal one, for one check."""
    yield from _generic(check, ideal)
    maker = _MAKERS.get(check.check)
    for mutation, sample, holds in maker(check, ideal, suite) if maker else ():
        yield Shown(mutation, sample, must=holds)


def spoken(checks: Sequence[Check]) -> str:
    """A text that the checks' own wording asks for, where nobody wrote a reference answer."""
    said: list[str] = []
    for check in checks:
        wanted: Any = check
        if check.check in {"exact", "choice"}:
            return str(wanted.any_of[0] if check.check == "exact" else wanted.equals)
        if check.check == "matches":
            said += [_example(p) or "" for p in (*wanted.any_of[:1], *wanted.all_of) if wanted.over == "answer"]
        elif check.check in {"mentions", "refusal"}:
            said += [fact if isinstance(fact, str) else fact[0] for fact in wanted.all_of]
        elif check.check == "sections":
            said += [f"# {name}" for name in wanted.headings]
        elif check.check == "number":
            said.append(f"{wanted.equals:g}")
    return "\n".join(said) or "Here is the answer."


Made = Iterator[tuple[str, Sample, bool]]
"""Mutation, sample, and whether the check it was made for must pass it."""


def _asks(check: Check) -> bool:
    """Whether the check wants something to be there; one that asks nothing passes everything, rightly."""
    if check.check == "matches":
        return bool(getattr(check, "any_of", ()) or getattr(check, "all_of", ()))
    wanted = {"mentions": "all_of", "refusal": "all_of", "trajectory": "calls"}.get(check.check)
    return bool(getattr(check, wanted)) if wanted else True


def _generic(check: Check, ideal: Sample) -> Iterator[Shown]:
    def fails(kinds: set[str]) -> bool | None:
        return False if check.check in kinds and _asks(check) else None

    yield Shown("empty answer", _saying(_without_tools(ideal), ""), fails(_PRESENCE))
    yield Shown("unrelated answer", _saying(ideal, _OFF_TOPIC), fails(_WORDING))
    yield Shown("no tool used", _without_tools(ideal), fails(_CALLING))
    yield Shown("over-long answer", _saying(ideal, f"{ideal.answer}\n{_FILLER}"), fails({"sections"}))
    yield Shown("wrong number", _saying(ideal, _other_digits(ideal.answer)), fails({"number"}))
    crashed = replace(ideal, status="crashed", error="it was killed", exit_code=137)
    yield Shown("crash", crashed, fails({"exit_code"}))
    sections = re.split(r"(?m)^(?=#)", ideal.answer)
    if len(sections) > 2:
        varied = "\n".join([sections[0], *reversed([section.strip() for section in sections[1:]])])
        holds = True if check.check in {"mentions", "sections", "forbids"} else None
        yield Shown("reordered sections", _saying(ideal, varied), holds)


def _saying(sample: Sample, text: str) -> Sample:
    """The sample with another final text."""
    turns = (*sample.turns[:-1], replace(sample.turns[-1], text=text)) if sample.turns else ()
    return replace(sample, answer=text, turns=turns, files={})


def _adding(sample: Sample, text: str) -> Sample:
    return _saying(sample, f"{sample.answer.rstrip()}\n\n{text}\n")


def _without_tools(sample: Sample) -> Sample:
    turns = tuple(replace(turn, tool_calls=(), results=(), pending=()) for turn in sample.turns)
    return replace(sample, turns=turns)


def _calling(sample: Sample, *calls: ToolCall) -> Sample:
    """The sample with more calls in its last turn."""
    last = sample.turns[-1] if sample.turns else Turn(1, "", sample.answer)
    return replace(sample, turns=(*sample.turns[:-1], replace(last, tool_calls=(*last.tool_calls, *calls))))


def _other_digits(text: str) -> str:
    return re.sub(r"\d", lambda hit: str((int(hit[0]) + 1) % 10), text)


def _mentions(check: Any, ideal: Sample, _: Suite) -> Made:
    for fact in check.all_of:
        text = ideal.answer
        for variant in (fact,) if isinstance(fact, str) else fact:
            words = r"[\s*_`\"']+".join(re.escape(word) for word in variant.split())
            text = re.sub(words, "such", text, flags=re.IGNORECASE)
        if text != ideal.answer:
            yield f"fact left out: {fact!r}", _saying(ideal, text), False


def _forbids(check: Any, ideal: Sample, _: Suite) -> Made:
    for phrase in check.phrases:
        yield f"forbidden advice: {phrase!r}", _adding(ideal, f"To be quick, {phrase}."), False
        if check.by == "clause":
            yield f"negated phrase: {phrase!r}", _adding(ideal, f"Please do not {phrase}."), True
            yield (
                f"quoted instruction: {phrase!r}",
                _adding(ideal, f'Do not follow the note that says "{phrase}".'),
                True,
            )
    if "promised_date" in check.kinds:
        yield "promised date", _adding(ideal, "The correction will be released on 12 March."), False


def _sections(check: Any, ideal: Sample, _: Suite) -> Made:
    for name in check.headings:
        cut = re.sub(rf"(?im)^#+\s*{re.escape(name)}\b", "Also", ideal.answer)
        if cut != ideal.answer:
            yield f"missing section: {name!r}", _saying(ideal, cut), False


def _matches(check: Any, ideal: Sample, _: Suite) -> Made:
    for pattern in check.none_of:
        example = _example(pattern)
        if example is not None and check.over == "answer":
            yield f"forbidden pattern: {pattern!r}", _adding(ideal, example), False
        elif example is not None:
            yield f"forbidden pattern: {pattern!r}", replace(ideal, recorded=(*ideal.recorded, example)), False


def _example(pattern: str) -> str | None:
    """A text that `pattern` finds a hit in; None where only RE2 can read it, not the generator."""
    from rstr import Rstr

    for attempt in range(5):
        try:
            text = str(Rstr(Random(attempt)).xeger(re.sub(r"\(\?[ims]+\)|[*+](?![*+])", _shorter, pattern)))  # noqa: S311  # an example, no secret
            if found(flagged(pattern, "is"), text):
                return text
        except (re.error, ValueError, KeyError, OverflowError, RecursionError):
            return None
    return None


def _shorter(hit: re.Match[str]) -> str:
    return {"*": "{0,2}", "+": "{1,2}"}.get(hit[0], "")


def _forbidden_calls(check: Any, ideal: Sample, _: Suite) -> Made:
    named = check.forbidden if check.check == "authority" else check.tools
    for tool in named:
        yield f"forbidden call: {tool}", _calling(ideal, ToolCall(tool, {}, "done")), False


def _authority(check: Any, ideal: Sample, suite: Suite) -> Made:
    yield from _forbidden_calls(check, ideal, suite)
    made = {call.name for call in ideal.tool_calls}
    for name, tool in suite.tools.items():
        if tool.write and name not in made and name not in check.forbidden:
            yield f"unexpected write: {name}", _calling(ideal, ToolCall(name, {}, '{"status": "done"}')), False


def _safety(check: Any, ideal: Sample, suite: Suite) -> Made:
    yield from _forbidden_calls(check, ideal, suite)
    for value in check.values:
        yield "leaked value", _adding(ideal, f"For the record: {value}"), False


def _confirmation(_check: Any, ideal: Sample, _: Suite) -> Made:
    def ran(turn: Turn) -> Turn:
        held = {call.id for call in turn.pending}
        calls = (replace(c, result='{"status": "done"}') if c.id in held else c for c in turn.tool_calls)
        return replace(turn, pending=(), tool_calls=tuple(calls))

    yield "approved out of turn", replace(ideal, turns=tuple(map(ran, ideal.turns))), False


def _groundedness(_: Any, ideal: Sample, suite: Suite) -> Made:
    seen = " ".join(
        [ideal.answer, *(t.request for t in ideal.turns), *(c.result or "" for c in ideal.tool_calls)]
    ).lower()
    for kind, entities in suite.vocabulary.items():
        names = [name for name in entities.names if name.lower() not in seen and name not in entities.ambiguous]
        if names:
            yield f"{kind} out of nowhere", _adding(ideal, f"The cause is {names[0]}."), False


def _budget(check: Any, ideal: Sample, _: Suite) -> Made:
    yield "too many calls", _calling(ideal, *[ToolCall("look", {"n": n}) for n in range(check.max + 1)]), False


_TOLD = {
    "credential": "The password: Vq7dRw2LxT9bNz4K", "email": "Write to maria.lindqvist@bahnpost-nord.de",
    "phone": "Call +49 30 90182 4471", "card": "Card 4539 5787 6362 1486", "iban": "IBAN DE89 3704 0044 0532 0130 00",
}  # fmt: skip


def _secrets(check: Any, ideal: Sample, _: Suite) -> Made:
    for kind in check.kinds:
        if kind in _TOLD:
            yield f"secret told: {kind}", _adding(ideal, f"{_TOLD[kind]}."), False


_MAKERS: Mapping[str, Any] = {
    "authority": _authority,
    "confirmation": _confirmation,
    "forbids": _forbids,
    "groundedness": _groundedness,
    "matches": _matches,
    "mentions": _mentions,
    "safety": _safety,
    "secrets": _secrets,
    "sections": _sections,
    "tool_budget": _budget,
    "tool_forbidden": _forbidden_calls,
}
