"""konsil themes: what the questions are about."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.collecting import limits, raise_where_stopped
from konsil.cli.collecting import run_lines as called
from konsil.cli.folder import decider, deciding, on_folder


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
@click.option(
    "--decisions",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="Read either table back: a name, or 'drop', in its column decision. Can be given twice.",
)
@deciding
@click.option("--anew", is_flag=True, help="Find the themes again and forget what was decided.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only say what the themes would be; store nothing, ask no model.",
)
@limits
def command(
    folder: Path,
    database: str,
    table: Path | None,
    tags: Path | None,
    decisions: tuple[Path, ...],
    by: str,
    anew: bool,
    dry_run: bool,
    limit: int | None,
    budget: float | None,
    again: tuple[str, ...],
) -> None:
    """Find the themes of the questions of the study in FOLDER as its [prepare.themes] says.

    Questions that mean alike make a theme, named by its most telling words; people rename, merge
    and drop themes, and move single questions. Every question has one theme, in analyses the
    stratum 'theme'. Where [prepare.themes] names a model, it gives key phrases, names the themes
    and says which one a question has; people's word stands above it.
    """
    from konsil.api import open_folder
    from konsil.api.curation.themes import tag_items, theme_lines, write_tables
    from konsil.collect.jobs.collection import Options

    options = Options((), limit, budget, again)
    decided_by = decider(by, "--decisions") if decisions else by
    opened = open_folder(folder, database=database)
    tagged = tag_items(
        opened, decisions, by=decided_by, anew=anew, save=not dry_run, options=options
    )
    for replies in tagged.runs:
        for line in called(replies.collected, dry_run):
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
    if dry_run:
        click.echo("nothing stored")
    elif not tagged.new:
        click.echo("found before; nothing has changed")
