"""Asking judges: every vote a call of its own, many at once, each within its deadline, none of them twice."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

from evallib.checks.judge import Judge
from evallib.endpoint import Reply
from evallib.judges import (
    UNCALIBRATED,
    Messages,
    Vote,
    build_prompt,
    exchange_of,
    judge_verdict,
    left_out,
    nothing_to_judge,
    prompt_digest,
    read_vote,
)
from evallib.records import Sample, Usage, Verdict, storable
from evallib.store.calibrations import judge_key

__all__ = ["Estimate", "JudgePanel", "Jury", "Replies", "estimate", "is_same_model"]

TOKENS_PER_WORD = 1.3
"""English text through common tokenizers; the same figure the scripted model counts with."""
_ANSWER_WORDS = 200
"""Assumed length of an answer that is not there yet."""


class JudgePanel(Protocol):
    """Whoever answers judge prompts; `reply` raises on trouble and the trouble becomes the vote's problem."""

    def identity(self, check: Judge | None = None) -> Mapping[str, Any]:
        """Model and endpoint, for the record, without secrets; of the model that `check` asks for, where it does."""

    def preflight(self) -> None:
        """Make sure that it answers."""

    def reply(self, check: Judge, messages: Messages, *, seed: int, timeout_s: float) -> Reply:
        """One reply within `timeout_s` seconds."""


class Replies(Protocol):
    """Replies kept by the digest of what was asked."""

    def find(self, key: str) -> Reply | None:
        """The reply kept under `key`, if any."""

    def keep(self, key: str, reply: Reply) -> None:
        """Keep a reply; one that is there already stays."""


class Estimate(NamedTuple):
    """What asking will take, before anyone is asked."""

    calls: int
    prompt_tokens: int
    reply_tokens: int
    """At most."""
    seconds: float
    """At most: every call at its deadline."""

    def line(self, model: str, jobs: int) -> str:
        """One sentence for a person."""
        return (
            f"judges: {self.calls} calls of {model}, about {self.prompt_tokens:,} prompt tokens and at most "
            f"{self.reply_tokens:,} reply tokens; with {jobs} at once at most {_duration(self.seconds)}"
        )


def estimate(asked: Iterable[tuple[Judge, Sample, int]], *, jobs: int, deadline_s: float) -> Estimate:
    """The estimate for judges on samples, each so many times; an answer not there yet counts as 200 words."""
    calls = prompt = reply = 0
    for check, sample, count in asked:
        exchange = exchange_of(check, sample)
        words = sum(len(message["content"].split()) for message in build_prompt(check, exchange))
        words += sum(_ANSWER_WORDS for answer in exchange.answers if not answer)
        times = check.votes * count
        calls += times
        prompt += round(words * TOKENS_PER_WORD) * times
        reply += check.max_tokens * times
    return Estimate(calls, prompt, reply, -(-calls // jobs) * deadline_s)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def is_same_model(one: str, other: str) -> bool:
    """Whether two names mean one model: letter case and a provider's prefix do not tell models apart."""
    return bool(one) and one.rpartition("/")[2].casefold() == other.rpartition("/")[2].casefold()


@dataclass(frozen=True, slots=True)
class _Ballot:
    """One vote to be asked for."""

    check: Judge
    messages: Messages
    seed: int
    key: str


class Jury:
    """Asks a panel for votes with `jobs` threads. Votes are in order whatever order replies come in.

    With `replies`, a reply kept there is not asked for again, and every new one is kept; a call that failed is not.
    """

    def __init__(
        self,
        panel: JudgePanel,
        *,
        jobs: int,
        deadline_s: float,
        target_model: str = "",
        replies: Replies | None = None,
        calibrations: Mapping[tuple[str, str, str], str] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """`calibrations` maps a judge (see `judge_key`) to the id of a calibration record."""
        self.panel, self.jobs, self.calls, self.kept, self.planned = panel, jobs, 0, 0, 0
        self._deadline_s, self._target_model, self._replies = deadline_s, target_model, replies
        self._calibrations, self._tell = calibrations or {}, tell
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="judge")
        self._counting = threading.Lock()
        self._checked = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ask nobody any more; calls under way are given up."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def for_target(self, model: str) -> None:
        """Whose answers are judged from now on: a judge that is this very model is named as such."""
        self._target_model = model

    def identity(self, check: Judge) -> dict[str, Any]:
        """Who answers `check`, and with which prompt."""
        found = {**self.panel.identity(check), "prompt": prompt_digest(check)}
        if is_same_model(str(found.get("model", "")), self._target_model):
            found["same_model_as_target"] = True
        return found

    def expect(self, asked: Sequence[tuple[Judge, Sample, int]]) -> None:
        """Say what asking will take, and warn of judges that are the target's own model; before the first call."""
        open_ = [one for one in asked if self._replies is None or self._any_missing(one[0], one[1], self._replies)]
        foreseen = estimate(open_, jobs=self.jobs, deadline_s=self._deadline_s)
        self.planned = foreseen.calls
        models = sorted({str(self.identity(check).get("model", "a judge")) for check, _, _ in asked})
        if self._tell and foreseen.calls:
            self._tell(foreseen.line(", ".join(models), self.jobs))
            for name in sorted({c.id for c, _, _ in asked if self.identity(c).get("same_model_as_target")}):
                self._tell(f"warning: judge {name!r} is the target's own model {self._target_model!r}")

    def _any_missing(self, check: Judge, sample: Sample, replies: Replies) -> bool:
        return any(replies.find(ballot.key) is None for ballot in self._ballots(check, sample))

    def verdicts(self, asked: Sequence[tuple[Judge, Sample]]) -> list[Verdict]:
        """One verdict for each judge and sample, in the order given; all their votes are in flight together."""
        found = [nothing_to_judge(check, sample) for check, sample in asked]
        ballots = [
            [] if verdict else self._ballots(check, sample)
            for (check, sample), verdict in zip(asked, found, strict=True)
        ]
        submitted: dict[str, Future[Reply | str]] = {}
        cast = [[self._submit(ballot, submitted) for ballot in group] for group in ballots]
        return [
            verdict or self._fold(check, sample, [_vote(*one) for one in zip(group, replies, strict=True)])
            for (check, sample), verdict, group, replies in zip(asked, found, ballots, cast, strict=True)
        ]

    def _fold(self, check: Judge, sample: Sample, votes: Sequence[Vote]) -> Verdict:
        identity = self.identity(check)
        calibration = self._calibrations.get(judge_key(identity), UNCALIBRATED)
        not_shown = left_out(check, exchange_of(check, sample))
        return judge_verdict(check, sample, votes, identity, calibration, not_shown=not_shown)

    def _ballots(self, check: Judge, sample: Sample) -> list[_Ballot]:
        messages = build_prompt(check, exchange_of(check, sample))
        seeds = [(sample.seed or 0) + number for number in range(check.votes)]
        return [_Ballot(check, messages, seed, self._key(check, messages, seed)) for seed in seeds]

    def _key(self, check: Judge, messages: Messages, seed: int) -> str:
        """SHA-256 of everything that decides a reply."""
        asked = [dict(self.panel.identity(check)), messages, check.temperature, check.max_tokens, seed]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    def _submit(self, ballot: _Ballot, submitted: dict[str, Future[Reply | str]]) -> Future[Reply | str]:
        """The reply to come, or the problem; with kept replies, one question asked twice in a batch is one call."""
        if self._replies is None:
            return self._pool.submit(self._ask, ballot)
        if ballot.key in submitted:
            self.kept += 1
            return submitted[ballot.key]
        kept = self._replies.find(ballot.key)
        if kept is None and not self._checked:
            self.panel.preflight()  # only now: what is kept can be read without anyone answering
            self._checked = True
        future: Future[Reply | str] = Future()
        if kept is not None:
            self.kept += 1
            future.set_result(kept)
        else:
            future = self._pool.submit(self._ask, ballot)
        submitted[ballot.key] = future
        return future

    def _ask(self, ballot: _Ballot) -> Reply | str:
        started = time.monotonic()
        with self._counting:
            self.calls += 1
        try:
            reply = self.panel.reply(ballot.check, ballot.messages, seed=ballot.seed, timeout_s=self._deadline_s)
        except Exception as error:  # noqa: BLE001  # one vote's trouble is that vote's problem, whatever it was
            return f"{type(error).__name__}: {error}"[:300]
        self._tell_pace(time.monotonic() - started)
        reply = replace(reply, text=storable(reply.text))
        if self._replies is not None:
            self._replies.keep(ballot.key, reply)
        return reply

    def _tell_pace(self, seconds: float) -> None:
        """Once, after the first reply: what all calls take at its pace."""
        with self._counting:
            planned, self.planned = self.planned, 0
        if self._tell and planned:
            whole = _duration(-(-planned // self.jobs) * seconds)
            self._tell(f"judges: the first reply took {seconds:.1f} s; {planned} calls take about {whole} at that pace")


def _vote(ballot: _Ballot, reply: Future[Reply | str]) -> Vote:
    said = reply.result()
    if isinstance(said, str):
        return Vote(None, "", said, ballot.seed, Usage(calls=1))
    if said.finish_reason == "length":
        problem = (
            f"the reply was cut at {ballot.check.max_tokens} tokens; raise max_tokens of check {ballot.check.id!r}"
        )
        return Vote(None, "", problem, ballot.seed, said.usage)
    vote = read_vote(said.text, ballot.check)
    return Vote(vote.score, storable(vote.reason), storable(vote.problem), ballot.seed, said.usage)
