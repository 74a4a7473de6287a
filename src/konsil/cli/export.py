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
    "--k",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="With --release: raters who share every shown combination of strata.",
)
@click.option("--order", is_flag=True, help="With --release: include positions, batches and repeated tasks.")
@click.option("--unlink", is_flag=True, help="With --release: give raters another pseudonym on each item.")
@click.option(
    "--to", "to", type=click.Choice(["files", "label-studio"]), default="files", show_default=True, help="For whom."
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier export.")
def command(
    folder: Path,
    database: str,
    output: Path,
    format_: str,
    release: bool,
    notes: bool,
    k: int,
    order: bool,
    unlink: bool,
    to: str,
    overwrite: bool,
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
        done = opened.release(output, k=k, notes=notes, order=order, unlink=unlink, overwrite=overwrite)
        for what, n in sorted(done.withheld.items()):
            if n:
                click.echo(f"  left out: {what}: {n:,}")
        if done.recognisable:
            raters = "1 rater has" if done.recognisable == 1 else f"{done.recognisable:,} raters have"
            click.echo(
                f"konsil: {raters} a set of tasks that fewer than {k} raters of the panel share; whoever has study.toml"
                " with the raters' identifiers can find out who they are: do not publish it, or use --unlink",
                err=True,
            )
    else:
        opened.export(output, cast(Literal["csv", "jsonl", "parquet"], format_), overwrite=overwrite)
    click.echo(str(output))
