"""What every target is: something that is given a case's requests and gives back what it did with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from evallib.case import Step
from evallib.domain import Tool
from evallib.records import SampleStatus, Turn, Usage
from evallib.suite import Deadlines

__all__ = ["DECISION_MARK", "ESCAPED", "TRUNCATED", "OpenTarget", "Setting", "Target", "TargetOptions", "TargetOutput"]

DECISION_MARK = "[From the approval desk, not from the user]"
"""How the message begins that tells a model what a person decided; in no request does it stand unchanged."""
ESCAPED = "escaped"
"""Flag: NULs or lone surrogates in a text were replaced by their visible escapes."""
TRUNCATED = "truncated"
"""Flag: a reply was cut because it reached its length limit."""


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """What the command line may say about a target; None leaves the suite's or the provider's own setting."""

    temperature: float | None = None
    max_tokens: int | None = None
    system: str | None = None
    """Replaces the suite's system prompt."""
    deadlines: Deadlines = field(default_factory=Deadlines)


@dataclass(frozen=True, slots=True)
class Setting:
    """All that a target may know beforehand: nothing of cases, keys and checks."""

    system: str = ""
    knowledge: Path | None = None
    """Folder of texts that the target may list and read."""
    folder: Path = Path()
    """Where the suite's file lies."""
    options: TargetOptions = field(default_factory=TargetOptions)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """Tools that evallib plays for the target: their declaration says what a call gives."""


@dataclass(frozen=True, slots=True)
class TargetOutput:
    """What a target did with one sample's steps."""

    status: SampleStatus = "completed"
    error: str = ""
    """Why the status is not `completed`, in one sentence."""
    turns: tuple[Turn, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""
    exit_code: int | None = None
    flags: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    recorded: tuple[str, ...] = ()


class Target(Protocol):
    """The thing under test, reached only from outside; one is shared by all threads of a run."""

    def identity(self) -> dict[str, Any]:
        """What tells this target from another, as JSON values: kind, model, parameters; no secrets, no free ports."""
        ...

    def preflight(self) -> None:
        """Make ready, and make sure that it answers; InfrastructureError otherwise."""
        ...

    def run(self, steps: tuple[Step, ...], *, seed: int, deadlines: Deadlines) -> TargetOutput:
        """One sample. Only what a step asks or decides may be sent on; failures are statuses, not exceptions."""
        ...

    def close(self) -> None:
        """Stop what `preflight` started; safe to call twice."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


OpenTarget = Callable[[str, Setting], Target]
"""Makes a target of the address written after `kind:`; the seam for targets of one's own."""
