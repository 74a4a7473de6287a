"""A table is filled without its indices, that of its primary key included, and is then as before."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.records import Item, Rater, Rating, Task
from konsil.store import Batch, Store
from konsil.store.engine import engine as engines
from konsil.store.engine import schema
from konsil.store.engine.bulk import late_indices
from konsil.store.log import record_writer

AT = "2025-03-01T12:00:00Z"
SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
TASK = "INSERT INTO tasks VALUES (?, 's', 'ann', 'form', 'i', '[]', '[]', '', '', '', 0, 'main', NULL, 2)"


@pytest.fixture(autouse=True)
def _always_in_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_writer, "_MANY", 1)


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """A store with nothing in it."""
    with Store.open(folder) as store:
        yield store


def batch(n: int = 30) -> Batch:
    # The keys come in no order.
    ids = [f"t{7919 * i % 1000}" for i in range(n)]
    tasks = [Task(task, "s", "ann", "form", "i1") for task in ids]
    ratings = [Rating(task, "ann", c, "i1", label="yes") for task in ids for c in ("safe", "clear")]
    return Batch((Item("i1", "?"),), (), (Rater("ann", "p"),), tasks, ratings)


def indices(connection: Connection, table: str) -> set[tuple[str, str]]:
    """The indices of a table, each with its origin: c, a statement, or pk, the key."""
    rows = connection.exec_driver_sql(f"PRAGMA index_list({table})")
    return {(name, origin) for _, name, _, origin, _ in rows}


def described(store: Store) -> list[Any]:
    with store.view() as view:
        assert view.connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        assert view.connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
        return list(view.connection.exec_driver_sql(SCHEMA))


@pytest.mark.parametrize("table", [schema.tasks, schema.ratings, schema.answers])
def test_a_table_has_no_index_while_it_is_filled(tmp_path: Path, table: sa.Table) -> None:
    with opened(tmp_path) as store:
        before = described(store)
        with engines.writing(store.engine) as connection:
            of_table = indices(connection, table.name)
            assert (f"sqlite_autoindex_{table.name}_1", "pk") in of_table
            with late_indices.indices_afterwards(connection, table):
                assert indices(connection, table.name) == set()
                # Nothing has to be searched in a large index.
                assert connection.exec_driver_sql("PRAGMA cache_size").scalar() == -2_000
            assert indices(connection, table.name) == of_table
        assert described(store) == before


def test_a_filled_table_refuses_the_same_key_and_searches_by_it(tmp_path: Path) -> None:
    """In the connection that filled it, and in one that knew it before."""
    records = batch()
    task = records.tasks[7].id
    with opened(tmp_path) as store, closing(sqlite3.connect(tmp_path / "konsil.db")) as other:
        assert other.execute("SELECT count(*) FROM tasks WHERE id = ?", (task,)).fetchone() == (0,)
        store.add(records, source="test", at=AT)
        plan = "EXPLAIN QUERY PLAN SELECT label FROM ratings WHERE task = 't' AND criterion = 'c'"
        with store.view() as view:
            [[*_, use]] = view.connection.exec_driver_sql(plan)
            assert "USING INDEX sqlite_autoindex_ratings_1 (task=? AND criterion=?)" in use
        assert other.execute("SELECT count(*) FROM tasks WHERE id = ?", (task,)).fetchone() == (1,)
        with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: tasks\.id"):
            other.execute(TASK, (task,))
        other.rollback()
        with (
            pytest.raises(StoreError, match=r"UNIQUE constraint failed: tasks\.id"),
            engines.writing(store.engine) as connection,
        ):
            connection.exec_driver_sql(TASK, (task,))
        # The history of ratings refers to their key.
        revised = replace(records.ratings[3], label="no")
        store.revise([revised], at=AT, event_id="e1")
        described(store)
        assert store.verify_log() == ()


def test_the_same_key_twice_leaves_everything_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        before = described(store)
        with (
            pytest.raises(StoreError, match=r"UNIQUE constraint failed: tasks\.id"),
            engines.writing(store.engine) as connection,
            late_indices.indices_afterwards(connection, schema.tasks),
        ):
            for _ in range(2):
                connection.exec_driver_sql(TASK, ("t1",))
        assert described(store) == before
        assert store.tasks() == ()
        assert store.add(batch(), source="test", at=AT).new["tasks"] == 30
        assert described(store) == before


def test_a_program_killed_while_it_fills_a_table_leaves_it_as_it_was(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    with opened(tmp_path) as store:
        before = described(store)
        with engines.writing(store.engine) as connection:
            connection.exec_driver_sql("PRAGMA cache_size = 5")
            with late_indices.indices_afterwards(connection, schema.tasks):
                for n in range(3_000):
                    connection.exec_driver_sql(TASK, (f"t{n}",))
                for name in ("konsil.db", "konsil.db-wal"):
                    shutil.copy(tmp_path / name, copy / name)
                assert (copy / "konsil.db-wal").stat().st_size > 100_000
    with opened(copy) as store:
        assert described(store) == before
        assert store.tasks() == ()


@pytest.mark.parametrize("reason", ["an older SQLite", "no permission"])
def test_the_key_is_filled_with_each_row_where_descriptions_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    def permit(action: int, name: str | None, value: str | None, *_: str | None) -> int:
        is_edit = action == sqlite3.SQLITE_PRAGMA and (name, value) == ("writable_schema", "ON")
        return sqlite3.SQLITE_IGNORE if is_edit else sqlite3.SQLITE_OK

    if reason == "an older SQLite":
        monkeypatch.setattr(late_indices, "_RELOADS", (99,))
    with opened(tmp_path) as store:
        before = described(store)
        with engines.writing(store.engine) as connection:
            driver: Any = connection.connection.driver_connection
            if reason == "no permission":
                driver.set_authorizer(permit)
            with late_indices.indices_afterwards(connection, schema.tasks):
                assert indices(connection, "tasks") == {("sqlite_autoindex_tasks_1", "pk")}
                assert connection.exec_driver_sql("PRAGMA cache_size").scalar() == -98_304
                connection.exec_driver_sql(TASK, ("t1",))
            driver.set_authorizer(None)
        assert described(store) == before
        assert [task.id for task in store.tasks()] == ["t1"]


@pytest.mark.parametrize(
    "columns",
    [
        "a TEXT NOT NULL, b TEXT, PRIMARY KEY (a), UNIQUE (b)",
        "a TEXT NOT NULL, b TEXT UNIQUE, PRIMARY KEY (a)",
        "a TEXT NOT NULL PRIMARY KEY, b TEXT",
        "a INTEGER NOT NULL, b TEXT, PRIMARY KEY (a)",
        "a TEXT, b TEXT",
    ],
)
@pytest.mark.parametrize("ending", ["", " WITHOUT ROWID"])
def test_tables_with_other_keys_are_filled_as_they_are(
    tmp_path: Path, columns: str, ending: str
) -> None:
    if ending and "PRIMARY KEY" not in columns:
        ending = ""
    table = sa.Table("many", sa.MetaData())
    engine = engines.make_engine(engines.place(tmp_path / "other.db"))
    with engines.writing(engine) as connection:
        connection.exec_driver_sql(f"CREATE TABLE many ({columns}){ending}")
        connection.exec_driver_sql("CREATE INDEX many_by_b ON many (b)")
    with engines.writing(engine) as connection:
        before = connection.exec_driver_sql(SCHEMA).all()
        of_table = indices(connection, "many")
        with late_indices.indices_afterwards(connection, table):
            assert indices(connection, "many") == of_table - {("many_by_b", "c")}
            connection.exec_driver_sql("INSERT INTO many VALUES (2, 'x'), (1, 'y')")
        assert connection.exec_driver_sql(SCHEMA).all() == before
    with engines.reading(engine) as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        assert connection.exec_driver_sql("SELECT b FROM many ORDER BY a").scalars().all() == [
            "y",
            "x",
        ]
    engine.dispose()
