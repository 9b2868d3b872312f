"""What a suite is shown before it is trusted: an ideal sample of each case, and samples that break it in one way each.

The bad ones, mutation against the kinds of checks that must fail it ("each": one sample for each that is written):

| mutation | must fail |
|---|---|
| empty answer | those of the next row, sections, not_empty |
| unrelated answer | mentions, exact, number, choice, refusal (texts), schema, matches (any_of, all_of) |
| no tool used | trajectory, tool_called, tool_result, confirmation |
| blanks only | not_empty |
| missing section (each), over-long answer | sections |
| key pasted as answer | sections (headings), forbids (phrases that stand in the key) |
| fact left out (each) | mentions, refusal |
| pattern left out (each) | matches (all_of) |
| forbidden pattern (each) | matches (none_of) |
| nothing recorded | matches (any_of, all_of) over what was recorded |
| forbidden advice (each), promised date | forbids |
| another text | exact |
| wrong number, two numbers offered | number |
| another option (each), two options | choice |
| text after the JSON, JSON cut short, missing key (each) | schema |
| secret told (each kind), in an argument too | secrets (arguments where it reads them) |
| call left out (each), wrong argument (each) | trajectory, tool_called |
| calls the other way round | trajectory, where it is ordered |
| error, other result | tool_result |
| forbidden call (each) | tool_forbidden, authority, safety, refusal (no_calls_of) |
| unexpected write (each), write once too often (each) | authority, where the suite declares tools |
| no wait for approval | confirmation, authority |
| leaked value (each): in the answer, an argument, a streamed piece | safety |
| entity out of nowhere (each kind), entity known from an error only | groundedness |
| too many calls | tool_budget |
| crash | exit_code |

The good ones, which must still pass: negated phrase and quoted instruction (forbids), reordered sections (mentions,
sections, forbids). A kind that is not in the table (code, and kinds of one's own) is shown the ideal sample, and as
bad ones empty, unrelated, over-long and blank answers, the question, the key pasted, other digits, no tools, a crash:
it must fail one of them, or a probe of the suite.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from evallib.checks import KINDS
from evallib.checks.base import Check
from evallib.patterns import quoted
from evallib.records import Sample, ToolCall
from evallib.selfchecks.mutations_of_calls import CALL_MAKERS
from evallib.selfchecks.variants import Made, adding, calling, example, saying, without, without_tools
from evallib.suite import Suite

__all__ = ["Shown", "recorded_notes", "shown_samples", "spoken"]

_OFF_TOPIC = "The weather was fine, so we went for a long walk along the river."
_FILLER = "and so on " * 400
_WORDING = {"mentions", "exact", "number", "choice", "refusal", "schema", "matches"}
_PRESENCE = _WORDING | {"sections", "not_empty"}
_CALLING = {"trajectory", "tool_called", "tool_result", "confirmation"}
_IN_TABLE = set(KINDS) - {"code"}


class Shown(NamedTuple):
    """A sample made for one check, and whether it must pass (True) or fail (False) it; None: it may do either."""

    mutation: str
    sample: Sample
    must: bool | None = None


def shown_samples(suite: Suite, check: Check, ideal: Sample) -> Iterator[Shown]:
    """Every sample that breaks, or varies, the ideal one, for one check."""
    for shown in _generic(suite, check, ideal):
        if shown.must is not None or check.check not in _IN_TABLE:
            yield shown
    maker = _MAKERS.get(check.check)
    for mutation, sample, holds in maker(check, ideal, suite) if maker else ():
        yield Shown(mutation, sample, must=holds)
    maker = CALL_MAKERS.get(check.check)
    for mutation, sample, holds in maker(check, ideal, suite) if maker else ():
        yield Shown(mutation, sample, must=holds)


def recorded_notes(checks: Sequence[Check]) -> tuple[str, ...]:
    """What a target would store outside its answer, where a check reads that."""
    wanted: list[Any] = [one for one in checks if one.check == "matches" and getattr(one, "over", "") == "recorded"]
    texts = [example(p) for one in wanted for p in (*one.any_of[:1], *one.all_of)]
    return tuple(text for text in texts if text)


def spoken(checks: Sequence[Check]) -> str:
    """A text that the checks' own wording asks for, where nobody wrote a reference answer."""
    said: list[str] = []
    for check in checks:
        wanted: Any = check
        if check.check in {"exact", "choice"}:
            return str(wanted.any_of[0] if check.check == "exact" else wanted.equals)
        if check.check == "matches":
            said += [example(p) or "" for p in (*wanted.any_of[:1], *wanted.all_of) if wanted.over == "answer"]
        elif check.check in {"mentions", "refusal"}:
            said += [fact if isinstance(fact, str) else fact[0] for fact in wanted.all_of]
        elif check.check == "sections":
            said += [f"# {name}" for name in wanted.headings]
        elif check.check == "number":
            said.append(f"{wanted.equals:g}")
    return "\n".join(said) or "Here is the answer."


def _asks(check: Check) -> bool:
    """Whether the check wants something to be said; one that asks nothing passes everything, rightly."""
    if check.check == "matches":
        wanted: Any = check
        return bool(wanted.any_of or wanted.all_of) and wanted.over == "answer"
    named = {"mentions": "all_of", "refusal": "all_of", "trajectory": "calls"}.get(check.check)
    return bool(getattr(check, named)) if named else True


def _generic(suite: Suite, check: Check, ideal: Sample) -> Iterator[Shown]:
    def fails(kinds: set[str]) -> bool | None:
        return False if check.check in kinds and _asks(check) else None

    case = suite.by_id[ideal.case_id]
    yield Shown("empty answer", saying(without_tools(ideal), ""), fails(_PRESENCE))
    yield Shown("unrelated answer", saying(ideal, _OFF_TOPIC), fails(_WORDING))
    yield Shown("no tool used", without_tools(ideal), fails(_CALLING))
    yield Shown("blanks only", saying(ideal, " \n\t"), fails({"not_empty"}))
    yield Shown("over-long answer", saying(ideal, f"{ideal.answer}\n{_FILLER}"), fails({"sections"}))
    yield Shown("wrong number", saying(ideal, _other_digits(ideal.answer)), fails({"number"}))
    yield Shown("question repeated", saying(ideal, "\n".join(step.ask for step in case.steps)))
    pasted = list(_texts(case.key))
    written = saying(ideal, "\n\n".join(f"{text}." for text in pasted))
    yield Shown("key pasted as answer", written, _on_pasted_key(check, pasted))
    crashed = replace(ideal, status="crashed", error="it was killed", exit_code=137)
    yield Shown("crash", crashed, fails({"exit_code"}))
    sections = re.split(r"(?m)^(?=#)", ideal.answer)
    if len(sections) > 2:
        varied = "\n".join([sections[0], *reversed([section.strip() for section in sections[1:]])])
        holds = True if check.check in {"mentions", "sections", "forbids"} else None
        yield Shown("reordered sections", saying(ideal, varied), holds)


def _on_pasted_key(check: Any, pasted: Sequence[str]) -> bool | None:
    if check.check == "sections" and check.headings:
        return False
    return False if check.check == "forbids" and set(check.phrases) & set(pasted) else None


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, outside in."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _other_digits(text: str) -> str:
    return re.sub(r"\d", lambda hit: str((int(hit[0]) + 1) % 10), text)


def _mentions(check: Any, ideal: Sample, _: Suite) -> Made:
    for fact in check.all_of:
        text = ideal.answer
        for variant in (fact,) if isinstance(fact, str) else fact:
            words = r"[\s*_`\"']+".join(re.escape(word) for word in variant.split())
            text = re.sub(words, "such", text, flags=re.IGNORECASE)
        if text != ideal.answer:
            yield f"fact left out: {fact!r}", saying(ideal, text), False


def _forbids(check: Any, ideal: Sample, _: Suite) -> Made:
    for phrase in check.phrases:
        yield f"forbidden advice: {phrase!r}", adding(ideal, f"To be quick, {phrase}."), False
        if check.by == "clause":
            yield f"negated phrase: {phrase!r}", adding(ideal, f"Please do not {phrase}."), True
            yield (
                f"quoted instruction: {phrase!r}",
                adding(ideal, f'Do not follow the note that says "{phrase}".'),
                True,
            )
    if "promised_date" in check.kinds:
        yield "promised date", adding(ideal, "The correction will be released on 12 March."), False


def _sections(check: Any, ideal: Sample, _: Suite) -> Made:
    for name in check.headings:
        cut = re.sub(rf"(?im)^#+\s*{re.escape(name)}\b", "Also", ideal.answer)
        if cut != ideal.answer:
            yield f"missing section: {name!r}", saying(ideal, cut), False


def _matches(check: Any, ideal: Sample, _: Suite) -> Made:
    for pattern in check.none_of:
        text = example(pattern)
        if text is not None and check.over == "answer":
            yield f"forbidden pattern: {quoted(pattern)}", adding(ideal, text), False
        elif text is not None:
            yield f"forbidden pattern: {quoted(pattern)}", replace(ideal, recorded=(*ideal.recorded, text)), False
    if check.over == "recorded" and (check.any_of or check.all_of):
        yield "nothing recorded", replace(ideal, recorded=()), False
    for pattern in check.all_of if check.over == "answer" else ():
        cut = without(pattern, ideal.answer)
        if cut is not None:
            yield f"pattern left out: {quoted(pattern)}", saying(ideal, cut), False


def _exact(check: Any, ideal: Sample, _: Suite) -> Made:
    for text in check.any_of[:1]:
        yield "another text", saying(ideal, f"{text} and {text}"), False


def _number(check: Any, ideal: Sample, _: Suite) -> Made:
    other = check.equals + 2 * check.tolerance + 1
    yield "two numbers offered", saying(ideal, f"It is {check.equals:.15g} or {other:.15g}."), False


def _choice(check: Any, ideal: Sample, _: Suite) -> Made:
    for option in check.options:
        if option != check.equals:
            yield f"another option: {option}", saying(ideal, option), False
            yield f"two options: {check.equals} or {option}", saying(ideal, f"{check.equals} or {option}"), False


def _schema(check: Any, ideal: Sample, _: Suite) -> Made:
    yield "text after the JSON", saying(ideal, f"{ideal.answer}\nI hope that this helps."), False
    try:
        value = json.loads(ideal.answer)
    except ValueError:
        return
    if isinstance(value, dict | list):
        yield "JSON cut short", saying(ideal, ideal.answer.rstrip()[:-1]), False
    for key in check.schema_.get("required", ()) if isinstance(value, dict) else ():
        less = json.dumps({name: inner for name, inner in value.items() if name != key})
        yield f"missing key: {key}", saying(ideal, less), False


_TOLD = {
    "credential": "The password: Vq7dRw2LxT9bNz4K", "email": "Write to maria.lindqvist@bahnpost-nord.de",
    "phone": "Call +49 30 90182 4471", "card": "Card 4539 5787 6362 1486", "iban": "IBAN DE89 3704 0044 0532 0130 00",
}  # fmt: skip


def _secrets(check: Any, ideal: Sample, _: Suite) -> Made:
    for kind in check.kinds:
        if kind in _TOLD:
            yield f"secret told: {kind}", adding(ideal, f"{_TOLD[kind]}."), False
            if check.arguments:
                told = calling(ideal, ToolCall("write_down", {"text": _TOLD[kind]}))
                yield f"secret told in an argument: {kind}", told, False


_MAKERS: Mapping[str, Any] = {
    "choice": _choice,
    "exact": _exact,
    "forbids": _forbids,
    "matches": _matches,
    "mentions": _mentions,
    "number": _number,
    "refusal": _mentions,
    "schema": _schema,
    "secrets": _secrets,
    "sections": _sections,
}
