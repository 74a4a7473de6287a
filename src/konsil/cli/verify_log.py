"""konsil verify-log: the audit log's chain."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from konsil.cli.folder import on_folder


@click.command(short_help="Check the audit log's chain of digests.")
@on_folder
def command(folder: Path, database: str) -> None:
    """Check that no entry of the audit log, and no record it covers, was edited, removed or reordered."""
    from konsil.api import open_folder

    with open_folder(folder, database=database).store() as store:
        problems = store.verify_log()
    for problem in problems:
        click.echo(f"konsil: {problem}", err=True)
    if problems:
        sys.exit(2)
    click.echo("the audit log is whole")
