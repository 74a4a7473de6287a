"""konsil restore: a whole study from its backup, or all studies of a centre."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from konsil.cli.printout import Printout, with_json

if TYPE_CHECKING:
    from konsil.api.running.archiving import Restored
    from konsil.store.backups.centre_index import CentreIndex

_AFTERWARDS = (
    "everybody is signed out; repeat what happened since the backup: links that were revoked"
    " (konsil invite --revoke) and persons that were erased (konsil erase)",
)


@click.command(short_help="Restore a study or a centre from a backup, or test it.")
@click.argument("archive", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File with the secret key of an encrypted backup.",
)
@click.option(
    "--database",
    default="",
    metavar="URL",
    help="Empty PostgreSQL database; of a centre, with {study} in it.",
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

    The last file of the backup of a centre lists the backups of its studies in the same folder.
    All of them are restored, each to a subfolder of FOLDER, or nothing. With --database, {study} in
    the URL is replaced by the name of each subfolder. The file also contains the centre's own audit
    log, which is verified and restored to centre.db in FOLDER; with --database it is restored to
    PostgreSQL if it was there before, and {study} is then replaced by audit-log.
    """
    from konsil.api.running.archiving import check_archive, read_secret, restore_study
    from konsil.api.serving.centre_backups import read_centre
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
    centre = read_centre(archive, secret=secret)
    if centre is not None:
        return _centre(archive, folder, centre, secret, database)
    restored = (
        check_archive(archive, secret=secret)
        if folder is None
        else restore_study(archive, folder, secret=secret, database=database)
    )
    manifest = restored.manifest
    lines = [
        f"{archive}: backup of {manifest.study!r} of {manifest.made_at}, complete",
        f"  {_counts(restored)}; log verified",
        *_end(folder),
        f"head: {manifest.head}",
    ]
    return Printout(_record(restored, folder), lines)


def _counts(restored: Restored) -> str:
    counts = ", ".join(f"{n:,} {name}" for name, n in restored.rows.items() if n)
    return counts or "no records"


def _end(folder: Path | None) -> Iterator[str]:
    if folder is None:
        yield "tested only; nothing was written"
        return
    yield f"restored to {folder}"
    yield from _AFTERWARDS


def _record(restored: Restored, folder: Path | None) -> dict[str, Any]:
    manifest = restored.manifest
    return {
        "study": manifest.study,
        "made_at": manifest.made_at,
        "records": restored.rows,
        "folder": folder,
        "head": manifest.head,
    }


def _centre(
    path: Path, folder: Path | None, index: CentreIndex, secret: str, database: str
) -> Printout:
    from konsil.api.serving.centre_backups import check_centre_archive, restore_centre

    centre = (
        check_centre_archive(path, index, secret=secret)
        if folder is None
        else restore_centre(path, folder, index, secret=secret, database=database)
    )
    n = len(centre.studies)
    lines = [
        f"{path}: backup of {n:,} {'study' if n == 1 else 'studies'} of {index.made_at}, complete",
        *(
            f"  {study}: {_counts(restored)}; log verified"
            for study, restored in centre.studies.items()
        ),
        *(
            f"not in this backup: {study}; restore the last backup of this study, if there is one"
            for study in index.missing
        ),
        f"  the centre's own audit log verified; head: {index.log_head}"
        if index.log_head
        else "not in this backup: an audit log of the centre",
        *_end(folder),
    ]
    studies = {
        study: _record(restored, None if folder is None else folder / study)
        for study, restored in centre.studies.items()
    }
    record = {
        "made_at": index.made_at,
        "studies": studies,
        "missing": list(index.missing),
        "log": index.log_head,
        "folder": folder,
    }
    return Printout(record, lines)
