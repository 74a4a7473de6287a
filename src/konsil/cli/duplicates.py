"""konsil duplicates: questions that are asked more than once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from konsil.api.curation.requests import DuplicatesRequest
from konsil.cli.folder import decider, on_folder
from konsil.cli.request_options import options_of


@click.command(short_help="Detect duplicate questions and record reviewers' decisions.")
@on_folder
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the groups as a table for reviewers.",
)
@options_of(DuplicatesRequest)
def command(folder: Path, database: str, table: Path | None, request: DuplicatesRequest) -> None:
    """Search the items of the study in FOLDER for duplicates.

    These are exact copies, questions with the same words, near duplicates and translations. People
    decide which to exclude. The report states how many items are in groups of duplicates.
    """
    from konsil.api import open_folder
    from konsil.api.curation.duplicates import lines_of, search_duplicates, write_table

    if request.decisions is not None or request.leave_one:
        option = "--decisions" if request.decisions is not None else "--leave-one"
        request = replace(request, by=decider(request.by, option))
    searched = search_duplicates(open_folder(folder, database=database), request)
    for line in lines_of(searched):
        click.echo(line)
    if table is not None:
        write_table(searched, table)
        click.echo(
            f"{table}: write 'duplicate' or 'apart' in the column decision and import the table"
            " with --decisions"
        )
    if request.dry_run:
        click.echo("nothing stored")
    elif not searched.new:
        click.echo("already searched; nothing has changed")
