"""From works to calls: one asyncio process that calls, waits and calls again.

It stores every attempt before it counts it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from konsil.collect.providers.failures import of_endpoint
from konsil.collect.providers.provider import (
    AccountError,
    BusyError,
    DeadlineError,
    FilteredError,
    ParameterError,
    Reply,
    RequestError,
)
from konsil.collect.running.budget import Budget
from konsil.collect.running.caller import Caller
from konsil.collect.running.lanes import Course, Lane, Progress
from konsil.collect.running.limits import BUSY_PAUSES, Limiter, back_off
from konsil.collect.running.verdicts import ask_again, outcome_and_next, reason_of
from konsil.collect.running.works import CallAttempt, Work
from konsil.collect.running.writer import Writer
from konsil.errors import CollectError, KonsilError
from konsil.errors.message import message
from konsil.records import Call, Outcome

REFUSED_FIRST = 5
"""So many requests refused one after another, before any reply, and the run stops: it is the user's
error."""


class Runner:
    """One run over the works of several endpoints."""

    def __init__(
        self,
        write: Callable[[Sequence[Call]], None],
        *,
        budget: Budget | None = None,
        progress: Progress | None = None,
        back_off_seconds: float = 0.5,
    ) -> None:
        self.write = write
        self.budget = budget or Budget(None)
        self.progress = progress or Progress()
        self._caller = Caller(self.budget, self.progress, refuse=self.wind_down)
        self._base = back_off_seconds
        self._rng = random.Random()  # noqa: S311 - jitter: two clients must not draw the same
        self._errors: list[CollectError] = []
        self._is_ending = False
        self._idle: dict[asyncio.Task[None], Lane] = {}
        self._lanes: Sequence[Lane] = ()

    async def run(self, lanes: Sequence[Lane]) -> Progress:
        """Do all works; raises a KonsilError where the user must act. What has ended then is kept.

        An endpoint whose account is at fault is called no more; the others go on, and the error is
        raised at the end.
        """
        self._writer, self._lanes = Writer(self.write), lanes
        try:
            async with asyncio.TaskGroup() as group:
                for lane in lanes:
                    limiter = Limiter(lane.limits, base=self._base, gate=lane.gate)
                    for _ in range(lane.limits.concurrency):
                        task = group.create_task(self._worker(lane, limiter))
                        self._idle[task] = lane
                        task.add_done_callback(lambda ended_task: self._idle.pop(ended_task, None))
        except BaseExceptionGroup as errors:
            # Not `except*`: before Python 3.11.4, an error raised there ends in a group again.
            expected, unexpected = errors.split(KonsilError)
            if expected is None or unexpected is not None:
                raise
            raise _first(expected) from None
        finally:
            # What has come back is written even where we are being stopped: it was paid for.
            self._writer.close()
            # Lanes of one endpoint share a provider, which is closed once.
            for provider in {id(lane.provider): lane.provider for lane in lanes}.values():
                await provider.close()
        if self._errors:
            raise self._errors[0]
        return self.progress

    def wind_down(self, reason: str) -> int:
        """Begin no further call, let those under way end, and count these.

        `reason` is what the summary tells.
        """
        if not self._is_ending:
            self._is_ending = True
            self.progress.stopped = reason
        # A copy, because a task that is cancelled leaves the mapping.
        for task in list(self._idle):
            task.cancel()
        return self.budget.n_reserved

    def _close(self, lane: Lane, error: CollectError) -> None:
        """Call an endpoint no more; what waits for its turn there is let go."""
        if not lane.is_closed:
            self._errors.append(error)
        for sibling in self._lanes:
            sibling.is_closed |= sibling.name == lane.name
            if sibling.name == lane.name and sibling.share is not None:
                sibling.share.close()
        for task in [task for task, of in self._idle.items() if of.name == lane.name]:
            task.cancel()

    async def _worker(self, lane: Lane, limiter: Limiter) -> None:
        while (work := await self._next(lane)) is not None:
            course = Course(work, work.request, work.attempts)
            try:
                if work.callee not in lane.stopped:
                    await self._do(lane, limiter, course)
            # Cancelled, too: what is not begun goes back to the other workers at once.
            finally:
                self._leave(lane, course)
            if self._is_ending or lane.is_closed:
                return
        while lane.doubtful and not (self._is_ending or lane.is_closed):
            work = lane.doubtful.popleft()
            course = Course(work, work.request, work.attempts)
            try:
                await self._do(lane, limiter, course, is_last_chance=True)
            finally:
                self._leave(lane, course)

    @staticmethod
    async def _next(lane: Lane) -> Work | None:
        return next(lane.works, None) if lane.share is None else await lane.share.take()

    @staticmethod
    def _leave(lane: Lane, course: Course) -> None:
        """Give a work back to the other workers, unless it has ended or comes again here."""
        if lane.share is not None and all(w.id != course.work.id for w in lane.doubtful):
            lane.share.leave(course.work, is_ended=course.is_ended)

    async def _do(
        self, lane: Lane, limiter: Limiter, course: Course, *, is_last_chance: bool = False
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        while not (self._is_ending or lane.is_closed):
            course.attempt += 1
            tried = await self._caller.call(
                lane, limiter, course, begin=lambda: self._idle.pop(task, None)
            )
            if tried is None:
                return
            try:
                pause = await self._take(
                    lane, limiter, course, tried, is_last_chance=is_last_chance
                )
            finally:
                self._idle[task] = lane
            if pause is None:
                return
            if pause and not (self._is_ending or lane.is_closed):
                await asyncio.sleep(pause)

    async def _take(
        self,
        lane: Lane,
        limiter: Limiter,
        course: Course,
        tried: CallAttempt,
        *,
        is_last_chance: bool,
    ) -> float | None:
        """Keep an attempt as what it is.

        Gives the pause before the next one, or None where the work is left.
        """
        work, error = course.work, tried.error
        if tried.reply is not None:
            return await self._take_reply(lane, limiter, course, tried, tried.reply)
        if isinstance(error, ParameterError) and error.parameter in course.request.without:
            # The provider sends it all the same: calling once more would change nothing.
            await self._end(lane, course, tried, "http error")
            return None
        if isinstance(error, ParameterError):
            course.request = replace(
                course.request, without=course.request.without | {error.parameter}
            )
            await self._store_attempt(tried.call())
            return 0.0
        if isinstance(error, BusyError):
            return await self._put_off(lane, limiter, course, tried)
        if isinstance(error, AccountError):
            await self._store_attempt(tried.call())
            self._close(lane, CollectError(str(error)))
            return None
        if isinstance(error, FilteredError):
            await self._withheld(lane, course, tried, error, is_last_chance=is_last_chance)
            return None
        if isinstance(error, RequestError):
            await self._end(lane, course, tried, "http error")
            self._refused(lane, work, error)
            return None
        course.failures += 2 if isinstance(error, DeadlineError) else 1
        if course.failures >= lane.limits.tries:
            self.progress.gave_up[lane.name] = error.sentence
            await self._end(lane, course, tried, "gave up")
            return None
        await self._store_attempt(tried.call())
        return back_off(course.failures, error.retry_after, self._rng, self._base)

    async def _take_reply(
        self, lane: Lane, limiter: Limiter, course: Course, tried: CallAttempt, reply: Reply
    ) -> float | None:
        limiter.good()
        lane.heard.add(course.work.callee)
        course.n_busy = 0
        outcome, is_next = outcome_and_next(reply, course.work.read, is_repeated=course.is_repeated)
        if not is_next:
            await self._end(lane, course, tried, outcome)
            return None
        await self._store_attempt(tried.call(outcome))
        course.request, course.is_repeated = ask_again(course.work.request, reply, outcome), True
        return 0.0

    async def _put_off(
        self, lane: Lane, limiter: Limiter, course: Course, tried: CallAttempt
    ) -> float | None:
        """Wait where the endpoint is busy: no failure, on a clock of its own."""
        error = tried.error
        limiter.busy(tried.began, error.retry_after)
        if lane.share is not None and error.retry_after is not None:
            lane.share.pause(error.retry_after)
        clock = time.monotonic()
        course.busy_since = course.busy_since if course.n_busy else clock
        course.n_busy += 1
        if clock - course.busy_since >= lane.limits.patience:
            self.progress.gave_up[lane.name] = message(
                "{error}, for {seconds:,.0f} seconds",
                message_id="calls.for_seconds",
                error=error.sentence,
                seconds=lane.limits.patience,
            )
            await self._end(lane, course, tried, "gave up")
            return None
        await self._store_attempt(tried.call())
        return back_off(min(course.n_busy, BUSY_PAUSES), None, self._rng, self._base)

    async def _withheld(
        self,
        lane: Lane,
        course: Course,
        tried: CallAttempt,
        error: FilteredError,
        *,
        is_last_chance: bool,
    ) -> None:
        """Tell a withheld prompt from a key without permission.

        The body of the error decides, or other replies.
        """
        work = course.work
        if error.certain or work.callee in lane.heard:
            await self._end(lane, course, tried, "filtered")
            return
        await self._store_attempt(tried.call())
        lane.refused[work.callee] += 1
        if is_last_chance or lane.refused[work.callee] >= REFUSED_FIRST:
            self._close(lane, CollectError(f"{error}; check what its key may do"))
        else:
            lane.doubtful.append(replace(work, attempts=course.attempt))

    async def _store_attempt(self, call: Call) -> None:
        await self._writer.add(call)
        if call.ended:
            self.progress.outcomes[call.outcome] += 1

    async def _end(self, lane: Lane, course: Course, tried: CallAttempt, outcome: Outcome) -> None:
        """Store the last attempt of a work, and stop its model where further calls are hopeless.

        They are hopeless where so many works ended alike that the next will end so, too.
        """
        await self._store_attempt(tried.call(outcome, ended=True))
        course.is_ended = True
        actor = course.work.callee
        if lane.streaks.is_hopeless(actor, outcome) and actor not in lane.stopped:
            lane.stopped.add(actor)
            reason = reason_of(tried)
            self.progress.hopeless[actor] = lane.streaks.sentence(
                actor, course.work.request, endpoint=lane.name, address=lane.address, error=reason
            )

    def _refused(self, lane: Lane, work: Work, error: RequestError) -> None:
        if work.callee in lane.heard:
            return
        lane.refused[work.callee] += 1
        if lane.refused[work.callee] >= REFUSED_FIRST:
            fact = message(
                "refuses every request of {callee!r}: {reason}",
                message_id="calls.every_refused",
                callee=work.callee,
                reason=" ".join(error.raw.split())[:300] or error.sentence,
            )
            self._close(lane, CollectError(of_endpoint(lane.name, fact)))


def _first(errors: BaseExceptionGroup[KonsilError]) -> KonsilError:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, KonsilError)
    return error
