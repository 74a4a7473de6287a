"""What a call of a worker needs before it is sent: a place at its endpoint, and its money.

Both are rows in the database, so that all workers together stay within the limits of an endpoint
and within the budget.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.calls.leases import Leases, database_time, locked_spending
from konsil.store.engine import engine, schema

AHEAD = 1.0
"""Seconds: a call whose turn by the limits a minute is later does not reserve it yet."""
NEAR_THE_END = 5
"""With less left than so many of the dearest call, calls without a cap go one at a time."""
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """What an endpoint allows all workers together."""

    concurrency: int = 16
    """Calls under way at once."""
    requests_per_minute: int | None = None
    """None: no limit."""
    tokens_per_minute: int | None = None
    """None: no limit."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one call asks for."""

    work: str
    """The work that it is made for."""
    endpoint: str
    """Whose limits hold."""
    allowance: Allowance
    """What they are."""
    tokens: int
    """Tokens that it will probably have."""
    dollars: float
    """The most that it can cost."""
    budget: float | None = None
    """US dollars that all calls of the study may cost; None: any."""
    is_capped: bool = True
    """Whether the most that it can cost is a bound, not an estimate."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The answer: whether the call may be sent, and when."""

    verdict: Literal["go", "wait", "no money", "lost"]
    """wait: ask again; no money: the budget has no room for it; lost: others have the work."""
    seconds: float = 0.0
    """Until it may be sent, or until it is worth asking again; 0 where that is not known."""


@dataclass(slots=True)
class Answer:
    """What a group of reservations came to."""

    grants: list[Grant] = field(default_factory=list)
    """One for each, in order."""
    spent: float = 0.0
    """US dollars of all calls, with what those of killed workers can have cost."""


@dataclass(slots=True)
class _Rate:
    """The clock of one endpoint."""

    next_request: float = 0.0
    next_token: float = 0.0
    paused_until: float = 0.0

    def start(self, time: float) -> float:
        return max(time, self.next_request, self.next_token, self.paused_until)

    def count(self, start: float, tokens: int, allowance: Allowance) -> None:
        if allowance.requests_per_minute:
            self.next_request = start + _MINUTE / allowance.requests_per_minute
        if allowance.tokens_per_minute:
            self.next_token = start + _MINUTE * tokens / allowance.tokens_per_minute


@dataclass(slots=True)
class Corrections:
    """What is learnt of endpoints between two groups of reservations."""

    token_seconds: dict[str, float] = field(default_factory=dict)
    """Endpoint -> seconds by which its next token is later, as replies had more tokens than was
    expected of them."""
    pauses: dict[str, float] = field(default_factory=dict)
    """Endpoint -> seconds for which it asked for patience."""

    def __bool__(self) -> bool:
        return bool(self.token_seconds or self.pauses)


def reserve(
    leases: Leases, requests: Sequence[Reservation], corrections: Corrections | None = None
) -> Answer:
    """Reserve what these calls need, each or not at all, in one short transaction."""
    corrections = corrections or Corrections()
    with engine.noting(leases.store.engine) as connection:
        spent, lost = locked_spending(connection)
        time = database_time(connection)
        names = {r.endpoint for r in requests} | {*corrections.token_seconds, *corrections.pauses}
        rates = _rates(connection, names)
        former = {name: replace(rate) for name, rate in rates.items()}
        for name, seconds in corrections.token_seconds.items():
            rates[name].next_token += seconds
        for name, seconds in corrections.pauses.items():
            rates[name].paused_until = max(rates[name].paused_until, time + seconds)
        ledger, owned = _ledger(connection, leases.worker, requests)
        ledger.spent = spent + lost
        answer = Answer(spent=spent + lost)
        granted = []
        for request in requests:
            grant = ledger.decide(request, rates[request.endpoint], time, request.work in owned)
            answer.grants.append(grant)
            if grant.verdict == "go":
                granted.append(request)
        _store(connection, granted)
        changed = {name: rate for name, rate in rates.items() if rate != former[name]}
        _store_rates(connection, changed)
    return answer


@dataclass(slots=True)
class _Ledger:
    """Money and calls under way while a group is decided."""

    spent: float = 0.0
    reserved: float = 0.0
    n_reserved: int = 0
    active: Counter[str] = field(default_factory=Counter)
    full: set[str] = field(default_factory=set)
    """Endpoints with a call of this group that waits: those behind it wait, too."""

    def decide(self, request: Reservation, rate: _Rate, time: float, is_owned: bool) -> Grant:
        if not is_owned:
            return Grant("lost")
        if request.endpoint in self.full:
            return Grant("wait")
        start = rate.start(time)
        if self.active[request.endpoint] >= request.allowance.concurrency:
            self.full.add(request.endpoint)
            return Grant("wait")
        if start > time + AHEAD:
            self.full.add(request.endpoint)
            return Grant("wait", start - time - AHEAD)
        if not self.has_money(request):
            return Grant("wait" if self.n_reserved else "no money")
        self.reserved += request.dollars
        self.n_reserved += 1
        self.active[request.endpoint] += 1
        rate.count(start, request.tokens, request.allowance)
        return Grant("go", start - time)

    def has_money(self, request: Reservation) -> bool:
        if request.budget is None:
            return True
        remaining = request.budget - self.spent
        if self.reserved + request.dollars > remaining:
            return False
        is_near_the_end = remaining < NEAR_THE_END * request.dollars
        return request.is_capped or not self.n_reserved or not is_near_the_end


def give_up_places(leases: Leases, works: Iterable[str]) -> None:
    """Let go of what was reserved for calls that were never sent."""
    c = schema.works.c
    with engine.noting(leases.store.engine) as connection:
        connection.execute(
            sa.update(schema.works)
            .where(c.work.in_(sorted(works)), c.worker == leases.worker)
            .values(endpoint=None, reserved=None)
        )


def _rates(connection: Connection, names: Iterable[str]) -> dict[str, _Rate]:
    r = schema.rates.c
    rates = {name: _Rate() for name in names}
    query = sa.select(r.endpoint, r.next_request, r.next_token, r.paused_until)
    for name, *times in connection.execute(query.where(r.endpoint.in_(sorted(rates)))):
        rates[name] = _Rate(*times)
    return rates


def _ledger(
    connection: Connection, worker: str, requests: Sequence[Reservation]
) -> tuple[_Ledger, set[str]]:
    """What is under way, and which of these works the worker has."""
    c = schema.works.c
    names = {r.work for r in requests}
    query = sa.select(c.work, c.worker, c.endpoint, c.reserved).where(
        sa.or_(c.endpoint.is_not(None), c.work.in_(sorted(names)))
    )
    ledger, owned = _Ledger(), set[str]()
    for work, owner, endpoint, dollars in connection.execute(query):
        if endpoint is not None:
            ledger.active[endpoint] += 1
            ledger.n_reserved += 1
            ledger.reserved += dollars or 0.0
        if work in names and owner == worker:
            owned.add(work)
    return ledger, owned


def _store(connection: Connection, granted: Sequence[Reservation]) -> None:
    if granted:
        change = sa.update(schema.works).where(schema.works.c.work == sa.bindparam("of"))
        connection.execute(
            change.values(endpoint=sa.bindparam("at_endpoint"), reserved=sa.bindparam("dollars")),
            [{"of": r.work, "at_endpoint": r.endpoint, "dollars": r.dollars} for r in granted],
        )


def _store_rates(connection: Connection, rates: Mapping[str, _Rate]) -> None:
    r = schema.rates.c
    for name, rate in sorted(rates.items()):
        times = {
            "next_request": rate.next_request,
            "next_token": rate.next_token,
            "paused_until": rate.paused_until,
        }
        # The row of spending is locked, so that nobody inserts the same row meanwhile.
        updated = connection.execute(
            sa.update(schema.rates).where(r.endpoint == name).values(times)
        )
        if not updated.rowcount:
            connection.execute(sa.insert(schema.rates).values(endpoint=name, **times))
