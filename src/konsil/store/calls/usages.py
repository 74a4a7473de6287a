"""What the calls of each system and judge took, read off the calls themselves.

Nothing is written.
"""

from __future__ import annotations

import json
import statistics
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from konsil.records import CallKind, Usage
from konsil.store.calls.calls import READABLE
from konsil.store.engine import engine, schema
from konsil.store.log.db import Store
from konsil.study.sections.calling import FAKE

_CHUNK = 2_000
_UNANSWERED = ("http error", "gave up")
"""Outcomes of calls without a reply: what failed is in their status."""
RATE_LIMIT, OVERLOADED, SERVER, REFUSED, NO_REPLY = (
    "rate limit",
    "overloaded",
    "server error",
    "request refused",
    "no reply",
)
_STATUS = {408: NO_REPLY, 429: RATE_LIMIT, 503: OVERLOADED, 529: OVERLOADED}


def usages(store: Store) -> tuple[Usage, ...]:
    """Time, tokens, price and failures of every system and judge that was called.

    Systems come first; both are sorted by name.

    A latency is that of one call: waiting for a turn, and between a refused call and the next, is
    in none.
    """
    c = schema.calls.c
    query = (
        sa.select(
            c.kind,
            c.who,
            c.work,
            c.endpoint,
            c.outcome,
            c.status,
            c.usage,
            c.cost,
            c.seconds,
            c.reply != "{}",
        )
        .where(c.kind.in_(("answer", "judge")))
        .order_by(c.kind, c.who, c.work)
    )
    tallies: dict[tuple[CallKind, str], _Tally] = {}
    with engine.reading(store.engine) as connection:
        for kind, name, work, endpoint, *rest in connection.execute(
            query.execution_options(yield_per=_CHUNK)
        ):
            tally = tallies.setdefault((kind, name), _Tally())
            tally.is_played = tally.is_played or endpoint == FAKE
            tally.works += work != tally.work
            tally.work = work
            tally.add(*rest)
    return tuple(_usage(kind, name, tally) for (kind, name), tally in sorted(tallies.items()))


@dataclass(slots=True)
class _Tally:
    """The calls of one model, added up one by one: a million of them need eight megabytes."""

    is_played: bool = False
    work: str = ""
    works: int = 0
    calls: int = 0
    replies: int = 0
    counted: int = 0
    unpriced: int = 0
    # An array takes a fifth of a list's memory for a million calls.
    seconds: array[float] = field(default_factory=lambda: array("d"))
    tokens: Counter[str] = field(default_factory=Counter)
    costs: dict[bool, float] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        outcome: str,
        status: int,
        usage: str,
        cost: float | None,
        seconds: float,
        has_reply: bool,
    ) -> None:
        self.calls += 1
        counts = json.loads(usage)
        is_counted = "in" in counts and "out" in counts
        if has_reply:
            self.replies += 1
            # A request of a batch has no time of its own, and none is stored.
            if seconds:
                self.seconds.append(seconds)
            self.counted += is_counted
            self.unpriced += cost is None
        for name in ("in", "out", "cached_tokens"):
            if name in counts:
                self.tokens[name] += counts[name]
        if cost is not None:
            self.costs[is_counted] = self.costs.get(is_counted, 0.0) + cost
        if outcome not in READABLE:
            self.failures[failure(outcome, status)] += 1


def failure(outcome: str, status: int) -> str:
    """What went wrong in a call: its outcome, or where there was no reply what its status means.

    >>> (
    ...     failure("truncated", 200),
    ...     failure("http error", 429),
    ...     failure("gave up", 0),
    ...     failure("http error", 400),
    ... )
    ('truncated', 'rate limit', 'no reply', 'request refused')
    """
    if outcome not in _UNANSWERED:
        return outcome
    if status in _STATUS:
        return _STATUS[status]
    if status >= 500:
        return SERVER
    return REFUSED if status >= 400 else NO_REPLY


def _usage(kind: CallKind, name: str, tally: _Tally) -> Usage:
    # The times of scripted models mean nothing.
    timed: Sequence[float] = () if tally.is_played else tally.seconds
    return Usage(
        kind,
        name,
        tally.works,
        tally.calls,
        tally.replies,
        statistics.median(timed) if timed else None,
        _ninth_decile(timed),
        tally.counted,
        tally.tokens.get("in"),
        tally.tokens.get("out"),
        tally.tokens.get("cached_tokens"),
        cost=tally.costs.get(True),
        cost_estimated=tally.costs.get(False),
        unpriced=tally.unpriced,
        truncated=tally.failures["truncated"],
        failures=dict(_ordered(tally.failures)),
        is_played=tally.is_played,
    )


def _ninth_decile(values: Sequence[float]) -> float | None:
    """The 90th percentile, linear between the ordered values; None without values."""
    if len(values) < 2:
        return values[0] if values else None
    return statistics.quantiles(values, n=10, method="inclusive")[8]


def _ordered(failures: Counter[str]) -> Iterator[tuple[str, int]]:
    for name in sorted(failures):
        if failures[name]:
            yield name, failures[name]
