"""Asking a vendor again where it is busy or fails, with growing pauses."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from konsil.collect.providers.provider import BusyError, CallError, ServerError
from konsil.collect.running.limits import back_off
from konsil.errors import CollectError

T = TypeVar("T")
_MOST_BUSY = 200
"""A vendor that was busy so often in a row, with pauses of up to a minute, is given up."""


class Patience:
    """How failures of a batch interface are met."""

    def __init__(self, tries: int, back_off_seconds: float) -> None:
        self._tries = tries
        self._base = back_off_seconds
        self._rng = random.Random()  # noqa: S311 - jitter: two clients must not draw the same
        self._failures = 0
        self._n_busy = 0

    async def pause(self, error: CallError, endpoint: str) -> None:
        """Wait before the next try, or raise where there is none."""
        if isinstance(error, BusyError):
            self._n_busy += 1
            is_last, n = self._n_busy >= _MOST_BUSY, self._n_busy
        elif isinstance(error, ServerError):
            self._failures += 1
            is_last, n = self._failures >= self._tries, self._failures
        else:
            raise CollectError(str(error)) from None
        if is_last:
            raise CollectError(
                f"endpoint {endpoint!r}: its batch interface failed {n:,} times, last error:"
                f" {error}; batches under way are not lost: run the command again"
            ) from None
        await asyncio.sleep(back_off(n, error.retry_after, self._rng, self._base))


async def patiently(
    action: Callable[[], Awaitable[T]], *, endpoint: str, tries: int, back_off_seconds: float
) -> T:
    """Do what can be done any number of times until it succeeds."""
    patience = Patience(tries, back_off_seconds)
    while True:
        try:
            return await action()
        except CallError as error:
            await patience.pause(error, endpoint)
