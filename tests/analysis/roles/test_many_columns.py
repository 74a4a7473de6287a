"""Tables of many columns are read as those of few, without an explanation of every reading."""

from __future__ import annotations

import random
from itertools import permutations

import polars as pl
import pytest

from konsil.analysis.roles import proposal
from konsil.analysis.roles.candidates import leftover, long, once
from konsil.analysis.roles.candidates.compared import shown_order
from konsil.analysis.roles.columns import Table, table_of
from konsil.analysis.roles.reading import StatedRoles, Task


def survey(n_columns: int, n_rows: int = 60) -> pl.DataFrame:
    """Answers to questions of five kinds, each person in a row."""
    rng = random.Random(n_columns)
    words = {"trust": "12345", "vote": "yn", "live": "abcd", "age": "123456789", "mood": "+-0"}
    columns = {
        f"{kind}{n}": [rng.choice(words[kind]) for _ in range(n_rows)]
        for n, kind in zip(range(n_columns), [*words] * n_columns, strict=False)
    }
    return pl.DataFrame({"id": [f"p{n}" for n in range(n_rows)], **columns})


def long_table(n_criteria: int) -> pl.DataFrame:
    rng = random.Random(3)
    rows = [(f"case {unit}", rater) for unit in range(15) for rater in ("ann", "ben", "cem")]
    criteria = {f"x{n}": [rng.choice("1234") for _ in rows] for n in range(n_criteria)}
    return pl.DataFrame({"case": [r[0] for r in rows], "rater": [r[1] for r in rows], **criteria})


FRAMES = (survey(12), survey(25), long_table(1), long_table(5), long_table(12))


@pytest.mark.slow
@pytest.mark.parametrize("task", ["ratings", "groups", "comparisons"])
@pytest.mark.parametrize("frame", FRAMES, ids=["few", "several", "one", "criteria", "many"])
def test_a_reading_that_is_left_out_is_none_that_is_shown(
    frame: pl.DataFrame, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The likeliest readings and their points are those of all readings explained."""
    bounded = proposal.propose(frame, StatedRoles(), task)
    monkeypatch.setattr(proposal, "_floor", lambda _: float("-inf"))
    assert bounded == proposal.propose(frame, StatedRoles(), task)


@pytest.mark.slow
def test_twice_as_many_columns_are_no_more_explanations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readings with a row for each rating are explained if they can be among the likeliest."""
    explained: list[int] = []
    monkeypatch.setattr(leftover, "_is_alike", lambda *_: explained.append(1))
    monkeypatch.setattr(proposal, "rated_together", lambda *_: [])
    floor = 0.0
    for n_columns in (20, 40):
        explained.clear()
        table = proposal.table_of_rows(survey(n_columns), StatedRoles())
        assert not [*long.by_rating(table, StatedRoles(), floor)]
        assert not [*once.rated_once(table, StatedRoles(), 10.0)]
        assert not explained


@pytest.mark.slow
def test_few_readings_of_a_table_of_many_columns_are_explained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    explained: list[bool] = []

    def counted(*arguments: object) -> bool:
        explained.append(leftover.explain(*arguments))  # type: ignore[arg-type]
        return explained[-1]

    monkeypatch.setattr(long, "explain", counted)
    proposal.propose(survey(40), StatedRoles(), "ratings")
    assert 0 < sum(explained) < 400 and len(explained) < 1_000


def test_only_names_with_a_word_for_an_order_are_compared_in_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [*survey(60).columns, "winner", "winner_swapped"]
    every_pair = [pair for pair in permutations(names, 2) if shown_order.are_orders(*pair)]
    compared: list[str] = []
    are_orders = shown_order.are_orders
    monkeypatch.setattr(
        shown_order, "are_orders", lambda a, b: compared.append(b) or are_orders(a, b)
    )
    assert [*shown_order.pairs_of_orders(names)] == every_pair == [("winner", "winner_swapped")]
    assert len(compared) < 5 * len(names)


def test_names_of_sides_are_those_of_any_pair_that_differs_in_its_side() -> None:
    names = ["a", "b", "column 1", "column 2", "left_x", "right_x", "left_y", "s1", "s2", "s3", "q"]
    pairs = [pair for pair in permutations(names, 2) if shown_order.are_sides(*pair)]
    of_sides = {name for pair in pairs for name in pair}
    assert (
        shown_order.names_of_sides(names)
        == of_sides
        == {*names}
        - {"column 1", "column 2"}
        - {
            "s3",
            "q",
        }
    )


def test_the_order_of_two_columns_does_not_change_how_far_they_have_the_same_labels() -> None:
    """Ages in whole numbers and minutes, of which only the former are counted in steps."""
    frame = pl.DataFrame({"minutes": ["0.5", "59.5", "1.5"], "age": ["20", "79", "33"]})
    table, other = table_of(frame, (), ()), table_of(frame, (), ())
    minutes, age = table.columns
    of_others = other.share(*reversed(other.columns))
    assert table.share(minutes, age) == table.share(age, minutes) == of_others


def test_a_text_that_begins_with_of_is_no_name_of_units() -> None:
    """A table with such cells is read like any other."""
    text = "Of the patient, of whom nothing is known."
    frame = survey(5).with_columns(pl.lit(text).alias("note"))
    assert proposal.propose(frame, StatedRoles(), "ratings").reading is not None


@pytest.mark.slow
def test_no_points_are_lost_but_those_of_columns_left_out() -> None:
    """What a draft has at most before its explanation is no less than what it has after it."""
    for frame in FRAMES:
        table: Table = table_of(frame, (), ())
        for draft in long.by_rating(table, StatedRoles()):
            keys = (*draft.units, draft.rater or "")
            if draft.shape == "one-rating":
                continue
            lost = [p for p, reason, _ in draft.evidence if reason.startswith("left_out")]
            fresh = draft.copy(roles={}, points=draft.points - sum(lost))
            assert leftover.most_points(table, fresh, keys) >= draft.points - 1e-9


@pytest.mark.parametrize("frame", FRAMES)
def test_a_column_depends_on_others_where_equal_rows_have_one_value(frame: pl.DataFrame) -> None:
    table = table_of(frame, (), ())
    names = [column.name for column in table.columns][:6]
    for key in names:
        for other in names:
            is_same = table.n_groups([key]) == table.n_groups([key, other])
            assert table.decides([key], other) == is_same
