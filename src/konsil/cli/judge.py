"""konsil judge: let models rate."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.collecting import options, told
from konsil.cli.folder import on_folder


@click.command(short_help="Let the judges rate the tasks that the plan gave them.")
@on_folder
@options("judge")
def command(
    folder: Path,
    database: str,
    only: tuple[str, ...],
    limit: int | None,
    budget: float | None,
    again: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Let the judges of the study in FOLDER rate their tasks, on the instrument that people see.

    A reply that cannot be read is asked for once more, then counted; it never becomes a label. Stop it whenever you
    like: the same command goes on where it was.
    """
    from konsil.api import open_folder
    from konsil.collect.collection import Options
    from konsil.collect.judges import judge

    opened = open_folder(folder, database=database)
    with opened.store() as store:
        done = judge(opened.study, store, Options(only, limit, budget, again, dry_run))
    for line in told(done, dry_run):
        click.echo(line)
