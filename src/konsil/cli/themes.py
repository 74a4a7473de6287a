"""konsil themes: what the questions are about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from konsil.api.curation.requests import ThemesRequest
from konsil.cli.collecting import raise_where_stopped
from konsil.cli.collecting import run_lines as called
from konsil.cli.folder import decider, on_folder
from konsil.cli.request_options import options_of


@click.command(short_help="Group the questions by theme and record reviewers' edits.")
@on_folder
@click.option(
    "--table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the themes as a table for reviewers.",
)
@click.option(
    "--tags",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the theme of each question for reviewers.",
)
@options_of(ThemesRequest)
def command(
    folder: Path, database: str, table: Path | None, tags: Path | None, request: ThemesRequest
) -> None:
    """Group the questions of the study in FOLDER by theme as its [prepare.themes] specifies.

    Questions with similar meaning form a theme, named by its most characteristic words; people
    rename, merge and drop themes, and move single questions. Each question has one theme, which is
    the stratum 'theme' in analyses. If [prepare.themes] names a model, it provides key phrases,
    names the themes and assigns the questions; people's decisions take precedence.
    """
    from konsil.api import open_folder
    from konsil.api.curation.themes import tag_items, theme_lines, write_tables

    if request.decisions:
        request = replace(request, by=decider(request.by, "--decisions"))
    tagged = tag_items(open_folder(folder, database=database), request)
    for replies in tagged.runs:
        for line in called(replies.collected, request.dry_run):
            click.echo(line)
        raise_where_stopped(replies.collected)
    for line in theme_lines(tagged):
        click.echo(line)
    if tagged.n_pending:
        return
    write_tables(tagged, table, tags)
    for path in filter(None, (table, tags)):
        click.echo(
            f"{path}: write a theme's name (or 'drop') in the column decision and import the"
            " table with --decisions"
        )
    if request.dry_run:
        click.echo("nothing stored")
    elif not tagged.new:
        click.echo("already detected; nothing has changed")
