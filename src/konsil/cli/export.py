"""konsil export: the collected records as files."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.api.exports import ExportRequest
from konsil.cli.folder import on_named_folder
from konsil.cli.request_options import options_of
from konsil.errors import StudyError


@click.command(short_help="Export records, a release for publication, or Label Studio tasks.")
@on_named_folder
@click.argument("output", type=click.Path(path_type=Path))
@options_of(ExportRequest)
def command(folder: Path, database: str, output: Path, request: ExportRequest) -> None:
    """Write the records of the study in FOLDER to OUTPUT.

    'konsil import --export OUTPUT' restores identical records.

    With --to label-studio: export people's open tasks, blinded, as one project per rater; import
    the annotations with 'konsil import FOLDER --records labelstudio --file EXPORT'.
    """
    from konsil.api import open_folder

    if not request.release:
        _refuse_options_of_a_release()
    if request.unlink and request.linked:
        raise StudyError("--unlink and --linked contradict each other; expected one of them")
    opened = open_folder(folder, database=database)
    if request.to == "label-studio":
        if request.release:
            raise StudyError(
                "--release and --to label-studio are two different exports; expected one of them"
            )
        from konsil.api.folder.labelstudio import export_tasks

        for project in export_tasks(opened, output, overwrite=request.overwrite):
            click.echo(f"{project.rater}: {project.tasks:,} tasks: {output / project.file}")
        return
    if request.release:
        from konsil.store.release.metadata import note
        from konsil.store.release.release_text import recognisable

        released = opened.release(
            output,
            k=request.k,
            notes=request.notes,
            order=request.order,
            unlink=request.unlink,
            linked=request.linked,
            overwrite=request.overwrite,
        )
        for kind, n in sorted(released.withheld.items()):
            if n:
                click.echo(f"  excluded: {kind}: {n:,}")
        if lacking := note(released.missing):
            click.echo(f"note: {lacking}", err=True)
        if released.recognisable:
            linkable = recognisable(released.recognisable, request.k)
            click.echo(
                f"konsil: {linkable}; anyone with a study.toml that contains the raters'"
                " identifiers can identify them: do not publish it, or use --unlink",
                err=True,
            )
    else:
        opened.export(output, request.format, overwrite=request.overwrite)
    click.echo(str(output))


def _refuse_options_of_a_release() -> None:
    """Refuse options of a release where `--release` is left out.

    Otherwise a file that was meant to be pseudonymous would have everything in it.
    """
    context = click.get_current_context()
    for name in ("notes", "k", "order", "unlink", "linked"):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise StudyError(f"--{name}: is for a release; add --release")
