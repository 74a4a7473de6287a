"""Backups of a whole centre: what is in them, which are removed, what a kill leaves, and the way back."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import konsil
from konsil.api.running import archiving
from konsil.api.serving import centre_backups
from konsil.api.serving.centre_backups import (
    archive_centre,
    check_centre_archive,
    is_centre,
    read_centre,
    restore_centre,
)
from konsil.errors import KonsilError, StoreError
from konsil.records import Item
from konsil.store import Batch, Store
from konsil.store.backups.centre_index import CentreIndex, ListedArchive, read_index, write_index
from konsil.store.engine.unlocking import unlocked
from konsil.store.log.heads import check_head, head_of
from konsil.store.people import centre_log
from konsil.web.centre.settings import read_settings
from small_studies import form, raters, study_text, systems
from store.conftest import new_database, server  # noqa: F401  a fixture

AT = "2025-03-01T12:00:00Z"
Call = Callable[..., tuple[int, str, str]]
PROTOCOL = study_text("A study", form(question="?"), systems("a"), raters("p1"), seed=1)
LISTED = """title = "Lung" # ours

[[studies]]
folder = "heart"

[[studies]]
folder = "../elsewhere/heart"
path = "heart-2"

[sign_in]
issuer = "https://login.example.org"
client_id = "konsil"
client_secret_variable = "NOT_SET_HERE"
"""


def make_study(folder: Path, n_items: int) -> None:
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(PROTOCOL, "utf-8")
    with konsil.open(folder).store(create=True) as store:
        items = tuple(Item(f"i{n}", "A question?") for n in range(n_items))
        store.add(Batch(items=items), source="x", at=AT)


@pytest.fixture
def centre(tmp_path: Path) -> Path:
    """Two studies of a folder, with one and two items."""
    for n, name in enumerate(("heart", "lung"), 1):
        make_study(tmp_path / "studies" / name, n)
    return tmp_path / "studies"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock is a minute later."""
    minutes = iter(range(60))
    for module in (archiving, centre_backups):
        monkeypatch.setattr(module, "now", lambda: f"2026-11-25T02:{next(minutes):02}:00Z")


def index_of(path: Path, secret: str = "") -> CentreIndex:
    index = read_centre(path, secret=secret)
    assert index is not None
    return index


def n_items(folder: Path, database: str = "") -> int:
    with konsil.open(folder, database=database).store() as store:
        assert store.verify_log() == ()
        return len(store.items())


def test_a_centre_is_a_folder_of_studies_or_a_list_of_them(centre: Path, tmp_path: Path) -> None:
    (tmp_path / "list.toml").write_text("")
    (tmp_path / "empty").mkdir()
    assert is_centre(centre)
    assert is_centre(tmp_path / "list.toml")
    for other in (centre / "heart", centre / "heart" / "study.toml", tmp_path / "empty"):
        assert not is_centre(other), other
    assert not is_centre(tmp_path / "missing")
    (tmp_path / "empty" / "centre.toml").write_text("")
    assert is_centre(tmp_path / "empty")


def test_a_centre_is_backed_up_encrypted_tested_and_restored(centre: Path, tmp_path: Path) -> None:
    (centre / "centre.toml").write_text("title = 'Ours'\n")
    public = archiving.write_key(tmp_path / "secret.key")
    secret = archiving.read_secret(tmp_path / "secret.key")
    made = archive_centre(centre, tmp_path / "backups", keys=[public])
    assert made.path.name.startswith("studies-centre-")
    assert {*made.studies} == {"heart", "lung"}
    assert (made.problems, made.removed) == ({}, ())
    assert all(p.name.endswith(".tar.age") for p in (tmp_path / "backups").iterdir())
    assert b"heart" not in made.path.read_bytes()
    with pytest.raises(StoreError, match="is encrypted"):
        read_centre(made.path)
    index = index_of(made.path, secret)
    assert index == made.index
    checked = check_centre_archive(made.path, index, secret=secret)
    assert {s: r.rows["items"] for s, r in checked.studies.items()} == {"heart": 1, "lung": 2}
    restore_centre(made.path, tmp_path / "back", index, secret=secret)
    assert [n_items(tmp_path / "back" / name) for name in ("heart", "lung")] == [1, 2]
    assert (tmp_path / "back" / "centre.toml").read_text() == "title = 'Ours'\n"
    # The backup of one study is that of `konsil backup` of this study.
    assert read_centre(made.studies["lung"].path, secret=secret) is None
    assert archiving.check_archive(made.studies["lung"].path, secret=secret).rows["items"] == 2


def write_log(where: Path | str) -> str:
    """A log of a centre with an adoption of `heart` and a refusal; its head."""
    with Store.open(where) as log:
        log.audit(centre_log.ADOPTED, {"study": "heart", "database": "x", "log": "0-0"}, AT)
        log.audit(centre_log.REFUSED, {"study": "heart"}, AT)
        return head_of(log)


def log_in(place: Path | str) -> tuple[tuple[str, ...], str]:
    with Store.open(place, create=False) as log:
        return log.verify_log(), head_of(log)


@pytest.mark.slow
def test_the_centres_own_audit_log_is_in_its_backup(centre: Path, tmp_path: Path) -> None:
    head = write_log(centre / "centre.db")
    # As while serving: a writer has the database open.
    with Store.open(centre / "centre.db") as serving:
        made = archive_centre(centre, tmp_path / "backups", keep=1)
        serving.audit(centre_log.REFUSED, {}, AT)
    index = index_of(made.path)
    assert (made.log_problem, index.log_head) == ("", head)
    assert not [p for p in centre.iterdir() if p.name.startswith(".")]
    check_centre_archive(made.path, index)
    restore_centre(made.path, tmp_path / "back", index)
    log = tmp_path / "back" / "centre.db"
    assert log_in(log) == ((), head)
    if os.name != "nt":
        assert log.stat().st_mode & 0o077 == 0
    with Store.open(log) as store:
        store.audit(centre_log.REFUSED, {}, AT)
        assert list(check_head(store, head)) == []
    assert log_in(log)[0] == ()


def test_a_restored_centre_writes_to_no_log_elsewhere(centre: Path, tmp_path: Path) -> None:
    head = write_log(tmp_path / "elsewhere.db")
    (centre / "centre.toml").write_text("# ours\nlog = '../elsewhere.db'\ntitle = 'Ours'\n")
    made = archive_centre(centre, tmp_path / "backups")
    restore_centre(made.path, tmp_path / "back", index_of(made.path))
    assert log_in(tmp_path / "back" / "centre.db") == ((), head)
    settings = read_settings(tmp_path / "back")
    assert (settings.title, settings.log) == ("Ours", "")
    (tmp_path / "elsewhere.db").unlink()
    missing = archive_centre(centre, tmp_path / "others").log_problem
    assert missing.endswith("elsewhere.db: there is no such file")


@pytest.mark.slow
def test_a_log_with_a_url_is_restored_to_a_database_or_the_folder(
    centre: Path, tmp_path: Path
) -> None:
    head = write_log(tmp_path / "log.db")
    (centre / "centre.toml").write_text(f"log = 'sqlite:///{tmp_path}/log.db'\n")
    made = archive_centre(centre, tmp_path / "backups")
    index = index_of(made.path)
    restore_centre(made.path, tmp_path / "files", index)
    assert log_in(tmp_path / "files" / "centre.db") == ((), head)
    database = f"sqlite:///{tmp_path}/new-{{study}}.db"
    restore_centre(made.path, tmp_path / "back", index, database=database)
    log = read_settings(tmp_path / "back").log
    assert log == f"sqlite:///{tmp_path}/new-audit-log.db"
    assert log_in(log) == ((), head)
    assert not (tmp_path / "back" / "centre.db").exists()


def test_a_damaged_log_is_stated_and_removes_no_older_list(
    centre: Path, tmp_path: Path, clock: None
) -> None:
    write_log(centre / "centre.db")
    first = archive_centre(centre, tmp_path / "backups", keep=1)
    with (
        Store.open(centre / "centre.db") as log,
        log.engine.begin() as connection,
        unlocked(connection, "audit_log"),
    ):
        connection.exec_driver_sql("UPDATE audit_log SET at = 'x' WHERE seq = 1")
    second = archive_centre(centre, tmp_path / "backups", keep=1)
    assert "entry 1" in second.log_problem
    assert {*second.studies} == {"heart", "lung"}
    assert first.path.exists()
    assert index_of(second.path).log_head == ""
    (centre / "centre.db").write_text("no database")
    third = archive_centre(centre, tmp_path / "backups", keep=1)
    assert third.log_problem.startswith(f"{centre}/centre.db: ")
    assert third.problems == {}


def test_another_log_in_the_list_is_refused(centre: Path, tmp_path: Path) -> None:
    head = write_log(tmp_path / "log.db")
    other = CentreIndex(AT, (), log_head="2-" + "a" * 64)
    write_index(tmp_path / "other.tar", other, log=tmp_path / "log.db")
    index = index_of(tmp_path / "other.tar")
    with pytest.raises(StoreError, match=f"own audit log is {head}, in the list 2-aaa"):
        check_centre_archive(tmp_path / "other.tar", index)
    with pytest.raises(StoreError, match=f"own audit log is {head}, in the list 2-aaa"):
        restore_centre(tmp_path / "other.tar", tmp_path / "back", index)
    assert not (tmp_path / "back").exists()
    write_index(tmp_path / "none.tar", other)
    write_index(tmp_path / "extra.tar", CentreIndex(AT, ()), log=tmp_path / "log.db")
    for name in ("none.tar", "extra.tar"):
        with pytest.raises(StoreError, match="lists another audit log"):
            read_index(tmp_path / name)


def test_listed_studies_are_restored_to_subfolders_that_the_new_list_names(
    centre: Path, tmp_path: Path
) -> None:
    make_study(tmp_path / "elsewhere" / "heart", 3)
    (centre / "centre.toml").write_text(LISTED)
    made = archive_centre(centre / "centre.toml", tmp_path / "backups")
    assert {*made.studies} == {"heart", "heart-2"}
    restore_centre(made.path, tmp_path / "back", index_of(made.path))
    assert n_items(tmp_path / "back" / "heart-2") == 3
    settings = (tmp_path / "back" / "centre.toml").read_text()
    assert settings.startswith('title = "Lung" # ours\n')
    assert 'client_secret_variable = "NOT_SET_HERE"' in settings
    places = read_settings(tmp_path / "back", with_service=False).places()
    assert [(p.slug, p.folder.name, p.database) for p in places] == [
        ("heart", "heart", ""),
        ("heart-2", "heart-2", ""),
    ]


def test_a_study_that_cannot_be_backed_up_stops_no_other_and_keeps_its_backups(
    centre: Path, tmp_path: Path, clock: None
) -> None:
    backups = tmp_path / "backups"
    first = archive_centre(centre, backups, keep=1)
    shutil.copy(centre / "lung" / "konsil.db", tmp_path / "whole.db")
    with konsil.open(centre / "lung").store() as store, store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE items SET text = 'altered'")
    second = archive_centre(centre, backups, keep=1)
    assert {*second.studies} == {"heart"}
    assert "not archived" in second.problems["lung"]
    assert index_of(second.path).missing == ("lung",)
    assert {*second.removed} == {first.path, first.studies["heart"].path}
    assert first.studies["lung"].path.exists()
    for name in ("heart", "lung"):
        (centre / name / "study.toml").write_text("schema = ")
    with pytest.raises(StoreError, match=r"no study was backed up; heart: .*; lung: ") as caught:
        archive_centre(centre, backups, keep=1)
    assert str(caught.value).startswith(f"{centre}: ")
    assert index_of(second.path) == second.index


def test_one_database_for_all_studies_is_refused(
    centre: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KONSIL_DATABASE", "sqlite:///x.db")
    with pytest.raises(KonsilError, match="KONSIL_DATABASE is set, but each study"):
        archive_centre(centre, tmp_path / "backups")


KILLED = """
import os, signal, sys
from pathlib import Path
from konsil.api.running import archiving
from konsil.api.serving.centre_backups import archive_centre
from konsil.store.backups import archive

archiving.now = lambda: "2026-11-25T02:02:30Z"
add, calls = archive.add_member, []

def add_and_die(*arguments):
    digest = add(*arguments)
    calls.append(1)
    if len(calls) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return digest

archive.add_member = add_and_die
archive_centre(Path(sys.argv[1]), Path(sys.argv[2]), keep=1)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_a_kill_within_the_second_study_leaves_the_former_backup(
    centre: Path, tmp_path: Path, clock: None
) -> None:
    backups = tmp_path / "backups"
    head = write_log(centre / "centre.db")
    first = archive_centre(centre, backups, keep=1)
    # Three members of the first study, one of the second.
    done = subprocess.run([sys.executable, "-c", KILLED, centre, backups, "4"], timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert len([p for p in backups.iterdir() if not p.name.startswith(".")]) == 4
    assert {*check_centre_archive(first.path, index_of(first.path)).studies} == {"heart", "lung"}
    assert index_of(first.path).log_head == head
    assert len([*centre.glob(".*")]) == 1
    second = archive_centre(centre, backups, keep=1)
    assert {*second.removed} > {first.path}
    # What the killed run had begun is removed by the next one.
    names = {second.path.name, *(a.path.name for a in second.studies.values())}
    assert {p.name for p in backups.iterdir()} == names
    assert not [*centre.glob(".*")]


def test_a_restore_that_fails_leaves_neither_folder_nor_databases(
    centre: Path, tmp_path: Path
) -> None:
    made = archive_centre(centre, tmp_path / "backups")
    index = index_of(made.path)
    made.studies["lung"].path.rename(tmp_path / "moved")
    database = f"sqlite:///{tmp_path}/{{study}}.db"
    with pytest.raises(StoreError, match=r"lung-.*cannot be read: No such file"):
        restore_centre(made.path, tmp_path / "back", index, database=database)
    assert not (tmp_path / "back").exists()
    assert not list(tmp_path.glob("*.db"))
    (tmp_path / "moved").rename(made.studies["lung"].path)
    with pytest.raises(StoreError, match=r"expected \{study\} in the URL"):
        restore_centre(made.path, tmp_path / "back", index, database="postgresql://h/d")
    restore_centre(made.path, tmp_path / "back", index, database=database)
    assert not (tmp_path / "back" / "lung" / "konsil.db").exists()
    [_, lung] = read_settings(tmp_path / "back").places()
    assert n_items(lung.folder, lung.database) == 2


@pytest.mark.slow
def test_a_centre_is_restored_to_postgresql(centre: Path, tmp_path: Path, server: str) -> None:
    base, _, name = new_database(server).rpartition("/")
    import psycopg

    for study in ("heart", "lung", "audit-log"):
        with psycopg.connect(f"{base}/{name}", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}_{study}"')
    # The log, too, is read from PostgreSQL and restored to it.
    head = write_log(f"{base}/{name}")
    (centre / "centre.toml").write_text(f"log = '{base}/{name}'\n")
    made = archive_centre(centre, tmp_path / "backups")
    assert (made.log_problem, made.index.log_head) == ("", head)
    database = f"{base}/{name}_{{study}}"
    restore_centre(made.path, tmp_path / "back", index_of(made.path), database=database)
    restored = read_settings(tmp_path / "back")
    assert [n_items(p.folder, p.database) for p in restored.places()] == [1, 2]
    assert restored.log == f"{base}/{name}_audit-log"
    assert log_in(restored.log) == ((), head)


def test_an_older_backup_in_place_of_the_listed_one_is_refused(
    centre: Path, tmp_path: Path, clock: None
) -> None:
    made = archive_centre(centre, tmp_path / "backups")
    with konsil.open(centre / "lung").store() as store:
        store.add(Batch(items=(Item("new", "?"),)), source="x", at=AT)
    later = archive_centre(centre, tmp_path / "backups")
    made.studies["lung"].path.replace(later.studies["lung"].path)
    with pytest.raises(StoreError, match=r"its head is .*, in the backup of the centre"):
        check_centre_archive(later.path, index_of(later.path))


def _altered(record: dict[str, Any]) -> ListedArchive:
    return ListedArchive(**{"study": "lung", "file": "lung.tar", "head": "h", **record})


@pytest.mark.parametrize(
    "name",
    ["../x", "a/b", "a\\b", "c:x", ".hidden", "", "x\0", "\x1b[2J", "centre.toml", "Centre.db"],
)
def test_a_list_with_other_places_is_refused(tmp_path: Path, name: str) -> None:
    for n, key in enumerate(("study", "file")):
        path = tmp_path / f"{n}.tar"
        write_index(path, CentreIndex(AT, (_altered({key: name}),)))
        with pytest.raises(StoreError, match="which is no name of a file"):
            read_index(path)


@pytest.mark.parametrize("name", ["x?host=elsewhere", "x y", "audit-log"])
def test_a_study_of_a_list_names_no_other_database(tmp_path: Path, name: str) -> None:
    index = CentreIndex(AT, (_altered({"study": name}),))
    with pytest.raises(StoreError, match="cannot be a part of the URL"):
        restore_centre(
            tmp_path / "x.tar", tmp_path / "back", index, database="postgresql://h/{study}"
        )


@pytest.mark.skipif(os.name == "nt", reason="no such names")
def test_a_study_that_no_list_can_name_is_stated_and_the_rest_can_be_restored(
    centre: Path, tmp_path: Path
) -> None:
    (centre / "lung").rename(centre / "lung: 1\n")
    made = archive_centre(centre, tmp_path / "backups")
    assert "cannot be listed in a backup of a centre" in made.problems["lung: 1\n"]
    index = index_of(made.path)
    assert index.missing == ("lung: 1?",)
    assert {*check_centre_archive(made.path, index).studies} == {"heart"}


def test_settings_that_are_no_toml_file_leave_nothing(tmp_path: Path) -> None:
    index = CentreIndex(AT, (), settings="title =")
    with pytest.raises(KonsilError, match=r"centre\.toml of the backup: not valid TOML"):
        restore_centre(tmp_path / "x.tar", tmp_path / "back", index)
    assert not list(tmp_path.iterdir())


def test_damaged_lists_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.tar"
    write_index(path, CentreIndex(AT, (_altered({}), _altered({}))))
    with pytest.raises(StoreError, match="lists 'lung' twice"):
        read_index(path)
    write_index(tmp_path / "c.tar", CentreIndex(AT, (), settings="x"))
    with pytest.raises(StoreError, match="exists already"):
        write_index(tmp_path / "c.tar", CentreIndex(AT, ()))
    with pytest.raises(StoreError, match="cannot be read: No such file"):
        read_centre(tmp_path / "missing.tar")
    write_index(tmp_path / "escape.tar", CentreIndex("\x1b[2J", ()))
    with pytest.raises(StoreError, match="no readable centre"):
        read_index(tmp_path / "escape.tar")
    (tmp_path / "text.tar").write_text("text")
    assert read_centre(tmp_path / "text.tar") is None
    (tmp_path / "centre.json").write_text("{}")
    for name, members in (("json.tar", ["centre.json"]), ("link.tar", ["centre.json", "text.tar"])):
        with tarfile.open(tmp_path / name, "w") as archive:
            for member in members:
                archive.add(tmp_path / member, member)
    with pytest.raises(StoreError, match=r"is incomplete: no readable centre\.json"):
        read_centre(tmp_path / "json.tar")
    with pytest.raises(StoreError, match=r"'text\.tar', which is no file of a centre"):
        read_centre(tmp_path / "link.tar")
