"""konsil backup-key: a pair of keys for encrypted backups."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.printout import Printout, with_json


@click.command(short_help="Create a pair of keys for encrypted backups.")
@click.argument("file", type=click.Path(path_type=Path))
@with_json
def command(file: Path) -> Printout:
    """Write a secret key for encrypted backups to the new file FILE and print its public key.

    The server needs the public key only (konsil backup --encrypt-to). Store FILE elsewhere, with a
    second copy: without it, an encrypted backup cannot be restored. The program age can decrypt a
    backup with it, too.
    """
    from konsil.api.running.archiving import write_key

    public = write_key(file)
    return Printout(
        {"file": file, "public_key": public},
        [f"{file}: secret key; store it apart from the server and the backups", public],
    )
