"""Pass rates corrected by what people found in samples of the passes and fails: estimators and their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evallib.errors import InputError
from evallib.statistics.estimators import Interval

__all__ = ["Layer", "rogan_gladen", "stratified_interval", "stratified_rate", "stratified_se"]

_DRAWS, _SEED = 20_000, 20


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
    youden = sensitivity + specificity - 1
    if youden <= 0:
        return None
    return (observed + specificity - 1) / youden
