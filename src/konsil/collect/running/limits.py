"""How many calls an endpoint gets at once: stated limits, and fewer while it is busy."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from konsil.study.sections.calling import Endpoint

BACK_OFF = 0.5
"""Seconds of the first back-off; doubled with each failure."""
LONGEST = 60.0
"""No back-off of ours is longer; what the endpoint asks for is followed up to LONGEST_ASKED."""
LONGEST_ASKED = 600.0
BUSY_PAUSES = 4
"""A work that was put off grows its own pause so often; from then on the pace of the endpoint
decides."""
_FIRST_GAP = 0.2
"""Of the first back-off: the seconds between two calls, the first time that one call at a time is
too many."""


def back_off(
    failures: int, retry_seconds: float | None, rng: random.Random, base: float = BACK_OFF
) -> float:
    """Draw the pause after so many failures, at least what the endpoint asked for.

    Full jitter: many clients that failed together must not come back together.
    """
    # Between zero and the whole pause: clients that failed together must not return together.
    pause = rng.uniform(0.0, min(LONGEST, base * 2.0 ** min(failures - 1, 20)))
    return max(pause, min(retry_seconds, LONGEST_ASKED)) if retry_seconds is not None else pause


class Limiter:
    """The turnstile of one endpoint, or of one model behind the endpoint's own, its gate.

    Providers limit each model by itself, so that one model's refusals must not slow the pace of its
    neighbours. The number of calls under way is halved when the endpoint says it is busy (once for
    all calls that were under way together) and grows by one for each full round of good replies, up
    to the stated concurrency. Where one call at a time is too many, a gap between two calls
    doubles, and shrinks with good replies.
    """

    def __init__(
        self,
        limits: Endpoint,
        clock: Callable[[], float] | None = None,
        base: float = BACK_OFF,
        gate: Limiter | None = None,
    ) -> None:
        # The stated limits are those of the whole endpoint: the gate keeps them where several
        # models share it.
        self.limits = (
            limits
            if gate is None
            else replace(limits, requests_per_minute=None, tokens_per_minute=None)
        )
        self._gate = gate
        self.allowed = float(limits.concurrency)
        """Calls that may be under way now."""
        self.active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._pause_until = 0.0
        self._next_request = 0.0
        self._next_token = 0.0
        self._halved_at = float("-inf")
        self._first_gap = base * _FIRST_GAP
        self._longest_gap = base * LONGEST / BACK_OFF
        self.gap = 0.0
        """Seconds between the beginnings of two calls, beside the stated limits."""
        self._next_call = 0.0

    def turn(self, tokens: int) -> Turn:
        """Wait for a turn with so many tokens, hold it, and give it back.

        `async with` gives the time it began at.
        """
        return Turn(self, tokens)

    async def enter(self, tokens: int) -> float:
        """Wait for a turn and take it; gives the time at which it began."""
        await self._slot()
        try:
            # Others may have moved the time on while this one slept.
            while (pause := self._pause()) > 0:
                await asyncio.sleep(pause)
            if self._gate is not None:
                await self._gate.enter(tokens)
        # Cancelled while it waited: the place is given back.
        except BaseException:
            self._release()
            raise
        began = self._clock()
        self._next_call = began + self.gap
        if self.limits.requests_per_minute:
            self._next_request = (
                max(self._next_request, began) + 60.0 / self.limits.requests_per_minute
            )
        if self.limits.tokens_per_minute:
            self._next_token = (
                max(self._next_token, began) + 60.0 * tokens / self.limits.tokens_per_minute
            )
        return began

    def leave(self) -> None:
        """Give a turn back."""
        if self._gate is not None:
            self._gate.leave()
        self._release()

    def _release(self) -> None:
        self.active -= 1
        self._wake()

    async def _slot(self) -> None:
        while self.active >= max(1, int(self.allowed)):
            ticket = asyncio.get_running_loop().create_future()
            self._waiting.append(ticket)
            try:
                await ticket
            except asyncio.CancelledError:
                # A turn that was offered to somebody who has left goes to the next one.
                if ticket.done() and not ticket.cancelled():
                    self._wake()
                raise
        self.active += 1

    def _wake(self) -> None:
        free = max(1, int(self.allowed)) - self.active
        while self._waiting and free > 0:
            ticket = self._waiting.popleft()
            if not ticket.done():
                ticket.set_result(None)
                free -= 1

    def _pause(self) -> float:
        return (
            max(self._pause_until, self._next_call, self._next_request, self._next_token)
            - self._clock()
        )

    def correct(self, expected: int, counted: int) -> None:
        """Count the tokens that a call really had, in the place of those that were expected."""
        if self._gate is not None:
            self._gate.correct(expected, counted)
        if self.limits.tokens_per_minute:
            self._next_token += 60.0 * (counted - expected) / self.limits.tokens_per_minute

    def good(self) -> None:
        """Note a reply: a little more may be asked at once, and a little sooner."""
        if self.gap:
            self.gap = self.gap * 0.9 if self.gap > 0.1 * self._first_gap else 0.0
        elif self.allowed < self.limits.concurrency:
            self.allowed = min(float(self.limits.concurrency), self.allowed + 1.0 / self.allowed)
            self._wake()

    def busy(self, began: float, retry_seconds: float | None) -> None:
        """Note that the endpoint was busy for a call that began then.

        Fewer calls follow, after a pause where the endpoint asks for one.
        """
        now = self._clock()
        # Calls that began before the last halving report the same overload.
        if began > self._halved_at:
            if self.allowed < 2.0:
                self.gap = min(self._longest_gap, max(self._first_gap, 2.0 * self.gap))
                self._next_call = max(self._next_call, now + self.gap)
            self.allowed = max(1.0, self.allowed / 2.0)
            self._halved_at = now
        if retry_seconds is not None:
            self._pause_until = max(self._pause_until, now + min(retry_seconds, LONGEST_ASKED))


class Turn:
    """One turn at an endpoint, held while the block runs.

    A class, as thousands are taken in a second.
    """

    __slots__ = ("_limiter", "_tokens")

    def __init__(self, limiter: Limiter, tokens: int) -> None:
        self._limiter = limiter
        self._tokens = tokens

    async def __aenter__(self) -> float:
        return await self._limiter.enter(self._tokens)

    async def __aexit__(self, *_details: object) -> None:
        self._limiter.leave()
