"""What holds names, keys or unpublished ratings is readable by its owner alone."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from konsil.notices import KonsilNotice
from konsil.store import Batch, Store
from konsil.store.backups.backup import backup
from konsil.store.calls.run_lock import alone
from konsil.store.engine import engine
from konsil.store.engine.folders import copy_new
from konsil.store.engine.private import write_private
from konsil.store.people.people import Person, forget_person, note_person
from konsil.store.release.export import export

AT = "2025-03-01T12:00:00Z"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """The umask of most machines, under which every account reads new files."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_database_and_its_companions_are_the_owners_alone(
    tmp_path: Path, sample: Batch
) -> None:
    with Store.open(tmp_path) as store, alone(store, "judge", AT):
        store.add(sample, source="x", at=AT)
        files = sorted(p.name for p in tmp_path.iterdir())
        assert {"konsil.db", "konsil.db-run", "konsil.db-wal", "konsil.db-shm"} <= set(files)
        assert {name: mode(tmp_path / name) for name in files} == dict.fromkeys(files, 0o600)


def test_an_owner_who_lets_others_in_is_not_overruled(tmp_path: Path, sample: Batch) -> None:
    with Store.open(tmp_path) as store:
        store.add(sample, source="x", at=AT)
    (tmp_path / "konsil.db").chmod(0o660)
    with Store.open(tmp_path) as store, alone(store, "judge", AT):
        assert mode(tmp_path / "konsil.db") == 0o660
        assert mode(tmp_path / "konsil.db-run") & 0o660 == 0o640, "as the database, less the umask"


@pytest.mark.parametrize("version", [1, 3])
def test_an_older_database_is_closed_when_it_is_brought_up_to_date(
    tmp_path: Path, version: int
) -> None:
    place = tmp_path / "konsil.db"
    with closing(sqlite3.connect(place)) as database:
        database.executescript(
            (Path(__file__).parents[1] / f"schema{version}.sql").read_text(encoding="utf-8")
        )
    assert mode(place) == 0o644
    with pytest.warns(KonsilNotice, match=f"updated from schema {version} to"):
        Store.open(tmp_path).close()
    assert mode(place) == 0o600


def test_backups_are_the_owners_alone(tmp_path: Path, sample: Batch) -> None:
    with Store.open(tmp_path) as store:
        store.add(sample, source="x", at=AT)
        backup(store, tmp_path / "copy.db")
    assert mode(tmp_path / "copy.db") == 0o600


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_exports_are_the_owners_alone(tmp_path: Path, sample: Batch, form: str) -> None:
    with Store.open(tmp_path) as store:
        store.add(sample, source="x", at=AT)
        export(store, tmp_path / "out", form)  # type: ignore[arg-type]
    assert mode(tmp_path / "out") == 0o700
    assert {mode(p) for p in (tmp_path / "out").iterdir()} == {0o600}


def test_a_new_study_is_its_owners_alone(tmp_path: Path) -> None:
    copy_new(tmp_path / "study", lambda draft: None)
    assert mode(tmp_path / "study") == 0o700


def test_a_private_file_is_never_open_for_a_moment_and_replaces_an_open_one(tmp_path: Path) -> None:
    place = tmp_path / "kit.html"
    place.write_text("older")
    write_private(place, b"newer")
    assert (place.read_bytes(), mode(place)) == (b"newer", 0o600)
    assert [p.name for p in tmp_path.iterdir()] == ["kit.html"]


def test_an_erased_name_is_in_no_file_of_the_database(tmp_path: Path, sample: Batch) -> None:
    name = "Zacharias Einmalig-Nachname"
    with Store.open(tmp_path) as store, closing(sqlite3.connect(tmp_path / "konsil.db")) as other:
        # Another program that has read keeps the write-ahead log from being deleted at the end.
        store.add(sample, source="x", at=AT)
        note_person(store, Person("R1", name, "z@example.org"))
        other.execute("select count(*) from people").fetchone()
        assert forget_person(store, "R1")
        for path in tmp_path.iterdir():
            assert name.encode() not in path.read_bytes(), path.name


def test_sqlite_overwrites_what_is_deleted_however_it_was_compiled() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        engine._sqlite_settings(connection, None)  # type: ignore[arg-type]
        assert connection.execute("PRAGMA secure_delete").fetchone()[0] == 1


def test_a_reader_elsewhere_delays_the_erasure_from_the_log_but_not_the_program(
    tmp_path: Path, sample: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_SHORT_WAIT", 1)
    with Store.open(tmp_path) as store:
        store.add(sample, source="x", at=AT)
        with closing(sqlite3.connect(tmp_path / "konsil.db")) as other:
            other.execute("begin")
            other.execute("select count(*) from people").fetchone()
            note_person(store, Person("R1", "Ada", ""))
            assert not engine.empty_log(store.engine)
            other.rollback()
            assert engine.empty_log(store.engine)
