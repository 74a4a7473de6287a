"""Backups of whole studies: what is in them, which are removed, and how they are restored."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import konsil
from konsil.api.running import archiving
from konsil.errors import KonsilError, StoreError
from konsil.records import Item, Rater
from konsil.records.roles import ROLES
from konsil.store import Batch, Store
from konsil.store.backups import database_copy
from konsil.store.engine.engine import reading
from konsil.store.engine.page_schema import visitors
from konsil.store.log.heads import head_of, origin_of
from konsil.store.people.access import Access
from small_studies import form, raters, study_text, systems
from store.conftest import new_database, server  # noqa: F401  a fixture

AT = "2025-03-01T12:00:00Z"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "ward 1"
    (folder / "tables").mkdir(parents=True)
    protocol = study_text(
        "A study", form(question="?"), systems("a"), raters("p1", panel="panel"), seed=1
    )
    (folder / "study.toml").write_text(protocol, "utf-8")
    (folder / "tables" / "items.csv").write_text("id,text\ni,?\n")
    with konsil.open(folder).store(create=True) as store:
        batch = Batch(items=(Item("i", "A question?"),), raters=(Rater("p1", "panel"),))
        store.add(batch, source="x", at=AT)
        access = Access(store)
        secret = access.invite("p1", "rater", at=AT, expires_at="2999-01-01T00:00:00Z")
        until = dict.fromkeys(ROLES, "2999-01-01T00:00:00Z")
        assert access.redeem(secret, at=AT, expires_at=until, language="en")
    return folder


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock is a minute later."""
    minutes = iter(range(60))
    monkeypatch.setattr(archiving, "now", lambda: f"2026-11-25T02:{next(minutes):02}:00Z")


def test_a_backup_has_the_study_and_nothing_else(study: Path, tmp_path: Path, clock: None) -> None:
    (study / ".konsil-key").write_text("secret")
    for name in ("copy.db", "konsil.db-wal", "old.tar", "old.tar.age", ".hidden", "x.partial"):
        if not (study / name).exists():
            (study / name).write_text("x")
    (study / ".git").mkdir()
    (study / ".git" / "HEAD").write_text("x")
    (study / "link.csv").symlink_to("/etc/passwd")
    backups = tmp_path / "backups"
    backups.mkdir()
    archived = archiving.archive_study(konsil.open(study), backups)
    origin = origin_of(konsil.open(study).store())
    assert archived.path == backups / f"ward 1-{origin}-20261125T020000Z.tar"
    assert archived.unreadable == ()
    assert sorted(archived.manifest.files) == [
        "konsil.db",
        "study/.konsil-key",
        "study/study.toml",
        "study/tables/items.csv",
    ]


def test_only_older_backups_of_this_study_are_removed_and_only_afterwards(
    study: Path, tmp_path: Path, clock: None
) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    others = ["ward 10-20200101T000000Z.tar", "ward 1-2020.tar", "ward 1.tar", "notes.txt"]
    for name in others:
        (backups / name).write_text("x")
    opened = konsil.open(study)
    first, second, third = (archiving.archive_study(opened, backups, keep=2) for _ in range(3))
    assert (first.removed, second.removed, third.removed) == ((), (), (first.path,))
    assert sorted(p.name for p in backups.iterdir()) == sorted(
        [*others, second.path.name, third.path.name]
    )
    with opened.store() as store, store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE items SET text = 'altered'")
    with pytest.raises(StoreError, match="not archived"):
        archiving.archive_study(opened, backups, keep=1)
    assert second.path.exists()
    with pytest.raises(StoreError, match="expected at least 1, got 0"):
        archiving.archive_study(opened, backups, keep=0)


def test_a_study_of_the_same_name_keeps_its_backups(
    study: Path, tmp_path: Path, clock: None
) -> None:
    backups, other = tmp_path / "backups", tmp_path / "other" / study.name
    shutil.copytree(study, other)
    (other / "konsil.db").unlink()
    with konsil.open(other).store(create=True) as store:
        store.add(Batch(items=(Item("i", "Another question?"),)), source="x", at=AT)
    first = archiving.archive_study(konsil.open(study), backups, keep=1)
    second = archiving.archive_study(konsil.open(other), backups, keep=1)
    assert (second.removed, first.path.exists()) == ((), True)


def test_a_file_that_may_not_be_read_is_stated_and_stops_no_backup(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (study / "closed.json").write_text("{}")
    monkeypatch.setattr(archiving.os, "access", lambda path, _: path.name != "closed.json")
    archived = archiving.archive_study(konsil.open(study), tmp_path / "backups")
    assert archived.unreadable == (Path("closed.json"),)
    assert "study/closed.json" not in archived.manifest.files
    assert archiving.check_archive(archived.path).rows["items"] == 1


@pytest.fixture
def backup(study: Path, tmp_path: Path) -> Path:
    backups = tmp_path / "backups"
    backups.mkdir()
    return archiving.archive_study(konsil.open(study), backups).path


def test_a_restored_study_is_the_study(study: Path, backup: Path, tmp_path: Path) -> None:
    restored = archiving.restore_study(backup, tmp_path / "back")
    assert restored.rows["items"] == 1
    assert stat.S_IMODE((tmp_path / "back").stat().st_mode) == 0o700
    with konsil.open(tmp_path / "back").store() as back, reading(back.engine) as connection:
        assert connection.execute(sa.select(visitors)).all() == []
    with konsil.open(study).store() as store, reading(store.engine) as connection:
        assert len(connection.execute(sa.select(visitors)).all()) == 1
    opened = konsil.open(tmp_path / "back")
    assert opened.study == konsil.open(study).study
    with opened.store() as back, konsil.open(study).store() as store:
        assert back.batch() == store.batch()
    with pytest.raises(KonsilError, match="exists and is not empty"):
        archiving.restore_study(backup, tmp_path / "back")


def test_a_trial_leaves_nothing(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = sorted(tmp_path.iterdir())
    assert archiving.check_archive(backup).rows["raters"] == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_backup_with_another_head_leaves_nothing(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archiving, "head_of", lambda _: "1-0")
    with pytest.raises(StoreError, match="the head of the audit log is 1-0, in the manifest"):
        archiving.restore_study(backup, tmp_path / "back")
    assert not (tmp_path / "back").exists()
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_a_restore_to_another_database_refuses_a_used_one(backup: Path, tmp_path: Path) -> None:
    restored = archiving.restore_study(
        backup, tmp_path / "back", database=f"sqlite:///{tmp_path}/other.db"
    )
    assert restored.rows["items"] == 1
    assert sorted(p.name for p in (tmp_path / "back").iterdir()) == ["study.toml", "tables"]
    with pytest.raises(StoreError, match="exists already; name a new file"):
        archiving.restore_study(
            backup, tmp_path / "again", database=f"sqlite:///{tmp_path}/other.db"
        )
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_a_failed_restore_leaves_the_named_database_empty(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, request: Any
) -> None:
    """The copy differs, the folder cannot be made, or the copy breaks off: then it is tried again."""
    database = f"sqlite:///{tmp_path}/other.db"
    if kind == "postgresql":
        database = new_database(request.getfixturevalue("server"))
    heads = iter(["", "1-0"])
    with monkeypatch.context() as patched:
        right = archiving.head_of
        patched.setattr(archiving, "head_of", lambda store: next(heads) or right(store))
        with pytest.raises(StoreError, match="the head of the audit log is 1-0, in the manifest"):
            archiving.restore_study(backup, tmp_path / "back", database=database)
    with monkeypatch.context() as patched:
        patched.setattr("os.rename", _full_disk)
        with pytest.raises(OSError, match="disk"):
            archiving.restore_study(backup, tmp_path / "back", database=database)
    with monkeypatch.context() as patched:
        patched.setattr(database_copy, "copy_store", _full_disk)
        with pytest.raises(OSError, match="disk"):
            archiving.restore_study(backup, tmp_path / "back", database=database)
        # As a killed restore leaves it: with tables, without records.
        if kind == "postgresql":
            Store.open(database).close()
    slower = database_copy.DatabaseCopy(database)
    assert archiving.restore_study(backup, tmp_path / "back", database=database).rows["items"] == 1
    # What another restore stored meanwhile stays.
    with konsil.open(tmp_path / "back", database=database).store() as store:
        with pytest.raises(StoreError, match=r"contains a study already|exists already"):
            slower.fill(store, head_of)
        slower.undo(StoreError())
        assert len(store.items()) == 1


def _full_disk(*_: object) -> None:
    raise OSError("the disk is full")


def test_a_copy_that_cannot_be_removed_is_stated(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise StoreError("is busy")

    monkeypatch.setattr(database_copy.DatabaseCopy, "_remove", refuse)
    monkeypatch.setattr(database_copy, "copy_store", _full_disk)
    with pytest.raises(StoreError) as caught:
        archiving.restore_study(
            backup, tmp_path / "back", database=f"sqlite:///{tmp_path}/other.db"
        )
    assert str(caught.value) == (
        f"the disk is full; the copy in {tmp_path}/other.db could not be removed (is busy); name"
        " another database next time"
    )


def test_keys_are_read_from_files_and_a_secret_key_is_refused_on_the_server(
    tmp_path: Path,
) -> None:
    public = archiving.write_key(tmp_path / "s")
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600
    assert archiving.read_secret(tmp_path / "s").startswith("AGE-SECRET-KEY-1")
    assert archiving.read_secret(None) == ""
    (tmp_path / "p").write_text(f"# ours\n{public}\n\n{public}\n")
    assert archiving.read_public([public, str(tmp_path / "p")]) == (public,) * 3
    for name, content, sentence in (
        ("s", None, "does not belong on the server"),
        ("none", "# nothing\n", "contains no public key"),
        ("missing", None, "cannot be read: No such file"),
    ):
        if content is not None:
            (tmp_path / name).write_text(content)
        with pytest.raises(StoreError, match=sentence):
            archiving.read_public([str(tmp_path / name)])
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name, sentence in (("p", "contains no secret key"), ("binary", "is not text")):
        with pytest.raises(StoreError, match=sentence):
            archiving.read_secret(tmp_path / name)
    with pytest.raises(StoreError, match="exists already"):
        archiving.write_key(tmp_path / "s")


@pytest.mark.skipif(shutil.which("age") is None, reason="the program age is not installed")
def test_the_program_age_opens_an_encrypted_backup(study: Path, tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    public = archiving.write_key(tmp_path / "s")
    path = archiving.archive_study(konsil.open(study), backups, keys=[public]).path
    plain = tmp_path / "plain.tar"
    subprocess.run(["age", "-d", "-i", tmp_path / "s", "-o", plain, path], check=True, timeout=60)
    assert archiving.check_archive(plain).rows["items"] == 1
