"""Works to calls: one asyncio process that asks, waits, asks again, and keeps every attempt before it counts."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from konsil.collect.limits import Limiter, Limits, back_off
from konsil.collect.prices import Budget, Price, most_written, tokens_of
from konsil.collect.provider import (
    AccountError,
    BusyError,
    CallError,
    DeadlineError,
    Message,
    ParameterError,
    Provider,
    Reply,
    Request,
    RequestError,
)
from konsil.collect.works import Reader, Tried, Work, now
from konsil.collect.writer import Writer
from konsil.errors import CollectError, KonsilError
from konsil.records import Call, Outcome

ASK_AGAIN: frozenset[Outcome] = frozenset({"not json", "off schema", "empty"})
"""Outcomes after which the model is asked once more; a refusal and a cut reply are taken as they are."""
AGAIN = (
    "Your reply could not be read ({outcome}). Reply again, with nothing but what was asked for, in the form asked for."
)
REFUSED_FIRST = 5
"""So many requests refused one after another, before any reply, and the run stops: it is the user's error."""


@dataclass(slots=True)
class Lane:
    """The works of one endpoint in their order."""

    name: str
    """The endpoint's name in the protocol."""
    provider: Provider
    """Who completes."""
    works: Iterator[Work]
    """What is to be done; drawn from only when a turn is free, so that a million works need no memory."""
    limits: Limits = field(default_factory=Limits)
    """How much may be asked at once."""
    prices: Callable[[str], Price | None] = lambda _model: None
    """Model's name -> its price; None where it is not known."""
    refused: Counter[str] = field(default_factory=Counter)
    """Who -> requests refused before the first reply."""
    heard: set[str] = field(default_factory=set)
    """Who has ever replied in this run."""


@dataclass(slots=True)
class Progress:
    """What a run has done so far; a display reads it, a summary tells it."""

    total: int = 0
    """Works to do."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """How the works that ended did end."""
    calls: int = 0
    """Attempts."""
    tokens_read: int = 0
    """As the endpoints count them."""
    tokens_written: int = 0
    """As the endpoints count them."""
    gave_up: dict[str, str] = field(default_factory=dict)
    """Endpoint -> the last error of a work that was given up there."""
    stopped: str = ""
    """Why it stopped before its end, as a sentence; empty where it did not."""

    @property
    def ended(self) -> int:
        """Works that have ended."""
        return self.outcomes.total()


class _BudgetError(Exception):
    """The next call could pass the budget."""


_NO_ERROR = CallError("none")


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
        self._base = back_off_seconds
        self._rng = random.Random()  # noqa: S311 - jitter: two clients must not draw the same

    async def run(self, lanes: Sequence[Lane]) -> Progress:
        """Do all works; raises a KonsilError where the user must act. What has ended then is kept."""
        self._writer = Writer(self.write)
        try:
            async with asyncio.TaskGroup() as group:
                for lane in lanes:
                    limiter = Limiter(lane.limits)
                    for _ in range(lane.limits.concurrency):
                        group.create_task(self._worker(lane, limiter))
        except* _BudgetError:
            self.progress.stopped = f"the next call could pass the budget of {self.budget.most:g} US dollars"
        except* KonsilError as errors:
            raise _first(errors) from None
        finally:
            # What has come back is written even where we are being stopped: it was paid for.
            self._writer.close()
            for lane in lanes:
                await lane.provider.close()
        return self.progress

    async def _worker(self, lane: Lane, limiter: Limiter) -> None:
        for work in lane.works:
            await self._do(lane, limiter, work)

    async def _do(self, lane: Lane, limiter: Limiter, work: Work) -> None:
        request, attempt, failures, asked_again = work.request, work.attempts, 0, False
        while True:
            attempt += 1
            tried = await self._call(lane, limiter, work, request, attempt)
            if tried.reply is not None:
                limiter.good()
                lane.heard.add(work.who)
                outcome = _outcome(tried.reply, work.read)
                again = outcome in ASK_AGAIN and not asked_again
                if asked_again and outcome in ("ok", "repaired"):
                    outcome = "re-asked"
                await self._keep(tried.call(outcome, ended=not again))
                if not again:
                    return
                request, asked_again = _ask_again(work.request, tried.reply, outcome), True
                continue
            error = tried.error
            if isinstance(error, ParameterError):
                await self._keep(tried.call())
                continue
            failures += 2 if isinstance(error, DeadlineError) else 1
            if isinstance(error, BusyError):
                limiter.busy(tried.began, error.retry_after)
            if isinstance(error, AccountError):
                await self._keep(tried.call())
                raise CollectError(str(error))
            if isinstance(error, RequestError):
                await self._keep(tried.call(ended=True))
                self._refused(lane, work, error)
                return
            if failures >= lane.limits.tries:
                self.progress.gave_up[lane.name] = str(error)
                await self._keep(tried.call("gave up", ended=True))
                return
            await self._keep(tried.call())
            await asyncio.sleep(back_off(failures, error.retry_after, self._rng, self._base))

    async def _call(self, lane: Lane, limiter: Limiter, work: Work, request: Request, attempt: int) -> Tried:
        """Call once, within the endpoint's limits, the budget and the deadline."""
        price = lane.prices(request.model)
        n_read, most = tokens_of(request), most_written(request)
        reply: Reply | None = None
        error = _NO_ERROR
        async with limiter.turn(n_read + most) as began:
            held = price.of(n_read, most) if price is not None else 0.0
            if not self.budget.hold(held):
                raise _BudgetError
            cost = 0.0
            started = time.perf_counter()
            try:
                async with asyncio.timeout(lane.limits.seconds):
                    reply = await lane.provider.complete(request)
            except TimeoutError:
                error = DeadlineError(f"no end within {lane.limits.seconds:g} seconds")
            except CallError as caught:
                error = caught
            finally:
                if price is not None and reply is not None:
                    cost = price.of(reply.usage.get("in", n_read), reply.usage.get("out", len(reply.text) // 3))
                self.budget.settle(held, cost)
            seconds = time.perf_counter() - started
        self.progress.calls += 1
        if reply is not None:
            self.progress.tokens_read += reply.usage.get("in", 0)
            self.progress.tokens_written += reply.usage.get("out", 0)
        known = cost if price is not None and reply is not None else None
        return Tried(lane.name, work, request, attempt, reply, error, began, seconds, known, now())

    async def _keep(self, call: Call) -> None:
        await self._writer.add(call)
        if call.ended:
            self.progress.outcomes[call.outcome] += 1

    def _refused(self, lane: Lane, work: Work, error: RequestError) -> None:
        if work.who in lane.heard:
            return
        lane.refused[work.who] += 1
        if lane.refused[work.who] >= REFUSED_FIRST:
            said = " ".join(error.raw.split())[:300] or str(error)
            raise CollectError(f"endpoint {lane.name!r}: refuses every request of {work.who!r}: {said}")


def _outcome(reply: Reply, read: Reader) -> Outcome:
    """The typed outcome of a reply: why it ended goes before what it says."""
    if reply.finish == "refused":
        return "refused"
    if reply.finish == "filtered":
        return "filtered"
    if reply.finish == "length":
        return "truncated"
    if not reply.text.strip():
        return "empty"
    return read(reply.text)


def _ask_again(request: Request, reply: Reply, outcome: Outcome) -> Request:
    told = Message("user", AGAIN.format(outcome=outcome))
    said = (Message("assistant", reply.text),) if reply.text.strip() else ()
    return replace(request, messages=(*request.messages, *said, told))


def _first(errors: BaseExceptionGroup[KonsilError]) -> KonsilError:
    one: BaseException = errors
    while isinstance(one, BaseExceptionGroup):
        one = one.exceptions[0]
    assert isinstance(one, KonsilError)
    return one
