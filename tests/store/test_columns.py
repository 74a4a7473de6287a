"""Records read as columns say what the records say."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import polars as pl
import pytest

from konsil.analysis.model.spec import Exclusions
from konsil.analysis.table.columns import Columns, answers_in, rating_columns, task_columns
from konsil.analysis.table.conformity import used
from konsil.analysis.table.coverage import coverage
from konsil.analysis.table.frame import Data, RatingTable, rating_table
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Item, Rater, Rating, Task
from konsil.store import Batch, KindName, Store
from konsil.store.engine import frames
from konsil.store.engine.rows import KINDS


def test_columns_become_the_records_in_their_order(filled: Store) -> None:
    with filled.view() as view:
        for kind in get_args(KindName):
            columns, records = view.columns(kind), tuple(view.each(kind))
            assert (len(columns), tuple(columns)) == (len(records), records)
            assert (columns[0], columns[1:]) == (records[0], records[1:])


@pytest.mark.parametrize(("rows", "parts"), [(1, 1), (1, 2), (2, 2), (3, 100)])
def test_pieces_of_any_size_make_the_same_columns(
    filled: Store, monkeypatch: pytest.MonkeyPatch, rows: int, parts: int
) -> None:
    with filled.view() as view:
        whole = {kind: view.columns(kind).frame for kind in get_args(KindName)}
        monkeypatch.setattr("konsil.store.engine.bulk.raw_rows.CHUNK", rows)
        monkeypatch.setattr(frames, "_PARTS", parts)
        for kind, frame in whole.items():
            assert view.columns(kind).frame.equals(frame), kind


@pytest.mark.parametrize("name", ["items", "answers", "raters", "tasks", "events"])
def test_records_become_columns_and_again_records(sample: Batch, name: KindName) -> None:
    records = sample.of(name)
    columns = frames.columns_of(KINDS[name], records)
    assert [*columns] == [*records] != []
    assert [*frames.columns_of(KINDS[name], [])] == []


def test_texts_that_all_tasks_share_are_categories(sample: Batch) -> None:
    tasks = [replace(sample.tasks[0], id=f"t{n}", position=n) for n in range(3)]
    schema = frames.columns_of(KINDS["tasks"], tasks).frame.schema
    assert (schema["id"], schema["slot"], schema["position"]) == (
        pl.String,
        pl.Categorical,
        pl.Int64,
    )


def test_an_empty_store_has_empty_columns(store: Store) -> None:
    with store.view() as view:
        assert tuple(view.columns("ratings")) == ()
        empty = Data(ratings=view.columns("ratings"), tasks=view.columns("tasks"))
        assert rating_table(empty, Exclusions(), ()).frame.height == 0


def _data(batch: Batch) -> Data:
    return Data(
        batch.items, batch.answers, batch.raters, batch.tasks, batch.ratings, batch.attempts
    )


def test_the_long_table_is_the_same_of_columns_and_of_records(filled: Store, sample: Batch) -> None:
    by_record = _data(sample)
    with filled.view() as view:
        by_column = replace(by_record, tasks=view.columns("tasks"), ratings=view.columns("ratings"))
    rules = Exclusions(raters=("R2",))
    first, second = (rating_table(data, rules, ()) for data in (by_record, by_column))
    order = ["item", "task", "criterion", "answers", "span"]
    assert first.frame.sort(order).equals(second.frame.sort(order))
    assert first.frame.sort(order).select("answers", "system", "span", "case", "label").rows() == [
        ("", "", "", None, "yes"),
        ("", "", "", "case-1", "hard\r\nvery"),
        ("a1", "s1", "", "case-1", "4"),
        ("a1", "s1", "0-10", "case-1", ""),
        ("a2", "s2", "", "case-1", None),
        ("a1 | a2", "s1 | s2", "", "case-1", "-2"),
    ]
    assert first.excluded.equals(second.excluded)
    assert first.frame.schema == second.frame.schema


def test_texts_have_the_same_types_of_columns_and_of_records(filled: Store, sample: Batch) -> None:
    """Frames whose texts have different types cannot be joined."""
    with filled.view() as view:
        tasks, ratings = view.columns("tasks"), view.columns("ratings")
    assert task_columns(tasks).schema == task_columns(sample.tasks).schema
    assert rating_columns(ratings).schema == rating_columns(sample.ratings).schema
    by_record = used(Data(tasks=sample.tasks, ratings=sample.ratings), Exclusions())
    assert used(Data(tasks=tasks, ratings=ratings), Exclusions()).schema == by_record.schema
    assert task_columns(tasks).schema["rater"] == pl.Categorical


def test_excluded_ratings_are_not_used(filled: Store) -> None:
    with filled.view() as view:
        data = Data(tasks=view.columns("tasks"), ratings=view.columns("ratings"))
    everybody = used(data, Exclusions())
    assert everybody.height == len(data.ratings)
    others = used(data, Exclusions(raters=("R1",)))
    assert others.height == everybody.filter(pl.col("rater") != "R1").height < everybody.height


def test_expected_counts_are_the_same_of_columns_and_of_records(
    filled: Store, sample: Batch
) -> None:
    scale = Scale(labels=("no", "yes"))
    scopes = ("answer", "sentence", "pair", "item")
    criteria = tuple(Criterion(scope, "?", scale, scope=scope) for scope in scopes)  # type: ignore[arg-type]
    instruments = [Instrument("form", criteria)]
    data = _data(sample)
    nothing = rating_table(replace(data, ratings=()), Exclusions(), ())
    with filled.view() as view:
        columns: Columns[Task] = view.columns("tasks")
        told = [
            {
                (r.criterion, r.system): r.expected
                for r in coverage(one, empty, instruments, Exclusions(), planned=True)
            }
            for one in (data, replace(data, tasks=columns))
            for empty in (
                RatingTable(nothing.frame, rating_table(data, Exclusions(), ()).excluded),
            )
        ]
    assert told[0] == told[1]
    expected = {k: v for k, v in told[0].items() if v}
    assert expected == {
        ("answer", "s1"): 1,
        ("answer", "s2"): 1,
        ("sentence", "s1"): 1,
        ("sentence", "s2"): 1,
        ("pair", "s1 | s2"): 1,
        ("item", ""): 1,
    }


def test_tasks_without_answers_have_no_answer(sample: Batch) -> None:
    each = answers_in(task_columns(sample.tasks))
    assert each.select("id", "answer").rows() == [("t1", "a2"), ("t1", "a1")]


def test_columns_of_one_value_are_as_the_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One value in the first rows, in all rows, or none at all; 0.0 and -0.0 are equal."""
    tasks = [Task(f"t{n}", "p 1", "R1", "form", "i1", position=n // 3) for n in range(4)]
    ratings = [
        Rating(f"t{n}", "R1", "c", "i1", label="yes", note="" if n < 3 else "x", seconds=1.5)
        for n in range(4)
    ]
    people = (Rater("R1", "p"),)
    batch = Batch((Item("i1", "?"),), (), people, tasks, ratings)
    store.add(batch, source="x", at="2025-03-01T12:00:00Z")
    for n_first in (1, 3, 4, 100):
        monkeypatch.setattr(frames, "_FIRST", n_first)
        with store.view() as view:
            assert tuple(view.columns("ratings")) == tuple(view.each("ratings"))
            assert tuple(view.columns("tasks")) == tuple(view.each("tasks"))
            types = [
                view.columns("tasks").frame.schema[n] for n in ("arm", "position", "repeat_of")
            ]
            assert types == [pl.String, pl.Int64, pl.String]
