"""konsil backup: a copy of the database, of the whole study, or of all studies of a centre."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from konsil.cli.folder import on_named_folder
from konsil.cli.printout import Printout, with_json
from konsil.errors import KonsilError, StoreError

if TYPE_CHECKING:
    from konsil.api.running.archiving import Archived
    from konsil.api.serving.centre_backups import ArchivedCentre


@click.command(short_help="Back up a database, a study or a centre while raters work.")
@on_named_folder
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--encrypt-to",
    "keys",
    multiple=True,
    metavar="KEY",
    help="Public key for encryption (age1...), or a file of keys; repeatable.",
)
@click.option(
    "--keep",
    type=click.IntRange(1),
    metavar="N",
    help="Keep only the N newest backups of this study in the folder TARGET.",
)
@with_json
def command(
    folder: Path, database: str, target: Path, keys: tuple[str, ...], keep: int | None
) -> Printout:
    """Back up the study in FOLDER while the server is running, and verify the backup.

    If TARGET is an existing folder, or a new one with --keep or --encrypt-to, the backup contains
    the whole study: protocol, codebooks, source files, the key of the pseudonyms and the database,
    as one file named for the study and the time. With --encrypt-to, only the owner of the secret
    key (konsil backup-key) can read it. 'konsil restore' restores such a backup.

    Otherwise TARGET is a new file, and only the database is copied to it, as a database of SQLite.

    If FOLDER contains several studies, or is the TOML file that lists them (konsil serve
    --studies), all studies are backed up to the folder TARGET, each as one file, and a last file
    lists them and contains the centre's own audit log. A study or a log that cannot be backed up is
    stated, and the rest is backed up.
    """
    from konsil.api.serving.centre_backups import is_centre

    if is_centre(folder):
        if database:
            raise KonsilError(
                "--database: each study of a centre has its own database; state it in centre.toml"
            )
        return _centre(folder, target, keys, keep)
    if target.is_dir() or keys or keep is not None:
        return _whole_study(folder, database, target, keys, keep)
    return _database_alone(folder, database, target)


def _whole_study(
    folder: Path, database: str, target: Path, keys: tuple[str, ...], keep: int | None
) -> Printout:
    from konsil.api import open_folder
    from konsil.api.running.archiving import archive_study, read_public

    archived = archive_study(
        open_folder(folder, database=database), target, keys=read_public(keys), keep=keep
    )
    size, head = _size(archived, keys), f"head: {archived.manifest.head}"
    plain, removed = _plain(keys), [f"removed: {path}" for path in archived.removed]
    lines = [size, *plain, *removed, head, *_unreadable(archived)]
    # What is stored is stored, and a timer reports that something is missing.
    error = SystemExit(2) if archived.unreadable else None
    return Printout(_record(archived, keys), lines, error=error)


def _size(archived: Archived, keys: tuple[str, ...]) -> str:
    encrypted = f"encrypted for {len(keys)} {'key' if len(keys) == 1 else 'keys'}, " if keys else ""
    return (
        f"{archived.path}: {archived.path.stat().st_size:,} bytes, {encrypted}"
        f"{len(archived.manifest.files):,} files, log verified"
    )


def _plain(keys: tuple[str, ...]) -> Iterator[str]:
    if not keys:
        yield "not encrypted: may contain names, addresses and the key of the pseudonyms"


def _unreadable(archived: Archived) -> Iterator[str]:
    if archived.unreadable:
        names = ", ".join(map(str, archived.unreadable[:3]))
        yield (
            f"not in the backup, because this account may not read them:"
            f" {len(archived.unreadable):,} files ({names})"
        )


def _record(archived: Archived, keys: tuple[str, ...]) -> dict[str, Any]:
    return {
        "file": archived.path,
        "bytes": archived.path.stat().st_size,
        "files": len(archived.manifest.files),
        "is_encrypted": bool(keys),
        "removed": list(archived.removed),
        "unreadable": list(archived.unreadable),
        "head": archived.manifest.head,
    }


def _centre(place: Path, target: Path, keys: tuple[str, ...], keep: int | None) -> Printout:
    from konsil.api.running.archiving import read_public
    from konsil.api.serving.centre_backups import archive_centre

    centre = archive_centre(place, target, keys=read_public(keys), keep=keep)
    lines = [
        f"{centre.path}: list of the backups of {len(centre.studies):,}"
        f" {'study' if len(centre.studies) == 1 else 'studies'}; restore or test it with"
        " konsil restore",
        *_plain(keys),
    ]
    for archived in centre.studies.values():
        lines += [f"  {_size(archived, keys)}", *(f"  {line}" for line in _unreadable(archived))]
    lines += [f"not backed up: {study}: {reason}" for study, reason in centre.problems.items()]
    lines.append(_log_of_centre(centre))
    lines += [f"removed: {path}" for path in centre.removed]
    record = {
        "file": centre.path,
        "log": {"head": centre.index.log_head, "problem": centre.log_problem},
        "studies": {study: _record(a, keys) for study, a in centre.studies.items()},
        "problems": dict(centre.problems),
        "removed": list(centre.removed),
    }
    is_partial = (
        centre.problems or centre.log_problem or any(a.unreadable for a in centre.studies.values())
    )
    return Printout(record, lines, error=SystemExit(2) if is_partial else None)


def _log_of_centre(centre: ArchivedCentre) -> str:
    if centre.log_problem:
        return f"not backed up: the centre's own audit log: {centre.log_problem}"
    if not centre.index.log_head:
        return "the centre has no audit log of its own yet"
    return f"the centre's own audit log is in the list; head: {centre.index.log_head}"


def _database_alone(folder: Path, database: str, target: Path) -> Printout:
    from konsil.api import open_folder
    from konsil.api.folder.opened import now
    from konsil.store.backups.backup import backup
    from konsil.store.engine.engine import SQLITE_ENDINGS

    with open_folder(folder, database=database).store() as store:
        store.cover_log(now())
        copy = backup(store, target)
    if copy.problems:
        raise StoreError(f"{target}: copied, but {copy.problems[0]}")
    size = target.stat().st_size
    # Whoever names a file of a database wants one; any other name may have been meant as a folder.
    summary = (
        f"{target}: {size:,} bytes, checked"
        if target.suffix in SQLITE_ENDINGS
        else f"{target}: the database alone, {size:,} bytes, checked; without protocol, files and"
        " key (name an existing folder for the whole study)"
    )
    return Printout(
        {"file": target, "bytes": size, "head": copy.head}, [summary, f"head: {copy.head}"]
    )
