"""Works to calls with a scripted provider: outcomes, limits, back-off, budget, durability."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

import pytest
from made_works import work

from konsil.collect.fake.fake import FakeProvider, Faults, Script
from konsil.collect.providers.provider import (
    AccountError,
    BusyError,
    ParameterError,
    Provider,
    Reply,
    Request,
    RequestError,
    ServerError,
)
from konsil.collect.running.budget import Budget
from konsil.collect.running.interrupting import interruptible
from konsil.collect.running.lanes import Lane, Progress
from konsil.collect.running.limits import Limiter, back_off
from konsil.collect.running.prices import Price
from konsil.collect.running.runner import Runner
from konsil.errors import CollectError, StoreError
from konsil.records import Call
from konsil.store import Store
from konsil.store.calls.calls import Calls
from konsil.study.sections.calling import Endpoint

FEW = Endpoint("", concurrency=4, seconds=0.2, tries=3)
OK = Reply('{"a1": "yes"}')


@dataclass
class Scripted:
    """Gives what it is told to, one after another; the last one for ever."""

    script: Sequence[Reply | Exception]
    asked: list[Request] = field(default_factory=list)
    under_way: int = 0
    most: int = 0
    closed: bool = False

    async def close(self) -> None:
        self.closed = True

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(0.001)
            one = self.script[min(len(self.asked), len(self.script)) - 1]
            if isinstance(one, Exception):
                raise one
            return one
        finally:
            self.under_way -= 1


def run(
    provider: Provider, n: int = 1, limits: Endpoint | None = None, **more: object
) -> tuple[Progress, list[Call]]:
    kept: list[Call] = []
    prices: Callable[[str], Price | None] = more.pop("prices", lambda _model: None)  # type: ignore[assignment]
    runner = Runner(kept.extend, back_off_seconds=0.001, **more)  # type: ignore[arg-type]
    lane = Lane("test", provider, iter([work(k) for k in range(n)]), limits or FEW, prices)
    return asyncio.run(runner.run([lane])), kept


@pytest.mark.parametrize(
    ("script", "outcomes", "ends"),
    [
        ([OK], ["ok"], "ok"),
        ([Reply("what?"), OK], ["not json", "re-asked"], "re-asked"),
        ([Reply("what?"), Reply("what?")], ["not json", "not json"], "not json"),
        ([Reply(" "), OK], ["empty", "re-asked"], "re-asked"),
        ([Reply("{", finish="length")], ["truncated"], "truncated"),
        ([Reply("no", finish="refused")], ["refused"], "refused"),
        ([Reply("", finish="filtered")], ["filtered"], "filtered"),
        ([ServerError("x", status=500), OK], ["http error", "ok"], "ok"),
        ([ServerError("x", status=500)], ["http error", "http error", "gave up"], "gave up"),
        ([BusyError("x", status=429, retry_after=0.01), OK], ["http error", "ok"], "ok"),
        ([ParameterError("seed", status=400), OK], ["http error", "ok"], "ok"),
        # A provider that sends the parameter all the same is not called for ever.
        ([ParameterError("seed", status=400)], ["http error", "http error"], "http error"),
        ([RequestError("too long", status=400)], ["http error"], "http error"),
    ],
)
def test_every_work_ends_in_one_outcome(
    script: Sequence[Reply | Exception], outcomes: list[str], ends: str
) -> None:
    progress, kept = run(Scripted(script))
    assert [c.outcome for c in kept] == outcomes
    assert [c.attempt for c in kept] == list(range(1, len(kept) + 1))
    assert [c.ended for c in kept] == [0] * (len(kept) - 1) + [1]
    assert progress.outcomes == Counter({ends: 1})
    assert progress.calls == len(kept)


def test_lanes_of_one_endpoint_share_its_calls_at_once_and_close_together() -> None:
    limits = Endpoint("", concurrency=2)
    provider, gate, kept = Scripted([OK]), Limiter(limits), list[Call]()
    works = [iter([work(k) for k in range(start, start + 10)]) for start in (0, 10)]
    lanes = [Lane("test", provider, some, limits, gate=gate) for some in works]
    progress = asyncio.run(Runner(kept.extend).run(lanes))
    assert progress.outcomes == {"ok": 20}
    assert provider.most == 2
    assert gate.active == 0
    refusing = Scripted([AccountError("no such key", status=401)])
    lanes = [
        Lane("test", refusing, iter([work(k)]), limits, gate=Limiter(limits)) for k in range(2)
    ]
    with pytest.raises(CollectError, match="no such key"):
        asyncio.run(Runner(kept.extend).run(lanes))
    assert all(lane.is_closed for lane in lanes)


def test_asking_again_shows_the_reply_and_says_why() -> None:
    provider = Scripted([Reply("what?"), OK])
    run(provider)
    assert [m.role for m in provider.asked[1].messages] == ["user", "assistant", "user"]
    assert "not json" in provider.asked[1].messages[-1].text
    assert provider.asked[1].schema == provider.asked[0].schema


def test_an_endless_call_ends_at_its_deadline_and_is_given_up_sooner() -> None:
    progress, kept = run(
        FakeProvider(Script(faults=Faults(endless=1.0))),
        limits=Endpoint("", concurrency=1, seconds=0.05, tries=4),
    )
    assert [c.outcome for c in kept] == ["http error", "gave up"]
    assert all(0.04 < c.seconds < 60 for c in kept), (
        "a busy machine wakes late; without its deadline no call ends"
    )
    assert progress.outcomes == {"gave up": 1}
    assert progress.gave_up == {"test": "no complete reply within 0.05 seconds"}


@pytest.mark.parametrize("n", [1, 9])
def test_an_error_of_the_users_stops_the_run(n: int) -> None:
    provider = Scripted(
        [AccountError("endpoint 'test': does not accept the key; status 401", status=401)]
    )
    with pytest.raises(CollectError, match="does not accept the key"):
        run(provider, n)
    assert provider.closed
    assert len(provider.asked) <= 4


def test_a_request_that_is_always_refused_stops_the_run() -> None:
    with pytest.raises(CollectError, match="refuses every request of 'j': unknown field 'x'"):
        run(Scripted([RequestError("400", status=400, raw="unknown\nfield 'x'")]), 50)
    progress, _ = run(
        Scripted([OK, *[RequestError("400", status=400)] * 8]), 9, Endpoint("", concurrency=1)
    )
    assert progress.outcomes == {"ok": 1, "http error": 8}


def test_no_more_than_the_limit_are_under_way() -> None:
    provider = Scripted([OK])
    run(provider, 40, Endpoint("", concurrency=3))
    assert provider.most == 3


def test_the_budget_is_never_passed() -> None:
    reply = Reply(OK.text, usage={"in": 1_000_000, "out": 0})
    budget = Budget(5.0)
    progress, kept = run(
        Scripted([reply]),
        20,
        Endpoint("", concurrency=1),
        budget=budget,
        prices=lambda _: Price(1.0, 0.0),
    )
    assert (len(kept), budget.spent, budget.reserved) == (5, 5.0, 0.0)
    assert "budget of 5 US dollars" in progress.stopped
    assert sum(c.cost or 0.0 for c in kept) == 5.0


def test_what_cannot_be_written_is_not_done() -> None:
    def full(_: Sequence[Call]) -> None:
        raise StoreError("the disk is full")

    runner = Runner(full)
    with pytest.raises(StoreError, match="the disk is full"):
        asyncio.run(runner.run([Lane("test", Scripted([OK]), iter([work(1)]))]))
    assert runner.progress.outcomes == {}


def test_what_came_back_is_kept_where_the_run_is_stopped() -> None:
    kept: list[Call] = []

    async def stopped() -> None:
        runner = Runner(kept.extend)
        lane = Lane("test", Scripted([OK]), (work(n) for n in count()), Endpoint("", concurrency=4))
        task = asyncio.create_task(runner.run([lane]))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(kept) >= runner.progress.ended > 4

    asyncio.run(stopped())


def interrupting(times: int, n: int = 40) -> tuple[Progress, list[Call], int]:
    """Run with a model in whose fifth call Ctrl-C comes so many times."""
    kept: list[Call] = []
    begun = 0

    class Interrupted(Scripted):
        async def complete(self, request: Request) -> Reply:
            nonlocal begun
            begun += 1
            if begun == 5:
                for pressed in range(times):
                    signal.raise_signal(signal.SIGINT)
                    while not runner.progress.is_interrupted and not pressed:
                        await asyncio.sleep(0.001)
                if times > 1:
                    await asyncio.Event().wait()
            return await super().complete(request)

    runner = Runner(kept.extend)
    lane = Lane("test", Interrupted([OK]), (work(k) for k in range(n)), Endpoint("", concurrency=4))

    async def story() -> None:
        with interruptible(runner):
            await runner.run([lane])

    before = signal.getsignal(signal.SIGINT)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(story())
    assert signal.getsignal(signal.SIGINT) is before
    return runner.progress, kept, begun


def test_the_first_ctrl_c_finishes_what_is_under_way() -> None:
    progress, kept, begun = interrupting(1)
    assert 5 <= begun < 12
    assert progress.ended == len(kept) == begun, "nothing that was begun is lost"
    assert (progress.stopped, progress.is_interrupted) == ("by Ctrl-C", True)


def test_the_second_ctrl_c_stops_at_once() -> None:
    _, kept, begun = interrupting(2)
    assert 4 <= len(kept) < begun


def test_a_gap_between_calls_grows_where_one_at_a_time_is_too_many_and_shrinks() -> None:
    now = [0.0]
    limiter = Limiter(Endpoint("", concurrency=2), clock=lambda: now[0])
    for expected in (0.0, 0.1, 0.2, 0.4):
        now[0] += 1.0
        limiter.busy(now[0], None)
        assert limiter.gap == pytest.approx(expected)
    for _ in range(12):
        now[0] += 1.0
        limiter.busy(now[0], None)
    assert limiter.gap == 60.0
    assert limiter.allowed == 1.0
    for _ in range(200):
        limiter.good()
    assert (limiter.gap, limiter.allowed) == (0.0, 2.0)


def test_tokens_a_minute_are_those_that_the_server_counts() -> None:
    now = [0.0]

    async def story() -> float:
        limiter = Limiter(
            Endpoint("", concurrency=1, tokens_per_minute=20_000), clock=lambda: now[0]
        )
        async with limiter.turn(50):
            pass
        limiter.correct(50, 5_000)
        return limiter._pause()

    assert asyncio.run(story()) == pytest.approx(15.0)


@pytest.mark.slow
def test_all_faults_at_once(store: Store) -> None:
    faults = Faults(0.05, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, retry_after=0.01)
    n = 400
    runner = Runner(Calls(store).add, back_off_seconds=0.001)
    lane = Lane(
        "test",
        FakeProvider(Script(faults=faults)),
        (work(k) for k in range(n)),
        Endpoint("", concurrency=32, seconds=0.1),
    )
    progress = asyncio.run(runner.run([lane]))
    assert progress.ended == n
    ended = list(Calls(store).ended("judge"))
    assert len(ended) == len({e[0] for e in ended}) == n
    assert progress.calls == len(list(Calls(store).each()))
    assert sum(e.works for e in Calls(store).counts()) == n
    assert {"ok", "re-asked", "refused", "truncated"} <= set(progress.outcomes)


def test_a_busy_endpoint_is_asked_less_and_then_more() -> None:
    async def story() -> None:
        limiter = Limiter(Endpoint("", concurrency=8), clock=lambda: now[0])
        now[0] = 1.0
        limiter.busy(0.5, None)
        assert limiter.allowed == 4.0
        limiter.busy(0.7, None)
        assert limiter.allowed == 4.0, "calls that were under way together say the same thing"
        limiter.busy(1.5, None)
        assert limiter.allowed == 2.0
        for _ in range(100):
            limiter.good()
        assert limiter.allowed == 8.0

    now = [0.0]
    asyncio.run(story())


@pytest.mark.slow
def test_rates_a_minute_are_kept() -> None:
    async def story(limits: Endpoint, tokens: int) -> float:
        limiter = Limiter(limits)
        began = asyncio.get_running_loop().time()
        for _ in range(4):
            async with limiter.turn(tokens):
                pass
        return asyncio.get_running_loop().time() - began

    assert 0.28 < asyncio.run(story(Endpoint("", concurrency=1, requests_per_minute=600), 1)) < 1.0
    assert 0.28 < asyncio.run(story(Endpoint("", concurrency=1, tokens_per_minute=6_000), 10)) < 1.0


def test_a_turn_that_nobody_waits_for_any_more_goes_to_the_next() -> None:
    async def story() -> None:
        limiter = Limiter(Endpoint("", concurrency=1))
        order: list[str] = []

        async def wait(name: str) -> None:
            async with limiter.turn(1):
                order.append(name)
                await asyncio.sleep(0.01)

        first, second, third = (asyncio.create_task(wait(n)) for n in "abc")
        await asyncio.sleep(0.001)
        second.cancel()
        await asyncio.gather(first, third)
        assert (order, limiter.active) == (["a", "c"], 0)

    asyncio.run(asyncio.wait_for(story(), 2))


def test_back_off_is_drawn_grows_and_obeys() -> None:
    import random

    rng = random.Random(1)
    draws = [[back_off(n, None, rng) for _ in range(200)] for n in (1, 3, 30)]
    assert [max(d) <= most for d, most in zip(draws, (0.5, 2.0, 60.0), strict=True)] == [True] * 3
    assert max(draws[1]) > 1.5
    assert min(draws[2]) < 5
    assert back_off(1, 7.0, rng) == 7.0
    assert back_off(1, 1e9, rng) == 600.0
