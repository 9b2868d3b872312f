"""The reviewer's screen in a notebook: it draws a session and forwards what the reviewer decides."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from evallib.desk.session import ReviewSession
from evallib.desk.sheet import visible
from evallib.desk.tables import queue_frame
from evallib.errors import EvallibError, InputError
from evallib.standing import Item
from evallib.stdout import counted
from evallib.widgets.payload import legend_of, row_of, sheet_of, token

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ReviewWidget", "review_widget", "show_review"]

_HERE = Path(__file__).parent
_SCRIPTS = ("dom", "keys", "queue", "paper", "rail", "frame", "link", "review")
"""One ES module in parts, in the order in which they use each other."""
MOST_ROWS, MOST_SHEETS = 200, 7
"""Of one look: a browser that asks for more is given this much."""

Reply = dict[str, Any]


class ReviewWidget(anywidget.AnyWidget):
    """One widget for the whole queue. The browser asks for the rows and sheets it is about to show, and nothing else.

    What the reviewer says is one message {kind, seq, item, …}, answered by one {seq, saved, says, position, …} once it
    is on the disk; the browser shows NOT SAVED when no answer comes. No answer, verdict or draft is a trait: a saved
    notebook holds the words of the screen and nothing that was read.
    """

    _esm = "\n".join((_HERE / "js" / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS)
    _css = (_HERE / "review.css").read_text(encoding="utf-8")
    legend = traitlets.Dict().tag(sync=True)
    """What stays the same: words for readings and causes, and how the queue is shown."""
    position = traitlets.Int(0).tag(sync=True)
    author = traitlets.Unicode("").tag(sync=True)

    def __init__(self, session: ReviewSession) -> None:
        self.session = session
        self._items: dict[str, Item] = {}
        self._of_answer: dict[tuple[str, str, int], set[str]] = defaultdict(set)
        self._hidden = session.hidden
        self._taken: set[object] = set()
        """Numbers of the messages that were saved; one of them that comes again is answered again."""
        self._version = 0
        self._line_up()
        super().__init__(legend=legend_of(session), position=session.position, author=session.author)
        self.on_msg(self._receive)

    def _line_up(self) -> None:
        """Take in another queue: what the browser knows of places is then of an old version."""
        self._version += 1
        self._places = {item: place for place, item in enumerate(self.session.queue)}

    def _receive(self, _: object, content: Any, __: object) -> None:
        """Do what one message from the browser asks and answer it; the disk was written before the answer goes out."""
        kind = content.get("kind")
        if kind == "look":
            self.send(self._look(content))
        elif kind == "go":
            self.position = self.session.go(int(content["position"]))
        elif kind == "draft":
            self.send({"kind": "draft", "seq": content["seq"], "saved": self._draft(content)})
        else:
            self.send(self._act(kind, content))

    def _look(self, content: Mapping[str, Any]) -> Reply:
        """The rows of a stretch of the queue, and the sheets of some places in it."""
        queue = self.session.queue
        start, end = (max(0, min(int(place), len(queue))) for place in content.get("rows", (0, 0)))
        stretch = queue[start : min(end, start + MOST_ROWS)]
        places = [p for p in map(int, content.get("sheets", ())) if 0 <= p < len(queue)][:MOST_SHEETS]
        found: Reply = {"kind": "look", "sheets": {str(place): self._sheet(queue[place]) for place in places}}
        if stretch:
            found |= {"start": start, "rows": [row_of(self.session, item) for item in stretch]}
        self.session.shown(stretch)
        for item in stretch:
            self._know(item)
        return found | self._where()

    def _sheet(self, item: Item, *, unmasked: bool = False, whole: bool = False) -> dict[str, Any]:
        if not self.session.author:
            raise InputError("type your name first: what you read is saved under it")
        self._know(item)
        return sheet_of(self.session, item, unmasked=unmasked, whole=whole)

    def _where(self) -> Reply:
        session = self.session
        progress = dict(session.progress)
        if progress["read"] == progress["of"]:  # earlier it would tell, blind, what is still to come
            progress["coverage"] = visible("; ".join(part.words for part in session.coverage()))
        return {
            "version": self._version,
            "total": len(session.queue),
            "position": session.position,
            "author": visible(session.author),
            "words": visible(session.query.words),
            "progress": progress,
        }

    def _draft(self, content: Mapping[str, Any]) -> bool:
        try:
            self.session.keep_draft(self._item(content), content["draft"])
        except EvallibError:
            return False
        return True

    def _item(self, content: Mapping[str, Any]) -> Item:
        try:
            return self._items[content["item"]]
        except KeyError:
            raise InputError("this item is of another queue; run the cell again") from None

    def _act(self, kind: str, content: Mapping[str, Any]) -> Reply:
        act: Callable[[Mapping[str, Any]], Reply] | None = {
            "decide": self._decide,
            "explain": self._explain,
            "undo": self._undo,
            "redo": self._redo,
            "skip": self._skip,
            "next": self._next,
            "filter": self._filter,
            "author": self._named,
            "ask": self._ask,
        }.get(kind)
        try:
            if act is None:
                raise InputError(f"{kind!r} is nothing that this screen can do")
            done = self._overtaken(content) or act(content) | {"saved": True}
            if done["saved"]:
                self._taken.add(content.get("seq"))
        except EvallibError as error:
            shown = content.get("item") in self._items and self._overtaken(content)
            done = shown or {"saved": False, "says": str(error)}
            if kind in {"undo", "redo"}:  # it may stand otherwise than the browser shows it
                done["fresh"] = True
        self.position = self.session.position
        return {"seq": content.get("seq"), **done, "says": visible(done.get("says", "")), **self._where()}

    def _overtaken(self, content: Mapping[str, Any]) -> Reply:
        """A refusal that shows the item as it stands, when it was read since the browser drew what is decided on.

        Without it a key pressed over an answer that looks unread would amend a reading unseen.
        """
        if content.get("seq") in self._taken or "base" not in content:
            return {}
        item = self._item(content)
        own = self.session.own(item)
        if own.get("id", "") == content["base"]:
            return {}
        stands = f"your reading of {item.name} is {own['reading']}" if own else f"{item.name} has no reading of yours"
        says = f"{stands}, which this screen did not show yet. {self._agreement(item)}{' a amends.' if own else ''}"
        return {"saved": False, "says": says, "sheet": self._sheet(item)} | self._row(item)

    def _saved(self, item: Item, says: str) -> Reply:
        """What changes in the browser after an entry about `item`: its sheet and row; other sheets it may hold are old.

        The others are dropped because one reading reveals all checks of an answer, and the last one every run's name.
        """
        session = self.session
        others = self._of_answer[item[:3]] - {token(item)}
        found: Reply = {"says": says, "sheet": self._sheet(item), "gone": sorted(others)} | self._row(item)
        if session.hidden is not self._hidden:
            self._hidden = session.hidden
            self._version += 1
            found["fresh"] = True
        if session.queue:
            found["sheets"] = {str(session.position): self._sheet(session.queue[session.position])}
        return found

    def _row(self, item: Item) -> Reply:
        place = self._places.get(item)
        return {} if place is None else {"row": [place, row_of(self.session, item)]}

    def _know(self, item: Item) -> str:
        """The item's name in the browser, which may ask for it from now on."""
        name = token(item)
        self._items[name] = item
        self._of_answer[item[:3]].add(name)
        return name

    def _decide(self, content: Mapping[str, Any]) -> Reply:
        session, item = self.session, self._item(content)
        span = content.get("span")
        if span:
            span = session.sheet(item, unmasked=bool(content.get("unmasked"))).span(int(span[0]), int(span[1]))
        session.decide(
            item,
            content["reading"],
            cause=content.get("cause", ""),
            reason=content.get("reason", ""),
            span=span,
            canned=bool(content.get("canned")),
            seconds=content.get("seconds"),
            seq=content["seq"],
        )
        return self._saved(item, f"Recorded {content['reading']} of {item.name}. {self._agreement(item)}")

    def _agreement(self, item: Item) -> str:
        session, own = self.session, self.session.own(item)
        if not own or session.stage(item) != "explain":
            return self._progress()
        if session.agrees(item, own["reading"]):
            return "Strict says the same: Enter goes on."
        return f"Strict says {session.strict_row(item)[0]}: why do you differ? 1–9, 0, x."

    def _explain(self, content: Mapping[str, Any]) -> Reply:
        item = self._item(content)
        logged = self.session.explain(
            item,
            cause=content.get("cause", ""),
            reason=content.get("reason", ""),
            canned=bool(content.get("canned")),
            seq=content["seq"],
        )
        why = "agrees with strict" if getattr(logged.entry, "agrees", False) else content.get("cause", "")
        return self._saved(item, f"Recorded {item.name}: {why}. {self._progress()}")

    def _undo(self, content: Mapping[str, Any]) -> Reply:
        logged = self.session.undo(seq=content["seq"])
        withdrawn = f"Withdrawn: {self.session.about(logged)}; the entry stays in the log."
        return self._saved(self.session.item_of(logged), f"{withdrawn} {self._progress()}")

    def _redo(self, content: Mapping[str, Any]) -> Reply:
        logged = self.session.redo(seq=content["seq"])
        restored = f"Restored: {self.session.about(logged)}."
        return self._saved(self.session.item_of(logged), f"{restored} {self._progress()}")

    def _skip(self, content: Mapping[str, Any]) -> Reply:
        item = self._item(content)
        self.session.skip(item)
        return self._saved(item, f"Skipped {item.name}: it comes again at the end.")

    def _next(self, _: Mapping[str, Any]) -> Reply:
        session = self.session
        to = session.next_open(session.position)
        left = session.queue and session.stage(session.queue[to]) != "done"
        session.go(to)
        return {"says": self._progress() if left else f"Nothing is open here. {self._progress()}"}

    def _filter(self, content: Mapping[str, Any]) -> Reply:
        self.session.filter(content["words"])
        self._line_up()
        return {"says": f"{counted(len(self.session.queue), 'item')}. {self._progress()}"}

    def _named(self, content: Mapping[str, Any]) -> Reply:
        self.session.author = content["author"]
        self.author = self.session.author
        self._line_up()
        return {"says": f"What you read is saved as {self.session.author}."}

    def _ask(self, content: Mapping[str, Any]) -> Reply:
        """What is shown on request, of which nothing is saved."""
        session, item, what = self.session, self._item(content), content.get("what")
        if what == "diff":
            pieces = [[piece.op, visible(piece.text)] for piece in session.diff(item)]
            if not pieces:
                raise InputError("no passing repeat of this case that you have read or may see")
            title = "this answer (underlined) against the nearest passing repeat (struck)"
            return {"pieces": pieces, "title": title, "says": "The word diff; d shows the answer again."}
        if what == "history":
            lines = [visible(line) for line in session.history(item)]
            return {
                "lines": lines,
                "says": f"{counted(len(lines), 'entry', 'entries')} above the answer; h hides the history.",
            }
        if what == "unmask":
            return {
                "sheet": self._sheet(item, unmasked=True),
                "says": "Credentials are shown until you leave the item.",
            }
        if what == "whole":
            whole = self._sheet(item, unmasked=bool(content.get("unmasked")), whole=True)
            return {"sheet": whole, "says": "All of the answer is here."}
        if what == "check":
            other = session.next_check(item)
            return {
                "sheet": self._sheet(other),
                "says": f"Now reading {other.name}{'; Esc goes back to the answer' * bool(other.check)}.",
            }
        raise InputError(f"{what!r} is nothing that this screen can show")

    def _progress(self) -> str:
        progress = self.session.progress
        return f"{progress['read']} of {progress['of']} read."


def review_widget(session: ReviewSession) -> ReviewWidget:
    """The reviewer's screen over a session; it has the keyboard while it has the focus (`?` lists the keys)."""
    return ReviewWidget(session)


def show_review(session: ReviewSession, *, interactive: bool | None = None) -> ReviewWidget | pd.DataFrame:
    """The reviewer's screen, or the queue as a plain table where nobody can answer; headless decides nothing.

    Unless `interactive` says so, somebody can answer where a Jupyter server runs the notebook.
    """
    if interactive is None:
        interactive = bool(os.environ.get("JPY_SESSION_NAME"))
    return review_widget(session) if interactive else queue_frame(session)
