"""What a suite declares about the world of its target: the tools there are, and the entities that answers may name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from evallib.patterns import is_whole, refuse_broken
from evallib.strict_yaml import Written

__all__ = ["Domain", "EntityKind", "Returns", "Tool", "names_in"]

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$")]


class Returns(Written):
    """What a tool gives to some calls: the first of its answers whose conditions hold."""

    when: Mapping[str, Any] = Field(default_factory=dict)
    """The call has at least these arguments."""
    after: str = ""
    """This tool ran earlier in the same sample, as a guarded write does once it is approved, with the same values for
    the arguments that both calls have."""
    result: Any = None
    """Any JSON value; in its texts `{approver}`, `{rationale}` and `{ARGUMENT}`, an argument's name, are filled in.

    An approved write adds `audit` to it, unless it stands there: tool, arguments, approver, rationale."""
    error: str = ""
    """The tool fails with this sentence instead."""


class Tool(Written):
    """One tool of the target: what it takes, whether it changes anything, and what it gives where it is played."""

    description: str = ""
    arguments: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    """Argument to its JSON Schema; all are required but those whose schema has a `default`."""
    write: bool = False
    """It changes something outside the conversation."""
    guarded: bool = False
    """A call of it must be left open until a person approves it."""
    entities: Mapping[str, str] = Field(default_factory=dict)
    """Argument to the kind of entity it names, as in {name: service}."""
    returns: tuple[Returns, ...] = ()

    @model_validator(mode="after")
    def _guard_a_write(self) -> Tool:
        if self.guarded and not self.write:
            raise ValueError("`guarded: true` is for a tool that writes; add `write: true`")
        unknown = [name for name in self.entities if self.arguments and name not in self.arguments]
        if unknown:
            raise ValueError(f"`entities` names argument {unknown[0]!r}, which the tool does not take")
        return self


class EntityKind(Written):
    """The entities of one kind: names, a pattern for ids, and which of them are reserved for things that are not."""

    names: tuple[str, ...] = ()
    """Every name that exists."""
    pattern: str = ""
    """RE2 for ids of this kind, found as whole words in any case, as in `INC-[0-9]+`."""
    ambiguous: tuple[str, ...] = ()
    """Names that are ordinary words too: they count only where the wording claims the entity ("the cache service")."""
    reserved: tuple[str, ...] = ()
    """Names that are promised never to exist, for cases about what is not there."""

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        if pattern:
            refuse_broken(pattern, "i")
        return pattern

    @model_validator(mode="after")
    def _name_something(self) -> EntityKind:
        if not (self.names or self.pattern):
            raise ValueError("an empty vocabulary recognises nothing; give names or a pattern")
        both = sorted(set(self.names) & set(self.reserved))
        if both:
            raise ValueError(f"{both[0]!r} is both a name and reserved; a reserved name never exists")
        strange = [name for name in self.ambiguous if name not in self.names]
        if strange:
            raise ValueError(f"`ambiguous` holds {strange[0]!r}, which is not among the names")
        return self

    def exists(self, name: str) -> bool:
        """Whether there is an entity of this name, in any case: it is listed, or ids are given by pattern alone."""
        if self.names:
            return name.casefold() in {one.casefold() for one in self.names}
        reserved = {one.casefold() for one in self.reserved}
        return name.casefold() not in reserved and is_whole(self.pattern, name)

    def knows(self, name: str) -> bool:
        """Whether an entity of this kind may be named so: it exists, is reserved, or ids are given by pattern alone."""
        if name in self.names or name in self.reserved:
            return True
        return not self.names and is_whole(self.pattern, name)


@dataclass(frozen=True, slots=True)
class Domain:
    """All that a suite declares about its target's world, as checks are given it."""

    tools: Mapping[str, Tool] = field(default_factory=dict)
    vocabulary: Mapping[str, EntityKind] = field(default_factory=dict)
    pairs: tuple[tuple[str, str], ...] = ()
    """Kinds that make a claim together: an incident's severity counts as evidence only beside that incident."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tool name to other names accepted for it."""
    approvals: tuple[int, ...] = ()
    """The steps of the case at hand in which a person approves what the step before left open."""

    def problems(self) -> Iterator[str]:
        """One sentence for each kind of entity that is spoken of and not in the vocabulary."""
        for name, tool in self.tools.items():
            for argument, kind in tool.entities.items():
                if kind not in self.vocabulary:
                    yield f"tool {name!r} says that {argument} names a {kind!r}, a kind that `vocabulary` does not have"
        for kind in (kind for pair in self.pairs for kind in pair):
            if kind not in self.vocabulary:
                yield f"`pairs` names {kind!r}, a kind that `vocabulary` does not have"

    def _declared(self, tool: str) -> Tool | None:
        return self.tools.get(tool) or next((self.tools.get(n) for n, o in self.aliases.items() if tool in o), None)

    def unknown_arguments(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[str]:
        """One sentence for each argument that the tool, which says what it takes, does not take."""
        known = self._declared(tool)
        for argument in arguments if known and known.arguments else ():
            if known and argument not in known.arguments:
                takes = ", ".join(known.arguments)
                yield f"tool {tool!r} is expected with argument {argument!r}, and takes {takes}"

    def unknown_entities(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[str]:
        """One sentence for each argument that names an entity the vocabulary does not have."""
        known = self._declared(tool)
        for argument, kind in (known.entities if known else {}).items():
            for name in names_in(arguments.get(argument)) if kind in self.vocabulary else ():
                if not self.vocabulary[kind].knows(name):
                    yield f"tool {tool!r} is expected with {argument} {name!r}, an unknown {kind}"


def names_in(value: Any) -> list[str]:
    """The names that a JSON value gives: a text or a number is one, a list holds some, null and objects give none."""
    given = value if isinstance(value, list | tuple) else [value]
    return [str(one) for one in given if isinstance(one, str | int | float)]
