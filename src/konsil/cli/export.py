"""konsil export: the collected records as files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import click

from konsil.cli.folder import on_named_folder
from konsil.errors import StudyError


@click.command(short_help="Write the records, a folder fit for publication, or tasks for Label Studio.")
@on_named_folder
@click.argument("output", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    default="csv",
    show_default=True,
    help="Files.",
)
@click.option("--release", is_flag=True, help="For publication: pseudonymous raters, dictionary, licence, digests.")
@click.option("--notes", is_flag=True, help="With --release: include the raters' notes and free texts.")
@click.option(
    "--to", "to", type=click.Choice(["files", "label-studio"]), default="files", show_default=True, help="For whom."
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier export.")
def command(
    folder: Path, database: str, output: Path, format_: str, release: bool, notes: bool, to: str, overwrite: bool
) -> None:
    """Write the records of the study in FOLDER to OUTPUT; 'konsil import --export OUTPUT' reads them back equal.

    With --to label-studio: the open tasks of people, blinded, one project a rater; what they annotate comes back with
    'konsil import FOLDER --records labelstudio --file EXPORT'.
    """
    from konsil.api import open_folder

    opened = open_folder(folder, database=database)
    if to == "label-studio":
        if release:
            raise StudyError("--release and --to label-studio are two different exports; ask for one of them")
        from konsil.api.labelstudio import export_tasks

        for project in export_tasks(opened, output, overwrite=overwrite):
            click.echo(f"{project.rater}: {project.tasks:,} tasks: {output / project.file}")
        return
    if release:
        opened.release(output, notes=notes, overwrite=overwrite)
    else:
        opened.export(output, cast(Literal["csv", "jsonl", "parquet"], format_), overwrite=overwrite)
    click.echo(str(output))
