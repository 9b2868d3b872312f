"""Seeded slips of the pen in every place where a check of a shipped suite can have one: each is an error, and named."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from string import ascii_lowercase, digits
from typing import Any

import pytest

from evallib.checks.policy import phrase_pattern
from evallib.errors import InputError
from evallib.selfchecks.lint import lint
from evallib.selfchecks.selfcheck import self_check
from evallib.strict_yaml import load_yaml
from evallib.suite import parse_suite
from tests.test_selfcheck import of_one_case

SUITES = Path(__file__).resolve().parent.parent / "data/suites"
CHECK = r"(checks\.\d+|cases\.\d+\.(steps\.\d+\.)?checks\.\d+)"
PLACES = {
    "a forbidden phrase": rf"(cases\.\d+\.key\.forbidden|{CHECK}\.phrases)\.\d+",
    "a fact": rf"(cases\.\d+\.key\.facts|{CHECK}\.all_of)\.\d+",
    "another wording of a fact": rf"(cases\.\d+\.key\.facts|{CHECK}\.all_of)\.\d+\.\d+",
    "an article": r"cases\.\d+\.key\.articles\.\d+",
    "a pattern": rf"{CHECK}\.any_of\.\d+",
    "a heading": rf"{CHECK}\.headings\.\d+",
    "a name of the vocabulary": r"vocabulary\.\w+\.(names|ambiguous|reserved)\.\d+",
    "a pattern of the vocabulary": r"vocabulary\.\w+\.pattern",
    "a kind of entity": r"vocabulary:key|pairs\.\d+\.\d+|tools\.\w+\.entities\.\w+|.+\.checks\.\d+\.entities\.\w+",
    "a tool": rf"tools:key|.+\.calls\.\d+\.tool|.+\.writes\.\d+\.tool|{CHECK}\.(tool|tools\.\d+|no_calls_of\.\d+)",
    "an argument": r"tools\.\w+\.(arguments|entities):key|.+\.args:key|.+\.returns\.\d+\.when:key",
    "a value of an argument": r".+\.args\.\w+|.+\.returns\.\d+\.when\.\w+",
    "what a tool comes after": r".+\.returns\.\d+\.after",
    "a forbidden value": rf"{CHECK}\.values\.\d+",
    "a key of a result": rf"{CHECK}\.result(\.audit)?:key",
    "a value of a result": rf"{CHECK}\.result\..+",
    "a key of a schema": rf"{CHECK}\.(entities|schema(\.properties)?):key|{CHECK}\.schema\.required\.\d+",
    "a value of a schema": rf"{CHECK}\.schema\.properties\..+\.(const|type|pattern)",
    "a step's id": r".+\.calls\.\d+\.(id|after\.\d+)",
    "a threshold": r"gate(\.checks)?:key",
    "a kind of check": rf"{CHECK}\.(check|kinds\.\d+|evidence|by|writes)",
    "a key of a check": rf"{CHECK}:key",
    "a key of the answer key": r"cases\.\d+\.key:key",
    "a check that a probe names": r"probes\.\d+\.(passes|fails)\.\d+|probes\.\d+\.case",
}
"""Place to the paths that are of it; a name is at the path of what holds it, behind which stands `:key`."""


@cache
def written(name: str) -> Any:
    return load_yaml(SUITES / name / "suite.yaml").value


def texts(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], bool, str]]:
    """Path, whether it is a key there, and text of all that a person wrote."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(key, str):
            yield path, True, key
        yield from texts(inner, (*path, key))
    if isinstance(value, str):
        yield path, False, value


@cache
def places(place: str) -> list[tuple[str, tuple[str | int, ...], bool, str]]:
    found = []
    for name in ("basics", "operations", "tickets"):
        for path, is_key, text in texts(written(name)):
            at = ".".join(map(str, path)) + ":key" * is_key
            if re.fullmatch(PLACES[place], at) and not text.startswith("key."):
                found.append((name, path, is_key, text))
    return found


def slips(text: str, seed: int) -> str:
    """`text` with one letter or digit left out, doubled, taken for another, or exchanged with the next."""
    random = Random(seed)
    while True:
        at = random.choice([n for n, sign in enumerate(text) if sign.isalnum()])
        sign, after = text[at], text[at + 1 : at + 2]
        other = random.choice(digits if sign.isdigit() else ascii_lowercase)
        put = random.choice(["", sign * 2, other, after + sign if after.isalnum() else sign])
        slipped = text[:at] + put + text[at + 1 + (put == after + sign and len(put) == 2) :]
        if slipped.strip() and slipped.casefold() != text.casefold():
            return slipped


def with_slip(name: str, path: tuple[str | int, ...], is_key: bool, slipped: str, text: str) -> str:
    suite = copy.deepcopy(written(name))
    holder = suite
    for key in path if is_key else path[:-1]:
        holder = holder[key]
    if is_key:
        renamed = {slipped if key == text else key: inner for key, inner in holder.items()}
        holder.clear()
        holder.update(renamed)
    else:
        holder[path[-1]] = slipped
    return json.dumps(suite)


def told(text: str, path: tuple[str | int, ...]) -> str:
    """All that `validate` refuses a suite for; of the self-check what it says of the case at hand."""
    try:
        suite = parse_suite(text, "s")
        problems = lint(suite).problems
        if not problems:
            nth = int(path[1]) if path[0] == "cases" else None
            shown = self_check(suite if nth is None else of_one_case(suite, suite.cases[nth]))
            problems = (*shown.problems, *shown.unproven)
    except InputError as error:
        return str(error)
    return "\n".join(problems)


@pytest.mark.parametrize("place", PLACES)
def test_a_slip_is_an_error_and_named(place: str) -> None:
    random = Random(place)
    for seed in range(6):
        name, path, is_key, text = random.choice(places(place))
        slipped = slips(text, seed)
        if is_key and slipped in ("id", "check"):
            continue
        said = told(with_slip(name, path, is_key, slipped, text), path)
        if place == "a forbidden phrase" and not said:  # another form of its words (user, users) finds the same
            assert phrase_pattern(slipped).search(text.casefold()), (name, path, text, slipped)
            continue
        assert said, (name, path, text, slipped)
        named = (slipped.casefold(), repr(slipped)[1:-1].casefold(), repr(text), "check '")
        assert any(one in said.casefold() for one in named), (said, slipped)


def test_no_suite_without_a_slip_is_told() -> None:
    for name in ("basics", "operations", "tickets"):
        assert told(json.dumps(written(name)), ("suite",)) == ""
