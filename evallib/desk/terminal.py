"""The reviewer's sitting in a terminal: the same keys as in the notebook, for SSH, screen readers and scripts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from evallib.desk.keyboard import Keyboard
from evallib.desk.session import CAUSE_KEYS, ReviewSession
from evallib.desk.sheet import visible
from evallib.desk.sheet_lines import diff_line, fold_lines, reveal_lines, rubric_lines, sheet_lines
from evallib.entries import CAUSES
from evallib.errors import EvallibError, InputError
from evallib.standing import Item
from evallib.stdout import counted

__all__ = ["adjudicate"]

_READINGS = {"p": "pass", "f": "fail", "i": "infra", "-": "unsure"}
_SAVING = {*_READINGS, *CAUSE_KEYS, *"rauU", ""}
"""Keys that save something where nothing is in the way."""
_PROMPTS = {
    "read": "[p pass  f fail  i infra  - unsure | s skip  n next open  ? keys  q quit] ",
    "agree": "[Enter you agree  r with a reason | u take back  a amend  ? keys  q quit] ",
    "differ": "[why: 1-9 0 x | u take back  a amend  ? keys  q quit] ",
    "done": "[n next open  j k  a amend  u take back  ? keys  q quit] ",
}
_HELP = """\
p f i     read it as pass, fail, infrastructure      -   unsure, and why (a cause)
Enter     agree with strict, after the reveal        r   the same, with a reason
1-9 0 x   why strict and you differ; then the reason, or . for the canned one
a         amend your reading                         u U take the last entry back, restore it
s         skip to the end of the queue               n   next open item
j k       next, previous (and the arrows)            t   tool calls and other records
g         what it is judged by                       e   cite words of the answer
m         show masked credentials                    /   facets, as in: case=t-001 open
d h c     after the reveal: word diff against the nearest pass, history, the next check of the answer
q         quit; what was saved is on the disk"""


_CAUSES = "  ".join(f"{key} {cause}" for key, cause in CAUSE_KEYS.items())


def adjudicate(session: ReviewSession, keys: Keyboard, write: Callable[[str], None] = print) -> int:
    """Read the queue in the terminal until `q`, the end of the input or Ctrl+C; gives the number of readings saved."""
    if not session.queue:
        write(f"Nothing to read: {visible(session.query.words) or 'the runs hold no answers'}.")
        return 0
    desk = _Desk(session, keys, write)
    try:
        desk.show()
        while desk.act(keys.key(_PROMPTS[desk.phase])):
            pass
    except (EOFError, KeyboardInterrupt):
        write("")
        session.find_saved()
    for part in session.coverage():
        write(visible(f"Read of {part.words}."))
    progress = session.progress
    write(f"{counted(session.saved, 'reading')} saved; {progress['read']} of {progress['of']} read.")
    return session.saved


class _Desk:
    """What the terminal remembers between two keys."""

    def __init__(self, session: ReviewSession, keys: Keyboard, write: Callable[[str], None]) -> None:
        self._session, self._keys, self._write = session, keys, write
        self._check: Item | None = None
        """A check of the current answer that is read in its place."""
        self._span: tuple[int, int] | None = None
        self._since = time.monotonic()
        self._calls: dict[str, Callable[[], None]] = {
            "": self._agree, "r": self._agree_because, "a": self._amend, "u": self._undo, "U": self._redo,
            "s": self._skip, "n": self._next, "j": lambda: self._move(1), "k": lambda: self._move(-1),
            "t": self._folded, "d": self._diff, "h": self._history, "g": self._rubric, "e": self._cite,
            "m": self._unmask, "c": self._next_check, "/": self._filter,
        }  # fmt: skip

    @property
    def item(self) -> Item:
        """What is being read."""
        return self._check or self._session.queue[self._session.position]

    @property
    def phase(self) -> str:
        """What is asked for now."""
        session, item = self._session, self.item
        stage = session.stage(item)
        if stage != "explain":
            return stage
        return "agree" if session.agrees(item, session.mark(item)) else "differ"

    def act(self, key: str) -> bool:
        """Do what a key asks for; False ends the sitting."""
        if key == "q":
            return False
        stage = self._session.stage(self.item)
        try:
            if key in _READINGS:
                self._read(_READINGS[key])
            elif key in CAUSE_KEYS:
                self._explain(CAUSE_KEYS[key])
            elif key in self._calls:
                self._calls[key]()
            else:
                self._tell(_HELP.splitlines())
        except EvallibError as error:
            self._tell([f"NOT {'SAVED' if key in _SAVING else 'DONE'}: {error}"])
            if self._session.stage(self.item) != stage:  # read in another sitting meanwhile
                self.show()
        return True

    def _tell(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._write(visible(line))

    def show(self) -> None:
        """The current item, from its place in the queue on."""
        session = self._session
        session.shown([self.item])
        how = "blind" if session.is_blind(self.item) else "sighted"
        mark = f", {session.mark(self.item)}" if session.mark(self.item) else ""
        self._write(f"\nItem {session.position + 1} of {len(session.queue)}, {how}{mark}")
        self._tell(sheet_lines(session.sheet(self.item)))
        if session.stage(self.item) == "explain":
            self._tell(self._question())
        if draft := self._session.draft(self.item).get("reason"):
            self._tell([f"DRAFT   {draft}"])
        self._since = time.monotonic()

    def _go(self, position: int) -> None:
        self._session.go(position)
        self._turn_to()

    def _turn_to(self) -> None:
        """Show where the session stands now."""
        self._check = self._span = None
        self.show()

    # reading

    def _read(self, reading: str) -> None:
        session, item = self._session, self.item
        if session.stage(item) != "read":
            raise InputError("you have read it; press a to amend, or n for the next open item")
        if not session.is_blind(item):
            self._read_sighted(reading)
        elif reading == "unsure":
            self._save(reading, cause=self._asked_cause())
        else:
            self._save(reading)

    def _read_sighted(self, reading: str) -> None:
        """Take reading, cause and reason in one entry, strict in sight."""
        if reading != "unsure" and self._session.agrees(self.item, reading):
            self._save(reading, reason=self._typed("strict says so too; a reason, or Enter: "))
            return
        cause = self._asked_cause()
        reason, canned = self._asked_reason(cause)
        self._save(reading, cause=cause, reason=reason, canned=canned)

    def _save(self, reading: str, *, cause: str = "", reason: str = "", canned: bool = False) -> None:
        session, item = self._session, self.item
        seconds = round(time.monotonic() - self._since, 1)
        session.decide(item, reading, cause=cause, reason=reason, canned=canned, span=self._span, seconds=seconds)
        self._said(f"Recorded {reading} of {session.sheet(item).name}.")
        if session.stage(item) == "done":
            self._turn_to()
        else:
            reveal = session.sheet(item).reveal
            self._tell([*(reveal_lines(reveal) if reveal else ()), *self._question()])

    def _question(self) -> Iterable[str]:
        """What is asked once a blind reading is saved."""
        session, item = self._session, self.item
        if self.phase == "agree":
            yield "You agree: press Enter."
        else:
            strict = session.strict_row(item)[0]
            yield f"You differ: strict says {strict}, you say {session.mark(item)}. Why?"
            yield _CAUSES

    def _said(self, sentence: str) -> None:
        progress = self._session.progress
        left = progress["left_s"]
        about = "" if not left else f" About {max(1, round(left / 60))} min left."
        self._tell([f"{sentence} {progress['read']} of {progress['of']} read.{about}"])

    def _asked_cause(self) -> str:
        self._tell([_CAUSES])
        key = self._keys.key("[cause 1-9 0 x] ")
        if key not in CAUSE_KEYS:
            raise InputError(f"{key!r} is no cause; press 1-9, 0 or x")
        return CAUSE_KEYS[key]

    def _asked_reason(self, cause: str) -> tuple[str, bool]:
        """The reason, and whether it is the canned one."""
        ready = self._session.canned(cause)
        draft = str(self._session.draft(self.item).get("reason") or "")
        ways = [", or . for that"] * bool(ready) + [f", or Enter for your draft {visible(draft)!r}"] * bool(draft)
        reason = self._typed(f"{cause} ({CAUSES[cause]}). Reason{''.join(ways)}: ", cause) or draft
        return (ready, True) if reason == "." and ready else (reason, False)

    def _typed(self, prompt: str, cause: str = "") -> str:
        """A reason. It is kept as a draft, half of it too, until it is saved."""
        try:
            reason = self._keys.line(prompt)
        except KeyboardInterrupt as stopped:
            self._keep(" ".join(map(str, stopped.args)), cause)
            raise
        self._keep(reason if reason != "." else "", cause)
        return reason

    def _keep(self, reason: str, cause: str) -> None:
        if reason:
            with suppress(EvallibError):  # a draft that is not kept is no reason to stop reading
                self._session.keep_draft(self.item, {"cause": cause, "reason": reason})

    # explaining

    def _agree(self) -> None:
        if self._session.stage(self.item) == "explain":
            self._store()
        elif self._session.stage(self.item) == "done":
            self._next()
        else:
            raise InputError("read it first: p, f, i or -")

    def _agree_because(self) -> None:
        if self._session.stage(self.item) != "explain":
            raise InputError("a reason comes after the reading: p, f, i or -")
        self._store(reason=self._typed("Reason: "))

    def _explain(self, cause: str) -> None:
        if self._session.stage(self.item) != "explain":
            raise InputError("a cause comes after the reading: p, f, i or -")
        reason, canned = self._asked_reason(cause)
        self._store(cause=cause, reason=reason, canned=canned)

    def _store(self, *, cause: str = "", reason: str = "", canned: bool = False) -> None:
        item = self.item
        self._session.explain(item, cause=cause, reason=reason, canned=canned)
        self._said(f"Recorded why, of {self._session.sheet(item).name}.")
        self._turn_to()

    def _amend(self) -> None:
        if self._session.stage(self.item) == "read":
            raise InputError("you have not read it; press p, f, i or -")
        key = self._keys.key("[amend to: p pass  f fail  i infra  - unsure] ")
        if key not in _READINGS:
            raise InputError(f"{key!r} is no reading; press p, f, i or -")
        self._read_sighted(_READINGS[key])

    def _undo(self) -> None:
        about = self._session.about(self._session.undo())
        self._said(f"Taken back: {about}; the entry stays in the log as withdrawn.")
        self._turn_to()

    def _redo(self) -> None:
        self._said(f"Restored: {self._session.about(self._session.redo())}.")
        self._turn_to()

    # moving and looking

    def _move(self, by: int) -> None:
        self._go(self._session.position + by)

    def _next(self) -> None:
        to = self._session.next_open(self._session.position)
        if self._session.stage(self._session.queue[to]) == "done":
            self._said("Nothing is open here; q ends.")
        else:
            self._go(to)

    def _skip(self) -> None:
        self._tell([f"Skipped {self.item.name}: it comes again at the end."])
        self._session.skip(self.item)
        self._turn_to()

    def _filter(self) -> None:
        before = self._session.query.words
        words = self._keys.line(f"Facets (now: {visible(before) or 'none'}): ")
        self._session.filter(words)
        if not self._session.queue:
            self._session.filter(before)
            self._tell([f"Nothing is {words}; the queue stays as it was."])
        self._turn_to()

    def _next_check(self) -> None:
        self._check = self._session.next_check(self.item)
        self.show()

    def _folded(self) -> None:
        self._tell(fold_lines(self._session.sheet(self.item)))

    def _rubric(self) -> None:
        self._tell(rubric_lines(self._session.sheet(self.item)))

    def _diff(self) -> None:
        pieces = self._session.diff(self.item)
        self._tell([diff_line(pieces) if pieces else "there is no other pass of this case that you have read"])

    def _history(self) -> None:
        self._tell(self._session.history(self.item))

    def _unmask(self) -> None:
        sheet = self._session.sheet(self.item, unmasked=True)
        self._tell([*sheet_lines(sheet), *fold_lines(sheet)])

    def _cite(self) -> None:
        words = self._keys.line("Cite (words of the answer): ")
        self._span = self._session.find(self.item, words)
        self._tell([f"Cited with your reading: {words}"])
