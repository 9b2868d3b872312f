"""The script of a scripted model: which reply it gives to which conversation.

A script is one YAML file. The first rule whose `when` fits the conversation replies, else `default`:

    script: NAME
    replies:
      - when: {contains: [proxy, "407"]}
        answers: [{tool_calls: [{name: read_article, arguments: {id: KB-2210}}]}]
      - when: {contains: [proxy], after_tool: read_article}
        choose: rotate
        answers: [{text: "one answer"}, {text: "another"}]
      - when: {model: judge}
        answers: [{text: '{"score": 5, "reason": "clear"}'}]
    default: {text: "I do not know."}

A rule without `after_tool` fits only where the last message is no tool's result, so that a tool call never repeats
for ever. A rule without `model`, and `default`, speak for every model but `judge`: a judge is asked with the case's
question in its prompt, which must not find the answer meant for the target.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from evallib.errors import InputError
from evallib.records import digest
from evallib.strict_yaml import Written, load_yaml, read_as
from evallib.targets.base import DECISION_MARK

__all__ = ["JUDGE_MODEL", "Answer", "Conversation", "Rule", "Script", "When", "load_script"]

JUDGE_MODEL = "judge"
"""The model name that only rules naming it answer."""
_WORD_TOKENS = 1.3


@dataclass(frozen=True)  # without slots, for every rule asks again what is found once
class Conversation:
    """What a client sent, as far as a script may look at it."""

    model: str
    messages: Sequence[Mapping[str, Any]]
    seed: int = 0

    @cached_property
    def last_user(self) -> str:
        """The text of the last message of the user; what tells a decision is none."""
        return next((text_of(m) for m in reversed(self.messages) if _by_user(m)), "")

    @cached_property
    def system(self) -> str:
        """What the model was told by nobody who is the user: system and developer messages, and decisions."""
        told = (m for m in self.messages if m.get("role") in {"system", "developer"} or _tells_decision(m))
        return "\n".join(text_of(m) for m in told)

    @cached_property
    def turn(self) -> int:
        """How many messages the user has sent."""
        return sum(_by_user(m) for m in self.messages)

    @cached_property
    def after_tool(self) -> str:
        """The name of the tool whose result came last; empty when the last message is no tool's result."""
        last = self.messages[-1]
        if last.get("role") != "tool":
            return ""
        for message in reversed(self.messages):
            for call in message.get("tool_calls") or ():
                if isinstance(call, dict) and call.get("id") == last.get("tool_call_id"):
                    return str((call.get("function") or {}).get("name") or "")
        return str(last.get("name") or "")

    @property
    def words(self) -> int:
        """Words over all messages."""
        return sum(len(text_of(message).split()) for message in self.messages)


def _tells_decision(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "user" and text_of(message).startswith(DECISION_MARK)


def _by_user(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "user" and not _tells_decision(message)


def text_of(message: Mapping[str, Any]) -> str:
    """The text of one message, also where it comes in parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


class When(Written):
    """Conditions on a conversation; all that are given must hold, texts are case-sensitive."""

    user: str | None = None
    """The last user message is exactly this text."""
    contains: tuple[str, ...] = ()
    """Each of these texts occurs in the last user message."""
    pattern: str | None = None
    """This regular expression finds something in the last user message."""
    model: str | None = None
    """The model asked for; without it every model but `judge`."""
    system_contains: tuple[str, ...] = ()
    """Each of these texts occurs in the system prompt, or in what the model was told of a person's decision, as in
    '"decision": "approved"'."""
    after_tool: str | None = None
    """The last message is the result of this tool (`*`: of any); without it, of none."""
    turn: int | None = Field(default=None, ge=1)
    """How many messages the user has sent so far, from 1."""

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise ValueError(f"pattern {pattern!r} is broken: {error}") from error
        return pattern

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern or "")

    def fits(self, conversation: Conversation) -> bool:
        """Whether every condition holds."""
        if conversation.model == JUDGE_MODEL if self.model is None else conversation.model != self.model:
            return False
        tool = conversation.after_tool
        if not tool if self.after_tool == "*" else tool != (self.after_tool or ""):
            return False
        if self.turn is not None and conversation.turn != self.turn:
            return False
        user = conversation.last_user
        return (
            (self.user is None or user == self.user)
            and all(text in user for text in self.contains)
            and all(text in conversation.system for text in self.system_contains)
            and (self.pattern is None or self._regex.search(user) is not None)
        )


class ScriptedCall(Written):
    """A tool call the scripted model asks for."""

    name: str = Field(min_length=1)
    arguments: Mapping[str, Any] = Field(default_factory=dict)


class ScriptedUsage(Written):
    """Tokens the scripted model claims to have used."""

    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)


class Answer(Written):
    """One thing the scripted model does: say something, call tools, or fail in a chosen way."""

    text: str | None = None
    tool_calls: tuple[ScriptedCall, ...] = ()
    weight: float = Field(default=1, gt=0)
    """How often `choose: draw` takes it, against the weights of its neighbours."""
    delay_s: float = Field(default=0, ge=0, le=3600)
    status: int | None = Field(default=None, ge=400, le=599)
    """Answer with this HTTP status instead."""
    error: str = ""
    """The message that goes with `status`."""
    drop: bool = False
    """Close the connection without a reply."""
    garbage: bool = False
    """Reply with something that is no JSON."""
    finish_reason: str = ""
    """Default: `tool_calls` with tool calls, else `stop`."""
    usage: ScriptedUsage | None = None
    """Default: 1.3 tokens a word."""

    @model_validator(mode="after")
    def _does_one_thing(self) -> Self:
        says = self.text is not None or bool(self.tool_calls)
        ways = [says, self.status is not None, self.drop, self.garbage]
        if sum(ways) != 1:
            raise ValueError("an answer does exactly one of: text and/or tool_calls, status, drop, garbage")
        if self.error and self.status is None:
            raise ValueError("`error` is the message of a `status`; add one, as in `status: 503`")
        return self

    def tokens(self, conversation: Conversation) -> ScriptedUsage:
        """The usage to report."""
        if self.usage:
            return self.usage
        calls = " ".join(json.dumps(dict(call.arguments)) for call in self.tool_calls)
        spoken = len((self.text or "").split()) + len(calls.split())
        return ScriptedUsage(
            input_tokens=round(conversation.words * _WORD_TOKENS), output_tokens=round(spoken * _WORD_TOKENS)
        )


class Rule(Written):
    """A rule: when it fits, one of its answers is given."""

    when: When = When()
    choose: Literal["rotate", "draw"] = "rotate"
    """`rotate`: answers[seed % n], so that n seeds in a row show each once; `draw`: by weight, seeded."""
    answers: tuple[Answer, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _weights_are_used(self) -> Self:
        if self.choose == "rotate" and any(answer.weight != 1 for answer in self.answers):
            raise ValueError("`weight` counts only with `choose: draw`")
        return self

    def answer(self, conversation: Conversation) -> Answer:
        """The answer for this conversation and its seed."""
        if self.choose == "rotate" or len(self.answers) == 1:
            return self.answers[conversation.seed % len(self.answers)]
        sums = list(accumulate(answer.weight for answer in self.answers))
        seen = digest([conversation.seed, conversation.model, json.dumps(list(conversation.messages))], 13)
        point = int(seen, 16) / 16**13 * sums[-1]
        return next(a for a, reached in zip(self.answers, sums, strict=True) if point < reached)


class Script(Written):
    """A scripted model: rules tried in order, first match replies."""

    script: str = Field(min_length=1)
    description: str = ""
    replies: tuple[Rule, ...] = ()
    default: Answer | None = None

    def answer(self, conversation: Conversation) -> Answer | None:
        """What to reply; None when no rule fits and there is no default."""
        for rule in self.replies:
            if rule.when.fits(conversation):
                return rule.answer(conversation)
        return None if conversation.model == JUDGE_MODEL else self.default

    @property
    def models(self) -> tuple[str, ...]:
        """Names to list as models: `scripted` and those that rules name."""
        named = (rule.when.model for rule in self.replies)
        return tuple(dict.fromkeys(["scripted", *(name for name in named if name)]))

    @property
    def digest(self) -> str:
        """SHA-256 of the script's canonical form: layout and comments of the file do not count."""
        return digest(self.model_dump(mode="json"))


def load_script(path: Path) -> Script:
    """The script in `path`; InputError names file, line and key."""
    document = load_yaml(path)
    if not isinstance(document.value, dict):
        raise InputError(f"{document.name}: a script is a mapping that begins with `script: NAME`")
    return read_as(Script, document)
