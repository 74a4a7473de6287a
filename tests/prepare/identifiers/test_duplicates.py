"""Duplicates: planted ones are found, whatever the order, and questions that differ are not."""

from __future__ import annotations

import random

import numpy as np
import pytest

from konsil.prepare.identifiers.duplicates import (
    Duplicates,
    duplicate_groups,
    duplicates_event,
    grouped,
    last_duplicates,
    pairs,
    to_leave_out,
    within,
)
from konsil.records import Item

LONG = (
    "Which dose of apixaban should I give a woman of 72 years with atrial fibrillation and a GFR of"
    " 28 ml/min?"
)


def found(*texts: str) -> list[tuple[str, str, str]]:
    items = [Item(f"q{n}", text) for n, text in enumerate(texts)]
    return [(pair.first, pair.second, pair.match) for pair in pairs(items)]


@pytest.mark.parametrize(
    ("other", "how"),
    [
        (LONG, "exact"),
        (LONG.upper(), "same words"),
        (f"  {LONG.replace(' ', '  ')}", "same words"),
        (LONG.replace("?", " "), "same words"),
        (LONG.replace("should I give", "should one give"), "near"),
        (LONG.replace("Which", "Hello, which"), "near"),
    ],
)
def test_planted_duplicates_are_found(other: str, how: str) -> None:
    assert found(LONG, "Stop aspirin before surgery?", other) == [("q0", "q2", how)]


def test_other_questions_are_none() -> None:
    others = ("Which dose of metformin?", "Which dose of apixaban?", "Stop aspirin?", "", "", "?")
    assert found(LONG, *others) == []


def test_pairs_and_groups_are_the_same_in_any_order() -> None:
    texts = [
        LONG,
        LONG.lower(),
        LONG.replace("28", "29"),
        "Stop aspirin?",
        "stop aspirin",
        "Something else entirely?",
    ]
    items = [Item(f"q{n}", text) for n, text in enumerate(texts)]
    mixed = list(items)
    random.Random(3).shuffle(mixed)
    assert pairs(items) == pairs(mixed)
    assert grouped(pairs(items)) == (("q0", "q1", "q2"), ("q3", "q4"))


def test_many_copies_of_a_question_make_one_group_without_all_their_pairs() -> None:
    items = [Item(f"q{n:04}", LONG if n % 2 else LONG.upper()) for n in range(600)]
    made = pairs(items)
    assert len(made) < 4 * len(items)
    assert [len(group) for group in grouped(made)] == [600]


def test_translations_are_searched_only_with_vectors() -> None:
    items = [Item("a", "Which dose?"), Item("b", "Welche Dosis?"), Item("c", "Stop aspirin?")]
    vectors = np.array([[1.0, 0.0], [0.96, 0.28], [0.0, 1.0]])
    made = pairs(items, embed=lambda texts: vectors)
    assert [(pair.first, pair.second, pair.match) for pair in made] == [("a", "b", "translated")]
    assert duplicate_groups(items, made, translated=True).searched[-1] == "translated"
    assert "translated" not in duplicate_groups(items, (), translated=False).searched


def test_one_of_each_group_stays_and_is_not_one_that_is_left_out_already() -> None:
    groups = Duplicates((("a", "b", "c"), ("d", "e")))
    assert to_leave_out(groups, ()) == ("b", "c", "e")
    assert to_leave_out(groups, ("a", "e")) == ("c",)
    assert within(groups, ("a", "c", "d")) == (2, 1)


def test_what_was_found_last_is_read_back() -> None:
    items = [Item("a", LONG), Item("b", LONG), Item("c", LONG)]
    first = duplicate_groups(items, pairs(items), translated=False)
    second = duplicate_groups(
        items, pairs(items), translated=False, apart={"c": "p-1", "gone": "p-1"}
    )
    events = [
        duplicates_event(second, 2, "2026-01-02T00:00:00Z"),
        duplicates_event(first, 1, "2026-01-01T00:00:00Z"),
    ]
    assert last_duplicates(events) == (2, second)
    assert (second.groups, second.apart) == ((("a", "b"),), {"c": "p-1"})
    assert last_duplicates([]) == (0, None)
