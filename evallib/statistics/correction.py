"""Pass rates corrected by what people found in samples of the passes and fails: estimators and their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

from evallib.errors import InputError
from evallib.statistics.estimators import Interval

__all__ = [
    "Labelled", "Layer", "observed_difference", "ppi_interval", "ppi_mean", "rogan_gladen", "rogan_gladen_interval",
    "stratified_interval", "stratified_rate", "stratified_se",
]  # fmt: skip

_DRAWS, _SEED = 20_000, 20
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Layer:
    """The things of one strict verdict: how many there are, how many were read, and how many of those truly pass."""

    of: int
    read: int
    true: int
    lost: int = 0
    """Drawn but without an answer; counted as fails in the lower end of an interval and as passes in the upper."""

    def __post_init__(self) -> None:
        if not 0 <= self.true <= self.read <= self.read + self.lost <= self.of:
            raise InputError(f"{self.true} true of {self.read} read and {self.lost} lost of {self.of} cannot be")


def stratified_rate(layers: Sequence[Layer]) -> float | None:
    """Sum of W * t / a over the layers: the true pass rate by a random audit taken by verdict (Cochran 1977, 5.3).

    Needs no sensitivity or specificity. None where a layer that is not empty was not read.
    """
    if not any(layer.of for layer in layers) or any(layer.of and not layer.read for layer in layers):
        return None
    total = sum(layer.of for layer in layers)
    return math.fsum(layer.of / total * layer.true / layer.read for layer in layers if layer.of)


def stratified_se(layers: Sequence[Layer]) -> float | None:
    """The standard error of `stratified_rate` for these very things, with finite populations (Cochran 1977, 5.12).

    A layer that was read whole adds nothing; None where another was read less than twice.
    """
    if stratified_rate(layers) is None or any(layer.read < min(2, layer.of) for layer in layers):
        return None
    total = sum(layer.of for layer in layers)
    parts = (
        (layer.of / total) ** 2 * (1 - layer.read / layer.of) * share * (1 - share) / (layer.read - 1)
        for layer in layers
        if layer.read > 1
        for share in [layer.true / layer.read]
    )
    return math.sqrt(math.fsum(parts))


def stratified_interval(layers: Sequence[Layer], *, size: float | None = None) -> Interval | None:
    """The 95 % interval of `stratified_rate` over things like these: Monte Carlo over Jeffreys posteriors, seeded.

    The weights follow a Dirichlet, the share that truly passes in each layer a Beta, each with one half added
    (statistics reference, 2.2). `size` is how many independent things the weights are worth, all of them when left
    out: fewer where things come in clusters. Lost things are fails at the lower end and passes at the upper.
    """
    rate = stratified_rate(layers)
    if rate is None:
        return None
    low, high = _quantiles(layers, size, 0)[0], _quantiles(layers, size, 1)[1]
    return Interval(min(low, rate), max(high, rate))


def _quantiles(layers: Sequence[Layer], size: float | None, lost_pass: int) -> tuple[float, float]:
    import numpy as np

    random = np.random.default_rng(_SEED)
    total = sum(layer.of for layer in layers)
    scale = 1.0 if size is None else size / total
    weights = random.dirichlet([layer.of * scale + 0.5 for layer in layers], _DRAWS)
    true = np.array([layer.true + lost_pass * layer.lost for layer in layers])
    drawn = np.array([layer.read + layer.lost for layer in layers])
    shares = random.beta(true + 0.5, drawn - true + 0.5, (_DRAWS, len(layers)))
    low, high = np.quantile((weights * shares).sum(axis=1), [0.025, 0.975])
    return float(low), float(high)


def rogan_gladen(observed: float, sensitivity: float, specificity: float) -> float | None:
    """The true share behind an observed one (Rogan and Gladen 1978), not clipped to 0 and 1; None where J <= 0.

    Sensitivity and specificity must come from labels drawn at random or by truth, and hold on what is corrected.
    An audit drawn by verdict gives neither: use `stratified_rate` (simulated in the statistics reference, 2.2).
    """
    if not all(0 <= share <= 1 for share in (observed, sensitivity, specificity)):
        raise InputError(f"{observed!r}, {sensitivity!r} and {specificity!r} cannot all be shares, 0 to 1")
    youden = sensitivity + specificity - 1
    if youden <= 0:
        return None
    return (observed + specificity - 1) / youden


class Labelled(NamedTuple):
    """Things whose truth is known, as a judge saw them: `right` of `of` were judged as they are."""

    right: int
    of: int


def rogan_gladen_interval(observed: float, judged: int, true: Labelled, false: Labelled) -> Interval | None:
    """The 95 % interval of `rogan_gladen`, `observed` being the share of `judged` things that the judge passes.

    `true` are labelled passes (sensitivity), `false` labelled fails (specificity). Each share is drawn in by as much as
    an Agresti-Coull interval would, and the middle is moved for the bias of the quotient (Lee, Zeng, Jeong, Sohn and
    Lee 2025, arXiv 2511.21140). Cut to 0 and 1. None where the judge is no better than chance, or may be (the interval
    of sensitivity + specificity - 1 reaches 0), and where all of it lies outside 0 to 1: the labels do not fit then.
    """
    if judged < 1 or not 0 <= observed <= 1 or any(not 0 <= one.right <= one.of or one.of < 1 for one in (true, false)):
        raise InputError(f"{observed!r} of {judged!r} with {true!r} and {false!r} cannot be")
    n, m1, m0 = judged + _Z * _Z, true.of + 2, false.of + 2
    p, sens, spec = (judged * observed + _Z * _Z / 2) / n, (true.right + 1) / m1, (false.right + 1) / m0
    of_sens, of_spec, youden = sens * (1 - sens) / m1, spec * (1 - spec) / m0, sens + spec - 1
    if youden - _Z * math.sqrt(of_sens + of_spec) <= 0:
        return None
    rate = (p + spec - 1) / youden
    moved = rate + 2 * _Z * _Z * (rate * of_sens - (1 - rate) * of_spec)
    half = _Z * math.sqrt(p * (1 - p) / n + (1 - rate) ** 2 * of_spec + rate * rate * of_sens) / youden
    low, high = (min(max(end, 0.0), 1.0) for end in (moved - half, moved + half))
    return Interval(low, high) if low < high else None


def ppi_mean(judge_unlabelled: float, human: float, judge_labelled: float) -> float:
    """The judge's mean on what nobody read, moved by how far people and judge differ where both spoke.

    Prediction-powered inference with lambda = 1 (Angelopoulos et al. 2023, Science 382). What people read must be a
    simple random sample: of an audit drawn by verdict use `stratified_rate`.
    """
    return judge_unlabelled + (human - judge_labelled)


def ppi_interval(judge_unlabelled: Sequence[float], pairs: Sequence[tuple[float, float]]) -> Interval | None:
    """The 95 % interval of `ppi_mean` of values in [0, 1], `pairs` being (human, judge); cut to 0 and 1.

    The two means are independent, so their variances add. None below two values of either, or where neither varies.
    """
    moves = [human - judge for human, judge in pairs]
    if min(len(moves), len(judge_unlabelled)) < 2:
        return None
    middle = ppi_mean(_mean(judge_unlabelled), _mean([h for h, _ in pairs]), _mean([j for _, j in pairs]))
    half = _Z * math.sqrt(_square_error(judge_unlabelled) + _square_error(moves))
    low, high = (min(max(end, 0.0), 1.0) for end in (middle - half, middle + half))
    return Interval(low, high) if low < high else None


def observed_difference(true_difference: float, sensitivity: float, specificity: float) -> float:
    """What is left of a difference between two agents when one judge errs alike on both: J times it (Youden's J)."""
    return (sensitivity + specificity - 1) * true_difference


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _square_error(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.fsum([(value - mean) ** 2 for value in values]) / (len(values) - 1) / len(values)
