"""A backup is the whole database at one moment, or nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from konsil.errors import StoreError
from konsil.records import Item
from konsil.store import Batch, Store
from konsil.store.release.backup import backup

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
