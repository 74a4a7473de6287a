"""One run by batches: send, ask how far they are, store results, send what is left, and so on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from konsil.collect.batches.batch_lanes import BatchLane, BatchOptions
from konsil.collect.batches.interface import Condition
from konsil.collect.batches.results import Gatherer
from konsil.collect.batches.sending import PRESUMED, Sender, without_attempt
from konsil.collect.batches.transfer import MissingError, patiently
from konsil.collect.providers.provider import CallError
from konsil.collect.running.budget import Budget
from konsil.collect.running.lanes import Progress
from konsil.collect.running.works import now
from konsil.errors import CollectError, option
from konsil.records import Call
from konsil.store.calls.batches import Batches, BatchRecord

T = TypeVar("T")
LIFETIME = timedelta(days=29)
"""After so long no vendor has results of a batch any more."""


_TOO_LATE = (400, 409, 412)
"""Statuses with which vendors refuse to cancel what cannot be cancelled any more."""


class BatchRun:
    """The batches of several callees."""

    def __init__(
        self,
        batches: Batches,
        write: Callable[[Sequence[Call]], None],
        *,
        budget: Budget,
        progress: Progress,
        options: BatchOptions,
        settle: Callable[[], None],
    ) -> None:
        """`settle` makes records of the replies of a batch when they are stored."""
        self._batches, self._settle = batches, settle
        self._progress, self._options, self._budget = progress, options, budget
        self._sender = Sender(batches, budget, progress, options.pace)
        self._gatherer = Gatherer(batches, write, budget, progress)
        self._foreign: dict[str, str] = {}
        """Batch with requests that the protocol does not have -> the sentence about it."""

    async def run(self, lanes: Sequence[BatchLane]) -> None:
        """Do all that can be done; raises a CollectError where the user must act."""
        try:
            for _, record in self._unfinished(lanes):
                self._budget.reserved += record.reserved
                self._budget.n_reserved += 1
            await self._rounds(lanes)
        finally:
            for lane in lanes:
                await lane.interface.close()
            records = [record for _, record in self._unfinished(lanes)]
            self._progress.batches = len(records)
            self._progress.in_batches = sum(record.requests for record in records)
            self._progress.waiting = self._progress.in_batches
        errors = [*self._foreign.values(), *self._of_other_models(lanes)]
        errors += [lane.account_error for lane in lanes if lane.account_error]
        errors += [
            f"endpoint {lane.endpoint!r}: refused a batch of {lane.callee!r}: {lane.refusal}"
            for lane in lanes
            if lane.refused
        ]
        if errors:
            raise CollectError("; ".join(dict.fromkeys(errors)))

    async def _rounds(self, lanes: Sequence[BatchLane]) -> None:
        pace = self._options.pace
        pause = pace.first
        is_first = True
        while True:
            n_calls = self._progress.calls
            for lane, record in self._open(lanes):
                await self._look(lane, record, is_cancelled=is_first and self._is_cancelling)
            for lane in [] if self._is_cancelling else lanes:
                await self._send(lane, is_first=is_first)
            is_first = False
            if not self._options.is_waiting or not self._open(lanes):
                return
            pause = pace.first if self._progress.calls > n_calls else pause
            await asyncio.sleep(pause)
            pause = min(pace.longest, 1.5 * pause)

    @property
    def _is_cancelling(self) -> bool:
        return self._options.is_cancelling

    async def _send(self, lane: BatchLane, *, is_first: bool) -> None:
        """Send what a lane has to ask: at first all of it, then a round when one has ended."""
        is_stopped = bool(lane.account_error) or lane.callee in self._progress.hopeless
        if not is_stopped and (is_first or not self._open([lane])):
            await self._sender.send(lane)

    def _unfinished(self, lanes: Sequence[BatchLane]) -> list[tuple[BatchLane, BatchRecord]]:
        by_callee = {(lane.callee, lane.endpoint, lane.model): lane for lane in lanes}
        return [
            (by_callee[key], record)
            for record in (self._batches.unfinished(lanes[0].kind) if lanes else ())
            if (key := (record.who, record.endpoint, record.model)) in by_callee
        ]

    def _of_other_models(self, lanes: Sequence[BatchLane]) -> Iterator[str]:
        """Say which batches went to another model than that of the protocol."""
        current = {record.id for _, record in self._unfinished(lanes)}
        callees = {lane.callee for lane in lanes}
        for record in self._batches.unfinished(lanes[0].kind) if lanes else ():
            if record.who in callees and record.id not in current:
                yield (
                    f"a batch of {record.who!r} was sent to {record.endpoint}:{record.model};"
                    " restore this model in the protocol to store its replies"
                )

    def _open(self, lanes: Sequence[BatchLane]) -> list[tuple[BatchLane, BatchRecord]]:
        """The batches that something can come of in this run."""
        return [pair for pair in self._unfinished(lanes) if pair[1].id not in self._foreign]

    async def _look(self, lane: BatchLane, record: BatchRecord, *, is_cancelled: bool) -> None:
        """See how far a batch is; store its results where it has ended."""
        if record.state == "intended":
            record = await self._sender.resolve(lane, record)
            if record.state == "dropped":
                self._gatherer.settle(lane, record)
                return
        condition = await self._condition(lane, record)
        if condition.state == "under way" and is_cancelled:
            await self._patiently(lane, lambda: _cancelled(lane, record))
            condition = await self._condition(lane, record)
        if condition.state == "under way":
            if condition.expires_at and condition.expires_at != record.expires_at:
                self._batches.update(record.id, expires_at=condition.expires_at)
        elif condition.state == "failed":
            self._refuse(lane, record, condition.error)
        else:
            await self._store(lane, record, condition)

    async def _condition(self, lane: BatchLane, record: BatchRecord) -> Condition:
        async def ask() -> Condition:
            try:
                return await lane.interface.condition(record.vendor_id)
            except MissingError:
                age = datetime.now(UTC) - datetime.fromisoformat(record.submitted_at)
                if age < LIFETIME:
                    raise
                return Condition("expired")

        return await self._patiently(lane, ask)

    async def _patiently(self, lane: BatchLane, action: Callable[[], Awaitable[T]]) -> T:
        return await patiently(
            action,
            endpoint=lane.endpoint,
            tries=lane.tries,
            back_off_seconds=self._options.pace.back_off,
        )

    def _refuse(self, lane: BatchLane, record: BatchRecord, error: str) -> None:
        """A batch that was refused as a whole: its requests wait until another one has ended."""
        self._batches.update(record.id, state="failed", ended_at=now(), note=error)
        self._gatherer.settle(lane, record)
        lane.refusal = error
        lane.refused += without_attempt(self._batches.works(record.id))

    async def _store(self, lane: BatchLane, record: BatchRecord, condition: Condition) -> None:
        gathered = await self._patiently(
            lane, lambda: self._gatherer.gather(lane, record, condition)
        )
        is_other = gathered.n_foreign > 0 and not gathered.n_answered
        if is_other and record.note == PRESUMED:
            # The batch is another one of the same size: ours is looked for again.
            self._batches.update(
                record.id,
                state="intended",
                vendor_id="",
                note="",
                rejected=f"{record.rejected} {record.vendor_id}".strip(),
            )
            return
        if condition.state != "cancelled":
            await self._gatherer.store_absent(
                lane, gathered, has_expired=condition.state == "expired"
            )
        self._settle()
        self._gatherer.settle(lane, record)
        if gathered.n_unasked and condition.state == "ended" and not self._is_cancelling:
            self._foreign[record.id] = (
                f"{gathered.n_unasked:,} requests in a batch of {lane.callee!r} are not those of"
                " the protocol any more; restore the earlier settings to store their replies, or"
                f" discard them with {option('cancel_batches')}"
            )
            return
        state = "cancelled" if self._is_cancelling else condition.state
        self._batches.update(record.id, state=state, ended_at=now())
        lane.again += self._gatherer.unended(record)
        if gathered.n_answered:
            lane.again += lane.refused
            lane.refused = []


async def _cancelled(lane: BatchLane, record: BatchRecord) -> None:
    try:
        await lane.interface.cancel(record.vendor_id)
    except CallError as error:
        # It has ended meanwhile, or is being cancelled already.
        if error.status not in _TOO_LATE:
            raise
