"""A budget that calls under way hold their shares of, and what each model's calls have taught about their size."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from konsil.collect.providers.provider import Reply, Request
from konsil.collect.running.prices import Price, most_read, most_written, tokens_of

NEAR_THE_END = 5
"""With less left than so many of the dearest call, calls without a cap go one at a time."""


class Budget:
    """US dollars that may be spent; what is under way counts as if it cost as much as it can."""

    def __init__(self, most: float | None, spent: float = 0.0) -> None:
        self.most = most
        self.spent = spent
        """The price of what has come back."""
        self.held = 0.0
        """The most that what is under way can cost."""
        self.n_held = 0
        """Calls under way."""
        self._waiting: list[asyncio.Future[None]] = []

    def hold(self, amount: float) -> bool:
        """Set an amount aside, or say that it would pass the budget."""
        if self.most is not None and self.spent + self.held + amount > self.most:
            return False
        self.held += amount
        self.n_held += 1
        return True

    async def reserve(self, amount: float, *, is_capped: bool = True) -> bool:
        """Set an amount aside, if need be once calls under way have ended.

        False: nothing is left for it.
        """
        while True:
            left = float("inf") if self.most is None else self.most - self.spent
            if is_capped or not self.n_held or left >= NEAR_THE_END * amount:
                if self.hold(amount):
                    return True
                if not self.n_held:
                    return False
            await self.change()

    async def change(self) -> None:
        """Wait until a call under way has ended."""
        ticket = asyncio.get_running_loop().create_future()
        self._waiting.append(ticket)
        await ticket

    @property
    def reason(self) -> str:
        """Why no further call begins, as a sentence for the summary."""
        if self.most is not None and self.spent > self.most:
            return (
                f"the budget of {self.most:g} US dollars has been passed: an endpoint billed more"
                f" than a call's text can have, {self.spent:,.2f} US dollars in all"
            )
        return f"the next call could pass the budget of {self.most or 0.0:g} US dollars"

    def settle_cost(self, amount: float, cost: float) -> None:
        """Give back what was set aside and count what it cost."""
        self.held = max(0.0, self.held - amount) if self.n_held > 1 else 0.0
        self.n_held -= 1
        self.spent += cost
        waiting, self._waiting = self._waiting, []
        for ticket in waiting:
            if not ticket.done():
                ticket.set_result(None)


@dataclass(slots=True)
class Meter:
    """What the calls of one model were like: the dearest, and the tokens that the endpoint counts beyond ours."""

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
    _ratios: list[float] = field(default_factory=lambda: [0.0, 0.0])

    def learn(self, request: Request, reply: Reply, cost: float) -> None:
        """Take in what a reply has cost."""
        self.is_taught = True
        self.dearest = max(self.dearest, cost)
        self.longest = max(self.longest, reply.usage.get("out", 0))
        self.hidden = max(self.hidden, reply.usage.get("in", 0) - most_read(request))
        self._ratios[0] += sum(reply.usage.get(name, 0) for name in ("in", "out"))
        self._ratios[1] += tokens_of(request) + most_written(request)

    def expected(self, request: Request) -> int:
        """The tokens that a call will probably have, for limits a minute."""
        own = tokens_of(request) + most_written(request)
        counted, estimated = self._ratios
        return own if not counted or not estimated else max(1, round(own * counted / estimated))

    def most(self, request: Request, price: Price) -> float:
        """The most that a call can cost as far as is known."""
        written = max(most_written(request), self.longest)
        return max(price.of(most_read(request) + max(0, self.hidden), written), self.dearest)
