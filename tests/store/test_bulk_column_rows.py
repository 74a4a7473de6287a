"""Many new records are written and hashed in columns as one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import cast

import polars as pl
import pytest

from konsil.errors import ConflictError, StoreError
from konsil.records import Answer, Citation, Item, Rater, Rating, Span, Task, bulk_constructor
from konsil.store import Batch, Store
from konsil.store.engine import engine as engines
from konsil.store.engine.bulk import column_insertion, column_rows
from konsil.store.engine.bulk.fingerprints import fingerprint
from konsil.store.engine.cells import strings_cell, strings_cells
from konsil.store.engine.rows import KINDS
from konsil.store.log import record_writer

AT = "2025-03-01T12:00:00Z"
TEXTS = ("plain", 'a "quote"', "back\\slash", "tab\t", "größe 😀", "del\x7f", "")


def batch() -> Batch:
    raters = [Rater("ann", "p", strata={"a": 'x"y\\'}), Rater("Zoë", "p")]
    items = [Item(f"i{n}", text, strata={"s": text}) for n, text in enumerate(TEXTS)]
    answers = [
        Answer(
            f"a{n}", f"i{n}", "x", text, citations=(Citation(text, "u"),), sentences=(Span(0, n),)
        )
        for n, text in enumerate(TEXTS)
    ]
    tasks = [
        Task(f"t{n}", "s", "ann", "form", f"i{n}", (f"a{n}", 'b"'), (Span(1, 2),), position=n)
        for n in range(len(TEXTS))
    ]
    ratings = [
        Rating(
            f"t{n}", r.id, "c", f"i{n}", (f"a{n}",), Span(0, 1), "rated", text, text, -0.0, n / 3
        )
        for n, text in enumerate(TEXTS)
        for r in raters[:1]
    ]
    return Batch(items, answers, raters, tasks, ratings)


def rows(folder: Path, records: Batch) -> list[list[tuple[object, ...]]]:
    with Store.open(folder) as store:
        added = store.add(records, source="test", at=AT)
        assert added.total_new() == len(records)
        assert store.verify_log() == ()
        with store.view() as view:
            tables = ("items", "answers", "raters", "tasks", "ratings")
            return [
                list(map(tuple, view.connection.exec_driver_sql(f"SELECT * FROM {name}")))
                for name in tables
            ]


@pytest.mark.parametrize("size", [2, 100])
def test_columns_are_written_as_records_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    for name in ("one", "many"):
        (tmp_path / name).mkdir()
    expected = rows(tmp_path / "one", batch())
    monkeypatch.setattr(record_writer, "_MANY", 1)
    monkeypatch.setattr("konsil.store.engine.bulk.column_rows.CHUNK", size)
    assert rows(tmp_path / "many", batch()) == expected


@pytest.mark.parametrize("text", ["a %(seconds)s b", "%(x)s", "__[POSTCOMPILE_x]", "100 % ? :x ''"])
def test_a_text_of_all_rows_is_no_place_of_a_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(record_writer, "_MANY", 1)
    items = [Item(f"i{n}", text) for n in range(3)]
    with Store.open(tmp_path) as store:
        store.add(Batch(items=items), source="test", at=AT)
        assert store.verify_log() == ()
        assert store.items() == tuple(items)


@pytest.mark.parametrize("many", [1, 1_000])
def test_what_no_database_keeps_is_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(record_writer, "_MANY", many)
    with Store.open(tmp_path) as store:
        items = [Item("i1", "fine"), Item("i2", "a\0b")]
        with pytest.raises(StoreError, match="item 'i2': text contains a NUL"):
            store.add(Batch(items=items), source="test", at=AT)
        assert store.items() == ()


@pytest.mark.parametrize("many", [1, 1_000])
def test_equal_records_are_written_once_and_others_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(record_writer, "_MANY", many)
    with Store.open(tmp_path) as store:
        with pytest.raises(ConflictError, match="stored 'a', got 'b'"):
            store.add(Batch(items=[Item("i1", "a"), Item("i1", "b")]), source="test", at=AT)
        added = store.add(Batch(items=[Item("i1", "a"), Item("i1", "a")]), source="test", at=AT)
        assert (added.new, added.unchanged) == ({"items": 1}, {"items": 1})
        assert store.verify_log() == ()


@pytest.mark.parametrize(
    "values",
    [
        [("a",), ('b"',), ("größe",)],
        [("a", "b"), (), ("\0",)],
        [("a",), (), ("b", "c")],
        [(), ()],
    ],
)
def test_many_lists_of_texts_are_written_as_each(values: list[tuple[str, ...]]) -> None:
    assert strings_cells(values) == [strings_cell(value) for value in values]


def test_lists_that_no_database_keeps_are_refused_among_many() -> None:
    with pytest.raises(UnicodeEncodeError):
        strings_cells([("a",), ("\ud800",)])
    with pytest.raises(TypeError):
        strings_cells([("a",), cast("tuple[str, ...]", (1,))])


def test_a_record_made_in_bulk_is_like_any_other() -> None:
    values = ("t", "p 1", "r", "form", "i", ("a",), (), "", "", "", 3, "main", None)
    task = bulk_constructor(Task)(*values)
    assert (task, hash(task), repr(task)) == (
        Task(*values),
        hash(Task(*values)),
        repr(Task(*values)),
    )
    with pytest.raises(FrozenInstanceError):
        setattr(task, "id", "u")  # noqa: B010 - the type checker refuses it, too
    assert replace(task, id="u").id == "u"


@pytest.mark.parametrize("text", ["fine", "a\0b"])
def test_indices_are_as_before_also_after_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(record_writer, "_MANY", 1)
    schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
    plan = "EXPLAIN QUERY PLAN SELECT * FROM tasks WHERE rater = 'ann' AND item = ?"
    with Store.open(tmp_path) as store:
        with store.view() as view:
            before = view.connection.exec_driver_sql(schema).all()
        records = batch()
        ratings = [*records.ratings, replace(records.ratings[0], criterion="d", note=text)]
        try:
            store.add(replace(records, ratings=ratings), source="test", at=AT)
        except StoreError as error:
            assert "contains a NUL" in str(error)
        with store.view() as view:
            assert view.connection.exec_driver_sql(schema).all() == before
            [[*_, use]] = view.connection.exec_driver_sql(plan, ("i1",))
            assert "USING INDEX tasks_by_" in use
            assert (len(store.tasks()) > 0) == (text == "fine")
            assert view.connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


def test_columns_are_stored_in_every_database(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_writer, "_MANY", 1)
    records = batch()
    with Store.open(where) as store:
        assert store.add(records, source="test", at=AT).total_new() == len(records)
        assert store.verify_log() == ()
        assert store.add(records, source="test", at=AT).total_new() == 0
        assert {r.label for r in store.ratings()} == {*TEXTS}


CELLS = (
    *(*TEXTS, "it's", "?", ":name", "%s", "\\N", "\\.", "\n\\.\n", "\r\n", "\b", "NULL", "x" * 300),
    *("\u2028", "\ufeff", "𝒳", "end\\"),
)


def rating_frame(texts: Sequence[str]) -> pl.DataFrame:
    numbers = (0.1 + 0.2, 1e300, 5e-324, -2.5, 3.0, 1e16, None)
    rows = []
    for n, text in enumerate(texts):
        number, item = numbers[n % len(numbers)], None if n % 2 else text
        key = (f"t{n}", "ann", "c", item, text, "")
        rows.append((*key, "rated", text, text, number, number, text, "form"))
    names = KINDS["ratings"].names
    types = dict.fromkeys(names, pl.String) | {"confidence": pl.Float64, "seconds": pl.Float64}
    return pl.DataFrame(rows, types, orient="row")


@pytest.mark.parametrize("alike", [False, True])
def test_every_text_and_number_is_inserted_as_it_is(where: str, alike: bool) -> None:
    """As the only value of its column, which stands in the statement, and among others."""
    kind, frame = KINDS["ratings"], rating_frame(CELLS)
    with Store.open(where) as store, engines.writing(store.engine) as connection:
        for part in frame.iter_slices(1) if alike else [frame]:
            column_insertion.insert(connection, kind, part, {"entry": 7, "revision": 1})
        names = ", ".join(kind.names)
        stored = connection.exec_driver_sql(f"SELECT {names}, entry, revision FROM ratings")
        assert {*map(tuple, stored)} == {(*row, 7, 1) for row in frame.rows()}


def test_rows_in_columns_have_the_fingerprints_of_rows() -> None:
    kind, salts = KINDS["ratings"], {"ann": "5a17"}
    frame = rating_frame(CELLS)
    for part in frame.iter_slices(1):
        expected = fingerprint(part.row(0), "5a17")
        assert column_rows.total(kind, part, "rater", salts) == expected
    plain = frame.filter(~pl.col("label").str.contains(r'["\\\\]'))
    whole = plain.with_columns(seconds=pl.int_range(plain.height).cast(pl.Float64))
    for part in (plain, whole):
        expected = sum(fingerprint(row, "5a17") for row in part.rows())
        assert column_rows.total(kind, part, "rater", salts) == expected
        assert column_rows.total(kind, part, "", {}) == sum(map(fingerprint, part.rows()))


@pytest.mark.parametrize("texts", [["a\0b"], ["a\0b", "c"], ['a "quote"', "c"]])
def test_rows_with_texts_that_columns_cannot_tell_have_no_sum(texts: list[str]) -> None:
    assert column_rows.total(KINDS["ratings"], rating_frame(texts), "", {}) is None


def test_a_refused_row_is_a_sentence_and_nothing_is_written(where: str) -> None:
    kind = KINDS["tasks"]
    task = kind.row(Task("t1", "s", "ann", "form", "i1"))
    types = dict.fromkeys(kind.names, pl.String) | {"position": pl.Int64}
    frame = pl.DataFrame([task, task], types, orient="row")
    with Store.open(where) as store:
        with (
            pytest.raises(StoreError, match=r"(?i)unique"),
            engines.writing(store.engine) as connection,
        ):
            column_insertion.insert(connection, kind, frame, {"entry": 7})
        assert store.tasks() == ()
