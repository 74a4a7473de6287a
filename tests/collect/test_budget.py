"""What calls under way may cost together: near the end of a budget they go one at a time where
nothing caps them."""

from __future__ import annotations

import asyncio

import pytest

from konsil.collect.running.budget import NEAR_THE_END, Budget


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
        while budget.n_held:
            budget.settle_cost(1.0, 0.1)
            await asyncio.sleep(0)
        return before, sum(await asyncio.gather(*calls))

    before, in_the_end = asyncio.run(begun())
    assert before == at_once
    assert in_the_end == (3 if at_once else 0)
