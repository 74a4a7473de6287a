"""The promises of docs/stability.md about schemas, held against the code."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from konsil.cli.main import main
from konsil.errors import StoreError
from konsil.store import Batch, Store
from konsil.store.engine.schema import SCHEMA
from konsil.study import SCHEMA as STUDY_SCHEMA

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "stability.md").read_text("utf-8")
OLDER = range(1, SCHEMA)
NEWER_STUDY = re.compile(
    r"konsil: .*study\.toml:3:1: schema: this study has schema \d+, this version supports schemas up to"
    r" \d+; install a newer konsil\n"
)


def content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of an SQLite database."""
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = sorted(name for (name,) in names)
        return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in tables}


def old_study(folder: Path, number: int) -> Path:
    """A study's folder with a database that the version of that schema wrote."""
    folder.mkdir(exist_ok=True)
    starter = ROOT / "src/konsil/protocols/starter"
    for name in ("study.toml", "codebook.en.md"):
        shutil.copyfile(starter / name, folder / name)
    with closing(sqlite3.connect(folder / "konsil.db")) as old:
        old.executescript((ROOT / f"tests/store/schema{number}.sql").read_bytes().decode())
    return folder


def refusal(*words: str | Path, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    assert stopped.value.code == 2
    return capsys.readouterr().err


def test_the_page_states_the_schemas_of_this_version():
    [stated] = re.findall(r"database, has the schema (\d+)\.", PAGE)
    assert int(stated) == SCHEMA
    listed = [int(n) for n in re.findall(r"^\| (\d+) \|", PAGE, flags=re.MULTILINE)]
    assert listed == list(range(1, SCHEMA + 1))
    assert f'(`"schema": {SCHEMA}`)' in PAGE
    assert f"This version reads schema {STUDY_SCHEMA}." in PAGE


@pytest.mark.slow
def test_a_newer_study_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    main(["new", str(tmp_path / "ward")])
    file = tmp_path / "ward/study.toml"
    text = file.read_text("utf-8")
    newer = text.replace(f"schema = {STUDY_SCHEMA}\n", f"schema = {STUDY_SCHEMA + 1}\nfuture = 1\n")
    assert newer != text
    file.write_text(newer, "utf-8")
    for command in ("check", "report"):
        assert NEWER_STUDY.fullmatch(refusal(command, file.parent, capsys=capsys)), command


@pytest.mark.slow
@pytest.mark.parametrize("number", OLDER)
def test_every_older_database_is_updated_and_its_former_state_kept(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = old_study(tmp_path, number)
    before = content(folder / "konsil.db")
    main(["status", str(folder)])
    said = capsys.readouterr().err
    assert f"updated from schema {number} to {SCHEMA}" in said
    assert said.endswith(f"the former database is konsil-schema{number}.db\n")
    copy = folder / f"konsil-schema{number}.db"
    assert content(copy) == before
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert {p.name for p in folder.iterdir()} - {"konsil.db-wal", "konsil.db-shm"} == {
        "study.toml",
        "codebook.en.md",
        "konsil.db",
        copy.name,
    }
    after = content(folder / "konsil.db")
    assert dict(after["meta"])["schema"] == str(SCHEMA)
    assert after["audit_log"] == before["audit_log"]
    assert len(after["ratings"]) == len(before["ratings"]) > 0
    main(["status", str(folder)])
    assert capsys.readouterr().err == ""
    # The way back: the copy in place of the database is as the older version left it.
    for path in folder.glob("konsil.db*"):
        path.unlink()
    copy.rename(folder / "konsil.db")
    assert content(folder / "konsil.db") == before


@pytest.mark.slow
def test_a_second_update_keeps_the_first_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    main(["status", str(old_study(tmp_path, 5))])
    first = (tmp_path / "konsil-schema5.db").read_bytes()
    for path in tmp_path.glob("konsil.db*"):
        path.unlink()
    main(["status", str(old_study(tmp_path, 5))])
    assert capsys.readouterr().err.endswith("the former database is konsil-schema5-2.db\n")
    assert (tmp_path / "konsil-schema5.db").read_bytes() == first


def test_a_copy_that_cannot_be_written_stops_the_update(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    folder = old_study(tmp_path, 5)
    before = content(folder / "konsil.db")

    def no_room(path: Path) -> bool:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("konsil.store.engine.leftovers.create_private", no_room)
    said = refusal("status", folder, capsys=capsys)
    assert "the copy before the update cannot be written" in said
    assert said.count("\n") == 1
    assert content(folder / "konsil.db") == before
    assert not list(folder.glob("konsil-schema*"))


def test_a_disk_that_fills_during_the_copy_is_named_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """Kills: SQLite's own error of a full disk, which is no OSError, told of the database."""
    folder = old_study(tmp_path, 5)
    before = content(folder / "konsil.db")

    def full(_engine: object) -> sqlite3.Connection:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("konsil.store.engine.engine.connect_plainly", full)
    said = refusal("status", folder, capsys=capsys)
    assert "the copy before the update cannot be written: database or disk is full" in said
    assert content(folder / "konsil.db") == before
    assert not [*folder.glob("konsil-schema*"), *folder.glob(".konsil-schema*")]


def test_an_update_that_fails_leaves_no_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Kills: one more copy of all personal data with each try."""
    folder = old_study(tmp_path, 5)
    before = content(folder / "konsil.db")

    def fails(_connection: object) -> None:
        raise StoreError("the update failed")

    monkeypatch.setattr("konsil.store.engine.migrate.upgrade", fails)
    assert "the update failed" in refusal("status", folder, capsys=capsys)
    assert content(folder / "konsil.db") == before
    assert not list(folder.glob("konsil-schema*"))


@pytest.mark.slow
def test_a_newer_database_is_refused_and_not_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    main(["new", str(tmp_path / "ward")])
    main(["import", str(tmp_path / "ward")])
    capsys.readouterr()
    database = tmp_path / "ward/konsil.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(SCHEMA + 1),))
        connection.commit()
    before = content(database)
    for command in ("status", "analyse", "import"):
        said = refusal(command, database.parent, capsys=capsys)
        assert f"written by a newer konsil (schema {SCHEMA + 1}" in said, command
        assert said.count("\n") == 1
    assert content(database) == before


@pytest.mark.slow
@pytest.mark.parametrize("number", [*OLDER, SCHEMA])
def test_exports_of_all_schemas_up_to_this_one_are_read(
    number: int, filled_export: tuple[Path, Batch]
):
    from konsil.store.release.export import read_export

    folder, batch = filled_export
    about = json.loads((folder / "export.json").read_text())
    assert about["schema"] == SCHEMA
    (folder / "export.json").write_text(json.dumps({**about, "schema": number}))
    assert read_export(folder) == batch


@pytest.fixture
def filled_export(tmp_path: Path) -> tuple[Path, Batch]:
    """An export of the starter's records, and what it has."""
    from konsil.store.release.export import export

    main(["new", str(tmp_path / "ward")])
    main(["import", str(tmp_path / "ward")])
    with Store.open(tmp_path / "ward") as store:
        return export(store, tmp_path / "out", "jsonl"), store.batch()
