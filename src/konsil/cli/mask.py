"""konsil mask: versions of cases that tell less and less."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import decider, deciding, on_folder


@click.command(
    short_help=(
        "Take marks in cases, say what is left over, and make the versions of approved cases."
    )
)
@on_folder
@click.option(
    "--table", type=click.Path(dir_okay=False, path_type=Path), help="Write all marks, for people."
)
@click.option(
    "--marks",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Read marks: a row a mark, by offsets or by the words that are marked.",
)
@deciding
@click.option(
    "--approve",
    is_flag=True,
    help="Approve every marked case whose versions do not tell the diagnosis.",
)
@click.option(
    "--despite",
    nargs=2,
    multiple=True,
    metavar="CASE REASON",
    help="Approve this case although something is left over; may be repeated.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only say what is left over and how far the cases are; store nothing.",
)
def command(
    folder: Path,
    database: str,
    table: Path | None,
    marks: Path | None,
    by: str,
    approve: bool,
    despite: tuple[tuple[str, str], ...],
    dry_run: bool,
) -> None:
    """Mask the cases of the study in FOLDER as its [prepare.mask] says.

    People mark the diagnosis, the cues by rank and what else tells it, in a table or on the pages
    of 'konsil serve', and approve. The five versions of an approved case become items; then its
    marks cannot change any more.
    """
    from konsil.api import open_folder
    from konsil.api.curation.masking import mask_cases, progress_lines, write_table

    option = "--marks" if marks is not None else "--approve" if approve else "--despite"
    decided_by = decider(by, option) if marks is not None or approve or despite else by
    opened = open_folder(folder, database=database)
    masked = mask_cases(
        opened, marks, by=decided_by, approve=approve, despite=dict(despite), save=not dry_run
    )
    for line in progress_lines(masked):
        click.echo(line)
    if table is not None:
        write_table(masked, table)
        click.echo(f"{table}: all marks; add or change rows and give it back by --marks")
    if dry_run:
        click.echo("nothing stored")
