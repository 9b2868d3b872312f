"""JSON Schema without network and in bounded time: references stay inside, patterns are RE2, lists are hashed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, localcontext
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any

from evallib.checks.folding import shown
from evallib.checks.formats import FORMATS, fits_format
from evallib.checks.tools import in_words
from evallib.patterns import found, refuse_broken
from evallib.records import canonical_json

__all__ = ["Path", "problems", "refuse_broken_schema", "spelled_path"]

Path = tuple[str | int, ...]
"""Keys and places that lead to a part of a JSON value."""

_MOST = 200
"""A list of thousands of wrong items is told by its first: each costs time."""


def refuse_broken_schema(schema: Mapping[str, Any]) -> None:
    """ValueError with the place in `schema` when it is no JSON Schema, or needs what is not here."""
    from jsonschema import FormatChecker
    from jsonschema.exceptions import SchemaError

    if not schema:
        raise ValueError("an empty schema fits every value; write what the answer must hold")
    try:
        _dialect(schema).check_schema(dict(schema), FormatChecker(()))  # patterns are RE2, and read below
    except SchemaError as error:
        place = ".".join(map(str, error.path)) or "the schema"
        raise ValueError(f"no JSON Schema: {place}: {_cut(error.message)}") from error
    _refuse_references(schema)
    _refuse_slips(schema)
    for pattern in _patterns(schema):
        refuse_broken(pattern, "s")


def problems(schema: Mapping[str, Any], value: Any) -> list[tuple[Path, str]]:
    """Each place of `value` that does not fit `schema`, and a clause that says why; at most the first 200."""
    try:
        found = islice(_validator(canonical_json(schema)).iter_errors(value), _MOST)
        return [
            ((*error.absolute_path,), f"{spelled_path(error.absolute_path)}: {_cut(_said(error))}") for error in found
        ]
    except RecursionError:
        return [((), "the value is nested too deep to be held against the schema")]
    except OverflowError:
        return [((), "a number is too large to be held against the schema")]


def spelled_path(path: Iterable[str | int]) -> str:
    """A place in a value as a reason names it, like `rows[0].id`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).lstrip(".") or "the value"


def _said(error: Any) -> str:
    """The message with the value as JSON: null and true, not as Python spells them."""
    python, said = repr(error.instance), str(error.message)
    return in_words(error.instance) + said[len(python) :] if said.startswith(python) else said


def _cut(message: str) -> str:
    return shown(message, 160)[1:-1]


def _dialect(schema: Mapping[str, Any]) -> Any:
    """The validator class of the draft that `$schema` names."""
    from jsonschema.validators import Draft202012Validator, validator_for

    named = schema.get("$schema")
    if named is None:
        return Draft202012Validator
    chosen = validator_for({"$schema": named}, default=None) if isinstance(named, str) else None
    if chosen is None:
        raise ValueError(f"`$schema` is {named!r}, an unknown draft; leave it out for draft 2020-12")
    return chosen


def _resource(schema: Mapping[str, Any]) -> Any:
    from referencing import Resource
    from referencing.jsonschema import DRAFT202012

    return Resource.from_contents(dict(schema), default_specification=DRAFT202012)


def _refuse_references(schema: Mapping[str, Any]) -> None:
    """Every `$ref` must resolve without fetching anything."""
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable

    root = _resource(schema)
    pending = [(root, REGISTRY.resolver_with_root(root))]
    while pending:
        resource, resolver = pending.pop()
        contents = resource.contents if isinstance(resource.contents, Mapping) else {}
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            try:
                if key in contents:
                    resolver.lookup(contents[key])
            except Unresolvable as error:
                message = f"{key} {contents[key]!r} points outside the schema; put the part under `$defs`"
                raise ValueError(message) from error
        pending += [(inner, resolver.in_subresource(inner)) for inner in resource.subresources()]


_REMARKS = {
    "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment", "$defs",
    "definitions", "title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "then", "else",
    "minContains", "maxContains", "additionalItems", "contentEncoding", "contentMediaType", "contentSchema",
}  # fmt: skip
"""Keywords that are read beside another one, or that ask nothing of a value."""


def _refuse_slips(schema: Mapping[str, Any]) -> None:
    """A keyword that nobody reads asks nothing: one near a known one is a slip, a format not read here is none."""
    known = {*_dialect(schema).VALIDATORS, *_REMARKS}
    for one in _subschemas(schema):
        for key in (name for name in one.keys() - known if not name.startswith("x-")):
            meant = get_close_matches(key.casefold(), {name.casefold(): name for name in known}, n=1, cutoff=0.75)
            if meant:
                name = next(name for name in known if name.casefold() == meant[0])
                raise ValueError(f"no JSON Schema keyword: {key!r}; correct it to {name!r}, or start its name with x-")
        asked = one.get("format")
        if asked is not None and asked not in FORMATS:
            raise ValueError(f"format {asked!r} is not read; write a `pattern`, or one of {', '.join(sorted(FORMATS))}")


def _patterns(schema: Any) -> Iterator[str]:
    """Every pattern in `schema`; unevaluated properties beside patterns for names cannot be bounded."""
    subschemas = list(_subschemas(schema))
    named = [pattern for one in subschemas for pattern in one.get("patternProperties", {})]
    if named and any("unevaluatedProperties" in one for one in subschemas):
        raise ValueError("`unevaluatedProperties` and `patternProperties` in one schema; use `additionalProperties`")
    yield from named
    yield from (one["pattern"] for one in subschemas if isinstance(one.get("pattern"), str))


def _subschemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    pending = [_resource(schema)]
    while pending:
        resource = pending.pop()
        if isinstance(resource.contents, Mapping):
            yield resource.contents
        pending += resource.subresources()


@lru_cache(maxsize=64)
def _validator(schema_json: str) -> Any:
    import json

    from jsonschema.validators import extend
    from jsonschema_specifications import REGISTRY

    schema = json.loads(schema_json)
    bounded = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "format": _format,
        "multipleOf": _multiple_of,
        "uniqueItems": _unique_items,
    }
    dialect = extend(_dialect(schema), bounded)
    return dialect(schema, registry=REGISTRY)


def _wrong(message: str, *path: str) -> Any:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message, path=path)


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not found(pattern, instance):
        yield _wrong(f"{shown(instance, 60)} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Any, _: Any) -> Iterator[Any]:
    for name, value in instance.items() if validator.is_type(instance, "object") else ():
        for pattern, inner in patterns.items():
            if found(pattern, name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for name, value in instance.items():
        if name in schema.get("properties", {}) or any(found(p, name) for p in schema.get("patternProperties", {})):
            continue
        if allowed is False:
            yield _wrong("unknown key", name)
        else:
            yield from validator.descend(value, allowed, path=name)


def _format(validator: Any, name: str, instance: Any, _: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not fits_format(name, instance):
        yield _wrong(f"{shown(instance, 60)} is no {name}")


def _multiple_of(validator: Any, step: float, instance: Any, _: Any) -> Iterator[Any]:
    """In decimals as they are written: in floats 0.3 is no multiple of 0.1."""
    if validator.is_type(instance, "number"):
        with localcontext(prec=700):  # all digits between the largest float and the smallest
            rest = Decimal(repr(instance)) % Decimal(repr(step))
        if rest:
            yield _wrong(f"{instance!r} is not a multiple of {step!r}")


def _unique_items(validator: Any, wanted: bool, instance: Any, _: Any) -> Iterator[Any]:  # noqa: FBT001
    if wanted and validator.is_type(instance, "array") and _twice(instance):
        yield _wrong("has an item that stands twice")


def _twice(items: Iterable[Any]) -> bool:
    seen: set[Any] = set()
    for item in items:
        key = _hashable(item)
        if key in seen:
            return True
        seen.add(key)
    return False


def _hashable(value: Any) -> Any:
    """Equal for equal JSON values only: 1 and 1.0 are one number, true is none."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list):
        return ("list", tuple(map(_hashable, value)))
    if isinstance(value, dict):
        return ("dict", frozenset((key, _hashable(one)) for key, one in value.items()))
    return value
