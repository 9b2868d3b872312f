"""What every importer shares: the run it gives back, and strict reading of files that other tools wrote."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from evallib.errors import InputError
from evallib.records import Sample, Verdict, json_problem, storable
from evallib.strict_json import StrictJSONError, read_json
from evallib.strict_yaml import dump_yaml

__all__ = [
    "Escaped",
    "Fields",
    "Imported",
    "SourceFile",
    "escape",
    "identifier",
    "parse_json",
    "printable",
    "read_source",
    "recorded_suite",
]

_LFS = "version https://git-lfs.github.com/spec/"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}\Z")
_WRITTEN_UNSTORABLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_UNREADABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_ABSENT: Any = object()
_INT64 = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Imported:
    """A run as its source recorded it; no verdict is recomputed."""

    suite_yaml: str
    """A suite of `recorded` checks that describes the run."""
    samples: tuple[Sample, ...]
    """Their run_id is empty: the store stamps it."""
    verdicts: tuple[Verdict, ...]
    target: Mapping[str, Any]
    """Identity of what was tested, as far as the source says."""
    source: Mapping[str, Any]
    """Format, set, file name, bytes and sha256 of the file."""
    skipped: tuple[str, ...] = ()
    """Records that could not be read, one sentence each."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as it was read, once: what is hashed is what is parsed."""

    path: Path
    text: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """The file's name, without what could not be written to UTF-8 or would break a line."""
        return " ".join(self.path.name.encode("utf-8", "replace").decode().split())

    def identity(self, format_name: str, set_name: str) -> dict[str, Any]:
        """The `source` of an import: enough to tell later whether a file is the one that was read."""
        return {
            "format": format_name,
            "set": set_name,
            "path": self.name,
            "bytes": self.size,
            "sha256": self.sha256,
        }


def read_source(path: Path, *, inside: str = "") -> SourceFile:
    """The UTF-8 text of `path`, or of the file `inside` it where it is a folder; InputError when there is none."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        if inside:
            return read_source(path / inside)
        raise InputError(f"{path}: is a folder; name the file in it") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); fetch the original file again") from error
    if not text.strip():
        raise InputError(f"{path}: the file is empty; fetch the original file again")
    if text.startswith(_LFS):
        raise InputError(f"{path}: is a Git LFS pointer, not the content; fetch the content with `git lfs pull`")
    return SourceFile(path, text, len(content), hashlib.sha256(content).hexdigest())


def parse_json(text: str, where: str) -> Any:
    """The JSON value of `text`; NaN, infinities, repeated keys and cut texts are refused with the place."""
    try:
        return read_json(text)
    except StrictJSONError as error:
        raise InputError(f"{where}: {error}; correct it at the source") from error
    except json.JSONDecodeError as error:
        place = where if text.count("\n") == 0 else f"{where}, line {error.lineno}"
        at_end = error.pos >= len(text.rstrip()) - 1 or "Unterminated" in error.msg
        cut = "; the file may be cut short" if at_end else ""
        problem = f"not valid JSON at column {error.colno} ({error.msg}){cut}"
        raise InputError(f"{place}: {problem}; fetch the original file again") from error
    except (RecursionError, ValueError) as error:
        raise InputError(f"{where}: JSON that is nested too deep or holds a number too long to read") from error


class Escaped(NamedTuple):
    """A value that can be stored, and whether anything had to be spelled out."""

    value: Any
    changed: bool


def escape(value: Any, written: str) -> Escaped:
    r"""`value` with NULs and lone surrogates spelled out as `\u0000`; `written` is the JSON text it was read from.

    Parquet text can hold neither, and an answer must not be lost because of one. Most files hold none, and one
    search of the text is far cheaper than a walk through every value.
    """
    return _escape(value) if _WRITTEN_UNSTORABLE.search(written) else Escaped(value, changed=False)


def _escape(value: Any) -> Escaped:
    if isinstance(value, str):
        found = storable(value)
        return Escaped(found, found != value)
    if isinstance(value, list):
        parts = [_escape(part) for part in value]
        return Escaped([part.value for part in parts], any(part.changed for part in parts))
    if isinstance(value, dict):
        pairs = [(_escape(key), _escape(part)) for key, part in value.items()]
        changed = any(key.changed or part.changed for key, part in pairs)
        return Escaped({key.value: part.value for key, part in pairs}, changed)
    return Escaped(value, changed=False)


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object of a source, read key by key; each complaint names the object's place and the key.

    A reader without a `default` refuses a missing key; with one, a missing key or null gives the default.
    """

    where: str
    value: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, value: object, where: str) -> Fields:
        """`value` as an object; InputError when it is something else."""
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected a JSON object, found {_kind(value)}; is this the right format?")
        return cls(where, value)

    def fail(self, problem: str) -> NoReturn:
        """Refuse this object for `problem`."""
        raise InputError(f"{self.where}: {problem}")

    def text(self, key: str, *, default: str = _ABSENT) -> str:
        """The text under `key`."""
        found: str = self._typed(key, "text", str, default)
        return found

    def flag(self, key: str, *, default: bool = _ABSENT) -> bool:
        """The true or false under `key`."""
        found: bool = self._typed(key, "true or false", bool, default)
        return found

    def whole(self, key: str, *, least: int = 0, most: int = _INT64, default: int = _ABSENT) -> int:
        """The whole number under `key`, within its bounds."""
        found: int = self._typed(key, "a whole number", int, default)
        if not least <= found <= most:
            self.fail(f"key {key!r} is {found}; expected {least} to {most}")
        return found

    def number(self, key: str, *, default: float = _ABSENT) -> float:
        """The number under `key`."""
        found: float = self._typed(key, "a number", (int, float), default)
        problem = json_problem(found)
        if problem:
            self.fail(f"key {key!r} {problem}; correct it at the source")
        return found

    def part(self, key: str) -> Fields:
        """The object under `key`."""
        return Fields(f"{self.where}, {key}", self._typed(key, "an object", dict, _ABSENT))

    def texts(self, key: str, *, default: tuple[str, ...] = _ABSENT) -> tuple[str, ...]:
        """The list of texts under `key`."""
        found = self._typed(key, "a list of texts", list, default)
        if not all(isinstance(one, str) for one in found):
            self.fail(f"key {key!r} must be a list of texts only")
        return tuple(found)

    def parts(self, key: str) -> Iterator[Fields]:
        """The objects in the list under `key`; their places count from 1."""
        for index, one in enumerate(self._typed(key, "a list of objects", list, _ABSENT), 1):
            yield Fields.of(one, f"{self.where}, {key} {index}")

    def only(self, *known: str) -> None:
        """Refuse any key that is not in `known`."""
        unknown = [key for key in self.value if key not in known]
        if unknown:
            self.fail(f"unknown key {unknown[0]!r}; this importer knows {', '.join(known)}")

    def has(self, key: str) -> bool:
        """Whether `key` is there and not null."""
        return self.value.get(key) is not None

    def _typed(self, key: str, kind: str, types: Any, default: Any) -> Any:
        found = self.value.get(key)
        if found is None:
            if default is not _ABSENT:
                return default
            problem = "is null" if key in self.value else "is missing"
            self.fail(f"key {key!r} {problem}; expected {kind}")
        # A bool is an int to Python, never to the author of a JSON file.
        if not isinstance(found, types) or (isinstance(found, bool) and types is not bool):
            self.fail(f"key {key!r} is {_kind(found)}; expected {kind}")
        return found


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", type(None): "null"}
    return names.get(type(value), repr(value)[:60])


def identifier(fields: Fields, key: str) -> str:
    """The text under `key`, fit to name a case, a check or a suite."""
    name = fields.text(key)
    if not _ID.match(name):
        fields.fail(f"key {key!r} is {name[:60]!r}; a name has letters, digits, '.', '_', '-' and at most 120 of them")
    return name


def recorded_suite(name: str, description: str, cases: list[dict[str, Any]]) -> str:
    """The text of a suite that describes a recorded run: `cases` with their recorded checks."""
    suite = {"suite": name, "description": description, "pass": "critical", "recorded": True, "cases": cases}
    return dump_yaml(printable(suite))


def printable(value: Any) -> Any:
    """`value` with the control characters that YAML would have to escape replaced by U+FFFD."""
    if isinstance(value, str):
        return _UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", value.replace("\r\n", "\n"))
    if isinstance(value, list):
        return [printable(part) for part in value]
    if isinstance(value, dict):
        return {key: printable(part) for key, part in value.items()}
    return value
