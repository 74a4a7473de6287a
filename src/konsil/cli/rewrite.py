"""konsil rewrite: questions in better words, by a model, and what people think of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from konsil.api.curation.requests import RewritingRequest
from konsil.cli.collecting import raise_where_stopped, run_lines
from konsil.cli.folder import decider, on_folder
from konsil.cli.request_options import options_of


@click.command(short_help="Rewrite questions with a model and record reviewers' decisions.")
@on_folder
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write original and rewritten questions for reviewers.",
)
@options_of(RewritingRequest)
def command(folder: Path, database: str, table: Path | None, request: RewritingRequest) -> None:
    """Rewrite the questions of the study in FOLDER with the model of [prepare.rewrite].

    People accept, edit or reject each rewritten question, in the table or on the pages of 'konsil
    serve'; the study shows the accepted text, and both texts are stored. The command can be stopped
    at any time: run it again to continue.
    """
    from konsil.api import open_folder
    from konsil.api.curation.rewriting import progress_lines, rewrite_items, write_table

    opened = open_folder(folder, database=database)
    if request.decisions is not None:
        request = replace(request, by=decider(request.by, "--decisions"))
    reworded = rewrite_items(opened, request)
    if reworded.run is not None:
        for line in run_lines(reworded.run, request.calls.dry_run):
            click.echo(line)
        raise_where_stopped(reworded.run)
    for line in progress_lines(reworded):
        click.echo(line)
    if table is not None:
        write_table(reworded, table)
        click.echo(
            f"{table}: write 'accept' or 'keep' in the column decision and import the table"
            " with --decisions"
        )
    if request.decisions is not None and not reworded.new:
        click.echo("already decided; nothing has changed")
