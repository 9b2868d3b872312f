"""What a run produces: samples, turns, verdicts, outcomes, and the columns they are stored in."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ERROR_STATUSES",
    "POST_HOC_LABEL",
    "PREDICTED_LATE",
    "STRICT",
    "Outcome",
    "Sample",
    "SampleKey",
    "ToolCall",
    "Turn",
    "Usage",
    "Verdict",
    "canonical_json",
    "digest",
    "json_problem",
    "judged_by",
    "samples_schema",
    "storable",
    "turns_schema",
    "verdicts_schema",
    "whole_seconds",
]

SampleStatus = Literal["completed", "crashed", "timed_out", "harness_error", "provider_error"]
VerdictStatus = Literal["scored", "not_applicable", "not_scored"]
OutcomeStatus = Literal["scored", "error", "not_scored"]
Origin = Literal["computed", "carried", "recorded"]
SampleKey = tuple[str, int]
"""(case_id, sample) inside one run; sample counts from 1."""

ERROR_STATUSES = frozenset({"harness_error", "provider_error"})
"""Sample statuses that are not the target's own doing."""

STRICT = "strict"
POST_HOC_LABEL = "chosen after reading the answers"
PREDICTED_LATE = "predicted after preview"
"""Stands beside the label of a rescoring whose expected flips were edited after a preview."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
SCHEMA_VERSION = "3"
"""1 had no `calls` in verdicts, 2 no `cached_tokens` in samples and turns; such files are still read."""


def storable(text: str) -> str:
    r"""`text` with NULs and lone surrogates, which no table can hold, written out as in `\u0000`."""
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub(lambda hit: f"\\u{ord(hit[0]):04x}", text)


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical_json(value: object) -> str:
    """The one JSON spelling of `value` that digests are taken of: sorted keys, no blanks, UTF-8 as is."""
    return _CANONICAL.encode(value)


_DEEPEST = 100
_MOST_DIGITS = 300
"""Of an integer that still is a finite float."""


def json_problem(value: object, depth: int = _DEEPEST) -> str:
    """Why `value` cannot be stored as JSON and read back, as in "holds NaN"; empty when it can."""
    if value is None or isinstance(value, str | bool):
        return ""
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"holds {value}, which JSON does not have"
    if isinstance(value, int):
        return "" if abs(value) < 10**_MOST_DIGITS else f"holds an integer of more than {_MOST_DIGITS} digits"
    if not isinstance(value, Mapping | list | tuple):
        return f"holds a {type(value).__name__}, which JSON does not have"
    if not depth:
        return f"is nested more than {_DEEPEST} deep"
    if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
        return "holds a key that is no text"
    inner = value.values() if isinstance(value, Mapping) else value
    return next((problem for one in inner if (problem := json_problem(one, depth - 1))), "")


def digest(value: object, length: int = 64) -> str:
    """SHA-256 of the canonical JSON of `value` as lower-case hex, cut to `length` characters."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:length]


def whole_seconds(time: str) -> str:
    """An ISO time as people read it: without fractions of a second; any other text as it is."""
    try:
        return datetime.fromisoformat(time).isoformat(timespec="seconds")
    except ValueError:
        return time


def judged_by(judges: Iterable[str]) -> tuple[list[str], str]:
    """The models behind verdicts' `judge` texts, and their calibration ids.

    `uncalibrated` as soon as one verdict has none, or where no verdict says who judged.
    """
    said = [json.loads(text) for text in sorted({text for text in judges if text})]
    ids = {str(one.get("calibration") or "uncalibrated") for one in said} or {"uncalibrated"}
    calibration = "uncalibrated" if "uncalibrated" in ids else ", ".join(sorted(ids))
    return sorted({str(one.get("model") or "unnamed") for one in said}), calibration


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one or more model calls; None where the provider did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    calls: int = 0
    cost_usd: float | None = None
    cached_tokens: int | None = None
    """Of the input tokens, those that the provider read from its cache."""

    def __add__(self, other: Usage) -> Usage:
        def add(a: Any, b: Any) -> Any:
            return b if a is None else a if b is None else a + b

        return Usage(
            add(self.input_tokens, other.input_tokens),
            add(self.output_tokens, other.output_tokens),
            self.calls + other.calls,
            add(self.cost_usd, other.cost_usd),
            add(self.cached_tokens, other.cached_tokens),
        )


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call as a client sees it: name, arguments, and what came back."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: str | None = None
    """What the tool gave, as text (JSON where it was structured); None where nothing came back, or an error."""
    error: str | None = None
    id: str = ""
    """The call's id on the wire; empty where the protocol or the source has none."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one step produced."""

    step: int
    """The step's position in the case, from 1."""
    request: str
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolCall, ...] = ()
    """Results that answer no call of this turn, as of a write that was approved only now: name, id, result."""
    pending: tuple[ToolCall, ...] = ()
    """Guarded calls the target proposed and left open for a person to decide."""
    partials: tuple[str, ...] = ()
    """Streamed pieces; never counted as usage."""
    usage: Usage = Usage()
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Sample:
    """One execution of one case. Key: (run_id, case_id, sample)."""

    run_id: str
    case_id: str
    sample: int
    """Counts from 1."""
    status: SampleStatus = "completed"
    error: str = ""
    """Why the status is not `completed`, in one sentence."""
    turns: tuple[Turn, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    """Text files the target wrote, path to content."""
    answer: str = ""
    """The final text: `answer.md` where the target wrote one, else the last turn's text."""
    exit_code: int | None = None
    recorded: tuple[str, ...] = ()
    """What the target stored outside its answer (incidents, memories, notes), one text each."""
    flags: tuple[str, ...] = ()
    """Remarks on the record itself, e.g. `escaped` when NULs or lone surrogates were escaped."""
    seed: int | None = None
    started: str = ""
    """UTC, ISO 8601 with offset; empty when the source does not say."""
    duration_s: float = 0.0
    usage: Usage = Usage()
    source: str = ""
    """Where an imported sample came from, as JSON text: set, line or index; empty for own runs."""
    earlier: tuple[Turn, ...] = ()
    """The turns before these, where a sample was narrowed to a step; never stored."""

    @property
    def key(self) -> SampleKey:
        """(case_id, sample)."""
        return (self.case_id, self.sample)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """All tool calls in order, over all turns."""
        return tuple(call for turn in self.turns for call in turn.tool_calls)

    def at(self, turn: Turn) -> Sample:
        """This sample as if `turn` were all of it; the last turn keeps the sample's own final text."""
        answer = self.answer if turn is self.turns[-1] else turn.text
        before = tuple(one for one in self.turns if one.step < turn.step)
        return replace(self, turns=(turn,), answer=answer, earlier=self.earlier + before)


class Verdict(NamedTuple):
    """One check on one sample; a tuple, which takes a seventh of a frozen dataclass's time, and runs make millions."""

    case_id: str
    sample: int
    check_id: str
    status: VerdictStatus
    reason: str
    """Always there, also for a pass."""
    value: float | None = None
    """0..1, enters the score; None unless scored."""
    raw: float | None = None
    """The check's own units (a judge's 1..5); None unless scored."""
    passed: bool | None = None
    """None unless scored."""
    spans: tuple[int, ...] = ()
    """Hits in the answer: start, end, start, end, ... in code points, end exclusive."""
    calls: tuple[int, ...] = ()
    """Tool calls that decided it: step, place in that step's calls from 1, step, place, ..."""
    critical: bool = False
    weight: float = 1.0
    stochastic: bool = False
    origin: Origin = "computed"
    """`recorded` by the source of an import; `carried` over from strict by a rescoring."""
    decides: str = ""
    """Digest of everything that can change this verdict; empty when the criteria are unpublished."""
    judge: str = ""
    """JSON text naming the judge (model, prompt digest, votes); empty for deterministic checks."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The fold of one sample's verdicts under one view."""

    case_id: str
    sample: int
    status: OutcomeStatus
    passed: bool | None
    """None when status is not `scored`."""
    score: float | None
    """Weighted mean in 0..1; None when it could not be had."""
    failed: tuple[str, ...] = ()
    """Ids of the checks that stand against it."""
    reason: str = ""


def samples_schema() -> pa.Schema:
    """Arrow columns of `samples.parquet`, one row per sample."""
    import pyarrow as pa

    s, i, f = pa.string(), pa.int64(), pa.float64()
    return pa.schema(
        [
            *_key_fields(pa),
            pa.field("status", s, nullable=False),
            pa.field("error", s, nullable=False),
            pa.field("answer", s, nullable=False),
            pa.field("files", s, nullable=False),  # JSON object, path to text
            pa.field("exit_code", i),
            pa.field("recorded", s, nullable=False),  # JSON list of texts
            pa.field("flags", s, nullable=False),  # JSON list of texts
            pa.field("seed", i),
            pa.field("started", pa.timestamp("us", tz="UTC")),
            pa.field("duration_s", f, nullable=False),
            pa.field("input_tokens", i),
            pa.field("output_tokens", i),
            pa.field("calls", i, nullable=False),
            pa.field("cost_usd", f),
            pa.field("cached_tokens", i),
            pa.field("source", s, nullable=False),
        ]
    )


def turns_schema() -> pa.Schema:
    """Arrow columns of `turns.parquet`, one row per turn."""
    import pyarrow as pa

    s, i, f = pa.string(), pa.int64(), pa.float64()
    return pa.schema(
        [
            *_key_fields(pa),
            pa.field("step", pa.int32(), nullable=False),
            pa.field("request", s, nullable=False),
            pa.field("text", s, nullable=False),
            pa.field("tool_calls", s, nullable=False),  # JSON list of {name, arguments, result, error}
            pa.field("pending", s),  # JSON object
            pa.field("partials", s, nullable=False),  # JSON list of texts
            pa.field("input_tokens", i),
            pa.field("output_tokens", i),
            pa.field("calls", i, nullable=False),
            pa.field("cost_usd", f),
            pa.field("cached_tokens", i),
            pa.field("duration_s", f, nullable=False),
        ]
    )


def verdicts_schema() -> pa.Schema:
    """Arrow columns of `verdicts.parquet`, one row per verdict."""
    import pyarrow as pa

    s, f, b = pa.string(), pa.float64(), pa.bool_()
    return pa.schema(
        [
            *_key_fields(pa),
            pa.field("check_id", s, nullable=False),
            pa.field("status", s, nullable=False),
            pa.field("value", f),
            pa.field("raw", f),
            pa.field("passed", b),
            pa.field("reason", s, nullable=False),
            pa.field("spans", pa.list_(pa.int32()), nullable=False),
            pa.field("calls", pa.list_(pa.int32()), nullable=False),
            pa.field("critical", b, nullable=False),
            pa.field("weight", f, nullable=False),
            pa.field("stochastic", b, nullable=False),
            pa.field("origin", s, nullable=False),
            pa.field("decides", s, nullable=False),
            pa.field("judge", s, nullable=False),
        ]
    )


def _key_fields(pa: Any) -> list[Any]:
    return [
        pa.field("run_id", pa.string(), nullable=False),
        pa.field("case_id", pa.string(), nullable=False),
        pa.field("sample", pa.int32(), nullable=False),
    ]
