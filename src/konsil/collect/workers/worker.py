"""One of several workers, as this process is: its lease, reservations and what it gives back."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from konsil.collect.running.budget import Budget
from konsil.collect.running.lanes import Progress
from konsil.errors import StoreError
from konsil.records import Call
from konsil.store.calls.leases import Leases, Offer
from konsil.store.calls.reservations import (
    Corrections,
    Grant,
    Reservation,
    give_up_places,
    reserve,
)

RENEWALS = 4
"""So often a lease is renewed within its length."""
LONGEST_BETWEEN = 5.0
"""Seconds between two renewals, at most: then the progress of all is looked at as well."""
POLL = 0.2
"""Seconds after which a call that waits for a place or for money asks again."""
_SHORTEST = 0.02


@dataclass(slots=True, eq=False)
class _Waiting:
    reservation: Reservation
    granted: asyncio.Future[Grant]
    is_cancelled: bool = False


class Worker:
    """One process's part: two threads, for the lease and for reservations in groups."""

    def __init__(
        self,
        leases: Leases,
        callees: Collection[str],
        *,
        budget: Budget,
        progress: Progress,
        limit: int | None = None,
    ) -> None:
        self.leases, self.budget, self.progress = leases, budget, progress
        self._callees, self._limit = tuple(callees), limit
        self._n_taken = 0
        self._in_progress: set[str] = set()
        self._was_expired = False
        self._lock = threading.Lock()
        self._fetching = threading.Lock()
        self._wake = threading.Event()
        self._is_ending = threading.Event()
        self._new: list[_Waiting] = []
        self._unsent: set[str] = set()
        self._returned: set[str] = set()
        self._corrections = Corrections()
        self._threads = [
            threading.Thread(target=run, name=f"konsil-{name}", daemon=True)
            for name, run in (("lease", self._keep_lease), ("reservations", self._run))
        ]

    def start(self) -> None:
        """Begin to renew the lease and to reserve."""
        self.look_around()
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the threads and give all works back at once; a second time nothing happens."""
        if self._is_ending.is_set():
            return
        self._is_ending.set()
        self._wake.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
        self.look_around()
        self.leases.release_all()

    # Works

    def fetch(
        self, callees: Collection[str], n: int, foreign: Collection[str]
    ) -> tuple[list[Offer], int]:
        """Take at most n works, and where there are none count those that may still come.

        Others hold these, or gave them back this moment. It waits for the database: call it in a
        thread.
        """
        # One lane at a time, so that together they stay within the limit of this run.
        with self._fetching:
            with self._lock:
                if self._limit is not None:
                    n = min(n, self._limit - self._n_taken)
                # What is still under way here from a lease that ran out is not begun again.
                but = {*foreign, *(self._in_progress if self._was_expired else ())}
            if n <= 0:
                return [], 0
            offers = self.leases.take(callees, n, but=but)
            with self._lock:
                self._n_taken += len(offers)
                self._in_progress.update(offer.work for offer in offers)
        return offers, 0 if offers else self.leases.remaining(callees, but=but)[1]

    def leave(self, work: str, *, is_ended: bool) -> None:
        """Be done with a work; where it has not ended, it goes back."""
        with self._lock:
            self._in_progress.discard(work)
            if not is_ended:
                self._n_taken -= 1
                self._returned.add(work)
        if not is_ended:
            self._wake.set()

    def store(self, calls: Sequence[Call]) -> None:
        """Store calls; their places and what is left of their money are free again."""
        self.leases.append(calls)
        self._wake.set()

    # Reservations

    async def reserve(self, reservation: Reservation) -> Grant:
        """Wait until a call may be sent, or must not be."""
        waiting = _Waiting(reservation, asyncio.get_running_loop().create_future())
        with self._lock:
            self._new.append(waiting)
        self._wake.set()
        try:
            grant = await waiting.granted
            if grant.verdict == "go" and grant.seconds > 0:
                await asyncio.sleep(grant.seconds)
        # Whatever was reserved meanwhile is let go: the call is not sent.
        except asyncio.CancelledError:
            waiting.is_cancelled = True
            with self._lock:
                self._unsent.add(reservation.work)
            self._wake.set()
            raise
        return grant

    def correct(self, endpoint: str, seconds: float) -> None:
        """Note that a reply had more tokens than expected, as seconds until the next one."""
        with self._lock:
            stored = self._corrections.token_seconds
            stored[endpoint] = stored.get(endpoint, 0.0) + seconds

    def pause(self, endpoint: str, seconds: float) -> None:
        """Note that an endpoint asks for patience: no worker calls it meanwhile."""
        with self._lock:
            stored = self._corrections.pauses
            stored[endpoint] = max(stored.get(endpoint, 0.0), seconds)
        self._wake.set()

    def _run(self) -> None:
        pending: list[_Waiting] = []
        pause: float | None = None
        is_last = False
        while not is_last:
            self._wake.wait(pause)
            self._wake.clear()
            # What was not sent or not begun is let go in the last round, too.
            is_last = self._is_ending.is_set()
            with self._lock:
                pending += self._new
                unsent, returned, corrections = self._unsent, self._returned, self._corrections
                self._new, self._unsent, self._returned = [], set(), set()
                self._corrections = Corrections()
            pending = [] if is_last else [w for w in pending if not w.is_cancelled]
            try:
                if unsent:
                    give_up_places(self.leases, unsent)
                if returned:
                    self.leases.release(returned)
                pending, pause = self._reserve(pending, corrections)
            # Handed to those who wait, whatever it is.
            except Exception as error:  # noqa: BLE001
                for waiting in pending:
                    _notify(waiting, error)
                pending, pause = [], None

    def _reserve(
        self, pending: list[_Waiting], corrections: Corrections
    ) -> tuple[list[_Waiting], float | None]:
        if not pending and not corrections:
            return [], None
        answer = reserve(self.leases, [w.reservation for w in pending], corrections)
        self.budget.spent = answer.spent
        n_remaining, hints = [], []
        for waiting, grant in zip(pending, answer.grants, strict=True):
            if grant.verdict == "wait":
                n_remaining.append(waiting)
                hints.append(grant.seconds or POLL)
            else:
                _notify(waiting, grant)
        return n_remaining, max(_SHORTEST, min(hints)) if hints else None

    # The lease

    def _keep_lease(self) -> None:
        pause = min(self.leases.seconds / RENEWALS, LONGEST_BETWEEN)
        while not self._is_ending.wait(pause):
            # A database that is away for a moment is no reason to stop: the lease lasts longer.
            with contextlib.suppress(StoreError):
                self._was_expired |= not self.leases.renew()
                self.leases.reap()
                self.look_around()

    def look_around(self) -> None:
        """Bring up to date what others have done meanwhile."""
        n_remaining, _ = self.leases.remaining(self._callees)
        self.progress.elsewhere = max(0, self.progress.total - self.progress.ended - n_remaining)


def _notify(waiting: _Waiting, grant: Grant | Exception) -> None:
    future = waiting.granted

    def settle() -> None:
        if future.done():  # cancelled meanwhile
            return
        if isinstance(grant, Exception):
            future.set_exception(grant)
        else:
            future.set_result(grant)

    # Where the loop is closed nobody waits any more.
    with contextlib.suppress(RuntimeError):
        future.get_loop().call_soon_threadsafe(settle)
