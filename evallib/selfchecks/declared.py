"""What a suite declares that refers to nothing, or does not fit what it declares beside it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from evallib.case import Case
from evallib.checks.base import Check
from evallib.checks.expected import expected_calls
from evallib.checks.json_schema import Path, problems, refuse_broken_schema
from evallib.domain import EntityKind, Tool
from evallib.patterns import found, is_whole
from evallib.records import canonical_json
from evallib.selfchecks.spelling import compounds, rare, written
from evallib.suite import Suite
from evallib.targets.played import PLACE

__all__ = [
    "loose_aliases", "loose_entities", "loose_returns", "rare_names", "strange_patterns", "stray_entities",
    "uncallable",
]  # fmt: skip


def loose_returns(suite: Suite) -> Iterator[str]:
    """Answers of tools that no call could get: after an unknown tool, for an unknown argument or entity."""
    for name, tool in suite.tools.items():
        for nth, returns in enumerate(tool.returns, 1):
            where = f"tools: answer {nth} of {name!r}"
            if returns.after and returns.after not in suite.tools:
                yield f"{where} comes after {returns.after!r}, which is no tool of the suite; correct its spelling"
            for argument in returns.when if tool.arguments else ():
                if argument not in tool.arguments:
                    takes = ", ".join(tool.arguments)
                    yield f"{where} is for argument {argument!r}, which the tool does not take; it takes {takes}"
            yield from (f"{where} is for {said}" for said in _unknown_entities(suite, tool, returns.when))
            yield from (f"{where} is for {said}" for said in _refused(tool, returns.when))
            known = dict.fromkeys((*tool.arguments, "approver", "rationale"), 2)
            for place in dict.fromkeys(PLACE.findall(canonical_json([returns.result, returns.error]))):
                for _, meant in rare({place: 1, **known}):
                    yield f"{where} says {{{place}}}, and only {{{meant}}} is filled in; correct its spelling"
        defaults = {argument: schema["default"] for argument, schema in tool.arguments.items() if "default" in schema}
        yield from (f"tools: {name!r} has as default {said}" for said in _refused(tool, defaults))


def uncallable(suite: Suite, case: Case, check: Check) -> Iterator[str]:
    """Calls that a check waits for with arguments which the tool does not take."""
    calls: Any = getattr(check, "calls", ())
    ignored = {argument for call in calls for argument in call.ignore}
    for name, args in expected_calls(check):
        compared = {argument: value for argument, value in args.items() if argument not in ignored}
        for said in _refused(suite.tools.get(name, Tool()), compared):
            yield f"check {check.id!r} of case {case.id!r} waits for a call of {name!r} with {said}"


def _refused(tool: Tool, arguments: Mapping[str, Any]) -> Iterator[str]:
    """Plain arguments that do not fit the schema of the tool that takes them.

    Of an object a call may hold more, and an empty text may be left out.
    """
    for argument, schema in tool.arguments.items():
        faults: list[tuple[Path, str]] = []
        with suppress(ValueError):  # what is no schema is told where the tools are played, and an empty one takes any
            refuse_broken_schema(schema)
            value = arguments.get(argument, "")
            faults = [] if value == "" or isinstance(value, Mapping | list | tuple) else problems(schema, value)
        for _, fault in faults[:1]:
            yield f"{argument} {arguments[argument]!r}, which its schema refuses ({fault}); correct one of them"


def stray_entities(suite: Suite) -> Iterator[str]:
    """Ids that a request or a tool's answer names, of a kind whose names are listed, and that are not among them."""
    listed = {kind: one for kind, one in suite.vocabulary.items() if one.names}
    for case in suite.cases:
        asked = dict.fromkeys(word for step in case.steps for word in compounds(step.ask))
        for kind, one in listed.items():
            for word in asked if one.pattern else ():
                if is_whole(one.pattern, word) and not _known(one, word):
                    said = f"case {case.id!r}: the request names {word!r}, an unknown {kind}"
                    yield f"{said}; correct it, or add it (to `reserved` where it must not exist)"
    for name, tool in suite.tools.items():
        for kind, value in (pair for returns in tool.returns for pair in _pairs(returns.result) if pair[0] in listed):
            if isinstance(value, str) and not PLACE.search(value) and not _known(listed[kind], value):
                yield f"tools: an answer of {name!r} says {kind} {value!r}, an unknown {kind}; correct it, or add it"


def _known(kind: EntityKind, word: str) -> bool:
    return word.casefold() in {name.casefold() for name in (*kind.names, *kind.reserved)}


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of a JSON value with what stands under it; of a list, each entry."""
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        yield from ((key, one) for one in (inner if isinstance(inner, list | tuple) else (inner,)))
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _pairs(inner)


def rare_names(suite: Suite, named_tools: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """(sentence, whether it cannot be meant) for tags, ids of checks, keys of results and tools that look like a slip.

    They stand once, and a slip away stands one used more often; a tag that a check's `when` picks by cannot be meant.
    """
    picked = {tag for check in suite.checks if check.when for tag in (*check.when.tags, *check.when.not_tags)}
    tags = Counter([*(tag for case in suite.cases for tag in case.tags), *picked, *picked])
    checks = Counter(bound.check.id for bounds in suite.bound.values() for bound in bounds)
    returned = [returns.result for tool in suite.tools.values() for returns in tool.returns]
    keys = Counter(key for result in returned for key in dict.fromkeys(key for key, _ in _pairs(result)))
    tools = Counter(() if suite.tools else named_tools)  # where they are declared, another is refused
    for what, uses in (("tag", tags), ("check id", checks), ("key of a tool's answers", keys), ("tool", tools)):
        for name, meant in rare(uses):
            many = "once too" if uses[meant] == 1 else f"at {uses[meant]} places"
            yield f"{what} {name!r} stands once, and {meant!r} {many}; correct it if that is meant", meant in picked


def _unknown_entities(suite: Suite, tool: Tool, when: Any) -> Iterator[str]:
    for argument, kind in tool.entities.items():
        name = when.get(argument)
        if isinstance(name, str) and kind in suite.vocabulary and not suite.vocabulary[kind].knows(name):
            yield f"{argument} {name!r}, an unknown {kind}; add it to the vocabulary, or correct its spelling"


def loose_entities(case: Case, check: Any) -> Iterator[str]:
    """Keys under which a schema check wants names of the vocabulary, and that its schema, which names keys, has not."""
    known = set(_properties(check.schema_)) if check.check == "schema" else set()
    for key in check.entities if known else ():
        if key not in known:
            told = ", ".join(sorted(known))
            yield f"check {check.id!r} of case {case.id!r}: `entities` names key {key!r}, and the schema has {told}"


def _properties(schema: Any) -> Iterator[str]:
    for key, inner in schema.items() if isinstance(schema, dict) else ():
        if key == "properties" and isinstance(inner, dict):
            yield from inner
        yield from _properties(inner)
    for inner in schema if isinstance(schema, list | tuple) else ():
        yield from _properties(inner)


def loose_aliases(suite: Suite, named: Collection[str]) -> Iterator[str]:
    """Other names for a tool that the suite neither declares nor speaks of."""
    for tool in suite.aliases:
        if tool not in suite.tools and tool not in named:
            yield f"`aliases` has other names for {tool!r}, a tool that the suite does not name; correct its spelling"


def strange_patterns(suite: Suite) -> Iterator[str]:
    """Patterns of the vocabulary that fit some of what looks alike, or that only a slip keeps from fitting a name."""
    words = set(compounds(written(suite.model_copy(update={"probes": ()}))))
    others = {name.lower() for one in suite.vocabulary.values() for name in (*one.names, *one.reserved)}
    for kind, one in suite.vocabulary.items():
        own = {name.lower() for name in one.names}
        if one.pattern:
            problem = _strange(kind, one, own, sorted((words - others) | own))
            yield from (f"vocabulary: the pattern {one.pattern!r} of {kind} {problem}",) if problem else ()


def _strange(kind: str, one: EntityKind, own: set[str], words: list[str]) -> str:
    twice = _twice_in_a_class(one.pattern)
    if twice:
        return f"names {twice!r} twice in one class; write it once, or correct it"
    fit = [word for word in words if is_whole(one.pattern, word)]
    shapes = {_shape(word): word for word in fit}
    alike = next((word for word in words if word not in fit and _shape(word) in shapes), "")
    if alike:
        return f"fits {shapes[_shape(alike)]!r} and not {alike!r}; correct it, or reserve that one"
    meant = _nearly(one.pattern, sorted(own) or words) if not fit else ""
    return f"fits no {kind}, and {meant!r} but for a slip; correct it" if meant else ""


def _shape(word: str) -> str:
    return re.sub(r"\d", "0", word)


def _nearly(pattern: str, words: Sequence[str]) -> str:
    """A word that the pattern fits once one slip in its letters and digits is undone; empty where there is none."""
    from pyarrow import ArrowInvalid

    lines = "\n".join(words)
    for at in range(len(pattern) + 1):
        before, rest = pattern[:at], pattern[at:]
        others = [f"{n}{rest[1:]}" for n in range(1, 10)] if before.endswith(("{", ",")) else []  # how often it repeats
        for undone in (rest[1:], rf"\w{rest[1:]}", rf"\w{rest}", rest[1:2] + rest[:1] + rest[2:], *others):
            mended = before + undone
            try:
                fits = found(rf"(?m)^(?i:{mended})$", lines)
            except ArrowInvalid:
                continue
            hit = next((word for word in words if is_whole(mended, word)), "") if fits else ""
            if hit:
                return hit
    return ""


def _twice_in_a_class(pattern: str) -> str:
    """A letter or digit that a character class without escapes names twice; empty where none does."""
    for inside in re.findall(r"(?<!\\)\[\^?([^\]\\[]+)\]", pattern):
        seen: set[str] = set()
        for hit in re.finditer(r"(\w)-(\w)|(\w)", inside):
            new = {chr(code) for code in range(ord(hit[1]), ord(hit[2]) + 1)} if hit[1] else {hit[3]}
            if new & seen:
                return min(new & seen)
            seen |= new
    return ""
