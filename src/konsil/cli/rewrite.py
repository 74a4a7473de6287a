"""konsil rewrite: questions in better words, by a model, and what people think of it."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.collecting import calling_options, raise_where_stopped, run_lines
from konsil.cli.folder import decider, deciding, on_folder


@click.command(short_help="Let a model reword questions and record reviewers' decisions.")
@on_folder
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write both wordings, for people.",
)
@click.option(
    "--decisions",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=(
        "Read that table back: 'accept' or 'keep' in its column decision; the wording itself may be"
        " edited."
    ),
)
@deciding
@calling_options
def command(
    folder: Path,
    database: str,
    table: Path | None,
    decisions: Path | None,
    by: str,
    limit: int | None,
    budget: float | None,
    again: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Let the model of [prepare.rewrite] put the questions of the study in FOLDER in better words.

    People accept, edit or refuse each wording, in the table or on the pages of 'konsil serve'; the
    study shows what they accepted, and both wordings are kept. Stop it whenever you like: the same
    command goes on where it was.
    """
    from konsil.api import open_folder
    from konsil.api.curation.rewriting import progress_lines, rewrite_items, write_table
    from konsil.collect.jobs.collection import Options

    opened = open_folder(folder, database=database)
    decided_by = decider(by, "--decisions") if decisions is not None else by
    reworded = rewrite_items(
        opened, Options((), limit, budget, again, dry_run), decisions, by=decided_by
    )
    if reworded.run is not None:
        for line in run_lines(reworded.run, dry_run):
            click.echo(line)
        raise_where_stopped(reworded.run)
    for line in progress_lines(reworded):
        click.echo(line)
    if table is not None:
        write_table(reworded, table)
        click.echo(
            f"{table}: write 'accept' or 'keep' under decision and give it back by --decisions"
        )
    if decisions is not None and not reworded.new:
        click.echo("decided before; nothing has changed")
