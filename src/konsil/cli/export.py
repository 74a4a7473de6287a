"""konsil export: the collected records as files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import click

from konsil.cli.folder import on_named_folder


@click.command(short_help="Write the collected records, or a folder fit for publication.")
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
@click.option("--overwrite", is_flag=True, help="Replace an earlier export.")
def command(
    folder: Path, database: str, output: Path, format_: str, release: bool, notes: bool, overwrite: bool
) -> None:
    """Write the records of the study in FOLDER to OUTPUT; 'konsil import --export OUTPUT' reads them back equal."""
    from konsil.api import open_folder

    opened = open_folder(folder, database=database)
    if release:
        opened.release(output, notes=notes, overwrite=overwrite)
    else:
        opened.export(output, cast(Literal["csv", "jsonl", "parquet"], format_), overwrite=overwrite)
    click.echo(str(output))
