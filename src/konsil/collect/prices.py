"""What calls cost: a price list, an estimate before the first call, a budget that is never passed."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from konsil.collect.provider import Request

WRITTEN = 300
"""Tokens that a reply is taken to have where the study sets no max_tokens and no reply has been seen."""
CHARACTERS = 3.0
"""Characters a token, on the careful side: German has about four, JSON and long compounds fewer."""
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    read: float
    """Of the request."""
    written: float
    """Of the reply."""

    def of(self, n_read: float, n_written: float) -> float:
        """The price of so many tokens."""
        return (n_read * self.read + n_written * self.written) / _MILLION


FREE = Price(0.0, 0.0)


@functools.cache
def price_list() -> tuple[str, Mapping[str, Price]]:
    """Read the list that comes with konsil: its day, and the price by beginning of the model's name."""
    data = tomllib.loads(files("konsil.collect").joinpath("prices.toml").read_text("utf-8"))
    return str(data["date"]), {name: Price(*pair) for name, pair in data["models"].items()}


def listed(model: str) -> Price | None:
    """Look up a model; None where the list does not have it.

    >>> listed("openai/gpt-4o-mini-2024-07-18")
    Price(read=0.15, written=0.6)
    """
    name = model.rpartition("/")[2].lower()
    _, prices = price_list()
    found = max((p for p in prices if name == p or name.startswith((p + "-", p + ":"))), key=len, default=None)
    return prices[found] if found is not None else None


def tokens_of(request: Request) -> int:
    """Estimate the tokens of a request without its model's tokeniser."""
    characters = sum(len(m.text) for m in request.messages)
    if request.schema is not None:
        characters += len(str(request.schema))
    return int(characters / CHARACTERS) + 4 * len(request.messages) + 3


def most_written(request: Request) -> int:
    """The tokens that a reply may have, for limits and budgets."""
    return request.max_tokens if request.max_tokens is not None else WRITTEN


class Budget:
    """US dollars that may be spent; what is under way counts as if it were as long as allowed."""

    def __init__(self, most: float | None, spent: float = 0.0) -> None:
        self.most = most
        self.spent = spent
        """The price of what has come back."""
        self.held = 0.0
        """The most that what is under way can cost."""

    def hold(self, amount: float) -> bool:
        """Set an amount aside, or say that it would pass the budget."""
        if self.most is not None and self.spent + self.held + amount > self.most:
            return False
        self.held += amount
        return True

    def settle(self, amount: float, cost: float) -> None:
        """Give back what was set aside and count what it cost."""
        self.held -= amount
        self.spent += cost
