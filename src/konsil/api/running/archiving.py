"""Backups of a whole study: written, thinned out, restored, and restored for trial."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from konsil.api.folder.folder import Folder
from konsil.api.folder.opened import PROTOCOL, now
from konsil.errors import StoreError, StudyError, option
from konsil.store import Store
from konsil.store.backups import archive, cipher
from konsil.store.backups.archive import Manifest
from konsil.store.backups.database_copy import DatabaseCopy
from konsil.store.engine.engine import FILE
from konsil.store.engine.folders import copy_new
from konsil.store.engine.leftovers import clear_series
from konsil.store.engine.private import write_private
from konsil.store.log.heads import head_of, origin_of
from konsil.store.people.access import end_sessions

ENDING, ENCRYPTED = ".tar", ".tar.age"
_STAMPS = str.maketrans("", "", "-:")
_KEY = ".konsil-key"
_LEFT_OUT = re.compile(r".*\.(db|sqlite3?)(-.*)?|.*\.tar(\.age)?|.*\.(pyc|partial)")
"""Databases, which are copied as such, other backups, and what is half-written."""


@dataclass(frozen=True, slots=True)
class Archived:
    """A backup that was written."""

    path: Path
    """The file."""
    manifest: Manifest
    """What is in it."""
    removed: tuple[Path, ...]
    """Older backups of this study that were removed."""
    series: str = ""
    """How the names of all backups of this study begin."""
    unreadable: tuple[Path, ...] = ()
    """Files of the folder that this account may not read, and that are therefore not in it."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A backup that was restored, if only for trial."""

    manifest: Manifest
    """What is in it."""
    rows: dict[str, int]
    """The number of records of each kind in the restored database."""


def archive_study(
    opened: Folder, place_of_archives: Path, *, keys: Sequence[str] = (), keep: int | None = None
) -> Archived:
    """Write a backup of the folder and its database to a folder of backups.

    With `keep`, only that many of this study's newest backups remain; nothing else is removed, and
    nothing before the new one is complete.
    """
    if keep is not None and keep < 1:
        raise StoreError(f"{option('keep')}: expected at least 1, got {keep}")
    try:
        # Only its owner enters a new folder; one that is there keeps its mode.
        place_of_archives.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{place_of_archives}: is not a folder and cannot be made one: {error.strerror}"
        ) from None
    at = now()
    files = tuple(_files(opened.path))
    readable = tuple(file for file in files if os.access(opened.path / file, os.R_OK))
    with opened.store() as store:
        if not store.is_read_only:
            store.cover_log(at)
        # Folders of two studies may have one name; their logs never begin alike.
        name = f"{opened.path.absolute().name}-{origin_of(store)}"
        clear_series(place_of_archives, series_pattern(name))
        path = place_of_archives / backup_name(name, at, is_encrypted=bool(keys))
        manifest = archive.write_archive(store, opened.path, path, readable, keys=keys, at=at)
    removed = remove_older(place_of_archives, name, keep) if keep is not None else ()
    unreadable = tuple(file for file in files if file not in set(readable))
    return Archived(path, manifest, removed, name, unreadable)


def backup_name(series: str, at: str, *, is_encrypted: bool) -> str:
    """The name of a backup: that of its series, and the time."""
    return f"{series}-{at.translate(_STAMPS)}{ENCRYPTED if is_encrypted else ENDING}"


def _files(folder: Path) -> Iterator[Path]:
    """The files of a study, relative to its folder: no links, no hidden ones but the key."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "__pycache__")
        for name in sorted(names):
            path = Path(where, name)
            is_left_out = path != folder / _KEY and (
                name.startswith(".") or _LEFT_OUT.fullmatch(name)
            )
            if not is_left_out and path.is_file() and not path.is_symlink():
                yield path.relative_to(folder)


def series_pattern(series: str) -> str:
    """The names of the backups of a series, as a regular expression; its first group: the time."""
    return rf"{re.escape(series)}-(\d{{8}}T\d{{6}}Z)\.tar(?:\.age)?"


def remove_older(folder: Path, name: str, keep: int) -> tuple[Path, ...]:
    """Remove the backups of a series except its newest ones, by the time in their names."""
    pattern = re.compile(series_pattern(name))
    stamped = sorted(
        (match[1], path)
        for path in folder.iterdir()
        if (match := pattern.fullmatch(path.name)) and path.is_file()
    )
    older = tuple(path for _, path in stamped[:-keep])
    for path in older:
        path.unlink()
    return older


def restore_study(path: Path, folder: Path, *, secret: str = "", database: str = "") -> Restored:
    """Restore a backup to a new folder, and its records to an empty database if one is named.

    The log of the restored database is verified and compared with the head in the backup. What
    fails leaves nothing, and the named database empty.
    """
    if not database:
        return unpack_study(path, folder, secret=secret)
    copy = DatabaseCopy(database)
    try:
        return unpack_study(path, folder, secret=secret, copy=copy)
    except BaseException as error:
        copy.undo(error)
        raise


def unpack_study(
    path: Path, folder: Path, *, secret: str = "", copy: DatabaseCopy | None = None
) -> Restored:
    """Restore a backup to a new folder and to a copy, which the caller undoes on an error."""
    restored: list[Restored] = []

    def fill(draft: Path) -> None:
        manifest = archive.unpack_archive(path, draft, secret=secret)
        if not (draft / PROTOCOL).is_file():
            raise StudyError(f"{path}: contains no {PROTOCOL}")
        with Store.open(draft, create=False) as store:
            rows = _verify(store, manifest, str(path))
            # Who was signed in then may have been sent away since: everybody uses a link again.
            end_sessions(store)
            if copy is not None:
                copy.fill(store, lambda target: _verify(target, manifest, target.name))
        if copy is not None:
            for ending in ("", "-wal", "-shm"):
                (draft / f"{FILE}{ending}").unlink(missing_ok=True)
        restored.append(Restored(manifest, rows))

    copy_new(folder, fill)
    return restored[0]


def check_archive(path: Path, *, secret: str = "") -> Restored:
    """Restore a backup for trial, in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="konsil-restore-") as place_of_trial:
        return restore_study(path, Path(place_of_trial) / "study", secret=secret)


def _verify(store: Store, manifest: Manifest, where: str) -> dict[str, int]:
    problems = store.verify_log()
    if problems:
        raise StoreError(f"{where}: {problems[0]}")
    head = head_of(store)
    if head != manifest.head:
        raise StoreError(
            f"{where}: the head of the audit log is {head}, in the manifest {manifest.head}"
        )
    with store.view() as view:
        return view.counts()


def write_key(path: Path) -> str:
    """Write a secret key for backups to a new file of its owner alone; return the public key."""
    if path.exists():
        raise StoreError(f"{path}: exists already; choose a new file")
    public, secret = cipher.new_key()
    try:
        write_private(path, f"# public key: {public}\n{secret}\n".encode())
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from None
    return public


def read_secret(path: Path | None) -> str:
    """The secret key in a file of age; empty where no file is named."""
    if path is None:
        return ""
    for line in _lines(path):
        if line.startswith("AGE-SECRET-KEY-"):
            return line
    raise StoreError(f"{path}: contains no secret key that begins with AGE-SECRET-KEY-1")


def read_public(values: Sequence[str]) -> tuple[str, ...]:
    """Public keys, each as such or as a file with one in each line."""
    keys: list[str] = []
    for value in values:
        if value.startswith("age1"):
            keys.append(value)
            continue
        lines = [line for line in _lines(Path(value)) if line and not line.startswith("#")]
        if any(line.startswith("AGE-SECRET-KEY-") for line in lines):
            raise StoreError(
                f"{value}: contains a secret key, which does not belong on the server; expected"
                " public keys that begin with age1"
            )
        if not lines:
            raise StoreError(f"{value}: contains no public key that begins with age1")
        keys += lines
    return tuple(keys)


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is not text"
        raise StoreError(f"{path}: cannot be read: {reason}") from None
