"""konsil export: the collected records as files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import click

from konsil.cli.folder import on_named_folder
from konsil.errors import StudyError


@click.command(short_help="Export records, a release for publication, or Label Studio tasks.")
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
@click.option(
    "--release",
    is_flag=True,
    help="For publication: pseudonymous raters, dictionary, licence, digests.",
)
@click.option(
    "--notes", is_flag=True, help="With --release: include the raters' notes and free texts."
)
@click.option(
    "--k",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="With --release: raters who share every shown combination of strata.",
)
@click.option(
    "--order", is_flag=True, help="With --release: include positions, batches and repeated tasks."
)
@click.option(
    "--unlink", is_flag=True, help="With --release: give raters another pseudonym on each item."
)
@click.option(
    "--linked",
    is_flag=True,
    help="With --release: one pseudonym a rater, even where tasks tell who it is.",
)
@click.option(
    "--to",
    "to",
    type=click.Choice(["files", "label-studio"]),
    default="files",
    show_default=True,
    help="For whom.",
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
    linked: bool,
    to: str,
    overwrite: bool,
) -> None:
    """Write the records of the study in FOLDER to OUTPUT.

    'konsil import --export OUTPUT' reads them back equal.

    With --to label-studio: the open tasks of people, blinded, one project a rater; what they
    annotate comes back with 'konsil import FOLDER --records labelstudio --file EXPORT'.
    """
    from konsil.api import open_folder

    if not release:
        _refuse_options_of_a_release()
    if unlink and linked:
        raise StudyError("--unlink and --linked contradict each other; ask for one of them")
    opened = open_folder(folder, database=database)
    if to == "label-studio":
        if release:
            raise StudyError(
                "--release and --to label-studio are two different exports; ask for one of them"
            )
        from konsil.api.folder.labelstudio import export_tasks

        for project in export_tasks(opened, output, overwrite=overwrite):
            click.echo(f"{project.rater}: {project.tasks:,} tasks: {output / project.file}")
        return
    if release:
        from konsil.store.release.release_text import recognisable

        released = opened.release(
            output, k=k, notes=notes, order=order, unlink=unlink, linked=linked, overwrite=overwrite
        )
        for kind, n in sorted(released.withheld.items()):
            if n:
                click.echo(f"  left out: {kind}: {n:,}")
        if released.recognisable:
            click.echo(
                f"konsil: {recognisable(released.recognisable, k)}; whoever has study.toml with the"
                " raters' identifiers can find out who they are: do not publish it, or use"
                " --unlink",
                err=True,
            )
    else:
        opened.export(
            output, cast(Literal["csv", "jsonl", "parquet"], format_), overwrite=overwrite
        )
    click.echo(str(output))


def _refuse_options_of_a_release() -> None:
    """Refuse options of a release where `--release` is left out.

    Otherwise a file that was meant to be pseudonymous would have everything in it.
    """
    context = click.get_current_context()
    for name in ("notes", "k", "order", "unlink", "linked"):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise StudyError(f"--{name}: is for a release; add --release")
