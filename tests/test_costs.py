"""Prices as a person writes them, what usage costs by them, and how far a run moved from the one before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.cli import main
from evallib.costs import costs_of
from evallib.drift import Drift, drift_of
from evallib.errors import InputError
from evallib.prices import PriceTable, cost_of, load_prices, prices_for
from evallib.records import Sample, Turn, Usage
from evallib.store import Run
from tests.agentops import vectors
from tests.commandline import said
from tests.making import stored_run

TABLE = """\
currency: USD
source: a made-up list
date: 2026-11-30
prices:
- {models: [small-*], input: 2, output: 10, cached: 1}
- {models: ["*"], input: 4, output: 4, source: another list, date: 2026-10-01}
"""


def table(folder: Path, text: str = TABLE) -> PriceTable:
    path = folder / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    return load_prices(path)


def run_of(data: Path, *usages: Usage, model: str = "small-1", run_id: str = "r-1", **planned: object) -> Run:
    samples = [Sample(run_id, "c-1", n, answer="four", usage=usage) for n, usage in enumerate(usages, 1)]
    target = {"kind": "by hand", "model": model}
    return stored_run(data, {}, run_id=run_id, samples=samples, planned={"target": target, **planned})


# the table


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("currency: USD", "currency: dollars", "line 1 (currency)"),
        ("date: 2026-11-30\n", "", "key 'date' is missing"),
        ("date: 2026-11-30", "date: last week", "line 3 (date)"),
        ("input: 2", "input: -2", "-2 must be at least 0"),
        ("cached: 1", "cashed: 1", "unknown key 'cashed'"),
        ("models: [small-*]", "models: []", "models"),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_its_place(tmp_path: Path, old: str, new: str, why: str) -> None:
    with pytest.raises(InputError) as refused:
        table(tmp_path, TABLE.replace(old, new))
    assert why in str(refused.value)
    assert "prices.yaml" in str(refused.value)


@pytest.mark.parametrize(
    ("model", "price"), [("small-1", 2), ("SMALL-7b", 2), ("maker/small-1", 2), ("other", 4), ("", None)]
)
def test_the_first_price_that_fits_counts(tmp_path: Path, model: str, price: float | None) -> None:
    found = table(tmp_path).price_of(model)
    assert (found.input if found else None) == price


def test_the_table_of_the_data_folder_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert prices_for(None, tmp_path) is None
    assert prices_for(None, tmp_path) is None
    mine = table(tmp_path)
    assert prices_for(None, tmp_path) == mine
    with pytest.raises(InputError, match="no such file"):
        prices_for(tmp_path / "gone.yaml", tmp_path)
    monkeypatch.setenv("EVALLIB_PRICES", str(tmp_path / "lost.yaml"))
    with pytest.raises(InputError, match=r"EVALLIB_PRICES=.*lost.yaml: no such file"):
        prices_for(None, tmp_path)


# what usage costs


def test_tokens_are_priced_by_the_million_and_cached_ones_apart(tmp_path: Path) -> None:
    price = table(tmp_path).price_of("small-1")
    assert cost_of(price, Usage(1_000_000, 100_000, 1)) == pytest.approx(3.0)
    assert cost_of(price, Usage(1_000_000, 100_000, 1, cached_tokens=600_000)) == pytest.approx(0.8 + 0.6 + 1.0)


@pytest.mark.parametrize("usage", [Usage(None, 5, 1), Usage(5, None, 1), Usage()])
def test_tokens_nobody_counted_cost_an_unknown_amount_and_never_nothing(tmp_path: Path, usage: Usage) -> None:
    assert cost_of(table(tmp_path).price_of("small-1"), usage) is None
    assert cost_of(None, Usage(5, 5, 1)) is None


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=8))
def test_the_cost_of_a_run_is_the_sum_of_its_samples(tokens: list[tuple[int, int]]) -> None:
    prices = PriceTable.model_validate_json(
        json.dumps({"currency": "USD", "source": "s", "date": "2026-11-30",
                    "prices": [{"models": ["*"], "input": 2, "output": 10}]})
    )  # fmt: skip
    price = prices.price_of("m")
    alone = [cost_of(price, Usage(*pair, 1)) for pair in tokens]
    whole = cost_of(price, Usage(sum(a for a, _ in tokens), sum(b for _, b in tokens), len(tokens)))
    assert whole == pytest.approx(sum(one or 0 for one in alone))


def test_a_run_has_a_cost_per_sample_with_source_and_date(tmp_path: Path) -> None:
    costs = costs_of([run_of(tmp_path, Usage(1000, 100, 1), Usage(3000, 300, 1))], table(tmp_path))
    assert costs.as_json() == {
        "currency": "USD",
        "prices": "a made-up list, 2026-11-30",
        "target": {
            "models": ["small-1"], "samples": 2, "total": pytest.approx(0.012), "per_sample": pytest.approx(0.006),
            "known": 2, "known_total": pytest.approx(0.012), "tokens_per_sample": 2200.0, "why_unknown": None,
        },
        "judge": None,
    }  # fmt: skip
    assert costs.line() == "cost: target 0.012 USD, 0.0060 a sample (prices: a made-up list, 2026-11-30)"


@pytest.mark.parametrize(
    ("usages", "model", "priced", "line"),
    [
        ([Usage(5, 5, 1)], "small-1", False, "cost: target unknown: no table of prices"),
        ([Usage(5, 5, 1)], "", True, "cost: target unknown: the model has no name"),
        ([Usage(5, 5, 1)], "big", True, "cost: target unknown: no price for model 'big'"),
        ([Usage(1000, 0, 1), Usage(calls=1)], "small-1", True,
         ("cost: target unknown: tokens were not counted (1 sample) (0.0020 USD for 1 of 2) (prices: a list, "
         "2026-11-30)")),
    ],
)  # fmt: skip
def test_what_is_unknown_says_why_and_is_never_0(
    tmp_path: Path, usages: list[Usage], model: str, priced: bool, line: str
) -> None:
    prices = table(tmp_path, TABLE.partition('- {models: ["*"]')[0].replace("a made-up list", "a list"))
    costs = costs_of([run_of(tmp_path, *usages, model=model)], prices if priced else None)
    assert costs.line() == line
    assert (costs.target.total, costs.target.per_sample) == (None, None)


def test_what_the_target_says_it_cost_counts_before_any_table(tmp_path: Path) -> None:
    run = run_of(tmp_path, Usage(1000, 100, 1, cost_usd=0.5))
    assert costs_of([run], None).target.total == 0.5
    assert costs_of([run], table(tmp_path)).target.total == 0.5
    euros = table(tmp_path, TABLE.replace("USD", "EUR"))
    assert costs_of([run], euros).target.total == pytest.approx(0.003), "dollars are no euros"


def test_a_turn_without_counts_leaves_its_sample_unknown(tmp_path: Path) -> None:
    turns = (Turn(1, "q", "a", usage=Usage(10, 1, 1)), Turn(2, "q", "four", usage=Usage(calls=1)))
    sample = Sample("r-1", "c-1", 1, turns=turns, answer="four", usage=Usage(10, 1, 2))
    run = stored_run(tmp_path, {}, samples=[sample], planned={"target": {"kind": "k", "model": "small-1"}})
    assert costs_of([run], table(tmp_path)).target.total is None


def test_only_the_cases_named_are_counted(tmp_path: Path) -> None:
    samples = [Sample("r-1", case, 1, answer="four", usage=Usage(1000, 0, 1)) for case in ("c-1", "c-2")]
    run = stored_run(tmp_path, {}, samples=samples, planned={"target": {"kind": "k", "model": "small-1"}})
    assert costs_of([run], table(tmp_path), ["c-2"]).target.samples == 1


# on the command line


def judged(folder: Path) -> None:
    (folder / "suite.yaml").write_text("""\
suite: tone
checks: [{id: kind, check: judge, rubric: kind, votes: 1, critical: true}]
cases: [{id: c-1, steps: [{ask: say hello}]}, {id: c-2, steps: [{ask: say hello}]}]
""")
    (folder / "script.yaml").write_text("""\
script: tone
replies:
- when: {model: judge, contains: [rubric]}
  answers: [{text: '{"score": 5, "reason": "kind"}', usage: {input_tokens: 2000, output_tokens: 100}}]
- when: {contains: [say hello]}
  answers: [{text: Hello., usage: {input_tokens: 1000, output_tokens: 100}}]
""")


def test_target_and_judges_are_told_apart_wherever_a_run_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    judged(tmp_path)
    prices = "prices.yaml"
    Path(prices).write_text(TABLE.replace("[small-*]", "[scripted]").replace('["*"]', "[judge]"))
    run = said(capsys, "run", "suite.yaml", "--target", "scripted", "--judge", "scripted", "--run-id", "r",
               "--prices", prices)  # fmt: skip
    line = (
        "cost: target 0.0060 USD, 0.0030 a sample; judges 0.017 USD, 0.0084 a sample "
        "(prices: a made-up list, 2026-11-30; another list, 2026-10-01)"
    )
    assert line in run
    assert line in said(capsys, "show", "r", "--prices", prices)
    assert line in said(capsys, "metrics", "r", "--prices", prices)
    Path("data", prices).write_bytes(Path(prices).read_bytes())
    found = json.loads(said(capsys, "metrics", "r", "--json"))["cost"]
    assert found["judge"]["total"] == pytest.approx(2 * (2000 + 100) * 4 / 1e6)
    assert found["target"]["per_sample"] == pytest.approx(0.003)


def test_a_table_that_cannot_be_read_is_told_before_the_first_sample(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("prices.yaml").write_text("currency: USD\n")
    assert main(["run", "suite.yaml", "--target", "scripted", "--run-id", "r", "--prices", "prices.yaml"]) == 2
    assert "prices.yaml" in capsys.readouterr().err
    assert not Path("data/runs/r").exists()


# between two runs


def pair(data: Path, **second: Any) -> None:
    planned = {"target": {"kind": "chat", "model": "small-1", "url": "http://one"}, "build": {"revision": "x"}}
    for name, tokens, more in (("a", 1000, {}), ("b", 1300, second)):
        samples = [Sample(name, case, 1, answer="four", usage=Usage(tokens, 0, 1)) for case in ("c-1", "c-2")]
        stored_run(data, {}, run_id=name, samples=samples, planned={**planned, **more})


def test_tokens_and_cost_per_sample_are_compared_in_equal_contexts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table(tmp_path)
    pair(tmp_path, build={"revision": "y"}, seed=3)
    found = json.loads(said(capsys, "compare", "a", "b", "--data", str(tmp_path), "--json"))["cost"]
    assert (found["tokens_change"], found["cost_change"]) == (pytest.approx(0.3), pytest.approx(0.3))
    assert found["why_not_compared"] is None
    assert "tokens per sample +30%, cost per sample +30%" in said(capsys, "compare", "a", "b", "--data", str(tmp_path))


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ({"target": {"kind": "chat", "model": "small-2", "url": "http://one"}}, "target.model"),
        ({"target": {"kind": "chat", "model": "small-1", "url": "http://two"}}, "target.url"),
        ({"cases": {"c-1": 2, "c-2": 2}}, "samples per case"),
        ({"judge": {"model": "j"}}, "judge"),
    ],
)
def test_in_other_contexts_the_reason_why_not_stands_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], second: dict[str, object], why: str
) -> None:
    table(tmp_path)
    pair(tmp_path, **second)
    found = json.loads(said(capsys, "compare", "a", "b", "--data", str(tmp_path), "--json"))["cost"]
    assert (found["tokens_change"], found["cost_change"]) == (None, None)
    assert why in found["why_not_compared"]
    assert found["b"]["target"]["tokens_per_sample"] == 1300.0


# the run before


def used(data: Path, run_id: str, hour: int, tokens: int, **planned: object) -> Run:
    created = f"2026-11-30T{hour:02d}:00:00+00:00"
    return run_of(data, Usage(tokens, 0, 1), run_id=run_id, created=created, **planned)


def test_tokens_and_cost_that_move_are_told(tmp_path: Path) -> None:
    first, second = used(tmp_path, "a", 1, 100), used(tmp_path, "b", 2, 150)
    assert drift_of(first, tmp_path) is None
    assert drift_of(second, tmp_path) == Drift("a", 0.5, None)
    assert drift_of(second, tmp_path, table(tmp_path)) == Drift("a", 0.5, pytest.approx(0.5))
    assert Drift("a", 0.5, -0.3).warnings() == [
        "tokens per sample moved +50% from run a", "cost per sample moved -30% from run a",
    ]  # fmt: skip


@pytest.mark.parametrize(("now", "warned"), [((2, 2, 1), False), ((1, 1, 1), False), ((2, 2, 2), True)])
def test_a_quarter_more_or_less_is_no_warning_however_it_is_rounded(
    tmp_path: Path, now: tuple[int, ...], warned: bool
) -> None:
    for hour, (name, tokens) in enumerate((("previous", (2, 1, 1)), ("current", now))):
        created = f"2026-11-30T{hour:02d}:00:00+00:00"
        latest = run_of(tmp_path, *(Usage(count, 0, 1) for count in tokens), run_id=name, created=created)
    drift = drift_of(latest, tmp_path)
    assert drift is not None
    assert bool(drift.warnings()) is warned


@pytest.mark.parametrize(
    "planned",
    [
        {"suite_digest": "x"},
        {"target": {"kind": "by hand", "model": "x"}},
        {"judges": False},
        {"judge": {"model": "j"}},
    ],
    ids=["other criteria", "another model", "without judges", "another judge"],
)
def test_tokens_of_runs_of_other_things_are_not_compared(tmp_path: Path, planned: dict[str, object]) -> None:
    used(tmp_path, "a", 1, 100, **planned)
    assert drift_of(used(tmp_path, "b", 2, 150), tmp_path) is None


def test_tokens_of_other_cases_or_samples_are_not_compared(tmp_path: Path) -> None:
    used(tmp_path, "a", 1, 100)
    planned = {"created": "2026-11-30T02:00:00+00:00"}
    assert drift_of(run_of(tmp_path, Usage(150, 0, 1), Usage(150, 0, 1), run_id="b", **planned), tmp_path) is None


@pytest.mark.parametrize("vector", vectors("cost_drift"), ids=lambda vector: vector["id"])
def test_the_other_harness_s_cases(tmp_path: Path, vector: dict[str, Any]) -> None:
    """Repeats are no drift: tokens are held against each other per sample, and only where as many were planned."""
    runs = []
    for hour, name in enumerate(("previous", "current")):
        given = vector["input"][name]
        if given is None:
            continue
        repeat = given.get("repeat", 1)
        usages = [Usage(given["total_tokens"] // repeat, 0, 1)] * repeat
        runs.append(run_of(tmp_path, *usages, model=given["model_name"], run_id=name, suite_digest=given["evalset"],
                           created=f"2026-11-30T{hour:02d}:00:00+00:00"))  # fmt: skip
    drift = drift_of(runs[-1], tmp_path)
    warned = bool(drift and drift.warnings())
    assert warned is (vector["parity"] == "core" and vector["expected"]["warns"])
