"""Calls as a suite expects them: a tool and arguments, compared by containment unless a rule says otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError, WrapValidator, model_validator

from evallib.checks.base import FROM_KEY
from evallib.checks.tools import contains, spelled
from evallib.records import ToolCall
from evallib.strict_yaml import Written, problem_of

__all__ = ["Args", "ExpectedCall", "listed", "same"]

Args = Mapping[str, Any]


class ExpectedCall(Written):
    """A call that is looked for: of this tool, with at least these arguments."""

    tool: str = Field(min_length=1)
    args: Args = Field(default_factory=dict)
    exact: tuple[str, ...] = ()
    """Arguments that must be equal throughout, not only hold what is named."""
    ignore: tuple[str, ...] = ()
    """Arguments of `args` that are not compared, as a time stamp in a recorded call."""
    within: Mapping[str, float] = Field(default_factory=dict)
    """Number arguments to how far they may be off."""

    @model_validator(mode="after")
    def _rule_what_is_there(self) -> ExpectedCall:
        for name in (*self.exact, *self.ignore, *self.within):
            if name not in self.args:
                raise ValueError(f"a rule names argument {name!r}, which is not among the `args`")
        for name in self.within:
            if not _is_number(self.args[name]):
                raise ValueError(f"`within` is for numbers, and argument {name!r} is none")
        return self

    def misses(self, arguments: Args) -> tuple[str, ...]:
        """The arguments that do not agree."""
        return tuple(name for name in self.args if not self._agrees(name, arguments))

    def fits(self, arguments: Args) -> bool:
        """Whether all arguments agree."""
        return not self.misses(arguments)

    def _agrees(self, name: str, arguments: Args) -> bool:
        wanted = self.args[name]
        if name in self.ignore:
            return True
        if name in self.within:
            return _is_near(arguments.get(name), wanted, self.within[name])
        if name in self.exact:
            return name in arguments and _equal(arguments[name], wanted)
        return contains(arguments, {name: wanted})

    def __str__(self) -> str:
        """The call as a reason shows it."""
        return spelled(ToolCall(self.tool, self.args))


def same(one: object, other: object) -> bool:
    """Whether each holds all of the other: equal in value and type, an empty text like a key left out."""
    return contains(one, other) and contains(other, one)


def _equal(one: object, other: object) -> bool:
    """Whether two values are equal throughout, in value and type: a key with an empty text is a key."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return contains(one, other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_near(given: Any, wanted: Any, distance: float) -> bool:
    try:
        return _is_number(given) and bool(abs(given - wanted) <= distance)
    except OverflowError:  # an int beyond every float
        return False


def listed(model: type[ExpectedCall]) -> WrapValidator:
    """Reads a list of such calls, or keeps `key.NAME` where they stand in the answer key."""
    adapter = TypeAdapter(tuple[model, ...])  # type: ignore[valid-type]  # made here

    def read(value: Any, _: object) -> Any:
        if isinstance(value, str):
            if re.match(FROM_KEY, value):
                return value
            raise ValueError(f"{value!r} must be a list of calls, as in [{{tool: NAME}}], or a reference like key.NAME")
        try:
            return adapter.validate_json(json.dumps(value, default=lambda one: one.model_dump(mode="json")))
        except ValidationError as error:
            raise problem_of(error).inside() from error

    return WrapValidator(read)
