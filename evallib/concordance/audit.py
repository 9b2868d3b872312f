"""Audit of strict verdicts by reading: false passes and false fails by stratum, and the pass rate corrected by them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evallib.concordance.selection import Selection, Strict
from evallib.records import Outcome, SampleKey
from evallib.scoring import fold_all
from evallib.standing import Readings, State, standing_readings
from evallib.statistics.correction import Layer, stratified_interval, stratified_rate, stratified_se
from evallib.statistics.estimators import Interval, clopper_pearson, effective_size, of_finite, wilson
from evallib.stdout import percent
from evallib.store import LoggedEntry, Run

__all__ = ["Audit", "Rate", "StratumAudit", "audit", "audit_run"]

_WORD = {"pass": ("strict pass", "strict passes"), "fail": ("strict failure", "strict failures"),
         "error": ("strict error", "strict errors")}  # fmt: skip
_ENOUGH = 60
"""A random draw of this many clean passes bounds the false ones at 5 % (statistics reference, 2.3)."""
_WIDEST = 0.30
"""A share whose 95 % interval is this wide or wider is no figure to print (Parker et al. 2017, the standards of the
National Center for Health Statistics for proportions, Vital and Health Statistics 2(175))."""


class Rate(NamedTuple):
    """A pass rate; `why` says what is missing where value or interval is None."""

    value: float | None
    interval: Interval | None
    why: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As JSON prints it."""
        return {"value": self.value, "interval": list(self.interval) if self.interval else None, "why": self.why}


@dataclass(frozen=True, slots=True)
class StratumAudit:
    """What reading found among the items with one strict word."""

    strict: Strict
    of: int
    """Items of this kind in the run."""
    right: int
    """Of the drawn: read as strict says (an error: read as fail)."""
    false: int
    """Of the drawn: a pass read as fail, a fail or an error read as pass."""
    infra: int
    """Of the drawn: read as a failure of the infrastructure. It was settled, and counts as no pass."""
    unsettled: int
    """Of the drawn: unsure or disputed; counted for and against in the interval."""
    unread: int
    """Of the drawn: not read; counted for and against in the interval."""
    cases: int
    """Cases that the drawn and read are of. What is said of this run needs no more; of others, cases count."""
    blind: int
    """Of the drawn and read: those that nobody read with the strict verdict in sight."""
    how: str
    """The rule of the draw in words; empty where no item was drawn by one."""
    picked: int
    """Read by no such rule; they bound the false ones from below and say nothing of their share."""
    picked_false: int
    picked_open: int
    """Of the picked: unsure or disputed."""
    picked_words: str

    @property
    def read(self) -> int:
        """Drawn, read and settled: the denominator of the share."""
        return self.right + self.false + self.infra

    @property
    def lost(self) -> int:
        """Drawn and not settled."""
        return self.unsettled + self.unread

    @property
    def share(self) -> float | None:
        """Share of false ones among the drawn and settled."""
        return self.false / self.read if self.read else None

    @property
    def interval(self) -> Interval | None:
        """The exact 95 % interval of the share among all of this run's, hypergeometric; the lost count both ways."""
        if not self.read:
            return None
        drawn = self.read + self.lost
        low, high = of_finite(self.false, drawn, self.of), of_finite(self.false + self.lost, drawn, self.of)
        return Interval(low.lo, high.hi)

    @property
    def beyond(self) -> Interval | None:
        """The exact 95 % interval of the share among answers like these, binomial (Clopper and Pearson 1934)."""
        if not self.read:
            return None
        drawn = self.read + self.lost
        low, high = clopper_pearson(self.false, drawn), clopper_pearson(self.false + self.lost, drawn)
        return Interval(low.lo, high.hi)

    @property
    def at_most(self) -> float | None:
        """The one-sided 95 % bound on the share in this run; where none was found it is what can be claimed."""
        return of_finite(self.false + self.lost, self.read + self.lost, self.of, 0.05).hi if self.read else None

    @property
    def thin(self) -> bool:
        """Whether so few were drawn and settled that what is true of this run's could be almost anything."""
        return self.interval is not None and self.interval.hi - self.interval.lo >= _WIDEST

    @property
    def layer(self) -> Layer:
        """As the corrected rate takes it. Errors that nobody drew count as fails, as in every headline figure."""
        if self.strict == "error" and not self.read:
            return Layer(self.of, self.of, 0)
        return Layer(self.of, self.read, self.right if self.strict == "pass" else self.false, self.lost)

    def sentence(self) -> str:
        """The one sentence that the numbers license."""
        if not self.of:
            return f"There is no {_WORD[self.strict][0]}."
        said = [self._drawn_sentence()] if self.read else []
        said += [self._unsettled_sentence()] if self.unsettled and not self.read else []
        said += [self._picked_sentence()] if self.picked else []
        return " ".join(said) or f"None of the {self.among} was read: their false share is not estimable."

    @property
    def among(self) -> str:
        """How many there are, in words."""
        return f"{self.of} {_WORD[self.strict][self.of != 1]}"

    @property
    def _false(self) -> str:
        one, more = {"pass": ("false pass", "false passes"), "fail": ("false fail", "false fails")}.get(
            self.strict, ("pass", "passes")
        )
        return f"{self.false} {one if self.false == 1 else more}"

    def _drawn_sentence(self) -> str:
        (low, high), bound = self.interval or Interval(0, 1), self.at_most or 0.0
        if self.read == self.of:
            return f"All {self.among} were read: {self._false} ({percent(self.false / self.of)}){self._sighted}."
        within = f"{percent(low)} to {percent(high)}" if self.false else f"at most {percent(bound)}"
        cases = f" (of {self.cases} case{'s' * (self.cases != 1)})" if self.cases < self.read else ""
        drawn = f"Of {self.among}, {self.read}{cases} were drawn ({self.how}), read and settled"
        lost = f"; {self.unsettled} unsettled and {self.unread} unread count both ways" if self.lost else ""
        return f"{drawn}: {self._false}, {within} of all (95 %){lost}{self._sighted}."

    def _unsettled_sentence(self) -> str:
        drawn = f"Of {self.among}, {self.lost} were drawn ({self.how}) and {self.unsettled} read"
        return f"{drawn}, none of them settled: their false share is not estimable{self._sighted}."

    @property
    def missing(self) -> str:
        """Why no share of all of them can be had, in a few words."""
        words = f"{_WORD[self.strict][(self.unsettled or self.picked) != 1]} read"
        if self.unsettled:
            return f"{self.unsettled} {words}, none of them settled"
        if not self.picked:
            return f"0 {words}"
        return f"{self.picked} {words}, none of them drawn at random from all {self.of}"

    @property
    def _sighted(self) -> str:
        sighted = self.read + self.unsettled - self.blind
        return f"; {sighted} of them with the strict verdict in sight" if sighted else ""

    def _picked_sentence(self) -> str:
        """The template of the statistics reference, section 2.5: no rate, but its certain bounds."""
        known = self.false + self.picked_false
        settled = self.read + self.picked - self.picked_open
        ends = [("at least", known)] * bool(known) + [("at most", known + self.of - settled)]
        bounds = " and ".join(f"{word} {count}/{self.of} = {percent(count / self.of)}" for word, count in ends)
        several = self.picked != 1
        were, they = ("were", "They were") if several else ("was", "It was")
        open_ = f", {self.picked_open} unsettled" if self.picked_open else ""
        enough = f"A random draw of {_ENOUGH}" if self.of > _ENOUGH else f"Reading all {self.of}"
        return (
            f"Found by reading, not by a random draw from all {self.of}: {self.picked_false} of the {self.picked} "
            f"{_WORD[self.strict][several]} that {were} opened {were} wrong{open_}. {they} chosen so: "
            f"{self.picked_words}. Among all {self.of}, {bounds} are wrong; more cannot be said. {enough} is needed "
            "for a rate."
        )

    def as_dict(self) -> dict[str, Any]:
        """As JSON prints it."""
        ends = {name: list(one) if one else None for name, one in
                (("interval", self.interval), ("interval_binomial", self.beyond))}  # fmt: skip
        return {
            "strict": self.strict, "of": self.of, "drawn": self.read + self.lost, "n": self.read, "right": self.right,
            "false": self.false, "infra": self.infra, "unsettled": self.unsettled, "unread": self.unread,
            "cases": self.cases, "blind": self.blind, "how": self.how, "share": self.share, **ends,
            "at_most": self.at_most, "hand_picked": self.picked, "hand_picked_false": self.picked_false,
            "hand_picked_unsettled": self.picked_open, "hand_picked_chosen": self.picked_words,
            "sentence": self.sentence(),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Audit:
    """The strict verdicts of one check, or of whole answers, beside what reading found of them."""

    run: str
    check: str
    """Empty for whole answers."""
    strata: tuple[StratumAudit, ...]
    """Passes, fails, and errors where there are any."""
    strict: Rate
    """Strict passes over all items, errors as fails, with Wilson's interval over cases."""
    size: float | None
    """How many independent items the cases are worth; None below two cases."""

    @property
    def corrected(self) -> Rate:
        """Sum of W * t / a over the strata, with the seeded Monte Carlo interval over Jeffreys posteriors.

        Statistics reference, section 2.2; `correction` has the formulas. The weights are worth as many items as the
        strict rate's interval takes the cases for, so that it stands beside that. Where a stratum is too thinly read,
        the interval stands alone.
        """
        for stratum in self.strata:
            if stratum.of and not stratum.layer.read:
                return Rate(None, None, f"not estimable ({stratum.missing})")
        layers = [stratum.layer for stratum in self.strata]
        value = stratified_rate(layers)
        if value is None:
            return Rate(None, None, "not estimable (there is nothing to read)")
        interval = None if self.size is None else stratified_interval(layers, size=self.size)
        thin = " and ".join(_WORD[stratum.strict][1] for stratum in self.strata if stratum.thin)
        if thin:
            return Rate(None, interval, f"too few {thin} read to say")
        return Rate(value, interval, "" if interval else "below two cases there is no interval")

    @property
    def n(self) -> int:
        """Items that the corrected rate rests on."""
        return sum(stratum.read for stratum in self.strata)

    def sentence(self) -> str:
        """Strict and corrected rate beside each other, in words."""
        total, strict = sum(stratum.of for stratum in self.strata), self.strata[0]
        about = f"verdicts of check {self.check!r}" if self.check else "answers"
        said = f"Strict: {strict.of} of {total} {about} pass ({_in_words(self.strict)}); corrected for reading: "
        corrected = self.corrected
        if corrected.value is None and corrected.interval is None:
            return f"{said}{corrected.why}."
        read = " and ".join(f"{s.read} of {s.among}" for s in self.strata if s.of and s.read)
        lost = sum(stratum.lost for stratum in self.strata)
        open_ = f", {lost} drawn and not settled counted both ways" if lost else ""
        alike = any(stratum.cases < stratum.read for stratum in self.strata) and corrected.interval
        cases = "; samples of one case are alike, so it may be too narrow" if alike else ""
        return f"{said}{_in_words(corrected)}, from {read} drawn and read{open_}{cases}."

    def as_dict(self) -> dict[str, Any]:
        """What `evallib agreement --json` prints of it."""
        corrected = self.corrected
        se = None if corrected.value is None else stratified_se([s.layer for s in self.strata])
        return {
            "run": self.run,
            "check": self.check,
            "n": self.n,
            "strict": self.strict.as_dict(),
            "corrected": {**corrected.as_dict(), "se": se},
            "strata": [stratum.as_dict() for stratum in self.strata],
            "sentence": self.sentence(),
        }


def _in_words(rate: Rate) -> str:
    ends = f", 95 % interval {percent(rate.interval.lo)} to {percent(rate.interval.hi)}" if rate.interval else ""
    if rate.value is None:
        return f"{rate.why}{ends}"
    return f"{percent(rate.value)}{ends or f'; {rate.why}'}"


def audit_run(run: Run, log: Sequence[LoggedEntry]) -> list[Audit]:
    """The audit of whole answers, then of every check that anybody read, as the suite lists them."""
    selection, readings = Selection(run, log), standing_readings(run, log)
    strict = fold_all(run.samples, run.verdicts, run.suite.pass_rule)
    checks = [check for check in dict.fromkeys(run.suite.check_ids()) if check in selection.checks]
    return [audit(run, readings, selection, strict, check) for check in ("", *checks)]


def audit(
    run: Run, readings: Readings, selection: Selection, outcomes: Mapping[SampleKey, Outcome], check: str = ""
) -> Audit:
    """What reading found of one check's verdicts, or of whole answers, given their strict `outcomes`.

    Only a census or a seeded random draw gives a share; a reading of a check is none of its answer, nor the reverse.
    """
    words = _strict_verdicts(run, check) if check else _strict_outcomes(run, outcomes)
    keys: dict[Strict, list[SampleKey]] = defaultdict(list)
    for key, word in words.items():
        keys[word].append(key)
    kinds: tuple[Strict, ...] = ("pass", "fail", "error") if keys["error"] else ("pass", "fail")
    strata = tuple(_stratum(kind, keys[kind], readings, selection, check) for kind in kinds)
    by_case: dict[str, list[bool]] = defaultdict(list)
    for (case, _), word in words.items():
        by_case[case].append(word == "pass")
    means = [sum(passes) / len(passes) for passes in by_case.values()]
    size = effective_size(means, len(words)) if len(means) > 1 else None
    return Audit(run.id, check, strata, _strict_rate(len(keys["pass"]), len(words), size), size)


def _strict_rate(passes: int, of: int, size: float | None) -> Rate:
    if not of:
        return Rate(None, None, "no such verdict")
    if size is None:
        return Rate(passes / of, None, "below two cases there is no interval")
    return Rate(passes / of, wilson(passes / of, size))


def _strict_outcomes(run: Run, outcomes: Mapping[SampleKey, Outcome]) -> dict[SampleKey, Strict]:
    """The strict word of every planned sample; a missing one is an error."""
    return {key: _word(outcomes[key].passed if key in outcomes else None) for key in run.planned}


def _strict_verdicts(run: Run, check: str) -> dict[SampleKey, Strict]:
    """The strict word of every verdict of a check that applies."""
    return {
        (v.case_id, v.sample): _word(v.passed)
        for v in run.verdicts
        if v.check_id == check and v.status != "not_applicable"
    }


def _word(passed: bool | None) -> Strict:  # noqa: FBT001  # the verdict itself, no switch
    return "error" if passed is None else "pass" if passed else "fail"


def _stratum(
    strict: Strict, keys: Sequence[SampleKey], readings: Readings, selection: Selection, check: str
) -> StratumAudit:
    stands = {key: stand for key in keys if (stand := readings.by_item.get((*key, check)))}
    drawn = selection.drawn(keys, strict, check)
    states = [stands[key].state for key in drawn.items if key in stands]
    picked = {key: stand.state for key, stand in stands.items() if key not in drawn.items}
    wrong: State = "fail" if strict == "pass" else "pass"
    settled = {word: states.count(word) for word in ("pass", "fail", "infra")}
    return StratumAudit(
        strict=strict,
        of=len(keys),
        right=settled["pass" if strict == "pass" else "fail"],
        false=settled[wrong],
        infra=settled["infra"],
        unsettled=len(states) - sum(settled.values()),
        unread=drawn.unread + len(drawn.items) - len(states),
        cases=len({case for case, _ in drawn.items}),
        blind=sum(stands[key].blind for key in drawn.items if key in stands),
        how=drawn.how,
        picked=len(picked),
        picked_false=list(picked.values()).count(wrong),
        picked_open=sum(state in {"unsure", "disputed"} for state in picked.values()),
        picked_words=selection.words(picked, check),
    )
