"""konsil backup: a copy of the database."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_named_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="Back up the database while raters work, and verify the copy.")
@on_named_folder
@click.argument("target", type=click.Path(path_type=Path))
@with_json
def command(folder: Path, database: str, target: Path) -> Printout:
    """Copy the database of the study in FOLDER to the new file TARGET.

    The copy is consistent, and the server can keep running. The copy's audit log is verified. To
    restore it, replace the folder's konsil.db by the copy and delete konsil.db-wal and
    konsil.db-shm, which contain changes of the previous database.
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
    size = target.stat().st_size
    return Printout(
        {"file": target, "bytes": size, "head": copy.head},
        [f"{target}: {size:,} bytes, checked", f"head: {copy.head}"],
    )
