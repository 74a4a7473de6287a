"""What a killed run leaves is gone after the next one; drafts of a run that is under way stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from konsil.store import Batch, Store
from konsil.store.backups.backup import backup
from konsil.store.engine.leftovers import clear_leftovers, draft_prefix
from konsil.store.release.export import export

AT = "2025-03-01T12:00:00Z"
pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="processes of Windows are not asked whether they run"
)


@pytest.fixture
def ended() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_only_drafts_of_this_target_whose_maker_has_ended_are_removed(
    tmp_path: Path, ended: int
) -> None:
    target = tmp_path / "o*t"
    gone = [
        tmp_path / f".o*t.{ended}.x.partial",
        tmp_path / f".o*t.{ended}.db",
        tmp_path / f".o*t.{ended}.db-wal",
    ]
    stay = [
        tmp_path / f"{draft_prefix(target)}y.partial",
        tmp_path / f".other.{ended}.x.partial",
        tmp_path / ".o*t.notes",
        tmp_path / f".oxt.{ended}.db",
        tmp_path / f"o*t.{ended}.db",
        tmp_path / ".o*t.old.partial",
    ]
    for path in (*gone, *stay):
        path.mkdir() if path.suffix == ".partial" else path.write_text("x")
    (gone[0] / "ratings.csv").write_text("x")
    clear_leftovers(target)
    assert sorted(tmp_path.iterdir()) == sorted(stay)


def test_exports_and_backups_clear_what_killed_ones_left(
    tmp_path: Path, sample: Batch, ended: int
) -> None:
    (tmp_path / f".out.{ended}.abc.partial").mkdir()
    (tmp_path / f".b.db.{ended}.db").write_text("half a copy")
    with Store.open(tmp_path) as store:
        store.add(sample, source="x", at=AT)
        export(store, tmp_path / "out", "csv")
        backup(store, tmp_path / "b.db")
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []
