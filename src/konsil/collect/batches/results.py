"""From the results of a batch to calls: each request once, whatever the order and the duplicates.

What is stored is never stored again, so that a run that is killed here reads the results anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from konsil.collect.batches.batch_lanes import BatchLane
from konsil.collect.batches.courses import Verdict, course_of, is_of_account, verdict_of
from konsil.collect.batches.interface import UNANSWERED, Condition, Result, place_of
from konsil.collect.providers.provider import CallError, Reply
from konsil.collect.running.budget import Budget
from konsil.collect.running.lanes import Course, Progress
from konsil.collect.running.verdicts import price_of, reason_of, without_thoughts
from konsil.collect.running.works import CallAttempt, now
from konsil.records import Call
from konsil.store.calls.batches import Batches, BatchRecord, BatchWork

CHUNK = 500
"""Results that are stored in one transaction."""
_READINGS = 3
"""How often results are read that lack requests or have lines that cannot be read."""
_EXPIRED = CallError("the batch expired")


@dataclass(slots=True)
class Gathered:
    """What the results of one batch came to."""

    n_answered: int = 0
    """Requests with a result of any kind, stored now or before."""
    n_foreign: int = 0
    """Results with ids that are none of the batch's."""
    n_unasked: int = 0
    """Results for requests that the protocol does not have any more."""
    n_unreadable: int = 0
    """Lines that could not be read."""
    absent: list[BatchWork] = field(default_factory=list)
    """Requests without any result."""


class Gatherer:
    """Stores the results of batches as calls."""

    def __init__(
        self,
        batches: Batches,
        write: Callable[[Sequence[Call]], None],
        budget: Budget,
        progress: Progress,
    ) -> None:
        self._batches, self._write = batches, write
        self._budget, self._progress = budget, progress

    async def gather(self, lane: BatchLane, record: BatchRecord, condition: Condition) -> Gathered:
        """Read all results of a batch that has ended, and store them."""
        for n in range(_READINGS):
            gathered = await self._read(lane, record, condition)
            is_complete = not gathered.absent or condition.state != "ended"
            is_other = gathered.n_foreign > 0 and not gathered.n_answered
            if (is_complete and not gathered.n_unreadable) or is_other or n == _READINGS - 1:
                break
        return gathered

    async def store_absent(self, lane: BatchLane, gathered: Gathered, *, has_expired: bool) -> None:
        """Store that requests have no result, which costs nothing."""
        result = Result("", UNANSWERED, lapse="expired" if has_expired else "")
        for start in range(0, len(gathered.absent), CHUNK):
            pairs = [(work, result) for work in gathered.absent[start : start + CHUNK]]
            await self._store(lane, pairs, gathered)

    async def _read(self, lane: BatchLane, record: BatchRecord, condition: Condition) -> Gathered:
        works, stored = self._batches.works(record.id), self._batches.stored(record.id)
        gathered = Gathered()
        has_result = bytearray((work.work, work.attempt) in stored for work in works)
        pairs: list[tuple[BatchWork, Result]] = []
        async for result in lane.interface.results(condition):
            if result is None:
                gathered.n_unreadable += 1
                continue
            place = place_of(record.id, result.token, len(works))
            if place is None:
                gathered.n_foreign += 1
                continue
            if has_result[place]:  # stored by an earlier run, or given twice
                continue
            has_result[place] = 1
            pairs.append((works[place], result))
            if len(pairs) == CHUNK:
                await self._store(lane, pairs, gathered)
                pairs = []
                await asyncio.sleep(0)  # the display and Ctrl-C have their turn
        await self._store(lane, pairs, gathered)
        gathered.n_answered = sum(has_result)
        gathered.absent = [work for work, has in zip(works, has_result, strict=True) if not has]
        return gathered

    async def _store(
        self, lane: BatchLane, pairs: Sequence[tuple[BatchWork, Result]], gathered: Gathered
    ) -> None:
        if not pairs:
            return
        earlier = self._batches.earlier({entry.work for entry, _ in pairs if entry.attempt > 1})
        calls: list[Call] = []
        for entry, result in pairs:
            work = lane.work_of(entry)
            if work is None:
                gathered.n_unasked += 1
                continue
            course = course_of(work, earlier.get(entry.work, []))
            course.attempt = entry.attempt
            if result.lapse == "cancelled":
                continue
            tried = await self._tried(lane, course, result)
            verdict = self._verdict(lane, course, tried, result)
            calls.append(tried.call(verdict.outcome, ended=verdict.ended))
            self._budget.spent += tried.cost or 0.0
            self._count(lane, course, tried, verdict)
        self._write(calls)
        for call in calls:
            self._progress.outcomes.update([call.outcome] if call.ended else [])
        self._progress.calls += len(calls)

    async def _tried(self, lane: BatchLane, course: Course, result: Result) -> CallAttempt:
        reply: Reply | None = None
        error = _EXPIRED
        if not result.lapse:
            try:
                reply = await lane.interface.reply(course.request, result)
            except CallError as caught:
                error = caught
        cost = None
        if reply is not None:
            reply = without_thoughts(reply, course.work.thoughts)
            cost = None if lane.price is None else price_of(reply, course.request, lane.price)
            lane.meter.learn(course.request, reply, cost or 0.0)
        # The time of a request within a batch is not known: no seconds are stored.
        return CallAttempt(
            lane.endpoint,
            course.work,
            course.request,
            course.attempt,
            reply,
            error,
            0.0,
            0.0,
            cost,
            now(),
        )

    def _verdict(
        self, lane: BatchLane, course: Course, tried: CallAttempt, result: Result
    ) -> Verdict:
        if result.lapse:
            return Verdict("expired", ended=False)
        lane.has_replied |= tried.reply is not None
        return verdict_of(course, tried, has_replied=lane.has_replied, tries=lane.tries)

    def _count(
        self,
        lane: BatchLane,
        course: Course,
        tried: CallAttempt,
        verdict: Verdict,
    ) -> None:
        if verdict.outcome == "expired":
            self._progress.expired += 1
            return
        if is_of_account(tried.error, has_replied=lane.has_replied) and tried.reply is None:
            lane.account_error = lane.account_error or str(tried.error)
        if verdict.outcome == "gave up":
            self._progress.gave_up[lane.endpoint] = tried.error.sentence
        is_failure = tried.reply is None and not verdict.ended
        if not is_failure and lane.streaks.is_hopeless(lane.callee, verdict.outcome):
            self._progress.hopeless.setdefault(
                lane.callee,
                lane.streaks.sentence(
                    lane.callee,
                    course.request,
                    endpoint=lane.endpoint,
                    address=lane.address,
                    error=reason_of(tried),
                ),
            )

    def unended(self, record: BatchRecord) -> list[BatchWork]:
        """The requests of a batch after which another one follows, by their stored calls."""
        stored = self._batches.stored(record.id)
        return [
            work
            for work in self._batches.works(record.id)
            if stored.get((work.work, work.attempt)) is False
        ]

    def settle(self, lane: BatchLane, record: BatchRecord) -> None:
        """Give back what was set aside for a batch; what it cost has been counted."""
        self._budget.settle_cost(record.reserved, 0.0, lane.callee)
