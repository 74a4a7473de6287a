"""konsil status: what the database holds."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from konsil.cli.collecting import counted
from konsil.cli.folder import on_folder


@click.command(short_help="Summarise the contents of the study's database.")
@on_folder
def command(folder: Path, database: str) -> None:
    """Count the records of each kind, and the model calls by outcome.

    It also states whether the protocol has changed since the last import.
    """
    from konsil.api import open_folder
    from konsil.api.curation.duplicates import unsearched_lines
    from konsil.api.curation.preparing import of_items
    from konsil.api.curation.rewriting import waiting
    from konsil.api.folder.erasing import retention_line
    from konsil.store.calls.calls import Calls
    from konsil.study import study_digest
    from konsil.study.sections.privacy import is_over

    opened = open_folder(folder, database=database)
    with opened.store() as store:
        counts = store.counts()
        noted = store.study_digest()
        calls = Calls(store).counts()
        events = store.events()
        wordings = tuple(waiting(opened, store))
    click.echo(opened.study.title)
    for kind, n in counts.items():
        click.echo(f"  {kind:10}{n:>12,}")
    for line in (*of_items(events), *wordings, *unsearched_lines(opened)):
        click.echo(f"  {line}")
    for line in counted(calls):
        click.echo(line)
    if noted and noted != study_digest(opened.study):
        click.echo("  the protocol has changed since the last import")
    if is_over(opened.study.privacy, today := date.today()):
        click.echo(f"  {retention_line(opened.study, today)}")
