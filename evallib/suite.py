"""The suite: one reviewed YAML file of cases, checks and a gate, loaded strictly and known by its digest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, ValidationError

from evallib.case import Case, Id, Step, is_default, material_of, over_steps
from evallib.checks import CheckField
from evallib.checks.base import Check
from evallib.checks.expected import domain_problems
from evallib.checks.foreign import sources
from evallib.checks.judge import Judge
from evallib.checks.turns import parts_of
from evallib.domain import Domain, EntityKind, Tool
from evallib.errors import InputError
from evallib.gate import Gate
from evallib.records import digest
from evallib.sense import nonsense
from evallib.strict_yaml import Document, Location, Written, load_yaml, parse_yaml, problem_of, read_as
from evallib.trust import refuse_run_copy

__all__ = ["LONGEST_S", "Deadlines", "Probe", "Suite", "load_suite", "parse_suite", "read_suite"]

LONGEST_S = 31_536_000
"""A year: no deadline is longer, and none too long for a clock."""


class Deadlines(Written):
    """Seconds granted to one model call, one whole turn, one judge call, one check, and one run."""

    call_s: float = Field(default=120, gt=0, le=LONGEST_S)
    turn_s: float = Field(default=600, gt=0, le=LONGEST_S)
    judge_s: float = Field(default=120, gt=0, le=LONGEST_S)
    check_s: float = Field(default=10, gt=0, le=LONGEST_S)
    run_s: float | None = Field(default=None, gt=0, le=LONGEST_S)


class JudgeModel(Written):
    """Where judges are asked when the command line does not say: an OpenAI-compatible endpoint."""

    url: str
    model: str


class Probe(Written):
    """An answer whose verdicts are known: run before any real answer is scored."""

    name: str
    case: str
    answer: str
    passes: tuple[str, ...] = ()
    """Ids of checks that must pass on it; with `fails` empty and this empty, all computable checks."""
    fails: tuple[str, ...] = ()
    """Ids of checks that must fail on it."""


class Change(Written):
    """A change of the suite before any answer was read; not post hoc."""

    date: str
    note: str


class BoundCheck(NamedTuple):
    """A check made concrete for one case, with the digest of all that can change its verdict."""

    check: Check
    decides: str


class Suite(Written):
    """Cases, checks and a gate. `pass` says when a sample passes: `critical` or `top`."""

    suite: Id
    description: str = ""
    pass_rule: Literal["critical", "top"] = Field(default="critical", alias="pass")
    system: str = ""
    """System prompt sent to the target."""
    knowledge: str = ""
    """Folder beside the suite file with texts the target may list and read."""
    recorded: bool = False
    """Made by an importer from recorded verdicts: it describes a run and cannot be run itself."""
    aliases: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tool name to other names accepted for it."""
    tools: Mapping[str, Tool] = Field(default_factory=dict, exclude_if=is_default)
    """The target's tools: which of them write, which are guarded, and what they give where evallib plays them."""
    vocabulary: Mapping[str, EntityKind] = Field(default_factory=dict, exclude_if=is_default)
    """Kinds of entities that answers may name."""
    pairs: tuple[tuple[str, str], ...] = Field(default=(), exclude_if=is_default)
    """Kinds of entities that make a claim together, as in [incident, severity]."""
    deadlines: Deadlines = Deadlines()
    judge: JudgeModel | None = None
    checks: tuple[CheckField, ...] = ()
    gate: Gate | None = None
    cases: tuple[Case, ...] = Field(min_length=1)
    probes: tuple[Probe, ...] = ()
    changelog: tuple[Change, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, Case]:
        """Cases by id."""
        return {case.id: case for case in self.cases}

    @cached_property
    def bound(self) -> dict[str, tuple[BoundCheck, ...]]:
        """Per case id the checks that apply to it, concrete, suite-wide ones first."""
        return {case.id: tuple(self._bind(check, case) for check in self._applying(case)) for case in self.cases}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the suite's canonical form: layout and comments of the file do not count."""
        return digest(self.model_dump(mode="json", by_alias=True))

    @cached_property
    def gate_digest(self) -> str:
        """SHA-256 of the gate alone; of `null` when the suite has none."""
        return digest(self.gate.model_dump(mode="json") if self.gate else None)

    @cached_property
    def domain(self) -> Domain:
        """What the suite declares of tools and entities."""
        return Domain(self.tools, self.vocabulary, self.pairs, self.aliases)

    def under(self, deadlines: Deadlines) -> Suite:
        """This suite with its checks under other deadlines, as a command line may ask."""
        changed = self.model_copy(update={"deadlines": deadlines})
        changed.__dict__.pop("bound", None)  # the copy brings what was bound under the old ones
        return changed

    def _applying(self, case: Case) -> list[Check]:
        wide = [c for c in self.checks if c.when is None or c.when.applies(case.tags, case.split)]
        return [*wide, *case.checks, *over_steps(case)]

    def _bind(self, check: Check, case: Case) -> BoundCheck:
        domain = replace(self.domain, approvals=case.approvals)
        concrete = check.bind(case.key).in_domain(domain).within(self.deadlines.check_s)
        seen = [
            concrete.criteria(),
            self.pass_rule,
            *(one for part in parts_of(concrete) for one in sources(type(part))),
        ]
        if isinstance(concrete, Judge):
            concrete = concrete.facing(material_of(case))
            seen.append(concrete.shows())
        decides = "" if concrete.check == "recorded" else digest(seen, 16)
        return BoundCheck(concrete.deciding(decides), decides)

    def check_ids(self) -> tuple[str, ...]:
        """Every check id of the suite once, in the order of first appearance."""
        return tuple(dict.fromkeys(c.id for case in self.cases for c in self._applying(case)))

    def select(self, *, split: str | None = None, cases: tuple[str, ...] = ()) -> tuple[Case, ...]:
        """The cases of a split, or those named; InputError names an unknown one."""
        unknown = [name for name in cases if name not in self.by_id]
        if unknown:
            known = ", ".join(list(self.by_id)[:8])
            raise InputError(f"suite {self.suite!r} has no case {unknown[0]!r}; its cases begin with {known}")
        chosen = tuple(c for c in self.cases if (not cases or c.id in cases) and split in (None, "all", c.split))
        if not chosen:
            raise InputError(f"suite {self.suite!r} has no case in split {split!r}; try --split all")
        return chosen


def load_suite(path: Path, *, trust_code: bool = False) -> Suite:
    """The suite in `path` (a file, or a folder holding `suite.yaml`); InputError names file, line and key.

    A copy in a run folder is refused when it runs code, unless `trust_code`.
    """
    path = path / "suite.yaml" if path.is_dir() else path
    if not trust_code:
        refuse_run_copy(path)
    return _validated(load_yaml(path))


def read_suite(path: Path) -> Suite:
    """The stored suite in the file `path`, to be shown: nothing it names is imported, so it cannot judge."""
    return _validated(load_yaml(path), imports=False)


def parse_suite(text: str, name: str) -> Suite:
    """The suite in `text`; `name` stands for the file in messages."""
    return _validated(parse_yaml(text, name))


def _validated(document: Document, *, imports: bool = True) -> Suite:
    if not isinstance(document.value, dict):
        raise InputError(f"{document.name}: a suite is a mapping that begins with `suite: NAME`")
    suite = read_as(Suite, document, context={"imports": imports})
    _check_names(suite, document)
    _check_steps(suite, document)
    _check_binding(suite, document)
    _check_domain(suite, document)
    _check_pass_rule(suite, document)
    _check_probes(suite, document)
    if imports:  # a stored suite is shown as it ran
        _check_sense(suite, document)
    return suite


def _twice(names: Sequence[str]) -> str | None:
    if len(set(names)) == len(names):
        return None
    return next(name for name, count in Counter(names).items() if count > 1)


def _check_names(suite: Suite, document: Document) -> None:
    case = _twice([case.id for case in suite.cases])
    if case:
        index = [c.id for c in suite.cases].index(case)
        later = [c.id for c in suite.cases].index(case, index + 1)
        where = document.where(("cases", later, "id"))
        raise InputError(f"{where}: case id {case!r} stands twice; case ids must be unique")
    for index, one in enumerate(suite.cases):
        check = _twice([c.id for c in suite._applying(one)])
        if check:
            where = document.where(("cases", index))
            raise InputError(f"{where}: case {one.id!r} has check {check!r} twice; check ids must be unique in a case")
        if not one.steps and not suite.recorded:
            raise InputError(
                f"{document.where(('cases', index))}: case {one.id!r} has no steps; add `steps: [{{ask: ...}}]`"
            )


def _check_steps(suite: Suite, document: Document) -> None:
    """Decisions follow a step that asks for one, and what steps expect under one id counts alike."""
    for index, case in enumerate(suite.cases):
        for number, step in enumerate(case.steps):
            if step.approve is None and not step.checks:
                continue
            place = f"{document.where(('cases', index, 'steps', number))}: case {case.id!r}, step {number + 1}"
            if step.approve is not None and not (number and _asks_for_decision(case.steps[number - 1])):
                raise InputError(
                    f"{place}: decides what no step left open; the step before it needs a `confirmation` check"
                )
            twice = _twice([check.id for check in step.checks])
            if twice:
                raise InputError(f"{place}: has check {twice!r} twice; check ids must be unique in a step")
            for check in step.checks:
                _check_part(check, case, place)


def _asks_for_decision(step: Step) -> bool:
    return any(check.check == "confirmation" for check in step.checks)


def _check_part(check: Check, case: Case, place: str) -> None:
    if not check.computable:
        raise InputError(f"{place}: check {check.id!r} reads a whole conversation; write it at the case, not at a step")
    first = next(c for step in case.steps for c in step.checks if c.id == check.id)
    if (check.weight, check.critical) != (first.weight, first.critical):
        raise InputError(f"{place}: check {check.id!r} has another weight or `critical` than at an earlier step")


class _Tried:
    """Checks of a whole suite that take nothing of a case: tried with one they were tried with all."""

    def __init__(self, suite: Suite) -> None:
        self._wide = {id(check) for check in suite.checks}
        self._tried: set[int] = set()

    def __contains__(self, check: Check) -> bool:
        return id(check) in self._tried

    def add(self, check: Check, bound: Check) -> None:
        """A check was tried, which became `bound` with the key of a case."""
        if bound is check and id(check) in self._wide:
            self._tried.add(id(check))


def _check_binding(suite: Suite, document: Document) -> None:
    tried = _Tried(suite)
    for index, case in enumerate(suite.cases):
        for check in suite._applying(case):
            if check in tried:
                continue
            try:
                concrete = check.bind(case.key)
                bound = concrete.in_domain(suite.domain)
                if isinstance(bound, Judge):
                    bound.facing(material_of(case))
                else:
                    tried.add(check, concrete)
            except KeyError as error:
                place = f"{document.where(('cases', index, 'key'))}: case {case.id!r}, check {check.id!r}"
                raise InputError(f"{place} needs key {error.args[0]!r}; add it (an empty list is allowed)") from error
            except ValidationError as error:
                problem = problem_of(error)
                at = ("cases", index, "key", *_in_key(check, problem.at))
                where = f"{document.where(at)}: case {case.id!r}, check {check.id!r}"
                raise InputError(f"{where}, in the answer key: {problem.said}") from error
            except ValueError as error:
                raise InputError(f"{_where(check, index, suite, document)}: check {check.id!r}: {error}") from error
            if isinstance(check, Judge) and "reference" in check.inputs and not all(s.reference for s in case.steps):
                place = f"{document.where(('cases', index, 'key'))}: case {case.id!r}, check {check.id!r}"
                raise InputError(
                    f"{place} reads the reference answer, which a step lacks; add `reference` to each step of the "
                    "case, or take it out of `inputs`"
                )


def _in_key(check: Check, at: Location) -> Location:
    """Where in the answer key stands what a field of a check took from it; nothing where the check does not tell."""
    written = getattr(check, str(at[0]), None) if at else None
    return (written.removeprefix("key."), *at[1:]) if isinstance(written, str) else ()


def _where(check: Check, index: int, suite: Suite, document: Document) -> str:
    """The place of a check that applies to the case at `index`."""
    for number, one in enumerate(suite.checks):
        if one is check:
            return document.where(("checks", number))
    return document.where(("cases", index))


def _check_domain(suite: Suite, document: Document) -> None:
    """What the suite says of tools and entities fits together, and checks speak of no others."""
    for problem in suite.domain.problems():
        key = "pairs" if problem.startswith("`pairs`") else "tools"
        raise InputError(f"{document.where((key,))}: {problem}; add it, or correct its spelling")
    tried = _Tried(suite)
    for place, case, check in _written_checks(suite):
        if check in tried:
            continue
        bound = check.bind(case.key)
        tried.add(check, bound)
        for problem in domain_problems(bound, suite.domain):
            raise InputError(f"{document.where(place)}: case {case.id!r}, check {check.id!r}: {problem}")


def _written_checks(suite: Suite) -> Iterator[tuple[Location, Case, Check]]:
    """Every check with a case it applies to, and where it is written."""
    for index, case in enumerate(suite.cases):
        for number, check in enumerate(suite.checks):
            if check.when is None or check.when.applies(case.tags, case.split):
                yield ("checks", number), case, check
        for number, check in enumerate(case.checks):
            yield ("cases", index, "checks", number), case, check
        for nth, step in enumerate(case.steps):
            for number, check in enumerate(step.checks):
                yield ("cases", index, "steps", nth, "checks", number), case, check


def _check_pass_rule(suite: Suite, document: Document) -> None:
    if suite.pass_rule != "critical" or suite.recorded:
        return
    for index, case in enumerate(suite.cases):
        if not any(check.critical for check in suite._applying(case)):
            raise InputError(
                f"{document.where(('cases', index))}: case {case.id!r} has no critical check, so `pass: critical` "
                "could never decide it; mark one `critical: true` or write `pass: top`"
            )


def _check_sense(suite: Suite, document: Document) -> None:
    asks = [[step.ask for step in case.steps if step.approve is None] for case in suite.cases]
    tags = {tag for case in suite.cases for tag in case.tags}
    bound = [each.check for bounds in suite.bound.values() for each in bounds]
    thresholds = suite.gate.checks if suite.gate else {}
    for at, said in nonsense(asks, suite.checks, tags, bound, thresholds):
        raise InputError(f"{document.where(at)}: {said}")


def _check_probes(suite: Suite, document: Document) -> None:
    for index, probe in enumerate(suite.probes):
        where = document.where(("probes", index))
        if probe.case not in suite.by_id:
            raise InputError(f"{where}: probe {probe.name!r} names case {probe.case!r}, which does not exist")
        known = {bound.check.id: bound.check for bound in suite.bound[probe.case]}
        for name in (*probe.passes, *probe.fails):
            if name not in known:
                raise InputError(
                    f"{where}: probe {probe.name!r} names check {name!r}, which case {probe.case!r} does not have"
                )
            if not known[name].computable:
                raise InputError(
                    f"{where}: probe {probe.name!r} names check {name!r}, which cannot be computed; the self-check "
                    "asks no model, so leave it out"
                )
