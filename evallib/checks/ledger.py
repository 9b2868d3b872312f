"""The ledger of writes: what a target proposed, what it ran, and which of that a person had approved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evallib.checks.calls import same
from evallib.checks.responses import failure, is_open, origin
from evallib.checks.tools import spelled
from evallib.records import ToolCall, Turn

__all__ = ["Approvals", "Entry", "assigned", "entries"]

State = Literal["open", "ran", "failed"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One call of a tool, or one result that came only in a later turn."""

    step: int
    place: int
    """Place of the call in its turn, from 1; 0 where the turn only has its result, or only the proposal."""
    tool: str
    """The tool's name in the catalogue."""
    call: ToolCall
    state: State
    """Still waiting for a person; ran, as far as one can see; or came back with an error, so that nothing was done."""

    @property
    def told(self) -> str:
        """What and where, as a reason says it."""
        at = f"call {self.place}" if self.place else "left open" if self.state == "open" else "a result"
        return f"{spelled(self.call)} (step {self.step}, {at})"


def entries(turns: Sequence[Turn], tool_of: Callable[[str], str]) -> Iterator[Entry]:
    """Everything that was called or came back, in order: a proposal is an entry, and its later result another.

    `tool_of` gives a name's tool in the catalogue, so that other names of one tool are one.
    """
    latest: dict[str, State] = {}
    for nth, turn in enumerate(turns):
        for entry in (*_called(turn, tool_of), *_came_back(turn, turns[: nth + 1], tool_of)):
            # Ids are not trusted to tell calls apart: only a second result for a call that has one is left out.
            if not entry.place and entry.state != "open" and latest.get(entry.call.id, "open") != "open":
                continue
            if entry.call.id:
                latest[entry.call.id] = entry.state
            yield entry


def _called(turn: Turn, tool_of: Callable[[str], str]) -> Iterator[Entry]:
    for place, call in enumerate(turn.tool_calls, 1):
        answered = call.result is not None or call.error is not None
        waits = is_open(call) if answered else any(_is_proposal(call, one) for one in turn.pending)
        yield Entry(turn.step, place, tool_of(call.name), call, "open" if waits else _outcome(call))
    for call in turn.pending:
        if not any(_is_proposal(made, call) for made in turn.tool_calls):
            yield Entry(turn.step, 0, tool_of(call.name), call, "open")


def _came_back(turn: Turn, turns: Sequence[Turn], tool_of: Callable[[str], str]) -> Iterator[Entry]:
    for result in turn.results:
        if is_open(result):
            continue
        tool = tool_of(result.name)
        names = {call.name for one in turns for call in (*one.tool_calls, *one.pending) if tool_of(call.name) == tool}
        asked = origin(result, turns, names)
        call = ToolCall(result.name, asked.arguments if asked else result.arguments, result.result, result.error,
                        result.id or (asked.id if asked else ""))  # fmt: skip
        yield Entry(turn.step, 0, tool, call, _outcome(result))


def _outcome(call: ToolCall) -> State:
    return "failed" if failure(call) else "ran"


def _is_proposal(call: ToolCall, proposal: ToolCall) -> bool:
    """Whether `proposal` asks for this very call: by the ids, or by what they say where one has none."""
    if call.id and proposal.id:
        return call.id == proposal.id
    return call.name == proposal.name and same(call.arguments, proposal.arguments)


class Approvals:
    """What people approved: the calls left open right before a step that approves. Each licenses one execution.

    What a user claims in prose is none: a decision is a step of the case.
    """

    def __init__(self, turns: Sequence[Turn], approving: Sequence[int], tool_of: Callable[[str], str]) -> None:
        left = {turn.step: turn.pending for turn in turns}
        self._open = [(step, tool_of(call.name), call) for step in sorted(approving) for call in left.get(step - 1, ())]

    def spend(self, entry: Entry) -> int:
        """The step that approved this execution, which is used up with it; 0 where none did."""
        for nth, (step, tool, call) in enumerate(self._open):
            if step <= entry.step and tool == entry.tool and same(call.arguments, entry.call.arguments):
                del self._open[nth]
                return step
        return 0

    def other(self, entry: Entry) -> ToolCall | None:
        """A call of the same tool that was approved instead, for the reason."""
        return next((call for step, tool, call in self._open if step <= entry.step and tool == entry.tool), None)


def assigned(fits: Sequence[Sequence[int]], room: Sequence[int]) -> list[int]:
    """For each thing the place it takes, or -1: as many are placed as can be, and what is placed first stays placed.

    `fits` has the places each may take, `room` how many each place holds: a maximum matching (augmenting paths, Kuhn).
    """
    taken = [-1] * len(fits)
    held: list[list[int]] = [[] for _ in room]

    def settle(one: int, tried: set[int]) -> bool:
        for place in fits[one]:
            if place in tried:
                continue
            tried.add(place)
            if len(held[place]) >= room[place]:
                moved = next((other for other in held[place] if settle(other, tried)), None)
                if moved is None:
                    continue
                held[place].remove(moved)
            held[place].append(one)
            taken[one] = place
            return True
        return False

    for one in range(len(fits)):
        settle(one, set())
    return taken
