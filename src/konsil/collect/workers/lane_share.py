"""One lane of a worker: its works as it takes them, and its endpoint's limits."""

from __future__ import annotations

import asyncio
import hashlib
import socket
from collections import deque
from collections.abc import Callable, Collection
from typing import Literal
from urllib.parse import urlsplit

from konsil.collect.running.works import Work
from konsil.collect.workers.worker import Worker
from konsil.store.calls.leases import Offer
from konsil.store.calls.reservations import Allowance, Reservation
from konsil.study.sections.calling import FAKE, Endpoint

MOST_AT_ONCE = 32
"""Works taken at once, at most: a killed worker keeps the others waiting for few."""
LOOK_AGAIN = 1.0
"""Seconds after which a worker without works looks whether those of others came back."""
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def limits_key(endpoint: Endpoint, worker: str) -> str:
    """Name an endpoint where its limits are kept.

    A server on this machine is another one on every machine, so a digest of the machine's name
    belongs to it; a scripted model is a part of each worker.
    """
    if endpoint.id == FAKE:
        return f"{FAKE} in {worker}"
    if urlsplit(endpoint.url).hostname not in _LOOPBACK:
        return endpoint.id
    machine = hashlib.sha256(f"konsil {socket.gethostname()}".encode()).hexdigest()[:8]
    return f"{endpoint.id} on {machine}"


class LaneShare:
    """Where a lane of this worker meets those of the others."""

    def __init__(
        self,
        worker: Worker,
        endpoint: Endpoint,
        callees: Collection[str],
        build: Callable[[Offer], Work | None],
        *,
        stopped: Collection[str],
        doubtful: Collection[Work],
    ) -> None:
        """`build` makes a work of what was offered, or says that this protocol has none such."""
        self._worker, self._build = worker, build
        self._callees, self._stopped, self._doubtful = tuple(callees), stopped, doubtful
        self._endpoint = limits_key(endpoint, worker.leases.worker)
        self._allowance = Allowance(
            endpoint.concurrency, endpoint.requests_per_minute, endpoint.tokens_per_minute
        )
        self._batch = min(endpoint.concurrency, MOST_AT_ONCE)
        self._taken: deque[Offer] = deque()
        self._foreign: set[str] = set()
        self._lock = asyncio.Lock()
        self._is_exhausted = False

    async def take(self) -> Work | None:
        """The next work; None where all have ended, or are done by others.

        Where other workers still hold some, it waits: if one is killed, its works come back.
        """
        async with self._lock:
            while not self._is_exhausted:
                while self._taken:
                    offer = self._taken.popleft()
                    work = None if offer.callee in self._stopped else self._build(offer)
                    if work is not None:
                        return work
                    self._foreign.add(offer.work)
                    self._worker.leave(offer.work, is_ended=False)
                callees = [name for name in self._callees if name not in self._stopped]
                if not callees:
                    return None
                offers, n_to_come = await asyncio.to_thread(
                    self._worker.fetch, callees, self._batch, self._foreign
                )
                self._taken.extend(offers)
                if offers:
                    continue
                # Doubtful works of this lane are held here: two workers must not wait for each
                # other's.
                if self._doubtful:
                    return None
                if not n_to_come:
                    self._is_exhausted = True
                    return None
                await asyncio.sleep(LOOK_AGAIN)
        return None

    def leave(self, work: Work, *, is_ended: bool) -> None:
        """Be done with a work; where it has not ended, it goes back."""
        self._worker.leave(work.id, is_ended=is_ended)

    def close(self) -> None:
        """Give back what was taken and not begun: this lane calls nobody any more."""
        self._is_exhausted = True
        while self._taken:
            self._worker.leave(self._taken.popleft().work, is_ended=False)

    async def reserve(
        self, work: Work, *, tokens: int, dollars: float, is_capped: bool
    ) -> Literal["go", "no money", "lost"]:
        """Wait until a call may be sent: the endpoint has a place, and the budget room."""
        grant = await self._worker.reserve(
            Reservation(
                work.id,
                self._endpoint,
                self._allowance,
                tokens,
                dollars,
                self._worker.budget.limit,
                is_capped,
            )
        )
        assert grant.verdict != "wait"
        return grant.verdict

    def correct(self, expected: int, counted: int) -> None:
        """Count the tokens that a call really had, in the place of those that were expected."""
        rate = self._allowance.tokens_per_minute
        if rate:
            self._worker.correct(self._endpoint, 60.0 * (counted - expected) / rate)

    def pause(self, seconds: float) -> None:
        """Note that the endpoint asks for patience."""
        self._worker.pause(self._endpoint, seconds)
