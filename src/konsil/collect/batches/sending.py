"""From works to batches: the intention is stored, then the batch is sent, then its id is stored.

A run that is killed in between finds the intention, and looks for the batch in the vendor's list.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from konsil.collect.batches.batch_lanes import BatchLane, Pace
from konsil.collect.batches.courses import course_of
from konsil.collect.batches.interface import Caps, Intent, Receipt, token_of
from konsil.collect.batches.transfer import Patience, patiently
from konsil.collect.providers.provider import BusyError, CallError, ServerError
from konsil.collect.running.budget import Budget
from konsil.collect.running.lanes import Progress
from konsil.collect.running.prices import FREE
from konsil.collect.running.works import Work, now
from konsil.errors import CollectError, option
from konsil.store.calls.batches import Batches, BatchRecord, BatchWork

PRESUMED = "presumed"
"""Note of a batch that was found in the list of a vendor that stores no id of ours with it."""
_EARLIER = 500


def _batch_id() -> str:
    return secrets.token_hex(12)


@dataclass(slots=True)
class _Part:
    """A batch while it is put together."""

    id: str = field(default_factory=_batch_id)
    lines: list[bytes] = field(default_factory=list)
    works: list[BatchWork] = field(default_factory=list)
    size: int = 0
    amount: float = 0.0

    def is_full(self, size: int, caps: Caps) -> bool:
        """Whether one more request of this size has no room."""
        return bool(self.lines) and (
            len(self.lines) >= caps.requests or self.size + size > caps.size
        )

    def add(self, line: bytes, work: BatchWork, amount: float) -> None:
        """Add a request with what it can cost."""
        self.lines.append(line)
        self.works.append(work)
        self.size += len(line)
        self.amount += amount


class Sender:
    """Sends what is to be asked, within the budget."""

    def __init__(self, batches: Batches, budget: Budget, progress: Progress, pace: Pace) -> None:
        self._batches, self._budget, self._progress = batches, budget, progress
        self._pace = pace

    async def send(self, lane: BatchLane) -> None:
        """Send all that a lane has to ask, in as many batches as the vendor's limits need."""
        self._progress.stopped = ""
        try:
            async for part in self._parts(lane):
                await self._send(lane, part)
        except CallError as error:  # a request that cannot be written
            raise CollectError(str(error)) from None

    async def resolve(self, lane: BatchLane, record: BatchRecord) -> BatchRecord:
        """Find out whether an intended batch was sent; if it was not, its requests are asked."""
        # Its sender may have been killed a moment ago: the vendor's list may not have it yet.
        await asyncio.sleep(self._pace.grace)
        receipt = await self._receipt(lane, record)
        if receipt is not None:
            return self._store_receipt(record.id, receipt, is_certain=lane.interface.is_named)
        lane.again += without_attempt(self._batches.works(record.id))
        return self._batches.update(record.id, state="dropped", ended_at=now())

    async def _receipt(self, lane: BatchLane, record: BatchRecord) -> Receipt | None:
        return await patiently(
            lambda: self._resumed(lane, record),
            endpoint=lane.endpoint,
            tries=lane.tries,
            back_off_seconds=self._pace.back_off,
        )

    async def _resumed(self, lane: BatchLane, record: BatchRecord) -> Receipt | None:
        rejected = frozenset({*record.rejected.split(), *self._batches.vendor_ids()})
        return await lane.interface.resume(replace(_intent_of(record), rejected=rejected))

    async def _parts(self, lane: BatchLane) -> AsyncIterator[_Part]:
        part = _Part()
        for works in self._chunks(lane):
            earlier = self._batches.earlier({work.id for work in works if work.attempts})
            for n, work in enumerate(works):
                request = course_of(work, earlier.get(work.id, [])).request
                amount = lane.meter.max_cost(request, lane.price or FREE)
                if not self._fits(part.amount + amount):
                    # They wait until batches have ended that cost less than was set aside.
                    lane.again += [BatchWork(w.id, w.attempts, w.subject) for w in works[n:]]
                    self._progress.stopped = self._refusal(lane, part.amount)
                    if part.lines:
                        yield part
                    return
                line = await lane.interface.line(token_of(part.id, len(part.lines)), request)
                if part.is_full(len(line), lane.interface.caps):
                    yield part
                    part = _Part()
                    line = await lane.interface.line(token_of(part.id, 0), request)
                part.add(line, BatchWork(work.id, work.attempts + 1, work.subject), amount)
        if part.lines:
            yield part

    def _fits(self, amount: float) -> bool:
        budget = self._budget
        return budget.limit is None or budget.spent + budget.reserved + amount <= budget.limit

    def _refusal(self, lane: BatchLane, amount: float) -> str:
        limit, reserved = self._budget.limit or 0.0, self._budget.reserved + amount
        return (
            f"the budget of {limit:g} US dollars does not suffice for the next request of"
            f" {lane.callee!r}: {self._budget.spent:,.2f} are spent, and batches under way can"
            f" cost {reserved:,.2f}; run the command again when they have ended, or raise"
            f" {option('budget')}"
        )

    def _chunks(self, lane: BatchLane) -> Iterator[list[Work]]:
        """What is to be asked, some works at a time."""
        again, lane.again = lane.again, []
        works = (work for entry in again if (work := lane.work_of(entry)) is not None)
        drawn = chain(works, lane.pending)
        while chunk := list(islice(drawn, _EARLIER)):
            yield chunk

    async def _send(self, lane: BatchLane, part: _Part) -> None:
        record = BatchRecord(
            part.id,
            lane.kind,
            lane.callee,
            lane.endpoint,
            lane.model,
            len(part.works),
            part.amount,
            now(),
        )
        self._budget.hold(part.amount)
        # From here on a run that is killed leaves a trace by which the batch is found.
        self._batches.insert(record, part.works)
        receipt, is_certain = await self._submitted(lane, record, part.lines)
        self._store_receipt(record.id, receipt, is_certain=is_certain)

    async def _submitted(
        self, lane: BatchLane, record: BatchRecord, lines: list[bytes]
    ) -> tuple[Receipt, bool]:
        """The vendor's receipt, and whether it is certainly of this batch."""
        patience = Patience(lane.tries, self._pace.back_off)
        while True:
            try:
                return await lane.interface.submit(_intent_of(record), lines), True
            except (BusyError, ServerError) as error:
                failure = error
            except CallError as error:
                # The vendor refuses it: there is no such batch.
                self._batches.update(
                    record.id, state="dropped", ended_at=now(), note=str(error)[:200]
                )
                raise CollectError(str(error)) from None
            await patience.pause(failure, lane.endpoint)
            if failure.status == 429:
                continue
            # The line broke, or the vendor failed after it had taken the batch: it may be there.
            await asyncio.sleep(self._pace.grace)
            receipt = await self._receipt(lane, record)
            if receipt is not None:
                return receipt, lane.interface.is_named

    def _store_receipt(self, batch: str, receipt: Receipt, *, is_certain: bool) -> BatchRecord:
        return self._batches.update(
            batch,
            state="under way",
            vendor_id=receipt.vendor_id,
            submitted_at=now(),
            expires_at=receipt.expires_at,
            note="" if is_certain else PRESUMED,
        )


def without_attempt(works: Sequence[BatchWork]) -> list[BatchWork]:
    """The requests of a batch that was never worked on, with the attempts before it."""
    return [BatchWork(work.work, work.attempt - 1, work.subject) for work in works]


def _intent_of(record: BatchRecord) -> Intent:
    return Intent(record.id, record.model, record.requests, record.created_at)
