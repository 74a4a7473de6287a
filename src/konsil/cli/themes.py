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
    "--table", type=click.Path(dir_okay=False, path_type=Path), help="Write the themes, for people."
)
@click.option(
    "--tags",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write each question's theme, for people.",
)
@options_of(ThemesRequest)
def command(
    folder: Path, database: str, table: Path | None, tags: Path | None, request: ThemesRequest
) -> None:
    """Find the themes of the questions of the study in FOLDER as its [prepare.themes] says.

    Questions that mean alike make a theme, named by its most telling words; people rename, merge
    and drop themes, and move single questions. Every question has one theme, in analyses the
    stratum 'theme'. Where [prepare.themes] names a model, it gives key phrases, names the themes
    and says which one a question has; people's word stands above it.
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
            f"{path}: write a theme's name (or 'drop') under decision and give it back by"
            " --decisions"
        )
    if request.dry_run:
        click.echo("nothing stored")
    elif not tagged.new:
        click.echo("found before; nothing has changed")
