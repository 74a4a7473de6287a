"""One call of a model: within an endpoint's limits, the budget and the deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from konsil.collect.providers.provider import (
    CallError,
    DeadlineError,
    Reply,
    Request,
)
from konsil.collect.running.budget import Budget, Meter
from konsil.collect.running.lanes import Course, Lane, Progress
from konsil.collect.running.limits import Limiter
from konsil.collect.running.prices import FREE, Price, is_bounded
from konsil.collect.running.verdicts import price_of, without_thoughts
from konsil.collect.running.works import CallAttempt, now

_NO_ERROR = CallError("none")


class Caller:
    """Calls once, and settles what it cost."""

    def __init__(
        self, budget: Budget, progress: Progress, *, refuse: Callable[[str], object]
    ) -> None:
        """`refuse` is given the sentence for a call that the budget does not allow."""
        self._budget, self._progress, self._refuse = budget, progress, refuse

    async def call(
        self, lane: Lane, limiter: Limiter, course: Course, *, begin: Callable[[], object]
    ) -> CallAttempt | None:
        """Call once, within the endpoint's limits, the budget and the deadline.

        None where the budget is used up. `begin` is called as soon as the cost is set aside: who
        waits for a turn may be cancelled, who calls may not.
        """
        request = course.request
        price, meter = lane.prices(request.model), lane.meter(request.model)
        expected = meter.expected(request)
        reply: Reply | None = None
        error = _NO_ERROR
        async with limiter.turn(expected) as began:
            reserved, refusal = await self._admit(lane, course, expected)
            begin()
            if reserved is None:
                if refusal:
                    self._refuse(refusal)
                return None
            # The turn among all workers may have come later than that of this one.
            began = began if lane.share is None else asyncio.get_running_loop().time()
            cost = 0.0
            started = time.perf_counter()
            try:
                async with asyncio.timeout(lane.limits.seconds):
                    reply = await lane.provider.complete(request)
            except TimeoutError:
                error = DeadlineError(
                    f"no complete reply within {lane.limits.seconds:g} seconds", is_billed=True
                )
            except CallError as caught:
                error = caught
            finally:
                if price is not None and reply is not None:
                    cost = price_of(reply, request, price)
                elif error.is_billed:
                    # what died on its way is billed all the same: as much as it can have been
                    cost = reserved
                # After an error, too: the other calls of this model wait for it.
                meter.is_teaching = False
                if reply is not None:
                    meter.learn(request, reply, cost)
                    counted = sum(reply.usage.get(n, 0) for n in ("in", "out")) or expected
                    (lane.share or limiter).correct(expected, counted)
                self._budget.settle_cost(
                    reserved, cost, course.work.callee, is_bounded=is_bounded(request)
                )
            seconds = time.perf_counter() - started
        self._progress.calls += 1
        if reply is not None:
            self._progress.tokens_read += reply.usage.get("in", 0)
            self._progress.tokens_written += reply.usage.get("out", 0)
            reply = without_thoughts(reply, course.work.thoughts)
        billed_cost = cost if price is not None and (reply is not None or error.is_billed) else None
        return CallAttempt(
            lane.name,
            course.work,
            request,
            course.attempt,
            reply,
            error,
            began,
            seconds,
            billed_cost,
            now(),
        )

    async def _admit(self, lane: Lane, course: Course, expected: int) -> tuple[float | None, str]:
        """Set aside what a call can cost, here and among all workers.

        None where it is not to be sent, with the sentence for the user where money is the reason.
        """
        request = course.request
        price, meter = lane.prices(request.model), lane.meter(request.model)
        reserved = await self._reserve(meter, request, price)
        verdict = "go" if reserved is not None else "no money"
        if reserved is not None and lane.share is not None:
            verdict = "lost"
            try:
                verdict = await lane.share.reserve(
                    course.work,
                    tokens=expected,
                    dollars=reserved,
                    is_capped=meter.has_bound(request),
                )
            finally:
                # Cancelled meanwhile, too: nothing is sent.
                if verdict != "go":
                    meter.is_teaching = False
                    self._budget.settle_cost(reserved, 0.0)
        if verdict == "go":
            return reserved, ""
        if verdict == "lost":
            return None, ""
        amount = meter.max_cost(request, price or FREE)
        is_bounded_cost = meter.has_bound(request)
        return None, self._budget.refusal(amount, course.work.callee, is_bounded=is_bounded_cost)

    async def _reserve(self, meter: Meter, request: Request, price: Price | None) -> float | None:
        """Set aside what a call can cost.

        With a budget the first call of a model goes alone, so that its size is known for the next.
        """
        if price is None or self._budget.limit is None:
            amount = 0.0 if price is None else meter.max_cost(request, price)
            self._budget.hold(amount)
            return amount
        # A model's first call goes alone: what it costs bounds those that follow.
        while not meter.is_taught and meter.is_teaching:
            await self._budget.change()
        meter.is_teaching = not meter.is_taught
        amount = meter.max_cost(request, price)
        if await self._budget.reserve(amount, is_capped=meter.has_bound(request)):
            return amount
        meter.is_teaching = False
        return None
