"""Sealed holdouts: a suite outside the repository, known by its digest, run a counted number of times, never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evallib.entries import Seal, Use, entry_text, says_nothing
from evallib.errors import InputError
from evallib.records import digest
from evallib.reviewer import reviewer_name
from evallib.store import LoggedEntry, Run, append_entry, by_time, read_log
from evallib.store.files import locked, write_new
from evallib.strict_yaml import dump_yaml
from evallib.suite import Suite

__all__ = ["MARK", "admit", "make_seal", "questions_of", "seal_of", "seal_suite", "unseen_use", "uses_of"]

MARK = "sealed.yaml"
"""Beside a sealed suite: names the seal, so that no other log lets the suite run unseen."""
_WRITER = "evallib run"
"""Uses are written by the tool."""
_SHORT = 16
"""Letters and digits: two suites may well share a shorter question."""


class _Sealed(NamedTuple):
    """A seal of the log that a suite falls under."""

    id: str
    seal: Seal


def questions_of(suite: Suite) -> list[str]:
    """Digests (16 hex) of what the cases ask, sorted; blanks, punctuation and case do not count."""
    return sorted({digest(text, 16) for case in suite.cases for text in _asks([step.ask for step in case.steps])})


def _asks(asks: Sequence[str]) -> Iterator[str]:
    bare = [re.sub(r"[\W_]+", "", ask).casefold() for ask in asks]
    yield from ([one for one in bare if len(one) >= _SHORT] or ["".join(bare)])


def seal_of(suite: Suite, log: Sequence[LoggedEntry]) -> _Sealed | None:
    """The newest seal that names the suite, has its digest, or shares a question with it; seals are never withdrawn."""
    asked = set(questions_of(suite))
    ordered = sorted(log, key=by_time, reverse=True)
    seals = [_Sealed(id_, e) for id_, e in ordered if isinstance(e, Seal)]
    known = (suite.suite, suite.digest)
    by_name = [one for one in seals if known[0] == one.seal.suite or known[1] == one.seal.suite_digest]
    shared = [one for one in seals if asked & set(one.seal.questions)]
    return next(iter([*by_name, *shared]), None)


def uses_of(seal: str, log: Sequence[LoggedEntry]) -> list[Use]:
    """The runs of a sealed suite, oldest first; one that was killed counts, and nobody takes one back."""
    return [e for _, e in sorted(log, key=by_time) if isinstance(e, Use) and e.seal == seal]


def seal_suite(path: Path, suite: Suite, adjudications: Path, seal: Seal) -> LoggedEntry:
    """Write the seal into the log, and its mark beside the suite.

    InputError when the suite lies in the repository of the log, is recorded, was sealed, or was used under a seal.
    """
    folder = path if path.is_dir() else path.parent
    if suite.recorded:
        raise InputError(f"{path}: this suite describes an imported run and cannot be run; seal one that can")
    _refuse_inside(folder, adjudications, "a sealed suite lies outside the repository; move it")
    with _held(adjudications):
        found = seal_of(suite, read_log(adjudications))
        if found is not None:
            _refuse_again(suite, found, uses_of(found.id, read_log(adjudications)))
        elif (folder / MARK).exists():
            raise InputError(f"{folder / MARK}: the suite was sealed in another log; name it with --adjudications")
        logged = append_entry(adjudications, seal)
    (folder / MARK).unlink(missing_ok=True)  # of a seal that was never used
    write_new(folder / MARK, dump_yaml({"seal": logged.id}).encode())
    return logged


def _refuse_again(suite: Suite, found: _Sealed, uses: Sequence[Use]) -> None:
    if found.seal.suite_digest == suite.digest:
        raise InputError(f"suite {suite.suite!r} is sealed already ({found.id}), with a budget of {found.seal.budget}")
    if uses or found.seal.suite != suite.suite:
        raise InputError(_edited(suite, found, uses))


def _edited(suite: Suite, found: _Sealed, uses: Sequence[Use]) -> str:
    sealed = f"({found.id}, digest {found.seal.suite_digest[:16]})"
    if found.seal.suite != suite.suite:
        return (
            f"suite {suite.suite!r} asks what the sealed suite {found.seal.suite!r} asks {sealed}; its questions are "
            "run under that seal only, take them out"
        )
    if not uses:
        return (
            f"suite {suite.suite!r} is not what was sealed {sealed}; restore it, or seal it anew before its first use"
        )
    return (
        f"suite {suite.suite!r} was edited after its first use {sealed}; restore it, or seal other questions under "
        "another name"
    )


def admit(path: Path, suite: Suite, options: Any, adjudications: Path | None, data: Path) -> dict[str, Any]:
    """What plan.json says of the seal of a suite that is about to run, once its use was written; empty without a seal.

    InputError when it is not what was sealed, its budget is spent, only a part of it would run, or answers would lie
    in the repository. A run that is resumed was counted when it began.
    """
    folder = path.parent
    log = read_log(adjudications) if adjudications else []
    found = seal_of(suite, log)
    if found is None:
        if (folder / MARK).exists():
            raise InputError(f"{folder / MARK}: the suite is sealed, and the log has no seal of it; name its log")
        return {}
    assert adjudications is not None  # a log was read
    if found.seal.suite_digest != suite.digest:
        raise InputError(_edited(suite, found, uses_of(found.id, log)))
    if len(suite.select(split=options.split, cases=options.cases)) < len(suite.cases):
        raise InputError(f"suite {suite.suite!r} is sealed and runs whole: a part tells of single answers")
    _refuse_inside(
        data, adjudications, "answers to a sealed suite lie outside the repository; name a folder with --data"
    )
    return {"seal": {"id": found.id, "use": _use(found, suite, options, adjudications)}}


def _use(found: _Sealed, suite: Suite, options: Any, adjudications: Path) -> int:
    """The number of this use, written down unless it is resumed."""
    with _held(adjudications):
        uses = uses_of(found.id, read_log(adjudications))
        known = [number for number, use in enumerate(uses, 1) if use.run == options.run_id]
        if options.resume and known:
            return known[0]
        if known:
            raise InputError(f"run {options.run_id!r} is a use of sealed suite {suite.suite!r} already; resume it")
        if len(uses) >= found.seal.budget:
            raise InputError(
                f"the budget of sealed suite {suite.suite!r} is spent: {len(uses)} of {found.seal.budget} runs, the "
                f"last of them {uses[-1].run!r}; seal other questions"
            )
        use = Use(author=_WRITER, seal=found.id, run=options.run_id, suite_digest=suite.digest)
        append_entry(adjudications, use)
        return len(uses) + 1


def unseen_use(run: Run, log: Sequence[LoggedEntry]) -> list[str]:
    """A sentence where the run is of a sealed suite and the log does not count it: it was spent under another log."""
    if not run.sealed or any(use.run == run.id for use in uses_of(run.sealed, log)):
        return []
    told = (
        f"run {run.id!r} is of a sealed holdout, and the log has no use of seal {run.sealed} by it; name the log under "
        "which it was run (--adjudications), or bring its entries in"
    )
    return [told]


def _held(adjudications: Path) -> Any:
    adjudications.mkdir(parents=True, exist_ok=True)
    return locked([adjudications])


def _refuse_inside(folder: Path, adjudications: Path, remedy: str) -> None:
    inside = _repository(adjudications)
    if folder.resolve().is_relative_to(inside):
        raise InputError(f"{folder}: lies in {inside}, which holds the log; {remedy}")


def _repository(adjudications: Path) -> Path:
    """The checkout that holds the log; without one, the folder that the log lies in."""
    place = adjudications.resolve()
    return next((folder for folder in place.parents if (folder / ".git").exists()), place.parent)


def make_seal(suite: Suite, *, budget: int, author: str, reason: str) -> Seal:
    """A seal of the suite as it is; InputError when author, reason or budget is missing."""
    if says_nothing(reason):
        raise InputError("a seal needs a reason; give --reason")
    if budget < 1:
        raise InputError(f"--budget {budget}: must be at least 1")
    return Seal(
        author=reviewer_name(author),
        suite=suite.suite,
        suite_digest=suite.digest,
        questions=tuple(questions_of(suite)),
        budget=budget,
        reason=entry_text(reason.strip()),
    )
