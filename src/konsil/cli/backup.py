"""konsil backup: a copy of the database."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_named_folder


@click.command(short_help="Back up the database while raters work, and verify the copy.")
@on_named_folder
@click.argument("target", type=click.Path(path_type=Path))
def command(folder: Path, database: str, target: Path) -> None:
    """Copy the database of the study in FOLDER to the new file TARGET.

    The copy is of one moment, and nothing has to be stopped for it. The copy's audit log is
    checked. To go back to it, put it in the place of the folder's konsil.db and delete
    konsil.db-wal and konsil.db-shm, which hold changes of the database that was there.
    """
    from konsil.api import open_folder
    from konsil.api.folder.opened import now
    from konsil.errors import StoreError
    from konsil.store.release.backup import backup

    with open_folder(folder, database=database).store() as store:
        store.cover_log(now())
        copy = backup(store, target)
    if copy.problems:
        raise StoreError(f"{target}: copied, but {copy.problems[0]}")
    click.echo(f"{target}: {target.stat().st_size:,} bytes, checked")
    click.echo(f"head: {copy.head}")
