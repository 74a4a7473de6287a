"""Resources used by the calls of one model: time, tokens, money, and failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from konsil.records.call import CallKind


@dataclass(frozen=True, slots=True)
class Usage:
    """All calls of one system or judge in numbers; None means not reported, never 0."""

    kind: CallKind
    """Whether it answered or judged."""
    who: str
    """The system's or the judge's id."""
    works: int
    """Requests: answers, or tasks times votes and orders."""
    calls: int
    """Calls, repeated ones included."""
    replies: int = 0
    """Calls with a reply, whatever it was worth: those that have a latency, except in batches."""
    median: float | None = None
    """Median seconds from the request to the end of the reply; None without replies of a real
    model."""
    slow: float | None = None
    """Their 90th percentile."""
    counted: int = 0
    """Replies of which the endpoint reports tokens."""
    tokens_in: int | None = None
    """Tokens read, as far as reported."""
    tokens_out: int | None = None
    """Tokens written, likewise."""
    cached: int | None = None
    """Tokens read from the endpoint's cache, among those read; None where no reply reports any."""
    cost: float | None = None
    """US dollars of calls whose tokens the endpoint reports."""
    cost_estimated: float | None = None
    """US dollars of other calls with a price: by the length of the texts, or what a broken call can
    have cost."""
    unpriced: int | None = 0
    """Replies without a known price; None where prices are withheld."""
    truncated: int = 0
    """Replies that the limit of tokens cut off."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """What went wrong -> calls; calls that were repeated included."""
    is_played: bool = False
    """Whether konsil played it, so that its times mean nothing."""
