"""Whether the order of two runs hangs on how errors are counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["order_words"]


def order_words(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """One sentence where the two policies order two summaries differently; empty where they agree.

    `first` and `second` are what `summarise` gives.
    """
    strict = [one["pass_rate"] for one in (first, second)]
    without = [one["without_errors"]["pass_rate"] for one in (first, second)]
    if None in without or (strict[0] - strict[1]) * (without[0] - without[1]) >= 0:
        return ""
    ahead, behind = (first, second) if strict[0] > strict[1] else (second, first)
    names = [" and ".join(one["runs"]) for one in (ahead, behind)]
    rates = [f"{one['pass_rate']:.4f}" for one in (ahead, behind)]
    bare = [f"{one['without_errors']['pass_rate']:.4f}" for one in (ahead, behind)]
    errors = [f"{one['errors']} of {one['planned']} samples" for one in (ahead, behind)]
    return (
        f"The order depends on the errors: {names[0]} leads {names[1]} when they count as fails ({rates[0]} to "
        f"{rates[1]}) and trails it when they are left out ({bare[0]} to {bare[1]}); errors are {errors[0]} and "
        f"{errors[1]}."
    )
