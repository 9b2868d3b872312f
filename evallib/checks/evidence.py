"""What tool results show: the entities in them, and which of them belong together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, NamedTuple

from evallib.checks.folding import fold
from evallib.checks.pairing import Pair, pairs_in_text
from evallib.checks.vocabulary import Entity, Lexicon, Mention

__all__ = ["Facts", "read_value", "unpacked"]

Sign = Literal["", "error", "absent"]
_DEEPEST = 60
_BETWEEN = "\x01"
"""Parts values that are searched in one go; no name runs over it."""
_FAILED = re.compile(
    r"\W*(?:error|failed|failure|exception|traceback|not found|unknown|invalid|no such|cannot|could not|unable)\b"
    r"|.*\b(?:not found|not exist|no such|unknown \w+|no \w+ (?:found|named|called|with))\b"
)
"""A text that says a look-up failed."""
_ABSENT = re.compile(r"(?:not[ _-]?found|missing|no[ _-]?such.*|40[04])\Z")
_ERROR = re.compile(r"(?:error|fail(?:ed|ure)?|unknown|invalid|rejected|[45]\d\d)\Z")
_ENVELOPE = {
    "code", "detail", "details", "error", "errors", "errormessage", "exception", "hint", "iserror", "message", "ok",
    "reason", "requestid", "status", "success", "suggestion", "timestamp", "type",
}  # fmt: skip
"""Keys of an object that only says that something went wrong."""


class Facts(NamedTuple):
    """What a value names, and which entities it puts together."""

    entities: frozenset[Entity]
    pairs: frozenset[Pair]


@dataclass(slots=True)
class _Node:
    """An object, a list, or the lines of a text; `fields` holds (key's leaf, value) with leaves by number."""

    kind: Literal["object", "list", "lines"]
    fields: list[tuple[int | None, _Node | int]] = field(default_factory=list)
    sign: Sign = ""
    """What an object says of a failure."""


@dataclass(slots=True)
class _Scope:
    """The entities under a node, and those of them that no list parts from it."""

    everything: set[Entity] = field(default_factory=set)
    unlisted: set[Entity] = field(default_factory=set)


def unpacked(text: str) -> Any:
    """The object or list that `text` is the JSON of, else `text`; cut JSON loses its escapes."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except RecursionError:
        return text
    except ValueError:
        return re.sub(r"\\[nrt]", "\n", text)


def read_value(
    value: Any, lexicon: Lexicon, kinds: Sequence[tuple[str, str]], *, given: frozenset[Entity] = frozenset()
) -> Facts:
    """The entities in the decoded texts, keys and numbers of `value`, and the pairs of `kinds` that it puts together.

    Two entities belong together when one object holds both, one is the key of the other, one stands in an object right
    inside the other's, or one line of text pairs them. Where something failed or nothing came back, entities in `given`
    (the call's own arguments) are an echo and do not count.
    """
    leaves: list[str] = []
    root = _build(value, leaves, 0)
    root = _Node("lines", [(None, root)]) if isinstance(root, int) else root
    reader = _Reader(lexicon, kinds, leaves, given)
    scope = reader.gather(root, given if given and reader.is_empty_but_for_given(root) else frozenset())
    return Facts(frozenset(scope.everything), frozenset(reader.pairs))


def _build(value: Any, leaves: list[str], depth: int) -> _Node | int:
    if isinstance(value, str):
        inner = unpacked(value) if depth < _DEEPEST else value
        if not isinstance(inner, str):
            return _build(inner, leaves, depth + 1)
        lines = [line for line in inner.splitlines() if line.strip()]
        if len(lines) < 2:
            return _leaf(inner, leaves)
        return _Node("lines", [(None, _leaf(line, leaves)) for line in lines])
    if depth >= _DEEPEST:
        return _leaf("", leaves)
    if isinstance(value, dict):
        fields: list[tuple[int | None, _Node | int]] = [
            (_leaf(str(key), leaves), _build(one, leaves, depth + 1)) for key, one in value.items()
        ]
        return _Node("object", fields, _sign_of_failure(value))
    if isinstance(value, list):
        return _Node("list", [(None, _build(one, leaves, depth + 1)) for one in value])
    plain = "" if value is None or isinstance(value, bool) or value == 0 else json.dumps(value)
    return _leaf(plain, leaves)


def _leaf(text: str, leaves: list[str]) -> int:
    leaves.append(text)
    return len(leaves) - 1


def _sign_of_failure(value: dict[str, Any]) -> Sign:
    """`absent` where an object says that what was asked for is not there, `error` where it tells of an error."""
    named = {_plain(str(key)): one for key, one in value.items()}
    status = [str(named[key]).lower() for key in ("status", "code") if key in named]
    if any(named.get(key, True) in (False, "false") for key in ("ok", "success", "found", "exists")):
        return "absent"
    if named.get("iserror") is True or named.get("notfound") or any(map(_ABSENT.match, status)):
        return "absent"
    if any(named.get(key) for key in ("error", "errors", "exception", "errormessage")) or any(
        map(_ERROR.match, status)
    ):
        return "error"
    return ""


def _plain(key: str) -> str:
    return re.sub(r"[\s_-]", "", key.lower())


class _Reader:
    """Searches all leaves of a value at once, then walks it."""

    def __init__(
        self, lexicon: Lexicon, kinds: Sequence[tuple[str, str]], leaves: Sequence[str], given: frozenset[Entity]
    ) -> None:
        self.kinds, self.given, self.pairs = kinds, given, set[Pair]()
        self._texts = [fold(leaf).text.replace(_BETWEEN, " ") for leaf in leaves]
        self._exact = [frozenset(lexicon.named(text)) for text in self._texts]
        self._mentions: list[list[Mention]] = [[] for _ in leaves]
        starts, at = [], 0
        for text in self._texts:
            starts.append(at)
            at += len(text) + 1
        nth = 0
        for mention in lexicon.find(_BETWEEN.join(self._texts)):
            while nth + 1 < len(starts) and starts[nth + 1] <= mention.start:
                nth += 1
            moved = Mention(mention.entity, mention.start - starts[nth], mention.end - starts[nth])
            self._mentions[nth].append(moved)

    def exact(self, leaf: int) -> frozenset[Entity]:
        """The entities that are all of a leaf."""
        text = self._texts[leaf].strip()
        whole = {m.entity for m in self._mentions[leaf] if self._texts[leaf][m.start : m.end] == text}
        return self._exact[leaf] | whole

    def gather(self, node: _Node, hidden: frozenset[Entity]) -> _Scope:
        """The entities under `node`; notes the pairs on the way."""
        if node.sign == "absent" or (node.sign == "error" and self._only_tells_of_error(node)):
            hidden = self.given
        if node.kind == "lines":
            return _Scope(self._lines([leaf for _, leaf in node.fields if isinstance(leaf, int)], hidden), set())
        if node.kind == "list":
            return self._list(node, hidden)
        return self._object(node, hidden)

    def is_empty_but_for_given(self, root: _Node) -> bool:
        """Whether a result holds an empty part and no value but the call's own arguments."""
        pending: list[_Node | int] = [root]
        empty = False
        while pending:
            one = pending.pop()
            if isinstance(one, _Node):
                pending += [child for _, child in one.fields]
                empty = empty or not one.fields
            elif not self._texts[one].strip():
                empty = True
            elif not self.exact(one) & self.given:
                return False
        return empty

    def _only_tells_of_error(self, node: _Node) -> bool:
        return all(
            (key is not None and _plain(self._texts[key]) in _ENVELOPE)
            or (isinstance(child, int) and (not self._texts[child].strip() or bool(self.exact(child) & self.given)))
            for key, child in node.fields
        )

    def _all(self, leaf: int, hidden: frozenset[Entity]) -> set[Entity]:
        found = {m.entity for m in self._mentions[leaf]} | self._exact[leaf]
        if found and found <= self.given and _FAILED.match(self._texts[leaf][:300]):
            return set()  # "no such incident: INC-7" repeats what was asked for
        return found - hidden

    def _prose(self, leaf: int, hidden: frozenset[Entity]) -> set[Entity]:
        found = self._all(leaf, hidden)
        mentions = [mention for mention in self._mentions[leaf] if mention.entity in found]
        self.pairs |= {pair for pair, _ in pairs_in_text(self._texts[leaf], mentions, self.kinds)}
        return found

    def _lines(self, leaves: Sequence[int], hidden: frozenset[Entity]) -> set[Entity]:
        """The entities in the lines of a text; lines put together what one names and what stands listed under it."""
        lines, found, mentions, at = [], set[Entity](), list[Mention](), 0
        for leaf in leaves:
            shown = self._all(leaf, hidden)
            found |= shown
            mentions += [
                Mention(one.entity, one.start + at, one.end + at) for one in self._mentions[leaf] if one.entity in shown
            ]
            lines.append(self._texts[leaf])
            at += len(lines[-1]) + 1
        self.pairs |= {pair for pair, _ in pairs_in_text("\n".join(lines), mentions, self.kinds)}
        return found

    def _list(self, node: _Node, hidden: frozenset[Entity]) -> _Scope:
        children = [child for _, child in node.fields]
        leaves = [set(self._prose(child, hidden)) for child in children if isinstance(child, int)]
        scopes = [self.gather(child, hidden) for child in children if isinstance(child, _Node)]
        found = set().union(*leaves, *(scope.everything for scope in scopes))
        for first, second in self.kinds:  # a row of a table: one incident and what stands beside it
            owners = _of(set().union(*leaves), first)
            if len(owners) == 1 and not scopes:
                self.pairs |= set(product(owners, _of(found, second)))
        return _Scope(found, set())

    def _object(self, node: _Node, hidden: frozenset[Entity]) -> _Scope:
        exact, listed = set[Entity](), set[Entity]()
        prose: list[set[Entity]] = []
        children: list[_Scope] = []
        for key, child in node.fields:
            named = self._all(key, hidden) if key is not None else set()
            if isinstance(child, int):
                found = self._all(child, hidden) if self.exact(child) else self._prose(child, hidden)
                scope = _Scope(found, found)
            else:
                scope = self.gather(child, hidden)
            if named:
                self._link(named, scope.everything)
                children.append(_Scope(named | scope.everything, set()))
            elif isinstance(child, int):
                exact.update(scope.everything) if self.exact(child) else prose.append(scope.everything)
            elif child.kind == "list" and all(isinstance(one, int) for _, one in child.fields):
                listed |= scope.everything
            else:
                children.append(scope)
        self._own(exact, listed, prose, children)
        unlisted = exact.union(*prose, *(scope.unlisted for scope in children))
        return _Scope(unlisted.union(listed, *(scope.everything for scope in children)), unlisted)

    def _own(self, exact: set[Entity], listed: set[Entity], prose: list[set[Entity]], children: list[_Scope]) -> None:
        """Note what one object puts together; what a text or an inner object says of another entity is not its own."""
        inner = [*prose, *(scope.everything for scope in children)]
        unlisted = exact.union(*prose, *(scope.unlisted for scope in children))
        for first, second in self.kinds:
            owners = _of(exact, first) or _of(listed, first) or _of(set().union(*prose), first)
            owned = _of(exact | listed, second)
            self.pairs |= set(product(owners, owned))
            for one in inner:
                if not _of(one, first):
                    self.pairs |= set(product(owners, _of(one, second)))
                if not _of(exact | listed, first) and not _of(one, second):
                    self.pairs |= set(product(_of(one, first), _of(exact, second)))
            alone = _of(unlisted, first)
            if len(alone) == 1:
                self.pairs |= set(product(alone, _of(unlisted, second)))

    def _link(self, some: set[Entity], others: set[Entity]) -> None:
        for first, second in self.kinds:
            self.pairs |= set(product(_of(some, first), _of(others, second)))
            self.pairs |= set(product(_of(others, first), _of(some, second)))


def _of(entities: Iterable[Entity], kind: str) -> set[Entity]:
    return {one for one in entities if one.kind == kind}
