"""Strict YAML: what the author wrote is what the program gets, and every complaint names file and line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from evallib.errors import InputError

__all__ = [
    "Document", "Location", "Problem", "Written", "dump_yaml", "first_problem", "load_yaml", "parse_flat",
    "parse_yaml", "problem_of", "read_as", "unknown_key",
]  # fmt: skip

Location = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)

# The YAML 1.2 core schema, less its octal and hexadecimal forms: `012`, `no`, `on`, `12:30:00` and dates stay text.
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(
    r"[-+]?(?:0|[1-9][0-9]*)?(?:\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z|[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+\Z"
)
_CONSTANTS = {"true": True, "True": True, "false": False, "False": False, "null": None, "~": None, "": None}
_PADDED = re.compile(r"[-+]?0[0-9_]+\Z")
"""Text here, a number to other readers of YAML, and not to all the same one."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LOST = re.compile(r"(?<!\\)(?:\\\\)*(\\[LNP_])")
"""Escapes of double quotes for separators and blanks that nobody types: meant was a pattern's backslash."""
_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)
_SEPARATOR = re.compile("[\x85\u2028\u2029]")
_MOST_DIGITS = 300
"""Of an integer: more would be no finite number to JSON's readers."""
_MOST_PER_BYTE = 10
_BRANCH = re.compile(r"(?:bool|str|constrained-str|(?:literal|tuple|dict|function-[a-z]+)\[.*)\Z", re.DOTALL)
"""What pydantic adds to a place to say which form of several it tried."""

_UNUSUAL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_FLAT = re.compile(
    r"([a-z_]{1,40}):(?:"
    r" '((?:[^'\n ]++|''| (?!\n)|\n  (?=[^ \n]))*+)'"  # in single quotes, folded over lines perhaps
    r"| (\w[^\n]*(?:(?<! )\n  [^ \n][^\n]*)*)(?<! )"  # plain, folded perhaps
    r"| \|(-?)((?:\n  [^ \n][^\n]*(?:\n+  [^\n]*[^ \n])*))"  # a literal block
    r"|((?:\n- \w[^\n]*(?<! ))+)"  # a list of plain scalars
    r")\n"
)
_UNSURE = object()


class Written(BaseModel):
    """What a person writes: frozen, unknown keys refused, no silent conversion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, ignored_types=(cached_property,))


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed YAML file: plain values, and the line of each value for error messages."""

    value: Any
    lines: dict[Location, int]
    name: str
    blocks: set[Location] = field(default_factory=set)
    """Where texts stand as literal blocks, line by line below their key."""

    def where(self, location: Location, below: int = 0) -> str:
        """`file, line N (a.b.c)` for the deepest part of `location` that the file holds.

        `below`: which line of the text there is meant, from 1; counted where the text is a literal block.
        """
        known = location
        while known and known not in self.lines:
            known = known[:-1]
        path = ".".join(str(part) for part in location)
        line = self.lines.get(known, 1) + (below if known in self.blocks else 0)
        return f"{self.name}, line {line}" + (f" ({path})" if path else "")


def load_yaml(path: Path) -> Document:
    """Read and parse `path`; InputError when it is missing, not UTF-8, or not strict YAML."""
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, expected a YAML file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); save the file as UTF-8") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    return parse_yaml(text, str(path))


def parse_yaml(text: str, name: str) -> Document:
    """Parse `text` strictly: no tags, no duplicate keys, no lost backslashes, YAML 1.2 scalars, finite numbers."""
    text = text.removeprefix("\ufeff")  # the parser does not count it, and places are counted in `text`
    try:
        node = yaml.compose(text, Loader=yaml.CBaseLoader)
    except yaml.MarkedYAMLError as error:
        _syntax_error(error, text, name)
    except yaml.YAMLError as error:
        raise InputError(f"{name}: not YAML: {str(error).splitlines()[0]}") from error
    lines: dict[Location, int] = {}
    if node is None:
        return Document(None, lines, name)
    most = _MOST_PER_BYTE * len(text) + 1000  # without aliases a text holds fewer values than characters
    builder = _Builder(text, name, lines, most)
    return Document(builder.build(node, ()), lines, name, builder.blocks)


def parse_flat(text: str) -> dict[str, Any] | None:
    """What `parse_yaml` gives for a mapping of texts, numbers and lists of them as `dump_yaml` writes it; else None.

    Many times as fast, and it only ever knows less: whatever is written in another way is left to `parse_yaml`.
    """
    built: dict[str, Any] = {}
    at = 0
    while at < len(text) and (found := _FLAT.match(text, at)):
        key, quoted, plain, strip, block, listed = found.groups()
        if quoted is not None:
            value: Any = quoted.replace("\n  ", " ").replace("''", "'")
        elif block is not None:
            value = block[1:].replace("\n  ", "\n")[2:] + ("" if strip else "\n")
        elif plain is not None:
            value = _flat_scalar(plain.replace("\n  ", " "))
        else:
            value = [_flat_scalar(part) for part in listed[3:].split("\n- ")]
        if key in built or value is _UNSURE or (listed and _UNSURE in value):
            return None
        built[key] = value
        at = found.end()
    return built if built and at == len(text) and not _UNUSUAL.search(text) else None


def _flat_scalar(text: str) -> Any:
    """The value of a plain scalar that begins with a letter, a digit or `_`; `_UNSURE` where it may not be one."""
    if ": " in text or " #" in text or text[-1] == ":":
        return _UNSURE
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _PADDED.match(text):
        return _UNSURE
    if text[0].isdigit() and (_INT.match(text) or _FLOAT.match(text)):
        return _UNSURE if len(text) > _MOST_DIGITS or math.isinf(float(text)) else _number(text)
    return text


def _number(text: str) -> int | float:
    return int(text) if _INT.match(text) else float(text)


def _syntax_error(error: yaml.MarkedYAMLError, text: str, name: str) -> NoReturn:
    if left := _CONFLICT.search(text):
        line = text.count("\n", 0, left.start()) + 1
        raise InputError(f"{name}, line {line}: git left a conflict here; keep one of its sides") from error
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    problem = error.problem or "cannot be parsed"
    if "escape" in problem:
        problem += "; a pattern with backslashes belongs in single quotes, as in '\\d+'"
    raise InputError(f"{name}, line {line}: not valid YAML: {problem}") from error


class _Builder:
    """Turns composed nodes into plain values and notes the line of each."""

    def __init__(self, text: str, name: str, lines: dict[Location, int], most: int) -> None:
        self.text, self.name, self.lines, self.most, self.count = text, name, lines, most, 0
        self.blocks: set[Location] = set()

    def fail(self, node: Any, message: str) -> NoReturn:
        raise InputError(f"{self.name}, line {node.start_mark.line + 1}: {message}")

    def build(self, node: Any, at: Location) -> Any:
        self.count += 1
        if self.count > self.most:
            self.fail(node, f"aliases expand beyond {self.most} values; write the values out")
        if len(at) > 60:
            self.fail(node, "nested more than 60 deep")
        self.lines[at] = node.start_mark.line + 1
        if node.tag is not None and not _plain_tag(node):
            self.fail(node, f"tag {node.tag!r} is not allowed; write a plain value")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, at)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child, (*at, index)) for index, child in enumerate(node.value)]
        return self.scalar(node)

    def mapping(self, node: Any, at: Location) -> dict[str, Any]:
        built: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.fail(key_node, "a key must be plain text")
            key = key_node.value
            if key == "<<" and not key_node.style:
                self.fail(
                    key_node, "the merge key `<<` is not read; write the keys out, or give a whole value an alias"
                )
            if key in built:
                self.fail(key_node, f"key {key!r} stands twice in one mapping; keep one")
            built[key] = self.build(value_node, (*at, key))
            if key == "id" and not getattr(value_node, "style", None) and _PADDED.match(str(built[key])):
                self.fail(value_node, f"id {built[key]} is a number to other readers of YAML; put it in quotes")
            self.lines[(*at, key)] = key_node.start_mark.line + 1
            if value_node.start_mark.line == key_node.start_mark.line and getattr(value_node, "style", "") == "|":
                self.blocks.add((*at, key))
        return built

    def scalar(self, node: Any) -> Any:
        text: str = node.value
        if node.style == '"' and (
            _CONTROL.search(text) or _LOST.search(self.text, node.start_mark.index, node.end_mark.index)
        ):
            self.fail(node, f"a backslash was lost in double quotes ({text!r}); write the pattern in single quotes")
        if node.style:
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        return self.number(node, text) if _INT.match(text) or _FLOAT.match(text) else text

    def number(self, node: Any, text: str) -> int | float:
        if len(text) > _MOST_DIGITS:
            self.fail(
                node, f"a number of {len(text)} characters ({text[:20]}…); write a shorter one, or text in quotes"
            )
        number = _number(text)
        if not math.isfinite(number):
            self.fail(node, f"{text} is more than a number can be; write a finite number, or text in quotes")
        return number


def _plain_tag(node: Any) -> bool:
    return node.tag in {
        "!",
        "tag:yaml.org,2002:str",
        "tag:yaml.org,2002:seq",
        "tag:yaml.org,2002:map",
    }


class _Dumper(yaml.SafeDumper):
    """Writes texts so that the strict reader gives them back: quoted whenever a plain scalar would change."""

    ESCAPE_REPLACEMENTS: ClassVar = {  # type: ignore[misc]  # the stubs take the class attribute for one of instances
        char: escape for char, escape in yaml.SafeDumper.ESCAPE_REPLACEMENTS.items() if escape not in "LNP_"
    }


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if _SEPARATOR.search(text):  # a line break to YAML 1.1, which other styles would fold
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
    readable = "\n" in text and not _CONTROL.search(text) and not any(x != x.rstrip() for x in text.split("\n"))
    if readable and text.isprintable() is False and "\t" not in text and not text.startswith((" ", "\n")):
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
    if text in _CONSTANTS or _INT.match(text) or _FLOAT.match(text) or _PADDED.match(text):
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text)


_Dumper.add_representer(str, _represent_text)


def dump_yaml(value: Any) -> str:
    """`value` as YAML that `parse_yaml` reads back unchanged, keys in the order given."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def read_as(
    model: type[Model], document: Document, inside: Location = (), context: Mapping[str, Any] | None = None
) -> Model:
    """What a person wrote at `inside` of a document, as a `model`; InputError names file, line and key."""
    value = document.value
    for key in inside:
        value = value[key]
    try:
        return model.model_validate_json(json.dumps(value, ensure_ascii=False), context=context)
    except ValidationError as error:
        problem = problem_of(error)
        elsewhere = _known_at(model, str(problem.at[-1])) if problem.unknown else ""
        raise InputError(_placed(problem, document, inside) + elsewhere) from error


def first_problem(error: ValidationError, document: Document) -> str:
    """One sentence for the first problem pydantic found in a document, placed in the file."""
    return _placed(problem_of(error), document)


def _placed(problem: Problem, document: Document, inside: Location = ()) -> str:
    return f"{document.where((*inside, *problem.at), problem.below)}: {problem.said}"


def _known_at(model: type[BaseModel], key: str) -> str:
    """At which levels of a document `key` is known, when it stands at another; nothing where it is known at none."""
    known = [level for level, one in _levels(model, "the file as a whole", set()) if key in _keys(one)]
    return f"; {key!r} is a key of {', or of '.join(dict.fromkeys(known))}" if known else ""


def _levels(model: type[BaseModel], name: str, seen: set[type[BaseModel]]) -> Iterator[tuple[str, type[BaseModel]]]:
    """Every model that a document may hold, each once, with the words for its level."""
    if model in seen:
        return
    seen.add(model)
    yield name, model
    for key, field_ in _keys(model).items():
        for inner in _models_in(field_.annotation):
            many = get_origin(field_.annotation) in {tuple, Mapping}
            yield from _levels(inner, f"each of `{key}`" if many else f"`{key}`", seen)


def _keys(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {one.alias or name: one for name, one in model.model_fields.items()}


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


class Problem(NamedTuple):
    """What is wrong with something that a person wrote: where, and in words with the value and what would be right."""

    at: Location
    said: str
    below: int = 0
    """Which line of the text at `at` is meant, from 1; 0 for none."""
    unknown: bool = False
    """`at` ends with a key that is not known there, where none is missing that it may stand for."""

    def inside(self) -> PydanticCustomError:
        """This problem as one of a field of another model, which `problem_of` then gives back with its whole place."""
        return PydanticCustomError("placed", "{message}", {"message": self.said, **self._asdict()})


def problem_of(error: ValidationError) -> Problem:
    """The first problem; an unknown key comes before the missing one whose spelling it may be."""
    problems = error.errors(include_url=False)
    first, at = problems[0], problems[0]["loc"]
    unknown = [p["loc"] for p in problems if p["type"] == "extra_forbidden" and p["loc"][:-1] == at[:-1]]
    missing = [str(p["loc"][-1]) for p in problems if p["type"] == "missing" and p["loc"][:-1] == at[:-1]]
    if unknown and first["type"] in {"missing", "extra_forbidden"}:
        at = next((one for one in unknown if _likely(str(one[-1]), missing)), unknown[0])
        return Problem(at, unknown_key(str(at[-1]), missing), unknown=not missing)
    context = first.get("ctx", {})
    while at and _BRANCH.match(str(at[-1])):
        at = at[:-1]
    place, said = (*at, *context.get("at", ())), _said(first, at, context)
    return Problem(place, said, context.get("below", 0), context.get("unknown", False))


def unknown_key(key: str, missing: Sequence[str]) -> str:
    """What is said of a key that is not known where it stands, and where the keys `missing` are asked for."""
    if meant := _likely(key, missing):
        return f"unknown key {key!r}; did you mean {meant!r}, which is missing?"
    asked = f"; {missing[0]!r} is missing here" if missing else ""
    return f"unknown key {key!r}{asked}; remove it or correct its spelling"


def _likely(key: str, names: Sequence[str]) -> str:
    """The one of `names` that `key` may be a misspelling of, or nothing."""
    by_lower = {name.lower(): name for name in names}
    return next((by_lower[name] for name in get_close_matches(key.lower(), by_lower, 1)), "")


_KINDS = {
    ("tuple", "list", "set", "frozen_set"): "a list, as in [a, b]",
    ("dict", "model", "mapping", "model_attributes"): "a mapping, as in {key: value}",
    ("bool",): "true or false, without quotes",
    ("int",): "a whole number, without quotes",
    ("float", "finite_number"): "a number, without quotes",
}
_WANTED = {
    f"{kind}_{ending}": words
    for kinds, words in _KINDS.items()
    for kind in kinds
    for ending in ("type", "parsing", "from_float")
}
_BOUNDS = {
    "greater_than": "above {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "below {lt:g}",
    "less_than_equal": "at most {le:g}",
    "literal_error": "{expected}",
    "string_pattern_mismatch": "spelt as {pattern} asks",
    "string_too_long": "at most {max_length} characters long",
}
_SPELT = {
    "^[A-Za-z0-9][A-Za-z0-9._-]*$": "made of letters, digits, dots, - and _, and begin with a letter or digit",
    "^[A-Za-z_][A-Za-z0-9_.-]*$": "made of letters, digits, dots, - and _, and begin with a letter or _",
    "^[a-z0-9][a-z0-9-]{0,59}$": "made of at most 60 small letters, digits and -, and begin with a letter or digit",
}
"""What the patterns of names mean; any other is shown as it is."""


def _said(problem: Any, at: Location, context: Mapping[str, Any]) -> str:
    """What pydantic found at `at`, in words of the file's author."""
    kind, given, name = problem["type"], problem["input"], at[-1] if at else ""
    if kind == "missing":
        return f"key {name!r} is missing; add it" if isinstance(name, str) else f"value {name + 1} is missing; add it"
    called = repr(name) if isinstance(name, str) and name else "what stands here"
    if given is None and "_type" in kind:
        return f"{called} is left blank; give {_WANTED.get(kind, 'some text')}"
    if kind == "string_type":
        return f"{_shown(given)} must be text; put it in quotes"
    if kind in {"too_short", "string_too_short"} and not given:
        return f"{called} is empty; give at least one" + ("" if kind == "too_short" else " character")
    if kind in {"too_short", "too_long"}:
        bound = f"at least {context['min_length']}" if kind == "too_short" else f"at most {context['max_length']}"
        return f"{_shown(given)} holds {context['actual_length']} values; give {bound}"
    wanted = _WANTED.get(kind) or _SPELT.get(context.get("pattern", "")) or _BOUNDS.get(kind, "").format_map(context)
    if wanted:
        return f"{_shown(given)} must be {wanted}"
    message = str(problem["msg"]).removeprefix("Value error, ")
    value = str(given)[:80] if isinstance(given, str | int | float) and "message" not in context else ""
    shown = f" (given: {value!r})" if value and str(given) not in message else ""
    return f"{message[:1].lower()}{message[1:]}{shown}"


def _shown(given: Any) -> str:
    """A value as its author may have written it, in at most 80 characters."""
    if given is None:
        return "null"
    text = repr(given) if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:79]}…"
