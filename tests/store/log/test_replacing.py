"""Imports that are replaced: only imports, all or nothing, and the log stays verified."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from konsil.errors import StoreError
from konsil.records import Item, Rater
from konsil.store import Batch, Store
from konsil.store.log import audit, replacing
from small_studies import exit_code

AT = "2026-01-01T00:00:00Z"
FILES = {"a.csv": "0" * 64}


def batch(n: int) -> Batch:
    return Batch(items=[Item(f"i{k}", f"Text {k}") for k in range(n)], raters=[Rater("r1", "p")])


def imported(store: Store, n: int = 3) -> None:
    store.add(batch(n), source="a.csv", digest="1", at=AT, files=FILES)


def replaced(store: Store, n: int):
    return store.replace_imports(batch(n), source="b.csv", digest="2", at=AT, files=FILES)


def test_what_was_imported_goes_and_the_log_states_it(tmp_path: Path):
    with Store.open(tmp_path) as store:
        imported(store)
        added = replaced(store, 2)
        assert added.removed == {"items": 3, "raters": 1}
        assert added.new == {"items": 2, "raters": 1}
        assert [item.id for item in store.items()] == ["i0", "i1"]
        assert store.verify_log() == ()
        replaced(store, 5)
        assert store.verify_log() == () and len(store.items()) == 5
        with store.view() as view:
            first, second = audit.entries(view.connection, audit.REPLACEMENT)
        assert first["removed"] == {"items": 3, "raters": 1} and list(first["residues"]) == ["1"]
        assert second["removed"] == {"items": 2, "raters": 1} and list(second["residues"]) == ["3"]
        # The same again changes nothing but by a replacement.
        same = store.add(batch(5), source="b.csv", digest="2", at=AT, files=FILES)
        assert same.total_new() == 0


def test_a_row_changed_behind_konsil_is_detected_after_a_replacement(tmp_path: Path):
    with Store.open(tmp_path) as store:
        imported(store)
        replaced(store, 2)
    with sqlite3.connect(tmp_path / "konsil.db") as database:
        database.execute("UPDATE items SET text = 'other' WHERE id = 'i1'")
    with Store.open(tmp_path) as store:
        assert len(store.verify_log()) == 1


def test_records_that_the_log_does_not_cover_are_not_replaced(tmp_path: Path):
    with Store.open(tmp_path) as store:
        imported(store)
    with sqlite3.connect(tmp_path / "konsil.db") as database:
        database.execute("UPDATE items SET text = 'other' WHERE id = 'i1'")
    with Store.open(tmp_path) as store:
        before = store.log_head()
        with pytest.raises(StoreError, match="verification failed"):
            replaced(store, 2)
        assert store.log_head() == before and len(store.items()) == 3


@pytest.mark.parametrize("command", ["plan", "freeze", "invite", "report"])
def test_nothing_is_replaced_once_anything_else_is_recorded(tmp_path: Path, command: str):
    study = tmp_path / "study"
    assert exit_code("new", study) == 0
    assert exit_code("import", study) == 0
    assert exit_code("import", study, "--replace") == 0
    if command == "plan":  # written as an import, of no file
        with Store.open(study) as store:
            store.add(batch(1), source="plan", at=AT)
    elif command == "freeze":
        assert exit_code("freeze", study, "--by", "lead") == 0
    elif command == "invite":
        assert exit_code("invite", study) == 0
    else:
        assert exit_code("report", study) == 0
    with Store.open(study) as store:
        before, head = store.batch(), store.log_head()
        assert store.obstacles_to_replacement()
    assert exit_code("import", study, "--replace") == 2
    with Store.open(study) as store:
        assert store.batch() == before and store.log_head() == head
        assert store.verify_log() == ()


def test_a_wrong_file_that_is_mended_replaces_the_import(tmp_path: Path):
    study = tmp_path / "study"
    assert exit_code("new", study) == 0
    ratings = study / "ratings.csv"
    right = ratings.read_text("utf-8")
    wrong = "\n".join(right.splitlines()[:-2]) + "\n"
    ratings.write_text(wrong, "utf-8")
    assert exit_code("import", study) == 0
    with Store.open(study) as store:
        n_before = len(store.ratings())
    ratings.write_text(right.replace(",Correct", ",Incorrect"), "utf-8")
    # Ratings that differ are a conflict, and only a replacement takes them.
    assert exit_code("import", study) == 2
    assert exit_code("import", study, "--replace") == 0
    with Store.open(study) as store:
        assert len(store.ratings()) > n_before
        assert "Correct" not in {r.label for r in store.ratings()}
        assert store.verify_log() == ()
    ratings.write_text("unit\n1\n", "utf-8")
    assert exit_code("import", study, "--replace") == 2
    with Store.open(study) as store:
        assert "Correct" not in {r.label for r in store.ratings()}


_KILLED = """
import os, signal, sys
from konsil.store import Store
from konsil.store.log import replacing, write
from test_replacing import imported, replaced

moment = sys.argv[2]
def die(*_args, **_more):
    os.kill(os.getpid(), signal.SIGKILL)
if moment == "removed":
    write.add = die
elif moment == "removing":
    replacing.audit.append = die
with Store.open(sys.argv[1]) as store:
    replaced(store, 2)
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["removing", "removed", "never"])
def test_a_kill_in_the_middle_leaves_the_old_or_the_new(tmp_path: Path, moment: str):
    with Store.open(tmp_path) as store:
        imported(store)
    here = Path(__file__)
    paths = os.pathsep.join([str(here.parent), str(here.parents[2])])
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED, str(tmp_path), moment],
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
    )
    assert ended.returncode == (0 if moment == "never" else -signal.SIGKILL)
    with Store.open(tmp_path) as store:
        assert len(store.items()) == (2 if moment == "never" else 3)
        assert store.verify_log() == ()
        assert store.obstacles_to_replacement() == ()


def test_every_table_that_is_no_record_hinders_a_replacement(tmp_path: Path):
    with Store.open(tmp_path) as store:
        imported(store)
        with store.view() as view:
            assert replacing.import_sources(view.connection) == ("a.csv",)
    with sqlite3.connect(tmp_path / "konsil.db") as database:
        database.execute("INSERT INTO staff (who, name) VALUES ('lead', 'A')")
    with Store.open(tmp_path) as store:
        assert store.obstacles_to_replacement() == ("staff",)
        with pytest.raises(StoreError):
            replaced(store, 1)
        assert len(store.items()) == 3
