"""A backup is the whole database at one moment, or nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from konsil.errors import StoreError
from konsil.records import Item
from konsil.store import Batch, Store
from konsil.store.backups.backup import backup, copy_store
from konsil.store.engine.engine import reading
from konsil.store.engine.schema import metadata
from konsil.store.log.heads import head_of
from konsil.store.people.access import Access
from konsil.store.people.people import Person, note_person

AT = "2025-03-01T12:00:00Z"


def test_a_backup_is_the_same_store(tmp_path: Path, sample: Batch) -> None:
    with Store.open(tmp_path) as store:
        store.add(sample, source="s", at=AT)
        assert backup(store, tmp_path / "copy.db").problems == ()
        with Store.open(tmp_path / "copy.db", create=False) as copy:
            assert copy.batch() == store.batch()
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []


def test_a_backup_among_writers_is_one_moment(tmp_path: Path) -> None:
    done = threading.Event()
    with Store.open(tmp_path) as store:

        def write() -> None:
            n = 0
            while not done.is_set():
                store.add(
                    Batch(items=(Item(f"i{n}", "x" * 5_000), Item(f"j{n}", "y"))), source="s", at=AT
                )
                n += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for n in range(3):
                assert backup(store, tmp_path / f"copy{n}.db").problems == ()
        finally:
            done.set()
            thread.join()
    with Store.open(tmp_path / "copy2.db", create=False) as copy:
        names = [i.id for i in copy.items()]
        assert sum(n.startswith("i") for n in names) == sum(n.startswith("j") for n in names)


def test_what_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("mine")
    with Store.open(tmp_path) as store:
        with pytest.raises(StoreError, match="exists already"):
            backup(store, tmp_path / "copy.db")
        with pytest.raises(StoreError, match="does not exist"):
            backup(store, tmp_path / "no" / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "mine"


def contents(store: Store) -> dict[str, list[str]]:
    """Every row of every table, the pages' and the log's included."""
    with reading(store.engine) as connection:
        return {
            table.name: sorted(repr(tuple(row)) for row in connection.execute(sa.select(table)))
            for table in metadata.sorted_tables
        }


def test_every_table_of_either_kind_is_in_the_backup(filled: Store, tmp_path: Path) -> None:
    access = Access(filled)
    access.invite("R1", "rater", at=AT, expires_at="2999-01-01T00:00:00Z")
    note_person(filled, Person("R1", "Ada Quokka", "quokka@clinic.example"))
    filled.cover_log(AT)
    summary = backup(filled, tmp_path / "copy.db")
    assert summary.problems == ()
    assert summary.head == head_of(filled)
    with Store.open(tmp_path / "copy.db", create=False) as copy:
        assert contents(copy) == contents(filled)
        assert copy.batch() == filled.batch()


def test_a_backup_is_restored_to_either_kind(
    where: str, sample: Batch, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Store.open(tmp_path_factory.mktemp("source")) as source:
        source.add(sample, source="s", at=AT)
        with Store.open(where) as target:
            counts = copy_store(source, target)
            assert contents(target) == contents(source)
            assert counts["ratings"] == len(sample.ratings)
            assert head_of(target) == head_of(source)
            assert target.verify_log() == ()
            # It goes on like any other: what comes later is under the same log.
            target.add(Batch(items=(Item("later", "x"),)), source="s", at=AT)
            assert target.verify_log() == ()
