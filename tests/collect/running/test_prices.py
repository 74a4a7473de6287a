"""The price list: what it says, where it is from, and that it is what its source says."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

from konsil.collect.running.budget import Budget
from konsil.collect.running.prices import FREE, Price, listed, price_list


def test_the_list_says_its_day_and_has_sound_prices() -> None:
    day, prices = price_list()
    assert date.fromisoformat(day) >= date(2026, 1, 1)
    assert len(prices) > 200
    assert all(0 < p.read < 1_000 and 0 < p.written < 2_000 for p in prices.values())
    assert Price(2.0, 4.0).of(1_000_000, 500_000) == 4.0
    assert all(name == name.lower() and "/" not in name for name in prices)


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("gpt-4o-mini-2024-07-18", Price(0.15, 0.6)),
        ("openrouter/openai/GPT-4o-mini", Price(0.15, 0.6)),
        ("gpt-4o-2024-08-06", Price(2.5, 10.0)),
        ("claude-sonnet-4-20250514", Price(3.0, 15.0)),
        ("smollm2-135m", None),
        ("gpt-4omega", None),
    ],
)
def test_the_longest_beginning_counts(model: str, price: Price | None) -> None:
    assert listed(model) == price


def test_the_list_is_what_its_source_says(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("genai_prices")
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[3] / "benchmarks")
    from price_source import written

    file = files("konsil.collect").joinpath("prices.toml").read_text("utf-8")
    day, _ = price_list()
    if f'"genai-prices {version("genai-prices")}"' not in file:
        pytest.skip("another version of the source is installed")
    assert written(date.fromisoformat(day)) == file


def test_what_is_held_counts_as_spent_until_it_is_known() -> None:
    budget = Budget(1.0, spent=0.5)
    assert budget.hold(0.4)
    assert not budget.hold(0.2)
    budget.settle_cost(0.4, 0.1)
    assert (budget.reserved, budget.spent) == (0.0, pytest.approx(0.6))
    assert budget.hold(0.4)
    assert FREE.of(1e9, 1e9) == 0.0
