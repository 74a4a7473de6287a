"""Writes prices.toml anew from genai-prices (MIT).

genai-prices is an offline list that others keep up to date.

`python benchmarks/price_source.py 2026-11-22 > src/konsil/collect/prices.toml`, with
the extra `vendors` installed; the day is the one whose prices are taken. konsil itself reads the
file and needs no other package.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from importlib.metadata import version
from typing import Any

VENDORS = (
    "anthropic",
    "cohere",
    "deepseek",
    "google",
    "mistral",
    "moonshotai",
    "openai",
    "perplexity",
    "x-ai",
    "zai",
)
"""Who sells models of their own: one model has one price with them, where resellers have many."""

HEAD = """\
# US dollars for a million tokens: read, written. List prices without discounts, for requests of ordinary length; where
# a price depends on the time of day, the highest. Written by benchmarks/price_source.py, not by hand.
# A study states its own with price_in and price_out, which go before this list.
date = {date}
source = {source}

# The longest name that a model's name begins with is taken, after the part up to a last slash.
[models]
"""


def prices_on(day: date) -> dict[str, tuple[float, float]]:
    """Read the prices of a day.

    Name, or beginning of names -> US dollars for a million tokens read and written.
    """
    from genai_prices.data_snapshot import get_snapshot

    prices: dict[str, tuple[float, float]] = {}
    for provider in get_snapshot().providers:
        if provider.id not in VENDORS:
            continue
        for model in provider.models:
            price = _dearest(model, day)
            for name in _names(model) if price is not None else ():
                assert price is not None
                previous = prices.get(name, (0.0, 0.0))
                prices[name] = (max(price[0], previous[0]), max(price[1], previous[1]))
    return prices


# Of a library without our types.
def _dearest(model: Any, day: date) -> tuple[float, float] | None:
    """The highest price of the day; None for what reads or writes no text."""
    hours = [model.get_prices(datetime.combine(day, time(hour), tzinfo=UTC)) for hour in range(24)]
    pairs = [(_dollars(p.input_mtok), _dollars(p.output_mtok)) for p in hours]
    text_prices = [
        (read, written) for read, written in pairs if read is not None and written is not None
    ]
    return (max(r for r, _ in text_prices), max(w for _, w in text_prices)) if text_prices else None


def _dollars(price: Any) -> float | None:
    if price is None:
        return None
    return float(getattr(price, "base", price))


def _names(model: Any) -> Iterator[str]:
    for name in {model.id, *_clauses(model.match)}:
        plain = name.lower().rpartition("/")[2].rstrip("-:@")
        if plain:
            yield plain


def _clauses(clause: Any) -> Iterator[str]:
    for part in getattr(clause, "or_", ()):
        yield from _clauses(part)
    for kind in ("equals", "starts_with"):
        if isinstance(name := getattr(clause, kind, None), str):
            yield name


def written(day: date) -> str:
    """Write the whole file."""
    source = f"genai-prices {version('genai-prices')}"
    head = HEAD.format(date=json.dumps(day.isoformat()), source=json.dumps(source))
    prices = prices_on(day)
    lines = [
        f"{json.dumps(name)} = [{prices[name][0]:.10g}, {prices[name][1]:.10g}]"
        for name in sorted(prices)
    ]
    return head + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(written(date.fromisoformat(sys.argv[1])))
