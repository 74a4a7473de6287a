"""Killed, out of disk, or two at once: all or nothing."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import event

from konsil.errors import StoreError
from konsil.records import Item, Rating
from konsil.store import Batch, Store

AT = "2025-03-01T12:00:00Z"

_IMPORTER = """
import sys
from konsil.records import Item, Rating
from konsil.store import Batch, Store

where, start, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with Store.open(where) as store:
    print("open", flush=True)
    items = tuple(Item(f"i{k}", "?" * 200) for k in range(start, start + n))
    ratings = tuple(Rating(f"t{k}", "R", "c", f"i{k}", label="1") for k in range(start, start + n))
    print("made", flush=True)
    store.add(Batch(items=items, ratings=ratings), source=f"from {start}", at="2025-03-01T12:00:00Z")
    print("added", flush=True)
"""


def _start(where: Path | str, start: int, n: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _IMPORTER, str(where), str(start), str(n)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _kill_during_import(tmp_path: Path, seconds: float, n: int) -> bool:
    """Kill an import so many seconds into its writing; say whether it had been acknowledged."""
    process = _start(tmp_path, 0, n)
    assert process.stdout is not None
    with process:
        while process.stdout.readline().strip() != "made":
            assert process.poll() is None
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
    return "added" in rest


def _check(tmp_path: Path, n: int, acknowledged: bool) -> bool:
    """The database is sound and holds all or nothing; say which."""
    with Store.open(tmp_path) as store:
        counts = store.counts()
        assert (counts["items"], counts["ratings"]) in ((0, 0), (n, n))
        assert store.verify_log() == ()
        if acknowledged:
            assert counts["ratings"] == n
    plain = sqlite3.connect(tmp_path / "konsil.db")
    assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    plain.close()
    return counts["ratings"] == n


@pytest.mark.slow
def test_kill_9_leaves_all_or_nothing(tmp_path: Path) -> None:
    for seconds in (0.15, 0.05, 0.0):
        folder = tmp_path / str(seconds)
        folder.mkdir()
        if not _check(folder, 20_000, _kill_during_import(folder, seconds, 20_000)):
            break
    else:
        pytest.fail("every kill came too late to say anything")
    with Store.open(folder) as store:
        store.add(Batch(items=(Item("i", "?"),)), source="afterwards", at=AT)
        assert store.counts()["items"] == 1


@pytest.mark.slow
def test_kill_9_at_any_point_leaves_all_or_nothing(tmp_path: Path) -> None:
    rng = random.Random(20_250_301)
    outcomes = []
    for attempt in range(14):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        acknowledged = _kill_during_import(folder, rng.uniform(0.0, 1.2), 20_000)
        outcomes.append(_check(folder, 20_000, acknowledged))
    assert False in outcomes, "every kill came too late"


@pytest.mark.slow
def test_kill_9_while_the_database_is_made(tmp_path: Path) -> None:
    code = (
        "import sys; from konsil.store import Store; print('x', flush=True);"
        " Store.open(sys.argv[1])"
    )
    for attempt in range(10):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE
        )
        with process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.04 * attempt)
            process.kill()
        with Store.open(folder) as store:
            assert sum(store.counts().values()) == 0
            assert store.verify_log() == ()


@pytest.mark.slow
def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    few = Batch(items=(Item("i", "?"),))
    many = Batch(
        items=tuple(Item(f"x{k}", "?" * 500) for k in range(12_000)),
        ratings=tuple(Rating(f"t{k}", "R", "c", f"x{k}", label="1") for k in range(12_000)),
    )
    with Store.open(tmp_path) as store:
        store.add(few, source="few", at=AT)
        pages = _limit(store)
        with pytest.raises(StoreError, match="the disk is full; nothing was written"):
            store.add(many, source="many", at=AT)
        assert pages
        assert store.items() == few.items
        assert store.ratings() == ()
        assert store.verify_log() == ()
    with Store.open(tmp_path) as store:
        assert store.add(many, source="many", at=AT).total_new() == 24_000
        assert store.verify_log() == ()


def _limit(store: Store) -> list[int]:
    """Let the database grow by two hundred pages and no more."""
    seen: list[int] = []

    def limit(connection: sqlite3.Connection, _record: object) -> None:
        size = connection.execute("PRAGMA page_count").fetchone()[0]
        seen.append(connection.execute(f"PRAGMA max_page_count = {size + 200}").fetchone()[0])

    store.engine.dispose()
    event.listen(store.engine, "connect", limit)
    return seen


@pytest.mark.slow
def test_two_processes_write_at_once(where: str) -> None:
    """They even make the database at the same moment."""
    processes = [_start(where, start, 3_000) for start in (0, 10_000)]
    for process in processes:
        out, _ = process.communicate(timeout=100)
        assert process.returncode == 0
        assert "added" in out
    with Store.open(where) as store:
        assert store.counts()["ratings"] == 6_000
        assert store.verify_log() == ()


@pytest.mark.slow
def test_many_small_writers_never_find_it_locked(where: str) -> None:
    code = """
import sys
from konsil.records import Rating
from konsil.store import Store
with Store.open(sys.argv[1]) as store:
    for k in range(40):
        store.revise((Rating(f"t{sys.argv[2]}", "R", "c", "i", label=str(k)),), at="2025-03-01T12:00:00Z",
                     event_id=f"{sys.argv[2]}-{k}")
        store.ratings()
"""
    processes = [subprocess.Popen([sys.executable, "-c", code, where, str(n)]) for n in range(6)]
    assert [process.wait(timeout=200) for process in processes] == [0] * 6
    with Store.open(where) as store:
        assert {r.label for r in store.ratings()} == {"39"}
        assert len(store.events()) == 240
        assert store.verify_log() == ()


def test_a_reader_sees_one_moment_while_others_write(store: Store) -> None:
    store.add(Batch(items=(Item("i1", "?"),)), source="x", at=AT)
    with store.view() as view:
        assert view.counts()["items"] == 1
        store.add(Batch(items=(Item("i2", "?"),)), source="y", at=AT)
        assert view.counts()["items"] == 1
        assert [i.id for i in view.each("items")] == ["i1"]
    assert store.counts()["items"] == 2
