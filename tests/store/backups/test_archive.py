"""An archive is the whole study or nothing, reads back as what it was, and refuses all else."""

from __future__ import annotations

import io
import json
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from konsil.errors import StoreError
from konsil.records import Item
from konsil.store import Batch, Store
from konsil.store.backups import archive, cipher

AT = "2025-03-01T12:00:00Z"
FILES = {"study.toml": b"schema = 1\n", "tables/items.csv": b"id\n1\n", ".konsil-key": b"s\n"}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("of") / "ward"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    with Store.open(folder) as store:
        store.add(Batch(items=(Item("i", "Größe?" * 1_000),)), source="s", at=AT)
    return folder


def write(study: Path, target: Path, *keys: str) -> archive.Manifest:
    with Store.open(study) as store:
        return archive.write_archive(
            store, study, target, [Path(name) for name in FILES], keys=keys, at=AT
        )


def unpack(path: Path, folder: Path, secret: str = "") -> archive.Manifest:
    folder.mkdir()
    return archive.unpack_archive(path, folder, secret=secret)


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_what_is_unpacked_is_what_was_packed(
    study: Path, tmp_path: Path, is_encrypted: bool
) -> None:
    public, secret = cipher.new_key()
    path = tmp_path / "a"
    written = write(study, path, *([public] if is_encrypted else []))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (b"schema = 1" in path.read_bytes()) == (not is_encrypted)
    assert (b"Gr\xc3\xb6\xc3\x9fe" in path.read_bytes()) == (not is_encrypted)
    assert unpack(path, tmp_path / "back", secret) == written
    assert {
        p.relative_to(tmp_path / "back").as_posix(): p.read_bytes()
        for p in (tmp_path / "back").rglob("*")
        if p.is_file() and p.name != "konsil.db"
    } == FILES
    with Store.open(tmp_path / "back", create=False) as back, Store.open(study) as store:
        assert back.batch() == store.batch()
    # Nothing half-written beside it, in the study's folder either.
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "back"]
    assert {p.name for p in study.iterdir() if p.name.startswith(".")} == {".konsil-key"}


def test_a_wrong_key_no_key_and_a_key_that_is_none(study: Path, tmp_path: Path) -> None:
    path = tmp_path / "a"
    write(study, path, cipher.new_key()[0])
    for secret, sentence in (
        ("", "is encrypted; state the file with the secret key"),
        (cipher.new_key()[1], "cannot be decrypted with this key"),
        ("AGE-SECRET-KEY-1", "expected a secret key"),
    ):
        with pytest.raises(StoreError, match=sentence):
            archive.unpack_archive(path, tmp_path, secret=secret)
    with pytest.raises(StoreError, match="expected a public key that begins with age1"):
        write(study, tmp_path / "b", "age1nonsense")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_each_of_two_keys_opens_it(study: Path, tmp_path: Path) -> None:
    pairs = [cipher.new_key(), cipher.new_key()]
    write(study, tmp_path / "a", *(public for public, _ in pairs))
    for n, (_, secret) in enumerate(pairs):
        assert unpack(tmp_path / "a", tmp_path / str(n), secret).study == "ward"


def test_what_is_there_stays(study: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    with pytest.raises(StoreError, match="exists already"):
        write(study, tmp_path / "a")
    assert (tmp_path / "a").read_text() == "mine"


def test_a_tampered_log_is_not_archived(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.add(Batch(items=(Item("i", "x"),)), source="s", at=AT)
        with store.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE items SET text = 'y'")
    target = tmp_path / "a"
    with Store.open(tmp_path) as store, pytest.raises(StoreError, match="not archived"):
        archive.write_archive(store, tmp_path, target, [], at=AT)
    assert not target.exists()


@pytest.fixture(scope="module")
def plain(study: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("plain") / "a"
    write(study, path)
    return path.read_bytes()


def repacked(plain: bytes, path: Path, change: str) -> None:
    """The archive with one thing changed, its tar as good as before."""
    with tarfile.open(fileobj=io.BytesIO(plain)) as source, tarfile.open(path, "w") as target:
        for entry in source:
            content = source.extractfile(entry).read()
            name = entry.name
            if change == "altered" and name == "study/study.toml":
                content = b"schema = 2\n"
            if change == "missing" and name == "study/tables/items.csv":
                continue
            if change == "no database" and name == "konsil.db":
                continue
            if change == "no manifest" and name == "manifest.json":
                continue
            if change == "newer" and name == "manifest.json":
                content = json.dumps(json.loads(content) | {"schema": 10_000}).encode()
            if change == "odd manifest" and name == "manifest.json":
                content = b'{"files": 7}'
            if change.startswith(("../", "/", "study/")):
                name = change if name == "study/study.toml" else name
            if change == "twice" and name == "manifest.json":
                again = tarfile.TarInfo("konsil.db")
                target.addfile(again, io.BytesIO(b""))
            new = tarfile.TarInfo(name)
            new.size = len(content)
            if change == "sparse" and name == "study/study.toml":
                new.pax_headers = {
                    "GNU.sparse.map": "0,1",
                    "GNU.sparse.size": "1000000000",
                    "GNU.sparse.numblocks": "1",
                }
                content, new.size = b"x", 1
            if change == "link" and name == "study/study.toml":
                new.type, new.linkname, new.size = tarfile.SYMTYPE, "/etc/passwd", 0
            target.addfile(new, io.BytesIO(content))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("altered", "'study/study.toml' differs from the manifest"),
        ("missing", "'study/tables/items.csv' is missing"),
        ("no database", "'konsil.db' is missing"),
        ("no manifest", "no readable manifest.json"),
        ("odd manifest", "no readable manifest.json"),
        ("newer", "was written by the newer konsil"),
        ("twice", "contains 'konsil.db' twice"),
        ("link", "is not a plain file"),
        ("sparse", "is not a plain file"),
        ("study/./study.toml", "which is no file of a study"),
        ("study//study.toml", "which is no file of a study"),
        ("study/konsil.db-wal", "which is no file of a study"),
        ("../x", "which is no file of a study"),
        ("/etc/x", "which is no file of a study"),
        ("study/../../x", "which is no file of a study"),
        ("study/c:x", "which is no file of a study"),
        ("study/konsil.db", "which is no file of a study"),
    ],
)
def test_another_archive_is_refused(
    plain: bytes, tmp_path: Path, change: str, sentence: str
) -> None:
    repacked(plain, tmp_path / "a", change)
    with pytest.raises(StoreError, match=sentence):
        unpack(tmp_path / "a", tmp_path / "back")
    assert {p.name for p in tmp_path.iterdir()} == {"a", "back"}


@pytest.fixture(scope="module")
def encrypted(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[bytes, str]]:
    public, secret = cipher.new_key()
    path = tmp_path_factory.mktemp("cipher") / "a"
    write(study, path, public)
    yield path.read_bytes(), secret


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), is_encrypted=st.booleans())
def test_a_damaged_archive_is_refused_or_is_the_same(
    plain: bytes,
    encrypted: tuple[bytes, str],
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    is_encrypted: bool,
) -> None:
    content, secret = encrypted if is_encrypted else (plain, "")
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        damaged = content[:place]
    else:
        damaged = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "a").write_bytes(damaged)
    try:
        unpack(folder / "a", folder / "back", secret)
    except StoreError:
        return
    # Padding of a tar may change; what it contains may not.
    assert not is_encrypted
    for name, original in FILES.items():
        assert (folder / "back" / name).read_bytes() == original
