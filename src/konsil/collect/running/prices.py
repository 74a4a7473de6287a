"""What calls cost: a price list, and estimates of tokens before the first call."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Protocol

from konsil.collect.providers.provider import Request, schema_json
from konsil.records import RENAMED

WRITTEN = 300
"""Tokens that a reply is taken to have where the study sets no max_tokens and no reply has been
seen."""
CHARACTERS = 3.0
"""Characters a token, on the careful side: German has about four, JSON and long compounds fewer."""
CAPS = frozenset({"max_tokens", *RENAMED.values()})
"""What a cap on the tokens of a reply is called where it is sent."""
_OTHER_CAPS = frozenset({"max_output_tokens", "maxOutputTokens", "max_new_tokens"})
_SEVERAL = frozenset({"n", "best_of", "candidate_count", "candidateCount"})
LIFTING = CAPS | _OTHER_CAPS | _SEVERAL
"""Options that take the place of our cap, or ask for several replies: no cap of ours holds beside
them."""
_MILLION = 1_000_000
_TEMPLATE, _TURN, _FORM = 128, 16, 384
"""Tokens that an endpoint may add: to a request by its chat template, to each message, and to
describe a schema."""


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

    def share(self, share: float) -> Price:
        """A share of the price; the whole price where it is 1."""
        return self if share == 1.0 else Price(share * self.read, share * self.written)


FREE = Price(0.0, 0.0)
BATCH_SHARE = 0.5
"""The share of their price that vendors bill for requests in batches."""


@functools.cache
def price_list() -> tuple[str, Mapping[str, Price]]:
    """Read konsil's own price list: its day, and the price by beginning of the model's name."""
    data = tomllib.loads(files("konsil.collect").joinpath("prices.toml").read_text("utf-8"))
    return str(data["date"]), {name: Price(*pair) for name, pair in data["models"].items()}


def listed(model: str) -> Price | None:
    """Look up a model; None where the list does not have it.

    >>> listed("openai/gpt-4o-mini-2024-07-18")
    Price(read=0.15, written=0.6)
    """
    name = model.rpartition("/")[2].lower()
    _, prices = price_list()
    prefix = max(
        (p for p in prices if name == p or name.startswith((p + "-", p + ":"))),
        key=len,
        default=None,
    )
    return prices[prefix] if prefix is not None else None


def tokens_of(request: Request) -> int:
    """Estimate the tokens of a request without its model's tokeniser.

    Of Latin letters several make a token; a character of another script is taken for one.
    """
    characters = 0.0
    for message in request.messages:
        characters += _weight(message.text)
    if request.schema is not None:
        characters += len(str(request.schema))
    return int(characters / CHARACTERS) + 4 * len(request.messages) + 3


def _weight(text: str) -> float:
    """Characters of Latin script that the text counts like."""
    if text.isascii():
        return len(text)
    other = sum(c > _LATIN for c in text)
    return len(text) + (CHARACTERS - 1.0) * other


_LATIN = "\u024f"
"""The last letter of the Latin script; later characters count on the careful side."""


def most_read(request: Request) -> int:
    """The tokens that a request can have at most: no tokeniser makes more than one of a byte.

    To the text comes what endpoints are known to add. Only the search results of tools have no
    bound.
    """
    size = sum(
        len(m.text) if m.text.isascii() else len(m.text.encode("utf-8", "replace"))
        for m in request.messages
    )
    if request.schema is not None:
        size += 2 * len(schema_json(request.schema)) + _FORM  # twice: with line breaks and indents
    return size + _TURN * len(request.messages) + _TEMPLATE


def most_written(request: Request) -> int:
    """The tokens that a reply may have, for limits and budgets.

    Without a cap it is the usual number of tokens of a reply.
    """
    return request.max_tokens if request.max_tokens is not None else WRITTEN


class CallParameters(Protocol):
    """A request, or the settings that requests are made of."""

    @property
    def max_tokens(self) -> int | None:
        """The cap on a reply's tokens."""

    @property
    def tools(self) -> Sequence[str]:
        """Tools of the endpoint, whose results are read and billed."""

    @property
    def options(self) -> Mapping[str, object]:
        """Further parameters, sent as they stand."""


def is_bounded(parameters: CallParameters) -> bool:
    """Whether a call cannot cost more than its text and its cap allow.

    This holds where the cap is sent and nothing lifts it.
    """
    return (
        parameters.max_tokens is not None
        and not parameters.tools
        and LIFTING.isdisjoint(parameters.options)
    )
