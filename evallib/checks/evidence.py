"""What tool results show: the entities in them, and which of them belong together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any, Literal, NamedTuple

from evallib.checks.folding import fold
from evallib.checks.lookups import ASKED, Sign, is_absent, is_failure, plain_key, sign_of_failure
from evallib.checks.pairing import Pair, pairs_in_text
from evallib.checks.vocabulary import Entity, Lexicon, Mention

__all__ = ["Facts", "read_value", "unpacked"]

_DEEPEST = 60
_BETWEEN = "\x01"
"""Parts values that are searched in one go; no name runs over it."""
_ENVELOPE = {
    "code", "detail", "details", "error", "errors", "errormessage", "exception", "hint", "iserror", "message", "ok",
    "reason", "requestid", "status", "success", "suggestion", "timestamp", "type",
}  # fmt: skip
"""Keys of an object that only says that something went wrong."""
_COUNTS = {
    "count",
    "found",
    "hits",
    "length",
    "matches",
    "numresults",
    "resultcount",
    "rows",
    "size",
    "total",
    "totalcount",
}
"""Keys of how much was found."""
_BOOKKEEPING = _COUNTS | {
    "cursor", "duration", "elapsed", "elapsedms", "hasmore", "limit", "next", "nextcursor", "offset", "ok", "page",
    "pages", "pagesize", "perpage", "requestid", "success", "timestamp", "took", "tookms",
}  # fmt: skip
"""Keys beside an empty list that give nothing back."""
_UNTELLING = {"", "true", "false"}
"""Values that say nothing beside an error."""
_ECHOED = {
    "args", "arguments", "asked", "filter", "filters", "input", "inputs", "keyword", "keywords", "params", "parameters",
    "q", "query", "request", "requested", "search", "searched", "searchedfor", "searchterm", "term", "terms",
}  # fmt: skip
"""Keys under which a result repeats what was asked."""
_MESSAGE = 300
"""Characters of a text in which it says that a look-up failed."""
_FEW_LINES = 4


class Facts(NamedTuple):
    """What a value names, and which entities it puts together."""

    entities: frozenset[Entity]
    pairs: frozenset[Pair]
    texts: frozenset[str]
    """Every text in it, folded."""


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
    """The object, list or text that `text` is the JSON of, else `text`; cut JSON loses its escapes."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return text
    try:
        return json.loads(text)
    except RecursionError:
        return text
    except ValueError:
        return re.sub(r"\\[nrt]", "\n", text)


def read_value(value: Any, lexicon: Lexicon, kinds: Sequence[tuple[str, str]], *, asked: Facts | None = None) -> Facts:
    """The entities in the decoded texts, keys and numbers of `value`, and the pairs of `kinds` that it puts together.

    Two entities belong together when one object holds both, one is the key of the other, one stands in an object right
    inside the other's, lists side by side hold them at the same place, or a text pairs them. Where something failed or
    nothing came back, entities in `asked` (the call's own arguments) are an echo and do not count.
    """
    leaves: list[str] = []
    root = _build(value, leaves, 0)
    root = _Node("lines", [(None, root)]) if isinstance(root, int) else root
    reader = _Reader(lexicon, kinds, leaves, asked)
    scope = reader.gather(root, reader.given if reader.given and reader.is_empty(root) else frozenset())
    return Facts(frozenset(scope.everything), frozenset(reader.pairs), reader.texts)


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
        return _Node("object", fields, sign_of_failure(value))
    if isinstance(value, list):
        return _Node("list", [(None, _build(one, leaves, depth + 1)) for one in value])
    return _leaf("" if value is None else json.dumps(value, default=str), leaves)


def _leaf(text: str, leaves: list[str]) -> int:
    leaves.append(text)
    return len(leaves) - 1


class _Reader:
    """Searches all leaves of a value at once, then walks it."""

    def __init__(
        self, lexicon: Lexicon, kinds: Sequence[tuple[str, str]], leaves: Sequence[str], asked: Facts | None
    ) -> None:
        self.kinds, self.pairs = kinds, set[Pair]()
        self.given, self._echoes = (asked.entities, asked.texts) if asked else (frozenset[Entity](), frozenset[str]())
        self._texts = [fold(leaf).text.replace(_BETWEEN, " ") for leaf in leaves]
        self.texts = frozenset(self._texts)
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

    def is_empty(self, root: _Node) -> bool:
        """Whether a result holds an empty part, or says that nothing is there, and else repeats what was asked."""
        pending: list[tuple[int | None, _Node | int]] = [(None, root)]
        empty = False
        while pending:
            key, one = pending.pop()
            if isinstance(one, _Node):
                pending += one.fields
                empty = empty or not one.fields
            elif (
                not self._texts[one].strip()
                or (self._texts[one] == "0" and self._key(key) in _COUNTS)
                or (self._says_nothing(one) and (root.kind != "lines" or len(root.fields) <= _FEW_LINES))
            ):
                empty = True
            elif not (self._repeats(one) or self._key(key) in _BOOKKEEPING):
                return False
        return empty

    def _key(self, leaf: int | None) -> str:
        return "" if leaf is None else plain_key(self._texts[leaf])

    def _repeats(self, leaf: int) -> bool:
        """Whether a leaf is what was asked for, perhaps with a label, or a text of the arguments."""
        text = self._texts[leaf]
        label, _, rest = text.partition(":")
        labelled = plain_key(label) in _ECHOED and rest.strip(" \"'") in self._echoes
        return bool(self.exact(leaf) & self.given) or text in self._echoes or labelled

    def _says_nothing(self, leaf: int) -> bool:
        """Whether a text says that nothing was found, and names nothing but what was asked for."""
        return self._named(leaf) <= self.given and is_absent(self._marked(leaf))

    def _named(self, leaf: int) -> set[Entity]:
        return {m.entity for m in self._mentions[leaf]} | self._exact[leaf]

    def _marked(self, leaf: int) -> str:
        """The first part of a leaf's text, with `ASKED` for each entity."""
        text, at, parts = self._texts[leaf][: 2 * _MESSAGE], 0, []
        for one in self._mentions[leaf]:
            if at <= one.start < len(text):
                parts += [text[at : one.start], ASKED]
                at = one.end
        return "".join([*parts, text[at:]])[:_MESSAGE]

    def _only_tells_of_error(self, node: _Node) -> bool:
        return all(
            self._key(key) in _ENVELOPE
            or (isinstance(child, int) and (self._texts[child].strip() in _UNTELLING or self._repeats(child)))
            for key, child in node.fields
        )

    def _all(self, leaf: int, hidden: frozenset[Entity], *, among: bool = False) -> set[Entity]:
        """The entities of a leaf; `among` others it is a line of a log rather than the message of a failure."""
        found = self._named(leaf)
        if found and found <= self.given:
            told = self._marked(leaf)
            if is_absent(told) or (not among and is_failure(told)):
                return set()  # "no such incident: INC-7" repeats what was asked for
        return found - hidden

    def _prose(self, leaf: int, hidden: frozenset[Entity], *, among: bool = False) -> set[Entity]:
        found = self._all(leaf, hidden, among=among)
        mentions = [mention for mention in self._mentions[leaf] if mention.entity in found]
        self.pairs |= {pair for pair, _ in pairs_in_text(self._texts[leaf], mentions, self.kinds)}
        return found

    def _lines(self, leaves: Sequence[int], hidden: frozenset[Entity]) -> set[Entity]:
        """The entities in the lines of a text; lines put together what one names and what stands listed under it."""
        lines: list[str] = []
        found, mentions, at = set[Entity](), list[Mention](), 0
        for leaf in leaves:
            shown = self._all(leaf, hidden, among=bool(lines))
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
        leaves = [self._prose(child, hidden, among=True) for child in children if isinstance(child, int)]
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
            unseen = self.given if self._key(key) in _ECHOED else hidden
            if isinstance(child, int):
                found = self._all(child, unseen) if self.exact(child) else self._prose(child, unseen)
                scope = _Scope(found, found)
            else:
                scope = self.gather(child, unseen)
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
        self._side_by_side(node, exact.union(listed, *(scope.everything for scope in children)))
        unlisted = exact.union(*prose, *(scope.unlisted for scope in children))
        return _Scope(unlisted.union(listed, *(scope.everything for scope in children)), unlisted)

    def _own(self, exact: set[Entity], listed: set[Entity], prose: list[set[Entity]], children: list[_Scope]) -> None:
        """Note what one object puts together; what a text or an inner object says of another entity is not its own."""
        inner = [*prose, *(scope.everything for scope in children)]
        unlisted = exact.union(*prose, *(scope.unlisted for scope in children))
        for first, second in self.kinds:
            owners = _of(exact, first) or _of(listed, first) or _of(set().union(*prose), first)
            one_by_one = len(owners) > 1 and not _of(exact, first) and _of(listed, first)
            self.pairs |= set(product(owners, _of(exact if one_by_one else exact | listed, second)))
            for one in inner:
                if not _of(one, first):
                    self.pairs |= set(product(owners, _of(one, second)))
                if not _of(exact | listed, first) and not _of(one, second):
                    self.pairs |= set(product(_of(one, first), _of(exact, second)))
            alone = _of(unlisted, first)
            if len(alone) == 1:
                self.pairs |= set(product(alone, _of(unlisted, second)))

    def _side_by_side(self, node: _Node, shown: set[Entity]) -> None:
        """Note what lists, or objects with the same keys, hold at the same place: columns of one table."""
        columns: dict[tuple[str, ...], list[list[set[Entity]]]] = {}
        for _, child in node.fields:
            if isinstance(child, _Node) and child.kind in ("list", "object"):
                leaves = [one for _, one in child.fields if isinstance(one, int)]
                if 1 < len(leaves) == len(child.fields):
                    keys = ["" if key is None else self._texts[key] for key, _ in child.fields]
                    columns.setdefault(tuple(keys), []).append([self._named(leaf) & shown for leaf in leaves])
        for table in columns.values():
            for one, other in permutations(table, 2):
                for (first, second), (here, there) in product(self.kinds, zip(one, other, strict=True)):
                    self.pairs |= set(product(_of(here, first), _of(there, second)))

    def _link(self, some: set[Entity], others: set[Entity]) -> None:
        for first, second in self.kinds:
            self.pairs |= set(product(_of(some, first), _of(others, second)))
            self.pairs |= set(product(_of(others, first), _of(some, second)))


def _of(entities: Iterable[Entity], kind: str) -> set[Entity]:
    return {one for one in entities if one.kind == kind}
