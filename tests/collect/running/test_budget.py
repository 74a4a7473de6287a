"""What calls may cost together: with a cap never more than the budget; without one, near its end,
one at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_works import work

from konsil.collect.providers.provider import DeadlineError, Message, Reply, Request, ServerError
from konsil.collect.providers.replies import read_body
from konsil.collect.running.budget import NEAR_THE_END, Budget, Meter
from konsil.collect.running.lanes import Lane
from konsil.collect.running.prices import Price, most_read
from konsil.collect.running.runner import Runner
from konsil.records import Call
from konsil.study.sections.calling import Endpoint as Stated


@pytest.mark.parametrize(
    ("spent", "is_capped", "at_once"),
    [
        (0.0, False, 3),
        (10.0 - NEAR_THE_END, False, 3),
        (10.5 - NEAR_THE_END, False, 1),  # less is left than so many of the dearest call
        (10.5 - NEAR_THE_END, True, 3),
        (9.5, True, 0),
        (9.5, False, 0),
    ],
)
def test_near_the_end_calls_without_a_cap_go_one_at_a_time(
    spent: float, is_capped: bool, at_once: int
) -> None:
    async def begun() -> tuple[int, int]:
        budget = Budget(10.0, spent)
        calls = [asyncio.create_task(budget.reserve(1.0, is_capped=is_capped)) for _ in range(3)]
        await asyncio.sleep(0)
        before = sum(call.done() and call.result() for call in calls)
        while budget.n_reserved:
            budget.settle_cost(1.0, 0.1)
            await asyncio.sleep(0)
        return before, sum(await asyncio.gather(*calls))

    before, in_the_end = asyncio.run(begun())
    assert before == at_once
    assert in_the_end == (3 if at_once else 0)


@dataclass(frozen=True)
class Bill:
    """What an endpoint makes of one call, as shares of what it may be."""

    read: float
    written: float
    end: str
    """How the call ends: with a count of tokens or without one, cut off on its way, refused,
    unreadable, too late."""


@dataclass
class Endpoint:
    """Honours the cap, and bills no more tokens than a request's text can have; in everything else
    it does as it likes.

    `billed` is what it will ask to be paid.
    """

    bills: Sequence[Bill]
    price: Price
    billed: float = 0.0
    n: int = 0

    async def close(self) -> None:
        """Nothing is open."""

    async def complete(self, request: Request) -> Reply:
        assert request.max_tokens is not None
        bill = self.bills[self.n % len(self.bills)]
        self.n += 1
        n_read, n_written = (
            int(bill.read * most_read(request)),
            int(bill.written * request.max_tokens),
        )
        await asyncio.sleep(0)
        if bill.end == "refused":
            raise ServerError("status 500", status=500)
        self.billed += self.price.of(n_read, n_written)
        if bill.end == "cut off":
            raise ServerError("the line broke", is_billed=True)
        if bill.end == "too late":
            raise DeadlineError("no end", is_billed=True)
        text = "?" if bill.end == "unreadable" else '{"a1": "yes"}'
        usage: dict[str, object] = {"prompt_tokens": n_read, "completion_tokens": n_written}
        if bill.end == "not counted":  # nothing else is known of it: its cost is estimated
            self.billed -= self.price.of(n_read, n_written)
            text, usage = (
                "{" + "x" * 9 * request.max_tokens + "}",
                {"prompt_tokens": True, "completion_tokens": -5e9},
            )
        raw = json.dumps({"choices": [{"message": {"content": text}}], "usage": usage})
        reply = read_body(raw)
        assert reply is not None
        return replace(reply, sent={"max_tokens": request.max_tokens})


ENDS = ("counted", "counted", "not counted", "cut off", "refused", "unreadable", "too late")
SHARES = st.floats(0, 1)
BILLS = st.lists(st.builds(Bill, SHARES, SHARES, st.sampled_from(ENDS)), min_size=1, max_size=8)


@settings(max_examples=150, deadline=None)
@given(
    bills=BILLS,
    prices=st.tuples(st.floats(0, 100), st.floats(0, 500)),
    cap=st.integers(1, 5_000),
    texts=st.lists(st.text(max_size=300), min_size=1, max_size=12),
    share=st.floats(0, 1.5),
    concurrency=st.integers(1, 8),
)
@example([Bill(0.0, 0.0, "not counted")], (1.0, 100.0), 100, ["x"], 1.4, 1)
@example(
    [Bill(1.0, 1.0, "too late"), Bill(1.0, 1.0, "unreadable")], (1.0, 100.0), 100, ["x"] * 4, 0.6, 2
)
def test_with_a_cap_the_budget_is_never_passed(
    bills: list[Bill],
    prices: tuple[float, float],
    cap: int,
    texts: list[str],
    share: float,
    concurrency: int,
) -> None:
    """Over two runs, retries among them; and no call is left out that had still fitted."""
    price = Price(*prices)
    works = [work(n) for n in range(len(texts))]
    works = [
        replace(
            one, request=replace(one.request, max_tokens=cap, messages=(Message("user", text),))
        )
        for one, text in zip(works, texts, strict=True)
    ]
    bounds = [price.of(most_read(one.request), cap) for one in works]
    most = share * sum(bounds)
    endpoint, spent = Endpoint(bills, price), 0.0
    for half in (works[::2], works[1::2]):
        budget = Budget(most, spent)
        kept: list[Call] = []
        runner = Runner(kept.extend, budget=budget, back_off_seconds=0.0)
        lane = Lane(
            "test",
            endpoint,
            iter(half),
            Stated("", concurrency=concurrency, tries=2),
            lambda _model: price,
        )
        progress = asyncio.run(runner.run([lane]))
        spent += sum(call.cost or 0.0 for call in kept)
        assert budget.spent == pytest.approx(spent)
        # Sums of floating-point numbers in different orders differ in their last digits, and in
        # nothing else.
        assert budget.spent <= most * (1 + 1e-9) + 1e-12
        assert endpoint.billed <= most * (1 + 1e-9) + 1e-12
        assert budget.reserved == 0.0
        if progress.stopped:
            assert "can cost up to" in progress.stopped
            assert most - budget.spent < max(
                price.of(most_read(one.request) + 1_000, cap) for one in half
            )
        else:
            assert progress.ended == len(half)


def request(**more: object) -> Request:
    return replace(Request("m", (Message("user", "Which?"),), max_tokens=64), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (request(), True),
        (request(max_tokens=None), False),
        (request(tools=("web_search",)), False),  # results of searches are read, and billed
        (request(options={"n": 3}), False),
        (request(options={"max_completion_tokens": 9_000}), False),
        (request(options={"top_k": 3}), True),
        (request(without=frozenset({"temperature"})), True),
        (request(without=frozenset({"max_tokens"})), False),
    ],
)
def test_what_bounds_a_call(asked: Request, expected: bool) -> None:
    assert Meter().has_bound(asked) is expected


@pytest.mark.parametrize(
    ("usage", "sent", "expected"),
    [
        ({"in": 90, "out": 64}, {"max_tokens": 64}, True),
        ({"in": 90, "out": 64}, {"max_completion_tokens": 64}, True),
        ({"in": 90, "out": 65}, {"max_tokens": 64}, False),  # thoughts beyond the cap, say
        ({"in": 9_000, "out": 6}, {"max_tokens": 64}, False),
        ({"in": 90, "out": 6}, {"temperature": 0.0}, False),
    ],
)
def test_a_reply_that_passed_its_bound_makes_the_next_figures_estimates(
    usage: dict[str, int], sent: dict[str, object], expected: bool
) -> None:
    meter = Meter()
    meter.learn(request(), Reply("insulin", usage=usage, sent=sent), 0.5)
    assert meter.has_bound(request()) is expected
    cheap = Price(1.0, 1.0)
    assert (meter.max_cost(request(), cheap) < 0.5) is expected, (
        "the dearest call is reserved where there is no bound"
    )


def test_the_bound_of_a_request_counts_what_is_sent() -> None:
    """Bytes, not characters; the schema as JSON, in which a letter with an umlaut may take six."""
    assert most_read(request(messages=(Message("user", "ä" * 500),))) >= 1_000
    schema = {"enum": ["ü" * 300]}
    written = len(json.dumps(schema, indent=2))
    assert most_read(request(schema=schema)) - most_read(request()) >= written


@pytest.mark.parametrize("count", [-1, True, None, "7", 1e400, float("nan"), 10**15, [3]])
def test_a_count_of_tokens_that_cannot_be_one_is_none(count: object) -> None:
    raw = json.dumps(
        {
            "choices": [{"message": {"content": "x"}}],
            "usage": {"prompt_tokens": count, "completion_tokens": 3.0},
        }
    )
    reply = read_body(raw)
    assert reply is not None
    assert reply.usage == {"out": 3}
