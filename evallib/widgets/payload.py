"""What the browser is sent of a sitting: plain data with visible text, and of a blind item nothing that is hidden."""

from __future__ import annotations

import sys
from typing import Any

from evallib.checks.facts import Mentions
from evallib.checks.text import Matches
from evallib.desk.session import CAUSE_KEYS, ReviewSession
from evallib.desk.sheet import Reveal, Segment, Sheet, visible
from evallib.entries import CAUSES, READINGS
from evallib.records import Verdict, digest
from evallib.standing import Item
from evallib.suite import Suite

__all__ = ["legend_of", "row_of", "sheet_of", "token"]

LONGEST = 50_000
"""Characters of one text that are sent to the browser unasked; a longer one says what was left out."""
_BLIND_WORDS = "case=… by=mine open all"
_SIGHTED_WORDS = "strict=fail check=… case=… cause=… by=theirs disputed flip stale open"


def token(item: Item) -> str:
    """The name of an item in the browser: the same in every sitting, and telling nothing of its run."""
    return digest(["item", *item], 16)


def legend_of(session: ReviewSession) -> dict[str, Any]:
    """What stays the same: the words for readings and causes, and how the queue is shown."""
    return {
        "name": "evallib review" if session.blind else ", ".join(visible(run) for run in session.runs),
        "blind": session.blind,
        "total": len(session.queue),
        "facets": _BLIND_WORDS if session.blind else _SIGHTED_WORDS,
        "readings": list(READINGS),
        "causes": [[cause, CAUSES[cause]] for cause in CAUSE_KEYS.values()],
        "canned": {cause: session.canned(cause) for cause in CAUSE_KEYS.values()},
    }


def row_of(session: ReviewSession, item: Item) -> dict[str, str]:
    """One line of the queue: the reviewer's own mark, and sighted what strict says.

    Blind it says nothing of strict, not even of what was read: the tally would tell what is still to come.
    """
    about = [] if session.blind else [f"strict {session.strict_row(item)[0]}"]
    about += [session.place(item)] if len(session.runs) > 1 else []
    return {
        "id": token(item),
        "name": visible(item.name),
        "mark": session.mark(item),
        "note": visible(" · ".join(about)),
    }


def sheet_of(session: ReviewSession, item: Item, *, unmasked: bool = False, whole: bool = False) -> dict[str, Any]:
    """All that is shown of one item; `strict` is None while the item is blind for the reviewer.

    Texts are shortened to LONGEST characters unless `whole`; `left` counts what was left out of all of them.
    """
    short = _Shortening(sys.maxsize if whole else LONGEST)
    sheet = session.sheet(item, unmasked=unmasked)
    own = session.own(item)
    asking = _asking(session.runs[item.run].suite, item.case)
    return {
        "id": token(item),
        "stage": session.stage(item),
        "blind": session.is_blind(item),
        "mine": own or None,
        "base": own.get("id", ""),
        "draft": session.draft(item),
        "name": visible(sheet.name),
        "check": visible(sheet.check),
        "place": visible(sheet.place),
        "title": visible(sheet.title),
        "asked": [short.text(text) for text in sheet.asked],
        "answer": [_piece(segment, asking) for segment in short.answer(sheet.answer)],
        "facts": [[visible(name), list(map(short.text, facts))] for name, facts in sheet.facts],
        "folds": [
            {"section": f.section, "line": visible(f.line), "text": short.text(f.text), "checks": list(f.checks)}
            for f in sheet.folds
        ],
        "rubric": [[visible(check), visible(text)] for check, text in sheet.rubric],
        "masked": sheet.masked,
        "unmasked": unmasked,
        "whole": whole,
        "length": sum(len(segment.text) for segment in sheet.answer),
        "left": short.left,
        "said": [visible(line) for line in sheet.reveal.said] if sheet.reveal else [],
        "strict": _strict(sheet, sheet.reveal) if sheet.reveal else None,
    }


def _strict(sheet: Sheet, reveal: Reveal) -> dict[str, Any]:
    named = [v for v in (*reveal.against, *reveal.others) if v.check_id == sheet.check]
    says = dict(sheet.rubric)
    return {
        "word": "error" if reveal.strict == "infra" else reveal.strict,
        "agreeing": reveal.strict,
        "why": visible(named[0].reason if named else reveal.outcome.reason),
        "model": visible(reveal.model),
        "against": [_check(verdict, says) for verdict in reveal.against],
        "others": [_check(verdict, says) for verdict in reveal.others],
    }


def _check(verdict: Verdict, says: dict[str, str]) -> dict[str, Any]:
    passed = {True: "pass", False: "fail", None: verdict.status.replace("_", " ")}[verdict.passed]
    return {
        "id": visible(verdict.check_id),
        "says": visible(says.get(verdict.check_id, "")),
        "reason": visible(verdict.reason),
        "verdict": passed,
        "critical": verdict.critical,
        "judged": verdict.stochastic,
    }


def _piece(segment: Segment, asking: set[str]) -> list[Any]:
    """Text, the checks that wanted it not to be there, and those that asked for it."""
    against = [check for check in segment.failed if check not in asking]
    return [
        visible(segment.text),
        against,
        [check for check in segment.failed if check in asking] + list(segment.passed),
    ]


def _asking(suite: Suite, case: str) -> set[str]:
    """Checks that only ask for words: what they found is right, even where they fail because something is missing."""
    checks = [bound.check for bound in suite.bound.get(case, ())]
    return {c.id for c in checks if isinstance(c, Mentions) or (isinstance(c, Matches) and not c.none_of)}


class _Shortening:
    """Cuts texts at a number of characters, says so where it cut, and counts what it left out."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.left = 0

    def text(self, text: str) -> str:
        return visible(text[: self.longest]) + self._left_out(len(text) - self.longest)

    def answer(self, answer: tuple[Segment, ...]) -> list[Segment]:
        """The pieces of the answer up to the limit, the last one cut."""
        kept, room = [], self.longest
        for segment in answer:
            if room <= 0:
                break
            kept.append(segment._replace(text=segment.text[:room]))
            room -= len(segment.text)
        left = self._left_out(sum(len(segment.text) for segment in answer) - self.longest)
        return [*kept, Segment(left)] if left else kept

    def _left_out(self, count: int) -> str:
        if count <= 0:
            return ""
        self.left += count
        return f"\n… {count:,} more characters are not shown here."
