"""konsil restore: a whole study from its backup."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.printout import Printout, with_json

_AFTERWARDS = (
    "everybody is signed out; repeat what happened since the backup: links that were revoked"
    " (konsil invite --revoke) and persons that were erased (konsil erase)",
)


@click.command(short_help="Restore a study from a backup, or test a backup.")
@click.argument("archive", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File with the secret key of an encrypted backup.",
)
@click.option(
    "--database", default="", metavar="URL", help="Empty PostgreSQL database for the records."
)
@click.option("--check", is_flag=True, help="Restore to a temporary folder and remove it again.")
@with_json
def command(
    archive: Path, folder: Path | None, key: Path | None, database: str, check: bool
) -> Printout:
    """Restore the backup ARCHIVE to the new folder FOLDER.

    Every file is compared with the backup's checksums, and the audit log of the restored database
    is verified and compared with its head at the time of the backup. If anything differs, nothing
    is written. With --check the backup is restored for trial only, which requires no FOLDER.

    A backup can also be restored to another kind of database: --database names an empty database
    of PostgreSQL; without it, the records are in the folder's konsil.db.
    """
    from konsil.api.running.archiving import check_archive, read_secret, restore_study
    from konsil.errors import KonsilError

    if check == (folder is not None):
        raise KonsilError(
            "--check: restores to no FOLDER; leave one of them out"
            if check
            else "FOLDER is missing; expected a new folder, or --check to test the backup"
        )
    if check and database:
        raise KonsilError("--check: takes no --database")
    secret = read_secret(key)
    restored = (
        check_archive(archive, secret=secret)
        if folder is None
        else restore_study(archive, folder, secret=secret, database=database)
    )
    manifest = restored.manifest
    counts = ", ".join(f"{n:,} {name}" for name, n in restored.rows.items() if n)
    lines = [
        f"{archive}: backup of {manifest.study!r} of {manifest.made_at}, complete",
        f"  {counts or 'no records'}; log verified",
        f"restored to {folder}" if folder is not None else "tested only; nothing was written",
        *(_AFTERWARDS if folder is not None else ()),
        f"head: {manifest.head}",
    ]
    record = {
        "study": manifest.study,
        "made_at": manifest.made_at,
        "records": restored.rows,
        "folder": folder,
        "head": manifest.head,
    }
    return Printout(record, lines)
