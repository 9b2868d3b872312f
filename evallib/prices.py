"""Prices of models, as a person wrote them down with source and date, and what usage costs by them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import Field

from evallib.errors import InputError
from evallib.records import Usage
from evallib.strict_yaml import Written, load_yaml, read_as

__all__ = ["PRICES", "Price", "PriceTable", "cost_of", "load_prices", "prices_for", "sample_cost", "uncounted"]

FILE = "prices.yaml"
"""The table's name in a data folder."""
PRICES = "EVALLIB_PRICES"
"""The environment's name of a table of prices, for who names none."""
_MILLION = 1_000_000

PerMillion = Annotated[float, Field(ge=0)]
Day = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
Text = Annotated[str, Field(min_length=1)]


class Price(Written):
    """What the models of some names cost, per million tokens."""

    models: tuple[Text, ...] = Field(min_length=1)
    """Names, in which `*` stands for any text; letter case and a provider's prefix do not matter."""
    input: PerMillion
    output: PerMillion
    cached: PerMillion | None = None
    """Of input tokens read from the provider's cache; like `input` when left out."""
    source: str = ""
    date: Day | None = None
    """Where and when this price was read, where it is not the table's."""

    def fits(self, model: str) -> bool:
        """Whether a model of that name has this price."""
        names = {model.casefold(), model.rpartition("/")[2].casefold()}
        return any(fnmatchcase(name, pattern.casefold()) for name in names for pattern in self.models)


class PriceTable(Written):
    """Prices in one currency, with where and when they were read."""

    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]
    source: Text
    date: Day
    prices: tuple[Price, ...] = Field(min_length=1)

    def price_of(self, model: str) -> Price | None:
        """The first price that fits, or None."""
        return next((price for price in self.prices if price.fits(model)), None) if model else None

    def said_of(self, models: Iterable[str]) -> str:
        """Source and date of the prices of some models, in words."""
        found = [price for model in models if (price := self.price_of(model))]
        said = dict.fromkeys(f"{price.source or self.source}, {price.date or self.date}" for price in found)
        return "; ".join(said)


def cost_of(price: Price | None, usage: Usage) -> float | None:
    """What the tokens cost; None without a price or without counts: what is unknown is never 0."""
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = 0 if price.cached is None else min(usage.cached_tokens or 0, usage.input_tokens)
    full = (usage.input_tokens - cached) * price.input + usage.output_tokens * price.output
    return (full + cached * (price.cached or 0)) / _MILLION


def uncounted(usage: Usage) -> bool:
    """Whether calls were made whose tokens nobody counted."""
    return bool(usage.calls) and (usage.input_tokens is None or usage.output_tokens is None)


def sample_cost(usage: Usage, price: Price | None, currency: str, *, vague: bool) -> float | None:
    """What a sample cost: by its source, which speaks of US dollars, else by its tokens; None where nobody knows.

    `vague`: tokens of one of its turns were not counted, so those of the sample are too few.
    """
    said = usage.cost_usd if currency == "USD" else None
    return said if said is not None or vague else cost_of(price, usage)


def load_prices(path: Path) -> PriceTable:
    """The table in a YAML file; InputError names file, line and key."""
    return read_as(PriceTable, load_yaml(path))


def prices_for(path: Path | None, data: Path) -> PriceTable | None:
    """The table in `path`, else that which the environment names, else `prices.yaml` in the data folder, else none."""
    named = f"--prices {path}"
    if path is None and (given := os.environ.get(PRICES)):
        path, named = Path(given), f"{PRICES}={given}"
    if path is None:
        return load_prices(data / FILE) if (data / FILE).is_file() else None
    if not path.is_file():
        raise InputError(f"{named}: no such file")
    return load_prices(path)
