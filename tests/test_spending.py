"""How samples spread over seconds, tokens and money."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.prices import PriceTable
from evallib.records import Sample, Turn, Usage
from evallib.spending import percentile, spending, spread_bins, spread_points


def samples(*seconds, tokens=(10, 5), cost=None):
    used = Usage(*tokens, cost_usd=cost)
    return [Sample("r", "c", n, duration_s=took, usage=used) for n, took in enumerate(seconds, 1)]


def test_tokens_are_in_and_out_together_and_what_nobody_said_is_unknown():
    frame = spending([*samples(1.0), *samples(2.0, tokens=(7, None)), *samples(3.0, tokens=(None, None))])
    assert frame["tokens"].tolist()[:2] == [15, 7]
    assert frame["tokens"].isna().tolist() == [False, False, True]
    points = spread_points(frame).set_index("quantity")
    assert points.loc["tokens", ["samples", "known", "total"]].tolist() == [3, 2, 22]
    assert points.loc["cost in USD", "known"] == 0


def test_the_cost_of_a_sample_is_by_its_source_else_by_the_table_and_else_unknown():
    table = PriceTable.model_validate_json(
        '{"currency": "EUR", "source": "s", "date": "2026-11-30", '
        '"prices": [{"models": ["m"], "input": 2, "output": 10}]}'
    )
    dollars = table.model_copy(update={"currency": "USD"})
    one = samples(1.0, tokens=(1000, 100), cost=0.5)
    assert spending(one, "m", dollars)["cost in USD"].tolist() == [0.5]
    assert spending(one, "m", table)["cost in EUR"].tolist() == [pytest.approx(0.003)]
    assert spending(one, "other", table)["cost in EUR"].isna().all()
    vague = [replace(one[0], turns=(Turn(1, "ask", "answer", usage=Usage(None, None, 1)),))]
    assert spending(vague, "m", table)["cost in EUR"].isna().all()
    assert spread_points(spending(one, "m", table))["quantity"].tolist() == ["seconds", "tokens", "cost in EUR"]


@pytest.mark.parametrize(("share", "value"), [(0.5, 2), (0.51, 3), (0.95, 4), (0.25, 1), (0.0, 1)])
def test_a_percentile_is_the_least_value_that_so_many_do_not_exceed(share, value):
    assert percentile([4, 1, 3, 2], share) == value


def test_of_nothing_there_is_no_percentile():
    assert percentile([], 0.5) is None


@given(st.lists(st.floats(0, 1e6, allow_nan=False), min_size=1, max_size=60))
def test_every_sample_lies_in_one_step_and_the_steps_touch(seconds):
    bins = spread_bins(spending(samples(*seconds)))
    steps = bins[bins["quantity"] == "seconds"]
    assert steps["samples"].sum() == len(seconds)
    assert steps["lo"].iloc[0] == min(seconds)
    assert (steps["lo"].iloc[1:].to_numpy() == pytest.approx(steps["hi"].iloc[:-1].to_numpy())) if len(steps) > 1 else 1
    assert steps["hi"].iloc[-1] >= max(seconds)
