"""What runs used and cost, target and judges apart; what nobody can know stays unknown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evallib.judges import votes_in
from evallib.prices import Price, PriceTable, cost_of
from evallib.records import SampleKey, Usage
from evallib.stdout import counted
from evallib.store import Run

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Costs", "Spent", "costs_of"]

_KEY = ("case_id", "sample")
_USAGE = ("input_tokens", "output_tokens", "calls", "cost_usd", "cached_tokens")


@dataclass(frozen=True, slots=True)
class Spent:
    """What the samples of some runs took of the target, or of the judges."""

    models: tuple[str, ...]
    samples: int
    known: int
    """Samples whose cost is known."""
    known_total: float
    """Of those."""
    counted: int
    """Samples whose tokens are known."""
    tokens: int
    """Input and output tokens of those."""
    why_unknown: str
    """Why some cost is not known; empty when all is."""

    @property
    def total(self) -> float | None:
        """The cost of all samples; None when that of any is unknown."""
        return self.known_total if self.samples and self.known == self.samples else None

    @property
    def per_sample(self) -> float | None:
        """The mean cost of a sample; None when that of any is unknown."""
        return None if self.total is None else self.total / self.samples

    @property
    def tokens_per_sample(self) -> float | None:
        """Mean tokens of a sample; None when those of any are unknown."""
        return self.tokens / self.samples if self.samples and self.counted == self.samples else None

    def as_json(self) -> dict[str, Any]:
        """The object that stands as `target` or `judge` of a cost."""
        return {
            "models": list(self.models),
            "samples": self.samples,
            "total": self.total,
            "per_sample": self.per_sample,
            "known": self.known,
            "known_total": self.known_total if self.known else None,
            "tokens_per_sample": self.tokens_per_sample,
            "why_unknown": self.why_unknown or None,
        }

    def words(self, currency: str) -> str:
        """The cost in words, as `0.42 USD, 0.0021 a sample` or `unknown: why`."""
        if self.total is not None and self.per_sample is not None:
            return f"{_amount(self.total)} {currency}, {_amount(self.per_sample)} a sample"
        some = f" ({_amount(self.known_total)} {currency} for {self.known} of {self.samples})" if self.known else ""
        return f"unknown: {self.why_unknown}{some}"


def _amount(value: float) -> str:
    """Money with as many digits as say something: at least cents, at least two that are not 0."""
    digits = 2
    while digits < 9 and value and abs(value) < 10 ** (1 - digits):
        digits += 1
    return f"{value:,.{digits}f}"


@dataclass(frozen=True, slots=True)
class Costs:
    """Target and judges of some runs."""

    currency: str
    prices: str
    """Source and date of the prices used; empty where none was."""
    target: Spent
    judge: Spent | None
    """None where no judge was asked."""

    def as_json(self) -> dict[str, Any]:
        """The object that stands as `cost` in `metrics --json`."""
        return {
            "currency": self.currency,
            "prices": self.prices or None,
            "target": self.target.as_json(),
            "judge": None if self.judge is None else self.judge.as_json(),
        }

    def line(self) -> str:
        """One line for a terminal."""
        parts = [f"cost: target {self.target.words(self.currency)}"]
        parts += [] if self.judge is None else [f"judges {self.judge.words(self.currency)}"]
        return "; ".join(parts) + (f" (prices: {self.prices})" if self.prices else "")


def costs_of(runs: Sequence[Run], prices: PriceTable | None, cases: Iterable[str] | None = None) -> Costs:
    """What the samples of `runs` cost, those of `cases` only where they are named.

    A sample's cost is what the target said of it, where prices are in US dollars too, else its tokens by the table.
    Votes of judges are priced by the model that gave them. Calls that failed are not in the count.
    """
    wanted = None if cases is None else set(cases)
    currency = prices.currency if prices else "USD"
    target, asked = _Sum(prices), _Sum(prices)
    for run in runs:
        model = str(run.plan["target"].get("model") or "")
        for (usage, vague), samples in _usages(run, wanted).items():
            said = usage.cost_usd if currency == "USD" else None
            target.add({model: [Usage() if vague else usage]}, said, samples)
        for votes in _votes_of(run, wanted):
            asked.add(votes)
    priced = prices.said_of(dict.fromkeys((*target.models, *asked.models))) if prices else ""
    return Costs(currency, priced, target.spent(), asked.spent() if asked.samples else None)


def _usages(run: Run, wanted: set[str] | None) -> Counter[tuple[Usage, bool]]:
    """How many samples used what, and whether tokens of a turn are missing; read of these columns alone."""
    import pyarrow.compute as pc

    turns = run.columns("turns", (*_KEY, *_USAGE))
    uncounted = pc.or_(*(pc.is_null(turns.column(name)) for name in ("input_tokens", "output_tokens")))
    vague = set(_rows(turns.filter(pc.and_(pc.greater(turns.column("calls"), 0), uncounted)), _KEY))
    names = _USAGE if wanted is None and not vague else (*_KEY, *_USAGE)
    found: Counter[tuple[Usage, bool]] = Counter()
    for row, samples in Counter(_rows(run.columns("samples", names), names)).items():
        key, used = (row[:2], row[2:]) if len(names) > len(_USAGE) else ((), row)
        if wanted is None or key[0] in wanted:
            found[Usage(*used), key in vague] += samples
    return found


def _rows(columns: pa.Table, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(columns.column(name).to_pylist() for name in names), strict=True)


def _votes_of(run: Run, wanted: set[str] | None) -> list[dict[str, list[Usage]]]:
    """Of each sample that a judge was asked about: the usage of its votes, by model."""
    import pyarrow.compute as pc

    columns = run.columns("verdicts", (*_KEY, "judge"))
    columns = columns.filter(pc.not_equal(columns.column("judge"), ""))  # most verdicts are of rules
    found: dict[SampleKey, dict[str, list[Usage]]] = {}
    for case, sample, judge in _rows(columns, (*_KEY, "judge")):
        votes = votes_in(judge) if judge and (wanted is None or case in wanted) else ()
        if votes:
            model = str(json.loads(judge).get("model") or "")
            found.setdefault((case, sample), {}).setdefault(model, []).extend(vote.usage for vote in votes)
    return list(found.values())


def _counted(usage: Usage) -> bool:
    return usage.input_tokens is not None and usage.output_tokens is not None


class _Sum:
    """Adds up samples."""

    def __init__(self, prices: PriceTable | None) -> None:
        self.prices = prices
        self.models: dict[str, None] = {}
        self.found: dict[str, Price | None] = {}
        self.samples = self.known = self.counted = self.tokens = 0
        self.total = 0.0
        self.lacking: dict[str, int] = {}

    def add(self, usages: Mapping[str, Sequence[Usage]], said: float | None = None, samples: int = 1) -> None:
        """Samples that are alike: the usage of each by model, and what its source says that it cost."""
        self.samples += samples
        self.models.update(dict.fromkeys(usages))
        each = [one for used in usages.values() for one in used]
        told = all(map(_counted, each))
        self.counted += samples * told
        self.tokens += samples * told * sum((one.input_tokens or 0) + (one.output_tokens or 0) for one in each)
        cost, why = (said, "") if said is not None else self._priced(usages, told=told)
        if cost is None:
            self.lacking[why] = self.lacking.get(why, 0) + samples
            return
        self.known, self.total = self.known + samples, self.total + samples * cost

    def _priced(self, usages: Mapping[str, Sequence[Usage]], *, told: bool) -> tuple[float | None, str]:
        if self.prices is None:
            return None, "no table of prices"
        for model in usages:
            if model not in self.found:
                self.found[model] = self.prices.price_of(model)
        without = next((model for model in usages if self.found[model] is None), None)
        if without is not None:
            return None, f"no price for model {without!r}" if without else "the model has no name"
        if not told:
            return None, "tokens were not counted"
        return sum(cost_of(self.found[model], one) or 0.0 for model, each in usages.items() for one in each), ""

    def spent(self) -> Spent:
        """The sum."""
        alone = len(self.lacking) == 1 and not self.known
        why = "; ".join(f"{why}" if alone else f"{why} ({counted(n, 'sample')})" for why, n in self.lacking.items())
        models = tuple(name for name in self.models if name)
        return Spent(models, self.samples, self.known, self.total, self.counted, self.tokens, why)
