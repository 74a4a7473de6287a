"""konsil screen: which of the collected questions may be rated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from konsil.api.curation.requests import ScreeningRequest
from konsil.cli.folder import decider, on_folder
from konsil.cli.request_options import options_of


@click.command(short_help="Flag ineligible questions and record reviewers' decisions.")
@on_folder
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the flagged items as a table for reviewers.",
)
@options_of(ScreeningRequest)
def command(folder: Path, database: str, table: Path | None, request: ScreeningRequest) -> None:
    """Screen the items of the study in FOLDER as its [prepare.screen] specifies.

    Rules flag possible identifiers, follow-up turns, other languages and texts that ask for no
    decision; people decide. If [prepare.screen] names a model, the model flags items too, with its
    evidence. Excluded items stay in the database with the reason; 'konsil prepare' selects from the
    others.
    """
    from konsil.api import open_folder
    from konsil.api.curation.duplicates import unsearched_lines
    from konsil.api.curation.screening import screen_items, screening_lines, write_table
    from konsil.cli.collecting import raise_where_stopped
    from konsil.cli.collecting import run_lines as called

    if request.decisions is not None:
        request = replace(request, by=decider(request.by, "--decisions"))
    opened = open_folder(folder, database=database)
    looked = screen_items(opened, request)
    if looked.replies is not None:
        for line in called(looked.replies.collected, request.dry_run):
            click.echo(line)
        raise_where_stopped(looked.replies.collected)
    for line in (*screening_lines(looked), *unsearched_lines(opened)):
        click.echo(line)
    if looked.replies is not None and looked.replies.n_pending:
        return
    if table is not None:
        write_table(looked, table)
        click.echo(
            f"{table}: flagged items; write 'keep' or a reason in the column decision and"
            " import the table with --decisions"
        )
    if request.dry_run:
        click.echo("nothing stored")
    elif not looked.new:
        click.echo("already screened; nothing has changed")
