"""What a reviewer types in a terminal: single keys where there is a terminal, else one line for each."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from evallib.errors import InputError

__all__ = ["Keyboard", "Lines", "open_keyboard"]

_ARROWS = {b"[A": "k", b"OA": "k", b"[B": "j", b"OB": "j"}
_ESCAPE_S = 0.05
"""Within this a terminal sends the rest of a key that is more than one byte."""
_LOOK_UP_S = 0.3
_SEQUENCES = (b"[", b"O")
"""What begins a control sequence (CSI) or a single shift (SS3) after Escape: ECMA-48, 5.4."""
_LONGEST_LINE = 4095
"""Bytes of a line that a terminal of Linux takes; of what is typed beyond, nothing arrives."""
_PASTED = b"\x1b[200~", b"\x1b[201~"
"""Between these stands what was pasted, where the terminal was asked to tell it: line ends in it end no line."""
_NO_TEXT = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?|[\x00-\x07\x0b\x0c\x0e-\x14\x16\x18-\x1a\x1c-\x1f]")
"""Keys that move and other control characters: a line has no use for them."""


class Keyboard(Protocol):
    """Where keys and lines come from; EOFError when there are no more."""

    def key(self, prompt: str) -> str:
        """The next key, empty for Enter."""

    def line(self, prompt: str) -> str:
        """The next line, without blanks around it; KeyboardInterrupt holds what was typed of it."""


class Lines:
    """One key for each line: for pipes, and for terminals that give no single keys."""

    def __init__(self, read: Callable[[str], str] = input) -> None:
        self._read = read

    def key(self, prompt: str) -> str:
        """The next line, which is a key."""
        return self._read(prompt).strip()

    def line(self, prompt: str) -> str:
        """The next line."""
        return self._read(prompt).strip()


class _Terminal:
    """Single keys of a terminal, not echoed; Ctrl+C still interrupts. Lines are typed and mended as usual."""

    def __init__(self, descriptor: int, termios: Any, tty: Any) -> None:
        self._descriptor, self._termios, self._tty = descriptor, termios, tty
        self._usual = termios.tcgetattr(descriptor)
        self._typed = bytearray()
        """What came and was not asked for yet; all reading goes through it, so that nothing typed ahead is lost."""
        self._asked: tuple[Callable[[], None], str] = self._single, ""
        """How the terminal was last set, and the prompt that stands."""
        self._before = signal.signal(signal.SIGCONT, self._go_on)
        self._single()
        self._tell_pasted("h")

    def _go_on(self, *_: object) -> None:
        """After Ctrl+Z: the shell has set the terminal as it likes it, and written over the prompt."""
        setting, prompt = self._asked
        setting()
        self._tell_pasted("h")
        print(prompt, end="", flush=True)

    def _tell_pasted(self, on: str) -> None:
        """Ask the terminal to mark what is pasted (`h`), or no more (`l`)."""
        if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
            print(f"\x1b[?2004{on}", end="", flush=True)

    def _single(self) -> None:
        self._tty.setcbreak(self._descriptor, self._termios.TCSADRAIN)

    def _whole_lines(self) -> None:
        flags = list(self._usual)
        flags[3] |= self._termios.NOFLSH  # else Ctrl+C throws away what was typed of the line
        self._termios.tcsetattr(self._descriptor, self._termios.TCSADRAIN, flags)

    def restore(self) -> None:
        """Give the terminal back as it was, unless it is gone."""
        signal.signal(signal.SIGCONT, self._before)
        with contextlib.suppress(OSError, self._termios.error):
            self._termios.tcsetattr(self._descriptor, self._termios.TCSADRAIN, self._usual)
            self._tell_pasted("l")

    def key(self, prompt: str) -> str:
        """The next key; the arrows are k and j, Escape alone is `esc`."""
        self._asked = self._single, prompt
        print(prompt, end="", flush=True)
        pressed = self._pressed()
        print(pressed)
        return pressed

    def line(self, prompt: str) -> str:
        """The next line. The terminal is set for it before the prompt shows: who sees it may type, and interrupt."""
        said = bytearray()
        self._asked = self._whole_lines, prompt
        try:
            self._whole_lines()
            print(prompt, end="", flush=True)
            while (byte := self._bytes(1)) not in {b"\n", b"\r"} or said.rfind(_PASTED[0]) > said.rfind(_PASTED[1]):
                said += byte
        except KeyboardInterrupt:
            self._single()  # without whole lines, what was typed of this one can be read
            raise KeyboardInterrupt(_text(said + self._waiting())) from None
        finally:
            self._single()
        if max(map(len, said.split(b"\n"))) >= _LONGEST_LINE:
            raise InputError(
                f"this is longer than a terminal takes ({_LONGEST_LINE} bytes), and its end is lost: say it shorter"
            )
        return _text(said)

    def _waiting(self) -> bytes:
        """What was typed and not asked for, to the end of its line."""
        while select.select([self._descriptor], [], [], 0)[0] and (read := os.read(self._descriptor, 1024)):
            self._typed += read
        waiting = bytes(self._typed)
        self._typed.clear()
        return waiting.partition(b"\n")[0]

    def _bytes(self, count: int) -> bytes:
        """The next bytes that were typed."""
        while len(self._typed) < count:
            while not select.select([self._descriptor], [], [], _LOOK_UP_S)[0]:
                pass  # a signal that went to another thread is taken up here
            try:
                read = os.read(self._descriptor, 1024)
            except OSError as error:  # the terminal is gone
                raise EOFError from error
            if not read:
                raise EOFError
            self._typed += read
        taken = bytes(self._typed[:count])
        del self._typed[:count]
        return taken

    def _pressed(self) -> str:
        first = self._bytes(1)
        if first == b"\x04":
            raise EOFError
        if first == b"\x1b":
            sequence = self._sequence()
            if b"\x1b" + sequence == _PASTED[0]:  # what was pasted is no key
                pasted = bytearray()
                while not pasted.endswith(_PASTED[1]):
                    pasted += self._bytes(1)
            return _ARROWS.get(sequence, "esc")
        if first in b"\r\n":
            return ""
        if first[0] >= 0xC0:  # the first byte of a longer UTF-8 character
            first += self._bytes(1 + (first[0] >= 0xE0) + (first[0] >= 0xF0))
        return first.decode("utf-8", "replace")

    def _sequence(self) -> bytes:
        """What came with an Escape, to its final byte: none of it is a key. Empty when it came alone."""
        sequence = b""
        while self._typed or select.select([self._descriptor], [], [], _ESCAPE_S)[0]:
            byte = self._bytes(1)
            if byte == b"\x1b":
                sequence = b""
                continue
            sequence += byte
            if sequence in {*_SEQUENCES, b"[["}:  # the Linux console sends [[A for F1
                continue
            if sequence[:1] not in _SEQUENCES or not 0x20 <= byte[0] <= 0x3F:
                break
        return sequence


def _text(typed: bytes | bytearray) -> str:
    """The line that was meant: mended by the keys that erase, which came as they are where it was typed ahead."""
    meant = ""
    for character in _NO_TEXT.sub("", typed.decode("utf-8", "replace")):
        if character in "\x7f\x08":
            meant = meant[:-1]
        elif character == "\x15":
            meant = ""
        elif character == "\x17":
            meant = meant.rstrip()[: -len(meant.split()[-1])] if meant.split() else ""
        else:
            meant += character
    return re.sub(r"\s*[\r\n]\s*", " ", meant).strip()


@contextlib.contextmanager
def open_keyboard() -> Iterator[Keyboard]:
    """The keyboard of this process; a terminal is given back as it was, whatever happens."""
    try:
        import termios
        import tty

        terminal = _Terminal(sys.stdin.fileno(), termios, tty)
    except (ImportError, OSError, ValueError):  # no POSIX terminal: Windows, a pipe, a stand-in without a descriptor
        yield Lines()
        return
    except termios.error:  # a descriptor that is no terminal
        yield Lines()
        return
    try:
        yield terminal
    finally:
        terminal.restore()
