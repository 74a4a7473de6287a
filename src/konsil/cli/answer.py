"""konsil answer: let models answer the items."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.collecting import options, raise_where_stopped, run_lines
from konsil.cli.folder import on_folder


@click.command(short_help="Collect the answers of systems that have a model.")
@on_folder
@options("system")
def command(
    folder: Path,
    database: str,
    only: tuple[str, ...],
    limit: int | None,
    budget: float | None,
    again: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Let the systems of the study in FOLDER answer every item.

    Stop it whenever you like: the same command goes on where it was, and calls nothing twice that
    came back.
    """
    from konsil.api import open_folder
    from konsil.collect.jobs.collection import Options
    from konsil.collect.jobs.systems import answer

    opened = open_folder(folder, database=database)
    with opened.store() as store:
        collected = answer(opened.study, store, Options(only, limit, budget, again, dry_run))
    for line in run_lines(collected, dry_run):
        click.echo(line)
    raise_where_stopped(collected)
