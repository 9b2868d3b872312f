"""How often the intervals hold the truth (a part of `make bench`; alone: `python tools/bench_coverage.py`).

Cases are drawn from a population of known chances, samples from the cases, and the intervals are those of evallib, not
copies of them. The seed is fixed, so the tables are the same each time; `--write` puts them into docs/coverage.md.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evallib.statistics.bootstrap import case_bootstrap
from evallib.statistics.estimators import (
    Counts,
    Interval,
    case_values,
    over_cases,
    pass_at_k,
    pass_hat_k,
    wilson_interval,
)
from evallib.statistics.spread import pooled_interval, rerun_interval

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/coverage.md"
SEED, REPLICATES, BOOTSTRAPS, GOAL = 20, 2000, 200, 0.92
CASES = (10, 20, 50, 100)
Drawn = Callable[[np.random.Generator, int], Any]


class Mix(NamedTuple):
    """Chances of cases: Beta(a, b), or two kinds of case."""

    name: str
    draw: Drawn
    chance: Callable[[int, int], float]
    """E[p^i (1-p)^j]."""


def beta(name: str, a: float, b: float) -> Mix:
    """Cases whose chances follow a Beta distribution."""

    def moment(i: int, j: int) -> float:
        over = math.prod(a + m for m in range(i)) * math.prod(b + m for m in range(j))
        return over / math.prod(a + b + m for m in range(i + j))

    return Mix(name, lambda random, size: random.beta(a, b, size), moment)


def two(name: str, share: float, high: float, low: float) -> Mix:
    """A share of cases that pass with one chance, and the rest with another."""

    def moment(i: int, j: int) -> float:
        return share * high**i * (1 - high) ** j + (1 - share) * low**i * (1 - low) ** j

    return Mix(name, lambda random, size: np.where(random.random(size) < share, high, low), moment)


ORDINARY = (beta("even, Beta(2, 2)", 2, 2), beta("split, Beta(0.5, 0.5)", 0.5, 0.5), beta("easy, Beta(6, 2)", 6, 2))
RARE = two("nine in ten pass at 0.98, one at 0.10", 0.9, 0.98, 0.10)
HARD = (beta("hard, Beta(1, 5)", 1, 5), RARE)


class Figure(NamedTuple):
    """pass@k or pass^k."""

    name: str
    k: int

    @property
    def estimator(self) -> Callable[[int, int, int], float | None]:
        """The one of evallib."""
        return pass_at_k if self.name == "pass@" else pass_hat_k

    def truth(self, mix: Mix) -> float:
        """The value over all cases of the population."""
        return 1 - mix.chance(0, self.k) if self.name == "pass@" else mix.chance(self.k, 0)


class Held(NamedTuple):
    """How often an interval held the truth, and how wide it was on average; without one it holds nothing."""

    share: float
    width: float

    def __str__(self) -> str:
        """As a cell of a table."""
        return f"{self.share:.3f} ({self.width:.2f})"


def held(intervals: list[tuple[Interval | None, float]]) -> Held:
    """The share of intervals that hold their truth."""
    ends = [(one.lo, one.hi, truth) for one, truth in intervals if one is not None]
    share = sum(low - 1e-12 <= truth <= high + 1e-12 for low, high, truth in ends) / len(intervals)
    return Held(share, math.fsum(high - low for low, high, _ in ends) / len(intervals))


def runs(mix: Mix, cases: int, samples: int, seed: int) -> Iterator[tuple[Any, Counter[Counts]]]:
    """Simulated runs: the chances of the cases, and how many cases have which counts."""
    random = np.random.default_rng([SEED, seed, cases, samples])
    for _ in range(REPLICATES):
        chances = mix.draw(random, cases)
        passes = np.bincount(random.binomial(samples, chances), minlength=samples + 1).tolist()
        yield chances, Counter({Counts(samples, c): times for c, times in enumerate(passes) if times})


def default(mix: Mix, cases: int, samples: int, figures: tuple[Figure, ...]) -> dict[Figure, dict[str, Held]]:
    """For each figure the default interval, the one bounded by all samples whatever the k, and the case bootstrap."""
    found: dict[Figure, dict[str, list[tuple[Interval | None, float]]]] = {
        figure: {"default": [], "all samples": [], "bootstrap": []} for figure in figures
    }
    for number, (_, counts) in enumerate(runs(mix, cases, samples, 1)):
        for figure, lists in found.items():
            truth, values = figure.truth(mix), case_values(counts, figure.k, figure.estimator)
            lists["default"].append((over_cases(counts, figure.k, figure.estimator).interval, truth))
            lists["all samples"].append((wilson_interval(values, cases * samples), truth))
            if number < BOOTSTRAPS:
                lists["bootstrap"].append((case_bootstrap(values, seed=number, resamples=1000).interval, truth))
    return {figure: {name: held(each) for name, each in lists.items()} for figure, lists in found.items()}


def others(mix: Mix, cases: int) -> dict[str, Held]:
    """The interval of a re-run against the rate of the very cases drawn, and that of the pooled rate."""
    again, pooled = [], []
    for chances, counts in runs(mix, cases, 4, 2):
        again.append((rerun_interval(counts), float(chances.mean())))
        pooled.append((pooled_interval(counts), mix.chance(1, 0)))
    return {"re-run": held(again), "pooled": held(pooled)}


def measure() -> dict[str, Any]:
    """The tables' rows, and the least share in the ordinary settings."""
    figures = (Figure("pass^", 1), Figure("pass^", 4), Figure("pass@", 4))
    between = (Figure("pass^", 4), Figure("pass@", 4), Figure("pass^", 10), Figure("pass@", 10))
    kinds = {"ordinary": ORDINARY, "hard": HARD}
    found: dict[str, Any] = {
        kind: [(mix.name, cases, default(mix, cases, 4, figures)) for mix in mixes for cases in CASES]
        for kind, mixes in kinds.items()
    }
    found["between"] = [
        (mix.name, cases, samples, default(mix, cases, samples, between[place : place + 2]))
        for mix in ORDINARY
        for cases in (10, 50)
        for place, samples in ((0, 8), (2, 20))
    ]
    found["more"] = [
        (RARE.name, cases, samples, default(RARE, cases, samples, (Figure("pass^", 1),)))
        for cases in CASES
        for samples in (8, 20)
    ]
    found["others"] = [(mix.name, cases, others(mix, cases)) for mix in (*ORDINARY, *HARD) for cases in CASES]
    shares = [held["default"].share for _, _, row in found["ordinary"] for held in row.values()]
    return found | {"least": min(shares), "met": min(shares) >= GOAL}


def markdown(found: dict[str, Any]) -> str:
    """The document."""
    figures = ["pass^1", "pass^4", "pass@4"]
    header = ["chances of the cases", "cases", *figures, *(f"{name}, bootstrap" for name in figures)]
    rows = {
        kind: [
            [mix, cases, *(row[f]["default"] for f in row), *(row[f]["bootstrap"] for f in row)]
            for mix, cases, row in found[kind]
        ]
        for kind in ("ordinary", "hard")
    }
    more = [
        [mix, cases, samples, *(one["default"] for one in row.values())] for mix, cases, samples, row in found["more"]
    ]
    between = [
        [mix, cases, samples, f"{f.name}{f.k}", one["default"], one["all samples"]]
        for mix, cases, samples, row in found["between"]
        for f, one in row.items()
    ]
    again = [[mix, cases, row["re-run"], row["pooled"]] for mix, cases, row in found["others"]]
    parts = [
        _TITLE.format(replicates=REPLICATES, bootstraps=BOOTSTRAPS, seed=SEED),
        _ORDINARY.format(goal=GOAL, least=found["least"]), _table(header, rows["ordinary"]),
        _HARD, _table(header, rows["hard"]),
        _MORE, _table(["chances of the cases", "cases", "samples", "pass^1"], more),
        _BETWEEN, _table(["chances of the cases", "cases", "samples", "", "n/k", "n"], between),
        _OTHERS, _table(["chances of the cases", "cases", "re-run of these cases", "pooled rate"], again),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _table(header: list[str], rows: list[list[Any]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


_TITLE = """# How often the intervals hold the truth

Written by `tools/bench_coverage.py --write`, which `make bench` runs too; nothing here is typed by hand. Cases
are drawn from a population whose chances are known, then samples of each case; {replicates:,} runs per cell (of
the case bootstrap {bootstraps}), seed {seed}. A cell is the share of 95 % intervals that hold the true value,
and their mean width."""
_ORDINARY = """## Ordinary settings: four samples per case

Wilson on effective cases, the default, held the truth in at least {goal:.0%} of the runs was the goal; the
least here is {least:.3f}. The case bootstrap is what `--interval bootstrap` puts beside it: near 0 and 1 it
often has no width, and then gives no interval, which counts as a miss."""
_HARD = """## Where it is lower

No interval over cases can know of a kind of case that was not drawn: where one case in ten fails nearly always,
ten cases hold none of them in 35 % of the runs. Figures near 0, as pass^4 of hard cases, are carried by the few
cases that pass."""
_MORE = """More samples per case do not help: they say nothing of the kind of case that was not drawn, and with few
cases the interval narrows around those that were and holds the truth less often."""
_BETWEEN = """## At 1 < k < n: what a case is worth

A case of n samples counts for at most n/k draws of k that share no sample. With all n for a bound whatever the
k (the last column), the interval is too narrow where nearly every draw, or nearly none, passes."""
_OTHERS = """## Other questions: a re-run, and the pooled rate

The interval of a re-run is of the very cases that were drawn, asked again without end; that of the pooled rate
is of new cases, like the default. Four samples per case."""


def show(found: dict[str, Any]) -> None:
    """The outcome in two lines."""
    met = "met" if found["met"] else "MISSED"
    print(
        f"\nthe default interval holds the truth in at least {found['least']:.3f} of ordinary runs; goal {GOAL}: {met}"
    )
    same = DOCUMENT.is_file() and DOCUMENT.read_text(encoding="utf-8") == markdown(found)
    print(f"docs/coverage.md {'is' if same else 'is NOT'} what was simulated")


def main() -> int:
    """Simulate, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/coverage.md")
    given = parser.parse_args()
    found = measure()
    if given.write:
        DOCUMENT.write_text(markdown(found), encoding="utf-8")
    show(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
