"""The difference of two rates over different cases."""

from __future__ import annotations

import math

from evallib.statistics.estimators import Interval

__all__ = ["newcombe"]

Rate = tuple[float, float, float]
"""A rate and the ends of its interval."""


def newcombe(first: Rate, second: Rate) -> Interval:
    """The interval of `first` minus `second` from the interval of each (Newcombe 1998, method 10).

    With Wilson intervals on effective cases it is as wide as cases, not samples, allow.
    """
    (p, p_lo, p_hi), (q, q_lo, q_hi) = first, second
    below = math.hypot(p - p_lo, q_hi - q)
    above = math.hypot(p_hi - p, q - q_lo)
    return Interval(max(-1.0, p - q - below), min(1.0, p - q + above))
