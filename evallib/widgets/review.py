"""The reviewer's screen in a notebook: it draws a session and forwards what the reviewer decides."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from evallib.desk import queue_frame
from evallib.entries import CAUSES, READINGS
from evallib.errors import EvallibError, InputError
from evallib.records import Verdict
from evallib.session import ReviewSession
from evallib.sheet import Sheet, visible, word
from evallib.standing import Item

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ReviewWidget", "review_widget", "show_review"]

_HERE = Path(__file__).parent
ROWS_AROUND, SHEETS_AROUND = 30, 3
LONGEST = 200_000
"""Characters of one text that are sent to the browser; a longer one says what was left out."""


class ReviewWidget(anywidget.AnyWidget):
    """One widget for the whole queue. Only the rows and sheets around the position are in the browser.

    A decision is one message {seq, id, reading, cause, check, reason, author} and is answered by one message
    {seq, saved, says}; the browser shows NOT SAVED when no answer comes.
    """

    _esm = (_HERE / "review.js").read_text(encoding="utf-8")
    _css = (_HERE / "review.css").read_text(encoding="utf-8")
    legend = traitlets.Dict().tag(sync=True)
    """What stays the same: run, length of the queue, words for readings and causes."""
    window = traitlets.Dict().tag(sync=True)
    """The rows and sheets around the position, by place in the queue."""
    position = traitlets.Int(0).tag(sync=True)
    drafts = traitlets.Dict().tag(sync=True)
    """Half-made decisions by sample, kept here so that they survive a reload of the page."""
    author = traitlets.Unicode("").tag(sync=True)
    """The name typed in the browser, while the session has none."""

    def __init__(self, session: ReviewSession) -> None:
        self.session = session
        super().__init__(legend=_legend(session), position=session.position, window=_window(session))
        self.on_msg(self._receive)

    @traitlets.observe("position")
    def _moved(self, change: Mapping[str, Any]) -> None:
        place = self.session.go(change["new"])
        near = {str(i) for i in (place - 1, place, place + 1) if 0 <= i < len(self.session.queue)}
        if not near <= self.window.get("sheets", {}).keys():
            self.window = _window(self.session)

    def _receive(self, _: object, content: Any, __: object) -> None:
        """Do what one message from the browser asks and answer it; the disk was written before the answer goes out."""
        try:
            says = self._undo(content) if content.get("kind") == "undo" else self._decide(content)
            saved = True
        except EvallibError as error:
            says, saved = str(error), False
        if saved:
            self.window = _window(self.session)
        self.send({"seq": content.get("seq"), "saved": saved, "says": visible(says), "position": self.session.position})

    def _decide(self, content: Mapping[str, Any]) -> str:
        session = self.session
        session.author = session.author or str(content["author"]).strip()
        logged = session.decide(
            _item(session, content),
            content["reading"],
            reason=content["reason"],
            cause=content["cause"],
            seq=content["seq"],
        )
        return f"Recorded {content['reading']} of {_of(logged.entry)}. {_progress(session)}"

    def _undo(self, content: Mapping[str, Any]) -> str:
        self.session.undo(seq=content["seq"])
        return f"Taken back; the entry stays in the log as withdrawn. {_progress(self.session)}"


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


def _item(session: ReviewSession, content: Mapping[str, Any]) -> Item:
    key = (content["id"]["case"], content["id"]["sample"])
    item = next((item for item in session.queue if item[1:3] == key), None)
    if item is None:
        raise InputError(f"{key[0]} · {key[1]}: is not in the queue")
    return item._replace(check=content["check"])


def _of(entry: Any) -> str:
    about = f", check {entry.check}" if entry.check else ""
    return f"{entry.case} · {entry.sample}{about}"


def _progress(session: ReviewSession) -> str:
    return f"{session.progress['read']} of {len(session.queue)} read."


def _legend(session: ReviewSession) -> dict[str, Any]:
    return {
        "run": visible(", ".join(session.runs)) if not session.hidden else "",
        "total": len(session.queue),
        "chosen": visible(session.query.words),
        "readings": list(READINGS),
        "causes": [[name, meaning] for name, meaning in CAUSES.items() if name != "unknown"],
    }


def _window(session: ReviewSession) -> dict[str, Any]:
    """What the browser holds now; counted from the position, so that its size does not grow with the queue."""
    place, end = session.position, len(session.queue)
    start = max(0, min(place - ROWS_AROUND // 2, end - ROWS_AROUND))
    rows = [_row(session, session.queue[i]) for i in range(start, min(end, start + ROWS_AROUND))]
    near = range(max(0, place - SHEETS_AROUND), min(end, place + SHEETS_AROUND + 1))
    sheets = {str(i): _sheet(session.sheet(session.queue[i])) for i in near}
    return {
        "start": start,
        "rows": rows,
        "sheets": sheets,
        "read": session.progress["read"],
        "by": visible(session.author),
    }


def _row(session: ReviewSession, item: Item) -> dict[str, str]:
    against = "" if session.is_blind(item) else session.strict_row(item)[1]
    return {"name": f"{item.case} · {item.sample}", "against": visible(against), "state": session.mark(item)}


def _sheet(sheet: Sheet) -> dict[str, Any]:
    told = sheet.reveal
    says = dict(sheet.rubric)
    return {
        "id": {"case": sheet.case, "sample": sheet.sample},
        "name": sheet.name,
        "title": visible(sheet.title),
        "asked": [_short(text) for text in sheet.asked],
        "answer": [[_short(piece.text), list(piece.failed)] for piece in sheet.answer],
        "strict": word(told.outcome) if told else "",
        "why": visible(told.outcome.reason) if told else "",
        "against": [_check(verdict, says) for verdict in (told.against if told else ())],
        "others": [_check(verdict, says) for verdict in (told.others if told else ())],
        "folds": [{"section": f.section, "line": visible(f.line), "text": _short(f.text)} for f in sheet.folds],
        "said": [visible(line) for line in (told.said if told else ())],
    }


def _check(verdict: Verdict, says: Mapping[str, str]) -> dict[str, Any]:
    passed = {True: "pass", False: "fail", None: verdict.status.replace("_", " ")}[verdict.passed]
    return {
        "id": verdict.check_id,
        "says": visible(says.get(verdict.check_id, "")),
        "reason": visible(verdict.reason),
        "verdict": passed,
        "critical": verdict.critical,
        "judged": verdict.stochastic,
    }


def _short(text: str) -> str:
    if len(text) <= LONGEST:
        return visible(text)
    return f"{visible(text[:LONGEST])}\n… {len(text) - LONGEST:,} more characters are not shown; see `evallib show`"
