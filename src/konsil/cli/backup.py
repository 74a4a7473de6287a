"""konsil backup: a copy of the database, or of the whole study."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_named_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="Back up the database or the whole study while raters work.")
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
    """
    if target.is_dir() or keys or keep is not None:
        return _whole(folder, database, target, keys, keep)
    return _database_alone(folder, database, target)


def _whole(
    folder: Path, database: str, target: Path, keys: tuple[str, ...], keep: int | None
) -> Printout:
    from konsil.api import open_folder
    from konsil.api.running.archiving import archive_study, read_public

    archived = archive_study(
        open_folder(folder, database=database), target, keys=read_public(keys), keep=keep
    )
    size, manifest = archived.path.stat().st_size, archived.manifest
    encrypted = f"encrypted for {len(keys)} {'key' if len(keys) == 1 else 'keys'}, " if keys else ""
    lines = [
        f"{archived.path}: {size:,} bytes, {encrypted}{len(manifest.files):,} files, log verified",
        *(f"removed: {path}" for path in archived.removed),
        f"head: {manifest.head}",
    ]
    if not keys:
        lines.insert(1, "not encrypted: may contain names, addresses and the key of the pseudonyms")
    if archived.unreadable:
        names = ", ".join(map(str, archived.unreadable[:3]))
        lines.append(
            f"not in the backup, because this account may not read them:"
            f" {len(archived.unreadable):,} files ({names})"
        )
    record = {
        "file": archived.path,
        "bytes": size,
        "files": len(manifest.files),
        "is_encrypted": bool(keys),
        "removed": list(archived.removed),
        "unreadable": list(archived.unreadable),
        "head": manifest.head,
    }
    # What is stored is stored, and a timer reports that something is missing.
    return Printout(record, lines, error=SystemExit(2) if archived.unreadable else None)


def _database_alone(folder: Path, database: str, target: Path) -> Printout:
    from konsil.api import open_folder
    from konsil.api.folder.opened import now
    from konsil.errors import StoreError
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
