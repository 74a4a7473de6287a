"""A budget that calls under way hold shares of, and the sizes of each model's calls."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from konsil.collect.providers.provider import Reply, Request
from konsil.collect.running.prices import (
    CAPS,
    Price,
    is_bounded,
    most_read,
    most_written,
    tokens_of,
)
from konsil.errors import option

NEAR_THE_END = 5
"""With less left than so many of the dearest call, calls without a cap go one at a time."""
_MOST_PLACES = 9
"""Decimal places of an amount in a sentence."""


class Budget:
    """US dollars that may be spent; what is under way counts as if it cost as much as it can."""

    def __init__(self, limit: float | None, spent: float = 0.0) -> None:
        self.limit = limit
        self._earlier = spent
        self.spent = spent
        """The price of what has come back."""
        self.reserved = 0.0
        """The most that what is under way can cost."""
        self.n_reserved = 0
        """Calls under way."""
        self._excess = ""
        """Which call cost more than was set aside for it, and why."""
        self._waiting: list[asyncio.Future[None]] = []

    def hold(self, amount: float) -> bool:
        """Set an amount aside, or say that it would pass the budget."""
        if self.limit is not None and self.spent + self.reserved + amount > self.limit:
            return False
        self.reserved += amount
        self.n_reserved += 1
        return True

    async def reserve(self, amount: float, *, is_capped: bool = True) -> bool:
        """Set an amount aside, if need be once calls under way have ended.

        False: nothing is left for it.
        """
        while True:
            remaining = float("inf") if self.limit is None else self.limit - self.spent
            if is_capped or not self.n_reserved or remaining >= NEAR_THE_END * amount:
                if self.hold(amount):
                    return True
                if not self.n_reserved:
                    return False
            await self.change()

    async def change(self) -> None:
        """Wait until a call under way has ended."""
        ticket = asyncio.get_running_loop().create_future()
        self._waiting.append(ticket)
        await ticket

    def refusal(self, amount: float, actor: str, *, is_bounded: bool) -> str:
        """Why no call of this amount begins, as a sentence for the summary."""
        limit = self.limit or 0.0
        if self._earlier > limit:
            return (
                f"earlier calls of the study cost {self._earlier:,.2f} US dollars, more than the"
                f" budget of {limit:g} US dollars; raise {option('budget')}"
            )
        if self.spent > limit:
            return (
                f"the budget of {limit:g} US dollars has been passed,"
                f" {self._excess or 'by a call'}: {self.spent:,.2f} US dollars in all;"
                f" raise {option('budget')} to continue"
            )
        can = "can cost up to" if is_bounded else "is estimated to cost up to"
        return (
            f"the next call of {actor!r} {can} {_amount(amount, math.ceil)} US dollars, and"
            f" {_amount(limit - self.spent, math.floor)} of the budget of {limit:g} US dollars"
            f" remain; raise {option('budget')} to {_amount(self.spent + amount, math.ceil)} or"
            " more"
        )

    def settle_cost(
        self, amount: float, cost: float, actor: str = "", *, is_bounded: bool = True
    ) -> None:
        """Give back what was set aside and count what it cost."""
        if cost > amount:
            self._excess = (
                f"as {actor!r} was billed more tokens than its request and max_tokens allow"
                if is_bounded
                else f"as nothing bounds what a call of {actor!r} costs"
            )
        # The last one leaves exactly nothing: rounding must not add up over a run.
        self.reserved = max(0.0, self.reserved - amount) if self.n_reserved > 1 else 0.0
        self.n_reserved -= 1
        self.spent += cost
        # All of them look again: a smaller reservation may fit where the first one did not.
        waiting, self._waiting = self._waiting, []
        for ticket in waiting:
            if not ticket.done():
                ticket.set_result(None)


@dataclass(slots=True)
class Meter:
    """The calls of one model so far: the dearest, and how the endpoint counts their tokens.

    The endpoint may count more tokens than konsil estimates.
    """

    is_taught: bool = False
    """Whether a reply has come back, so that its size is known."""
    is_teaching: bool = False
    """Whether the first call is under way."""
    dearest: float = 0.0
    """The price of the dearest call."""
    hidden: int = 0
    """The most tokens read that the endpoint counted beyond what the text can have."""
    longest: int = 0
    """The most tokens written."""
    is_bounded: bool = True
    """Whether no reply has shown that a call can cost more than its text and its cap allow."""
    _ratios: list[float] = field(default_factory=lambda: [0.0, 0.0])

    def learn(self, request: Request, reply: Reply, cost: float) -> None:
        """Take in what a reply has cost."""
        self.is_taught = True
        self.dearest = max(self.dearest, cost)
        self.longest = max(self.longest, reply.usage.get("out", 0))
        hidden = reply.usage.get("in", 0) - most_read(request)
        self.hidden = max(self.hidden, hidden)
        if hidden > 0 or (
            request.max_tokens is not None and not _was_capped(request.max_tokens, reply)
        ):
            self.is_bounded = False
        self._ratios[0] += sum(reply.usage.get(name, 0) for name in ("in", "out"))
        self._ratios[1] += tokens_of(request) + most_written(request)

    def expected(self, request: Request) -> int:
        """The tokens that a call will probably have, for limits a minute."""
        estimate = tokens_of(request) + most_written(request)
        counted, estimated = self._ratios
        return (
            estimate
            if not counted or not estimated
            else max(1, round(estimate * counted / estimated))
        )

    def max_cost(self, request: Request, price: Price) -> float:
        """The most that a call can cost as far as is known."""
        written = max(most_written(request), self.longest)
        bound = price.of(most_read(request) + self.hidden, written)
        return bound if self.has_bound(request) else max(bound, self.dearest)

    def has_bound(self, request: Request) -> bool:
        """Whether that is a bound: a cap is sent, and no reply has passed it.

        Otherwise it is an estimate.
        """
        return self.is_bounded and is_bounded(request) and CAPS.isdisjoint(request.without)


def _was_capped(cap: int, reply: Reply) -> bool:
    """Whether a cap was sent, and the reply is no longer than it."""
    return not CAPS.isdisjoint(reply.sent) and reply.usage.get("out", 0) <= cap


def _amount(dollars: float, rounded: Callable[[float], int]) -> str:
    """US dollars to three digits, and no more than to the cent.

    Rounded so that what does not fit is seen not to fit.

    >>> _amount(0.050612, math.ceil), _amount(12.345, math.floor), _amount(0.0, math.floor)
    ('0.0507', '12.34', '0.00')
    """
    places = 2 if dollars <= 0 else min(max(2, 2 - math.floor(math.log10(dollars))), _MOST_PLACES)
    return f"{rounded(round(dollars * 10**places, 6)) / 10**places:,.{places}f}"
