"""Batches and weeks are compared only where they have the same systems in similar shares."""

from __future__ import annotations

import pytest

from konsil.analysis.table.frame import Data
from konsil.records import Answer, Task
from konsil.study.interim.quality import periods_of


def data(shares: dict[str, tuple[int, int]], together: bool = False) -> Data:
    """Tasks of two systems by batch, so many of each."""
    tasks, answers = [], []
    for batch, numbers in shares.items():
        for system, n in zip("ab", numbers, strict=True):
            for k in range(n):
                name = f"{batch}-{system}-{k}"
                answers.append(Answer(name, f"i{name}", system, "text"))
                tasks.append(Task(name, name, "r", "form", f"i{name}", (name,), batch=batch))
    if together:
        tasks = [
            Task(b, b, "r", "form", "i", tuple(a.id for a in answers), batch=b) for b in shares
        ]
    return Data((), tuple(answers), (), tuple(tasks), ())


@pytest.mark.parametrize(
    ("shares", "is_compared"),
    [
        ({"1": (5, 5), "2": (5, 5)}, True),
        ({"1": (6, 4), "2": (4, 6)}, True),
        ({"1": (10, 0), "2": (0, 10)}, False),
        ({"1": (10, 10), "2": (0, 10)}, False),
        ({"1": (9, 1), "2": (1, 9)}, False),
        ({"1": (10, 0), "2": (10, 0)}, True),
        ({"1": (10, 10), "2": (0, 0), "3": (10, 10)}, True),
    ],
)
def test_systems_are_spread_evenly(shares: dict[str, tuple[int, int]], is_compared: bool) -> None:
    assert bool(periods_of(data(shares))) == is_compared


def test_all_answers_of_an_item_on_one_page_are_even() -> None:
    assert periods_of(data({"1": (3, 1), "2": (1, 3)}, together=True))
