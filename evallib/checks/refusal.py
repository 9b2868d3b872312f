"""The check of an answer that must say no: what it must name, and what the target must not have done."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from evallib.checks.base import Texts
from evallib.checks.extraction import spoken
from evallib.checks.facts import Facts, find
from evallib.checks.folding import shown
from evallib.checks.tools import ToolCheck
from evallib.records import Sample, Verdict

__all__ = ["Refusal"]


class Refusal(ToolCheck):
    """The answer says no in the words required, and the target called none of the tools named.

    Example: `{id: says-so, check: refusal, all_of: [[no ticket, not exist], T-404], no_calls_of: [reboot_host]}`

    Texts are found as `mentions` finds them; an item that is itself a list holds variants. Words are a weak sign: a
    refusal in other words fails, and one that is taken back later passes. What a refusal really is stands in the
    calls, so name the tools that would break it in `no_calls_of` and keep the texts few (article 3: write a rule
    against a structural signature, never against wording). A call that was only proposed counts as a call.
    """

    revision: ClassVar[int] = 2  # as in `mentions`
    check: Literal["refusal"]
    all_of: Facts = ()
    no_calls_of: Texts = ()

    @model_validator(mode="after")
    def _ask_something(self) -> Self:
        if not self.all_of and not self.no_calls_of:
            raise ValueError("a refusal check needs texts in `all_of` or tools in `no_calls_of`")
        return self

    def named_tools(self) -> tuple[str, ...]:
        """The tools that must not be called."""
        return tuple(self.no_calls_of)

    def judge(self, sample: Sample) -> Verdict:
        """Fail with the first call that breaks the refusal, then with the texts that are missing."""
        places, named = self._calls(sample)
        if named:
            told = f"the answer may say no, but {' and '.join(named)} was called or proposed"
            return self.scored(sample, False, told, calls=places)
        said = spoken(sample.answer)
        if said.problem:
            return self.scored(sample, False, said.problem)
        found = find(self.all_of, sample.answer)
        if found.missing:
            told = (
                f"looked for {' and '.join(found.missing)} as whole words in any case, not in {shown(said.text, 160)}"
            )
            told += "; if it says no in other words, adjudicate it or add the words as variants"
            return self.scored(sample, False, told, spans=found.spans)
        parts = [f"all {len(self.all_of)} required texts are there"] if self.all_of else []
        parts += [f"no call of {', '.join(self.no_calls_of)}"] if self.no_calls_of else []
        return self.scored(sample, True, "; ".join(parts), spans=found.spans)

    def _calls(self, sample: Sample) -> tuple[tuple[int, ...], list[str]]:
        """Where calls of the named tools stand (step, place, ...), and the names called or proposed."""
        places = [
            (turn.step, place)
            for turn in sample.turns
            for place, call in enumerate(turn.tool_calls, 1)
            if self._is_named(call.name)
        ]
        called = [call.name for turn in sample.turns for call in (*turn.tool_calls, *turn.pending)]
        return tuple(n for place in places for n in place), [
            name for name in dict.fromkeys(called) if self._is_named(name)
        ]

    def _is_named(self, name: str) -> bool:
        return any(self.is_tool(name, tool) for tool in self.no_calls_of)
