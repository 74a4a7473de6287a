"""konsil probe: how much masked cases still give away."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.api.calls import CallRequest
from konsil.cli.collecting import raise_where_stopped, run_lines
from konsil.cli.folder import on_folder
from konsil.cli.request_options import options_of


@click.command(short_help="Test whether a model can guess the diagnosis from masked cases.")
@on_folder
@click.option(
    "--model", required=True, metavar="ENDPOINT:NAME", help="Model that guesses the diagnosis."
)
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the guesses, one row per version.",
)
@options_of(CallRequest, "calls")
def command(
    folder: Path, database: str, model: str, table: Path | None, calls: CallRequest
) -> None:
    """Test whether a model can guess the diagnosis of the marked cases of the study in FOLDER.

    The model guesses at each information level. The proportion of correct guesses by level shows
    the residual disclosure. After marks are corrected, run the command again; only changed texts
    are sent.
    """
    from konsil.api import open_folder
    from konsil.api.curation.probe import lines_of, probe, write_table

    probed = probe(
        open_folder(folder, database=database), model, calls.options(dry_run=calls.dry_run)
    )
    for line in run_lines(probed.replies.collected, calls.dry_run):
        click.echo(line)
    raise_where_stopped(probed.replies.collected)
    for line in lines_of(probed):
        click.echo(line)
    if table is not None:
        write_table(probed, table)
        click.echo(str(table))
