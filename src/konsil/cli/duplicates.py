"""konsil duplicates: questions that are asked more than once."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import decider, deciding, on_folder
from konsil.prepare.identifiers.duplicates import LIKENESS


@click.command(
    short_help="Search for questions that are asked more than once, and take people's decisions."
)
@on_folder
@click.option(
    "--table", type=click.Path(dir_okay=False, path_type=Path), help="Write the groups, for people."
)
@click.option(
    "--decisions",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Read that table back: 'duplicate' or 'apart' in its column decision.",
)
@click.option("--leave-one", is_flag=True, help="Leave out all but the first item of each group.")
@deciding
@click.option(
    "--translated",
    is_flag=True,
    help="Compare meanings, too, in 16 languages; needs the extra 'questions'.",
)
@click.option(
    "--likeness",
    type=click.FloatRange(0.5, 1),
    default=LIKENESS,
    show_default=True,
    help="Share of five-letter pieces that near duplicates have in common.",
)
@click.option("--dry-run", is_flag=True, help="Only look; store nothing.")
def command(
    folder: Path,
    database: str,
    table: Path | None,
    decisions: Path | None,
    leave_one: bool,
    by: str,
    translated: bool,
    likeness: float,
    dry_run: bool,
) -> None:
    """Search the items of the study in FOLDER for duplicates.

    These are exact, in the same words, near, and translated ones. People decide which are left out.
    The report states how many items of the study are in groups of duplicates.
    """
    from konsil.api import open_folder
    from konsil.api.curation.duplicates import lines_of, search_duplicates, write_table

    if decisions is not None or leave_one:
        by = decider(by, "--decisions" if decisions is not None else "--leave-one")
    searched = search_duplicates(
        open_folder(folder, database=database),
        decisions,
        by=by,
        leave_one=leave_one,
        translated=translated,
        likeness=likeness,
        save=not dry_run,
    )
    for line in lines_of(searched):
        click.echo(line)
    if table is not None:
        write_table(searched, table)
        click.echo(
            f"{table}: write 'duplicate' or 'apart' under decision and give it back by --decisions"
        )
    if dry_run:
        click.echo("nothing stored")
    elif not searched.new:
        click.echo("searched before; nothing has changed")
