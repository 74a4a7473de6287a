"""konsil prepare: which items are rated."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder


@click.command(short_help="Select the items to rate (stratified random sample, item sets).")
@on_folder
@click.option("--dry-run", is_flag=True, help="Dry run: print the selection; store nothing.")
def command(folder: Path, database: str, dry_run: bool) -> None:
    """Select the items of the study in FOLDER as its [prepare] specifies, and store the selection.

    The same protocol, seed, items and answers give the same selection. It can be repeated until
    tasks are assigned.
    """
    from konsil.api import open_folder
    from konsil.api.curation.duplicates import unsearched_lines
    from konsil.api.curation.preparing import draw_lines, prepare

    opened = open_folder(folder, database=database)
    prepared = prepare(opened, save=not dry_run)
    for line in (*draw_lines(prepared.drawn), *unsearched_lines(opened)):
        click.echo(line)
    if dry_run:
        click.echo("nothing stored")
    elif not prepared.new:
        click.echo("already selected; nothing has changed")
