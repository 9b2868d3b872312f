"""Berth's published adjudication log: a Markdown table of readings made by people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn, cast

from evallib.errors import InputError
from evallib.importers.base import read_source

__all__ = ["PublishedReading", "read_berth_readings"]

_COLUMNS = ["Result set", "Scenario", "Run", "Strict result", "Reading", "Why"]
_READINGS = {"PASS": "pass", "FAIL": "fail", "INFRA": "infra"}
_STRICT = re.compile(r"(?:FAIL: (?P<checks>[\w.-]+(?:, [\w.-]+)*)|ERROR \(.+\)|PASS)\Z")
_COUNTS = re.compile(r"(\d+) runs adjudicated: (\d+) PASS\b.*?, (\d+) FAIL\b.*?, (\d+) INFRA\b")
_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class PublishedReading:
    """One row of the log: what a person made of one stored run."""

    set: str
    scenario: str
    repeat: int
    strict: str
    """The strict result in the log's words."""
    failed_checks: tuple[str, ...]
    reading: Literal["pass", "fail", "infra"]
    reason: str


def read_berth_readings(path: Path) -> tuple[PublishedReading, ...]:
    """Every reading in the log, in its order; InputError names the line that is no reading."""
    text = read_source(path).text.replace("\0", "\\u0000")
    rows = list(_rows(path, text.splitlines()))
    readings: dict[tuple[str, str, int], PublishedReading] = {}
    for line, cells in rows:
        reading = _reading(f"{path}, line {line}", cells)
        key = (reading.set, reading.scenario, reading.repeat)
        if key in readings:
            _fail(f"{path}, line {line}", f"run {reading.repeat} of {reading.scenario!r} is read twice; keep one row")
        readings[key] = reading
    _refuse_wrong_counts(path, text, list(readings.values()))
    return tuple(readings.values())


def _fail(where: str, problem: str) -> NoReturn:
    raise InputError(f"{where}: {problem}")


def _rows(path: Path, lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The table's rows below its heading, each with its line number."""
    start = next((index for index, line in enumerate(lines) if _cells(line) == _COLUMNS), None)
    if start is None:
        _fail(str(path), f"no table with the columns {', '.join(_COLUMNS)}; expected Berth's adjudication log")
    rule = _cells(lines[start + 1]) if start + 1 < len(lines) else []
    if len(rule) != len(_COLUMNS) or not all(re.fullmatch(r":?-+:?", cell) for cell in rule):
        _fail(f"{path}, line {start + 2}", "expected the rule |---| of the table under its heading")
    for index in range(start + 2, len(lines)):
        if not lines[index].strip():
            return
        cells = _cells(lines[index])
        if len(cells) != len(_COLUMNS):
            _fail(
                f"{path}, line {index + 1}", f"a row has {len(_COLUMNS)} cells between bars, this line has {len(cells)}"
            )
        yield index + 1, cells


def _cells(line: str) -> list[str]:
    line = line.strip()
    if not (line.startswith("|") and line.endswith("|") and len(line) > 1):
        return []
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(line[1:-1])]


def _reading(where: str, cells: list[str]) -> PublishedReading:
    set_name, scenario = cells[0].strip("`"), cells[1].strip("`")
    if not set_name or not scenario:
        _fail(where, "a row names a result set and a scenario")
    if not re.fullmatch(r"[1-9][0-9]{0,8}", cells[2]):
        _fail(where, f"run is {cells[2]!r}; expected a number from 1")
    strict = _STRICT.match(cells[3])
    if not strict:
        _fail(where, f"strict result is {cells[3]!r}; expected `FAIL: check, check`, `ERROR (why)` or `PASS`")
    word = cells[4].strip("*")
    if word not in _READINGS:
        _fail(where, f"reading is {cells[4]!r}; expected one of {', '.join(_READINGS)}")
    if not cells[5]:
        _fail(where, "a reading needs a reason in its last cell")
    failed = tuple(strict["checks"].split(", ")) if strict["checks"] else ()
    reading = cast("Literal['pass', 'fail', 'infra']", _READINGS[word])
    return PublishedReading(set_name, scenario, int(cells[2]), cells[3], failed, reading, cells[5])


def _refuse_wrong_counts(path: Path, text: str, readings: list[PublishedReading]) -> None:
    """The log closes with its own counts: the only way to notice that rows were cut off."""
    closing = _COUNTS.search(text)
    if not closing:
        _fail(str(path), "the closing line `N runs adjudicated: ...` is missing; the file may be cut, fetch it again")
    count = Counter(reading.reading for reading in readings)
    found = [len(readings), count["pass"], count["fail"], count["infra"]]
    told = [int(number) for number in closing.groups()]
    if found != told:
        line = text[: closing.start()].count("\n") + 1
        _fail(f"{path}, line {line}", f"the log counts {told} rows, pass, fail, infra; its table has {found}")
