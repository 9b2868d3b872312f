"""Strict YAML: what the author wrote is what the program gets, and every complaint names file and line."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from evallib.errors import InputError

__all__ = ["Document", "Location", "Written", "dump_yaml", "first_problem", "load_yaml", "parse_yaml"]

Location = tuple[str | int, ...]

# The YAML 1.2 core schema, less its octal and hexadecimal forms: `012`, `no`, `on`, `12:30:00` and dates stay text.
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(
    r"[-+]?(?:0|[1-9][0-9]*)?(?:\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z|[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+\Z"
)
_CONSTANTS = {"true": True, "True": True, "false": False, "False": False, "null": None, "~": None, "": None}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LOST = re.compile(r"(?<!\\)(?:\\\\)*(\\[LNP_])")
"""Escapes of double quotes for separators and blanks that nobody types: meant was a pattern's backslash."""
_SEPARATOR = re.compile("[\x85\u2028\u2029]")
_MOST_DIGITS = 300
"""Of an integer: more would be no finite number to JSON's readers."""
_MOST_PER_BYTE = 10


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
        _syntax_error(error, name)
    except yaml.YAMLError as error:
        raise InputError(f"{name}: not YAML: {str(error).splitlines()[0]}") from error
    lines: dict[Location, int] = {}
    if node is None:
        return Document(None, lines, name)
    most = _MOST_PER_BYTE * len(text) + 1000  # without aliases a text holds fewer values than characters
    builder = _Builder(text, name, lines, most)
    return Document(builder.build(node, ()), lines, name, builder.blocks)


def _syntax_error(error: yaml.MarkedYAMLError, name: str) -> NoReturn:
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
            if key in built:
                self.fail(key_node, f"key {key!r} stands twice in one mapping; keep one")
            built[key] = self.build(value_node, (*at, key))
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
        number = int(text) if _INT.match(text) else float(text)
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
    if text in _CONSTANTS or _INT.match(text) or _FLOAT.match(text):
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text)


_Dumper.add_representer(str, _represent_text)


def dump_yaml(value: Any) -> str:
    """`value` as YAML that `parse_yaml` reads back unchanged, keys in the order given."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def first_problem(error: ValidationError, document: Document) -> str:
    """One sentence for the first problem pydantic found, placed in the file."""
    problem = error.errors(include_url=False)[0]
    at = (*problem["loc"], *problem.get("ctx", {}).get("at", ()))
    key = at[-1] if at else ""
    if problem["type"] == "extra_forbidden":
        return f"{document.where(at)}: unknown key {key!r}; remove it or correct its spelling"
    if problem["type"] == "missing":
        return f"{document.where(at)}: key {key!r} is missing; add it"
    if problem["type"] == "string_type":
        return f"{document.where(at)}: {problem['input']!r} must be text; put it in quotes"
    message = problem["msg"].removeprefix("Value error, ")
    given = problem["input"] if isinstance(problem["input"], str | int | float) else ""
    below = problem.get("ctx", {}).get("below", 0)
    shown = f" (given: {str(given)[:80]!r})" if given != "" and str(given) not in message else ""
    return f"{document.where(at, below)}: {message[:1].lower()}{message[1:]}{shown}"
