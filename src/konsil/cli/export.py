"""konsil export: the collected records as files."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.api.running.exports import ExportRequest
from konsil.cli.folder import on_named_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.request_options import options_of
from konsil.cli.terminal import Note
from konsil.errors import StudyError


@click.command(short_help="Export records, a release for publication, or Label Studio tasks.")
@on_named_folder
@click.argument("output", type=click.Path(path_type=Path))
@options_of(ExportRequest)
@with_json
def command(folder: Path, database: str, output: Path, request: ExportRequest) -> Printout:
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

        projects = tuple(export_tasks(opened, output, overwrite=request.overwrite))
        rows = [
            {"rater": each.rater, "tasks": each.tasks, "file": output / each.file}
            for each in projects
        ]
        lines = [f"{row['rater']}: {row['tasks']:,} tasks: {row['file']}" for row in rows]
        return Printout({"folder": output, "projects": rows}, lines)
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
        withheld = {kind: n for kind, n in sorted(released.withheld.items()) if n}
        if lacking := note(released.missing):
            click.echo(Note(f"note: {lacking}"), err=True)
        if released.recognisable:
            linkable = recognisable(released.recognisable, request.k)
            click.echo(
                f"konsil: {linkable}; anyone with a study.toml that contains the raters'"
                " identifiers can identify them: do not publish it, or use --unlink",
                err=True,
            )
        record = {
            "folder": output,
            "excluded": withheld,
            "recognisable_raters": released.recognisable,
            "missing_metadata": released.missing,
        }
        lines = [f"  excluded: {kind}: {n:,}" for kind, n in withheld.items()]
        return Printout(record, [*lines, str(output)])
    opened.export(output, request.format, overwrite=request.overwrite)
    return Printout({"folder": output, "format": request.format}, [str(output)])


def _refuse_options_of_a_release() -> None:
    """Refuse options of a release where `--release` is left out.

    Otherwise a file that was meant to be pseudonymous would have everything in it.
    """
    context = click.get_current_context()
    for name in ("notes", "k", "order", "unlink", "linked"):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise StudyError(f"--{name}: is for a release; add --release")
